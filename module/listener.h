/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Manages listening sockets.  See listener.c.
 */
#ifndef _SYNQ_LISTENER_H
#define _SYNQ_LISTENER_H

#include "conf.h"

struct sock;

int synq_listener_init(void);
void synq_listener_exit(void);
void synq_listener_net_init(struct synq_net *sn);
void synq_listener_net_exit(struct synq_net *sn);
void synq_listener_attach(struct synq_net *sn, const struct synq_conf *conf,
			  struct sock *sk);
void synq_listener_tend(struct synq_net *sn);

#endif /* _SYNQ_LISTENER_H */
