/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The nodes of a trie and the bits of their prefixes, for lpm.c and lpm_lookup.c.
 */
#ifndef _SYNQ_LPM_NODE_H
#define _SYNQ_LPM_NODE_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>
#include "lpm.h"

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

#endif /* _SYNQ_LPM_NODE_H */
