/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The record of a managed listening socket, and how to find it.  See record.c.
 */
#ifndef _SYNQ_RECORD_H
#define _SYNQ_RECORD_H

#include <linux/interrupt.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/workqueue.h>
#include "acceptq.h"
#include "handshakes.h"
#include "hold.h"
#include "inside.h"
#include "synq.h"

struct synq_ops;

/**
 * struct synq_retries - how often a listener retransmits an unanswered SYN-ACK
 * @ours: the number that was set last; 0: none ever
 * @was: the application's value
 * @held: @ours is in force
 */
struct synq_retries {
	u8 ours;
	u8 was;
	bool held;
};

/**
 * struct synq_record - what synq keeps for one listening socket
 * @node: in the hash of records, by @sk
 * @sk: the socket, with a reference
 * @sn: state of its network namespace
 * @counters: of the port, with a reference
 * @ops: its icsk_af_ops of before, and the copy that it has now
 * @leaving: the record is on its way out: pass everything through
 * @app_order: enum synq_order that the application chose, plus one; 0: none
 * @app_cookies: enum synq_cookies that the application chose
 * @retries: how often it sends a SYN-ACK again; written under &synq_net.records_lock
 * @list: in &synq_net.records, or in &synq_net.fresh until it is visited
 * @order: puts what was appended to the accept queue into its place
 * @acceptq: has a lock of its own, and is under the queue's rskq_lock
 * @shakes: handshakes in progress; has a lock of its own
 * @hold: has a lock of its own
 * @inside: has a lock of its own
 * @free: after a grace period
 */
struct synq_record {
	/* read mostly */
	struct rhash_head node;
	struct sock *sk;
	struct synq_net *sn;
	struct synq_port *counters;
	const struct synq_ops *ops;
	bool leaving;
	u8 app_order;
	u8 app_cookies;
	struct synq_retries retries;
	struct list_head list;

	/* written on each connection */
	struct tasklet_struct order ____cacheline_aligned_in_smp;
	struct synq_acceptq acceptq;

	/* written on each SYN and each final ACK */
	struct synq_handshakes shakes ____cacheline_aligned_in_smp;

	/* written while overloaded */
	struct synq_hold hold;

	/* written on each request and each answer, where there is a limit */
	struct synq_inside inside ____cacheline_aligned_in_smp;

	struct rcu_work free;
};

/* Readers are under RCU. */
extern struct rhashtable synq_records;

/* A pointer's own hash spreads it well enough: there is no secret seed. */
static inline u32 synq_record_hash(const void *key, u32 len, u32 seed)
{
	return hash_long(*(const unsigned long *)key, 32);
}

static const struct rhashtable_params synq_record_params = {
	.key_len = sizeof(struct sock *),
	.key_offset = offsetof(struct synq_record, sk),
	.head_offset = offsetof(struct synq_record, node),
	.hashfn = synq_record_hash,
	.automatic_shrinking = true,
};

int synq_record_init(void);
void synq_record_exit(void);
void synq_record_net_init(struct synq_net *sn);
void synq_record_net_exit(struct synq_net *sn);
void synq_record_provide(struct synq_net *sn);

struct synq_record *synq_record_alloc(struct synq_net *sn, struct sock *sk,
				      struct synq_port *counters);
void synq_record_undo(struct synq_record *record);
int synq_record_add(struct synq_record *record);
void synq_record_leave(struct synq_record *record);
void synq_record_remove(struct synq_record *record);

const struct synq_conf *synq_record_conf(const struct synq_record *record,
					 struct synq_listener *own);
bool synq_record_place(struct synq_record *record, bool *more);
void synq_record_sort(const struct sock *sk);
void synq_record_each(struct synq_net *sn,
		      void (*visit)(struct synq_record *record, void *data),
		      void *data);
void synq_record_each_fresh(struct synq_net *sn,
			    void (*visit)(struct synq_record *record));
void synq_record_settle(struct synq_record *record);

/**
 * synq_record_find() - the record of a socket
 * @sk: any socket
 *
 * Context: rcu_read_lock()
 * Return: NULL if the socket is not managed
 */
static inline struct synq_record *synq_record_find(const struct sock *sk)
{
	return rhashtable_lookup(&synq_records, &sk, synq_record_params);
}

/* Has the tasklet run, if it is pending, so that the latest promotions count. */
static inline void synq_record_catch_up(struct synq_record *record)
{
	bool more;

	if (READ_ONCE(record->order.state))
		synq_record_place(record, &more);
}

/**
 * synq_record_listener() - the configured listener, as it is for a socket
 * @record: of the socket
 * @listener: that the snapshot has for its port
 * @own: set to @listener, with what the application chose, where it may choose
 */
static inline void synq_record_listener(const struct synq_record *record,
					const struct synq_listener *listener,
					struct synq_listener *own)
{
	/* Both pair with WRITE_ONCE in sockopt.c; no order needed. */
	u8 chosen = READ_ONCE(record->app_order);
	u8 cookies = READ_ONCE(record->app_cookies);

	*own = *listener;
	if (chosen && own->app_order)
		own->order = chosen - 1;
	if (cookies && own->app_cookies)
		own->cookies = cookies;
}

/**
 * struct synq_record_now - of a class, at all sockets of a port that are managed now
 * @queued: requests in the accept queues
 * @half_open: requests in the SYN queues, so far as is known
 * @held: connections that are held
 * @inside: connections that are followed, by state
 * @flooded: sockets at which the class has had its share of the SYN queue
 */
struct synq_record_now {
	u32 queued;
	u32 half_open;
	u32 held;
	u32 inside[SYNQ_INSIDE_STATES];
	u32 flooded;
};

struct synq_record_now synq_record_now(struct synq_net *sn,
				       const struct synq_port *counters,
				       u8 slot);

u32 synq_record_inside_limit(struct synq_net *sn, const struct synq_listener *listener);

bool synq_record_is_given_up(struct synq_net *sn, const struct sock *sk);
void synq_record_give_up(struct synq_net *sn, const struct sock *sk);

void synq_retries_set(struct synq_retries *retries, struct sock *sk, u8 wanted);
void synq_retries_disinherit(const struct synq_retries *retries,
			     struct sock *child);
u8 synq_retries_of(const struct sock *sk);

#endif /* _SYNQ_RECORD_H */
