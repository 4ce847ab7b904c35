// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of share.c, in user space.  Run by "make -C module/test check".
 *
 * A queue that is kept by keys as acceptq.c does it, but slowly: each request
 * is inserted where a look at all of them says, and departures are known.  What
 * is checked is what acceptq.c relies on (keys of a class grow, a new key is
 * behind the head, what is left of each class follows from the key of the head)
 * and what is promised (proportions, in the long run and in any window).
 */
#include <linux/types.h>
#include <string.h>

#include "share.h"
#include "tap.h"

#define CLASSES	18
#define LONG	9000

struct class {
	u16 weight;
	u64 step;
	u64 finish;
	u32 queued;
	u64 accepted;
};

static struct {
	struct class class[CLASSES];
	unsigned int classes;
	u32 key[LONG];
	u64 number[LONG];	/* of arrival */
	unsigned int length;
	u64 arrivals;
	u64 start;		/* of virtual time: where it wraps */
} q;

static void begin(const u16 *weights, unsigned int classes, u64 start)
{
	u16 heaviest = 1;
	unsigned int c;

	memset(&q, 0, sizeof(q));
	q.classes = classes;
	q.start = start;
	for (c = 0; c < classes; c++)
		if (weights[c] > heaviest)
			heaviest = weights[c];
	for (c = 0; c < classes; c++) {
		q.class[c].weight = weights[c];
		q.class[c].step = synq_share_step(weights[c], heaviest);
	}
}

static bool arrive(unsigned int c)
{
	struct class *class = &q.class[c];
	u64 now = q.length ? synq_share_time(q.key[0]) : q.start;
	u32 before = synq_share_key(class->finish, c);
	unsigned int at = q.length, i;
	u32 key;

	check(q.length < LONG);
	if (!class->queued)
		class->finish = now;
	class->finish = synq_share_finish(class->finish, class->step, now);
	key = synq_share_key(class->finish, c);
	check(synq_share_position(key) == c);
	if (class->queued)
		check((s32)(key - before) > 0, "keys of a class grow");
	for (i = q.length; i--; )
		if ((s32)(q.key[i] - key) > 0)
			at = i;
	check(!q.length || at, "nothing comes before the head");
	memmove(q.key + at + 1, q.key + at, (q.length - at) * sizeof(*q.key));
	memmove(q.number + at + 1, q.number + at,
		(q.length - at) * sizeof(*q.number));
	q.key[at] = key;
	q.number[at] = q.arrivals++;
	q.length++;
	class->queued++;

	return true;
}

/* Returns the class. */
static unsigned int leave(void)
{
	unsigned int c = synq_share_position(q.key[0]);

	q.length--;
	memmove(q.key, q.key + 1, q.length * sizeof(*q.key));
	memmove(q.number, q.number + 1, q.length * sizeof(*q.number));
	q.class[c].queued--;
	q.class[c].accepted++;

	return c;
}

/* What acceptq.c concludes from the head, when @had were queued before. */
static bool account(const u32 *had)
{
	const struct class *class;
	unsigned int c;
	u32 left;

	if (!q.length)
		return true;
	for (c = 0; c < q.classes; c++) {
		class = &q.class[c];
		if (!had[c])
			continue;
		left = synq_share_left(class->finish, class->step, q.key[0], c);
		if (left > had[c])
			left = had[c];
		check(left == class->queued,
		      "class %u of weight %u: %u left and not %u", c,
		      class->weight, class->queued, left);
	}

	return true;
}

static u16 some_weight(void)
{
	return 1 + tap_below(SYNQ_SHARE_WEIGHT_MAX >> tap_below(10));
}

/* All classes always have requests queued, up to 60 of each. */
static bool backlogged(const u16 *weights, unsigned int classes, u64 start,
		       unsigned int accepts, unsigned int window, double slack)
{
	static unsigned char order[200000];
	unsigned int sum = 0, c, i, in[CLASSES] = { 0 };
	double due, off;

	begin(weights, classes, start);
	for (c = 0; c < classes; c++)
		sum += weights[c];
	for (i = 0; i < accepts; i++) {
		for (c = 0; c < classes; c++)
			while (q.class[c].queued < 2 ||
			       (q.class[c].queued < 60 && tap_below(2)))
				if (!arrive(c))
					return false;
		order[i] = leave();
		in[order[i]]++;
		if (i >= window)
			in[order[i - window]]--;
		for (c = 0; i >= window && c < classes; c++) {
			due = (double)window * weights[c] / sum;
			off = in[c] - due;
			check(off <= slack && -off <= slack,
			      "class %u: %u and not %.1f of %u at %u", c,
			      in[c], due, window, i);
		}
	}
	for (c = 0; c < classes; c++) {
		due = (double)accepts * weights[c] / sum;
		off = q.class[c].accepted - due;
		check(off <= slack && -off <= slack,
		      "class %u of weight %u: %llu and not %.1f of %u", c,
		      weights[c], q.class[c].accepted, due, accepts);
	}

	return true;
}

static bool test_three_to_two(void)
{
	const u16 weights[] = { 3, 2 };

	return backlogged(weights, 2, 0, 100000, 50, 2) &&
	       backlogged(weights, 2, -1ULL << 44, 100000, 50, 2);
}

static bool test_backlogged(void)
{
	const u16 three[] = { 5, 3, 1 };
	u16 weights[CLASSES];
	unsigned int i, c, classes;

	if (!backlogged(three, 3, 0, 100000, 50, 3))
		return false;
	for (i = 0; i < 60; i++) {
		classes = 2 + tap_below(CLASSES - 1);
		for (c = 0; c < classes; c++)
			weights[c] = some_weight();
		if (!backlogged(weights, classes, tap_random(), 4000, 1000,
				classes + 1))
			return false;
	}

	return true;
}

/* Arrivals and departures at random, idle classes, empty queues. */
static bool test_account(void)
{
	u16 weights[CLASSES];
	u32 had[CLASSES];
	unsigned int i, n, c, classes;

	for (i = 0; i < 300; i++) {
		classes = 1 + tap_below(CLASSES);
		for (c = 0; c < classes; c++)
			weights[c] = some_weight();
		begin(weights, classes, tap_random());
		for (n = 0; n < 1000; n++) {
			if (q.length < 300 && !arrive(tap_below(classes)))
				return false;
			if (tap_below(3))
				continue;
			for (c = 0; c < classes; c++)
				had[c] = q.class[c].queued;
			c = tap_below(tap_below(20) ? 8 : 300);
			while (c-- && q.length)
				leave();
			if (!account(had))
				return false;
		}
	}

	return true;
}

static bool test_fifo(void)
{
	const u16 weights[] = { 7, 7, 1000, 1 };
	u64 seen[4] = { 0 };
	unsigned int c, n;
	u64 number;

	begin(weights, 4, tap_random());
	for (n = 0; n < 20000; n++) {
		if (q.length < 500 && !arrive(tap_below(4)))
			return false;
		if (!q.length || tap_below(20) > 10)
			continue;
		number = q.number[0] + 1;
		c = leave();
		check(number > seen[c], "a class is served as it came");
		seen[c] = number;
	}

	return true;
}

/* Who was idle has nothing saved up, and nothing to pay. */
static bool test_idle(void)
{
	const u16 weights[] = { 1, 1 };
	unsigned int n, c, first = 0;

	begin(weights, 2, 0);
	for (n = 0; n < 5000; n++) {
		if (!arrive(0) || !arrive(0))
			return false;
		leave();
	}
	for (n = 0; n < 100; n++)
		if (!arrive(1))
			return false;
	for (n = 0; n < 100; n++) {
		c = leave();
		first += c == 1;
	}
	check(first == 50 || first == 49 || first == 51, "%u", first);

	return true;
}

/* Farther than the horizon: still by arrival inside a class, and no wrap. */
static bool test_horizon(void)
{
	const u16 weights[] = { 1000, 1 };
	u32 last = 0, key;
	u64 finish = 0;
	u64 step;
	int n;

	begin(weights, 2, 0);
	step = q.class[1].step;
	for (n = 0; n < 100000; n++) {
		finish = synq_share_finish(finish, step, 0);
		key = synq_share_key(finish, 1);
		check((s32)(key - last) >= 0 && (s32)key > 0, "at %d", n);
		check(n >= 8388 || key != last, "at %d", n);
		last = key;
	}

	return true;
}

static bool test_credit(void)
{
	unsigned int percent, n, moved = 0;
	u32 credit;

	for (percent = 1; percent <= 100; percent++) {
		credit = 0;
		moved = 0;
		for (n = 0; n < 10000; n++) {
			credit = synq_share_earn(credit, percent, 1);
			while (credit >= SYNQ_SHARE_ONE) {
				credit = synq_share_spend(credit, 1);
				moved++;
			}
		}
		check(moved == percent * 100, "%u %%: %u", percent, moved);
	}

	return true;
}

static bool test_no_claim(void)
{
	u32 credit = 0;
	int n;

	/* served anyway */
	for (n = 0; n < 1000; n++) {
		credit = synq_share_earn(credit, 30, 1);
		credit = synq_share_spend(credit, 1);
		check(credit == 0);
	}
	/* nothing queued */
	for (n = 0; n < 1000; n++)
		credit = synq_share_keep(synq_share_earn(credit, 30, 7));
	check(credit == SYNQ_SHARE_ONE);
	/* no overflow */
	for (n = 0; n < 100; n++)
		credit = synq_share_earn(credit, 100, 0xffffffff);
	check(credit >= 0x40000000 && credit < 0x80000000);
	check(synq_share_spend(credit, 0xffffffff) == 0);

	return true;
}

static const struct tap_case cases[] = {
	{ "3 to 2, in 100000 accepts and in any 50", test_three_to_two },
	{ "any weights, in proportion, in any window", test_backlogged },
	{ "the key of the head tells what is left of each class", test_account },
	{ "a class is served in order of arrival", test_fifo },
	{ "a class that was idle starts from the present", test_idle },
	{ "the horizon keeps the order of arrival", test_horizon },
	{ "credit is exact", test_credit },
	{ "who is served anyway or absent saves nothing up", test_no_claim },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
