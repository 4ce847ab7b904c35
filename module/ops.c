// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of address family operations: one for each original that a managed
 * listener had (IPv4, IPv6, mapped, MPTCP's two), shared by all its listeners.
 * SMC has operations for each socket of its own: at the same address there may be
 * others later, which get another copy.
 *
 * A copy is never written after it was listed, and lives until the module
 * goes: setsockopt(2) calls through a socket's pointer without RCU, and a
 * foreign owner may have kept it.
 */
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "ops.h"

static LIST_HEAD(copies);

static bool is_copy_of(const struct synq_ops *ops,
		       const struct inet_connection_sock_af_ops *original)
{
	struct inet_connection_sock_af_ops now = *original;

	if (ops->original != original)
		return false;
	now.syn_recv_sock = ops->copy.syn_recv_sock;
	now.conn_request = ops->copy.conn_request;
	return !memcmp(&now, &ops->copy, sizeof(now));
}

/**
 * synq_ops_get() - the copy of some operations, made at the first use
 * @original: of a listener
 * @gate: to be called for syn_recv_sock(); always the same
 * @request: likewise for conn_request()
 *
 * Context: process; callers exclude each other
 * Return: NULL without memory
 */
const struct synq_ops *
synq_ops_get(const struct inet_connection_sock_af_ops *original,
	     synq_syn_recv_fn gate, synq_conn_request_fn request)
{
	struct synq_ops *ops;

	list_for_each_entry(ops, &copies, list)
		if (is_copy_of(ops, original))
			return ops;
	ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	if (!ops)
		return NULL;
	ops->original = original;
	ops->copy = *original;
	ops->copy.syn_recv_sock = gate;
	ops->copy.conn_request = request;
	list_add_rcu(&ops->list, &copies);
	return ops;
}

/**
 * synq_ops_original() - what a copy was made from
 * @copy: perhaps one of ours
 *
 * Context: rcu_read_lock()
 * Return: NULL if it is not
 */
const struct inet_connection_sock_af_ops *
synq_ops_original(const struct inet_connection_sock_af_ops *copy)
{
	const struct synq_ops *ops;

	list_for_each_entry_rcu(ops, &copies, list)
		if (&ops->copy == copy)
			return ops->original;
	return NULL;
}

/**
 * synq_ops_free_all() - the module goes
 *
 * Context: process; no socket has a copy, and no task is between loading the
 * pointer and calling
 */
void synq_ops_free_all(void)
{
	struct synq_ops *ops, *next;

	list_for_each_entry_safe(ops, next, &copies, list)
		kfree(ops);
}
