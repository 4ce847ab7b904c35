// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of climb.c, in user space.  Run by "make -C module/test check".
 *
 * The server has so many workers, each of which answers so often in a second; more
 * connections than that wait inside and bring nothing.
 */
#include <linux/math64.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "climb.h"
#include "tap.h"

#define MS	((u64)NSEC_PER_MSEC)

struct server {
	struct synq_climb climb;
	u64 now_ns;
	u32 workers;
	u32 rate;		/* answers/second of each worker */
	u64 parts;		/* of an answer: of a million */
	u64 answers;
};

static void begin(struct server *s, u32 workers, u32 rate)
{
	*s = (struct server){ .now_ns = 1, .workers = workers, .rate = rate };
	synq_climb_init(&s->climb);
}

/* With connections held, or none. */
static void run(struct server *s, u32 ms, u32 held)
{
	while (ms--) {
		u32 limit = synq_climb_limit(&s->climb);
		u32 busy = limit < s->workers ? limit : s->workers;

		s->now_ns += MS;
		s->parts += 1000ULL * busy * s->rate;
		for (; s->parts >= 1000000; s->parts -= 1000000) {
			synq_climb_answer(&s->climb);
			s->answers++;
		}
		synq_climb_tick(&s->climb, s->now_ns, held, limit);
	}
}

/* Of what the server can do, per cent, in the next milliseconds. */
static u32 goodput(struct server *s, u32 ms)
{
	u64 before = s->answers;

	run(s, ms, 1);
	return (s->answers - before) * 100 * 1000 / ((u64)s->workers * s->rate * ms);
}

static bool finds(void)
{
	static const u32 workers[] = { 2, 4, 8, 16, 64, 250 };
	static const u32 rate[] = { 5, 20, 100 };
	struct server s;
	unsigned int i, j;
	u32 part, limit;

	for (i = 0; i < ARRAY_SIZE(workers); i++)
		for (j = 0; j < ARRAY_SIZE(rate); j++) {
			begin(&s, workers[i], rate[j]);
			run(&s, 60000, 1);
			part = goodput(&s, 60000);
			limit = synq_climb_limit(&s.climb);
			check(part >= (workers[i] > 2 ? 95 : 90), "%u workers, %u/s: %u %%, limit %u",
			      workers[i], rate[j], part, limit);
			check(limit <= 4 * workers[i] + 1, "%u workers, %u/s: limit %u",
			      workers[i], rate[j], limit);
		}
	return true;
}

static bool follows(void)
{
	struct server s;
	u32 part;

	begin(&s, 16, 20);
	run(&s, 60000, 1);
	s.workers = 64;
	run(&s, 10000, 1);
	part = goodput(&s, 10000);
	check(part >= 90, "four times as many workers: %u %%", part);
	s.workers = 16;
	run(&s, 20000, 1);
	check(synq_climb_limit(&s.climb) <= 64, "a quarter of them: limit %u",
	      synq_climb_limit(&s.climb));
	s.rate = 80;
	run(&s, 10000, 1);
	part = goodput(&s, 10000);
	check(part >= 90, "four times as fast: %u %%", part);
	s.rate = 20;
	run(&s, 10000, 1);
	part = goodput(&s, 10000);
	check(part >= 90, "and as fast as before: %u %%", part);
	return true;
}

/* A server that is not heard ends as without a limit; with an answer it is what it was. */
static bool opens(void)
{
	struct server s;
	u32 before;

	begin(&s, 8, 0);
	run(&s, 1100, 1);
	check(synq_climb_limit(&s.climb) == 32, "limit %u", synq_climb_limit(&s.climb));
	run(&s, 9000, 1);
	check(synq_climb_limit(&s.climb) >= 4096, "after 10 s: limit %u",
	      synq_climb_limit(&s.climb));
	run(&s, 100000, 1);
	check(synq_climb_limit(&s.climb) <= 1U << 20, "limit %u",
	      synq_climb_limit(&s.climb));

	begin(&s, 8, 50);
	run(&s, 30000, 1);
	before = synq_climb_limit(&s.climb);
	s.rate = 0;
	run(&s, 5000, 1);
	check(synq_climb_limit(&s.climb) > 4 * before, "limit %u, before %u",
	      synq_climb_limit(&s.climb), before);
	s.rate = 50;
	run(&s, 8000, 1);
	check(synq_climb_limit(&s.climb) <= 2 * before + 8, "limit %u, before %u",
	      synq_climb_limit(&s.climb), before);
	return true;
}

static bool idles(void)
{
	struct server s;
	u32 before;

	begin(&s, 8, 50);
	run(&s, 60000, 0);
	check(synq_climb_limit(&s.climb) == 16, "limit %u", synq_climb_limit(&s.climb));
	run(&s, 30000, 1);
	run(&s, 1100, 0);
	before = synq_climb_limit(&s.climb);
	s.rate = 0;
	run(&s, 60000, 0);
	check(synq_climb_limit(&s.climb) == before, "limit %u, before %u",
	      synq_climb_limit(&s.climb), before);
	return true;
}

/* Whatever the clock does, and whatever is counted. */
static bool odd(void)
{
	struct server s;
	u32 i;

	begin(&s, 8, 50);
	for (i = 0; i < 100000; i++) {
		s.now_ns += tap_below(3) ? tap_below(3 * MS) :
			    tap_below(2) ? -(u64)tap_below(MS) :
			    (u64)tap_below(100) * NSEC_PER_SEC;
		s.climb.answered = tap_below(2) ? tap_below(100) :
						     U32_MAX - tap_below(3);
		synq_climb_answer(&s.climb);
		synq_climb_tick(&s.climb, s.now_ns, tap_below(10), tap_below(1000));
		check(synq_climb_limit(&s.climb) >= 1 &&
		      synq_climb_limit(&s.climb) <= 1U << 20, "limit %u",
		      synq_climb_limit(&s.climb));
	}
	return true;
}

static const struct tap_case cases[] = {
	{ "finds the knee", finds },
	{ "follows the server", follows },
	{ "opens for who is not heard", opens },
	{ "changes nothing where nobody is held", idles },
	{ "odd clocks and counts", odd },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
