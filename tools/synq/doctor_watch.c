// SPDX-License-Identifier: GPL-2.0
/*
 * What the connections of a listener have in common: few addresses, or even intervals.
 * Pure.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define PROBE_TIMES	4	/* so many connections have three intervals between them */
#define PROBE_TIMES_MAX	256	/* of one address: it is no probe */
#define PROBE_MIN_MS	400	/* more often is not for health */
#define PROBES_MAX	8	/* more addresses are clients */

/* 64:ff9b::/96, RFC 6052 */
static const __u8 nat64[12] = { 0x00, 0x64, 0xff, 0x9b };

static int arrival_order(const void *a, const void *b)
{
	const struct arrival *one = a;
	const struct arrival *two = b;
	int order = one->port - two->port;

	if (!order)
		order = one->loopback - two->loopback;
	if (!order)
		order = memcmp(&one->source, &two->source, sizeof(one->source));
	if (!order)
		order = one->ended < two->ended ? -1 : one->ended > two->ended;
	return order;
}

static bool same_listener(const struct arrival *one, const struct arrival *two)
{
	return one->port == two->port && one->loopback == two->loopback;
}

static bool same_source(const struct arrival *one, const struct arrival *two)
{
	return same_listener(one, two) &&
	       !memcmp(&one->source, &two->source, sizeof(one->source));
}

static struct watched *find_watched(struct facts *facts, const struct arrival *arrival)
{
	unsigned int i;

	for (i = 0; i < facts->number; i++) {
		if (facts->watched[i].port == arrival->port &&
		    facts->watched[i].loopback == arrival->loopback)
			return &facts->watched[i];
	}
	return NULL;
}

/* Keeps the addresses with most connections, in order. */
static void take_source(struct watched *watched, const struct prefix *source, __u32 number)
{
	unsigned int i, j;

	watched->sources++;
	watched->arrived += number;
	if (source->family == AF_INET6 && !memcmp(source->address, nat64, sizeof(nat64)))
		watched->nat64 += number;
	for (i = 0; i < DOCTOR_TOP && watched->top_count[i] >= number; i++)
		;
	if (i == DOCTOR_TOP)
		return;
	for (j = DOCTOR_TOP - 1; j > i; j--) {
		watched->top[j] = watched->top[j - 1];
		watched->top_count[j] = watched->top_count[j - 1];
	}
	watched->top[i] = *source;
	watched->top_count[i] = number;
}

/**
 * watch_sources() - count the connections of each listener by their addresses
 * @facts: with arrivals, which it sorts
 */
void watch_sources(struct facts *facts)
{
	struct watched *watched = NULL;
	unsigned int i, from;

	if (facts->arrivals)
		qsort(facts->arrival, facts->arrivals, sizeof(*facts->arrival), arrival_order);
	for (from = 0; from < facts->arrivals; from = i) {
		const struct arrival *first = &facts->arrival[from];

		for (i = from; i < facts->arrivals && same_source(first, &facts->arrival[i]);)
			i++;
		if (!watched || watched->port != first->port ||
		    watched->loopback != first->loopback)
			watched = find_watched(facts, first);
		if (watched)
			take_source(watched, &first->source, i - from);
	}
}

/* The interval in ms if those of one address, in order, are even; else 0. */
static long long even(const struct arrival *arrival, unsigned int number)
{
	long long least = -1, most = 0, mean;
	unsigned int i;

	if (number < PROBE_TIMES || number > PROBE_TIMES_MAX)
		return 0;
	for (i = 1; i < number; i++) {
		long long interval = arrival[i].ended - arrival[i - 1].ended;

		if (least < 0 || interval < least)
			least = interval;
		if (interval > most)
			most = interval;
	}
	mean = (arrival[number - 1].ended - arrival[0].ended) / (number - 1);
	return mean >= PROBE_MIN_MS && most - least <= mean / 5 ? mean : 0;
}

/* The class of this host is the first of all. */
static bool is_local(const struct prefix *source)
{
	if (source->family == AF_INET)
		return source->address[0] == 127;
	return !memcmp(source->address, &in6addr_loopback, sizeof(in6addr_loopback));
}

/**
 * watch_probes() - find addresses that connect at even intervals
 * @facts: with arrivals, sorted by watch_sources()
 * @findings: where to
 *
 * The caller looks up a class for them, since it can ask the module.
 */
void watch_probes(const struct facts *facts, struct findings *findings)
{
	unsigned int probes = 0;
	unsigned int i, from;

	for (from = 0; from < facts->arrivals && probes < PROBES_MAX; from = i) {
		const struct arrival *first = &facts->arrival[from];
		struct finding *finding;
		char text[PREFIX_TEXT];
		long long interval;

		for (i = from; i < facts->arrivals && same_source(first, &facts->arrival[i]);)
			i++;
		while (from < i && facts->arrival[from].ended < 0)
			from++;
		interval = even(&facts->arrival[from], i - from);
		if (!interval || is_local(&first->source))
			continue;
		if (facts->is_first && facts->is_first(facts, &first->source, first->port))
			continue;
		probes++;
		address_text(&first->source, text);
		finding = find_new(findings, REMARK, "health_check", first->port,
				   "%s connects every %lld.%lld s: a health check, which an overload lets fail",
				   text, interval / 1000, interval / 100 % 10);
		find_help(finding, "synq match add source %s port %u class %s", text,
			  first->port, facts->first ?: "FIRST");
	}
}
