// SPDX-License-Identifier: GPL-2.0
/*
 * Manages listening sockets, by one pointer of each: that to its address family
 * operations, which becomes one to a copy (ops.c) with two functions of ours:
 *
 *   conn_request	what becomes of this SYN? (judge.c)
 *   syn_recv_sock	the gate: may this request be promoted now?
 *
 * After a promotion the gate schedules a tasklet, which puts what was appended to the
 * accept queue into order (record.c) when the CPU is done with the packets at hand.
 *
 * Sockets are found by use: LOCAL_IN attaches to the listener of a SYN, so that this very
 * SYN is judged; unless the owner of the socket has its lock, or a program chooses another
 * member of its reuseport group.  The worker does what may take longer.
 *
 * DOC: the borrowing rules
 *
 * 1. The pointer to the operations is all that is borrowed.  sk_data_ready,
 *    sk_destruct and whatever else a child copies from its listener stay the
 *    kernel's: a child that is cloned where no gate of ours is in the way would keep
 *    them, and nothing would tell.
 * 2. The owner of a socket changes its operations without any privilege: once it does
 *    not listen, connect(2) to a mapped address and IPV6_ADDRFORM write there, and
 *    then it may listen again.  So the pointer is replaced by cmpxchg(), from the value
 *    that was copied to ours and from ours to that value: what the owner has written
 *    stays.  A socket that listens with operations that are not ours is left by the
 *    worker, and found anew by its next SYN.
 * 3. The gate puts the pointer of a child back where it is ours.  A child that was
 *    cloned by the original, on a CPU that was in it when the pointer was replaced,
 *    keeps it: a copy is never freed, and calls nothing of ours once the module has
 *    gone (ops.c).  The two functions of ours are called for sockets that listen only.
 * 4. Each of ours knows which function it stands in for, from its own address, and
 *    calls it whether or not there is a record of the socket.  So a record may go at
 *    any time; its users are under rcu_read_lock(), and it is freed a grace
 *    period later (record.c).
 * 5. A record holds a reference to its socket.  The lock that lock_sock() takes is
 *    never waited for, since the owner can hold it for ever (a page fault on FUSE or
 *    userfaultfd memory in setsockopt(2)).  Attaching asks with bh_lock_sock() whether
 *    it is free, so that the owner is not about to change what is borrowed; else a
 *    later SYN tries again.
 * 6. If another module has copied our functions into its own operations, which no
 *    kernel does with a socket that listens, the module stays loaded for good: it looks
 *    whenever it is called for operations that are not ours, and when it leaves a socket
 *    that has others than it was given.
 * 7. The number of SYN-ACK retries (record.c) is written under
 *    &synq_net.records_lock, and put back when the record is removed, before the
 *    pointer is.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>
#include "admission.h"
#include "classify.h"
#include "compat.h"
#include "follow.h"
#include "gate.h"
#include "judge.h"
#include "listener.h"
#include "ops.h"
#include "record.h"
#include "release.h"
#include "synq_trace.h"

/* How often sockets are looked at: do they still listen, and what was accepted? */
#define TEND_PERIOD	(HZ / 10)
/* Of a network namespace: a record has 13 KB, which a listener's owner does not pay. */
#define SOCKETS_MAX	4096
#define PAIRS		8

static struct synq_pair pairs[PAIRS];
static unsigned long pinned;		/* bit 0: rule 6 */

static const struct inet_connection_sock_af_ops *ops_of(const struct sock *sk)
{
	return READ_ONCE(inet_csk(sk)->icsk_af_ops);
}

/* Rule 6. The kernel calls us by these operations, so that they are valid memory. */
static noinline void look_for_foreign(const struct sock *sk)
{
	if (!synq_ops_is_foreign(ops_of(sk), pairs, PAIRS) ||
	    test_and_set_bit(0, &pinned))
		return;
	__module_get(THIS_MODULE);
	pr_notice("synq: stays loaded: another module calls it for a listening socket\n");
}

/* NULL: pass it on, as for a socket that is not managed. */
static struct synq_record *record_of(const struct synq_pair *pair,
				     const struct sock *sk)
{
	struct synq_record *record = synq_record_find(sk);

	if (unlikely(!record || ops_of(sk) != &record->ops->copy))
		look_for_foreign(sk);
	return record && record->ops->pair == pair ? record : NULL;
}

/* Rule 3. The child is locked, and its operations were not called yet. */
static void disinherit(const struct synq_record *record, struct sock *child)
{
	struct inet_connection_sock *icsk = inet_csk(child);

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

static struct sock *ask(const struct synq_pair *pair, const struct sock *sk,
			struct sk_buff *skb, struct request_sock *req,
			struct dst_entry *dst, struct request_sock *req_unhash,
			bool *own_req SYNQ_SYN_RECV_REST_DECL)
{
	enum synq_hold_answer held = SYNQ_HOLD_STRANGER;
	struct synq_listener listener;
	struct synq_record *record;
	struct sock *child = NULL;
	struct synq_gate gate = {
		.listener = &listener,
		.skb = skb,
		.req = req,
		.final = final_of(dst, req_unhash),
	};
	u64 held_ns = 0;
	bool asked;

	smp_rmb();	/* of @pair; with cmpxchg() in borrow() */
	/* A segment out of a socket's backlog may come without RCU. */
	rcu_read_lock();
	record = record_of(pair, sk);
	/* With BH on, too: were it off here, what waits would run with the child locked. */
	if (!record || !softirq_count()) {
		child = pair->syn_recv_sock(sk, skb, req, dst, req_unhash,
					    own_req SYNQ_SYN_RECV_REST);
		if (child && record)
			disinherit(record, child);
		goto out;
	}
	gate.record = record;
	gate.conf = synq_record_conf(record, &listener);
	if (req_unhash)
		held = synq_hold_ask(record, skb, req);
	if (held == SYNQ_HOLD_KEPT)
		goto out;
	if (gate.conf) {
		synq_record_catch_up(record);
		gate.class = synq_classify_request(gate.conf, sk, req);
	}
	if (gate.conf && held == SYNQ_HOLD_STRANGER) {
		switch (synq_gate(&gate)) {
		case SYNQ_GATE_PASS:
			break;
		case SYNQ_GATE_HELD:
			goto out;
		case SYNQ_GATE_REFUSE:
			child = refuse(sk, dst);
			goto out;
		}
	}
	/* A cookie does not say it; and the way back may depend on it. */
	if (gate.conf && gate.final == SYNQ_FINAL_COOKIE &&
	    synq_classify_mark_request(gate.conf, sk, req, gate.class)) {
		dst_release(dst);
		dst = NULL;
	}
	asked = req_unhash && synq_acceptq_was_asked(sk, req);
	if (held != SYNQ_HOLD_STRANGER)
		held_ns = synq_hold_promoting(req);
	child = pair->syn_recv_sock(sk, skb, req, dst, req_unhash, own_req SYNQ_SYN_RECV_REST);
	if (held != SYNQ_HOLD_STRANGER)
		synq_hold_promoted(req, child && *own_req);
	if (child)
		disinherit(record, child);
	if (child && *own_req && gate.conf) {
		/* It is appended when we return: in softirq, after which the tasklet runs. */
		tasklet_schedule(&record->order);
		synq_count(record->counters, gate.class->slot, SYNQ_COUNT_PROMOTED);
		trace_synq_promote(record->counters->port, gate.class->name, held);
		if (listener.inside)
			synq_follow_enter(record, gate.class, child, req, skb, held_ns);
		if (held == SYNQ_HOLD_STRANGER)
			synq_gate_promoted(&gate, asked);
	}
	if (!child && gate.conf && held == SYNQ_HOLD_STRANGER)
		synq_gate_missed(&gate);
out:
	rcu_read_unlock();
	return child;
}

/* The caller has BH off and holds rcu_read_lock(). */
static int judge(const struct synq_pair *pair, struct sock *sk,
		 struct sk_buff *skb)
{
	struct synq_record *record;

	smp_rmb();	/* of @pair; with cmpxchg() in borrow() */
	record = record_of(pair, sk);
	if (record && !synq_judge(record, sk, skb))
		return 0;
	return pair->conn_request(sk, skb);
}

/* Rule 4. */
#define GATE(n)								\
static struct sock *gate##n(const struct sock *sk, struct sk_buff *skb,	\
			    struct request_sock *req,			\
			    struct dst_entry *dst,			\
			    struct request_sock *req_unhash,		\
			    bool *own_req SYNQ_SYN_RECV_REST_DECL)	\
{									\
	return ask(&pairs[n], sk, skb, req, dst, req_unhash,		\
		   own_req SYNQ_SYN_RECV_REST);				\
}

#define JUDGE(n)							\
static int judge##n(struct sock *sk, struct sk_buff *skb)		\
{									\
	return judge(&pairs[n], sk, skb);				\
}

GATE(0) GATE(1) GATE(2) GATE(3) GATE(4) GATE(5) GATE(6) GATE(7)
JUDGE(0) JUDGE(1) JUDGE(2) JUDGE(3) JUDGE(4) JUDGE(5) JUDGE(6) JUDGE(7)

/* IPv4, IPv6, MPTCP over either; and some more. */
static struct synq_pair pairs[PAIRS] = {
	{ .gate = gate0, .judge = judge0 }, { .gate = gate1, .judge = judge1 },
	{ .gate = gate2, .judge = judge2 }, { .gate = gate3, .judge = judge3 },
	{ .gate = gate4, .judge = judge4 }, { .gate = gate5, .judge = judge5 },
	{ .gate = gate6, .judge = judge6 }, { .gate = gate7, .judge = judge7 },
};

/* Sockets of the kernel itself hold no reference to their namespace and are left alone. */
static bool may_manage(const struct sock *sk)
{
	return inet_sk_state_load(sk) == TCP_LISTEN && sk->sk_net_refcnt &&
	       sk->sk_protocol == IPPROTO_TCP;
}

/* By the snapshot in force, which may say nothing, or be only observed. */
static void set_retries(struct synq_record *record, void *unused)
{
	struct synq_listener listener;
	const struct synq_conf *conf;

	lockdep_assert_held(&record->sn->records_lock);
	rcu_read_lock();
	conf = synq_record_conf(record, &listener);
	synq_retries_set(&record->retries, record->sk,
			 conf && !conf->observe && !listener.observe ?
			 listener.synack_retries : 0);
	rcu_read_unlock();
}

/*
 * Rule 2.  Under the lock of the socket, which its owner does not have, the record is
 * added before its functions can be called.  -EINVAL: there is nothing to manage;
 * -EBUSY: the owner has the lock; -ENOTSUPP: its operations are not to be borrowed;
 * -EEXIST; -ENOMEM.  Takes the record.
 *
 * In softirq another socket may be locked here (tc's mirred delivers while its owner
 * sends), but never a listener, which sends nothing: the locks nest in one order.
 */
static int borrow(struct synq_record *record)
{
	struct inet_connection_sock *icsk = inet_csk(record->sk);
	const struct inet_connection_sock_af_ops *original;
	struct sock *sk = record->sk;
	int err = -EINVAL;

	local_bh_disable();
	bh_lock_sock_nested(sk);
	original = ops_of(sk);
	if (!may_manage(sk) || inet_sk(sk)->inet_num != record->counters->port)
		goto out;
	err = -EBUSY;
	if (sock_owned_by_user(sk))
		goto out;
	record->ops = synq_ops_get(sk, original, pairs, PAIRS);
	err = PTR_ERR_OR_ZERO(record->ops);
	if (!err)
		err = synq_record_add(record);
	/* A child that was left with a copy has it already. */
	if (!err && original != &record->ops->copy)
		cmpxchg(&icsk->icsk_af_ops, original, &record->ops->copy);
out:
	bh_unlock_sock(sk);
	if (err)
		synq_record_undo(record);
	local_bh_enable();
	return err;
}

/*
 * With the lock of borrow(), whose record may have been found before it has come to its
 * end.  Foreign operations may go with their socket, which has to be listening.
 */
static void put_back(struct synq_record *record)
{
	struct inet_connection_sock *icsk = inet_csk(record->sk);
	struct sock *sk = record->sk;

	local_bh_disable();
	bh_lock_sock(sk);
	if (cmpxchg(&icsk->icsk_af_ops, &record->ops->copy,
		    record->ops->original) != &record->ops->copy &&
	    !sock_owned_by_user(sk) && inet_sk_state_load(sk) == TCP_LISTEN)
		look_for_foreign(sk);
	bh_unlock_sock(sk);
	local_bh_enable();
}

static void leave(struct synq_record *record)
{
	synq_record_leave(record);
	set_retries(record, NULL);
	/* As long as its gate is there, which knows what was held. */
	synq_release_all(record, true);
	put_back(record);
	synq_follow_leave(record, true);
	synq_record_remove(record);
}

/**
 * synq_listener_attach() - manage a listener from now on
 * @sn: network namespace
 * @conf: snapshot, which has its port
 * @sk: listener without a record, found in this RCU section
 *
 * If that is not possible its SYN passes unjudged, which is counted.  The next attempt is
 * made a second later, or with the next SYN if the owner had the lock of the socket.
 *
 * Context: rcu_read_lock()
 */
void synq_listener_attach(struct synq_net *sn, const struct synq_conf *conf,
			  struct sock *sk)
{
	struct synq_port *port = synq_conf_port(conf, READ_ONCE(inet_sk(sk)->inet_num));
	struct synq_record *record;
	int err = -ENOMEM;

	if (!port || synq_record_is_given_up(sn, sk))
		return;
	if (sock_owned_by_user_nocheck(sk)) {
		atomic64_inc(&sn->attach_busy);
		return;
	}
	if (atomic_read(&sn->sockets) < SOCKETS_MAX) {
		record = synq_record_alloc(sn, sk, port);
		if (IS_ERR(record))
			return;		/* the socket is on its way out */
		if (record)
			err = borrow(record);
	}
	switch (err) {
	case 0:
		schedule_work(&sn->attach_work);
		return;
	case -EBUSY:
		atomic64_inc(&sn->attach_busy);
		return;
	case -ENOMEM:
		/* The worker provides memory for the next try. */
		schedule_work(&sn->attach_work);
		atomic64_inc(&sn->attach_failed);
		break;
	case -ENOTSUPP:
		atomic64_inc(&sn->foreign_owner);
		break;
	default:
		return;
	}
	synq_record_give_up(sn, sk);
}

/*
 * The second half of attaching.  A packet may have attached by a snapshot that is not
 * in force any more, from which the port has gone: a port that leaves the configuration
 * takes its records along, but cannot have known of this one.
 */
static void settle_in(struct synq_record *record)
{
	struct synq_net *sn = record->sn;
	const struct synq_conf *conf;
	bool is_ours;

	rcu_read_lock();
	conf = rcu_dereference(sn->conf);
	is_ours = conf && synq_conf_port(conf, record->counters->port) ==
			  record->counters;
	rcu_read_unlock();
	if (!is_ours) {
		leave(record);
		return;
	}
	set_retries(record, NULL);
	synq_record_sort(record->sk);
}

static void settle_all_in(struct synq_net *sn)
{
	synq_record_each_fresh(sn, settle_in);
}

static void attach_work(struct work_struct *work)
{
	struct synq_net *sn = container_of(work, struct synq_net, attach_work);

	settle_all_in(sn);
	synq_record_provide(sn);
	schedule_delayed_work(&sn->tend_work, TEND_PERIOD);
}

/* It does not listen any more, or elsewhere, or its owner has changed it: rule 2. */
static bool is_lost(const struct synq_record *record)
{
	const struct sock *sk = record->sk;

	return inet_sk_state_load(sk) != TCP_LISTEN ||
	       READ_ONCE(inet_sk(sk)->inet_num) != record->counters->port ||
	       ops_of(sk) != &record->ops->copy;
}

static void tend(struct synq_record *record, void *unused)
{
	bool more;

	if (is_lost(record)) {
		if (inet_sk_state_load(record->sk) == TCP_LISTEN)
			atomic64_inc(&record->sn->foreign_owner);
		leave(record);
		return;
	}
	synq_record_settle(record);
	synq_follow_tend(record);
	/* What came from another listener's queue passed no gate of ours. */
	rcu_read_lock();
	synq_record_place(record, &more);
	rcu_read_unlock();
	if (more)
		tasklet_schedule(&record->order);
}

/* Of most sockets there is nothing to be told. */
static void tend_if_used(struct synq_record *record, void *any)
{
	if (is_lost(record) || synq_acceptq_is_used(&record->acceptq, record->sk) ||
	    READ_ONCE(record->inside.n))
		tend(record, NULL);
	*(bool *)any = true;
}

/**
 * synq_listener_tend() - leave sockets that do not listen any more, and count accepted
 * and half-open connections
 * @sn: network namespace
 *
 * Context: process
 */
void synq_listener_tend(struct synq_net *sn)
{
	synq_record_each(sn, tend, NULL);
}

static void tend_work(struct work_struct *work)
{
	struct synq_net *sn = container_of(to_delayed_work(work),
					   struct synq_net, tend_work);
	bool any = false;

	synq_record_each(sn, tend_if_used, &any);
	if (any)
		schedule_delayed_work(&sn->tend_work, TEND_PERIOD);
}

/* Of sockets whose port is not in the configuration. */
static void leave_others(struct synq_record *record, void *data)
{
	const struct synq_conf *keep = data;

	if (!keep || synq_conf_port(keep, record->counters->port) !=
		     record->counters)
		leave(record);
}

/* Off: nothing waits any more, and nothing is seen. */
static void flush_held(struct synq_record *record, void *unused)
{
	synq_release_all(record, false);
	synq_follow_leave(record, false);
}

/* A new snapshot is in force, where some slots may have come to mean other classes. */
static void renew(struct synq_record *record, void *data)
{
	const struct synq_conf_change *change = data;

	synq_release_sort(record, change->conf);
	synq_handshakes_forget(&record->shakes, change->fresh);
	synq_follow_renew(record, change->fresh);
}

/* A new snapshot is in force: chunk by chunk, with a pause after each. */
static void sort(struct synq_record *record, void *unused)
{
	synq_record_sort(record->sk);
}

static int on_conf(struct notifier_block *nb, unsigned long event, void *data)
{
	struct synq_conf_change *change = data;
	struct synq_net *sn = change->sn;

	settle_all_in(sn);
	switch ((enum synq_conf_event)event) {
	case SYNQ_CONF_PREPARE:
		if (change->conf)
			synq_record_provide(sn);
		break;
	case SYNQ_CONF_PUBLISHED:
		synq_record_each(sn, leave_others, (void *)change->conf);
		synq_record_each(sn, renew, change);
		synq_record_each(sn, set_retries, NULL);
		synq_record_each(sn, sort, NULL);
		break;
	case SYNQ_CONF_SWITCHED:
		synq_record_each(sn, set_retries, NULL);
		if (READ_ONCE(sn->bypass))
			synq_record_each(sn, flush_held, NULL);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block conf_nb = { .notifier_call = on_conf };

/**
 * synq_listener_net_init() - a network namespace appears
 * @sn: its state
 */
void synq_listener_net_init(struct synq_net *sn)
{
	INIT_WORK(&sn->attach_work, attach_work);
	INIT_DELAYED_WORK(&sn->tend_work, tend_work);
	synq_record_net_init(sn);
}

/**
 * synq_listener_net_exit() - a network namespace goes away, or the module does
 * @sn: its state; no hook runs any more, and the configuration is gone, and with it
 *	every record but those that packets have just made
 */
void synq_listener_net_exit(struct synq_net *sn)
{
	settle_all_in(sn);
	cancel_work_sync(&sn->attach_work);
	cancel_delayed_work_sync(&sn->tend_work);
	synq_record_net_exit(sn);
}

/**
 * synq_listener_init() - follow the configuration
 *
 * Return: 0
 */
int synq_listener_init(void)
{
	return synq_conf_observe(&conf_nb);
}

/**
 * synq_listener_exit() - the module is about to go; every namespace has gone
 *
 * There is no record any more, and no socket that is known to have operations of ours.
 */
void synq_listener_exit(void)
{
	synq_conf_ignore(&conf_nb);
	synq_ops_disarm();
}
