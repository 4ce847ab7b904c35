// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the number of connections that a server works on best, from its answers in a second.
 *
 * Laws based on response times need the response time without a queue, which an overloaded
 * server does not show.  So this one climbs on the throughput alone, as thread pools do
 * (Hellerstein, Morrison and Eilebrecht, 2008).
 *
 * Below the knee throughput is proportional to the limit; above it more connections bring
 * nothing.  So a limit below the knee measures the knee: it yields a fraction of the known
 * rate, and the knee is the limit divided by that fraction.  Each measurement is used,
 * however small the difference, and not only as a bound, so errors cancel out.  The base
 * is kept at the knee plus RESERVE: being below costs answers at once, being above only lets
 * a few more wait inside.
 *
 * It begins with FIRST.  Overloaded it adds one for each answer, up to WARM, unless one takes long
 * and longer than the first did: then they share a CPU, which would answer so many at once so
 * late that all clients leave.
 *
 * It works in epochs.  They count while connections are held, so there is always more work
 * waiting.  The first answers after a change of the limit belong to the old one and are skipped.
 * With a higher limit they count, too, while none is held, if more than before are inside.  Where
 * all are, and always ask again, nobody would ever be held: the limit would stay, whatever it
 * brings.  If no more are, it is tried again when some are held and answered, a few times in a row.
 *
 * rest		the limit is the base.  After some epochs a lower one is tried.  If the rate
 *		differs for two epochs in a row the server has changed: then up, or down.
 * up		the limit is twice as high.  If that brings more it is doubled again.  Not the
 *		first that is tried where a connection takes long, and much longer than the first.
 *		Once more some time after the first search, if only a few answers have ended it:
 *		by chance it may be far too low.
 *		A search goes on for longer while few answers have come that may be more.
 * down		the limit is lower, which measures the knee.  In a search, and after lower
 *		limits have cost nothing, it is halved until that costs something.
 *
 * The server may also work on connections that the limit does not count (kept, inside.c).  They
 * are added to the limit wherever it is compared with what the server does; as many of them as
 * work is done for, as the answers tell.  Where these are more than the limit a lower one would
 * cost nothing, so none is tried.
 *
 * Several listeners of one process have one limit together (crew.c).  It is never less than
 * LEAST for each.
 *
 * If answers do not come, the limit is opened, or halved where clients leave (climb_open.c).
 * Else nothing changes while no connection is held, but that no other limit is tried any more,
 * unless it is a lower one of a search.  An epoch that was interrupted for long begins again.
 *
 * It does not read a clock or lock: its callers exclude each other.  Pure.
 */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "climb.h"
#include "climb_open.h"

#define FIRST		(4U * UNIT)
#define WARM		(16U * UNIT)

/* An epoch is over after so many answers and so much time. */
#define FEW		64
#define MANY		192
#define MANY_DOWN	128
#define SHORT_NS	(SECOND / 4)
#define LONG_NS		(6 * SECOND)
#define LONGEST_NS	(10 * SECOND)
#define SEARCH_NS	(SECOND / 10)
#define SEARCH_LONG_NS	SECOND
#define SEARCH_UNSURE_NS (4 * SECOND)

/* Epochs of rest before a lower limit is tried: the more, the less has changed. */
#define RESTS_MAX	24
#define NEAR		8	/* an eighth of the base: no change */
#define EASY		2	/* lower limits in a row that cost nothing, before a search */
#define UNTRIED		2	/* before a higher one, after a first search by few answers */

/* Per cent of the rate that is known. */
#define MORE		130	/* a higher limit brings more */
#define LITTLE_MORE	118	/* likewise, when the rate has grown already */
#define FASTER		112	/* the rate has grown */
#define SLOWER		80	/* the server has become slower */
#define FAR		170	/* far off: so much, or 100 / 170 */
#define NOTHING		93	/* a lower limit costs nothing */
#define HARDLY		78	/* with half of the limit: it was far too high */
#define COSTLY		65	/* it was about right */

#define RESERVE		35	/* per cent of the knee */
#define AVERAGE		4	/* rates */

#define SMOOTH		64	/* ticks */
#define KEPT_MOST	BIT(16)
#define WINDOW		256	/* answers */

#define SLOW_NS		(5 * SECOND / 2)

/*
 * What the server works on besides, in sixteenths.  A connection that only seems to be busy is
 * not answered; all that the server works on are answered alike.  So answers tell how many.
 */
static u32 kept_of(const struct synq_climb *climb)
{
	u64 alike = (u64)climb->limit * UNIT * climb->kept_answered;

	return min_t(u64, climb->kept / SMOOTH, div_u64(alike, climb->else_answered + 1));
}

/* The epoch begins again. */
void synq_climb_restart(struct synq_climb *climb)
{
	climb->epoch_ns = 0;
	climb->took_ns = 0;
	climb->took_n = 0;
	climb->loose_ns = 0;
	climb->answers = 0;
}

static void be_warm(struct synq_climb *climb)
{
	climb->from = climb->base;
	synq_climb_restart(climb);
}

static void begin(struct synq_climb *climb, enum synq_climb_phase phase, u32 limit, u32 skip)
{
	/* Several share it. */
	if (climb->listeners > 1)
		limit = max(limit, synq_climb_least(climb));
	if (limit != climb->limit)
		synq_climb_is_new(climb);
	WRITE_ONCE(climb->phase, phase);
	climb->is_put_off = false;
	climb->skip = skip + min(synq_climb_whole(kept_of(climb)), skip);
	climb->settled = false;
	climb->unsettled_ns = 0;
	WRITE_ONCE(climb->limit, limit);
	synq_climb_restart(climb);
}

/* The base is the limit, and is at least @LEAST, and at most @MOST. */
void synq_climb_rest(struct synq_climb *climb, u64 base)
{
	climb->base = clamp_t(u64, base, LEAST * UNIT, MOST);
	climb->kept_then = kept_of(climb);
	climb->rested = 0;
	climb->searching = false;
	begin(climb, SYNQ_CLIMB_REST, synq_climb_whole(climb->base), synq_climb_whole(climb->base));
}

/* How long a connection takes, as far as is known. */
u64 synq_climb_takes_ns(const struct synq_climb *climb)
{
	return climb->rate ? div64_u64((u64)climb->limit << 40, climb->rate) : 0;
}

/*
 * By three eighths of all, or in a search by half; the limit at most by half.  Where a connection
 * takes long more answers are skipped: on a shared CPU those with the most work are left behind.
 */
static void go_down(struct synq_climb *climb)
{
	u32 base = synq_climb_whole(climb->base), all = base + synq_climb_whole(kept_of(climb));
	u32 less = climb->searching ? all / 2 : (3 * all + 4) / 8;
	u32 limit = base - clamp_t(u32, less, 1, max(base / 2, 1U));

	/* Of several listeners none has less than LEAST. */
	if (climb->listeners > 1)
		limit = max(limit, synq_climb_least(climb));
	if (all > 2 * base || limit >= base) {
		synq_climb_rest(climb, climb->base);
		return;
	}
	begin(climb, SYNQ_CLIMB_DOWN, limit,
	      synq_climb_takes_ns(climb) > SLOW_NS ? base : limit);
}

static void go_up(struct synq_climb *climb)
{
	climb->from = max(climb->base, synq_climb_least(climb) * UNIT);
	climb->base = min(2 * climb->from + kept_of(climb), MOST);
	begin(climb, SYNQ_CLIMB_UP, synq_climb_whole(climb->base), synq_climb_whole(climb->from));
}

static void search_down(struct synq_climb *climb)
{
	climb->easy = 0;
	climb->searching = true;
	go_down(climb);
}

static u64 per_ns(const struct synq_climb *climb, u32 answers)
{
	u64 us = max_t(u64, climb->epoch_ns >> 10, 1);

	return min_t(u64, div64_u64((u64)answers << 30, us), 1ULL << 48);
}

static u32 percent_of(u64 rate, u64 of)
{
	return clamp_t(u64, div64_u64(100 * rate, max_t(u64, of, 1)), 1, 1000);
}

/* Does an answer take longer than the first did?  Where clients leave the rate does not tell. */
static bool is_slower(const struct synq_climb *climb)
{
	u64 first_ns = climb->first_ns;

	return !climb->took_n ||
	       div_u64(climb->took_ns, climb->took_n) > first_ns + first_ns / 4;
}

/*
 * A few answers that come by chance say little.  Perhaps a higher limit brings more: a search that
 * ends there stays far too low.
 */
static bool is_unsure(const struct synq_climb *climb)
{
	u32 percent = percent_of(per_ns(climb, climb->answers), climb->rate);

	return climb->phase == SYNQ_CLIMB_UP && climb->answers < FEW && percent < MORE &&
	       (percent > FASTER || !is_slower(climb));
}

/* So far off that a few answers are enough to tell; a lower limit costs answers until then. */
static bool is_far(const struct synq_climb *climb)
{
	u32 percent = percent_of(per_ns(climb, climb->answers), climb->rate);

	if (climb->phase == SYNQ_CLIMB_DOWN)
		return percent < COSTLY;
	return climb->phase == SYNQ_CLIMB_REST && (percent > FAR || percent * FAR < 100 * 100);
}

/* No connection has been held for as long as one takes. */
static bool has_let_in_all(const struct synq_climb *climb)
{
	return climb->phase == SYNQ_CLIMB_UP &&
	       climb->none_ns > min(synq_climb_takes_ns(climb), 4 * SECOND);
}

static bool is_over(const struct synq_climb *climb)
{
	u32 n = climb->answers, many = climb->phase == SYNQ_CLIMB_DOWN ? MANY_DOWN : MANY;
	u64 ns = climb->epoch_ns;

	if (n < climb->limit)
		return ns >= LONGEST_NS;
	/*
	 * It is far off: the sooner this ends the better.  But where a limit lets in all nothing
	 * is looked at again.
	 */
	if (climb->searching && climb->phase != SYNQ_CLIMB_DOWN && !has_let_in_all(climb))
		return ns >= (n >= FEW ? SEARCH_NS :
			      is_unsure(climb) ? SEARCH_UNSURE_NS : SEARCH_LONG_NS);
	if (n >= many || (n >= FEW && is_far(climb)))
		return ns >= SHORT_NS;
	return ns >= (n >= FEW ? LONG_NS : LONGEST_NS);
}

/* The server has changed if this is so for two epochs in a row. */
static void is_another(struct synq_climb *climb, u64 rate, bool more)
{
	if (++climb->surprises < 2) {
		synq_climb_restart(climb);
		return;
	}
	climb->surprises = 0;
	climb->rate = rate;
	climb->rests = RESTS_MIN;
	if (!more)
		search_down(climb);
	else if (synq_climb_may_double(climb))
		go_up(climb);
	else
		synq_climb_rest(climb, climb->base);
}

/*
 * Where an answer takes long the first epoch may be as short as a burst of them.  But the server
 * has not answered more than the limit in the time that one takes (Little's law).
 */
static u64 believable(const struct synq_climb *climb, u64 rate)
{
	u64 took_ns = div_u64(climb->took_ns, max(climb->took_n, 1U));

	if (took_ns < QUICK_NS / 2 || kept_of(climb))
		return rate;
	return min(rate, div64_u64((u64)climb->limit << 40, took_ns));
}

/*
 * Perhaps too many wait for the same workers: more would make all clients leave.  Not if each
 * takes as long as the first did.  Of several listeners more may have been let in.
 */
static bool seems_full(const struct synq_climb *climb)
{
	u64 many = climb->listeners > 1 ? 4 : 5, first_ns = climb->first_ns;
	u64 most_ns = first_ns ? many * first_ns / 2 : SLOW_NS;

	return is_slower(climb) &&
	       synq_climb_takes_ns(climb) > clamp_t(u64, most_ns, QUICK_NS, SLOW_NS);
}

static void has_rested(struct synq_climb *climb, u64 rate)
{
	u32 percent = percent_of(rate, climb->rate);

	if (!climb->rate) {
		climb->rate = believable(climb, rate);
		climb->searching = true;
		climb->is_untried = !climb->too_many;
		if (seems_full(climb) || !synq_climb_may_double(climb))
			go_down(climb);
		else
			go_up(climb);
		return;
	}
	/* It may be far too high: while the kept ones were there a lower one could not be tried. */
	if (2 * (climb->base + kept_of(climb)) < climb->base + climb->kept_then) {
		search_down(climb);
		return;
	}
	if (percent < SLOWER || percent > FASTER) {
		is_another(climb, rate, percent > FASTER);
		return;
	}
	climb->surprises = 0;
	synq_climb_has_stayed(climb);
	climb->rate += rate / AVERAGE - climb->rate / AVERAGE;
	synq_climb_restart(climb);
	climb->rested++;
	/* The search may have ended far too low, by chance. */
	if (climb->is_untried && climb->rested >= UNTRIED && synq_climb_may_double(climb)) {
		climb->is_untried = false;
		go_up(climb);
	} else if (climb->rested >= climb->rests) {
		go_down(climb);
	}
}

/* Per cent of all that the server works on. */
static u64 with_reserve(u32 base, u32 kept)
{
	return (u64)base * (100 + RESERVE) + (u64)kept * 100;
}

static void went_up(struct synq_climb *climb, u64 rate)
{
	u32 percent = percent_of(rate, climb->rate), kept = kept_of(climb);
	u64 all;

	if ((!climb->searching || kept > climb->from) && percent < LITTLE_MORE) {
		synq_climb_rest(climb, climb->from);
		return;
	}
	climb->searching = true;
	climb->is_untried &= percent < MORE && climb->answers < FEW;
	if (rate > climb->rate)
		climb->rate = rate;
	if (percent >= MORE && !has_let_in_all(climb) && climb->base < MOST &&
	    synq_climb_may_double(climb)) {
		go_up(climb);
		return;
	}
	all = div_u64(with_reserve(climb->from, kept) * percent, 100 * 100);
	climb->base = clamp_t(u64, all, climb->from + kept, climb->base + kept) - kept;
	search_down(climb);
}

/* Goes only a part of the way, since one epoch says little. */
static void follow(struct synq_climb *climb, u64 target)
{
	u32 base = climb->base, near = (base + kept_of(climb)) / NEAR;

	if (!climb->easy && target + near > base && target < base + near)
		climb->rests = min(2 * climb->rests, RESTS_MAX);
	else
		climb->rests = RESTS_MIN;
	synq_climb_rest(climb, (target + base) / 2);
}

static void went_down(struct synq_climb *climb, u64 rate)
{
	u32 percent = percent_of(rate, climb->rate), kept = kept_of(climb);
	u64 all, target;

	/* It may have grown: that says nothing of how many of all are the limit's. */
	if (synq_climb_whole(kept) > climb->limit)
		percent = min(percent, 100U);
	all = div_u64(with_reserve(climb->limit * UNIT, kept), percent);
	target = min(all - min_t(u64, all, kept), 2ULL * climb->base);

	if (!climb->searching) {
		if (percent >= NOTHING)
			climb->easy++;
		else
			climb->easy = 0;
		if (climb->easy >= EASY)
			search_down(climb);
		else
			follow(climb, target);
		return;
	}
	if (percent >= HARDLY && climb->limit > synq_climb_least(climb) &&
	    synq_climb_whole(kept) <= climb->limit) {
		if (rate > climb->rate)
			climb->rate = (climb->rate + rate) / 2;
		climb->base = climb->limit * UNIT;
		climb->is_untried = false;
		go_down(climb);
		return;
	}
	climb->rests = RESTS_MIN;
	synq_climb_rest(climb, target);
}

static void end_epoch(struct synq_climb *climb)
{
	u64 rate = max_t(u64, per_ns(climb, climb->answers), 1);

	climb->put_offs = 0;
	if (climb->phase == SYNQ_CLIMB_REST)
		has_rested(climb, rate);
	else if (climb->phase == SYNQ_CLIMB_UP)
		went_up(climb, rate);
	else
		went_down(climb, rate);
}

/* The first four answers tell how long one takes while few are inside. */
static void warm_up(struct synq_climb *climb, u64 took_ns)
{
	if (climb->base < 2 * FIRST || !climb->first_ns)
		climb->first_ns = max(climb->first_ns, took_ns);
	if (took_ns >= QUICK_NS && took_ns > climb->first_ns + climb->first_ns / 2) {
		be_warm(climb);
		return;
	}
	climb->base = min(climb->base + UNIT, MOST);
	synq_climb_is_new(climb);
	if (climb->base >= WARM)
		be_warm(climb);
}

/* A lower limit is in effect once enough connections were answered, or after a second. */
static bool is_settled(struct synq_climb *climb, u64 ns, u32 busy)
{
	climb->unsettled_ns += ns;
	climb->settled |= busy <= climb->limit + climb->limit / 4 + 1 ||
			  climb->unsettled_ns >= SECOND;
	return climb->settled;
}

/**
 * synq_climb_init() - begin without knowledge
 * @climb: of one or several listeners
 */
void synq_climb_init(struct synq_climb *climb)
{
	*climb = (struct synq_climb){
		.base = FIRST, .limit = synq_climb_whole(FIRST), .searching = true,
		.rests = RESTS_MIN, .listeners = 1,
	};
}

/**
 * synq_climb_answer() - count an answer
 * @climb: of the listeners
 * @is_kept: to one that the limit does not count
 * @took_ns: since its request came; 0: that says nothing
 *
 * It closes an open limit at once: while no connection is held there may be no tick.
 */
void synq_climb_answer(struct synq_climb *climb, bool is_kept, u64 took_ns)
{
	climb->answered = min(climb->answered, U32_MAX - 1) + 1;
	/* Until now it has stood still. */
	if (!climb->served)
		climb->left = 0;
	climb->served = min(climb->served, U32_MAX - 1) + 1;
	climb->deserted = false;
	if (!climb->skip && took_ns && !is_kept) {
		climb->took_ns += min(took_ns, LONGEST_NS);
		climb->took_n++;
	}
	climb->kept_answered += is_kept;
	climb->else_answered += !is_kept;
	if (climb->kept_answered + climb->else_answered >= WINDOW) {
		climb->kept_answered /= 2;
		climb->else_answered /= 2;
	}
	if (unlikely(climb->before))
		synq_climb_close_again(climb);
	if (unlikely(!climb->from) && climb->held && !is_kept)
		warm_up(climb, took_ns);
}

/**
 * synq_climb_hear() - the server has answered a connection that does not count
 * @climb: of the listeners
 *
 * It is not silent, so an open limit closes.
 */
void synq_climb_hear(struct synq_climb *climb)
{
	climb->silent_ns = 0;
	climb->deserted = false;
	if (unlikely(climb->before))
		synq_climb_close_again(climb);
}

/**
 * synq_climb_tick() - let time pass
 * @climb: of the listeners
 * @now_ns: monotonic clock, ns, not 0
 * @load: of all its listeners
 *
 * Called every millisecond or few while connections are held, for a while after that, and for as
 * long as a higher limit is tried.
 * Time beyond a second since the last call is ignored.
 */
void synq_climb_tick(struct synq_climb *climb, u64 now_ns, const struct synq_load *load)
{
	u32 held = load->held, busy = load->busy, kept = load->kept;
	bool follows = climb->last_ns && now_ns >= climb->last_ns &&
		       now_ns - climb->last_ns < SECOND;
	u64 ns = follows ? now_ns - climb->last_ns : 0;
	bool was_held = climb->held, excused = climb->excused, is_silent, is_loose;
	u32 answered = climb->answered;

	climb->answered = 0;
	climb->excused = false;
	climb->busy = busy + kept;
	climb->kept += min(kept, KEPT_MOST) * UNIT - climb->kept / SMOOTH;
	WRITE_ONCE(climb->beside, synq_climb_whole(kept_of(climb)));
	climb->last_ns = now_ns;
	climb->held = held;
	climb->listeners = clamp_t(u32, load->listeners, 1, SYNQ_LISTENERS_MOST);
	if (climb->phase == SYNQ_CLIMB_REST)
		WRITE_ONCE(climb->limit, max(synq_climb_whole(climb->base),
					     synq_climb_least(climb)));
	else if (climb->listeners > 1 && climb->limit < synq_climb_least(climb))
		synq_climb_interrupt(climb);
	if (!follows) {
		climb->silent_ns = 0;
		climb->deserted = false;
		synq_climb_is_new(climb);
		synq_climb_restart(climb);
		return;
	}
	climb->limit_ns += ns;
	if ((held && was_held) || climb->phase == SYNQ_CLIMB_UP)
		synq_climb_look_who_left(climb, excused);
	climb->none_ns = held && was_held ? 0 : climb->none_ns + ns;
	if (climb->none_ns && climb->phase != SYNQ_CLIMB_UP)
		climb->silent_ns = 0;
	if (held && climb->is_put_off && answered) {
		climb->none_ns = 0;
		go_up(climb);
		return;
	}
	/* For a quarter of the time that one takes the server works on as many as before. */
	is_loose = climb->none_ns > min(synq_climb_takes_ns(climb) / 4, SECOND / 2);
	/* As many as before do not show what a higher limit brings, but more do. */
	if (climb->phase == SYNQ_CLIMB_UP)
		is_loose &= busy + min(answered, busy) <= synq_climb_whole(climb->from);
	if (is_loose) {
		synq_climb_pass_loose(climb, ns);
		return;
	}
	is_silent = synq_climb_is_silent(climb, ns, answered, excused);
	if (is_silent && climb->none_ns) {
		synq_climb_pass_loose(climb, ns);
		return;
	}
	if (is_silent && !climb->deserted) {
		synq_climb_open_further(climb);
		return;
	}
	if (is_silent && !excused && synq_climb_is_deserted(climb))
		return;
	if (is_silent || (excused && climb->silent_ns >= EXCUSED_NS)) {
		synq_climb_pass_loose(climb, ns);
		return;
	}
	if (!climb->settled && !is_settled(climb, ns, busy))
		return;
	if (climb->skip) {
		climb->skip -= min(climb->skip, answered);
		return;
	}
	climb->answers += min(answered, U32_MAX - climb->answers);
	climb->epoch_ns += ns;
	if (!climb->from && climb->epoch_ns >= LONGEST_NS)
		be_warm(climb);
	else if (climb->from && is_over(climb))
		end_epoch(climb);
}
