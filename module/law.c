// SPDX-License-Identifier: GPL-2.0
/*
 * The law of admission: may one more handshake of a class begin?
 *
 * Not if its connection would find no slot: the queue will have reached the
 * limit of the class, or the class its cap.  (Slots that are kept for the class
 * are always there.)  Nor if the gate could be left with half of the withheld requests
 * that it may still have, if many more completed than can be expected: when a spoofed
 * flood ends, all of those under way do, and nobody knows until the first ones come.
 * While it has as many as it may have, nobody else comes, but for a floor that keeps
 * the server busy until their clients send again.
 *
 * And not if the connection would wait for too long: the server takes one out
 * every interval, so with N ahead of it the wait is N intervals.  The same floor
 * keeps a very slow server busy.  But a class that has a minimum share may have
 * what it is due beside those before it, and half as many more for its next turns, as it
 * has slots, however long they make it wait: were it refused for that, it would not get
 * its share.
 *
 * That is about a queue that stands.  One that was short a moment ago absorbs a
 * burst, which is what queues are for (Nichols and Jacobson 2012).  The client of
 * a refused SYN comes back after a second (RFC 6298), so nobody gains by refusing
 * who would be served within that time.  Nor who would be served before it comes
 * back, when it has come back already: then it waits for at least as long as it did
 * before, since the time between two tries never shrinks, and doubles later.  What is
 * left of a crowd would leave the server idle between its tries otherwise.  But one
 * that comes meanwhile shall not have to wait for very long.
 *
 * The law is the same for the kernel and for bench/admission_sim.c.  Pure.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "law.h"

#define FLOOR		3	/* connections: so few keep the server busy */
#define PATIENCE_NS	((u64)NSEC_PER_SEC)
#define PATIENCE_MAX_NS	(4 * PATIENCE_NS)
#define STANDING	8	/* the part of the room that it then never leaves */

static bool is_full(const struct synq_law *law)
{
	if (law->cap && law->own >= law->cap)
		return true;
	if (law->own < law->kept)
		return false;
	if (law->queued >= law->limit)
		return true;
	if (law->withheld >= law->withheld_max)
		return law->most >= FLOOR;
	return law->most >= (u64)law->limit +
			    (law->withheld_max - law->withheld) / 2;
}

static u64 room(const struct synq_law *law, u64 wait_ns)
{
	return max_t(u64, div64_u64(wait_ns, law->interval_ns), FLOOR);
}

static u64 patience(const struct synq_law *law)
{
	return clamp_t(u64, law->refused_ns, PATIENCE_NS, PATIENCE_MAX_NS);
}

static bool is_late(const struct synq_law *law)
{
	u64 wait_ns = law->max_wait_ns;

	if (!wait_ns || !law->interval_ns)
		return false;
	if (law->due && law->own < law->due + law->due / 2 + FLOOR)
		return false;
	if (STANDING * (u64)law->low < room(law, wait_ns))
		wait_ns = max(wait_ns, patience(law));
	return law->ahead >= room(law, wait_ns);
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
