/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Longest-prefix match over IPv4 or IPv6 addresses.  See lpm.c.
 *
 * A trie is one flat array of nodes that belongs to the caller.  It holds no
 * pointers, so a copy of its first @used nodes, with the struct, is another
 * trie.  To begin, or to grow:
 *
 *	node = kvmalloc_array(capacity, sizeof(*node), GFP_KERNEL);
 *	memcpy(node, lpm->node, lpm->used * sizeof(*node));
 *	lpm->node = node;
 *	lpm->capacity = capacity;
 *
 * n prefixes never need more than 2n - 1 nodes.
 */
#ifndef _SYNQ_LPM_H
#define _SYNQ_LPM_H

#include <linux/types.h>

/**
 * struct synq_lpm_node - a prefix, or a place where two subtrees part, or both
 * @key: address bits in network order, zero after the first @len
 * @child: numbers of the subtrees with bit @len clear and set, 0: none; in a
 *	free node, @child[0] is the next free one
 * @value: what the prefix maps to, 0: no prefix ends here, or a free node
 * @len: prefix length, bits
 */
struct synq_lpm_node {
	u8 key[16] __aligned(8);
	u32 child[2];
	u16 value;
	u8 len;
};

/**
 * struct synq_lpm - a trie
 * @node: array of nodes; the node with number n is @node[n - 1]
 * @capacity: length of @node
 * @used: nodes of @node ever taken; those from here on were never written
 * @free: number of the first node of the free list, 0: empty
 * @spare: length of the free list
 * @root: number of the root, 0: an empty trie
 * @prefixes: prefixes in the trie
 * @bits: address length, 32 or 128
 *
 * Of these the caller writes @node and @capacity, nothing else.
 */
struct synq_lpm {
	struct synq_lpm_node *node;
	u32 capacity;
	u32 used;
	u32 free;
	u32 spare;
	u32 root;
	u32 prefixes;
	u8 bits;
};

/* lpm.c: change; nobody else uses the trie */
void synq_lpm_init(struct synq_lpm *lpm, u8 bits);
bool synq_lpm_has_room(const struct synq_lpm *lpm);
int synq_lpm_insert(struct synq_lpm *lpm, const u8 *key, u8 len, u16 value,
		    bool replace);
int synq_lpm_remove(struct synq_lpm *lpm, const u8 *key, u8 len);

/* lpm.c: read; the trie does not change meanwhile */
u16 synq_lpm_get(const struct synq_lpm *lpm, const u8 *key, u8 len);
u16 synq_lpm_lookup(const struct synq_lpm *lpm, const u8 *key, u8 *len);
u32 synq_lpm_walk(const struct synq_lpm *lpm, u32 cursor,
		  const struct synq_lpm_node **node);

#endif /* _SYNQ_LPM_H */
