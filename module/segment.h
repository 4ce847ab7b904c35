/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A TCP segment that came in, and the socket that it is for.  See segment.c.
 */
#ifndef _SYNQ_SEGMENT_H
#define _SYNQ_SEGMENT_H

#include <linux/string.h>
#include <linux/types.h>
#include "classify.h"

struct net_device;
struct tcphdr;

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
 * synq_segment_addresses6() - of IPv6, what stands for both addresses
 * @sn: network namespace, whose key nobody outside knows
 * @saddr: 16 bytes, network order
 * @daddr: likewise
 *
 * Context: any
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
 * Context: any
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

#endif /* _SYNQ_SEGMENT_H */
