// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of source.c under crowds: more sources than its table has places for,
 * attacks on one set, many CPUs at once.  In user space; run by
 * "make -C module/test check".  Threads stand for CPUs.
 */
#include <linux/atomic.h>
#include <linux/types.h>
#include <pthread.h>
#include <string.h>

#include "source.h"
#include "source_table.h"
#include "tap.h"

#define THREADS		4

/* Tokens that a source lacks, by all ways that are its own. */
static u32 lacks(u64 hash, u64 now, u32 burst)
{
	u32 i, first = (hash & table.mask) * SYNQ_SOURCE_WAYS, sum = 0;
	struct synq_source_state state;

	for (i = first; i < first + SYNQ_SOURCE_WAYS; i++)
		if (synq_source_is_at(&table, i, hash) &&
		    synq_source_state(&table, &rate, i, now, &state))
			sum += burst - state.tokens;
	return sum;
}

/*
 * 1,000,000 forged sources in 10 s.  The class lets through its rate and no more;
 * honest sources are never refused for their own rate, nor by the table.
 */
static bool many_sources(void)
{
	u64 now = 1000 * SECOND, forged = 0, honest = 0, i;

	begin(10, 5);
	begin_class(2000, 100, false);
	strays = 0;
	for (i = 0; i < 1000000; i++, now += 10000) {
		forged += take(tap_random(), now);
		if (i % 10000)
			continue;
		/* Ten each second, and the class has a token left for them. */
		atomic64_set(&class_tat, 0);
		check(ask(in_set(9, 1), now) == SYNQ_SOURCE_CONFORMS, "%llu", i);
		honest++;
	}
	check(strays == 0, "so few conform that all have a place: %llu", strays);
	check(forged <= 2000 * 10 + 100 * (honest + 1), "%llu", forged);
	check(drain(in_set(9, 2), now + SECOND) == 5, "a new one has its burst");
	return true;
}

#define MILLION	1000000

/*
 * Each of them three SYNs in a row, and again 50 s later, where the class lets all in:
 * by a way none gets more than its burst, all strays together no more than theirs.
 * A source that uses up its rate keeps it throughout.
 */
static bool each_of_a_million(void)
{
	static u8 conforming[MILLION];
	u64 start = 1000 * SECOND, now = start, from_strays = 0, victim = 0, i;

	begin(1, 2);
	begin_class(1000, 500, true);
	strays = 0;
	for (i = 0; i < 6 * MILLION; i++, now = start + i * 50 * SECOND / MILLION / 3) {
		u32 n = i / 3 % MILLION;
		u64 before = strays;
		bool in = take((n + 1) * 0x9e3779b97f4a7c15ULL, now);

		if (i == 3 * MILLION)
			memset(conforming, 0, sizeof(conforming));
		if (strays != before)
			from_strays += in;
		else
			conforming[n] += in;
		check(conforming[n] <= 2, "%u has more than its burst", n);
		if (i % (MILLION * 3 / 100) == 0)
			victim += take(in_set(9, 0), now);
	}
	check(strays > MILLION, "the table was full: %llu", strays);
	check(from_strays <= 100 * 1000 + 500 + 1, "%llu", from_strays);
	check(victim >= 100 && victim <= 102, "one in a second: %llu", victim);
	return true;
}

/* A full table, where the class lets all of them in and only strays are limited. */
static bool full_table(void)
{
	u64 now = 1000 * SECOND, passed = 0, seen = 0, i;

	begin(1, 1);
	begin_class(256, 256, true);
	for (i = 0; i < 20000; i++)
		take(tap_random(), now);
	strays = 0;
	for (i = 0; i < 100000; i++, now += 10000) {
		u64 before = strays;
		bool in = take(tap_random(), now);

		if (strays != before) {
			seen++;
			passed += in;
		}
	}
	check(seen > 50000, "the table is full: %llu", seen);
	check(passed >= 200 && passed <= 256 + 256 + 1, "%llu", passed);
	return true;
}

/*
 * Who goes through a thousand sources of one set, 5,000 SYNs in a second, for 100 s:
 * none of them gets more than its rate and burst, and strays no more than the
 * class.  Who has a place in another set is not refused once.
 */
static bool one_set(void)
{
	u64 start = 1000 * SECOND, end = start + 100 * SECOND, now, turn = 0;
	u64 victim = 0, from_strays = 0, from_ways = 0;

	begin(10, 5);
	begin_class(200, 100, false);
	strays = 0;
	for (now = start; now < end; now += SECOND / 5000) {
		u64 before = strays;
		bool in = take(in_set(1, turn++ % 1000), now);

		from_strays += in && strays != before;
		from_ways += in && strays == before;
		if ((now - start) % (SECOND / 10) == 0)
			victim += take(in_set(2, 0), now);
	}
	check(victim == 1000, "ten in a second: %llu", victim);
	check(from_ways + from_strays + victim <= 200 * 100 + 100 + 1,
	      "%llu and %llu", from_ways, from_strays);
	/* A way is in use for a tenth of a second for each token. */
	check(from_ways <= 8 * (10 * 100 + 5), "of ways: %llu", from_ways);
	check(strays > 300000, "the set was full: %llu", strays);
	return true;
}

/*
 * Twenty hammer one set, eight of them with a place: the others have what the class's
 * bucket leaves them, and who has a place in another set is not refused once.
 */
static bool strays_hammer(void)
{
	u64 start = 1000 * SECOND, end = start + 100 * SECOND, now;
	u64 got[21] = {}, others = 0;
	u32 i;

	begin(10, 5);
	begin_class(200, 100, false);
	for (now = start; now < end; now += SECOND / 1000) {
		for (i = 0; i < 20; i++)
			got[i] += take(in_set(1, i), now);
		if ((now - start) % (SECOND / 10) == 0)
			others += take(in_set(2, 0), now);
	}
	check(others == 1000, "ten in a second: %llu", others);
	for (i = 0; i < 8; i++)
		check(got[i] <= 10 * 100 + 5 + 1, "%u has a place: %llu", i,
		      got[i]);
	for (i = 0; i < 20; i++)
		got[20] += got[i];
	check(got[20] + others <= 200 * 100 + 100 + 1, "%llu", got[20]);
	check(got[20] + others >= 200 * 100, "and not less: %llu", got[20]);
	return true;
}

/* What each thread asks, all at one instant. */
static u64 thread_now;
static u32 thread_sources, thread_rounds;
static atomic64_t thread_conforming[1024];

static void *run_thread(void *arg)
{
	u64 state = (u64)(size_t)arg * 0x9e3779b97f4a7c15ULL;
	u32 i;

	for (i = 0; i < thread_rounds; i++) {
		struct synq_source source;
		bool stray = false;
		u32 n;

		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		n = (state >> 33) % thread_sources;
		source = source_of(in_set(n % 4, n));
		if (synq_source_take(&table, &rate, &source, &class, thread_now,
				     &stray) == SYNQ_SOURCE_CONFORMS)
			atomic64_inc(&thread_conforming[n]);
	}
	return NULL;
}

static u64 run_threads(u32 number, u32 rounds)
{
	pthread_t thread[THREADS];
	u64 sum = 0;
	size_t i;

	memset(thread_conforming, 0, sizeof(thread_conforming));
	thread_sources = number;
	thread_rounds = rounds;
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run_thread,
			       (void *)(i + 1 + tap_below(1000)));
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < number; i++)
		sum += atomic64_read(&thread_conforming[i]);
	return sum;
}

/* No token is spent twice, and none of one bucket in vain. */
static bool many_cpus(void)
{
	u32 round, i;

	for (round = 0; round < 200; round++) {
		u64 sum;

		/* Sources have 20 * 50 tokens, the class 700. */
		begin(1, 50);
		begin_class(1, 700, false);
		thread_now = (1000 + round) * SECOND;
		sum = run_threads(20, 2000);
		check(sum == 700, "class: %llu", sum);
		check(!synq_source_take_class(&class_tbf, &class_tat,
					      thread_now), "and empty");
		for (i = 0; i < 20; i++) {
			u64 n = atomic64_read(&thread_conforming[i]);

			/* A way too many in 200 rounds is possible: item 4. */
			check(n <= 51, "source %u: %llu", i, n);
			check(lacks(in_set(i % 4, i), thread_now, 50) == n,
			      "source %u: %llu, lacks %u", i, n,
			      lacks(in_set(i % 4, i), thread_now, 50));
		}

		/* The class has enough: each source gets its burst exactly. */
		begin(1, 50);
		begin_class(1, 100000, false);
		sum = run_threads(20, 2000);
		check(sum == 20 * 50, "sources: %llu", sum);
		check(class_tokens(thread_now) == 100000 - 20 * 50,
		      "class paid for them");
	}
	return true;
}

/* More sources than ways: strays, and ways given back to nobody. */
static bool many_cpus_few_ways(void)
{
	u32 round, i;

	for (round = 0; round < 200; round++) {
		u64 sum;

		begin(1, 3);
		begin_class(1, 500, false);
		thread_now = (1000 + round) * SECOND;
		sum = run_threads(200, 2000);
		/* Strays take the upper half, 32 sources three each. */
		check(sum >= 250 && sum <= 250 + 32 * 4, "%llu", sum);
		check(class_tokens(thread_now) == 500 - sum, "the class paid");
		/* All buckets are full again, and the table works as ever. */
		begin_class(1, 100000, false);
		for (i = 0; i < 32; i++)
			check(drain(in_set(i % 4, i), thread_now + 9 * SECOND) ==
			      3, "source %u", i);
	}
	return true;
}

static const struct tap_case cases[] = {
	{ "a million forged sources", many_sources },
	{ "each of a million sources", each_of_a_million },
	{ "a full table", full_table },
	{ "attack on one set", one_set },
	{ "strays that hammer", strays_hammer },
	{ "many CPUs", many_cpus },
	{ "many CPUs, few ways", many_cpus_few_ways },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
