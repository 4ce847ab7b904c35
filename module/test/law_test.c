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
	.limit = 88, .withheld_max = 32, .max_wait_ns = 300 * MS,
	.interval_ns = 10 * MS,
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
	check(is(with(l.limit = ~0U, l.withheld_max = ~0U, l.queued = 1 << 30,
		      l.most = 1 << 30, l.max_wait_ns = 0), SYNQ_LAW_ADMIT),
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
			.withheld = tap_below(200),
			.withheld_max = tap_below(200),
			.kept = tap_below(200),
			.cap = tap_below(200),
			.low = tap_below(200),
			.max_wait_ns = tap_below(1000) * MS,
			.interval_ns = tap_below(1000) * MS,
			.refused_ns = tap_below(10000) * MS,
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

static bool withheld(void)
{
	check(is(with(l.withheld = 31), SYNQ_LAW_ADMIT), "a quarter less one");
	check(is(with(l.withheld = 32, l.most = 3), SYNQ_LAW_FULL), "a quarter");
	check(is(with(l.withheld = 32, l.most = 2), SYNQ_LAW_ADMIT),
	      "a quarter, but the server would idle");
	check(is(with(l.most = 103), SYNQ_LAW_ADMIT), "may all come");
	check(is(with(l.most = 104), SYNQ_LAW_FULL), "one too many if all come");
	check(is(with(l.most = 98, l.withheld = 10), SYNQ_LAW_ADMIT),
	      "beside those that wait");
	check(is(with(l.most = 99, l.withheld = 10), SYNQ_LAW_FULL),
	      "one too many beside those that wait");
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
	check(is(with(l.low = 0, l.ahead = 3, l.interval_ns = 4000 * MS),
		 SYNQ_LAW_LATE), "the floor is the same");
	check(is(with(l.low = 3, l.ahead = 100, l.refused_ns = 900 * MS),
		 SYNQ_LAW_LATE), "who was refused lately comes back soon");
	check(is(with(l.low = 3, l.ahead = 199, l.refused_ns = 2000 * MS),
		 SYNQ_LAW_ADMIT), "who was refused long ago comes back late");
	check(is(with(l.low = 3, l.ahead = 200, l.refused_ns = 2000 * MS),
		 SYNQ_LAW_LATE), "but gets no more time than that");
	check(is(with(l.low = 3, l.ahead = 400, l.refused_ns = 16000 * MS),
		 SYNQ_LAW_LATE), "and 4 s at most");
	check(is(with(l.low = 4, l.ahead = 30, l.refused_ns = 2000 * MS),
		 SYNQ_LAW_LATE), "in a queue that stands it waits like all");
	return true;
}

static const struct tap_case cases[] = {
	{ "admits", admits },
	{ "nobody is there", nobody_there },
	{ "full", full },
	{ "withheld", withheld },
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
