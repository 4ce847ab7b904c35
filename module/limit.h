/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Up to which length of an accept queue a class may use it.  See limit.c.
 */
#ifndef _SYNQ_LIMIT_H
#define _SYNQ_LIMIT_H

#include <linux/limits.h>
#include "acceptq.h"
#include "conf.h"

#define SYNQ_LIMIT_NONE		U32_MAX

u32 synq_limit_share(u32 backlog, u32 share, u32 whole);
u32 synq_limit_kept(const struct synq_conf *conf,
		    const struct synq_listener *listener,
		    const struct synq_class *class, u32 backlog);
bool synq_limit_keeps_any(const struct synq_conf *conf,
			  const struct synq_listener *listener);
u32 synq_limit_of(const struct synq_conf *conf,
		  const struct synq_listener *listener,
		  const struct synq_class *class,
		  const struct synq_acceptq *queue, u32 backlog);
u32 synq_limit_ack(u32 limit, u32 backlog);

#endif /* _SYNQ_LIMIT_H */
