// SPDX-License-Identifier: GPL-2.0
/*
 * How many connections a server works on best: found by trying, from the answers that it
 * gives in a second.
 *
 * Laws that look at how long answers take need to know how long they take without a queue,
 * which an overloaded server does not show.  So this one climbs on the rate alone, as
 * thread pools do (Hellerstein, Morrison and Eilebrecht, 2008).
 *
 * In epochs, which count only while connections are held, so that there is always more to
 * do.  The first answers after a change are those of the limit of before, and are skipped.
 *
 * rest		the limit is the base.  After some epochs a quarter less is tried; after
 *		that has cost nothing several times, a half.  A rate that is another for two
 *		epochs on end means that the server is another: up if there is more, down
 *		if there is less.
 * up		the limit was doubled (or raised by a half).  If that brings more it is
 *		doubled again.  Else the base is what would have been enough for the rate,
 *		and some more.
 * down		the limit was lowered.  What it costs says which limit would have been
 *		enough for nearly all of the rate.
 *
 * Fail open: while connections are held and nothing is answered, for a second or twice the
 * longest gap between answers, the limit is doubled, and again.  With the next answers it
 * is what it was.  While nobody is held nothing changes, and an epoch that was interrupted
 * for long begins again.
 *
 * It does not read a clock or lock.  Pure.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "climb.h"

#define UNIT		16U			/* of a base */
#define FIRST		(16U * UNIT)
#define LEAST		(2U * UNIT)
#define MOST		((1U << 20) * UNIT)
#define SECOND		((u64)NSEC_PER_SEC)

/* An epoch is over after so many answers, and so long. */
#define FEW		64
#define MANY		256
#define MANY_DOWN	192
#define LONG_NS		(2 * SECOND)
#define LONGEST_NS	(4 * SECOND)

#define RESTS		4	/* epochs, before a lower limit is tried */
#define EASY		4	/* lower limits that cost nothing, before a half is */

/* Per cent of the rate. */
#define MORE		125	/* the limit was too low */
#define SOME_MORE	115
#define ANOTHER		120	/* the server is another, or 100 / 120 of it */
#define NEARLY_ALL	95
#define ENOUGH		85	/* with half of the limit: the base was far too high */
#define HALF_GONE	57	/* with half of the limit: the base was too low */
#define QUARTER_GONE	82	/* likewise with three quarters */
#define SLOWER		65	/* so little is not for want of a higher limit: ... */
#define SLOWER_HALF	40	/* ... with three quarters of it, and with half */
#define RESERVE		127	/* of what would have been enough */

#define GAP_MAX_MS	4000

static u32 whole(u32 base)
{
	return (base + UNIT - 1) / UNIT;
}

static void restart(struct synq_climb *climb)
{
	climb->epoch_ns = 0;
	climb->loose_ns = 0;
	climb->answers = 0;
}

static void begin(struct synq_climb *climb, enum synq_climb_phase phase, u32 limit,
		  u32 skip)
{
	climb->phase = phase;
	climb->skip = skip;
	climb->settled = false;
	climb->unsettled_ns = 0;
	WRITE_ONCE(climb->limit, limit);
	restart(climb);
}

static void rest(struct synq_climb *climb, u64 base)
{
	climb->base = clamp_t(u64, base, LEAST, MOST);
	climb->rested = 0;
	climb->searching = false;
	begin(climb, SYNQ_CLIMB_REST, whole(climb->base), whole(climb->base));
}

/* By half, or by a quarter. */
static void go_down(struct synq_climb *climb, bool by_half)
{
	u32 limit = whole(climb->base);

	if (by_half && limit <= whole(LEAST)) {
		rest(climb, climb->base);
		return;
	}
	limit -= max(limit / (by_half ? 2 : 4), 1U);
	climb->halving = by_half;
	begin(climb, SYNQ_CLIMB_DOWN, limit, limit);
}

/* To twice as much, or by half. */
static void go_up(struct synq_climb *climb, bool twice)
{
	climb->from = climb->base;
	climb->base = min_t(u32, climb->base + climb->base / (twice ? 1 : 2), MOST);
	begin(climb, SYNQ_CLIMB_UP, whole(climb->base), whole(climb->from));
}

static void search(struct synq_climb *climb, bool up, u64 rate)
{
	climb->surprises = 0;
	climb->rate = rate;
	climb->searching = true;
	climb->target = 0;
	if (up)
		go_up(climb, true);
	else
		go_down(climb, true);
}

static u64 rate_of(const struct synq_climb *climb)
{
	u64 us = max_t(u64, climb->epoch_ns >> 10, 1);

	return clamp_t(u64, div64_u64((u64)climb->answers << 30, us), 1, 1ULL << 48);
}

static u32 percent_of(u64 rate, u64 of)
{
	return clamp_t(u64, div64_u64(100 * rate, max_t(u64, of, 1)), 1, 1000);
}

static bool is_over(const struct synq_climb *climb)
{
	u32 n = climb->answers, many = climb->phase == SYNQ_CLIMB_DOWN ? MANY_DOWN : MANY;
	u64 ns = climb->epoch_ns;

	if (climb->before)
		return n >= FEW || ns >= LONGEST_NS;
	if (n < climb->limit)
		return false;
	/* It is far from where it should be: the less time the better. */
	if (climb->searching && climb->phase != SYNQ_CLIMB_DOWN)
		return ns >= (n >= FEW ? SECOND / 10 : SECOND / 2);
	if (n >= many && ns >= SECOND / 4)
		return true;
	return ns >= (n >= FEW ? LONG_NS : LONGEST_NS);
}

static void add_to_rate(struct synq_climb *climb, u64 rate)
{
	if (climb->rested)
		climb->rate = climb->rate - climb->rate / 4 + rate / 4;
	else
		climb->rate = rate;
}

static void has_rested(struct synq_climb *climb, u64 rate)
{
	u32 percent = percent_of(rate, climb->rate);

	if (climb->before) {
		rest(climb, climb->before);
		climb->searching = !climb->rate;
		climb->before = 0;
		return;
	}
	if (!climb->rate) {
		search(climb, true, rate);
		return;
	}
	if (percent * ANOTHER < 100 * 100 || percent > ANOTHER) {
		if (++climb->surprises >= 2)
			search(climb, percent > 100, rate);
		else
			restart(climb);
		return;
	}
	climb->surprises = 0;
	add_to_rate(climb, rate);
	restart(climb);
	if (++climb->rested >= RESTS)
		go_down(climb, climb->easy >= EASY);
}

static void went_up(struct synq_climb *climb, u64 rate)
{
	u32 percent = percent_of(rate, climb->rate);
	u64 base;

	climb->rate = rate;
	if (percent < SLOWER) {
		climb->base = climb->from;
		search(climb, false, rate);
		return;
	}
	if (percent >= MORE && climb->base < MOST) {
		climb->target = 0;
		go_up(climb, true);
		return;
	}
	if (climb->target && percent < SOME_MORE) {
		rest(climb, climb->target);
		return;
	}
	base = div_u64((u64)climb->from * percent * RESERVE, 100 * 100);
	climb->base = clamp_t(u64, base, climb->from, climb->base);
	if (climb->searching)
		go_down(climb, true);
	else
		rest(climb, climb->base);
}

static void halved(struct synq_climb *climb, u64 rate, u32 percent)
{
	u32 base = climb->base;

	climb->easy = 0;
	if (percent < SLOWER_HALF) {
		search(climb, false, rate);
		return;
	}
	if (percent >= ENOUGH) {
		climb->base = climb->limit * UNIT;
		climb->rate = rate;
		climb->searching = true;
		go_down(climb, true);
		return;
	}
	climb->target = div_u64((u64)climb->limit * UNIT * RESERVE, percent);
	if (!climb->searching && climb->target + climb->target / 2 > base)
		climb->target = base;
	climb->searching = false;
	if (percent < HALF_GONE)
		go_up(climb, true);
	else
		rest(climb, climb->target);
}

/* Not all of the way, since one epoch says little. */
static void lowered(struct synq_climb *climb, u64 rate, u32 percent)
{
	u32 base = climb->base;

	if (percent < SLOWER) {
		search(climb, false, rate);
		return;
	}
	climb->target = (div_u64((u64)base * NEARLY_ALL, percent) + base) / 2;
	climb->easy = percent >= NEARLY_ALL ? climb->easy + 1 : 0;
	climb->searching = false;
	if (percent < QUARTER_GONE)
		go_up(climb, false);
	else
		rest(climb, climb->target);
}

static void end_epoch(struct synq_climb *climb)
{
	u64 rate = rate_of(climb);

	switch ((enum synq_climb_phase)climb->phase) {
	case SYNQ_CLIMB_REST:
		has_rested(climb, rate);
		break;
	case SYNQ_CLIMB_UP:
		went_up(climb, rate);
		break;
	case SYNQ_CLIMB_DOWN:
		if (climb->halving)
			halved(climb, rate, percent_of(rate, climb->rate));
		else
			lowered(climb, rate, percent_of(rate, climb->rate));
		break;
	}
}

static void open_further(struct synq_climb *climb)
{
	climb->silent_ns = 0;
	if (!climb->before)
		climb->before = climb->phase == SYNQ_CLIMB_UP ? climb->from : climb->base;
	rest(climb, 2ULL * climb->base);
	climb->skip = 0;
}

/* How long nothing is answered is a matter of the server: some need seconds. */
static bool is_silent(struct synq_climb *climb, u64 ns, u32 answered)
{
	if (answered) {
		u32 ms = min_t(u64, div_u64(climb->silent_ns, NSEC_PER_MSEC), GAP_MAX_MS);

		climb->gap_ms = max(climb->gap_ms - climb->gap_ms / 64, ms);
		climb->silent_ns = 0;
		return false;
	}
	climb->silent_ns += ns;
	return climb->silent_ns >= max_t(u64, SECOND, 2ULL * climb->gap_ms * NSEC_PER_MSEC);
}

/* Nobody is held: the server does not show what it can do. */
static void pass_loose(struct synq_climb *climb, u64 ns)
{
	climb->silent_ns = 0;
	climb->loose_ns += ns;
	if (climb->loose_ns <= max(SECOND, climb->epoch_ns))
		return;
	if (climb->phase != SYNQ_CLIMB_REST)
		rest(climb, climb->base);
	restart(climb);
}

/* A lower limit is kept when enough have been answered; not by who needs none. */
static bool is_settled(struct synq_climb *climb, u64 ns, u32 busy)
{
	climb->unsettled_ns += ns;
	climb->settled |= busy <= climb->limit + climb->limit / 4 + 1 ||
			  climb->unsettled_ns >= SECOND;
	return climb->settled;
}

/**
 * synq_climb_init() - nothing is known yet
 * @climb: of a listener
 */
void synq_climb_init(struct synq_climb *climb)
{
	*climb = (struct synq_climb){
		.base = FIRST, .limit = whole(FIRST), .searching = true,
	};
}

/**
 * synq_climb_tick() - let time pass
 * @climb: of the listener
 * @now_ns: monotonic clock, ns, not 0
 * @held: connections that are held
 * @busy: connections that are busy
 *
 * To be called each millisecond, or few, while any are held; what is longer than a second
 * since the last time counts for nothing.
 *
 * Context: any; callers exclude each other
 */
void synq_climb_tick(struct synq_climb *climb, u64 now_ns, u32 held, u32 busy)
{
	bool follows = climb->last_ns && now_ns > climb->last_ns &&
		       now_ns - climb->last_ns < SECOND;
	u64 ns = follows ? now_ns - climb->last_ns : 0;
	bool was_held = climb->held;
	u32 answered = climb->answered;

	climb->answered = 0;
	climb->last_ns = now_ns;
	climb->held = held;
	if (!follows) {
		climb->silent_ns = 0;
		restart(climb);
		return;
	}
	if (!held || !was_held) {
		pass_loose(climb, ns);
		return;
	}
	if (is_silent(climb, ns, answered)) {
		open_further(climb);
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
	if (is_over(climb))
		end_epoch(climb);
}
