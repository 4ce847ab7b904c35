/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Token buckets of sources, in a table of fixed size.  See source.c.
 */
#ifndef _SYNQ_SOURCE_H
#define _SYNQ_SOURCE_H

#include <linux/atomic.h>
#include <linux/math64.h>
#include <linux/types.h>

/*
 * Token bucket with one 64-bit word of state.
 *
 * The word is the theoretical arrival time (TAT) and belongs to the caller:
 * it reads the word, asks synq_tbf_next() for its successor and installs that by
 * compare and exchange.  The parameters never change after synq_tbf_init(),
 * so that any number of words can share one struct synq_tbf.
 */

#define SYNQ_TBF_RATE_MAX	10000000	/* connections/period */
#define SYNQ_TBF_PERIOD_MAX	86400		/* seconds */
#define SYNQ_TBF_BURST_MAX	1000000		/* connections */

/* What a bucket may take to fill, so that no time wraps: 24,000 days, 65 years. */
#define SYNQ_TBF_FILL_MAX	2073600000U	/* seconds */

/* Fractional bits of the scale, which needs the 64th: it is at least 1. */
#define SYNQ_TBF_SCALE_SHIFT	63

/*
 * In units, 0.5 to 1.1 s.  No clock goes back by as much, so a TAT that is
 * ahead by more than a bucket allows and this was not made by these parameters.
 */
#define SYNQ_TBF_FOREIGN	0x40000000ULL

/**
 * struct synq_tbf - immutable parameters of token buckets of one kind
 * @scale: units per nanosecond, a fixed-point number in [1, 2) with 63
 *	fractional bits
 * @interval: units per token, a power of two
 * @tolerance: how far, in units, the TAT may be ahead of the clock for an
 *	arrival to conform: burst - 1 intervals
 *
 * A unit is 1 / @scale ns, hence more than 0.5 ns and at most 1 ns.
 */
struct synq_tbf {
	u64 scale;
	u64 interval;
	u64 tolerance;
};

/* source.c */
void synq_tbf_init(struct synq_tbf *tbf, u32 rate, u32 period, u32 burst);

/* Here, since each SYN of a flood asks: */

/**
 * synq_tbf_clock() - the clock that a TAT is compared with
 * @tbf: parameters
 * @now_ns: monotonic time in ns
 *
 * Return: the time in units; a bucket is full if its TAT is not later
 */
static inline u64 synq_tbf_clock(const struct synq_tbf *tbf, u64 now_ns)
{
	return mul_u64_u64_shr(now_ns, tbf->scale, SYNQ_TBF_SCALE_SHIFT);
}

/**
 * synq_tbf_next() - judge one arrival
 * @tbf: parameters
 * @tat: state of the bucket; 0 is a full bucket at any time
 * @now_ns: monotonic time in ns, 0 allowed
 * @next_tat: out: the state after this arrival; @tat where it does not conform
 *
 * A full bucket passes exactly burst arrivals at one instant.
 *
 * If the clock goes back by d ns, up to 0.5 s (the clocks of CPUs disagree, or an older
 * @now_ns is used late), up to d ns worth of tokens are missing
 * until it has caught up; no token is ever handed out twice.
 *
 * A TAT too far ahead for that (made with another rate, or junk) counts as a
 * full bucket.  So whatever the word is, the next token comes within
 * period / rate + 1.1 s.
 *
 * Context: lock-free, constant time
 * Return: true if the arrival conforms, and @next_tat is to replace @tat;
 * false if it exceeds, and nothing is to be stored.
 */
static inline bool synq_tbf_next(const struct synq_tbf *tbf, u64 tat,
				 u64 now_ns, u64 *next_tat)
{
	u64 now = synq_tbf_clock(tbf, now_ns);

	if (tat <= now ||
	    tat - now > tbf->tolerance + tbf->interval + SYNQ_TBF_FOREIGN) {
		*next_tat = now + tbf->interval;
		return true;
	}

	if (tat - now > tbf->tolerance) {
		*next_tat = tat;
		return false;
	}

	*next_tat = tat + tbf->interval;
	return true;
}

/**
 * synq_tbf_is_idle() - has nothing arrived since then?
 * @tbf: parameters
 * @tat: state of the bucket
 * @since_ns: monotonic time in ns
 *
 * Each arrival leaves a TAT that is not earlier, whether it conforms or not.
 *
 * Return: false if something has, or may have: up to burst * period / rate before
 */
static inline bool synq_tbf_is_idle(const struct synq_tbf *tbf, u64 tat,
				    u64 since_ns)
{
	return tat < synq_tbf_clock(tbf, since_ns);
}

/* One cache line. */
#define SYNQ_SOURCE_WAYS		8

/* Bits of a way; the others are its tag. */
#define SYNQ_SOURCE_TIME_BITS		40

#define SYNQ_SOURCE_TBF_RATE_MAX	1000000	/* connections/period */
#define SYNQ_SOURCE_BURST_MAX		1000000	/* connections */

/**
 * struct synq_source_rate - immutable parameters of the buckets of one table
 * @tbf: rate and burst
 * @shift: bits of a unit of @tbf that a way does without
 */
struct synq_source_rate {
	struct synq_tbf tbf;
	u8 shift;
};

/**
 * struct synq_source_set - what a SYN looks at, and changes: a cache line
 * @way: a source's bucket, see source.c; 0: unused
 */
struct synq_source_set {
	atomic64_t way[SYNQ_SOURCE_WAYS];
} __aligned(64);

/**
 * struct synq_source_note - what is shown of a way's source; it affects no decision
 * @addr: its prefix, in network order, host bits zero
 * @conformed: SYNs that took a token, since the source has the way
 * @exceeded: SYNs that found its bucket empty
 */
struct synq_source_note {
	u64 addr[2];
	atomic64_t conformed;
	atomic64_t exceeded;
};

/**
 * struct synq_source_table - buckets of the sources of one class
 * @mask: number of sets minus 1; that is a power of two
 * @set: all zero is empty
 * @note: of all ways of the first set, of the second, ...
 */
struct synq_source_table {
	u32 mask;
	struct synq_source_set *set;
	struct synq_source_note *note;
};

/**
 * struct synq_source - a source
 * @addr: its prefix, in network order, host bits zero
 * @hash: of @addr, with a secret key
 */
struct synq_source {
	u64 addr[2];
	u64 hash;
};

/**
 * struct synq_source_bucket - the bucket of a SYN's source, or of its network
 * @table: where it is
 * @rate: of the buckets there
 * @source: that it belongs to
 */
struct synq_source_bucket {
	const struct synq_source_table *table;
	const struct synq_source_rate *rate;
	struct synq_source source;
};

/**
 * struct synq_source_span - the TATs of sources that exceed their rate at a given time
 * @begin: the first, without its tag
 * @length: how many
 */
struct synq_source_span {
	u64 begin;
	u64 length;
};

/**
 * struct synq_source_class - the bucket of the class
 * @tbf: rate and burst for sources that have a way; NULL: no limit
 * @stray: for those that have none; of the same rate as @tbf
 * @tat: state of the bucket, for both
 */
struct synq_source_class {
	const struct synq_tbf *tbf;
	const struct synq_tbf *stray;
	atomic64_t *tat;
};

/**
 * enum synq_source_answer - does a SYN conform?
 * @SYNQ_SOURCE_CONFORMS: to both buckets, and has taken a token from each
 * @SYNQ_SOURCE_EXCEEDS: its source's bucket is empty; nothing was taken
 * @SYNQ_SOURCE_NET_EXCEEDS: that of the network of its source is; nothing was taken
 * @SYNQ_SOURCE_CLASS_EXCEEDS: its class's is; nothing was taken
 */
enum synq_source_answer {
	SYNQ_SOURCE_CONFORMS,
	SYNQ_SOURCE_EXCEEDS,
	SYNQ_SOURCE_NET_EXCEEDS,
	SYNQ_SOURCE_CLASS_EXCEEDS,
};

/**
 * struct synq_source_state - what is known of a way
 * @source: that the way belongs to; of its hash only what the table has
 * @conformed: SYNs that took a token, since the source has the way
 * @exceeded: SYNs that found its bucket empty
 * @tokens: in its bucket now
 */
struct synq_source_state {
	struct synq_source source;
	u64 conformed;
	u64 exceeded;
	u32 tokens;
};

void synq_source_init(struct synq_source_rate *rate, u32 tokens, u32 period,
		      u32 burst);
bool synq_source_take_class(const struct synq_tbf *tbf, atomic64_t *word,
			    u64 now_ns);
enum synq_source_answer
synq_source_ask(const struct synq_source_table *table,
		const struct synq_source_rate *rate,
		const struct synq_source *source,
		const struct synq_source_class *class, u64 now_ns);
void synq_source_span(const struct synq_source_rate *rate, u64 now_ns,
		      struct synq_source_span *span);
enum synq_source_answer
synq_source_take(const struct synq_source_table *table,
		 const struct synq_source_rate *rate,
		 const struct synq_source *source,
		 const struct synq_source_class *class, u64 now_ns,
		 bool *stray);
enum synq_source_answer
synq_source_take_both(const struct synq_source_bucket *own,
		      const struct synq_source_bucket *net,
		      const struct synq_source_class *class, u64 now_ns,
		      bool *stray);
bool synq_source_state(const struct synq_source_table *table,
		       const struct synq_source_rate *rate, u32 index,
		       u64 now_ns, struct synq_source_state *state);
bool synq_source_is_at(const struct synq_source_table *table, u32 index,
		       u64 hash);

/* Turns the answer about a source into the same about a network. */
static inline enum synq_source_answer
synq_source_of_net(enum synq_source_answer answer)
{
	return answer == SYNQ_SOURCE_EXCEEDS ? SYNQ_SOURCE_NET_EXCEEDS : answer;
}

/**
 * synq_source_ask_both() - would a SYN conform to the rate of its source, and to that
 * of the source's network?
 * @own: bucket of the source
 * @net: bucket of its network
 * @class: bucket of the class
 * @now_ns: monotonic clock, ns
 *
 * As synq_source_ask().
 *
 * Context: may run on many CPUs at once
 * Return: likewise; if both exceed, the answer is that of the source
 */
static inline enum synq_source_answer
synq_source_ask_both(const struct synq_source_bucket *own,
		     const struct synq_source_bucket *net,
		     const struct synq_source_class *class, u64 now_ns)
{
	enum synq_source_answer answer;

	answer = synq_source_ask(own->table, own->rate, &own->source, class,
				 now_ns);
	if (answer != SYNQ_SOURCE_CONFORMS)
		return answer;
	return synq_source_of_net(synq_source_ask(net->table, net->rate, &net->source,
				      class, now_ns));
}

/* Here, since each SYN of a flood asks: */

/* 1: the rate of its source, 2: that of the source's network, 0: neither. */
static __always_inline u8 synq_source_whose(enum synq_source_answer answer)
{
	return answer == SYNQ_SOURCE_CLASS_EXCEEDS ? 0 : answer;
}

/* Of a way, from the hash of its source; never 0. */
static __always_inline u64 synq_source_tag(u64 hash)
{
	return hash >> SYNQ_SOURCE_TIME_BITS ?: 1;
}

/**
 * synq_source_exceeds() - does a SYN certainly exceed the rate of its source?
 * @table: buckets of the sources
 * @hash: of the source
 * @span: of TATs that exceed; if its time was ahead, they exceed before, too
 *
 * For a caller that refuses the SYN if it does: such a SYN is counted here.  A way is compared
 * as a whole.  If a source has two ways (item 4 in source.c) one is enough.  While a span
 * reaches over the end of the time, ways with the next tag may be taken for this one, 7 in
 * 2^24.
 *
 * Context: may run on many CPUs at once
 * Return: true if so; false: synq_source_ask() has to decide
 */
static __always_inline bool
synq_source_exceeds(const struct synq_source_table *table, u64 hash,
		    const struct synq_source_span *span)
{
	const u64 begin = (synq_source_tag(hash) << SYNQ_SOURCE_TIME_BITS) +
			  span->begin;
	const struct synq_source_set *set = &table->set[hash & table->mask];
	u32 i;

	/* A way takes half of the instructions that it takes in a loop. */
#pragma GCC unroll 8
	for (i = 0; i < SYNQ_SOURCE_WAYS; i++) {
		if (atomic64_read(&set->way[i]) - begin >= span->length)
			continue;
		atomic64_inc(&table->note[(hash & table->mask) *
					  SYNQ_SOURCE_WAYS + i].exceeded);
		return true;
	}
	return false;
}

#endif /* _SYNQ_SOURCE_H */
