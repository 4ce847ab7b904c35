/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shares of what is accepted, by weight or as a minimum.  See share.c.
 */
#ifndef _SYNQ_SHARE_H
#define _SYNQ_SHARE_H

#include <linux/bits.h>
#include <linux/types.h>

#define SYNQ_SHARE_WEIGHT_MAX	1000
#define SYNQ_SHARE_ONE		100	/* credit for one request */

/* share.c */
u64 synq_share_step(u16 weight, u16 heaviest);
u64 synq_share_finish(u64 after, u64 step, u64 now);
u32 synq_share_key(u64 finish, u8 position);
u8 synq_share_position(u32 key);
u64 synq_share_time(u32 key);
u64 synq_share_behind(u32 key);
u32 synq_share_left(u64 last, u64 step, u32 head, u8 position);
u32 synq_share_earn(u32 credit, u8 percent, u32 accepted);
u32 synq_share_spend(u32 credit, u32 requests);
u32 synq_share_keep(u32 credit);

/*
 * Tags: how synq recognises the requests that it has placed.  See share.c.
 */

#define SYNQ_TAG_ID	(BIT(30) - 1)

void synq_tag_init(u32 random, u64 key);
u32 synq_tag_bind(u32 id, const void *req);
u64 synq_tag_take(void);
bool synq_tag_is_old(u64 number);

/* The id that is written for a number; never 0. */
static inline u32 synq_tag_id(u64 number)
{
	return number & SYNQ_TAG_ID;
}

/**
 * synq_tag() - the value to write into a request
 * @id: of the writer, synq_tag_id() of what it has taken, bound to the request
 * @low: the writer's own
 *
 * Return: the tag
 */
static inline u64 synq_tag(u32 id, u32 low)
{
	return BIT_ULL(63) | (u64)id << 32 | low;
}

/**
 * synq_tag_is() - was a tag written by the owner of an id?
 * @tag: found in a request
 * @id: of the owner; 0 owns nothing
 *
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
 * Return: what was given to synq_tag()
 */
static inline u32 synq_tag_low(u64 tag)
{
	return tag;
}

#endif /* _SYNQ_SHARE_H */
