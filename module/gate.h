/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The gate.  See gate.c.
 */
#ifndef _SYNQ_GATE_H
#define _SYNQ_GATE_H

#include "record.h"

struct request_sock;
struct sk_buff;

/**
 * struct synq_gate - a connection that asks to be promoted
 * @record: of its listener
 * @conf: snapshot
 * @listener: configured, as it is for the socket
 * @class: of the connection
 * @skb: segment that completes its handshake
 * @req: its request
 * @final: how it asks
 */
struct synq_gate {
	struct synq_record *record;
	const struct synq_conf *conf;
	const struct synq_listener *listener;
	const struct synq_class *class;
	struct sk_buff *skb;
	struct request_sock *req;
	enum synq_final final;
};

/**
 * enum synq_gate_answer - what is to be done with a connection
 * @SYNQ_GATE_PASS: the kernel promotes it, if it has a slot
 * @SYNQ_GATE_HELD: nothing is done: it waits
 * @SYNQ_GATE_REFUSE: it is dropped, as the kernel does without a slot
 */
enum synq_gate_answer {
	SYNQ_GATE_PASS,
	SYNQ_GATE_HELD,
	SYNQ_GATE_REFUSE,
};

enum synq_gate_answer synq_gate(const struct synq_gate *gate);
void synq_gate_missed(const struct synq_gate *gate);
void synq_gate_promoted(const struct synq_gate *gate, bool asked);

#endif /* _SYNQ_GATE_H */
