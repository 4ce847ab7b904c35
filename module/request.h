/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests on kept-alive connections that wait for their turn.  See request.c.
 */
#ifndef _SYNQ_REQUEST_H
#define _SYNQ_REQUEST_H

#include <linux/types.h>

struct net;
struct sk_buff;
struct sock;
struct synq_class;
struct synq_conf;
struct synq_followed;
struct synq_listener;
struct synq_record;
struct tcphdr;

/* What LOCAL_IN continues with: IP's own, the same for all packets of a family. */
typedef int (*synq_okfn)(struct net *net, struct sock *sk, struct sk_buff *skb);

bool synq_request_hold(struct synq_followed *conn, struct sk_buff *skb,
		       const struct tcphdr *th, u32 len, u32 from, synq_okfn okfn);
bool synq_request_follow(struct synq_followed *conn, struct sk_buff *skb,
			 const struct tcphdr *th, u32 len, synq_okfn okfn);
void synq_request_end(struct synq_followed *conn);
bool synq_request_give(struct synq_record *record);
void synq_request_release(struct synq_record *record, const struct synq_conf *conf,
			  const struct synq_listener *listener);
bool synq_request_is_before(const struct synq_record *record,
			    const struct synq_conf *conf,
			    const struct synq_listener *listener,
			    const struct synq_class *class);

#endif /* _SYNQ_REQUEST_H */
