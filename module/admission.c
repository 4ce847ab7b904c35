// SPDX-License-Identifier: GPL-2.0
/*
 * Who may use the queues of a listener: the tests at the SYN and at the final
 * ACK.  What follows from the second is gate.c's business.
 *
 * Each class has a limit in the accept queue: the backlog less what is reserved
 * for the classes before it.  The first class has no limit but the kernel's.
 *
 * DOC: the limits
 *
 * The kernel promotes while the queue holds no more than sk_max_ack_backlog
 * requests.  A class is promoted while it holds fewer than
 *
 *	backlog - reserves of the classes before - slack
 *
 * requests of any class, so that a class never occupies a slot reserved for
 * one before it.  The gate reads the length without a lock, and a child is
 * queued after it has passed: N CPUs may overshoot by N - 1.  The slack is for
 * them.  A class always has one slot, however short the backlog.
 *
 * The last sixteenth below the limit is for final ACKs of SYN cookies: a
 * cookie's connection that is refused has no request in the SYN queue whose
 * SYN-ACK the kernel would send again.
 *
 * DOC: the test at the SYN
 *
 * A refused promotion leaves the request half open (withheld.c), in the SYN
 * queue, which all classes share and which the kernel prunes when it is half
 * full; so there must be few.  A SYN is refused while what is queued and what
 * is expected to be queued by the handshakes under way reach the limit, and
 * while a quarter of the backlog is withheld.
 *
 * Handshakes under way are the young half-open requests, whose SYN-ACK was not
 * sent again yet, so that stale ones shut nobody out.  Of these as many are
 * expected as completed of those that were resolved in the second before: a
 * spoofed flood completes nothing, and shuts nobody out either.  Without a
 * second before, all.
 *
 * Called in softirq or process context, under rcu_read_lock().
 */
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <net/inet_connection_sock.h>
#include <net/request_sock.h>
#include "admission.h"

#define QUARTER(backlog)	max_t(u32, (backlog) / 4, 1)
#define COOKIE_SLACK(backlog)	((backlog) / 16)

#define RATIO_ONE	256U	/* all handshakes complete */
#define RATIO_SAMPLE	8	/* handshakes that say something */

/* Requests of any class up to which @class may be promoted; 0: no limit. */
static u32 limit_of(const struct synq_class *class, u32 backlog)
{
	u32 before, slack;

	if (!class->reserve_before)
		return 0;
	/* A reserve is at least one slot. */
	before = max_t(u32, backlog * class->reserve_before / 100, 1);
	slack = min_t(u32, num_online_cpus() - 1, backlog / 16);
	return backlog > before + slack ? backlog - before - slack : 1;
}

/* The same without the slots kept for the final ACKs of cookies. */
static u32 limit_without_slack(u32 limit, u32 backlog)
{
	return limit > COOKIE_SLACK(backlog) ? limit - COOKIE_SLACK(backlog) : 1;
}

/**
 * synq_handshakes_init() - nothing is known yet: all complete
 * @handshakes: zero
 *
 * Context: any
 */
void synq_handshakes_init(struct synq_handshakes *handshakes)
{
	handshakes->ratio = RATIO_ONE;
}

static u32 young_of(const struct sock *sk)
{
	return max(reqsk_queue_len_young(&inet_csk(sk)->icsk_accept_queue), 0);
}

/*
 * The first to come in a new second closes the one before.  A handshake that
 * is still young says nothing yet: what was resolved is what was admitted less
 * what the young became more.
 */
static void turn(struct synq_handshakes *handshakes, const struct sock *sk)
{
	u32 now = ktime_get_seconds(), was = READ_ONCE(handshakes->second);
	u32 completed;
	s64 resolved;

	if (now == was || cmpxchg(&handshakes->second, was, now) != was)
		return;
	completed = atomic_xchg(&handshakes->completed, 0);
	resolved = (s64)atomic_xchg(&handshakes->admitted, 0) +
		   handshakes->young - young_of(sk);
	handshakes->young = young_of(sk);
	if (resolved >= RATIO_SAMPLE)
		WRITE_ONCE(handshakes->ratio,
			   min_t(u64, div_u64((u64)completed * RATIO_ONE,
					      resolved), RATIO_ONE));
	else if (now - was > 1)
		WRITE_ONCE(handshakes->ratio, RATIO_ONE);
}

/**
 * synq_handshakes_admit() - a SYN was let through to the listener
 * @handshakes: of the listener
 * @sk: listener
 *
 * Context: any
 */
void synq_handshakes_admit(struct synq_handshakes *handshakes,
			   const struct sock *sk)
{
	turn(handshakes, sk);
	atomic_inc(&handshakes->admitted);
}

/**
 * synq_handshakes_complete() - a final ACK came for the first time
 * @handshakes: of the listener
 * @sk: listener
 *
 * Context: any
 */
void synq_handshakes_complete(struct synq_handshakes *handshakes,
			      const struct sock *sk)
{
	turn(handshakes, sk);
	atomic_inc(&handshakes->completed);
}

/**
 * synq_admission_syn() - is there room for one more handshake of a class?
 * @class: of the SYN
 * @sk: listener
 * @withheld: its account
 * @handshakes: of the listener
 *
 * Context: any
 * Return: false if the SYN is to be dropped, as the stock kernel would if the
 * whole queue were full
 */
bool synq_admission_syn(const struct synq_class *class, const struct sock *sk,
			const struct synq_withheld *withheld,
			const struct synq_handshakes *handshakes)
{
	u32 backlog = READ_ONCE(sk->sk_max_ack_backlog);
	u32 queued = READ_ONCE(sk->sk_ack_backlog);
	u32 limit = limit_of(class, backlog);
	u32 half_open;

	if (!limit)
		return true;
	limit = limit_without_slack(limit, backlog);
	if (queued >= limit)
		return false;
	half_open = max(inet_csk_reqsk_queue_len(sk), 0);
	if (min(READ_ONCE(withheld->total), half_open) >= QUARTER(backlog))
		return false;
	return queued + (u64)young_of(sk) * READ_ONCE(handshakes->ratio) /
			RATIO_ONE < limit;
}

/**
 * synq_admission_promote() - the gate: may a connection be queued now?
 * @class: of the connection
 * @sk: listener
 * @final: how it asks
 *
 * Context: any
 * Return: false if it has to wait
 */
bool synq_admission_promote(const struct synq_class *class,
			    const struct sock *sk, enum synq_final final)
{
	u32 backlog = READ_ONCE(sk->sk_max_ack_backlog);
	u32 limit = limit_of(class, backlog);

	if (!limit)
		return true;
	if (final != SYNQ_FINAL_COOKIE)
		limit = limit_without_slack(limit, backlog);
	return READ_ONCE(sk->sk_ack_backlog) < limit;
}
