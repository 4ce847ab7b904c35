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
 * enum synq_gate_answer - what is to be done with a connection
 * @SYNQ_GATE_PASS: the kernel promotes it, if it has a slot
 * @SYNQ_GATE_HOLD: it waits
 * @SYNQ_GATE_FOLLOW: it has a slot, but waits behind those who are held, if it can be held
 * @SYNQ_GATE_REFUSE: it is dropped, as the kernel does without a slot
 */
enum synq_gate_answer {
	SYNQ_GATE_PASS,
	SYNQ_GATE_HOLD,
	SYNQ_GATE_FOLLOW,
	SYNQ_GATE_REFUSE,
};

enum synq_gate_answer synq_gate(struct synq_record *record,
				const struct synq_conf *conf,
				const struct synq_listener *listener,
				const struct synq_class *class,
				const struct sock *sk, const struct sk_buff *skb,
				struct request_sock *req, enum synq_final final);
bool synq_gate_knows(const struct synq_record *record,
		     const struct sk_buff *skb, enum synq_final final);

bool synq_gate_missed(const struct synq_conf *conf,
		      const struct synq_listener *listener,
		      const struct synq_class *class, const struct sock *sk,
		      const struct sk_buff *skb, enum synq_final final);

#endif /* _SYNQ_GATE_H */
