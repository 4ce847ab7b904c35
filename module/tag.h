/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tags: what synq writes into a request to know it again.  See tag.c.
 */
#ifndef _SYNQ_TAG_H
#define _SYNQ_TAG_H

#include <linux/bits.h>
#include <linux/types.h>

void synq_tag_init(u32 random);
u64 synq_tag_take(void);
bool synq_tag_is_old(u64 number);

/* What is written of a number: not 0. */
static inline u32 synq_tag_id(u64 number)
{
	return number & (BIT(30) - 1);
}

/**
 * synq_tag() - the value to write into a request
 * @id: of the writer, synq_tag_id() of what it has taken
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
