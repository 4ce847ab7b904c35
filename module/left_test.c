// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of left.c, in user space.  Run by "make -C module/test check".
 */
#include <linux/limits.h>
#include <linux/types.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "left.h"
#include "test/tap.h"

static struct synq_left table;

static void clear(void)
{
	memset(&table, 0, sizeof(table));
}

/* The @n-th of those that share a set; of the upper half 0 is taken for 1. */
static u64 hash_of(u32 set, u32 n)
{
	return ((u64)n + 1) << 32 | set;
}

static bool once(void)
{
	u32 n;

	clear();
	for (n = 0; n < 1000; n++) {
		u64 hash = tap_random();

		check(!synq_left_take(&table, hash, n), "never put");
		check(synq_left_put(&table, hash, n), "%u", n);
		check(!synq_left_take(&table, ~hash, n), "another's");
		check(synq_left_take(&table, hash, n), "%u", n);
		check(!synq_left_take(&table, hash, n), "twice");
	}
	/* A hash, and a time, of nothing but zeros. */
	check(synq_left_put(&table, 0, 0), "0");
	check(synq_left_take(&table, 0, 0), "0");
	check(!synq_left_take(&table, 0, 0), "0 twice");
	return true;
}

/* As many notes as there are of the same. */
static bool the_same(void)
{
	u32 n, i;

	for (n = 1; n <= SYNQ_LEFT_WAYS; n++) {
		clear();
		for (i = 0; i < n; i++)
			check(synq_left_put(&table, hash_of(5, 7), 100), "%u", i);
		for (i = 0; i < n; i++)
			check(synq_left_take(&table, hash_of(5, 7), 100), "%u",
			      i);
		check(!synq_left_take(&table, hash_of(5, 7), 100), "%u", n);
	}
	return true;
}

/* Who is on his way keeps his place; who was held up loses it to who comes. */
static bool full(void)
{
	const u32 begin = U32_MAX - 3, soon = begin + SYNQ_LEFT_SOON_MS;
	u32 n;

	clear();
	for (n = 0; n < SYNQ_LEFT_WAYS; n++)
		check(synq_left_put(&table, hash_of(1, n), begin + n), "%u", n);
	check(!synq_left_put(&table, hash_of(1, n), soon), "no place");
	check(synq_left_put(&table, hash_of(2, n), soon), "another set");
	check(synq_left_put(&table, hash_of(1, n), soon + 1), "the oldest's");
	check(!synq_left_put(&table, hash_of(1, n + 1), soon + 1), "the next");
	check(!synq_left_take(&table, hash_of(1, 0), soon + 1), "the oldest");
	for (n = 1; n <= SYNQ_LEFT_WAYS; n++)
		check(synq_left_take(&table, hash_of(1, n), soon + 1), "%u", n);
	return true;
}

/* Nobody came: void when the same comes again, and in nobody's way. */
static bool old(void)
{
	u32 begin, n;

	for (n = 0; n < 1000; n++) {
		clear();
		begin = tap_random();
		check(synq_left_put(&table, 9, begin), "%u", begin);
		check(synq_left_take(&table, 9, begin + SYNQ_LEFT_MS), "in time");
		check(synq_left_put(&table, 9, begin), "%u", begin);
		check(!synq_left_take(&table, 9, begin + SYNQ_LEFT_MS + 1),
		      "too late");
	}
	clear();
	for (n = 0; n < 1000; n++) {
		/* Of any age, up to all that the clock can tell. */
		begin = tap_random();
		while (synq_left_put(&table, hash_of(3, n), begin))
			;
		begin += SYNQ_LEFT_SOON_MS + 1 +
			 tap_below(U32_MAX - 2 * SYNQ_LEFT_MS);
		check(synq_left_put(&table, hash_of(3, n + 1), begin), "%u", n);
		check(synq_left_take(&table, hash_of(3, n + 1), begin), "%u", n);
		clear();
	}
	return true;
}

/* The clock of another CPU has ticked already. */
static bool tick(void)
{
	u32 begin, n;

	for (begin = U32_MAX - 10; begin != 10; begin++) {
		clear();
		for (n = 0; n < SYNQ_LEFT_WAYS; n++)
			check(synq_left_put(&table, hash_of(1, n), begin + 10),
			      "%u", n);
		check(!synq_left_put(&table, hash_of(1, n), begin), "%u", n);
		for (n = 0; n < SYNQ_LEFT_WAYS; n++)
			check(synq_left_take(&table, hash_of(1, n), begin),
			      "%u", n);
	}
	return true;
}

/* What is said here, in so many words: a list of notes for one set. */
struct twin {
	u32 n[SYNQ_LEFT_WAYS];
	u32 ms[SYNQ_LEFT_WAYS];
	u32 used;
};

static void twin_drop(struct twin *twin, u32 at)
{
	twin->used--;
	twin->n[at] = twin->n[twin->used];
	twin->ms[at] = twin->ms[twin->used];
}

static bool twin_put(struct twin *twin, u32 n, u32 now)
{
	u32 i, oldest = 0;

	if (twin->used == SYNQ_LEFT_WAYS) {
		for (i = 1; i < twin->used; i++)
			if (now - twin->ms[i] > now - twin->ms[oldest])
				oldest = i;
		if (now - twin->ms[oldest] <= SYNQ_LEFT_SOON_MS)
			return false;
		twin_drop(twin, oldest);
	}
	twin->n[twin->used] = n;
	twin->ms[twin->used++] = now;
	return true;
}

static bool twin_take(struct twin *twin, u32 n, u32 now)
{
	u32 i;

	for (i = 0; i < twin->used; i++)
		if (twin->n[i] == n && now - twin->ms[i] <= SYNQ_LEFT_MS) {
			twin_drop(twin, i);
			return true;
		}
	return false;
}

/* No two notes at the same ms: so both agree on which is the oldest. */
static bool twins(void)
{
	static struct twin twin;
	u32 n = 0, now = 0, i, any, refused = 0, missed = 0;

	clear();
	for (i = 0; i < 1000000; i++) {
		now += 1 + tap_below(tap_below(50) ? 1 : 300);
		if (tap_below(5) < 3) {
			n++;
			any = synq_left_put(&table, hash_of(8, n), now);
			check(any == twin_put(&twin, n, now), "put %u", i);
			refused += !any;
		} else {
			u32 which = n - tap_below(12);

			any = synq_left_take(&table, hash_of(8, which), now);
			check(any == twin_take(&twin, which, now), "take %u", i);
			missed += !any;
		}
	}
	check(refused > 1000 && missed > 1000, "%u refused, %u missed", refused,
	      missed);
	return true;
}

#define THREADS		8
#define NOTES		100000
#define SETS		2
#define HELD		3

static u64 refused[THREADS], lost[THREADS], stolen[THREADS];

static void take_all(unsigned long own, const u64 *held, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		lost[own] += !synq_left_take(&table, held[i], 0);
		stolen[own] += synq_left_take(&table, held[i], 0);
	}
}

/*
 * Threads stand for CPUs: each comes for what it has put, a few at a time.  All
 * together hold more than there is room for.  Who is refused gives back what it
 * holds, and lets those go on who hold the rest: they may wait for this CPU.
 */
static void *cpu(void *arg)
{
	unsigned long own = (unsigned long)arg;
	u64 held[HELD];
	u32 i, n = 0;

	for (i = 0; i < NOTES;) {
		u64 hash = hash_of(i % SETS, own << 24 | i);
		bool any = synq_left_put(&table, hash, 0);

		if (any) {
			held[n++] = hash;
			i++;
		}
		if (any && n < HELD)
			continue;
		take_all(own, held, n);
		n = 0;
		if (!any) {
			refused[own]++;
			sched_yield();
		}
	}
	take_all(own, held, n);
	return NULL;
}

static bool cpus(void)
{
	static const struct synq_left empty;
	pthread_t thread[THREADS];
	unsigned long i;

	clear();
	for (i = 0; i < THREADS; i++)
		check(!pthread_create(&thread[i], NULL, cpu, (void *)i), "%lu",
		      i);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < THREADS; i++) {
		check(!lost[i], "%llu lost, %llu refused",
		      (unsigned long long)lost[i],
		      (unsigned long long)refused[i]);
		check(!stolen[i], "%llu twice", (unsigned long long)stolen[i]);
	}
	check(!memcmp(&table, &empty, sizeof(table)), "left behind");
	return true;
}

static u64 put[THREADS], taken[THREADS];

static void *same_cpu(void *arg)
{
	unsigned long own = (unsigned long)arg;
	u32 i;

	for (i = 0; i < NOTES; i++) {
		put[own] += synq_left_put(&table, hash_of(0, 7), 0);
		taken[own] += synq_left_take(&table, hash_of(0, 7), 0);
	}
	return NULL;
}

/* One may miss its note (left.c says when), but no note is taken twice. */
static bool same_cpus(void)
{
	pthread_t thread[THREADS];
	u64 there = 0, gone = 0;
	unsigned long i;

	clear();
	for (i = 0; i < THREADS; i++)
		check(!pthread_create(&thread[i], NULL, same_cpu, (void *)i),
		      "%lu", i);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < THREADS; i++) {
		there += put[i];
		gone += taken[i];
	}
	for (i = 0; i < SYNQ_LEFT_WAYS; i++)
		gone += !!atomic64_read(&table.way[0][i]);
	check(gone == there, "%llu put, %llu taken or there",
	      (unsigned long long)there, (unsigned long long)gone);
	return true;
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a note is found once", once },
		{ "as many notes as there are of the same", the_same },
		{ "who is on his way keeps his place", full },
		{ "an old note is void", old },
		{ "a clock that has ticked already", tick },
		{ "as the slow twin", twins },
		{ "many CPUs", cpus },
		{ "the same on many CPUs", same_cpus },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
