/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Was this seen in the last SYNQ_FINGERPRINT_MS, and when?  The table has a fixed
 * size: the low bits of a keyed hash choose a set, the high 32 are
 * stored, and the oldest of a set is overwritten.  So the answer is "no" for an entry that
 * was overwritten, and "yes", once in 2^31 questions, for one that was never made.
 *
 * The newest entry of a set is in the first way, and moves the previous one to the second.
 * So there is no search for the oldest, or for an empty one.
 *
 * Used for what was refused, on many CPUs at once, without a lock: a way is one
 * 64-bit word that is read and written as a whole.  If two CPUs write to one
 * set at the same instant, one entry may be lost, or be there twice.
 * On a 32-bit machine a word may be torn: a fingerprint with another's time.
 * Either way a retry is taken for a first try, or the reverse, in a statistic.
 *
 * The clock is an argument and wraps in 50 days.  An old entry that looks young then
 * matters only if its fingerprint matches, too.  A reader's clock may be a tick or two
 * behind the writer's.
 */
#ifndef _SYNQ_FINGERPRINT_H
#define _SYNQ_FINGERPRINT_H

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/types.h>

#define SYNQ_FINGERPRINT_SETS	4096	/* a power of two */

/* Between two SYNs of one connection Linux waits for 32 s at most. */
#define SYNQ_FINGERPRINT_MS	40000

/**
 * struct synq_fingerprints - the table; all zero is empty
 * @way: fingerprint in the upper half, time in the lower; 0: empty.  Of a set the
 *	newest first
 */
struct synq_fingerprints {
	u64 way[SYNQ_FINGERPRINT_SETS][2];
};

/* From here on it is the clock that is behind. */
#define SYNQ_FINGERPRINT_BEHIND_MS	(U32_MAX - 100)

/**
 * synq_fingerprint_lately() - when was what is found noted?
 * @word: that was found
 * @now_ms: clock, wraps
 *
 * Return: so many ms ago, up to SYNQ_FINGERPRINT_MS; -1 if not lately
 */
static inline int synq_fingerprint_lately(u64 word, u32 now_ms)
{
	u32 age = now_ms - (u32)word;

	if (age >= SYNQ_FINGERPRINT_BEHIND_MS)
		return 0;
	return age <= SYNQ_FINGERPRINT_MS ? (int)age : -1;
}

static __always_inline bool synq_fingerprint_is(u64 word, u64 hash)
{
	return word >> 32 == hash >> 32 && word;
}

/**
 * synq_fingerprint_age() - when was this noted last?
 * @table: the table
 * @hash: of what is asked for
 * @now_ms: clock, wraps
 *
 * Return: so many ms ago, up to SYNQ_FINGERPRINT_MS; -1 if not lately, or if it
 * was pushed out since
 */
static inline int synq_fingerprint_age(const struct synq_fingerprints *table, u64 hash,
				       u32 now_ms)
{
	const u64 *set = table->way[hash % SYNQ_FINGERPRINT_SETS];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		/* Pairs with WRITE_ONCE in synq_fingerprint_note(). */
		u64 word = READ_ONCE(set[i]);

		if (synq_fingerprint_is(word, hash))
			return synq_fingerprint_lately(word, now_ms);
	}
	return -1;
}

/**
 * synq_fingerprint_note() - remember this, from now on
 * @table: the table
 * @hash: of what is to be known again
 * @now_ms: clock, wraps
 *
 * Return: what synq_fingerprint_age() would have returned before
 */
static __always_inline int
synq_fingerprint_note(struct synq_fingerprints *table, u64 hash, u32 now_ms)
{
	u64 *set = table->way[hash % SYNQ_FINGERPRINT_SETS];
	u64 newest = READ_ONCE(set[0]), other;

	WRITE_ONCE(set[0], hash >> 32 << 32 | now_ms);
	if (synq_fingerprint_is(newest, hash))
		return synq_fingerprint_lately(newest, now_ms);
	other = READ_ONCE(set[1]);
	WRITE_ONCE(set[1], newest);
	return synq_fingerprint_is(other, hash) ?
	       synq_fingerprint_lately(other, now_ms) : -1;
}

#endif /* _SYNQ_FINGERPRINT_H */
