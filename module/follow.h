/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections that are followed, to know which of them wait for an answer.  See follow.c;
 * inside.c looks at their packets.
 */
#ifndef _SYNQ_FOLLOW_H
#define _SYNQ_FOLLOW_H

#include <linux/ipv6.h>
#include <linux/list.h>
#include <linux/rhashtable-types.h>
#include <linux/skbuff.h>
#include "inside.h"
#include "tls.h"

struct request_sock;
struct sk_buff;
struct sock;
struct synq_class;
struct synq_record;
struct tcphdr;

/**
 * struct synq_endpoints - a connection
 * @peer: address of the client; IPv4 is mapped
 * @own: address of the host
 * @peer_port: of the client
 * @own_port: of the listener
 * @net: inode number of its network namespace
 */
struct synq_endpoints {
	struct in6_addr peer;
	struct in6_addr own;
	__be16 peer_port;
	__be16 own_port;
	u32 net;
};

/**
 * struct synq_followed - a connection that is followed
 * @node: in the hash
 * @key: by which it is found
 * @record: of its listener
 * @list: of its state
 * @doubt: of those that may have ended
 * @doubted: 32 bits of jiffies, when that was found
 * @since_ns: monotonic clock, when its request came, or was held, or its hello was answered
 * @ended_ns: when the first FIN or reset has come from the client; 0: none has
 * @held_ns: for how long it was held, or its request was, before the server had that
 * @served: as @doubted, when it was answered first; 0: it was not
 * @looked: as @doubted, when it became quiet, or was looked up
 * @came: the next sequence number from the client
 * @sent: the next sequence number from the server
 * @since: &synq_class.since
 * @segments: of its request, while that is held
 * @bytes: truesize of them
 * @from: their first new sequence number
 * @bound: the device that its socket is bound to, or 0
 * @slot: of its class
 * @state: enum synq_inside_state
 * @was_stuck: its last request was answered too late
 * @on_trial: its present request does not count, since it was stuck before
 * @is_reset: a reset waits behind its request
 * @dead: it has left the hash; it may be gone, and count
 * @tls: how far its handshake is, if it has one
 * @rcu: freed after a grace period
 */
struct synq_followed {
	struct rhash_head node;
	struct synq_endpoints key;
	struct synq_record *record;
	struct list_head list;
	struct list_head doubt;
	u64 since_ns;
	u64 ended_ns;
	u64 held_ns;
	u32 doubted;
	u32 served;
	u32 looked;
	u32 came;
	u32 sent;
	u32 since;
	struct sk_buff_head segments;
	u32 bytes;
	u32 from;
	int bound;
	u8 slot;
	u8 state;
	bool was_stuck;
	bool on_trial;
	bool is_reset;
	bool dead;
	struct synq_tls tls;
	struct rcu_head rcu;
};

#define SYNQ_FRESH_NS		(10ULL * NSEC_PER_MSEC)
#define SYNQ_STUCK_LEAST_NS	(250ULL * NSEC_PER_MSEC)
#define SYNQ_STUCK_MOST_NS	(10ULL * NSEC_PER_SEC)
#define SYNQ_STUCK_MEANS	8

/* What the server sends later than this is no answer in time. */
static inline u64 synq_followed_longest_ns(const struct synq_inside *inside)
{
	return clamp(SYNQ_STUCK_MEANS * inside->mean_ns, SYNQ_STUCK_LEAST_NS, SYNQ_STUCK_MOST_NS);
}

/* inside.c */
void synq_followed_set_endpoints(struct synq_endpoints *key, const struct net *net,
				 const struct sk_buff *skb, const struct tcphdr *th,
				 bool is_v6, bool is_out);
bool synq_followed_is_new(u32 *end, u32 seq, u32 len);

struct synq_followed *synq_followed_find(const struct synq_endpoints *key);
void synq_followed_count(const struct synq_followed *conn, enum synq_counter counter);
void synq_followed_set_held(struct synq_followed *conn, u32 from, u64 now_ns);
bool synq_followed_is_answer_to(const struct synq_followed *conn,
				const struct tcphdr *th);
void synq_followed_begin(struct synq_followed *conn, u64 now_ns);
void synq_followed_answer(struct synq_followed *conn, bool is_greeting, u64 now_ns);
void synq_followed_set_data(struct synq_tls_data *data, const struct sk_buff *skb, u32 len);
void synq_followed_doubt(struct synq_followed *conn);
void synq_followed_end(struct synq_followed *conn);
void synq_followed_forget(struct synq_followed *conn);

static inline bool synq_followed_is_waiting(enum synq_inside_state state)
{
	return state == SYNQ_INSIDE_BUSY || state == SYNQ_INSIDE_KEPT ||
	       state == SYNQ_INSIDE_STUCK;
}

/* follow.c */
int synq_follow_module_init(void);
void synq_follow_module_exit(void);

void synq_follow_enter(struct synq_record *record, const struct synq_class *class,
		       const struct sock *child, const struct request_sock *req,
		       const struct sk_buff *skb, u64 held_ns);
bool synq_follow_age(struct synq_inside *inside, u64 now_ns);
unsigned int synq_follow_check(struct synq_inside *inside);
void synq_follow_tend(struct synq_record *record);

/* gone.c */
bool synq_gone_is_worked_on(const struct synq_followed *conn);
void synq_gone_tell(const struct synq_followed *conn);
unsigned int synq_gone_let_go(struct synq_inside *inside, unsigned int budget, u64 now_ns);

/* forget.c */
void synq_follow_leave(struct synq_record *record, bool close);
void synq_follow_renew(struct synq_record *record, u32 slots);

#endif /* _SYNQ_FOLLOW_H */
