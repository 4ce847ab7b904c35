// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of lpm.c with tables of the size and the mix of lengths of the
 * Internet's, in user space.  Run by "make -C module/test check".
 */
#include <linux/minmax.h>
#include <linux/types.h>
#include <arpa/inet.h>
#include <string.h>

#include "lpm.h"
#include "lpm_twin.h"
#include "tap.h"

struct share {
	u8 len;
	u16 permille;
};

static const struct share shares4[] = {
	{ 24, 590 }, { 23, 100 }, { 22, 110 }, { 21, 50 }, { 20, 45 },
	{ 19, 27 }, { 18, 14 }, { 17, 9 }, { 16, 14 }, { 15, 3 }, { 14, 2 },
	{ 13, 1 }, { 12, 1 }, { 11, 1 }, { 10, 1 }, { 9, 1 }, { 8, 1 },
	{ 25, 5 }, { 28, 5 }, { 30, 5 }, { 32, 15 },
};

static const struct share shares6[] = {
	{ 48, 470 }, { 32, 120 }, { 44, 110 }, { 40, 85 }, { 36, 45 },
	{ 29, 30 }, { 46, 40 }, { 47, 20 }, { 42, 20 }, { 33, 10 }, { 34, 8 },
	{ 28, 5 }, { 24, 2 }, { 20, 1 }, { 19, 1 }, { 56, 8 }, { 64, 15 },
	{ 127, 5 }, { 128, 5 },
};

static u8 share_len(const struct share *share)
{
	int left = tap_below(1000);

	while (left >= share->permille)
		left -= share++->permille;

	return share->len;
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return memcmp(x->key, y->key, 16) ?: x->len - y->len;
}

static void make_table(struct entry *entry, u32 number, u8 bits)
{
	struct entry keep;
	u32 have = 0, n, i;

	while (have < number) {
		for (n = have; n < number; n++) {
			random_key(entry[n].key, bits);
			/* half of them inside or beside another */
			if (n && tap_below(2))
				memcpy(entry[n].key, entry[tap_below(n)].key,
				       bits == 32 ? 2 : 4);
			if (bits == 128)
				entry[n].key[0] = 0x20 | (entry[n].key[0] & 7);
			entry[n].len = share_len(bits == 32 ? shares4 : shares6);
			clear_from(entry[n].key, entry[n].len);
			entry[n].value = 1 + tap_below(65535);
		}
		qsort(entry, number, sizeof(*entry), compare);
		for (have = 1, n = 1; n < number; n++)
			if (compare(&entry[n], &entry[have - 1]))
				entry[have++] = entry[n];
	}

	for (n = number - 1; n; n--) {
		i = tap_below(n + 1);
		keep = entry[n];
		entry[n] = entry[i];
		entry[i] = keep;
	}
}

static bool check_lookups(const struct synq_lpm *lpm, const struct twin *twin,
			  u32 number)
{
	u32 hits = 0;
	u8 key[16], within[16];
	u32 i, n;

	for (i = 0; i < number; i++) {
		random_key(key, lpm->bits);
		/* a random address; one inside a prefix; one just outside */
		if (i % 4) {
			n = tap_below(twin->number);
			memcpy(within, key, 16);
			clear_from(within, twin->entry[n].len);
			for (u8 j = 0; j < 16; j++)
				key[j] ^= within[j] ^ twin->entry[n].key[j];
			if (i % 4 == 1)
				flip_bit(key, tap_below(twin->entry[n].len));
		}
		check(check_lookup(lpm, twin, key));
		hits += !!synq_lpm_lookup(lpm, key, NULL);
	}
	check(hits > number / 2, "%u lookups find something", hits);

	return true;
}

/* With the index that such a table gets. */
static bool check_indexed(struct synq_lpm *lpm, const struct twin *twin)
{
	u32 have = 0, more = 0, ways, i;
	u8 level = 0xa5;

	ways = synq_lpm_index_level(lpm, &level);
	for (i = 0; i < twin->number; i++) {
		have += twin->entry[i].len >= level;
		more += twin->entry[i].len > level;
	}
	check(ways == have, "%u ways, of %u", ways, have);
	check(have >= twin->number - twin->number / 8, "%u bits", level);
	check(more < twin->number - twin->number / 8, "%u bits", level);

	lpm->index = make_index(lpm, level, ways);
	check(check_lookups(lpm, twin, 800));
	drop_index(lpm);

	return true;
}

/* Places in use one after the other: how many a prefix has around it, in the mean. */
static u32 mean_run(const struct synq_lpm_index *index)
{
	u64 sum = 0, number = 0;
	u32 run = 0, i;

	for (i = 0; i <= index->mask + 1; i++) {
		if (i <= index->mask && index->way[i].node) {
			run++;
			continue;
		}
		sum += (u64)run * run;
		number += run;
		run = 0;
	}
	return sum / number;
}

/*
 * One beside the other, or every so many: whatever the key, no heaps, which a lookup
 * would have to go through.  At random it is 3 or 4.
 */
static bool neighbours(void)
{
	const u32 number = 50000;
	u32 step, i, most = 0;

	for (step = 1; step <= 256; step *= 16) {
		struct synq_lpm lpm = make(32, 2 * number - 1);

		for (i = 0; i < number; i++) {
			u32 addr = htonl(((10 << 16) + i * step) << 8);
			u8 key[16] = { 0 };

			memcpy(key, &addr, sizeof(addr));
			check(!synq_lpm_insert(&lpm, key, 24, 1, false));
		}
		for (i = 0; i < 50; i++) {
			lpm.index = make_index(&lpm, 24, number);
			most = max(most, mean_run(lpm.index));
			drop_index(&lpm);
		}
		check(most < 8, "runs of %u, step %u", most, step);
		drop(&lpm);
	}
	return true;
}

static bool run_table(u8 bits, u32 number)
{
	struct entry *entry = malloc(number * sizeof(*entry));
	struct twin twin = { entry, number };
	struct synq_lpm lpm = make(bits, 2 * number - 1);
	u32 half = number / 2;
	u32 i;

	if (!entry)
		abort();
	make_table(entry, number, bits);
	for (i = 0; i < number; i++)
		check(!synq_lpm_insert(&lpm, entry[i].key, entry[i].len,
				       entry[i].value, false));
	check(check_lpm(&lpm) && lpm.prefixes == number);
	for (i = 0; i < number; i++)
		check(synq_lpm_get(&lpm, entry[i].key, entry[i].len) ==
		      entry[i].value);
	printf("# IPv%c: %u prefixes, %u nodes\n", bits == 32 ? '4' : '6',
	       number, taken(&lpm));
	check(check_lookups(&lpm, &twin, 800));
	check(check_indexed(&lpm, &twin));

	for (i = half; i < number; i++)
		check(!synq_lpm_remove(&lpm, entry[i].key, entry[i].len));
	twin.number = half;
	check(check_lpm(&lpm) && lpm.prefixes == half);
	for (i = 0; i < number; i++)
		check(synq_lpm_get(&lpm, entry[i].key, entry[i].len) ==
		      (i < half ? entry[i].value : 0));
	check(check_lookups(&lpm, &twin, 800));

	for (i = 0; i < half; i++)
		check(!synq_lpm_remove(&lpm, entry[i].key, entry[i].len));
	check(check_lpm(&lpm) && !lpm.root && lpm.spare == taken(&lpm));
	drop(&lpm);
	free(entry);

	return true;
}

static bool test_table4(void)
{
	return run_table(32, 200000);
}

static bool test_table6(void)
{
	return run_table(128, 200000);
}

static const struct tap_case cases[] = {
	{ "neighbours do not meet in an index", neighbours },
	{ "200000 prefixes of IPv4 agree with a list", test_table4 },
	{ "200000 prefixes of IPv6 agree with a list", test_table6 },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
