// SPDX-License-Identifier: GPL-2.0
/*
 * Notes of what one has left for another to do, who takes the note and does it:
 * whoever finds none has nothing to do.  So it is done once, whatever has
 * changed in between.
 *
 * judge.c puts a note in PREROUTING for each SYN that may be answered by a cookie, and
 * LOCAL_IN takes it.  To find out there, once more, what was decided would not do: a
 * batch of packets passes PREROUTING before the first of it gets there, other CPUs
 * go on meanwhile, and the state of the class changes with each SYN.
 *
 * The table is of fixed size, whatever comes: the low bits of a keyed hash choose a
 * set of 8 ways, and a way is one 64-bit word, the upper half of the hash and the
 * time.
 *
 * DOC: one note, one SYN
 *
 * 1. A word is written and cleared only by compare and exchange with what was read
 *    there.  So no two put their notes in one place, and no two take the same.
 * 2. A note is put before its SYN goes on, and whoever hands the SYN to another CPU
 *    (NFQUEUE) orders that, too: it is found wherever the SYN comes out.  The words
 *    need no order among each other: the exchanges may be relaxed.
 * 3. A note keeps its place while its SYN is on its way, which takes as long as a
 *    batch, a few ms at the most: only one older than SYNQ_LEFT_SOON_MS gives way,
 *    the oldest first.  Where a set has none, the note is not put, and its SYN
 *    not left but judged at once.
 * 4. Nobody comes for the note of a SYN that the host's firewall has dropped.  It
 *    is void after SYNQ_LEFT_MS: the same SYN comes again after a second, and shall
 *    not be taken for left if this time it was not.
 * 5. SYNs that are the same bit by bit have the same note, each its own.  Which of
 *    them takes which makes no difference.
 *
 * What it takes to fill the table: 8192 notes in 20 ms that nobody takes, of SYNs
 * that are left and then dropped by the firewall, 400,000 in a second.
 *
 * What remains: a SYN that is held up (NFQUEUE) for longer than SYNQ_LEFT_MS, or
 * SYNQ_LEFT_SOON_MS in a full set, goes without; one that is not left, and was when the
 * firewall dropped the same less than SYNQ_LEFT_MS ago, is done twice; of three or more
 * that are the same, on as many CPUs in the same instant, one may miss its note;
 * and one in 2^29, at the most, is taken for another.
 *
 * Many CPUs at once, without a lock.  The clock is an argument; it wraps, and may have
 * ticked on one CPU and not yet on another.  Pure.
 */
#include <linux/limits.h>
#include "left.h"

/* Never 0. */
static u64 word_of(u64 hash, u32 now_ms)
{
	return (hash >> 32 ?: 1) << 32 | now_ms;
}

/* Of another CPU, whose clock has just ticked: 0. */
static u32 age_of(u64 word, u32 now_ms)
{
	u32 age = now_ms - (u32)word;

	return age > U32_MAX - SYNQ_LEFT_MS ? 0 : age;
}

/* A place for a note, @found in it; NULL if there is none. */
static atomic64_t *place_in(atomic64_t *set, u32 now_ms, s64 *found)
{
	u32 oldest = SYNQ_LEFT_SOON_MS + 1;
	atomic64_t *way = NULL;
	unsigned int i;

	for (i = 0; i < SYNQ_LEFT_WAYS; i++) {
		s64 word = atomic64_read(&set[i]);
		u32 age = word ? age_of(word, now_ms) : U32_MAX;

		if (age >= oldest) {
			oldest = age;
			way = &set[i];
			*found = word;
		}
		if (!word)
			break;
	}
	return way;
}

/**
 * synq_left_put() - put a note
 * @left: the table
 * @hash: by which it will be found
 * @now_ms: clock, wraps
 *
 * An exchange fails only where another CPU's has succeeded.
 *
 * Context: any
 * Return: false if there is no place for it
 */
bool synq_left_put(struct synq_left *left, u64 hash, u32 now_ms)
{
	atomic64_t *set = left->way[hash % SYNQ_LEFT_SETS];
	const s64 note = word_of(hash, now_ms);
	atomic64_t *way;
	s64 found = 0;

	do {
		way = place_in(set, now_ms, &found);
		if (!way)
			return false;
	} while (!atomic64_try_cmpxchg_relaxed(way, &found, note));
	return true;
}

/**
 * synq_left_take() - take a note, if there is one
 * @left: the table
 * @hash: by which it was put
 * @now_ms: clock, wraps
 *
 * Context: any
 * Return: true if there was one, which is gone now
 */
bool synq_left_take(struct synq_left *left, u64 hash, u32 now_ms)
{
	atomic64_t *set = left->way[hash % SYNQ_LEFT_SETS];
	const u64 note = word_of(hash, 0) >> 32;
	unsigned int i;

	for (i = 0; i < SYNQ_LEFT_WAYS; i++) {
		s64 word = atomic64_read(&set[i]);

		if ((u64)word >> 32 == note &&
		    age_of(word, now_ms) <= SYNQ_LEFT_MS &&
		    atomic64_try_cmpxchg_relaxed(&set[i], &word, 0))
			return true;
	}
	return false;
}
