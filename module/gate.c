// SPDX-License-Identifier: GPL-2.0
/*
 * The gate: at the final ACK, may this connection be promoted from the SYN
 * queue to the accept queue now?  admission.c knows whether its class has a
 * slot; this file knows when having none must not matter, and counts.
 *
 * Who has to wait is held (hold.c), but for connections of SYN cookies: those are dropped,
 * as by the stock kernel, which also happens where the whole queue is full.
 *
 * Called from the borrowed syn_recv_sock() of a listener (listener.c), in
 * softirq, under rcu_read_lock(), for one request possibly on two CPUs at once.
 */
#include <net/inet_connection_sock.h>
#include <net/tcp.h>
#include "admission.h"
#include "gate.h"
#include "refusal.h"
#include "segment.h"
#include "tcpopt.h"

/* Its connection is already served: it never uses the accept queue. */
static bool is_mp_join(const struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);

	return synq_tcpopt_is_mp_join((const u8 *)(th + 1),
				      (const u8 *)th + 4 * th->doff);
}

/*
 * It leaves nothing behind, and asks again with each segment of its client; but its
 * handshake is over, as it was foreseen.
 */
static void turn_away(struct synq_record *record, const struct synq_class *class,
		      const struct sk_buff *skb, const struct request_sock *req)
{
	u64 hash = synq_segment_connection(record->sn, skb);

	if (synq_refusal_connection(record->sn, hash))
		return;
	synq_count(record->counters, class->slot, SYNQ_COUNT_COOKIE_REFUSED);
	synq_admission_complete(record, class, req, SYNQ_FINAL_COOKIE);
}

/* The kernel finds the queue full, and does what it does then. */
static enum synq_gate_answer
find_full(struct synq_record *record, const struct synq_class *class,
	  const struct sock *sk, const struct sk_buff *skb,
	  struct request_sock *req, enum synq_final final)
{
	switch (final) {
	case SYNQ_FINAL_ACK:
		return synq_hold_is_forbidden(sk) ? SYNQ_GATE_PASS : SYNQ_GATE_HOLD;
	case SYNQ_FINAL_COOKIE:
		turn_away(record, class, skb, req);
		break;
	case SYNQ_FINAL_FASTOPEN:
		break;
	}
	return SYNQ_GATE_PASS;
}

static enum synq_gate_answer
put_off(struct synq_record *record, const struct synq_class *class,
	const struct sock *sk, const struct sk_buff *skb,
	struct request_sock *req, enum synq_final final)
{
	if (synq_hold_is_forbidden(sk)) {
		synq_count(record->counters, class->slot, SYNQ_COUNT_GATE_BYPASSED);
		return SYNQ_GATE_PASS;
	}
	switch (final) {
	case SYNQ_FINAL_ACK:
		return SYNQ_GATE_HOLD;
	case SYNQ_FINAL_COOKIE:
		turn_away(record, class, skb, req);
		break;
	case SYNQ_FINAL_FASTOPEN:
		synq_count(record->counters, class->slot,
			   SYNQ_COUNT_FASTOPEN_DECLINED);
		break;
	}
	return SYNQ_GATE_REFUSE;
}

/**
 * synq_gate() - may a connection be promoted now?
 * @record: of the listener
 * @conf: snapshot
 * @listener: configured, as it is for @sk
 * @class: of the connection
 * @sk: listener
 * @skb: segment that completes the handshake
 * @req: request to be promoted; it is not held
 * @final: how it asks
 *
 * While tcp_abort_on_overflow is set, which the kernel reads at each refusal,
 * waiting would mean a reset: everything passes.
 *
 * Context: any, rcu_read_lock()
 * Return: what is to be done, which is counted, but for holding it
 */
enum synq_gate_answer synq_gate(struct synq_record *record,
				const struct synq_conf *conf,
				const struct synq_listener *listener,
				const struct synq_class *class,
				const struct sock *sk, const struct sk_buff *skb,
				struct request_sock *req, enum synq_final final)
{
	bool is_full = sk_acceptq_is_full(sk);
	bool has_slot = synq_admission_promote(conf, listener, class, sk,
					       &record->acceptq, final);

	if (synq_conf_observes(conf, listener, class)) {
		/* Who finds it full is turned away by the kernel, and counted when let in. */
		if (!has_slot && !is_full && !is_mp_join(skb))
			synq_count(record->counters, class->slot,
				   SYNQ_COUNT_WOULD_HOLD);
		return SYNQ_GATE_PASS;
	}
	if (is_mp_join(skb))
		return SYNQ_GATE_PASS;
	if (!has_slot)
		return put_off(record, class, sk, skb, req, final);
	if (is_full)
		return find_full(record, class, sk, skb, req, final);
	return final == SYNQ_FINAL_ACK &&
	       synq_hold_is_before(record, conf, listener, class) ?
	       SYNQ_GATE_FOLLOW : SYNQ_GATE_PASS;
}

/**
 * synq_gate_missed() - TCP has not promoted a connection that was let through
 * @conf: snapshot
 * @listener: configured, as it is for @sk
 * @class: of the connection
 * @sk: listener
 * @skb: segment that completes the handshake
 * @final: how it asked
 *
 * Context: any, rcu_read_lock()
 * Return: true if another one got the last slot meanwhile, and this one is to be held
 */
bool synq_gate_missed(const struct synq_conf *conf,
		      const struct synq_listener *listener,
		      const struct synq_class *class, const struct sock *sk,
		      const struct sk_buff *skb, enum synq_final final)
{
	return final == SYNQ_FINAL_ACK && sk_acceptq_is_full(sk) &&
	       !synq_hold_is_forbidden(sk) &&
	       !synq_conf_observes(conf, listener, class) && !is_mp_join(skb);
}

/**
 * synq_gate_knows() - has a connection that was promoted been turned away before?
 * @record: of the listener
 * @skb: segment that completed the handshake
 * @final: how it asked
 *
 * Of those in the SYN queue hold.c knows.
 *
 * Context: any, rcu_read_lock(), a snapshot was found
 * Return: true if so: its handshake was over then
 */
bool synq_gate_knows(const struct synq_record *record,
		     const struct sk_buff *skb, enum synq_final final)
{
	return final == SYNQ_FINAL_COOKIE &&
	       synq_refusal_knows(record->sn,
				  synq_segment_connection(record->sn, skb));
}
