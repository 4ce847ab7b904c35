// SPDX-License-Identifier: GPL-2.0
/*
 * The drain rate of an accept queue: how fast the server takes connections out
 * while there are some.  An idle server says nothing about what it could do, so
 * only time in which the queue is never empty counts.
 *
 * A sample is taken at every append.  Between two appends a queue only shrinks:
 * if it was not empty before the second, it was not in between, and the time
 * counts.  A run of such samples is a span.
 *
 * A short span is misleading.  Whether the queue is still not empty at the next
 * append depends on how fast the server was: short spans are those in which it
 * was slow.  So a span counts from SPAN_MIN departures on.  Before, from the first
 * departure, it says that the server is hardly faster than one more in the time
 * that has passed: enough to notice one that is very slow.  Without a departure
 * it says nothing for PAUSE_NS, since servers pause; then, that it has stopped.
 *
 * What counts goes into a window, closed after WINDOW_NS and SPAN_MIN
 * departures; the estimate is over the present window and the one before.  It
 * follows a change of the server's capacity in two windows: half a second, or
 * 16 departures.
 *
 * A server is never slower than its pace: what left lately, whether the queue was empty
 * or not.  One that was very slow, and is fast now, would stay slow in our eyes: few are
 * let in, and so its queue is always empty.  And as it was idle meanwhile it can do more
 * than that: it is taken for a quarter faster, until a span says how fast it is.
 *
 * It does not decide anything, read a clock or lock: acceptq.c calls it under
 * the lock of the queue.  Pure.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "drain.h"

#define SPAN_MIN	8			/* departures */
#define WINDOW_NS	(NSEC_PER_SEC / 4)
#define FLOW_NS		(NSEC_PER_SEC / 4)
#define LOW_NS		NSEC_PER_SEC
#define PAUSE_NS	NSEC_PER_SEC

static void add(struct synq_drain_window *to, u64 ns, u64 departed)
{
	to->ns += ns;
	to->departed += departed;
}

static u64 interval_of(const struct synq_drain_window *window)
{
	return max_t(u64, div64_u64(window->ns, window->departed), 1);
}

/* Of both windows; 0: none has counted yet. */
static u64 known(const struct synq_drain *drain)
{
	struct synq_drain_window both = drain->known[0];

	add(&both, drain->known[1].ns, drain->known[1].departed);
	return both.departed ? interval_of(&both) : 0;
}

static void add_to_known(struct synq_drain *drain, u64 ns, u64 departed)
{
	struct synq_drain_window *present = &drain->known[0];

	if (present->ns >= WINDOW_NS && present->departed >= SPAN_MIN) {
		drain->known[1] = *present;
		*present = (struct synq_drain_window){ 0 };
	}
	add(present, ns, departed);
}

static void keep_span(struct synq_drain *drain, u64 ns, u32 before, u32 departed)
{
	if (!before) {
		drain->span = (struct synq_drain_window){ 0 };
		drain->counts = false;
		return;
	}
	add(&drain->span, ns, departed);
	if (drain->counts) {
		add_to_known(drain, ns, departed);
	} else if (drain->span.departed >= SPAN_MIN) {
		drain->counts = true;
		add_to_known(drain, drain->span.ns, drain->span.departed);
	}
}

static void keep_pace(struct synq_drain *drain, u64 ns, u32 before, u32 departed)
{
	struct synq_drain_window *flow = &drain->flow;
	u64 pace;

	add(flow, ns, departed);
	drain->idled |= !before;
	if (flow->ns < FLOW_NS)
		return;
	if (flow->departed < SPAN_MIN) {
		pace = div64_u64(flow->ns, flow->departed + 1);
		pace = max_t(u64, pace, drain->pace_ns);
	} else {
		pace = interval_of(flow);
		if (drain->idled && pace < known(drain)) {
			drain->known[0] = *flow;
			drain->known[0].ns = flow->ns * 4 / 5;
			drain->known[1] = (struct synq_drain_window){ 0 };
		}
		*flow = (struct synq_drain_window){ 0 };
		drain->idled = false;
	}
	WRITE_ONCE(drain->pace_ns, min_t(u64, pace, U32_MAX));
}

static u32 estimate(const struct synq_drain *drain)
{
	const struct synq_drain_window *span = &drain->span;
	u64 interval = known(drain);

	if (!drain->counts && (span->departed || span->ns >= PAUSE_NS))
		interval = max(interval, div64_u64(span->ns, span->departed + 1));
	return min_t(u64, interval, U32_MAX);
}

/*
 * The least number queued: of this second, and of the one before.  And how long nobody came
 * before it.
 */
static void keep_low(struct synq_drain *drain, u64 now_ns, u64 ns, u32 before)
{
	u64 since = now_ns - drain->low_since_ns;

	if (since < LOW_NS) {
		drain->low_present = min(drain->low_present, before);
	} else {
		drain->low_before = since < 2 * LOW_NS ? drain->low_present :
							 before;
		drain->low_present = before;
		drain->low_since_ns = now_ns;
		WRITE_ONCE(drain->lull_ns, min_t(u64, ns, U32_MAX));
	}
	WRITE_ONCE(drain->low, min(drain->low_present, drain->low_before));
}

/**
 * synq_drain_sample() - a connection was appended to the queue
 * @drain: of the queue
 * @now_ns: monotonic clock, ns, not 0
 * @before: connections that were queued just before
 * @departed: connections that have left since the last sample
 *
 * Context: any; callers exclude each other
 */
void synq_drain_sample(struct synq_drain *drain, u64 now_ns, u32 before,
		       u32 departed)
{
	bool follows = drain->last_ns && now_ns > drain->last_ns;
	u64 ns = follows ? now_ns - drain->last_ns : 0;

	keep_span(drain, ns, follows ? before : 0, departed);
	if (follows)
		keep_pace(drain, ns, before, departed);
	keep_low(drain, now_ns, ns, before);
	WRITE_ONCE(drain->last_ns, now_ns);
	/* Pairs with READ_ONCE() in admission.c; no order needed. */
	WRITE_ONCE(drain->interval_ns, estimate(drain));
}
