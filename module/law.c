// SPDX-License-Identifier: GPL-2.0
/*
 * The law of admission: may one more handshake of a class begin?
 *
 * Not if its connection would find no slot: connections queued and expected
 * reach the limit of the class, or the class its cap.  (Slots that are kept for
 * the class are always there.)  Nor if the gate could
 * be left with more withheld requests than it may have, if everybody who may
 * still complete did.
 *
 * And not if the connection would wait for too long.  The server takes one out
 * every interval, so with N ahead of it the wait is N intervals; but by the time
 * that the handshake has completed, the server has taken out some of them.  A
 * floor keeps a very slow server busy.
 *
 * The law is the same for the kernel and for bench/admission_sim.c.  Pure.
 */
#include <linux/math64.h>
#include <linux/minmax.h>

#include "law.h"

#define FLOOR	3	/* connections ahead that never make a SYN too late */

/* Connections that the server takes out while a handshake goes on. */
static u64 meanwhile(const struct synq_law *law)
{
	return law->interval_ns ?
		div64_u64(law->handshake_ns, law->interval_ns) : 0;
}

static bool is_full(const struct synq_law *law)
{
	if (law->cap && law->own >= law->cap)
		return true;
	if (law->own < law->kept)
		return false;
	if (law->withheld >= law->withheld_max ||
	    law->queued >= law->limit ||
	    (u64)law->queued + law->expected >= law->limit + meanwhile(law))
		return true;
	/* What is queued already is what is certain to leave. */
	return law->queued - min_t(u64, law->queued, meanwhile(law)) +
	       law->open >= (u64)law->limit + law->withheld_max - law->withheld;
}

static bool is_late(const struct synq_law *law)
{
	u64 room;

	if (!law->max_wait_ns || !law->interval_ns)
		return false;
	room = div64_u64(law->max_wait_ns, law->interval_ns) + meanwhile(law);
	return law->ahead >= max_t(u64, room, FLOOR);
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
