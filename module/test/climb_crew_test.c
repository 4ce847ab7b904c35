// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of climb.c, in user space: several listeners of one process.  Run by
 * "make -C module/test check".
 *
 * They share so many workers, or have so many each.  Answers come by chance.
 */
#include <linux/math64.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "climb.h"
#include "tap.h"

#define MS		((u64)NSEC_PER_MSEC)
#define CREW_MAX	8

struct crew {
	struct synq_climb climb[CREW_MAX];
	u64 now_ns;
	u32 n;
	u32 workers;		/* of all together, or else of each */
	u32 rate;		/* answers/second of each worker */
	bool is_shared;
	u32 faster;		/* so many times are all but the first, which hold ... */
	u32 wave_ms;		/* ... every other so many ms, or always */
	u64 answers[CREW_MAX];
};

static void begin_crew(struct crew *crew, u32 n, u32 workers, bool is_shared)
{
	u32 i;

	*crew = (struct crew){
		.now_ns = 1, .n = n, .workers = workers, .rate = 20, .is_shared = is_shared,
	};
	for (i = 0; i < n; i++)
		synq_climb_init(&crew->climb[i]);
}

/* In a millisecond, of connections that are inside, and of all that are. */
static u32 chance(const struct crew *crew, u32 i, u32 all)
{
	u32 inside = synq_climb_limit(&crew->climb[i]), least, n = 0;
	u64 part;

	if (!crew->is_shared)
		all = inside;
	least = all < crew->workers ? all : crew->workers;
	part = (u64)inside * least * crew->rate * 1000 / all;
	if (i && crew->faster)
		part *= crew->faster;
	for (; part >= 10000; part -= 10000)
		n += tap_below(100) == 0;
	return n + (tap_below(1000000) < part);
}

static u32 sum_of_limits(const struct crew *crew)
{
	u32 i, sum = 0;

	for (i = 0; i < crew->n; i++)
		sum += synq_climb_limit(&crew->climb[i]);
	return sum;
}

/* With connections held at the first @some of them. */
static void run_crew(struct crew *crew, u32 ms, u32 some)
{
	u32 n[CREW_MAX], i, j, all, others, active;

	while (ms--) {
		active = crew->wave_ms && crew->now_ns / MS / crew->wave_ms % 2 ? 1 : some;
		for (all = 0, i = 0; i < active; i++)
			all += synq_climb_limit(&crew->climb[i]);
		for (i = 0; i < active; i++) {
			n[i] = chance(crew, i, all);
			crew->answers[i] += n[i];
		}
		crew->now_ns += MS;
		for (i = 0; i < active; i++) {
			for (others = 0, j = 0; j < active; j++)
				others += j == i ? 0 : n[j];
			for (j = 0; j < n[i]; j++)
				synq_climb_answer(&crew->climb[i], false, MS);
			if (active > 1)
				synq_climb_hear_of_others(&crew->climb[i], others,
							  (active - 1) * MS);
			synq_climb_tick(&crew->climb[i], crew->now_ns, 1,
					synq_climb_limit(&crew->climb[i]), 0);
		}
	}
}

/* Each would get more of the same workers by a higher limit: they do not race. */
static bool shares(void)
{
	static const u32 n[] = { 2, 2, 4, 8 }, workers[] = { 4, 32, 32, 32 };
	u32 k, sum, most;
	struct crew crew;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(n); i++) {
		begin_crew(&crew, n[i], workers[i], true);
		run_crew(&crew, 600000, n[i]);
		for (most = 0, k = 0; k < 30; k++) {
			run_crew(&crew, 10000, n[i]);
			sum = sum_of_limits(&crew);
			most = sum > most ? sum : most;
		}
		check(most <= 4 * workers[i] + 1, "%u with %u workers: limits %u", n[i],
		      workers[i], most);
		check(sum + n[i] >= workers[i], "%u with %u workers: limits %u", n[i],
		      workers[i], sum);
	}
	return true;
}

/* As many workers as before become as few that are faster: no rate tells that. */
static bool comes_down(void)
{
	u32 sum = 0, i;
	struct crew crew;

	for (i = 0; i < 8; i++) {
		begin_crew(&crew, 2, 16, true);
		run_crew(&crew, 120000, 2);
		crew.workers /= 4;
		crew.rate *= 4;
		run_crew(&crew, 45000, 2);
		sum += sum_of_limits(&crew);
	}
	check(sum <= 2 * 4 * 8, "two with 4 workers: limits %u, in eight runs", sum);
	return true;
}

/* One that comes later gets a part of them, too. */
static bool shares_with_the_late(void)
{
	struct crew crew;
	u32 before;
	u64 all;

	begin_crew(&crew, 2, 32, true);
	run_crew(&crew, 120000, 1);
	before = synq_climb_limit(&crew.climb[0]);
	run_crew(&crew, 1200000, 2);
	check(sum_of_limits(&crew) <= 3 * before, "limits %u, before %u",
	      sum_of_limits(&crew), before);
	crew.answers[0] = 0;
	crew.answers[1] = 0;
	run_crew(&crew, 300000, 2);
	all = crew.answers[0] + crew.answers[1];
	check(20 * crew.answers[1] >= all && 20 * crew.answers[0] >= all, "the late: %llu of %llu",
	      (unsigned long long)crew.answers[1], (unsigned long long)all);
	/* The others go, and it has all workers for itself. */
	crew.climb[0] = crew.climb[1];
	run_crew(&crew, 120000, 1);
	crew.answers[0] = 0;
	run_crew(&crew, 60000, 1);
	check(crew.answers[0] >= 90 * 60 * 32 * 20 / 100, "alone: %llu answers",
	      (unsigned long long)crew.answers[0]);
	return true;
}

/* Those of one process that share nothing lose little: one of them, now and then. */
static bool shares_nothing(void)
{
	static const u32 workers[] = { 4, 32 };
	struct crew crew;
	unsigned int j;
	u32 i, limit;
	u64 most, all;

	for (j = 0; j < ARRAY_SIZE(workers); j++) {
		begin_crew(&crew, CREW_MAX, workers[j], false);
		run_crew(&crew, 300000, CREW_MAX);
		for (i = 0; i < CREW_MAX; i++)
			crew.answers[i] = 0;
		run_crew(&crew, 300000, CREW_MAX);
		most = 300ULL * workers[j] * crew.rate;
		for (all = 0, i = 0; i < CREW_MAX; i++) {
			limit = synq_climb_limit(&crew.climb[i]);
			check(crew.answers[i] >= most * 75 / 100 && limit <= 4 * workers[j] + 1,
			      "%u workers: %llu answers, limit %u", workers[j],
			      (unsigned long long)crew.answers[i], limit);
			all += crew.answers[i];
		}
		check(all >= CREW_MAX * most * 93 / 100, "%u workers each: %llu answers",
		      workers[j], (unsigned long long)all);
	}
	return true;
}

/* One beside another that is much faster, and not steady, loses little, too. */
static bool bears_a_wave(void)
{
	static const u32 wave_ms[] = { 0, 20000 };
	struct crew crew;
	unsigned int i;
	u64 most;

	for (i = 0; i < ARRAY_SIZE(wave_ms); i++) {
		begin_crew(&crew, 2, 32, false);
		crew.faster = 50;
		crew.wave_ms = wave_ms[i];
		run_crew(&crew, 60000, 2);
		crew.answers[0] = 0;
		run_crew(&crew, 300000, 2);
		most = 300ULL * crew.workers * crew.rate;
		check(crew.answers[0] >= most * 93 / 100, "every %u ms: %llu answers of %llu",
		      wave_ms[i], (unsigned long long)crew.answers[0],
		      (unsigned long long)most);
	}
	return true;
}

/* The first answers take 0.8 s, and then, with ten inside, each takes 1.6 s. */
static bool goes_down_first(bool is_alone)
{
	struct synq_climb climb;
	u64 now_ns = 1;
	u32 ms;

	synq_climb_init(&climb);
	for (ms = 1; ms < 10000 && !climb.rate; ms++, now_ns += MS) {
		u32 every = climb.from ? 160 : 200;

		if (ms % every == 0)
			synq_climb_answer(&climb, false, (climb.limit < 8 ? 800 : 1600) * MS);
		if (!is_alone)
			synq_climb_hear_of_others(&climb, ms % every == 0, MS);
		synq_climb_tick(&climb, now_ns, 1, synq_climb_limit(&climb), 0);
	}
	return climb.phase == SYNQ_CLIMB_DOWN;
}

static bool begins_carefully(void)
{
	check(!goes_down_first(true), "alone: a lower limit first");
	check(goes_down_first(false), "two: a higher limit first");
	return true;
}

static const struct tap_case cases[] = {
	{ "shares workers with others", shares },
	{ "comes down with the others", comes_down },
	{ "shares workers with one that comes later", shares_with_the_late },
	{ "does not begin with a higher limit", begins_carefully },
	{ "shares nothing with others", shares_nothing },
	{ "bears a faster one that comes and goes", bears_a_wave },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
