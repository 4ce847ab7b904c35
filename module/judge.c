// SPDX-License-Identifier: GPL-2.0
/*
 * Judges a SYN whose listener and class are known: asks the policer and
 * admission.c, answers it where the excess is to be answered, counts it, tells
 * refusal.c, and gives it its class's mark.
 *
 * What is done and why are two things.  The verdict is what is done, and each SYN
 * is counted under one.  Whether it exceeds the rate of its class or that of its
 * source makes no difference to that, and is counted besides.
 *
 * Knows nothing of where packets come from: syn_hook.c finds the SYN and its
 * listener, and carries out what is said here.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(); no lock.
 */
#include <linux/ktime.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/tcp.h>
#include "admission.h"
#include "answer.h"
#include "cookie.h"
#include "judge.h"
#include "policer.h"
#include "record.h"

static void count(const struct synq_arrival *syn, enum synq_counter counter)
{
	synq_count(syn->listener->port, syn->class->slot, counter);
}

static enum synq_verdict excess_of(const struct synq_class *class)
{
	switch ((enum synq_excess)class->excess) {
	case SYNQ_EXCESS_DROP:
		break;
	case SYNQ_EXCESS_PASS:
		return SYNQ_VERDICT_EXCESS_PASS;
	case SYNQ_EXCESS_RESET:
		return SYNQ_VERDICT_EXCESS_RESET;
	case SYNQ_EXCESS_COOKIE:
		return SYNQ_VERDICT_EXCESS_COOKIE;
	}
	return SYNQ_VERDICT_EXCESS_DROP;
}

static enum synq_verdict police(struct synq_arrival *syn)
{
	enum synq_source_answer answer;
	bool stray = false;

	answer = synq_policer_take(syn->sn, syn->class, &syn->seg.client,
				   syn->history.now_ns, &stray);
	if (stray)
		count(syn, SYNQ_COUNT_SOURCE_UNTRACKED);
	if (answer == SYNQ_SOURCE_CONFORMS)
		return SYNQ_VERDICT_ADMIT;
	syn->history.source_exceeded = answer == SYNQ_SOURCE_EXCEEDS;
	return excess_of(syn->class);
}

static enum synq_verdict decide(struct synq_arrival *syn)
{
	struct synq_record *record = syn->record;
	enum synq_verdict otherwise, verdict;
	struct synq_listener own;

	/* Health checks and local proxies. */
	if (syn->class->slot == SYNQ_SLOT_LOCAL)
		return SYNQ_VERDICT_ADMIT;
	otherwise = police(syn);
	/* Who has a cookie comes to the accept queue like any other. */
	if (!record || (otherwise != SYNQ_VERDICT_ADMIT &&
			otherwise != SYNQ_VERDICT_EXCESS_COOKIE))
		return otherwise;
	own = synq_record_listener(record, syn->listener);
	verdict = synq_admission_syn(&record->admission, syn->conf, &own,
				     syn->class, syn->sk, &record->acceptq,
				     &record->withheld,
				     syn->history.refused_ms);
	return verdict == SYNQ_VERDICT_ADMIT ? otherwise : verdict;
}

/*
 * Is the TCP header whole, and its checksum right?  Nobody has looked yet.  Of an
 * IPv6 fragment it is not.
 */
static bool is_answerable(const struct synq_arrival *syn)
{
	const unsigned int thoff = syn->seg.thoff;
	struct sk_buff *skb = syn->skb;
	const struct tcphdr *th = (struct tcphdr *)(skb->data + thoff);

	if (th->doff < sizeof(*th) / 4 ||
	    skb_headlen(skb) < thoff + 4 * th->doff)
		return false;
	return !(syn->seg.client.is_v6 ?
		 nf_ip6_checksum(skb, syn->hook, thoff, IPPROTO_TCP) :
		 nf_ip_checksum(skb, syn->hook, thoff, IPPROTO_TCP));
}

/*
 * The final ACK of a cookie would be for the connection in TIME_WAIT, which knows
 * nothing of it: the client would take itself to be connected, and hang.
 */
static bool is_deaf_to_cookies(const struct synq_arrival *syn)
{
	return synq_segment_peer(syn->sn->net, &syn->seg) !=
	       SYNQ_SEGMENT_STRANGER;
}

/*
 * The TCP header is linear as far as there is one (syn_hook.c).  The SYN is
 * dropped afterwards: the transport header, which is not TCP's behind IPv6
 * extension headers, need not be put back.
 */
static enum synq_verdict answer(const struct synq_arrival *syn,
				enum synq_verdict verdict)
{
	const bool is_v6 = syn->seg.client.is_v6;
	bool sent;

	if (verdict != SYNQ_VERDICT_EXCESS_RESET &&
	    verdict != SYNQ_VERDICT_EXCESS_COOKIE)
		return verdict;
	if (!is_answerable(syn) ||
	    (verdict == SYNQ_VERDICT_EXCESS_COOKIE && is_deaf_to_cookies(syn)))
		return SYNQ_VERDICT_EXCESS_UNANSWERED;
	skb_set_transport_header(syn->skb, syn->seg.thoff);
	sent = verdict == SYNQ_VERDICT_EXCESS_RESET ?
	       synq_answer_reset(syn->sk, syn->skb, is_v6) :
	       synq_cookie_send(syn->sk, syn->skb, is_v6);
	return sent ? verdict : SYNQ_VERDICT_EXCESS_UNANSWERED;
}

/* What would have been done, and is not ("enforce off"). */
static enum synq_verdict forgo(const struct synq_arrival *syn,
			       enum synq_verdict verdict)
{
	switch (verdict) {
	case SYNQ_VERDICT_ADMIT:
	case SYNQ_VERDICT_EXCESS_PASS:
		return verdict;
	case SYNQ_VERDICT_EXCESS_DROP:
	case SYNQ_VERDICT_QUEUE_REFUSE:
	case SYNQ_VERDICT_WAIT_REFUSE:
	case SYNQ_VERDICT_EXCESS_RESET:
	case SYNQ_VERDICT_EXCESS_COOKIE:
	case SYNQ_VERDICT_EXCESS_UNANSWERED:
		break;
	}
	count(syn, SYNQ_COUNT_WOULD_REFUSE);
	return SYNQ_VERDICT_ADMIT;
}

/* Counts what is done.  Returns true if the SYN is left to the stack. */
static bool carry_out(const struct synq_arrival *syn, enum synq_verdict verdict)
{
	switch (verdict) {
	case SYNQ_VERDICT_ADMIT:
		count(syn, SYNQ_COUNT_ADMITTED);
		return true;
	case SYNQ_VERDICT_QUEUE_REFUSE:
		count(syn, SYNQ_COUNT_QUEUE_REFUSED);
		return false;
	case SYNQ_VERDICT_WAIT_REFUSE:
		count(syn, SYNQ_COUNT_WAIT_REFUSED);
		return false;
	case SYNQ_VERDICT_EXCESS_DROP:
		count(syn, SYNQ_COUNT_EXCESS_DROPPED);
		break;
	case SYNQ_VERDICT_EXCESS_PASS:
		count(syn, SYNQ_COUNT_EXCESS_PASSED);
		break;
	case SYNQ_VERDICT_EXCESS_RESET:
		count(syn, SYNQ_COUNT_EXCESS_RESET);
		break;
	case SYNQ_VERDICT_EXCESS_COOKIE:
		count(syn, SYNQ_COUNT_EXCESS_COOKIE);
		break;
	case SYNQ_VERDICT_EXCESS_UNANSWERED:
		count(syn, SYNQ_COUNT_EXCESS_UNANSWERED);
		break;
	}
	if (syn->history.source_exceeded)
		count(syn, SYNQ_COUNT_SOURCE_EXCEEDED);
	return verdict == SYNQ_VERDICT_EXCESS_PASS;
}

static void recall(struct synq_arrival *syn)
{
	const struct synq_segment *seg = &syn->seg;

	syn->history = (struct synq_refusal_syn){
		.saddr = seg->client.addr,
		.daddr = seg->daddr,
		.is_v6 = seg->client.is_v6,
		.sport = seg->sport,
		.dport = seg->dport,
		.seq = seg->seq,
		.now_ns = ktime_get_ns(),
	};
	count(syn, SYNQ_COUNT_SEEN);
	if (synq_refusal_find(syn->sn, &syn->history))
		count(syn, SYNQ_COUNT_RETRIES);
	syn->record = synq_record_find(syn->sk);
	if (!syn->record)
		synq_record_want(syn->sn, syn->sk);
}

/**
 * synq_judge_mark() - give a packet the mark of a class
 * @arrival: the packet
 * @class: of its sender
 *
 * Context: any
 */
void synq_judge_mark(const struct synq_arrival *arrival,
		     const struct synq_class *class)
{
	const u32 mask = arrival->conf->mark_mask;
	struct sk_buff *skb = arrival->skb;

	if (mask)
		skb->mark = (skb->mark & ~mask) | class->mark_bits;
}

/**
 * synq_judge() - judge a SYN, and do what there is to be done but for dropping it
 * @syn: all set but for what this sets; if the excess of its class is answered,
 *	in LOCAL_IN, with the TCP header linear as far as there is one
 *
 * Context: softirq, rcu_read_lock()
 * Return: true if it is to be left to the stack, false if it is to be dropped
 */
bool synq_judge(struct synq_arrival *syn)
{
	bool observes = synq_conf_observes(syn->conf, syn->listener, syn->class);
	enum synq_verdict verdict;
	bool let_in;

	recall(syn);
	verdict = decide(syn);
	synq_judge_mark(syn, syn->class);
	if (!observes)
		verdict = answer(syn, verdict);
	synq_refusal_note(syn->sn, &syn->history, syn->listener->port,
			  syn->class, verdict, observes);
	if (observes)
		verdict = forgo(syn, verdict);
	let_in = carry_out(syn, verdict);
	if (syn->record &&
	    (let_in || verdict == SYNQ_VERDICT_EXCESS_COOKIE))
		synq_admission_begin(&syn->record->admission, syn->class);
	return let_in;
}
