// SPDX-License-Identifier: GPL-2.0
/*
 * Token bucket: does one more arrival conform to a rate and a burst?
 *
 * This is the generic cell rate algorithm in its virtual scheduling form
 * (ITU-T I.371; ATM Forum Traffic Management 4.0): the whole state is the
 * time at which the next arrival is due if all come evenly spaced.  An arrival
 * conforms if it is early by no more than the burst allows.
 *
 * The time between tokens, 10^9 * period / rate ns, is seldom an integer, and an error
 * in it would be an error of the rate.  So the clock is stretched instead, by
 * less than two, until the interval is a power of two: one multiplication of
 * the absolute time, exact to 2^-63.  Rounding happens once per arrival, is
 * less than a unit (a unit is at most 1 ns) and never adds up.
 *
 * Horizon: nothing wraps while now_ns < 2^62, about 146 years: the clock is less than
 * 2^63 then, and the largest bucket, of 1,000,000 tokens an hour apart, 2^62.  A TAT is
 * never ambiguous before, however long its bucket lay idle; all comparisons
 * are plain unsigned ones.
 *
 * It does not store the TAT, read a clock, lock or count: the policer does, in
 * softirq, and retries its compare and exchange.  Pure: no locks, no sleeping.
 */
#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "tbf.h"

/**
 * synq_tbf_init() - compute the parameters for a rate and a burst
 * @tbf: parameters to fill in
 * @rate: tokens/period, 1 to SYNQ_TBF_RATE_MAX
 * @period: seconds, 1 to SYNQ_TBF_PERIOD_MAX
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
void synq_tbf_init(struct synq_tbf *tbf, u32 rate, u32 period, u32 burst)
{
	u64 units, ns, bit;
	u32 shift = 0;

	rate = clamp_t(u32, rate, 1, SYNQ_TBF_RATE_MAX);
	period = clamp_t(u32, period, 1, SYNQ_TBF_PERIOD_MAX);
	burst = clamp_t(u32, burst, 1, SYNQ_TBF_BURST_MAX);

	/* Of a period.  Ends at 42 or before: 2^42 > 3600 * NSEC_PER_SEC. */
	ns = (u64)period * NSEC_PER_SEC;
	while (((u64)rate << shift) < ns)
		shift++;

	/* units / ns with 63 fractional bits, truncated: by long division */
	units = ((u64)rate << shift) - ns;
	tbf->scale = BIT_ULL(SYNQ_TBF_SCALE_SHIFT);
	for (bit = tbf->scale >> 1; bit; bit >>= 1) {
		units <<= 1;
		if (units < ns)
			continue;
		units -= ns;
		tbf->scale |= bit;
	}
	tbf->interval = 1ULL << shift;
	tbf->tolerance = (burst - 1) * tbf->interval;
}
