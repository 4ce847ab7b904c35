// SPDX-License-Identifier: GPL-2.0
/*
 * Who may use the queues of a listener: the tests at the SYN and at the final
 * ACK.  What follows from the second is gate.c's business, how long the queue may get
 * limit.c's.
 *
 * A connection that is held (hold.c) leaves its request half open, in the SYN
 * queue, which all classes share and which the kernel prunes when it is half
 * full; so there must be few, a quarter of the backlog at most.  And a
 * connection that is queued for longer than its client waits is served in vain.
 * So a SYN is refused early, by the law in law.c.  It wants to know
 *
 * - what is queued, all in all and of those served before (acceptq.c);
 * - how fast the server takes them out (drain.c);
 * - what the handshakes under way will add, and when (flight.c).
 *
 * Of most servers all this is far below the limits, and a sum is enough to see
 * it: one over all classes for the first, whose limit is the kernel's.  Only where
 * it is not, what happens until the handshake has completed is foreseen (forecast.c).
 *
 * The test reads these without a lock, since a flood's SYNs come here; only a
 * SYN that is let through, and the first to come in a new slice of time, take
 * the lock.  N CPUs may let N - 1 too many through.
 *
 * What was written a while ago counts handshakes that may be over by now.  So time is
 * let pass only where a sum of these says that there may be no room: each handshake
 * that begins or completes has it pass for its own class anyway.
 *
 * Called in softirq or process context, under rcu_read_lock().
 */
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <net/inet_connection_sock.h>
#include <net/request_sock.h>
#include <net/tcp.h>
#include "admission.h"
#include "forecast.h"
#include "law.h"
#include "limit.h"

#define QUARTER(backlog)	max_t(u32, (backlog) / 4, 1)

static_assert(SYNQ_SLOTS <= BITS_PER_TYPE(u32));	/* synq_admission.busy */

/* Who has no reserve before him has a slack of his own: others leave him theirs. */
static struct synq_slack *slack_of(struct synq_admission *admission,
				   const struct synq_class *class)
{
	return class->reserve_before ? &admission->slack : &admission->first;
}

/* Connections that the server takes out during a handshake, as far as is known. */
static u32 departures(const struct synq_law *law,
		      const struct synq_admission *admission)
{
	if (!law->interval_ns)
		return 0;
	return READ_ONCE(admission->handshake_ns) / (u32)law->interval_ns;
}

/*
 * The kernel drops the final ACK that finds a full queue, and the client's data
 * brings it back some time: too late for its turn.  So the first class is refused
 * at the SYN in time, if the server is known to be that busy, but never where there
 * is a slot in its reserve.  Departures are foreseen for it only if more than a quarter
 * of the queue leaves during a handshake, which a sum would hold against it: no forecast
 * is as safe, and there is nobody whom its slots could be left to.
 */
static void limit_first(struct synq_law *law, const struct synq_class *class,
			const struct synq_admission *admission, u32 backlog)
{
	if (class->slot == SYNQ_SLOT_LOCAL || !law->interval_ns)
		return;
	law->limit = synq_slack_first(READ_ONCE(admission->first.more),
				      backlog, departures(law, admission));
	law->kept = max(law->kept, synq_limit_share(backlog,
						    class->reserve_effective,
						    100));
}

/* At the SYN: no forecast is exact, and the gate shall have little to do. */
static u32 limit_at_syn(u32 limit, u32 backlog, u32 more)
{
	if (limit == SYNQ_LIMIT_NONE)
		return limit;
	return synq_slack_limit(synq_limit_ack(limit, backlog), more,
				backlog);
}

static u32 kept_at_syn(u32 kept, u32 more, u32 backlog)
{
	return kept ? kept - min(kept / 4, synq_slack(more, backlog)) : 0;
}

/* So long are those waited for who came before the listener was managed. */
#define UNSEEN_NS	NSEC_PER_SEC

/**
 * synq_admission_init() - nothing is known yet
 * @admission: zero
 * @sk: listener
 *
 * Context: any
 */
void synq_admission_init(struct synq_admission *admission, const struct sock *sk)
{
	u8 slot;

	spin_lock_init(&admission->lock);
	for (slot = 0; slot < SYNQ_SLOTS; slot++)
		synq_flight_init(&admission->flight[slot]);
	synq_flight_clock_init(&admission->clock, ktime_get_ns());
	admission->since_ns = admission->clock.epoch_ns;
	admission->unseen = max(inet_csk_reqsk_queue_len(sk), 0);
	synq_halfopen_init(&admission->synqueue.halfopen, ktime_get_ns());
	admission->handshake_ns = synq_flight_clock_least(&admission->clock);
	admission->slice_ns = admission->clock.slice_ns;
}

/* Something was written to a flight, or time passed: what the test at the SYN reads. */
static void publish(struct synq_admission *admission, u8 slot)
{
	const struct synq_flight *flight = &admission->flight[slot];
	u32 open = synq_flight_open(flight), ratio = synq_flight_ratio(flight);
	u32 expected = synq_flight_expected(open, ratio);

	lockdep_assert_held(&admission->lock);
	admission->busy |= BIT(slot);
	WRITE_ONCE(admission->all_expected, admission->all_expected -
		   admission->expected[slot] + expected);
	WRITE_ONCE(admission->open[slot], open);
	WRITE_ONCE(admission->ratio[slot], ratio);
	WRITE_ONCE(admission->expected[slot], expected);
}

/**
 * synq_admission_forget() - other classes have the slots of some that are gone
 * @admission: of the listener
 * @slots: as bits
 *
 * A SYN that was judged by the snapshot before may still count for the wrong one.
 *
 * Context: any, also under other locks: @admission's own is the innermost
 */
void synq_admission_forget(struct synq_admission *admission, u32 slots)
{
	spin_lock_bh(&admission->lock);
	for (; slots; slots &= slots - 1) {
		u8 slot = __ffs(slots);

		memset(&admission->flight[slot], 0,
		       sizeof(admission->flight[slot]));
		synq_flight_init(&admission->flight[slot]);
		synq_halfopen_forget(&admission->synqueue.halfopen, slot);
		memset(&admission->synqueue.flood[slot], 0,
		       sizeof(admission->synqueue.flood[slot]));
		publish(admission, slot);
	}
	spin_unlock_bh(&admission->lock);
}

/**
 * synq_admission_advance() - let time pass
 * @admission: of the listener
 * @sk: listener
 * @now_ns: monotonic clock, ns
 *
 * The first to come in a new slice of time advances all classes that have handshakes
 * under way: of one whose handshakes are all over no number changes.
 *
 * @now_ns may be of a moment ago, even of before the listener was managed.
 *
 * Context: any
 */
void synq_admission_advance(struct synq_admission *admission,
			    const struct sock *sk, u64 now_ns)
{
	u32 left;

	if (now_ns < READ_ONCE(admission->due_ns) ||
	    !spin_trylock_bh(&admission->lock))
		return;
	synq_flight_clock_see(&admission->clock, now_ns);
	for (left = admission->busy; left; left &= left - 1) {
		u8 slot = __ffs(left);

		if (synq_flight_is_idle(&admission->flight[slot])) {
			admission->busy &= ~BIT(slot);
			continue;
		}
		synq_flight_advance(&admission->flight[slot],
				    &admission->clock, now_ns);
		publish(admission, slot);
	}
	if (now_ns > admission->since_ns + UNSEEN_NS)
		WRITE_ONCE(admission->unseen, 0);
	synq_halfopen_settle(&admission->synqueue.halfopen, now_ns,
			     max(inet_csk_reqsk_queue_len(sk), 0));
	WRITE_ONCE(admission->due_ns,
		   synq_flight_clock_next(&admission->clock, now_ns));
	spin_unlock_bh(&admission->lock);
}

/* Seldom: what is refused does not wait for a lock. */
static void learn_refused(struct synq_admission *admission,
			  const struct synq_class *class, u32 backlog)
{
	struct synq_slack *slack = slack_of(admission, class);
	u64 now_ns = ktime_get_ns();

	if (!synq_slack_is_news(READ_ONCE(slack->refused_ns), now_ns) ||
	    !spin_trylock_bh(&admission->lock))
		return;
	/* Again, now that nobody else writes. */
	if (synq_slack_is_news(slack->refused_ns, now_ns))
		synq_slack_refused(slack, backlog, now_ns);
	spin_unlock_bh(&admission->lock);
}

/* Nobody who could be in the way is queued or under way: the law lets anybody in. */
static bool is_empty(const struct synq_admission *admission, const struct sock *sk)
{
	return !READ_ONCE(sk->sk_ack_backlog) &&
	       !READ_ONCE(admission->all_expected) &&
	       !READ_ONCE(admission->unseen);
}

/**
 * synq_admission_has_room() - is there obviously room for one more handshake?
 * @admission: of the listener; need not be advanced
 * @conf: snapshot
 * @listener: configured
 * @class: of the SYN
 * @sk: listener
 *
 * For anybody if nothing is queued or under way, and for who has neither cap nor longest
 * wait, nor any limit but the kernel's.  synq_admission_syn() would say the same, from
 * numbers that need not be asked for.
 *
 * Context: any
 * Return: true if so; false: synq_admission_syn() is to be asked
 */
bool synq_admission_has_room(const struct synq_admission *admission,
			     const struct synq_conf *conf,
			     const struct synq_listener *listener,
			     const struct synq_class *class,
			     const struct sock *sk)
{
	u64 queued = READ_ONCE(sk->sk_ack_backlog);

	if (is_empty(admission, sk))
		return true;
	queued += READ_ONCE(admission->all_expected);
	queued += READ_ONCE(admission->unseen);
	queued += synq_slack_found(READ_ONCE(admission->first.more),
				   READ_ONCE(sk->sk_max_ack_backlog));
	return !class->cap && !class->reserve_before &&
	       class->max_wait_effective == SYNQ_WAIT_NONE &&
	       !synq_limit_keeps_any(conf, listener) &&
	       queued <= READ_ONCE(sk->sk_max_ack_backlog);
}

/**
 * synq_admission_syn() - may one more handshake of a class begin?
 * @admission: of the listener, advanced
 * @conf: snapshot
 * @listener: configured
 * @class: of the SYN
 * @sk: listener
 * @queue: its accept queue
 * @held: connections that are held
 * @refused_ms: since this SYN was refused last; 0: it never was
 *
 * Context: any
 * Return: SYNQ_VERDICT_ADMIT, SYNQ_VERDICT_QUEUE_REFUSE or
 * SYNQ_VERDICT_WAIT_REFUSE
 */
enum synq_verdict synq_admission_syn(struct synq_admission *admission,
				     const struct synq_conf *conf,
				     const struct synq_listener *listener,
				     const struct synq_class *class,
				     const struct sock *sk,
				     const struct synq_acceptq *queue,
				     u32 held, u32 refused_ms)
{
	u32 backlog = READ_ONCE(sk->sk_max_ack_backlog);
	u32 limit = synq_limit_of(conf, listener, class, queue, backlog);
	u32 more = READ_ONCE(slack_of(admission, class)->more);
	struct synq_forecast forecast = {
		.admission = admission,
		.conf = conf,
		.listener = listener,
		.class = class,
		.queued = READ_ONCE(sk->sk_ack_backlog),
		.ahead = synq_acceptq_ahead(queue, sk, class->position),
		.interval_ns = READ_ONCE(queue->drain.sure_ns),
	};
	struct synq_law law = {
		.limit = limit_at_syn(limit, backlog, more),
		.queued = forecast.queued,
		.most = forecast.queued,
		.withheld_max = SYNQ_LIMIT_NONE,
		.kept = kept_at_syn(synq_limit_kept(conf, listener, class, backlog),
				    more, backlog),
		.cap = synq_limit_share(backlog, class->cap, 100),
		.own = synq_acceptq_own(queue, class->position),
		.ahead = forecast.ahead,
		.low = min(forecast.queued, READ_ONCE(queue->drain.low)),
		.interval_ns = READ_ONCE(queue->drain.interval_ns),
		.refused_ns = (u64)refused_ms * NSEC_PER_MSEC,
	};
	enum synq_law_answer answer;

	if (limit == SYNQ_LIMIT_NONE) {
		limit_first(&law, class, admission, backlog);
	} else {
		law.withheld = min_t(u32, held,
				     max(inet_csk_reqsk_queue_len(sk), 0));
		law.withheld_max = QUARTER(backlog);
	}
	if (class->max_wait_effective != SYNQ_WAIT_NONE)
		law.max_wait_ns = (u64)class->max_wait_effective *
				  NSEC_PER_MSEC;
	synq_forecast_sum(&forecast, &law);
	answer = synq_law(&law);
	if (answer == SYNQ_LAW_LATE ||
	    (answer == SYNQ_LAW_FULL &&
	     (limit != SYNQ_LIMIT_NONE ||
	      departures(&law, admission) > QUARTER(backlog)))) {
		synq_forecast_slices(&forecast, &law);
		answer = synq_law(&law);
	}
	switch (answer) {
	case SYNQ_LAW_ADMIT:
		break;
	case SYNQ_LAW_FULL:
		/* Not for what is on its way to a queue that is short. */
		if (law.queued >= law.limit && forecast.queued >= law.limit / 2)
			learn_refused(admission, class, backlog);
		return SYNQ_VERDICT_QUEUE_REFUSE;
	case SYNQ_LAW_LATE:
		return SYNQ_VERDICT_WAIT_REFUSE;
	}
	return SYNQ_VERDICT_ADMIT;
}

/**
 * synq_admission_begin() - a SYN was let through to the listener, or answered by a
 * cookie
 * @admission: of the listener
 * @class: of the SYN
 * @is_halfopen: it was let through, and takes a place in the SYN queue
 * @now_ns: monotonic clock, ns; as for synq_admission_advance()
 *
 * Context: any
 */
void synq_admission_begin(struct synq_admission *admission,
			  const struct synq_class *class, bool is_halfopen,
			  u64 now_ns)
{
	spin_lock_bh(&admission->lock);
	synq_flight_clock_see(&admission->clock, now_ns);
	synq_flight_begin(&admission->flight[class->slot], &admission->clock,
			  now_ns);
	if (is_halfopen)
		synq_halfopen_begin(&admission->synqueue.halfopen, class->slot,
				    now_ns);
	publish(admission, class->slot);
	spin_unlock_bh(&admission->lock);
}

/* Since the SYN-ACK was sent first, by tcp_clock_us(), which is the same clock. */
static u64 age_of(const struct request_sock *req, u64 now_ns)
{
	s64 age = div_u64(now_ns, NSEC_PER_USEC) - tcp_rsk(req)->snt_synack;

	return max_t(s64, age, 0) * NSEC_PER_USEC;
}

/**
 * synq_admission_complete() - a connection asked to be promoted for the first time, and
 * was queued or found no slot
 * @admission: of the listener
 * @class: of the connection
 * @sk: listener
 * @req: its request
 * @final: how it asked
 * @promoted: it was queued
 *
 * Of a SYN cookie nobody knows when its SYN came: as long ago as handshakes
 * take.
 *
 * Context: any
 */
void synq_admission_complete(struct synq_admission *admission,
			     const struct synq_class *class,
			     const struct sock *sk,
			     const struct request_sock *req,
			     enum synq_final final, bool promoted)
{
	u32 backlog = READ_ONCE(sk->sk_max_ack_backlog);
	struct synq_flight_clock *clock = &admission->clock;
	u64 now = ktime_get_ns(), age = 0;

	spin_lock_bh(&admission->lock);
	synq_flight_clock_see(clock, now);
	switch (final) {
	case SYNQ_FINAL_ACK:
		age = age_of(req, now);
		synq_halfopen_answered(&admission->synqueue.halfopen,
				       class->slot, now, age);
		/* After a retransmission it says nothing, as in Karn 1987. */
		if (!req->num_retrans)
			synq_flight_clock_add(clock, now, age);
		break;
	case SYNQ_FINAL_COOKIE:
		age = clock->mean_ns;
		break;
	case SYNQ_FINAL_FASTOPEN:
		/* Let through a moment ago, and never in the SYN queue. */
		synq_halfopen_answered(&admission->synqueue.halfopen,
				       class->slot, now, 0);
		break;
	}
	if (now - age < admission->since_ns)
		WRITE_ONCE(admission->unseen,
			   admission->unseen - min(admission->unseen, 1U));
	else
		synq_flight_complete(&admission->flight[class->slot], clock,
				     now, age);
	if (!promoted)
		synq_slack_withheld(slack_of(admission, class), backlog, now,
				    clock->mean_ns);
	else
		synq_slack_promoted(slack_of(admission, class), backlog);
	publish(admission, class->slot);
	WRITE_ONCE(admission->handshake_ns, synq_flight_clock_least(clock));
	WRITE_ONCE(admission->slice_ns, clock->slice_ns);
	spin_unlock_bh(&admission->lock);
}

/**
 * synq_admission_promote() - the gate: may a connection be queued now?
 * @conf: snapshot
 * @listener: configured
 * @class: of the connection
 * @sk: listener
 * @queue: its accept queue
 * @final: how it asks
 *
 * Context: any
 * Return: false if it has to wait
 */
bool synq_admission_promote(const struct synq_conf *conf,
			    const struct synq_listener *listener,
			    const struct synq_class *class,
			    const struct sock *sk,
			    const struct synq_acceptq *queue,
			    enum synq_final final)
{
	u32 backlog = READ_ONCE(sk->sk_max_ack_backlog);
	u32 limit = synq_limit_of(conf, listener, class, queue, backlog);

	if (limit == SYNQ_LIMIT_NONE ||
	    synq_acceptq_own(queue, class->position) <
	    synq_limit_kept(conf, listener, class, backlog))
		return true;
	if (final != SYNQ_FINAL_COOKIE)
		limit = synq_limit_ack(limit, backlog);
	return READ_ONCE(sk->sk_ack_backlog) < limit;
}
