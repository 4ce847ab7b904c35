/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of source.c share: one small table, the bucket of its class, and how to
 * ask them.
 */
#ifndef _SYNQ_TEST_SOURCE_TABLE_H
#define _SYNQ_TEST_SOURCE_TABLE_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <string.h>

#include "source.h"
#include "tap.h"

#define SECOND		1000000000ULL	/* ns */
#define SETS		1024
#define WAYS		(SETS * SYNQ_SOURCE_WAYS)

static struct synq_source_set sets[SETS];
static struct synq_source_note notes[WAYS];
static const struct synq_source_table table = { SETS - 1, sets, notes };
static struct synq_source_rate rate;

static struct synq_tbf class_tbf, stray_tbf;
static atomic64_t class_tat;
static struct synq_source_class class;

/* A class with a limit, or with one for strays only. */
static inline void begin_class(u32 per_second, u32 burst, bool strays_only)
{
	synq_tbf_init(&class_tbf, per_second, 1, burst);
	synq_tbf_init(&stray_tbf, per_second, 1,
		      strays_only ? burst : (burst + 1) / 2);
	class = (struct synq_source_class){
		.tbf = strays_only ? NULL : &class_tbf,
		.stray = &stray_tbf,
		.tat = &class_tat,
	};
}

static inline void begin_period(u32 tokens, u32 period, u32 burst)
{
	memset(sets, 0, sizeof(sets));
	memset(notes, 0, sizeof(notes));
	synq_source_init(&rate, tokens, period, burst);
	atomic64_set(&class_tat, 0);
	begin_class(1000000, 1000000, true);
}

static inline void begin(u32 per_second, u32 burst)
{
	begin_period(per_second, 1, burst);
}

static inline struct synq_source source_of(u64 hash)
{
	return (struct synq_source){ { hash, ~hash }, hash };
}

static u64 strays;

/* Every other time by the short way, if that knows. */
static inline enum synq_source_answer ask(u64 hash, u64 now)
{
	struct synq_source source = source_of(hash);
	enum synq_source_answer answer;
	struct synq_source_span span;
	static bool shortly;
	bool stray = false;

	shortly = !shortly;
	synq_source_span(&rate, now, &span);
	if (shortly && synq_source_exceeds(&table, hash, &span))
		return SYNQ_SOURCE_EXCEEDS;
	answer = synq_source_ask(&table, &rate, &source, &class, now);
	if (shortly && answer == SYNQ_SOURCE_EXCEEDS)
		abort();	/* which the short way should have known */
	if (answer != SYNQ_SOURCE_CONFORMS)
		return answer;
	answer = synq_source_take(&table, &rate, &source, &class, now, &stray);
	if (!stray && answer != SYNQ_SOURCE_CONFORMS)
		abort();	/* nobody else has taken anything */
	strays += stray;
	return answer;
}

static inline bool take(u64 hash, u64 now)
{
	return ask(hash, now) == SYNQ_SOURCE_CONFORMS;
}

/* Source number @n of set @set. */
static inline u64 in_set(u32 set, u64 n)
{
	return (n + 1) << 40 | set;
}

/* How many conform at this instant. */
static inline u32 drain(u64 hash, u64 now)
{
	u32 n = 0;

	while (n <= SYNQ_SOURCE_BURST_MAX && take(hash, now))
		n++;
	return n;
}

static inline u32 class_tokens(u64 now)
{
	u32 n = 0;

	while (synq_source_take_class(&class_tbf, &class_tat, now))
		n++;
	return n;
}

#endif /* _SYNQ_TEST_SOURCE_TABLE_H */
