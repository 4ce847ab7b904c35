// SPDX-License-Identifier: GPL-2.0
/*
 * How many connections a server works on, and how many it may (design: "inside").  Most
 * servers accept at once and queue inside themselves, where nobody can put them into
 * order.  So a class is let in while few enough are busy (follow.c), and the others are
 * held (hold.c).
 *
 * A class comes in while fewer are busy of it and of those before it than the limit: so
 * who is preferred never waits outside for the others, and at most twice the limit are
 * inside.  In other orders than strict all classes count.  A class with a minimum share
 * has that of the limit, whoever else is busy.  Reserves have no meaning here: the first
 * class has all of the limit for itself.
 *
 * Fail open.  While connections are held and nothing is answered for a second the limit is
 * doubled, and again each further second: a server that stands still, or one whose answers
 * nobody sees, ends as with the stock kernel.  With the next answer it is what it was.
 *
 * Softirq, or process context with BH off, under rcu_read_lock().
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "climb.h"
#include "follow.h"
#include "inside.h"
#include "record.h"

#define BLIND_NS	((u64)NSEC_PER_SEC)
#define BLIND_MAX_NS	(4 * BLIND_NS)
#define MEAN_LEAST_NS	(250ULL * NSEC_PER_MSEC)
#define PAUSE_NS	(NSEC_PER_SEC / 10)
#define OPENED_MAX	16

/**
 * synq_inside_init() - nobody is inside
 * @inside: in a record that cannot be found yet
 */
void synq_inside_init(struct synq_inside *inside)
{
	spin_lock_init(&inside->lock);
	INIT_LIST_HEAD(&inside->fresh);
	INIT_LIST_HEAD(&inside->busy);
	INIT_LIST_HEAD(&inside->quiet);
	synq_climb_init(&inside->climb);
}

/**
 * synq_inside_limit() - how many connections may be busy
 * @inside: of the listener
 * @listener: configured, with a limit
 *
 * Context: any
 * Return: connections
 */
u32 synq_inside_limit(const struct synq_inside *inside,
		      const struct synq_listener *listener)
{
	if (listener->inside == SYNQ_INSIDE_AUTO)
		return synq_climb_limit(&inside->climb);
	return min_t(u64, (u64)listener->inside << READ_ONCE(inside->opened), U32_MAX);
}

/*
 * Of all classes whose work is done before that of one, and its own.  Not of the host itself:
 * any process of it could keep all others out.
 */
static u32 busy_of(const struct synq_inside *inside, const struct synq_conf *conf,
		   const struct synq_listener *listener,
		   const struct synq_class *class)
{
	u8 last = listener->order == SYNQ_ORDER_STRICT ? class->position :
							 conf->n_positions - 1;
	u32 busy = 0;
	u8 p;

	for (p = 0; p <= last; p++)
		if (conf->order[p] != SYNQ_SLOT_LOCAL)
			busy += synq_inside_own(inside, &conf->class[conf->order[p]]);
	return busy;
}

/**
 * synq_inside_has_room() - may a connection of a class be promoted?
 * @record: of the listener
 * @conf: snapshot
 * @listener: configured, as it is for the socket
 * @class: of the connection
 * @is_cookie: it is one of a SYN cookie, which cannot be held
 *
 * A class with a minimum share has that of the limit, whoever else is busy.  The host
 * itself never waits: a server may ask itself.
 *
 * Context: any
 * Return: true if it may, or the listener has no limit
 */
bool synq_inside_has_room(const struct synq_record *record,
			  const struct synq_conf *conf,
			  const struct synq_listener *listener,
			  const struct synq_class *class, bool is_cookie)
{
	const struct synq_inside *inside = &record->inside;
	u32 limit;

	if (likely(!listener->inside) || class->slot == SYNQ_SLOT_LOCAL)
		return true;
	limit = synq_inside_limit(inside, listener);
	if (is_cookie)
		limit += limit / 16 + 1;
	if (listener->order == SYNQ_ORDER_STRICT &&
	    synq_inside_own(inside, class) * 100ULL < (u64)limit * class->min_share)
		return true;
	return busy_of(inside, conf, listener, class) < limit;
}

/* A server that says nothing for so long does not, or nobody hears it. */
static void open_if_blind(struct synq_inside *inside, u64 now_ns)
{
	u64 most_ns = clamp(inside->mean_ns, BLIND_NS, BLIND_MAX_NS);

	lockdep_assert_held(&inside->lock);
	if (now_ns - inside->answered_ns < most_ns)
		return;
	inside->answered_ns = now_ns;
	WRITE_ONCE(inside->opened, min(inside->opened + 1, OPENED_MAX));
}

static void close_again(struct synq_inside *inside, u64 now_ns)
{
	lockdep_assert_held(&inside->lock);
	inside->answered_ns = now_ns;
	WRITE_ONCE(inside->opened, 0);
}

static u32 all_busy(const struct synq_inside *inside)
{
	u32 busy = 0;
	u8 slot;

	for (slot = 0; slot < SYNQ_SLOTS; slot++)
		busy += inside->in[SYNQ_INSIDE_BUSY][slot] +
			inside->in[SYNQ_INSIDE_FRESH][slot];
	return busy;
}

/* A few that take very long make no difference; if nearly all do, it grows. */
static void add_to_mean(struct synq_inside *inside, u64 took_ns)
{
	u64 most_ns = 4 * max(inside->mean_ns, MEAN_LEAST_NS);

	inside->mean_ns += div_s64((s64)(min(took_ns, most_ns) - inside->mean_ns), 8);
}

/**
 * synq_inside_answered() - an answer goes out
 * @inside: of the listener
 * @took_ns: since its request came
 * @counted: it was busy until now, and not stuck
 * @now_ns: monotonic clock
 *
 * Context: BH off, with the lock
 */
void synq_inside_answered(struct synq_inside *inside, u64 took_ns, bool counted, u64 now_ns)
{
	add_to_mean(inside, took_ns);
	if (!counted)
		return;
	synq_climb_answer(&inside->climb);
	close_again(inside, now_ns);
}

/**
 * synq_inside_tick() - some milliseconds have gone by, and connections are held, or were
 * @record: of the listener, which has a limit
 * @held: how many there are
 *
 * Context: softirq, rcu_read_lock()
 */
void synq_inside_tick(struct synq_record *record, u32 held)
{
	struct synq_inside *inside = &record->inside;
	u64 now_ns;

	spin_lock(&inside->lock);
	/* Not before: an answer may have gone out meanwhile. */
	now_ns = ktime_get_ns();
	synq_follow_age(inside, now_ns);
	if (!held || now_ns - inside->ticked_ns > PAUSE_NS)
		close_again(inside, now_ns);
	else
		open_if_blind(inside, now_ns);
	inside->ticked_ns = now_ns;
	synq_climb_tick(&inside->climb, now_ns, held, all_busy(inside));
	spin_unlock(&inside->lock);
}
