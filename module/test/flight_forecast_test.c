// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of flight.c, in user space: how many connections will be queued when a
 * handshake that begins now completes.  Run by "make -C module/test check".
 */
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "flight.h"
#include "flight_twin.h"
#include "tap.h"

static u32 forecast(const u64 due[SYNQ_FLIGHT_WINDOW], u32 queued, u64 interval)
{
	struct synq_flight_outlook outlook = {
		.handshake_ns = twin.clock.mean_ns,
		.slice_ns = twin.clock.slice_ns,
		.interval_ns = interval,
		.bunch = SYNQ_FLIGHT_BUNCH,
	};

	synq_flight_outlook_at(&outlook,
			       synq_flight_clock_next(&twin.clock, twin.now),
			       twin.clock.first_ns, twin.now);
	return synq_flight_forecast(due, queued, &outlook);
}

/* A queue of one class: who is queued when one that begins now completes? */
static u32 foreseen(u32 queued, u64 interval)
{
	u64 due[SYNQ_FLIGHT_WINDOW] = { 0 };

	synq_flight_due(&twin.flight, SYNQ_FLIGHT_ONE, 1, due);
	return forecast(due, queued, interval);
}

/* The twin: each comes when it completes, the server takes one an interval. */
static u32 seen(u32 queued, u64 interval)
{
	double length = queued;
	u64 now = twin.now, end = twin.now + twin.clock.mean_ns;
	unsigned int i;

	for (i = 0; i < twin.n; i++) {
		struct handshake *h = &twin.list[i];

		if (h->ended || !h->ends || h->ends > end)
			continue;
		length -= (double)(h->ends - now) / interval;
		if (length < 0)
			length = 0;
		length++;
		now = h->ends;
	}
	length -= (double)(end - now) / interval;
	return length > 0 ? length + .5 : 0;
}

/* One by one or in bursts: as many are foreseen as will be there. */
static bool foresees(void)
{
	unsigned int n, burst;

	for (burst = 1; burst <= 40; burst++) {
		begin(5 * MS);
		for (n = 0; n < 600; n++) {
			pass(twin.now + 2 * MS * (n % burst ? 0 : burst));
			add(200 * MS);
			if (n > 400) {
				u64 interval = (1 + tap_below(8)) * MS;
				u32 queued = tap_below(30);
				u32 is = foreseen(queued, interval);
				u32 want = seen(queued, interval);
				/* a slice more or less at either end, a burst */
				u32 slack = 2 + 2 * twin.clock.slice_ns / interval +
					    burst;

				check(is <= want + slack && want <= is + slack,
				      "%u, not %u, of bursts of %u, %llu ns",
				      is, want, burst, interval);
			}
		}
	}
	return true;
}

/*
 * As fast as the server takes them out, one by one: the queue stays as it is, whenever
 * in a slice that is asked for, or a bunch is there.
 */
static bool foresees_evenly(void)
{
	const u64 interval = 5 * MS / 2;
	u32 queued, n;

	begin(5 * MS);
	for (n = 0; n < 400; n++) {
		pass(twin.now + interval);
		add(200 * MS);
	}
	for (queued = 0; queued < 16; queued += 5) {
		u32 want = max_t(u32, queued, SYNQ_FLIGHT_BUNCH);
		u32 least = ~0U, most = 0;

		for (n = 0; n < 200; n++) {
			u32 is;

			pass(twin.now + interval);
			add(200 * MS);
			is = foreseen(queued, interval);
			least = min(least, is);
			most = max(most, is);
		}
		check(most - least <= 2, "%u to %u of %u", least, most, queued);
		check(least + 1 >= want && most <= want + 1,
		      "%u to %u of %u", least, most, queued);
	}
	return true;
}

/*
 * A wave in the midst of a slice, of whom one in twenty leaves meanwhile: those who would
 * have left before it do not make room.
 */
static bool foresees_a_wave(void)
{
	const u64 interval = 5 * MS / 2;
	u32 before, n;

	for (before = 0; before < 8; before++) {
		begin(5 * MS);
		for (n = 0; n < 400; n++) {
			pass(twin.now + interval);
			add(200 * MS);
		}
		pass(synq_flight_clock_next(&twin.clock, twin.now + 1000 * MS));
		pass(twin.now + before * twin.clock.slice_ns / 10);
		for (n = 0; n < 20; n++) {
			u32 is, want;

			add(200 * MS);
			is = foreseen(0, interval);
			want = seen(0, interval);
			check(is <= want + 1 && want <= is + 1,
			      "%u, not %u, at %u/10 of a slice", is, want, before);
			pass(twin.now + interval / 20);
		}
	}
	return true;
}

static bool says_where_in_a_slice(void)
{
	struct synq_flight_outlook outlook = { .slice_ns = 25 * MS };

	synq_flight_outlook_at(&outlook, 1025 * MS, 700 * MS, 1010 * MS);
	check(outlook.phase_ns == 10 * MS, "%llu ns", outlook.phase_ns);
	check(outlook.spread_ns == 10 * MS, "none began in it");
	synq_flight_outlook_at(&outlook, 1025 * MS, 1007 * MS, 1010 * MS);
	check(outlook.phase_ns == 10 * MS, "%llu ns", outlook.phase_ns);
	check(outlook.spread_ns == 3 * MS, "the first began 3 ms ago");
	synq_flight_outlook_at(&outlook, 1025 * MS, 1007 * MS, 1040 * MS);
	check(outlook.phase_ns == 25 * MS, "nobody has advanced: %llu ns",
	      outlook.phase_ns);
	check(outlook.spread_ns == 25 * MS, "%llu ns", outlook.spread_ns);
	/* What another CPU wrote since. */
	synq_flight_outlook_at(&outlook, 1050 * MS, 1026 * MS, 1024 * MS);
	check(!outlook.phase_ns && !outlook.spread_ns, "before the slice");
	return true;
}

/* Of an empty queue that nobody is taken from. */
static u32 all_due(u32 ratio, u32 times)
{
	u64 due[SYNQ_FLIGHT_WINDOW] = { 0 };

	synq_flight_due(&twin.flight, ratio, times, due);
	return forecast(due, 0, 0);
}

/* Nobody knows how fast the server is, or it is not to be had. */
static bool foresees_the_worst(void)
{
	unsigned int n;

	begin(5 * MS);
	for (n = 0; n < 50; n++)
		add(100 * MS);
	check(foreseen(7, 0) == 57, "%u", foreseen(7, 0));
	check(foreseen(7, 1000000 * MS) == 57, "%u",
	      foreseen(7, 1000000 * MS));
	check(foreseen(7, MS) >= 49 && foreseen(7, MS) <= 50,
	      "%u: a burst is not served before it comes", foreseen(7, MS));
	return true;
}

/*
 * The sum bounds the forecast, of any past: floods and crowds that come and go, of
 * which many, few or none complete, sooner or later.
 */
static bool sum_is_a_bound(void)
{
	u32 round, tight = 0, all = 0;

	for (round = 0; round < 200; round++) {
		u32 dead = tap_below(11), rtt = 1 + tap_below(300), n;
		u32 crowd = 1 + tap_below(40), gap = 1 + tap_below(200);

		begin(5 * MS);
		for (n = 0; n < 200; n++) {
			u32 times = 1 + tap_below(4), open, ratio, most, is;

			if (!(n % crowd))
				pass(twin.now + gap * MS);
			add(tap_below(10) < dead ? 0 :
			    (rtt + tap_below(1 + rtt / 2)) * MS);
			open = synq_flight_open(&twin.flight);
			ratio = synq_flight_ratio(&twin.flight);
			most = synq_flight_most(synq_flight_expected(open, ratio),
						open, times);
			is = all_due(ratio, times);
			check(is <= most, "%u of %u open, at most %u", is, open,
			      most);
			tight += is == most && most < open;
			all += is == open;
		}
	}
	check(tight > 400 && all > 10000, "%u tight, %u all open", tight,
	      all);
	return true;
}

static const struct tap_case cases[] = {
	{ "foresees the queue", foresees },
	{ "foresees it evenly", foresees_evenly },
	{ "foresees a wave", foresees_a_wave },
	{ "says where in a slice", says_where_in_a_slice },
	{ "foresees the worst", foresees_the_worst },
	{ "a sum is a bound of what is foreseen", sum_is_a_bound },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
