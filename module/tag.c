// SPDX-License-Identifier: GPL-2.0
/*
 * Tags: what synq writes into a request to know it again.
 *
 * A tag lives in ir_cookie, which every allocation of a request sets to 0,
 * which is copied to the child when the child is made, and which nothing uses
 * while the request is in the accept queue.  It may hold a real socket cookie
 * when the request arrives there: a diag dump or a BPF program asked.
 *
 * From the top: the bits 1 and 0, 30 bits of id, the last of them its kind, and 32 bits
 * of the writer's own.  Real cookies count up from small numbers, so that bit 63 is
 * clear, or down from 2^64 in nested context, so that bit 62 is set; neither looks like
 * a tag before 2^62 of them were given.  The whole id is compared, so that a tag of
 * another writer (a request that migration cloned), or of an older generation, is no
 * tag.  It holds no pointer: a diag dump may print it, harmlessly.
 *
 * An id of each kind is taken for each listener and each generation of its
 * configuration, and comes again after 2^29 others.  To be mistaken, a request would
 * have to stay queued meanwhile: for a quarter of an hour, at 10,000 changes in a
 * second of a namespace with 60 listeners.  Requests keep their tags when the module
 * goes, so that it begins at a random number each time that it is loaded.
 *
 * The same request may be promoted on two CPUs at a time, since the last ACK and the
 * data behind it are two segments.  So who waits at the gate on one may be queued by the
 * other: then the tag that says where it is queued stays.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/types.h>
#include "tag.h"

#define NUMBER_MASK	(BIT(29) - 1)

static atomic_t last_number[SYNQ_TAG_KINDS];

/**
 * synq_tag_init() - the module is loaded
 * @random: where ids begin
 */
void synq_tag_init(u32 random)
{
	unsigned int kind;

	for (kind = 0; kind < SYNQ_TAG_KINDS; kind++)
		atomic_set(&last_number[kind], random);
}

/**
 * synq_tag_new_id() - an id that no request carries
 * @kind: of the tags that will be written with it
 *
 * Context: any
 * Return: the id, not 0
 */
u32 synq_tag_new_id(enum synq_tag_kind kind)
{
	u32 number;

	do {
		number = atomic_inc_return(&last_number[kind]) & NUMBER_MASK;
	} while (!number);
	return number << 1 | kind;
}

/**
 * synq_tag_wait() - write into a request that it waits at the gate
 * @word: where its tag is
 * @tag: with an id of SYNQ_TAG_WITHHELD
 *
 * Context: any
 * Return: true if that was written; false if it waits already, by the same id, or if
 * it is queued: another CPU was faster
 */
bool synq_tag_wait(atomic64_t *word, u64 tag)
{
	s64 before = atomic64_read(word);

	if ((u64)before >> 32 == tag >> 32 ||
	    synq_tag_is_of(before, SYNQ_TAG_QUEUED))
		return false;
	return atomic64_try_cmpxchg(word, &before, tag);
}

/**
 * synq_tag_go() - a request waits no longer
 * @word: where its tag is
 *
 * Context: any
 * Return: the tag that was taken off, or 0 if there was none of those that wait
 */
u64 synq_tag_go(atomic64_t *word)
{
	s64 tag = atomic64_read(word);

	if (!synq_tag_is_of(tag, SYNQ_TAG_WITHHELD) ||
	    !atomic64_try_cmpxchg(word, &tag, 0))
		return 0;
	return tag;
}
