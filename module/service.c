// SPDX-License-Identifier: GPL-2.0
/*
 * Services: which of several tables of sources is asked for a destination, and in
 * which order?
 *
 * A service is an address prefix and a range of ports, either of which may be
 * missing, and the sources that have a class there.  Of the services that a
 * destination belongs to the most specific one decides that has a match for the source:
 *
 * 1. that with the longer address prefix; one without any comes last;
 * 2. of the same prefix, that with fewer ports.
 *
 * Services of the same prefix have ports that are disjoint, or one range lies in the
 * other: where two ranges cross, neither could be said to be more specific, and the
 * caller refuses the second (synq_service_crosses()).  So no two services of the same
 * rank have a destination in common, and what remains of the order, which makes it a
 * total one, decides nothing but how they are listed.
 *
 * They stand in an array, in this order, and a lookup goes through it: a comparison of
 * ports for each, of addresses where the ports fit, and a lookup of the source where
 * both do.  The caller bounds their number.
 *
 * It does not allocate, lock, or know what a value means.  Readers see an array that
 * does not change.
 */
#include <linux/string.h>
#include <linux/types.h>

#include "service.h"

#define PORT_MAX	65535

static u8 bits_of(const struct synq_service_key *key)
{
	switch ((enum synq_service_family)key->family) {
	case SYNQ_SERVICE_ANY:
		break;
	case SYNQ_SERVICE_V4:
		return 32;
	case SYNQ_SERVICE_V6:
		return 128;
	}
	return 0;
}

static bool begins_with(const u8 *addr, const u8 *prefix, u8 len)
{
	const u8 whole = len / 8, rest = len % 8;

	return !memcmp(addr, prefix, whole) &&
	       (!rest || !((addr[whole] ^ prefix[whole]) >> (8 - rest)));
}

static bool same_addresses(const struct synq_service_key *a,
			   const struct synq_service_key *b)
{
	return a->family == b->family && a->len == b->len &&
	       !memcmp(a->addr, b->addr, sizeof(a->addr));
}

/**
 * synq_service_is_all() - does a service have every destination?
 * @key: the service
 *
 * Return: true if so: it is none
 */
bool synq_service_is_all(const struct synq_service_key *key)
{
	return key->family == SYNQ_SERVICE_ANY && !key->first &&
	       key->last == PORT_MAX;
}

/**
 * synq_service_is_valid() - can it be a service?
 * @key: the service
 *
 * Return: false if the prefix is too long or has bits after its length, if the ports
 * are in the wrong order, or begin at 0 and are not all
 */
bool synq_service_is_valid(const struct synq_service_key *key)
{
	const u8 whole = key->len / 8, rest = key->len % 8;
	u8 i;

	if (key->len > bits_of(key) || key->first > key->last ||
	    (!key->first && key->last != PORT_MAX))
		return false;
	for (i = whole; i < sizeof(key->addr); i++) {
		u8 mask = i == whole && rest ? 0xff >> rest : 0xff;

		if (key->addr[i] & mask)
			return false;
	}
	return true;
}

/* Any prefix, of length 0 included, is more specific than none. */
static int rank(const struct synq_service_key *key)
{
	return key->family == SYNQ_SERVICE_ANY ? -1 : key->len;
}

/**
 * synq_service_order() - which of two services is asked first?
 * @a: a service
 * @b: another
 *
 * Return: less than 0 if @a is, more if @b is, 0 if they are the same
 */
int synq_service_order(const struct synq_service_key *a,
		       const struct synq_service_key *b)
{
	int order = rank(b) - rank(a);

	if (!order)
		order = (a->last - a->first) - (b->last - b->first);
	if (!order)
		order = (int)a->family - (int)b->family;
	if (!order)
		order = memcmp(a->addr, b->addr, sizeof(a->addr));
	return order ?: (int)a->first - (int)b->first;
}

/**
 * synq_service_crosses() - do two services overlap so that neither is more specific?
 * @a: a service
 * @b: another
 *
 * Return: true if they have the same addresses, and ports in common, but each has one
 * that the other has not
 */
bool synq_service_crosses(const struct synq_service_key *a,
			  const struct synq_service_key *b)
{
	const struct synq_service_key *low = a->first <= b->first ? a : b;
	const struct synq_service_key *high = low == a ? b : a;

	return same_addresses(a, b) && low->first < high->first &&
	       high->first <= low->last && low->last < high->last;
}

/**
 * synq_service_place() - where a service stands, or would stand
 * @service: services, in order
 * @n: their number
 * @key: the service
 *
 * Return: 0..@n: how many come before it
 */
unsigned int synq_service_place(const struct synq_service *service,
				unsigned int n,
				const struct synq_service_key *key)
{
	unsigned int i = 0;

	while (i < n && synq_service_order(&service[i].key, key) < 0)
		i++;
	return i;
}

/**
 * synq_service_is_to() - does a service have a destination?
 * @key: the service
 * @ask: the destination; the source is not looked at
 *
 * Return: true if so
 */
bool synq_service_is_to(const struct synq_service_key *key,
			const struct synq_service_ask *ask)
{
	if (ask->port < key->first || ask->port > key->last)
		return false;
	if (key->family == SYNQ_SERVICE_ANY)
		return true;
	return ask->to &&
	       (key->family == SYNQ_SERVICE_V6) == ask->is_v6 &&
	       begins_with(ask->to, key->addr, key->len);
}

/**
 * synq_service_lookup() - what a source has at a destination
 * @service: services, in order
 * @n: their number
 * @ask: source and destination
 * @len: out: length of the source prefix that matched, in bits; may be NULL
 * @which: out: the service that had it; may be NULL
 *
 * Context: nothing of it changes meanwhile
 * Return: the value, or 0 if no service has the destination and a match for the source;
 * then @which is not written
 */
u16 synq_service_lookup(const struct synq_service *service, unsigned int n,
			const struct synq_service_ask *ask, u8 *len,
			unsigned int *which)
{
	unsigned int i;
	u16 value;

	for (i = 0; i < n; i++) {
		if (!synq_service_is_to(&service[i].key, ask))
			continue;
		value = synq_lpm_lookup(&service[i].lpm[ask->is_v6],
					ask->source, len);
		if (!value)
			continue;
		if (which)
			*which = i;
		return value;
	}
	return 0;
}
