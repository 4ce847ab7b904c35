// SPDX-License-Identifier: GPL-2.0
/*
 * The law of admission: may one more handshake of a class begin?
 *
 * Two numbers decide: how fast connections leave the queue, and how many will be ahead of
 * this one: those that are queued or held, and the handshakes under way that will complete.
 * What leaves until its own handshake completes is subtracted.
 *
 * No, if that reaches the limit of the class, or the class its cap.  (Slots that are kept
 * for the class are always there.)  Where more are on their way than there are slots they
 * must not come at once, either.  Where connections wait that are held, a class and those before
 * it must fit there, too.
 *
 * And no, if the connection would wait for too long: the server takes one out
 * every interval, so with N ahead of it the wait is N intervals.  A floor
 * keeps a very slow server busy.  But a class that has a minimum share may have
 * what it is due beside those before it, and half as many more for its next turns, as it
 * has slots, however long they make it wait: were it refused for that, it would not get
 * its share.
 *
 * That is about a standing queue.  One that was short a moment ago absorbs a burst,
 * which is what queues are for (Nichols and Jacobson 2012).  The client of a refused
 * SYN comes back after a second (RFC 6298), so refusing one that would be served within
 * that time gains nothing.  Some of a crowd come back later, at 7, 11 and 19 s.  So
 * where nothing had come for longer than a second, as many are let in as keep the
 * server busy for as long again, up to a limit.
 *
 * What the law gets wrong is held for a moment (hold.c).
 *
 * The law is the same for the kernel and for bench/admission_sim.c.  Pure.
 */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "law.h"

/*
 * Handshakes under way: SYNs let through whose connection has not come yet,
 * and how many of them will.
 *
 * Half-open requests cannot be counted by class from outside the kernel, and
 * most of them may be a flood's.  So the SYNs let through are counted by the epoch
 * in which they came, and each completion is taken out of the epoch of its own SYN.
 * What is open in the present epoch and the one before may still complete; what is
 * older is not waited for.  An epoch takes what the retransmission timer of TCP would
 * (Jacobson 1988, RFC 6298): the mean time that handshakes take plus four deviations.
 *
 * An epoch ends at the first look after its time is over, and only one epoch ends then:
 * after a stall, the handshakes that it delayed are waited for once more.
 *
 * Of those that are open as many are expected as completed of those whose time
 * is over, out of the last few hundred: a spoofed flood completes nothing, so it adds
 * nothing.  At first all are expected, and it takes some dozens to change that.
 *
 * Those that began at once come at once, however many leave until then.  So those that are
 * let in are counted, less what the server takes out meanwhile: the queue as it would be if
 * connections came when they are let in.
 *
 * It does not decide anything, read a clock or lock.  Pure.
 */

#define EPOCH_MIN_NS	(2ULL * NSEC_PER_MSEC)
#define EPOCH_MAX_NS	(2ULL * NSEC_PER_SEC)
#define MEAN_AT_FIRST	(100ULL * NSEC_PER_MSEC)
#define SAMPLES		16U	/* from then on each is a sixteenth */
#define PRIOR		64	/* that would have completed */
#define MEMORY		256
#define FORGOTTEN_NS	BIT_ULL(47)

/**
 * synq_flight_clock_init() - nothing is known yet
 * @clock: of a listener
 * @now_ns: monotonic clock, ns
 */
void synq_flight_clock_init(struct synq_flight_clock *clock, u64 now_ns)
{
	*clock = (struct synq_flight_clock){
		.mean_ns = MEAN_AT_FIRST,
		.deviation_ns = MEAN_AT_FIRST / 4,
		.since_ns = now_ns,
		.before_ns = now_ns,
	};
}

static u64 towards(u64 mean, u64 value, u32 gain)
{
	return value > mean ? mean + div_u64(value - mean, gain) :
			      mean - div_u64(mean - value, gain);
}

/**
 * synq_flight_clock_add() - a handshake completed, without retransmission
 * @clock: of its listener
 * @age_ns: since its SYN
 *
 * The first ones are a plain mean.
 *
 * Context: callers exclude each other
 */
void synq_flight_clock_add(struct synq_flight_clock *clock, u64 age_ns)
{
	u64 deviation;

	age_ns = min_t(u64, age_ns, EPOCH_MAX_NS);
	deviation = age_ns > clock->mean_ns ? age_ns - clock->mean_ns :
					      clock->mean_ns - age_ns;
	clock->samples = min(clock->samples + 1, SAMPLES);
	clock->mean_ns = towards(clock->mean_ns, age_ns, clock->samples);
	clock->deviation_ns = towards(clock->deviation_ns, deviation,
				      clock->samples);
}

/**
 * synq_flight_clock_end() - when the time of the present epoch is over
 * @clock: of a listener
 *
 * Context: callers exclude each other
 * Return: monotonic clock, ns
 */
u64 synq_flight_clock_end(const struct synq_flight_clock *clock)
{
	return clock->since_ns + clamp_t(u64, clock->mean_ns + 4 * clock->deviation_ns,
					 EPOCH_MIN_NS, EPOCH_MAX_NS);
}

/**
 * synq_flight_clock_turn() - the next epoch begins
 * @clock: of a listener; its flights turn, too
 * @now_ns: monotonic clock, ns
 *
 * Context: callers exclude each other
 */
void synq_flight_clock_turn(struct synq_flight_clock *clock, u64 now_ns)
{
	clock->before_ns = clock->since_ns;
	clock->since_ns = now_ns;
}

/* What is left of those that were let in. */
static u64 paced_at(const struct synq_flight_clock *clock, struct synq_flight_pace pace,
		    u64 now_ns)
{
	u32 each_ns = pace.interval_ns ?: pace.pace_ns;
	u64 paced = READ_ONCE(clock->paced), since_ns = READ_ONCE(clock->paced_ns);
	u64 ns = now_ns - min(since_ns, now_ns);

	if (!each_ns)
		return 0;
	return paced - min(paced, div_u64(min(ns, FORGOTTEN_NS) * SYNQ_FLIGHT_ONE, each_ns));
}

/**
 * synq_flight_clock_pace() - some were let in
 * @clock: of their listener
 * @flight: handshakes of their class
 * @n: how many
 * @pace: how fast they leave
 * @now_ns: monotonic clock, ns
 *
 * A little fewer than they are, since a server that is believed to be slower than it is
 * would not be asked for more; and half of them where its speed is not known.
 *
 * Never more than there can be: of those who complete and are gone at once there may be any
 * number, and they leave sooner than the server takes others.
 *
 * Context: callers exclude each other
 */
void synq_flight_clock_pace(struct synq_flight_clock *clock,
			    const struct synq_flight *flight, u32 n,
			    struct synq_flight_pace pace, u64 now_ns)
{
	u64 paced = paced_at(clock, pace, now_ns);

	if (pace.interval_ns)
		paced += (u64)flight->ratio * n * 63 / 64;
	else if (pace.pace_ns)
		paced += (u64)flight->ratio * n / 2;
	WRITE_ONCE(clock->paced, min(paced, (u64)SYNQ_FLIGHT_ONE * pace.most));
	/* The time may be one of a moment ago: nothing leaves twice. */
	WRITE_ONCE(clock->paced_ns, max(clock->paced_ns, now_ns));
}

/**
 * synq_flight_clock_paced() - how many would be queued if they came as they were let in
 * @clock: of a listener
 * @pace: how fast they leave
 * @now_ns: monotonic clock, ns; may be of a moment ago
 *
 * Context: any; what is read may be a little old
 * Return: connections
 */
u32 synq_flight_clock_paced(const struct synq_flight_clock *clock,
			    struct synq_flight_pace pace, u64 now_ns)
{
	return paced_at(clock, pace, now_ns) / SYNQ_FLIGHT_ONE;
}

/**
 * synq_flight_init() - nothing is known yet
 * @flight: of a class
 */
void synq_flight_init(struct synq_flight *flight)
{
	*flight = (struct synq_flight){
		.resolved = PRIOR,
		.completed = PRIOR,
		.ratio = SYNQ_FLIGHT_ONE,
	};
}

/**
 * synq_flight_begin() - SYNs were let through
 * @flight: handshakes of their class
 * @n: how many
 *
 * Context: callers exclude each other
 */
void synq_flight_begin(struct synq_flight *flight, u32 n)
{
	flight->epoch[0].begun += n;
	flight->epoch[0].open += n;
}

/**
 * synq_flight_complete() - the connection of a SYN wants to be promoted
 * @flight: handshakes of its class
 * @clock: of its listener
 * @begun_ns: when its SYN came, monotonic clock, ns
 *
 * One that is not waited for any more says nothing about the present.
 *
 * Context: callers exclude each other
 */
void synq_flight_complete(struct synq_flight *flight,
			  const struct synq_flight_clock *clock, u64 begun_ns)
{
	if (begun_ns >= clock->since_ns)
		flight->epoch[0].open--;
	else if (begun_ns >= clock->before_ns)
		flight->epoch[1].open--;
}

/**
 * synq_flight_turn() - the next epoch begins
 * @flight: handshakes of a class
 *
 * Context: callers exclude each other
 */
void synq_flight_turn(struct synq_flight *flight)
{
	struct synq_flight_epoch *over = &flight->epoch[1];

	if (over->begun) {
		if (flight->resolved > MEMORY) {
			flight->resolved /= 2;
			flight->completed /= 2;
		}
		flight->resolved += over->begun;
		flight->completed += over->begun -
				     clamp_t(s64, over->open, 0, over->begun);
		flight->ratio = div_u64((u64)flight->completed * SYNQ_FLIGHT_ONE,
					flight->resolved);
	}
	*over = flight->epoch[0];
	flight->epoch[0] = (struct synq_flight_epoch){ 0 };
}

/**
 * synq_flight_expected() - how many of those under way will come
 * @flight: handshakes of a class
 *
 * Most of those that will may have come: what is left of a flood will not.
 *
 * Context: callers exclude each other
 * Return: number
 */
u32 synq_flight_expected(const struct synq_flight *flight)
{
	const struct synq_flight_epoch *epoch = flight->epoch;
	u64 begun = (u64)epoch[0].begun + epoch[1].begun;
	s64 completed = begun - epoch[0].open - epoch[1].open;
	s64 left = begun * flight->ratio - completed * SYNQ_FLIGHT_ONE;

	return left > 0 ? div_u64(left + SYNQ_FLIGHT_ONE - 1, SYNQ_FLIGHT_ONE) : 0;
}

/*
 * The drain rate of an accept queue: how fast the server takes connections out
 * while there are some.  An idle server says nothing about what it could do, so
 * only time in which the queue is never empty counts.
 *
 * A sample is taken at every append.  Between two appends a queue only shrinks:
 * if it was not empty before the second, it was not in between, and the time
 * counts.  A run of such samples is a span.
 *
 * A short span is misleading.  Whether the queue is still not empty at the next
 * append depends on how fast the server was: short spans are those in which it
 * was slow.  So a span counts from SPAN_MIN departures on.  Before, from the first
 * departure, it says that the server is hardly faster than one more in the time
 * that has passed: enough to notice one that is very slow.  Without a departure
 * it says nothing for PAUSE_NS, since servers pause; then, that it has stopped.
 *
 * What counts goes into a window, closed after WINDOW_NS and SPAN_MIN
 * departures; the estimate is over the present window and the one before.  It
 * follows a change of the server's capacity in two windows: half a second, or
 * 16 departures.
 *
 * A server is never slower than its pace: what left lately, whether the queue was empty
 * or not.  One that was very slow, and is fast now, would stay slow in our eyes: few are
 * let in, and so its queue is always empty.  And as it was idle meanwhile it can do more
 * than that: it is taken for a quarter faster, until a span says how fast it is.
 *
 * It does not decide anything, read a clock or lock: acceptq.c calls it under
 * the lock of the queue.  Pure.
 */

#define SPAN_MIN	8			/* departures */
#define WINDOW_NS	(NSEC_PER_SEC / 4)
#define FLOW_NS		(NSEC_PER_SEC / 4)
#define LOW_NS		NSEC_PER_SEC
#define PAUSE_NS	NSEC_PER_SEC

static void add(struct synq_drain_window *to, u64 ns, u64 departed)
{
	to->ns += ns;
	to->departed += departed;
}

static u64 interval_of(const struct synq_drain_window *window)
{
	return max_t(u64, div64_u64(window->ns, window->departed), 1);
}

/* Of both windows; 0: none has counted yet. */
static u64 known(const struct synq_drain *drain)
{
	struct synq_drain_window both = drain->known[0];

	add(&both, drain->known[1].ns, drain->known[1].departed);
	return both.departed ? interval_of(&both) : 0;
}

static void add_to_known(struct synq_drain *drain, u64 ns, u64 departed)
{
	struct synq_drain_window *present = &drain->known[0];

	if (present->ns >= WINDOW_NS && present->departed >= SPAN_MIN) {
		drain->known[1] = *present;
		*present = (struct synq_drain_window){ 0 };
	}
	add(present, ns, departed);
}

static void keep_span(struct synq_drain *drain, u64 ns, u32 before, u32 departed)
{
	if (!before) {
		drain->span = (struct synq_drain_window){ 0 };
		drain->counts = false;
		return;
	}
	add(&drain->span, ns, departed);
	if (drain->counts) {
		add_to_known(drain, ns, departed);
	} else if (drain->span.departed >= SPAN_MIN) {
		drain->counts = true;
		add_to_known(drain, drain->span.ns, drain->span.departed);
	}
}

static void keep_pace(struct synq_drain *drain, u64 ns, u32 before, u32 departed)
{
	struct synq_drain_window *flow = &drain->flow;
	u64 pace;

	add(flow, ns, departed);
	drain->idled |= !before;
	if (flow->ns < FLOW_NS)
		return;
	if (flow->departed < SPAN_MIN) {
		pace = div64_u64(flow->ns, flow->departed + 1);
		pace = max_t(u64, pace, drain->pace_ns);
	} else {
		pace = interval_of(flow);
		if (drain->idled && pace < known(drain)) {
			drain->known[0] = *flow;
			drain->known[0].ns = flow->ns * 4 / 5;
			drain->known[1] = (struct synq_drain_window){ 0 };
		}
		*flow = (struct synq_drain_window){ 0 };
		drain->idled = false;
	}
	WRITE_ONCE(drain->pace_ns, min_t(u64, pace, U32_MAX));
}

static u32 estimate(const struct synq_drain *drain)
{
	const struct synq_drain_window *span = &drain->span;
	u64 interval = known(drain);

	if (!drain->counts && (span->departed || span->ns >= PAUSE_NS))
		interval = max(interval, div64_u64(span->ns, span->departed + 1));
	return min_t(u64, interval, U32_MAX);
}

/*
 * The least number queued, of this second and of the one before; and how long nothing had
 * arrived before it.
 */
static void keep_low(struct synq_drain *drain, u64 now_ns, u64 ns, u32 before)
{
	u64 since = now_ns - drain->low_since_ns;

	if (since < LOW_NS) {
		drain->low_present = min(drain->low_present, before);
	} else {
		drain->low_before = since < 2 * LOW_NS ? drain->low_present :
							 before;
		drain->low_present = before;
		drain->low_since_ns = now_ns;
		WRITE_ONCE(drain->lull_ns, min_t(u64, ns, U32_MAX));
	}
	WRITE_ONCE(drain->low, min(drain->low_present, drain->low_before));
}

/**
 * synq_drain_sample() - a connection was appended to the queue
 * @drain: of the queue
 * @now_ns: monotonic clock, ns, not 0
 * @before: connections that were queued just before
 * @departed: connections that have left since the last sample
 *
 * Context: callers exclude each other
 */
void synq_drain_sample(struct synq_drain *drain, u64 now_ns, u32 before,
		       u32 departed)
{
	bool follows = drain->last_ns && now_ns > drain->last_ns;
	u64 ns = follows ? now_ns - drain->last_ns : 0;

	keep_span(drain, ns, follows ? before : 0, departed);
	if (follows)
		keep_pace(drain, ns, before, departed);
	keep_low(drain, now_ns, ns, before);
	WRITE_ONCE(drain->last_ns, now_ns);
	/* Pairs with READ_ONCE() in admission.c; no order needed. */
	WRITE_ONCE(drain->interval_ns, estimate(drain));
}

#define FLOOR		3U	/* connections: so few keep the server busy */
#define PATIENCE_NS	((u64)NSEC_PER_SEC)
#define PATIENCE_MAX_NS	(4 * PATIENCE_NS)
#define STANDING	8	/* the part of the room that it then never leaves */

static u32 left_of(u32 connections, u32 gone)
{
	return connections - min(connections, gone);
}

/* Even if those leave that will until then, or if they come at once? */
static bool reaches(const struct synq_law *law, u32 connections, u32 limit)
{
	u32 gone = max(law->gone, law->held_gone);

	return connections >= limit &&
	       (left_of(connections, gone) >= limit || law->paced >= limit);
}

/* May it have this beside those before it? */
static bool is_due(const struct synq_law *law)
{
	return law->due && law->own < law->due + law->due / 2 + FLOOR;
}

static bool is_hold_full(const struct synq_law *law)
{
	return law->hold_limit && law->own >= law->held_kept && !is_due(law) &&
	       reaches(law, law->held, law->hold_limit);
}

static bool is_full(const struct synq_law *law)
{
	if (law->cap && law->own >= law->cap)
		return true;
	/* A few that may never come shall not keep an empty queue empty. */
	if (!law->there && law->queued < FLOOR)
		return false;
	if (is_hold_full(law))
		return true;
	return law->own >= law->kept && reaches(law, law->queued, law->limit);
}

static u64 room(const struct synq_law *law, u64 wait_ns)
{
	return max_t(u64, div_u64(wait_ns, law->interval_ns), FLOOR);
}

static u64 patience(const struct synq_law *law)
{
	return clamp_t(u64, law->lull_ns, PATIENCE_NS, PATIENCE_MAX_NS);
}

static bool is_late(const struct synq_law *law)
{
	u64 most;

	if (!law->max_wait_ns || !law->interval_ns)
		return false;
	if (is_due(law))
		return false;
	most = room(law, law->max_wait_ns);
	if (STANDING * (u64)law->low < most)
		most = max(most, room(law, patience(law)));
	return left_of(law->ahead, law->gone) >= most;
}

/**
 * synq_law() - decide
 * @law: the state of the listener, as its class sees it
 *
 * Return: what to do with the SYN, the reason if it is to be refused
 */
enum synq_law_answer synq_law(const struct synq_law *law)
{
	if (is_full(law))
		return SYNQ_LAW_FULL;
	return is_late(law) ? SYNQ_LAW_LATE : SYNQ_LAW_ADMIT;
}
