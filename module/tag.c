// SPDX-License-Identifier: GPL-2.0
/*
 * Tags: what synq writes into a request to know it again.
 *
 * A tag lives in ir_cookie, which every allocation of a request sets to 0,
 * which is copied to the child when the child is made, and which nothing uses
 * while the request is in the accept queue.  It may hold a real socket cookie
 * when the request arrives there: a diag dump or a BPF program asked.
 *
 * From the top: the bits 1 and 0, 30 bits of id, and 32 bits of the writer's own.  Real
 * cookies count up from small numbers, so that bit 63 is clear, or down from 2^64 in
 * nested context, so that bit 62 is set; neither looks like a tag before 2^62 of them
 * were given.  The whole id is compared, so that a tag of another writer (a request that
 * migration cloned), or of an older generation, is no tag.  It holds no pointer: a diag
 * dump may print it, harmlessly.
 *
 * An id is taken for each listener and each generation of its configuration, and comes
 * again after 2^30 others.  To be mistaken, a request would have to stay queued
 * meanwhile: for half an hour, at 10,000 changes in a second of a namespace with 60
 * listeners.  Requests keep their tags when the module goes, so that it begins at a
 * random number each time that it is loaded.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/types.h>
#include "tag.h"

#define ID_MASK	(BIT(30) - 1)

static atomic_t last_id;

/**
 * synq_tag_init() - the module is loaded
 * @random: where ids begin
 */
void synq_tag_init(u32 random)
{
	atomic_set(&last_id, random);
}

/**
 * synq_tag_new_id() - an id that no request carries
 *
 * Context: any
 * Return: the id, not 0
 */
u32 synq_tag_new_id(void)
{
	u32 id;

	do {
		id = atomic_inc_return(&last_id) & ID_MASK;
	} while (!id);
	return id;
}
