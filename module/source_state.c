// SPDX-License-Identifier: GPL-2.0
/*
 * Shows the sources in the table of source.c: which of them exceed their rate, which source
 * a way belongs to, and how full its bucket is.  It changes nothing.
 *
 * Pure: no lock, no sleeping; the clock is an argument.
 */
#include <linux/compiler.h>
#include <linux/minmax.h>
#include "source.h"
#include "source_word.h"

/**
 * synq_source_span() - which TATs mean that a source exceeds its rate?
 * @rate: of their buckets
 * @now_ns: monotonic clock, ns; it may be some ticks ahead
 * @span: filled in
 *
 * A way has units coarser than a TAT.  All TATs of one unit exceed, or none does, since the
 * burst is a whole number of them.  The span excludes junk (synq_tbf_next()).
 */
void synq_source_span(const struct synq_source_rate *rate, u64 now_ns,
		      struct synq_source_span *span)
{
	const struct synq_tbf *tbf = &rate->tbf;

	span->begin = (clock_of(rate, now_ns) & TIME_MASK) +
		      (tbf->tolerance >> rate->shift) + 1;
	span->length = (tbf->interval + SYNQ_TBF_FOREIGN) >> rate->shift;
}

/**
 * synq_source_state() - what is known of a way
 * @table: buckets of sources
 * @rate: of these
 * @index: of the way among all, below 8 * (mask + 1)
 * @now_ns: monotonic clock, ns
 * @state: filled in; its hash is to be compared by synq_source_is_at()
 *
 * Return: false if the way belongs to no source
 */
bool synq_source_state(const struct synq_source_table *table,
		       const struct synq_source_rate *rate, u32 index,
		       u64 now_ns, struct synq_source_state *state)
{
	const struct synq_source_set *set =
		&table->set[index / SYNQ_SOURCE_WAYS];
	const struct synq_source_note *note = &table->note[index];
	u64 word = atomic64_read(&set->way[index % SYNQ_SOURCE_WAYS]);
	u64 full = rate->tbf.tolerance + rate->tbf.interval;
	u64 now = synq_tbf_clock(&rate->tbf, now_ns);
	u64 tat;

	if (!word)
		return false;
	tat = tat_of(rate, word, now >> rate->shift);
	/* Pairs with WRITE_ONCE in note_conforming(). */
	state->source.addr[0] = READ_ONCE(note->addr[0]);
	state->source.addr[1] = READ_ONCE(note->addr[1]);
	state->conformed = atomic64_read(&note->conformed);
	state->exceeded = atomic64_read(&note->exceeded);
	tat = tat > now ? min(tat - now, full) : 0;
	state->tokens = (full - tat) >> (rate->shift + TOKEN_BITS);
	return true;
}

/**
 * synq_source_is_at() - does a way belong to a source?
 * @table: buckets of sources
 * @index: of the way among all
 * @hash: of the source
 *
 * Return: true if so
 */
bool synq_source_is_at(const struct synq_source_table *table, u32 index,
		       u64 hash)
{
	u32 set = index / SYNQ_SOURCE_WAYS;
	u64 word = atomic64_read(&table->set[set].way[index % SYNQ_SOURCE_WAYS]);

	return set == (hash & table->mask) && word >> TIME_BITS == tag_of(hash);
}
