// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of service.c, in user space.  Run by "make -C module/test check".
 *
 * The slow obvious twin is an unordered list of matches, each with its source,
 * addresses and ports, of which those that fit are compared one by one.  Services and
 * sources come from small universes, so that they nest, cross, meet again and vanish.
 */
#include <linux/errno.h>
#include <linux/types.h>
#include <string.h>

#include "service.h"
#include "tap.h"

#define SERVICES	24
#define MATCHES		256
#define PORTS		12	/* that services are about: 1 and up */
#define PORTS_ALL	(2 * PORTS + 2)	/* all above are alike */

struct match {
	struct synq_service_key key;
	u8 source[16];
	u8 len;
	bool is_v6;
	u16 value;
};

struct world {
	struct synq_service service[SERVICES];
	unsigned int n;
	struct match match[MATCHES];
	unsigned int matches;
};

/* The obvious way: bit by bit, port by port. */

static bool get_bit(const u8 *key, unsigned int pos)
{
	return key[pos / 8] >> (7 - pos % 8) & 1;
}

static bool starts(const u8 *addr, const u8 *prefix, u8 len)
{
	u8 i;

	for (i = 0; i < len; i++)
		if (get_bit(addr, i) != get_bit(prefix, i))
			return false;
	return true;
}

static bool has_port(const struct synq_service_key *key, u32 port)
{
	return port >= key->first && port <= key->last;
}

static bool has_address(const struct synq_service_key *key, const u8 *to,
			bool is_v6)
{
	switch (key->family) {
	case SYNQ_SERVICE_ANY:
		return true;
	case SYNQ_SERVICE_V4:
		return to && !is_v6 && starts(to, key->addr, key->len);
	default:
		return to && is_v6 && starts(to, key->addr, key->len);
	}
}

static bool fits(const struct match *match, const struct synq_service_ask *ask)
{
	return match->is_v6 == ask->is_v6 &&
	       starts(ask->source, match->source, match->len) &&
	       has_address(&match->key, ask->to, ask->is_v6) &&
	       has_port(&match->key, ask->port);
}

static bool is_better(const struct match *a, const struct match *b)
{
	int prefix_a = a->key.family ? a->key.len : -1;
	int prefix_b = b->key.family ? b->key.len : -1;
	u32 ports_a = a->key.last - a->key.first;
	u32 ports_b = b->key.last - b->key.first;

	if (prefix_a != prefix_b)
		return prefix_a > prefix_b;
	if (ports_a != ports_b)
		return ports_a < ports_b;
	return a->len > b->len;
}

static const struct match *twin_lookup(const struct world *world,
				       const struct synq_service_ask *ask)
{
	const struct match *best = NULL;
	unsigned int i;

	for (i = 0; i < world->matches; i++) {
		const struct match *match = &world->match[i];

		if (fits(match, ask) && (!best || is_better(match, best)))
			best = match;
	}
	return best;
}

static bool crosses(const struct synq_service_key *a,
		    const struct synq_service_key *b)
{
	bool both = false, only_a = false, only_b = false;
	u32 port;

	if (a->family != b->family || a->len != b->len ||
	    memcmp(a->addr, b->addr, 16))
		return false;
	for (port = 0; port < PORTS_ALL; port++) {
		both |= has_port(a, port) && has_port(b, port);
		only_a |= has_port(a, port) && !has_port(b, port);
		only_b |= !has_port(a, port) && has_port(b, port);
	}
	return both && only_a && only_b;
}

/* Chance */

static void random_address(u8 *addr, bool is_v6)
{
	memset(addr, 0, 16);
	addr[0] = 0xa0;
	addr[is_v6 ? 15 : 3] = tap_below(8);
	if (!tap_below(4))
		addr[1] = 1;
}

static void cut(u8 *addr, u8 len)
{
	unsigned int i;

	for (i = len; i < 128; i++)
		addr[i / 8] &= ~(0x80 >> i % 8);
}

static u8 random_len(bool is_v6)
{
	static const u8 len[] = { 0, 4, 8, 16, 29, 30, 31, 32 };
	u8 n = len[tap_below(ARRAY_SIZE(len))];

	return is_v6 && n > 16 ? n + 96 : n;
}

static void random_key(struct synq_service_key *key)
{
	memset(key, 0, sizeof(*key));
	key->family = tap_below(3);
	key->last = 65535;
	if (tap_below(4)) {
		key->first = 1 + tap_below(PORTS);
		key->last = key->first + (tap_below(2) ? tap_below(PORTS) : 0);
	}
	if (!key->family)
		return;
	random_address(key->addr, key->family == SYNQ_SERVICE_V6);
	key->len = random_len(key->family == SYNQ_SERVICE_V6);
	cut(key->addr, key->len);
}

/* Room for as many prefixes as there are matches at all. */
static struct synq_lpm make_lpm(u8 bits)
{
	const u32 chunks = 2 * MATCHES / (SYNQ_LPM_CHUNK - 1) + 1;
	struct synq_lpm lpm;
	u32 i;

	synq_lpm_init(&lpm, bits);
	lpm.chunk = calloc(chunks, sizeof(*lpm.chunk));
	if (!lpm.chunk)
		abort();
	for (i = 0; i < chunks; i++) {
		lpm.chunk[i] = calloc(SYNQ_LPM_CHUNK, sizeof(**lpm.chunk));
		if (!lpm.chunk[i])
			abort();
	}
	lpm.chunks = chunks;
	return lpm;
}

static void drop_lpm(struct synq_lpm *lpm)
{
	u32 i;

	for (i = 0; i < lpm->chunks; i++)
		free(lpm->chunk[i]);
	free(lpm->chunk);
}

static bool check_order(const struct world *world)
{
	unsigned int i, j;

	for (i = 0; i < world->n; i++) {
		for (j = 0; j < world->n; j++) {
			int order = synq_service_order(&world->service[i].key,
						       &world->service[j].key);

			check(i < j ? order < 0 : i > j ? order > 0 : !order);
		}
		check(synq_service_place(world->service, world->n,
					 &world->service[i].key) == i);
	}
	return true;
}

/* A service of its own for the key, unless it crosses another or there are too many. */
static struct synq_service *provide(struct world *world,
				    const struct synq_service_key *key)
{
	unsigned int at = synq_service_place(world->service, world->n, key), i;
	struct synq_service *service = &world->service[at];

	if (at < world->n && !synq_service_order(&service->key, key))
		return service;
	for (i = 0; i < world->n; i++)
		if (crosses(&world->service[i].key, key))
			return NULL;
	if (world->n == SERVICES)
		return NULL;
	memmove(service + 1, service, (world->n++ - at) * sizeof(*service));
	service->key = *key;
	service->lpm[0] = make_lpm(32);
	service->lpm[1] = make_lpm(128);
	return service;
}

static void remove_service(struct world *world, struct synq_service *service)
{
	unsigned int at = service - world->service;

	drop_lpm(&service->lpm[0]);
	drop_lpm(&service->lpm[1]);
	memmove(service, service + 1, (--world->n - at) * sizeof(*service));
}

static bool add_match(struct world *world)
{
	struct match *match = &world->match[world->matches];
	struct synq_service *service;
	int err;

	if (world->matches == MATCHES)
		return true;
	random_key(&match->key);
	check(synq_service_is_valid(&match->key));
	if (synq_service_is_all(&match->key))
		return true;
	match->is_v6 = match->key.family ?
		       match->key.family == SYNQ_SERVICE_V6 : tap_below(2);
	random_address(match->source, match->is_v6);
	match->len = random_len(match->is_v6);
	cut(match->source, match->len);
	match->value = 1 + tap_below(65535);
	service = provide(world, &match->key);
	if (!service)
		return true;
	err = synq_lpm_insert(&service->lpm[match->is_v6], match->source,
			      match->len, match->value, false);
	check(!err || err == -EEXIST);
	world->matches += !err;
	return true;
}

static bool del_match(struct world *world)
{
	struct synq_service *service;
	struct match *match;
	unsigned int at;

	if (!world->matches)
		return true;
	match = &world->match[tap_below(world->matches)];
	at = synq_service_place(world->service, world->n, &match->key);
	check(at < world->n);
	service = &world->service[at];
	check(!synq_service_order(&service->key, &match->key));
	check(!synq_lpm_remove(&service->lpm[match->is_v6], match->source,
			       match->len));
	*match = world->match[--world->matches];
	if (!service->lpm[0].prefixes && !service->lpm[1].prefixes)
		remove_service(world, service);
	return true;
}

static bool check_lookup(const struct world *world, u32 *hits)
{
	struct synq_service_ask ask = { .is_v6 = tap_below(2) };
	const struct match *match;
	u8 source[16], to[16], len = 0;
	unsigned int which = SERVICES;
	u16 value;

	random_address(source, ask.is_v6);
	random_address(to, ask.is_v6);
	ask.source = source;
	ask.to = tap_below(8) ? to : NULL;
	ask.port = tap_below(PORTS_ALL);
	if (!tap_below(8))
		ask.port = 65535;
	match = twin_lookup(world, &ask);
	value = synq_service_lookup(world->service, world->n, &ask, &len,
				    &which);
	check(value == (match ? match->value : 0), "%u", value);
	check(synq_service_lookup(world->service, world->n, &ask, NULL, NULL) ==
	      value);
	if (match) {
		check(len == match->len);
		check(which < world->n);
		check(!synq_service_order(&world->service[which].key,
					  &match->key));
		++*hits;
	} else {
		check(which == SERVICES);
	}
	return true;
}

static bool test_random(void)
{
	static struct world world;
	u32 round, i, hits = 0, most = 0;

	memset(&world, 0, sizeof(world));
	for (round = 0; round < 3000; round++) {
		bool grow = tap_below(400) > world.matches;

		check(grow ? add_match(&world) : del_match(&world));
		check(check_order(&world));
		for (i = 0; i < 20; i++)
			check(check_lookup(&world, &hits));
		if (world.n > most)
			most = world.n;
	}
	printf("# %u services at the most, %u lookups found something\n", most,
	       hits);
	check(most > SERVICES / 2 && hits > 10000);
	while (world.n)
		remove_service(&world, world.service);
	return true;
}

static bool test_crosses(void)
{
	struct synq_service_key a, b;
	u32 i, n = 0;

	for (i = 0; i < 3000; i++) {
		random_key(&a);
		b = a;
		if (tap_below(8))
			random_key(&b);
		if (tap_below(4)) {
			b.family = a.family;
			b.len = a.len;
			memcpy(b.addr, a.addr, 16);
		}
		check(synq_service_crosses(&a, &b) == crosses(&a, &b));
		check(synq_service_crosses(&b, &a) == crosses(&a, &b));
		n += crosses(&a, &b);
	}
	check(n > 100, "%u cross", n);
	return true;
}

/* No two of the same rank have a destination in common, unless they cross. */
static bool test_rank(void)
{
	struct synq_service_key a, b;
	u32 i, port, n = 0;
	bool common;

	for (i = 0; i < 3000; i++) {
		random_key(&a);
		random_key(&b);
		if ((a.family ? a.len : -1) != (b.family ? b.len : -1) ||
		    a.last - a.first != b.last - b.first ||
		    !synq_service_order(&a, &b) || crosses(&a, &b))
			continue;
		common = a.family == b.family && starts(a.addr, b.addr, a.len);
		for (port = 0; common && port < PORTS_ALL; port++)
			check(!has_port(&a, port) || !has_port(&b, port));
		n++;
	}
	check(n > 20, "%u of the same rank", n);
	return true;
}

static bool test_valid(void)
{
	struct synq_service_key key = { .last = 65535 };

	check(synq_service_is_valid(&key) && synq_service_is_all(&key));
	key.first = 1;
	check(synq_service_is_valid(&key) && !synq_service_is_all(&key));
	key.last = 1;
	check(synq_service_is_valid(&key));
	key.first = 2;
	check(!synq_service_is_valid(&key));
	key.first = 0;
	check(!synq_service_is_valid(&key));
	key.last = 65535;
	key.len = 1;
	check(!synq_service_is_valid(&key));
	key.family = SYNQ_SERVICE_V4;
	check(synq_service_is_valid(&key) && !synq_service_is_all(&key));
	key.len = 33;
	check(!synq_service_is_valid(&key));
	key.len = 32;
	key.addr[4] = 1;
	check(!synq_service_is_valid(&key));
	key.family = SYNQ_SERVICE_V6;
	key.len = 40;
	check(synq_service_is_valid(&key));
	key.len = 39;
	check(!synq_service_is_valid(&key));
	key.len = 128;
	key.addr[15] = 1;
	check(synq_service_is_valid(&key));
	key.len = 127;
	check(!synq_service_is_valid(&key));
	key.len = 129;
	check(!synq_service_is_valid(&key));
	return true;
}

static const struct tap_case cases[] = {
	{ "what can be a service", test_valid },
	{ "which services cross", test_crosses },
	{ "those of the same rank have nothing in common", test_rank },
	{ "random services and lookups agree with a list", test_random },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
