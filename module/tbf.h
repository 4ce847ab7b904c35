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

#include <linux/math64.h>
#include <linux/types.h>

#define SYNQ_TBF_RATE_MAX	10000000	/* connections/period */
#define SYNQ_TBF_PERIOD_MAX	3600		/* seconds */
#define SYNQ_TBF_BURST_MAX	1000000		/* connections */

/* Fractional bits of the scale, which needs the 64th: it is at least 1. */
#define SYNQ_TBF_SCALE_SHIFT	63

/*
 * Units, 0.5 to 1.1 s: no clock goes back by as much, so that a TAT which is
 * ahead by still more than a bucket allows was not made by these parameters.
 */
#define SYNQ_TBF_FOREIGN	0x40000000ULL

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
void synq_tbf_init(struct synq_tbf *tbf, u32 rate, u32 period, u32 burst);

/* Here, since each SYN of a flood asks: */

/**
 * synq_tbf_clock() - the clock that a TAT is compared with
 * @tbf: parameters
 * @now_ns: monotonic time in ns
 *
 * Context: Any.
 * Return: the time in units; a bucket is full whose TAT is not later
 */
static inline u64 synq_tbf_clock(const struct synq_tbf *tbf, u64 now_ns)
{
	return mul_u64_u64_shr(now_ns, tbf->scale, SYNQ_TBF_SCALE_SHIFT);
}

/**
 * synq_tbf_next() - judge one arrival
 * @tbf: parameters
 * @tat: state of the bucket; 0 is a full bucket at any time
 * @now_ns: monotonic time in ns, 0 allowed
 * @next_tat: out: the state after this arrival; @tat where it does not conform
 *
 * A full bucket passes exactly burst arrivals at one instant.
 *
 * If the clock goes back by d ns (CPUs whose clocks disagree, an older
 * @now_ns used late), d up to 0.5 s, up to d ns worth of tokens are missing
 * until it has caught up; none is ever handed out twice.
 *
 * A TAT too far ahead for that (made for another rate, or junk) counts as a
 * full bucket.  So whatever the word is, the next token comes within
 * period / rate + 1.1 s.
 *
 * Context: Any.  Lock-free, constant time.
 * Return: true if the arrival conforms, and @next_tat is to replace @tat;
 * false if it exceeds, and nothing is to be stored.
 */
static inline bool synq_tbf_next(const struct synq_tbf *tbf, u64 tat,
				 u64 now_ns, u64 *next_tat)
{
	u64 now = synq_tbf_clock(tbf, now_ns);

	if (tat <= now ||
	    tat - now > tbf->tolerance + tbf->interval + SYNQ_TBF_FOREIGN) {
		*next_tat = now + tbf->interval;
		return true;
	}

	if (tat - now > tbf->tolerance) {
		*next_tat = tat;
		return false;
	}

	*next_tat = tat + tbf->interval;
	return true;
}

#endif /* _SYNQ_TBF_H */
