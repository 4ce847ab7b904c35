// SPDX-License-Identifier: GPL-2.0
/*
 * The listeners of one process, a crew.  They may share its workers, as those for IPv4 and IPv6
 * do.  With a limit for each they would race, since each gets more of the same answers by a higher
 * one; and one of them would end with nearly all places, and the preferred clients of the other
 * with none.  So they have one limit together, which climb.c finds from the answers of all, and
 * of which those that hold connections have equal parts, of two places at least.  Only
 * listeners with "inside auto" take part.
 *
 * A listener that holds nothing needs no part.  But it may hold connections now and then, and if
 * the parts changed each time, more would be let in than the limit says.  So it has a part for a
 * while after that: time is divided into windows, and those have one that have held some in this
 * window or in the one before.  Its timer runs for as long.  What happens at the others says
 * nothing, and does not count.  But when none has a part any more, an answer of one of the last
 * closes a limit that was opened, and so does its end.  While a higher limit is tried, and none
 * holds any more, no window ends.
 *
 * DOC: why no crew is used after it is freed
 *
 * 1. A record holds a reference to its crew from before it can be found until it is freed, which
 *    is a grace period after it was removed, and after its timer has been waited for (record.c).
 *    Code that has found the record may use its crew for as long as the record.
 * 2. It changes its crew once at most, when it joins one.  The one it had, which was its alone, is
 *    freed with the record, since code may have read the pointer before.
 * 3. A crew can be joined while it is in the hash of its network namespace, under &fresh_lock.  It
 *    leaves the hash with the last of its listeners that is not removed, which holds a reference
 *    then.
 *
 * What a listener has told its crew is under the locks of both, and taken back when it parts.  It
 * tells nothing after that, since its timer finds that it is leaving, or that it has parted.
 *
 * The lock of a crew is inside that of each of its listeners, and innermost.
 *
 * A function that does not say otherwise may be called in any context, by code that has found the
 * record.
 */
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/net.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <net/sock.h>
#include "climb.h"
#include "crew.h"
#include "inside.h"
#include "synq.h"

#define WINDOW_NS	NSEC_PER_SEC
#define PART_LEAST	2U	/* of one alone a client that has left would keep out all others */

/**
 * struct synq_crew - the listeners of one process
 * @ref: records that are not freed
 * @node: in the hash of its network namespace, if @opener is known
 * @opener: the credentials that the process has opened them with: compared, not looked at
 * @n: listeners that are not removed; with the two above under &synq_net.fresh_lock
 * @lock: protects the rest
 * @window_ns: when this window began
 * @turned: likewise, jiffies; may be read without the lock
 * @window: its number, at least 2; may be read without the lock
 * @holding: listeners that have held connections in this window
 * @parts: those, and those that have in the one before; may be read without the lock
 * @all: what they have told, added up
 * @climb: finds the limit
 */
struct synq_crew {
	refcount_t ref;
	struct hlist_node node;
	const void *opener;
	u32 n;
	spinlock_t lock;	/* protects the rest */
	u64 window_ns;
	unsigned long turned;
	u32 window;
	u32 holding;
	u32 parts;
	struct synq_told all;
	struct synq_climb climb;
};

static const struct synq_told nothing;

/* A variable: for a constant size the allocator's function differs between kernels. */
static size_t crew_size __ro_after_init = sizeof(struct synq_crew);

/**
 * synq_crew_init() - be a crew of one
 * @inside: of a listener, in a record that cannot be found yet
 *
 * Return: 0 or -ENOMEM
 */
int synq_crew_init(struct synq_inside *inside)
{
	struct synq_crew *crew = kzalloc(crew_size, GFP_ATOMIC | __GFP_NOWARN);

	if (!crew)
		return -ENOMEM;
	refcount_set(&crew->ref, 1);
	INIT_HLIST_NODE(&crew->node);
	crew->n = 1;
	spin_lock_init(&crew->lock);
	crew->window = 2;
	synq_climb_init(&crew->climb);
	inside->alone = crew;
	inside->crew = crew;
	return 0;
}

/**
 * synq_crew_destroy() - take back synq_crew_init()
 * @inside: of a listener, in a record that is not used any more
 */
void synq_crew_destroy(struct synq_inside *inside)
{
	struct synq_crew *crew = inside->crew;

	if (inside->alone != crew)
		kfree(inside->alone);
	if (!refcount_dec_and_test(&crew->ref))
		return;
	/* All have taken back what they have told. */
	WARN_ON_ONCE(crew->parts || crew->holding || crew->all.holds || crew->all.held ||
		     crew->all.busy || crew->all.kept || crew->all.excused);
	kfree(crew);
}

/*
 * Which process has opened a listener?  A file keeps the credentials that it was opened with.
 * While it is open no other process has credentials at their address.  A process that it has
 * forked has others, but may have the file, too.  After that one may, until the worker finds the
 * record, which does not take long: then it shares the crew of listeners that are closed.
 *
 * The caller has the lock of the listener, which a close takes before it puts the file; and RCU,
 * for files that move.
 */
static const void *opener_of(const struct sock *sk)
{
	const struct socket *socket;
	const struct file *file;

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "the file may move");
	socket = READ_ONCE(sk->sk_socket);
	file = socket ? READ_ONCE(socket->file) : NULL;
	return file ? READ_ONCE(file->f_cred) : NULL;
}

static struct hlist_head *crews_of(struct synq_net *sn, const void *opener)
{
	return &sn->crews[hash_ptr(opener, ilog2(ARRAY_SIZE(sn->crews)))];
}

/* There are no more than records, and no user can choose their addresses. */
static struct synq_crew *crew_of(struct synq_net *sn, const void *opener)
{
	struct synq_crew *crew;

	lockdep_assert_held(&sn->fresh_lock);
	hlist_for_each_entry(crew, crews_of(sn, opener), node)
		if (crew->opener == opener)
			return crew;
	return NULL;
}

/**
 * synq_crew_join() - join the other listeners of the same process
 * @inside: of the listener
 * @sn: network namespace; the caller has its fresh_lock
 * @sk: the listener
 *
 * If its process is not known it stays alone, so that its limit is found without regard to others.
 *
 * Context: rcu_read_lock(), BH off, the lock of @sk, not that of @inside
 */
void synq_crew_join(struct synq_inside *inside, struct synq_net *sn, const struct sock *sk)
{
	const void *opener = opener_of(sk);
	struct synq_crew *alone = inside->alone, *crew;

	if (!opener)
		return;
	crew = crew_of(sn, opener);
	if (!crew) {
		alone->opener = opener;
		hlist_add_head(&alone->node, crews_of(sn, opener));
		return;
	}
	refcount_inc(&crew->ref);
	crew->n++;
	spin_lock(&inside->lock);
	/* Its maker may be another CPU. */
	smp_store_release(&inside->crew, crew);
	inside->told = (struct synq_told){ 0 };
	WRITE_ONCE(inside->window, 0);
	spin_unlock(&inside->lock);
}

/* Has it held connections in this window, or in the one before? */
static bool has_part(const struct synq_inside *inside, const struct synq_crew *crew)
{
	return READ_ONCE(crew->window) - READ_ONCE(inside->window) <= 1;
}

/* Instead of what it has told before. */
static void tell(struct synq_inside *inside, const struct synq_told *told)
{
	struct synq_told *all = &inside->crew->all, *was = &inside->told;

	lockdep_assert_held(&inside->lock);
	lockdep_assert_held(&inside->crew->lock);
	all->held += told->held - was->held;
	all->busy += told->busy - was->busy;
	all->kept += told->kept - was->kept;
	all->holds += told->holds - was->holds;
	all->excused += told->excused - was->excused;
	*was = *told;
}

/*
 * A window without a tick is over, too, and no connection was held in it.  If a higher limit is
 * tried, and none holds connections now, all parts stay, and so does what counts.
 */
static void turn_window(struct synq_crew *crew, u64 now_ns)
{
	u64 ns = now_ns - crew->window_ns;
	bool follows = ns < 2 * WINDOW_NS;

	if (!crew->all.held && synq_climb_is_trying(&crew->climb)) {
		WRITE_ONCE(crew->turned, jiffies);
		crew->window_ns = now_ns;
		return;
	}
	if (ns < WINDOW_NS)
		return;
	WRITE_ONCE(crew->parts, follows ? crew->holding : 0);
	WRITE_ONCE(crew->window, crew->window + (follows ? 1 : 2));
	WRITE_ONCE(crew->turned, jiffies);
	crew->holding = 0;
	crew->window_ns = now_ns;
}

/* Silence says something while one of those that hold connections could answer. */
static void tick(struct synq_crew *crew, u64 now_ns)
{
	const struct synq_told *all = &crew->all;

	if (all->excused && all->excused == all->holds)
		synq_climb_excuse(&crew->climb);
	synq_climb_tick(&crew->climb, now_ns, &(struct synq_load){
		.held = all->held, .busy = all->busy, .kept = all->kept,
		.listeners = crew->parts,
	});
}

/* It lets no time pass until it holds connections.  Perhaps none of the others has a part. */
static void fall_silent(struct synq_inside *inside)
{
	struct synq_crew *crew = inside->crew;

	tell(inside, &nothing);
	if (!crew->parts)
		synq_climb_put_off(&crew->climb);
}

/*
 * A limit that was opened for one closes by its answer, which may come after it has lost its part:
 * when none has one there may be no tick any more, and the window is the second after that in
 * which it held connections, or the third.  Those of others say nothing: its own may not be seen.
 */
static bool is_left_open(const struct synq_inside *inside, const struct synq_crew *crew)
{
	return unlikely(synq_climb_is_open(&crew->climb)) && !READ_ONCE(crew->parts) &&
	       inside->window && READ_ONCE(crew->window) - inside->window <= 3;
}

/**
 * synq_crew_rest() - take no part any more
 * @inside: of the listener
 *
 * Context: BH off, with the lock of @inside
 */
void synq_crew_rest(struct synq_inside *inside)
{
	struct synq_crew *crew = inside->crew;
	bool has_opened;

	lockdep_assert_held(&inside->lock);
	if (!inside->window)
		return;
	spin_lock(&crew->lock);
	has_opened = has_part(inside, crew) || is_left_open(inside, crew);
	tell(inside, &nothing);
	if (has_part(inside, crew)) {
		WRITE_ONCE(crew->parts, crew->parts - 1);
		crew->holding -= inside->window == crew->window;
	}
	WRITE_ONCE(inside->window, 0);
	/* Perhaps no connection is held now. */
	tick(crew, ktime_get_ns());
	fall_silent(inside);
	/* No answer of this one will close it. */
	if (has_opened && !crew->parts)
		synq_climb_close(&crew->climb);
	spin_unlock(&crew->lock);
}

/**
 * synq_crew_part() - take back synq_crew_join()
 * @inside: of the listener, which is leaving
 * @sn: network namespace; the caller has its fresh_lock
 *
 * Context: BH off, not with the lock of @inside
 */
void synq_crew_part(struct synq_inside *inside, struct synq_net *sn)
{
	lockdep_assert_held(&sn->fresh_lock);
	if (!--inside->crew->n)
		hlist_del_init(&inside->crew->node);
	spin_lock(&inside->lock);
	synq_crew_rest(inside);
	inside->parted = true;
	spin_unlock(&inside->lock);
}

/* Windows do not turn while there is no tick. */
static u32 parts_of(const struct synq_inside *inside, const struct synq_crew *crew)
{
	if (time_after(jiffies, READ_ONCE(crew->turned) + 3 * HZ))
		return 1;
	return max(READ_ONCE(crew->parts) + !has_part(inside, crew), 1U);
}

/**
 * synq_crew_limit() - how many connections may be busy at a listener with "inside auto"
 * @inside: of the listener
 *
 * While others answer it is not opened for one that does not: those inside are stuck after some
 * time, and do not count then (follow.c), and no connection is held for long (hold.c).
 *
 * Return: connections
 */
u32 synq_crew_limit(const struct synq_inside *inside)
{
	const struct synq_crew *crew = READ_ONCE(inside->crew);
	u32 limit = synq_climb_limit(&crew->climb), parts = parts_of(inside, crew);

	return parts == 1 ? limit : max(DIV_ROUND_UP(limit, parts), PART_LEAST);
}

/**
 * synq_crew_beside() - how many does the server work on that the limit does not count?
 * @inside: of the listener
 *
 * Return: connections, in the long run
 */
u32 synq_crew_beside(const struct synq_inside *inside)
{
	const struct synq_crew *crew = READ_ONCE(inside->crew);

	return synq_climb_beside(&crew->climb) / parts_of(inside, crew);
}

/**
 * synq_crew_hear() - an answer has gone out that does not count
 * @inside: of the listener
 *
 * Context: BH off, with the lock of @inside
 */
void synq_crew_hear(struct synq_inside *inside)
{
	struct synq_crew *crew = inside->crew;

	lockdep_assert_held(&inside->lock);
	if (!has_part(inside, crew) && !is_left_open(inside, crew))
		return;
	spin_lock(&crew->lock);
	synq_climb_hear(&crew->climb);
	spin_unlock(&crew->lock);
}

/**
 * synq_crew_answered() - an answer has gone out
 * @inside: of the listener
 * @is_kept: to a connection that the limit does not count
 * @took_ns: since its request came; 0: that says nothing
 *
 * Context: BH off, with the lock of @inside
 */
void synq_crew_answered(struct synq_inside *inside, bool is_kept, u64 took_ns)
{
	struct synq_crew *crew = inside->crew;

	lockdep_assert_held(&inside->lock);
	if (!has_part(inside, crew)) {
		synq_crew_hear(inside);
		return;
	}
	spin_lock(&crew->lock);
	synq_climb_answer(&crew->climb, is_kept, took_ns);
	spin_unlock(&crew->lock);
}

/**
 * synq_crew_left() - a client has left before it was answered
 * @inside: of the listener
 * @waited_ns: for so long it has waited inside
 * @held_ns: before that it was held for so long
 *
 * Context: BH off, with the lock of @inside
 */
void synq_crew_left(struct synq_inside *inside, u64 waited_ns, u64 held_ns)
{
	struct synq_crew *crew = inside->crew;

	lockdep_assert_held(&inside->lock);
	if (!has_part(inside, crew))
		return;
	spin_lock(&crew->lock);
	synq_climb_left(&crew->climb, waited_ns, held_ns, inside->mean_ns);
	spin_unlock(&crew->lock);
}

static bool has_told(const struct synq_inside *inside)
{
	const struct synq_told *told = &inside->told;

	return told->held || told->busy || told->kept;
}

static void have_part(struct synq_inside *inside, struct synq_crew *crew)
{
	if (inside->window == crew->window)
		return;
	crew->holding++;
	if (!has_part(inside, crew))
		WRITE_ONCE(crew->parts, crew->parts + 1);
	WRITE_ONCE(inside->window, crew->window);
}

/**
 * synq_crew_tick() - some milliseconds have gone by
 * @inside: of the listener, with "inside auto"
 * @told: about it
 *
 * Context: BH off, with the lock of @inside
 * Return: true if it has to be called again though @inside may hold none
 */
bool synq_crew_tick(struct synq_inside *inside, const struct synq_told *told)
{
	struct synq_crew *crew = inside->crew;
	u64 now_ns;
	bool again;

	lockdep_assert_held(&inside->lock);
	if (inside->parted || (!told->held && !has_told(inside) && !has_part(inside, crew)))
		return false;
	spin_lock(&crew->lock);
	/* With the lock: it must not go back for climb.c. */
	now_ns = ktime_get_ns();
	turn_window(crew, now_ns);
	tell(inside, told);
	if (told->held)
		have_part(inside, crew);
	tick(crew, now_ns);
	again = has_part(inside, crew);
	if (!again)
		fall_silent(inside);
	spin_unlock(&crew->lock);
	return again;
}
