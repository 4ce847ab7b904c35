// SPDX-License-Identifier: GPL-2.0
/*
 * Who may use the queues of a listener: the tests at the SYN and at the final
 * ACK.  What follows from the second is gate.c's business, how long the queue may get
 * limit.c's.
 *
 * A connection that is held (hold.c) leaves its request half open, in the SYN
 * queue, which all classes share and which the kernel prunes when it is half
 * full; so there must be few.  And a
 * connection that is queued for longer than its client waits is served in vain.
 * So a SYN is refused early, by the law in law.c.  It wants to know
 *
 * - what is queued, all in all and of those served before (acceptq.c), or held (hold.c);
 * - how fast the server takes them out, or from among those that are held (drain.c);
 * - what the handshakes under way will add (handshakes.c).
 *
 * The test reads these without a lock and writes nothing, since a flood's SYNs come here.
 *
 * Called in softirq or process context, under rcu_read_lock().
 */
#include <linux/build_bug.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <net/inet_connection_sock.h>
#include <net/request_sock.h>
#include <net/tcp.h>
#include "admission.h"
#include "law.h"
#include "limit.h"
#include "record.h"

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
	law->kept = max(law->kept, synq_limit_share(backlog,
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

/* Of those that are not queued, who will be served before one that comes now. */
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

static u64 lull_of(const struct synq_drain *drain, u64 now_ns)
{
	u64 last_ns = READ_ONCE(drain->last_ns);

	return max_t(u64, READ_ONCE(drain->lull_ns),
		     now_ns - min(last_ns, now_ns));
}

/* Of the queue in which connections wait: those that are held, for a server with a limit. */
static const struct synq_drain *drain_of(const struct synq_record *record,
					 const struct synq_listener *listener)
{
	return listener->inside && READ_ONCE(record->hold.n) ? &record->hold.drain :
							       &record->acceptq.drain;
}

/* What leaves meanwhile, and how many would be queued if all came when they are let in. */
static void add_pace(struct synq_law *law, const struct synq_record *record,
		     const struct synq_drain *drain, u64 now_ns)
{
	u32 pace = law->interval_ns ?: READ_ONCE(drain->pace_ns);
	u64 served_ns = READ_ONCE(record->shakes.clock.served_ns);

	if (!pace)
		return;
	law->gone = READ_ONCE(record->shakes.least_ns) / pace;
	if (served_ns > now_ns)
		law->paced = min_t(u64, div_u64(served_ns - now_ns, pace), U32_MAX);
}

/**
 * synq_admission_has_room() - is there obviously room for one more handshake?
 * @record: of the listener
 * @conf: snapshot
 * @listener: configured
 * @class: of the SYN
 *
 * For anybody if nothing is queued or under way, and for who has neither cap nor longest
 * wait, nor any limit but the kernel's.  synq_admission_syn() would say the same, from
 * numbers that need not be asked for.
 *
 * Context: any
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
	return !class->cap && !class->reserve_before &&
	       class->max_wait_effective == SYNQ_WAIT_NONE &&
	       !synq_limit_keeps_any(conf, listener) &&
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
 * Context: any
 * Return: SYNQ_VERDICT_ADMIT, SYNQ_VERDICT_QUEUE_REFUSE or
 * SYNQ_VERDICT_WAIT_REFUSE
 */
enum synq_verdict synq_admission_syn(struct synq_record *record,
				     const struct synq_conf *conf,
				     const struct synq_listener *listener,
				     const struct synq_class *class, u64 now_ns)
{
	const struct synq_drain *drain = drain_of(record, listener);
	const struct synq_acceptq *queue = &record->acceptq;
	const struct sock *sk = record->sk;
	u32 backlog = READ_ONCE(sk->sk_max_ack_backlog);
	u32 limit = synq_limit_of(conf, listener, class, queue, backlog);
	struct synq_law law = {
		.limit = limit,
		.kept = kept_at_syn(synq_limit_kept(conf, listener, class, backlog),
				    backlog),
		.cap = synq_limit_share(backlog, class->cap, 100),
		.low = min(drain == &queue->drain ? READ_ONCE(sk->sk_ack_backlog) :
						    READ_ONCE(record->hold.n),
			   READ_ONCE(drain->low)),
		.interval_ns = READ_ONCE(drain->interval_ns),
	};

	synq_handshakes_advance(&record->shakes, now_ns);
	law.queued = on_their_way(record);
	law.there = READ_ONCE(sk->sk_ack_backlog) + READ_ONCE(record->hold.n);
	law.ahead = synq_acceptq_ahead(queue, sk, class->position) +
		    ahead_of(record, conf, listener, class);
	law.own = synq_acceptq_own(queue, class->position) +
		  READ_ONCE(record->hold.in[class->slot]) +
		  READ_ONCE(record->shakes.expected[class->slot]);
	if (limit == SYNQ_LIMIT_NONE)
		limit_first(&law, class, &queue->drain, backlog);
	else
		law.limit = synq_law_limit(synq_limit_ack(limit, backlog), backlog);
	if (class->max_wait_effective != SYNQ_WAIT_NONE)
		law.max_wait_ns = (u64)class->max_wait_effective *
				  NSEC_PER_MSEC;
	law.lull_ns = lull_of(drain, now_ns);
	add_pace(&law, record, drain, now_ns);
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
	u32 limit = synq_limit_of(conf, listener, class, queue, backlog);

	if (limit == SYNQ_LIMIT_NONE ||
	    synq_acceptq_own(queue, class->position) <
	    synq_limit_kept(conf, listener, class, backlog))
		return true;
	if (final != SYNQ_FINAL_COOKIE)
		limit = synq_limit_ack(limit, backlog);
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
 * Context: any
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
