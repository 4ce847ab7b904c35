/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What becomes of a SYN.  See judge.c.
 */
#ifndef _SYNQ_JUDGE_H
#define _SYNQ_JUDGE_H

#include "conf.h"
#include "segment.h"

struct synq_record;

bool synq_judge(struct synq_record *record, struct sock *sk, struct sk_buff *skb);
bool synq_judge_forwarded(struct synq_net *sn, const struct synq_conf *conf,
			  struct sk_buff *skb, const struct synq_segment *seg);

#endif /* _SYNQ_JUDGE_H */
