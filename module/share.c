// SPDX-License-Identifier: GPL-2.0
/*
 * Shares of what is accepted: the turn of a request, by the weights of classes; and
 * the claim of a class to its minimum share.
 *
 * DOC: weights
 *
 * Self-clocked fair queueing (S. J. Golestani, "A Self-Clocked Fair Queueing
 * Scheme for Broadband Applications", INFOCOM 1994) with one unit of work for
 * each request.  In virtual time a request finishes one step after the previous
 * request of its class, or one step after the present if its class has none
 * queued.  The present is the finish of the request at the head.  A step is inversely
 * proportional to the weight.  Requests are served by finish.  So classes that always
 * have requests queued are accepted in proportion to their weights, in any
 * window but for one or two requests, and a class that was idle has saved nothing up.
 *
 * Virtual time is a u64 that wraps.  A request carries its finish as a key of
 * 32 bits: the 27 topmost bits of the finish, and below them its class's
 * position, so that requests of different classes never have the same key.  A
 * unit is the least difference of two keys.  A step of the heaviest class is four units, and
 * every other step is longer.  Rounding affects only what the key leaves out and does not add
 * up.
 *
 * Keys and times are compared by signed difference.  That is right as long as the
 * queue spans less than half of the range: a finish is never set further ahead than
 * HORIZON, a quarter.  It takes 8388 queued requests of a class whose weight is a
 * thousandth of the heaviest to reach that, or 8.4 million of the heaviest; requests
 * beyond come too early, still in order of arrival.
 *
 * DOC: minimum shares
 *
 * Credit is counted in hundredths of a request.  A class earns its percentage
 * of each request that is accepted, of any class, and pays for each of its
 * own.  So a class that is served anyway has no claim.  Credit is never negative,
 * and an idle class keeps at most one request's worth.
 *
 * Pure: no locks, no clock, any context.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include "share.h"

#define POSITION_BITS	5
#define POSITION_MASK	((1U << POSITION_BITS) - 1)
#define KEY_SHIFT	32			/* of the key in a time */
#define UNIT		(1ULL << (KEY_SHIFT + POSITION_BITS))
#define HORIZON		(UNIT << 25)
#define STEP_UNITS	4			/* of the heaviest class */
#define CREDIT_MAX	0x40000000U

/**
 * synq_share_step() - length of a step of a class, in virtual time
 * @weight: of the class, 1 to SYNQ_SHARE_WEIGHT_MAX
 * @heaviest: of all classes, at least @weight
 *
 * Return: the step, at least 4 units and below 2^49
 */
u64 synq_share_step(u16 weight, u16 heaviest)
{
	return div_u64(STEP_UNITS * UNIT * heaviest, weight);
}

/**
 * synq_share_finish() - when a request finishes
 * @after: finish of the one before it, or the present
 * @step: of its class
 * @now: the present; @after is not before it
 *
 * Return: the finish; never before @after, if that was made by this function
 */
u64 synq_share_finish(u64 after, u64 step, u64 now)
{
	return now + min_t(u64, after + step - now, HORIZON);
}

/**
 * synq_share_key() - what a request carries of its finish
 * @finish: virtual time
 * @position: of its class, below 32
 *
 * Return: the key
 */
u32 synq_share_key(u64 finish, u8 position)
{
	return ((u32)(finish >> KEY_SHIFT) & ~POSITION_MASK) | position;
}

/**
 * synq_share_position() - the class of a request
 * @key: of a request
 *
 * Return: position of its class
 */
u8 synq_share_position(u32 key)
{
	return key & POSITION_MASK;
}

/**
 * synq_share_time() - the finish of a request as far as its key tells
 * @key: of the request
 *
 * Return: virtual time, less than a unit before the finish
 */
u64 synq_share_time(u32 key)
{
	return (u64)(key & ~POSITION_MASK) << KEY_SHIFT;
}

/**
 * synq_share_behind() - a finish behind a given one, whatever the classes
 * @key: of the other
 *
 * Return: virtual time
 */
u64 synq_share_behind(u32 key)
{
	return synq_share_time(key) + UNIT;
}

/**
 * synq_share_left() - how many requests of a class are still queued
 * @last: finish of its last request
 * @step: of the class; its requests finish a step apart
 * @head: key of the request that is next, of any class
 * @position: of the class
 *
 * Assumes that the class always had requests queued: the caller knows an upper
 * bound of their number.  With that bound the result is exact, unless a request
 * was set to the horizon.
 *
 * Return: the number of its requests with a key not before @head
 */
u32 synq_share_left(u64 last, u64 step, u32 head, u8 position)
{
	u64 since = synq_share_time(head);

	if (position < synq_share_position(head))
		since += UNIT;
	if ((s64)(last - since) < 0)
		return 0;
	return div64_u64(last - since, step) + 1;
}

/**
 * synq_share_earn() - credit a class for accepted requests
 * @credit: of the class
 * @percent: its minimum share, 0 to 100
 * @accepted: requests, of all classes
 *
 * Return: its credit now
 */
u32 synq_share_earn(u32 credit, u8 percent, u32 accepted)
{
	return min_t(u64, (u64)percent * accepted + credit, CREDIT_MAX);
}

/**
 * synq_share_spend() - charge a class for its accepted requests
 * @credit: of the class
 * @requests: of the class
 *
 * Return: its credit now
 */
u32 synq_share_spend(u32 credit, u32 requests)
{
	return credit - min_t(u64, (u64)requests * SYNQ_SHARE_ONE, credit);
}

/**
 * synq_share_keep() - limit the credit of an idle class
 * @credit: of a class that has nothing queued to use it for
 *
 * Return: its credit now
 */
u32 synq_share_keep(u32 credit)
{
	return min_t(u32, credit, SYNQ_SHARE_ONE);
}

/*
 * Tags: how synq recognises the requests that it has placed.
 *
 * A tag lives in ir_cookie.  Every allocation of a request sets that to 0, and it is
 * copied to the child when the child is made.  Nothing uses it while the request is in the
 * accept queue.  It may hold a real socket cookie when the request arrives there, if a
 * diag dump or a BPF program asked for one.
 *
 * From the top: the bits 1 and 0, 30 bits of id, and 32 bits of the writer's own.  Real
 * cookies count up from small numbers, so that bit 63 is clear, or down from 2^64 in
 * nested context, so that bit 62 is set; neither looks like a tag before 2^62 of them
 * were given.  The whole id is compared, so that a tag of another writer (a request that
 * migration cloned), or of an older generation, is no tag.  It holds no pointer: a diag
 * dump may print it, harmlessly.
 *
 * An id is taken for each listener and each generation of its configuration, and
 * whenever the owner of a listener chooses another order, which an application may do in a
 * loop.  Ids are reused after 2^30 others.  So a writer takes another one when
 * 2^29 were taken after its own (synq_tag_is_old()): it checks with each request, and ten
 * times a second if it has any (listener.c), so no two writers ever use the same.
 * Requests keep their tags when the module is unloaded, so ids begin at a
 * random number each time that it is loaded.
 *
 * A clone keeps its tag, too, in the queue of a listener that nobody manages, where no
 * writer looks at it.  So a tag is bound to the address of its request: that of a clone is
 * none, whoever has its id by then.
 */

#define OLD	BIT(29)

static atomic64_t last;
static u64 secret;

/**
 * synq_tag_init() - the module is loaded
 * @random: where ids begin
 * @key: that binds tags to addresses
 */
void synq_tag_init(u32 random, u64 key)
{
	atomic64_set(&last, random);
	secret = key;
}

/**
 * synq_tag_bind() - an id as it is for one request
 * @id: from synq_tag_id(), or 0
 * @req: the request
 *
 * Return: 30 bits for synq_tag() and synq_tag_is(); 0 for 0
 */
u32 synq_tag_bind(u32 id, const void *req)
{
	u64 hash = ((unsigned long)req ^ secret) * 0x61c8864680b583ebULL;

	return id ? (id ^ hash >> 34) & SYNQ_TAG_ID ?: 1 : 0;
}

/**
 * synq_tag_take() - a number with an id that no request carries
 *
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
 * Return: true if so: it is to be replaced
 */
bool synq_tag_is_old(u64 number)
{
	return (u64)atomic64_read(&last) - number >= OLD;
}
