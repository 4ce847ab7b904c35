// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of law.c, in user space: how many handshakes are expected, compared with a
 * list of all of them.  Run by "make -C module/test check".
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <string.h>

#include "law.h"
#include "tap.h"

#define MS	((u64)NSEC_PER_MSEC)
#define MANY	20000
#define MOST	1000	/* at once */

/* One that began, and when it completes; 0: never. */
struct handshake {
	u64 begun;
	u64 completes;
};

static struct {
	struct synq_flight_clock clock;
	struct synq_flight flight;
	struct handshake list[MANY];
	unsigned int n, first;
	u64 now;
} twin;

static void begin_at(u64 now)
{
	memset(&twin, 0, sizeof(twin));
	twin.now = now;
	synq_flight_clock_init(&twin.clock, now);
	synq_flight_init(&twin.flight);
}

static void look(void)
{
	if (twin.now < synq_flight_clock_end(&twin.clock))
		return;
	synq_flight_clock_turn(&twin.clock, twin.now);
	synq_flight_turn(&twin.flight);
}

/* Time passes, without a look if the machine stands still. */
static void pass(u64 ns)
{
	u64 until = twin.now + ns;
	unsigned int i;

	for (i = twin.first; i < twin.n; i++) {
		struct handshake *h = &twin.list[i];

		if (!h->completes || h->completes > until)
			continue;
		twin.now = max(twin.now, h->completes);
		look();
		synq_flight_complete(&twin.flight, &twin.clock, h->begun);
		synq_flight_clock_add(&twin.clock, twin.now - h->begun);
		h->completes = 0;
		while (twin.first < i && !twin.list[twin.first].completes)
			twin.first++;
	}
	twin.now = until;
	look();
}

static void add(u64 takes)
{
	synq_flight_begin(&twin.flight, 1);
	twin.list[twin.n++] = (struct handshake){
		.begun = twin.now, .completes = takes ? twin.now + takes : 0,
	};
}

/* Those that will complete. */
static u32 to_come(void)
{
	unsigned int i;
	u32 n = 0;

	for (i = twin.first; i < twin.n; i++)
		n += twin.list[i].completes > twin.now;
	return n;
}

static bool all_complete(void)
{
	static const u64 takes[] = { 1, 20, 100, 200, 800 };
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(takes); i++) {
		begin_at(5 * MS);
		for (n = 0; n < 4000; n++) {
			u32 is, want;

			pass(takes[i] * MS / 30);
			add(takes[i] * MS);
			if (n < 400)
				continue;
			is = synq_flight_expected(&twin.flight);
			want = to_come();
			/* To be off by a rounded ns is to be off by one. */
			check(is <= want + 1 && is + 1 >= want,
			      "%u, not %u, at %llu ms", is, want, takes[i]);
		}
		check(twin.flight.ratio == SYNQ_FLIGHT_ONE, "%u", twin.flight.ratio);
	}
	return true;
}

/* A flood adds little once it is known, and is forgotten. */
static bool spoofed(void)
{
	unsigned int n;
	u32 is, want;

	begin_at(5 * MS);
	for (n = 0; n < 15000; n++) {
		pass(MS / 10);
		add(n % 10 ? 0 : 20 * MS);
		if (n < 5000)
			continue;
		is = synq_flight_expected(&twin.flight);
		want = to_come();
		check(is <= want + 20 && is + 20 >= want, "%u, not %u", is, want);
	}
	for (n = 0; n < 2000; n++) {
		pass(MS);
		add(20 * MS);
	}
	check(twin.flight.ratio > SYNQ_FLIGHT_ONE * 9 / 10, "%u", twin.flight.ratio);
	is = synq_flight_expected(&twin.flight);
	want = to_come();
	check(is + 3 >= want, "%u, not %u", is, want);
	return true;
}

/* Neither a dozen that nobody completes, nor one lost of many. */
static bool few_dead(void)
{
	unsigned int n;

	begin_at(5 * MS);
	for (n = 0; n < 12; n++)
		add(0);
	pass(2000 * MS);
	pass(2000 * MS);
	for (n = 0; n < 60; n++)
		add(0);
	check(synq_flight_expected(&twin.flight) >= 48, "%u",
	      synq_flight_expected(&twin.flight));
	return true;
}

/* Nothing is waited for without end, and one that comes late does not count. */
static bool given_up(void)
{
	begin_at(5 * MS);
	add(0);
	add(30000 * MS);
	check(synq_flight_expected(&twin.flight) == 2, "both");
	pass(1000 * MS);
	check(synq_flight_expected(&twin.flight) == 2, "for another epoch");
	pass(1000 * MS);
	check(!synq_flight_expected(&twin.flight), "%u",
	      synq_flight_expected(&twin.flight));
	pass(40000 * MS);
	check(!twin.flight.epoch[0].open && !twin.flight.epoch[1].open, "too late");
	return true;
}

/* What it has held up is expected when it goes on. */
static bool stands_still(void)
{
	unsigned int n;

	begin_at(5 * MS);
	for (n = 0; n < 500; n++) {
		pass(MS);
		add(20 * MS);
	}
	pass(30 * MS);
	for (n = 0; n < 40; n++)
		add(700 * MS);
	pass(600 * MS);
	check(synq_flight_expected(&twin.flight) >= 40, "%u",
	      synq_flight_expected(&twin.flight));
	return true;
}

/* From nothing, in a few; and no outlier makes it wait for long. */
static bool learns(void)
{
	unsigned int n;

	begin_at(5 * MS);
	synq_flight_clock_add(&twin.clock, 300 * MS);
	check(twin.clock.mean_ns == 300 * MS, "the first is the mean");
	for (n = 0; n < 30; n++)
		synq_flight_clock_add(&twin.clock, 10 * MS);
	check(twin.clock.mean_ns < 60 * MS, "%llu", twin.clock.mean_ns);
	for (n = 0; n < 200; n++)
		synq_flight_clock_add(&twin.clock, 10 * MS);
	check(synq_flight_clock_least(&twin.clock) < 11 * MS &&
	      synq_flight_clock_least(&twin.clock) > 9 * MS, "%u",
	      synq_flight_clock_least(&twin.clock));
	synq_flight_clock_add(&twin.clock, 3600000 * MS);
	check(synq_flight_clock_end(&twin.clock) - twin.clock.since_ns <= 2000 * MS,
	      "an hour");
	return true;
}

static struct synq_flight_pace pace(u32 interval_ns, u32 pace_ns)
{
	return (struct synq_flight_pace){
		.interval_ns = interval_ns,
		.pace_ns = pace_ns,
		.most = MOST,
	};
}

static u32 paced_at(u64 now_ns, u32 interval_ns, u32 pace_ns)
{
	return synq_flight_clock_paced(&twin.clock, pace(interval_ns, pace_ns), now_ns);
}

/* As if all came when they are let in. */
static bool paces(void)
{
	struct synq_flight_clock *clock = &twin.clock;
	u64 now;

	begin_at(1000 * MS);
	now = twin.now;
	synq_flight_clock_pace(clock, &twin.flight, 100, pace(0, 0), now);
	check(!paced_at(now, 0, 0) && !paced_at(now, MS, MS), "nobody knows how fast it is");
	synq_flight_clock_pace(clock, &twin.flight, 64, pace(MS, 2 * MS), now);
	check(paced_at(now, MS, 2 * MS) == 63, "%u", paced_at(now, MS, 2 * MS));
	check(paced_at(now + 3 * MS, MS, 2 * MS) == 60, "one leaves every millisecond");
	check(paced_at(now + 3 * MS, 0, 2 * MS) == 61, "or every other");
	check(!paced_at(now + 63 * MS, MS, 2 * MS), "all have left");
	check(!paced_at(~0ULL, 1, 0) && !paced_at(~0ULL, ~0U, 0), "long ago");
	check(paced_at(now - MS, MS, 2 * MS) == 63, "by a clock of a moment ago");
	synq_flight_clock_pace(clock, &twin.flight, 64, pace(0, 2 * MS), now + 3 * MS);
	check(paced_at(now + 3 * MS, 0, 2 * MS) == 93, "half of them, and 61.5");
	twin.flight.ratio = SYNQ_FLIGHT_ONE / 4;
	synq_flight_clock_pace(clock, &twin.flight, 64, pace(MS, 0), now + 5000 * MS);
	check(paced_at(now + 5000 * MS, MS, 0) == 15, "a quarter of them");
	return true;
}

/* When it becomes faster or slower: they are as many as before. */
static bool changes_pace(void)
{
	begin_at(1000 * MS);
	synq_flight_clock_pace(&twin.clock, &twin.flight, 64, pace(100 * MS, 0), twin.now);
	check(paced_at(twin.now, MS, 0) == 63 && paced_at(twin.now, 1000 * MS, 0) == 63, "%u",
	      paced_at(twin.now, MS, 0));
	return true;
}

/* No number of them comes round to few. */
static bool many(void)
{
	unsigned int n;

	begin_at(1000 * MS);
	for (n = 0; n < 10; n++) {
		synq_flight_clock_pace(&twin.clock, &twin.flight, ~0U, pace(MS, 0), twin.now);
		check(paced_at(twin.now, MS, 0) == MOST, "%u", paced_at(twin.now, MS, 0));
	}
	check(!paced_at(twin.now + MOST * MS, MS, 0), "as many leave as there may have been");
	return true;
}

/* Completed that never began, ages that cannot be. */
static bool nonsense(void)
{
	unsigned int n;

	begin_at(5 * MS);
	for (n = 0; n < 200000; n++) {
		switch (tap_below(4)) {
		case 0:
			synq_flight_begin(&twin.flight, tap_below(100));
			break;
		case 1:
			synq_flight_complete(&twin.flight, &twin.clock,
					     tap_random() % (twin.now + MS));
			break;
		case 2:
			synq_flight_clock_add(&twin.clock, tap_random());
			break;
		case 3:
			twin.now += tap_below(100) * MS;
			look();
			break;
		}
		check(twin.flight.ratio <= SYNQ_FLIGHT_ONE, "%u", twin.flight.ratio);
		check(synq_flight_expected(&twin.flight) <=
		      twin.flight.epoch[0].begun + twin.flight.epoch[1].begun +
		      200000, "%u", synq_flight_expected(&twin.flight));
	}
	return true;
}

static const struct tap_case cases[] = {
	{ "all complete: as many are expected as the twin says", all_complete },
	{ "spoofed SYNs", spoofed },
	{ "few dead handshakes prove nothing", few_dead },
	{ "nothing is waited for without end", given_up },
	{ "a machine stands still", stands_still },
	{ "how long they take", learns },
	{ "the pace", paces },
	{ "a server that becomes faster or slower", changes_pace },
	{ "more than can be counted", many },
	{ "nonsense", nonsense },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
