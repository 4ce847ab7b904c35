// SPDX-License-Identifier: GPL-2.0
/*
 * The shortest way to refuse a SYN of a flood: what a flood costs is what it takes to
 * refuse one.
 *
 * A SYN that goes to where another was just found to be for a listener (target.c), and
 * that exceeds a rate for which it is to be dropped, is dropped for that alone: it is
 * asked whether it belongs to a connection, which class it has and whether its bucket
 * is empty, and nothing else.  The verdict, what is counted and what is remembered is
 * what it would be anyway (judge.c), since nothing goes before a rate.
 *
 * All others go the long way, where what has been found out here is not asked again.
 *
 * This is one function, read from the packet, with no copy of what it reads: each
 * call and each place on the stack is a part of what it costs.  What is seldom done is
 * not inline.
 *
 * Softirq, or process context, under rcu_read_lock(); no lock.
 */
#include <linux/bits.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include "aggregate.h"
#include "compat.h"
#include "early.h"
#include "policer.h"
#include "refusal.h"
#include "segment.h"
#include "target.h"

/* By what stands before its source: out of the way of who has neither. */
static noinline const struct synq_class *
class_by_mark_or_service(const struct synq_conf *conf,
			 const struct sk_buff *skb, const void *saddr,
			 const void *daddr, __be16 dport, bool is_v6)
{
	const struct synq_client client = {
		.addr = saddr,
		.daddr = daddr,
		.mark = skb->mark,
		.dport = dport,
		.is_v6 = is_v6,
		.is_local = synq_classify_is_own(skb->dev, is_v6, saddr),
	};

	return synq_classify(conf, &client, NULL);
}

static __always_inline const struct synq_class *
class_of(const struct synq_conf *conf, const struct sk_buff *skb,
	 const void *saddr, const void *daddr, __be16 dport, bool is_v6)
{
	u16 value;

	if (unlikely(skb->mark & conf->mark_mask || conf->n_services))
		return class_by_mark_or_service(conf, skb, saddr, daddr, dport,
						is_v6);
	value = is_v6 ? synq_lpm_lookup128(&conf->lpm[1], saddr, NULL) :
			synq_lpm_lookup32(&conf->lpm[0], saddr, NULL);
	if (value)
		return conf->class - 1 + value;
	return synq_classify_unmatched(conf, synq_classify_is_own(skb->dev,
								  is_v6, saddr));
}

static __always_inline bool is_known(struct net *net, const void *saddr,
				     const void *daddr, const struct tcphdr *th,
				     int dif, int sdif, bool is_v6)
{
	struct sock *sk;

	if (is_v6)
		sk = synq_lookup_established6(net, saddr, th->source, daddr,
					      ntohs(th->dest), dif, sdif);
	else
		sk = synq_lookup_established4(net, *(const __be32 *)saddr,
					      th->source,
					      *(const __be32 *)daddr,
					      ntohs(th->dest), dif, sdif);
	return unlikely(sk) && synq_segment_peer_of(sk) == SYNQ_SEGMENT_KNOWN;
}

/* By the clock itself; and whether a class is as empty for the whole jiffy. */
static noinline enum synq_source_answer
ask_exactly(struct synq_net *sn, const struct synq_class *class,
	    struct synq_target *target, const void *saddr, bool is_v6)
{
	enum synq_source_answer answer;

	answer = synq_policer_ask(sn, class, is_v6, saddr, ktime_get_ns());
	if (answer == SYNQ_SOURCE_CLASS_EXCEEDS && !class->aggregates &&
	    synq_policer_ask(sn, class, is_v6, saddr, target->until_ns) !=
	    SYNQ_SOURCE_CONFORMS)
		target->empty |= BIT(class->slot);
	return answer;
}

/* Out of the way as long as a jiffy's SYNs are of one class, as nearly always. */
static noinline void set_span(struct synq_target *target,
			      const struct synq_class *class)
{
	target->slot = class->slot;
	synq_source_span(&class->source_tbf, target->until_ns, &target->span);
}

/* As far as can be seen without the clock. */
static __always_inline enum synq_source_answer
ask_shortly(struct synq_net *sn, const struct synq_class *class,
	    struct synq_target *target, const void *saddr, bool is_v6)
{
	const struct synq_aggregates *aggregates = class->aggregates;
	u64 hash;

	if (!aggregates) {
		if (target->empty & BIT(class->slot))
			return SYNQ_SOURCE_CLASS_EXCEEDS;
	} else {
		if (unlikely(target->slot != class->slot))
			set_span(target, class);
		hash = is_v6 ? synq_aggregate_hash6(aggregates, saddr) :
			       synq_aggregate_hash4(aggregates,
						    *(const __be32 *)saddr);
		if (synq_source_exceeds(&aggregates->table, hash,
					&target->span))
			return SYNQ_SOURCE_EXCEEDS;
	}
	return ask_exactly(sn, class, target, saddr, is_v6);
}

static __always_inline u64 fingerprint(const struct synq_net *sn,
				       const void *saddr, const void *daddr,
				       const struct tcphdr *th, bool is_v6)
{
	u64 addresses, ports_and_seq;

	if (is_v6)
		addresses = synq_segment_addresses6(sn, saddr, daddr);
	else
		memcpy(&addresses, saddr, sizeof(addresses));
	memcpy(&ports_and_seq, th, sizeof(ports_and_seq));
	return synq_segment_fingerprint_of(sn, addresses, ports_and_seq);
}

static noinline void sample(struct synq_refusals *refusals, const void *saddr,
			    const struct synq_port *port,
			    const struct synq_class *class, bool is_retry,
			    bool source_exceeded, bool is_v6)
{
	const struct synq_refusal_syn syn = {
		.saddr = saddr,
		.is_v6 = is_v6,
		.is_retry = is_retry,
		.source_exceeded = source_exceeded,
	};

	if (!synq_refusal_is_sated(refusals, is_retry))
		synq_refusal_sample(refusals, &syn, port, class);
}

/* Counts a SYN that is dropped. */
static __always_inline u64 __percpu *count(const struct synq_port *port,
					   const struct synq_class *class,
					   bool source_exceeded)
{
	u64 __percpu *counter = port->counters->n[class->slot];

	this_cpu_inc(counter[SYNQ_COUNT_SEEN]);
	this_cpu_inc(counter[SYNQ_COUNT_EXCESS_DROPPED]);
	if (source_exceeded)
		this_cpu_inc(counter[SYNQ_COUNT_SOURCE_EXCEEDED]);
	return counter;
}

static __always_inline const struct synq_class *
judge_shortly(struct synq_net *sn, const struct synq_conf *conf,
	      const struct sk_buff *skb, const struct tcphdr *th,
	      const void *saddr, int sdif, bool is_v6)
{
	/* In either header the destination is behind the source. */
	const void *daddr = saddr + (is_v6 ? sizeof(struct in6_addr) :
					     sizeof(struct in_addr));
	const int dif = skb->dev->ifindex;
	struct synq_refusals *refusals;
	const struct synq_class *class;
	enum synq_source_answer answer;
	struct synq_target *target;
	u64 __percpu *counter;

	if (unlikely(!synq_target_is_ours()))
		return NULL;
	target = synq_target_place(is_v6, daddr, th->dest);
	if (!synq_target_is(target, conf, is_v6, daddr, th->dest, dif, sdif) ||
	    is_known(sn->net, saddr, daddr, th, dif, sdif, is_v6))
		return NULL;
	class = class_of(conf, skb, saddr, daddr, th->dest, is_v6);
	if (!class->drops)
		return class;
	answer = ask_shortly(sn, class, target, saddr, is_v6);
	if (answer == SYNQ_SOURCE_CONFORMS)
		return class;
	counter = count(target->port, class, answer == SYNQ_SOURCE_EXCEEDS);
	refusals = rcu_dereference(sn->refusals);
	if (unlikely(!refusals))
		return SYNQ_EARLY_DROPPED;
	if (unlikely(synq_fingerprint_note(&refusals->fingerprints,
					   fingerprint(sn, saddr, daddr, th,
						       is_v6),
					   target->ms) >= 0)) {
		this_cpu_inc(counter[SYNQ_COUNT_RETRIES]);
		sample(refusals, saddr, target->port, class, true,
		       answer == SYNQ_SOURCE_EXCEEDS, is_v6);
	} else if (unlikely(!synq_refusal_is_sated(refusals, false))) {
		sample(refusals, saddr, target->port, class, false,
		       answer == SYNQ_SOURCE_EXCEEDS, is_v6);
	}
	return SYNQ_EARLY_DROPPED;
}

/* Is a TCP header in reach?  Pointers into the packet change. */
static __always_inline bool has_header(struct sk_buff *skb, unsigned int thoff)
{
	return likely(pskb_may_pull(skb, thoff + sizeof(struct tcphdr)));
}

/* And is it that of a SYN, and well-formed?  The rest is for the long way. */
static __always_inline bool is_syn(const struct sk_buff *skb,
				   const struct tcphdr *th, unsigned int thoff)
{
	return (tcp_flag_word(th) & (TCP_FLAG_SYN | TCP_FLAG_ACK |
				     TCP_FLAG_RST | TCP_FLAG_FIN)) ==
	       TCP_FLAG_SYN && th->doff >= sizeof(*th) / 4 &&
	       thoff + 4 * th->doff <= skb->len;
}

/**
 * synq_early4() - refuse an IPv4 SYN, if that is soon done
 * @sn: network namespace
 * @conf: snapshot
 * @skb: a TCP segment for this host in PREROUTING, no fragment; its TCP header may be
 *	made linear, so that pointers into the packet change
 *
 * Context: any, rcu_read_lock()
 * Return: SYNQ_EARLY_DROPPED; else nothing was counted or taken, and it is the class of
 * the SYN, which goes to where a listener was just found, and belongs to no connection;
 * or NULL: nothing is known of it
 */
const struct synq_class *synq_early4(struct synq_net *sn,
				     const struct synq_conf *conf,
				     struct sk_buff *skb)
{
	const unsigned int thoff = ip_hdrlen(skb);
	const struct tcphdr *th;
	int sdif = 0;

	if (!has_header(skb, thoff))
		return NULL;
	th = (const struct tcphdr *)(skb->data + thoff);
	if (!is_syn(skb, th, thoff))
		return NULL;
	if (unlikely(netif_is_l3_master(skb->dev)))
		sdif = inet_sdif(skb);
	return judge_shortly(sn, conf, skb, th,
			     skb->data + offsetof(struct iphdr, saddr), sdif,
			     false);
}

/**
 * synq_early6() - refuse an IPv6 SYN, if that is soon done
 * @sn: network namespace
 * @conf: snapshot
 * @skb: as for synq_early4(), but that it may be the first fragment
 * @thoff: where the TCP header begins, from the IP header on
 *
 * Context: any, rcu_read_lock()
 * Return: as synq_early4()
 */
const struct synq_class *synq_early6(struct synq_net *sn,
				     const struct synq_conf *conf,
				     struct sk_buff *skb, unsigned int thoff)
{
	const struct tcphdr *th;
	int sdif = 0;

	if (!has_header(skb, thoff))
		return NULL;
	th = (const struct tcphdr *)(skb->data + thoff);
	if (!is_syn(skb, th, thoff))
		return NULL;
	if (unlikely(netif_is_l3_master(skb->dev)))
		sdif = inet6_sdif(skb);
	return judge_shortly(sn, conf, skb, th,
			     skb->data + offsetof(struct ipv6hdr, saddr), sdif,
			     true);
}
