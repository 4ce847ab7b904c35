// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of climb.c, in user space: a higher limit that may let in all clients.  Run by
 * "make -C module/test check".
 */
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "climb.h"
#include "climb_server.h"
#include "tap.h"

#define WINDOW_MS	1500

/*
 * So many clients, who always ask again, so that a higher limit may hold none of them; one that was
 * answered is away for a moment.  Time passes as in crew.c: while some are held, for a while after
 * that, and while a higher limit is tried.
 */
static void run_closed(struct server *s, u32 clients, u32 ms)
{
	u32 rate = s->rate;

	for (; ms; ms--) {
		u32 limit = synq_climb_limit(&s->climb), busy = min(limit, clients), n;
		bool is_held;

		if (s->collapses && busy > 16)
			s->rate = rate * 16 * 16 * 16 / (busy * busy * busy);
		n = answers(s, min(busy, s->workers));
		is_held = clients - n > limit;
		s->now_ns += MS;
		for (u32 i = 0; i < n; i++)
			synq_climb_answer(&s->climb, false, takes_ns(s, busy));
		s->rate = rate;
		if (is_held)
			s->part_ms = WINDOW_MS;
		if (s->part_ms || synq_climb_is_trying(&s->climb))
			tick(&s->climb, s->now_ns, is_held, min(limit, clients - n), 0);
		else
			synq_climb_put_off(&s->climb);
		s->part_ms -= min(s->part_ms, 1U);
	}
}

static bool tries_with_all_inside(void)
{
	static const u32 workers[] = { 4, 6, 100 };
	struct server s;
	unsigned int i, j;
	u32 least, most, limit;

	for (i = 0; i < ARRAY_SIZE(workers); i++)
		for (j = 0; j < 4; j++) {
			begin(&s, workers[i], 25);
			s.by_chance = j % 2;
			s.collapses = j / 2 && workers[i] < 24;
			run_closed(&s, 24, 30000);
			limit = settled_limit(&s);
			least = min(workers[i], 24U) / (s.by_chance ? 2 : 1);
			most = workers[i] > 24 ? 64 : s.by_chance ? 28 : 3 * workers[i];
			check(limit >= least && limit <= most, "%u workers: limit %u", workers[i],
			      limit);
		}
	return true;
}

static bool has_begun_to_try(struct server *s, u32 workers)
{
	u32 ms;

	begin(s, workers, 25);
	for (ms = 0; ms < 10000 && !synq_climb_is_trying(&s->climb); ms++)
		run_closed(s, 24, 1);
	return synq_climb_is_trying(&s->climb) && synq_climb_limit(&s->climb) >= 24;
}

/* The load goes while a higher limit is tried: that goes on when it comes back. */
static bool tries_again(void)
{
	struct server s;
	u32 limit, i;

	for (i = 0; i < 2; i++) {
		check(has_begun_to_try(&s, i ? 4 : 100), "no higher limit");
		run_closed(&s, 3, 9000);
		limit = synq_climb_limit(&s.climb);
		check(!synq_climb_is_trying(&s.climb) && limit < 24, "limit %u", limit);
		run_closed(&s, 0, 60000);
		run_closed(&s, i ? 24 : 400, 20000);
		limit = synq_climb_limit(&s.climb);
		check(i ? limit <= 12 : limit >= 95, "%u workers: limit %u", s.workers, limit);
	}
	return true;
}

/* The server stops while a higher limit is tried: that says nothing of what it brings. */
static bool tries_after_a_stop(void)
{
	struct server s;

	check(has_begun_to_try(&s, 100), "no higher limit");
	run_closed(&s, 24, 300);
	s.rate = 0;
	run_closed(&s, 24, 4000);
	check(synq_climb_limit(&s.climb) <= 32, "limit %u", synq_climb_limit(&s.climb));
	s.rate = 25;
	run_closed(&s, 24, 2000);
	check(synq_climb_limit(&s.climb) >= 24, "limit %u", synq_climb_limit(&s.climb));
	return true;
}

/* The load comes for too short a time to see in one go what a higher limit brings. */
static bool follows_bursts(void)
{
	static const u32 ms[] = { 700, 1000 };
	struct server s;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(ms); i++) {
		begin(&s, 100, 10);
		for (n = 0; n < 30; n++) {
			run_closed(&s, 60, ms[i]);
			run_closed(&s, 0, 9000);
		}
		check(synq_climb_limit(&s.climb) >= 60, "bursts of %u ms: limit %u", ms[i],
		      synq_climb_limit(&s.climb));
	}
	/* Each is too short, but a higher limit is tried with each. */
	begin(&s, 50, 1);
	for (n = 0; n < 40; n++) {
		run_closed(&s, 0, n < 20 ? 9000 : 2400);
		run_closed(&s, 60, 1200);
		check(n < 5 || synq_climb_is_trying(&s.climb), "burst %u: limit %u", n,
		      synq_climb_limit(&s.climb));
	}
	return true;
}

/* Somebody is held once in a while. */
static bool does_not_try_for_ever(void)
{
	struct server s;
	u32 i;

	check(has_begun_to_try(&s, 4), "no higher limit");
	for (i = 0; i < 60; i++) {
		run_closed(&s, 44, 20);
		run_closed(&s, 24, 880);
	}
	check(synq_climb_limit(&s.climb) <= 16, "limit %u", synq_climb_limit(&s.climb));
	return true;
}

static bool puts_off(void)
{
	struct server s;
	u32 from;

	check(has_begun_to_try(&s, 4), "no higher limit");
	from = s.climb.from / 16;
	synq_climb_put_off(&s.climb);
	check(!synq_climb_is_trying(&s.climb) && synq_climb_limit(&s.climb) == from,
	      "limit %u instead of %u", synq_climb_limit(&s.climb), from);
	/* Not while nothing is answered. */
	s.rate = 0;
	run_closed(&s, 24, 500);
	check(!synq_climb_is_trying(&s.climb), "limit %u", synq_climb_limit(&s.climb));
	s.rate = 25;
	run_closed(&s, 24, 20000);
	check(synq_climb_limit(&s.climb) <= 12, "limit %u", synq_climb_limit(&s.climb));
	return true;
}

/* As many as before are inside now and then: they are told from those that are away. */
static bool tries_with_one_more(void)
{
	struct server s;
	u32 ms, up = 0;

	begin(&s, 16, 5);
	for (ms = 0; ms < 60000; ms++) {
		run_closed(&s, 17, 1);
		up += synq_climb_is_trying(&s.climb);
	}
	check(up && up < 4000, "tried for %u ms", up);
	return true;
}

/* More come than are let in, and as soon as they are let in fewer. */
static bool puts_off_a_few_times(void)
{
	struct server s;
	u32 ms, lower = 0;

	check(has_begun_to_try(&s, 4), "no higher limit");
	for (ms = 0; ms < 60000; ms++) {
		run_closed(&s, synq_climb_is_trying(&s.climb) ? 10 : 44, 1);
		lower += s.climb.phase == SYNQ_CLIMB_DOWN;
	}
	check(lower, "no lower limit");
	check(settled_limit(&s) <= 12, "limit %u", settled_limit(&s));
	/* Those between which it has seen something are not in a row. */
	check(has_begun_to_try(&s, 4), "no higher limit");
	synq_climb_put_off(&s.climb);
	for (ms = 0; ms < 20000 && s.climb.phase != SYNQ_CLIMB_DOWN; ms++)
		run_closed(&s, 24, 1);
	check(ms < 20000 && !s.climb.put_offs, "put off %u times after %u ms", s.climb.put_offs,
	      ms);
	return true;
}

/* The load goes while a lower limit is tried: the next is not held back by that. */
static bool ends_a_lower_one(void)
{
	struct server s;
	u32 ms, base;

	begin(&s, 100, 2);
	run_closed(&s, 400, 30000);
	for (ms = 0; ms < 200000 && s.climb.phase != SYNQ_CLIMB_DOWN; ms++)
		run_closed(&s, 400, 1);
	base = s.climb.base / 16;
	check(synq_climb_limit(&s.climb) < base, "limit %u, base %u", synq_climb_limit(&s.climb),
	      base);
	run_closed(&s, 400, 200);
	run_closed(&s, 0, 10000);
	check(synq_climb_limit(&s.climb) >= base, "limit %u, base %u", synq_climb_limit(&s.climb),
	      base);
	return true;
}

/* Too many are let in, and the load comes for too short a time to find that out in one go. */
static bool goes_down_by_bursts(void)
{
	static const struct { u32 workers, rate, ms, pause_ms, most; } of[] = {
		{ 1, 40, 4000, 5000, 4 }, { 2, 50, 2000, 5000, 6 }, { 4, 10, 5000, 5000, 8 },
		{ 4, 25, 3000, 2000, 8 }, { 2, 50, 3000, 1400, 6 },
	};
	struct server s;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		begin(&s, of[i].workers, of[i].rate);
		for (n = 0; n < 20; n++) {
			run_closed(&s, 60, of[i].ms);
			run_closed(&s, 0, of[i].pause_ms);
		}
		check(settled_limit(&s) <= of[i].most, "%u workers: limit %u", of[i].workers,
		      settled_limit(&s));
	}
	return true;
}

static const struct tap_case cases[] = {
	{ "tries a limit that lets all in", tries_with_all_inside },
	{ "tries it again when the load is back", tries_again },
	{ "tries it again after a stop", tries_after_a_stop },
	{ "follows bursts", follows_bursts },
	{ "does not try it for ever", does_not_try_for_ever },
	{ "puts it off", puts_off },
	{ "puts it off a few times", puts_off_a_few_times },
	{ "tries it with one more", tries_with_one_more },
	{ "ends a lower one", ends_a_lower_one },
	{ "goes down by bursts", goes_down_by_bursts },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
