// SPDX-License-Identifier: GPL-2.0
/*
 * Records of managed listening sockets: found by the address of the socket, from
 * packets and socket callbacks, under rcu_read_lock(); and listed by network
 * namespace.
 *
 * A record holds a reference to its socket.  Nothing notifies synq when a socket stops
 * listening: the worker of listener.c looks ten times a second and removes the record of
 * such a socket.  Until then its memory and its network namespace stay; its port is free
 * as soon as the socket is closed.
 *
 * A record that was removed is freed after a grace period, by a worker, since a
 * tasklet can only be waited for in process context.  Until then callbacks and the tasklet may
 * still use it: they find that it is leaving, and that its account is closed.
 *
 * A packet makes a record in softirq and adds it to a list of fresh ones.  These are
 * visited separately and first (synq_record_each_fresh()): by a worker, and before the
 * configuration changes.
 *
 * This file also remembers which sockets could not be managed just now, and writes how often
 * a listener retransmits its SYN-ACKs.
 */
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/inet_connection_sock.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include "crew.h"
#include "record.h"
#include "release.h"
#include "synqueue.h"

struct rhashtable synq_records;

/* A variable: for a constant size the allocator's function differs between kernels. */
static size_t record_size __ro_after_init = sizeof(struct synq_record);

/**
 * synq_record_init() - the module is loaded
 *
 * Return: 0 or -ENOMEM
 */
int synq_record_init(void)
{
	return rhashtable_init(&synq_records, &synq_record_params);
}

/**
 * synq_record_exit() - the module goes; every record has been freed
 */
void synq_record_exit(void)
{
	rhashtable_destroy(&synq_records);
}

/**
 * synq_record_net_init() - a network namespace appears
 * @sn: its state
 */
void synq_record_net_init(struct synq_net *sn)
{
	mutex_init(&sn->records_lock);
	INIT_LIST_HEAD(&sn->records);
	INIT_LIST_HEAD(&sn->fresh);
	spin_lock_init(&sn->fresh_lock);
}

/* Softirq, or process context with BH off. */
static void order(struct tasklet_struct *tasklet)
{
	struct synq_record *record = container_of(tasklet, struct synq_record,
						  order);
	bool more;

	rcu_read_lock();
	synq_record_place(record, &more);
	if (more)
		tasklet_schedule(tasklet);
	rcu_read_unlock();
}

static void free_late(struct work_struct *work)
{
	struct synq_record *record = container_of(to_rcu_work(work),
						  struct synq_record, free);

	/* The callbacks that could schedule it ended a grace period ago. */
	tasklet_kill(&record->order);
	synq_release_destroy(&record->hold);
	synq_port_put(record->counters);
	sock_put(record->sk);
	free_percpu(record->shakes.begun);
	synq_crew_destroy(&record->inside);
	kfree(record);
}

/* Zeroed. */
static void give_back(struct synq_net *sn, struct synq_record *record)
{
	kfree(xchg(&sn->spare, record));
}

/**
 * synq_record_provide() - set memory aside for the next record
 * @sn: network namespace
 *
 * A packet cannot count on 16 KB in one piece, nor on the counters of a port.
 *
 * Context: process
 */
void synq_record_provide(struct synq_net *sn)
{
	synq_port_provide(sn);
	if (!READ_ONCE(sn->spare))
		give_back(sn, kzalloc(record_size, GFP_KERNEL_ACCOUNT));
}

/**
 * synq_record_net_exit() - a network namespace goes away; no packet makes records
 * @sn: its state
 */
void synq_record_net_exit(struct synq_net *sn)
{
	synq_port_net_exit(sn);
	kfree(xchg(&sn->spare, NULL));
}

/**
 * synq_record_alloc() - a record for a socket, not yet to be found
 * @sn: network namespace of the socket
 * @sk: listening socket found in this RCU section; the record takes a reference
 * @counters: of its port, held by the caller
 *
 * Context: rcu_read_lock()
 * Return: NULL without memory; an error if the socket is about to be freed
 */
struct synq_record *synq_record_alloc(struct synq_net *sn, struct sock *sk,
				      struct synq_port *counters)
{
	struct synq_record *record;

	if (!synq_port_begin(sn, counters, GFP_ATOMIC | __GFP_NOWARN))
		return NULL;
	record = xchg(&sn->spare, NULL);
	if (!record)
		record = kzalloc(record_size, GFP_ATOMIC | __GFP_NOWARN);
	if (!record)
		return NULL;
	if (synq_crew_init(&record->inside)) {
		give_back(sn, record);
		return NULL;
	}
	if (!refcount_inc_not_zero(&sk->sk_refcnt)) {
		synq_crew_destroy(&record->inside);
		record->inside.crew = NULL;
		record->inside.alone = NULL;
		give_back(sn, record);
		return ERR_PTR(-ENOENT);
	}
	record->sk = sk;
	record->sn = sn;
	synq_port_get(counters);
	record->counters = counters;
	tasklet_setup(&record->order, order);
	INIT_RCU_WORK(&record->free, free_late);
	synq_acceptq_init(&record->acceptq);
	/* Without this memory each SYN is counted in the shared total at once. */
	record->shakes.begun = alloc_percpu_gfp(struct synq_begun,
						GFP_ATOMIC | __GFP_NOWARN);
	synq_handshakes_init(&record->shakes,
			     max(inet_csk_reqsk_queue_len(sk), 0),
			     ktime_get_ns());
	synq_release_init(&record->hold);
	synq_inside_init(&record->inside);
	return record;
}

/**
 * synq_record_undo() - take back synq_record_alloc()
 * @record: was never added, so that nothing else has seen it
 *
 * Its memory is kept for the next one: a socket that cannot be managed costs none.
 *
 * Context: not with the lock of its socket
 */
void synq_record_undo(struct synq_record *record)
{
	struct synq_net *sn = record->sn;
	struct sock *sk = record->sk;

	synq_port_put(record->counters);
	free_percpu(record->shakes.begun);
	synq_crew_destroy(&record->inside);
	memset(record, 0, sizeof(*record));
	give_back(sn, record);
	sock_put(sk);
}

/**
 * synq_record_add() - make a record visible
 * @record: complete; synq_record_each_fresh() will visit it
 *
 * Return: 0; else it was not added: -EEXIST: the socket has one; -ENOMEM
 */
int synq_record_add(struct synq_record *record)
{
	struct synq_net *sn = record->sn;
	int err;

	/* First, since once visible it can be removed. */
	atomic_inc(&sn->sockets);
	err = rhashtable_lookup_insert_fast(&synq_records, &record->node,
					    synq_record_params);
	if (err) {
		atomic_dec(&sn->sockets);
		return err;
	}
	atomic_inc(&record->counters->sockets);
	spin_lock_bh(&sn->fresh_lock);
	list_add(&record->list, &sn->fresh);
	synq_crew_join(&record->inside, sn, record->sk);
	spin_unlock_bh(&sn->fresh_lock);
	return 0;
}

/**
 * synq_record_leave() - from now on pass everything through
 * @record: added
 *
 * Context: &synq_net.records_lock held
 */
void synq_record_leave(struct synq_record *record)
{
	/* Pairs with READ_ONCE of synq_record_conf(). */
	WRITE_ONCE(record->leaving, true);
}

/**
 * synq_record_remove() - hide a record and close its account
 * @record: leaving
 *
 * Context: &synq_net.records_lock held
 */
void synq_record_remove(struct synq_record *record)
{
	struct synq_net *sn = record->sn;

	lockdep_assert_held(&sn->records_lock);
	synq_acceptq_close(&record->acceptq, record->counters);
	list_del(&record->list);
	spin_lock_bh(&sn->fresh_lock);
	synq_crew_part(&record->inside, sn);
	spin_unlock_bh(&sn->fresh_lock);
	atomic_dec(&sn->sockets);
	atomic_dec(&record->counters->sockets);
	rhashtable_remove_fast(&synq_records, &record->node, synq_record_params);
	queue_rcu_work(synq_workqueue, &record->free);
}

/**
 * synq_record_conf() - the snapshot to treat a socket by
 * @record: of the socket
 * @own: the listener that it has for the socket
 *
 * Context: rcu_read_lock()
 * Return: NULL: like the stock kernel, and @own is not set
 */
const struct synq_conf *synq_record_conf(const struct synq_record *record,
					 struct synq_listener *own)
{
	const struct synq_listener *listener;
	const struct synq_conf *conf;

	/* First: the state of the namespace stays for a grace period from then on. */
	if (READ_ONCE(record->leaving))
		return NULL;
	conf = synq_conf_active(record->sn);
	if (!conf)
		return NULL;
	listener = synq_conf_listener(conf, READ_ONCE(inet_sk(record->sk)->inet_num));
	/* The snapshot may be of another port, where the socket listened before. */
	if (!listener || listener->port != record->counters)
		return NULL;
	synq_record_listener(record, listener, own);
	return conf;
}

/**
 * synq_record_place() - put what is queued into order, in part
 * @record: of the socket
 * @more: set: is there more to do?
 *
 * Context: as for synq_acceptq_place(), rcu_read_lock()
 * Return: false if it is treated like the stock kernel does
 */
bool synq_record_place(struct synq_record *record, bool *more)
{
	struct synq_listener own;
	const struct synq_conf *conf = synq_record_conf(record, &own);

	*more = conf && synq_acceptq_place(record->sk, &record->acceptq, conf,
					   &own);
	return conf;
}

/**
 * synq_record_sort() - put what is queued at a socket into order
 * @sk: held by the caller; need not be managed
 *
 * In bounded runs; the record may come and go between them.
 *
 * Context: process
 */
void synq_record_sort(const struct sock *sk)
{
	u32 runs = READ_ONCE(sk->sk_ack_backlog) / SYNQ_ACCEPTQ_CHUNK + 2;
	struct synq_record *record;
	bool more;

	do {
		rcu_read_lock();
		record = synq_record_find(sk);
		more = false;
		if (record)
			synq_record_place(record, &more);
		/* Bounded: the application may choose another order again and again. */
		if (more && !runs--) {
			tasklet_schedule(&record->order);
			more = false;
		}
		rcu_read_unlock();
		cond_resched();
	} while (more);
}

/* NULL: there is none. */
static struct synq_record *take_fresh(struct synq_net *sn)
{
	struct synq_record *record;

	lockdep_assert_held(&sn->records_lock);
	spin_lock_bh(&sn->fresh_lock);
	record = list_first_entry_or_null(&sn->fresh, struct synq_record, list);
	if (record)
		list_move(&record->list, &sn->records);
	spin_unlock_bh(&sn->fresh_lock);
	return record;
}

/**
 * synq_record_each_fresh() - visit records that were not visited before
 * @sn: network namespace
 * @visit: called once for each record in its life, under &synq_net.records_lock; may
 *	remove it, and sleep
 *
 * Context: process
 */
void synq_record_each_fresh(struct synq_net *sn,
			    void (*visit)(struct synq_record *record))
{
	struct synq_record *record;

	mutex_lock(&sn->records_lock);
	while ((record = take_fresh(sn))) {
		visit(record);
		cond_resched();
	}
	mutex_unlock(&sn->records_lock);
}

/**
 * synq_record_each() - visit all records of a network namespace but fresh ones
 * @sn: network namespace
 * @visit: called under &synq_net.records_lock; may remove the record, and sleep
 * @data: for @visit
 *
 * Context: process
 */
void synq_record_each(struct synq_net *sn,
		      void (*visit)(struct synq_record *record, void *data),
		      void *data)
{
	struct synq_record *record, *next;

	mutex_lock(&sn->records_lock);
	list_for_each_entry_safe(record, next, &sn->records, list) {
		visit(record, data);
		cond_resched();
	}
	mutex_unlock(&sn->records_lock);
}

/**
 * synq_record_settle() - count accepted and half-open connections up to now
 * @record: added
 *
 * Context: process, &synq_net.records_lock held
 */
void synq_record_settle(struct synq_record *record)
{
	const struct synq_conf *conf;
	struct synq_listener own;

	rcu_read_lock();
	synq_acceptq_settle(record->sk, &record->acceptq, record->counters);
	conf = synq_record_conf(record, &own);
	if (conf)
		synq_synqueue_settle(&record->shakes, conf, record->sk,
				     record->counters);
	rcu_read_unlock();
}

static void add_now(struct synq_record_now *now,
		    const struct synq_record *record, u8 slot)
{
	unsigned int i;

	now->queued += synq_acceptq_queued(&record->acceptq, slot);
	now->half_open += READ_ONCE(record->shakes.halfopen.open[slot]);
	now->flooded += synq_synqueue_was_flooded(&record->shakes, slot);
	now->held += READ_ONCE(record->hold.in[slot]);
	for (i = 0; i < SYNQ_INSIDE_STATES; i++)
		now->inside[i] += READ_ONCE(record->inside.in[i][slot]);
}

/**
 * synq_record_now() - how a class stands at the sockets of a port
 * @sn: network namespace
 * @counters: of the port
 * @slot: of the class
 *
 * Context: process
 * Return: sums over all sockets that are managed now
 */
struct synq_record_now synq_record_now(struct synq_net *sn,
				       const struct synq_port *counters,
				       u8 slot)
{
	struct synq_record_now now = { };
	struct synq_record *record;

	mutex_lock(&sn->records_lock);
	list_for_each_entry(record, &sn->records, list)
		if (record->counters == counters)
			add_now(&now, record, slot);
	mutex_unlock(&sn->records_lock);
	return now;
}

/**
 * synq_record_inside_limit() - how many connections may be busy, at all sockets of a port
 * @sn: network namespace
 * @listener: configured, with a limit
 *
 * Context: process
 * Return: their sum over all sockets that are managed now
 */
u32 synq_record_inside_limit(struct synq_net *sn, const struct synq_listener *listener)
{
	struct synq_record *record;
	u64 sum = 0;

	mutex_lock(&sn->records_lock);
	list_for_each_entry(record, &sn->records, list)
		if (record->counters == listener->port)
			sum += synq_inside_limit(&record->inside, listener);
	mutex_unlock(&sn->records_lock);
	return min_t(u64, sum, U32_MAX);
}

/* Remembers that a socket could not be managed; collisions are harmless. */
static struct synq_given_up *given_up(struct synq_net *sn, const struct sock *sk)
{
	return &sn->given_up[hash_ptr(sk, ilog2(SYNQ_GIVEN_UP))];
}

/**
 * synq_record_is_given_up() - did managing this socket fail within the last second?
 * @sn: network namespace
 * @sk: the socket
 *
 * Return: true if so
 */
bool synq_record_is_given_up(struct synq_net *sn, const struct sock *sk)
{
	const struct synq_given_up *gone = given_up(sn, sk);
	bool is;

	if (READ_ONCE(gone->sk) != sk)
		return false;
	spin_lock_bh(&sn->fresh_lock);
	is = gone->sk == sk && time_before(jiffies, gone->until);
	spin_unlock_bh(&sn->fresh_lock);
	return is;
}

/**
 * synq_record_give_up() - do not try to manage a socket for a second
 * @sn: network namespace
 * @sk: the socket
 */
void synq_record_give_up(struct synq_net *sn, const struct sock *sk)
{
	spin_lock_bh(&sn->fresh_lock);
	*given_up(sn, sk) = (struct synq_given_up){ sk, jiffies + HZ };
	spin_unlock_bh(&sn->fresh_lock);
}

/*
 * How often a listener retransmits an unanswered SYN-ACK.  Fewer times make it a
 * weaker amplifier for SYNs with forged sources, for this port alone and without a
 * change to the application.
 *
 * It is the field that setsockopt(TCP_SYNCNT) sets, and that the kernel reads at
 * each timeout, so it also affects requests that are half open already.  The
 * application's value is remembered and restored.  If the application sets another value
 * meanwhile, that one is taken for its own and stays until the configuration
 * is changed.  If it sets one at the very instant when synq does, the later wins.
 *
 * Writers hold &synq_net.records_lock (listener.c); children are disinherited under
 * rcu_read_lock().
 */

/**
 * synq_retries_set() - set how often a listener retransmits a SYN-ACK
 * @retries: of the listener
 * @sk: listener
 * @wanted: 1..SYNQ_SYNACK_RETRIES_MAX; 0: the application's value
 *
 * @ours stays when the application's value is restored: a child that was cloned before
 * may be on its way to synq_retries_disinherit().
 *
 * Context: &synq_net.records_lock
 */
void synq_retries_set(struct synq_retries *retries, struct sock *sk, u8 wanted)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	u8 now = READ_ONCE(icsk->icsk_syn_retries);

	if (!retries->held || now != retries->ours)
		WRITE_ONCE(retries->was, now);
	retries->held = wanted;
	if (wanted)
		WRITE_ONCE(retries->ours, wanted);
	if (now != (wanted ?: retries->was))
		WRITE_ONCE(icsk->icsk_syn_retries, wanted ?: retries->was);
}

/**
 * synq_retries_disinherit() - give a child its listener's own value
 * @retries: of the listener
 * @child: locked, and its operations were not called yet
 *
 * It sends no SYN-ACK, but getsockopt(TCP_SYNCNT) would show the value.
 */
void synq_retries_disinherit(const struct synq_retries *retries,
			     struct sock *child)
{
	struct inet_connection_sock *icsk = inet_csk(child);
	u8 ours = READ_ONCE(retries->ours);

	if (ours && icsk->icsk_syn_retries == ours)
		icsk->icsk_syn_retries = READ_ONCE(retries->was);
}

/**
 * synq_retries_of() - how often a listener retransmits a SYN-ACK
 * @sk: listener
 *
 * Return: the number in force
 */
u8 synq_retries_of(const struct sock *sk)
{
	return READ_ONCE(inet_csk(sk)->icsk_syn_retries) ?:
	       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_synack_retries);
}
