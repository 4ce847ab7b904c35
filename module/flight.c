// SPDX-License-Identifier: GPL-2.0
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
 * An epoch ends when somebody looks after its time is over, and only one at a time: after
 * a machine has stood still, those that it has held up are waited for once more.
 *
 * Of those that are open as many are expected as completed of those whose time
 * is over, out of the last few hundred: a spoofed flood completes nothing, so it adds
 * nothing.  At first all are expected, and it takes some dozens to change that.
 *
 * Those that began at once come at once, however many leave until then.  So there is
 * another clock, which each that is let in puts forward by the time that the server takes
 * for it: the queue as it would be if everybody came when it is let in.
 *
 * It does not decide anything, read a clock or lock.  Pure.
 */
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "flight.h"

#define EPOCH_MIN_NS	(2ULL * NSEC_PER_MSEC)
#define EPOCH_MAX_NS	(2ULL * NSEC_PER_SEC)
#define MEAN_AT_FIRST	(100ULL * NSEC_PER_MSEC)
#define SAMPLES		16U	/* from then on each is a sixteenth */
#define PRIOR		64	/* that would have completed */
#define MEMORY		256

/**
 * synq_flight_clock_init() - nothing is known yet
 * @clock: of a listener
 * @now_ns: monotonic clock, ns
 *
 * Context: any
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
 * Context: any; callers exclude each other
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
 * Context: any; callers exclude each other
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
 * Context: any; callers exclude each other
 */
void synq_flight_clock_turn(struct synq_flight_clock *clock, u64 now_ns)
{
	clock->before_ns = clock->since_ns;
	clock->since_ns = now_ns;
}

/**
 * synq_flight_clock_pace() - some were let in
 * @clock: of their listener
 * @flight: handshakes of their class
 * @n: how many
 * @interval_ns: from one departure to the next while the queue is not empty; 0: not known
 * @pace_ns: the same of late, whether it is empty or not
 * @now_ns: monotonic clock, ns
 *
 * A little faster than they leave, since a server that is believed to be slower than it is
 * would not be asked for more; and twice as fast as ever where nobody knows how fast it is.
 *
 * Context: any; callers exclude each other
 */
void synq_flight_clock_pace(struct synq_flight_clock *clock,
			    const struct synq_flight *flight, u32 n,
			    u32 interval_ns, u32 pace_ns, u64 now_ns)
{
	u64 each = interval_ns ? (u64)interval_ns * 63 / 64 : pace_ns / 2;

	/* Below 2^32 * 2^16 * 64. */
	WRITE_ONCE(clock->served_ns, max(clock->served_ns, now_ns) +
				     each * flight->ratio * n / SYNQ_FLIGHT_ONE);
}

/**
 * synq_flight_init() - nothing is known yet
 * @flight: of a class
 *
 * Context: any
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
 * Context: any; callers exclude each other
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
 * Context: any; callers exclude each other
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
 * Context: any; callers exclude each other
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
 * Context: any; callers exclude each other
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
