// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of source.c, in user space.  Run by "make -C module/test check".
 *
 * Two slow obvious twins, both exact: they count in integers, in units of
 * 10^-9 tokens, divided by the period in seconds, so that one nanosecond is worth
 * "rate" of them.
 *  - a bucket of tokens that is filled and emptied, for clocks that only go
 *    forward;
 *  - virtual scheduling by the letter of its definition, for any clock.
 * Where source.c decides otherwise than a twin, the twin must have been within
 * one unit of its resolution of the other decision; then it follows, and any
 * error that added up would show later.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "source.h"
#include "tap.h"

#define SECOND	1000000000ULL	/* in ns */
#define YEAR	(31557600 * SECOND)
#define HORIZON	((1ULL << 62) - 1)

/* The period of all rates of a test, in seconds, and what it makes of the units. */
static u32 period = 1;

#define PERIOD	(period * SECOND)
#define TOKEN	((__int128)PERIOD)	/* in units of 10^-9 tokens/period */

static const u32 rates[] = {
	1, 2, 3, 7, 10, 60, 97, 999, 1000, 1001, 44100, 65535, 65536, 299999,
	1000000, 999999, 3333333, 7777777, 9765625, 9999991, 9999999, 10000000,
};

static const u32 bursts[] = { 1, 2, 3, 10, 1000, 999999, 1000000 };

static const u64 starts[] = {
	0, 1, 999, SECOND, YEAR, 100 * YEAR, 1ULL << 61, HORIZON - 2 * SECOND,
};

static bool pass(const struct synq_tbf *tbf, u64 *tat, u64 now)
{
	return synq_tbf_next(tbf, *tat, now, tat);
}

/* How many pass at this instant; more than any burst, if there is no end. */
static u32 drain(const struct synq_tbf *tbf, u64 *tat, u64 now)
{
	u32 n = 0;

	while (n <= SYNQ_TBF_BURST_MAX && pass(tbf, tat, now))
		n++;

	return n;
}

static void some_period(void)
{
	static const u32 periods[] = { 1, 60, 3600, 86400 };

	period = tap_below(4) ? periods[tap_below(ARRAY_SIZE(periods))] :
		 1 + tap_below(SYNQ_TBF_PERIOD_MAX);
}

/* With some period. */
static u32 some_rate(void)
{
	some_period();
	if (tap_below(2))
		return rates[tap_below(ARRAY_SIZE(rates))];

	/* as many small ones as large ones */
	return 1 + tap_below(SYNQ_TBF_RATE_MAX >> tap_below(24));
}

/* What is left of a burst that would take too long to fill. */
static u32 fills(u32 rate, u32 burst)
{
	return min((u64)burst, (u64)(SYNQ_TBF_FILL_MAX / period) * rate);
}

static u32 some_burst(u32 rate)
{
	return fills(rate, 1 + tap_below(SYNQ_TBF_BURST_MAX >> tap_below(20)));
}

/* A gap with a chance to hit each of: now, soon, about one token, idle. */
static u64 some_gap(u32 rate, u32 burst)
{
	u64 interval = PERIOD / rate;

	switch (tap_below(6)) {
	case 0:
		return 0;
	case 1:
		return tap_below(4);
	case 2:
		return interval + tap_below(5) - 2 * (interval > 2);
	case 3:
		return tap_random() % (2 * interval + 2);
	case 4:
		return tap_random() % (interval * (1 + burst / 8) + 2);
	default:
		return tap_below(64) ? tap_random() % (interval / 8 + 2) :
		       tap_random() % (2 * interval * burst + SECOND);
	}
}

/* Is a twin that is off by @margin, in 10^-9 tokens, off by a unit at most? */
static bool within_a_unit(const struct synq_tbf *tbf, __int128 margin)
{
	if (margin < 0)
		margin = -margin;

	return margin * tbf->interval <= TOKEN;
}

static bool test_burst(void)
{
	struct synq_tbf tbf;
	unsigned int i, j, k;
	u64 tat, stays;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		some_period();
		for (j = 0; j < ARRAY_SIZE(bursts); j++) {
			k = tap_below(ARRAY_SIZE(starts));
			synq_tbf_init(&tbf, rates[i], period, bursts[j]);
			tat = 0;
			n = drain(&tbf, &tat, starts[k]);
			check(n == fills(rates[i], bursts[j]),
			      "rate %u burst %u passed %u", rates[i], bursts[j], n);
			stays = tat;
			check(!pass(&tbf, &tat, starts[k]));
			check(tat == stays);
		}
	}

	return true;
}

static bool test_fresh(void)
{
	struct synq_tbf tbf;
	unsigned int i, j;
	u64 tat;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		some_period();
		synq_tbf_init(&tbf, rates[i], period, 1);
		for (j = 0; j < ARRAY_SIZE(starts); j++) {
			tat = 0;
			check(pass(&tbf, &tat, starts[j]), "at %llu",
			      starts[j]);
			check(tat, "0 is no state of a bucket in use");
			check(!pass(&tbf, &tat, starts[j]));
		}
	}

	return true;
}

/* One interval after an empty bucket's last token, and not a unit before. */
static bool test_refill(void)
{
	struct synq_tbf tbf;
	unsigned int i, j;
	u64 tat, due;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		some_period();
		for (j = 0; j < ARRAY_SIZE(starts); j++) {
			synq_tbf_init(&tbf, rates[i], period, 10);
			tat = 0;
			for (n = 0; n < 10; n++)
				check(pass(&tbf, &tat, starts[j]));
			due = starts[j] + (PERIOD + rates[i] - 1) / rates[i];
			check(!pass(&tbf, &tat, due - 2), "rate %u", rates[i]);
			check(pass(&tbf, &tat, due + 1), "rate %u", rates[i]);
			check(!pass(&tbf, &tat, due + 1), "rate %u", rates[i]);
		}
	}

	return true;
}

static bool test_idle(void)
{
	static const u64 idle[] = { 2 * SECOND, YEAR, 10 * YEAR, 140 * YEAR };
	struct synq_tbf tbf;
	unsigned int i, j;
	u64 tat, now;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		some_period();
		synq_tbf_init(&tbf, rates[i], period, 1000);
		for (j = 0; j < ARRAY_SIZE(idle); j++) {
			now = SECOND;
			tat = 0;
			drain(&tbf, &tat, now);
			now += 1000 * PERIOD + idle[j];
			n = drain(&tbf, &tat, now);
			check(n == 1000, "rate %u passed %u", rates[i], n);
		}
	}

	return true;
}

/*
 * So many tokens that one is no error of the rate, asked for three times as
 * often as they come.  A burst of 1 is left out: such a bucket has no room for
 * what comes between two looks.
 */
static bool test_rate(void)
{
	unsigned int i, j;
	struct synq_tbf tbf;
	u64 tat, start, now, span, n, step, tokens;
	__int128 expected, error;
	u32 burst;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		some_period();
		/* As many as fit into a year. */
		tokens = min(3000000ULL, YEAR / PERIOD * rates[i]);
		j = i % ARRAY_SIZE(starts);
		start = starts[j];
		if (start > HORIZON - YEAR)
			start = HORIZON - (tokens + 1) * (PERIOD / rates[i] + 1);
		burst = bursts[1 + i % 4];
		synq_tbf_init(&tbf, rates[i], period, burst);
		span = (__int128)tokens * PERIOD / rates[i];
		step = PERIOD / rates[i] / 3 - 1;
		tat = 0;
		n = 0;
		for (now = start; now <= start + span; now += step) {
			n += drain(&tbf, &tat, now);
			check(n <= tokens + 2 * burst, "rate %u", rates[i]);
			now += tap_below(3);
		}
		/* the last step may have passed the end of the span */
		span = now - start;
		expected = (__int128)span * rates[i] + burst * TOKEN;
		error = n * TOKEN - expected;
		check(error < TOKEN && -error < 2 * TOKEN,
		      "rate %u: %llu passed, %.3f too many", rates[i],
		      n, (double)error / TOKEN);
	}

	return true;
}

/*
 * The rate over 146 years, which nobody can wait for: an arrival at a full
 * bucket shows where the stretched clock stands.
 */
static bool test_horizon(void)
{
	struct synq_tbf tbf;
	u64 now, tat, clock;
	__int128 exact;
	u32 rate;
	int i;

	for (i = 0; i < 2000000; i++) {
		rate = some_rate();
		now = tap_random() % (HORIZON + 1) >> tap_below(63);
		synq_tbf_init(&tbf, rate, period, 1);
		check(synq_tbf_next(&tbf, 0, now, &tat));
		clock = tat - tbf.interval;
		exact = (__int128)now * tbf.interval * rate / TOKEN;
		check(clock <= exact && exact - clock <= 1,
		      "rate %u at %llu ns", rate, now);
	}

	return true;
}

static bool trace_forward(u32 rate, u32 burst, u64 now, int arrivals)
{
	const __int128 full = burst * TOKEN;
	__int128 level = full;
	struct synq_tbf tbf;
	u64 tat = 0;
	u64 gap;
	bool ok;

	synq_tbf_init(&tbf, rate, period, burst);
	while (arrivals--) {
		ok = pass(&tbf, &tat, now);
		check(ok == (level >= TOKEN) || within_a_unit(&tbf, level - TOKEN),
		      "rate %u burst %u at %llu: %d with %.9f tokens",
		      rate, burst, now, ok, (double)level / TOKEN);
		if (ok)
			level -= TOKEN;

		gap = some_gap(rate, burst);
		if (gap > HORIZON - now)
			break;
		now += gap;
		level += (__int128)gap * rate;
		if (level > full)
			level = full;
	}

	return true;
}

static bool test_traces(void)
{
	u32 rate;
	int i;

	for (i = 0; i < 3000; i++) {
		rate = some_rate();
		if (!trace_forward(rate, some_burst(rate),
				   starts[tap_below(ARRAY_SIZE(starts))], 1000))
			return false;
	}

	/* small buckets see each of their states often */
	for (i = 0; i < 3000; i++)
		if (!trace_forward(some_rate(), 1 + tap_below(4),
				   starts[tap_below(ARRAY_SIZE(starts))], 1000))
			return false;

	return true;
}

/* Arrivals at @base or up to @jitter before, as from CPUs that disagree. */
static bool trace_jitter(u32 rate, u32 burst, u64 base, u64 jitter, int arrivals)
{
	const __int128 tolerance = (burst - 1) * TOKEN;
	const u64 start = base;
	struct synq_tbf tbf;
	__int128 due = 0;	/* the TAT, times the rate */
	__int128 arrival, early;
	u64 tat = 0, passed = 0;
	u64 now;
	bool ok;

	synq_tbf_init(&tbf, rate, period, burst);
	while (arrivals--) {
		now = base - tap_random() % (jitter + 1);
		ok = pass(&tbf, &tat, now);
		arrival = (__int128)now * rate;
		early = due - arrival;
		check(ok == (early <= tolerance) ||
		      within_a_unit(&tbf, early - tolerance),
		      "rate %u burst %u at %llu", rate, burst, now);
		if (ok) {
			due = (early > 0 ? due : arrival) + TOKEN;
			passed++;
		}
		base += some_gap(rate, burst);
	}
	check((passed - burst) * (__int128)TOKEN <=
	      (__int128)(base - start + jitter) * rate + TOKEN,
	      "rate %u burst %u: a token was handed out twice", rate, burst);

	return true;
}

static bool test_jitter(void)
{
	u64 jitter;
	u32 rate;
	int i;

	for (i = 0; i < 3000; i++) {
		rate = some_rate();
		jitter = tap_random() % (3 * PERIOD / rate + 1000);
		if (jitter > SECOND / 2)
			jitter = SECOND / 2;
		if (!trace_jitter(rate, 1 + tap_below(20), 10 * SECOND, jitter,
				  1000))
			return false;
	}

	return true;
}

static bool test_backwards(void)
{
	struct synq_tbf tbf;
	u64 tat = 0, stays;
	u64 now = 1000 * SECOND;
	int n;

	/* 1000/s, 10: a step back of 3 ms costs 3 of the tokens not yet used */
	synq_tbf_init(&tbf, 1000, 1, 10);
	for (n = 0; n < 4; n++)
		check(pass(&tbf, &tat, now));
	n = drain(&tbf, &tat, now - 3000000);
	check(n == 3, "%d", n);

	/* all are back when the clock is */
	n = drain(&tbf, &tat, now);
	check(n == 3, "%d", n);

	/* an empty bucket stays empty and keeps its state */
	stays = tat;
	check(!pass(&tbf, &tat, now - 5000000));
	check(!pass(&tbf, &tat, now - SECOND / 2));
	check(tat == stays);
	check(pass(&tbf, &tat, now + 1000001));

	/* a full bucket that has been idle for longer than the step loses none */
	tat = 0;
	check(pass(&tbf, &tat, now));
	now += SECOND;
	n = drain(&tbf, &tat, now - 5000000);
	check(n == 10, "%d", n);

	return true;
}

/*
 * A word of another rate, or junk, passes no more than a burst at one instant
 * and refuses for no longer than period / rate + 1.1 s.
 */
static bool test_foreign(void)
{
	struct synq_tbf old, tbf;
	u64 tat, now, patience;
	u32 rate, burst, n;
	int i;

	for (i = 0; i < 20000; i++) {
		now = tap_random() % (100 * YEAR) >> tap_below(56);
		tat = tap_random();
		if (tap_below(4)) {
			rate = some_rate();
			synq_tbf_init(&old, rate, period,
				      1 + tap_below(100));
			tat = 0;
			drain(&old, &tat, now);
		}
		rate = some_rate();
		burst = 1 + tap_below(100);
		synq_tbf_init(&tbf, rate, period, burst);
		n = drain(&tbf, &tat, now);
		check(n <= burst, "rate %u burst %u passed %u", rate, burst, n);
		patience = PERIOD / rate + SECOND + SECOND / 10;
		check(pass(&tbf, &tat, now + patience), "rate %u burst %u",
		      rate, burst);
	}

	return true;
}

static bool same(u32 rate, u32 burst, u32 as_rate, u32 as_burst)
{
	struct synq_tbf a, b;

	synq_tbf_init(&a, rate, 1, burst);
	synq_tbf_init(&b, as_rate, 1, as_burst);

	return a.scale == b.scale && a.interval == b.interval &&
	       a.tolerance == b.tolerance;
}

static bool test_range(void)
{
	check(same(0, 5, 1, 5));
	check(same(5, 0, 5, 1));
	check(same(10000001, 5, 10000000, 5));
	check(same(~0U, ~0U, 10000000, 1000000));
	check(!same(9999999, 5, 10000000, 5));
	check(!same(5, 999999, 5, 1000000));

	return true;
}

static bool test_unit(void)
{
	struct synq_tbf tbf;
	u32 rate;
	int i;

	for (i = 0; i < 1000000; i++) {
		rate = some_rate();
		synq_tbf_init(&tbf, rate, period, 1);
		check(tbf.scale >> 63, "rate %u: scale below 1", rate);
		check(!(tbf.interval & (tbf.interval - 1)), "rate %u", rate);
		check(tbf.tolerance == 0);
	}

	return true;
}

static bool test_idle_since(void)
{
	struct synq_tbf tbf;
	u32 rate, burst;
	u64 tat, now;
	int i, n;

	period = 1;
	for (i = 0; i < 10000; i++) {
		rate = 1 + tap_below(1000);
		burst = 1 + tap_below(1000);
		synq_tbf_init(&tbf, rate, period, burst);
		now = starts[tap_below(ARRAY_SIZE(starts) - 1)];
		tat = tap_below(2) ? tap_random() : 0;
		for (n = 0; n < 20; n++) {
			pass(&tbf, &tat, now);
			check(!synq_tbf_is_idle(&tbf, tat, now), "rate %u burst %u, %d",
			      rate, burst, n);
			now += some_gap(rate, burst);
		}
		/* Full again, and a moment more. */
		now += SECOND * burst / rate + 2 * SECOND;
		check(synq_tbf_is_idle(&tbf, tat, now), "rate %u burst %u: never idle",
		      rate, burst);
	}
	return true;
}

static const struct tap_case cases[] = {
	{ "a full bucket passes exactly its burst at one instant", test_burst },
	{ "a TAT of 0 is a full bucket at any time", test_fresh },
	{ "an empty bucket has a token after one interval", test_refill },
	{ "an idle bucket fills up to its burst and no further", test_idle },
	{ "the long-run rate is exact within 10^-6", test_rate },
	{ "the stretched clock is exact for 146 years", test_horizon },
	{ "random arrivals agree with a bucket of tokens", test_traces },
	{ "arrivals out of order agree with the definition", test_jitter },
	{ "a step back of the clock loses no more than it is long", test_backwards },
	{ "a word of another rate does no lasting harm", test_foreign },
	{ "an idle bucket is told from one that was asked", test_idle_since },
	{ "parameters out of range become the nearest in range", test_range },
	{ "a unit is between half a nanosecond and one", test_unit },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
