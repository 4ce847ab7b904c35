/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is in the word of a way, for source.c and source_state.c.
 */
#ifndef _SYNQ_SOURCE_WORD_H
#define _SYNQ_SOURCE_WORD_H

#include "source.h"

#define TIME_BITS	SYNQ_SOURCE_TIME_BITS
#define TIME_MASK	((1ULL << TIME_BITS) - 1)

/* Units of a way's time in a token, as a power of two. */
#define TOKEN_BITS	4

/* Later than any TAT, with the largest burst and a clock that went back 1 s. */
#define AHEAD_MAX	(TIME_MASK >> 14)

static inline u64 tag_of(u64 hash)
{
	return synq_source_tag(hash);
}

static inline u64 clock_of(const struct synq_source_rate *rate, u64 now_ns)
{
	return synq_tbf_clock(&rate->tbf, now_ns) >> rate->shift;
}

/* By how much a way's TAT is later than @now; 0: its bucket is full. */
static inline u64 ahead_of(u64 word, u64 now)
{
	u64 ahead = (word - now) & TIME_MASK;

	return ahead > AHEAD_MAX ? 0 : ahead;
}

static inline u64 tat_of(const struct synq_source_rate *rate, u64 word, u64 now)
{
	u64 ahead = word ? ahead_of(word, now) : 0;

	return ahead ? (now + ahead) << rate->shift : 0;
}

/*
 * Rounds down, and only a TAT that began from the clock: so the next one is never
 * less than an interval later than the last.
 */
static inline u64 word_of(const struct synq_source_rate *rate, u64 hash, u64 tat)
{
	return tag_of(hash) << TIME_BITS | (tat >> rate->shift & TIME_MASK);
}

#endif /* _SYNQ_SOURCE_WORD_H */
