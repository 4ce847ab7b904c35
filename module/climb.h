/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the number of connections that a server works on best.  See climb.c.
 */
#ifndef _SYNQ_CLIMB_H
#define _SYNQ_CLIMB_H

#include <linux/compiler.h>
#include <linux/types.h>

/**
 * enum synq_climb_phase - what the present epoch is for
 * @SYNQ_CLIMB_REST: the base is the limit
 * @SYNQ_CLIMB_UP: the base was raised, to see whether that brings more answers
 * @SYNQ_CLIMB_DOWN: the limit is below the base, to see how many answers that costs
 */
enum synq_climb_phase {
	SYNQ_CLIMB_REST,
	SYNQ_CLIMB_UP,
	SYNQ_CLIMB_DOWN,
};

#define SYNQ_LISTENERS_MOST	1024U

/**
 * struct synq_load - what the listeners of one process have to do that have a part of the limit
 * @held: connections that are held
 * @busy: connections that are busy and count
 * @kept: those that are busy and do not
 * @listeners: that have a part of the limit (crew.c)
 */
struct synq_load {
	u32 held;
	u32 busy;
	u32 kept;
	u32 listeners;
};

/**
 * struct synq_climb - the search for the limit of one listener, or of several of one process
 * @last_ns: time of the last tick, monotonic clock
 * @epoch_ns: length of the epoch so far
 * @loose_ns: length of the interruption, while none was held, or the server was stopped or silent
 * @unsettled_ns: time since the limit was lowered, until it is in effect
 * @silent_ns: time without an answer while connections were held, or a higher limit was tried
 * @rate: answers/ns at the base, times 2^40; 0: not known
 * @first_ns: the longest that one of the first answers took
 * @took_ns: what answers of the epoch took, in all
 * @none_ns: time since connections were held at two ticks in a row
 * @limit_ns: for how long the limit has been what it is, while time was let pass
 * @left: clients that have waited with this limit only, for a second or more, and left
 * @served: answers since the limit is what it is; both begin again after some
 * @too_many: a base with which too many left, in sixteenths; 0: there was none
 * @took_n: how many these are
 * @answers: of the epoch
 * @answered: since the last tick
 * @skip: answers to skip, which belong to the previous limit
 * @limit: in force; may be read without exclusion
 * @base: the best limit known, in sixteenths
 * @from: the base before it was raised; 0: it begins, answer by answer
 * @before: the base before the limit was opened; 0: the limit is not open; may be read without
 *	exclusion
 * @may_double: it was a guess, nothing has been answered yet that says how long that takes, and of
 *	those let in before fewer than half are to be skipped
 * @listeners: that had a part at the last tick; 1, if none had
 * @busy: busy connections at the last tick
 * @kept: those that the limit does not count, times UNIT: the sum of the last SMOOTH ticks
 * @kept_then: of these, as many as work was done for, in sixteenths, when the base was set
 * @kept_answered: answers to those, of the last WINDOW or fewer
 * @else_answered: all others of these
 * @beside: of those that are kept, as many as work was done for; may be read without exclusion
 * @gap_ms: the longest recent time between two answers
 * @unheard_ms: how long nothing was answered until the limit was opened, in all
 * @phase: enum synq_climb_phase; may be read without exclusion
 * @rested: epochs of rest
 * @rests: epochs of rest between two lower limits
 * @surprises: epochs in a row, up to the last, with another rate
 * @easy: lower limits in a row that cost nothing
 * @held: connections were held at the last tick
 * @excused: silence does not count in this tick
 * @put_offs: how often in a row it was put off that a higher limit is tried
 * @is_put_off: that is to be done as soon as connections are held, and some answered
 * @is_untried: few answers, if any, say that a higher limit brings nothing, and none that a lower
 *	one brings as much
 * @settled: the limit is in effect
 * @searching: the base is not known
 * @deserted: a client has left after a second or more, and nothing was answered since
 */
struct synq_climb {
	u64 last_ns;
	u64 epoch_ns;
	u64 loose_ns;
	u64 unsettled_ns;
	u64 silent_ns;
	u64 rate;
	u64 first_ns;
	u64 took_ns;
	u64 none_ns;
	u64 limit_ns;
	u32 left;
	u32 served;
	u32 too_many;
	u32 took_n;
	u32 answers;
	u32 answered;
	u32 skip;
	u32 limit;
	u32 base;
	u32 from;
	u32 before;
	u32 listeners;
	u32 busy;
	u32 kept;
	u32 kept_then;
	u32 kept_answered;
	u32 else_answered;
	u32 beside;
	u32 gap_ms;
	u32 unheard_ms;
	u8 phase;
	u8 rested;
	u8 rests;
	u8 surprises;
	u8 easy;
	u8 put_offs;
	bool may_double;
	bool held;
	bool excused;
	bool is_put_off;
	bool is_untried;
	bool settled;
	bool searching;
	bool deserted;
};

void synq_climb_init(struct synq_climb *climb);
void synq_climb_answer(struct synq_climb *climb, bool is_kept, u64 took_ns);
void synq_climb_hear(struct synq_climb *climb);
void synq_climb_left(struct synq_climb *climb, u64 waited_ns, u64 held_ns, u64 mean_ns);
void synq_climb_put_off(struct synq_climb *climb);
void synq_climb_close(struct synq_climb *climb);
void synq_climb_tick(struct synq_climb *climb, u64 now_ns, const struct synq_load *load);

/**
 * synq_climb_is_trying() - is a higher limit tried, which may have let in all clients?
 * @climb: of the listeners
 *
 * Return: true if time has to pass (synq_climb_tick()) for as long, though no connection is held
 */
static inline bool synq_climb_is_trying(const struct synq_climb *climb)
{
	return READ_ONCE(climb->phase) == SYNQ_CLIMB_UP;
}

/**
 * synq_climb_is_open() - was the limit opened, since nothing was answered?
 * @climb: of the listeners
 *
 * Return: true if the next answer closes it
 */
static inline bool synq_climb_is_open(const struct synq_climb *climb)
{
	return READ_ONCE(climb->before);
}

/**
 * synq_climb_excuse() - do not open the limit though nothing is answered
 * @climb: of the listeners
 *
 * Called before each tick for which this holds.  An epoch does not go on meanwhile.
 *
 * Context: callers exclude each other
 */
static inline void synq_climb_excuse(struct synq_climb *climb)
{
	climb->excused = true;
}

/**
 * synq_climb_beside() - how many does the server work on that the limit does not count?
 * @climb: of the listeners
 *
 * Return: connections, in the long run
 */
static inline u32 synq_climb_beside(const struct synq_climb *climb)
{
	return READ_ONCE(climb->beside);
}

/**
 * synq_climb_limit() - how many connections may be busy
 * @climb: of the listeners
 *
 * Return: connections
 */
static inline u32 synq_climb_limit(const struct synq_climb *climb)
{
	return READ_ONCE(climb->limit);
}

#endif /* _SYNQ_CLIMB_H */
