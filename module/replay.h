/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Segments that are given to TCP once more.  See replay.c.
 */
#ifndef _SYNQ_REPLAY_H
#define _SYNQ_REPLAY_H

#include <linux/tcp.h>
#include <linux/types.h>

struct net;
struct request_sock;
struct sock;

struct sk_buff *synq_replay_copy(const struct sock *sk, struct sk_buff *skb);
bool synq_replay(struct net *net, struct sk_buff *skb);
u64 synq_replay_rtt_us(const struct request_sock *req, const struct sk_buff *skb,
		       u64 now_ns);

static inline u32 synq_replay_seq(const struct sk_buff *skb)
{
	return ntohl(tcp_hdr(skb)->seq);
}

/* Sequence numbers that it takes, its FIN included. */
static inline u32 synq_replay_length(const struct sk_buff *skb)
{
	return skb->len - 4 * tcp_hdr(skb)->doff + tcp_hdr(skb)->fin;
}

#endif /* _SYNQ_REPLAY_H */
