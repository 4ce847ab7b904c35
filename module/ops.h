/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies of address family operations, with two functions of ours in them.  See ops.c.
 */
#ifndef _SYNQ_OPS_H
#define _SYNQ_OPS_H

#include <linux/types.h>
#include <net/inet_connection_sock.h>
#include "compat.h"

struct sock;

typedef struct sock *(*synq_syn_recv_fn)(const struct sock *sk,
					 struct sk_buff *skb,
					 struct request_sock *req,
					 struct dst_entry *dst,
					 struct request_sock *req_unhash,
					 bool *own_req SYNQ_SYN_RECV_REST_DECL);

typedef int (*synq_conn_request_fn)(struct sock *sk, struct sk_buff *skb);

/**
 * struct synq_pair - two functions of the kernel, and ours that stand in for them
 * @syn_recv_sock: the kernel's; NULL: the pair is not in use
 * @conn_request: the kernel's
 * @gate: ours for @syn_recv_sock
 * @judge: ours for @conn_request
 *
 * Each pair has two functions of its own, so that each knows what to call without
 * asking the socket: its operations may have changed since the call.
 */
struct synq_pair {
	synq_syn_recv_fn syn_recv_sock;
	synq_conn_request_fn conn_request;
	synq_syn_recv_fn gate;
	synq_conn_request_fn judge;
};

/**
 * struct synq_ops - a listener's address family operations, with two of ours
 * @list: all of them
 * @original: what the socket had
 * @pair: the functions that were replaced
 * @copy: of @original, with those of @pair that are ours
 */
struct synq_ops {
	struct list_head list;
	const struct inet_connection_sock_af_ops *original;
	const struct synq_pair *pair;
	struct inet_connection_sock_af_ops copy;
};

const struct synq_ops *
synq_ops_get(const struct sock *sk, const struct inet_connection_sock_af_ops *original,
	     struct synq_pair *pairs, unsigned int n);
bool synq_ops_is_foreign(const struct inet_connection_sock_af_ops *ops,
			 const struct synq_pair *pairs, unsigned int n);
void synq_ops_disarm(void);

#endif /* _SYNQ_OPS_H */
