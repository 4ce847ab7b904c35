// SPDX-License-Identifier: GPL-2.0
/*
 * The law of admission: may one more handshake of a class begin?
 *
 * Two numbers decide: how fast connections leave the queue (drain.c), and how many will
 * have come before this one: those that are queued or held, and the handshakes under way
 * that will complete (flight.c).  What leaves until its own handshake completes is taken
 * off.
 *
 * No, if that reaches the limit of the class, or the class its cap.  (Slots that are kept
 * for the class are always there.)  Where more are on their way than there are slots they
 * must not come at once, either.
 *
 * And no, if the connection would wait for too long: the server takes one out
 * every interval, so with N ahead of it the wait is N intervals.  A floor
 * keeps a very slow server busy.  But a class that has a minimum share may have
 * what it is due beside those before it, and half as many more for its next turns, as it
 * has slots, however long they make it wait: were it refused for that, it would not get
 * its share.
 *
 * That is about a queue that stands.  One that was short a moment ago absorbs a
 * burst, which is what queues are for (Nichols and Jacobson 2012).  The client of
 * a refused SYN comes back after a second (RFC 6298), so nobody gains by refusing
 * who would be served within that time.  Of a crowd some come back later, at 7, 11 and
 * 19 s: where nobody had come for longer than a second, as many are let in as keep the
 * server busy for as long again, but nobody shall have to wait for very long.
 *
 * What the law gets wrong is held for a moment (hold.c).
 *
 * The law is the same for the kernel and for bench/admission_sim.c.  Pure.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "law.h"

#define FLOOR		3U	/* connections: so few keep the server busy */
#define PATIENCE_NS	((u64)NSEC_PER_SEC)
#define PATIENCE_MAX_NS	(4 * PATIENCE_NS)
#define STANDING	8	/* the part of the room that it then never leaves */

static u32 left_of(u32 connections, const struct synq_law *law)
{
	return connections - min(connections, law->gone);
}

static bool is_full(const struct synq_law *law)
{
	if (law->cap && law->own >= law->cap)
		return true;
	if (law->own < law->kept || law->queued < law->limit)
		return false;
	/* A few who may never come shall not keep an empty queue empty. */
	if (!law->there && law->queued < FLOOR)
		return false;
	return left_of(law->queued, law) >= law->limit || law->paced >= law->limit;
}

static u64 room(const struct synq_law *law, u64 wait_ns)
{
	return max_t(u64, div_u64(wait_ns, law->interval_ns), FLOOR);
}

static u64 patience(const struct synq_law *law)
{
	return clamp_t(u64, law->lull_ns, PATIENCE_NS, PATIENCE_MAX_NS);
}

static bool is_late(const struct synq_law *law)
{
	u64 most;

	if (!law->max_wait_ns || !law->interval_ns)
		return false;
	if (law->due && law->own < law->due + law->due / 2 + FLOOR)
		return false;
	most = room(law, law->max_wait_ns);
	if (STANDING * (u64)law->low < most)
		most = max(most, room(law, patience(law)));
	return left_of(law->ahead, law) >= most;
}

/**
 * synq_law() - decide
 * @law: the state of the listener, as its class sees it
 *
 * Context: any
 * Return: what to do with the SYN, the reason if it is to be refused
 */
enum synq_law_answer synq_law(const struct synq_law *law)
{
	if (is_full(law))
		return SYNQ_LAW_FULL;
	return is_late(law) ? SYNQ_LAW_LATE : SYNQ_LAW_ADMIT;
}
