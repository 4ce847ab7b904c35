// SPDX-License-Identifier: GPL-2.0
/*
 * Token bucket: does one more arrival conform to a rate and a burst?
 *
 * This is the generic cell rate algorithm in its virtual scheduling form
 * (ITU-T I.371; ATM Forum Traffic Management 4.0): the whole state is the
 * time at which the next arrival is due if all come evenly spaced.  An arrival
 * conforms if it is early by no more than the burst allows.
 *
 * The time between tokens, 10^9 / rate ns, is seldom an integer, and an error
 * in it would be an error of the rate.  So the clock is stretched instead, by
 * less than two, until the interval is a power of two: one multiplication of
 * the absolute time, exact to 2^-63.  Rounding happens once per arrival, is
 * less than a unit (a unit is at most 1 ns) and never adds up.
 *
 * Horizon: nothing wraps while now_ns + 2^50 < 2^63, about 292 years.  A TAT
 * is never ambiguous before, however long its bucket lay idle; all comparisons
 * are plain unsigned ones.
 *
 * It does not store the TAT, read a clock, lock or count: the policer does, in
 * softirq, and retries its compare and exchange.  Pure: no locks, no sleeping.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "tbf.h"

/* Fractional bits of the scale, which needs the 64th: it is at least 1. */
#define SCALE_SHIFT	63

/*
 * Units, 0.5 to 1.1 s: no clock goes back by as much, so that a TAT which is
 * ahead by still more than a bucket allows was not made by these parameters.
 */
#define FOREIGN		0x40000000ULL

/**
 * synq_tbf_init() - compute the parameters for a rate and a burst
 * @tbf: parameters to fill in
 * @rate: tokens/second, 1 to SYNQ_TBF_RATE_MAX
 * @burst: tokens that a full bucket holds, 1 to SYNQ_TBF_BURST_MAX
 *
 * Values out of range are brought to the nearest in range: neither "nothing
 * passes, ever" nor "no limit" can result from a mistake of the caller.
 *
 * A TAT has a meaning for the @rate that made it only: where a rate changes,
 * start again from 0, a full bucket.  A word that a CPU with the old parameters
 * stores afterwards does no lasting harm, see synq_tbf_next().
 *
 * Context: Any.
 */
void synq_tbf_init(struct synq_tbf *tbf, u32 rate, u32 burst)
{
	u32 shift = 0;
	u32 rest;
	u64 whole;

	rate = clamp_t(u32, rate, 1, SYNQ_TBF_RATE_MAX);
	burst = clamp_t(u32, burst, 1, SYNQ_TBF_BURST_MAX);

	/* Ends at 30 or before: 2^30 > NSEC_PER_SEC. */
	while (((u64)rate << shift) < NSEC_PER_SEC)
		shift++;

	/* (rate << shift) / NSEC_PER_SEC with 63 fractional bits, truncated */
	whole = div_u64_rem((u64)rate << shift << 32, NSEC_PER_SEC, &rest);
	tbf->scale = (whole << 31) + div_u64((u64)rest << 31, NSEC_PER_SEC);
	tbf->interval = 1ULL << shift;
	tbf->tolerance = (burst - 1) * tbf->interval;
}

/**
 * synq_tbf_clock() - the clock that a TAT is compared with
 * @tbf: parameters
 * @now_ns: monotonic time in ns
 *
 * Context: Any.
 * Return: the time in units; a bucket is full whose TAT is not later
 */
u64 synq_tbf_clock(const struct synq_tbf *tbf, u64 now_ns)
{
	return mul_u64_u64_shr(now_ns, tbf->scale, SCALE_SHIFT);
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
 * 1 / rate + 1.1 s.
 *
 * Context: Any.  Lock-free, constant time.
 * Return: true if the arrival conforms, and @next_tat is to replace @tat;
 * false if it exceeds, and nothing is to be stored.
 */
bool synq_tbf_next(const struct synq_tbf *tbf, u64 tat, u64 now_ns,
		   u64 *next_tat)
{
	u64 now = synq_tbf_clock(tbf, now_ns);

	if (tat <= now ||
	    tat - now > tbf->tolerance + tbf->interval + FOREIGN) {
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
