/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshakes under way at one listener, by class.  See handshakes.c.
 */
#ifndef _SYNQ_HANDSHAKES_H
#define _SYNQ_HANDSHAKES_H

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include "halfopen.h"
#include "law.h"

#define SYNQ_HANDSHAKES_CLASSES	SYNQ_HALFOPEN_CLASSES

/**
 * struct synq_begun - begun on one CPU, and not told to the others yet
 * @since_ns: since when
 * @n: by class
 */
struct synq_begun {
	u64 since_ns;
	u32 n[SYNQ_HANDSHAKES_CLASSES];
};

/**
 * struct synq_handshakes - handshakes of one listener
 * @lock: protects @clock, @busy, @flight and @halfopen, and writers of the rest
 * @clock: how long they take
 * @busy: classes whose @flight may have anything that time resolves, as bits
 * @since_ns: since when the listener is managed
 * @flight: by class; ratios may be read without the lock
 * @halfopen: requests in the SYN queue, by class
 * @idle_since_ns: by class, see synqueue.c
 * @begun: by CPU; NULL without memory
 * @due_ns: when the epoch ends
 * @settle_ns: when @halfopen is to be compared with what the kernel has
 * @least_ns: how long most of them take at least
 * @mean_ns: how long they take
 * @all_expected: those that are expected to complete
 * @expected: the same by class
 * @unseen: requests of before @since_ns that may complete
 *
 * What is read without the lock may be a little old.  On a 32-bit machine a time may be
 * torn: then one SYN is judged by it.
 */
struct synq_handshakes {
	spinlock_t lock;	/* protects next 4 fields */
	struct synq_flight_clock clock;
	u32 busy;
	u64 since_ns;
	struct synq_flight flight[SYNQ_HANDSHAKES_CLASSES];
	struct synq_halfopen halfopen;
	u64 idle_since_ns[SYNQ_HANDSHAKES_CLASSES];

	/* read on every SYN */
	struct synq_begun __percpu *begun ____cacheline_aligned_in_smp;
	u64 due_ns;
	u64 settle_ns;
	u32 least_ns;
	u32 mean_ns;
	u32 all_expected;
	u32 unseen;
	u32 expected[SYNQ_HANDSHAKES_CLASSES];
};

/**
 * enum synq_final - how a connection asks to be promoted
 * @SYNQ_FINAL_ACK: of a request in the SYN queue
 * @SYNQ_FINAL_COOKIE: of a SYN cookie; there is no request to come back to
 * @SYNQ_FINAL_FASTOPEN: a Fast Open SYN; refused, it becomes an ordinary one
 */
enum synq_final {
	SYNQ_FINAL_ACK,
	SYNQ_FINAL_COOKIE,
	SYNQ_FINAL_FASTOPEN,
};

void synq_handshakes_init(struct synq_handshakes *shakes, u32 unseen, u64 now_ns);
void synq_handshakes_forget(struct synq_handshakes *shakes, u32 classes);
void synq_handshakes_advance(struct synq_handshakes *shakes, u64 now_ns);
void synq_handshakes_settle(struct synq_handshakes *shakes, u32 length, u64 now_ns);
void synq_handshakes_begin(struct synq_handshakes *shakes, u8 class,
			   bool is_halfopen, struct synq_flight_pace pace,
			   u64 now_ns);
void synq_handshakes_complete(struct synq_handshakes *shakes, u8 class,
			      enum synq_final final, u64 age_ns, bool is_timed,
			      u64 now_ns);

#endif /* _SYNQ_HANDSHAKES_H */
