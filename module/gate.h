/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The gate.  See gate.c.
 */
#ifndef _SYNQ_GATE_H
#define _SYNQ_GATE_H

#include "record.h"

struct request_sock;
struct sk_buff;

bool synq_gate(struct synq_record *record, const struct synq_conf *conf,
	       const struct synq_listener *listener,
	       const struct synq_class *class,
	       const struct sock *sk, const struct sk_buff *skb,
	       struct request_sock *req, enum synq_final final);
bool synq_gate_knows(const struct synq_record *record,
		     const struct sk_buff *skb, enum synq_final final);

#endif /* _SYNQ_GATE_H */
