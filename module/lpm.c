// SPDX-License-Identifier: GPL-2.0
/*
 * Longest-prefix match: which of many prefixes, nested at will, is the most
 * specific one that contains an address?
 *
 * A binary trie with its one-way paths compressed, after PATRICIA (Morrison,
 * Journal of the ACM 15(4), 1968), except that a node keeps all bits of its
 * prefix and they are compared on the way down: no way back is needed.
 *
 * Invariants, each checked by lpm_test.c:
 *  - a child is longer than its parent, begins with the parent's bits, and
 *    hangs on the side that its next bit names: no path is longer than the
 *    address, hence a bound on the cost of a lookup;
 *  - a node without a value has two children: less than two nodes a prefix;
 *  - every node up to @used is either in the trie or free.
 *
 * It does not allocate, lock, or know what a value means.  Readers (softirq)
 * see a trie that nobody changes any more; the control path changes another one
 * and publishes it as a whole.  Nodes have numbers and no addresses, so that the
 * two need not differ but in the few nodes that were written, and
 * synq_lpm_touched() tells beforehand which these are; number 0 is none.
 *
 * An address is looked up in lpm_lookup.c.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>

#include "lpm.h"
#include "lpm_node.h"

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

/* Only where available() said so. */
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

/* Only without a value: that is how synq_lpm_walk() passes over free nodes. */
static void release(struct synq_lpm *lpm, u32 number)
{
	synq_lpm_at(lpm, number)->child[0] = lpm->free;
	lpm->free = number;
	lpm->spare++;
}

/*
 * Go down until the next node does not contain the prefix as a longer one, and
 * return the place that refers to this node, or that is empty.  @up is the
 * place one node further up, NULL at the root.  Both are good until the next
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

/* Put a new node in @place, above the subtree that is there, if any. */
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

/* Take out the node in @place if it neither has a value nor parts subtrees. */
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
 *
 * Context: Any.
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
 * Context: Any; the trie does not change meanwhile.
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
 * Context: Any; nobody else uses the trie.
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
 * Context: Any; nobody else uses the trie.
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

	/* If it was a leaf, its parent may have nothing left to part. */
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
 * A removal writes the node, that above it, which may go as well, and what refers to
 * this one; an insertion writes one of them, and the one or two nodes that it takes.
 *
 * Context: Any; the trie does not change meanwhile.
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
 * synq_lpm_get() - the value of exactly this prefix
 * @lpm: trie
 * @key: address bits in network order, @lpm->bits of them
 * @len: prefix length, bits
 *
 * Context: Any; the trie does not change meanwhile.
 * Return: the value, or 0 if there is no such prefix, a bit after @len that is
 * not zero included.
 */
u16 synq_lpm_get(const struct synq_lpm *lpm, const u8 *key, u8 len)
{
	struct synq_lpm_address addr = synq_lpm_load(key, lpm->bits);
	const struct synq_lpm_node *node;
	u32 next = lpm->root;

	if (len > lpm->bits)
		return 0;

	while (next) {
		node = synq_lpm_at(lpm, next);
		if (node->len > len || !synq_lpm_contains(node, addr))
			return 0;
		if (node->len == len)
			return common(prefix(node), addr) == 128 ?
			       node->value : 0;
		next = node->child[synq_lpm_bit(addr, node->len)];
	}

	return 0;
}

/**
 * synq_lpm_walk() - visit the prefixes one by one, in no order that means much
 * @lpm: trie
 * @cursor: 0 to begin, then what the last call returned
 * @node: out: the node of a prefix; not written at the end
 *
 * All prefixes: cursor = 0; while ((cursor = synq_lpm_walk(lpm, cursor, &node)))
 *
 * Context: process, since there may be many free nodes; the trie does not change
 * meanwhile.  Where it did between two calls (a dump in parts) the walk is still safe,
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
