// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of tcpopt.c, in user space.  Run by "make -C module/test check".
 *
 * Each header is in memory of its own size, so that the address sanitizer sees
 * what is read behind its end.  The twin cuts the options up first, into a list.
 */
#include <linux/bits.h>
#include <linux/types.h>
#include <string.h>

#include "tcpopt.h"
#include "tap.h"

#define OPTIONS_MAX	40
#define MD5		19

/* Where the first of some kinds is, or -1. */
static int find(const u8 *options, size_t len, u32 kinds)
{
	u8 *copy = malloc(len ?: 1);
	const u8 *found;
	int at;

	if (!copy)
		abort();
	memcpy(copy, options, len);
	found = synq_tcpopt_find(copy, copy + len, kinds);
	at = found ? (int)(found - copy) : -1;
	free(copy);
	return at;
}

#define of(kinds, ...)							\
	find((const u8[]){ __VA_ARGS__ }, sizeof((u8[]){ __VA_ARGS__ }), kinds)

#define at(kind, ...)	of(BIT(kind), __VA_ARGS__)

static bool found(void)
{
	check(at(2, 2, 4, 5, 180) == 0, "the first");
	check(at(4, 2, 4, 5, 180, 4, 2, 1, 0) == 4, "another");
	check(at(4, 1, 1, 4, 2) == 2, "behind padding");
	check(at(3, 1, 3, 3, 7) == 1, "the last, to the end");
	check(at(4, 4, 2, 4, 2) == 0, "the first of two");
	check(at(MD5, 2, 4, 5, 180, 4, 2, 1, 1) == -1, "is not there");
	check(at(7, 8, 4, 7, 2) == -1, "the same byte within another");
	check(at(2, 34, 2) == -1, "not all kinds are bits");
	check(find((const u8 *)"", 0, BIT(4)) == -1, "no options");
	return true;
}

static bool any_of(void)
{
	check(of(BIT(3) | BIT(4), 2, 4, 5, 180, 3, 3, 7, 4, 2) == 4,
	      "the first that will do");
	check(of(BIT(3) | BIT(4), 2, 4, 5, 180, 4, 2, 3, 3, 7) == 4,
	      "whichever it is");
	check(of(BIT(MD5) | BIT(29), 2, 4, 5, 180, 4, 2) == -1, "none is there");
	return true;
}

static bool malformed(void)
{
	check(at(4, 0, 4, 2) == -1, "behind the end");
	check(at(4, 9, 0, 4, 2) == -1, "behind a length of 0");
	check(at(4, 9, 1, 4, 2) == -1, "behind a length of 1");
	check(at(4, 4, 1) == -1, "a length of 1");
	check(at(4, 1, 1, 1, 4) == -1, "no length");
	check(at(MD5, MD5, 18, 1, 2, 3) == -1, "cut off");
	check(at(4, 9, 200, 4, 2) == -1, "behind one that is cut off");
	return true;
}

static bool backwards(void)
{
	static const u8 options[] = { 4, 2, 4, 2 };

	check(!synq_tcpopt_find(options + 4, options, BIT(4)),
	      "a header that ends before its options begin");
	return true;
}

/* The slow way: all options first. */
static int twin(const u8 *options, size_t len, u32 kinds)
{
	u8 start[OPTIONS_MAX];
	size_t i, n = 0, pos = 0;

	while (pos < len && options[pos]) {
		if (options[pos] == 1) {
			pos++;
			continue;
		}
		if (pos + 1 >= len || options[pos + 1] < 2 ||
		    pos + options[pos + 1] > len)
			break;
		start[n++] = pos;
		pos += options[pos + 1];
	}
	for (i = 0; i < n; i++)
		if (options[start[i]] < 32 && kinds & BIT(options[start[i]]))
			return start[i];
	return -1;
}

static bool random_bytes(void)
{
	u8 options[OPTIONS_MAX];
	u32 round, kinds, hits = 0;
	size_t i, len;
	int got;

	for (round = 0; round < 500000; round++) {
		len = tap_below(OPTIONS_MAX + 1);
		for (i = 0; i < len; i++)
			options[i] = tap_below(tap_below(4) ? 6 : 256);
		kinds = BIT(2 + tap_below(tap_below(4) ? 4 : 30)) |
			BIT(2 + tap_below(30));
		got = find(options, len, kinds);
		check(got == twin(options, len, kinds), "%d", got);
		hits += got >= 0;
	}
	check(hits > 20000, "only %u found", hits);
	return true;
}

static const struct tap_case cases[] = {
	{ "what is there is found", found },
	{ "any of some kinds", any_of },
	{ "what is malformed ends the search", malformed },
	{ "no header", backwards },
	{ "random bytes", random_bytes },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
