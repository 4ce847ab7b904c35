/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections that wait for a slot of the accept queue.  See hold.c.
 */
#ifndef _SYNQ_HOLD_H
#define _SYNQ_HOLD_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/spinlock.h>
#include <net/sock.h>
#include "conf.h"
#include "law.h"

struct request_sock;
struct sk_buff;
struct synq_net;
struct synq_record;

/**
 * struct synq_hold - held connections of one listener
 * @lock: protects the rest
 * @closed: nothing is held any more
 * @is_armed: @timer runs, or will
 * @n: how many there are; may be read without the lock
 * @in: by slot of their class, likewise
 * @ticks: of @timer
 * @in_vain: the last ticks that released nothing
 * @drain: how fast they leave; read without the lock
 * @left: how many were released since the last one came
 * @bytes: truesize of their segments
 * @all: held connections, ordered by when they were last checked
 * @fifo: by slot, in the order in which they came
 * @timer: looks for room each millisecond, or every few, while there are any, or a higher limit is
 *	tried
 */
struct synq_hold {
	spinlock_t lock;	/* protects the rest */
	bool closed;
	bool is_armed;
	u32 n;
	u32 in[SYNQ_SLOTS];
	struct synq_drain drain;
	u32 left;
	u32 bytes;
	u32 ticks;
	u32 in_vain;
	struct list_head all;
	struct list_head fifo[SYNQ_SLOTS];
	struct hrtimer timer;
};

/**
 * enum synq_hold_answer - the meaning of a segment that asks for a promotion
 * @SYNQ_HOLD_STRANGER: its connection is not held
 * @SYNQ_HOLD_KEPT: its connection is held; the segment waits with it, or is a duplicate
 * @SYNQ_HOLD_REPLAY: its connection is released by this segment
 * @SYNQ_HOLD_FORCED: likewise, whether there is room or not
 */
enum synq_hold_answer {
	SYNQ_HOLD_STRANGER,
	SYNQ_HOLD_KEPT,
	SYNQ_HOLD_REPLAY,
	SYNQ_HOLD_FORCED,
};

/* How many of a class and those before it are held at most. */
static inline u32 synq_hold_most(u32 backlog)
{
	return max(backlog / 2, 1U);
}

/* True if the kernel resets a connection that is not promoted at once; it reads this, too. */
static inline bool synq_hold_is_forbidden(const struct sock *sk)
{
	return READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_abort_on_overflow);
}

int synq_hold_module_init(void);
void synq_hold_module_exit(void);

enum synq_hold_answer synq_hold_ask(struct synq_record *record,
				    struct sk_buff *skb,
				    struct request_sock *req);
int synq_hold_add(struct synq_record *record, const struct synq_conf *conf,
		  const struct synq_class *class, struct sk_buff *skb,
		  struct request_sock *req);
u64 synq_hold_promoting(struct request_sock *req);
void synq_hold_promoted(struct request_sock *req, bool promoted);
void synq_hold_arm(struct synq_record *record);
bool synq_hold_take_bytes(struct synq_net *sn, u32 own_bytes, u32 bytes);
void synq_hold_give_bytes(struct synq_net *sn, u32 bytes);
bool synq_hold_is_before(const struct synq_record *record,
			 const struct synq_conf *conf,
			 const struct synq_listener *listener,
			 const struct synq_class *class);

#endif /* _SYNQ_HOLD_H */
