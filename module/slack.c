// SPDX-License-Identifier: GPL-2.0
/*
 * The slack: SYNs are refused some slots before the gate shuts, because what
 * will be queued when a handshake completes cannot be foreseen exactly.  A server
 * may take connections out in bursts, and handshakes may come in bursts.
 *
 * How much is needed is found out.  Whenever a connection had to wait at the gate, or
 * one of a SYN cookie was refused there, the slack grows by a step, but only once in
 * the time that a handshake takes, since what was begun before is not its fault; each
 * connection that had not to wait takes back an eight-thousandth of a step.  Those that
 * wait do so in bunches, so for each further one 8000 more are let in before, but for
 * no more than four.  So about one in 8000 waits, unless that would want more than a
 * quarter of the backlog beyond the least slack, or two thirds of the limit.
 *
 * Once SYNs have been refused for want of slots for a second, by a queue that is long,
 * there is a step at least, before anybody had to wait.  Else a short
 * overload would teach too late, and at the cost of those who wait.  A crowd that
 * comes at once, and again whenever it tries again, is no such time: what it finds of
 * the queue is all that the server has until the next wave.
 *
 * It does not decide anything, read a clock or lock.  Pure.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "slack.h"

/* Refusals that are further apart are not one overload. */
#define PAUSE_NS	(NSEC_PER_SEC / 2)
/* It is one when it has lasted for so long. */
#define LASTING_NS	NSEC_PER_SEC
/* Connections that take back a step. */
#define PACE		SYNQ_SLACK_ONE
#define OWED_MAX	(4 * PACE)

/**
 * synq_slack_least() - the slack of a listener of which nothing is known
 * @backlog: of the listener
 *
 * Context: any
 * Return: slots; the size of a step, too
 */
u32 synq_slack_least(u32 backlog)
{
	u32 few = clamp_t(u32, backlog / 5, 1, 3);

	return max(backlog / 16, few);
}

/* In the unit of @more. */
static u32 step(u32 backlog)
{
	return min_t(u64, (u64)synq_slack_least(backlog) * SYNQ_SLACK_ONE,
		     U32_MAX);
}

static u32 most(u32 backlog)
{
	return backlog / 4;
}

/**
 * synq_slack_found() - what was found to be needed beyond the least
 * @more: of a struct synq_slack
 * @backlog: of the listener
 *
 * Context: any
 * Return: slots, at most a quarter of @backlog
 */
u32 synq_slack_found(u32 more, u32 backlog)
{
	return min(more / SYNQ_SLACK_ONE, most(backlog));
}

/**
 * synq_slack() - how far below the limit SYNs are refused
 * @more: of a struct synq_slack
 * @backlog: of the listener
 *
 * Context: any
 * Return: slots
 */
u32 synq_slack(u32 more, u32 backlog)
{
	return synq_slack_least(backlog) + synq_slack_found(more, backlog);
}

/**
 * synq_slack_limit() - up to which length of the queue SYNs are let through
 * @limit: of the gate
 * @more: of a struct synq_slack
 * @backlog: of the listener
 *
 * What is not known to be needed takes no more than a third.
 *
 * Context: any
 * Return: slots, at least 1 if @limit is
 */
u32 synq_slack_limit(u32 limit, u32 more, u32 backlog)
{
	u32 least = min(limit / 3, synq_slack_least(backlog));
	u32 slack = least + synq_slack_found(more, backlog);

	/* A third stays, rounded up. */
	return limit - min(limit - (limit + 2) / 3, slack);
}

/**
 * synq_slack_first() - up to which length of the queue the first class is let through
 * @more: of a struct synq_slack of its own
 * @backlog: of the listener
 * @departures: connections that the server takes out during a handshake
 *
 * There is nobody whom its slots could be left to, so it has no slack but what was
 * found to be needed.  Departures are known to an eighth or so.  If they are more
 * than there are slots, the forecast says little, and a SYN that is refused costs its
 * client more than a final ACK that finds the queue full now and then: until SYNs
 * have been refused for a second, an eighth comes on top.
 *
 * Context: any
 * Return: slots
 */
u32 synq_slack_first(u32 more, u32 backlog, u32 departures)
{
	u32 found = synq_slack_found(more, backlog);

	return backlog + 1 - found +
	       (!found && departures > backlog ? departures / 8 : 0);
}

/**
 * synq_slack_withheld() - a connection had to wait at the gate
 * @slack: of the listener
 * @backlog: of the listener
 * @now_ns: monotonic clock, ns
 * @handshake_ns: how long a handshake takes
 *
 * Context: any; callers exclude each other
 */
void synq_slack_withheld(struct synq_slack *slack, u32 backlog, u64 now_ns,
			 u64 handshake_ns)
{
	u64 more;

	if (slack->raised_ns && now_ns - slack->raised_ns < handshake_ns) {
		slack->owed = min(slack->owed + PACE, OWED_MAX);
		return;
	}
	slack->raised_ns = now_ns;
	more = (u64)slack->more + step(backlog);
	more = min_t(u64, more, (u64)most(backlog) * SYNQ_SLACK_ONE);
	slack->more = min_t(u64, more, U32_MAX);
}

/**
 * synq_slack_is_news() - would synq_slack_refused() change anything?
 * @refused_ns: of a struct synq_slack
 * @now_ns: monotonic clock, ns
 *
 * @now_ns may be of a moment ago, before another CPU refused one: that is no pause.
 *
 * Context: any
 * Return: false if it would not
 */
bool synq_slack_is_news(u64 refused_ns, u64 now_ns)
{
	return now_ns >= refused_ns + PAUSE_NS / 8;
}

/**
 * synq_slack_refused() - a SYN was refused: the queue is full but for the slack
 * @slack: of the listener
 * @backlog: of the listener
 * @now_ns: monotonic clock, ns
 *
 * Context: any; callers exclude each other
 */
void synq_slack_refused(struct synq_slack *slack, u32 backlog, u64 now_ns)
{
	if (now_ns - slack->refused_ns >= PAUSE_NS)
		slack->since_ns = now_ns;
	WRITE_ONCE(slack->refused_ns, now_ns);
	if (now_ns - slack->since_ns >= LASTING_NS)
		slack->more = max(slack->more, step(backlog));
}

/**
 * synq_slack_promoted() - one had not
 * @slack: of the listener
 * @backlog: of the listener
 *
 * Context: any; callers exclude each other
 */
void synq_slack_promoted(struct synq_slack *slack, u32 backlog)
{
	if (slack->owed)
		slack->owed--;
	else
		slack->more -= min(slack->more, synq_slack_least(backlog));
}
