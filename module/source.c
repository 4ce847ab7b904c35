// SPDX-License-Identifier: GPL-2.0
/*
 * Does a SYN conform to the rate of its source, and to that of its class?  It
 * takes a token from both buckets or from neither: lock-free, in constant time, on any
 * number of CPUs at once.
 *
 * DOC: a table that cannot be filled up
 *
 * The buckets of all sources of a class are in a table of fixed size: a keyed
 * hash chooses a set of 8 ways, one cache line, and a way is one 64-bit word:
 *
 *	63            40 39                              0
 *	| tag: of hash  | TAT, in sixteenths of a token  |	0: unused
 *
 * A way whose TAT has passed has a full bucket.  It says no more than its absence would, so
 * it is free.  A new source gets the way that has been free for the longest, and no
 * source loses anything by that: if one comes back it finds a full bucket, as it would
 * have.  A way whose bucket is not full still limits its source.  It is never given away:
 * otherwise an attacker that cycles through many sources would find a full bucket for each
 * whenever it returns to it.
 *
 * If all ways of a set are in use, the source is a stray: it is judged by the
 * bucket of the class alone, and counted.  So a full set means neither "no limit"
 * nor "no entrance".  Strays take tokens only from the upper half of that bucket.  So
 * strays that hammer, without a rate of their own, get what the other sources leave, and
 * take nothing from a source that has a way.  If the class has no rate, its strays share a
 * bucket that the caller chooses for them.
 *
 * What it takes to fill a set: each token taken keeps a way in use until the token has
 * come back.  So in a class of rate R whose sources have rate r, at most R / r ways (plus
 * R's burst) are in use at a time, spread over the sets by a secret key.  A SYN that does
 * not conform to the class changes nothing in the table, be it from one of 1,000,000
 * forged sources.
 *
 * DOC: two words, and many CPUs
 *
 * 1. A bucket and the tag of its source are one word, read at once and changed only by
 *    compare and exchange with the word that was judged.  So no token is spent
 *    twice, and no CPU charges a way that has changed hands: its exchange fails,
 *    and it looks again.  An exchange fails only because another one succeeded, so one CPU
 *    always makes progress.
 * 2. The words need no order among each other or with anything else, so the
 *    exchanges may be relaxed: that all CPUs agree on the order of changes of one
 *    word is all that is asked for.
 * 3. Both buckets are tested before a token is taken.  Then the source's is taken,
 *    then the class's.  If another CPU took the last one of the class in between,
 *    the source's token goes back.  If the word is still the same it becomes what it was;
 *    if the way was another source's before, it becomes 0, since that one may have a new
 *    way by now.  If the word has changed it becomes one interval less, which is what it
 *    would be without us, or a token more if the bucket was full again meanwhile.  The
 *    class's token is never taken in vain.
 * 4. Two CPUs may give different ways to one new source at the same instant, if they
 *    disagree about the oldest one.  Then the one with less in it counts, and the
 *    other is free when it is full: that is one token too many, at most once for each time
 *    that the source's bucket was full.
 *
 * 5. A class may have a second table with a rate of its own, for the networks that its
 *    sources are in.  Then all three buckets are tested before a token is taken: a SYN
 *    that exceeds any of them writes to none.  They are charged in a fixed order, the
 *    source's, its network's, the class's.  If a later one was emptied in between, the
 *    tokens go back as in item 3.  No CPU waits for another, so the order
 *    affects only how little goes back.  A SYN whose source or network has no way
 *    is charged to the one that has one, and is a stray for the class.
 *
 * A time of 40 bits wraps after 2^36 tokens: 7 weeks at 16,000/s, 2,000
 * years at 1/s.  A source that was away for exactly so long may be taken for one that
 * was here a moment ago; its bucket is right again after the time of a burst.
 *
 * Two sources of a set with the same tag, 7 in 2^24, share a bucket.
 *
 * What is shown of a source (its address, how often) is kept beside the ways.  It is written
 * without order, and is valid if the hash of the address is that of
 * the way.
 *
 * The policer calls it in softirq.  Pure: no lock, no sleeping; the clock is an
 * argument.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "source.h"
#include "source_word.h"

/*
 * Token bucket: does one more arrival conform to a rate and a burst?
 *
 * This is the generic cell rate algorithm in its virtual scheduling form
 * (ITU-T I.371; ATM Forum Traffic Management 4.0): the whole state is the
 * time at which the next arrival is due if all come evenly spaced.  An arrival
 * conforms if it is early by no more than the burst allows.
 *
 * The time between tokens, 10^9 * period / rate ns, is seldom an integer, and an error
 * in it would be an error of the rate.  So the clock is stretched instead, by
 * less than two, until the interval is a power of two: one multiplication of
 * the absolute time, exact to 2^-63.  Rounding happens once per arrival, is
 * less than a unit (a unit is at most 1 ns) and never adds up.
 *
 * Horizon: nothing wraps while now_ns < 2^62, about 146 years.  The clock is less than
 * 2^63 then, and the largest bucket 2^62: SYNQ_TBF_FILL_MAX is less than 2^61 ns, and a
 * unit is more than half a nanosecond.  Until then a TAT is
 * never ambiguous, however long its bucket was idle; all comparisons
 * are plain unsigned ones.
 *
 * It does not store the TAT, read a clock, lock or count: the policer does, in
 * softirq, and retries its compare and exchange.  Pure: no locks, no sleeping.
 */

/**
 * synq_tbf_init() - compute the parameters for a rate and a burst
 * @tbf: parameters to fill in
 * @rate: tokens/period, 1 to SYNQ_TBF_RATE_MAX
 * @period: seconds, 1 to SYNQ_TBF_PERIOD_MAX
 * @burst: tokens that a full bucket holds, 1 to SYNQ_TBF_BURST_MAX, and not more than
 *	come in SYNQ_TBF_FILL_MAX
 *
 * Values out of range are clamped: a mistake of the caller can result neither in "nothing
 * passes, ever" nor in "no limit".
 *
 * A TAT has a meaning only for the @rate that it was made with: after a change of the rate
 * start again from 0, a full bucket.  A word that a CPU with the old parameters
 * stores afterwards does no lasting harm, see synq_tbf_next().
 */
void synq_tbf_init(struct synq_tbf *tbf, u32 rate, u32 period, u32 burst)
{
	u64 units, ns, bit;
	u32 shift = 0;

	rate = clamp_t(u32, rate, 1, SYNQ_TBF_RATE_MAX);
	period = clamp_t(u32, period, 1, SYNQ_TBF_PERIOD_MAX);
	burst = clamp_t(u32, burst, 1, SYNQ_TBF_BURST_MAX);
	burst = min_t(u64, burst, (u64)(SYNQ_TBF_FILL_MAX / period) * rate);

	/* Of a period.  Ends at 47 or before: 2^47 > 86400 * NSEC_PER_SEC. */
	ns = (u64)period * NSEC_PER_SEC;
	while (((u64)rate << shift) < ns)
		shift++;

	/* units / ns with 63 fractional bits, truncated: by long division */
	units = ((u64)rate << shift) - ns;
	tbf->scale = BIT_ULL(SYNQ_TBF_SCALE_SHIFT);
	for (bit = tbf->scale >> 1; bit; bit >>= 1) {
		units <<= 1;
		if (units < ns)
			continue;
		units -= ns;
		tbf->scale |= bit;
	}
	tbf->interval = 1ULL << shift;
	tbf->tolerance = (burst - 1) * tbf->interval;
}

/**
 * struct place - a way for a source
 * @way: where it is, or NULL: there is none
 * @index: of the way among all
 * @word: what it was judged by; 0 if the way was another source's
 * @found: what was found in it
 */
struct place {
	atomic64_t *way;
	u32 index;
	u64 word;
	s64 found;
};

/**
 * synq_source_init() - compute the parameters for a rate and a burst
 * @rate: parameters to fill in
 * @tokens: in a period, 1 to SYNQ_SOURCE_TBF_RATE_MAX
 * @period: seconds, 1 to SYNQ_TBF_PERIOD_MAX
 * @burst: tokens that a full bucket holds, 1 to SYNQ_SOURCE_BURST_MAX
 *
 * A table has a meaning only for the rate that filled it; a burst may change.
 */
void synq_source_init(struct synq_source_rate *rate, u32 tokens, u32 period,
		      u32 burst)
{
	synq_tbf_init(&rate->tbf,
		      min_t(u32, tokens, SYNQ_SOURCE_TBF_RATE_MAX), period,
		      burst);
	rate->shift = fls64(rate->tbf.interval) - 1 - TOKEN_BITS;
}

/* An unused way is idle for longer than any other. */
static u64 idle_of(u64 word, u64 now)
{
	return word ? (now - word) & TIME_MASK : U64_MAX;
}

static struct place place_at(const struct synq_source_table *table, u64 hash,
			     u32 i, u64 word, u64 found)
{
	const u32 set = hash & table->mask;

	return (struct place){
		.way = &table->set[set].way[i],
		.index = set * SYNQ_SOURCE_WAYS + i,
		.word = word,
		.found = found,
	};
}

/*
 * The source's own way; of two the one with less in it.  Otherwise the way that has been
 * free for the longest; of several the first one, since it is found soonest.
 */
static struct place find_or_free(const struct synq_source_table *table,
				 u64 hash, u64 now)
{
	const struct synq_source_set *set = &table->set[hash & table->mask];
	struct place own = {}, idle = {};
	u64 most = 0, longest = 0;
	u32 i;

	for (i = 0; i < SYNQ_SOURCE_WAYS; i++) {
		u64 word = atomic64_read(&set->way[i]);
		u64 ahead = word ? ahead_of(word, now) : 0;

		if (word >> TIME_BITS == tag_of(hash)) {
			if (!own.way || ahead > most)
				own = place_at(table, hash, i, word, word);
			most = max(most, ahead);
		} else if (!ahead &&
			   (!idle.way || idle_of(word, now) > longest)) {
			idle = place_at(table, hash, i, 0, word);
			longest = idle_of(word, now);
		}
	}
	return own.way ? own : idle;
}

/*
 * Nearly always a source has a way of its own, which is found soonest by looking for
 * nothing else.  If not, look for both at once: a way that another CPU gives the
 * source meanwhile must not be missed.
 */
static struct place find(const struct synq_source_table *table, u64 hash,
			 u64 now)
{
	const struct synq_source_set *set = &table->set[hash & table->mask];
	const u64 tag = tag_of(hash);
	u64 own = 0;
	u32 i, at = 0;

	for (i = 0; i < SYNQ_SOURCE_WAYS; i++) {
		u64 word = atomic64_read(&set->way[i]);

		if (word >> TIME_BITS != tag)
			continue;
		if (own && ahead_of(word, now) <= ahead_of(own, now))
			continue;
		own = word;
		at = i;
	}
	if (!own)
		return find_or_free(table, hash, now);
	return place_at(table, hash, at, own, own);
}

static void note_conforming(const struct synq_source_table *table,
			    const struct synq_source *source,
			    const struct place *place)
{
	struct synq_source_note *note = &table->note[place->index];

	if (place->word) {
		atomic64_inc(&note->conformed);
		return;
	}
	/* Pairs with READ_ONCE in synq_source_state(). */
	WRITE_ONCE(note->addr[0], source->addr[0]);
	WRITE_ONCE(note->addr[1], source->addr[1]);
	atomic64_set(&note->conformed, 1);
	atomic64_set(&note->exceeded, 0);
}

/* Item 3 above. */
static void give_back(const struct synq_source_rate *rate,
		      const struct place *place, u64 hash, u64 taken, u64 now)
{
	s64 word = taken;
	u64 tat, back;

	if (atomic64_try_cmpxchg_relaxed(place->way, &word, place->word))
		return;
	do {
		tat = tat_of(rate, word, now);
		if ((u64)word >> TIME_BITS != tag_of(hash) || !tat)
			return;
		back = word_of(rate, hash, tat - rate->tbf.interval);
	} while (!atomic64_try_cmpxchg_relaxed(place->way, &word, back));
}

static bool class_conforms(const struct synq_source_class *class, u64 now_ns)
{
	u64 next;

	return !class->tbf ||
	       synq_tbf_next(class->tbf, atomic64_read(class->tat), now_ns,
			     &next);
}

/* Takes a token if the bucket's TAT is not later than @most afterwards. */
static bool take_class(const struct synq_tbf *tbf, atomic64_t *word, u64 now_ns,
		       u64 most)
{
	s64 tat = atomic64_read(word);
	u64 next;

	do {
		if (!synq_tbf_next(tbf, tat, now_ns, &next) || next > most)
			return false;
	} while (!atomic64_try_cmpxchg_relaxed(word, &tat, next));
	return true;
}

/**
 * synq_source_take_class() - take a token of a class alone
 * @tbf: its rate and burst
 * @word: state of its bucket
 * @now_ns: monotonic clock, ns
 *
 * Two CPUs never spend the same token: the loser of the exchange asks again
 * with the winner's word.  Each lost exchange means that another SYN was admitted, so
 * the number of rounds is bounded by the number of SYNs that conform.
 *
 * Return: false if the bucket is empty; nothing was taken
 */
bool synq_source_take_class(const struct synq_tbf *tbf, atomic64_t *word,
			    u64 now_ns)
{
	return take_class(tbf, word, now_ns, U64_MAX);
}

/*
 * Uses the parameters of the class: those of strays have a smaller burst, by which the
 * TAT of a bucket that is nearly empty would look like junk, see synq_tbf_next().
 */
static enum synq_source_answer take_stray(const struct synq_source_class *class,
					  u64 now_ns)
{
	const struct synq_tbf *stray = class->stray;
	u64 most = synq_tbf_clock(stray, now_ns) + stray->tolerance +
		   stray->interval;

	return take_class(class->tbf ?: stray, class->tat, now_ns, most) ?
	       SYNQ_SOURCE_CONFORMS : SYNQ_SOURCE_CLASS_EXCEEDS;
}

/* For a source with @place, whose next TAT would be @next.  Nothing is taken. */
static enum synq_source_answer
ask_place(const struct synq_source_table *table,
	  const struct synq_source_rate *rate, const struct place *place,
	  const struct synq_source_class *class, u64 now, u64 now_ns, u64 *next)
{
	if (!synq_tbf_next(&rate->tbf, tat_of(rate, place->word, now), now_ns,
			   next)) {
		atomic64_inc(&table->note[place->index].exceeded);
		return SYNQ_SOURCE_EXCEEDS;
	}
	return class_conforms(class, now_ns) ? SYNQ_SOURCE_CONFORMS :
					       SYNQ_SOURCE_CLASS_EXCEEDS;
}

/**
 * synq_source_ask() - would a SYN conform?
 * @table: buckets of the sources
 * @rate: of these
 * @source: of the SYN
 * @class: bucket of the class
 * @now_ns: monotonic clock, ns
 *
 * For a caller that refuses the SYN if it does not: such a SYN is counted here.
 *
 * Context: may run on many CPUs at once
 * Return: whether it would; SYNQ_SOURCE_CONFORMS also if the source has no place, so
 * that synq_source_take() has to say
 */
enum synq_source_answer
synq_source_ask(const struct synq_source_table *table,
		const struct synq_source_rate *rate,
		const struct synq_source *source,
		const struct synq_source_class *class, u64 now_ns)
{
	u64 now = clock_of(rate, now_ns), next;
	struct place place = find(table, source->hash, now);

	if (!place.way)
		return SYNQ_SOURCE_CONFORMS;
	return ask_place(table, rate, &place, class, now, now_ns, &next);
}

/* Takes a token of the source, if it has a way, provided that the class has one as well. */
static __always_inline enum synq_source_answer
take_place(const struct synq_source_table *table,
	   const struct synq_source_rate *rate, u64 hash,
	   const struct synq_source_class *class, u64 now, u64 now_ns,
	   struct place *place, u64 *taken)
{
	enum synq_source_answer answer;
	u64 next;

	do {
		*place = find(table, hash, now);
		if (!place->way)
			return SYNQ_SOURCE_CONFORMS;
		answer = ask_place(table, rate, place, class, now, now_ns,
				   &next);
		if (answer != SYNQ_SOURCE_CONFORMS)
			return answer;
		*taken = word_of(rate, hash, next);
	} while (!atomic64_try_cmpxchg_relaxed(place->way, &place->found, *taken));
	return SYNQ_SOURCE_CONFORMS;
}

/**
 * synq_source_take() - take a token of a source and one of its class
 * @table: buckets of the sources
 * @rate: of these
 * @source: of the SYN
 * @class: bucket of the class
 * @now_ns: monotonic clock, ns
 * @stray: set to true if the source found no place, and the class alone decided
 *
 * Context: may run on many CPUs at once
 * Return: whether the SYN conforms
 */
enum synq_source_answer
synq_source_take(const struct synq_source_table *table,
		 const struct synq_source_rate *rate,
		 const struct synq_source *source,
		 const struct synq_source_class *class, u64 now_ns,
		 bool *stray)
{
	u64 now = clock_of(rate, now_ns), taken;
	enum synq_source_answer answer;
	struct place place;

	answer = take_place(table, rate, source->hash, class, now, now_ns,
			    &place, &taken);
	if (answer != SYNQ_SOURCE_CONFORMS)
		return answer;
	if (!place.way) {
		*stray = true;
		return take_stray(class, now_ns);
	}
	if (class->tbf &&
	    !synq_source_take_class(class->tbf, class->tat, now_ns)) {
		give_back(rate, &place, source->hash, taken, now);
		return SYNQ_SOURCE_CLASS_EXCEEDS;
	}
	note_conforming(table, source, &place);
	return SYNQ_SOURCE_CONFORMS;
}

/**
 * struct payment - a token of a source that may have to go back
 * @place: where it was taken; without a way none was taken
 * @taken: the word afterwards
 * @now: the clock of its bucket
 */
struct payment {
	struct place place;
	u64 taken;
	u64 now;
};

static enum synq_source_answer pay(const struct synq_source_bucket *of,
				   const struct synq_source_class *class,
				   u64 now_ns, struct payment *payment)
{
	payment->now = clock_of(of->rate, now_ns);
	return take_place(of->table, of->rate, of->source.hash, class,
			  payment->now, now_ns, &payment->place,
			  &payment->taken);
}

static void pay_back(const struct synq_source_bucket *of,
		     const struct payment *payment)
{
	if (payment->place.way)
		give_back(of->rate, &payment->place, of->source.hash,
			  payment->taken, payment->now);
}

static void note_payment(const struct synq_source_bucket *of,
			 const struct payment *payment)
{
	if (payment->place.way)
		note_conforming(of->table, &of->source, &payment->place);
}

/**
 * synq_source_take_both() - take a token of a source, one of its network and one of the
 * class
 * @own: bucket of the source
 * @net: bucket of its network
 * @class: bucket of the class
 * @now_ns: monotonic clock, ns
 * @stray: set to true if either found no place: the class decides as for a stray
 *
 * Item 5 above.
 *
 * Context: may run on many CPUs at once
 * Return: whether the SYN conforms to all; if not, nothing was taken
 */
enum synq_source_answer
synq_source_take_both(const struct synq_source_bucket *own,
		      const struct synq_source_bucket *net,
		      const struct synq_source_class *class, u64 now_ns,
		      bool *stray)
{
	struct payment of_own, of_network;
	enum synq_source_answer answer;

	answer = synq_source_ask_both(own, net, class, now_ns);
	if (answer != SYNQ_SOURCE_CONFORMS)
		return answer;
	answer = pay(own, class, now_ns, &of_own);
	if (answer != SYNQ_SOURCE_CONFORMS)
		return answer;
	answer = synq_source_of_net(pay(net, class, now_ns, &of_network));
	if (answer != SYNQ_SOURCE_CONFORMS) {
		pay_back(own, &of_own);
		return answer;
	}
	if (!of_own.place.way || !of_network.place.way) {
		*stray = true;
		answer = take_stray(class, now_ns);
	} else if (class->tbf &&
		   !synq_source_take_class(class->tbf, class->tat, now_ns)) {
		answer = SYNQ_SOURCE_CLASS_EXCEEDS;
	}
	if (answer != SYNQ_SOURCE_CONFORMS) {
		pay_back(net, &of_network);
		pay_back(own, &of_own);
		return answer;
	}
	note_payment(own, &of_own);
	note_payment(net, &of_network);
	return SYNQ_SOURCE_CONFORMS;
}
