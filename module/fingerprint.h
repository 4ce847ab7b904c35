/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What was seen lately, by hash: a table of fixed size.  See fingerprint.c.
 */
#ifndef _SYNQ_FINGERPRINT_H
#define _SYNQ_FINGERPRINT_H

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/types.h>

#define SYNQ_FINGERPRINT_SETS	4096	/* a power of two */

/* Between two SYNs of one connection Linux waits for 32 s at most. */
#define SYNQ_FINGERPRINT_MS	40000

/**
 * struct synq_fingerprints - the table; all zero is empty
 * @way: fingerprint in the upper half, time in the lower; 0: empty.  Of a set the
 *	newest first
 */
struct synq_fingerprints {
	u64 way[SYNQ_FINGERPRINT_SETS][2];
};

int synq_fingerprint_age(const struct synq_fingerprints *table, u64 hash,
			 u32 now_ms);
int synq_fingerprint_lately(u64 word, u32 now_ms);

/* Here, since each SYN of a flood is noted: */

static __always_inline bool synq_fingerprint_is(u64 word, u64 hash)
{
	return word >> 32 == hash >> 32 && word;
}

/**
 * synq_fingerprint_note() - remember this, from now on
 * @table: the table
 * @hash: of what is to be known again
 * @now_ms: clock, wraps
 *
 * Context: any
 * Return: what synq_fingerprint_age() would have returned before
 */
static __always_inline int
synq_fingerprint_note(struct synq_fingerprints *table, u64 hash, u32 now_ms)
{
	u64 *set = table->way[hash % SYNQ_FINGERPRINT_SETS];
	u64 newest = READ_ONCE(set[0]), other;

	WRITE_ONCE(set[0], (hash & ~(u64)U32_MAX) | now_ms);
	if (synq_fingerprint_is(newest, hash))
		return synq_fingerprint_lately(newest, now_ms);
	other = READ_ONCE(set[1]);
	WRITE_ONCE(set[1], newest);
	return synq_fingerprint_is(other, hash) ?
	       synq_fingerprint_lately(other, now_ms) : -1;
}

#endif /* _SYNQ_FINGERPRINT_H */
