// SPDX-License-Identifier: GPL-2.0
/*
 * Judges a SYN whose listener and class are known: asks the policer, admission.c
 * and synqueue.c, answers it where it is to be answered, counts it, tells refusal.c,
 * and gives it its class's mark.
 *
 * DOC: full state, or a cookie
 *
 * A SYN that is within its rates, and whose connection will find a slot, takes a
 * place in the SYN queue ("full state"), or is answered by a cookie: by the policy of
 * its class, or else of its listener ("cookies").
 *
 * always	by a cookie.
 * auto		by a cookie while the class has had its share of the SYN queue.
 * never	by no cookie.
 *
 * Where the kernel looks at no cookies (tcp_syncookies=0) they all are as never; where
 * it sends nothing else (2), fullstate.c has it keep full state all the same.  A
 * SYN that may not be answered by a cookie is treated as excess is while the queue
 * holds no more for its class: so no other class loses its full state to it.  One
 * that cannot be, of an MPTCP subflow, for a listener with keys, or where left.c has
 * no place, likewise.
 *
 * DOC: verdicts
 *
 * What is done and why are two things.  The verdict is what is done, and each SYN
 * is counted under one.  Whether it exceeds the rate of its class or that of its
 * source makes no difference to that, and is counted besides.
 *
 * Knows nothing of where packets come from: arrival.c finds the SYN and its
 * listener, and carries out what is said here.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(); no lock.
 */
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/tcp.h>
#include "admission.h"
#include "answer.h"
#include "cookie.h"
#include "fullstate.h"
#include "judge.h"
#include "left.h"
#include "policer.h"
#include "record.h"

/* Of the SYNs left in all network namespaces: the hashes of each have another key. */
static struct synq_left notes ____cacheline_aligned;

static_assert(SYNQ_LEFT_MS < MSEC_PER_SEC);	/* see synq_judge_left_any() */

static u32 now_ms(void)
{
	return jiffies_to_msecs(jiffies);
}

static void count(const struct synq_arrival *syn, enum synq_counter counter)
{
	synq_count(syn->listener->port, syn->class->slot, counter);
}

static enum synq_cookies policy(const struct synq_arrival *syn)
{
	return synq_fullstate_policy(syn->sk, syn->listener, syn->class);
}

/*
 * One clock for all that is done with a SYN; it may have been read before its record
 * was made.
 */
static u64 clock_of(struct synq_arrival *syn)
{
	if (!syn->history.now_ns)
		syn->history.now_ns = ktime_get_ns();
	return syn->history.now_ns;
}

static void find_record(struct synq_arrival *syn)
{
	if (syn->record)
		return;
	syn->record = synq_record_find(syn->sk);
	if (!syn->record)
		return;
	synq_record_listener(syn->record, syn->listener, &syn->own);
	syn->listener = &syn->own;
}

/* Once in a hook: a SYN that cannot be left is judged by what was found. */
static void weigh(struct synq_arrival *syn)
{
	if (syn->weighed)
		return;
	syn->weighed = true;
	syn->policy = policy(syn);
	switch (syn->policy) {
	case SYNQ_COOKIES_INHERIT:
	case SYNQ_COOKIES_AUTO:
		syn->cookie = syn->record &&
			      synq_synqueue_is_flooded(&syn->record->admission,
						       syn->conf, syn->class,
						       syn->sk,
						       syn->listener->port,
						       clock_of(syn));
		break;
	case SYNQ_COOKIES_ALWAYS:
		syn->cookie = true;
		break;
	case SYNQ_COOKIES_NEVER:
		break;
	}
}

/* Full state, unless the SYN queue holds no more of it. */
static enum synq_verdict keep(const struct synq_arrival *syn)
{
	struct synq_record *record = syn->record;

	if (!record || !synq_synqueue_is_full(&record->admission, syn->conf,
					      syn->class, syn->sk,
					      syn->history.now_ns))
		return SYNQ_VERDICT_ADMIT;
	switch ((enum synq_excess)syn->class->excess) {
	case SYNQ_EXCESS_PASS:
		return SYNQ_VERDICT_ADMIT;
	case SYNQ_EXCESS_RESET:
		return SYNQ_VERDICT_SHARE_RESET;
	case SYNQ_EXCESS_DROP:
	case SYNQ_EXCESS_COOKIE:
		break;
	}
	return SYNQ_VERDICT_SHARE_REFUSE;
}

/* Nobody answers for another host: of a SYN for one there is no socket here. */
static enum synq_verdict excess_of(const struct synq_arrival *syn)
{
	switch ((enum synq_excess)syn->class->excess) {
	case SYNQ_EXCESS_DROP:
		break;
	case SYNQ_EXCESS_PASS:
		return SYNQ_VERDICT_EXCESS_PASS;
	case SYNQ_EXCESS_RESET:
		return syn->sk ? SYNQ_VERDICT_EXCESS_RESET :
				 SYNQ_VERDICT_EXCESS_UNANSWERED;
	case SYNQ_EXCESS_COOKIE:
		return syn->sk && policy(syn) != SYNQ_COOKIES_NEVER ?
		       SYNQ_VERDICT_EXCESS_COOKIE :
		       SYNQ_VERDICT_EXCESS_UNANSWERED;
	}
	return SYNQ_VERDICT_EXCESS_DROP;
}

/* Not inline: what it has on the stack is for those only who have a rate. */
static noinline enum synq_verdict ask_policer(struct synq_arrival *syn)
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
	return excess_of(syn);
}

static enum synq_verdict police(struct synq_arrival *syn)
{
	const struct synq_class *class = syn->class;

	return class->rate || class->aggregates ? ask_policer(syn) :
						  SYNQ_VERDICT_ADMIT;
}

static enum synq_verdict decide(struct synq_arrival *syn)
{
	struct synq_record *record = syn->record;
	enum synq_verdict otherwise, verdict = SYNQ_VERDICT_ADMIT;

	/* Health checks and local proxies. */
	if (syn->class->slot == SYNQ_SLOT_LOCAL)
		return SYNQ_VERDICT_ADMIT;
	otherwise = police(syn);
	/* Who has a cookie comes to the accept queue like any other. */
	if (otherwise != SYNQ_VERDICT_ADMIT &&
	    otherwise != SYNQ_VERDICT_EXCESS_COOKIE)
		return otherwise;
	if (record && !synq_admission_has_room(&record->admission, syn->conf,
					       syn->listener, syn->class,
					       syn->sk)) {
		synq_admission_advance(&record->admission, syn->sk,
				       clock_of(syn));
		verdict = synq_admission_syn(&record->admission, syn->conf,
					     syn->listener, syn->class, syn->sk,
					     &record->acceptq,
					     &record->withheld,
					     syn->history.refused_ms);
	}
	if (verdict != SYNQ_VERDICT_ADMIT)
		return verdict;
	if (otherwise != SYNQ_VERDICT_ADMIT)
		return otherwise;
	weigh(syn);
	if (syn->cookie)
		return SYNQ_VERDICT_COOKIE;
	return syn->policy == SYNQ_COOKIES_NEVER ? keep(syn) :
						   SYNQ_VERDICT_ADMIT;
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
	return syn->peer != SYNQ_SEGMENT_STRANGER;
}

/*
 * The TCP header is linear as far as there is one (syn_hook.c).  The transport
 * header is not TCP's behind IPv6 extension headers; if the SYN is dropped
 * afterwards it need not be put back.
 */
static bool reset(const struct synq_arrival *syn)
{
	if (!syn->may_answer || !is_answerable(syn))
		return false;
	skb_set_transport_header(syn->skb, syn->seg.thoff);
	return synq_answer_reset(syn->sk, syn->skb, syn->seg.client.is_v6);
}

static bool send_cookie(const struct synq_arrival *syn)
{
	int offset;

	if (!syn->may_answer || !is_answerable(syn) || is_deaf_to_cookies(syn))
		return false;
	offset = skb_transport_offset(syn->skb);
	skb_set_transport_header(syn->skb, syn->seg.thoff);
	if (synq_cookie_send(syn->sk, syn->skb, syn->seg.client.is_v6))
		return true;
	/* It may be left to the stack after all. */
	skb_set_transport_header(syn->skb, offset);
	return false;
}

/*
 * Who cannot have one while others can: until TIME_WAIT is over, each of its tries would
 * find the same.  So it has full state, whatever the SYN queue holds.  The stock kernel
 * does not ask its queue either, and there is one such handshake at the most for each
 * connection in TIME_WAIT.
 */
static enum synq_verdict without_cookie(const struct synq_arrival *syn)
{
	return is_deaf_to_cookies(syn) ? SYNQ_VERDICT_ADMIT : keep(syn);
}

static enum synq_verdict answer(const struct synq_arrival *syn,
				enum synq_verdict verdict)
{
	if (verdict == SYNQ_VERDICT_COOKIE && !send_cookie(syn))
		verdict = without_cookie(syn);
	switch (verdict) {
	case SYNQ_VERDICT_EXCESS_RESET:
		return reset(syn) ? verdict : SYNQ_VERDICT_EXCESS_UNANSWERED;
	case SYNQ_VERDICT_EXCESS_COOKIE:
		return send_cookie(syn) ? verdict :
					  SYNQ_VERDICT_EXCESS_UNANSWERED;
	case SYNQ_VERDICT_SHARE_RESET:
		return reset(syn) ? verdict : SYNQ_VERDICT_SHARE_REFUSE;
	case SYNQ_VERDICT_ADMIT:
	case SYNQ_VERDICT_EXCESS_DROP:
	case SYNQ_VERDICT_EXCESS_PASS:
	case SYNQ_VERDICT_QUEUE_REFUSE:
	case SYNQ_VERDICT_WAIT_REFUSE:
	case SYNQ_VERDICT_EXCESS_UNANSWERED:
	case SYNQ_VERDICT_COOKIE:
	case SYNQ_VERDICT_SHARE_REFUSE:
		break;
	}
	return verdict;
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
	case SYNQ_VERDICT_COOKIE:
	case SYNQ_VERDICT_SHARE_REFUSE:
	case SYNQ_VERDICT_SHARE_RESET:
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
	case SYNQ_VERDICT_COOKIE:
		count(syn, SYNQ_COUNT_COOKIE_SENT);
		return false;
	case SYNQ_VERDICT_SHARE_REFUSE:
	case SYNQ_VERDICT_SHARE_RESET:
		count(syn, SYNQ_COUNT_SHARE_REFUSED);
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

static bool takes_place(const struct synq_arrival *syn)
{
	return synq_fullstate_is_kept(syn->sk, syn->conf, syn->listener,
				      syn->class, syn->record,
				      syn->seg.client.is_v6);
}

/* Counts it as seen. */
static void recall(struct synq_arrival *syn)
{
	struct synq_refusal_syn *history = &syn->history;

	history->saddr = syn->seg.client.addr;
	history->is_v6 = syn->seg.client.is_v6;
	history->now_ns = clock_of(syn);
	history->hash = synq_segment_fingerprint(syn->sn, &syn->seg);
	count(syn, SYNQ_COUNT_SEEN);
	if (synq_refusal_find(syn->sn, history))
		count(syn, SYNQ_COUNT_RETRIES);
}

/**
 * synq_judge_mark() - give a packet the mark of a class
 * @conf: snapshot
 * @skb: the packet
 * @class: of its sender
 *
 * Context: any
 */
void synq_judge_mark(const struct synq_conf *conf, struct sk_buff *skb,
		     const struct synq_class *class)
{
	const u32 mask = conf->mark_mask;

	if (mask)
		skb->mark = (skb->mark & ~mask) | class->mark_bits;
}

/**
 * synq_judge_leaves() - leave a SYN to LOCAL_IN, if it may be answered
 * @syn: all set but for what this file sets
 *
 * It may be for its excess, or by a cookie now.  The first is a matter of its class
 * alone.  The second is not, and noted, so that LOCAL_IN need not find it out again.
 *
 * Context: softirq, rcu_read_lock()
 * Return: true if it is left, to be judged there; false if it is to be judged now
 */
bool synq_judge_leaves(struct synq_arrival *syn)
{
	struct synq_net *sn = syn->sn;

	if (synq_conf_answers(syn->class))
		return true;
	if (syn->class->slot == SYNQ_SLOT_LOCAL ||
	    synq_conf_observes(syn->conf, syn->listener, syn->class))
		return false;
	find_record(syn);
	weigh(syn);
	if (!syn->cookie ||
	    !synq_left_put(&notes, synq_segment_hash(sn, &syn->seg), now_ms()))
		return false;
	/* Pairs with READ_ONCE in synq_judge_left_any(); no order needed. */
	if (time_before(READ_ONCE(sn->left), jiffies))
		WRITE_ONCE(sn->left, jiffies);
	return true;
}

/**
 * synq_judge_was_left() - did PREROUTING leave a SYN to LOCAL_IN?
 * @arrival: the SYN; its class known, if the excess of any is answered
 * @before: where it was sent to
 *
 * To be asked once: the note is taken.  Where no SYN was left for a second there is
 * none.
 *
 * Context: softirq, rcu_read_lock()
 * Return: true if so
 */
bool synq_judge_was_left(const struct synq_arrival *arrival,
			 const struct synq_segment *before)
{
	const struct synq_net *sn = arrival->sn;

	if (arrival->class && synq_conf_answers(arrival->class))
		return true;
	if (!synq_judge_left_any(sn))
		return false;
	return synq_left_take(&notes, synq_segment_hash(sn, before), now_ms());
}

/* What is not merely let in: not in the way of what is. */
static noinline enum synq_verdict treat(const struct synq_arrival *syn,
					enum synq_verdict verdict, bool observes)
{
	if (!observes)
		verdict = answer(syn, verdict);
	synq_refusal_note(syn->sn, &syn->history, syn->listener->port,
			  syn->class, verdict, observes);
	return observes ? forgo(syn, verdict) : verdict;
}

/**
 * synq_judge() - judge a SYN, and do what there is to be done but for dropping it
 * @syn: all set but for what this sets; if it may be answered, with the TCP header
 *	linear as far as there is one
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
	find_record(syn);
	if (!syn->record)
		synq_record_want(syn->sn, syn->sk);
	verdict = decide(syn);
	synq_judge_mark(syn->conf, syn->skb, syn->class);
	if (verdict != SYNQ_VERDICT_ADMIT)
		verdict = treat(syn, verdict, observes);
	let_in = carry_out(syn, verdict);
	if (!syn->record)
		return let_in;
	syn->keeps = let_in && takes_place(syn);
	if (let_in || verdict == SYNQ_VERDICT_EXCESS_COOKIE ||
	    verdict == SYNQ_VERDICT_COOKIE)
		synq_admission_begin(&syn->record->admission, syn->class,
				     syn->keeps, clock_of(syn));
	return let_in;
}

/**
 * synq_judge_forwarded() - police a SYN for another host
 * @syn: all set but for what this sets; no socket
 *
 * No queue is known here, and nobody to answer for: rates are all there is.
 *
 * Context: softirq, rcu_read_lock()
 * Return: true if it is to be forwarded, false if it is to be dropped
 */
bool synq_judge_forwarded(struct synq_arrival *syn)
{
	bool observes = synq_conf_observes(syn->conf, syn->listener, syn->class);
	enum synq_verdict verdict = SYNQ_VERDICT_ADMIT;

	recall(syn);
	if (syn->class->slot != SYNQ_SLOT_LOCAL)
		verdict = police(syn);
	synq_judge_mark(syn->conf, syn->skb, syn->class);
	synq_refusal_note(syn->sn, &syn->history, syn->listener->port,
			  syn->class, verdict, observes);
	if (observes)
		verdict = forgo(syn, verdict);
	return carry_out(syn, verdict);
}
