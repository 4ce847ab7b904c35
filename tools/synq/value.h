/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The values of the configuration language, from text and to text.
 */
#ifndef SYNQ_VALUE_H
#define SYNQ_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include <linux/synq.h>
#include <linux/types.h>

#include "report.h"

/**
 * struct prefix - a network, or with full length a host
 * @family: AF_INET or AF_INET6
 * @length: prefix length in bits
 * @address: network byte order; the bytes behind an IPv4 address are 0
 */
struct prefix {
	__u8 family;
	__u8 length;
	__u8 address[16];
};

/**
 * struct range - addresses of clients
 * @first: a network; or the first address, if there is a @last
 * @last: the last address; no family: @first is all
 */
struct range {
	struct prefix first;
	struct prefix last;
};

/**
 * struct service - the destinations of a match
 * @to: addresses; no family: any
 * @first: lowest port; 0: any
 * @last: highest port; 0 likewise
 */
struct service {
	struct prefix to;
	__u16 first;
	__u16 last;
};

/* Default source-len: bits of IPv4 and of IPv6. */
#define SOURCE_LEN_V4	32
#define SOURCE_LEN_V6	64

/* Default net-len, likewise. */
#define NET_LEN_V4	24
#define NET_LEN_V6	48

/* "4294967295ms" and its NUL */
#define TIME_TEXT	13

/* "4294967295/4294967295seconds" and its NUL */
#define RATE_TEXT	29

/* "ffff:...:255.255.255.255/128" and its NUL */
#define PREFIX_TEXT	52

/* " to " and a prefix, " port 65535-65535", and their NUL */
#define SERVICE_TEXT	(PREFIX_TEXT + 24)

static inline unsigned int prefix_bytes(const struct prefix *prefix)
{
	return prefix->family == AF_INET ? 4 : 16;
}

static inline unsigned int prefix_bits(const struct prefix *prefix)
{
	return 8 * prefix_bytes(prefix);
}

/* value.c */
bool value_number(const char *text, size_t length, __u32 *value);
int value_range(const struct origin *origin, const char *text,
		const char *what, __u32 min, __u32 max, __u32 *value);
int value_bits(const struct origin *origin, const char *text,
	       const char *what, __u32 *value);
int value_percent(const struct origin *origin, const char *text,
		  const char *what, __u32 min, __u32 max, __u32 *value);
int value_time(const struct origin *origin, const char *text,
	       const char *what, __u32 max, __u32 *ms);
int value_seconds(const struct origin *origin, const char *text,
		  const char *what, __u32 max, __u32 *seconds);
int value_duration(const struct origin *origin, const char *text,
		   const char *what, __u32 max, __u32 *seconds);
int value_rate(const struct origin *origin, const char *text,
	       const char *what, __u32 max, __u32 *value, __u32 *per);
int value_lengths(const struct origin *origin, const char *text,
		  const char *what, __u32 length[2]);
int value_name(const struct origin *origin, const char *text);
int value_ports(const struct origin *origin, const char *text,
		struct service *service);
const char *time_text(__u32 ms, char *text);
const char *rate_text(__u32 rate, __u32 per, char *text);
const char *service_text(const struct service *service, char *text);

/* prefix.c */
bool prefix_is_address(const char *text);
int value_address(const struct origin *origin, const char *text,
		  struct prefix *prefix);
int value_prefix(const struct origin *origin, const char *text,
		 const char *what, struct prefix *prefix);
int value_sources(const struct origin *origin, const char *text,
		  struct range *range, bool *masked);
bool range_sized(struct range *range, __u32 size);
bool range_next(struct range *range, struct prefix *prefix);
const char *address_text(const struct prefix *prefix, char *text);
const char *prefix_text(const struct prefix *prefix, char *text);

#endif /* SYNQ_VALUE_H */
