/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The accept queue of a listener, kept in the order of its discipline.  See
 * acceptq.c.
 */
#ifndef _SYNQ_ACCEPTQ_H
#define _SYNQ_ACCEPTQ_H

#include <linux/spinlock.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>
#include "conf.h"
#include "law.h"
#include "share.h"

struct request_sock;

#define SYNQ_ACCEPTQ_CHUNK	256	/* requests placed in one run */

/**
 * struct synq_lane - a place in the order of service
 * @tail: last placed request of the lane; valid only after the head has
 *	been looked at
 * @rank: of @tail in the order of the queue
 * @queued: requests of the lane; kept by SYNQ_ORDER_STRICT only
 */
struct synq_lane {
	struct request_sock *tail;
	u32 rank;
	u32 queued;
};

/**
 * struct synq_member - a class, as one accept queue sees it
 * @step: what a request takes in virtual time (share.c)
 * @finish: of its last request in virtual time
 * @queued: its placed requests that are not known to have been accepted
 * @placed: number of its last request
 * @shared: of @queued, those that its minimum share has moved forward
 * @credit: of its minimum share (share.c)
 * @sample: requests up to the one whose wait is measured, 0: none
 * @sampled_ns: when that one was placed
 * @weight: of the class
 * @percent: its minimum share, 0: none
 * @lane: that its minimum share has last moved a request to
 * @slot: of the class, for its counters
 * @since: the slot must still be that of the class: &synq_class.since
 * @observe: its requests go to the end of the queue
 */
struct synq_member {
	u64 step;
	u64 finish;
	u32 queued;
	u32 placed;
	u32 shared;
	u32 credit;
	u32 sample;
	u64 sampled_ns;
	u32 since;
	u16 weight;
	u8 percent;
	u8 lane;
	u8 slot;
	bool observe;
};

/**
 * struct synq_acceptq - what synq remembers of one accept queue
 * @lock: taken before the queue's rskq_lock
 * @closed: the account has ended
 * @drain: how fast the queue is emptied
 * @length: of the queue after the last run; 0: that run did not place all
 * @id: marks the requests placed under @generation; 0: none yet
 * @number: that @id belongs to
 * @generation: of the snapshot that @id belongs to
 * @order: enum synq_order in force
 * @policy: the configured one, which differs where it is only observed
 * @n: positions in use
 * @used: positions with anything remembered, as bits: the others have no tail, and
 *	nothing queued
 * @sharing: positions of classes with a minimum share, likewise
 * @lane: by position
 * @member: by position of the class
 *
 * Written under @lock; numbers of queued requests are read without.
 */
struct synq_acceptq {
	spinlock_t lock;	/* protects the rest */
	bool closed;
	struct synq_drain drain;
	u32 length;

	/* of one generation */
	u32 id;
	u32 generation;
	u64 number;
	u8 order;
	u8 policy;
	u8 n;
	u32 used;
	u32 sharing;
	struct synq_lane lane[SYNQ_SLOTS];
	struct synq_member member[SYNQ_SLOTS];
};

/*
 * What a placed request carries in the low half of its tag.  Weighted: its key
 * (share.h).  Otherwise, from the top: its lane, the position of its class, and the
 * last bits of its number within the class.
 */
#define SYNQ_LANE_SHIFT		27
#define SYNQ_MEMBER_SHIFT	22
#define SYNQ_MEMBER_MASK	31U
#define SYNQ_NUMBER_MASK	((1U << SYNQ_MEMBER_SHIFT) - 1)

static inline u8 synq_acceptq_lane(u32 low)
{
	return low >> SYNQ_LANE_SHIFT;
}

static inline u8 synq_acceptq_member(const struct synq_acceptq *queue, u32 low)
{
	return queue->order == SYNQ_ORDER_WEIGHTED ?
	       synq_share_position(low) :
	       low >> SYNQ_MEMBER_SHIFT & SYNQ_MEMBER_MASK;
}

/* Is anything queued, or was it at the last run?  Without the lock. */
static inline bool synq_acceptq_is_used(const struct synq_acceptq *queue,
					const struct sock *sk)
{
	return READ_ONCE(sk->sk_ack_backlog) || READ_ONCE(queue->used);
}

/* Not if the slot belongs to another class now, of which nothing was placed. */
static inline void synq_acceptq_count(struct synq_port *port,
				      const struct synq_member *member,
				      enum synq_counter counter, unsigned int n)
{
	/* Pairs with WRITE_ONCE in give() in conf.c; no order needed. */
	if (READ_ONCE(port->since[member->slot]) == member->since)
		synq_count_add(port, member->slot, counter, n);
}

/*
 * Was the promotion of a request refused before?  The kernel notes that.  Where the server
 * waits for data, it also notes a final ACK without data.
 */
static inline bool synq_acceptq_was_asked(const struct sock *sk,
					  const struct request_sock *req)
{
	return inet_rsk(req)->acked &&
	       !READ_ONCE(inet_csk(sk)->icsk_accept_queue.rskq_defer_accept);
}

static inline void synq_acceptq_init(struct synq_acceptq *queue)
{
	spin_lock_init(&queue->lock);
}

/* acceptq.c */
bool synq_acceptq_place(struct sock *sk, struct synq_acceptq *queue,
			const struct synq_conf *conf,
			const struct synq_listener *listener);
void synq_acceptq_settle(struct sock *sk, struct synq_acceptq *queue,
			 struct synq_port *port);
void synq_acceptq_close(struct synq_acceptq *queue, struct synq_port *port);

/* account.c */
u32 synq_acceptq_ahead(const struct synq_acceptq *queue, const struct sock *sk,
		       u8 position);
u32 synq_acceptq_own(const struct synq_acceptq *queue, u8 position);
u32 synq_acceptq_queued(const struct synq_acceptq *queue, u8 slot);
bool synq_acceptq_would_move(const struct synq_acceptq *queue, u8 position);
void synq_acceptq_leave(struct synq_acceptq *queue, struct synq_port *port,
			bool any, u32 head, s64 placed, u64 now_ns);
void synq_acceptq_forget(struct synq_acceptq *queue, struct synq_port *port,
			 enum synq_counter counter);

#endif /* _SYNQ_ACCEPTQ_H */
