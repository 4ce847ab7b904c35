// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of source.c, in user space.  Run by "make -C module/test check".
 *
 * The slow twin keeps a list of all sources that ever came, each with a whole TAT,
 * and knows no ways: a source is a stray if it has a full bucket and eight others
 * of its set do not.  Threads stand for CPUs.
 */
#include <linux/atomic.h>
#include <linux/types.h>
#include <pthread.h>
#include <string.h>

#include "source.h"
#include "test/tap.h"

#define SECOND		1000000000ULL	/* ns */
#define SETS		1024
#define WAYS		(SETS * SYNQ_SOURCE_WAYS)
#define THREADS		4

static struct synq_source_set sets[SETS];
static struct synq_source_note notes[WAYS];
static const struct synq_source_table table = { SETS - 1, sets, notes };
static struct synq_source_rate rate;

static struct synq_tbf class_tbf, stray_tbf;
static atomic64_t class_tat;
static struct synq_source_class class;

/* A class with a limit, or with one for strays only. */
static void begin_class(u32 per_second, u32 burst, bool strays_only)
{
	synq_tbf_init(&class_tbf, per_second, burst);
	synq_tbf_init(&stray_tbf, per_second,
		      strays_only ? burst : (burst + 1) / 2);
	class = (struct synq_source_class){
		.tbf = strays_only ? NULL : &class_tbf,
		.stray = &stray_tbf,
		.tat = &class_tat,
	};
}

static void begin(u32 per_second, u32 burst)
{
	memset(sets, 0, sizeof(sets));
	memset(notes, 0, sizeof(notes));
	synq_source_init(&rate, per_second, burst);
	atomic64_set(&class_tat, 0);
	begin_class(1000000, 1000000, true);
}

static struct synq_source source_of(u64 hash)
{
	return (struct synq_source){ { hash, ~hash }, hash };
}

static u64 strays;

static enum synq_source_answer ask(u64 hash, u64 now)
{
	struct synq_source source = source_of(hash);
	enum synq_source_answer answer;
	bool stray = false;

	answer = synq_source_take(&table, &rate, &source, &class, now, &stray);
	strays += stray;
	return answer;
}

static bool take(u64 hash, u64 now)
{
	return ask(hash, now) == SYNQ_SOURCE_CONFORMS;
}

/* Source number @n of set @set. */
static u64 in_set(u32 set, u64 n)
{
	return (n + 1) << 40 | set;
}

/* How many conform at this instant. */
static u32 drain(u64 hash, u64 now)
{
	u32 n = 0;

	while (n <= SYNQ_SOURCE_BURST_MAX && take(hash, now))
		n++;
	return n;
}

static u32 class_tokens(u64 now)
{
	u32 n = 0;

	while (synq_source_take_class(&class_tbf, &class_tat, now))
		n++;
	return n;
}

static bool state_of(u64 hash, u64 now, struct synq_source_state *state)
{
	u32 i, first = (hash & table.mask) * SYNQ_SOURCE_WAYS;

	for (i = first; i < first + SYNQ_SOURCE_WAYS; i++)
		if (synq_source_is_at(&table, i, hash))
			return synq_source_state(&table, &rate, i, now, state);
	return false;
}

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

static bool bursts_and_rates(void)
{
	static const u32 rates[] = {
		1, 2, 3, 7, 10, 20, 97, 999, 1000, 4096, 44100, 999999, 1000000,
	};
	static const u32 bursts[] = { 1, 2, 3, 8, 100, 1000000 };
	u32 r, b;

	for (r = 0; r < ARRAY_SIZE(rates); r++) {
		for (b = 0; b < ARRAY_SIZE(bursts); b++) {
			u64 now = tap_random() >> 2, end = now + SECOND;
			u32 n = 0, step = 1 + SECOND / rates[r] / 3;

			begin(rates[r], bursts[b]);
			check(drain(5, now) == bursts[b], "%u %u", rates[r],
			      bursts[b]);
			check(drain(6, now) == bursts[b], "another source");
			for (; now < end && n <= rates[r]; now += step)
				n += take(5, now);
			check(n == rates[r] || n + 1 == rates[r] || now >= end,
			      "%u in a second, %u/s", n, rates[r]);
			check(n >= (rates[r] - 1) / 2 && n <= rates[r],
			      "%u in a second, %u/s", n, rates[r]);
		}
	}
	return true;
}

/* To the token over a long time, whatever the arrivals. */
static bool exact(void)
{
	u64 now = 12345678, since = now, n = 0;

	begin(20, 10);
	while (now - since < 10000 * SECOND) {
		n += take(77, now);
		now += 1 + tap_below(20000000);
	}
	check(n <= 10 + (now - since) * 20 / SECOND + 1, "too many: %llu", n);
	check(n >= 9 + (now - since) * 20 / SECOND - 1, "too few: %llu", n);
	return true;
}

static bool neither_or_both(void)
{
	u64 now = 1000 * SECOND;
	u32 i;

	begin(1, 2);
	begin_class(1, 5, false);
	check(take(1, now) && take(1, now), "two of the source");
	for (i = 0; i < 100; i++)
		check(ask(1, now) == SYNQ_SOURCE_EXCEEDS, "%u", i);
	check(class_tokens(now) == 3, "the class has paid for two");

	begin(1, 2);
	begin_class(1, 1, false);
	check(take(1, now), "the class's last");
	for (i = 0; i < 100; i++) {
		check(ask(1, now) == SYNQ_SOURCE_CLASS_EXCEEDS, "%u", i);
		check(ask(2, now) == SYNQ_SOURCE_CLASS_EXCEEDS, "%u", i);
	}
	begin_class(1000000, 1000000, false);
	atomic64_set(&class_tat, 0);
	check(drain(1, now) == 1, "the source has paid for one");
	check(drain(2, now) == 2, "and another for none");
	return true;
}

/* Of a set that is full. */
static bool strays_only(void)
{
	u64 now = 1000 * SECOND;
	u32 i;

	begin(1, 1);
	begin_class(1, 3, true);
	for (i = 0; i < SYNQ_SOURCE_WAYS; i++)
		check(take(in_set(3, i), now), "%u", i);
	check(class_tokens(now) == 3, "these asked no class");
	atomic64_set(&class_tat, 0);
	strays = 0;
	for (i = 8; i < 11; i++)
		check(take(in_set(3, i), now), "no place, and lets in: %u", i);
	check(ask(in_set(3, 8), now) == SYNQ_SOURCE_CLASS_EXCEEDS, "to its end");
	check(strays == 4, "%llu", strays);
	check(take(in_set(4, 1), now), "another set");
	check(ask(in_set(3, 0), now) == SYNQ_SOURCE_EXCEEDS, "who has a place");
	/* A second later all buckets are full, and the oldest way is the first's. */
	now += SECOND;
	check(take(in_set(3, 20), now), "has a place now");
	check(ask(in_set(3, 20), now) == SYNQ_SOURCE_EXCEEDS, "is held to it");
	check(strays == 4, "%llu", strays);
	return true;
}

/* Strays leave the lower half of the class's bucket alone, however empty it is. */
static bool strays_get_the_rest(void)
{
	u64 now = 1000 * SECOND;
	u32 i, n, taken;

	for (taken = 0; taken <= 400; taken += 8) {
		begin(1, 1000);
		begin_class(1, 400, false);
		for (i = 0; i < taken; i++)
			check(take(in_set(3, i % 8), now), "%u of %u", i, taken);
		for (; i < 8; i++)
			take(in_set(3, i), now);
		for (n = 0; take(in_set(3, 8 + n), now); n++)
			;
		i = taken ? taken : 8;
		check(n == (i < 200 ? 200 - i : 0), "%u after %u", n, taken);
		check(class_tokens(now) == 400 - i - n, "after %u", taken);
	}
	return true;
}

static bool oldest_goes(void)
{
	struct synq_source_state state;
	u64 now = 1000 * SECOND;
	u32 i;

	begin(1000, 1);
	for (i = 0; i < SYNQ_SOURCE_WAYS; i++)
		check(take(in_set(0, i), now + (i * 3 % 8) * SECOND), "%u", i);
	now += 20 * SECOND;
	for (i = 0; i < SYNQ_SOURCE_WAYS; i++) {
		u64 gone = in_set(0, i * 3 % 8);

		check(state_of(gone, now, &state), "still there");
		check(state.tokens == 1 && state.conformed == 1, "and full");
		check(take(in_set(0, 100 + i), now), "%u", i);
		check(!state_of(gone, now, &state), "%u: not the oldest", i);
	}
	return true;
}

static bool states(void)
{
	struct synq_source_state state;
	u64 now = 77 * SECOND;
	u32 i;

	begin(10, 5);
	check(!synq_source_state(&table, &rate, 0, now, &state), "nobody");
	for (i = 0; i < 8; i++)
		take(9, now);
	check(state_of(9, now, &state), "is there");
	check(!state.tokens && state.conformed == 5 && state.exceeded == 3,
	      "%u %llu %llu", state.tokens, state.conformed, state.exceeded);
	check(state.source.addr[0] == 9 && state.source.addr[1] == ~9ULL, "who");
	now += SECOND / 4;
	check(state_of(9, now, &state) && state.tokens == 2, "%u",
	      state.tokens);
	now += 1000 * SECOND;
	check(state_of(9, now, &state) && state.tokens == 5, "%u",
	      state.tokens);
	return true;
}

/* Where the time of a way comes round. */
static bool wraps(void)
{
	u64 period = (SECOND << 36) / 1000000;	/* ns, at the highest rate */
	u64 now = period - 10000000;
	u32 i, n = 0;

	begin(1000000, 10);
	for (i = 0; i < 20000000; i += 500)
		n += take(1, now + i);
	check(n >= 20000 && n <= 20010, "%u", n);
	check(drain(1, now + i + SECOND) == 10, "full again");
	check(drain(1, now + i + period / 2) == 10, "and after half a period");
	return true;
}

static bool clock_goes_back(void)
{
	u64 now = 1000 * SECOND;

	begin(10, 5);
	check(drain(1, now) == 5, "burst");
	check(drain(1, now - SECOND / 2) == 0, "nothing is handed out twice");
	check(drain(1, now + SECOND / 10) == 1, "and it goes on");
	return true;
}

#define SOURCES	60

struct twin {
	u64 hash;
	u64 tat;
};

static struct twin twins[SOURCES];

static bool twin_is_busy(const struct twin *twin, u64 now)
{
	return twin->tat > synq_tbf_clock(&rate.tbf, now);
}

static bool twin_is_stray(const struct twin *twin, u64 now)
{
	u32 i, busy = 0;

	for (i = 0; i < SOURCES; i++)
		busy += twins[i].hash % SETS == twin->hash % SETS &&
			twin_is_busy(&twins[i], now);
	return !twin_is_busy(twin, now) && busy >= SYNQ_SOURCE_WAYS;
}

static enum synq_source_answer twin_ask(struct twin *twin, u64 *class_state,
					u64 now)
{
	bool stray = twin_is_stray(twin, now);
	const struct synq_tbf *tbf = class.tbf;
	u64 next, class_next = *class_state;

	if (!stray && !synq_tbf_next(&rate.tbf, twin->tat, now, &next))
		return SYNQ_SOURCE_EXCEEDS;
	if (stray && !tbf)
		tbf = class.stray;
	if (tbf && !synq_tbf_next(tbf, *class_state, now, &class_next))
		return SYNQ_SOURCE_CLASS_EXCEEDS;
	if (stray && class_next > synq_tbf_clock(tbf, now) +
				  class.stray->tolerance + tbf->interval)
		return SYNQ_SOURCE_CLASS_EXCEEDS;
	*class_state = class_next;
	if (!stray)	/* in sixteenths, as a way has it */
		twin->tat = next >> rate.shift << rate.shift;
	return SYNQ_SOURCE_CONFORMS;
}

static bool twin_round(void)
{
	u64 now = tap_random() >> 4, class_state = 0;
	u32 i, n, all = 1 + tap_below(SOURCES), many = 1 + tap_below(3);
	u32 per_second = 1 + tap_below(1000000 >> tap_below(20));
	u32 gap = 1 + SECOND / per_second / (1 + tap_below(40));

	begin(per_second, 1 + tap_below(1 << tap_below(10)));
	begin_class(1 + tap_below(1000000 >> tap_below(20)),
		    1 + tap_below(1000), tap_below(2));
	for (i = 0; i < SOURCES; i++)
		twins[i] = (struct twin){ in_set(i % many, i), 0 };
	for (n = 0; n < 2000; n++) {
		struct twin *twin = &twins[tap_below(all)];
		enum synq_source_answer answer;
		bool stray;

		now += tap_below(4) ? tap_below(gap) : tap_below(4);
		stray = twin_is_stray(twin, now);
		answer = twin_ask(twin, &class_state, now);
		strays = 0;
		check(ask(twin->hash, now) == answer, "%u: not %u", n, answer);
		check(strays == stray, "%u: a stray, or not", n);
		check((u64)atomic64_read(&class_tat) == class_state, "%u: class",
		      n);
	}
	return true;
}

static bool twin(void)
{
	u32 i;

	for (i = 0; i < 1000; i++)
		if (!twin_round())
			return false;
	return true;
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

/* Twenty hammer, eight of them with a place; and one that is a stray like them. */
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
	{ "bursts and rates", bursts_and_rates },
	{ "exact", exact },
	{ "a token of both or of neither", neither_or_both },
	{ "a full set: strays", strays_only },
	{ "strays get the upper half", strays_get_the_rest },
	{ "the oldest free way is given away", oldest_goes },
	{ "states", states },
	{ "the time wraps", wraps },
	{ "the clock goes back", clock_goes_back },
	{ "twin", twin },
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
