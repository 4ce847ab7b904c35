/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshakes under way, and how many of them will complete.  See flight.c.
 */
#ifndef _SYNQ_FLIGHT_H
#define _SYNQ_FLIGHT_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define SYNQ_FLIGHT_SLICES	32
#define SYNQ_FLIGHT_WINDOW	17	/* waited for, the present one too */
#define SYNQ_FLIGHT_BUNCH	4	/* that may complete at once, in any of them */
#define SYNQ_FLIGHT_ONE		256	/* fractional part of an expectation */

/**
 * struct synq_flight_clock - how long the handshakes of a listener take
 * @mean_ns: smoothed time from SYN to promotion
 * @deviation_ns: smoothed mean deviation of it
 * @slice_ns: a sixteenth of the time in which a handshake can be expected to
 *	complete
 * @epoch_ns: begin of slice 0
 * @seen_ns: when something happened last
 * @still_ns: when something happened after the machine had stood still; 0: never
 * @first_ns: when the first handshake of the present slice began; before the slice
 *	if none has
 * @samples: handshakes that the means have been made of, up to a few
 */
struct synq_flight_clock {
	u64 mean_ns;
	u64 deviation_ns;
	u64 slice_ns;
	u64 epoch_ns;
	u64 seen_ns;
	u64 still_ns;
	u64 first_ns;
	u32 samples;
};

/**
 * struct synq_flight - handshakes of one class at one listener
 * @epoch_ns: of the clock when the slices were filled
 * @slice: number of the present slice
 * @written: that in which one was begun or completed last
 * @used: places of slices that may have any, as bits; where none is, @open and
 *	@begun are 0
 * @ratio: of @resolved that are @completed, of SYNQ_FLIGHT_ONE
 * @waited: sum of @open, of the slices that are waited for
 * @resolved: handshakes whose time is over, of SYNQ_FLIGHT_ONE each; scaled down
 *	now and then
 * @completed: of those, completed; or a few more, whose own will be resolved later
 * @scaled: slice in which they were
 * @open: handshakes begun in a slice that have not completed; may be off by
 *	one between neighbours, hence below zero
 * @begun: handshakes begun in a slice
 */
struct synq_flight {
	u64 epoch_ns;
	u64 slice;
	u64 written;
	u32 used;
	u32 ratio;
	s64 waited;
	u64 resolved;
	u64 completed;
	u64 scaled;
	s32 open[SYNQ_FLIGHT_SLICES];
	u32 begun[SYNQ_FLIGHT_SLICES];
};

/**
 * struct synq_flight_outlook - what will happen while a handshake that begins now is
 * under way
 * @handshake_ns: how long that is at least, at most 4 s
 * @slice_ns: length of a slice
 * @phase_ns: since the present slice began, at most @slice_ns
 * @spread_ns: since the first of the present slice began; @phase_ns if none has
 * @interval_ns: from one departure to the next; 0: nobody knows, none leave
 * @bunch: so many may complete at once, in any slice; fewer than there are slots
 */
struct synq_flight_outlook {
	u64 handshake_ns;
	u64 slice_ns;
	u64 phase_ns;
	u64 spread_ns;
	u64 interval_ns;
	u32 bunch;
};

void synq_flight_clock_init(struct synq_flight_clock *clock, u64 now_ns);
void synq_flight_clock_add(struct synq_flight_clock *clock, u64 now_ns,
			   u64 age_ns);
void synq_flight_clock_see(struct synq_flight_clock *clock, u64 now_ns);
u64 synq_flight_clock_next(const struct synq_flight_clock *clock, u64 now_ns);

void synq_flight_init(struct synq_flight *flight);
void synq_flight_begin(struct synq_flight *flight,
		       struct synq_flight_clock *clock, u64 now_ns);
void synq_flight_complete(struct synq_flight *flight,
			  const struct synq_flight_clock *clock, u64 now_ns,
			  u64 age_ns);
void synq_flight_advance(struct synq_flight *flight,
			 const struct synq_flight_clock *clock, u64 now_ns);
bool synq_flight_is_idle(const struct synq_flight *flight);
u32 synq_flight_most(u32 expected, u32 open, u32 times);
void synq_flight_due(const struct synq_flight *flight, u32 ratio, u32 times,
		     u64 due[SYNQ_FLIGHT_WINDOW]);
void synq_flight_outlook_at(struct synq_flight_outlook *outlook, u64 next_ns,
			    u64 first_ns, u64 now_ns);
u32 synq_flight_forecast(const u64 due[SYNQ_FLIGHT_WINDOW], u32 queued,
			 const struct synq_flight_outlook *outlook);

/**
 * synq_flight_clock_least() - how long handshakes take at least
 * @clock: of a listener
 *
 * All but a few.  A machine that stands still for a moment makes them longer, and
 * the queue would be foreseen to be shorter when the next ones complete.
 *
 * Context: any; callers exclude each other
 * Return: ns
 */
static inline u64 synq_flight_clock_least(const struct synq_flight_clock *clock)
{
	return clock->mean_ns - min(clock->mean_ns, 2 * clock->deviation_ns);
}

/**
 * synq_flight_open() - handshakes that may still complete
 * @flight: advanced
 *
 * Context: any; callers exclude each other
 * Return: number
 */
static inline u32 synq_flight_open(const struct synq_flight *flight)
{
	return max_t(s64, flight->waited, 0);
}

/**
 * synq_flight_ratio() - how many of them will complete
 * @flight: advanced
 *
 * Context: any; callers exclude each other
 * Return: of SYNQ_FLIGHT_ONE
 */
static inline u32 synq_flight_ratio(const struct synq_flight *flight)
{
	return flight->ratio;
}

/**
 * synq_flight_expected() - how many of them will come
 * @open: synq_flight_open()
 * @ratio: synq_flight_ratio()
 *
 * synq_flight_forecast() adds no more to what is queued, whatever leaves meanwhile:
 * of a slice it expects the ratio of those begun less those that have completed, which
 * is no more than the ratio of those open.  Where more of a slice have completed than
 * were begun in it (they are off by one) it may add as many more.
 *
 * Context: any
 * Return: number
 */
static inline u32 synq_flight_expected(u32 open, u32 ratio)
{
	return div_u64((u64)open * ratio + SYNQ_FLIGHT_ONE - 1,
		       SYNQ_FLIGHT_ONE);
}

#endif /* _SYNQ_FLIGHT_H */
