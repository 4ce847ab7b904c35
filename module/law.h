/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The law of admission at the SYN.  See law.c.
 */
#ifndef _SYNQ_LAW_H
#define _SYNQ_LAW_H

#include <linux/minmax.h>
#include <linux/types.h>

/**
 * struct synq_law - what a decision is made from
 * @limit: connections of any class up to which the class is let in
 * @queued: connections of any class that are queued, held or expected
 * @there: those of them that are not only expected
 * @ahead: those of them that will be served before
 * @gone: connections that leave until the handshake has completed
 * @paced: connections that would be queued if everybody came when it is let in
 * @kept: slots that no other class may use
 * @cap: connections of the class itself that there may be; 0: no cap
 * @own: connections of the class itself that are queued, held or expected
 * @due: connections of the class itself that may be queued beside those before it, by
 *	its minimum share; 0: it has none, or hardly anybody is there
 * @low: least number of connections of any class queued lately
 * @interval_ns: from one departure to the next; 0: not known
 * @max_wait_ns: longest acceptable wait in a queue that stands; 0: any
 * @lull_ns: how long nobody had come before those of the present second did
 */
struct synq_law {
	u32 limit;
	u32 queued;
	u32 there;
	u32 ahead;
	u32 gone;
	u32 paced;
	u32 kept;
	u32 cap;
	u32 own;
	u32 due;
	u32 low;
	u32 interval_ns;
	u64 max_wait_ns;
	u64 lull_ns;
};

/**
 * enum synq_law_answer - the decision
 * @SYNQ_LAW_ADMIT: let through
 * @SYNQ_LAW_FULL: no room for the class in the queues
 * @SYNQ_LAW_LATE: it would wait for too long
 */
enum synq_law_answer {
	SYNQ_LAW_ADMIT,
	SYNQ_LAW_FULL,
	SYNQ_LAW_LATE,
};

enum synq_law_answer synq_law(const struct synq_law *law);

/**
 * synq_law_slack() - slots that are left to chance
 * @backlog: of the listener
 *
 * SYNs are refused so far below the limit of the gate, since nothing is foreseen exactly.
 *
 * Context: any
 * Return: number
 */
static inline u32 synq_law_slack(u32 backlog)
{
	return max_t(u32, backlog / 16, clamp_t(u32, backlog / 5, 1, 3));
}

/**
 * synq_law_limit() - connections up to which a class is let in
 * @limit: up to which it is promoted
 * @backlog: of the listener
 *
 * Context: any
 * Return: number, at least 1 if @limit is
 */
static inline u32 synq_law_limit(u32 limit, u32 backlog)
{
	return limit - min(limit / 3, synq_law_slack(backlog));
}

#endif /* _SYNQ_LAW_H */
