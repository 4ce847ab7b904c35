/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A configuration on trial.  See trial.c.
 */
#ifndef _SYNQ_TRIAL_H
#define _SYNQ_TRIAL_H

#include "synq.h"

struct netlink_ext_ack;

int synq_trial_refuse(const struct synq_net *sn, struct netlink_ext_ack *extack);
int synq_trial_begin(struct synq_net *sn, u32 seconds);
int synq_trial_confirm(struct synq_net *sn);
u32 synq_trial_left(const struct synq_net *sn);
void synq_trial_net_init(struct synq_net *sn);
void synq_trial_net_exit(struct synq_net *sn);

#endif /* _SYNQ_TRIAL_H */
