// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of climb.c, in user space: the search.  Run by "make -C module/test check".
 */
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "climb.h"
#include "climb_server.h"
#include "tap.h"

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

/* With a few workers who take long nobody waits for so long that all clients leave. */
static bool spares_the_slow(void)
{
	static const u32 workers[] = { 2, 4, 5 };
	struct server s;
	unsigned int i, n;
	u32 part;

	for (i = 0; i < ARRAY_SIZE(workers); i++) {
		begin(&s, workers[i], 1);
		for (n = 0; n < 60; n++) {
			run(&s, 1000, 1);
			check(synq_climb_limit(&s.climb) <= 6 * workers[i], "%u workers: limit %u after %u s",
			      workers[i], synq_climb_limit(&s.climb), n);
		}
		part = goodput(&s, 120000);
		check(part >= 85, "%u workers: %u %%", workers[i], part);
		check(synq_climb_limit(&s.climb) <= 4 * workers[i] + 1,
		      "%u workers: limit %u", workers[i], synq_climb_limit(&s.climb));
	}
	return true;
}

/* It is not misled by chance, of which an epoch is full. */
static bool finds_by_chance(void)
{
	static const u32 workers[] = { 2, 4, 16, 64 };
	struct server s;
	unsigned int i;
	u32 part, limit;

	for (i = 0; i < ARRAY_SIZE(workers); i++) {
		begin(&s, workers[i], 20);
		s.by_chance = true;
		run(&s, 60000, 1);
		part = goodput(&s, 120000);
		limit = synq_climb_limit(&s.climb);
		check(part >= 92, "%u workers: %u %%, limit %u", workers[i], part, limit);
		check(limit <= 4 * workers[i] + 1, "%u workers: limit %u", workers[i],
		      limit);
	}
	return true;
}

/* Connections that the limit cannot hold back hide neither the knee nor that it has no effect. */
static bool sees_the_kept(void)
{
	static const u32 workers[] = { 4, 64, 250, 1000 }, kept[] = { 3, 20, 50, 200, 500 };
	struct server s;
	unsigned int i, j;
	u32 part, limit;

	for (i = 0; i < ARRAY_SIZE(workers); i++)
		for (j = 0; j < ARRAY_SIZE(kept); j++) {
			begin(&s, workers[i], 20);
			s.by_chance = true;
			s.kept = kept[j];
			run(&s, 60000, 1);
			part = goodput(&s, 60000);
			limit = settled_limit(&s);
			check(part >= 84, "%u workers, %u kept: %u %%, limit %u", workers[i],
			      kept[j], part, limit);
			/* Where a lower one would do as well. */
			check(kept[j] < workers[i] || limit >= 8,
			      "%u workers, %u kept: limit %u", workers[i], kept[j], limit);
			check(limit + kept[j] <= 4 * workers[i] + 2 * kept[j],
			      "%u workers, %u kept: limit %u", workers[i], kept[j], limit);
			s.kept = 0;
			run(&s, 60000, 1);
			part = goodput(&s, 20000);
			limit = settled_limit(&s);
			check(part >= 80, "%u workers, %u were kept: %u %%, limit %u",
			      workers[i], kept[j], part, limit);
			check(limit <= 4 * workers[i] + 2, "%u workers, %u were kept: limit %u",
			      workers[i], kept[j], limit);
		}
	return true;
}

/* Connections that seem to be busy, and are hardly worked on, change little. */
static bool sees_shams(void)
{
	static const u32 sham[] = { 50, 200, 1000 }, rate[] = { 0, 1, 20, 80 };
	struct server s;
	unsigned int i, j, k;
	u32 part, limit, least;

	for (i = 0; i < ARRAY_SIZE(sham); i++)
		for (j = 0; j < ARRAY_SIZE(rate); j++) {
			begin(&s, 8, 20);
			s.by_chance = true;
			run(&s, 30000, 1);
			s.sham = sham[i];
			for (k = 0; k < 3; k++) {
				s.sham_rate = rate[j];
				run(&s, 20000, 1);
				part = goodput(&s, 20000);
				limit = settled_limit(&s);
				/* Half of all answers are to them. */
				least = rate[j] > 20 ? 70 : 88;
				check(part >= least, "%u shams, %u/s: %u %%, limit %u",
				      sham[i], rate[j], part, limit);
				check(limit <= 6 * s.workers, "%u shams, %u/s: limit %u",
				      sham[i], rate[j], limit);
				s.sham_rate = 0;
				run(&s, 5000, 1);
			}
		}
	return true;
}

/* Ten seconds after a change it does what it can, and not much more is inside. */
static bool has_followed(struct server *s, const char *what)
{
	u32 part, limit;

	run(s, 10000, 1);
	limit = synq_climb_limit(&s->climb);
	part = goodput(s, 10000);
	check(part >= 90, "%s: %u %%", what, part);
	check(limit <= 4 * s->workers, "%s: limit %u", what, limit);
	return true;
}

static bool follows(void)
{
	static const u32 workers[] = { 4, 16, 60 };
	struct server s;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(workers); i++) {
		begin(&s, workers[i], 20);
		run(&s, 60000, 1);
		s.workers *= 4;
		if (!has_followed(&s, "four times as many workers"))
			return false;
		s.workers /= 4;
		if (!has_followed(&s, "as many as before"))
			return false;
		s.rate *= 4;
		if (!has_followed(&s, "four times as fast"))
			return false;
		s.rate /= 4;
		if (!has_followed(&s, "as fast as before"))
			return false;
	}
	return true;
}

/* Not only in the end. */
static bool finds_soon(void)
{
	struct server s;

	begin(&s, 250, 20);
	run(&s, 4000, 1);
	check(synq_climb_limit(&s.climb) >= 250 && synq_climb_limit(&s.climb) <= 1000,
	      "250 workers: limit %u", synq_climb_limit(&s.climb));
	begin(&s, 2, 50);
	run(&s, 8000, 1);
	check(synq_climb_limit(&s.climb) <= 8, "2 workers: limit %u",
	      synq_climb_limit(&s.climb));
	/* A quarter of the workers: few answers say so. */
	begin(&s, 16, 5);
	run(&s, 60000, 1);
	s.workers = 4;
	run(&s, 10000, 1);
	check(synq_climb_limit(&s.climb) <= 12, "4 of 16 workers: limit %u",
	      synq_climb_limit(&s.climb));
	return true;
}

/* The rate is what it was, but not the knee: it was far too high. */
static bool follows_the_knee(void)
{
	struct server s;

	begin(&s, 64, 24);
	run(&s, 30000, 1);
	s.workers = 16;
	s.rate = 96;
	run(&s, 10000, 1);
	check(synq_climb_limit(&s.climb) >= 16 && synq_climb_limit(&s.climb) <= 32,
	      "a quarter: limit %u", synq_climb_limit(&s.climb));
	s.workers = 20;
	s.rate = 77;
	run(&s, 60000, 1);
	check(synq_climb_limit(&s.climb) >= 25, "a quarter more: limit %u",
	      synq_climb_limit(&s.climb));
	return true;
}

/* When only a few are there it is not they who limit: nobody is held. */
static bool leaves_few_alone(void)
{
	struct server s;
	u32 before, i;

	begin(&s, 64, 10);
	run(&s, 30000, 1);
	before = synq_climb_limit(&s.climb);
	check(before >= 64, "limit %u", before);
	/* Now and then somebody is, for a moment. */
	for (i = 0; i < 1000; i++) {
		run(&s, 3, 1);
		run(&s, 100, 0);
	}
	check(synq_climb_limit(&s.climb) == before, "limit %u, before %u",
	      synq_climb_limit(&s.climb), before);
	return true;
}

static bool idles(void)
{
	struct server s;
	u32 before;

	begin(&s, 8, 50);
	run(&s, 60000, 0);
	check(synq_climb_limit(&s.climb) == 4, "limit %u", synq_climb_limit(&s.climb));
	run(&s, 30000, 1);
	run(&s, 1100, 0);
	before = synq_climb_limit(&s.climb);
	s.rate = 0;
	run(&s, 60000, 0);
	check(synq_climb_limit(&s.climb) == before, "limit %u, before %u",
	      synq_climb_limit(&s.climb), before);
	return true;
}

/* A clock that jumps has not waited. */
static bool jumps(void)
{
	static const u64 jump[] = { 1, 3600, 1000000 };
	struct server s;
	unsigned int i;
	u32 before;

	begin(&s, 8, 50);
	run(&s, 30000, 1);
	before = synq_climb_limit(&s.climb);
	for (i = 0; i < ARRAY_SIZE(jump); i++) {
		s.now_ns += jump[i] * NSEC_PER_SEC;
		tick(&s.climb, s.now_ns, 1, before, 0);
		check(synq_climb_limit(&s.climb) == before, "limit %u, before %u",
		      synq_climb_limit(&s.climb), before);
	}
	return true;
}

/* Two places for each listener, whatever the server needs; and not longer than they hold. */
static bool has_several(void)
{
	struct server s;
	u32 limit;

	begin(&s, 1, 100);
	s.listeners = 5;
	run(&s, 30000, 1);
	limit = synq_climb_limit(&s.climb);
	check(limit >= 10 && limit <= 14, "five: limit %u", limit);
	s.listeners = 1;
	run(&s, 60000, 1);
	limit = synq_climb_limit(&s.climb);
	check(limit <= 4, "one: limit %u", limit);
	s.listeners = 5;
	run(&s, 1, 1);
	check(synq_climb_limit(&s.climb) >= 10, "limit %u", synq_climb_limit(&s.climb));
	/* Nothing is answered: it opens from there, not from what one alone had. */
	s.workers = 0;
	run(&s, 1500, 1);
	check(synq_climb_limit(&s.climb) >= 20, "silence: limit %u", synq_climb_limit(&s.climb));
	return true;
}

/* A lower limit that costs its whole part is not tried for long. */
static bool sees_what_it_costs(void)
{
	struct server s;
	u32 ms, most = 0;

	begin(&s, 64, 2);
	run(&s, 60000, 1);
	while (s.climb.phase != SYNQ_CLIMB_REST)
		run(&s, 1, 1);
	/* It can do as much again. */
	s.workers = 2 * synq_climb_limit(&s.climb);
	s.climb.rate *= (double)synq_climb_limit(&s.climb) / 64;
	for (ms = 0; ms < 100000 && s.climb.phase == SYNQ_CLIMB_REST; ms++)
		run(&s, 1, 1);
	for (; ms < 100000 && s.climb.phase == SYNQ_CLIMB_DOWN; ms++) {
		most = max(most, s.climb.answers);
		run(&s, 1, 1);
	}
	check(most >= 60 && most <= 70, "%u answers", most);
	return true;
}

/*
 * Each answer takes what the first took, or twice as long once more than eight are inside; and of
 * these so many leave that there are two in a second.
 */
static u8 first_try(bool is_slower)
{
	struct synq_climb climb;
	u64 now_ns = 1;
	u32 ms;

	synq_climb_init(&climb);
	for (ms = 1; ms < 60000 && climb.phase == SYNQ_CLIMB_REST; ms++) {
		if (ms % 500 == 0)
			synq_climb_answer(&climb, false,
					  (is_slower && climb.limit > 8 ? 1600 : 800) * MS);
		tick(&climb, now_ns += MS, 1, synq_climb_limit(&climb), 0);
	}
	return climb.phase;
}

static bool tries_more_first(void)
{
	check(first_try(false) == SYNQ_CLIMB_UP, "as fast as ever: a lower limit");
	check(first_try(true) == SYNQ_CLIMB_DOWN, "slower: a higher limit");
	return true;
}

/*
 * Until the first higher limit is tried each answer takes 0.8 s, and there are as many as that
 * allows.  How long is it tried if there are @percent of these, and each takes @ms?
 */
static u32 tried_for(u32 percent, u32 ms)
{
	struct synq_climb climb;
	u64 now_ns = 1, part = 0;
	u32 n, limit;

	synq_climb_init(&climb);
	for (n = 0; n < 60000 && climb.phase == SYNQ_CLIMB_REST; n++) {
		limit = synq_climb_limit(&climb);
		for (part += limit; part >= 800; part -= 800)
			synq_climb_answer(&climb, false, 800 * MS);
		tick(&climb, now_ns += MS, 1, limit, 0);
	}
	check(climb.phase == SYNQ_CLIMB_UP, "no higher limit");
	limit = synq_climb_limit(&climb);
	for (n = 0; n < 60000 && synq_climb_limit(&climb) == limit; n++) {
		for (part += limit / 2 * percent / 100; part >= 800; part -= 800)
			synq_climb_answer(&climb, false, ms * MS);
		tick(&climb, now_ns += MS, 1, limit, 0);
	}
	return n;
}

static bool is_not_rash(void)
{
	u32 none = tried_for(100, 1600), all = tried_for(200, 800);
	u32 some = tried_for(120, 1600), fast = tried_for(100, 800);

	check(none < 3500, "no more: %u ms", none);
	check(all < 2500, "twice as many: %u ms", all);
	check(some > none + 500, "a few more: %u ms, none: %u ms", some, none);
	check(fast > none + 500, "as fast as ever: %u ms, slower: %u ms", fast, none);
	return true;
}

/*
 * A hundred workers.  The first answers take 0.3 s, and the lower limit that is tried then costs
 * less than it should; or at first, and with less than 30, it answers as 16 workers would.
 */
static bool searches_once_more(void)
{
	struct synq_climb climb;
	u64 now_ns, part;
	u32 ms, i, took_ms, n;

	for (i = 0; i < 2; i++) {
		synq_climb_init(&climb);
		now_ns = 1;
		part = 0;
		for (ms = 0; ms < 60000; ms++) {
			n = min(synq_climb_limit(&climb), 100U);
			took_ms = climb.base < 12 * 16 && !i ? 300 : 1000;
			if (i && (ms < 10000 || n < 30)) {
				took_ms *= max(n, 16U) / 16;
				n = min(n, 16U);
			} else if (ms < 20000 && climb.phase == SYNQ_CLIMB_DOWN) {
				n += n / 2;
			}
			for (part += n; part >= 1000; part -= 1000)
				synq_climb_answer(&climb, false, took_ms * MS);
			tick(&climb, now_ns += MS, 1, synq_climb_limit(&climb), 0);
		}
		check(synq_climb_limit(&climb) >= 80 && synq_climb_limit(&climb) <= 400,
		      "%s: limit %u", i ? "few" : "quick", synq_climb_limit(&climb));
	}
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
		synq_climb_answer(&s.climb, tap_below(2), tap_random() >> tap_below(64));
		synq_climb_tick(&s.climb, s.now_ns, &(struct synq_load){
			.held = tap_below(10), .busy = tap_below(1000),
			.kept = tap_below(2) ? 0 : (u32)tap_random(),
			.listeners = (u32)tap_random() >> tap_below(32) });
		check(synq_climb_limit(&s.climb) >= 1 &&
		      synq_climb_limit(&s.climb) <= 1U << 20, "limit %u",
		      synq_climb_limit(&s.climb));
	}
	return true;
}

static const struct tap_case cases[] = {
	{ "finds the knee", finds },
	{ "spares a slow server", spares_the_slow },
	{ "finds it by chance", finds_by_chance },
	{ "finds it soon", finds_soon },
	{ "sees the kept", sees_the_kept },
	{ "sees shams", sees_shams },
	{ "follows the server", follows },
	{ "follows the knee", follows_the_knee },
	{ "leaves few clients alone", leaves_few_alone },
	{ "changes nothing where nobody is held", idles },
	{ "a clock that jumps", jumps },
	{ "has several listeners", has_several },
	{ "sees soon what a lower limit costs", sees_what_it_costs },
	{ "tries more first where nothing is slower", tries_more_first },
	{ "does not end a search for a few answers", is_not_rash },
	{ "searches once more", searches_once_more },
	{ "odd clocks and counts", odd },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
