/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The law of admission at the SYN.  See law.c.
 */
#ifndef _SYNQ_LAW_H
#define _SYNQ_LAW_H

#include <linux/types.h>

/**
 * struct synq_law - what a decision is made from
 * @limit: connections of any class up to which the class is promoted
 * @queued: connections of any class that will be in the accept queue when the
 *	handshake has completed
 * @most: as many if many more handshakes under way completed than expected
 * @withheld: requests that wait at the gate
 * @withheld_max: as many may
 * @kept: slots that nobody else may use
 * @cap: connections of the class itself that may be queued; 0: no cap
 * @own: connections of the class itself, queued and expected
 * @due: connections of the class itself that may be queued beside those before it, by
 *	its minimum share; 0: it has none, or hardly anybody is there
 * @ahead: connections that will be served before, when it has completed
 * @low: least number of connections of any class queued lately
 * @max_wait_ns: longest acceptable wait in a queue that stands; 0: any
 * @interval_ns: from one departure to the next; 0: nobody knows
 * @refused_ns: since the SYN was refused last; 0: it never was
 */
struct synq_law {
	u32 limit;
	u32 queued;
	u32 most;
	u32 withheld;
	u32 withheld_max;
	u32 kept;
	u32 cap;
	u32 own;
	u32 due;
	u32 ahead;
	u32 low;
	u64 max_wait_ns;
	u64 interval_ns;
	u64 refused_ns;
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

#endif /* _SYNQ_LAW_H */
