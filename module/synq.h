/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every file of synq may know: limits, verdicts, counters and the state
 * of one network namespace.  Each section of struct synq_net names the file
 * that owns it.
 *
 * DOC: locks, outermost first
 *
 * telling in netlink_watch.c	(rwsem) events are told
 * &synq_net.lock (mutex)	configuration: drafts, publishing, hooks
 * &synq_net.records_lock	(mutex) the managed sockets of a namespace
 * socket's slock (BH)		of a listener, while its operations are replaced
 * lock (BH) in ops.c		copies of operations
 * &synq_net.fresh_lock (BH)	sockets that packets have just begun to manage; crews
 * &synq_acceptq.lock (BH)	our tails in the accept queue of one listener
 * rskq_lock (BH)		of a listener: its accept queue
 * &synq_handshakes.lock (BH)	handshakes under way at one listener
 * &synq_hold.lock (BH)		held connections of one listener
 * &synq_inside.lock (BH)	connections that one listener's server works on
 * &synq_crew.lock (BH)		the limit of the listeners of one process
 * &synq_refusals.lock (BH)	sample of refused SYNs
 *
 * Packets, and the callbacks that the kernel calls on a listener, run under
 * rcu_read_lock() and take none of the mutexes.  The lock that lock_sock() takes is never
 * waited for: the owner of a socket can hold it for as long as it likes.
 */
#ifndef _SYNQ_H
#define _SYNQ_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <uapi/linux/synq.h>

/* Classes have a slot for life, and a position in the order of service. */
#define SYNQ_SLOT_LOCAL		0	/* the host itself */
#define SYNQ_SLOT_DEFAULT	1	/* built in; used without a default */
#define SYNQ_SLOT_FIRST		2
#define SYNQ_SLOTS		(SYNQ_SLOT_FIRST + SYNQ_CLASSES_MAX)

/**
 * enum synq_verdict - what becomes of a SYN
 * @SYNQ_VERDICT_ADMIT: within its rate, and its class has room
 * @SYNQ_VERDICT_EXCESS_DROP: over the rate of its class or of its source;
 *	dropped
 * @SYNQ_VERDICT_EXCESS_PASS: likewise; left to the stock kernel
 * @SYNQ_VERDICT_QUEUE_REFUSE: its class's part of the queues is full; dropped,
 *	as the stock kernel drops when the whole queue is full
 * @SYNQ_VERDICT_WAIT_REFUSE: it would wait for longer than its class may;
 *	dropped likewise
 * @SYNQ_VERDICT_EXCESS_RESET: over a rate; reset
 * @SYNQ_VERDICT_EXCESS_COOKIE: over a rate; answered by a SYN cookie
 * @SYNQ_VERDICT_EXCESS_UNANSWERED: to be answered in either way, which could
 *	not be; dropped
 * @SYNQ_VERDICT_COOKIE: its class has had its share of the SYN queue, or always
 *	gets cookies; answered by a SYN cookie
 * @SYNQ_VERDICT_SHARE_REFUSE: its class has had its share of the SYN queue, and
 *	gets no cookies; dropped
 * @SYNQ_VERDICT_SHARE_RESET: likewise; reset
 */
enum synq_verdict {
	SYNQ_VERDICT_ADMIT,
	SYNQ_VERDICT_EXCESS_DROP,
	SYNQ_VERDICT_EXCESS_PASS,
	SYNQ_VERDICT_QUEUE_REFUSE,
	SYNQ_VERDICT_WAIT_REFUSE,
	SYNQ_VERDICT_EXCESS_RESET,
	SYNQ_VERDICT_EXCESS_COOKIE,
	SYNQ_VERDICT_EXCESS_UNANSWERED,
	SYNQ_VERDICT_COOKIE,
	SYNQ_VERDICT_SHARE_REFUSE,
	SYNQ_VERDICT_SHARE_RESET,
	SYNQ_VERDICTS
};

/*
 * Counted for each pair of listener and class.
 *
 * The meaning of each is in Documentation/netlink/specs/synq.yaml, attribute
 * set "counters".  SYNQ_COUNT_SEEN is the sum of admitted, excess and refused,
 * one for each verdict.  SYNQ_COUNT_PLACED is the sum of accepted,
 * closed, replaced, and what is queued; SYNQ_COUNT_HELD that of released, gone, flushed,
 * and what is held.
 */
enum synq_counter {
	SYNQ_COUNT_SEEN,
	SYNQ_COUNT_RETRIES,
	SYNQ_COUNT_ADMITTED,
	SYNQ_COUNT_EXCESS_DROPPED,
	SYNQ_COUNT_EXCESS_PASSED,
	SYNQ_COUNT_QUEUE_REFUSED,
	SYNQ_COUNT_WAIT_REFUSED,
	SYNQ_COUNT_PROMOTED,
	SYNQ_COUNT_HELD,
	SYNQ_COUNT_RELEASED,
	SYNQ_COUNT_HOLD_GONE,
	SYNQ_COUNT_HOLD_FLUSHED,
	SYNQ_COUNT_HOLD_FULL,
	SYNQ_COUNT_COOKIE_REFUSED,
	SYNQ_COUNT_FASTOPEN_DECLINED,
	SYNQ_COUNT_GATE_BYPASSED,
	SYNQ_COUNT_PLACED,
	SYNQ_COUNT_MOVED,
	SYNQ_COUNT_ACCEPTED,
	SYNQ_COUNT_SHARED,
	SYNQ_COUNT_WOULD_REFUSE,
	SYNQ_COUNT_WOULD_HOLD,
	SYNQ_COUNT_WOULD_MOVE,
	SYNQ_COUNT_CLOSED,
	SYNQ_COUNT_REPLACED,
	SYNQ_COUNT_SOURCE_UNTRACKED,
	SYNQ_COUNT_SOURCE_EXCEEDED,
	SYNQ_COUNT_WAITED,	/* up to 1 ms, 4 ms, 16 ms ... */
	SYNQ_COUNT_WAITED_LONGER = SYNQ_COUNT_WAITED + 7,
	SYNQ_COUNT_HELD_FOR,	/* likewise */
	SYNQ_COUNT_HELD_LONGER = SYNQ_COUNT_HELD_FOR + 7,
	SYNQ_COUNT_EXCESS_RESET,
	SYNQ_COUNT_EXCESS_COOKIE,
	SYNQ_COUNT_EXCESS_UNANSWERED,
	SYNQ_COUNT_COOKIE_SENT,
	SYNQ_COUNT_SHARE_REFUSED,
	SYNQ_COUNT_FLOODED,
	SYNQ_COUNT_ANSWERED,	/* the first byte: up to 1 ms, 4 ms, 16 ms ... */
	SYNQ_COUNT_ANSWERED_LONGER = SYNQ_COUNT_ANSWERED + 7,
	SYNQ_COUNT_UNANSWERED,
	SYNQ_COUNT_STUCK,
	SYNQ_COUNT_NOT_FOLLOWED,
	SYNQ_COUNT_REQUEST_HELD,
	SYNQ_COUNT_REQUEST_RELEASED,
	SYNQ_COUNT_REQUEST_OVERDUE,
	SYNQ_COUNT_REQUEST_FLUSHED,
	SYNQ_COUNT_NET_EXCEEDED,
	SYNQ_COUNT_BY_MARK,	/* of those seen, how their class was found */
	SYNQ_COUNT_BY_SERVICE,
	SYNQ_COUNT_BY_PREFIX,
	SYNQ_COUNTERS
};

struct synq_conf;
struct synq_counters;
struct synq_hooks;
struct synq_record;
struct synq_refusals;

#define SYNQ_GIVEN_UP		16	/* a power of two */

struct sock;

/**
 * struct synq_given_up - a socket that could not be managed
 * @sk: compared, not looked at: it may be gone
 * @until: jiffies: not tried again before
 */
struct synq_given_up {
	const struct sock *sk;
	unsigned long until;
};

/*
 * synq in one network namespace.
 *
 * Freed by the pernet core after .exit; packets and socket callbacks that could reach it
 * are done by then, see main.c.
 */
struct synq_net {
	/* read on every SYN and every promotion */
	struct synq_conf __rcu *conf;	/* conf.c; NULL: unconfigured */
	bool bypass;			/* conf.c */
	struct synq_refusals __rcu *refusals;	/* stats.c; may be NULL */
	siphash_key_t key;		/* classify.c */

	/* written on every policed SYN, and not in the line that every packet reads */
	atomic64_t tat[SYNQ_SLOTS] ____cacheline_aligned_in_smp; /* policer.c: buckets */

	/* seldom */
	struct net *net ____cacheline_aligned_in_smp;
	struct mutex lock;		/* protects next 5 fields */
	u32 generation;			/* conf.c: of @conf; 0 at first */
	struct list_head drafts;	/* draft.c */
	struct synq_hooks *hooks[3];	/* hook.c: local, forward, inside; or NULL */
	struct synq_conf *before;	/* draft.c; NULL: nothing is on trial */
	unsigned long trial_end;	/* draft.c: jiffies */
	struct delayed_work trial_work;	/* draft.c */

	atomic_t sockets;		/* record.c: managed sockets */
	atomic_t held_bytes;		/* hold.c */
	atomic_t followed;		/* inside.c: connections */

	atomic64_t fragments;		/* hook.c */
	atomic64_t no_listener;		/* hook.c */
	atomic64_t malformed;		/* hook.c */
	atomic64_t attach_failed;	/* listener.c */
	atomic64_t attach_busy;		/* listener.c */
	atomic64_t foreign_owner;	/* listener.c */
	atomic64_t index_failed;	/* chunks.c */

	struct mutex records_lock;	/* record.c: protects @records */
	struct list_head records;
	struct synq_record *spare;	/* record.c: zeroed memory; or NULL */
	struct synq_counters __percpu *spare_counters;	/* stats.c: or NULL */
	spinlock_t fresh_lock;		/* record.c: protects next 3 fields */
	struct list_head fresh;
	struct synq_given_up given_up[SYNQ_GIVEN_UP];
	struct hlist_head crews[64];		/* crew.c */
	struct work_struct attach_work;	/* set up by listener.c */
	struct delayed_work tend_work;	/* listener.c */
	u64 serial;				/* conf.c: of @conf; 0: there is none */
	struct delayed_work index_work;		/* chunks.c */
	struct delayed_work watch_work;		/* netlink_watch.c */
	u32 watch;			/* netlink_watch.c: grows when the worker stops */
	u32 watched;			/* netlink_watch.c: @watch at the last look */
	struct delayed_work expire_work;	/* expire.c */
	u32 expire_moved;			/* expire.c: how often services have moved */
	u32 expire_after;			/* expire.c: s; under @lock */
};

struct synq_net *synq_net(const struct net *net);	/* main.c */
extern struct workqueue_struct *synq_workqueue;		/* main.c: frees what was removed */

#endif /* _SYNQ_H */
