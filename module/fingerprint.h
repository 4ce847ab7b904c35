/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What was seen lately, by hash: a table of fixed size.  See fingerprint.c.
 */
#ifndef _SYNQ_FINGERPRINT_H
#define _SYNQ_FINGERPRINT_H

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
int synq_fingerprint_note(struct synq_fingerprints *table, u64 hash, u32 now_ms);

#endif /* _SYNQ_FINGERPRINT_H */
