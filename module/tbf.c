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
