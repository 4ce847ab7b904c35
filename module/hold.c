// SPDX-License-Identifier: GPL-2.0
/*
 * Holds connections whose handshake is complete and for which there is no slot in the
 * accept queue.  The segments that their clients have sent wait here, and are given to
 * TCP when there is room.  So a connection is promoted as soon as there is
 * room, in class order, and not when its client retransmits.
 *
 * The stock kernel drops the final ACK, and the request stays half open.  That
 * happens here, too; what is held are copies of segments (at most SEGMENTS_MAX of each
 * connection), in the order in which they came, by connection and class.
 *
 * DOC: a life
 *
 * held		the gate had no room (synq_hold_add()).  What else the client sends waits
 *		behind (synq_hold_ask()), unless a copy of it is there already.
 * released	the timer has found room.  It gives the segments to TCP one after the
 *		other.  The first finds the request again and comes to the gate, which
 *		recognises it by its address and lets it pass; the others find the child.  If
 *		the kernel has no slot after all, the connection is held as before.
 * gone		its request has gone: reset by the client, or expired.
 * flushed	it had to be given to TCP, room or not: before its request
 *		expires; when its listener does not listen any more (the kernel resets it, or
 *		has it migrate); when synq is switched off, or leaves the listener; and while
 *		tcp_abort_on_overflow is set.  Then the kernel decides what becomes of it, as
 *		without synq.
 *
 * Each held connection is counted as one of the last three, or is held now.  One that
 * is about to be released does not make room for others: they would overtake it.
 *
 * DOC: how long, and how many
 *
 * For 6 s after its SYN-ACK was sent.  With two retries or fewer, until half a second before
 * its request expires, as the kernel prunes a SYN queue that is more than half full.
 * At most half of the backlog for a class and those before it, and OWN_BYTES_MAX for
 * each; ALL_BYTES_MAX or a part of the machine's memory in all, half of that for a
 * network namespace, and a quarter for a listener.  Beyond that a final ACK is dropped,
 * as by the stock kernel ("hold-full").
 *
 * Connections of SYN cookies are not held: the kernel would check each of their segments
 * anew, and reset those behind the first.  Nor is a connection that has lost its route, or
 * that IPsec's policy would not let through a second time (release.c).
 *
 * The time held must not count as the path's.  So before a replay the request looks as if
 * its first SYN-ACK was sent one round trip ago and was never retransmitted, and as if
 * accurate ECN had not failed.
 *
 * DOC: why nothing is used after it is gone
 *
 * 1. A held connection has a reference to its request, so no other request has the same
 *    address, by which it is found.  The request has a reference to its listener.
 * 2. It is found under rcu_read_lock(), in a hash of all of them, by its request alone, and
 *    is freed a grace period after it has left the hash.  It and its segments are
 *    accessed under the lock of its record, and only in the gate of that very
 *    record, which exists for a grace period after that (record.c).
 * 3. The function that takes it out of its list, under the lock, owns it until it puts it
 *    back, or out of the hash: the timer, or a flush.  Segments that come meanwhile join
 *    the others.  What the owner gives to TCP after it has left the hash does not come
 *    back to it.
 * 4. Segments are given to TCP with no lock of ours.
 * 5. The timer is armed under the lock, while the record is not closed.  The record is
 *    closed under the lock before it is removed, and flushed then.  After that only a
 *    running timer may still hold something by it, and freeing the record waits for that.
 *
 * Softirq, or process context with BH off, under rcu_read_lock().
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>
#include "admission.h"
#include "classify.h"
#include "compat.h"
#include "held.h"
#include "hold.h"
#include "inside.h"
#include "record.h"
#include "release.h"
#include "synq_trace.h"

#define SEGMENTS_MAX	10
#define ALL_BYTES_MAX	(256 << 20)
#define OF_MEMORY	32	/* a part of it */
#define OWN_BYTES_MAX	(128 << 10)
#define TIME_MAX	(6ULL * NSEC_PER_SEC)
#define MARGIN		(HZ / 2)
#define RETRIES		2
#define FAILURES_MAX	SEGMENTS_MAX

static struct rhashtable table;
static u32 all_bytes_max __ro_after_init;
static atomic_t all_bytes;

/* A pointer's own hash spreads it well enough: there is no secret seed. */
static u32 hash_of(const void *key, u32 len, u32 seed)
{
	return hash_long(*(const unsigned long *)key, 32);
}

static const struct rhashtable_params params = {
	.key_len = sizeof(struct request_sock *),
	.key_offset = offsetof(struct synq_held, req),
	.head_offset = offsetof(struct synq_held, node),
	.hashfn = hash_of,
	.automatic_shrinking = true,
};

/**
 * synq_hold_module_init() - the module is loaded
 *
 * Return: 0 or -ENOMEM
 */
int synq_hold_module_init(void)
{
	all_bytes_max = min_t(u64, ALL_BYTES_MAX,
			      ((u64)totalram_pages() << PAGE_SHIFT) / OF_MEMORY);
	return rhashtable_init(&table, &params);
}

/**
 * synq_hold_module_exit() - the module goes; every record has been freed
 */
void synq_hold_module_exit(void)
{
	rhashtable_destroy(&table);
}

static struct synq_held *find(const struct request_sock *req)
{
	return rhashtable_lookup(&table, &req, params);
}

void synq_held_count(const struct synq_held *held, enum synq_counter counter)
{
	struct synq_port *port = held->record->counters;

	/* Not if the slot belongs to another class now.  Pairs with give() in conf.c. */
	if (READ_ONCE(port->since[held->slot]) == held->since)
		synq_count(port, held->slot, counter);
}

/* --- time --- */

/* Time since the first SYN-ACK, by tcp_clock_us(), which is the same clock. */
static u64 answered_ns(const struct request_sock *req)
{
	return tcp_rsk(req)->snt_synack * NSEC_PER_USEC;
}

/*
 * Is it about to expire?  It does when its timer fires after the last retry; or earlier, as
 * the kernel prunes a SYN queue that is more than half full, but not before the second.
 */
static bool expires(const struct sock *sk, const struct request_sock *req)
{
	return req->num_timeout >= min_t(u8, synq_retries_of(sk), RETRIES) &&
	       time_before(READ_ONCE(req->rsk_timer.expires), jiffies + MARGIN);
}

bool synq_held_has_had_its_time(const struct sock *sk,
				const struct request_sock *req, u64 now_ns)
{
	return now_ns >= answered_ns(req) + TIME_MAX || expires(sk, req);
}

/* --- segments --- */

static bool is_there(const struct synq_held *held, const struct sk_buff *skb)
{
	const struct sk_buff *other;

	skb_queue_walk(&held->segments, other)
		if (synq_replay_seq(other) == synq_replay_seq(skb) &&
		    synq_replay_length(other) >= synq_replay_length(skb))
			return true;
	return false;
}

static bool has_space(const struct synq_record *record, const struct sk_buff *skb)
{
	return record->hold.bytes + skb->truesize <= all_bytes_max / 4 &&
	       atomic_read(&record->sn->held_bytes) + skb->truesize <=
	       all_bytes_max / 2 &&
	       atomic_read(&all_bytes) + skb->truesize <= all_bytes_max;
}

static void charge(struct synq_held *held, int bytes)
{
	struct synq_record *record = held->record;

	lockdep_assert_held(&record->hold.lock);
	held->bytes += bytes;
	record->hold.bytes += bytes;
	atomic_add(bytes, &record->sn->held_bytes);
	atomic_add(bytes, &all_bytes);
}

static void append(struct synq_held *held, struct sk_buff *copy)
{
	__skb_queue_tail(&held->segments, copy);
	charge(held, copy->truesize);
}

struct sk_buff *synq_held_take(struct synq_held *held)
{
	struct sk_buff *skb = __skb_dequeue(&held->segments);

	if (skb)
		charge(held, -(int)skb->truesize);
	return skb;
}

/* Another segment may succeed: one with data, where the server waits for data. */
bool synq_held_put_back(struct synq_held *held, struct sk_buff *skb)
{
	struct synq_hold *hold = &held->record->hold;
	bool again;

	spin_lock_bh(&hold->lock);
	again = !hold->closed && (held->was_full || ++held->failures <= FAILURES_MAX);
	if (again) {
		if (held->was_full)
			__skb_queue_head(&held->segments, skb);
		else
			__skb_queue_tail(&held->segments, skb);
		charge(held, skb->truesize);
		held->tried = hold->ticks;
		synq_held_list_in(held, held->was_full);
	}
	spin_unlock_bh(&hold->lock);
	return again;
}

/* --- lists --- */

void synq_held_list_in(struct synq_held *held, bool first)
{
	struct synq_hold *hold = &held->record->hold;

	lockdep_assert_held(&hold->lock);
	if (first)
		list_add(&held->list, &hold->fifo[held->slot]);
	else
		list_add_tail(&held->list, &hold->fifo[held->slot]);
}

/* The caller owns it: rule 3. */
void synq_held_list_out(struct synq_held *held)
{
	struct synq_hold *hold = &held->record->hold;

	lockdep_assert_held(&hold->lock);
	list_del_init(&held->list);
}

static void arm(struct synq_hold *hold)
{
	lockdep_assert_held(&hold->lock);
	if (!hold->is_armed)
		hrtimer_start(&hold->timer, ns_to_ktime(SYNQ_RELEASE_TICK),
			      HRTIMER_MODE_REL_SOFT);
	hold->is_armed = true;
}

/* Owned ones count as well: no other may overtake them meanwhile. */
static void count_in(struct synq_held *held, int n)
{
	struct synq_hold *hold = &held->record->hold;

	lockdep_assert_held(&hold->lock);
	WRITE_ONCE(hold->n, hold->n + n);
	WRITE_ONCE(hold->in[held->slot], hold->in[held->slot] + n);
}

/**
 * synq_held_set_class() - a connection has another class from now on
 * @held: with the lock, not in its FIFO
 * @class: its class, which may be the same
 */
void synq_held_set_class(struct synq_held *held, const struct synq_class *class)
{
	if (class->slot == held->slot && class->since == held->since)
		return;
	synq_held_count(held, SYNQ_COUNT_HOLD_FLUSHED);
	count_in(held, -1);
	held->slot = class->slot;
	held->since = class->since;
	count_in(held, 1);
	synq_held_count(held, SYNQ_COUNT_HELD);
}

static void unhash(struct synq_held *held)
{
	struct synq_hold *hold = &held->record->hold;

	lockdep_assert_held(&hold->lock);
	count_in(held, -1);
	list_del(&held->all);
	held->dead = true;
	rhashtable_remove_fast(&table, &held->node, params);
}

/* This skips LOCAL_IN, so follow it here if its connection is followed by now. */
static void give(struct synq_record *record, struct sk_buff *skb)
{
	struct net *net = sock_net(record->sk);

	if (READ_ONCE(record->inside.n))
		synq_seen_in(net, skb, tcp_hdr(skb), skb->len - tcp_hdrlen(skb),
			     skb->protocol == htons(ETH_P_IPV6), NULL);
	synq_replay(net, skb);
}

/* The class may have gone meanwhile. */
static noinline void trace_end(const struct synq_held *held, enum synq_counter counter)
{
	const struct synq_record *record = held->record;
	const struct synq_conf *conf = rcu_dereference(record->sn->conf);
	const struct synq_class *class = conf ? &conf->class[held->slot] : NULL;

	trace_synq_release(record->counters->port,
			   class && class->since == held->since ? class->name : "",
			   counter, ktime_get_ns() - held->since_ns);
}

/**
 * synq_held_end() - stop holding a connection
 * @held: owned by the caller; it is freed
 * @of_use: give what is left of its segments to TCP
 * @counter: what has become of it
 *
 * It leaves the hash first, so that segments that come now are not added to it.
 *
 * Context: BH off, rcu_read_lock(), no lock of ours
 */
void synq_held_end(struct synq_held *held, bool of_use, enum synq_counter counter)
{
	struct synq_record *record = held->record;
	struct synq_hold *hold = &record->hold;
	struct sk_buff_head rest;
	struct sk_buff *skb;

	__skb_queue_head_init(&rest);
	spin_lock(&record->hold.lock);
	while ((skb = synq_held_take(held)))
		__skb_queue_tail(&rest, skb);
	unhash(held);
	if (counter == SYNQ_COUNT_RELEASED)
		hold->left++;
	synq_held_count(held, counter);
	spin_unlock(&record->hold.lock);
	if (trace_synq_release_enabled())
		trace_end(held, counter);
	while ((skb = __skb_dequeue(&rest)))
		if (of_use)
			give(record, skb);
		else
			kfree_skb(skb);
	sock_gen_put(req_to_sk(held->req));
	kfree_rcu(held, rcu);
}

/* Has the timer run while something is held, unless the listener is closed. */
void synq_hold_arm(struct synq_record *record)
{
	struct synq_hold *hold = &record->hold;

	spin_lock_bh(&hold->lock);
	if (!hold->closed)
		arm(hold);
	spin_unlock_bh(&hold->lock);
}

/*
 * Charges bytes of a request, for a listener that has @own_bytes already; false: too many.
 * Requests have half of what connections may have, so that these can always be held.
 */
bool synq_hold_take_bytes(struct synq_net *sn, u32 own_bytes, u32 bytes)
{
	u32 own = atomic_add_return(bytes, &sn->held_bytes);
	u32 all = atomic_add_return(bytes, &all_bytes);

	if (own_bytes + bytes <= all_bytes_max / 8 && own <= all_bytes_max / 4 &&
	    all <= all_bytes_max / 2)
		return true;
	synq_hold_give_bytes(sn, bytes);
	return false;
}

void synq_hold_give_bytes(struct synq_net *sn, u32 bytes)
{
	atomic_sub(bytes, &sn->held_bytes);
	atomic_sub(bytes, &all_bytes);
}

/* --- at the gate --- */

/**
 * synq_hold_ask() - a segment asks for the promotion of a connection
 * @record: of its listener
 * @skb: the segment, as TCP has it; if it is held a copy is
 * @req: of the connection, in the SYN queue
 *
 * Context: BH off, rcu_read_lock()
 * Return: whether it is held, or released by this very segment
 */
enum synq_hold_answer synq_hold_ask(struct synq_record *record,
				    struct sk_buff *skb,
				    struct request_sock *req)
{
	struct sk_buff *copy;
	struct synq_held *held;

	if (likely(!READ_ONCE(record->hold.n)))
		return SYNQ_HOLD_STRANGER;
	held = find(req);
	/* Rule 2. */
	if (!held || held->record != record)
		return SYNQ_HOLD_STRANGER;
	/* This CPU releases it; or @skb has got the address of a segment that TCP has freed. */
	if (READ_ONCE(held->replayed) == skb)
		return held->forced ? SYNQ_HOLD_FORCED : SYNQ_HOLD_REPLAY;
	/* The kernel would reset it. */
	if (synq_hold_is_forbidden(record->sk))
		return SYNQ_HOLD_STRANGER;
	spin_lock(&record->hold.lock);
	if (held->dead) {
		spin_unlock(&record->hold.lock);
		return SYNQ_HOLD_STRANGER;
	}
	if (skb_queue_len(&held->segments) < SEGMENTS_MAX && !is_there(held, skb) &&
	    held->bytes + skb->truesize <= OWN_BYTES_MAX && has_space(record, skb)) {
		copy = synq_replay_copy(record->sk, skb);
		if (copy)
			append(held, copy);
	}
	spin_unlock(&record->hold.lock);
	return SYNQ_HOLD_KEPT;
}

/**
 * synq_hold_is_before() - is there room for a held connection that comes, or may come,
 * before a class?
 * @record: of the listener
 * @conf: snapshot
 * @listener: configured, as it is for the socket
 * @class: of a connection that comes now
 *
 * Context: rcu_read_lock()
 * Return: true if so: the new one has to wait behind them
 */
bool synq_hold_is_before(const struct synq_record *record,
			 const struct synq_conf *conf,
			 const struct synq_listener *listener,
			 const struct synq_class *class)
{
	const struct synq_hold *hold = &record->hold;
	u8 last = class->position, p;

	if (likely(!READ_ONCE(hold->n)))
		return false;
	if (listener->order != SYNQ_ORDER_STRICT)
		last = conf->n_positions - 1;
	for (p = 0; p <= last; p++)
		if (READ_ONCE(hold->in[conf->order[p]]) &&
		    synq_admission_promote(record, conf, listener,
					   &conf->class[conf->order[p]],
					   SYNQ_FINAL_ACK))
			return true;
	return false;
}

/* At most half of the backlog for each class and those before it. */
static bool is_full(const struct synq_record *record, const struct synq_conf *conf,
		    const struct synq_class *class)
{
	u32 backlog = READ_ONCE(record->sk->sk_max_ack_backlog), n = 0;
	u8 p;

	for (p = 0; p <= class->position; p++)
		n += READ_ONCE(record->hold.in[conf->order[p]]);
	return record->hold.closed || n >= synq_hold_most(backlog) ||
	       READ_ONCE(record->hold.n) >= max(backlog, 2U);
}

/**
 * synq_hold_add() - begin to hold a connection
 * @record: of its listener
 * @conf: snapshot
 * @class: of the connection
 * @skb: the segment that would complete its handshake, as TCP has it; a copy is held
 * @req: its request, of which the caller has a reference
 *
 * Context: BH off, rcu_read_lock()
 * Return: 0; -EEXIST if it and the segment are held already; else it cannot be held
 */
int synq_hold_add(struct synq_record *record, const struct synq_conf *conf,
		  const struct synq_class *class, struct sk_buff *skb,
		  struct request_sock *req)
{
	struct synq_hold *hold = &record->hold;
	u64 now_ns = ktime_get_ns();
	struct sk_buff *copy = NULL;
	struct synq_held *held = NULL;
	int err = -ENOMEM;

	if (synq_held_has_had_its_time(record->sk, req, now_ns))
		return -ETIME;
	if (is_full(record, conf, class))
		return -ENOSPC;
	held = kzalloc(sizeof(*held), GFP_ATOMIC | __GFP_NOWARN);
	copy = held ? synq_replay_copy(record->sk, skb) : NULL;
	if (!copy)
		goto out;
	held->req = req;
	held->record = record;
	held->since_ns = now_ns;
	held->rtt_us = synq_replay_rtt_us(req, skb, now_ns);
	held->ts_recent = READ_ONCE(req->ts_recent);
	held->fail_mode = synq_accecn_fail_mode(req);
	held->slot = class->slot;
	held->since = class->since;
	held->looked = jiffies;
	__skb_queue_head_init(&held->segments);
	spin_lock(&hold->lock);
	err = is_full(record, conf, class) || !has_space(record, copy) ||
	      copy->truesize > OWN_BYTES_MAX ? -ENOSPC :
	      rhashtable_lookup_insert_fast(&table, &held->node, params);
	if (!err) {
		synq_drain_sample(&hold->drain, ktime_get_ns(), hold->n, hold->left);
		hold->left = 0;
		count_in(held, 1);
		sock_hold(req_to_sk(req));
		append(held, copy);
		synq_held_list_in(held, false);
		list_add_tail(&held->all, &hold->all);
		arm(hold);
		synq_held_count(held, SYNQ_COUNT_HELD);
	}
	spin_unlock(&hold->lock);
	if (!err)
		trace_synq_hold(record->counters->port, class->name, READ_ONCE(hold->n));
out:
	if (err) {
		kfree_skb(copy);
		kfree(held);
	}
	/* By another segment, on another CPU; or by the listener that it migrates from. */
	if (err == -EEXIST && synq_hold_ask(record, skb, req) != SYNQ_HOLD_KEPT)
		err = -EBUSY;
	return err;
}

/**
 * synq_hold_promoting() - prepare a request that is released for its promotion
 * @req: its request; synq_hold_ask() has said so
 *
 * The time held must not be part of the child's round trip time.
 *
 * Context: BH off, rcu_read_lock()
 * Return: for how long it was held, ns
 */
u64 synq_hold_promoting(struct request_sock *req)
{
	u64 now_ns = ktime_get_ns();
	struct synq_held *held = find(req);

	if (!held)
		return 0;
	held->retrans = req->num_retrans;
	held->synack_us = tcp_rsk(req)->snt_synack;
	tcp_rsk(req)->snt_synack = div_u64(now_ns, NSEC_PER_USEC) - held->rtt_us;
	req->num_retrans = 0;
	synq_set_accecn_fail_mode(req, held->fail_mode);
	return now_ns - held->since_ns;
}

/**
 * synq_hold_promoted() - take note of the kernel's answer
 * @req: its request
 * @promoted: whether the kernel has promoted it
 *
 * Context: BH off, rcu_read_lock()
 */
void synq_hold_promoted(struct request_sock *req, bool promoted)
{
	struct synq_held *held = find(req);

	if (!held)
		return;
	/* From now on the segment's address may be reused. */
	WRITE_ONCE(held->replayed, NULL);
	held->promoted = promoted;
	if (promoted)
		return;
	held->was_full = sk_acceptq_is_full(held->record->sk);
	tcp_rsk(req)->snt_synack = held->synack_us;
	req->num_retrans = held->retrans;
}
