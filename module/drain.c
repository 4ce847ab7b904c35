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
 * was slow, and a server that never lets anybody wait has nothing but short
 * ones.  So a span counts from SPAN_MIN departures on.  Before, from the first
 * departure, it says that the server is hardly faster than one more in the time
 * that has passed: enough to notice one that is very slow.  Without a departure
 * it says nothing for PAUSE_NS, since servers pause; then, that it has stopped.
 *
 * Who counts on departures must not believe that much.  So until a span has counted it
 * is asked how slow the server can be: all departures of a span but one have a whole
 * interval before them in it; that one, too, from the append before the span on, if
 * somebody has left since.  And it is never slower than its pace.
 *
 * What counts goes into a window, closed after WINDOW_NS and SPAN_MIN
 * departures; the estimate is over the present window and the one before.  It
 * follows a change of the server's capacity in two windows: half a second, or
 * 16 departures.  After STALE_NS without a span that counts nothing is known.
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
#define PAUSE_NS	(NSEC_PER_SEC)
#define FLOW_NS		(NSEC_PER_SEC)
#define LOW_NS		(NSEC_PER_SEC)
#define STALE_NS	(10ULL * NSEC_PER_SEC)

static void add(struct synq_drain_window *to, u64 ns, u64 departed)
{
	to->ns += ns;
	to->departed += departed;
}

static void add_to_window(struct synq_drain *drain, u64 now_ns, u64 ns,
			  u64 departed)
{
	struct synq_drain_window *present = &drain->window[0];

	if (present->ns >= WINDOW_NS && present->departed >= SPAN_MIN) {
		drain->window[1] = *present;
		*present = (struct synq_drain_window){ 0 };
	}
	add(present, ns, departed);
	drain->measured = now_ns;
}

static void begin_span(struct synq_drain *drain, u64 now_ns, u32 departed)
{
	drain->span = (struct synq_drain_window){ 0 };
	drain->counts = false;
	drain->follows = departed;
	drain->since = departed ? drain->last : now_ns;
	if (now_ns - drain->measured > STALE_NS) {
		drain->window[0] = (struct synq_drain_window){ 0 };
		drain->window[1] = (struct synq_drain_window){ 0 };
	}
	if (now_ns - drain->last > STALE_NS)
		drain->guess_ns = 0;
}

/* Has a span counted, not too long ago? */
static u64 counted(const struct synq_drain *drain)
{
	return drain->window[0].departed + drain->window[1].departed;
}

/* The server is hardly faster than the present span says. */
static u64 least(const struct synq_drain *drain)
{
	return div64_u64(drain->span.ns, drain->span.departed + 1);
}

static u32 estimate(const struct synq_drain *drain)
{
	const struct synq_drain_window *window = drain->window;
	u64 departed = counted(drain), interval = 0;

	if (departed)
		interval = max_t(u64, 1, div64_u64(window[0].ns + window[1].ns,
						   departed));
	if (!drain->counts &&
	    (drain->span.departed || drain->span.ns >= PAUSE_NS))
		interval = max(interval, least(drain));
	return min_t(u64, interval, U32_MAX);
}

/* What the present span says of how slow it can be, if anything. */
static void guess(struct synq_drain *drain, u64 now_ns)
{
	u64 whole = drain->span.departed - !drain->follows, most;

	if (!drain->span.departed || !whole)
		return;
	most = clamp_t(u64, div64_u64(now_ns - drain->since, whole), 1, U32_MAX);
	if (drain->guessed != drain->since || most < drain->guess_ns)
		drain->guess_ns = most;
	drain->guessed = drain->since;
}

static u32 worst(const struct synq_drain *drain)
{
	if (counted(drain))
		return drain->interval_ns;
	if (drain->guess_ns && drain->pace_ns)
		return min(drain->guess_ns, drain->pace_ns);
	return drain->guess_ns ?: drain->pace_ns;
}

/*
 * The pace, with an empty queue or without.  A server is never slower than that:
 * one that was very slow, and is fast now, would stay slow in our eyes, since few
 * are let in, and so its queue is always empty.
 */
static void keep_pace(struct synq_drain *drain, u64 ns, u32 departed)
{
	struct synq_drain_window *flow = &drain->flow;
	u64 pace;

	add(flow, ns, departed);
	if (flow->ns < FLOW_NS)
		return;
	if (flow->departed < SPAN_MIN) {
		pace = div64_u64(flow->ns, flow->departed + 1);
		pace = max_t(u64, pace, drain->pace_ns);
		WRITE_ONCE(drain->pace_ns, min_t(u64, pace, U32_MAX));
		return;
	}
	pace = div64_u64(flow->ns, flow->departed);
	if (drain->idled && pace < estimate(drain)) {
		drain->window[0] = *flow;
		drain->window[1] = (struct synq_drain_window){ 0 };
	}
	WRITE_ONCE(drain->pace_ns, clamp_t(u64, pace, 1, U32_MAX));
	*flow = (struct synq_drain_window){ 0 };
	drain->idled = false;
}

/* The least number queued: of this second, and of the one before. */
static void lowest(struct synq_drain *drain, u64 now_ns, u32 before)
{
	if (now_ns - drain->low_since < LOW_NS) {
		drain->low_present = min(drain->low_present, before);
	} else {
		drain->low_before = now_ns - drain->low_since < 2 * LOW_NS ?
				    drain->low_present : before;
		drain->low_present = before;
		drain->low_since = now_ns;
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
	u64 ns = now_ns - drain->last;

	if (!drain->last || !before || now_ns < drain->last) {
		begin_span(drain, now_ns, departed);
	} else if (drain->counts) {
		add_to_window(drain, now_ns, ns, departed);
	} else {
		add(&drain->span, ns, departed);
		if (drain->span.departed >= SPAN_MIN) {
			drain->counts = true;
			add_to_window(drain, now_ns, drain->span.ns,
				      drain->span.departed);
		}
	}
	drain->idled |= !before;
	if (drain->last && now_ns > drain->last)
		keep_pace(drain, ns, departed);
	lowest(drain, now_ns, before);
	drain->last = now_ns;
	guess(drain, now_ns);
	/* Pairs with READ_ONCE() in admission.c; no order needed. */
	WRITE_ONCE(drain->interval_ns, estimate(drain));
	WRITE_ONCE(drain->sure_ns, worst(drain));
}
