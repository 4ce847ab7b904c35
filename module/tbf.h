/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Token bucket with one 64-bit word of state.  See tbf.c.
 *
 * The word is the theoretical arrival time (TAT) and belongs to the caller,
 * who reads it, asks synq_tbf_next() for its successor and installs that by
 * compare and exchange.  The parameters never change after synq_tbf_init(),
 * so that any number of words can share one struct synq_tbf.
 */
#ifndef _SYNQ_TBF_H
#define _SYNQ_TBF_H

#include <linux/types.h>

#define SYNQ_TBF_RATE_MAX	10000000	/* connections/second */
#define SYNQ_TBF_BURST_MAX	1000000		/* connections */

/**
 * struct synq_tbf - immutable parameters of token buckets of one kind
 * @scale: units per nanosecond, a fixed-point number in [1, 2) with 63
 *	fractional bits
 * @interval: units per token, a power of two
 * @tolerance: how far, in units, the TAT may be ahead of the clock for an
 *	arrival to conform: burst - 1 intervals
 *
 * A unit is 1 / @scale ns, hence more than 0.5 ns and at most 1 ns.
 */
struct synq_tbf {
	u64 scale;
	u64 interval;
	u64 tolerance;
};

/* tbf.c */
void synq_tbf_init(struct synq_tbf *tbf, u32 rate, u32 burst);
u64 synq_tbf_clock(const struct synq_tbf *tbf, u64 now_ns);
bool synq_tbf_next(const struct synq_tbf *tbf, u64 tat, u64 now_ns,
		   u64 *next_tat);

#endif /* _SYNQ_TBF_H */
