// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of lpm.c, in user space.  Run by "make -C module/test check".
 *
 * Random operations go to a trie and to its twin; keys come from small universes, so
 * that prefixes nest, meet again and vanish often, and chunks are small.
 */
#include <linux/errno.h>
#include <linux/types.h>
#include <string.h>

#include "lpm.h"
#include "lpm_twin.h"
#include "tap.h"

/* Bits @start, @start + @stride, ... of the keys vary, @width of them. */
struct universe {
	const char *name;
	u8 bits;
	u8 start;
	u8 stride;
	u8 width;
};

static const struct universe universes[] = {
	{ "IPv4, first bits", 32, 0, 1, 5 },
	{ "IPv4, last bits", 32, 27, 1, 5 },
	{ "IPv4, middle", 32, 13, 1, 7 },
	{ "IPv4, scattered", 32, 1, 6, 6 },
	{ "IPv6, first bits", 128, 0, 1, 5 },
	{ "IPv6, last bits", 128, 123, 1, 5 },
	{ "IPv6, around bit 64", 128, 61, 1, 6 },
	{ "IPv6, scattered", 128, 3, 20, 7 },
};

/* Random operations on both. */

static void pick_key(const struct universe *u, const u8 *base, u8 *key)
{
	unsigned int i;

	memcpy(key, base, 16);
	for (i = 0; i < u->width; i++)
		if (tap_below(2))
			flip_bit(key, u->start + i * u->stride);
	if (!tap_below(16))
		flip_bit(key, tap_below(u->bits));
}

static u8 pick_len(const struct universe *u)
{
	unsigned int len;

	if (!tap_below(8))
		return tap_below(u->bits + 1);

	len = u->start + tap_below(u->width + 1) * u->stride;

	return len > u->bits ? u->bits : len;
}

static bool insert(struct synq_lpm *lpm, struct twin *twin, const u8 *key, u8 len)
{
	struct entry *old = twin_find(twin, key, len);
	u16 value = 1 + tap_below(65535);
	bool replace = tap_below(2);
	int ret;

	if (!old && !synq_lpm_has_room(lpm) && tap_below(2))
		grow(lpm, 1 + tap_below(2));
	own(lpm, key, len);
	ret = synq_lpm_insert(lpm, key, len, value, replace);
	if (ret == -ENOSPC) {
		check(!old && !synq_lpm_has_room(lpm));
		grow(lpm, 1);
		own(lpm, key, len);
		ret = synq_lpm_insert(lpm, key, len, value, replace);
	}
	check(ret == (old && !replace ? -EEXIST : 0), "%d", ret);
	if (ret)
		return true;

	if (!old) {
		old = &twin->entry[twin->number++];
		memcpy(old->key, key, 16);
		old->len = len;
	}
	old->value = value;

	return true;
}

static bool withdraw(struct synq_lpm *lpm, struct twin *twin, const u8 *key,
		     u8 len)
{
	struct entry *old = twin_find(twin, key, len);
	int ret;

	own(lpm, key, len);
	ret = synq_lpm_remove(lpm, key, len);
	check(ret == (old ? 0 : -ENOENT), "%d", ret);
	if (old)
		*old = twin->entry[--twin->number];

	return true;
}

/* Alternately fills and drains, and changes a copy now and then. */
static bool operate(const struct universe *u, struct synq_lpm *lpm,
		    struct twin *twin, const u8 *base, u32 op, u32 limit)
{
	const struct entry *entry;
	bool filling = op >> 10 & 1;
	u8 key[16];
	u8 len;

	pick_key(u, base, key);
	len = pick_len(u);
	clear_from(key, len);

	if (twin->number < limit && tap_below(8) < (filling ? 6 : 2))
		return insert(lpm, twin, key, len);

	if (twin->number && tap_below(2)) {
		entry = &twin->entry[tap_below(twin->number)];
		memcpy(key, entry->key, 16);
		len = entry->len;
	}

	return withdraw(lpm, twin, key, len);
}

static bool check_get(const struct universe *u, const struct synq_lpm *lpm,
		      const struct twin *twin, const u8 *key)
{
	const struct entry *entry;
	u8 len = pick_len(u);
	u8 prefix[16];

	/* as it is: with bits after the prefix there is no such prefix */
	entry = twin_find(twin, key, len);
	check(synq_lpm_get(lpm, key, len) == (entry ? entry->value : 0));

	memcpy(prefix, key, 16);
	clear_from(prefix, len);
	entry = twin_find(twin, prefix, len);
	check(synq_lpm_get(lpm, prefix, len) == (entry ? entry->value : 0));

	return true;
}

/* By any number of bits a lookup finds the same as without an index. */
static bool check_index(const struct universe *u, struct synq_lpm *lpm,
			const struct twin *twin, const u8 *base)
{
	u8 most = u->bits < SYNQ_LPM_LEVEL_MAX ? u->bits : SYNQ_LPM_LEVEL_MAX;
	u8 key[16];
	u8 i;

	lpm->index = make_index(lpm, 1 + tap_below(most), lpm->prefixes);
	for (i = 0; i < 16; i++) {
		pick_key(u, base, key);
		check(check_lookup(lpm, twin, key));
	}
	drop_index(lpm);

	return true;
}

static bool run_universe(const struct universe *u, u32 ops)
{
	const u32 limit = 96;
	struct entry entries[96];
	struct twin twin = { entries, 0 };
	struct synq_lpm lpm = make(u->bits, 0);
	struct synq_lpm old;
	u32 full = 0, empty = 0;
	u8 base[16], key[16];
	u32 op;

	random_key(base, u->bits);
	for (op = 0; op < ops; op++) {
		/* a new trie is made from a copy; the old one stays as it is */
		if (op % 4096 == 0) {
			old = lpm;
			lpm = copy(&old);
			drop(&old);
		}
		check(operate(u, &lpm, &twin, base, op, limit));
		pick_key(u, base, key);
		check(check_lookup(&lpm, &twin, key));
		check(check_get(u, &lpm, &twin, key));
		if (twin.number < 8 || op % 32 == 0)
			check(check_lpm(&lpm));
		if (op % 256 == 0)
			check(check_walk(&lpm, &twin));
		if (op % 64 == 0)
			check(check_index(u, &lpm, &twin, base));
		full += twin.number > 24;
		empty += !twin.number;
	}
	check(full, "the test never fills the trie");
	check(empty, "the test never empties the trie");
	while (twin.number)
		check(withdraw(&lpm, &twin, entries[0].key, entries[0].len));
	check(check_lpm(&lpm));
	check(!lpm.root && lpm.spare == taken(&lpm) && !lpm.prefixes);
	drop(&lpm);

	return true;
}

static bool test_random(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(universes); i++)
		if (!run_universe(&universes[i], 400000)) {
			printf("# in: %s\n", universes[i].name);
			return false;
		}

	return true;
}

static bool test_empty(void)
{
	const struct synq_lpm_node *node = NULL;
	u8 key[16] = { 10, 1, 2, 3 };
	struct synq_lpm lpm;
	u8 len = 7;
	u8 bits;

	for (bits = 32; bits <= 128; bits += 96) {
		synq_lpm_init(&lpm, bits);
		check(!synq_lpm_has_room(&lpm));
		check(synq_lpm_insert(&lpm, key, 32, 1, false) == -ENOSPC);
		check(synq_lpm_remove(&lpm, key, 32) == -ENOENT);
		check(!synq_lpm_get(&lpm, key, 32));
		check(!synq_lpm_lookup(&lpm, key, &len) && len == 0);
		check(!synq_lpm_walk(&lpm, 0, &node) && !node);
	}

	return true;
}

static bool test_refused(void)
{
	static const u8 key[16] = { 10, 1, 0, 0 };
	struct synq_lpm lpm;
	u8 bits;

	for (bits = 32; bits <= 128; bits += 96) {
		lpm = make(bits, 8);
		check(synq_lpm_insert(&lpm, key, 15, 1, false) == -EINVAL);
		check(synq_lpm_insert(&lpm, key, 0, 1, false) == -EINVAL);
		check(synq_lpm_insert(&lpm, key, 16, 0, false) == -EINVAL);
		check(synq_lpm_insert(&lpm, key, bits + 1, 1, false) == -EINVAL);
		check(synq_lpm_insert(&lpm, key, 255, 1, true) == -EINVAL);
		check(!lpm.root && !lpm.used);

		check(!synq_lpm_insert(&lpm, key, 16, 1, true));
		check(synq_lpm_insert(&lpm, key, 16, 2, false) == -EEXIST);
		check(synq_lpm_get(&lpm, key, 16) == 1);
		check(!synq_lpm_insert(&lpm, key, 16, 2, true));
		check(synq_lpm_get(&lpm, key, 16) == 2);
		check(!synq_lpm_insert(&lpm, key, bits, 3, false));
		check(!synq_lpm_get(&lpm, key, bits + 1));
		check(!synq_lpm_get(&lpm, key, 255));
		check(synq_lpm_remove(&lpm, key, bits + 1) == -ENOENT);
		check(synq_lpm_remove(&lpm, key, 15) == -ENOENT);
		check(check_lpm(&lpm) && lpm.prefixes == 2);
		drop(&lpm);
	}

	return true;
}

/* The last bit of lo word, both bits next to the middle, the whole and none. */
static bool test_edges(void)
{
	static const u8 lens[] = { 0, 1, 31, 32, 33, 63, 64, 65, 127, 128 };
	struct entry entries[2 * ARRAY_SIZE(lens)];
	struct twin twin = { entries, 0 };
	struct synq_lpm lpm;
	u8 key[16];
	u8 bits, byte;
	unsigned int i, j;

	for (bits = 32; bits <= 128; bits += 96) {
		lpm = make(bits, 0);
		twin.number = 0;
		for (i = 0; i < 2 * ARRAY_SIZE(lens); i++) {
			byte = i % 2 ? 0xff : 0;
			if (lens[i / 2] > bits)
				break;
			memset(key, byte, 16);
			clear_from(key, lens[i / 2]);
			check(insert(&lpm, &twin, key, lens[i / 2]));
			check(check_lpm(&lpm));
		}
		for (i = 0; i < 4; i++) {
			for (j = 0; j < bits; j++) {
				memset(key, i % 2 ? 0xff : 0, 16);
				flip_bit(key, j);
				clear_from(key, bits);
				check(check_lookup(&lpm, &twin, key));
			}
		}
		drop(&lpm);
	}

	return true;
}

/* One prefix of every length inside each other, taken out in random order. */
static bool test_nested(void)
{
	struct entry entries[129];
	struct twin twin = { entries, 0 };
	struct synq_lpm lpm;
	u8 key[16], prefix[16];
	unsigned int len;
	u8 bits;

	for (bits = 32; bits <= 128; bits += 96) {
		lpm = make(bits, bits + 1);
		random_key(key, bits);
		for (len = 0; len <= bits; len++) {
			memcpy(prefix, key, 16);
			clear_from(prefix, len);
			check(insert(&lpm, &twin, prefix, len));
		}
		check(check_lpm(&lpm));
		check(taken(&lpm) == bits + 1u, "nodes that part nothing");
		while (twin.number) {
			struct entry e = entries[tap_below(twin.number)];

			check(check_lookup(&lpm, &twin, key));
			memcpy(prefix, key, 16);
			flip_bit(prefix, tap_below(bits));
			check(check_lookup(&lpm, &twin, prefix));
			check(withdraw(&lpm, &twin, e.key, e.len));
			check(check_lpm(&lpm));
		}
		check(!lpm.root);
		drop(&lpm);
	}

	return true;
}

/* Full chunks refuse and nothing changes; a place freed is a place taken. */
static bool test_full(void)
{
	struct synq_lpm lpm, before, larger;
	struct entry entries[64];
	struct twin twin;
	u8 key[16];
	u32 round, room, n;
	u8 len;
	int ret;

	for (round = 0; round < 20000; round++) {
		lpm = make(32, tap_below(24));
		twin = (struct twin) { entries, 0 };
		for (n = 0; n < 60; n++) {
			random_key(key, 32);
			key[1] &= 0x80;
			key[0] &= 0xc3;
			len = tap_below(10);
			clear_from(key, len);
			room = room_in(&lpm);
			check(synq_lpm_has_room(&lpm) == (room >= 2));
			if (twin.number && !tap_below(4)) {
				struct entry e = entries[tap_below(twin.number)];

				check(withdraw(&lpm, &twin, e.key, e.len));
				continue;
			}
			if (twin_find(&twin, key, len))
				continue;
			before = copy(&lpm);
			ret = synq_lpm_insert(&lpm, key, len, n + 1, false);
			if (!ret) {
				memcpy(entries[twin.number].key, key, 16);
				entries[twin.number].len = len;
				entries[twin.number++].value = n + 1;
			} else {
				check(ret == -ENOSPC && room < 2);
				check(is_same(&lpm, &before));
				larger = copy(&lpm);
				grow(&larger, 1);
				check(!synq_lpm_insert(&larger, key, len, 1,
						       false));
				check(taken(&larger) - larger.spare -
				      (taken(&lpm) - lpm.spare) > room,
				      "refused what would have fitted");
				drop(&larger);
			}
			drop(&before);
		}
		check(check_lpm(&lpm) && check_walk(&lpm, &twin));
		drop(&lpm);
	}

	return true;
}

/* A trie that shares its chunks is changed; what readers see is not. */
static bool test_copy(void)
{
	struct entry entries[64], changed[64];
	struct twin twin = { entries, 0 }, twin2;
	const struct universe *u = &universes[6];
	struct synq_lpm lpm = make(u->bits, 0);
	struct synq_lpm other, image;
	u8 base[16], key[16];
	u32 op, round;

	random_key(base, u->bits);
	for (op = 0; op < 500; op++)
		check(operate(u, &lpm, &twin, base, 1 << 10, 64));
	check(twin.number > 20);

	for (round = 0; round < 100; round++) {
		image = copy(&lpm);
		other = share(&lpm);
		memcpy(changed, entries, sizeof(entries));
		twin2 = (struct twin) { changed, twin.number };
		for (op = 0; op < 500; op++) {
			check(operate(u, &other, &twin2, base, tap_below(2048),
				      64));
			pick_key(u, base, key);
			check(check_lookup(&lpm, &twin, key));
			check(check_lookup(&other, &twin2, key));
		}
		check(is_same(&image, &lpm));
		check(check_lpm(&other) && check_walk(&other, &twin2));
		drop(&image);
		drop(&other);
	}
	drop(&lpm);

	return true;
}

/* Places of an index that are taken, one after the other. */
static u32 longest_run(const struct synq_lpm_index *index)
{
	u32 longest = 0, run = 0, i;

	for (i = 0; i < 2 * index->mask; i++) {
		run = index->way[i & index->mask].node ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}

	return longest;
}

/* Prefixes that the hash brings to one place, if this is its key. */
static bool test_collisions(void)
{
	const u64 known = 0x9e3779b97f4a7c15ULL;
	const u32 number = 2000;
	struct synq_lpm lpm = make(128, 2 * number - 1);
	u64 inverse = known, bits;
	u8 key[16] = {};
	u32 i, j;

	for (i = 0; i < 5; i++)
		inverse *= 2 - known * inverse;
	for (i = 1; i <= number; i++) {
		bits = inverse * i;
		bits = inverse * (bits ^ bits >> 32);
		for (j = 0; j < 8; j++)
			key[j] = bits >> (56 - 8 * j);
		check(!synq_lpm_insert(&lpm, key, 64, 1, false));
	}

	lpm.index = make_index_by(&lpm, known, 64, number);
	check(longest_run(lpm.index) == number);
	drop_index(&lpm);
	for (i = 0; i < 20; i++) {
		lpm.index = make_index(&lpm, 64, number);
		check(longest_run(lpm.index) < number / 8, "%u",
		      longest_run(lpm.index));
		drop_index(&lpm);
	}
	drop(&lpm);

	return true;
}

static bool test_size(void)
{
	check(sizeof(struct synq_lpm_node) == 32);

	return true;
}

static const struct tap_case cases[] = {
	{ "a node is 32 bytes", test_size },
	{ "a trie without memory finds nothing and takes nothing", test_empty },
	{ "what is not allowed is refused and changes nothing", test_refused },
	{ "prefixes that end at the edges of words", test_edges },
	{ "prefixes of every length inside each other", test_nested },
	{ "full chunks refuse and nothing changes", test_full },
	{ "a trie is independent of those it shares chunks with", test_copy },
	{ "who does not know the key cannot choose prefixes that collide",
	  test_collisions },
	{ "random operations agree with a list", test_random },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
