// SPDX-License-Identifier: GPL-2.0
/*
 * Handshakes under way: SYNs let through whose connection has not come yet,
 * and how many of them will.
 *
 * Half-open requests cannot be counted by class from outside the kernel, and
 * most of them may be a flood's.  So the SYNs let through are counted by the
 * slice of time in which they came, and each completion is taken out of the
 * slice of its own SYN.  What is open in the last WINDOW slices may still
 * complete; what is older is not waited for.  The window is what the retransmission
 * timer of TCP would be (Jacobson 1988, RFC 6298): the mean time that handshakes
 * take plus four deviations.  A fixed second would count a flood's SYNs for so
 * long that they shut everybody out.
 *
 * A machine that stands still for a moment stops them all, and goes on with a crowd of
 * SYNs before the first of them completes.  So when nothing has happened for longer than
 * four slices, while it does slice by slice under load, those that were open before
 * count as begun just now.  But not again before all of these have been resolved, and
 * not after a second: then nobody came.
 *
 * Of those that are open as many are expected as completed of those whose time
 * is over, out of the last hundred or the last half second: a spoofed flood
 * completes nothing, so it adds nothing.  Nothing known, all are expected.
 *
 * Each SYN that is let through, and each final ACK, comes here, mostly to slices in
 * which nothing happened: only those in use are looked at.
 *
 * It does not decide anything, read a clock or lock.  Pure.
 */
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "flight.h"

#define WINDOW		(SYNQ_FLIGHT_WINDOW - 1)
#define SLICE_MIN_NS	(NSEC_PER_MSEC / 2)
#define SLICE_MAX_NS	(125ULL * NSEC_PER_MSEC)
#define STILL		4	/* slices */
#define STILL_MAX_NS	((u64)NSEC_PER_SEC)
#define MEAN_AT_FIRST	(100ULL * NSEC_PER_MSEC)
#define FIRST		8		/* from then on each is a sixteenth */
#define MEMORY		(128ULL * SYNQ_FLIGHT_ONE)
#define MEMORY_NS	(NSEC_PER_SEC / 2)
#define PRIOR		(8ULL * SYNQ_FLIGHT_ONE)	/* that would have completed */
#define SURPLUS		(8ULL * SYNQ_FLIGHT_ONE)	/* completed ahead of their own */

static u64 slice_for(const struct synq_flight_clock *clock)
{
	u64 window = clock->mean_ns + 4 * clock->deviation_ns;

	return clamp_t(u64, window / WINDOW, SLICE_MIN_NS, SLICE_MAX_NS);
}

/**
 * synq_flight_clock_init() - nothing is known yet
 * @clock: of a listener
 * @now_ns: monotonic clock, ns
 *
 * Context: any
 */
void synq_flight_clock_init(struct synq_flight_clock *clock, u64 now_ns)
{
	clock->mean_ns = MEAN_AT_FIRST;
	clock->deviation_ns = MEAN_AT_FIRST / 4;
	clock->slice_ns = slice_for(clock);
	clock->epoch_ns = now_ns;
	clock->seen_ns = now_ns;
}

/* All that are open count as begun now. */
static void begin_anew(struct synq_flight_clock *clock, u64 now_ns)
{
	clock->epoch_ns = now_ns;
	WRITE_ONCE(clock->first_ns, now_ns);
}

/**
 * synq_flight_clock_see() - something happens
 * @clock: of a listener
 * @now_ns: monotonic clock, ns
 *
 * To be called first of all, once in a slice at least if anything happens in it.
 *
 * Context: any; callers exclude each other, and those of the flights
 */
void synq_flight_clock_see(struct synq_flight_clock *clock, u64 now_ns)
{
	u64 still = now_ns - min(clock->seen_ns, now_ns);

	if (still > STILL * clock->slice_ns && still < STILL_MAX_NS &&
	    clock->seen_ns >= clock->still_ns +
			      SYNQ_FLIGHT_SLICES * clock->slice_ns) {
		clock->still_ns = now_ns;
		begin_anew(clock, now_ns);
	}
	clock->seen_ns = max(clock->seen_ns, now_ns);
}

/**
 * synq_flight_clock_add() - a handshake completed, without retransmission
 * @clock: of its listener
 * @now_ns: monotonic clock, ns
 * @age_ns: since its SYN
 *
 * The first ones count for more, as they would in a mean of them and of what is
 * assumed.  The length of a slice changes only if it is off by more than a third, since
 * all flights begin their slices anew then.
 *
 * Context: any; callers exclude each other, and those of the flights
 */
void synq_flight_clock_add(struct synq_flight_clock *clock, u64 now_ns,
			   u64 age_ns)
{
	unsigned int gain;
	u64 deviation, slice;

	age_ns = min_t(u64, age_ns, WINDOW * SLICE_MAX_NS);
	deviation = age_ns > clock->mean_ns ? age_ns - clock->mean_ns :
					      clock->mean_ns - age_ns;
	clock->samples += clock->samples < FIRST;
	gain = fls64(clock->samples);
	clock->mean_ns -= clock->mean_ns >> gain;
	clock->mean_ns += age_ns >> gain;
	clock->deviation_ns -= clock->deviation_ns >> gain;
	clock->deviation_ns += deviation >> gain;
	slice = slice_for(clock);
	if (3 * slice > 4 * clock->slice_ns || 4 * slice < 3 * clock->slice_ns) {
		clock->slice_ns = slice;
		begin_anew(clock, now_ns);
	}
}

/**
 * synq_flight_init() - nothing is known yet
 * @flight: zero
 *
 * Context: any
 */
void synq_flight_init(struct synq_flight *flight)
{
	flight->resolved = PRIOR;
	flight->completed = PRIOR;
	flight->ratio = SYNQ_FLIGHT_ONE;
	flight->written = -(u64)SYNQ_FLIGHT_SLICES;
}

static unsigned int at(u64 slice)
{
	return slice % SYNQ_FLIGHT_SLICES;
}

static_assert(SYNQ_FLIGHT_SLICES == 32);	/* as many as a u32 has bits */

/* The places of the last @n slices up to @slice, 1 to all, as bits. */
static u32 places(u64 slice, u32 n)
{
	return rol32(~0U >> (SYNQ_FLIGHT_SLICES - n), at(slice + 1 - n));
}

static void use(struct synq_flight *flight, u64 slice)
{
	WRITE_ONCE(flight->used, flight->used | 1U << at(slice));
	flight->written = flight->slice;
}

/*
 * The time of a slice is over.  What has completed and was taken for the slice's beside
 * it is missing in one of them, and too many in the other: so either counts.
 */
static void resolve(struct synq_flight *flight, unsigned int i)
{
	s64 completed = (s64)flight->begun[i] - flight->open[i];

	flight->resolved += (u64)flight->begun[i] * SYNQ_FLIGHT_ONE;
	flight->completed += max_t(s64, completed, 0) * SYNQ_FLIGHT_ONE;
	flight->open[i] = 0;
	flight->begun[i] = 0;
}

/* The next @steps slices come: those before the window are not waited for any more. */
static void wait_no_more(struct synq_flight *flight, u32 steps)
{
	u32 n = min_t(u32, steps, SYNQ_FLIGHT_WINDOW);
	u32 left = flight->used & places(flight->slice + n - SYNQ_FLIGHT_WINDOW, n);

	for (; left; left &= left - 1)
		flight->waited -= flight->open[__ffs(left)];
}

/* That of all in some places is.  Returns false if there are none. */
static bool resolve_all(struct synq_flight *flight, u32 over)
{
	u32 left;

	for (left = over; left; left &= left - 1)
		resolve(flight, __ffs(left));
	flight->completed = min(flight->completed, flight->resolved + SURPLUS);
	return over;
}

/*
 * What is older than a hundred handshakes and half a second counts less.  Returns
 * true if it did.
 */
static bool forget(struct synq_flight *flight,
		   const struct synq_flight_clock *clock)
{
	if (flight->resolved <= 2 * MEMORY ||
	    (flight->slice - flight->scaled) * clock->slice_ns < MEMORY_NS)
		return false;
	flight->completed = div64_u64(flight->completed * MEMORY,
				      flight->resolved);
	flight->resolved = MEMORY;
	flight->scaled = flight->slice;
	return true;
}

/* Slices of another length: what is open counts as begun just now. */
static noinline void rebase(struct synq_flight *flight,
			    const struct synq_flight_clock *clock)
{
	s64 open = 0;
	u32 begun = 0;
	unsigned int i;

	for (i = 0; i < SYNQ_FLIGHT_SLICES; i++) {
		open += flight->open[i];
		begun += flight->begun[i];
		flight->open[i] = 0;
		flight->begun[i] = 0;
	}
	flight->epoch_ns = clock->epoch_ns;
	flight->slice = 0;
	flight->scaled = 0;
	flight->written = 0;
	WRITE_ONCE(flight->used, 1);
	flight->waited = open;
	flight->open[0] = open;
	flight->begun[0] = begun;
}

static u64 slice_of(const struct synq_flight_clock *clock, u64 ns)
{
	return ns > clock->epoch_ns ?
		div64_u64(ns - clock->epoch_ns, clock->slice_ns) : 0;
}

/**
 * synq_flight_clock_next() - when the next slice begins
 * @clock: of a listener
 * @now_ns: monotonic clock, ns
 *
 * Context: any; callers exclude each other, and those of the flights
 * Return: monotonic clock, ns
 */
u64 synq_flight_clock_next(const struct synq_flight_clock *clock, u64 now_ns)
{
	return clock->epoch_ns + (slice_of(clock, now_ns) + 1) * clock->slice_ns;
}

static noinline void advance_to(struct synq_flight *flight,
				const struct synq_flight_clock *clock, u64 now)
{
	u32 steps, over;
	bool changed;

	steps = min_t(u64, now - flight->slice, SYNQ_FLIGHT_SLICES);
	wait_no_more(flight, steps);
	over = flight->used & places(now, steps);
	WRITE_ONCE(flight->used, flight->used & ~over);
	changed = resolve_all(flight, over);
	flight->slice = now;
	changed |= forget(flight, clock);
	if (changed)
		flight->ratio = div64_u64(min(flight->completed, flight->resolved) *
					  SYNQ_FLIGHT_ONE, flight->resolved);
}

/* Mostly there is nothing to do. */
static void advance(struct synq_flight *flight,
		    const struct synq_flight_clock *clock, u64 now_ns)
{
	u64 now;

	if (flight->epoch_ns != clock->epoch_ns)
		rebase(flight, clock);
	now = slice_of(clock, now_ns);
	if (now > flight->slice)
		advance_to(flight, clock, now);
}

/**
 * synq_flight_advance() - let time pass
 * @flight: handshakes of a class
 * @clock: of its listener
 * @now_ns: monotonic clock, ns
 *
 * Context: any; callers exclude each other
 */
void synq_flight_advance(struct synq_flight *flight,
			 const struct synq_flight_clock *clock, u64 now_ns)
{
	advance(flight, clock, now_ns);
}

/**
 * synq_flight_begin() - a SYN was let through
 * @flight: handshakes of its class
 * @clock: of its listener
 * @now_ns: monotonic clock, ns
 *
 * Context: any; callers exclude each other
 */
void synq_flight_begin(struct synq_flight *flight,
		       struct synq_flight_clock *clock, u64 now_ns)
{
	advance(flight, clock, now_ns);
	if (clock->first_ns < clock->epoch_ns + flight->slice * clock->slice_ns)
		WRITE_ONCE(clock->first_ns, now_ns);
	flight->waited++;
	flight->open[at(flight->slice)]++;
	flight->begun[at(flight->slice)]++;
	use(flight, flight->slice);
}

/**
 * synq_flight_complete() - the connection of a SYN wants to be promoted
 * @flight: handshakes of its class
 * @clock: of its listener
 * @now_ns: monotonic clock, ns
 * @age_ns: since its SYN
 *
 * One that comes after its slice has been resolved is not counted: it was
 * given up, and says nothing about the present.
 *
 * Context: any; callers exclude each other
 */
void synq_flight_complete(struct synq_flight *flight,
			  const struct synq_flight_clock *clock, u64 now_ns,
			  u64 age_ns)
{
	u64 slice;

	advance(flight, clock, now_ns);
	slice = age_ns < now_ns ? slice_of(clock, now_ns - age_ns) : 0;
	if (slice + SYNQ_FLIGHT_SLICES <= flight->slice)
		return;
	if (slice + SYNQ_FLIGHT_WINDOW > flight->slice)
		flight->waited--;
	flight->open[at(slice)]--;
	use(flight, slice);
}

/**
 * synq_flight_is_idle() - is nothing left that time could resolve?
 * @flight: handshakes of a class
 *
 * Then none is open, and synq_flight_advance() may wait for the next to begin.
 *
 * Context: any; callers exclude each other
 * Return: true if so
 */
bool synq_flight_is_idle(const struct synq_flight *flight)
{
	return flight->slice - flight->written >= SYNQ_FLIGHT_SLICES;
}

/**
 * synq_flight_most() - the same, if many more come than expected
 * @expected: synq_flight_expected()
 * @open: synq_flight_open()
 * @times: as of synq_flight_due()
 *
 * Context: any
 * Return: number
 */
u32 synq_flight_most(u32 expected, u32 open, u32 times)
{
	return min_t(u64, open, (u64)expected * times);
}

/**
 * synq_flight_due() - when the handshakes under way will complete
 * @flight: advanced
 * @ratio: how many of those begun do, of SYNQ_FLIGHT_ONE
 * @times: so many times as many as are expected, but no more than are open
 * @due: by age in slices, connections that will come, of SYNQ_FLIGHT_ONE each;
 *	is added to
 *
 * Of a slice most of those that will complete may have done so: what is left of a
 * flood will not.
 *
 * Context: any; if others write to @flight meanwhile, a few may be missed
 */
void synq_flight_due(const struct synq_flight *flight, u32 ratio, u32 times,
		     u64 due[SYNQ_FLIGHT_WINDOW])
{
	u64 now = READ_ONCE(flight->slice);
	u32 used = READ_ONCE(flight->used) & places(now, SYNQ_FLIGHT_WINDOW);

	for (; used; used &= used - 1) {
		unsigned int place = __ffs(used), age = at(now - place);
		s64 begun = READ_ONCE(flight->begun[place]);
		s64 open = READ_ONCE(flight->open[place]);
		s64 left = begun * ratio - (begun - open) * SYNQ_FLIGHT_ONE;

		due[age] += max_t(s64, 0, min(times * left,
					      open * SYNQ_FLIGHT_ONE));
	}
}

static u64 departures(u64 ns, u64 interval_ns)
{
	return interval_ns ? div64_u64(ns * SYNQ_FLIGHT_ONE, interval_ns) : 0;
}

/**
 * synq_flight_outlook_at() - where in its slice a SYN comes
 * @outlook: @slice_ns is known
 * @next_ns: end of the slice to which the flights have advanced; it may be over
 * @first_ns: of struct synq_flight_clock, or of a moment ago
 * @now_ns: monotonic clock, ns
 *
 * Context: any
 */
void synq_flight_outlook_at(struct synq_flight_outlook *outlook, u64 next_ns,
			    u64 first_ns, u64 now_ns)
{
	u64 left = next_ns - min(next_ns, now_ns);

	outlook->phase_ns = outlook->slice_ns - min(left, outlook->slice_ns);
	outlook->spread_ns = min(outlook->phase_ns,
				 now_ns - min(now_ns, first_ns));
}

/**
 * synq_flight_forecast() - how many will be queued when one that begins now
 * completes
 * @due: what will come until then, by age in slices
 * @queued: now
 * @outlook: how long that is, and how many the server takes out
 *
 * Handshakes complete in the order and at the intervals in which they began;
 * what is older than they take comes at once.  Not the same as a sum: many that
 * began at once will find a full queue where the same number, one by one, find
 * an empty one.
 *
 * Those of a slice come evenly, those of the present one since its first, but for a
 * bunch at its end: in a slice as many may leave as a short queue has slots, or more.
 * Were all of them to come at its end, nobody would be let through who is far away, or
 * many at the beginning of a slice.
 *
 * Context: any
 * Return: number
 */
u32 synq_flight_forecast(const u64 due[SYNQ_FLIGHT_WINDOW], u32 queued,
			 const struct synq_flight_outlook *outlook)
{
	u64 interval_ns = outlook->interval_ns;
	u64 all = departures(outlook->handshake_ns, interval_ns);
	u64 slice = departures(outlook->slice_ns, interval_ns);
	u64 phase = departures(outlook->phase_ns, interval_ns);
	u64 spread = departures(outlook->spread_ns, interval_ns);
	u64 bunch = (u64)outlook->bunch * SYNQ_FLIGHT_ONE;
	u64 length = (u64)queued * SYNQ_FLIGHT_ONE, gone = 0;
	unsigned int age = SYNQ_FLIGHT_WINDOW;

	while (age--) {
		u64 after = age ? phase + (age - 1) * slice : 0;
		u64 before = all - min(all, after);

		if (!age) {
			u64 until = all - min(all, spread);

			length -= min(length, until - gone);
			gone = until;
		}
		length += due[age];
		length -= min(length, before - gone);
		length = max(length, min(due[age], bunch));
		gone = before;
	}
	return div_u64(length + SYNQ_FLIGHT_ONE / 2, SYNQ_FLIGHT_ONE);
}
