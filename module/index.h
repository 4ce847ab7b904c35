/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes indexes of the prefixes that are in force.  See index.c.
 */
#ifndef _SYNQ_INDEX_H
#define _SYNQ_INDEX_H

#include "synq.h"

void synq_index_later(struct synq_net *sn);
u32 synq_index_matches(const struct synq_net *sn);
void synq_index_net_init(struct synq_net *sn);
void synq_index_net_exit(struct synq_net *sn);

#endif /* _SYNQ_INDEX_H */
