/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Marks by the names of their classes, for other modules.  See classify.c.
 */
#ifndef _SYNQ_MARK_H
#define _SYNQ_MARK_H

#include <linux/types.h>

struct net;

bool synq_mark_is(const struct net *net, u32 mark, const char *name);
u32 synq_mark_set(const struct net *net, u32 mark, const char *name);

#endif /* _SYNQ_MARK_H */
