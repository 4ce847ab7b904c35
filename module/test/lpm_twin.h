/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of lpm.c share: a slow obvious twin of a trie, an unordered list of
 * prefixes that is searched from one end to the other; memory, as a caller handles it;
 * and the invariants.
 *
 * Each chunk has memory of its own, filled with junk: the address sanitizer sees each
 * access that the trie does not own.  Copies share chunks as in chunks.c, so that a
 * write that was not foretold shows in another trie.
 */
#ifndef _SYNQ_TEST_LPM_TWIN_H
#define _SYNQ_TEST_LPM_TWIN_H

#include <linux/types.h>
#include <string.h>

#include "lpm.h"
#include "tap.h"

struct entry {
	u8 key[16];
	u8 len;
	u16 value;
};

struct twin {
	struct entry *entry;
	u32 number;
};

/* Prefixes and addresses, the obvious way: bit by bit or byte by byte. */

static inline bool get_bit(const u8 *key, unsigned int pos)
{
	return key[pos / 8] >> (7 - pos % 8) & 1;
}

static inline void flip_bit(u8 *key, unsigned int pos)
{
	key[pos / 8] ^= 1 << (7 - pos % 8);
}

static inline void clear_from(u8 *key, unsigned int len)
{
	for (; len < 128; len++)
		if (get_bit(key, len))
			flip_bit(key, len);
}

static inline bool contains(const struct entry *entry, const u8 *key)
{
	u8 whole = entry->len / 8;
	u8 rest = entry->len % 8;
	u8 i;

	for (i = 0; i < whole; i++)
		if (entry->key[i] != key[i])
			return false;

	return !rest || (entry->key[i] ^ key[i]) >> (8 - rest) == 0;
}

static inline struct entry *twin_find(const struct twin *twin, const u8 *key,
				      u8 len)
{
	u32 i;

	for (i = 0; i < twin->number; i++)
		if (twin->entry[i].len == len &&
		    !memcmp(twin->entry[i].key, key, 16))
			return &twin->entry[i];

	return NULL;
}

static inline const struct entry *twin_lookup(const struct twin *twin,
					      const u8 *key)
{
	const struct entry *best = NULL;
	u32 i;

	for (i = 0; i < twin->number; i++)
		if (contains(&twin->entry[i], key) &&
		    (!best || twin->entry[i].len > best->len))
			best = &twin->entry[i];

	return best;
}

/* Memory, as a caller handles it. */

/* In the place that is not for a node. */
static inline u32 *refs(struct synq_lpm_node *chunk)
{
	return (u32 *)chunk;
}

static inline void *allocate(size_t size)
{
	void *memory = malloc(size ?: 1);

	if (!memory)
		abort();
	memset(memory, 0xa5, size);

	return memory;
}

static inline struct synq_lpm_node *new_chunk(void)
{
	struct synq_lpm_node *chunk = allocate(SYNQ_LPM_CHUNK * sizeof(*chunk));

	*refs(chunk) = 1;
	return chunk;
}

static inline void grow(struct synq_lpm *lpm, u32 more)
{
	u32 chunks = lpm->chunks + more;
	struct synq_lpm_node **chunk = allocate(chunks * sizeof(*chunk));

	if (lpm->chunks)
		memcpy(chunk, lpm->chunk, lpm->chunks * sizeof(*chunk));
	free(lpm->chunk);
	lpm->chunk = chunk;
	while (lpm->chunks < chunks)
		lpm->chunk[lpm->chunks++] = new_chunk();
}

static inline struct synq_lpm share(const struct synq_lpm *lpm)
{
	struct synq_lpm other = *lpm;
	u32 i;

	other.chunk = allocate(lpm->chunks * sizeof(*other.chunk));
	for (i = 0; i < lpm->chunks; i++) {
		other.chunk[i] = lpm->chunk[i];
		++*refs(other.chunk[i]);
	}

	return other;
}

static inline void own_chunk(struct synq_lpm_node **chunk)
{
	struct synq_lpm_node *shared = *chunk;

	if (*refs(shared) == 1)
		return;
	--*refs(shared);
	*chunk = new_chunk();
	memcpy(*chunk + 1, shared + 1,
	       (SYNQ_LPM_CHUNK - 1) * sizeof(**chunk));
}

/* What a change is said to write, and nothing else. */
static inline void own(struct synq_lpm *lpm, const u8 *key, u8 len)
{
	u32 number[SYNQ_LPM_TOUCHED], i;

	synq_lpm_touched(lpm, key, len, number);
	for (i = 0; i < SYNQ_LPM_TOUCHED; i++)
		if (number[i] && number[i] / SYNQ_LPM_CHUNK < lpm->chunks)
			own_chunk(&lpm->chunk[number[i] / SYNQ_LPM_CHUNK]);
}

static inline struct synq_lpm copy(const struct synq_lpm *lpm)
{
	struct synq_lpm other = share(lpm);
	u32 i;

	for (i = 0; i < other.chunks; i++)
		own_chunk(&other.chunk[i]);

	return other;
}

static inline void drop(struct synq_lpm *lpm)
{
	u32 i;

	for (i = 0; i < lpm->chunks; i++)
		if (!--*refs(lpm->chunk[i]))
			free(lpm->chunk[i]);
	free(lpm->chunk);
}

static inline bool is_same(const struct synq_lpm *a, const struct synq_lpm *b)
{
	u32 i;

	for (i = 0; i < a->chunks; i++)
		if (memcmp(a->chunk[i] + 1, b->chunk[i] + 1,
			   (SYNQ_LPM_CHUNK - 1) * sizeof(**a->chunk)))
			return false;

	return a->used == b->used && a->free == b->free &&
	       a->spare == b->spare && a->root == b->root &&
	       a->prefixes == b->prefixes;
}

static inline struct synq_lpm make(u8 bits, u32 nodes)
{
	struct synq_lpm lpm;

	memset(&lpm, 0xa5, sizeof(lpm));
	synq_lpm_init(&lpm, bits);
	grow(&lpm, (nodes + SYNQ_LPM_CHUNK - 2) / (SYNQ_LPM_CHUNK - 1));

	return lpm;
}

static inline const struct synq_lpm_node *node_at(const struct synq_lpm *lpm,
						  u32 number)
{
	return &lpm->chunk[number / SYNQ_LPM_CHUNK][number % SYNQ_LPM_CHUNK];
}

/* Nodes ever taken. */
static inline u32 taken(const struct synq_lpm *lpm)
{
	return lpm->used - lpm->used / SYNQ_LPM_CHUNK;
}

static inline u32 room_in(const struct synq_lpm *lpm)
{
	return lpm->chunks * (SYNQ_LPM_CHUNK - 1) - taken(lpm) + lpm->spare;
}

/* The invariants that the top of lpm.c states. */

static inline bool check_subtree(const struct synq_lpm *lpm, u32 number,
				 u32 *nodes, u32 *values)
{
	const struct synq_lpm_node *child, *node;
	u8 rest[16];
	int side;

	check(number % SYNQ_LPM_CHUNK && number <= lpm->used, "%u", number);
	node = node_at(lpm, number);
	++*nodes;
	*values += !!node->value;
	check(node->len <= lpm->bits);
	check(node->value || (node->child[0] && node->child[1]),
	      "a node with neither value nor two children");

	memcpy(rest, node->key, 16);
	clear_from(rest, node->len);
	check(!memcmp(rest, node->key, 16), "bits after the prefix");

	for (side = 0; side < 2; side++) {
		if (!node->child[side])
			continue;
		check(node->child[side] <= lpm->used);
		child = node_at(lpm, node->child[side]);
		check(child->len > node->len);
		check(get_bit(child->key, node->len) == side);
		memcpy(rest, child->key, 16);
		clear_from(rest, node->len);
		check(!memcmp(rest, node->key, 16), "not inside the parent");
		if (!check_subtree(lpm, node->child[side], nodes, values))
			return false;
	}

	return true;
}

static inline bool check_lpm(const struct synq_lpm *lpm)
{
	u32 nodes = 0, values = 0, spare = 0;
	u32 next;

	if (lpm->root && !check_subtree(lpm, lpm->root, &nodes, &values))
		return false;
	check(values == lpm->prefixes);
	check(nodes <= 2 * lpm->prefixes, "%u nodes", nodes);

	for (next = lpm->free; next; next = node_at(lpm, next)->child[0]) {
		check(next % SYNQ_LPM_CHUNK && next <= lpm->used);
		check(!node_at(lpm, next)->value);
		check(++spare <= lpm->spare, "a free list without end");
	}
	check(spare == lpm->spare);
	check(!lpm->used || lpm->used < lpm->chunks * SYNQ_LPM_CHUNK);
	check(taken(lpm) - lpm->spare == nodes, "%u leaked",
	      taken(lpm) - lpm->spare - nodes);

	return true;
}

static inline bool check_walk(const struct synq_lpm *lpm,
			      const struct twin *twin)
{
	const struct synq_lpm_node *node;
	const struct entry *entry;
	u32 cursor = 0, last = 0;
	u32 n = 0;

	while ((cursor = synq_lpm_walk(lpm, cursor, &node))) {
		check(cursor > last);
		last = cursor;
		entry = twin_find(twin, node->key, node->len);
		check(entry && entry->value == node->value);
		n++;
	}
	check(n == twin->number, "%u of %u", n, twin->number);
	check(n == lpm->prefixes);

	return true;
}

static inline bool check_lookup(const struct synq_lpm *lpm,
				const struct twin *twin, const u8 *key)
{
	const struct entry *best = twin_lookup(twin, key);
	u8 exact[16], len = 0xa5;
	u8 *address = exact;
	u16 value;

	/* an IPv4 address is 4 bytes, and nothing after them may be read */
	if (lpm->bits == 32) {
		address = malloc(4);
		if (!address)
			abort();
	}
	memcpy(address, key, lpm->bits / 8);
	value = synq_lpm_lookup(lpm, address, &len);
	check(value == synq_lpm_lookup(lpm, address, NULL));
	if (address != exact)
		free(address);

	check(value == (best ? best->value : 0), "%u, should be %u", value,
	      best ? best->value : 0);
	check(len == (best ? best->len : 0), "/%u", len);

	return true;
}

/* An index by so many bits, for so many ways. */
static inline struct synq_lpm_index *make_index_by(const struct synq_lpm *lpm,
						   u64 hash_key, u8 level,
						   u32 ways)
{
	struct synq_lpm_index *index = allocate(sizeof(*index));
	u32 places = 2;
	size_t size;

	while (places < 2 * ways)
		places *= 2;
	size = places * sizeof(*index->way);
	index->way = allocate(size);
	memset(index->way, 0, size);
	index->key = hash_key;
	index->mask = places - 1;
	index->shift = __builtin_clzll(places - 1);
	index->level = level;
	synq_lpm_index_fill(lpm, index);

	return index;
}

static inline struct synq_lpm_index *make_index(const struct synq_lpm *lpm,
						u8 level, u32 ways)
{
	return make_index_by(lpm, tap_random() | 1, level, ways);
}

static inline void drop_index(struct synq_lpm *lpm)
{
	free(lpm->index->way);
	free(lpm->index);
	lpm->index = NULL;
}

static inline void random_key(u8 *key, u8 bits)
{
	unsigned int i;

	memset(key, 0, 16);
	for (i = 0; i < bits / 8; i++)
		key[i] = tap_random();
}

#endif /* _SYNQ_TEST_LPM_TWIN_H */
