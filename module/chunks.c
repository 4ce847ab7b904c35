// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a trie of prefixes (lpm.c), shared between configurations.
 *
 * One prefix more in a table of a million must not cost a copy of the table.  A
 * configuration that is made from another one shares all its chunks of nodes, and
 * has a copy made of each that it writes to before it does.
 *
 * DOC: whose a chunk is
 *
 * Each trie that has a chunk holds a reference.  References are taken only from a
 * trie that is published or about to be, under &synq_net.lock.  A draft's trie is
 * nobody's but the draft's: a chunk of which it holds the only reference can be
 * reached by nobody else, and gets no further one while the draft writes.  The last
 * other reference was put after a grace period behind the last reader
 * (synq_conf_free()), and refcount_dec_and_test() is a release: what the readers
 * read comes before it, and what the draft writes after it has seen the count of 1,
 * by a control dependency.  A count that falls meanwhile costs a copy, nothing else.
 *
 * An index (lpm.c) belongs to one trie and one configuration, and is made when it has
 * been in force for a while (index.c).
 *
 * Process context.
 */
#include <linux/build_bug.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "chunks.h"

#define TABLE_MIN	8
#define INDEX_MIN	64	/* prefixes; with fewer the way is short */
#define CHUNK_SIZE	(SYNQ_LPM_CHUNK * sizeof(struct synq_lpm_node))

/* In the place that is not for a node. */
static refcount_t *refs_of(struct synq_lpm_node *chunk)
{
	BUILD_BUG_ON(sizeof(refcount_t) > sizeof(*chunk));
	return (refcount_t *)chunk;
}

static struct synq_lpm_node *chunk_alloc(void)
{
	struct synq_lpm_node *chunk = kmalloc(CHUNK_SIZE, GFP_KERNEL_ACCOUNT);

	if (chunk)
		refcount_set(refs_of(chunk), 1);
	return chunk;
}

static void chunk_put(struct synq_lpm_node *chunk)
{
	if (refcount_dec_and_test(refs_of(chunk)))
		kfree(chunk);
}

/* So that the table doubles when it grows, without a word for its length. */
static u32 room_for(u32 chunks)
{
	return chunks < TABLE_MIN ? TABLE_MIN : roundup_pow_of_two(chunks);
}

static struct synq_lpm_node **table_alloc(u32 chunks)
{
	return kvmalloc_array(room_for(chunks), sizeof(struct synq_lpm_node *),
			      GFP_KERNEL_ACCOUNT);
}

/**
 * synq_chunks_share() - make a trie that is the same as another
 * @to: not a trie yet; on failure one without memory
 * @from: published, or empty
 *
 * Context: process, &synq_net.lock held
 * Return: 0 or -ENOMEM
 */
int synq_chunks_share(struct synq_lpm *to, const struct synq_lpm *from)
{
	struct synq_lpm_node **table;
	u32 i;

	synq_lpm_init(to, from->bits);
	if (!from->chunks)
		return 0;
	table = table_alloc(from->chunks);
	if (!table)
		return -ENOMEM;
	*to = *from;
	to->chunk = table;
	to->index = NULL;
	for (i = 0; i < from->chunks; i++) {
		to->chunk[i] = from->chunk[i];
		refcount_inc(refs_of(to->chunk[i]));
		cond_resched();
	}
	return 0;
}

static int grow(struct synq_lpm *lpm)
{
	struct synq_lpm_node **table, *chunk;

	if (!lpm->chunk || lpm->chunks == room_for(lpm->chunks)) {
		table = table_alloc(lpm->chunks + 1);
		if (!table)
			return -ENOMEM;
		if (lpm->chunk)
			memcpy(table, lpm->chunk,
			       array_size(lpm->chunks, sizeof(*table)));
		kvfree(lpm->chunk);
		lpm->chunk = table;
	}
	chunk = chunk_alloc();
	if (!chunk)
		return -ENOMEM;
	lpm->chunk[lpm->chunks++] = chunk;
	return 0;
}

static int own(struct synq_lpm_node **chunk)
{
	struct synq_lpm_node *copy, *shared = *chunk;

	if (refcount_read(refs_of(shared)) == 1)
		return 0;
	copy = chunk_alloc();
	if (!copy)
		return -ENOMEM;
	memcpy(copy + 1, shared + 1, CHUNK_SIZE - sizeof(*copy));
	*chunk = copy;
	chunk_put(shared);
	return 0;
}

/**
 * synq_chunks_own() - have a prefix inserted or removed without anybody's noticing
 * @lpm: a draft's
 * @key: of the prefix, as for synq_lpm_insert()
 * @len: of the prefix, bits
 * @insert: there is to be room for it
 *
 * Context: process
 * Return: 0 or -ENOMEM; the trie is the same in any case
 */
int synq_chunks_own(struct synq_lpm *lpm, const u8 *key, u8 len, bool insert)
{
	u32 number[SYNQ_LPM_TOUCHED], i, c;
	int err;

	while (insert && !synq_lpm_has_room(lpm)) {
		err = grow(lpm);
		if (err)
			return err;
	}
	synq_lpm_touched(lpm, key, len, number);
	for (i = 0; i < SYNQ_LPM_TOUCHED; i++) {
		c = number[i] / SYNQ_LPM_CHUNK;
		if (!number[i] || c >= lpm->chunks)
			continue;
		err = own(&lpm->chunk[c]);
		if (err)
			return err;
	}
	return 0;
}

/**
 * synq_chunks_places() - how large an index would be
 * @lpm: published, so that it does not change any more
 * @level: out: bits of an address that it would be by
 *
 * Context: process, &synq_net.lock held
 * Return: places in it; 0: @lpm has one, or the way is short without
 */
u32 synq_chunks_places(const struct synq_lpm *lpm, u8 *level)
{
	if (lpm->index || lpm->prefixes < INDEX_MIN)
		return 0;
	return roundup_pow_of_two(2 * synq_lpm_index_level(lpm, level));
}

/**
 * synq_chunks_index_alloc() - memory for an index
 * @places: from synq_chunks_places(), of 8 bytes: at most 32 bytes for each prefix
 * @level: likewise
 *
 * Nobody has to have it, so nobody is killed for it: near its limit a control group
 * gives up what it can easily, and then the charge fails (__GFP_NORETRY), as does the
 * allocation when the machine has no more.
 *
 * Context: process; may sleep for as long as reclaim takes
 * Return: to be given to synq_chunks_index() or synq_chunks_index_free(); NULL without
 * memory
 */
struct synq_lpm_index *synq_chunks_index_alloc(u32 places, u8 level)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY;
	struct synq_lpm_index *index = kzalloc(sizeof(*index), gfp);

	if (!index)
		return NULL;
	/* Apart, since beside it they would take twice as much: a power of two. */
	index->way = kvcalloc(places, sizeof(*index->way), gfp);
	if (!index->way) {
		kfree(index);
		return NULL;
	}
	get_random_bytes(&index->key, sizeof(index->key));
	index->key |= 1;
	index->mask = places - 1;
	index->shift = 64 - ilog2(places);
	index->level = level;
	return index;
}

/**
 * synq_chunks_index_free() - undo synq_chunks_index_alloc()
 * @index: that no reader can see; may be NULL
 *
 * Context: any
 */
void synq_chunks_index_free(struct synq_lpm_index *index)
{
	if (index)
		kvfree(index->way);
	kfree(index);
}

/**
 * synq_chunks_index() - shorten the way of lookups
 * @lpm: published, so that it does not change any more
 * @index: as large as synq_chunks_places() said of it
 *
 * Context: process, &synq_net.lock held
 */
void synq_chunks_index(struct synq_lpm *lpm, struct synq_lpm_index *index)
{
	synq_lpm_index_fill(lpm, index);
	/* Pairs with READ_ONCE in synq_lpm_lookup(). */
	smp_store_release(&lpm->index, index);
}

/**
 * synq_chunks_drop() - free what no other trie has
 * @lpm: not used any more; empty afterwards
 *
 * Context: process; no reader can see @lpm
 */
void synq_chunks_drop(struct synq_lpm *lpm)
{
	u32 i;

	for (i = 0; i < lpm->chunks; i++) {
		chunk_put(lpm->chunk[i]);
		cond_resched();
	}
	kvfree(lpm->chunk);
	synq_chunks_index_free(lpm->index);
	synq_lpm_init(lpm, lpm->bits);
}
