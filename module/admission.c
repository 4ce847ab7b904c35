// SPDX-License-Identifier: GPL-2.0
/*
 * Which classes may use the queues of a listener: the tests at the SYN and at the final
 * ACK.  gate.c acts on the second.
 *
 * A connection that is held (hold.c) leaves its request half open in the SYN queue, which
 * all classes share and which the kernel prunes when it is half full.  So few may be held.
 * And a connection that is queued for longer than its client waits is served in vain.  So a
 * SYN is refused early, by the law in law.c.  The law needs to know
 *
 * - how many are queued, in total and ahead of the class (acceptq.c), or held (hold.c);
 * - how fast the server takes them out of the queue, or out of those held (law.c);
 * - how many the handshakes under way will add (handshakes.c).
 *
 * At a listener with a limit inside connections wait where they are held, of which there may be
 * half as many as in the queue.  How fast those leave says how long one of them waits, but not
 * how many come in: most may never be held.
 *
 * The test reads these without a lock and writes nothing, since a flood's SYNs come here.
 *
 * Called in softirq or process context, under rcu_read_lock().
 */
#include <linux/build_bug.h>
#include <linux/cpumask.h>
#include <linux/limits.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <net/inet_connection_sock.h>
#include <net/request_sock.h>
#include <net/tcp.h>
#include "admission.h"
#include "hold.h"
#include "inside.h"
#include "law.h"
#include "record.h"

/* Nobody has come in for so many times as long as usual: perhaps the server has stopped. */
#define LONGER	8

/*
 * The limits: up to which length of an accept queue a class may use it.
 *
 * The kernel promotes while the queue holds no more than sk_max_ack_backlog
 * requests.  A class is promoted while it holds fewer than
 *
 *	backlog - reserves of the classes before - slack
 *
 * requests of any class, so that a class never occupies a slot reserved for
 * one before it.  The gate reads the length without a lock, and a child is
 * queued after it has passed: N CPUs may overshoot by N - 1.  The slack is for
 * them.  A class always has one slot, however short the backlog.  The first
 * class has no limit but the kernel's.
 *
 * A share of what is accepted is worth nothing without slots.  For a class with a minimum
 * share half as much again of the backlog is kept: a connection that is due waits for those
 * that are there already, and another must come after it.  In weighted order each class
 * keeps its share.  Kept slots that the class does not use come off the limits of all other
 * classes; those that it uses are counted already.
 *
 * The last sixteenth below the limit is for final ACKs of SYN cookies: if one is refused,
 * there is no request in the SYN queue whose SYN-ACK the kernel would send again.  At the
 * SYN another sixteenth is left free (law.h), so that the gate has little to do.
 */

#define LIMIT_NONE		U32_MAX
#define COOKIE_SLACK(backlog)	((backlog) / 16)

/**
 * limit_share() - slots of the queue that a share of it means
 * @backlog: of the listener
 * @share: of @whole; 0: none
 * @whole: all of it
 *
 * Return: slots, at least one if @share is
 */
static u32 limit_share(u32 backlog, u32 share, u32 whole)
{
	return share ? max_t(u32, (u64)backlog * share / whole, 1) : 0;
}

/**
 * limit_kept() - slots that only one class may use
 * @conf: snapshot
 * @listener: configured
 * @class: of @conf
 * @backlog: of the listener
 *
 * Return: slots
 */
static u32 limit_kept(const struct synq_conf *conf,
		      const struct synq_listener *listener,
		      const struct synq_class *class, u32 backlog)
{
	switch ((enum synq_order)listener->order) {
	case SYNQ_ORDER_STRICT:
		return limit_share(backlog, 3 * class->min_share, 2 * 100);
	case SYNQ_ORDER_WEIGHTED:
		if (!synq_conf_shares(conf, class))
			break;
		return limit_share(backlog, class->weight,
				   conf->weights);
	case SYNQ_ORDER_FIFO:
		break;
	}
	return 0;
}

/**
 * limit_keeps_any() - are slots kept for any class?
 * @conf: snapshot
 * @listener: configured
 *
 * Most configurations need not be asked for each class.
 *
 * Return: true if so
 */
static bool limit_keeps_any(const struct synq_conf *conf,
			    const struct synq_listener *listener)
{
	switch ((enum synq_order)listener->order) {
	case SYNQ_ORDER_STRICT:
		return conf->min_shares;
	case SYNQ_ORDER_WEIGHTED:
		return true;
	case SYNQ_ORDER_FIFO:
		break;
	}
	return false;
}

/*
 * Slots that are kept for others than @class and still free; @any: there are such
 * slots at all.
 */
static u32 free_for_others(const struct synq_conf *conf,
			   const struct synq_listener *listener,
			   const struct synq_class *class,
			   const struct synq_acceptq *queue, u32 backlog,
			   bool *any)
{
	u32 left = 0;
	u8 i;

	*any = false;
	if (!limit_keeps_any(conf, listener))
		return 0;
	for (i = 0; i < conf->n_positions; i++) {
		u32 kept;

		if (conf->order[i] == class->slot)
			continue;
		kept = limit_kept(conf, listener,
				  &conf->class[conf->order[i]], backlog);
		*any |= kept;
		left += kept - min(kept, synq_acceptq_own(queue, i));
	}
	return left;
}

/**
 * limit_of() - requests of any class up to which one class may be promoted
 * @conf: snapshot
 * @listener: configured
 * @class: of @conf
 * @queue: accept queue of the listener
 * @backlog: of the listener
 *
 * Return: number, at least 1; LIMIT_NONE if only the kernel's limit counts
 */
static u32 limit_of(const struct synq_conf *conf,
		    const struct synq_listener *listener,
		    const struct synq_class *class,
		    const struct synq_acceptq *queue, u32 backlog)
{
	bool any;
	u32 taken = free_for_others(conf, listener, class, queue, backlog,
				    &any);

	if (class->slot == SYNQ_SLOT_LOCAL || (!class->reserve_before && !any))
		return LIMIT_NONE;
	/* A reserve is at least one slot. */
	if (class->reserve_before)
		taken += limit_share(backlog, class->reserve_before, 100);
	taken += min_t(u32, num_online_cpus() - 1, backlog / 16);
	return backlog > taken ? backlog - taken : 1;
}

/**
 * limit_ack() - the same for all but SYN cookies
 * @limit: of limit_of()
 * @backlog: of the listener
 *
 * Return: number, at least 1, or LIMIT_NONE
 */
static u32 limit_ack(u32 limit, u32 backlog)
{
	if (limit == LIMIT_NONE)
		return limit;
	return limit > COOKIE_SLACK(backlog) ? limit - COOKIE_SLACK(backlog) : 1;
}

static_assert(SYNQ_SLOTS == SYNQ_HANDSHAKES_CLASSES);
static_assert(SYNQ_MIN_SHARE_MAX < 100);	/* share_ahead() divides by the rest */

/*
 * The first class is refused at the SYN, too, if the server is known to be that busy: it
 * has been seen to accept.  But never where there is a slot in its reserve.
 */
static void limit_first(struct synq_law *law, const struct synq_class *class,
			const struct synq_drain *drain, u32 backlog)
{
	if (class->slot == SYNQ_SLOT_LOCAL || !synq_drain_is_known(drain))
		return;
	law->limit = synq_law_limit(backlog + 1, backlog);
	law->kept = max(law->kept, limit_share(backlog,
					       class->reserve_effective,
					       100));
}

static u32 kept_at_syn(u32 kept, u32 backlog)
{
	return kept - min(kept / 4, synq_law_slack(backlog));
}

/* All that may be on their way to the queue, or in it. */
static u32 on_their_way(const struct synq_record *record)
{
	return READ_ONCE(record->sk->sk_ack_backlog) + READ_ONCE(record->hold.n) +
	       READ_ONCE(record->shakes.all_expected) +
	       READ_ONCE(record->shakes.unseen);
}

/* Connections that are not queued yet and will be served before one that comes now. */
static u32 ahead_of(const struct synq_record *record, const struct synq_conf *conf,
		    const struct synq_listener *listener,
		    const struct synq_class *class)
{
	u32 ahead = READ_ONCE(record->shakes.unseen);
	u8 p;

	if (listener->order != SYNQ_ORDER_STRICT)
		ahead += READ_ONCE(record->hold.n);
	for (p = 0; p <= class->position; p++) {
		u8 slot = conf->order[p];

		ahead += READ_ONCE(record->shakes.expected[slot]);
		if (listener->order == SYNQ_ORDER_STRICT)
			ahead += READ_ONCE(record->hold.in[slot]);
	}
	return ahead;
}

/*
 * A minimum share does not wait for all of those before its class, and its part of the
 * queue is measured by them.
 */
static void share_ahead(struct synq_law *law, const struct synq_listener *listener,
			const struct synq_class *class)
{
	u8 share = class->min_share;
	u32 others;

	if (listener->order != SYNQ_ORDER_STRICT || !share)
		return;
	others = law->ahead - min(law->ahead, law->own);
	law->due = (u64)others * share / (100 - share);
	law->ahead = min_t(u64, law->ahead, (u64)law->own * 100 / share);
}

static u64 since(u64 last_ns, u64 now_ns)
{
	return now_ns - min(last_ns, now_ns);
}

static u64 lull_of(const struct synq_drain *drain, u64 now_ns)
{
	return max_t(u64, READ_ONCE(drain->lull_ns),
		     since(READ_ONCE(drain->last_ns), now_ns));
}

/*
 * Do connections wait where they are held, and not in the queue?  Also if none does just now:
 * those that were let in meanwhile come when their handshakes are over.
 */
static bool waits_held(const struct synq_record *record, const struct synq_listener *listener,
		       u64 now_ns)
{
	u64 last_ns = READ_ONCE(record->hold.drain.last_ns);

	if (!listener->inside)
		return false;
	return READ_ONCE(record->hold.n) ||
	       (last_ns && since(last_ns, now_ns) < 2ULL * READ_ONCE(record->shakes.mean_ns));
}

/*
 * How fast they leave there.  Those that come in without being held are not counted by hold.c,
 * and what it knows may be of the last time that it was full.
 */
static u32 interval_held(const struct synq_record *record)
{
	u32 interval = READ_ONCE(record->hold.drain.interval_ns);
	u32 pace = READ_ONCE(record->acceptq.drain.pace_ns);

	return READ_ONCE(record->hold.n) || !pace ? interval : min(interval, pace);
}

/* How fast all come in, held or not; if none has for long the server may have stopped. */
static u32 pace_held(const struct synq_record *record, u64 now_ns)
{
	const struct synq_drain *drain = &record->acceptq.drain;
	u32 interval = READ_ONCE(record->hold.drain.interval_ns);
	u32 pace = READ_ONCE(drain->pace_ns);

	if (!pace)
		return interval;
	if (interval)
		pace = min(pace, interval);
	if (!READ_ONCE(record->hold.n))
		return pace;
	return max_t(u64, pace, min_t(u64, since(READ_ONCE(drain->last_ns), now_ns) / LONGER,
				      U32_MAX));
}

/**
 * synq_admission_pace() - how fast does a server take connections?
 * @record: of the listener
 * @listener: configured, as it is for the socket
 * @now_ns: monotonic clock, ns
 *
 * Where a limit inside holds them back the accept queue says how fast they come in, but not how
 * fast they would.
 *
 * Return: for synq_handshakes_begin()
 */
struct synq_flight_pace synq_admission_pace(const struct synq_record *record,
					    const struct synq_listener *listener, u64 now_ns)
{
	const struct synq_drain *drain = &record->acceptq.drain;
	u64 most = 2ULL * READ_ONCE(record->sk->sk_max_ack_backlog) + 3;

	if (listener->inside)
		most += synq_inside_limit(&record->inside, listener);
	return (struct synq_flight_pace){
		.interval_ns = waits_held(record, listener, now_ns) ?
			       0 : READ_ONCE(drain->interval_ns),
		.pace_ns = READ_ONCE(drain->pace_ns),
		.most = min_t(u64, most, U32_MAX),
	};
}

/* What leaves meanwhile, and how many would be queued if all came when they are let in. */
static void add_pace(struct synq_law *law, const struct synq_record *record,
		     const struct synq_listener *listener, u32 pace, u64 now_ns)
{
	if (pace)
		law->gone = READ_ONCE(record->shakes.least_ns) / pace;
	law->paced = synq_flight_clock_paced(&record->shakes.clock,
					     synq_admission_pace(record, listener, now_ns), now_ns);
}

/*
 * Those that can be held, and those that come in at once.  The host's own always do, and any
 * process of it could keep all others out.
 *
 * When as many begin as come in, those under way are as many as come in during the mean time of
 * a handshake (Little's law): by the least one, clients from near and from far would be refused.
 *
 * As of the backlog, half of what is kept for a class is where connections are held.  Where
 * classes do not go before each other those of all count, and first come, first served, half of
 * the reserves of those before is left to them.
 */
static void limit_held(struct synq_law *law, const struct synq_record *record,
		       const struct synq_conf *conf, const struct synq_listener *listener,
		       const struct synq_class *class, u32 pace, u32 backlog)
{
	bool is_strict = listener->order == SYNQ_ORDER_STRICT;
	u8 last = is_strict ? class->position : conf->n_positions - 1, p;
	u32 reserves = limit_share(backlog, class->reserve_before, 100);
	u64 limit;

	if (class->slot == SYNQ_SLOT_LOCAL)
		return;
	limit = synq_law_limit(synq_hold_most(backlog), backlog);
	if (listener->order == SYNQ_ORDER_FIFO)
		limit -= min_t(u64, limit - 1, DIV_ROUND_UP(reserves, 2));
	limit += synq_inside_room(record, conf, listener, class);
	law->hold_limit = min_t(u64, limit, U32_MAX);
	law->held_kept = DIV_ROUND_UP(law->kept, 2);
	if (pace)
		law->held_gone = READ_ONCE(record->shakes.mean_ns) / pace;
	for (p = 0; p <= last; p++) {
		u8 slot = conf->order[p];

		if (slot != SYNQ_SLOT_LOCAL)
			law->held += READ_ONCE(record->hold.in[slot]) +
				     READ_ONCE(record->shakes.expected[slot]);
	}
}

/**
 * synq_admission_has_room() - is there obviously room for one more handshake?
 * @record: of the listener
 * @conf: snapshot
 * @listener: configured
 * @class: of the SYN
 *
 * For every class if nothing is queued or under way, and for a class that has neither
 * cap nor longest wait, nor any limit but the kernel's.  synq_admission_syn() would say the
 * same, from numbers that need not be read.
 *
 * Return: true if so; false: synq_admission_syn() is to be asked
 */
bool synq_admission_has_room(const struct synq_record *record,
			     const struct synq_conf *conf,
			     const struct synq_listener *listener,
			     const struct synq_class *class)
{
	u32 backlog = READ_ONCE(record->sk->sk_max_ack_backlog);
	u32 all = on_their_way(record);

	if (!all)
		return true;
	if (listener->inside && all >= synq_law_limit(synq_hold_most(backlog), backlog))
		return false;
	return !class->cap && !class->reserve_before &&
	       class->max_wait_effective == SYNQ_WAIT_NONE &&
	       !limit_keeps_any(conf, listener) &&
	       all < synq_law_limit(backlog + 1, backlog);
}

/**
 * synq_admission_syn() - may one more handshake of a class begin?
 * @record: of the listener
 * @conf: snapshot
 * @listener: configured
 * @class: of the SYN
 * @now_ns: monotonic clock, ns; as for synq_handshakes_advance()
 *
 * Return: SYNQ_VERDICT_ADMIT, SYNQ_VERDICT_QUEUE_REFUSE or
 * SYNQ_VERDICT_WAIT_REFUSE
 */
enum synq_verdict synq_admission_syn(struct synq_record *record,
				     const struct synq_conf *conf,
				     const struct synq_listener *listener,
				     const struct synq_class *class, u64 now_ns)
{
	const bool is_held = waits_held(record, listener, now_ns);
	const struct synq_drain *drain = is_held ? &record->hold.drain : &record->acceptq.drain;
	const struct synq_acceptq *queue = &record->acceptq;
	const struct sock *sk = record->sk;
	u32 backlog = READ_ONCE(sk->sk_max_ack_backlog);
	u32 limit = limit_of(conf, listener, class, queue, backlog);
	struct synq_law law = {
		.limit = limit,
		.kept = kept_at_syn(limit_kept(conf, listener, class, backlog),
				    backlog),
		.cap = limit_share(backlog, class->cap, 100),
		.low = min(is_held ? READ_ONCE(record->hold.n) : READ_ONCE(sk->sk_ack_backlog),
			   READ_ONCE(drain->low)),
		.interval_ns = is_held ? interval_held(record) : READ_ONCE(drain->interval_ns),
	};
	u32 pace;

	synq_handshakes_advance(&record->shakes, now_ns);
	law.queued = on_their_way(record);
	law.there = READ_ONCE(sk->sk_ack_backlog) + READ_ONCE(record->hold.n);
	law.ahead = synq_acceptq_ahead(queue, sk, class->position) +
		    ahead_of(record, conf, listener, class);
	law.own = synq_acceptq_own(queue, class->position) +
		  READ_ONCE(record->hold.in[class->slot]) +
		  READ_ONCE(record->shakes.expected[class->slot]);
	if (limit == LIMIT_NONE)
		limit_first(&law, class, &queue->drain, backlog);
	else
		law.limit = synq_law_limit(limit_ack(limit, backlog), backlog);
	if (class->max_wait_effective != SYNQ_WAIT_NONE)
		law.max_wait_ns = (u64)class->max_wait_effective *
				  NSEC_PER_MSEC;
	law.lull_ns = lull_of(drain, now_ns);
	pace = is_held ? pace_held(record, now_ns) :
			 law.interval_ns ?: READ_ONCE(drain->pace_ns);
	add_pace(&law, record, listener, pace, now_ns);
	if (is_held)
		limit_held(&law, record, conf, listener, class, pace, backlog);
	share_ahead(&law, listener, class);
	switch (synq_law(&law)) {
	case SYNQ_LAW_ADMIT:
		break;
	case SYNQ_LAW_FULL:
		return SYNQ_VERDICT_QUEUE_REFUSE;
	case SYNQ_LAW_LATE:
		return SYNQ_VERDICT_WAIT_REFUSE;
	}
	return SYNQ_VERDICT_ADMIT;
}

/* Since the SYN-ACK was sent first, by tcp_clock_us(), which is the same clock. */
static u64 age_of(const struct request_sock *req, u64 now_ns)
{
	s64 age = div_u64(now_ns, NSEC_PER_USEC) - tcp_rsk(req)->snt_synack;

	return max_t(s64, age, 0) * NSEC_PER_USEC;
}

/**
 * synq_admission_complete() - a connection asked to be promoted for the first time
 * @record: of the listener
 * @class: of the connection
 * @req: its request
 * @final: how it asked
 *
 * Context: BH off
 */
void synq_admission_complete(struct synq_record *record,
			     const struct synq_class *class,
			     const struct request_sock *req,
			     enum synq_final final)
{
	u64 now_ns = ktime_get_ns();
	u64 age_ns = final == SYNQ_FINAL_ACK ? age_of(req, now_ns) : 0;

	synq_handshakes_complete(&record->shakes, class->slot, final, age_ns,
				 !req->num_retrans, now_ns);
}

/* Is there a slot in the accept queue? */
static bool has_slot(const struct synq_record *record, const struct synq_conf *conf,
		     const struct synq_listener *listener,
		     const struct synq_class *class, enum synq_final final)
{
	const struct synq_acceptq *queue = &record->acceptq;
	u32 backlog = READ_ONCE(record->sk->sk_max_ack_backlog);
	u32 limit = limit_of(conf, listener, class, queue, backlog);

	if (limit == LIMIT_NONE ||
	    synq_acceptq_own(queue, class->position) <
	    limit_kept(conf, listener, class, backlog))
		return true;
	if (final != SYNQ_FINAL_COOKIE)
		limit = limit_ack(limit, backlog);
	return READ_ONCE(record->sk->sk_ack_backlog) < limit;
}

/**
 * synq_admission_promote() - the gate: may a connection be queued now?
 * @record: of the listener
 * @conf: snapshot
 * @listener: configured
 * @class: of the connection
 * @final: how it asks
 *
 * Return: false if it has to wait
 */
bool synq_admission_promote(const struct synq_record *record,
			    const struct synq_conf *conf,
			    const struct synq_listener *listener,
			    const struct synq_class *class, enum synq_final final)
{
	return has_slot(record, conf, listener, class, final) &&
	       synq_inside_has_room(record, conf, listener, class,
				    final == SYNQ_FINAL_COOKIE);
}
