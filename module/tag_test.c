// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of tag.c, in user space.  Run by "make -C module/test check".
 */
#include <linux/atomic.h>
#include <linux/types.h>

#include "tag.h"
#include "test/tap.h"

static bool ids(void)
{
	u32 queued = synq_tag_new_id(SYNQ_TAG_QUEUED);
	u32 withheld = synq_tag_new_id(SYNQ_TAG_WITHHELD);
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		u32 id = synq_tag_new_id(i % SYNQ_TAG_KINDS);

		check(id && id < 1U << 30, "%x", id);
		check(id != queued && id != withheld, "%x", id);
		check(synq_tag_is_of(synq_tag(id, ~0U), i % SYNQ_TAG_KINDS) &&
		      !synq_tag_is_of(synq_tag(id, ~0U), !(i % 2)), "%x", id);
	}
	return true;
}

static bool is_nobodys(u64 word)
{
	return !synq_tag_is_of(word, SYNQ_TAG_QUEUED) &&
	       !synq_tag_is_of(word, SYNQ_TAG_WITHHELD);
}

static bool cookies(void)
{
	static const u64 cookies[] = { 0, 1, 1ULL << 32, 3ULL << 32, ~0ULL,
				       ~0ULL - (1ULL << 32) };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cookies); i++) {
		atomic64_t word = { cookies[i] };

		check(is_nobodys(cookies[i]), "%llx", (unsigned long long)cookies[i]);
		check(!synq_tag_go(&word) && (u64)word.counter == cookies[i], "go");
	}
	return true;
}

static bool by_turns(void)
{
	u32 id = synq_tag_new_id(SYNQ_TAG_WITHHELD);
	u32 newer = synq_tag_new_id(SYNQ_TAG_WITHHELD);
	atomic64_t word = { 0 };

	check(synq_tag_wait(&word, synq_tag(id, 7)), "at first");
	check(!synq_tag_wait(&word, synq_tag(id, 8)), "a second time");
	check(synq_tag_wait(&word, synq_tag(newer, 9)), "by another account");
	check(synq_tag_go(&word) == synq_tag(newer, 9), "that, too");
	check(!word.counter && !synq_tag_go(&word), "taken off");
	return true;
}

/* The last ACK and the data behind it are on two CPUs, and the other was faster. */
static bool queued(void)
{
	u64 place = synq_tag(synq_tag_new_id(SYNQ_TAG_QUEUED), 42);
	u32 id = synq_tag_new_id(SYNQ_TAG_WITHHELD);
	atomic64_t word = { place };

	check(!synq_tag_go(&word), "does not wait");
	check(!synq_tag_wait(&word, synq_tag(id, 7)), "need not wait");
	check((u64)word.counter == place, "its place is known");
	return true;
}

static const struct tap_case cases[] = {
	{ "ids", ids },
	{ "cookies", cookies },
	{ "waiting", by_turns },
	{ "queued", queued },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
