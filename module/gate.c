// SPDX-License-Identifier: GPL-2.0
/*
 * The gate: at the final ACK, may this connection be promoted from the SYN queue to the
 * accept queue now?  admission.c knows whether its class has a slot.  This file knows when
 * that does not matter, has hold.c hold the connections that have to wait, and counts.
 *
 * Connections of SYN cookies are not held: they are dropped, as by the stock kernel.
 *
 * Called from the borrowed syn_recv_sock() of a listener (listener.c), with BH off and
 * under rcu_read_lock(), for one request possibly on two CPUs at once.
 */
#include <linux/ipv6.h>
#include <net/inet_connection_sock.h>
#include <net/ip.h>
#include <net/mptcp.h>
#include <net/tcp.h>
#include "admission.h"
#include "classify.h"
#include "gate.h"
#include "request.h"
#include "stats.h"
#include "tcpopt.h"

/*
 * Its connection is already served: it never uses the accept queue.  A listener without MPTCP
 * ignores the option, whoever sends it.
 */
static bool is_mp_join(const struct synq_gate *gate)
{
	const struct tcphdr *th = tcp_hdr(gate->skb);

	return sk_is_mptcp(gate->record->sk) &&
	       synq_tcpopt_is_mp_join((const u8 *)(th + 1),
				      (const u8 *)th + 4 * th->doff);
}

/*
 * It leaves nothing behind, and asks again with each segment of its client.  But its
 * handshake has completed, as expected, and counts once.
 */
static void turn_away(const struct synq_gate *gate)
{
	struct synq_record *record = gate->record;
	u64 hash = synq_segment_connection(record->sn, gate->skb);

	if (synq_refusal_connection(record->sn, hash))
		return;
	synq_count(record->counters, gate->class->slot, SYNQ_COUNT_COOKIE_REFUSED);
	synq_admission_complete(record, gate->class, gate->req, SYNQ_FINAL_COOKIE);
}

/* For synq why: the client has done nothing wrong, but does not get in yet. */
static void sample(const struct synq_gate *gate, enum synq_refused reason)
{
	const struct sk_buff *skb = gate->skb;
	bool is_v6 = skb->protocol == htons(ETH_P_IPV6);

	synq_refusal_sample_final(gate->record->sn, gate->record->counters,
				  gate->class, reason,
				  is_v6 ? (const void *)&ipv6_hdr(skb)->saddr :
					  (const void *)&ip_hdr(skb)->saddr,
				  is_v6);
}

/* Its handshake has completed, so it is not a flood's, whether it gets in or not. */
static void end_handshake(const struct synq_gate *gate)
{
	if (!synq_acceptq_was_asked(gate->record->sk, gate->req))
		synq_admission_complete(gate->record, gate->class, gate->req,
					SYNQ_FINAL_ACK);
}

static bool hold(const struct synq_gate *gate)
{
	int err = synq_hold_add(gate->record, gate->conf, gate->class, gate->skb,
				gate->req);

	if (!err) {
		end_handshake(gate);
		sample(gate, SYNQ_REFUSED_HELD);
	}
	return !err || err == -EEXIST;
}

static enum synq_gate_answer hold_or_drop(const struct synq_gate *gate)
{
	if (hold(gate))
		return SYNQ_GATE_HELD;
	synq_count(gate->record->counters, gate->class->slot, SYNQ_COUNT_HOLD_FULL);
	end_handshake(gate);
	sample(gate, SYNQ_REFUSED_HOLD_FULL);
	return SYNQ_GATE_REFUSE;
}

/* Its class has a slot, but the kernel has none. */
static enum synq_gate_answer find_full(const struct synq_gate *gate)
{
	switch (gate->final) {
	case SYNQ_FINAL_ACK:
		if (synq_hold_is_forbidden(gate->record->sk))
			break;
		return hold_or_drop(gate);
	case SYNQ_FINAL_COOKIE:
		turn_away(gate);
		break;
	case SYNQ_FINAL_FASTOPEN:
		break;
	}
	return SYNQ_GATE_PASS;
}

/* Its class has no slot. */
static enum synq_gate_answer put_off(const struct synq_gate *gate)
{
	struct synq_port *port = gate->record->counters;

	if (synq_hold_is_forbidden(gate->record->sk)) {
		synq_count(port, gate->class->slot, SYNQ_COUNT_GATE_BYPASSED);
		return SYNQ_GATE_PASS;
	}
	switch (gate->final) {
	case SYNQ_FINAL_ACK:
		return hold_or_drop(gate);
	case SYNQ_FINAL_COOKIE:
		turn_away(gate);
		break;
	case SYNQ_FINAL_FASTOPEN:
		synq_count(port, gate->class->slot, SYNQ_COUNT_FASTOPEN_DECLINED);
		break;
	}
	return SYNQ_GATE_REFUSE;
}

/**
 * synq_gate() - may a connection be promoted now?
 * @gate: the connection, which is not held
 *
 * While tcp_abort_on_overflow is set, which the kernel reads at each refusal,
 * waiting would mean a reset: everything passes.
 *
 * Context: BH off, rcu_read_lock()
 * Return: what is to be done, which is counted
 */
enum synq_gate_answer synq_gate(const struct synq_gate *gate)
{
	const struct synq_record *record = gate->record;
	bool is_full = sk_acceptq_is_full(record->sk);
	bool has_slot = synq_admission_promote(record, gate->conf, gate->listener,
					       gate->class, gate->final);

	if (synq_conf_observes(gate->conf, gate->listener, gate->class)) {
		/* If it is full the kernel turns it away; it is counted when it is let in. */
		if (!has_slot && !is_full && !is_mp_join(gate))
			synq_count(record->counters, gate->class->slot,
				   SYNQ_COUNT_WOULD_HOLD);
		return SYNQ_GATE_PASS;
	}
	if (is_mp_join(gate))
		return SYNQ_GATE_PASS;
	if (!has_slot)
		return put_off(gate);
	if (is_full)
		return find_full(gate);
	if (gate->final == SYNQ_FINAL_ACK &&
	    (synq_hold_is_before(record, gate->conf, gate->listener, gate->class) ||
	     synq_request_is_before(record, gate->conf, gate->listener, gate->class)))
		return hold(gate) ? SYNQ_GATE_HELD : SYNQ_GATE_PASS;
	return SYNQ_GATE_PASS;
}

/**
 * synq_gate_missed() - TCP has not promoted a connection that was let through
 * @gate: the connection: it is held if another one got the last slot meanwhile
 *
 * Context: BH off, rcu_read_lock()
 */
void synq_gate_missed(const struct synq_gate *gate)
{
	const struct sock *sk = gate->record->sk;

	if (gate->final == SYNQ_FINAL_ACK && sk_acceptq_is_full(sk) &&
	    !synq_hold_is_forbidden(sk) &&
	    !synq_conf_observes(gate->conf, gate->listener, gate->class) &&
	    !is_mp_join(gate))
		hold(gate);
}

/**
 * synq_gate_promoted() - TCP has promoted a connection that was let through
 * @gate: the connection, which is not held
 * @asked: its promotion had been refused before, so that its handshake was over then
 *
 * Context: BH off, rcu_read_lock()
 */
void synq_gate_promoted(const struct synq_gate *gate, bool asked)
{
	struct synq_record *record = gate->record;

	if (asked || (gate->final == SYNQ_FINAL_COOKIE &&
		      synq_refusal_knows(record->sn,
					 synq_segment_connection(record->sn, gate->skb))))
		return;
	synq_admission_complete(record, gate->class, gate->req, gate->final);
}
