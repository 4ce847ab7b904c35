/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How far below the limit of the gate SYNs are refused.  See slack.c.
 */
#ifndef _SYNQ_SLACK_H
#define _SYNQ_SLACK_H

#include <linux/types.h>

#define SYNQ_SLACK_ONE	8192	/* fractional part of a slot */

/**
 * struct synq_slack - of one listener; all zero at first
 * @more: slots beyond the least slack, of SYNQ_SLACK_ONE each
 * @owed: connections that have to be let in before it shrinks
 * @raised_ns: when it was raised last
 * @refused_ns: when a SYN was refused last for want of a slot
 * @since_ns: since when SYNs are, without a long pause
 */
struct synq_slack {
	u32 more;
	u32 owed;
	u64 raised_ns;
	u64 refused_ns;
	u64 since_ns;
};

u32 synq_slack_least(u32 backlog);
u32 synq_slack_found(u32 more, u32 backlog);
u32 synq_slack(u32 more, u32 backlog);
u32 synq_slack_limit(u32 limit, u32 more, u32 backlog);
u32 synq_slack_first(u32 more, u32 backlog, u32 departures);
void synq_slack_withheld(struct synq_slack *slack, u32 backlog, u64 now_ns,
			 u64 handshake_ns);
bool synq_slack_is_news(u64 refused_ns, u64 now_ns);
void synq_slack_refused(struct synq_slack *slack, u32 backlog, u64 now_ns);
void synq_slack_promoted(struct synq_slack *slack, u32 backlog);

#endif /* _SYNQ_SLACK_H */
