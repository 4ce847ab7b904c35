// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of address family operations: one for each original that a managed
 * listener had (IPv4, IPv6, mapped, MPTCP's), shared by all its listeners.
 *
 * Originals are constants.  Operations that were allocated belong to another module (SMC
 * has some for each listener).  They go with their owner, which compares a socket's pointer
 * with them to know whether a child needs others.  Sockets with such
 * operations are left alone.  So are sockets of the kernel itself but MPTCP's, even if a user
 * has got one: SMC copies the operations of its inner socket by value, without that one's lock,
 * after a fallback has given it away.
 *
 * DOC: a copy is never freed
 *
 * A pointer to a socket's operations may be where synq cannot find it.  While one CPU
 * runs the original syn_recv_sock(), another may replace the listener's pointer.  The first
 * then clones a child with synq's pointer, and no function of synq sees that child.  So a
 * copy is never freed: a hundred bytes for each of the few originals.  When the module
 * is unloaded the copy's two functions become the original's.  Then it is an ordinary
 * constant of the kernel, wherever a pointer to it is.  That makes unloading safe, without
 * any knowledge of the sockets.
 *
 * The two functions are called under rcu_read_lock(), or by a task that was
 * preempted before it got there (a socket's backlog): after synchronize_rcu() and
 * synchronize_rcu_tasks() no CPU is in them, nor on its way.
 *
 * A child may keep a copy after the module has gone, and become a listener itself.  A module
 * loaded later leaves it alone: it takes that copy for foreign operations.
 */
#include <linux/err.h>
#include <linux/kmemleak.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <net/mptcp.h>
#include <net/inet_connection_sock.h>
#include "ops.h"

#if defined(CONFIG_PREEMPTION) && !defined(CONFIG_TASKS_RCU)
#error "synq cannot be unloaded safely: CONFIG_PREEMPTION without CONFIG_TASKS_RCU"
#endif

/* More than there are originals. */
#define COPIES_MAX	64

static LIST_HEAD(copies);
static unsigned int n_copies;
static DEFINE_SPINLOCK(lock);	/* protects both, and which pairs are in use */

static bool is_allocated(const void *p)
{
	return virt_addr_valid(p) && PageSlab(virt_to_head_page(p));
}

/* NULL: there are more different pairs than in any kernel. */
static const struct synq_pair *
pair_of(const struct inet_connection_sock_af_ops *original,
	struct synq_pair *pairs, unsigned int n)
{
	struct synq_pair *pair;

	for (pair = pairs; pair < pairs + n; pair++) {
		if (!pair->syn_recv_sock) {
			pair->syn_recv_sock = original->syn_recv_sock;
			pair->conn_request = original->conn_request;
			return pair;
		}
		if (pair->syn_recv_sock == original->syn_recv_sock &&
		    pair->conn_request == original->conn_request)
			return pair;
	}
	return NULL;
}

static struct synq_ops *make(const struct inet_connection_sock_af_ops *original,
			     const struct synq_pair *pair)
{
	struct synq_ops *ops = kzalloc(sizeof(*ops), GFP_ATOMIC);

	if (!ops)
		return NULL;
	kmemleak_not_leak(ops);
	ops->original = original;
	ops->pair = pair;
	ops->copy = *original;
	ops->copy.syn_recv_sock = pair->gate;
	ops->copy.conn_request = pair->judge;
	list_add(&ops->list, &copies);
	n_copies++;
	return ops;
}

static bool has_ours(const struct inet_connection_sock_af_ops *ops,
		     const struct synq_pair *pairs, unsigned int n)
{
	const struct synq_pair *pair;

	for (pair = pairs; pair < pairs + n; pair++)
		if (ops->syn_recv_sock == pair->gate ||
		    ops->conn_request == pair->judge)
			return true;
	return false;
}

/* The copy that operations are, or that was made of them; NULL: there is none. */
static struct synq_ops *
copy_of(const struct inet_connection_sock_af_ops *original)
{
	struct synq_ops *ops;

	list_for_each_entry(ops, &copies, list)
		if (&ops->copy == original || ops->original == original)
			return ops;
	return NULL;
}

/**
 * synq_ops_get() - the copy of some operations, made at the first use
 * @sk: a listener
 * @original: of it; or a copy of ours, which a socket has inherited
 * @pairs: of functions that may stand in; always the same
 * @n: their number
 *
 * Context: BH off
 * Return: an error: -ENOTSUPP: they are not constant, or not the socket's alone; -ENOMEM
 */
const struct synq_ops *
synq_ops_get(const struct sock *sk, const struct inet_connection_sock_af_ops *original,
	     struct synq_pair *pairs, unsigned int n)
{
	const struct synq_pair *pair;
	struct synq_ops *ops;

	if (sk->sk_kern_sock && !sk_is_mptcp(sk))
		return ERR_PTR(-ENOTSUPP);
	spin_lock(&lock);
	ops = copy_of(original);
	if (!ops && is_allocated(original)) {
		ops = ERR_PTR(-ENOTSUPP);
	} else if (!ops) {
		pair = n_copies < COPIES_MAX ? pair_of(original, pairs, n) : NULL;
		ops = pair ? make(original, pair) : NULL;
		if (!ops)
			ops = ERR_PTR(-ENOMEM);
	}
	spin_unlock(&lock);
	return ops;
}

/**
 * synq_ops_is_foreign() - do foreign operations call a function of ours?
 * @ops: valid memory
 * @pairs: as for synq_ops_get()
 * @n: their number
 *
 * Context: BH off
 * Return: true if so: another module has derived them from a copy of ours
 */
bool synq_ops_is_foreign(const struct inet_connection_sock_af_ops *ops,
			 const struct synq_pair *pairs, unsigned int n)
{
	bool is_foreign;

	if (!has_ours(ops, pairs, n))
		return false;
	spin_lock(&lock);
	is_foreign = !copy_of(ops);
	spin_unlock(&lock);
	return is_foreign;
}

/**
 * synq_ops_disarm() - the module goes: no function of ours is called any more on return
 *
 * Context: process; no socket gets a copy any more
 */
void synq_ops_disarm(void)
{
	struct synq_ops *ops;

	list_for_each_entry(ops, &copies, list) {
		WRITE_ONCE(ops->copy.syn_recv_sock, ops->pair->syn_recv_sock);
		WRITE_ONCE(ops->copy.conn_request, ops->pair->conn_request);
	}
	synchronize_rcu();
#ifdef CONFIG_TASKS_RCU
	synchronize_rcu_tasks();
#endif
}
