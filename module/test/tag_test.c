// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of share.c, in user space.  Run by "make -C module/test check".
 */
#include <linux/types.h>

#include "share.h"
#include "tap.h"

static bool ids(void)
{
	u32 before = synq_tag_id(synq_tag_take());
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		u32 id = synq_tag_id(synq_tag_take());

		check(id && id < 1U << 30, "%x", id);
		check(id != before, "%x", id);
		check(synq_tag_is(synq_tag(id, ~0U), id), "%x", id);
		check(!synq_tag_is(synq_tag(id, ~0U), before), "%x", id);
		check(synq_tag_low(synq_tag(id, i)) == i, "%x", id);
		before = id;
	}
	return true;
}

static bool wraps(void)
{
	synq_tag_init(0xffffffff, 0x5eed);
	check(synq_tag_id(synq_tag_take()) == 1, "0 owns nothing");
	synq_tag_init((1U << 30) - 2, 0x5eed);
	check(synq_tag_id(synq_tag_take()) == (1U << 30) - 1, "the last");
	check(synq_tag_id(synq_tag_take()) == 1, "and the first");
	return true;
}

/* Whoever asks often enough never has the id of another. */
static bool old(void)
{
	u64 number;

	synq_tag_init(7, 0x5eed);
	number = synq_tag_take();
	check(!synq_tag_is_old(number), "just taken");
	synq_tag_init((1U << 29) + 7, 0x5eed);
	check(!synq_tag_is_old(number), "a half but one");
	synq_tag_take();
	check(synq_tag_is_old(number), "a half");
	number = synq_tag_take();
	check(!synq_tag_is_old(number), "its own again");
	return true;
}

/* A clone elsewhere keeps the tag of its request, which is nobody's there. */
static bool bound(void)
{
	static char request[1000];
	u32 id = synq_tag_id(synq_tag_take());
	unsigned int i, n = 0;

	synq_tag_init(7, 0x5eed);
	for (i = 0; i < sizeof(request); i++) {
		u64 tag = synq_tag(synq_tag_bind(id, request + i), i);

		check(synq_tag_is(tag, synq_tag_bind(id, request + i)), "its own");
		check(!synq_tag_is(tag, synq_tag_bind(0, request + i)), "nobody's");
		n += synq_tag_is(tag, synq_tag_bind(id, request + sizeof(request) - 1 - i));
	}
	check(!n, "%u of clones", n);
	return true;
}

static bool cookies(void)
{
	static const u64 cookies[] = { 0, 1, 1ULL << 32, 3ULL << 32, ~0ULL,
				       ~0ULL - (1ULL << 32) };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cookies); i++) {
		check(!synq_tag_is(cookies[i], 0), "of nobody");
		check(!synq_tag_is(cookies[i], 1), "of the first");
		check(!synq_tag_is(cookies[i], 3), "of another");
		check(!synq_tag_is(cookies[i], (1U << 30) - 1), "of the last");
	}
	return true;
}

static const struct tap_case cases[] = {
	{ "ids", ids },
	{ "wraps", wraps },
	{ "old", old },
	{ "bound to a request", bound },
	{ "cookies", cookies },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
