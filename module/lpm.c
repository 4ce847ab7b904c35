// SPDX-License-Identifier: GPL-2.0
/*
 * Longest-prefix match: which of many prefixes, nested at will, is the most
 * specific one that contains an address?
 *
 * A binary trie with compressed one-way paths, after PATRICIA (Morrison,
 * Journal of the ACM 15(4), 1968).  But a node keeps all bits of its prefix, and they are
 * compared on the way down, so that no way back is needed.
 *
 * Invariants, each checked by lpm_test.c:
 *  - a child is longer than its parent, begins with the parent's bits, and
 *    hangs on the side that its next bit names: no path is longer than the
 *    address, hence a bound on the cost of a lookup;
 *  - a node without a value has two children: less than two nodes a prefix;
 *  - every node up to @used is either in the trie or free.
 *
 * It does not allocate, lock, or know what a value means.  Readers (softirq)
 * see a trie that does not change any more; the control path edits another one
 * and publishes it as a whole.  Nodes refer to each other by number, not by address, so
 * the two tries share all nodes but the few that were written.
 * synq_lpm_touched() tells beforehand which these are.  Number 0 is none.
 *
 * Lookups are in the second part of this file.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>
#include "lpm.h"

static void store(u8 *key, struct synq_lpm_address addr)
{
	__be64 word[2] = { cpu_to_be64(addr.hi), cpu_to_be64(addr.lo) };

	memcpy(key, word, sizeof(word));
}

static struct synq_lpm_address truncate(struct synq_lpm_address addr, u8 len)
{
	if (len < 64) {
		addr.hi &= ~(~0ULL >> len);
		addr.lo = 0;
	} else if (len < 128) {
		addr.lo &= ~(~0ULL >> (len - 64));
	}

	return addr;
}

/* How many of the first bits are the same: 0 to 128. */
static u8 common(struct synq_lpm_address a, struct synq_lpm_address b)
{
	if (a.hi != b.hi)
		return 64 - fls64(a.hi ^ b.hi);

	return 128 - fls64(a.lo ^ b.lo);
}

static struct synq_lpm_address prefix(const struct synq_lpm_node *node)
{
	return synq_lpm_load(node->key, 128);
}

static u32 available(const struct synq_lpm *lpm)
{
	u32 taken = lpm->used - lpm->used / SYNQ_LPM_CHUNK;

	return lpm->chunks * (SYNQ_LPM_CHUNK - 1) - taken + lpm->spare;
}

/* The first place of a chunk is not for a node. */
static u32 number_after(u32 number)
{
	number++;
	return number % SYNQ_LPM_CHUNK ? number : number + 1;
}

/* Only if available() is not 0. */
static u32 take(struct synq_lpm *lpm)
{
	u32 number = lpm->free;

	if (!number) {
		lpm->used = number_after(lpm->used);
		return lpm->used;
	}

	lpm->free = synq_lpm_at(lpm, number)->child[0];
	lpm->spare--;
	return number;
}

/* Only without a value: this is how synq_lpm_walk() recognises free nodes. */
static void release(struct synq_lpm *lpm, u32 number)
{
	synq_lpm_at(lpm, number)->child[0] = lpm->free;
	lpm->free = number;
	lpm->spare++;
}

/*
 * Goes down until the next node does not contain the prefix, or is not shorter.  Returns
 * the place that refers to this node, or that is empty.  @up is the place one node
 * further up, NULL at the root.  Both are valid until the next
 * change.
 */
static u32 *descend(struct synq_lpm *lpm, struct synq_lpm_address addr, u8 len,
		    u32 **up)
{
	struct synq_lpm_node *node;
	u32 *place = &lpm->root;

	*up = NULL;
	while (*place) {
		node = synq_lpm_at(lpm, *place);
		if (node->len >= len || !synq_lpm_contains(node, addr))
			break;
		*up = place;
		place = &node->child[synq_lpm_bit(addr, node->len)];
	}

	return place;
}

/* Puts a new node into @place, above the subtree that is there, if any. */
static struct synq_lpm_node *plant(struct synq_lpm *lpm, u32 *place,
				   struct synq_lpm_address addr, u8 len, u16 value)
{
	u32 number = take(lpm);
	struct synq_lpm_node *node = synq_lpm_at(lpm, number);

	memset(node, 0, sizeof(*node));
	store(node->key, truncate(addr, len));
	node->len = len;
	node->value = value;
	if (*place)
		node->child[synq_lpm_bit(prefix(synq_lpm_at(lpm, *place)), len)] = *place;
	*place = number;

	return node;
}

/* Removes the node in @place if it has no value and at most one subtree. */
static void prune(struct synq_lpm *lpm, u32 *place)
{
	struct synq_lpm_node *node = synq_lpm_at(lpm, *place);
	u32 number = *place;

	if (node->value || (node->child[0] && node->child[1]))
		return;

	*place = node->child[0] | node->child[1];
	release(lpm, number);
}

/**
 * synq_lpm_init() - make an empty trie without memory
 * @lpm: trie to initialise; what it held before is forgotten
 * @bits: length of an address, 32 or 128
 *
 * The caller sets @chunk and @chunks next.  Nodes need no initialisation.
 */
void synq_lpm_init(struct synq_lpm *lpm, u8 bits)
{
	memset(lpm, 0, sizeof(*lpm));
	lpm->bits = bits;
}

/**
 * synq_lpm_has_room() - is there memory for one more prefix, whichever it is?
 * @lpm: trie
 *
 * Context: the trie does not change meanwhile.
 * Return: true if the next synq_lpm_insert() cannot fail with -ENOSPC.
 */
bool synq_lpm_has_room(const struct synq_lpm *lpm)
{
	return available(lpm) >= 2;
}

/**
 * synq_lpm_insert() - add a prefix, or change its value
 * @lpm: trie
 * @key: address bits in network order, @lpm->bits of them, zero after @len
 * @len: prefix length in bits, 0 to @lpm->bits
 * @value: what the prefix maps to, not 0
 * @replace: change the value of a prefix that is already there
 *
 * Context: exclusive access to the trie.
 * Return: 0; after any error the trie is as it was:
 * -EINVAL if the length, the value or a bit after the prefix is not allowed,
 * -EEXIST if the prefix is there and @replace is false,
 * -ENOSPC if the chunks are full, which synq_lpm_has_room() tells beforehand.
 */
int synq_lpm_insert(struct synq_lpm *lpm, const u8 *key, u8 len, u16 value,
		    bool replace)
{
	struct synq_lpm_address addr = synq_lpm_load(key, lpm->bits);
	struct synq_lpm_node *node;
	u8 shared = len;
	u32 *place, *up;

	if (!value || len > lpm->bits || common(addr, truncate(addr, len)) < 128)
		return -EINVAL;

	place = descend(lpm, addr, len, &up);
	if (*place) {
		node = synq_lpm_at(lpm, *place);
		shared = min3(common(addr, prefix(node)), len, node->len);
		if (shared == len && node->len == len) {
			if (node->value && !replace)
				return -EEXIST;
			lpm->prefixes += !node->value;
			node->value = value;
			return 0;
		}
	}

	if (available(lpm) < (shared < len ? 2 : 1))
		return -ENOSPC;

	if (shared < len) {
		node = plant(lpm, place, addr, shared, 0);
		place = &node->child[synq_lpm_bit(addr, shared)];
	}
	plant(lpm, place, addr, len, value);
	lpm->prefixes++;

	return 0;
}

/**
 * synq_lpm_remove() - take out a prefix
 * @lpm: trie
 * @key: address bits in network order, @lpm->bits of them
 * @len: prefix length, bits
 *
 * Nodes that are not needed any more go to the free list.  Prefixes inside
 * this one stay.
 *
 * Context: exclusive access to the trie.
 * Return: 0, or -ENOENT if there is no such prefix; the trie is as it was.
 */
int synq_lpm_remove(struct synq_lpm *lpm, const u8 *key, u8 len)
{
	struct synq_lpm_address addr = synq_lpm_load(key, lpm->bits);
	u32 *place, *up;

	if (!synq_lpm_get(lpm, key, len))
		return -ENOENT;

	place = descend(lpm, addr, len, &up);
	synq_lpm_at(lpm, *place)->value = 0;
	lpm->prefixes--;

	/* If it was a leaf, its parent may now have a single subtree. */
	prune(lpm, place);
	if (up)
		prune(lpm, up);

	return 0;
}

/**
 * synq_lpm_touched() - the nodes that inserting or removing a prefix would write
 * @lpm: trie
 * @key: address bits in network order, @lpm->bits of them
 * @len: prefix length, bits
 * @number: out: their numbers; 0: none.  Some may not be written, and the last two may
 *	be beyond the chunks
 *
 * A removal writes the node, its parent, which may be removed as well, and what refers to
 * the parent; an insertion writes one of them, and the one or two nodes that it takes.
 *
 * Context: the trie does not change meanwhile.
 */
void synq_lpm_touched(const struct synq_lpm *lpm, const u8 *key, u8 len,
		      u32 number[SYNQ_LPM_TOUCHED])
{
	struct synq_lpm_address addr = synq_lpm_load(key, lpm->bits);
	const struct synq_lpm_node *node;
	u32 here = lpm->root, above = 0;
	u32 next;

	number[0] = 0;
	while (here) {
		node = synq_lpm_at(lpm, here);
		if (node->len >= min(len, lpm->bits) || !synq_lpm_contains(node, addr))
			break;
		number[0] = above;
		above = here;
		here = node->child[synq_lpm_bit(addr, node->len)];
	}
	number[1] = above;
	number[2] = here;
	number[3] = lpm->free ?: number_after(lpm->used);
	next = lpm->free ? synq_lpm_at(lpm, lpm->free)->child[0] : 0;
	number[4] = next ?: number_after(lpm->free ? lpm->used : number[3]);
}

/**
 * synq_lpm_find() - the node of exactly this prefix
 * @lpm: trie
 * @key: address bits in network order, @lpm->bits of them
 * @len: prefix length, bits
 *
 * Context: the trie does not change meanwhile.
 * Return: the node, or NULL if there is no such prefix; also NULL if a bit after @len is
 * not zero.
 */
struct synq_lpm_node *synq_lpm_find(const struct synq_lpm *lpm, const u8 *key, u8 len)
{
	struct synq_lpm_address addr = synq_lpm_load(key, lpm->bits);
	struct synq_lpm_node *node;
	u32 next = lpm->root;

	if (len > lpm->bits)
		return NULL;

	while (next) {
		node = synq_lpm_at(lpm, next);
		if (node->len > len || !synq_lpm_contains(node, addr))
			return NULL;
		if (node->len == len)
			return common(prefix(node), addr) == 128 && node->value ?
			       node : NULL;
		next = node->child[synq_lpm_bit(addr, node->len)];
	}

	return NULL;
}

/**
 * synq_lpm_walk() - visit the prefixes one by one, in no particular order
 * @lpm: trie
 * @cursor: 0 to begin, then what the last call returned
 * @node: out: the node of a prefix; not written at the end
 *
 * All prefixes: cursor = 0; while ((cursor = synq_lpm_walk(lpm, cursor, &node)))
 *
 * Context: process, since there may be many free nodes; the trie does not change
 * meanwhile.  If it changes between two calls (a dump in parts) the walk is still safe,
 * and visits every prefix that was there throughout and was not moved by the caller.
 * Return: the cursor for the next call, or 0 if there was no further prefix.
 */
u32 synq_lpm_walk(const struct synq_lpm *lpm, u32 cursor,
		  const struct synq_lpm_node **node)
{
	while (cursor < lpm->used) {
		cond_resched();
		cursor = number_after(cursor);
		if (synq_lpm_at(lpm, cursor)->value) {
			*node = synq_lpm_at(lpm, cursor);
			return cursor;
		}
	}

	return 0;
}

/*
 * Finds the longest prefix of a trie that contains an address, and makes an index that
 * speeds this up.
 *
 * Without an index a lookup among a million prefixes visits some twenty nodes.  For a trie
 * that does not change any more an index can be made, by the first bits of an address: as
 * many as all but a few of its prefixes have.  It leads to the first node with at least
 * so many bits, and the longest prefix above that was looked up beforehand.  An address
 * that is in shorter prefixes only, or in none, is looked up from the root.
 *
 * It does not allocate, lock, or know what a value means.  Readers (softirq) see a trie
 * that does not change any more.
 */

/* The first @level bits of a key or an address, which may be shorter. */
static __always_inline u64 head(u64 hi, u8 level)
{
	return hi >> (64 - level);
}

/*
 * The place in the index for the first bits of an address; the way is there or further on.
 * The hash is multiply-shift (Dietzfelbinger et al., Journal of Algorithms 25(1), 1997),
 * applied twice.  One multiplication may gather neighbours in a few runs of a thousand
 * places (Patrascu and Thorup, On the k-independence required by linear probing,
 * ICALP 2010), so its upper half is folded into the lower, and multiplied again.  Without
 * the key an attacker cannot choose prefixes that collide.
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

/* The way for an address; NULL: the lookup has to begin at the root. */
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

/* The longest matching prefix from a node downwards; NULL: there is none. */
static noinline const struct synq_lpm_node *
deepest(const struct synq_lpm *lpm, struct synq_lpm_address addr, u32 next)
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

/* Not inlined, since it has to save registers, which the fast path of lookup() need not. */
static noinline u16 search(const struct synq_lpm *lpm,
			   const struct synq_lpm_index *index,
			   struct synq_lpm_address addr, u8 *len)
{
	const struct synq_lpm_way *way = find_way(lpm, index, addr);
	const struct synq_lpm_node *best;

	best = deepest(lpm, addr, way ? way->node : lpm->root);
	if (len)
		*len = best ? best->len : way ? way->len : 0;
	return best ? best->value : way ? way->value : 0;
}

/* In a trie without an index: every trie for a moment, and a small one always. */
static noinline u16 search_all(const struct synq_lpm *lpm,
			       struct synq_lpm_address addr, u8 *len)
{
	const struct synq_lpm_node *best = deepest(lpm, addr, lpm->root);

	if (len)
		*len = best ? best->len : 0;
	return best ? best->value : 0;
}

/* Fast path: the way is a leaf.  Inlined twice, for 32 bits and for 128. */
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
 * synq_lpm_index_level() - choose how many bits an index goes by
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
 * A path has at most @level nodes with fewer bits than that, and each of them leaves one
 * more subtree to visit.
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
