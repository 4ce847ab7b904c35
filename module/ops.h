/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies of address family operations, with two of ours in them.  See ops.c.
 */
#ifndef _SYNQ_OPS_H
#define _SYNQ_OPS_H

#include <net/inet_connection_sock.h>
#include "compat.h"

typedef struct sock *(*synq_syn_recv_fn)(const struct sock *sk,
					 struct sk_buff *skb,
					 struct request_sock *req,
					 struct dst_entry *dst,
					 struct request_sock *req_unhash,
					 bool *own_req SYNQ_SYN_RECV_REST_DECL);

typedef int (*synq_conn_request_fn)(struct sock *sk, struct sk_buff *skb);

/**
 * struct synq_ops - a listener's address family operations, with two of ours
 * @list: all of them
 * @original: what was there
 * @copy: of the original, with another syn_recv_sock() and conn_request()
 */
struct synq_ops {
	struct list_head list;
	const struct inet_connection_sock_af_ops *original;
	struct inet_connection_sock_af_ops copy;
};

const struct synq_ops *
synq_ops_get(const struct inet_connection_sock_af_ops *original,
	     synq_syn_recv_fn gate, synq_conn_request_fn request);
const struct inet_connection_sock_af_ops *
synq_ops_original(const struct inet_connection_sock_af_ops *copy);
void synq_ops_free_all(void);

#endif /* _SYNQ_OPS_H */
