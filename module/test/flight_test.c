// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of flight.c, in user space: how many handshakes are open, and how many of
 * them will complete.  Run by "make -C module/test check".
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <string.h>

#include "flight.h"
#include "flight_twin.h"
#include "tap.h"

/* Not ended, and begun within @window before now. */
static unsigned int open_within(u64 window)
{
	unsigned int i, n = 0;

	for (i = 0; i < twin.n; i++)
		n += !twin.list[i].ended &&
		     twin.list[i].begun + window > twin.now;
	return n;
}

static bool all_complete(void)
{
	static const u64 takes[] = { 1, 20, 100, 200, 800 };
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(takes); i++) {
		begin(5 * MS);
		for (n = 0; n < MANY; n++) {
			pass(twin.now + takes[i] * MS / 30);
			add(takes[i] * MS);
			if (n > 400) {
				u32 is = synq_flight_open(&twin.flight);
				u32 want = open_within(10000 * MS);

				check(is + 2 >= want && is <= want + 2,
				      "%u, not %u, at %llu ms", is, want,
				      takes[i]);
			}
		}
		check(synq_flight_ratio(&twin.flight) >= 254, "ratio %u",
		      synq_flight_ratio(&twin.flight));
	}
	return true;
}

/* A flood adds nothing once it is known, and is forgotten. */
static bool spoofed(void)
{
	unsigned int n;
	u32 expected;

	begin(5 * MS);
	for (n = 0; n < MANY / 2; n++) {
		pass(twin.now + MS);
		add(tap_below(11) ? 0 : 20 * MS);
	}
	expected = synq_flight_open(&twin.flight) *
		   synq_flight_ratio(&twin.flight) / SYNQ_FLIGHT_ONE;
	check(synq_flight_ratio(&twin.flight) < SYNQ_FLIGHT_ONE / 4,
	      "ratio %u", synq_flight_ratio(&twin.flight));
	check(expected < 20, "%u expected", expected);
	for (n = 0; n < MANY / 2; n++) {
		pass(twin.now + MS);
		add(20 * MS);
	}
	check(synq_flight_ratio(&twin.flight) > SYNQ_FLIGHT_ONE * 9 / 10,
	      "ratio %u afterwards", synq_flight_ratio(&twin.flight));
	return true;
}

/* Few dead handshakes prove nothing: a burst after them is expected. */
static bool few_dead(void)
{
	unsigned int n;

	begin(5 * MS);
	for (n = 0; n < 8; n++)
		add(0);
	pass(twin.now + 5000 * MS);
	check(synq_flight_open(&twin.flight) == 0, "dead ones are waited for");
	for (n = 0; n < 50; n++)
		add(100 * MS);
	check(synq_flight_open(&twin.flight) == 50, "a burst is open");
	check(synq_flight_ratio(&twin.flight) >= SYNQ_FLIGHT_ONE / 2,
	      "ratio %u", synq_flight_ratio(&twin.flight));
	return true;
}

/* Known to within a slice's neighbours, as of a SYN cookie: all have completed. */
static bool of_a_neighbour(void)
{
	static struct synq_flight flight;
	struct synq_flight_clock clock;
	u64 now = 0, n;

	synq_flight_clock_init(&clock, now);
	synq_flight_init(&flight);
	for (n = 0; n < 10000; n++) {
		u64 age = (4 + tap_below(3)) * clock.slice_ns;

		now += clock.slice_ns / 4;
		synq_flight_begin(&flight, &clock, now);
		if (n >= 20)
			synq_flight_complete(&flight, &clock, now, age);
		if (n >= 500)
			check(synq_flight_ratio(&flight) > SYNQ_FLIGHT_ONE * 94 / 100,
			      "ratio %u", synq_flight_ratio(&flight));
	}
	/* Many that nobody has seen begin are no reason to expect the dead. */
	for (n = 0; n < 1000; n++)
		synq_flight_complete(&flight, &clock, now, MS);
	for (n = 0; n < 1000; n++) {
		now += clock.slice_ns / 4;
		synq_flight_begin(&flight, &clock, now);
	}
	check(synq_flight_ratio(&flight) < SYNQ_FLIGHT_ONE / 4, "ratio %u",
	      synq_flight_ratio(&flight));
	return true;
}

static u64 sum_due(u32 times)
{
	u64 due[SYNQ_FLIGHT_WINDOW] = { 0 }, sum = 0;
	unsigned int age;

	synq_flight_due(&twin.flight, synq_flight_ratio(&twin.flight), times,
			due);
	for (age = 0; age < SYNQ_FLIGHT_WINDOW; age++)
		sum += due[age];
	return sum;
}

/* The worst case: several times the expectation, but no more than are open. */
static bool at_worst(void)
{
	unsigned int n;
	u64 once;

	begin(5 * MS);
	for (n = 0; n < 12; n++)
		add(0);
	pass(twin.now + 5000 * MS);
	for (n = 0; n < 50; n++)
		add(100 * MS);
	check(sum_due(1) < 50 * SYNQ_FLIGHT_ONE, "%llu", sum_due(1));
	check(sum_due(4) == 50 * SYNQ_FLIGHT_ONE, "%llu after 12 dead",
	      sum_due(4));
	for (n = 0; n < 200; n++)
		add(0);
	pass(twin.now + 5000 * MS);
	for (n = 0; n < 50; n++)
		add(100 * MS);
	once = sum_due(1);
	check(once && once < 20 * SYNQ_FLIGHT_ONE, "%llu", once);
	check(sum_due(2) == 2 * once, "%llu, not twice %llu", sum_due(2), once);
	return true;
}

static bool idle_for_long(void)
{
	begin(5 * MS);
	add(0);
	pass(twin.now + 1000000 * MS);
	check(!synq_flight_open(&twin.flight), "open after 1000 s");
	add(10 * MS);
	check(synq_flight_open(&twin.flight) == 1, "one begun");
	pass(twin.now + 10 * MS);
	check(!synq_flight_open(&twin.flight), "and completed");
	return true;
}

/* Who does not advance an idle flight sees the same as who always does. */
static bool idle_may_wait(void)
{
	struct synq_flight always = { 0 }, lazy = { 0 };
	u64 now = 1000 * MS, idle = 0, n;
	struct synq_flight_clock clock;

	synq_flight_clock_init(&clock, now);
	synq_flight_init(&always);
	synq_flight_init(&lazy);
	check(synq_flight_is_idle(&lazy), "busy from the start");
	for (n = 0; n < 200000; n++) {
		u64 age = tap_below(500) * MS;

		now += tap_below(100) ? tap_below(20) * MS : 2000 * MS;
		switch (tap_below(8)) {
		case 0:
			synq_flight_begin(&always, &clock, now);
			synq_flight_begin(&lazy, &clock, now);
			check(!synq_flight_is_idle(&lazy), "idle, one begun");
			break;
		case 1:
			synq_flight_complete(&always, &clock, now, age);
			synq_flight_complete(&lazy, &clock, now, age);
			break;
		case 2:
			if (!tap_below(10))
				synq_flight_clock_add(&clock, now, age);
			break;
		}
		synq_flight_advance(&always, &clock, now);
		if (!synq_flight_is_idle(&lazy))
			synq_flight_advance(&lazy, &clock, now);
		idle += synq_flight_is_idle(&lazy);
		check(synq_flight_open(&always) == synq_flight_open(&lazy),
		      "open %u, not %u", synq_flight_open(&lazy),
		      synq_flight_open(&always));
	}
	check(idle > n / 100 && idle < n / 2, "idle %llu times", idle);
	return true;
}

static u64 apart(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* Of what was assumed at first a fifth is left after eight handshakes. */
static bool learns(void)
{
	static const u64 takes[] = { 1, 20, 200, 1000 };
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(takes); i++) {
		u64 first, ns = takes[i] * MS;

		begin(MS);
		first = twin.clock.mean_ns;
		for (n = 0; n < 8; n++)
			synq_flight_clock_add(&twin.clock, twin.now, ns);
		check(5 * apart(twin.clock.mean_ns, ns) <= apart(first, ns),
		      "mean %llu ns of %llu", twin.clock.mean_ns, ns);
		synq_flight_clock_add(&twin.clock, twin.now, MS / 10);
		check(10 * apart(twin.clock.mean_ns, ns) <= 4 * apart(first, ns),
		      "one that is shorter: mean %llu ns", twin.clock.mean_ns);
	}
	return true;
}

/* The machine stands still at times: what completes late does not count in full. */
static bool stalls(void)
{
	unsigned int n;

	begin(MS);
	for (n = 0; n < 200; n++)
		synq_flight_clock_add(&twin.clock, twin.now, 40 * MS);
	check(synq_flight_clock_least(&twin.clock) >= 39 * MS,
	      "%llu ns, always 40 ms", synq_flight_clock_least(&twin.clock));
	for (n = 0; n < 16; n++)
		synq_flight_clock_add(&twin.clock, twin.now, 75 * MS);
	check(twin.clock.mean_ns > 60 * MS, "mean %llu ns", twin.clock.mean_ns);
	check(synq_flight_clock_least(&twin.clock) <= 48 * MS, "%llu ns",
	      synq_flight_clock_least(&twin.clock));
	return true;
}

/* What is looked at is all there is: as if each slice was, and each ratio made anew. */
static bool is_whole(const struct synq_flight *flight)
{
	s64 open = 0;
	u64 age;

	for (age = 0; age < SYNQ_FLIGHT_SLICES; age++) {
		unsigned int place = (flight->slice - age) % SYNQ_FLIGHT_SLICES;

		if (age < SYNQ_FLIGHT_WINDOW && age <= flight->slice)
			open += flight->open[place];
		if (flight->used & 1U << place)
			continue;
		check(!flight->open[place] && !flight->begun[place],
		      "%d open, %u begun in an unused slice",
		      flight->open[place], flight->begun[place]);
	}
	check(flight->waited == open, "%lld waited for, not %lld",
	      flight->waited, open);
	check(synq_flight_open(flight) == (open > 0 ? open : 0),
	      "%u open, not %lld", synq_flight_open(flight), open);
	check(synq_flight_ratio(flight) ==
	      min(flight->completed, flight->resolved) * SYNQ_FLIGHT_ONE /
	      flight->resolved,
	      "ratio %u", synq_flight_ratio(flight));
	return true;
}

/* Those of the present and the sixteen slices before, each at its age. */
static bool due_by_age(void)
{
	unsigned int n, i, age;

	begin(5 * MS);
	for (n = 0; n < 2000; n++) {
		u64 due[SYNQ_FLIGHT_WINDOW] = { 0 }, now;

		pass(twin.now + tap_below(4) * twin.clock.slice_ns);
		for (i = tap_below(3); i; i--)
			add(0);
		now = twin.flight.slice;
		synq_flight_due(&twin.flight, SYNQ_FLIGHT_ONE, 1, due);
		for (age = 0; age < SYNQ_FLIGHT_WINDOW && age <= now; age++)
			check(due[age] == SYNQ_FLIGHT_ONE *
			      (u64)twin.flight.open[(now - age) % SYNQ_FLIGHT_SLICES],
			      "%llu due of age %u", due[age], age);
		if (!is_whole(&twin.flight))
			return false;
		if (twin.n > MANY - 4)
			break;
	}
	return true;
}

static void see(u64 now)
{
	twin.now = now;
	synq_flight_clock_see(&twin.clock, now);
	synq_flight_advance(&twin.flight, &twin.clock, now);
}

/* One each millisecond, none of which has completed yet. */
static void forty(void)
{
	unsigned int i;

	for (i = 0; i < 40; i++) {
		see(twin.now + MS);
		synq_flight_begin(&twin.flight, &twin.clock, twin.now);
	}
}

/* So long: then those of before are still open, or not. */
static u32 open_after(u64 ns)
{
	see(twin.now + ns);
	return synq_flight_open(&twin.flight);
}

/* The window is 40 ms + 4 * 5 ms. */
static bool stands_still(void)
{
	unsigned int i;
	u32 ratio;

	begin(1000 * MS);
	twin.clock.mean_ns = 40 * MS;
	twin.clock.deviation_ns = 5 * MS;
	twin.clock.slice_ns = 60 * MS / 16;
	for (i = 0; i < 1000; i++)
		see(twin.now + MS);
	forty();
	ratio = synq_flight_ratio(&twin.flight);
	check(open_after(300 * MS) == 40, "%u", synq_flight_open(&twin.flight));
	check(synq_flight_ratio(&twin.flight) == ratio, "none is given up");
	for (i = 0; i < 40; i++)
		synq_flight_complete(&twin.flight, &twin.clock, twin.now,
				     (340 - i) * MS);
	check(!synq_flight_open(&twin.flight), "all come in the end");
	/* Not twice: they would never be given up. */
	for (i = 0; i < 1000; i++)
		see(twin.now + MS);
	forty();
	check(open_after(300 * MS) == 40, "held up");
	check(open_after(100 * MS) == 0, "not answered");
	/* Nobody has come. */
	for (i = 0; i < 1000; i++)
		see(twin.now + MS);
	forty();
	check(open_after(1000 * MS) == 0, "silence");
	return true;
}

/* Completions that nobody began, ages before the epoch, a clock that goes back. */
static bool nonsense(void)
{
	struct synq_flight flight = { 0 };
	struct synq_flight_clock clock;
	unsigned int i;

	synq_flight_clock_init(&clock, 1000 * MS);
	synq_flight_init(&flight);
	for (i = 0; i < 100000; i++) {
		u64 now = tap_random() % (100000 * MS);
		u64 age = tap_random() % (200000 * MS);

		switch (tap_below(4)) {
		case 0:
			synq_flight_begin(&flight, &clock, now);
			break;
		case 1:
			synq_flight_complete(&flight, &clock, now, age);
			break;
		case 2:
			synq_flight_clock_add(&clock, now, age);
			break;
		case 3:
			synq_flight_advance(&flight, &clock, now);
			break;
		}
		check(synq_flight_ratio(&flight) <= SYNQ_FLIGHT_ONE,
		      "ratio %u", synq_flight_ratio(&flight));
		check(synq_flight_open(&flight) <= 100000, "open %u",
		      synq_flight_open(&flight));
		if (!is_whole(&flight))
			return false;
	}
	return true;
}

static const struct tap_case cases[] = {
	{ "all complete: as many are open as the twin says", all_complete },
	{ "spoofed SYNs", spoofed },
	{ "few dead handshakes prove nothing", few_dead },
	{ "those of a neighbouring slice count", of_a_neighbour },
	{ "the worst case", at_worst },
	{ "idle for long", idle_for_long },
	{ "an idle one may wait", idle_may_wait },
	{ "the first handshakes teach more", learns },
	{ "stalls", stalls },
	{ "due by age", due_by_age },
	{ "a machine stands still", stands_still },
	{ "nonsense", nonsense },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
