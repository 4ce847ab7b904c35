// SPDX-License-Identifier: GPL-2.0
/*
 * Releases held connections: in class order as there is room, and all of them when nothing
 * is to be held any more.  Their life is described in hold.c.
 */
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <net/inet_connection_sock.h>
#include <net/protocol.h>
#include <net/tcp.h>
#include <net/xfrm.h>
#include "admission.h"
#include "classify.h"
#include "compat.h"
#include "held.h"
#include "release.h"
#include "request.h"
#include "synq_trace.h"
#include "tcpopt.h"

/*
 * Segments that are copied and kept out of TCP for a while, and given to it later.
 */

#define COPY_MAX	512	/* bytes: smaller segments are copied, as no page waits then */

static bool passes_policy(const struct sock *sk, struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (skb->protocol == htons(ETH_P_IPV6))
		return xfrm6_policy_check((struct sock *)sk, XFRM_POLICY_IN, skb);
#endif
	return xfrm4_policy_check((struct sock *)sk, XFRM_POLICY_IN, skb);
}

/* The copy has a reference to the route; TCP's own keeps what it has, without which it may oops. */
static struct sk_buff *copy_of(struct sk_buff *skb)
{
	struct dst_entry *dst = skb_dst(skb);
	struct sk_buff *copy;

	if (!skb->dev || !dst || !dst_hold_safe(dst))
		return NULL;
	copy = skb->len <= COPY_MAX && !skb_is_gso(skb) ? skb_copy(skb, GFP_ATOMIC) :
							  skb_clone(skb, GFP_ATOMIC);
	if (!copy) {
		dst_release(dst);
		return NULL;
	}
	skb_dst_drop(copy);
	skb_dst_set(copy, dst);
	return copy;
}

/* NULL, and the copy is freed, if IPsec's policy would not let it through again. */
static struct sk_buff *make_ready(const struct sock *sk, struct sk_buff *copy)
{
	/* A reference to conntrack's entry would pin the namespace. */
	nf_reset_ct(copy);
	/*
	 * The policy that TCP will check.  The packet's IPsec state may be used up by then,
	 * and a rewritten packet has to be looked up in conntrack.
	 */
	if (!passes_policy(sk, copy)) {
		kfree_skb(copy);
		return NULL;
	}
	copy->skb_iif = copy->dev->ifindex;
	copy->dev = NULL;
	return copy;
}

/**
 * synq_replay_copy() - copy a segment, for a replay
 * @sk: its listener
 * @skb: as TCP has it
 *
 * The copy looks as before TCP has seen it: its control block is IP's again.
 *
 * Context: BH off, rcu_read_lock()
 * Return: NULL if it is not to be held, or without memory
 */
struct sk_buff *synq_replay_copy(const struct sock *sk, struct sk_buff *skb)
{
	struct sk_buff *copy = copy_of(skb);

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
	return make_ready(sk, copy);
}

/**
 * synq_replay_copy_at_ip() - likewise, of a segment that TCP has not seen yet
 * @skb: as LOCAL_IN has it
 *
 * Context: rcu_read_lock()
 * Return: NULL if it is not to be held, or without memory
 */
struct sk_buff *synq_replay_copy_at_ip(struct sk_buff *skb)
{
	struct sk_buff *copy = copy_of(skb);

	if (!copy)
		return NULL;
	/* TCP has not checked the policy yet: do it while conntrack's entry is known. */
	if (passes_policy(NULL, copy))
		return make_ready(NULL, copy);
	kfree_skb(copy);
	return NULL;
}

/**
 * synq_replay() - give a segment to TCP, as IP would
 * @net: of its listener
 * @skb: made by synq_replay_copy(); TCP takes over the reference
 *
 * Context: BH off, rcu_read_lock(), no lock of ours
 * Return: false if its device has gone, or its route, or if the route now leads into another
 *	namespace: the segment is lost, as on the way
 */
bool synq_replay(struct net *net, struct sk_buff *skb)
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

/* From the time stamp that the client has echoed, if it is in milliseconds. */
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

/**
 * synq_replay_rtt_us() - the round trip time, as the kernel would take it now
 * @req: request
 * @skb: the segment that answers its SYN-ACK
 * @now_ns: monotonic clock
 *
 * If the SYN-ACK was sent more than once, the client's time stamp tells which one it
 * answers.  Without time stamps it is assumed to answer the last one.
 *
 * Return: microseconds
 */
u64 synq_replay_rtt_us(const struct request_sock *req, const struct sk_buff *skb,
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

#define AT_ONCE		64	/* in one tick */
#define LOOK_PERIOD	(HZ / 8)
#define LOOKED_AT	256	/* likewise */
#define IN_VAIN		64	/* ticks, after which there are half as many, ... */
#define LONGEST		3	/* and so on, so often */
#define CHUNK		64	/* sorted with the lock */

/*
 * The owner has TCP promote it: only if there is room (@has_room), or in any case.  If TCP
 * does not promote it, since there is no slot after all or because it waits for another
 * segment, the connection stays held.
 */
static void replay(struct synq_held *held, bool has_room)
{
	struct synq_record *record = held->record;
	struct net *net = sock_net(record->sk);
	enum synq_counter counter = SYNQ_COUNT_HOLD_FLUSHED;
	struct sk_buff *skb, *copy;
	bool had_way, is_gone;

	held->forced = !has_room;
	held->promoted = false;
	held->was_full = false;
	spin_lock(&record->hold.lock);
	skb = synq_held_take(held);
	spin_unlock(&record->hold.lock);
	/* Later segments may have raised it: this one would look too old then. */
	WRITE_ONCE(held->req->ts_recent, held->ts_recent);
	copy = skb_clone(skb, GFP_ATOMIC);
	WRITE_ONCE(held->replayed, copy ?: skb);
	had_way = synq_replay(net, copy ?: skb);
	WRITE_ONCE(held->replayed, NULL);
	is_gone = synq_held_is_gone(held);
	if (has_room && copy && had_way && !held->promoted && !is_gone &&
	    synq_held_put_back(held, skb))
		return;
	if (copy)
		consume_skb(skb);
	if (has_room && held->promoted) {
		counter = SYNQ_COUNT_RELEASED;
		synq_held_count(held,
				synq_count_of_time(SYNQ_COUNT_HELD_FOR, SYNQ_COUNT_HELD_LONGER,
						   ktime_get_ns() - held->since_ns));
	} else if (has_room && is_gone) {
		counter = SYNQ_COUNT_HOLD_GONE;
	}
	synq_held_end(held, held->promoted || !has_room || is_gone, counter);
}

/* The owner has TCP decide now. */
static void give(struct synq_held *held, bool has_room)
{
	if (synq_held_is_gone(held))
		/* It may have been promoted meanwhile. */
		synq_held_end(held, true, SYNQ_COUNT_HOLD_GONE);
	else if (inet_sk_state_load(held->record->sk) != TCP_LISTEN)
		/* TCP resets it, or moves it to another listener, where it may be held. */
		synq_held_end(held, true, SYNQ_COUNT_HOLD_FLUSHED);
	else
		replay(held, has_room);
}

/* --- which is next --- */

static bool has_room(const struct synq_record *record, const struct synq_conf *conf,
		     const struct synq_listener *listener,
		     const struct synq_class *class)
{
	if (sk_acceptq_is_full(record->sk))
		return false;
	return class->observe ||
	       synq_admission_promote(record, conf, listener, class, SYNQ_FINAL_ACK);
}

/* How many are queued or busy. */
static u64 own(const struct synq_record *record, const struct synq_class *class)
{
	return (u64)synq_acceptq_own(&record->acceptq, class->position) +
	       synq_inside_own(&record->inside, class->slot);
}

/**
 * synq_release_precedes() - does the first of one class come before that of another?
 * @record: of the listener
 * @conf: snapshot
 * @listener: configured
 * @slot: of its class
 * @since_ns: when it came
 * @other: slot of the other class
 * @other_ns: when the other one came
 *
 * Return: true if so
 */
bool synq_release_precedes(const struct synq_record *record, const struct synq_conf *conf,
			   const struct synq_listener *listener, u8 slot, u64 since_ns,
			   u8 other, u64 other_ns)
{
	const struct synq_class *a = &conf->class[slot];
	const struct synq_class *b = &conf->class[other];

	switch ((enum synq_order)listener->order) {
	case SYNQ_ORDER_STRICT:
		return a->position < b->position;
	case SYNQ_ORDER_WEIGHTED:
		return own(record, a) * b->weight <
		       own(record, b) * a->weight;
	case SYNQ_ORDER_FIFO:
		break;
	}
	return since_ns < other_ns;
}

/* Under the lock; NULL: none is held, or there is no room for any. */
static struct synq_held *next_of(struct synq_record *record,
				 const struct synq_conf *conf,
				 const struct synq_listener *listener)
{
	struct synq_held *next = NULL, *held;
	u8 p;

	for (p = 0; p < conf->n_positions; p++) {
		const struct synq_class *class = &conf->class[conf->order[p]];

		held = list_first_entry_or_null(&record->hold.fifo[class->slot],
						struct synq_held, list);
		if (held && held->tried != record->hold.ticks &&
		    (!next || synq_release_precedes(record, conf, listener, held->slot,
						    held->since_ns, next->slot,
						    next->since_ns)) &&
		    has_room(record, conf, listener, class))
			next = held;
	}
	if (next)
		synq_held_list_out(next);
	return next;
}

static struct synq_held *first_of(struct synq_record *record)
{
	struct synq_held *held;
	u8 slot;

	for (slot = 0; slot < SYNQ_SLOTS; slot++) {
		held = list_first_entry_or_null(&record->hold.fifo[slot],
						struct synq_held, list);
		if (held) {
			synq_held_list_out(held);
			return held;
		}
	}
	return NULL;
}

static void classify_anew(const struct synq_conf *conf, struct synq_held *held)
{
	synq_held_list_out(held);
	synq_held_set_class(held, synq_classify_request(conf, held->record->sk,
							held->req));
	synq_held_list_in(held, false);
}

/* Must it be given to TCP, room or not?  Then it is taken out of its list. */
static bool is_due(struct synq_held *held, const struct synq_conf *conf, u64 now_ns)
{
	held->looked = jiffies;
	list_move_tail(&held->all, &held->record->hold.all);
	/* It is owned. */
	if (list_empty(&held->list))
		return false;
	if (synq_held_is_gone(held) ||
	    synq_held_has_had_its_time(held->record->sk, held->req, now_ns)) {
		synq_held_list_out(held);
		return true;
	}
	/* It was classified by an older snapshot. */
	if (conf->class[held->slot].since != held->since)
		classify_anew(conf, held);
	return false;
}

/*
 * Gives connections to TCP that are gone or have had their time; only some in each tick.
 * For the latter TCP decides, whether their class has room or not: if TCP has no slot
 * either, this is as if the segment had only come now.
 */
static void look_at_some(struct synq_record *record, const struct synq_conf *conf)
{
	struct synq_hold *hold = &record->hold;
	unsigned int budget = LOOKED_AT;
	u64 now_ns = ktime_get_ns();
	struct synq_held *held, *next;
	LIST_HEAD(out);

	spin_lock(&hold->lock);
	while (budget--) {
		held = list_first_entry_or_null(&hold->all, struct synq_held, all);
		if (!held || time_before(jiffies, held->looked + LOOK_PERIOD))
			break;
		if (is_due(held, conf, now_ns))
			list_add_tail(&held->list, &out);
	}
	spin_unlock(&hold->lock);
	list_for_each_entry_safe(held, next, &out, list) {
		list_del_init(&held->list);
		give(held, false);
	}
}

/* Nothing is to be held any more. */
static bool is_over(const struct synq_record *record, const struct synq_conf *conf,
		    const struct synq_listener *listener)
{
	return !conf || conf->observe || listener->observe || synq_hold_is_forbidden(record->sk) ||
	       inet_sk_state_load(record->sk) != TCP_LISTEN;
}

/* Returns whether it has to hear of it when none is held any more, or of what comes after that. */
static bool tick_inside(struct synq_record *record, const struct synq_listener *listener)
{
	u32 before = synq_inside_limit(&record->inside, listener), limit;
	u32 held = READ_ONCE(record->hold.n) + READ_ONCE(record->inside.held);
	bool again = synq_inside_tick(record, held, listener->inside == SYNQ_INSIDE_AUTO);

	limit = synq_inside_limit(&record->inside, listener);
	if (limit != before)
		trace_synq_inside_limit(record->counters->port, before, limit);
	return again;
}

/* Returns whether it has to be called again though nothing is held. */
static bool release_some(struct synq_record *record)
{
	struct synq_hold *hold = &record->hold;
	struct synq_listener listener;
	const struct synq_conf *conf;
	unsigned int budget;
	struct synq_held *held;
	bool over, limited, again = false;

	conf = synq_record_conf(record, &listener);
	over = is_over(record, conf, &listener);
	if (!over)
		synq_acceptq_settle(record->sk, &record->acceptq, record->counters);
	limited = conf && listener.inside;
	if (!over && limited)
		again = tick_inside(record, &listener);
	/* No connection waits for a place inside any more: its crew has to know. */
	else if (READ_ONCE(record->inside.window))
		synq_inside_tick(record, 0, false);
	/* Requests and new connections take turns in coming first. */
	if (hold->ticks % 2)
		synq_request_release(record, conf, &listener);
	for (budget = AT_ONCE; budget; budget--) {
		/* The one before must be in the accept queue's account. */
		synq_record_catch_up(record);
		spin_lock(&hold->lock);
		held = over ? first_of(record) : next_of(record, conf, &listener);
		spin_unlock(&hold->lock);
		if (!held)
			break;
		give(held, !over);
	}
	if (!(hold->ticks % 2))
		synq_request_release(record, conf, &listener);
	hold->in_vain = budget < AT_ONCE ? 0 : hold->in_vain + 1;
	/* A place inside must be filled within 2 ms; but new ones need a slot first. */
	if (limited && (READ_ONCE(record->inside.held) || !sk_acceptq_is_full(record->sk)))
		hold->in_vain = min_t(u32, hold->in_vain, IN_VAIN);
	if (!over)
		look_at_some(record, conf);
	return again;
}

/* A stalled server is asked less often: there may be thousands of them. */
static u64 period(const struct synq_hold *hold)
{
	return SYNQ_RELEASE_TICK << min_t(u32, hold->in_vain / IN_VAIN, LONGEST);
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct synq_hold *hold = container_of(timer, struct synq_hold, timer);
	struct synq_record *record = container_of(hold, struct synq_record, hold);
	bool more;

	rcu_read_lock();
	hold->ticks++;
	more = release_some(record);
	rcu_read_unlock();
	spin_lock(&hold->lock);
	more = (more || hold->n || READ_ONCE(record->inside.held)) && !hold->closed;
	hold->is_armed = more;
	spin_unlock(&hold->lock);
	if (!more)
		return HRTIMER_NORESTART;
	hrtimer_forward(timer, ktime_get(), ns_to_ktime(period(hold)));
	return HRTIMER_RESTART;
}

/**
 * synq_release_init() - begin with nothing held
 * @hold: in a record that cannot be found yet
 */
void synq_release_init(struct synq_hold *hold)
{
	u8 slot;

	spin_lock_init(&hold->lock);
	INIT_LIST_HEAD(&hold->all);
	for (slot = 0; slot < SYNQ_SLOTS; slot++)
		INIT_LIST_HEAD(&hold->fifo[slot]);
	synq_hrtimer_setup(&hold->timer, tick);
}

/**
 * synq_release_destroy() - wait for the timer (rule 5)
 * @hold: flushed and closed, a grace period ago; or never used
 *
 * Context: process
 */
void synq_release_destroy(struct synq_hold *hold)
{
	hrtimer_cancel(&hold->timer);
	WARN_ON_ONCE(hold->n);
}

/* --- the configuration changes --- */

/**
 * synq_release_all() - give all held connections to the kernel at once
 * @record: of the listener
 * @close: hold nothing from now on
 *
 * Context: process
 */
void synq_release_all(struct synq_record *record, bool close)
{
	struct synq_hold *hold = &record->hold;
	struct synq_held *held;

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
		give(held, false);
		rcu_read_unlock();
		local_bh_enable();
		cond_resched();
	} while (true);
}

static struct synq_held *oldest_of(struct list_head *fifo)
{
	struct synq_held *oldest = NULL, *held;
	u8 slot;

	for (slot = 0; slot < SYNQ_SLOTS; slot++) {
		held = list_first_entry_or_null(&fifo[slot], struct synq_held, list);
		if (held && (!oldest || held->since_ns < oldest->since_ns))
			oldest = held;
	}
	return oldest;
}

/**
 * synq_release_sort() - classify held connections by a new snapshot
 * @record: of the listener
 * @conf: snapshot
 *
 * Connections that come meanwhile are before them: that is the price of releasing the lock
 * after each @CHUNK connections.
 *
 * Context: process, &synq_net.records_lock held, so that there is no flush meanwhile
 */
void synq_release_sort(struct synq_record *record, const struct synq_conf *conf)
{
	struct synq_hold *hold = &record->hold;
	struct list_head old[SYNQ_SLOTS];
	struct synq_held *held;
	unsigned int n;
	u8 slot;

	lockdep_assert_held(&record->sn->records_lock);
	spin_lock_bh(&hold->lock);
	for (slot = 0; slot < SYNQ_SLOTS; slot++) {
		INIT_LIST_HEAD(&old[slot]);
		list_splice_init(&hold->fifo[slot], &old[slot]);
	}
	spin_unlock_bh(&hold->lock);
	do {
		rcu_read_lock();
		spin_lock_bh(&hold->lock);
		for (n = 0; n < CHUNK && (held = oldest_of(old)); n++)
			classify_anew(conf, held);
		spin_unlock_bh(&hold->lock);
		rcu_read_unlock();
		cond_resched();
	} while (n == CHUNK);
}
