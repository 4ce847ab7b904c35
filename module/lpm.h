/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Longest-prefix match over IPv4 or IPv6 addresses.  See lpm.c.
 *
 * A trie is a number of chunks of nodes that belong to the caller.  Its nodes refer
 * to each other by number, so that two tries can have chunks in common, and differ in
 * those that a change has touched: chunks.c.
 *
 * n prefixes never need more than 2n - 1 nodes.
 */
#ifndef _SYNQ_LPM_H
#define _SYNQ_LPM_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>

/*
 * Places for nodes in a chunk, a power of two: 4 KB.  The first one is not for a node,
 * but for the owner of the memory, so that a place is found by shift and mask.
 */
#ifndef SYNQ_LPM_CHUNK
#define SYNQ_LPM_CHUNK		128
#endif

/* Nodes that a change writes at the most. */
#define SYNQ_LPM_TOUCHED	5

/**
 * struct synq_lpm_node - a prefix, or a place where two subtrees part, or both
 * @key: address bits in network order, zero after the first @len
 * @child: numbers of the subtrees with bit @len clear and set, 0: none; in a
 *	free node, @child[0] is the next free one
 * @value: what the prefix maps to, 0: no prefix ends here, or a free node
 * @len: prefix length, bits
 * @end: written by the owner after each insertion; not used here
 */
struct synq_lpm_node {
	u8 key[16] __aligned(8);
	u32 child[2];
	u16 value;
	u8 len;
	u32 end;
};

/* Bits that an index goes by, at the most. */
#define SYNQ_LPM_LEVEL_MAX	64

/**
 * struct synq_lpm_way - where a search may begin
 * @node: number of the first node below the level of the index, 0: none
 * @value: of the longest prefix above @node, 0: there is none
 * @len: of that prefix, bits
 * @is_leaf: below @node is nothing, and it has no more bits than the index
 */
struct synq_lpm_way {
	u32 node;
	u16 value;
	u8 len;
	bool is_leaf;
};

/**
 * struct synq_lpm_index - ways into a trie that does not change any more
 * @key: of the hash: an odd number; random, where prefixes may be chosen by an attacker
 * @way: by the hash of these bits, or in the next place that was free; a power of two
 *	of them, and at least twice as many as synq_lpm_index_level() says
 * @mask: number of @way less one
 * @shift: 64 less the bits of @mask
 * @level: bits of an address that a way is found by, 1 to SYNQ_LPM_LEVEL_MAX
 */
struct synq_lpm_index {
	u64 key;
	struct synq_lpm_way *way;
	u32 mask;
	u8 shift;
	u8 level;
};

/**
 * struct synq_lpm - a trie
 * @chunk: the node with number n is @chunk[n / SYNQ_LPM_CHUNK][n % SYNQ_LPM_CHUNK];
 *	no node has a multiple of SYNQ_LPM_CHUNK
 * @index: may be NULL, and be set while others look up
 * @chunks: length of @chunk
 * @used: highest number ever taken; nodes beyond were never written
 * @free: number of the first node of the free list, 0: empty
 * @spare: length of the free list
 * @root: number of the root, 0: an empty trie
 * @prefixes: prefixes in the trie
 * @bits: address length, 32 or 128
 *
 * Of these the caller writes @chunk, @chunks and @index, nothing else.
 */
struct synq_lpm {
	struct synq_lpm_node **chunk;
	struct synq_lpm_index *index;
	u32 chunks;
	u32 used;
	u32 free;
	u32 spare;
	u32 root;
	u32 prefixes;
	u8 bits;
};

/* lpm.c: change; with exclusive access to the trie */
void synq_lpm_init(struct synq_lpm *lpm, u8 bits);
bool synq_lpm_has_room(const struct synq_lpm *lpm);
int synq_lpm_insert(struct synq_lpm *lpm, const u8 *key, u8 len, u16 value,
		    bool replace);
int synq_lpm_remove(struct synq_lpm *lpm, const u8 *key, u8 len);

/* lpm.c: read; the trie does not change meanwhile */
void synq_lpm_touched(const struct synq_lpm *lpm, const u8 *key, u8 len,
		      u32 number[SYNQ_LPM_TOUCHED]);
struct synq_lpm_node *synq_lpm_find(const struct synq_lpm *lpm, const u8 *key, u8 len);
u32 synq_lpm_walk(const struct synq_lpm *lpm, u32 cursor,
		  const struct synq_lpm_node **node);

/* lpm.c */
u16 synq_lpm_lookup32(const struct synq_lpm *lpm, const u8 *key, u8 *len);
u16 synq_lpm_lookup128(const struct synq_lpm *lpm, const u8 *key, u8 *len);
u32 synq_lpm_index_level(const struct synq_lpm *lpm, u8 *level);
void synq_lpm_index_fill(const struct synq_lpm *lpm, struct synq_lpm_index *index);

/**
 * synq_lpm_get() - the value of exactly this prefix
 * @lpm: trie
 * @key: address bits in network order, @lpm->bits of them
 * @len: prefix length, bits
 *
 * Context: the trie does not change meanwhile.
 * Return: the value, or 0 if there is no such prefix, as for synq_lpm_find()
 */
static inline u16 synq_lpm_get(const struct synq_lpm *lpm, const u8 *key, u8 len)
{
	const struct synq_lpm_node *node = synq_lpm_find(lpm, key, len);

	return node ? node->value : 0;
}

/**
 * synq_lpm_lookup() - the value of the longest prefix that contains an address
 * @lpm: trie
 * @key: address in network order, @lpm->bits long
 * @len: out: length of that prefix in bits, 0 if there is none; may be NULL
 *
 * Context: the trie does not change meanwhile, but for its index.  Lock-free;
 * visits at most @lpm->bits + 1 nodes, with an index and a prefix that has its bits
 * about the depth of nesting.
 * Return: the value, or 0 if no prefix contains the address.
 */
static inline u16 synq_lpm_lookup(const struct synq_lpm *lpm, const u8 *key,
				  u8 *len)
{
	return lpm->bits == 32 ? synq_lpm_lookup32(lpm, key, len) :
				 synq_lpm_lookup128(lpm, key, len);
}

/* For lpm.c: the bits of prefixes. */

/* An address as numbers, the first bit topmost.  IPv4: the top 32 of @hi. */
struct synq_lpm_address {
	u64 hi;
	u64 lo;
};

static __always_inline struct synq_lpm_address synq_lpm_load(const u8 *key,
							     u8 bits)
{
	__be64 hi = 0, lo = 0;

	/* Constant sizes, for the compiler to make loads of. */
	if (bits == 32) {
		memcpy(&hi, key, 4);
	} else {
		memcpy(&hi, key, 8);
		memcpy(&lo, key + 8, 8);
	}

	return (struct synq_lpm_address) {
		.hi = be64_to_cpu(hi),
		.lo = be64_to_cpu(lo),
	};
}

/* Bit @pos, 0 to 127, from the top. */
static inline unsigned int synq_lpm_bit(struct synq_lpm_address addr, u8 pos)
{
	return (pos < 64 ? addr.hi >> (63 - pos) : addr.lo >> (127 - pos)) & 1;
}

static inline struct synq_lpm_node *synq_lpm_at(const struct synq_lpm *lpm,
						u32 number)
{
	return &lpm->chunk[number / SYNQ_LPM_CHUNK][number % SYNQ_LPM_CHUNK];
}

static __always_inline u64 synq_lpm_word(const u8 *key)
{
	__be64 word;

	memcpy(&word, key, sizeof(word));
	return be64_to_cpu(word);
}

/*
 * Asked of each node that a lookup visits: in place, and with one load as long as the
 * prefix is not longer than 64 bits.
 */
static __always_inline bool synq_lpm_contains(const struct synq_lpm_node *node,
					      struct synq_lpm_address addr)
{
	const u8 len = node->len;
	u64 other = synq_lpm_word(node->key) ^ addr.hi;

	if (len < 64)
		return !(other >> 1 >> (63 - len));
	if (len > 64)
		other |= (synq_lpm_word(node->key + 8) ^ addr.lo) >> (128 - len);
	return !other;
}

#endif /* _SYNQ_LPM_H */
