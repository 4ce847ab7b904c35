/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What climb.c and climb_open.c share.
 */
#ifndef _SYNQ_CLIMB_OPEN_H
#define _SYNQ_CLIMB_OPEN_H

#include <linux/time64.h>
#include <linux/types.h>

#include "climb.h"

#define UNIT		16U			/* of a base */
#define LEAST		2U			/* for each listener */
#define MOST		((1U << 20) * UNIT)
#define SECOND		((u64)NSEC_PER_SEC)
#define QUICK_NS	SECOND
#define EXCUSED_NS	(SECOND / 2)
#define RESTS_MIN	6	/* epochs of rest before a lower limit is tried, at least */

static inline u32 synq_climb_whole(u32 base)
{
	return (base + UNIT - 1) / UNIT;
}

static inline u32 synq_climb_least(const struct synq_climb *climb)
{
	return LEAST * climb->listeners;
}

/* climb.c */
void synq_climb_restart(struct synq_climb *climb);
void synq_climb_rest(struct synq_climb *climb, u64 base);
u64 synq_climb_takes_ns(const struct synq_climb *climb);

/* climb_open.c */
void synq_climb_close_again(struct synq_climb *climb);
bool synq_climb_is_silent(struct synq_climb *climb, u64 ns, u32 answered, bool excused);
void synq_climb_open_further(struct synq_climb *climb);
void synq_climb_interrupt(struct synq_climb *climb);
void synq_climb_pass_loose(struct synq_climb *climb, u64 ns);
void synq_climb_is_new(struct synq_climb *climb);
void synq_climb_look_who_left(struct synq_climb *climb, bool excused);
bool synq_climb_is_deserted(struct synq_climb *climb);
bool synq_climb_may_double(const struct synq_climb *climb);
void synq_climb_has_stayed(struct synq_climb *climb);

#endif /* _SYNQ_CLIMB_OPEN_H */
