/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The law of admission at the SYN.  See law.c.
 */
#ifndef _SYNQ_LAW_H
#define _SYNQ_LAW_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>

/*
 * Handshakes under way, and how many of them will complete.
 */

#define SYNQ_FLIGHT_ONE		65536	/* fractional part of a ratio */

/**
 * struct synq_flight_clock - how long the handshakes of a listener take
 * @mean_ns: smoothed time from SYN to final ACK
 * @deviation_ns: smoothed mean deviation of it
 * @samples: handshakes that these have been made of, up to a few
 * @since_ns: when the present epoch began
 * @before_ns: when the one before did
 * @paced: those that were let in, less what has left since, of SYNQ_FLIGHT_ONE
 * @paced_ns: when @paced was that
 */
struct synq_flight_clock {
	u64 mean_ns;
	u64 deviation_ns;
	u32 samples;
	u64 since_ns;
	u64 before_ns;
	u64 paced;
	u64 paced_ns;
};

/**
 * struct synq_flight_pace - how fast the connections of a listener leave
 * @interval_ns: from one departure to the next while the queue is not empty; 0: not known
 * @pace_ns: the same of late, whether it is empty or not
 * @most: connections that may be queued, held and inside at the same time
 */
struct synq_flight_pace {
	u32 interval_ns;
	u32 pace_ns;
	u32 most;
};

/**
 * struct synq_flight_epoch - handshakes of one class, by when they began
 * @begun: how many did
 * @open: of those, have not completed; may be off by a few between neighbours, hence
 *	below zero
 */
struct synq_flight_epoch {
	u32 begun;
	s32 open;
};

/**
 * struct synq_flight - handshakes of one class at one listener
 * @epoch: the present one, and the one before
 * @resolved: handshakes whose time is over; scaled down now and then
 * @completed: of those, completed
 * @ratio: the same, of SYNQ_FLIGHT_ONE
 */
struct synq_flight {
	struct synq_flight_epoch epoch[2];
	u32 resolved;
	u32 completed;
	u32 ratio;
};

void synq_flight_clock_init(struct synq_flight_clock *clock, u64 now_ns);
void synq_flight_clock_add(struct synq_flight_clock *clock, u64 age_ns);
u64 synq_flight_clock_end(const struct synq_flight_clock *clock);
void synq_flight_clock_turn(struct synq_flight_clock *clock, u64 now_ns);
void synq_flight_clock_pace(struct synq_flight_clock *clock,
			    const struct synq_flight *flight, u32 n,
			    struct synq_flight_pace pace, u64 now_ns);
u32 synq_flight_clock_paced(const struct synq_flight_clock *clock,
			    struct synq_flight_pace pace, u64 now_ns);

void synq_flight_init(struct synq_flight *flight);
void synq_flight_begin(struct synq_flight *flight, u32 n);
void synq_flight_complete(struct synq_flight *flight,
			  const struct synq_flight_clock *clock, u64 begun_ns);
void synq_flight_turn(struct synq_flight *flight);
u32 synq_flight_expected(const struct synq_flight *flight);

/**
 * synq_flight_clock_least() - how long most handshakes take at least
 * @clock: of a listener
 *
 * Context: callers exclude each other
 * Return: ns, at most 2 s
 */
static inline u32 synq_flight_clock_least(const struct synq_flight_clock *clock)
{
	return clock->mean_ns - min(clock->mean_ns, clock->deviation_ns);
}

/*
 * How fast a server takes connections out of its accept queue.
 */

/**
 * struct synq_drain_window - departures seen
 * @ns: how long
 * @departed: how many
 */
struct synq_drain_window {
	u64 ns;
	u64 departed;
};

/**
 * struct synq_drain - the estimate for one queue; all zero at first
 * @last_ns: time of the last sample; 0: none yet
 * @span: the present span, in which the queue has never been empty
 * @counts: it has gone into @known
 * @known: of spans that count, in the present window and the one before
 * @flow: departures of late, whether the queue was empty or not
 * @idled: it was, while @flow was taken
 * @low_since_ns: time when @low_present was begun
 * @low_present: least number queued since
 * @low_before: in the second before
 * @low: least number queued at an append in the last second or two
 * @lull_ns: how long none had been appended before the present second began, at most 4 s
 * @interval_ns: from one departure to the next while the queue is not empty, at
 *	most 4 s; 0: not known
 * @pace_ns: the same of late, whether it is empty or not
 *
 * One writer at a time; @last_ns and the last four may be read by any CPU.
 */
struct synq_drain {
	u64 last_ns;
	struct synq_drain_window span;
	bool counts;
	struct synq_drain_window known[2];
	struct synq_drain_window flow;
	bool idled;

	u64 low_since_ns;
	u32 low_present;
	u32 low_before;

	u32 low;
	u32 lull_ns;
	u32 interval_ns;
	u32 pace_ns;
};

void synq_drain_sample(struct synq_drain *drain, u64 now_ns, u32 before,
		       u32 departed);

/* Has the server been seen to accept?  Else the interval is a guess. */
static inline bool synq_drain_is_known(const struct synq_drain *drain)
{
	return READ_ONCE(drain->known[0].departed);
}

/**
 * struct synq_law - what a decision is made from
 * @limit: connections of any class up to which the class is let in
 * @queued: connections of any class that are queued, held or expected
 * @there: those of them that are not only expected
 * @ahead: those of them that will be served before
 * @gone: connections that leave until the handshake has completed
 * @paced: connections that would be queued, or held, if each came when it is let in
 * @held: connections that are held or expected, of the class and of those that go before it
 * @held_gone: connections that leave while a handshake takes, in the mean; 0: none are held
 * @held_kept: connections of the class that may be held or expected, whatever @held is
 * @hold_limit: up to which @held the class is let in; 0: any
 * @kept: slots that no other class may use
 * @cap: connections of the class itself that there may be; 0: no cap
 * @own: connections of the class itself that are queued, held or expected
 * @due: connections of the class itself that may be queued beside those before it, by
 *	its minimum share; 0: it has none, or the queue is nearly empty
 * @low: least number of connections of any class queued lately
 * @interval_ns: from one departure to the next; 0: not known
 * @max_wait_ns: longest acceptable wait in a queue that stands; 0: any
 * @lull_ns: how long nothing had come before those of the present second did
 */
struct synq_law {
	u32 limit;
	u32 queued;
	u32 there;
	u32 ahead;
	u32 gone;
	u32 paced;
	u32 held;
	u32 held_gone;
	u32 held_kept;
	u32 hold_limit;
	u32 kept;
	u32 cap;
	u32 own;
	u32 due;
	u32 low;
	u32 interval_ns;
	u64 max_wait_ns;
	u64 lull_ns;
};

/**
 * enum synq_law_answer - the decision
 * @SYNQ_LAW_ADMIT: let through
 * @SYNQ_LAW_FULL: no room for the class in the queues
 * @SYNQ_LAW_LATE: it would wait for too long
 */
enum synq_law_answer {
	SYNQ_LAW_ADMIT,
	SYNQ_LAW_FULL,
	SYNQ_LAW_LATE,
};

enum synq_law_answer synq_law(const struct synq_law *law);

/**
 * synq_law_slack() - slots that are left to chance
 * @backlog: of the listener
 *
 * SYNs are refused so far below the limit of the gate, since nothing is foreseen exactly.
 *
 * Return: number
 */
static inline u32 synq_law_slack(u32 backlog)
{
	return max_t(u32, backlog / 16, clamp_t(u32, backlog / 5, 1, 3));
}

/**
 * synq_law_limit() - connections up to which a class is let in
 * @limit: up to which it is promoted
 * @backlog: of the listener
 *
 * Return: number, at least 1 if @limit is
 */
static inline u32 synq_law_limit(u32 limit, u32 backlog)
{
	return limit - min(limit / 3, synq_law_slack(backlog));
}

#endif /* _SYNQ_LAW_H */
