/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What becomes of a SYN.  See judge.c.
 */
#ifndef _SYNQ_JUDGE_H
#define _SYNQ_JUDGE_H

#include "classify.h"
#include "conf.h"
#include "synq.h"

struct synq_record;

/*
 * What each verdict on a SYN means: a row of a table.
 */

#define SYNQ_EXCESSES	(SYNQ_EXCESS_REFUSE + 1)

/**
 * struct synq_verdict_row - what a verdict means
 * @counter: enum synq_counter that counts it
 * @reason: enum synq_refused, unless the SYN is let in
 * @unanswered: enum synq_verdict instead, where the SYN cannot be answered
 * @lets_in: it is left to the stack
 * @answers: it is answered in place of the listener
 * @is_refused: the client was turned away, and is expected to try again
 * @is_excess: a rate was exceeded
 * @stands: a few ms later the next SYN of the class would be refused, too (peek.c)
 */
struct synq_verdict_row {
	u8 counter;
	u8 reason;
	u8 unanswered;
	bool lets_in;
	bool answers;
	bool is_refused;
	bool is_excess;
	bool stands;
};

extern const struct synq_verdict_row synq_verdict_row[SYNQ_VERDICTS];

/**
 * struct synq_excess_row - what an excess action means
 * @over_rate: enum synq_verdict on a SYN that exceeds a rate
 * @over_share: likewise, on one that may have no cookie while the SYN queue holds no more
 *	of its class
 * @always: each SYN of the class exceeds
 */
struct synq_excess_row {
	u8 over_rate;
	u8 over_share;
	bool always;
};

extern const struct synq_excess_row synq_excess_row[SYNQ_EXCESSES];

enum synq_counter synq_judge_counter(const struct synq_conf *conf,
				     const struct synq_client *client,
				     const struct synq_class *class,
				     const struct synq_why *why);
bool synq_judge(struct synq_record *record, struct sock *sk, struct sk_buff *skb);
bool synq_judge_forwarded(struct synq_net *sn, const struct synq_conf *conf,
			  struct sk_buff *skb, const struct synq_segment *seg);

#endif /* _SYNQ_JUDGE_H */
