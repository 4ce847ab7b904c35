/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many connections a server works on best.  See climb.c.
 */
#ifndef _SYNQ_CLIMB_H
#define _SYNQ_CLIMB_H

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/**
 * enum synq_climb_phase - what the present epoch is for
 * @SYNQ_CLIMB_REST: the base is the limit
 * @SYNQ_CLIMB_UP: the base has been raised: is there more?
 * @SYNQ_CLIMB_DOWN: less than the base is the limit: how much less comes out?
 */
enum synq_climb_phase {
	SYNQ_CLIMB_REST,
	SYNQ_CLIMB_UP,
	SYNQ_CLIMB_DOWN,
};

/**
 * struct synq_climb - the search for one listener
 * @last_ns: monotonic clock: of the last tick
 * @epoch_ns: how long the epoch has been, while somebody was held
 * @loose_ns: and while nobody was
 * @unsettled_ns: how long the limit has not been kept yet
 * @silent_ns: since the last answer, while somebody was held
 * @rate: answers/second at the base, times 2^20; 0: not known
 * @answers: of the epoch
 * @answered: since the last tick
 * @skip: answers that still belong to the limit of before
 * @limit: in force; read by anybody
 * @base: the best limit known, in sixteenths
 * @from: the base before it was raised
 * @before: the base before the limit was opened; 0: it is not
 * @busy: connections, at the last tick
 * @gap_ms: the longest time between two answers of late
 * @phase: enum synq_climb_phase
 * @rested: epochs of rest
 * @rests: so many are between two lower limits
 * @surprises: of those that are over, the last ones whose rate was another
 * @easy: lower limits that cost nothing, one after the other
 * @held: somebody was held at the last tick
 * @settled: the limit is kept
 * @searching: the base is not known
 */
struct synq_climb {
	u64 last_ns;
	u64 epoch_ns;
	u64 loose_ns;
	u64 unsettled_ns;
	u64 silent_ns;
	u64 rate;
	u32 answers;
	u32 answered;
	u32 skip;
	u32 limit;
	u32 base;
	u32 from;
	u32 before;
	u32 busy;
	u32 gap_ms;
	u8 phase;
	u8 rested;
	u8 rests;
	u8 surprises;
	u8 easy;
	bool held;
	bool settled;
	bool searching;
};

void synq_climb_init(struct synq_climb *climb);
void synq_climb_tick(struct synq_climb *climb, u64 now_ns, u32 held, u32 busy);

/**
 * synq_climb_answer() - an answer has gone out
 * @climb: of the listener
 *
 * Context: any; callers exclude each other
 */
static inline void synq_climb_answer(struct synq_climb *climb)
{
	climb->answered = min(climb->answered, U32_MAX - 1) + 1;
}

/**
 * synq_climb_excuse() - do not open the limit now, though nothing is answered
 * @climb: of the listener
 *
 * To be called before each tick for which that holds; soon after the last it may be opened.
 *
 * Context: any; callers exclude each other
 */
static inline void synq_climb_excuse(struct synq_climb *climb)
{
	climb->silent_ns = min(climb->silent_ns, (u64)NSEC_PER_SEC / 2);
}

/**
 * synq_climb_limit() - how many connections may be busy
 * @climb: of the listener
 *
 * Context: any
 * Return: connections
 */
static inline u32 synq_climb_limit(const struct synq_climb *climb)
{
	return READ_ONCE(climb->limit);
}

#endif /* _SYNQ_CLIMB_H */
