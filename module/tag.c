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
 * An id is taken for each listener and each generation of its configuration, and
 * whenever the owner of a listener chooses another order, who may do so as fast as he
 * can.  Ids come again after 2^30 others.  So a writer takes another one when
 * 2^29 were taken after its own (synq_tag_is_old()): it looks with each request, and ten
 * times a second if it has any (listener.c), so that no two that are in use are the
 * same.  Requests keep their tags when the module goes, so that it begins at a
 * random number each time that it is loaded.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/types.h>
#include "tag.h"

#define OLD	BIT(29)

static atomic64_t last;

/**
 * synq_tag_init() - the module is loaded
 * @random: where ids begin
 */
void synq_tag_init(u32 random)
{
	atomic64_set(&last, random);
}

/**
 * synq_tag_take() - a number whose id no request carries
 *
 * Context: any
 * Return: the number, for synq_tag_id() and synq_tag_is_old()
 */
u64 synq_tag_take(void)
{
	u64 number;

	do {
		number = atomic64_inc_return(&last);
	} while (!synq_tag_id(number));
	return number;
}

/**
 * synq_tag_is_old() - will another writer soon have the same id?
 * @number: from synq_tag_take()
 *
 * Context: any
 * Return: true if so: it is to be replaced
 */
bool synq_tag_is_old(u64 number)
{
	return (u64)atomic64_read(&last) - number >= OLD;
}
