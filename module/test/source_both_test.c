// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of source.c with two rates: of a source, and of the network that it is in.
 * A SYN has a token of each and one of the class, or takes none.  In user space; run by
 * "make -C module/test check".  Threads stand for CPUs.
 *
 * Network n has the sources 16 n to 16 n + 15.
 */
#include <linux/atomic.h>
#include <linux/types.h>
#include <pthread.h>
#include <string.h>

#include "source.h"
#include "source_table.h"
#include "tap.h"

#define THREADS		4
#define SOURCES		512
#define NETS		(SOURCES / 16)

static struct synq_source_set net_sets[SETS];
static struct synq_source_note net_notes[WAYS];
static const struct synq_source_table net_table = { SETS - 1, net_sets, net_notes };
static struct synq_source_rate net_rate;

static void begin_both(u32 own, u32 own_burst, u32 net, u32 net_burst)
{
	begin(own, own_burst);
	memset(net_sets, 0, sizeof(net_sets));
	memset(net_notes, 0, sizeof(net_notes));
	synq_source_init(&net_rate, net, 1, net_burst);
}

/* Few in a set, but where that is asked for. */
static bool crowded;

static u64 hash_own(u32 n)
{
	return crowded ? in_set(n % 3, n) : in_set(n, n);
}

static u64 hash_net(u32 n)
{
	return in_set(7 + n, n);
}

static enum synq_source_answer take_both(u32 n, u64 now, bool *stray)
{
	const struct synq_source_bucket own = { &table, &rate, source_of(hash_own(n)) };
	const struct synq_source_bucket net = { &net_table, &net_rate,
						source_of(hash_net(n / 16)) };

	return synq_source_take_both(&own, &net, &class, now, stray);
}

static bool take_one(u32 n, u64 now)
{
	bool stray = false;

	return take_both(n, now, &stray) == SYNQ_SOURCE_CONFORMS;
}

/* Tokens that a bucket lacks, by all ways that are its own. */
static u32 lacks(const struct synq_source_table *of, const struct synq_source_rate *by,
		 u64 hash, u64 now, u32 burst)
{
	u32 i, first = (hash & of->mask) * SYNQ_SOURCE_WAYS, sum = 0;
	struct synq_source_state state;

	for (i = first; i < first + SYNQ_SOURCE_WAYS; i++)
		if (synq_source_is_at(of, i, hash) &&
		    synq_source_state(of, by, i, now, &state))
			sum += burst - state.tokens;
	return sum;
}

static u32 own_lacks(u32 n, u64 now, u32 burst)
{
	return lacks(&table, &rate, hash_own(n), now, burst);
}

static u32 net_lacks(u32 n, u64 now, u32 burst)
{
	return lacks(&net_table, &net_rate, hash_net(n), now, burst);
}

/* By each of the three, and which says so. */
static bool each_refuses(void)
{
	u64 now = 1000 * SECOND;
	bool stray = false;
	u32 i;

	begin_both(1, 2, 1, 5);
	begin_class(1, 7, false);
	for (i = 0; i < 2; i++)
		check(take_both(0, now, &stray) == SYNQ_SOURCE_CONFORMS, "%u", i);
	check(take_both(0, now, &stray) == SYNQ_SOURCE_EXCEEDS, "of the source");
	for (i = 0; i < 2; i++)
		check(take_both(1, now, &stray) == SYNQ_SOURCE_CONFORMS, "%u", i);
	check(take_both(2, now, &stray) == SYNQ_SOURCE_CONFORMS, "the fifth");
	check(take_both(2, now, &stray) == SYNQ_SOURCE_NET_EXCEEDS, "of its network");
	check(take_both(3, now, &stray) == SYNQ_SOURCE_NET_EXCEEDS, "and a new one");
	check(take_both(0, now, &stray) == SYNQ_SOURCE_EXCEEDS, "the source goes first");
	for (i = 0; i < 2; i++)
		check(take_both(16, now, &stray) == SYNQ_SOURCE_CONFORMS, "another %u", i);
	check(take_both(17, now, &stray) == SYNQ_SOURCE_CLASS_EXCEEDS, "of the class");
	check(!stray, "all have a place");
	check(own_lacks(0, now, 2) == 2 && own_lacks(2, now, 2) == 1 &&
	      !own_lacks(3, now, 2) && !own_lacks(17, now, 2), "the sources paid");
	check(net_lacks(0, now, 5) == 5 && net_lacks(1, now, 5) == 2, "and the networks");
	return true;
}

/* Random ones: what is refused writes nothing, what is not has paid thrice. */
static bool all_or_nothing(void)
{
	static struct synq_source_set before[2][SETS];
	u64 now = 1000 * SECOND, refused[4] = {};
	u32 i;

	crowded = false;
	begin_both(2, 4, 9, 20);
	begin_class(150, 60, false);
	for (i = 0; i < 100000; i++) {
		u32 n = tap_below(2) ? tap_below(SOURCES) : tap_below(24);
		u32 own = own_lacks(n, now, 4), net = net_lacks(n / 16, now, 20);
		s64 tat = atomic64_read(&class_tat);
		enum synq_source_answer answer;
		bool stray = false;

		memcpy(before[0], sets, sizeof(sets));
		memcpy(before[1], net_sets, sizeof(sets));
		answer = take_both(n, now, &stray);
		refused[answer]++;
		if (answer != SYNQ_SOURCE_CONFORMS) {
			check(!memcmp(before[0], sets, sizeof(sets)) &&
			      !memcmp(before[1], net_sets, sizeof(sets)) &&
			      atomic64_read(&class_tat) == tat, "%u: %u", i, answer);
		} else {
			check(own_lacks(n, now, 4) == own + 1 &&
			      net_lacks(n / 16, now, 20) == net + 1, "%u: source %u", i, n);
			check(atomic64_read(&class_tat) != tat, "%u", i);
		}
		check(!stray, "%u", i);
		if (i % 16 == 0)
			now += tap_below(SECOND / 8);
	}
	for (i = 0; i < 4; i++)
		check(refused[i] > 20, "answer %u: %llu", i, refused[i]);
	return true;
}

/* For a long time at once: each rate as if there were no other. */
static bool rates_hold(void)
{
	u64 start = 1000 * SECOND, end = start + 200 * SECOND, now;
	u64 got[SOURCES] = {}, net[NETS] = {}, all = 0;
	u32 i;

	begin_both(5, 3, 20, 10);
	begin_class(60, 30, false);
	for (now = start; now < end; now += SECOND / 2000) {
		/* Six in the first network, one in each of the others. */
		u32 n = tap_below(2) ? tap_below(6) : 16 * tap_below(NETS);
		bool in = take_one(n, now);

		got[n] += in;
		net[n / 16] += in;
		all += in;
	}
	for (i = 0; i < SOURCES; i++)
		check(got[i] <= 3 + 5 * 200 + 1, "source %u: %llu", i, got[i]);
	check(net[0] <= 10 + 20 * 200 + 1 && net[0] > 1000, "its network: %llu", net[0]);
	check(all <= 30 + 60 * 200 + 1 && all >= 60 * 200 - 1, "all: %llu", all);

	/* The class has enough: it is the network's rate, to the token. */
	begin_both(5, 3, 20, 10);
	begin_class(1000000, 1000000, true);
	memset(net, 0, sizeof(net));
	for (now = start; now < end; now += SECOND / 2000)
		net[0] += take_one(tap_below(6), now);
	check(net[0] >= 10 + 20 * 200 - 2 && net[0] <= 10 + 20 * 200 + 1, "%llu", net[0]);
	return true;
}

/* Sources without a place: their network pays, and the class as for strays. */
static bool strays_pay(void)
{
	u64 now = 1000 * SECOND, in = 0, of_strays = 0;
	bool stray;
	u32 i;

	crowded = true;
	begin_both(1, 1, 1, 1000);
	begin_class(1, 100, false);
	for (i = 0; i < SOURCES; i++) {
		stray = false;
		if (take_both(i, now, &stray) != SYNQ_SOURCE_CONFORMS)
			continue;
		in++;
		of_strays += stray;
	}
	crowded = false;
	check(in - of_strays == 3 * SYNQ_SOURCE_WAYS, "with a place: %llu", in - of_strays);
	check(in == 50, "strays have what is above half: %llu", in);
	check(class_tokens(now) == 50, "and the class has paid");
	in = 0;
	for (i = 0; i < NETS; i++)
		in += net_lacks(i, now, 1000);
	check(in == 50, "the networks have paid for them, and for no other: %llu", in);
	return true;
}

static u64 thread_now;
static atomic64_t conforming[SOURCES];

static void *run_thread(void *arg)
{
	u64 state = (u64)(size_t)arg * 0x9e3779b97f4a7c15ULL;
	u32 i, n;

	for (i = 0; i < 2000; i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		n = (state >> 33) % 64;
		if (take_one(n, thread_now))
			atomic64_inc(&conforming[n]);
	}
	return NULL;
}

/* At one instant: whatever is given back, nobody has paid for nothing. */
static bool many_cpus(void)
{
	pthread_t thread[THREADS];
	u32 round, i;

	for (round = 0; round < 200; round++) {
		u64 sum = 0, net[4] = {};

		/* 64 sources of 20 tokens, 4 networks of 150, a class of 500. */
		begin_both(1, 20, 1, 150);
		begin_class(1, 500, false);
		thread_now = (1000 + round) * SECOND;
		memset(conforming, 0, sizeof(conforming));
		for (i = 0; i < THREADS; i++)
			pthread_create(&thread[i], NULL, run_thread,
				       (void *)(size_t)(i + 1 + tap_below(1000)));
		for (i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		for (i = 0; i < 64; i++) {
			u64 n = atomic64_read(&conforming[i]);

			/* A way too many is possible: item 4. */
			check(n <= 21, "source %u: %llu", i, n);
			check(own_lacks(i, thread_now, 20) == n,
			      "source %u: %llu, lacks %u", i, n,
			      own_lacks(i, thread_now, 20));
			net[i / 16] += n;
			sum += n;
		}
		for (i = 0; i < 4; i++) {
			check(net[i] <= 151, "network %u: %llu", i, net[i]);
			check(net_lacks(i, thread_now, 150) == net[i],
			      "network %u: %llu, lacks %u", i, net[i],
			      net_lacks(i, thread_now, 150));
		}
		check(sum == 500, "class: %llu", sum);
		check(!class_tokens(thread_now), "and empty");
	}
	return true;
}

static const struct tap_case cases[] = {
	{ "each of three buckets refuses", each_refuses },
	{ "all three pay, or none", all_or_nothing },
	{ "each rate holds", rates_hold },
	{ "strays pay what has a place", strays_pay },
	{ "many CPUs", many_cpus },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
