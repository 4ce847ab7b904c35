/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is seen of the packets of a connection that is followed.  See seen.c.
 */
#ifndef _SYNQ_SEEN_H
#define _SYNQ_SEEN_H

#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include "conf.h"

/* Most ports have no limit, and most of the others are told apart by six bits. */
static inline bool synq_seen_is_wanted(const struct synq_conf *conf, __be16 port)
{
	const struct synq_listener *listener;
	u16 number = ntohs(port);

	if (likely(!(conf->inside & BIT_ULL(number % 64))))
		return false;
	listener = synq_conf_listener(conf, number);
	return listener && listener->inside;
}

/* Bytes behind the header of TCP, which is at @thoff. */
static inline unsigned int synq_seen_length(const struct sk_buff *skb, unsigned int thoff,
					    const struct tcphdr *th)
{
	unsigned int headers = thoff + 4 * th->doff;

	return th->doff < sizeof(*th) / 4 ? 0 : skb->len - min(headers, skb->len);
}

void synq_seen_in(const struct net *net, const struct sk_buff *skb,
		  const struct tcphdr *th, u32 len, bool is_v6);
void synq_seen_out(const struct net *net, const struct sk_buff *skb,
		   const struct tcphdr *th, u32 len, bool is_v6);

#endif /* _SYNQ_SEEN_H */
