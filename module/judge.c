// SPDX-License-Identifier: GPL-2.0
/*
 * Judges SYNs: asks the policer, admission.c and synqueue.c, answers a SYN where it is to
 * be answered, counts it, and remembers that it was refused.
 *
 * A SYN is judged where the kernel gives it to a managed listener (conn_request(),
 * listener.c): after routing, NAT, conntrack and the host's firewall, once, by the socket
 * that the stack has chosen.  It gets the mark of its class there, which its request
 * keeps: so it is judged, put into order and told to the application as the same class.
 * What the kernel would drop unseen is not judged.
 *
 * SYNs for other hosts are judged in FORWARD, by rates only: their queue is on the other
 * host, and synq does not answer for it.  A retransmitted SYN is charged again, since no
 * socket here knows the first one.
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
 * With tcp_syncookies=0 the kernel looks at no cookies, and all policies are as never.
 * With 2 the kernel answers every admitted SYN by a cookie of its own.
 *
 * A SYN that may not be answered by a cookie is treated as excess is while the queue
 * holds no more for its class: so no other class loses its full state to it.  One
 * that cannot be, of an MPTCP subflow or for a listener with keys, likewise.  Instead of a
 * cookie a SYN for a connection in TIME_WAIT has full state, whatever the queue holds: the
 * kernel has chosen the sequence number of its SYN-ACK, and does not ask its queue
 * either.  (6.1 forgets that number on the way, and sends cookies, which work.)
 *
 * Softirq, or process context (with BH off but for FORWARD), under rcu_read_lock(); no lock.
 */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/tcp.h>
#include <net/ip6_route.h>
#include <net/route.h>
#include <net/tcp.h>
#include "admission.h"
#include "answer.h"
#include "compat.h"
#include "judge.h"
#include "peek.h"
#include "policer.h"
#include "record.h"
#include "stats.h"
#include "synq_trace.h"
#include "synqueue.h"
#include "tcpopt.h"

/*
 * What each verdict on a SYN, and each excess action, means.  The verdict says what is done
 * with a SYN, and each SYN is counted under one.  The reason is told separately (synq why).
 */

const struct synq_verdict_row synq_verdict_row[SYNQ_VERDICTS] = {
	[SYNQ_VERDICT_ADMIT] = {
		.counter	= SYNQ_COUNT_ADMITTED,
		.lets_in	= true,
	},
	[SYNQ_VERDICT_EXCESS_PASS] = {
		.counter	= SYNQ_COUNT_EXCESS_PASSED,
		.lets_in	= true,
		.is_excess	= true,
	},
	[SYNQ_VERDICT_EXCESS_DROP] = {
		.counter	= SYNQ_COUNT_EXCESS_DROPPED,
		.reason		= SYNQ_REFUSED_EXCESS_DROPPED,
		.is_refused	= true,
		.is_excess	= true,
	},
	[SYNQ_VERDICT_EXCESS_RESET] = {
		.counter	= SYNQ_COUNT_EXCESS_RESET,
		.reason		= SYNQ_REFUSED_EXCESS_RESET,
		.unanswered	= SYNQ_VERDICT_EXCESS_UNANSWERED,
		.answers	= true,
		.is_refused	= true,
		.is_excess	= true,
	},
	[SYNQ_VERDICT_EXCESS_COOKIE] = {
		.counter	= SYNQ_COUNT_EXCESS_COOKIE,
		.reason		= SYNQ_REFUSED_EXCESS_COOKIE,
		.unanswered	= SYNQ_VERDICT_EXCESS_UNANSWERED,
		.answers	= true,
		.is_excess	= true,
	},
	[SYNQ_VERDICT_EXCESS_UNANSWERED] = {
		.counter	= SYNQ_COUNT_EXCESS_UNANSWERED,
		.reason		= SYNQ_REFUSED_EXCESS_UNANSWERED,
		.is_refused	= true,
		.is_excess	= true,
	},
	[SYNQ_VERDICT_QUEUE_REFUSE] = {
		.counter	= SYNQ_COUNT_QUEUE_REFUSED,
		.reason		= SYNQ_REFUSED_QUEUE_REFUSED,
		.is_refused	= true,
		.stands		= true,
	},
	[SYNQ_VERDICT_WAIT_REFUSE] = {
		.counter	= SYNQ_COUNT_WAIT_REFUSED,
		.reason		= SYNQ_REFUSED_WAIT_REFUSED,
		.is_refused	= true,
		.stands		= true,
	},
	[SYNQ_VERDICT_COOKIE] = {
		.counter	= SYNQ_COUNT_COOKIE_SENT,
		.reason		= SYNQ_REFUSED_COOKIE_SENT,
		.answers	= true,
	},
	[SYNQ_VERDICT_SHARE_REFUSE] = {
		.counter	= SYNQ_COUNT_SHARE_REFUSED,
		.reason		= SYNQ_REFUSED_SHARE_REFUSED,
		.is_refused	= true,
		.stands		= true,
	},
	[SYNQ_VERDICT_SHARE_RESET] = {
		.counter	= SYNQ_COUNT_SHARE_REFUSED,
		.reason		= SYNQ_REFUSED_SHARE_REFUSED,
		.unanswered	= SYNQ_VERDICT_SHARE_REFUSE,
		.answers	= true,
		.is_refused	= true,
	},
};

const struct synq_excess_row synq_excess_row[SYNQ_EXCESSES] = {
	[SYNQ_EXCESS_DROP] = {
		.over_rate	= SYNQ_VERDICT_EXCESS_DROP,
		.over_share	= SYNQ_VERDICT_SHARE_REFUSE,
	},
	[SYNQ_EXCESS_PASS] = {
		.over_rate	= SYNQ_VERDICT_EXCESS_PASS,
		.over_share	= SYNQ_VERDICT_ADMIT,
	},
	[SYNQ_EXCESS_RESET] = {
		.over_rate	= SYNQ_VERDICT_EXCESS_RESET,
		.over_share	= SYNQ_VERDICT_SHARE_RESET,
	},
	[SYNQ_EXCESS_COOKIE] = {
		.over_rate	= SYNQ_VERDICT_EXCESS_COOKIE,
		.over_share	= SYNQ_VERDICT_SHARE_REFUSE,
	},
	[SYNQ_EXCESS_REFUSE] = {
		.over_rate	= SYNQ_VERDICT_EXCESS_DROP,
		.over_share	= SYNQ_VERDICT_SHARE_REFUSE,
		.always		= true,
	},
};

/**
 * struct syn - a SYN that is judged
 * @sn: network namespace
 * @conf: snapshot
 * @listener: configured, as it is for @sk
 * @class: of the client
 * @skb: the packet
 * @sk: listener; NULL: it is for another host
 * @record: of @sk
 * @client: its sender
 * @why: it has its class
 * @history: whether it was refused before
 */
struct syn {
	struct synq_net *sn;
	const struct synq_conf *conf;
	const struct synq_listener *listener;
	const struct synq_class *class;
	struct sk_buff *skb;
	struct sock *sk;
	struct synq_record *record;
	const struct synq_client *client;
	struct synq_why why;
	struct synq_refusal_syn history;
};

/* How it would have been classified, if that is to the same class. */
static noinline const struct synq_why *
without_mark(const struct synq_conf *conf, const struct synq_client *client,
	     const struct synq_class *class, struct synq_why *why)
{
	struct synq_client unmarked = *client;

	unmarked.mark = 0;
	return synq_classify(conf, &unmarked, why) == class ? why : NULL;
}

/**
 * synq_judge_counter() - what counts how a SYN has its class
 * @conf: snapshot
 * @client: what was known of it
 * @class: that it has
 * @why: it has that
 *
 * A mark that says the same as the matches is not counted as a mark: mostly it is our own,
 * from PREROUTING (peek.c).
 *
 * Context: the caller keeps the snapshot
 * Return: a counter; SYNQ_COUNT_SEEN: none, for nothing has matched
 */
enum synq_counter synq_judge_counter(const struct synq_conf *conf,
				     const struct synq_client *client,
				     const struct synq_class *class,
				     const struct synq_why *why)
{
	struct synq_why other;

	if (why->why == SYNQ_REASON_MARK) {
		why = without_mark(conf, client, class, &other);
		if (!why)
			return SYNQ_COUNT_BY_MARK;
	}
	if (why->why != SYNQ_REASON_MATCH)
		return SYNQ_COUNT_SEEN;
	return why->service ? SYNQ_COUNT_BY_SERVICE : SYNQ_COUNT_BY_PREFIX;
}

static void count(const struct syn *syn, enum synq_counter counter)
{
	synq_count(syn->listener->port, syn->class->slot, counter);
}

static u8 sysctl_cookies(const struct sock *sk)
{
	return READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_syncookies);
}

static enum synq_cookies policy(const struct syn *syn)
{
	return sysctl_cookies(syn->sk) ?
	       synq_conf_cookies(syn->class, syn->listener) : SYNQ_COOKIES_NEVER;
}

/* Full state, unless the SYN queue holds no more of it. */
static enum synq_verdict keep(const struct syn *syn)
{
	if (!synq_synqueue_is_full(&syn->record->shakes, syn->conf, syn->class,
				   syn->sk, syn->history.now_ns))
		return SYNQ_VERDICT_ADMIT;
	return synq_excess_row[syn->class->excess].over_share;
}

/* How an admitted SYN is to be answered. */
static enum synq_verdict full_state_or_cookie(const struct syn *syn)
{
	if (sysctl_cookies(syn->sk) == 2)
		return SYNQ_VERDICT_ADMIT;
	switch (policy(syn)) {
	case SYNQ_COOKIES_INHERIT:
	case SYNQ_COOKIES_AUTO:
		return synq_synqueue_is_flooded(&syn->record->shakes, syn->conf,
						syn->class, syn->sk,
						syn->listener->port,
						syn->history.now_ns) ?
		       SYNQ_VERDICT_COOKIE : SYNQ_VERDICT_ADMIT;
	case SYNQ_COOKIES_ALWAYS:
		return SYNQ_VERDICT_COOKIE;
	case SYNQ_COOKIES_NEVER:
		break;
	}
	return keep(syn);
}

/* Forwarded SYNs are not answered. */
static enum synq_verdict excess_of(const struct syn *syn)
{
	enum synq_verdict verdict = synq_excess_row[syn->class->excess].over_rate;

	if (synq_verdict_row[verdict].answers &&
	    (!syn->sk || (verdict == SYNQ_VERDICT_EXCESS_COOKIE &&
			  policy(syn) == SYNQ_COOKIES_NEVER)))
		return synq_verdict_row[verdict].unanswered;
	return verdict;
}

/* Not inline: only classes with a rate pay for its stack. */
static noinline enum synq_verdict ask_policer(struct syn *syn)
{
	enum synq_source_answer answer;
	bool stray = false;

	answer = synq_policer_take(syn->sn, syn->class, syn->client,
				   syn->history.now_ns, &stray);
	if (stray)
		count(syn, SYNQ_COUNT_SOURCE_UNTRACKED);
	if (answer == SYNQ_SOURCE_CONFORMS)
		return SYNQ_VERDICT_ADMIT;
	syn->history.source_exceeded = synq_source_whose(answer);
	return excess_of(syn);
}

static enum synq_verdict police(struct syn *syn)
{
	const struct synq_class *class = syn->class;

	if (class->refuses)
		return excess_of(syn);
	return class->rate || class->aggregates ? ask_policer(syn) :
						  SYNQ_VERDICT_ADMIT;
}

static enum synq_verdict admit(const struct syn *syn)
{
	if (synq_admission_has_room(syn->record, syn->conf, syn->listener,
				    syn->class))
		return SYNQ_VERDICT_ADMIT;
	return synq_admission_syn(syn->record, syn->conf, syn->listener,
				  syn->class, syn->history.now_ns);
}

/* Its connection exists already, and never uses a queue of the listener's. */
static bool is_mp_join(const struct syn *syn)
{
	const struct tcphdr *th = tcp_hdr(syn->skb);

	return sk_is_mptcp(syn->sk) &&
	       synq_tcpopt_is_mp_join((const u8 *)(th + 1),
				      (const u8 *)th + 4 * th->doff);
}

static enum synq_verdict decide(struct syn *syn)
{
	enum synq_verdict rate, room;

	/* Health checks and local proxies. */
	if (syn->class->slot == SYNQ_SLOT_LOCAL)
		return SYNQ_VERDICT_ADMIT;
	rate = police(syn);
	/* A cookie would make another connection of it. */
	if (is_mp_join(syn))
		return rate == SYNQ_VERDICT_EXCESS_COOKIE ?
		       SYNQ_VERDICT_EXCESS_UNANSWERED : rate;
	/* A connection of a cookie needs a slot of the accept queue like any other. */
	if (rate != SYNQ_VERDICT_ADMIT && rate != SYNQ_VERDICT_EXCESS_COOKIE)
		return rate;
	room = admit(syn);
	if (room != SYNQ_VERDICT_ADMIT)
		return room;
	return rate == SYNQ_VERDICT_ADMIT ? full_state_or_cookie(syn) : rate;
}

/* The kernel has chosen the sequence number of its SYN-ACK: none of a cookie. */
static bool follows_time_wait(const struct syn *syn)
{
	return synq_has_isn(syn->skb);
}

static bool send_answer(const struct syn *syn, enum synq_verdict verdict)
{
	switch (verdict) {
	case SYNQ_VERDICT_EXCESS_RESET:
	case SYNQ_VERDICT_SHARE_RESET:
		return synq_answer_reset(syn->sk, syn->skb, syn->client->is_v6);
	default:
		return !follows_time_wait(syn) &&
		       synq_cookie_send(syn->sk, syn->skb, syn->client->is_v6);
	}
}

static enum synq_verdict answer(const struct syn *syn, enum synq_verdict verdict)
{
	if (!synq_verdict_row[verdict].answers || send_answer(syn, verdict))
		return verdict;
	if (verdict != SYNQ_VERDICT_COOKIE)
		return synq_verdict_row[verdict].unanswered;
	if (follows_time_wait(syn))
		return SYNQ_VERDICT_ADMIT;
	verdict = keep(syn);
	return verdict == SYNQ_VERDICT_SHARE_RESET ? answer(syn, verdict) : verdict;
}

/* Counts what is done, or would have been. */
static enum synq_verdict carry_out(const struct syn *syn, enum synq_verdict verdict,
				   bool observes)
{
	trace_synq_syn(syn->listener->port->port, syn->class->name, verdict,
		       syn->client->addr, syn->client->is_v6, !observes);
	if (observes && !synq_verdict_row[verdict].lets_in) {
		count(syn, SYNQ_COUNT_WOULD_REFUSE);
		verdict = SYNQ_VERDICT_ADMIT;
	}
	count(syn, synq_verdict_row[verdict].counter);
	if (synq_verdict_row[verdict].is_excess && syn->history.source_exceeded)
		count(syn, SYNQ_COUNT_SOURCE_EXCEEDED);
	if (synq_verdict_row[verdict].is_excess && syn->history.source_exceeded > 1)
		count(syn, SYNQ_COUNT_NET_EXCEEDED);
	return verdict;
}

/* Counts it as seen. */
static void recall(struct syn *syn, const struct synq_segment *seg)
{
	enum synq_counter by = synq_judge_counter(syn->conf, syn->client,
						  syn->class, &syn->why);
	struct synq_refusal_syn *history = &syn->history;

	history->saddr = seg->client.addr;
	history->is_v6 = seg->client.is_v6;
	history->now_ns = ktime_get_ns();
	count(syn, SYNQ_COUNT_SEEN);
	if (by != SYNQ_COUNT_SEEN)
		count(syn, by);
	if (!synq_refusal_is_any(syn->sn, history->now_ns))
		return;
	history->hash = synq_segment_fingerprint(syn->sn, seg);
	if (synq_refusal_find(syn->sn, history))
		count(syn, SYNQ_COUNT_RETRIES);
}

/*
 * Of what is not merely let in.  Not in the way of what is.  Why a SYN cannot be answered
 * is a matter of this one: that it is refused then does not stand for others.
 */
static noinline enum synq_verdict treat(struct syn *syn, const struct synq_segment *seg,
					bool observes, enum synq_verdict wanted,
					struct synq_note *note)
{
	enum synq_verdict verdict = wanted;

	if (!observes && syn->sk)
		verdict = answer(syn, wanted);
	if (!observes && note && verdict == wanted &&
	    synq_verdict_row[verdict].stands)
		synq_standing_refuse(note, syn->class->slot, verdict);
	if (!syn->history.hash)
		syn->history.hash = synq_segment_fingerprint(syn->sn, seg);
	synq_refusal_note(syn->sn, &syn->history, syn->listener->port,
			  syn->class, verdict, observes);
	return verdict;
}

/*
 * The kernel drops it without a word, or has another function treat it: it looks only
 * after we have been asked.
 */
static bool is_unwanted(const struct sk_buff *skb, bool is_v6)
{
	if (is_v6)
		return !ipv6_unicast_destination(skb) ||
		       ipv6_addr_v4mapped(&ipv6_hdr(skb)->saddr);
	return skb_rtable(skb)->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST);
}

/* Its device is not known any more, only the number. */
static void read_segment(struct synq_segment *seg, const struct sock *sk,
			 struct sk_buff *skb, bool is_v6)
{
	synq_segment_read(seg, sock_net(sk), skb, tcp_hdr(skb), is_v6);
	seg->dif = skb->skb_iif;
	seg->sdif = is_v6 ? tcp_v6_sdif(skb) : tcp_v4_sdif(skb);
}

/* Does a SYN that is let in take a place in the SYN queue? */
static bool takes_place(const struct syn *syn, enum synq_verdict verdict)
{
	return synq_verdict_row[verdict].lets_in &&
	       (sysctl_cookies(syn->sk) != 2 || follows_time_wait(syn));
}

/* Will it come to the accept queue, so far as is known? */
static bool begins(enum synq_verdict verdict)
{
	return synq_verdict_row[verdict].lets_in ||
	       verdict == SYNQ_VERDICT_EXCESS_COOKIE ||
	       verdict == SYNQ_VERDICT_COOKIE;
}

/**
 * synq_judge() - judge a SYN that has come to its listener
 * @record: of @sk
 * @sk: listener
 * @skb: the SYN, as conn_request() gets it; gets the mark of its class
 *
 * Context: BH off, rcu_read_lock()
 * Return: true if it is left to the kernel; false if it was answered, or is to be dropped
 */
bool synq_judge(struct synq_record *record, struct sock *sk, struct sk_buff *skb)
{
	bool is_v6 = skb->protocol == htons(ETH_P_IPV6);
	struct synq_listener listener;
	struct synq_segment seg;
	struct synq_note *note;
	struct syn syn = {
		.sn = record->sn,
		.listener = &listener,
		.skb = skb,
		.sk = sk,
		.record = record,
		.client = &seg.client,
	};
	enum synq_verdict verdict;
	bool observes;

	/* From the backlog of a socket that did not listen then: its route is lost. */
	if (!skb_dst(skb)) {
		tcp_listendrop(sk);
		return false;
	}
	syn.conf = synq_record_conf(record, &listener);
	if (!syn.conf || is_unwanted(skb, is_v6))
		return true;
	read_segment(&seg, sk, skb, is_v6);
	syn.class = synq_classify(syn.conf, syn.client, &syn.why);
	synq_classify_mark(syn.conf, skb, syn.class);
	note = listener.observe ? NULL :
	       synq_standing_reach(syn.conf, &seg, sk, listener.port);
	observes = synq_conf_observes(syn.conf, &listener, syn.class);
	recall(&syn, &seg);
	verdict = decide(&syn);
	if (verdict != SYNQ_VERDICT_ADMIT)
		verdict = treat(&syn, &seg, observes, verdict, note);
	verdict = carry_out(&syn, verdict, observes);
	if (begins(verdict))
		synq_handshakes_begin(&record->shakes, syn.class->slot,
				      takes_place(&syn, verdict),
				      synq_admission_pace(record, &listener,
							  syn.history.now_ns),
				      syn.history.now_ns);
	else if (!synq_verdict_row[verdict].answers)
		tcp_listendrop(sk);
	return synq_verdict_row[verdict].lets_in;
}

/**
 * synq_judge_forwarded() - police a SYN for another host
 * @sn: network namespace
 * @conf: snapshot
 * @skb: the SYN; gets the mark of its class
 * @seg: what is in it
 *
 * Context: softirq, rcu_read_lock()
 * Return: true if it is to be forwarded, false if it is to be dropped
 */
bool synq_judge_forwarded(struct synq_net *sn, const struct synq_conf *conf,
			  struct sk_buff *skb, const struct synq_segment *seg)
{
	struct syn syn = {
		.sn = sn,
		.conf = conf,
		.listener = &conf->forwarded,
		.skb = skb,
		.client = &seg->client,
	};
	enum synq_verdict verdict = SYNQ_VERDICT_ADMIT;
	bool observes;

	syn.class = synq_classify(conf, syn.client, &syn.why);
	observes = synq_conf_observes(conf, syn.listener, syn.class);
	synq_classify_mark(conf, skb, syn.class);
	recall(&syn, seg);
	if (syn.class->slot != SYNQ_SLOT_LOCAL)
		verdict = police(&syn);
	if (verdict != SYNQ_VERDICT_ADMIT)
		verdict = treat(&syn, seg, observes, verdict, NULL);
	verdict = carry_out(&syn, verdict, observes);
	return synq_verdict_row[verdict].lets_in;
}
