/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What becomes of a SYN.  See judge.c.
 */
#ifndef _SYNQ_JUDGE_H
#define _SYNQ_JUDGE_H

#include <linux/compiler.h>
#include <linux/jiffies.h>
#include "conf.h"
#include "refusal.h"
#include "segment.h"

struct synq_record;

/**
 * struct synq_arrival - a segment that came in, and what is known of it
 * @sn: network namespace
 * @conf: snapshot
 * @skb: the packet
 * @hook: netfilter's, in which it is
 * @seg: as far as it has been read
 * @class: of the client; NULL: not looked up
 * @sk: listener, likewise
 * @listener: configured, of @sk; once @record is known, @own
 * @may_answer: the host's firewall has let it in, so that it may be answered
 * @peer: the connection that it belongs to; known if it may be answered
 * @record: of @sk, set here, like what follows; NULL: not looked up, or not managed
 *	yet
 * @own: the listener, as it is for @sk
 * @weighed: @policy and @cookie are known
 * @policy: on cookies, in force for it
 * @cookie: to be answered by a cookie, unless it is refused
 * @keeps: it was let in, to take a place in the SYN queue of @sk
 * @history: whether this SYN was refused before; its clock may be known before
 */
struct synq_arrival {
	struct synq_net *sn;
	const struct synq_conf *conf;
	struct sk_buff *skb;
	unsigned int hook;
	struct synq_segment seg;
	const struct synq_class *class;
	struct sock *sk;
	const struct synq_listener *listener;
	bool may_answer;
	enum synq_segment_peer peer;
	struct synq_record *record;
	struct synq_listener own;
	bool weighed;
	enum synq_cookies policy;
	bool cookie;
	bool keeps;
	struct synq_refusal_syn history;
};

bool synq_judge_leaves(struct synq_arrival *syn);
bool synq_judge_was_left(const struct synq_arrival *arrival,
			 const struct synq_segment *before);
bool synq_judge(struct synq_arrival *syn);
bool synq_judge_forwarded(struct synq_arrival *syn);
void synq_judge_mark(const struct synq_conf *conf, struct sk_buff *skb,
		     const struct synq_class *class);

/**
 * synq_judge_left_any() - may a SYN have been left to LOCAL_IN, to get a cookie?
 * @sn: network namespace
 *
 * Context: any
 * Return: false if none was for a second
 */
static inline bool synq_judge_left_any(const struct synq_net *sn)
{
	/* Pairs with WRITE_ONCE in synq_judge_leaves(); no order needed. */
	return time_before_eq(jiffies, READ_ONCE(sn->left) + HZ);
}

#endif /* _SYNQ_JUDGE_H */
