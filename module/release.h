/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When held connections are released.  See release.c.
 */
#ifndef _SYNQ_RELEASE_H
#define _SYNQ_RELEASE_H

#include <linux/tcp.h>
#include <linux/time64.h>
#include <linux/types.h>

struct net;
struct request_sock;
struct sock;
struct synq_conf;
struct synq_hold;
struct synq_listener;
struct synq_record;

/*
 * Segments that are given to TCP later.
 */

struct sk_buff *synq_replay_copy(const struct sock *sk, struct sk_buff *skb);
struct sk_buff *synq_replay_copy_at_ip(struct sk_buff *skb);
bool synq_replay(struct net *net, struct sk_buff *skb);
u64 synq_replay_rtt_us(const struct request_sock *req, const struct sk_buff *skb,
		       u64 now_ns);

static inline u32 synq_replay_seq(const struct sk_buff *skb)
{
	return ntohl(tcp_hdr(skb)->seq);
}

/* Sequence numbers that a segment takes, including its FIN. */
static inline u32 synq_replay_length(const struct sk_buff *skb)
{
	return skb->len - 4 * tcp_hdr(skb)->doff + tcp_hdr(skb)->fin;
}

#define SYNQ_RELEASE_TICK	NSEC_PER_MSEC

void synq_release_init(struct synq_hold *hold);
void synq_release_destroy(struct synq_hold *hold);

bool synq_release_precedes(const struct synq_record *record, const struct synq_conf *conf,
			   const struct synq_listener *listener, u8 slot, u64 since_ns,
			   u8 other, u64 other_ns);
void synq_release_all(struct synq_record *record, bool close);
void synq_release_sort(struct synq_record *record, const struct synq_conf *conf);

#endif /* _SYNQ_RELEASE_H */
