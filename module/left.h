/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What was left for later: a note of each, in a table of fixed size.  See left.c.
 */
#ifndef _SYNQ_LEFT_H
#define _SYNQ_LEFT_H

#include <linux/atomic.h>
#include <linux/types.h>

#define SYNQ_LEFT_SETS		1024	/* a power of two */
#define SYNQ_LEFT_WAYS		8	/* a set is a cache line */

/* Nobody comes for an older note; a client's SYN comes again after a second. */
#define SYNQ_LEFT_MS		500

/* For an older one somebody comes only if he was held up. */
#define SYNQ_LEFT_SOON_MS	20

/**
 * struct synq_left - the table; all zero is empty
 * @way: half of a hash in the upper half, time in the lower; 0: empty
 */
struct synq_left {
	atomic64_t way[SYNQ_LEFT_SETS][SYNQ_LEFT_WAYS];
};

bool synq_left_put(struct synq_left *left, u64 hash, u32 now_ms);
bool synq_left_take(struct synq_left *left, u64 hash, u32 now_ms);

#endif /* _SYNQ_LEFT_H */
