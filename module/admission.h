/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who may use the queues of a listener.  See admission.c.
 */
#ifndef _SYNQ_ADMISSION_H
#define _SYNQ_ADMISSION_H

#include <linux/spinlock.h>
#include "acceptq.h"
#include "conf.h"
#include "flight.h"
#include "slack.h"
#include "synqueue.h"

struct request_sock;
struct sock;

/**
 * struct synq_admission - handshakes under way at one listener
 * @lock: protects @clock, @busy, @flight, @slack, @first and @synqueue, and who writes
 *	the rest
 * @clock: how long they take
 * @busy: slots of classes whose @flight may have anything that time resolves, as bits
 * @flight: by slot of the class
 * @slack: how far below the limits SYNs are refused
 * @first: likewise, of classes that have no reserve before them
 * @since_ns: since when the listener is managed
 * @synqueue: whose half-open requests there are
 * @due_ns: when the slices of @flight advance next
 * @handshake_ns: time that they take at least, at most 4 s
 * @slice_ns: length of a slice of @flight
 * @all_expected: handshakes that are expected to complete
 * @open: by slot, handshakes that may
 * @ratio: by slot, how many of them are expected to, of SYNQ_FLIGHT_ONE
 * @expected: by slot, the same as a number, rounded up
 * @unseen: requests of before @since_ns that may complete
 *
 * @flight, @slack, @first, @synqueue, @due_ns and what follows may be read without the
 * lock, and be a little old: on a 32-bit machine @due_ns may even be torn, which advances the
 * slices once too often, and a slice's number, which misses a class once.
 */
struct synq_admission {
	spinlock_t lock;	/* protects next 6 fields */
	struct synq_flight_clock clock;
	u32 busy;
	struct synq_flight flight[SYNQ_SLOTS];
	struct synq_slack slack;
	struct synq_slack first;
	u64 since_ns;
	struct synq_synqueue synqueue;

	/* read on every SYN */
	u64 due_ns;
	u32 handshake_ns;
	u32 slice_ns;
	u32 all_expected;
	u32 unseen;
	u32 open[SYNQ_SLOTS];
	u32 ratio[SYNQ_SLOTS];
	u32 expected[SYNQ_SLOTS];
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

void synq_admission_init(struct synq_admission *admission, const struct sock *sk);
void synq_admission_forget(struct synq_admission *admission, u32 slots);
void synq_admission_advance(struct synq_admission *admission,
			    const struct sock *sk, u64 now_ns);
bool synq_admission_has_room(const struct synq_admission *admission,
			     const struct synq_conf *conf,
			     const struct synq_listener *listener,
			     const struct synq_class *class,
			     const struct sock *sk);
enum synq_verdict synq_admission_syn(struct synq_admission *admission,
				     const struct synq_conf *conf,
				     const struct synq_listener *listener,
				     const struct synq_class *class,
				     const struct sock *sk,
				     const struct synq_acceptq *queue,
				     u32 held, u32 refused_ms);
void synq_admission_begin(struct synq_admission *admission,
			  const struct synq_class *class, bool is_halfopen,
			  u64 now_ns);
void synq_admission_complete(struct synq_admission *admission,
			     const struct synq_class *class,
			     const struct sock *sk,
			     const struct request_sock *req,
			     enum synq_final final, bool promoted);
bool synq_admission_promote(const struct synq_conf *conf,
			    const struct synq_listener *listener,
			    const struct synq_class *class,
			    const struct sock *sk,
			    const struct synq_acceptq *queue,
			    enum synq_final final);

#endif /* _SYNQ_ADMISSION_H */
