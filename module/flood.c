// SPDX-License-Identifier: GPL-2.0
/*
 * How the SYN queue is shared out, and when a class has had its share.
 *
 * Half of the queue is shared out alike among the classes; who comes first has the
 * other half.  So a class may use what no other class has a claim to, up to all of
 * the queue where it is the only one, and finds its share free whatever the others
 * do.
 *
 * A class has had its share while the queue holds no more for it, or a quarter of the
 * queue is occupied by requests of its own that nobody expects to be answered any more:
 * each of those is sent several SYN-ACKs, to whoever it was that did not ask for them.
 * Handshakes that only take long, as those of far clients do, are expected.  That may
 * be over in a moment, and is asked for each SYN anew.
 *
 * It has had its share for longer when there is a flood: when that quarter has been
 * occupied for a second on end, but for an eighth of it that is given up and taken
 * again meanwhile.  Those that were held up, since a machine stood still, are answered
 * as soon as it goes on, and what was lost is sent again within a second.
 *
 * Once on, that stays for a while, so that what is answered by a cookie, which says
 * nothing about the queue, does not switch itself off: until less than half of it
 * is left, and for 5 s at least; twice as long whenever it comes again before four
 * times as long are over, up to 80 s.  A flood that goes on for hours is
 * let in once in 80 s, and only to its share.
 *
 * It does not lock or read a clock.  Pure.
 */
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "flood.h"

#define LASTS_NS	((u64)NSEC_PER_SEC)
#define HOLD_MIN_NS	(5ULL * NSEC_PER_SEC)
#define HOLD_MAX_NS	(80ULL * NSEC_PER_SEC)
#define FEW		8U	/* requests that say nothing in a short queue */

/**
 * synq_flood_share() - the share of one class
 * @room: of the queue
 * @classes: that have a share; not 0
 *
 * Context: any
 * Return: requests; all shares together are at most half of the room
 */
u32 synq_flood_share(u32 room, u32 classes)
{
	return room / 2 / classes;
}

/* Is there none, or will there be none after @more have come? */
static bool is_short(const struct synq_flood_sight *sight, u32 more)
{
	u64 length = (u64)sight->length + more;

	if (length >= sight->room)
		return true;
	return (u64)sight->own + more >= sight->share &&
	       length + sight->kept + sight->spare >= sight->room;
}

/**
 * synq_flood_is_full() - does the queue hold no more requests of a class?
 * @sight: of the class
 *
 * Context: any
 * Return: true if so
 */
bool synq_flood_is_full(const struct synq_flood_sight *sight)
{
	return is_short(sight, 0);
}

/* Requests that nobody expects to be answered. */
static u32 idle(const struct synq_flood_sight *sight)
{
	return sight->own - min(sight->own, sight->expected);
}

static u32 most_idle(const struct synq_flood_sight *sight)
{
	return max(sight->room / 4, min(sight->room, FEW));
}

static bool is_idle(const struct synq_flood_sight *sight)
{
	return idle(sight) >= most_idle(sight);
}

/* Does it look like one, or still? */
static bool is_flood(const struct synq_flood *flood,
		     const struct synq_flood_sight *sight)
{
	u32 most = most_idle(sight);

	if (READ_ONCE(flood->since_ns))
		most -= most / 8;
	return idle(sight) >= most;
}

static bool is_under(const struct synq_flood_sight *sight)
{
	return !is_short(sight, sight->room / 8) &&
	       2 * (u64)idle(sight) < most_idle(sight);
}

/**
 * synq_flood_is_sated() - has a class had its share of the queue, for now?
 * @sight: of the class
 *
 * Context: any
 * Return: true if the queue holds no more of its requests, or too many that are idle
 */
bool synq_flood_is_sated(const struct synq_flood_sight *sight)
{
	return is_short(sight, 0) || is_idle(sight);
}

/**
 * synq_flood_is_due() - is there something to be noted of the state of a class?
 * @flood: its state
 * @sight: of the class; while on, nothing is expected
 * @now_ns: monotonic clock, ns, not 0
 *
 * Context: any
 * Return: true if synq_flood_turn() has to be called
 */
bool synq_flood_is_due(const struct synq_flood *flood,
		       const struct synq_flood_sight *sight, u64 now_ns)
{
	u64 since = READ_ONCE(flood->since_ns);

	if (READ_ONCE(flood->on))
		return now_ns >= flood->changed_ns + flood->hold_ns &&
		       is_under(sight);
	if (!is_flood(flood, sight))
		return since;
	return !since || now_ns >= since + LASTS_NS;
}

static void come_on(struct synq_flood *flood, u64 now_ns)
{
	bool again = flood->hold_ns &&
		     now_ns < flood->changed_ns + 4 * flood->hold_ns;

	flood->hold_ns = again ? min(2 * flood->hold_ns, HOLD_MAX_NS) :
				 HOLD_MIN_NS;
	flood->changed_ns = now_ns;
	WRITE_ONCE(flood->on, true);
}

/**
 * synq_flood_turn() - note what is due
 * @flood: of a class
 * @sight: of the class
 * @now_ns: monotonic clock, ns, not 0
 *
 * Context: any; callers exclude each other
 * Return: true if it has come on
 */
bool synq_flood_turn(struct synq_flood *flood,
		     const struct synq_flood_sight *sight, u64 now_ns)
{
	if (flood->on) {
		WRITE_ONCE(flood->on, false);
		flood->changed_ns = now_ns;
	} else if (is_flood(flood, sight) && flood->since_ns) {
		come_on(flood, now_ns);
	} else if (is_flood(flood, sight)) {
		WRITE_ONCE(flood->since_ns, now_ns);
		return false;
	}
	WRITE_ONCE(flood->since_ns, 0);
	return flood->on;
}
