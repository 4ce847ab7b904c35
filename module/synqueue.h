/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who may use the SYN queue of a listener.  See synqueue.c.
 */
#ifndef _SYNQ_SYNQUEUE_H
#define _SYNQ_SYNQUEUE_H

#include "conf.h"
#include "flood.h"
#include "halfopen.h"

struct sock;
struct synq_admission;

/**
 * struct synq_synqueue - the SYN queue of one listener
 * @halfopen: whose requests are in it
 * @flood: by slot, whether the class has had its share
 *
 * Written under &synq_admission.lock, read without it: what decides is read again
 * with it.
 */
struct synq_synqueue {
	struct synq_halfopen halfopen;
	struct synq_flood flood[SYNQ_SLOTS];
};

bool synq_synqueue_is_flooded(struct synq_admission *admission,
			      const struct synq_conf *conf,
			      const struct synq_class *class,
			      const struct sock *sk, struct synq_port *port,
			      u64 now_ns);
bool synq_synqueue_is_full(struct synq_admission *admission,
			   const struct synq_conf *conf,
			   const struct synq_class *class,
			   const struct sock *sk, u64 now_ns);
void synq_synqueue_settle(struct synq_admission *admission,
			  const struct synq_conf *conf, const struct sock *sk,
			  struct synq_port *port);

#endif /* _SYNQ_SYNQUEUE_H */
