// SPDX-License-Identifier: GPL-2.0
/*
 * Holds the next request of a kept-alive connection ("requests on") until the
 * server has room for its class.  So requests are served in class order, too, and not only
 * new connections.
 *
 * What is held are segments, at LOCAL_IN, before TCP sees them.  The socket, its callbacks
 * and its wait queues are not touched: to the server the request arrives later, however it
 * waits for it.  To the client the network looks slow; it retransmits what is held for
 * longer than its timeout.
 *
 * DOC: a request's life
 *
 * held		its connection was quiet and has sent something new, and its class has no room
 *		(synq_request_hold()).  Segments that follow wait behind it, in the order in
 *		which they came, including a FIN (synq_request_follow()).
 * released	the timer of hold.c has found room (synq_request_release()).
 * overdue	it was held for TIME_MAX_NS: it is released, room or not.
 * flushed	the connection ends, or nothing is to be held any more: "off", "requests off",
 *		another configuration, the listener goes.  The segments are given to TCP
 *		nevertheless.
 *
 * Each request that was held is counted as one of the last three, or is held now.
 *
 * A client's reset waits behind the segments before it: if it overtook them, TCP
 * would not accept it (RFC 5961).
 *
 * DOC: why no client hangs, and nothing is used after it is gone
 *
 * 1. A segment is in the queue of its connection, which is in the list of its class, or it
 *    is in @due of its listener.  All are changed under the lock of the listener (inside.c),
 *    and @held counts the segments in both.  The timer runs while @held is not 0: it
 *    reads that under the lock of hold.c, under which synq_hold_arm() starts it.
 * 2. The timer moves the segments of a connection to @due after TIME_MAX_NS at the latest, and
 *    gives what is in @due to IP at each tick.  The function that takes a segment out of @due,
 *    under the lock, owns it.
 * 3. When a connection ends its segments move to @due.  A closed listener holds
 *    nothing: closing it stops the timer, then ends its connections, and gives what is in
 *    @due to IP.  What was held when the timer could not be started any more is among that.
 * 4. Segments are given to IP by the timer and by who closes, never from a hook: TCP takes
 *    the lock of a socket, which whoever sends the segment may have (tc's redirection).
 * 5. A held segment pins nothing but its route: its device is looked up again by its index,
 *    and its reference to conntrack is dropped.
 * 6. If anything fails the request passes: no memory, too many bytes of all, no route.
 *
 * Softirq, or process context (NFQUEUE: with BH on), under rcu_read_lock().
 */
#include <linux/bits.h>
#include <linux/bottom_half.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/dst.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include "follow.h"
#include "hold.h"
#include "inside.h"
#include "record.h"
#include "release.h"
#include "request.h"

#define SEGMENTS_MAX	10		/* of one connection */
#define BYTES_MAX	(128 << 10)	/* likewise: truesize */
#define TIME_MAX_NS	((u64)NSEC_PER_SEC)
#define AT_ONCE		256		/* requests in one tick */
#define GIVE_AT_ONCE	256		/* segments */
#define AHEAD_MAX	BIT(24)		/* bytes: no window is as large, or hardly any */

static synq_okfn okfn_of[2];	/* IPv4, IPv6; from the first segment on */

/* --- segments --- */

static bool is_v6(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IPV6);
}

/**
 * struct synq_request_cb - what has to be known of a held segment
 * @seq: its sequence number
 * @end: the sequence number after it; a FIN counts
 *
 * It is the end of the control block, which begins with IP's.
 */
struct synq_request_cb {
	u32 seq;
	u32 end;
};

static struct synq_request_cb *cb(const struct sk_buff *skb)
{
	const size_t at = sizeof_field(struct sk_buff, cb) - sizeof(struct synq_request_cb);

	BUILD_BUG_ON(max(sizeof(struct inet_skb_parm), sizeof(struct inet6_skb_parm)) > at);
	return (struct synq_request_cb *)(skb->cb + at);
}

/* A copy of a segment, not charged yet; NULL: it cannot be held. */
static struct sk_buff *copy_of(struct sk_buff *skb, const struct tcphdr *th, u32 len,
			       synq_okfn okfn)
{
	struct sk_buff *copy = synq_replay_copy_at_ip(skb);

	if (!copy)
		return NULL;
	cb(copy)->seq = ntohl(th->seq);
	cb(copy)->end = cb(copy)->seq + len + th->fin;
	WRITE_ONCE(okfn_of[is_v6(copy)], okfn);
	return copy;
}

static bool is_there(const struct synq_followed *conn, const struct sk_buff *copy)
{
	const struct sk_buff *skb;

	skb_queue_walk(&conn->segments, skb)
		if (cb(skb)->seq == cb(copy)->seq && !before(cb(skb)->end, cb(copy)->end))
			return true;
	return false;
}

/* For one more; the first segment of a request may have any size. */
static bool has_space(const struct synq_followed *conn, const struct sk_buff *copy)
{
	return skb_queue_len(&conn->segments) < SEGMENTS_MAX &&
	       conn->bytes + copy->truesize <= BYTES_MAX;
}

/* Adds a copy to what its connection holds; false: all hold too much already. */
static bool append(struct synq_followed *conn, struct sk_buff *copy)
{
	struct synq_inside *inside = &conn->record->inside;

	lockdep_assert_held(&inside->lock);
	if (!synq_hold_take_bytes(conn->record->sn, inside->bytes, copy->truesize))
		return false;
	inside->bytes += copy->truesize;
	conn->bytes += copy->truesize;
	__skb_queue_tail(&conn->segments, copy);
	WRITE_ONCE(inside->held, inside->held + 1);
	return true;
}

static void make_due(struct synq_followed *conn)
{
	struct synq_inside *inside = &conn->record->inside;

	lockdep_assert_held(&inside->lock);
	skb_queue_splice_tail_init(&conn->segments, &inside->due);
	conn->bytes = 0;
}

/* Continues after LOCAL_IN, unless the device or the route has gone. */
static void deliver(struct net *net, struct sk_buff *skb)
{
	synq_okfn okfn = READ_ONCE(okfn_of[is_v6(skb)]);

	skb->dev = dev_get_by_index_rcu(net, skb->skb_iif);
	if (skb->dev && dev_net(skb_dst(skb)->dev) == net)
		okfn(net, NULL, skb);
	else
		kfree_skb(skb);
}

static struct sk_buff *take_due(struct synq_record *record)
{
	struct synq_inside *inside = &record->inside;
	struct sk_buff *skb;

	spin_lock(&inside->lock);
	skb = __skb_dequeue(&inside->due);
	if (skb) {
		WRITE_ONCE(inside->held, inside->held - 1);
		inside->bytes -= skb->truesize;
		synq_hold_give_bytes(record->sn, skb->truesize);
	}
	spin_unlock(&inside->lock);
	return skb;
}

/**
 * synq_request_give() - give segments that are not held any more to IP
 * @record: of the listener
 *
 * BH is off meanwhile, as IP expects; the caller may be a hook with BH on (NFQUEUE).
 *
 * Context: rcu_read_lock(), no lock of ours, nor of a socket
 * Return: false if there may be more
 */
bool synq_request_give(struct synq_record *record)
{
	unsigned int budget = GIVE_AT_ONCE;
	struct sk_buff *skb;

	local_bh_disable();
	while (budget && (skb = take_due(record))) {
		deliver(sock_net(record->sk), skb);
		budget--;
	}
	local_bh_enable();
	return budget;
}

/* --- LOCAL_IN --- */

/**
 * synq_request_is_before() - is there a held request that comes, or may come, before a class?
 * @record: of the listener
 * @conf: snapshot
 * @listener: configured, as it is for the socket
 * @class: of the connection that comes now
 *
 * Return: true if so
 */
bool synq_request_is_before(const struct synq_record *record,
			    const struct synq_conf *conf,
			    const struct synq_listener *listener,
			    const struct synq_class *class)
{
	const struct synq_inside *inside = &record->inside;
	u8 last = class->position, p;

	if (likely(!READ_ONCE(inside->held)) || class->slot == SYNQ_SLOT_LOCAL)
		return false;
	if (listener->order != SYNQ_ORDER_STRICT)
		last = conf->n_positions - 1;
	for (p = 0; p <= last; p++)
		if (READ_ONCE(inside->in[SYNQ_INSIDE_HELD][conf->order[p]]))
			return true;
	return false;
}

/* Does a connection's next request have to wait? */
static bool has_to_wait(const struct synq_followed *conn)
{
	const struct synq_record *record = conn->record;
	struct synq_listener listener;
	const struct synq_class *class;
	const struct synq_conf *conf;

	/* What comes may be no request; then it would not count. */
	if (READ_ONCE(conn->was_stuck))
		return false;
	conf = synq_record_conf(record, &listener);
	if (!conf || !listener.inside || !listener.requests)
		return false;
	class = &conf->class[conn->slot];
	if (class->since != conn->since || class->slot == SYNQ_SLOT_LOCAL)
		return false;
	if (synq_inside_has_room(record, conf, &listener, class, false) &&
	    !synq_request_is_before(record, conf, &listener, class) &&
	    !synq_hold_is_before(record, conf, &listener, class))
		return false;
	if (!synq_conf_observes(conf, &listener, class))
		return true;
	synq_followed_count(conn, SYNQ_COUNT_WOULD_HOLD);
	return false;
}

static void release(struct synq_followed *conn, enum synq_counter counter, u64 now_ns)
{
	synq_followed_count(conn, counter);
	make_due(conn);
	synq_followed_begin(conn, now_ns);
	/* The hook does not see the reset again. */
	if (conn->is_reset)
		synq_followed_doubt(conn);
}

/**
 * synq_request_hold() - hold the next request of a quiet connection, if it has to wait
 * @conn: the connection
 * @skb: the segment, at LOCAL_IN
 * @th: its header
 * @len: bytes of data
 * @from: the first sequence number that is new
 * @okfn: what LOCAL_IN continues with
 *
 * Not while its server still sends: what comes then may be a part of the previous request,
 * or something that the rest of the answer waits for (HTTP/2).
 *
 * Context: rcu_read_lock(), no lock of ours, nor of a socket
 * Return: true if the segment does not go on: a copy waits
 */
bool synq_request_hold(struct synq_followed *conn, struct sk_buff *skb,
		       const struct tcphdr *th, u32 len, u32 from, synq_okfn okfn)
{
	struct synq_inside *inside = &conn->record->inside;
	bool holds = false, waits;
	struct sk_buff *copy;

	if (ntohl(th->ack_seq) != READ_ONCE(conn->sent) || !has_to_wait(conn))
		return false;
	copy = copy_of(skb, th, len, okfn);
	if (!copy)
		return false;
	spin_lock_bh(&inside->lock);
	/* Another segment may have come first, on another CPU. */
	waits = conn->state == SYNQ_INSIDE_HELD && !conn->dead;
	if (waits ? has_space(conn, copy) :
		    conn->state == SYNQ_INSIDE_QUIET && !conn->dead && !inside->closed)
		holds = append(conn, copy);
	if (holds && !waits) {
		synq_followed_count(conn, SYNQ_COUNT_REQUEST_HELD);
		synq_followed_set_held(conn, from, ktime_get_ns());
	}
	spin_unlock_bh(&inside->lock);
	if (!holds)
		kfree_skb(copy);
	else
		synq_hold_arm(conn->record);
	return holds || waits;
}

/* The sequence number after all that is held. */
static u32 end_of(const struct synq_followed *conn)
{
	const struct sk_buff *skb;
	u32 end = conn->from;

	skb_queue_walk(&conn->segments, skb)
		if (after(cb(skb)->end, end))
			end = cb(skb)->end;
	return end;
}

/*
 * Does it belong to what is held?  So does a reset that is right behind it: TCP judges it after
 * the rest.  To others TCP gives its own answer.
 * TCP ignores a segment that acknowledges what was never sent.
 */
static bool is_behind(const struct synq_followed *conn, const struct tcphdr *th, u32 len)
{
	u32 end = ntohl(th->seq) + len + th->fin;

	if (th->rst)
		return ntohl(th->seq) - end_of(conn) <= 1;
	return (len || th->fin) && end != conn->from && end - conn->from <= AHEAD_MAX &&
	       synq_followed_is_answer_to(conn, th);
}

/*
 * Adds a copy of a segment that belongs to what is held, and takes it over, unless it is there or
 * its connection has no space.  False: all hold too much, so that its request has been released.
 */
static bool add_behind(struct synq_followed *conn, struct sk_buff **copy,
		       const struct tcphdr *th, u32 len)
{
	if (!*copy || is_there(conn, *copy) || !has_space(conn, *copy))
		return true;
	if (!append(conn, *copy)) {
		release(conn, SYNQ_COUNT_REQUEST_FLUSHED, ktime_get_ns());
		return false;
	}
	synq_followed_is_new(&conn->came, ntohl(th->seq), len);
	conn->is_reset |= th->rst;
	*copy = NULL;
	return true;
}

/**
 * synq_request_follow() - treat a segment that comes while its connection's request is held
 * @conn: the connection
 * @skb: the segment, at LOCAL_IN
 * @th: its header
 * @len: bytes of data
 * @okfn: what LOCAL_IN continues with
 *
 * If its connection has no space for it, it is dropped, as on the way; the client retransmits
 * it, unless it is a reset, which goes on.  If all hold too much it goes on, and so does what
 * is held of its connection.  A pure ACK goes on.
 *
 * Context: rcu_read_lock(), no lock of ours, nor of a socket
 * Return: true if the segment does not go on
 */
bool synq_request_follow(struct synq_followed *conn, struct sk_buff *skb,
			 const struct tcphdr *th, u32 len, synq_okfn okfn)
{
	struct synq_inside *inside = &conn->record->inside;
	struct sk_buff *copy, *made;
	bool waits;

	if (!len && !th->fin && !th->rst)
		return false;
	copy = copy_of(skb, th, len, okfn);
	made = copy;
	spin_lock_bh(&inside->lock);
	waits = conn->state == SYNQ_INSIDE_HELD && !conn->dead && is_behind(conn, th, len) &&
		add_behind(conn, &copy, th, len);
	spin_unlock_bh(&inside->lock);
	kfree_skb(copy);
	if (th->rst)
		waits = waits && made && !copy;
	return waits;
}

/**
 * synq_request_end() - stop holding the request of a connection that is not followed any more
 * @conn: the connection, with the lock, in that state
 *
 * Context: BH off
 */
void synq_request_end(struct synq_followed *conn)
{
	synq_followed_count(conn, SYNQ_COUNT_REQUEST_FLUSHED);
	make_due(conn);
}

/* --- the timer --- */

static struct synq_followed *first_of(struct synq_inside *inside, u8 slot)
{
	return list_first_entry_or_null(&inside->late[slot], struct synq_followed, list);
}

static bool may_go(const struct synq_record *record, const struct synq_conf *conf,
		   const struct synq_listener *listener, const struct synq_followed *conn)
{
	return synq_inside_has_room(record, conf, listener, &conf->class[conn->slot], false);
}

/* The connection with the next turn; NULL: none waits, or there is no room for any. */
static struct synq_followed *next_of(struct synq_record *record,
				     const struct synq_conf *conf,
				     const struct synq_listener *listener)
{
	struct synq_followed *next = NULL, *conn;
	u8 p;

	for (p = 0; p < conf->n_positions; p++) {
		conn = first_of(&record->inside, conf->order[p]);
		if (conn && (!next || synq_release_precedes(record, conf, listener,
							    conn->slot, conn->since_ns,
							    next->slot, next->since_ns)) &&
		    may_go(record, conf, listener, conn))
			next = conn;
	}
	return next;
}

static struct synq_followed *overdue_of(struct synq_inside *inside, u64 age_ns,
					u64 now_ns)
{
	struct synq_followed *conn;
	u8 slot;

	for (slot = 0; slot < SYNQ_SLOTS; slot++) {
		conn = first_of(inside, slot);
		if (conn && now_ns - conn->since_ns >= age_ns)
			return conn;
	}
	return NULL;
}

/**
 * synq_request_release() - at each tick, release requests that are overdue, and those
 * that there is room for
 * @record: of the listener
 * @conf: snapshot; NULL: nothing is to be held any more
 * @listener: configured, as it is for the socket
 *
 * Context: softirq, rcu_read_lock(), no lock of ours
 */
void synq_request_release(struct synq_record *record, const struct synq_conf *conf,
			  const struct synq_listener *listener)
{
	struct synq_inside *inside = &record->inside;
	bool over = !conf || conf->observe || listener->observe || !listener->inside ||
		    !listener->requests;
	struct synq_followed *conn;
	unsigned int budget;
	u64 now_ns;

	if (likely(!READ_ONCE(inside->held)))
		return;
	spin_lock(&inside->lock);
	now_ns = ktime_get_ns();
	for (budget = AT_ONCE; budget; budget--) {
		conn = overdue_of(inside, over ? 0 : TIME_MAX_NS, now_ns);
		if (!conn)
			break;
		release(conn, over ? SYNQ_COUNT_REQUEST_FLUSHED : SYNQ_COUNT_REQUEST_OVERDUE,
			now_ns);
	}
	for (; budget && !over; budget--) {
		conn = next_of(record, conf, listener);
		if (!conn)
			break;
		release(conn, SYNQ_COUNT_REQUEST_RELEASED, now_ns);
	}
	spin_unlock(&inside->lock);
	synq_request_give(record);
}
