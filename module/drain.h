/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How fast a server takes connections out of its accept queue.  See drain.c.
 */
#ifndef _SYNQ_DRAIN_H
#define _SYNQ_DRAIN_H

#include <linux/compiler.h>
#include <linux/types.h>

/**
 * struct synq_drain_window - departures seen
 * @ns: how long
 * @departed: how many
 */
struct synq_drain_window {
	u64 ns;
	u64 departed;
};

/**
 * struct synq_drain - the estimate for one queue; all zero at first
 * @last_ns: time of the last sample; 0: none yet
 * @span: the present span, in which the queue has never been empty
 * @counts: it has gone into @known
 * @known: of spans that count, in the present window and the one before
 * @flow: departures of late, whether the queue was empty or not
 * @idled: it was, while @flow was taken
 * @low_since_ns: time when @low_present was begun
 * @low_present: least number queued since
 * @low_before: in the second before
 * @low: least number queued at an append in the last second or two
 * @lull_ns: how long none had been appended before the present second began, at most 4 s
 * @interval_ns: from one departure to the next while the queue is not empty, at
 *	most 4 s; 0: not known
 * @pace_ns: the same of late, whether it is empty or not
 *
 * One writer at a time; @last_ns and the last four may be read by anybody.
 */
struct synq_drain {
	u64 last_ns;
	struct synq_drain_window span;
	bool counts;
	struct synq_drain_window known[2];
	struct synq_drain_window flow;
	bool idled;

	u64 low_since_ns;
	u32 low_present;
	u32 low_before;

	u32 low;
	u32 lull_ns;
	u32 interval_ns;
	u32 pace_ns;
};

void synq_drain_sample(struct synq_drain *drain, u64 now_ns, u32 before,
		       u32 departed);

/* Has the server been seen to accept?  Else the interval is a guess. */
static inline bool synq_drain_is_known(const struct synq_drain *drain)
{
	return READ_ONCE(drain->known[0].departed);
}

#endif /* _SYNQ_DRAIN_H */
