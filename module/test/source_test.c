// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of source.c, in user space.  Run by "make -C module/test check".
 *
 * The slow twin keeps a list of all sources that ever came, each with a whole TAT,
 * and knows no ways: a source is a stray if it has a full bucket and eight others
 * of its set do not.
 */
#include <linux/atomic.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <string.h>

#include "source.h"
#include "source_table.h"
#include "tap.h"

static bool state_of(u64 hash, u64 now, struct synq_source_state *state)
{
	u32 i, first = (hash & table.mask) * SYNQ_SOURCE_WAYS;

	for (i = first; i < first + SYNQ_SOURCE_WAYS; i++)
		if (synq_source_is_at(&table, i, hash))
			return synq_source_state(&table, &rate, i, now, state);
	return false;
}

static bool bursts_and_rates(void)
{
	static const u32 rates[] = {
		1, 2, 3, 7, 10, 20, 97, 999, 1000, 4096, 44100, 999999, 1000000,
	};
	static const u32 bursts[] = { 1, 2, 3, 8, 100, 1000000 };
	static const u32 periods[] = { 1, 60, 3600, 86400 };
	u32 r, b;

	for (r = 0; r < ARRAY_SIZE(rates); r++) {
		for (b = 0; b < ARRAY_SIZE(bursts); b++) {
			u32 period = periods[tap_below(ARRAY_SIZE(periods))];
			u64 now = tap_random() >> 2;
			u64 end = now + period * SECOND;
			u64 step = 1 + period * SECOND / rates[r] / 3;
			u32 burst = min((u64)bursts[b],
					(u64)(SYNQ_TBF_FILL_MAX / period) * rates[r]);
			u32 n = 0;

			begin_period(rates[r], period, bursts[b]);
			check(drain(5, now) == burst, "%u %u", rates[r], burst);
			check(drain(6, now) == burst, "another source");
			for (; now < end && n <= rates[r]; now += step)
				n += take(5, now);
			check(n == rates[r] || n + 1 == rates[r] || now >= end,
			      "%u in %u s, %u", n, period, rates[r]);
			check(n >= (rates[r] - 1) / 2 && n <= rates[r],
			      "%u in %u s, %u", n, period, rates[r]);
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
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
