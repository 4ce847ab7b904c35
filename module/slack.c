// SPDX-License-Identifier: GPL-2.0
/*
 * The slack: SYNs are refused some slots before the gate shuts, because what
 * will be queued when a handshake completes cannot be foreseen exactly.  A server
 * may take connections out in bursts, and handshakes may come in bursts.
 *
 * How much is needed is found out.  Whenever a connection had to wait at the gate
 * the slack grows by a step, but only once in the time that a handshake takes,
 * since what was begun before is not its fault; each connection that had not to
 * wait takes back an eight-thousandth of a step.  So about one in 8000 waits, unless
 * that would want more than a quarter of the backlog beyond the least slack, or half
 * of the limit.
 *
 * It does not decide anything, read a clock or lock.  Pure.
 */
#include <linux/limits.h>
#include <linux/minmax.h>

#include "slack.h"

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

static u32 most(u32 backlog)
{
	return backlog / 4;
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
	return synq_slack_least(backlog) + min(more / SYNQ_SLACK_ONE, most(backlog));
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
	u32 least = synq_slack_least(backlog);
	u32 found = synq_slack(more, backlog) - least;

	return limit - min(limit / 2, min(limit / 3, least) + found);
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

	if (slack->raised_ns && now_ns - slack->raised_ns < handshake_ns)
		return;
	slack->raised_ns = now_ns;
	more = slack->more + (u64)synq_slack_least(backlog) * SYNQ_SLACK_ONE;
	more = min_t(u64, more, (u64)most(backlog) * SYNQ_SLACK_ONE);
	slack->more = min_t(u64, more, U32_MAX);
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
	slack->more -= min(slack->more, synq_slack_least(backlog));
}
