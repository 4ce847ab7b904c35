// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of law.c, in user space.  Run by "make -C module/test check".
 *
 * A trace is made by a queue that is simulated: connections arrive at random
 * times and a server takes them out by a schedule of its own; every arrival is
 * a sample.  The estimate is compared with what the server really did.
 */
#include <linux/math64.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "law.h"
#include "tap.h"

#define SECOND	((u64)NSEC_PER_SEC)

/* A server takes @batch connections out every @batch / @rate seconds. */
struct server {
	u64 interval;		/* ns between batches; 0: takes at once */
	u32 batch;
	u64 next;		/* time of the next batch */
};

struct trace {
	struct synq_drain drain;
	struct server server;
	u64 now;
	u32 queued;
	u32 departed;		/* since the last sample */
	u64 departures;
};

static const u32 rates[] = { 1, 3, 10, 77, 300, 1000, 5000, 20000, 100000 };

static void set_rate(struct trace *t, u32 rate, u32 batch)
{
	t->server.interval = SECOND * batch / rate;
	t->server.batch = batch;
	t->server.next = t->now + t->server.interval;
}

static struct trace begin(u32 rate, u32 batch)
{
	struct trace t = { .now = SECOND };

	set_rate(&t, rate, batch);
	return t;
}

/* What the server does until @until; an idle one begins with the next to come. */
static void serve(struct trace *t, u64 until)
{
	u32 n;

	while (t->server.next <= until) {
		n = t->queued < t->server.batch ? t->queued : t->server.batch;
		t->queued -= n;
		t->departed += n;
		t->departures += n;
		t->server.next += t->server.interval;
	}
	t->now = until;
}

static void append(struct trace *t)
{
	synq_drain_sample(&t->drain, t->now, t->queued, t->departed);
	t->departed = 0;
	if (!t->queued && t->server.next < t->now + t->server.interval &&
	    t->server.batch == 1)
		t->server.next = t->now + t->server.interval;
	t->queued++;
}

/* Arrivals at random times, @load times the rate that they are meant for, but
 * never more than @most queued.
 */
static void run(struct trace *t, u32 rate, double load, u32 most, u64 ns)
{
	u64 end = t->now + ns;
	u64 mean = SECOND / (rate * load) + 1;

	for (;;) {
		u64 gap = 1 + tap_below(2 * mean < 0xffffffff ? 2 * mean :
							       0xffffffff);

		if (t->now + gap > end)
			break;
		serve(t, t->now + gap);
		if (t->queued < most)
			append(t);
	}
	serve(t, end);
}

/* Is the estimate within @percent of @rate? */
static bool near(const struct trace *t, u32 rate, u32 percent)
{
	u64 is = t->drain.interval_ns, want = SECOND / rate;

	return is * 100 >= want * (100 - percent) &&
	       is * 100 <= want * (100 + percent);
}

static u64 some_time(u32 rate)
{
	u64 twenty = 20 * SECOND / rate;

	return twenty > 2 * SECOND ? twenty : 2 * SECOND;
}

static bool nothing_known(void)
{
	struct synq_drain drain = { 0 };

	check(!drain.interval_ns, "at first");
	synq_drain_sample(&drain, SECOND, 0, 0);
	check(!drain.interval_ns, "after one connection");
	return true;
}

static bool steady(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		struct trace t = begin(rates[i], 1);

		run(&t, rates[i], 4, 50, some_time(rates[i]));
		check(near(&t, rates[i], 5), "%u ns", t.drain.interval_ns);
	}
	return true;
}

/* 64 at once and then none, as servers do that accept in a loop. */
static bool bursty(void)
{
	static const u32 some[] = { 77, 300, 5000, 100000 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(some); i++) {
		struct trace t = begin(some[i], 64);
		u64 sum = 0;
		unsigned int n;

		run(&t, some[i], 4, 300, 2 * some_time(some[i]));
		for (n = 0; n < 100; n++) {
			run(&t, some[i], 4, 300, 64 * SECOND / some[i] / 7);
			check((u64)t.drain.interval_ns * some[i] > SECOND * 2 / 5 &&
			      (u64)t.drain.interval_ns * some[i] < SECOND * 5 / 2,
			      "interval %u ns at %u/s", t.drain.interval_ns,
			      some[i]);
			sum += t.drain.interval_ns;
		}
		check(sum / 100 * some[i] > SECOND * 7 / 10 &&
		      sum / 100 * some[i] < SECOND * 13 / 10,
		      "mean interval %llu ns at %u/s", sum / 100, some[i]);
	}
	return true;
}

/* A server with time to spare: never slower than it is, if known at all. */
static bool lightly_loaded(void)
{
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		struct trace t = begin(rates[i], 1);

		for (n = 0; n < 1000; n++) {
			run(&t, rates[i], .5, 50, 5 * SECOND / rates[i]);
			check((u64)t.drain.interval_ns * rates[i] <=
			      3 * SECOND,
			      "interval %u ns at %u/s, round %u",
			      t.drain.interval_ns, rates[i], n);
		}
	}
	return true;
}

static bool pauses(void)
{
	struct trace t = begin(1000, 1);

	/* Nothing was waiting before the pause, and few do at its end. */
	run(&t, 1000, .1, 50, SECOND);
	t.server.next = t.now + SECOND / 2;
	run(&t, 10, 1, 50, SECOND / 2 - 1);
	check(!t.drain.interval_ns || t.drain.interval_ns < 2 * SECOND / 1000,
	      "%u ns after a pause", t.drain.interval_ns);
	return true;
}

static bool stalled(void)
{
	struct trace t = begin(100, 1);

	run(&t, 100, 4, 1000, 3 * SECOND);
	check(near(&t, 100, 5), "%u ns", t.drain.interval_ns);
	t.server.next = t.now + 60 * SECOND;
	run(&t, 100, .2, 10000, 20 * SECOND);
	check(t.drain.interval_ns > SECOND / 5, "%u ns",
	      t.drain.interval_ns);
	return true;
}

static bool stalled_from_the_start(void)
{
	struct trace t = begin(100, 1);

	t.server.next = t.now + 600 * SECOND;
	run(&t, 100, 1, 10000, 5 * SECOND);
	check(t.drain.interval_ns > 4 * SECOND, "%u ns", t.drain.interval_ns);
	return true;
}

/*
 * One that stops, and goes on at its old rate, or another: what came meanwhile waits in a
 * full queue.  Right again after 20 service times, but not before 2 s.
 */
static bool restarted(void)
{
	static const u32 change[][2] = {
		{ 100, 100 }, { 100, 30 }, { 100, 300 }, { 4, 10 }, { 5000, 20000 },
	};
	unsigned int i, n, good = 0, all = 0;

	for (i = 0; i < ARRAY_SIZE(change); i++) {
		for (n = 0; n < 20; n++, all++) {
			struct trace t = begin(change[i][0], 1);

			run(&t, change[i][0], 4, 50, some_time(change[i][0]));
			t.server.next = t.now + 10 * SECOND;
			run(&t, change[i][0], 1, 50, 10 * SECOND - 1);
			set_rate(&t, change[i][1], 1);
			run(&t, change[i][1], 4, 50, some_time(change[i][1]));
			good += near(&t, change[i][1], 20);
		}
	}
	check(10 * good >= 9 * all, "%u of %u", good, all);
	return true;
}

/* Right again after 20 service times, but not before 2 s. */
static bool capacity_changes(void)
{
	static const u32 change[][2] = {
		{ 100, 50 }, { 100, 200 }, { 4, 2 }, { 4, 8 }, { 1000, 10 },
		{ 10, 1000 }, { 50000, 100000 },
	};
	unsigned int i, n, good = 0, all = 0;

	for (i = 0; i < ARRAY_SIZE(change); i++) {
		for (n = 0; n < 20; n++) {
			struct trace t = begin(change[i][0], 1);

			run(&t, change[i][0], 4, 50, some_time(change[i][0]));
			set_rate(&t, change[i][1], 1);
			run(&t, change[i][1], 4, 50, some_time(change[i][1]));
			good += near(&t, change[i][1], 20);
			all++;
		}
	}
	check(10 * good >= 9 * all, "%u of %u", good, all);
	return true;
}

/* One that was slow, and is fast now, so that its queue is always empty. */
static bool fast_again(void)
{
	struct trace t = begin(1, 1);
	unsigned int n;

	run(&t, 1, 4, 50, 20 * SECOND);
	check(near(&t, 1, 5), "%u ns", t.drain.interval_ns);
	set_rate(&t, 100000, 1);
	for (n = 0; n < 30; n++) {
		serve(&t, t.now + SECOND / 10);
		append(&t);
	}
	check(t.drain.interval_ns <= SECOND / 11, "%u ns: and more than that",
	      t.drain.interval_ns);
	return true;
}

/* Of a server that never lets anybody wait only the pace is known. */
static bool pace(void)
{
	struct trace t = begin(100000, 1);
	unsigned int n;

	for (n = 0; n < 30; n++) {
		serve(&t, t.now + SECOND / 10);
		append(&t);
	}
	check(!t.drain.interval_ns, "%u ns", t.drain.interval_ns);
	check(t.drain.pace_ns >= SECOND / 11 && t.drain.pace_ns <= SECOND / 9,
	      "%u ns", t.drain.pace_ns);
	set_rate(&t, 1, 1);
	t.server.next = t.now + 600 * SECOND;
	for (n = 0; n < 80; n++) {
		serve(&t, t.now + SECOND / 10);
		append(&t);
	}
	check(t.drain.pace_ns > SECOND, "%u ns: it has stopped",
	      t.drain.pace_ns);
	return true;
}

/* The queue stands while it is never short. */
static bool lowest_length(void)
{
	struct synq_drain drain = { 0 };
	u64 now = SECOND;
	u32 i;

	for (i = 0; i < 30; i++, now += SECOND / 10)
		synq_drain_sample(&drain, now, 20 + i % 3, 1);
	check(drain.low == 20, "%u", drain.low);
	synq_drain_sample(&drain, now, 5, 15);
	check(drain.low == 5, "%u: at once", drain.low);
	for (i = 0; i < 5; i++, now += SECOND / 10)
		synq_drain_sample(&drain, now, 20, 1);
	check(drain.low == 5, "%u: for a second", drain.low);
	for (i = 0; i < 20; i++, now += SECOND / 10)
		synq_drain_sample(&drain, now, 20, 1);
	check(drain.low == 20, "%u: for two at the most", drain.low);
	synq_drain_sample(&drain, now + 60 * SECOND, 3, 1);
	check(drain.low == 3, "%u: after a pause", drain.low);
	check(drain.lull_ns > 4 * SECOND, "%u: the pause", drain.lull_ns);
	now += 60 * SECOND;
	for (i = 0; i < 9; i++, now += SECOND / 10)
		synq_drain_sample(&drain, now, 3, 1);
	check(drain.lull_ns > 4 * SECOND, "%u: for a second", drain.lull_ns);
	for (i = 0; i < 9; i++, now += SECOND / 10)
		synq_drain_sample(&drain, now, 3, 1);
	check(drain.lull_ns < SECOND, "%u: but no longer", drain.lull_ns);
	return true;
}

/* A clock that goes back, and one departure more than there can be. */
static bool nonsense(void)
{
	struct synq_drain drain = { 0 };
	unsigned int i;

	for (i = 0; i < 100000; i++)
		synq_drain_sample(&drain, 1 + tap_random() % (SECOND * 1000),
				  tap_below(3) ? tap_random() : 0,
				  tap_random());
	return true;
}

static const struct tap_case cases[] = {
	{ "nothing known", nothing_known },
	{ "steady, 1/s to 100,000/s", steady },
	{ "bursty", bursty },
	{ "lightly loaded", lightly_loaded },
	{ "a pause is no capacity", pauses },
	{ "stalled", stalled },
	{ "stalled from the start", stalled_from_the_start },
	{ "restarted", restarted },
	{ "capacity changes", capacity_changes },
	{ "fast again", fast_again },
	{ "the pace", pace },
	{ "the least length", lowest_length },
	{ "nonsense", nonsense },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
