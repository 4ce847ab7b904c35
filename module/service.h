/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Services: sets of destinations that matches are scoped to.  See service.c.
 */
#ifndef _SYNQ_SERVICE_H
#define _SYNQ_SERVICE_H

#include "lpm.h"

/* Which addresses a service has. */
enum synq_service_family {
	SYNQ_SERVICE_ANY,	/* all, of both families */
	SYNQ_SERVICE_V4,
	SYNQ_SERVICE_V6,
};

/**
 * struct synq_service_key - a set of destinations
 * @addr: prefix of the addresses, network order, zero after @len bits
 * @first: lowest port, host order; 0 with @last 65535: all
 * @last: highest port
 * @family: enum synq_service_family
 * @len: bits; 0 with SYNQ_SERVICE_ANY
 */
struct synq_service_key {
	u8 addr[16] __aligned(8);
	u16 first;
	u16 last;
	u8 family;
	u8 len;
};

/**
 * struct synq_service - a set of destinations, and the sources that have a class there
 * @key: the destinations
 * @lpm: source prefixes, IPv4 and IPv6; the value is the caller's
 */
struct synq_service {
	struct synq_service_key key;
	struct synq_lpm lpm[2];
};

/**
 * struct synq_service_ask - what is looked up
 * @source: address, 4 or 16 bytes, network order
 * @to: destination address, likewise; NULL: not known
 * @port: destination port, host order; 0: not known
 * @is_v6: both have 16 bytes
 */
struct synq_service_ask {
	const u8 *source;
	const u8 *to;
	u16 port;
	bool is_v6;
};

bool synq_service_is_valid(const struct synq_service_key *key);
bool synq_service_is_all(const struct synq_service_key *key);
int synq_service_order(const struct synq_service_key *a,
		       const struct synq_service_key *b);
bool synq_service_crosses(const struct synq_service_key *a,
			  const struct synq_service_key *b);
unsigned int synq_service_place(const struct synq_service *service,
				unsigned int n,
				const struct synq_service_key *key);
bool synq_service_is_to(const struct synq_service_key *key,
			const struct synq_service_ask *ask);
u16 synq_service_lookup(const struct synq_service *service, unsigned int n,
			const struct synq_service_ask *ask, u8 *len,
			unsigned int *which);

#endif /* _SYNQ_SERVICE_H */
