/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose requests are in the SYN queue.  See halfopen.c.
 */
#ifndef _SYNQ_HALFOPEN_H
#define _SYNQ_HALFOPEN_H

#include <linux/types.h>

#define SYNQ_HALFOPEN_CLASSES	18
#define SYNQ_HALFOPEN_SLICES	32

/**
 * struct synq_halfopen - half-open requests of one listener, by class
 * @slice: number of the present slice of time
 * @oldest: no slice before it has any
 * @fresh: counted since the last synq_halfopen_settle()
 * @total: all of them; may be read without the lock
 * @open: by class; may be read without the lock
 * @in: by slice and class
 */
struct synq_halfopen {
	u64 slice;
	u64 oldest;
	u32 fresh;
	u32 total;
	u32 open[SYNQ_HALFOPEN_CLASSES];
	u32 in[SYNQ_HALFOPEN_SLICES][SYNQ_HALFOPEN_CLASSES];
};

void synq_halfopen_init(struct synq_halfopen *halfopen, u64 now_ns);
void synq_halfopen_begin(struct synq_halfopen *halfopen, u8 class, u64 now_ns);
void synq_halfopen_answered(struct synq_halfopen *halfopen, u8 class,
			    u64 now_ns, u64 age_ns);
void synq_halfopen_forget(struct synq_halfopen *halfopen, u8 class);
void synq_halfopen_settle(struct synq_halfopen *halfopen, u64 now_ns,
			  u32 length);

#endif /* _SYNQ_HALFOPEN_H */
