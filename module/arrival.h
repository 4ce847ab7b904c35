/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which segments are judged, and where.  See arrival.c.
 */
#ifndef _SYNQ_ARRIVAL_H
#define _SYNQ_ARRIVAL_H

#include <linux/skbuff.h>
#include <linux/tcp.h>
#include "conf.h"
#include "judge.h"

bool synq_arrival_leaves(const struct synq_conf *conf, struct sk_buff *skb,
			 const struct synq_class *class);
bool synq_arrival_prerouting(struct synq_arrival *arrival, bool is_fragment);
bool synq_arrival_is_settled(const struct synq_net *sn,
			     const struct synq_conf *conf,
			     const struct sk_buff *skb);
bool synq_arrival_local_in(struct synq_arrival *arrival, bool is_reassembled,
			   bool is_fragment);
bool synq_arrival_forward(struct synq_arrival *arrival, bool is_fragment);

/**
 * synq_arrival_is_passed_over() - is there nothing to be done with a TCP segment?
 * @conf: snapshot
 * @skb: the packet
 * @thoff: where the TCP header begins, from the IP header on
 *
 * What is no SYN passes in each hook, unless it may get a mark.
 *
 * Context: any
 * Return: true if so
 */
static __always_inline bool
synq_arrival_is_passed_over(const struct synq_conf *conf,
			    const struct sk_buff *skb, unsigned int thoff)
{
	const struct tcphdr *th;

	if (conf->mark_mask || skb_headlen(skb) < thoff + sizeof(*th))
		return false;
	th = (const struct tcphdr *)(skb->data + thoff);
	return !th->syn || th->ack;
}

#endif /* _SYNQ_ARRIVAL_H */
