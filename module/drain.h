/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How fast a server takes connections out of its accept queue.  See drain.c.
 */
#ifndef _SYNQ_DRAIN_H
#define _SYNQ_DRAIN_H

#include <linux/types.h>

/**
 * struct synq_drain_window - departures seen while the queue was never empty
 * @ns: how long
 * @departed: how many
 */
struct synq_drain_window {
	u64 ns;
	u64 departed;
};

/**
 * struct synq_drain - the estimate for one queue; all zero at first
 * @last: time of the last sample, ns; 0: none yet
 * @span: the present span, in which the queue has never been empty
 * @since: time before which nobody of it has left, ns
 * @follows: somebody had, between that time and its begin
 * @measured: time when @window was last added to, ns
 * @window: the present window, and the one before
 * @counts: the present span has gone into @window
 * @flow: departures of late, whether the queue was empty or not
 * @idled: it was, while @flow was taken
 * @low_since: time when @low_present was begun, ns
 * @low_present: least number queued since
 * @low_before: in the time before
 * @low: least number queued at an append in the last second or two
 * @pace_ns: from one departure to the next of late, at most 4 s; 0: nobody knows
 * @guess_ns: from one to the next by the last span that said so, in the worst case; 0:
 *	none did
 * @guessed: @since of that span
 * @interval_ns: from one departure to the next while the queue is not empty, at
 *	most 4 s; 0: nobody knows
 * @sure_ns: the same for who counts on departures, in the worst case
 *
 * One writer at a time; the last two, and @low, may be read by anybody.
 */
struct synq_drain {
	u64 last;
	struct synq_drain_window span;
	u64 since;
	bool follows;
	u64 measured;
	struct synq_drain_window window[2];
	bool counts;

	struct synq_drain_window flow;
	bool idled;

	u64 low_since;
	u32 low_present;
	u32 low_before;

	u32 low;
	u32 pace_ns;
	u32 guess_ns;
	u64 guessed;
	u32 interval_ns;
	u32 sure_ns;
};

void synq_drain_sample(struct synq_drain *drain, u64 now_ns, u32 before,
		       u32 departed);

#endif /* _SYNQ_DRAIN_H */
