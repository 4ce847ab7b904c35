/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps the accounts of accept queues up to date.  See settle.c.
 */
#ifndef _SYNQ_SETTLE_H
#define _SYNQ_SETTLE_H

#include "synq.h"

void synq_settle_later(struct synq_net *sn);
void synq_settle_net_init(struct synq_net *sn);
void synq_settle_net_exit(struct synq_net *sn);

#endif /* _SYNQ_SETTLE_H */
