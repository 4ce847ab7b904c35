// SPDX-License-Identifier: GPL-2.0
/*
 * Records of managed listening sockets: found by the address of the socket,
 * from packets and socket callbacks, under rcu_read_lock().
 *
 * A record holds no reference to its socket, since that would keep the socket
 * and its network namespace for ever: nothing tells us that a listener was
 * closed.  Instead listener.c chains the socket's destructor, which takes the
 * record out of the hash before the memory goes.  So: as long as a record is
 * hashed, and its destructor chained, its socket is memory that may be read
 * under synq_record_lock.
 *
 * Also here: the list of sockets seen by the packet hook that wait to be
 * managed.  The hook runs in softirq and must not attach (grace periods), so it
 * leaves a referenced socket and wakes the worker of listener.c.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include "record.h"

DEFINE_HASHTABLE(synq_records, SYNQ_RECORD_BITS);
DEFINE_SPINLOCK(synq_record_lock);

/**
 * synq_record_alloc() - a record for a socket, not yet hashed
 * @sn: network namespace of the socket
 * @sk: listening socket
 * @counters: of its port
 *
 * Context: process
 * Return: NULL without memory
 */
struct synq_record *synq_record_alloc(struct synq_net *sn, struct sock *sk,
				      struct synq_port *counters)
{
	struct synq_record *record = kvzalloc(sizeof(*record),
					      GFP_KERNEL_ACCOUNT);

	if (!record)
		return NULL;
	record->sk = sk;
	record->sn = sn;
	synq_port_get(counters);
	record->counters = counters;
	synq_admission_init(&record->admission, sk);
	synq_withheld_init(&record->withheld);
	return record;
}

static void free_rcu_cb(struct rcu_head *head)
{
	struct synq_record *record = container_of(head, struct synq_record,
						  rcu);

	synq_port_put(record->counters);
	kvfree(record);	/* which softirq may do */
}

/**
 * synq_record_free() - free a record after a grace period
 * @record: not hashed
 *
 * Context: any
 */
void synq_record_free(struct synq_record *record)
{
	synq_withheld_clear(&record->withheld, record->counters);
	call_rcu(&record->rcu, free_rcu_cb);
}

/**
 * synq_record_hash() - let a record be found
 * @record: complete
 *
 * Context: synq_record_lock held
 */
void synq_record_hash(struct synq_record *record)
{
	lockdep_assert_held(&synq_record_lock);
	hash_add_rcu(synq_records, &record->node, (unsigned long)record->sk);
}

/**
 * synq_record_managed() - all that comes from now on is put into order: count it
 * @record: hashed; it stays so, since attaching and detaching exclude each other and
 *	the socket is held
 *
 * Context: process
 */
void synq_record_managed(struct synq_record *record)
{
	atomic_inc(&record->sn->sockets);
	atomic_inc(&record->counters->sockets);
}

/**
 * synq_record_unhash() - new callers find it no more
 * @record: hashed, and counted as managed
 *
 * Context: synq_record_lock held
 */
void synq_record_unhash(struct synq_record *record)
{
	lockdep_assert_held(&synq_record_lock);
	hash_del_rcu(&record->node);
	if (record->sn)
		atomic_dec(&record->sn->sockets);
	atomic_dec(&record->counters->sockets);
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
	const struct synq_net *sn = READ_ONCE(record->sn);
	const struct synq_conf *conf = sn ? synq_conf_active(sn) : NULL;
	const struct synq_listener *listener;

	if (!conf || READ_ONCE(record->leaving))
		return NULL;
	listener = synq_conf_listener(conf, record->counters->port);
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
	struct synq_record *record;
	bool more;

	do {
		rcu_read_lock();
		record = synq_record_find(sk);
		more = false;
		if (record)
			synq_record_place(record, &more);
		rcu_read_unlock();
		cond_resched();
	} while (more);
}

/**
 * synq_record_each() - visit all records of a network namespace
 * @sn: network namespace
 * @visit: called under synq_record_lock and rcu_read_lock(); the socket is valid
 *	memory (listener.c, rule 4)
 * @data: for @visit
 *
 * Context: any
 */
void synq_record_each(const struct synq_net *sn,
		      void (*visit)(struct synq_record *record, void *data),
		      void *data)
{
	struct synq_record *record;
	int bucket;

	spin_lock_bh(&synq_record_lock);
	rcu_read_lock();
	hash_for_each(synq_records, bucket, record, node)
		if (record->sn == sn)
			visit(record, data);
	rcu_read_unlock();
	spin_unlock_bh(&synq_record_lock);
}

static void orphan(struct synq_record *record, void *any)
{
	/* Pairs with READ_ONCE of who asks without the lock. */
	WRITE_ONCE(record->sn, NULL);
	*(bool *)any = true;
}

/**
 * synq_record_orphan() - the state of a network namespace is about to go
 * @sn: its state
 *
 * A socket keeps its namespace, but the module may go before either.  Records are left
 * then, if their socket's destructor is on its way, or somebody else calls us (listener.c,
 * rules 5 and 7).  They forget @sn: who holds synq_record_lock finds either none, or one
 * that stays until he has given the lock back; who is under rcu_read_lock() and has
 * found it is waited for.  Who has found a snapshot need not ask: that was taken away a
 * grace period before (main.c).
 *
 * Context: process
 */
void synq_record_orphan(const struct synq_net *sn)
{
	bool any = false;

	synq_record_each(sn, orphan, &any);
	if (any)
		synchronize_rcu();
}

static void settle(struct synq_record *record, void *settled)
{
	const struct synq_conf *conf;
	struct synq_listener own;

	*(bool *)settled &= synq_acceptq_settle(record->sk, &record->acceptq,
						record->counters);
	conf = synq_record_conf(record, &own);
	if (conf)
		synq_synqueue_settle(&record->admission, conf, record->sk,
				     record->counters);
}

/**
 * synq_record_settle() - count who was accepted up to now, and who is half open
 * @sn: network namespace
 *
 * Context: process
 * Return: false if connections are queued, so that there will be more to count
 */
bool synq_record_settle(const struct synq_net *sn)
{
	bool settled = true;

	synq_record_each(sn, settle, &settled);
	return settled;
}

static void add_now(struct synq_record_now *now,
		    const struct synq_record *record, u8 slot)
{
	const struct synq_synqueue *synqueue = &record->admission.synqueue;

	now->queued += synq_acceptq_queued(&record->acceptq, slot);
	now->half_open += READ_ONCE(synqueue->halfopen.open[slot]);
	now->flooded += READ_ONCE(synqueue->flood[slot].on);
}

/**
 * synq_record_now() - how a class stands at the sockets of a port
 * @counters: of the port
 * @slot: of the class
 *
 * Context: process
 * Return: sums over all sockets that are managed now
 */
struct synq_record_now synq_record_now(const struct synq_port *counters, u8 slot)
{
	struct synq_record_now now = { };
	struct synq_record *record;
	int bucket;

	rcu_read_lock();
	hash_for_each_rcu(synq_records, bucket, record, node)
		if (record->counters == counters)
			add_now(&now, record, slot);
	rcu_read_unlock();
	return now;
}

/**
 * synq_record_want() - a listener was seen that should be managed
 * @sn: network namespace
 * @sk: found by a lookup in this RCU section
 *
 * If there are too many at once, a later SYN asks again.
 *
 * Context: any, rcu_read_lock()
 */
void synq_record_want(struct synq_net *sn, struct sock *sk)
{
	bool queued = false;
	unsigned int i;

	spin_lock_bh(&sn->wanted_lock);
	for (i = 0; i < sn->n_wanted; i++)
		if (sn->wanted[i] == sk)
			goto out;
	if (sn->n_wanted < SYNQ_WANTED_MAX &&
	    refcount_inc_not_zero(&sk->sk_refcnt)) {
		sn->wanted[sn->n_wanted++] = sk;
		queued = true;
	}
out:
	spin_unlock_bh(&sn->wanted_lock);
	if (queued)
		schedule_work(&sn->attach_work);
}

/**
 * synq_record_wanted() - take the list of sockets to be managed
 * @sn: network namespace
 * @sks: room for SYNQ_WANTED_MAX; each comes with a reference
 *
 * Context: process
 * Return: their number
 */
unsigned int synq_record_wanted(struct synq_net *sn, struct sock **sks)
{
	unsigned int n;

	spin_lock_bh(&sn->wanted_lock);
	n = sn->n_wanted;
	memcpy(sks, sn->wanted, n * sizeof(*sks));
	sn->n_wanted = 0;
	spin_unlock_bh(&sn->wanted_lock);
	return n;
}
