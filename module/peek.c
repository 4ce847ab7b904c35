// SPDX-License-Identifier: GPL-2.0
/*
 * PREROUTING peeks at SYNs: one that its listener would refuse anyway is dropped before
 * conntrack and routing.  So a flood costs what it takes to refuse a SYN here.
 *
 * Only SYNs to an address and port where another SYN has just reached a managed listener
 * are tested.  A SYN is dropped if a refusal of its class stands there, or if its bucket is
 * empty and its class drops excess.  Buckets are read only: tokens are taken at the listener
 * (judge.c).  A SYN that is dropped here is counted and remembered as it would be there.  A
 * SYN of a connection passes, also of one that is half open; and so does a SYN that joins an
 * MPTCP connection, unless it exceeds a rate.
 *
 * A SYN that passes gets the mark of its class here, if classes have marks, so that rules
 * can match it.  Where matches depend on the destination, it is marked only if a socket
 * listens there: elsewhere a rule may be about to rewrite it.  The class that counts is the
 * one that the SYN has when it reaches its listener: by its mark then, whichever rule has
 * written it.
 *
 * The fast path is one function that reads the packet and copies nothing: calls and stack
 * are a noticeable part of its cost.  Rare work is not inline.
 *
 * Softirq, or process context, under rcu_read_lock(); no lock.
 */
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/mptcp.h>
#include <net/sock_reuseport.h>
#include <net/tcp.h>
#include "classify.h"
#include "compat.h"
#include "judge.h"
#include "peek.h"
#include "policer.h"
#include "stats.h"
#include "synq_trace.h"
#include "tcpopt.h"

/*
 * Standing refusals: what became of SYNs just now, by destination.  Only a listener can
 * refuse a SYN, but what it has refused stands for the SYNs that follow.  So most SYNs of a
 * flood are refused in PREROUTING, before any lookup and before conntrack.
 *
 * LOCAL_IN opens a note of an address and a port if a SYN has arrived there unchanged, and a
 * configured socket listens there.  That socket records in the note that SYNs reach it, and
 * which classes it has refused.  If a SYN reaches another socket the note is void.
 * PREROUTING reads it.
 *
 * DOC: how long a note is believed
 *
 * For the rest of the jiffy, on the same CPU, under the same snapshot.  So for each class,
 * listener and CPU about one SYN in a jiffy is judged, and its verdict stands for the others.
 * What may change meanwhile is what two CPUs may disagree about anyway: a socket, an address
 * or a route that goes in this instant, or a slot that becomes free.  The absence of a socket
 * is not noted: one that begins to listen is found at once.  A note needs no references: the
 * snapshot has them.
 *
 * The notes are a per-CPU, direct-mapped cache with a secret hash.  Within a jiffy the first
 * destination keeps its entry.
 *
 * DOC: where no refusal stands
 *
 * The next SYN to the same address and port may be for another socket:
 *
 * reuseport		another member of the group may be idle; only rates count, which
 *			are not a matter of the socket.
 * TPROXY, tc, sk_lookup	a rule or a program chooses: no note.
 * REDIRECT, DNAT	no note of where the rule sends it, since a SYN that is sent there
 *			need not be treated so.  A rule that rewrites some of the SYNs to
 *			an address and port, and lets others reach a listener there, is
 *			not seen: in the jiffies in which that refuses a class, so are those
 *			of the class that were to be rewritten.
 * enforce off		nothing is refused.
 *
 * DOC: the clock of a jiffy
 *
 * A note has a time: two ticks after it was made.  While the jiffy lasts that time is not
 * reached, unless ticks are late.  A source that exceeds its rate even then exceeds it now.
 * So the clock is read only for a bucket that may have a token by then.  The note also
 * remembers the classes with a bucket that stays empty until then, since only time fills it.
 * If ticks are late a token is used later, but it is not lost.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(); no lock: the notes are of
 * this CPU, and nothing else runs there meanwhile.  With BH on nothing is noted or believed.
 */

static_assert(SYNQ_SLOTS <= 32);	/* bits of synq_note.empty */
static_assert(sizeof(struct synq_note) == 128);	/* modules have little of each CPU */

DEFINE_PER_CPU(struct synq_note[SYNQ_NOTES], synq_notes);
u32 synq_standing_key __ro_after_init = 1;

/**
 * synq_standing_init() - the module is loaded
 * @random: secret
 */
void synq_standing_init(u32 random)
{
	synq_standing_key = random | 1;
}

/**
 * synq_standing_open() - a SYN in LOCAL_IN is where it was sent to
 * @conf: snapshot
 * @seg: the SYN
 * @sk: that listens for it
 *
 * Context: rcu_read_lock()
 */
void synq_standing_open(const struct synq_conf *conf,
			const struct synq_segment *seg, const struct sock *sk)
{
	const struct synq_client *client = &seg->client;
	const void *daddr = client->daddr;
	const unsigned long now = jiffies;
	struct synq_note *note;
	u64 now_ns;

	if (!synq_standing_is_ours())
		return;
	note = synq_standing_place(client->is_v6, daddr, client->dport);
	if (note->when == now && note->serial && note->port)
		return;
	now_ns = ktime_get_ns();
	*note = (struct synq_note){
		.serial = synq_standing_serial(conf, client->is_v6),
		.when = now,
		.daddr = {
			synq_standing_half(client->is_v6, daddr, 0),
			synq_standing_half(client->is_v6, daddr, 1),
		},
		.until_ns = now_ns + 2 * TICK_NSEC,
		.ms = div_u64(now_ns, NSEC_PER_MSEC),
		.dif = seg->dif,
		.sdif = seg->sdif,
		.dport = client->dport,
		.sk = sk,
		.group = rcu_access_pointer(sk->sk_reuseport_cb),
	};
}

static bool is_in_group(const struct sock *sk)
{
	const struct sock_reuseport *group =
		rcu_dereference(sk->sk_reuseport_cb);

	return group && READ_ONCE(group->num_socks) > 1;
}

/**
 * synq_standing_reach() - a SYN has come to a managed socket
 * @conf: snapshot
 * @seg: the SYN
 * @sk: the socket
 * @port: its counters, held by the snapshot
 *
 * Context: BH off, rcu_read_lock()
 * Return: the note of where it was sent to; NULL: there is none, or it was another's
 */
struct synq_note *synq_standing_reach(const struct synq_conf *conf,
				      const struct synq_segment *seg,
				      const struct sock *sk,
				      struct synq_port *port)
{
	struct synq_note *note = synq_standing_find(conf, seg);

	if (!note)
		return NULL;
	if (!note->port) {
		note->is_group = is_in_group(sk);
		note->is_mptcp = sk_is_mptcp(sk);
	}
	if (note->sk != sk &&
	    (!note->group ||
	     note->group != rcu_access_pointer(sk->sk_reuseport_cb))) {
		note->serial = 0;
		return NULL;
	}
	note->port = port;
	note->may_refuse |= conf->drops;
	return note;
}

/* A class, and what counts that it was found so; SYNQ_COUNT_SEEN: nothing does. */
struct found {
	const struct synq_class *class;
	enum synq_counter by;
};

/* By mark or service, which come before the source.  Not inline: most have neither. */
static noinline struct found
find_by_mark_or_service(const struct synq_net *sn, const struct synq_conf *conf,
			const struct sk_buff *skb, const void *saddr,
			const void *daddr, __be16 dport, bool is_v6)
{
	const struct synq_client client = {
		.addr = saddr,
		.daddr = daddr,
		.mark = skb->mark,
		.dport = dport,
		.is_v6 = is_v6,
		.is_local = synq_classify_is_own(sn->net, skb->skb_iif, is_v6,
						 saddr),
	};
	struct synq_why why;
	struct found found;

	found.class = synq_classify(conf, &client, &why);
	found.by = synq_judge_counter(conf, &client, found.class, &why);
	return found;
}

/* In registers: what is in memory would cost a stack protector, too. */
static __always_inline struct found
find_class(const struct synq_net *sn, const struct synq_conf *conf,
	   const struct sk_buff *skb, const void *saddr, const void *daddr,
	   __be16 dport, bool is_v6)
{
	struct found found;
	u16 value;

	if (unlikely(skb->mark & conf->mark_mask || conf->n_services))
		return find_by_mark_or_service(sn, conf, skb, saddr, daddr,
					       dport, is_v6);
	value = is_v6 ? synq_lpm_lookup128(&conf->lpm[1], saddr, NULL) :
			synq_lpm_lookup32(&conf->lpm[0], saddr, NULL);
	if (value) {
		found.class = conf->class - 1 + value;
		found.by = SYNQ_COUNT_BY_PREFIX;
	} else {
		found.class = synq_classify_unmatched(conf,
						      synq_classify_is_own(sn->net, skb->skb_iif,
									   is_v6, saddr));
		found.by = SYNQ_COUNT_SEEN;
	}
	return found;
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
	return unlikely(sk) && synq_segment_is_known(sk);
}

/* By the clock itself; and whether a class is as empty for the whole jiffy. */
static noinline enum synq_source_answer
ask_exactly(struct synq_net *sn, const struct synq_class *class,
	    struct synq_note *note, const void *saddr, bool is_v6)
{
	enum synq_source_answer answer;

	answer = synq_policer_ask(sn, class, is_v6, saddr, ktime_get_ns());
	if (answer == SYNQ_SOURCE_CLASS_EXCEEDS && !class->aggregates &&
	    synq_policer_ask(sn, class, is_v6, saddr, note->until_ns) !=
	    SYNQ_SOURCE_CONFORMS)
		note->empty |= BIT(class->slot);
	return answer;
}

/* Out of the way as long as a jiffy's SYNs are of one class, as nearly always. */
static noinline void set_span(struct synq_note *note,
			      const struct synq_class *class)
{
	note->slot = class->slot;
	synq_source_span(&class->source_tbf, note->until_ns, &note->span);
}

/* As far as can be seen without the clock. */
static __always_inline enum synq_source_answer
ask_shortly(struct synq_net *sn, const struct synq_class *class,
	    struct synq_note *note, const void *saddr, bool is_v6)
{
	const struct synq_aggregates *aggregates = class->aggregates;
	u64 hash;

	if (!aggregates) {
		if (note->empty & BIT(class->slot))
			return SYNQ_SOURCE_CLASS_EXCEEDS;
	} else {
		if (unlikely(note->slot != class->slot))
			set_span(note, class);
		hash = is_v6 ? synq_aggregate_hash6(aggregates, saddr) :
			       synq_aggregate_hash4(aggregates,
						    *(const __be32 *)saddr);
		if (synq_source_exceeds(&aggregates->table, hash,
					&note->span))
			return SYNQ_SOURCE_EXCEEDS;
	}
	return ask_exactly(sn, class, note, saddr, is_v6);
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
			    const struct synq_class *class,
			    enum synq_verdict verdict, bool is_retry,
			    enum synq_source_answer answer, bool is_v6)
{
	const struct synq_refusal_syn syn = {
		.saddr = saddr,
		.is_v6 = is_v6,
		.is_retry = is_retry,
		.source_exceeded = synq_source_whose(answer),
	};

	if (!synq_refusal_is_sated(refusals, is_retry))
		synq_refusal_sample(refusals, &syn, port, class, verdict);
}

/* Counts a SYN that is dropped. */
static __always_inline u64 __percpu *count(const struct synq_port *port,
					   const struct synq_class *class,
					   enum synq_counter by,
					   enum synq_verdict verdict,
					   enum synq_source_answer answer)
{
	u64 __percpu *counter = port->counters->n[class->slot];

	this_cpu_inc(counter[SYNQ_COUNT_SEEN]);
	if (by != SYNQ_COUNT_SEEN)
		this_cpu_inc(counter[by]);
	this_cpu_inc(counter[synq_verdict_row[verdict].counter]);
	if (answer == SYNQ_SOURCE_EXCEEDS) {
		this_cpu_inc(counter[SYNQ_COUNT_SOURCE_EXCEEDED]);
	} else if (unlikely(answer == SYNQ_SOURCE_NET_EXCEEDS)) {
		this_cpu_inc(counter[SYNQ_COUNT_SOURCE_EXCEEDED]);
		this_cpu_inc(counter[SYNQ_COUNT_NET_EXCEEDED]);
	}
	return counter;
}

/* Its connection is there already, and never in the accept queue. */
static noinline bool joins(const struct sk_buff *skb, const struct tcphdr *th)
{
	const unsigned int len = 4 * th->doff;
	u8 buf[60];

	th = skb_header_pointer(skb, (const u8 *)th - skb->data, len, buf);
	return th && synq_tcpopt_is_mp_join((const u8 *)(th + 1),
					    (const u8 *)th + len);
}

/* What its listener would say; @answer: of the bucket.  SYNQ_VERDICT_ADMIT: not known here. */
static __always_inline enum synq_verdict
foresee(struct synq_net *sn, struct synq_note *note, const struct sk_buff *skb,
	const struct tcphdr *th, const struct synq_class *class, const void *saddr,
	bool is_v6, enum synq_source_answer *answer)
{
	u8 verdict;

	if (class->drops)
		*answer = ask_shortly(sn, class, note, saddr, is_v6);
	if (*answer != SYNQ_SOURCE_CONFORMS)
		return SYNQ_VERDICT_EXCESS_DROP;
	verdict = note->refusal[class->slot];
	if (verdict && unlikely(note->is_mptcp) && joins(skb, th))
		return SYNQ_VERDICT_ADMIT;
	return verdict;
}

/* Remembers a SYN that is dropped, and counts it if it was before. */
static __always_inline void
remember(const struct synq_net *sn, const struct synq_note *note,
	 const struct synq_class *class, u64 __percpu *counter, u64 hash,
	 const void *saddr, enum synq_verdict verdict,
	 enum synq_source_answer answer, bool is_v6)
{
	struct synq_refusals *refusals = rcu_dereference(sn->refusals);

	if (unlikely(!refusals))
		return;
	if (unlikely(synq_fingerprint_note(&refusals->fingerprints, hash,
					   note->ms) >= 0)) {
		this_cpu_inc(counter[SYNQ_COUNT_RETRIES]);
		sample(refusals, saddr, note->port, class, verdict, true,
		       answer, is_v6);
	} else if (unlikely(!synq_refusal_is_sated(refusals, false))) {
		sample(refusals, saddr, note->port, class, verdict, false,
		       answer, is_v6);
	}
}

static bool somebody_listens(struct net *net, const struct synq_segment *seg)
{
	return synq_segment_listener(net, seg);
}

static __always_inline int sdif_of(const struct sk_buff *skb, bool is_v6)
{
	if (likely(!netif_is_l3_master(skb->dev)))
		return 0;
	return is_v6 ? inet6_sdif(skb) : inet_sdif(skb);
}

/* Rules behind this may only change these bits to those of another class. */
static noinline void mark(struct synq_net *sn, const struct synq_conf *conf,
			  struct sk_buff *skb, const void *saddr,
			  const struct tcphdr *th, bool is_v6)
{
	const struct synq_segment seg = {
		.client = {
			.addr = saddr,
			.daddr = saddr + (is_v6 ? sizeof(struct in6_addr) :
						  sizeof(struct in_addr)),
			.dport = th->dest,
			.is_v6 = is_v6,
		},
		.sport = th->source,
		.dif = skb->dev->ifindex,
		.sdif = sdif_of(skb, is_v6),
	};

	if (!synq_conf_port(conf, ntohs(th->dest)) ||
	    !synq_segment_is_for_host(sn->net, skb->dev, &seg) ||
	    (conf->n_services && !somebody_listens(sn->net, &seg)))
		return;
	synq_classify_mark(conf, skb, find_class(sn, conf, skb, saddr, seg.client.daddr,
						 th->dest, is_v6).class);
}

/* True: it is counted, and to be dropped. */
static __always_inline bool peek(struct synq_net *sn, const struct synq_conf *conf,
				 struct sk_buff *skb, const struct tcphdr *th,
				 const void *saddr, bool is_v6)
{
	/* In either header the destination is behind the source. */
	const void *daddr = saddr + (is_v6 ? sizeof(struct in6_addr) :
					     sizeof(struct in_addr));
	enum synq_source_answer answer = SYNQ_SOURCE_CONFORMS;
	const struct synq_class *class;
	enum synq_verdict verdict;
	struct synq_note *note;
	u64 __percpu *counter;
	struct found found;

	/* A program of tc's may have chosen its socket. */
	if (unlikely(!synq_standing_is_ours() || skb->sk))
		return false;
	note = synq_standing_place(is_v6, daddr, th->dest);
	if (!synq_standing_is(note, conf, is_v6, daddr, th->dest, skb->dev->ifindex,
			      sdif_of(skb, is_v6)) ||
	    !note->may_refuse)
		return false;
	found = find_class(sn, conf, skb, saddr, daddr, th->dest, is_v6);
	class = found.class;
	verdict = foresee(sn, note, skb, th, class, saddr, is_v6, &answer);
	if (verdict == SYNQ_VERDICT_ADMIT ||
	    is_known(sn->net, saddr, daddr, th, note->dif, note->sdif, is_v6))
		return false;
	if (trace_synq_syn_enabled())
		trace_synq_syn(note->port->port, class->name, verdict, saddr, is_v6, true);
	counter = count(note->port, class, found.by, verdict, answer);
	remember(sn, note, class, counter,
		 fingerprint(sn, saddr, daddr, th, is_v6), saddr, verdict,
		 answer, is_v6);
	return true;
}

static __always_inline bool passes(struct synq_net *sn, const struct synq_conf *conf,
				   struct sk_buff *skb, unsigned int thoff,
				   bool is_v6)
{
	const struct tcphdr *th = (const struct tcphdr *)(skb->data + thoff);
	const unsigned int len = 4 * th->doff;
	const void *saddr;

	/* One that is not well-formed is the stack's business. */
	if (len < sizeof(*th) || thoff + len > skb->len)
		return true;
	saddr = skb->data + (is_v6 ? offsetof(struct ipv6hdr, saddr) :
				     offsetof(struct iphdr, saddr));
	if (peek(sn, conf, skb, th, saddr, is_v6))
		return false;
	if (unlikely(conf->mark_mask))
		mark(sn, conf, skb, saddr, th, is_v6);
	return true;
}

/**
 * synq_peek4() - may an IPv4 SYN pass PREROUTING?
 * @sn: network namespace
 * @conf: snapshot
 * @skb: a SYN for this host, no fragment; gets a mark
 * @thoff: where its TCP header begins, from the IP header on; in the linear part
 *
 * Context: rcu_read_lock()
 * Return: false if it was counted as refused, and is to be dropped
 */
bool synq_peek4(struct synq_net *sn, const struct synq_conf *conf,
		struct sk_buff *skb, unsigned int thoff)
{
	return passes(sn, conf, skb, thoff, false);
}

/**
 * synq_peek6() - may an IPv6 SYN pass PREROUTING?
 * @sn: network namespace
 * @conf: snapshot
 * @skb: as for synq_peek4(), but that it may be the first fragment
 * @thoff: as for synq_peek4()
 *
 * Context: rcu_read_lock()
 * Return: as synq_peek4()
 */
bool synq_peek6(struct synq_net *sn, const struct synq_conf *conf,
		struct sk_buff *skb, unsigned int thoff)
{
	return passes(sn, conf, skb, thoff, true);
}
