// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of climb_open.c, in user space: a server that does not answer.  Run by
 * "make -C module/test check".
 */
#include <linux/time64.h>
#include <linux/types.h>

#include "climb.h"
#include "climb_server.h"
#include "tap.h"

/* A server that is not heard ends as without a limit; with an answer it is what it was. */
static bool opens(void)
{
	struct server s;
	u32 before;

	begin(&s, 8, 0);
	run(&s, 1900, 1);
	check(synq_climb_limit(&s.climb) == 4, "limit %u", synq_climb_limit(&s.climb));
	run(&s, 200, 1);
	check(synq_climb_limit(&s.climb) == 8, "limit %u", synq_climb_limit(&s.climb));
	run(&s, 7900, 1);
	check(synq_climb_limit(&s.climb) >= 512, "after 10 s: limit %u",
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

/* Likewise if all have come in by then, so that nobody is held when it answers. */
static bool closes_with_nobody_held(void)
{
	struct server s;

	begin(&s, 8, 0);
	run(&s, 6000, 1);
	check(synq_climb_limit(&s.climb) >= 64, "limit %u", synq_climb_limit(&s.climb));
	run(&s, 10000, 0);
	check(synq_climb_limit(&s.climb) >= 64, "silent: limit %u",
	      synq_climb_limit(&s.climb));
	s.rate = 50;
	run(&s, 100, 0);
	check(synq_climb_limit(&s.climb) == 8, "answered: limit %u",
	      synq_climb_limit(&s.climb));
	return true;
}

/* What is inside takes two seconds: a second without an answer says nothing. */
static bool waits_for_the_slow(void)
{
	struct synq_climb climb;
	u64 now_ns = 1;
	u32 i, before;

	synq_climb_init(&climb);
	for (i = 0; i < 20000; i++) {
		if (!(i % 100))
			synq_climb_answer(&climb, false, 2 * NSEC_PER_SEC);
		tick(&climb, now_ns += MS, 1, 16, 0);
	}
	before = synq_climb_limit(&climb);
	for (i = 0; i < 1500; i++)
		tick(&climb, now_ns += MS, 1, 16, 0);
	check(synq_climb_limit(&climb) == before, "limit %u, before %u",
	      synq_climb_limit(&climb), before);
	for (i = 0; i < 3000; i++)
		tick(&climb, now_ns += MS, 1, 16, 0);
	check(synq_climb_limit(&climb) > before, "limit %u, before %u",
	      synq_climb_limit(&climb), before);
	return true;
}

/* Nor does a gap between two answers as long as the one before. */
static bool knows_gaps(void)
{
	static const u32 gap_ms[] = { 2100, 3000, 3900, 4100, 6000 };
	struct synq_climb climb;
	unsigned int i, n, ms;
	u64 now_ns = 1;

	for (i = 0; i < ARRAY_SIZE(gap_ms); i++) {
		synq_climb_init(&climb);
		for (n = 0; n < 100; n++) {
			for (ms = 0; ms < gap_ms[i]; ms++)
				tick(&climb, now_ns += MS, !climb.before, 16, 0);
			synq_climb_answer(&climb, false, gap_ms[i] * MS);
		}
		check(synq_climb_limit(&climb) <= 32, "every %u ms: limit %u", gap_ms[i],
		      synq_climb_limit(&climb));
	}
	return true;
}

/* A server that is stopped shows nothing; when it goes on it is what it was. */
static bool excuses(void)
{
	struct server s;
	u32 before, i;

	begin(&s, 8, 50);
	run(&s, 60000, 1);
	before = s.climb.base;
	s.rate = 0;
	for (i = 0; i < 15000; i++) {
		synq_climb_excuse(&s.climb);
		run(&s, 1, 1);
	}
	s.rate = 50;
	check(s.climb.base == before, "base %u, before %u", s.climb.base, before);
	check(goodput(&s, 5000) >= 85, "it goes on: limit %u", synq_climb_limit(&s.climb));
	return true;
}

/* While it searches the server is not heard. */
static bool searches_again(void)
{
	struct server s;

	begin(&s, 64, 2);
	while (s.climb.phase == SYNQ_CLIMB_REST)
		run(&s, 1, 1);
	check(s.climb.searching && s.climb.rate, "it searches");
	s.rate = 0;
	while (!s.climb.before && s.now_ns < 100 * NSEC_PER_SEC)
		run(&s, 1, 1);
	s.rate = 2;
	run(&s, 1000, 1);
	check(s.climb.searching, "it has ended the search");
	run(&s, 60000, 1);
	check(goodput(&s, 10000) >= 90, "limit %u", synq_climb_limit(&s.climb));
	return true;
}

static const struct tap_case cases[] = {
	{ "opens for who is not heard", opens },
	{ "closes at an answer with nobody held", closes_with_nobody_held },
	{ "waits for a slow server", waits_for_the_slow },
	{ "knows gaps", knows_gaps },
	{ "excuses a stopped server", excuses },
	{ "begins a search again that was cut short", searches_again },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
