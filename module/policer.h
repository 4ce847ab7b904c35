/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rate and burst of a class and of its sources.  See policer.c.
 */
#ifndef _SYNQ_POLICER_H
#define _SYNQ_POLICER_H

#include "classify.h"
#include "conf.h"

enum synq_source_answer synq_policer_ask(struct synq_net *sn,
					 const struct synq_class *class,
					 bool is_v6, const void *addr,
					 u64 now_ns);
enum synq_source_answer synq_policer_take(struct synq_net *sn,
					  const struct synq_class *class,
					  const struct synq_client *client,
					  u64 now_ns, bool *stray);

#endif /* _SYNQ_POLICER_H */
