/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Matches that have a time.  See expire.c.
 *
 * Ends are kept in seconds of the monotonic clock, rounded up; 0: never.
 */
#ifndef _SYNQ_EXPIRE_H
#define _SYNQ_EXPIRE_H

#include <linux/minmax.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

struct synq_net;

void synq_expire_later(struct synq_net *sn);
void synq_expire_net_init(struct synq_net *sn);
void synq_expire_net_exit(struct synq_net *sn);

static inline u32 synq_expire_now(void)
{
	return ktime_get_seconds();
}

static inline bool synq_expire_is_over(u32 end, u32 now)
{
	return end && now >= end;
}

/* The end, not before @timeout seconds have passed; 0: never. */
static inline u32 synq_expire_end(u32 timeout, u32 now)
{
	return timeout ? now + 1 + timeout : 0;
}

/* Whole seconds until the end, at least 1. */
static inline u32 synq_expire_left(u32 end, u32 now)
{
	return end > now + 1 ? end - now - 1 : 1;
}

/* The earlier one. */
static inline u32 synq_expire_first(u32 a, u32 b)
{
	return min_not_zero(a, b);
}

#endif /* _SYNQ_EXPIRE_H */
