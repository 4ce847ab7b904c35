/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of a trie of prefixes.  See chunks.c.
 */
#ifndef _SYNQ_CHUNKS_H
#define _SYNQ_CHUNKS_H

#include "lpm.h"

int synq_chunks_share(struct synq_lpm *to, const struct synq_lpm *from);
int synq_chunks_own(struct synq_lpm *lpm, const u8 *key, u8 len, bool insert);
u32 synq_chunks_places(const struct synq_lpm *lpm, u8 *level);
struct synq_lpm_index *synq_chunks_index_alloc(u32 places, u8 level);
void synq_chunks_index_free(struct synq_lpm_index *index);
void synq_chunks_index(struct synq_lpm *lpm, struct synq_lpm_index *index);
void synq_chunks_drop(struct synq_lpm *lpm);

#endif /* _SYNQ_CHUNKS_H */
