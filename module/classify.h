/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which class a client has.  See classify.c.
 */
#ifndef _SYNQ_CLASSIFY_H
#define _SYNQ_CLASSIFY_H

#include <net/flow.h>
#include "conf.h"

struct request_sock;
struct sk_buff;
struct sock;

/**
 * struct synq_client - what a client is classified by
 * @addr: 4 or 16 bytes, network order
 * @daddr: where it connects to, likewise; NULL: not known
 * @mark: of the packet, or of its request
 * @dport: where it connects to, 0: not known
 * @is_v6: the addresses have 16 bytes
 * @is_local: the host itself: synq_classify_is_own()
 */
struct synq_client {
	const void *addr;
	const void *daddr;
	u32 mark;
	__be16 dport;
	bool is_v6;
	bool is_local;
};

/**
 * struct synq_why - why a client has its class
 * @why: enum synq_reason
 * @len: length of the prefix that matched, bits
 * @service: that had the match; NULL: none had
 */
struct synq_why {
	u8 why;
	u8 len;
	const struct synq_service_key *service;
};

const struct synq_class *synq_classify(const struct synq_conf *conf,
				       const struct synq_client *client,
				       struct synq_why *why);
const struct synq_class *synq_classify_request(const struct synq_conf *conf,
					       const struct sock *listener,
					       const struct request_sock *req);
bool synq_classify_is_local(struct net *net, bool is_v6, const void *addr);
void synq_classify_mark(const struct synq_conf *conf, struct sk_buff *skb,
			const struct synq_class *class);
bool synq_classify_mark_request(const struct synq_conf *conf,
				const struct sock *listener,
				struct request_sock *req,
				const struct synq_class *class);

/**
 * synq_classify_is_own() - does a packet come from the host itself?
 * @net: network namespace
 * @ifindex: of the interface that it came in by
 * @is_v6: @saddr has 16 bytes
 * @saddr: its source
 *
 * It does so by the loopback interface, which no remote sender can choose, and from an
 * address of the host: what others are sent through it (by SYNPROXY, say) keeps the
 * address of its client.
 *
 * Context: rcu_read_lock()
 * Return: true if so
 */
static inline bool synq_classify_is_own(struct net *net, int ifindex, bool is_v6,
					const void *saddr)
{
	return unlikely(ifindex == LOOPBACK_IFINDEX) &&
	       synq_classify_is_local(net, is_v6, saddr);
}

/**
 * synq_classify_unmatched() - the class of who is in no prefix
 * @conf: snapshot
 * @is_local: the host itself
 *
 * Context: any; the caller keeps the snapshot
 * Return: never NULL
 */
static inline const struct synq_class *
synq_classify_unmatched(const struct synq_conf *conf, bool is_local)
{
	return &conf->class[is_local ? SYNQ_SLOT_LOCAL : conf->default_slot];
}

#endif /* _SYNQ_CLASSIFY_H */
