/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which classes may use the SYN queue of a listener.  See synqueue.c.
 */
#ifndef _SYNQ_SYNQUEUE_H
#define _SYNQ_SYNQUEUE_H

#include "conf.h"
#include "handshakes.h"

struct sock;

bool synq_synqueue_is_flooded(struct synq_handshakes *shakes,
			      const struct synq_conf *conf,
			      const struct synq_class *class,
			      const struct sock *sk, struct synq_port *port,
			      u64 now_ns);
bool synq_synqueue_is_full(struct synq_handshakes *shakes,
			   const struct synq_conf *conf,
			   const struct synq_class *class,
			   const struct sock *sk, u64 now_ns);
bool synq_synqueue_was_flooded(const struct synq_handshakes *shakes, u8 slot);
void synq_synqueue_settle(struct synq_handshakes *shakes,
			  const struct synq_conf *conf, const struct sock *sk,
			  struct synq_port *port);

#endif /* _SYNQ_SYNQUEUE_H */
