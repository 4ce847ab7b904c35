/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rate and burst of a class.  See policer.c.
 */
#ifndef _SYNQ_POLICER_H
#define _SYNQ_POLICER_H

#include "conf.h"

bool synq_policer_conform(struct synq_net *sn, const struct synq_class *class,
			  u64 now_ns);

#endif /* _SYNQ_POLICER_H */
