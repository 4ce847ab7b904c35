/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A held connection, for the two files that know what is in it: hold.c and release.c.
 */
#ifndef _SYNQ_HELD_H
#define _SYNQ_HELD_H

#include <linux/list.h>
#include <linux/rhashtable-types.h>
#include <linux/skbuff.h>
#include <net/inet_hashtables.h>
#include <net/request_sock.h>
#include "record.h"

/**
 * struct synq_held - a connection that is held
 * @node: in the hash, by @req
 * @req: its request, with a reference
 * @record: of its listener; compared only, unless it is the caller's
 * @list: in its FIFO, unless it is owned
 * @all: in the list of all, ordered by @looked
 * @looked: jiffies, when its timer last checked it
 * @segments: made by synq_replay_copy(), at least one while it is in its FIFO
 * @bytes: truesize of them
 * @since_ns: monotonic clock, when it came here
 * @ts_recent: of its request, when it came here
 * @failures: replays that have not promoted it, though there was a slot
 * @tried: &synq_hold.ticks of the last of them
 * @replayed: the segment that is with TCP now
 * @rtt_us: round trip time of its path
 * @synack_us: its request's, while @replayed is with TCP
 * @fail_mode: of its request's accurate ECN, when it came here
 * @promoted: by that segment
 * @was_full: the kernel had no slot for it
 * @forced: the replay is to promote it whether there is room or not
 * @dead: it has left the hash
 * @slot: of its class
 * @since: &synq_class.since
 * @retrans: retransmissions of its SYN-ACK, while @replayed is with TCP
 * @rcu: freed after a grace period
 */
struct synq_held {
	struct rhash_head node;
	struct request_sock *req;
	struct synq_record *record;
	struct list_head list;
	struct list_head all;
	unsigned long looked;
	struct sk_buff_head segments;
	u32 bytes;
	u64 since_ns;
	u32 ts_recent;
	u8 failures;
	u8 fail_mode;
	u32 tried;
	const struct sk_buff *replayed;
	u64 rtt_us;
	u64 synack_us;
	bool promoted;
	bool was_full;
	bool forced;
	bool dead;
	u8 slot;
	u32 since;
	u8 retrans;
	struct rcu_head rcu;
};

/* Its request is not in the SYN queue any more: promoted, reset or expired. */
static inline bool synq_held_is_gone(const struct synq_held *held)
{
	return !sk_hashed(req_to_sk(held->req));
}

void synq_held_count(const struct synq_held *held, enum synq_counter counter);
bool synq_held_has_had_its_time(const struct sock *sk,
				const struct request_sock *req, u64 now_ns);
struct sk_buff *synq_held_take(struct synq_held *held);
bool synq_held_put_back(struct synq_held *held, struct sk_buff *skb);
void synq_held_set_class(struct synq_held *held, const struct synq_class *class);
void synq_held_list_in(struct synq_held *held, bool first);
void synq_held_list_out(struct synq_held *held);
void synq_held_end(struct synq_held *held, bool of_use, enum synq_counter counter);

#endif /* _SYNQ_HELD_H */
