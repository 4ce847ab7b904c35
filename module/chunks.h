/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of a trie of prefixes.  See chunks.c.
 */
#ifndef _SYNQ_CHUNKS_H
#define _SYNQ_CHUNKS_H

#include "lpm.h"
#include "synq.h"

int synq_chunks_share(struct synq_lpm *to, const struct synq_lpm *from);
int synq_chunks_own(struct synq_lpm *lpm, const u8 *key, u8 len, bool insert);
void synq_chunks_drop(struct synq_lpm *lpm);

/*
 * Makes indexes of the prefixes that are in force.
 */

void synq_index_later(struct synq_net *sn, unsigned long delay);
u32 synq_index_matches(const struct synq_net *sn);
void synq_index_net_init(struct synq_net *sn);
void synq_index_net_exit(struct synq_net *sn);

#endif /* _SYNQ_CHUNKS_H */
