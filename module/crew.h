/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The limit that the listeners of one process have together.  See crew.c.
 */
#ifndef _SYNQ_CREW_H
#define _SYNQ_CREW_H

#include <linux/types.h>

struct sock;
struct synq_inside;
struct synq_net;

/**
 * struct synq_told - what a listener tells its crew
 * @held: connections that it holds
 * @busy: connections that are busy and count
 * @kept: those that are busy and do not
 * @holds: 1, if it holds any, or 0
 * @excused: likewise, if that nothing is answered says nothing
 */
struct synq_told {
	u32 held;
	u32 busy;
	u32 kept;
	u32 holds;
	u32 excused;
};

int synq_crew_init(struct synq_inside *inside);
void synq_crew_destroy(struct synq_inside *inside);
void synq_crew_join(struct synq_inside *inside, struct synq_net *sn, const struct sock *sk);
void synq_crew_part(struct synq_inside *inside, struct synq_net *sn);

u32 synq_crew_limit(const struct synq_inside *inside);
u32 synq_crew_beside(const struct synq_inside *inside);

void synq_crew_answered(struct synq_inside *inside, bool is_kept, u64 took_ns);
void synq_crew_hear(struct synq_inside *inside);
void synq_crew_left(struct synq_inside *inside, u64 waited_ns, u64 held_ns);
bool synq_crew_tick(struct synq_inside *inside, const struct synq_told *told);
void synq_crew_rest(struct synq_inside *inside);

#endif /* _SYNQ_CREW_H */
