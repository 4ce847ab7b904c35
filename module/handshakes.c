// SPDX-License-Identifier: GPL-2.0
/*
 * Handshakes under way at one listener, by class: how many have begun, how many are half
 * open, and how many are expected to complete.  admission.c decides by it.
 *
 * A SYN that is let in takes the lock.  A SYN that is refused reads what publish() has
 * written, and takes the lock only if it is the first after the end of an epoch and the
 * lock is free.  N CPUs may let N - 1 too many through.
 *
 * A flood that is answered by cookies is let in, too.  So if hardly any handshake of a class
 * completes, each CPU counts its begins by itself and adds them some dozens at a time.  What
 * is not added yet is less than what is expected of as many.
 *
 * bench/begin_cost.c runs this file in user space.
 *
 * Called with BH off, if not said otherwise.
 */
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "handshakes.h"

/* Of a class that completes no more than a quarter, so many are told at a time, ... */
#define SELDOM		(SYNQ_FLIGHT_ONE / 4)
#define BATCH		64
/* ... or after so long. */
#define BATCH_NS	NSEC_PER_MSEC

/* So often synq_handshakes_settle() has anything to do. */
#define SETTLE_NS	(4 * NSEC_PER_MSEC)

/* So long are requests waited for that came before the listener was managed. */
#define UNSEEN_NS	NSEC_PER_SEC

static_assert(SYNQ_HANDSHAKES_CLASSES <= 32);	/* bits of synq_handshakes.busy */

/* Something was written to a flight, or time passed: what the test at the SYN reads. */
static void publish(struct synq_handshakes *shakes, u8 class)
{
	u32 expected = synq_flight_expected(&shakes->flight[class]);

	lockdep_assert_held(&shakes->lock);
	if (expected == shakes->expected[class])
		return;
	WRITE_ONCE(shakes->all_expected, shakes->all_expected -
		   shakes->expected[class] + expected);
	WRITE_ONCE(shakes->expected[class], expected);
}

static void publish_clock(struct synq_handshakes *shakes)
{
	WRITE_ONCE(shakes->due_ns, synq_flight_clock_end(&shakes->clock));
	WRITE_ONCE(shakes->least_ns, synq_flight_clock_least(&shakes->clock));
	WRITE_ONCE(shakes->mean_ns, shakes->clock.mean_ns);
}

/**
 * synq_handshakes_init() - nothing is known yet
 * @shakes: zero, but for @begun
 * @unseen: requests in the SYN queue
 * @now_ns: monotonic clock, ns
 */
void synq_handshakes_init(struct synq_handshakes *shakes, u32 unseen, u64 now_ns)
{
	u8 class;

	spin_lock_init(&shakes->lock);
	for (class = 0; class < SYNQ_HANDSHAKES_CLASSES; class++)
		synq_flight_init(&shakes->flight[class]);
	synq_flight_clock_init(&shakes->clock, now_ns);
	synq_halfopen_init(&shakes->halfopen, now_ns);
	shakes->since_ns = now_ns;
	shakes->unseen = unseen;
	publish_clock(shakes);
}

/**
 * synq_handshakes_forget() - other classes have the numbers of some that are gone
 * @shakes: of the listener
 * @classes: as bits
 *
 * A SYN that was judged by the snapshot before may still count for the wrong one.
 *
 * Context: also under other locks: @shakes' own is the innermost
 */
void synq_handshakes_forget(struct synq_handshakes *shakes, u32 classes)
{
	spin_lock_bh(&shakes->lock);
	for (; classes; classes &= classes - 1) {
		u8 class = __ffs(classes);

		synq_flight_init(&shakes->flight[class]);
		synq_halfopen_forget(&shakes->halfopen, class);
		WRITE_ONCE(shakes->idle_since_ns[class], 0);
		publish(shakes, class);
	}
	spin_unlock_bh(&shakes->lock);
}

static bool is_empty(const struct synq_flight *flight)
{
	return !flight->epoch[0].begun && !flight->epoch[1].begun;
}

/* One epoch at most: after a stall, the delayed ones are waited for once more. */
static void turn(struct synq_handshakes *shakes, u64 now_ns)
{
	u32 left;

	lockdep_assert_held(&shakes->lock);
	if (now_ns < shakes->due_ns)
		return;
	synq_flight_clock_turn(&shakes->clock, now_ns);
	for (left = shakes->busy; left; left &= left - 1) {
		u8 class = __ffs(left);

		synq_flight_turn(&shakes->flight[class]);
		publish(shakes, class);
		if (is_empty(&shakes->flight[class]))
			shakes->busy &= ~(1U << class);
	}
	if (shakes->unseen && now_ns > shakes->since_ns + UNSEEN_NS)
		WRITE_ONCE(shakes->unseen, 0);
	publish_clock(shakes);
}

/**
 * synq_handshakes_advance() - let time pass
 * @shakes: of the listener
 * @now_ns: monotonic clock, ns; may be of a moment ago
 */
void synq_handshakes_advance(struct synq_handshakes *shakes, u64 now_ns)
{
	if (now_ns < READ_ONCE(shakes->due_ns) || !spin_trylock_bh(&shakes->lock))
		return;
	turn(shakes, now_ns);
	spin_unlock_bh(&shakes->lock);
}

/**
 * synq_handshakes_settle() - compare what is half open with what the kernel has
 * @shakes: of the listener
 * @length: of its SYN queue
 * @now_ns: as for synq_handshakes_advance()
 */
void synq_handshakes_settle(struct synq_handshakes *shakes, u32 length, u64 now_ns)
{
	if (now_ns < READ_ONCE(shakes->settle_ns) ||
	    !spin_trylock_bh(&shakes->lock))
		return;
	synq_halfopen_settle(&shakes->halfopen, now_ns, length);
	WRITE_ONCE(shakes->settle_ns, now_ns + SETTLE_NS);
	spin_unlock_bh(&shakes->lock);
}

/* Counts it on this CPU.  Returns how many the others are to be told of. */
static u32 put_off(struct synq_handshakes *shakes, u8 class, u64 now_ns)
{
	struct synq_begun *begun = this_cpu_ptr(shakes->begun);
	u32 n = begun->n[class] + 1;

	if (n < BATCH && now_ns - begun->since_ns < BATCH_NS) {
		begun->n[class] = n;
		return 0;
	}
	begun->n[class] = 0;
	begun->since_ns = now_ns;
	return n;
}

/**
 * synq_handshakes_begin() - a SYN was let through to the listener, or answered by a
 * cookie
 * @shakes: of the listener
 * @class: of the SYN
 * @is_halfopen: it was let through, and takes a place in the SYN queue
 * @pace: how fast connections leave
 * @now_ns: monotonic clock, ns; as for synq_handshakes_advance()
 */
void synq_handshakes_begin(struct synq_handshakes *shakes, u8 class,
			   bool is_halfopen, struct synq_flight_pace pace,
			   u64 now_ns)
{
	struct synq_flight *flight = &shakes->flight[class];
	u32 n = 1;

	if (!is_halfopen && READ_ONCE(flight->ratio) <= SELDOM && shakes->begun) {
		n = put_off(shakes, class, now_ns);
		if (!n)
			return;
	}
	spin_lock(&shakes->lock);
	turn(shakes, now_ns);
	synq_flight_begin(flight, n);
	synq_flight_clock_pace(&shakes->clock, flight, n, pace, now_ns);
	if (is_halfopen)
		synq_halfopen_begin(&shakes->halfopen, class, now_ns);
	shakes->busy |= 1U << class;
	publish(shakes, class);
	spin_unlock(&shakes->lock);
}

/**
 * synq_handshakes_complete() - a connection asks to be promoted for the first time
 * @shakes: of the listener
 * @class: of the connection
 * @final: how it asks
 * @age_ns: since its SYN-ACK, if it is a request of the SYN queue
 * @is_timed: that was sent once only
 * @now_ns: monotonic clock, ns
 *
 * When the SYN of a cookie came is not known: as long ago as handshakes take.
 */
void synq_handshakes_complete(struct synq_handshakes *shakes, u8 class,
			      enum synq_final final, u64 age_ns, bool is_timed,
			      u64 now_ns)
{
	spin_lock(&shakes->lock);
	turn(shakes, now_ns);
	switch (final) {
	case SYNQ_FINAL_ACK:
		synq_halfopen_answered(&shakes->halfopen, class, now_ns, age_ns);
		/* After a retransmission it says nothing, as in Karn 1987. */
		if (is_timed)
			synq_flight_clock_add(&shakes->clock, age_ns);
		break;
	case SYNQ_FINAL_COOKIE:
		age_ns = shakes->clock.mean_ns;
		break;
	case SYNQ_FINAL_FASTOPEN:
		/* Let through a moment ago, and never in the SYN queue. */
		age_ns = 0;
		synq_halfopen_answered(&shakes->halfopen, class, now_ns, 0);
		break;
	}
	if (now_ns - age_ns < shakes->since_ns) {
		if (shakes->unseen)
			WRITE_ONCE(shakes->unseen, shakes->unseen - 1);
	} else {
		synq_flight_complete(&shakes->flight[class], &shakes->clock,
				     now_ns - age_ns);
		publish(shakes, class);
	}
	publish_clock(shakes);
	spin_unlock(&shakes->lock);
}
