/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshakes under way, and how many of them will complete.  See flight.c.
 */
#ifndef _SYNQ_FLIGHT_H
#define _SYNQ_FLIGHT_H

#include <linux/minmax.h>
#include <linux/types.h>

#define SYNQ_FLIGHT_ONE		65536	/* fractional part of a ratio */

/**
 * struct synq_flight_clock - how long the handshakes of a listener take
 * @mean_ns: smoothed time from SYN to final ACK
 * @deviation_ns: smoothed mean deviation of it
 * @samples: handshakes that these have been made of, up to a few
 * @since_ns: when the present epoch began
 * @before_ns: when the one before did
 * @served_ns: when those that were let in will all have been served, if they come as
 *	they were let in
 */
struct synq_flight_clock {
	u64 mean_ns;
	u64 deviation_ns;
	u32 samples;
	u64 since_ns;
	u64 before_ns;
	u64 served_ns;
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
			    u32 interval_ns, u32 pace_ns, u64 now_ns);

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
 * Context: any; callers exclude each other
 * Return: ns, at most 2 s
 */
static inline u32 synq_flight_clock_least(const struct synq_flight_clock *clock)
{
	return clock->mean_ns - min(clock->mean_ns, clock->deviation_ns);
}

#endif /* _SYNQ_FLIGHT_H */
