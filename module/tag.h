/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tags: what synq writes into a request to know it again.  See tag.c.
 */
#ifndef _SYNQ_TAG_H
#define _SYNQ_TAG_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/types.h>

/**
 * enum synq_tag_kind - who writes a tag
 * @SYNQ_TAG_QUEUED: into requests in the accept queue (acceptq.c)
 * @SYNQ_TAG_WITHHELD: into those that wait at the gate (withheld.c)
 * @SYNQ_TAG_KINDS: how many
 */
enum synq_tag_kind {
	SYNQ_TAG_QUEUED,
	SYNQ_TAG_WITHHELD,
	SYNQ_TAG_KINDS
};

void synq_tag_init(u32 random);
u32 synq_tag_new_id(enum synq_tag_kind kind);
bool synq_tag_wait(atomic64_t *word, u64 tag);
u64 synq_tag_go(atomic64_t *word);

/**
 * synq_tag() - the value to write into a request
 * @id: of the writer, from synq_tag_new_id()
 * @low: the writer's own
 *
 * Context: any
 * Return: the tag
 */
static inline u64 synq_tag(u32 id, u32 low)
{
	return BIT_ULL(63) | (u64)id << 32 | low;
}

/**
 * synq_tag_is() - did the owner of an id write this?
 * @tag: found in a request
 * @id: of the owner; 0 owns nothing
 *
 * Context: any
 * Return: true if so
 */
static inline bool synq_tag_is(u64 tag, u32 id)
{
	return id && tag >> 32 == synq_tag(id, 0) >> 32;
}

/**
 * synq_tag_is_of() - is it a tag of this kind, whoever's?
 * @tag: found in a request
 * @kind: of the id that it was written with
 *
 * Context: any
 * Return: true if so; see tag.c for why it is no socket cookie
 */
static inline bool synq_tag_is_of(u64 tag, enum synq_tag_kind kind)
{
	return tag >> 62 == 2 && (tag >> 32 & 1) == kind;
}

/**
 * synq_tag_low() - the writer's own bits
 * @tag: for which synq_tag_is() is true, or was
 *
 * Context: any
 * Return: what was given to synq_tag()
 */
static inline u32 synq_tag_low(u64 tag)
{
	return tag;
}

#endif /* _SYNQ_TAG_H */
