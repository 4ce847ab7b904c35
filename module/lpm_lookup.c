// SPDX-License-Identifier: GPL-2.0
/*
 * The longest prefix of a trie (lpm.c) that contains an address, and an index by which
 * it is found sooner.
 *
 * To one prefix of a million it is twenty nodes.  Of a trie that does not change any
 * more an index can be made, by the first bits of an address: as many as all but a few
 * of its prefixes have.  It leads to the first node that has at least so many, from
 * which it is not far; what is above has been looked up beforehand.  What is shorter,
 * and who is in no prefix, is found as without.
 *
 * It does not allocate, lock, or know what a value means.  Readers (softirq) see a trie
 * that nobody changes any more.
 */
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/types.h>
#include "lpm.h"
#include "lpm_node.h"

/* The first @level bits of a key or an address, which may be shorter. */
static __always_inline u64 head(u64 hi, u8 level)
{
	return hi >> (64 - level);
}

/*
 * Where an index has the way for the first bits of an address, or in one after that.
 * The hash is multiply-shift (Dietzfelbinger et al., Journal of Algorithms 25(1), 1997),
 * twice: what one multiplication makes of neighbours may be a few heaps, a thousand
 * places long (Patrascu and Thorup, On the k-independence required by linear probing,
 * ICALP 2010), so its upper half is folded into the lower, and multiplied again.  Who
 * does not know the key cannot choose prefixes that collide.
 */
static __always_inline u32 first_place(const struct synq_lpm_index *index,
				       u64 bits)
{
	u64 hash = bits * index->key;

	hash ^= hash >> 32;
	return hash * index->key >> index->shift;
}

static __always_inline u32 next_place(const struct synq_lpm_index *index,
				      u32 place)
{
	return (place + 1) & index->mask;
}

/* The way to an address; NULL: it is to be looked for from the root on. */
static const struct synq_lpm_way *find_way(const struct synq_lpm *lpm,
					   const struct synq_lpm_index *index,
					   struct synq_lpm_address addr)
{
	const u64 bits = head(addr.hi, index->level);
	u32 place = first_place(index, bits);
	const struct synq_lpm_node *node;
	const struct synq_lpm_way *way;

	for (way = &index->way[place]; way->node; way = &index->way[place]) {
		node = synq_lpm_at(lpm, way->node);
		if (head(synq_lpm_word(node->key), index->level) == bits)
			return way;
		place = next_place(index, place);
	}
	return NULL;
}

/* The longest of the prefixes on the way down from a node; NULL: there is none. */
static noinline const struct synq_lpm_node *
descend(const struct synq_lpm *lpm, struct synq_lpm_address addr, u32 next)
{
	const struct synq_lpm_node *node, *best = NULL;

	while (next) {
		node = synq_lpm_at(lpm, next);
		if (!synq_lpm_contains(node, addr))
			break;
		if (node->value)
			best = node;
		/* There is no bit after the last. */
		if (node->len == lpm->bits)
			break;
		next = node->child[synq_lpm_bit(addr, node->len)];
	}
	return best;
}

/* Out of the way of those that are found without: registers have to be saved for it. */
static noinline u16 search(const struct synq_lpm *lpm,
			   const struct synq_lpm_index *index,
			   struct synq_lpm_address addr, u8 *len)
{
	const struct synq_lpm_way *way = find_way(lpm, index, addr);
	const struct synq_lpm_node *best;

	best = descend(lpm, addr, way ? way->node : lpm->root);
	if (len)
		*len = best ? best->len : way ? way->len : 0;
	return best ? best->value : way ? way->value : 0;
}

/* In a trie without an index, as all are for a moment, and small ones ever. */
static __always_inline u16 search_all(const struct synq_lpm *lpm,
				      struct synq_lpm_address addr, u8 *len)
{
	const struct synq_lpm_node *best = descend(lpm, addr, lpm->root);

	if (len)
		*len = best ? best->len : 0;
	return best ? best->value : 0;
}

/* Where most are found: a leaf, before any way that is none.  Twice, of 32 bits and of 128. */
static __always_inline u16 lookup(const struct synq_lpm *lpm,
				  struct synq_lpm_address addr, u8 *len)
{
	/* Pairs with smp_store_release in synq_chunks_index(). */
	const struct synq_lpm_index *index = READ_ONCE(lpm->index);
	const struct synq_lpm_node *node;
	const struct synq_lpm_way *way;
	u32 place;
	u64 bits;

	if (!index)
		return search_all(lpm, addr, len);
	bits = head(addr.hi, index->level);
	place = first_place(index, bits);
	for (way = &index->way[place]; way->is_leaf; way = &index->way[place]) {
		node = synq_lpm_at(lpm, way->node);
		if (head(synq_lpm_word(node->key), index->level) == bits) {
			if (len)
				*len = node->len;
			return node->value;
		}
		place = next_place(index, place);
	}
	return search(lpm, index, addr, len);
}

/**
 * synq_lpm_lookup32() - synq_lpm_lookup() of 32 bits
 * @lpm: trie
 * @key: address in network order
 * @len: out: length of that prefix in bits, 0 if there is none; may be NULL
 *
 * Context: see there
 * Return: see there
 */
u16 synq_lpm_lookup32(const struct synq_lpm *lpm, const u8 *key, u8 *len)
{
	return lookup(lpm, synq_lpm_load(key, 32), len);
}

/**
 * synq_lpm_lookup128() - synq_lpm_lookup() of 128 bits
 * @lpm: trie
 * @key: address in network order
 * @len: out: length of that prefix in bits, 0 if there is none; may be NULL
 *
 * Context: see there
 * Return: see there
 */
u16 synq_lpm_lookup128(const struct synq_lpm *lpm, const u8 *key, u8 *len)
{
	return lookup(lpm, synq_lpm_load(key, 128), len);
}

/**
 * synq_lpm_index_level() - by how many bits an index would be made
 * @lpm: trie with a prefix
 * @level: out: the most that seven of eight prefixes have
 *
 * Context: process; the trie does not change meanwhile.  Visits all prefixes.
 * Return: number of prefixes that have so many; an index has no more ways
 */
u32 synq_lpm_index_level(const struct synq_lpm *lpm, u8 *level)
{
	u32 number[SYNQ_LPM_LEVEL_MAX + 1] = {};
	const struct synq_lpm_node *node;
	u32 cursor = 0, have;

	while ((cursor = synq_lpm_walk(lpm, cursor, &node)))
		number[min_t(u8, node->len, SYNQ_LPM_LEVEL_MAX)]++;
	*level = SYNQ_LPM_LEVEL_MAX;
	have = number[*level];
	while (*level > 1 && have < lpm->prefixes - lpm->prefixes / 8)
		have += number[--*level];
	return have;
}

/**
 * synq_lpm_index_fill() - make an index
 * @lpm: trie
 * @index: all set, its ways zero
 *
 * A path has at most @level nodes that are shorter than that, and each leaves one more
 * to do.
 *
 * Context: process; the trie does not change from now on.  Visits nearly all nodes.
 */
void synq_lpm_index_fill(const struct synq_lpm *lpm, struct synq_lpm_index *index)
{
	struct synq_lpm_way todo[SYNQ_LPM_LEVEL_MAX + 1], way;
	const struct synq_lpm_node *node;
	unsigned int n = 0;
	u32 place;
	u64 bits;
	u8 side;

	todo[n++] = (struct synq_lpm_way){ .node = lpm->root };
	while (n) {
		way = todo[--n];
		if (!way.node)
			continue;
		cond_resched();
		node = synq_lpm_at(lpm, way.node);
		if (node->len >= index->level) {
			bits = head(synq_lpm_word(node->key), index->level);
			way.is_leaf = node->len == index->level &&
				      !node->child[0] && !node->child[1];
			place = first_place(index, bits);
			while (index->way[place].node)
				place = next_place(index, place);
			index->way[place] = way;
			continue;
		}
		if (node->value) {
			way.value = node->value;
			way.len = node->len;
		}
		for (side = 0; side < 2; side++) {
			way.node = node->child[side];
			todo[n++] = way;
		}
	}
}
