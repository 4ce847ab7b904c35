/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which class a client has.  See classify.c.
 */
#ifndef _SYNQ_CLASSIFY_H
#define _SYNQ_CLASSIFY_H

#include <linux/string.h>
#include <linux/types.h>
#include <net/flow.h>
#include "conf.h"

struct net_device;
struct request_sock;
struct sk_buff;
struct sock;
struct tcphdr;

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
 * synq_classify_unmatched() - the class of a source in no prefix
 * @conf: snapshot
 * @is_local: the host itself
 *
 * Context: the caller keeps the snapshot
 * Return: never NULL
 */
static inline const struct synq_class *
synq_classify_unmatched(const struct synq_conf *conf, bool is_local)
{
	return &conf->class[is_local ? SYNQ_SLOT_LOCAL : conf->default_slot];
}

/*
 * A TCP segment that came in, and the socket that it is for.
 */

/**
 * struct synq_segment - a TCP segment, as far as it matters here
 * @client: and its destination; addresses point into the packet
 * @sport: of the client
 * @seq: sequence number
 * @dif: interface for socket lookups
 * @sdif: the same, of a VRF's slave, or 0
 */
struct synq_segment {
	struct synq_client client;
	__be16 sport;
	__be32 seq;
	int dif;
	int sdif;
};

bool synq_segment_is_for_host(struct net *net, const struct net_device *dev,
			      const struct synq_segment *seg);
bool synq_segment_is_known(struct sock *sk);
void synq_segment_read(struct synq_segment *seg, struct net *net,
		       const struct sk_buff *skb, const struct tcphdr *th,
		       bool is_v6);
struct sock *synq_segment_listener(struct net *net,
				   const struct synq_segment *seg);
u64 synq_segment_fingerprint(const struct synq_net *sn,
			     const struct synq_segment *seg);
u64 synq_segment_connection(const struct synq_net *sn,
			    const struct sk_buff *skb);

/* Here, since each SYN of a flood asks: */

/* No array: what is on the stack has to be guarded. */
static __always_inline u64 synq_segment_word(const void *words, unsigned int i)
{
	u64 word;

	memcpy(&word, words + i * sizeof(word), sizeof(word));
	return word;
}

/**
 * synq_segment_addresses6() - a hash of both IPv6 addresses
 * @sn: network namespace, whose key is secret
 * @saddr: 16 bytes, network order
 * @daddr: likewise
 *
 * Return: for synq_segment_fingerprint_of()
 */
static __always_inline u64 synq_segment_addresses6(const struct synq_net *sn,
						   const void *saddr,
						   const void *daddr)
{
	const u64 *key = sn->key.key;
	u64 from = synq_segment_word(saddr, 0) * key[0] +
		   synq_segment_word(saddr, 1);

	return (from * key[1] + synq_segment_word(daddr, 0)) * key[0] +
	       synq_segment_word(daddr, 1);
}

/**
 * synq_segment_fingerprint_of() - as synq_segment_fingerprint()
 * @sn: network namespace
 * @addresses: from IPv4's header, source and destination; or synq_segment_addresses6()
 * @ports_and_seq: the first 8 bytes of the TCP header
 *
 * Return: a hash
 */
static __always_inline u64
synq_segment_fingerprint_of(const struct synq_net *sn, u64 addresses,
			    u64 ports_and_seq)
{
	u64 hash = addresses * sn->key.key[0] + ports_and_seq;

	/* The upper bits depend on all of both words, and then the lower ones, too. */
	hash *= sn->key.key[1];
	return hash ^ hash >> 32;
}

#endif /* _SYNQ_CLASSIFY_H */
