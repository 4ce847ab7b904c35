// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of fingerprint.h, in user space.  Run by "make -C module/test check".
 *
 * The slow twin keeps a list of all that was noted: known is what is among the
 * last two different ones of its set, and not too old.
 */
#include <linux/limits.h>
#include <linux/types.h>
#include <string.h>

#include "fingerprint.h"
#include "tap.h"

#define NOTES_MAX	20000

struct note {
	u64 hash;
	u32 ms;
};

static struct synq_fingerprints table;
static struct note notes[NOTES_MAX];
static unsigned int n_notes;

static void begin(void)
{
	memset(&table, 0, sizeof(table));
	n_notes = 0;
}

static bool known(u64 hash, u32 ms)
{
	return synq_fingerprint_age(&table, hash, ms) >= 0;
}

static void note(u64 hash, u32 ms)
{
	synq_fingerprint_note(&table, hash, ms);
}

static bool twin_known(u64 hash, u32 ms)
{
	u64 other = hash;	/* the first of another fingerprint that is met */
	unsigned int i;

	for (i = n_notes; i--;) {
		const struct note *last = &notes[i];

		if ((last->hash ^ hash) % SYNQ_FINGERPRINT_SETS)
			continue;
		if (last->hash >> 32 == hash >> 32)
			return (u32)(ms - last->ms) <= SYNQ_FINGERPRINT_MS;
		if (other != hash && other >> 32 != last->hash >> 32)
			return false;
		other = last->hash;
	}
	return false;
}

static bool empty(void)
{
	unsigned int i;

	begin();
	check(!known(0, 0) && !known(0, 1) && !known(U32_MAX, 0), "zeros");
	for (i = 0; i < 10000; i++)
		check(!known(tap_random(), tap_random()), "%u", i);
	return true;
}

static bool remembers(void)
{
	u64 hash = 0x123456789abcdef0;

	begin();
	note(hash, 1000);
	check(known(hash, 1000), "at once");
	check(known(hash, 1000 + SYNQ_FINGERPRINT_MS), "to the end");
	check(!known(hash, 1001 + SYNQ_FINGERPRINT_MS), "and no longer");
	check(!known(hash ^ 1ULL << 32, 1000), "another one of the set");
	check(!known(hash ^ 1, 1000), "another set");
	note(hash, 30000);
	check(known(hash, 30000 + SYNQ_FINGERPRINT_MS), "noted again");
	check(synq_fingerprint_age(&table, hash, 30000) == 0, "just now");
	check(synq_fingerprint_age(&table, hash, 32000) == 2000, "2 s ago");
	check(synq_fingerprint_age(&table, hash, 29980) == 0, "two ticks behind");
	check(synq_fingerprint_age(&table, hash, 29000) == -1, "or just old");
	check(synq_fingerprint_note(&table, hash, 33000) == 3000, "3 s ago");
	check(synq_fingerprint_note(&table, ~hash, 33000) == -1, "another");
	check(synq_fingerprint_note(&table, hash, 33001 + SYNQ_FINGERPRINT_MS) ==
	      -1, "too long ago");
	return true;
}

static bool oldest_gives_way(void)
{
	u64 hash = 77;

	begin();
	note(hash | 1ULL << 32, 10);
	note(hash | 2ULL << 32, 20);
	note(hash | 1ULL << 32, 30);
	note(hash | 3ULL << 32, 40);
	check(known(hash | 1ULL << 32, 50), "came again meanwhile");
	check(!known(hash | 2ULL << 32, 50), "was the oldest");
	check(known(hash | 3ULL << 32, 50), "is the newest");
	return true;
}

static bool wraps(void)
{
	begin();
	note(1ULL << 32, U32_MAX - 10);
	note(2ULL << 32, 5);
	check(known(1ULL << 32, 10), "noted before the clock wrapped");
	note(3ULL << 32, 10);
	check(!known(1ULL << 32, 10), "and is the oldest after it");
	check(known(2ULL << 32, 10), "noted after it");
	return true;
}

/* A flood pushes out what came before it, and costs nothing else. */
static bool flood(void)
{
	unsigned int i, still = 0;

	begin();
	for (i = 0; i < 1000; i++)
		note((u64)i << 32 | i * 4, 1);
	for (i = 0; i < 1000000; i++)
		note(tap_random(), 2 + i / 1000);
	for (i = 0; i < 1000; i++)
		still += known((u64)i << 32 | i * 4, 1100);
	check(still == 0, "%u", still);
	note(5, 1100);
	check(known(5, 1100), "what comes next");
	return true;
}

/* Few sets and fingerprints, so that they meet. */
static u64 some_hash(void)
{
	return (u64)tap_below(6) << 32 | tap_below(1 << 20) << 12 |
	       tap_below(3);
}

static bool twin(void)
{
	u32 ms = U32_MAX - 50 * SYNQ_FINGERPRINT_MS;

	begin();
	while (n_notes < NOTES_MAX) {
		u64 hash = some_hash();

		ms += 1 + tap_below(SYNQ_FINGERPRINT_MS / 4);
		check(known(hash, ms) == twin_known(hash, ms), "%#llx at %u",
		      hash, ms);
		if (tap_below(2))
			continue;
		note(hash, ms);
		notes[n_notes++] = (struct note){ hash, ms };
	}
	return true;
}

static const struct tap_case cases[] = {
	{ "empty", empty },
	{ "remembers, for a time", remembers },
	{ "the oldest gives way", oldest_gives_way },
	{ "the clock wraps", wraps },
	{ "a flood", flood },
	{ "twin", twin },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
