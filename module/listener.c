// SPDX-License-Identifier: GPL-2.0
/*
 * Borrows three callbacks of each managed listening socket, and its destructor:
 *
 *   icsk_af_ops->conn_request	may this SYN have full state? (fullstate.c)
 *   icsk_af_ops->syn_recv_sock	the gate: may this request be promoted now?
 *   sk_data_ready		puts what was appended into class order
 *   sk_destruct		the socket goes, and its record with it
 *
 * Sockets are found by use: the packet hook leaves a listener that it saw
 * (record.c), the worker here attaches to it.
 *
 * DOC: the borrowing rules
 *
 * 1. A child is a copy of its listener and inherits the ops, sk_data_ready and
 *    sk_destruct.  The gate puts each one that is ours back into every child that
 *    it lets through.  A child that fails inside the original syn_recv_sock() dies
 *    there, with our destructor, which finds no record for it and calls the one
 *    that sockets of its family have.
 * 2. Attach: the record is hashed, then the ops are replaced, then a grace
 *    period passes, then sk_data_ready and sk_destruct are replaced.  A CPU
 *    that entered the original syn_recv_sock() before the ops changed is done
 *    by the end of the grace period (it is in softirq, or under
 *    rcu_read_lock() in inet_csk_listen_stop()); so every child that is cloned
 *    while the latter two are ours passes the gate.
 * 3. Detach: sk_data_ready and sk_destruct back, grace period, ops back, grace
 *    period, then the record leaves the hash and is freed after another.  By
 *    the mirror of 2 no child keeps a pointer of ours, and a callback in flight
 *    still finds its record and what to chain to.
 * 4. From the moment of hashing until sk_destruct is chained, and from the
 *    moment when it is put back until the record is unhashed, we hold a
 *    reference to the socket.  In between the destructor unhashes the record
 *    under synq_record_lock before the memory goes.  So the socket of a hashed
 *    record is valid memory for who holds that lock.
 * 5. A listener is freed by call_rcu() (SOCK_RCU_FREE), so its destructor runs
 *    when no lockless user is left.  If a detach meets a socket whose last
 *    reference is gone, that destructor is on its way: rcu_barrier() at module
 *    exit waits for it.  The state of its namespace goes before:
 *    synq_record_orphan().
 * 6. A copy of ops lives from its first use to module exit, and serves every
 *    listener with the same original, since setsockopt(2) calls through the
 *    pointer without RCU.  Ours in it are called in softirq, or with BH off under
 *    rcu_read_lock() (a SYN out of a socket's backlog), and the pointer is loaded
 *    there, too: rules 2 and 3 hold for conn_request() as for syn_recv_sock().
 * 7. Only what is ours is put back.  If somebody else sits on top, the record
 *    stays as a mere pass-through, and the module stays loaded, until the
 *    socket is gone.
 * 8. The number of SYN-ACK retries (retries.c) is written under
 *    synq_record_lock, where the socket is valid memory (rule 4), and put back in
 *    the first step of a detach. A child that was copied before passes the
 *    gate as by rule 3, and gets what the listener had of its own.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>
#include "classify.h"
#include "compat.h"
#include "fullstate.h"
#include "gate.h"
#include "listener.h"
#include "ops.h"
#include "record.h"
#include "settle.h"

static DEFINE_MUTEX(attach_mutex);	/* protects the copies of ops, and: */
static void (*family_destruct[2])(struct sock *sk);	/* IPv4, IPv6 */

/* Rule 7: as long as somebody else may call us, the text must stay. */
static void pin(struct synq_record *record)
{
	struct synq_net *sn = READ_ONCE(record->sn);

	if (test_bit(0, &record->pinned) ||
	    test_and_set_bit(0, &record->pinned))
		return;
	if (!try_module_get(THIS_MODULE)) {
		clear_bit(0, &record->pinned);
		return;
	}
	if (sn)		/* synq_record_orphan() */
		atomic64_inc(&sn->foreign_owner);
}

static void unpin(struct synq_record *record)
{
	if (test_and_clear_bit(0, &record->pinned))
		module_put(THIS_MODULE);
}

/*
 * Called for a listener after every append to its accept queue; for a socket
 * that listened once, too, and then only chains.
 */
static void synq_data_ready(struct sock *sk)
{
	struct synq_record *record;
	bool more;

	rcu_read_lock();
	record = synq_record_find(sk);
	/* By rules 2 and 3 there is one. */
	if (!WARN_ON_ONCE(!record)) {
		if (synq_record_place(record, &more))
			synq_settle_later(record->sn);
		if (READ_ONCE(sk->sk_data_ready) != synq_data_ready &&
		    !READ_ONCE(record->leaving))
			pin(record);
		record->data_ready(sk);
	}
	rcu_read_unlock();
}

static void synq_destruct(struct sock *sk)
{
	void (*destruct)(struct sock *sk);
	struct synq_record *record;

	spin_lock_bh(&synq_record_lock);
	record = synq_record_find(sk);
	if (record) {
		synq_acceptq_forget(&record->acceptq, record->counters,
				    SYNQ_COUNT_CLOSED);
		synq_record_unhash(record);
	}
	spin_unlock_bh(&synq_record_lock);

	/* Rule 1: a child that failed. */
	destruct = record ? record->destruct :
			    family_destruct[sk->sk_family == AF_INET6];
	if (record) {
		unpin(record);
		synq_record_free(record);
	}
	destruct(sk);
}

/* Rule 1. The child is locked, and nobody can have called it yet. */
static void disinherit(const struct synq_record *record, struct sock *child)
{
	struct inet_connection_sock *icsk = inet_csk(child);

	if (child->sk_data_ready == synq_data_ready)
		WRITE_ONCE(child->sk_data_ready, record->data_ready);
	if (child->sk_destruct == synq_destruct)
		child->sk_destruct = record->destruct;
	if (icsk->icsk_af_ops == &record->ops->copy)
		WRITE_ONCE(icsk->icsk_af_ops, record->ops->original);
	synq_retries_disinherit(&record->retries, child);
}

/* The three callers of syn_recv_sock() are told apart by what they have. */
static enum synq_final final_of(const struct dst_entry *dst,
				const struct request_sock *req_unhash)
{
	if (req_unhash)
		return SYNQ_FINAL_ACK;
	return dst ? SYNQ_FINAL_COOKIE : SYNQ_FINAL_FASTOPEN;
}

static struct sock *refuse(const struct sock *sk, struct dst_entry *dst)
{
	/* As the original does when the accept queue is full. */
	dst_release(dst);
	tcp_listendrop(sk);
	return NULL;
}

static struct sock *synq_syn_recv_sock(const struct sock *sk,
				       struct sk_buff *skb,
				       struct request_sock *req,
				       struct dst_entry *dst,
				       struct request_sock *req_unhash,
				       bool *own_req
				       SYNQ_SYN_RECV_REST_DECL)
{
	const struct inet_connection_sock_af_ops *original;
	enum synq_final final = final_of(dst, req_unhash);
	const struct synq_class *class = NULL;
	const struct synq_conf *conf;
	struct synq_listener listener;
	struct synq_record *record;
	struct sock *child = NULL;
	u64 claim = 0;

	rcu_read_lock();
	record = synq_record_find(sk);
	if (!record) {
		/* A foreign owner kept our pointer: rule 7. */
		original = synq_ops_original(READ_ONCE(inet_csk(sk)->icsk_af_ops));
		child = original ?
			original->syn_recv_sock(sk, skb, req, dst, req_unhash,
						own_req SYNQ_SYN_RECV_REST) :
			refuse(sk, dst);
		goto out;
	}
	original = record->ops->original;
	conf = synq_record_conf(record, &listener);
	if (conf) {
		class = synq_classify_request(conf, sk, req);
		if (!synq_gate(record, conf, &listener, class, sk, skb, req,
			       final)) {
			child = refuse(sk, dst);
			goto out;
		}
	}
	if (req_unhash)
		claim = synq_withheld_claim(&record->withheld, req);
	child = original->syn_recv_sock(sk, skb, req, dst, req_unhash,
					own_req SYNQ_SYN_RECV_REST);
	if (child)
		disinherit(record, child);
	if (READ_ONCE(inet_csk(sk)->icsk_af_ops) != &record->ops->copy &&
	    !READ_ONCE(record->leaving))
		pin(record);
	if (child && *own_req && class) {
		synq_count(record->counters, class->slot, SYNQ_COUNT_PROMOTED);
		if (!claim && !synq_gate_knows(record, skb, final))
			synq_admission_complete(&record->admission, class, sk,
						req, final, true);
	}
	if (claim && class)
		synq_withheld_settle(&record->withheld, record->counters,
				     class->slot, req, claim,
				     child && *own_req);
out:
	rcu_read_unlock();
	return child;
}

/* The caller has BH off and holds rcu_read_lock(). */
static int synq_conn_request(struct sock *sk, struct sk_buff *skb)
{
	const struct inet_connection_sock_af_ops *original;
	const struct synq_record *record = synq_record_find(sk);

	if (!record) {
		/* A foreign owner kept our pointer: rule 7. */
		original = synq_ops_original(READ_ONCE(inet_csk(sk)->icsk_af_ops));
		if (original)
			return original->conn_request(sk, skb);
		tcp_listendrop(sk);
		return 0;
	}
	synq_fullstate_request(sk, record, skb);
	return record->ops->original->conn_request(sk, skb);
}

/* The listener of a port in force, with a reference. */
static struct synq_port *port_of(struct synq_net *sn, u16 num)
{
	const struct synq_conf *conf;
	struct synq_port *port = NULL;

	rcu_read_lock();
	conf = rcu_dereference(sn->conf);
	if (conf)
		port = synq_conf_port(conf, num);
	if (port)
		synq_port_get(port);
	rcu_read_unlock();
	return port;
}

/*
 * Sockets of the kernel itself hold no reference to their namespace and are
 * left alone; a socket whose destructor is not its family's cannot be served
 * by rule 1.
 */
static bool may_manage(const struct sock *sk)
{
	bool v6 = sk->sk_family == AF_INET6;

	if (inet_sk_state_load(sk) != TCP_LISTEN || !sk->sk_net_refcnt ||
	    sk->sk_protocol != IPPROTO_TCP)
		return false;
	if (!family_destruct[v6])
		family_destruct[v6] = sk->sk_destruct;
	return sk->sk_destruct == family_destruct[v6];
}

/* By the snapshot in force, which may say nothing, or be only observed. */
static void set_retries(struct synq_record *record)
{
	struct synq_listener listener;
	const struct synq_conf *conf;

	lockdep_assert_held(&synq_record_lock);
	rcu_read_lock();
	conf = synq_record_conf(record, &listener);
	synq_retries_set(&record->retries, record->sk,
			 conf && !conf->observe && !listener.observe ?
			 listener.synack_retries : 0);
	rcu_read_unlock();
}

/* First half of rule 2. Returns the hashed record. */
static struct synq_record *borrow_ops(struct synq_net *sn, struct sock *sk)
{
	struct synq_port *port = port_of(sn, inet_sk(sk)->inet_num);
	struct synq_record *record = NULL;
	const struct synq_ops *ops = NULL;

	lockdep_assert_held(&attach_mutex);
	if (!port)
		return NULL;
	lock_sock(sk);
	spin_lock_bh(&synq_record_lock);
	record = synq_record_find(sk);
	spin_unlock_bh(&synq_record_lock);
	if (record) {
		record = NULL;
		goto out;
	}
	if (may_manage(sk)) {
		ops = synq_ops_get(inet_csk(sk)->icsk_af_ops,
				   synq_syn_recv_sock, synq_conn_request);
		record = synq_record_alloc(sn, sk, port);
	}
	if (!ops || !record) {
		if (record)
			synq_record_free(record);
		record = NULL;
		atomic64_inc(&sn->attach_failed);
		goto out;
	}
	record->ops = ops;
	record->data_ready = sk->sk_data_ready;
	record->destruct = sk->sk_destruct;
	spin_lock_bh(&synq_record_lock);
	synq_record_hash(record);
	set_retries(record);
	WRITE_ONCE(inet_csk(sk)->icsk_af_ops, &ops->copy);
	spin_unlock_bh(&synq_record_lock);
out:
	release_sock(sk);
	synq_port_put(port);
	return record;
}

/* Second half of rule 2, a grace period later. */
static void borrow_callbacks(struct synq_record *record, struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	record->data_ready = sk->sk_data_ready;
	WRITE_ONCE(sk->sk_data_ready, synq_data_ready);
	sk->sk_destruct = synq_destruct;
	write_unlock_bh(&sk->sk_callback_lock);
}

static void attach(struct work_struct *work)
{
	struct synq_net *sn = container_of(work, struct synq_net, attach_work);
	struct synq_record *record[SYNQ_WANTED_MAX];
	struct sock *sk[SYNQ_WANTED_MAX];
	unsigned int i, n;
	bool any = false;

	n = synq_record_wanted(sn, sk);
	mutex_lock(&attach_mutex);
	for (i = 0; i < n; i++) {
		record[i] = borrow_ops(sn, sk[i]);
		any |= !!record[i];
	}
	if (any)
		synchronize_rcu();
	for (i = 0; i < n; i++) {
		if (!record[i])
			continue;
		borrow_callbacks(record[i], sk[i]);
		synq_record_sort(sk[i]);
		/* Not before: who is told so may connect, and look at the order. */
		synq_record_managed(record[i]);
	}
	mutex_unlock(&attach_mutex);
	synq_settle_later(sn);
	for (i = 0; i < n; i++)
		sock_put(sk[i]);
}

/* Nothing of ours is covered by somebody else's. */
static bool all_ours(const struct synq_record *record)
{
	const struct sock *sk = record->sk;

	return READ_ONCE(sk->sk_data_ready) == synq_data_ready &&
	       READ_ONCE(sk->sk_destruct) == synq_destruct &&
	       READ_ONCE(inet_csk(sk)->icsk_af_ops) == &record->ops->copy;
}

/*
 * First step of rule 3: of all sockets of the namespace whose port is not in
 * @keep. They are listed, each with a reference (rule 4).
 */
static void return_callbacks(struct synq_net *sn, const struct synq_conf *keep,
			     struct list_head *leave)
{
	struct synq_record *record;
	struct hlist_node *next;
	int bucket;

	spin_lock_bh(&synq_record_lock);
	hash_for_each_safe(synq_records, bucket, next, record, node) {
		struct sock *sk = record->sk;

		if (record->sn != sn ||
		    (keep && synq_conf_port(keep, record->counters->port) ==
			     record->counters))
			continue;
		WRITE_ONCE(record->leaving, true);
		set_retries(record);
		if (!all_ours(record)) {
			pin(record);
			continue;
		}
		if (!refcount_inc_not_zero(&sk->sk_refcnt))
			continue;	/* rule 5 */
		write_lock(&sk->sk_callback_lock);
		WRITE_ONCE(sk->sk_data_ready, record->data_ready);
		sk->sk_destruct = record->destruct;
		write_unlock(&sk->sk_callback_lock);
		list_add(&record->leave, leave);
	}
	spin_unlock_bh(&synq_record_lock);
}

/* Second step of rule 3. */
static void return_ops(struct list_head *leave)
{
	struct synq_record *record, *next;

	list_for_each_entry_safe(record, next, leave, leave) {
		struct sock *sk = record->sk;

		if (cmpxchg(&inet_csk(sk)->icsk_af_ops, &record->ops->copy,
			    record->ops->original) == &record->ops->copy)
			continue;
		/* Somebody came in between: rule 7 after all. */
		list_del(&record->leave);
		pin(record);
		sk->sk_destruct = synq_destruct;
		sock_put(sk);
	}
}

/* Last step of rule 3. */
static void drop_records(struct list_head *leave)
{
	struct synq_record *record, *next;

	list_for_each_entry_safe(record, next, leave, leave) {
		struct sock *sk = record->sk;

		spin_lock_bh(&synq_record_lock);
		synq_record_unhash(record);
		spin_unlock_bh(&synq_record_lock);
		/* A callback may have taken our leaving for somebody's coming. */
		unpin(record);
		synq_record_free(record);
		sock_put(sk);
	}
}

static void detach(struct synq_net *sn, const struct synq_conf *keep)
{
	LIST_HEAD(leave);

	mutex_lock(&attach_mutex);
	return_callbacks(sn, keep, &leave);
	if (!list_empty(&leave)) {
		synchronize_rcu();
		return_ops(&leave);
		synchronize_rcu();
		drop_records(&leave);
	}
	mutex_unlock(&attach_mutex);
}

/* Before a snapshot goes: its class slots may come to mean other classes. */
static void forget_withheld(struct synq_record *record, void *unused)
{
	synq_withheld_clear(&record->withheld, record->counters);
}

/* A new snapshot is in force, where some slots have come to mean other classes. */
static void forget_slots(struct synq_record *record, void *slots)
{
	synq_admission_forget(&record->admission, *(u32 *)slots);
}

/* Another snapshot is in force, or none: synq was switched off or on. */
static void follow_retries(struct synq_record *record, void *unused)
{
	set_retries(record);
}

/* A new snapshot is in force: one more chunk of a queue (rule 4). */
static void sort_some(struct synq_record *record, void *any)
{
	bool more;

	synq_record_place(record, &more);
	*(bool *)any |= more;
}

static void sort_all(const struct synq_net *sn)
{
	bool more;

	do {
		more = false;
		synq_record_each(sn, sort_some, &more);
		cond_resched();
	} while (more);
}

static int on_conf(struct notifier_block *nb, unsigned long event, void *data)
{
	struct synq_conf_change *change = data;
	struct synq_net *sn = change->sn;

	switch ((enum synq_conf_event)event) {
	case SYNQ_CONF_PREPARE:
		synq_record_each(sn, forget_withheld, NULL);
		break;
	case SYNQ_CONF_PUBLISHED:
		detach(sn, change->conf);
		if (change->fresh)
			synq_record_each(sn, forget_slots, &change->fresh);
		synq_record_each(sn, follow_retries, NULL);
		sort_all(sn);
		if (change->conf)
			synq_settle_later(sn);
		break;
	case SYNQ_CONF_SWITCHED:
		synq_record_each(sn, follow_retries, NULL);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block conf_nb = { .notifier_call = on_conf };

/**
 * synq_listener_net_init() - a network namespace appears
 * @sn: its state
 *
 * Context: process
 */
void synq_listener_net_init(struct synq_net *sn)
{
	INIT_WORK(&sn->attach_work, attach);
	synq_settle_net_init(sn);
}

/**
 * synq_listener_net_exit() - a network namespace goes away
 * @sn: its state; no hook runs any more and the configuration is gone, so
 *	that the worker attaches to nothing, and nobody asks for the account
 *
 * Context: process
 */
void synq_listener_net_exit(struct synq_net *sn)
{
	struct sock *sk[SYNQ_WANTED_MAX];
	unsigned int n;

	cancel_work_sync(&sn->attach_work);
	synq_settle_net_exit(sn);
	n = synq_record_wanted(sn, sk);
	while (n--)
		sock_put(sk[n]);
	detach(sn, NULL);
	synq_record_orphan(sn);
}

/**
 * synq_listener_init() - follow the configuration
 *
 * Context: process
 * Return: 0
 */
int synq_listener_init(void)
{
	return synq_conf_observe(&conf_nb);
}

static bool records_left(void)
{
	struct synq_record *record;
	bool left = false;
	int bucket;

	rcu_read_lock();
	hash_for_each_rcu(synq_records, bucket, record, node)
		left = true;
	rcu_read_unlock();
	return left;
}

/**
 * synq_listener_exit() - the module is about to go; every namespace has gone
 *
 * What is left in the hash is on its way to its destructor (rule 5), or has a
 * foreign owner on top, noticed too late to refuse the removal (rule 7): wait.
 *
 * Context: process
 */
void synq_listener_exit(void)
{
	synq_conf_ignore(&conf_nb);
	rcu_barrier();
	if (records_left())
		pr_notice("synq: waiting for listening sockets whose callbacks another owner has taken over to be closed\n");
	while (records_left()) {
		msleep(100);
		rcu_barrier();
	}
	/* Rule 6: nobody is between loading the pointer and calling. */
	synchronize_rcu();
#ifdef CONFIG_TASKS_RCU
	synchronize_rcu_tasks();
#endif
	synq_ops_free_all();
}
