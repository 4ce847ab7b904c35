// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of law.c, in user space.  Run by "make -C module/test check".
 * What the law does to a server is shown by bench/admission_sim.c.
 */
#include <linux/time64.h>
#include <linux/types.h>

#include "law.h"
#include "tap.h"

#define MS	((u64)NSEC_PER_MSEC)

/* Backlog 128, a reserve of 32; 100/s; 300 ms; nobody there. */
static const struct synq_law idle = {
	.limit = 88, .max_wait_ns = 300 * MS, .interval_ns = 10 * MS,
};

static bool is(struct synq_law law, enum synq_law_answer answer)
{
	return synq_law(&law) == answer;
}

#define with(...) ({ struct synq_law l = idle; __VA_ARGS__; l; })

static bool admits(void)
{
	check(is(idle, SYNQ_LAW_ADMIT), "an idle server");
	check(is(with(l.limit = 1), SYNQ_LAW_ADMIT), "the shortest queue");
	check(is(with(l.limit = ~0U, l.queued = 1 << 30, l.max_wait_ns = 0), SYNQ_LAW_ADMIT),
	      "no limit");
	return true;
}

/* What admission.c takes for granted where nobody is queued or under way. */
static bool nobody_there(void)
{
	unsigned int n;

	for (n = 0; n < 100000; n++) {
		struct synq_law law = {
			.limit = 1 + tap_below(200),
			.gone = tap_below(200),
			.paced = tap_below(200),
			.hold_limit = 1 + tap_below(200),
			.kept = tap_below(200),
			.cap = tap_below(200),
			.low = tap_below(200),
			.max_wait_ns = tap_below(1000) * MS,
			.lull_ns = tap_below(10000) * MS,
			.interval_ns = tap_below(1000) * MS,
		};

		check(is(law, SYNQ_LAW_ADMIT), "limit %u", law.limit);
	}
	return true;
}

static bool full(void)
{
	check(is(with(l.queued = 87, l.interval_ns = 0), SYNQ_LAW_ADMIT),
	      "one slot left");
	check(is(with(l.queued = 88, l.interval_ns = 0), SYNQ_LAW_FULL),
	      "no slot left");
	return true;
}

/* As many leave meanwhile. */
static bool leaves(void)
{
	check(is(with(l.queued = 97, l.gone = 10), SYNQ_LAW_ADMIT),
	      "ten leave in time");
	check(is(with(l.queued = 98, l.gone = 10), SYNQ_LAW_FULL), "one too many");
	check(is(with(l.limit = 1, l.queued = 2), SYNQ_LAW_ADMIT),
	      "nobody is there, and few may come");
	check(is(with(l.limit = 1, l.queued = 3), SYNQ_LAW_FULL), "or not so few");
	check(is(with(l.limit = 1, l.queued = 2, l.there = 1), SYNQ_LAW_FULL),
	      "or somebody is there");
	check(is(with(l.queued = 98, l.gone = 100), SYNQ_LAW_ADMIT),
	      "more leave than are there");
	check(is(with(l.queued = 98, l.gone = 100, l.paced = 87), SYNQ_LAW_ADMIT),
	      "they come one after the other");
	check(is(with(l.queued = 98, l.gone = 100, l.paced = 88), SYNQ_LAW_FULL),
	      "they come at once");
	check(is(with(l.queued = 87, l.paced = 1000), SYNQ_LAW_ADMIT),
	      "they have slots all at once");
	check(is(with(l.low = 4, l.ahead = 39, l.gone = 10), SYNQ_LAW_ADMIT),
	      "none of ten is waited for");
	check(is(with(l.low = 4, l.ahead = 40, l.gone = 10), SYNQ_LAW_LATE),
	      "all others are");
	return true;
}

/* Half of the backlog, of which some are left to chance; 10 could come in at once. */
static bool held(void)
{
	check(is(with(l.queued = 70, l.held = 65, l.hold_limit = 66), SYNQ_LAW_ADMIT),
	      "one more can be held");
	check(is(with(l.queued = 70, l.held = 66, l.hold_limit = 66), SYNQ_LAW_FULL),
	      "no more can");
	check(is(with(l.queued = 70, l.held = 66), SYNQ_LAW_ADMIT), "none has to be");
	check(is(with(l.queued = 70, l.there = 1, l.held = 10, l.hold_limit = 66),
		 SYNQ_LAW_ADMIT), "the others are of later classes");
	check(is(with(l.queued = 80, l.held = 75, l.hold_limit = 66, l.held_gone = 10),
		 SYNQ_LAW_ADMIT), "ten come in meanwhile");
	check(is(with(l.queued = 80, l.held = 76, l.hold_limit = 66, l.held_gone = 10),
		 SYNQ_LAW_FULL), "one too many");
	check(is(with(l.queued = 80, l.held = 75, l.hold_limit = 66, l.held_gone = 10,
		      l.paced = 66), SYNQ_LAW_FULL), "they come at once");
	check(is(with(l.queued = 65, l.held = 65, l.hold_limit = 66, l.paced = 1000),
		 SYNQ_LAW_ADMIT), "and can be held all at once");
	check(is(with(l.queued = 70, l.held = 70, l.hold_limit = 66, l.held_kept = 5, l.own = 4),
		 SYNQ_LAW_ADMIT), "a place of its own");
	check(is(with(l.queued = 70, l.held = 70, l.hold_limit = 66, l.held_kept = 5, l.kept = 9,
		      l.own = 5), SYNQ_LAW_FULL), "a slot of its own is no place");
	check(is(with(l.queued = 98, l.held_gone = 20), SYNQ_LAW_ADMIT),
	      "the queue has room when they come");
	check(is(with(l.queued = 70, l.held = 70, l.hold_limit = 66, l.due = 10, l.own = 17),
		 SYNQ_LAW_ADMIT), "its share");
	check(is(with(l.queued = 70, l.held = 70, l.hold_limit = 66, l.due = 10, l.own = 18),
		 SYNQ_LAW_FULL), "but no more");
	check(is(with(l.queued = 2, l.held = 2, l.hold_limit = 1), SYNQ_LAW_ADMIT),
	      "nobody is there, and few may come");
	return true;
}

/* Somewhat below that of the gate, and never nothing. */
static bool limits(void)
{
	u32 backlog, limit;

	check(synq_law_limit(88, 128) == 80, "a sixteenth");
	check(synq_law_limit(30, 40) == 27, "three of a short one");
	check(synq_law_limit(7, 128) == 5, "a third of few");
	for (backlog = 0; backlog < 5000; backlog++)
		for (limit = 1; limit < 20; limit++)
			check(synq_law_limit(limit, backlog) >= 1 &&
			      synq_law_limit(limit, backlog) <= limit, "%u", limit);
	return true;
}

static bool cap(void)
{
	check(is(with(l.cap = 10, l.own = 9), SYNQ_LAW_ADMIT), "below");
	check(is(with(l.cap = 10, l.own = 10), SYNQ_LAW_FULL), "reached");
	return true;
}

static bool kept(void)
{
	check(is(with(l.queued = 128, l.max_wait_ns = 0, l.kept = 5, l.own = 4),
		 SYNQ_LAW_ADMIT), "one of its own left");
	check(is(with(l.queued = 128, l.max_wait_ns = 0, l.kept = 5, l.own = 5),
		 SYNQ_LAW_FULL), "none left");
	check(is(with(l.queued = 1, l.kept = 5, l.own = 4, l.cap = 4),
		 SYNQ_LAW_FULL), "but no more than its cap");
	return true;
}

/* In a queue that stands. */
static bool waits(void)
{
	check(is(with(l.low = 4, l.ahead = 29), SYNQ_LAW_ADMIT), "300 ms");
	check(is(with(l.low = 4, l.ahead = 30), SYNQ_LAW_LATE), "no later");
	check(is(with(l.low = 4, l.ahead = 30, l.interval_ns = 0),
		 SYNQ_LAW_ADMIT), "nobody knows how fast the server is");
	check(is(with(l.low = 4, l.ahead = 30, l.max_wait_ns = 0),
		 SYNQ_LAW_ADMIT), "any wait will do");
	check(is(with(l.low = 1, l.ahead = 2, l.interval_ns = 4000 * MS),
		 SYNQ_LAW_ADMIT), "a very slow server is kept busy");
	check(is(with(l.low = 1, l.ahead = 3, l.interval_ns = 4000 * MS),
		 SYNQ_LAW_LATE), "but no more than that");
	return true;
}

/* Of who has a minimum share, in a queue of others. */
static bool due(void)
{
	check(is(with(l.low = 80, l.ahead = 100, l.own = 17, l.due = 10),
		 SYNQ_LAW_ADMIT), "its share, and some for its next turn");
	check(is(with(l.low = 80, l.ahead = 100, l.own = 18, l.due = 10),
		 SYNQ_LAW_LATE), "but no more");
	check(is(with(l.low = 80, l.ahead = 100, l.own = 2), SYNQ_LAW_LATE),
	      "without one");
	check(is(with(l.queued = 88, l.own = 2, l.due = 10), SYNQ_LAW_FULL),
	      "it makes no room");
	return true;
}

/* In one that was short a moment ago. */
static bool bursts(void)
{
	check(is(with(l.low = 3, l.ahead = 99), SYNQ_LAW_ADMIT), "1 s");
	check(is(with(l.low = 3, l.ahead = 100), SYNQ_LAW_LATE), "no later");
	check(is(with(l.low = 3, l.ahead = 150, l.max_wait_ns = 2000 * MS),
		 SYNQ_LAW_ADMIT), "unless it may wait for longer anyway");
	check(is(with(l.low = 0, l.ahead = 4, l.interval_ns = 4000 * MS),
		 SYNQ_LAW_LATE), "the floor is the same");
	check(is(with(l.low = 3, l.ahead = 199, l.lull_ns = 2000 * MS),
		 SYNQ_LAW_ADMIT), "after a lull of 2 s as many as in 2 s");
	check(is(with(l.low = 3, l.ahead = 200, l.lull_ns = 2000 * MS),
		 SYNQ_LAW_LATE), "but no more");
	check(is(with(l.low = 3, l.ahead = 400, l.lull_ns = 16000 * MS),
		 SYNQ_LAW_LATE), "and 4 s at most");
	check(is(with(l.low = 4, l.ahead = 30, l.lull_ns = 2000 * MS),
		 SYNQ_LAW_LATE), "a queue that stands has none");
	return true;
}

static const struct tap_case cases[] = {
	{ "admits", admits },
	{ "nobody is there", nobody_there },
	{ "full", full },
	{ "what leaves meanwhile", leaves },
	{ "where connections are held", held },
	{ "limits", limits },
	{ "cap", cap },
	{ "kept slots", kept },
	{ "waits in a queue that stands", waits },
	{ "waits for its minimum share", due },
	{ "bursts", bursts },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
