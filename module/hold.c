// SPDX-License-Identifier: GPL-2.0
/*
 * Holds connections whose handshake is complete and for which there is no slot in the
 * accept queue: the segments that their clients have sent wait here, and are given to
 * TCP once more when there is room.  So a connection gets in the moment that there is
 * room, in class order, and not when its client sends again.
 *
 * The stock kernel drops the final ACK, and the request stays half open.  It does so
 * here, too; what is held are copies of segments (at most SEGMENTS_MAX of each
 * connection), in the order in which they came, by connection and class.
 *
 * DOC: a life
 *
 * held		the gate had no room (synq_hold_add()).  What else the client sends waits
 *		behind (synq_hold_ask()), unless it is there already.
 * released	the timer has found room.  It gives the segments to TCP one after the
 *		other; the first finds the request again and comes to the gate, which knows
 *		it by its address and lets it pass; the others find the child.  If the
 *		kernel has no slot after all, the connection is held as before.
 * gone		its request is: reset by the client, or expired.
 * flushed	it had to be given to TCP whether there was room or not: before its request
 *		expires; when its listener does not listen any more (the kernel resets it, or
 *		has it migrate); when synq is switched off, or leaves the listener; and while
 *		tcp_abort_on_overflow is set.  What becomes of it then is the kernel's
 *		business, as ever.
 *
 * Each that was held is counted as one of the last three, or is held now.
 *
 * DOC: how long, and how many
 *
 * For 6 s after its SYN-ACK was sent, or until half a second before its request expires
 * with two retries or fewer, as the kernel prunes a SYN queue that is more than half full.
 * As many as half of the backlog for a class and those before it, and OWN_BYTES_MAX of
 * each, BYTES_MAX of a listener, NET_BYTES_MAX of a network namespace and ALL_BYTES_MAX
 * of all.  Beyond that a final ACK is dropped, as by the
 * stock kernel ("hold-full").
 *
 * Not held are connections of SYN cookies: the kernel would check each of their segments
 * anew, and reset what comes behind the first.  Nor what has lost its route.
 *
 * The child shall not take that time for the path's: for the kernel its first SYN-ACK was
 * sent a round trip ago, as it was when it came here, and never again.
 *
 * DOC: why nothing is used after it is gone
 *
 * 1. A held connection has a reference to its request, so that no other has its address
 *    meanwhile, by which it is found.  The request has one to its listener.
 * 2. It is found under rcu_read_lock(), in a hash of all of them, by its request alone, and
 *    is freed a grace period after it has left the hash.  It is looked at, and its
 *    segments are touched, with the lock of its record, and only by who is in the gate of
 *    that very record, which is there for a grace period after that (record.c).
 * 3. Who takes it out of its list, with the lock, owns it until it is put back, or out of
 *    the hash: the timer, or who flushes.  Segments that come meanwhile join the others.
 *    What its owner gives to TCP after it has left the hash does not come back to it.
 * 4. Segments are given to TCP with no lock of ours.
 * 5. The timer is armed with the lock, while the record is not closed.  The record is
 *    closed before it is removed, with the lock, and flushed then, so that nothing is held
 *    by it any more but by the timer that is running; freeing it waits for that.
 *
 * Softirq, or process context with BH off, under rcu_read_lock().
 */
#include <linux/ktime.h>
#include <linux/list_sort.h>
#include <linux/netdevice.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/inet_connection_sock.h>
#include <net/protocol.h>
#include <net/tcp.h>
#include "admission.h"
#include "classify.h"
#include "compat.h"
#include "hold.h"
#include "record.h"
#include "tcpopt.h"

#define SEGMENTS_MAX	10
#define BYTES_MAX	(32 << 20)
#define NET_BYTES_MAX	(128 << 20)
#define ALL_BYTES_MAX	(256 << 20)
#define OWN_BYTES_MAX	(128 << 10)
#define COPY_MAX	512	/* bytes: smaller segments are copied, as no page waits then */
#define TIME_MAX	(6ULL * NSEC_PER_SEC)
#define MARGIN		(HZ / 2)
#define RETRIES		2
#define TICK		NSEC_PER_MSEC
#define AT_ONCE		64	/* in one tick */
#define FAILURES_MAX	SEGMENTS_MAX
#define LOOK_PERIOD	(HZ / 8)

/**
 * struct held - a connection that is held
 * @node: in the hash, by @req
 * @req: its request, with a reference
 * @record: of its listener; compared only, unless it is that of who asks
 * @list: in its FIFO, unless somebody owns it
 * @segments: with their device's number in skb->skb_iif
 * @n: of them
 * @bytes: of them
 * @since_ns: monotonic clock
 * @ts_recent: of its request, when it came here
 * @failures: replays that have not promoted it
 * @replayed: the segment that is with TCP now
 * @rtt_us: round trip time of its path
 * @synack_us: its request's, while @replayed is with TCP
 * @promoted: by that segment
 * @forced: whether there is room or not
 * @dead: it is not in the hash any more
 * @slot: of its class
 * @since: &synq_class.since
 * @retrans: SYN-ACKs that were sent again, while @replayed is with TCP
 * @rcu: freed after a grace period
 */
struct held {
	struct rhash_head node;
	struct request_sock *req;
	struct synq_record *record;
	struct list_head list;
	struct sk_buff_head segments;
	u32 bytes;
	u64 since_ns;
	u32 ts_recent;
	u8 failures;
	const struct sk_buff *replayed;
	u64 rtt_us;
	u64 synack_us;
	bool promoted;
	bool forced;
	bool dead;
	u8 slot;
	u32 since;
	u8 retrans;
	struct rcu_head rcu;
};

static struct rhashtable table;
static atomic_t all_bytes;

/* A pointer is spread well enough by its own hash: no seed is to be kept secret. */
static u32 hash_of(const void *key, u32 len, u32 seed)
{
	return hash_long(*(const unsigned long *)key, 32);
}

static const struct rhashtable_params params = {
	.key_len = sizeof(struct request_sock *),
	.key_offset = offsetof(struct held, req),
	.head_offset = offsetof(struct held, node),
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
	return rhashtable_init(&table, &params);
}

/**
 * synq_hold_module_exit() - the module goes; every record has been freed
 */
void synq_hold_module_exit(void)
{
	rhashtable_destroy(&table);
}

static struct held *find(const struct request_sock *req)
{
	return rhashtable_lookup(&table, &req, params);
}

static void count(const struct held *held, enum synq_counter counter)
{
	struct synq_port *port = held->record->counters;

	/* Not for another class that has the slot now.  Pairs with synq_port_give(). */
	if (READ_ONCE(port->since[held->slot]) == held->since)
		synq_count(port, held->slot, counter);
}

/* How long it was held: up to 1 ms, 4 ms, 16 ms ... */
static void count_time(const struct held *held, u64 now_ns)
{
	unsigned int counter = SYNQ_COUNT_HELD_FOR;
	u64 limit = NSEC_PER_MSEC;

	for (; now_ns - held->since_ns > limit && counter < SYNQ_COUNT_HELD_LONGER;
	     counter++)
		limit *= 4;
	count(held, counter);
}

/* --- time --- */

/* Since the SYN-ACK was sent first, by tcp_clock_us(), which is the same clock. */
static u64 answered_ns(const struct request_sock *req)
{
	return tcp_rsk(req)->snt_synack * NSEC_PER_USEC;
}

/*
 * Is it about to expire?  It does when its timer fires after the last retry; or sooner, as
 * the kernel prunes a SYN queue that is more than half full, but not before the second.
 */
static bool expires(const struct sock *sk, const struct request_sock *req)
{
	return req->num_timeout >= min_t(u8, synq_retries_of(sk), RETRIES) &&
	       time_before(READ_ONCE(req->rsk_timer.expires), jiffies + MARGIN);
}

static bool has_had_its_time(const struct sock *sk, const struct request_sock *req,
			     u64 now_ns)
{
	return now_ns >= answered_ns(req) + TIME_MAX || expires(sk, req);
}

/* By the time stamp that the client has sent back; if it is one of milliseconds. */
static u64 stamped_us(const struct request_sock *req, const struct sk_buff *skb,
		      u64 now_us)
{
	const struct tcphdr *th = tcp_hdr(skb);
	const u8 *option = synq_tcpopt_find((const u8 *)(th + 1),
					    (const u8 *)th + 4 * th->doff,
					    BIT(TCPOPT_TIMESTAMP));
	__be32 echoed;
	u32 sent;

	if (!option || option[1] != TCPOLEN_TIMESTAMP)
		return U64_MAX;
	memcpy(&echoed, option + 6, sizeof(echoed));
	sent = ntohl(echoed) - tcp_rsk(req)->ts_off;
	return (u64)((u32)div_u64(now_us, USEC_PER_MSEC) - sent) * USEC_PER_MSEC;
}

/*
 * The round trip time, as the kernel would take it now: of a SYN-ACK that was sent again
 * by the time stamp, or else, for want of any, as if the last one was answered.
 */
static u64 path_us(const struct request_sock *req, const struct sk_buff *skb,
		   u64 now_ns)
{
	u64 now_us = div_u64(now_ns, NSEC_PER_USEC);
	u64 since_us = now_us - min(now_us, tcp_rsk(req)->snt_synack), us;
	unsigned long last;

	if (!req->num_retrans)
		return since_us;
	us = stamped_us(req, skb, now_us);
	if (us <= since_us)
		return us;
	last = READ_ONCE(req->rsk_timer.expires) - (req->timeout << req->num_timeout);
	return min_t(u64, since_us, max_t(long, jiffies - last, 1) *
				    jiffies_to_msecs(1) * USEC_PER_MSEC);
}

/* --- segments --- */

/*
 * Undoes what TCP has done to it: its control block is IP's again.  NULL: it is not to be
 * held, or no memory.
 */
static struct sk_buff *copy_of(struct sk_buff *skb)
{
	struct sk_buff *copy;

	if (!skb->dev || !skb_dst_force(skb))
		return NULL;
	copy = skb->len <= COPY_MAX && !skb_is_gso(skb) ?
	       skb_copy(skb, GFP_ATOMIC) : skb_clone(skb, GFP_ATOMIC);
	if (!copy)
		return NULL;
#if IS_ENABLED(CONFIG_IPV6)
	if (skb->protocol == htons(ETH_P_IPV6))
		memmove(IP6CB(copy), &TCP_SKB_CB(skb)->header.h6,
			sizeof(struct inet6_skb_parm));
	else
#endif
		memmove(IPCB(copy), &TCP_SKB_CB(skb)->header.h4,
			sizeof(struct inet_skb_parm));
	/* A connection that is tracked would keep its namespace. */
	nf_reset_ct(copy);
	copy->skb_iif = skb->dev->ifindex;
	copy->dev = NULL;
	return copy;
}

static u32 seq_of(const struct sk_buff *skb)
{
	return ntohl(tcp_hdr(skb)->seq);
}

/* Sequence numbers that it takes, its FIN included. */
static u32 length_of(const struct sk_buff *skb)
{
	return skb->len - 4 * tcp_hdr(skb)->doff + tcp_hdr(skb)->fin;
}

static bool is_there(const struct held *held, const struct sk_buff *skb)
{
	const struct sk_buff *other;

	skb_queue_walk(&held->segments, other)
		if (seq_of(other) == seq_of(skb) && length_of(other) >= length_of(skb))
			return true;
	return false;
}

static bool has_space(const struct synq_record *record, const struct sk_buff *skb)
{
	return record->hold.bytes + skb->truesize <= BYTES_MAX &&
	       atomic_read(&record->sn->held_bytes) + skb->truesize <=
	       NET_BYTES_MAX &&
	       atomic_read(&all_bytes) + skb->truesize <= ALL_BYTES_MAX;
}

static void charge(struct held *held, int bytes)
{
	struct synq_record *record = held->record;

	lockdep_assert_held(&record->hold.lock);
	held->bytes += bytes;
	record->hold.bytes += bytes;
	atomic_add(bytes, &record->sn->held_bytes);
	atomic_add(bytes, &all_bytes);
}

static void append(struct held *held, struct sk_buff *copy)
{
	__skb_queue_tail(&held->segments, copy);
	charge(held, copy->truesize);
}

static struct sk_buff *take(struct held *held)
{
	struct sk_buff *skb = __skb_dequeue(&held->segments);

	if (skb)
		charge(held, -(int)skb->truesize);
	return skb;
}

/*
 * As IP would.  False: its device has gone, or its route has, which then leads into another
 * namespace; it is lost, as on the way.
 */
static bool give_to_tcp(struct net *net, struct sk_buff *skb)
{
	skb->dev = dev_get_by_index_rcu(net, skb->skb_iif);
	if (!skb->dev || dev_net(skb_dst(skb)->dev) != net) {
		kfree_skb(skb);
		return false;
	}
#if IS_ENABLED(CONFIG_IPV6)
	if (skb->protocol == htons(ETH_P_IPV6))
		rcu_dereference(inet6_protos[IPPROTO_TCP])->handler(skb);
	else
#endif
		rcu_dereference(inet_protos[IPPROTO_TCP])->handler(skb);
	return true;
}

/* --- lists --- */

static void list_in(struct held *held, bool first)
{
	struct synq_hold *hold = &held->record->hold;

	lockdep_assert_held(&hold->lock);
	if (first)
		list_add(&held->list, &hold->fifo[held->slot]);
	else
		list_add_tail(&held->list, &hold->fifo[held->slot]);
	WRITE_ONCE(hold->n, hold->n + 1);
	WRITE_ONCE(hold->in[held->slot], hold->in[held->slot] + 1);
}

/* Its owner is who calls: rule 3. */
static void list_out(struct held *held)
{
	struct synq_hold *hold = &held->record->hold;

	lockdep_assert_held(&hold->lock);
	list_del_init(&held->list);
	WRITE_ONCE(hold->n, hold->n - 1);
	WRITE_ONCE(hold->in[held->slot], hold->in[held->slot] - 1);
}

static void unhash(struct held *held)
{
	struct synq_hold *hold = &held->record->hold;

	lockdep_assert_held(&hold->lock);
	WRITE_ONCE(hold->hashed, hold->hashed - 1);
	held->dead = true;
	rhashtable_remove_fast(&table, &held->node, params);
}

/* It is unhashed. */
static void release(struct held *held)
{
	sock_gen_put((struct sock *)held->req);
	kfree_rcu(held, rcu);
}

static bool is_gone(const struct held *held)
{
	return !sk_hashed(req_to_sk(held->req));
}

/*
 * Its owner is done with it: it leaves the hash, so that what comes now is not for it, and
 * what is left of its segments is given to TCP, or is of no use.
 */
static void end(struct held *held, bool of_use)
{
	struct synq_record *record = held->record;
	struct sk_buff_head rest;
	struct sk_buff *skb;

	__skb_queue_head_init(&rest);
	spin_lock_bh(&record->hold.lock);
	while ((skb = take(held)))
		__skb_queue_tail(&rest, skb);
	unhash(held);
	spin_unlock_bh(&record->hold.lock);
	while ((skb = __skb_dequeue(&rest)))
		if (of_use)
			give_to_tcp(sock_net(record->sk), skb);
		else
			kfree_skb(skb);
}

/* Its request is not in the SYN queue any more; it may have been promoted meanwhile. */
static void drop(struct held *held)
{
	end(held, true);
	count(held, SYNQ_COUNT_HOLD_GONE);
	release(held);
}

/* Its time is over: it is as if its segments had been dropped when they came. */
static void give_up(struct held *held)
{
	end(held, false);
	count(held, SYNQ_COUNT_HOLD_FLUSHED);
	release(held);
}

/* Why a connection is given to TCP. */
enum why {
	ROOM,		/* there is some, or was a moment ago */
	OVER,		/* nobody is to be held */
};

/* Another segment may have more luck: one with data, where the server waits for data. */
static bool put_back(struct held *held, struct sk_buff *skb, bool is_full)
{
	struct synq_record *record = held->record;
	bool again;

	spin_lock_bh(&record->hold.lock);
	again = !record->hold.closed && (is_full || ++held->failures <= FAILURES_MAX);
	if (again) {
		if (is_full)
			__skb_queue_head(&held->segments, skb);
		else
			__skb_queue_tail(&held->segments, skb);
		charge(held, skb->truesize);
		list_in(held, is_full);
	}
	spin_unlock_bh(&record->hold.lock);
	return again;
}

/*
 * Its owner has it promoted.  Returns false if it is held as before: the kernel had no
 * slot, though there seemed to be one, or does not promote it by this segment.
 */
static bool replay(struct held *held, enum why why)
{
	struct synq_record *record = held->record;
	struct net *net = sock_net(record->sk);
	struct sk_buff *skb, *copy;
	bool had_way;

	held->forced = why != ROOM;
	held->promoted = false;
	spin_lock_bh(&record->hold.lock);
	skb = take(held);
	spin_unlock_bh(&record->hold.lock);
	/* Later segments may have changed it: this one would be too old then. */
	WRITE_ONCE(held->req->ts_recent, held->ts_recent);
	copy = skb_clone(skb, GFP_ATOMIC);
	held->replayed = copy ?: skb;
	had_way = give_to_tcp(net, copy ?: skb);
	held->replayed = NULL;
	if (copy && had_way && why == ROOM && !held->promoted && !is_gone(held) &&
	    put_back(held, skb, sk_acceptq_is_full(record->sk)))
		return false;
	if (copy)
		kfree_skb(skb);
	end(held, held->promoted || why == OVER || is_gone(held));
	count(held, held->promoted && why == ROOM ? SYNQ_COUNT_RELEASED :
		    why == ROOM && is_gone(held) ? SYNQ_COUNT_HOLD_GONE :
						   SYNQ_COUNT_HOLD_FLUSHED);
	if (why == ROOM && held->promoted)
		count_time(held, ktime_get_ns());
	release(held);
	return true;
}

/*
 * Its listener does not listen any more: the kernel resets it, or has it migrate to
 * another, where it may be held anew.  So it is not known here from now on.
 */
static void let_go(struct held *held)
{
	end(held, true);
	count(held, SYNQ_COUNT_HOLD_FLUSHED);
	release(held);
}

/* --- who is next --- */

static bool aborts(const struct synq_record *record)
{
	return READ_ONCE(sock_net(record->sk)->ipv4.sysctl_tcp_abort_on_overflow);
}

static bool has_room(const struct synq_record *record, const struct synq_conf *conf,
		     const struct synq_listener *listener,
		     const struct synq_class *class)
{
	if (sk_acceptq_is_full(record->sk))
		return false;
	return class->observe ||
	       synq_admission_promote(conf, listener, class, record->sk,
				      &record->acceptq, SYNQ_FINAL_ACK);
}

/* Is one at the head of a class to come before another? */
static bool precedes(const struct synq_record *record, const struct synq_conf *conf,
		     const struct synq_listener *listener, const struct held *held,
		     const struct held *other)
{
	const struct synq_class *a = &conf->class[held->slot];
	const struct synq_class *b = &conf->class[other->slot];

	switch ((enum synq_order)listener->order) {
	case SYNQ_ORDER_STRICT:
		return a->position < b->position;
	case SYNQ_ORDER_WEIGHTED:
		return (u64)synq_acceptq_own(&record->acceptq, a->position) *
		       b->weight_effective <
		       (u64)synq_acceptq_own(&record->acceptq, b->position) *
		       a->weight_effective;
	case SYNQ_ORDER_FIFO:
		break;
	}
	return held->since_ns < other->since_ns;
}

/* With the lock; NULL: nobody, or for nobody there is room. */
static struct held *next_of(struct synq_record *record, const struct synq_conf *conf,
			    const struct synq_listener *listener)
{
	struct held *next = NULL, *held;
	u8 p;

	for (p = 0; p < conf->n_positions; p++) {
		const struct synq_class *class = &conf->class[conf->order[p]];

		held = list_first_entry_or_null(&record->hold.fifo[class->slot],
						struct held, list);
		if (held && (!next || precedes(record, conf, listener, held, next)) &&
		    has_room(record, conf, listener, class))
			next = held;
	}
	if (next)
		list_out(next);
	return next;
}

static struct held *first_of(struct synq_record *record)
{
	struct held *held;
	u8 slot;

	for (slot = 0; slot < SYNQ_SLOTS; slot++) {
		held = list_first_entry_or_null(&record->hold.fifo[slot],
						struct held, list);
		if (held) {
			list_out(held);
			return held;
		}
	}
	return NULL;
}

/* Or it came by a snapshot of before, to a class that is not there any more. */
static bool is_to_go(const struct synq_conf *conf, const struct held *held, u64 now_ns)
{
	return is_gone(held) ||
	       has_had_its_time(held->record->sk, held->req, now_ns) ||
	       (held->slot >= SYNQ_SLOT_FIRST && !conf->class[held->slot].name[0]);
}

/* Who is gone, or has had its time: seldom, since all are looked at. */
static void look_at_all(struct synq_record *record, const struct synq_conf *conf)
{
	struct synq_hold *hold = &record->hold;
	unsigned int budget = AT_ONCE;
	u64 now_ns = ktime_get_ns();
	struct held *held, *next;
	LIST_HEAD(out);
	u8 slot;

	if (time_before(jiffies, hold->looked + LOOK_PERIOD))
		return;
	spin_lock_bh(&hold->lock);
	for (slot = 0; slot < SYNQ_SLOTS && budget; slot++)
		list_for_each_entry_safe(held, next, &hold->fifo[slot], list)
			if (is_to_go(conf, held, now_ns)) {
				list_out(held);
				list_add_tail(&held->list, &out);
				if (!--budget)
					break;
			}
	/* Else the rest is looked at in the next tick. */
	if (budget)
		hold->looked = jiffies;
	spin_unlock_bh(&hold->lock);
	list_for_each_entry_safe(held, next, &out, list) {
		list_del_init(&held->list);
		if (is_gone(held))
			drop(held);
		else
			give_up(held);
	}
}

/* Nobody is to wait. */
static bool is_over(const struct synq_record *record, const struct synq_conf *conf,
		    const struct synq_listener *listener)
{
	return !conf || conf->observe || listener->observe || aborts(record) ||
	       inet_sk_state_load(record->sk) != TCP_LISTEN;
}

static void give(struct held *held, bool over)
{
	if (is_gone(held))
		drop(held);
	else if (inet_sk_state_load(held->record->sk) != TCP_LISTEN)
		let_go(held);
	else
		replay(held, over ? OVER : ROOM);
}

static void release_some(struct synq_record *record)
{
	struct synq_hold *hold = &record->hold;
	struct synq_listener listener;
	const struct synq_conf *conf;
	unsigned int budget;
	struct held *held;
	bool over;

	conf = synq_record_conf(record, &listener);
	over = is_over(record, conf, &listener);
	if (!over) {
		look_at_all(record, conf);
		synq_acceptq_settle(record->sk, &record->acceptq, record->counters);
	}
	for (budget = AT_ONCE; budget; budget--) {
		spin_lock_bh(&hold->lock);
		held = over ? first_of(record) : next_of(record, conf, &listener);
		spin_unlock_bh(&hold->lock);
		if (!held)
			break;
		give(held, over);
	}
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct synq_hold *hold = container_of(timer, struct synq_hold, timer);
	struct synq_record *record = container_of(hold, struct synq_record, hold);
	bool more;

	rcu_read_lock();
	release_some(record);
	rcu_read_unlock();
	spin_lock_bh(&hold->lock);
	more = hold->n && !hold->closed;
	hold->is_armed = more;
	spin_unlock_bh(&hold->lock);
	if (!more)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(TICK));
	return HRTIMER_RESTART;
}

/**
 * synq_hold_init() - nothing is held
 * @hold: in a record that cannot be found yet
 */
void synq_hold_init(struct synq_hold *hold)
{
	u8 slot;

	spin_lock_init(&hold->lock);
	hold->looked = jiffies;
	for (slot = 0; slot < SYNQ_SLOTS; slot++)
		INIT_LIST_HEAD(&hold->fifo[slot]);
	synq_hrtimer_setup(&hold->timer, tick);
}

/**
 * synq_hold_destroy() - wait for the timer: rule 5
 * @hold: flushed and closed, a grace period ago; or never used
 *
 * Context: process
 */
void synq_hold_destroy(struct synq_hold *hold)
{
	hrtimer_cancel(&hold->timer);
	WARN_ON_ONCE(hold->n);
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
	struct held *held;

	if (likely(!READ_ONCE(record->hold.hashed)))
		return SYNQ_HOLD_STRANGER;
	held = find(req);
	/* Rule 2. */
	if (!held || held->record != record)
		return SYNQ_HOLD_STRANGER;
	/* By who owns it, which is this CPU then. */
	if (READ_ONCE(held->replayed) == skb)
		return held->forced ? SYNQ_HOLD_FORCED : SYNQ_HOLD_REPLAY;
	/* The kernel would reset it. */
	if (aborts(record))
		return SYNQ_HOLD_STRANGER;
	spin_lock(&record->hold.lock);
	if (held->dead) {
		spin_unlock(&record->hold.lock);
		return SYNQ_HOLD_STRANGER;
	}
	if (skb_queue_len(&held->segments) < SEGMENTS_MAX && !is_there(held, skb) &&
	    held->bytes + skb->truesize <= OWN_BYTES_MAX && has_space(record, skb)) {
		copy = copy_of(skb);
		if (copy)
			append(held, copy);
	}
	spin_unlock(&record->hold.lock);
	return SYNQ_HOLD_KEPT;
}

/**
 * synq_hold_is_before() - is somebody held who is to be promoted before a class?
 * @record: of the listener
 * @conf: snapshot
 * @listener: configured, as it is for the socket
 * @class: of a connection that comes now
 *
 * Context: rcu_read_lock()
 * Return: true if so: it has to wait behind them
 */
bool synq_hold_is_before(const struct synq_record *record,
			 const struct synq_conf *conf,
			 const struct synq_listener *listener,
			 const struct synq_class *class)
{
	const struct synq_hold *hold = &record->hold;
	u8 p;

	if (likely(!READ_ONCE(hold->n)))
		return false;
	if (listener->order != SYNQ_ORDER_STRICT)
		return true;
	for (p = 0; p <= class->position; p++)
		if (READ_ONCE(hold->in[conf->order[p]]))
			return true;
	return false;
}

/* As many as half of the backlog for each class and those before it. */
static bool is_full(const struct synq_record *record, const struct synq_conf *conf,
		    const struct synq_class *class)
{
	u32 backlog = READ_ONCE(record->sk->sk_max_ack_backlog), n = 0;
	u8 p;

	for (p = 0; p <= class->position; p++)
		n += record->hold.in[conf->order[p]];
	return record->hold.closed || n >= max(backlog / 2, 1U) ||
	       record->hold.n >= max(backlog, 2U);
}

/**
 * synq_hold_add() - hold a connection from now on
 * @record: of its listener
 * @conf: snapshot
 * @class: of the connection
 * @skb: the segment that would complete its handshake, as TCP has it; a copy is held
 * @req: its request, of which the caller has a reference
 *
 * Context: BH off, rcu_read_lock()
 * Return: 0; -EEXIST if it is held already; else it cannot be
 */
int synq_hold_add(struct synq_record *record, const struct synq_conf *conf,
		  const struct synq_class *class, struct sk_buff *skb,
		  struct request_sock *req)
{
	struct synq_hold *hold = &record->hold;
	u64 now_ns = ktime_get_ns();
	struct sk_buff *copy = NULL;
	struct held *held = NULL;
	int err = -ENOMEM;

	if (has_had_its_time(record->sk, req, now_ns))
		return -ETIME;
	held = kzalloc(sizeof(*held), GFP_ATOMIC | __GFP_NOWARN);
	copy = held ? copy_of(skb) : NULL;
	if (!copy)
		goto out;
	held->req = req;
	held->record = record;
	held->since_ns = now_ns;
	held->rtt_us = path_us(req, skb, now_ns);
	held->ts_recent = READ_ONCE(req->ts_recent);
	held->slot = class->slot;
	held->since = class->since;
	__skb_queue_head_init(&held->segments);
	spin_lock(&hold->lock);
	err = is_full(record, conf, class) || !has_space(record, copy) ? -ENOSPC :
	      rhashtable_lookup_insert_fast(&table, &held->node, params);
	if (!err) {
		WRITE_ONCE(hold->hashed, hold->hashed + 1);
		sock_hold(req_to_sk(req));
		append(held, copy);
		list_in(held, false);
		if (!hold->is_armed)
			hrtimer_start(&hold->timer, ns_to_ktime(TICK),
				      HRTIMER_MODE_REL_SOFT);
		hold->is_armed = true;
		count(held, SYNQ_COUNT_HELD);
	}
	spin_unlock(&hold->lock);
out:
	if (err) {
		kfree_skb(copy);
		kfree(held);
	}
	/* By another segment, on another CPU. */
	if (err == -EEXIST)
		synq_hold_ask(record, skb, req);
	return err;
}

/**
 * synq_hold_promoting() - the kernel is about to promote a connection that is released
 * @req: its request; synq_hold_ask() has said so
 *
 * Of the child's round trip time that is no part.
 *
 * Context: BH off, rcu_read_lock()
 */
void synq_hold_promoting(struct request_sock *req)
{
	struct held *held = find(req);

	if (!held)
		return;
	held->retrans = req->num_retrans;
	held->synack_us = tcp_rsk(req)->snt_synack;
	tcp_rsk(req)->snt_synack = div_u64(ktime_get_ns(), NSEC_PER_USEC) - held->rtt_us;
	req->num_retrans = 0;
}

/**
 * synq_hold_promoted() - it has, or not
 * @req: its request
 * @promoted: whether the kernel has promoted it
 *
 * Context: BH off, rcu_read_lock()
 */
void synq_hold_promoted(struct request_sock *req, bool promoted)
{
	struct held *held = find(req);

	if (!held)
		return;
	held->promoted = promoted;
	if (promoted)
		return;
	tcp_rsk(req)->snt_synack = held->synack_us;
	req->num_retrans = held->retrans;
}

/* --- the configuration changes --- */

/**
 * synq_hold_flush() - give all that are held to the kernel, at once
 * @record: of the listener
 * @close: nothing is held from now on
 *
 * Context: process
 */
void synq_hold_flush(struct synq_record *record, bool close)
{
	struct synq_hold *hold = &record->hold;
	struct held *held;

	do {
		spin_lock_bh(&hold->lock);
		if (close)
			hold->closed = true;
		held = first_of(record);
		spin_unlock_bh(&hold->lock);
		if (!held)
			break;
		local_bh_disable();
		rcu_read_lock();
		give(held, true);
		rcu_read_unlock();
		local_bh_enable();
		cond_resched();
	} while (true);
}

static int by_time(void *unused, const struct list_head *a, const struct list_head *b)
{
	return list_entry(a, struct held, list)->since_ns >
	       list_entry(b, struct held, list)->since_ns;
}

/**
 * synq_hold_sort() - a new snapshot is in force, by which held connections may have
 * other classes
 * @record: of the listener
 * @conf: snapshot
 *
 * Context: process
 */
void synq_hold_sort(struct synq_record *record, const struct synq_conf *conf)
{
	struct synq_hold *hold = &record->hold;
	const struct synq_class *class;
	struct held *held, *next;
	LIST_HEAD(all);
	u8 slot;

	rcu_read_lock();
	spin_lock_bh(&hold->lock);
	for (slot = 0; slot < SYNQ_SLOTS; slot++)
		list_for_each_entry_safe(held, next, &hold->fifo[slot], list) {
			list_out(held);
			list_add_tail(&held->list, &all);
		}
	list_sort(NULL, &all, by_time);
	list_for_each_entry_safe(held, next, &all, list) {
		list_del_init(&held->list);
		class = synq_classify_request(conf, record->sk, held->req);
		if (class->slot != held->slot || class->since != held->since) {
			count(held, SYNQ_COUNT_HOLD_FLUSHED);
			held->slot = class->slot;
			held->since = class->since;
			count(held, SYNQ_COUNT_HELD);
		}
		list_in(held, false);
	}
	spin_unlock_bh(&hold->lock);
	rcu_read_unlock();
}
