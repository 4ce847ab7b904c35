// SPDX-License-Identifier: GPL-2.0
/*
 * Was this seen in the last SYNQ_FINGERPRINT_MS, and when?  The table is of fixed
 * size, whatever comes: the low bits of a keyed hash choose a set, the high 32 are
 * kept, and the oldest of a set gives way.  So it answers "no" for what it had
 * to forget, and "yes" for what it never saw once in 2^31 questions.
 *
 * Used for refused SYNs on many CPUs at once, without a lock: a way is one
 * 64-bit word that is read and written as a whole.  Two CPUs that note in one
 * set at the same instant may choose the same way, and the first is forgotten.
 * On a 32-bit machine a word may be torn: a fingerprint with another's time.
 * Either way a retry is taken for a first try, or the reverse: in a statistic, and
 * when law.c asks how soon a client would come back.
 *
 * The clock is an argument; it wraps in 50 days, and what old entries it would
 * then make young must have the fingerprint, too.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/types.h>
#include "fingerprint.h"

static u64 word_of(u64 hash, u32 now_ms)
{
	return (hash & ~(u64)U32_MAX) | now_ms;
}

static bool is_same(u64 word, u64 hash)
{
	return word && word >> 32 == hash >> 32;
}

static u32 age_of(u64 word, u32 now_ms)
{
	return now_ms - (u32)word;
}

static int lately(u32 age)
{
	return age <= SYNQ_FINGERPRINT_MS ? (int)age : -1;
}

/**
 * synq_fingerprint_age() - when was this noted last?
 * @table: the table
 * @hash: of what is asked for
 * @now_ms: clock, wraps
 *
 * Context: any
 * Return: so many ms ago, up to SYNQ_FINGERPRINT_MS; -1 if not lately, or if it
 * was pushed out since
 */
int synq_fingerprint_age(const struct synq_fingerprints *table, u64 hash,
			 u32 now_ms)
{
	const u64 *set = table->way[hash % SYNQ_FINGERPRINT_SETS];
	unsigned int i;

	for (i = 0; i < SYNQ_FINGERPRINT_WAYS; i++) {
		/* Pairs with WRITE_ONCE in synq_fingerprint_note(). */
		u64 word = READ_ONCE(set[i]);

		if (is_same(word, hash))
			return lately(age_of(word, now_ms));
	}
	return -1;
}

/**
 * synq_fingerprint_note() - remember this, from now on
 * @table: the table
 * @hash: of what is to be known again
 * @now_ms: clock, wraps
 *
 * Context: any
 * Return: what synq_fingerprint_age() would have returned before
 */
int synq_fingerprint_note(struct synq_fingerprints *table, u64 hash, u32 now_ms)
{
	u64 *set = table->way[hash % SYNQ_FINGERPRINT_SETS];
	unsigned int i, to = 0;
	u32 oldest = 0;
	int age = -1;

	for (i = 0; i < SYNQ_FINGERPRINT_WAYS; i++) {
		u64 word = READ_ONCE(set[i]);

		if (is_same(word, hash))
			age = lately(age_of(word, now_ms));
		if (!word || is_same(word, hash)) {
			to = i;
			break;
		}
		if (age_of(word, now_ms) >= oldest) {
			oldest = age_of(word, now_ms);
			to = i;
		}
	}
	WRITE_ONCE(set[to], word_of(hash, now_ms));
	return age;
}
