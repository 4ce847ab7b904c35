// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of the limit of climb.c when answers do not come, or when no connection is held.
 *
 * Fail open: it is doubled, again and again, while connections are held and nothing is answered
 * for a second, for twice the longest gap between answers, and for twice as long as the
 * connections inside should take; after 8 s at the latest, and when it is open after 4 s.  With
 * the next answer it is what it was, or twice that if it was a guess, and such a gap is known.
 *
 * Not if clients have left since the last answer: then the server has too much to do, and more
 * would make it worse.  The limit is halved instead, but not below four.
 *
 * Nor does it stay if more than one leaves for two that are answered, whatever the rate: that says
 * nothing when all is done too late.  Only those count who have waited inside for a second, all of
 * it with this limit, as long as they were held, and as others do.  A limit that high is tried
 * again after some epochs in which fewer left, or at once where a connection is fast.
 *
 * While no connection is held, or the server is stopped, the rate says nothing.  If that lasts, the
 * epoch begins again, and a limit that is tried is put off.
 *
 * Pure; its callers exclude each other.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "climb_open.h"

#define PATIENCE_NS	(4 * SECOND)
#define PATIENCE_MOST_NS (8 * SECOND)	/* at first, where none leaves */
#define GAP_MAX_MS	4000U
#define PUT_OFFS	3		/* in a row, of a higher limit */

/* Clients that leave. */
#define DESERTED	2U	/* times what the first answers took */
#define LEFT_MIN	4U
#define LEFT_LEAST	4U	/* limit, as in the beginning, if it may be so low */
#define LEFT_WINDOW	16U	/* these and answers, or twice the limit */

/*
 * The server answers again, so the limit is what it was.  If nothing is known of it, it may be
 * one whose first answer takes long: then one step higher, unless it answers few of those that
 * it is given.
 */
void synq_climb_close_again(struct synq_climb *climb)
{
	u32 base = climb->may_double ? min(2 * climb->before, climb->base) : climb->before;

	synq_climb_rest(climb, base);
	climb->searching = !climb->rate;
	WRITE_ONCE(climb->before, 0);
	climb->gap_ms = max(climb->gap_ms, climb->unheard_ms);
	climb->unheard_ms = 0;
}

/**
 * synq_climb_close() - those have gone for which the limit was opened, if it was
 * @climb: of the listeners
 *
 * No answer has ended the silence, so it says nothing.
 */
void synq_climb_close(struct synq_climb *climb)
{
	if (!climb->before)
		return;
	climb->may_double = false;
	climb->unheard_ms = 0;
	climb->silent_ns = 0;
	synq_climb_close_again(climb);
}

static u32 gap_of(const struct synq_climb *climb)
{
	return min_t(u64, div_u64(climb->silent_ns, NSEC_PER_MSEC), GAP_MAX_MS);
}

void synq_climb_open_further(struct synq_climb *climb)
{
	climb->unheard_ms = min(climb->unheard_ms + gap_of(climb), GAP_MAX_MS);
	climb->silent_ns = 0;
	if (!climb->before) {
		WRITE_ONCE(climb->before, climb->phase == SYNQ_CLIMB_UP ? climb->from :
									  climb->base);
		climb->may_double = !climb->rate && !climb->first_ns &&
				    2 * climb->skip < climb->limit;
		/* A search that is cut short begins again. */
		if (climb->searching)
			climb->rate = 0;
	}
	synq_climb_rest(climb, 2ULL * max(climb->base, synq_climb_least(climb) * UNIT));
	climb->skip = 0;
}

/*
 * How long a silence may be normal depends on the server: some need seconds for an answer.
 * More connections would only slow it down: of twenty that share a CPU and came together none is
 * answered for as long as all take.
 */
static u64 patience_ns(const struct synq_climb *climb)
{
	u64 busy = min(climb->busy, MOST / UNIT);
	u64 ns = climb->before ? SECOND : max(2 * SECOND, 4 * climb->first_ns);

	if (climb->rate)
		ns = 2 * div64_u64(busy << 40, climb->rate);

	ns = max_t(u64, ns, 2ULL * climb->gap_ms * NSEC_PER_MSEC);
	return clamp_t(u64, ns, SECOND,
		       climb->deserted || climb->before ? PATIENCE_NS : PATIENCE_MOST_NS);
}

bool synq_climb_is_silent(struct synq_climb *climb, u64 ns, u32 answered, bool excused)
{
	if (answered) {
		climb->gap_ms = max(climb->gap_ms - (climb->rate ? climb->gap_ms / 64 : 0),
				    gap_of(climb));
		climb->silent_ns = 0;
		return false;
	}
	climb->silent_ns += ns;
	if (excused)
		climb->silent_ns = min(climb->silent_ns, EXCUSED_NS);
	return climb->silent_ns >= patience_ns(climb);
}

/* --- nothing shows what the server can do --- */

/*
 * If another limit is tried, that ends.  A higher one is tried again as soon as connections are
 * held and some answered, but a few times in a row only.  In a search a lower one is the better
 * guess.
 */
void synq_climb_interrupt(struct synq_climb *climb)
{
	bool searching = climb->searching;

	if (climb->phase == SYNQ_CLIMB_DOWN &&
	    (!searching || climb->limit < synq_climb_least(climb)))
		synq_climb_rest(climb, climb->base);
	if (climb->phase != SYNQ_CLIMB_UP)
		return;
	synq_climb_rest(climb, climb->from);
	if (++climb->put_offs > PUT_OFFS)
		return;
	climb->searching = searching;
	climb->is_put_off = true;
}

/**
 * synq_climb_put_off() - the load has gone
 * @climb: of the listeners
 *
 * If another limit is tried, that is for when it comes back: until then no time passes.
 */
void synq_climb_put_off(struct synq_climb *climb)
{
	climb->put_offs = 0;
	synq_climb_interrupt(climb);
}

/* The server does not show what it can do: no connection is held, or it is stopped or silent. */
void synq_climb_pass_loose(struct synq_climb *climb, u64 ns)
{
	climb->loose_ns += ns;
	if (climb->loose_ns <= max(SECOND, climb->epoch_ns))
		return;
	synq_climb_interrupt(climb);
	synq_climb_restart(climb);
}

/* --- clients that leave --- */

static void count_anew(struct synq_climb *climb)
{
	climb->left = 0;
	climb->served = 0;
}

/* The limit changes: those that are inside came in with another. */
void synq_climb_is_new(struct synq_climb *climb)
{
	climb->limit_ns = 0;
	count_anew(climb);
}

/**
 * synq_climb_left() - a client has left before it was answered
 * @climb: of the listeners
 * @waited_ns: for so long it has waited inside
 * @held_ns: before that it was held for so long
 * @mean_ns: others wait inside for so long
 *
 * It may be that it had no time left when it was let in, or that it leaves sooner than others are
 * answered: that does not say that too many are inside, but if nothing is answered at all.
 */
void synq_climb_left(struct synq_climb *climb, u64 waited_ns, u64 held_ns, u64 mean_ns)
{
	if (waited_ns + held_ns < QUICK_NS || waited_ns < climb->first_ns / 2)
		return;
	climb->deserted = true;
	if (waited_ns < max(max(QUICK_NS, mean_ns), held_ns) || waited_ns > climb->limit_ns)
		return;
	climb->left = min(climb->left, U32_MAX - 1) + 1;
}

static u32 left_least(const struct synq_climb *climb)
{
	return max(LEFT_LEAST, synq_climb_least(climb));
}

static void halve(struct synq_climb *climb)
{
	u32 base = climb->phase == SYNQ_CLIMB_DOWN ? climb->limit * UNIT : climb->base;

	/* It may be open. */
	base = climb->before ?: base;
	if (climb->served)
		climb->too_many = base;
	climb->from = climb->from ?: base;
	WRITE_ONCE(climb->before, 0);
	climb->unheard_ms = 0;
	climb->rate = 0;
	climb->surprises = 0;
	climb->easy = 0;
	climb->rests = RESTS_MIN;
	synq_climb_rest(climb, max(base / 2, LEFT_LEAST * UNIT));
	climb->searching = true;
}

/*
 * Does the limit make clients leave?  Not if the server stands still.  Nor if it is as low as it
 * was in the beginning: who can make clients leave could keep out all others.
 */
void synq_climb_look_who_left(struct synq_climb *climb, bool excused)
{
	u64 all = (u64)climb->left + climb->served;

	if (2ULL * climb->left > climb->served && climb->served &&
	    climb->left >= max(LEFT_MIN, climb->limit / 2) &&
	    climb->limit > left_least(climb)) {
		halve(climb);
	} else if (excused || climb->silent_ns >= PATIENCE_NS ||
		   all >= max(LEFT_WINDOW, 2 * climb->limit)) {
		count_anew(climb);
	}
}

/*
 * Nothing is answered, and clients have left.  If the server has had the time for some answers it
 * has more to do than its clients wait for.  Returns true if the limit is another now.
 */
bool synq_climb_is_deserted(struct synq_climb *climb)
{
	u64 some_ns = min(DESERTED * climb->first_ns,
			  max(PATIENCE_NS, climb->first_ns + climb->first_ns / 2));

	if (climb->limit <= left_least(climb) || climb->silent_ns < some_ns)
		return false;
	climb->silent_ns = 0;
	count_anew(climb);
	halve(climb);
	return true;
}

/* Not if so many were too many; but where they would be answered within a second nobody leaves. */
bool synq_climb_may_double(const struct synq_climb *climb)
{
	return !climb->too_many ||
	       synq_climb_whole(2 * climb->base) < synq_climb_whole(climb->too_many) ||
	       (climb->rate && synq_climb_takes_ns(climb) < QUICK_NS / 2);
}

/* An epoch is over in which the limit was right. */
void synq_climb_has_stayed(struct synq_climb *climb)
{
	if (climb->served > 4ULL * climb->left)
		climb->too_many = min(climb->too_many + climb->too_many / 4, MOST);
}
