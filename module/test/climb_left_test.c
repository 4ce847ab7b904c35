// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of climb_open.c, in user space: clients that leave before they are answered.  Run
 * by "make -C module/test check".
 *
 * The server has so many workers, each of which answers so often in a second.
 */
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "climb.h"
#include "tap.h"

#define MS	((u64)NSEC_PER_MSEC)
#define WORKERS	16U
#define RATE	5

struct server {
	struct synq_climb climb;
	u64 now_ns;
	u32 parts;		/* of an answer: of a thousand */
	bool is_stopped;
	bool is_slow;		/* answers one in a second */
	u32 leave_ms;		/* one leaves every so many, or none, ... */
	u64 waited_ns;		/* ... after so long */
};

/* With connections held. */
static void run(struct server *s, u32 ms)
{
	u32 i;

	for (i = 1; i <= ms; i++) {
		u32 limit = synq_climb_limit(&s->climb);
		u64 takes_ns = NSEC_PER_SEC / RATE * max(limit, WORKERS) / WORKERS;

		s->now_ns += MS;
		s->parts += s->is_stopped ? 0 : s->is_slow ? 1 : min(limit, WORKERS) * RATE;
		for (; s->parts >= 1000; s->parts -= 1000)
			synq_climb_answer(&s->climb, false, takes_ns);
		if (s->leave_ms && i % s->leave_ms == 0)
			synq_climb_left(&s->climb, s->waited_ns, 0, 0);
		synq_climb_tick(&s->climb, s->now_ns, &(struct synq_load){
			.held = 100, .busy = limit, .listeners = 1 });
	}
}

/* Which has found its limit; returns that. */
static u32 begin(struct server *s)
{
	*s = (struct server){ .now_ns = 1 };
	synq_climb_init(&s->climb);
	run(s, 60000);
	return s->climb.base / 16;
}

static bool halves(void)
{
	struct server s;
	u32 before = begin(&s), after;

	s.is_slow = true;
	s.leave_ms = 100;
	s.waited_ns = 1500 * MS;
	run(&s, 3500);
	after = s.climb.base / 16;
	check(before >= WORKERS && before <= 2 * WORKERS, "%u", before);
	check(after >= before / 4 && after <= before / 2, "%u, then %u", before, after);
	/* Each must have waited with the new limit. */
	run(&s, 60000);
	check(synq_climb_limit(&s.climb) <= 4, "%u", synq_climb_limit(&s.climb));
	check(s.climb.too_many > 4 * 16, "%u", s.climb.too_many);
	return true;
}

static bool comes_back(void)
{
	struct server s;
	u32 before = begin(&s);

	s.is_slow = true;
	s.leave_ms = 100;
	s.waited_ns = 1500 * MS;
	run(&s, 30000);
	s.is_slow = false;
	s.leave_ms = 0;
	run(&s, 30000);
	check(s.climb.base / 16 >= WORKERS - 2 && s.climb.base / 16 <= 2 * before,
	      "%u, then %u", before, s.climb.base / 16);
	return true;
}

/* It stands still, and all leave: that says little of the limit, so it is found again soon. */
static bool finds_the_stopped(void)
{
	struct server s;
	u32 before = begin(&s);

	s.is_stopped = true;
	s.leave_ms = 100;
	s.waited_ns = 1500 * MS;
	run(&s, 60000);
	check(s.climb.base / 16 >= 4 && s.climb.base / 16 <= before, "%u, then %u", before,
	      s.climb.base / 16);
	s.is_stopped = false;
	s.leave_ms = 0;
	run(&s, 10000);
	check(s.climb.base / 16 >= WORKERS - 2 && s.climb.base / 16 <= 2 * before,
	      "%u, then %u", before, s.climb.base / 16);
	return true;
}

/* Nobody leaves: it opens as ever. */
static bool opens_otherwise(void)
{
	struct server s;
	u32 before = begin(&s);

	s.is_stopped = true;
	run(&s, 5000);
	check(synq_climb_limit(&s.climb) > before, "%u", synq_climb_limit(&s.climb));
	return true;
}

/* Such a silence is known.  But it is not waited for longer than eight seconds. */
static bool opens_the_slow(void)
{
	struct server s;
	u32 before = begin(&s);

	s.climb.gap_ms = 4000;
	s.is_stopped = true;
	run(&s, 7500);
	check(!s.climb.before && synq_climb_limit(&s.climb) <= before + 1, "%u, then %u", before,
	      synq_climb_limit(&s.climb));
	run(&s, 2500);
	check(s.climb.before && synq_climb_limit(&s.climb) > before + 1, "%u, then %u", before,
	      synq_climb_limit(&s.climb));
	return true;
}

/* One has left: what is wrong is not that answers are not seen. */
static bool stays_closed(void)
{
	struct server s;

	begin(&s);
	run(&s, 1000);
	s.is_stopped = true;
	synq_climb_left(&s.climb, 1500 * MS, 0, 0);
	run(&s, 20000);
	check(synq_climb_limit(&s.climb) == 4 && !s.climb.before && !s.climb.too_many, "%u",
	      synq_climb_limit(&s.climb));
	/* The next answer is the end of that. */
	synq_climb_answer(&s.climb, false, 0);
	run(&s, 9000);
	check(synq_climb_limit(&s.climb) > 4, "%u", synq_climb_limit(&s.climb));
	return true;
}

/* Where the first answers took long an answer now and then says nothing else than a silence. */
static bool halves_in_time(void)
{
	struct server s;
	u32 before = begin(&s);

	s.climb.first_ns = 3 * (u64)NSEC_PER_SEC;
	s.is_stopped = true;
	synq_climb_left(&s.climb, 2000 * MS, 0, 0);
	run(&s, 5000);
	check(synq_climb_limit(&s.climb) <= (before + 1) / 2, "%u, then %u", before,
	      synq_climb_limit(&s.climb));
	return true;
}

/* It was open when the first of them left: the half is that of the limit before. */
static bool forgets_the_open(void)
{
	struct server s;
	u32 before = begin(&s);

	s.is_stopped = true;
	run(&s, 4000);
	check(synq_climb_limit(&s.climb) > before, "%u", synq_climb_limit(&s.climb));
	synq_climb_left(&s.climb, 1500 * MS, 0, 0);
	run(&s, 2500);
	check(synq_climb_limit(&s.climb) <= (before + 1) / 2 && !s.climb.before, "%u, then %u",
	      before, synq_climb_limit(&s.climb));
	return true;
}

/* Who was held for so long that nothing is left says nothing, nor who leaves at once. */
static bool opens_for_most(void)
{
	static const u64 waited_ms[][2] = { { 900, 0 }, { 50, 2000 } };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(waited_ms); i++) {
		struct server s;
		u32 before = begin(&s);

		s.climb.first_ns = NSEC_PER_SEC / RATE;
		s.is_stopped = true;
		synq_climb_left(&s.climb, waited_ms[i][0] * MS, waited_ms[i][1] * MS, 0);
		run(&s, 5000);
		check(synq_climb_limit(&s.climb) > before, "case %u: %u", i,
		      synq_climb_limit(&s.climb));
	}
	return true;
}

/* How many leave, after how long, and what must not change. */
static bool spares(void)
{
	static const struct {
		u32 leave_ms;
		u64 waited_ns;
	} some[] = {
		{ 100, 900 * MS },		/* soon: of themselves */
		{ 100, 500000 * MS },		/* let in with another limit */
		{ 50, 0 },
		{ 100, 1500 * MS },		/* 10 in a second, of 80 */
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(some); i++) {
		struct server s;

		begin(&s);
		s.leave_ms = some[i].leave_ms;
		s.waited_ns = some[i].waited_ns;
		run(&s, 60000);
		check(s.climb.base / 16 >= WORKERS && s.climb.base / 16 <= 2 * WORKERS,
		      "case %u: %u", i, s.climb.base / 16);
		check(!s.climb.too_many, "case %u", i);
	}
	return true;
}

static const struct tap_case cases[] = {
	{ "halves where clients leave", halves },
	{ "comes back", comes_back },
	{ "finds it again after the server stood still", finds_the_stopped },
	{ "opens if none leaves", opens_otherwise },
	{ "opens within ten seconds where silences are known", opens_the_slow },
	{ "does not open if one has", stays_closed },
	{ "does not wait for two of the first answers", halves_in_time },
	{ "halves what it was before it was open", forgets_the_open },
	{ "opens if that says nothing", opens_for_most },
	{ "spares those who leave for other reasons", spares },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
