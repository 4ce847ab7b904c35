// SPDX-License-Identifier: GPL-2.0
/*
 * Which requests are in the SYN queue: SYNs let through to a listener that have
 * not been answered by a final ACK yet.  And when has a class had its share of it?
 *
 * The kernel counts its half-open requests, but not by class, and does not tell
 * when it gives one up: after 63 s, after 7 s when the queue is more than half full,
 * or at once when the client resets it.  So SYNs let through are counted by the two
 * seconds in which they came, each final ACK takes one out of its own slice, and
 * where more are counted than the kernel has, the oldest are gone: all requests
 * are kept for the same time.  What is older than 64 s is not counted.
 *
 * Of those that are gone out of one slice, all but the last are taken for the ones of
 * the class that has most there: a flood's.
 *
 * DOC: shares
 *
 * Half of the queue is shared out alike among the classes; the other half is first
 * come, first served.  So a class may use what no other class has a claim to, up to all of
 * the queue where it is the only one, and finds its share free whatever the others
 * do.
 *
 * A class has had its share while the queue holds no more for it, or a quarter of the
 * queue is occupied by requests of its own that are not expected to be answered any more:
 * each of those is sent several SYN-ACKs, to an address that did not ask for them.
 * Handshakes that only take long, as those of far clients do, are expected.  That may
 * be over in a moment, and is asked for each SYN anew: while a flood lasts, it has that
 * quarter, and what expires of it is replaced.
 *
 * It does not read a clock or lock.  Pure.
 */
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "halfopen.h"

#define SLICE_NS	(2ULL * NSEC_PER_SEC)
#define FEW		8U	/* requests that say nothing in a short queue */

static u32 *slice_at(struct synq_halfopen *halfopen, u64 slice)
{
	return halfopen->in[slice % SYNQ_HALFOPEN_SLICES];
}

static void take(struct synq_halfopen *halfopen, u64 slice, u8 class, u32 n)
{
	slice_at(halfopen, slice)[class] -= n;
	WRITE_ONCE(halfopen->total, halfopen->total - n);
	WRITE_ONCE(halfopen->open[class], halfopen->open[class] - n);
}

static void clear(struct synq_halfopen *halfopen, u64 slice)
{
	u8 class;

	for (class = 0; class < SYNQ_HALFOPEN_CLASSES; class++)
		take(halfopen, slice, class, slice_at(halfopen, slice)[class]);
}

/* Slices that come into use again are of 64 s ago. */
static noinline void advance_to(struct synq_halfopen *halfopen, u64 now)
{
	u32 steps = min_t(u64, now - halfopen->slice, SYNQ_HALFOPEN_SLICES);

	while (steps)
		clear(halfopen, now - --steps);
	halfopen->slice = now;
	if (now - halfopen->oldest >= SYNQ_HALFOPEN_SLICES)
		halfopen->oldest = now - SYNQ_HALFOPEN_SLICES + 1;
}

static void advance(struct synq_halfopen *halfopen, u64 now_ns)
{
	u64 now = div64_u64(now_ns, SLICE_NS);

	if (now > halfopen->slice)
		advance_to(halfopen, now);
}

/**
 * synq_halfopen_init() - none yet
 * @halfopen: zero
 * @now_ns: monotonic clock, ns
 */
void synq_halfopen_init(struct synq_halfopen *halfopen, u64 now_ns)
{
	halfopen->slice = div64_u64(now_ns, SLICE_NS);
	halfopen->oldest = halfopen->slice;
}

/**
 * synq_halfopen_begin() - a SYN was let through
 * @halfopen: of the listener
 * @class: of the SYN
 * @now_ns: monotonic clock, ns
 *
 * Context: callers exclude each other
 */
void synq_halfopen_begin(struct synq_halfopen *halfopen, u8 class, u64 now_ns)
{
	advance(halfopen, now_ns);
	slice_at(halfopen, halfopen->slice)[class]++;
	WRITE_ONCE(halfopen->total, halfopen->total + 1);
	halfopen->fresh++;
	WRITE_ONCE(halfopen->open[class], halfopen->open[class] + 1);
}

/**
 * synq_halfopen_answered() - the final ACK of a request came
 * @halfopen: of the listener
 * @class: of the connection
 * @now_ns: monotonic clock, ns
 * @age_ns: since its SYN-ACK
 *
 * The SYN may have come in the slice before that.  One that was taken for gone is
 * not counted any more.
 *
 * Context: callers exclude each other
 */
void synq_halfopen_answered(struct synq_halfopen *halfopen, u8 class,
			    u64 now_ns, u64 age_ns)
{
	u64 slice;

	advance(halfopen, now_ns);
	slice = min(div64_u64(now_ns - min(age_ns, now_ns), SLICE_NS),
		    halfopen->slice);
	if (slice >= halfopen->oldest && slice_at(halfopen, slice)[class])
		take(halfopen, slice, class, 1);
	else if (slice > halfopen->oldest &&
		 slice_at(halfopen, slice - 1)[class])
		take(halfopen, slice - 1, class, 1);
}

/**
 * synq_halfopen_forget() - another class has the number of one that is gone
 * @halfopen: of the listener
 * @class: the number
 *
 * The requests of the former belong to no class any more.
 *
 * Context: callers exclude each other
 */
void synq_halfopen_forget(struct synq_halfopen *halfopen, u8 class)
{
	u64 slice;

	for (slice = 0; slice < SYNQ_HALFOPEN_SLICES; slice++)
		take(halfopen, slice, class, slice_at(halfopen, slice)[class]);
}

/* The class that has most in a slice. */
static u8 most_in(struct synq_halfopen *halfopen, u64 slice)
{
	const u32 *in = slice_at(halfopen, slice);
	u8 class, most = 0;

	for (class = 1; class < SYNQ_HALFOPEN_CLASSES; class++)
		if (in[class] > in[most])
			most = class;
	return most;
}

/**
 * synq_halfopen_settle() - compare with what the kernel has
 * @halfopen: of the listener
 * @now_ns: monotonic clock, ns
 * @length: of its SYN queue
 *
 * What was counted since the last time may still be on its way there.
 *
 * Context: callers exclude each other
 */
void synq_halfopen_settle(struct synq_halfopen *halfopen, u64 now_ns,
			  u32 length)
{
	u64 at_most = (u64)length + halfopen->fresh;

	advance(halfopen, now_ns);
	halfopen->fresh = 0;
	while (halfopen->total > at_most) {
		u64 oldest = halfopen->oldest;
		u8 class = most_in(halfopen, oldest);
		u32 there = slice_at(halfopen, oldest)[class];

		if (there)
			take(halfopen, oldest, class,
			     min_t(u64, there, halfopen->total - at_most));
		else if (oldest < halfopen->slice)
			halfopen->oldest++;
		else
			break;
	}
}

/**
 * synq_halfopen_share() - the share of one class
 * @room: of the queue
 * @classes: that have a share; not 0
 *
 * Return: requests; all shares together are at most half of the room
 */
u32 synq_halfopen_share(u32 room, u32 classes)
{
	return room / 2 / classes;
}

/**
 * synq_halfopen_is_full() - does the queue hold no more requests of a class?
 * @sight: of the class
 *
 * Return: true if so
 */
bool synq_halfopen_is_full(const struct synq_halfopen_sight *sight)
{
	if (sight->length >= sight->room)
		return true;
	return sight->own >= sight->share &&
	       (u64)sight->length + sight->kept + sight->spare >= sight->room;
}

/* Requests that are not expected to be answered. */
static u32 idle(const struct synq_halfopen_sight *sight)
{
	return sight->own - min(sight->own, sight->expected);
}

static u32 most_idle(const struct synq_halfopen_sight *sight)
{
	return max(sight->room / 4, min(sight->room, FEW));
}

/**
 * synq_halfopen_is_idle() - is too much of the queue occupied by requests of a class that
 * are not expected to be answered?
 * @sight: of the class
 *
 * Return: true if so
 */
bool synq_halfopen_is_idle(const struct synq_halfopen_sight *sight)
{
	return idle(sight) >= most_idle(sight);
}

/**
 * synq_halfopen_is_busy() - is it clearly not?
 * @sight: of the class
 *
 * Return: true if it is less than half of what is too much
 */
bool synq_halfopen_is_busy(const struct synq_halfopen_sight *sight)
{
	return 2 * (u64)idle(sight) < most_idle(sight);
}
