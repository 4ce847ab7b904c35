/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The record of a managed listening socket, and how to find it.  See record.c.
 */
#ifndef _SYNQ_RECORD_H
#define _SYNQ_RECORD_H

#include <linux/hashtable.h>
#include <linux/rcupdate.h>
#include "acceptq.h"
#include "admission.h"
#include "retries.h"
#include "synq.h"

struct synq_ops;

/**
 * struct synq_record - what synq keeps for one listening socket
 * @node: in the hash of records
 * @rcu: freed after a grace period
 * @sk: the socket; no reference: its destructor takes the record out
 * @sn: state of its network namespace; NULL: that is gone
 * @counters: of the port, with a reference
 * @ops: its icsk_af_ops of before, and the copy with the gate (listener.c)
 * @data_ready: its sk_data_ready of before
 * @destruct: its sk_destruct of before
 * @leave: of those that one detach takes leave of (attach mutex)
 * @leaving: a detach has begun: pass everything through
 * @app_order: enum synq_order that the application chose, plus one; 0: none
 * @app_cookies: enum synq_cookies that the application chose
 * @retries: how often it sends a SYN-ACK again; written under synq_record_lock
 * @pinned: another owner sits on top; holds a reference to the module
 * @acceptq: protected by the queue's rskq_lock
 * @admission: has a lock of its own
 * @withheld: has a lock of its own
 */
struct synq_record {
	/* read mostly */
	struct hlist_node node;
	struct sock *sk;
	struct synq_net *sn;
	struct synq_port *counters;
	const struct synq_ops *ops;
	void (*data_ready)(struct sock *sk);
	void (*destruct)(struct sock *sk);
	struct list_head leave;
	bool leaving;
	u8 app_order;
	u8 app_cookies;
	struct synq_retries retries;
	unsigned long pinned;	/* bit 0 */

	/* written on each connection */
	struct synq_acceptq acceptq ____cacheline_aligned_in_smp;

	/* written on each SYN and each final ACK */
	struct synq_admission admission;

	/* written while overloaded */
	struct synq_withheld withheld;

	struct rcu_head rcu;
};

#define SYNQ_RECORD_BITS	8

/* Readers are under RCU; the lock is for writers, and for walks. */
extern struct hlist_head synq_records[1 << SYNQ_RECORD_BITS];
extern spinlock_t synq_record_lock;

struct synq_record *synq_record_alloc(struct synq_net *sn, struct sock *sk,
				      struct synq_port *counters);
void synq_record_free(struct synq_record *record);
void synq_record_hash(struct synq_record *record);
void synq_record_managed(struct synq_record *record);
void synq_record_unhash(struct synq_record *record);

const struct synq_conf *synq_record_conf(const struct synq_record *record,
					 struct synq_listener *own);
bool synq_record_place(struct synq_record *record, bool *more);
void synq_record_sort(const struct sock *sk);
void synq_record_each(const struct synq_net *sn,
		      void (*visit)(struct synq_record *record, void *data),
		      void *data);
void synq_record_orphan(const struct synq_net *sn);
bool synq_record_settle(const struct synq_net *sn);

/**
 * synq_record_find() - the record of a socket
 * @sk: any socket
 *
 * Context: rcu_read_lock() or synq_record_lock
 * Return: NULL if the socket is not managed
 */
static inline struct synq_record *synq_record_find(const struct sock *sk)
{
	struct synq_record *record;

	hash_for_each_possible_rcu(synq_records, record, node,
				   (unsigned long)sk,
				   lockdep_is_held(&synq_record_lock))
		if (record->sk == sk)
			return record;
	return NULL;
}

/**
 * synq_record_listener() - the configured listener, as it is for a socket
 * @record: of the socket
 * @listener: that the snapshot has for its port
 * @own: set to @listener, with what the application chose, if it may
 *
 * Context: any
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
 * @flooded: sockets at which the class has had its share of the SYN queue
 */
struct synq_record_now {
	u32 queued;
	u32 half_open;
	u32 flooded;
};

struct synq_record_now synq_record_now(const struct synq_port *counters,
				       u8 slot);

void synq_record_want(struct synq_net *sn, struct sock *sk);
unsigned int synq_record_wanted(struct synq_net *sn, struct sock **sks);

#endif /* _SYNQ_RECORD_H */
