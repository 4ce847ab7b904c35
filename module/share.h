/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shares of what is accepted, by weight or as a minimum.  See share.c.
 */
#ifndef _SYNQ_SHARE_H
#define _SYNQ_SHARE_H

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

#endif /* _SYNQ_SHARE_H */
