// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a trie of prefixes (lpm.c), shared between configurations.
 *
 * One prefix more in a table of a million must not cost a copy of the table.  A
 * configuration that is made from another one shares all its chunks of nodes, and
 * has a copy made of each that it writes to before it does.
 *
 * DOC: when a chunk may be written to
 *
 * Each trie holds a reference to each of its chunks.  References are taken only from a
 * trie that is published or about to be, under &synq_net.lock.  A draft's trie is
 * private.  If it holds the only reference to a chunk, nothing else can reach that
 * chunk, and the chunk gets no further reference while the draft writes.  The last
 * other reference was put after a grace period behind the last reader
 * (synq_conf_free()), and refcount_dec_and_test() is a release.  So the loads of the
 * readers come before it, and by a control dependency the draft's stores come after it
 * has seen the count of 1.  A count that falls meanwhile costs a copy, nothing else.  All this
 * holds for the copy that expire.c edits without the lock as well.
 *
 * An index (lpm.c) belongs to one trie and one configuration.  The second part of this file
 * makes it.
 *
 * Process context.
 */
#include <linux/build_bug.h>
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include "chunks.h"
#include "conf.h"

#define TABLE_MIN	8
#define INDEX_MIN	64	/* prefixes; with fewer the way is short */
#define CHUNK_SIZE	(SYNQ_LPM_CHUNK * sizeof(struct synq_lpm_node))

/* The first place of a chunk holds no node, but the count. */
static refcount_t *refs_of(struct synq_lpm_node *chunk)
{
	BUILD_BUG_ON(sizeof(refcount_t) > sizeof(*chunk));
	return (refcount_t *)chunk;
}

static struct synq_lpm_node *chunk_alloc(void)
{
	struct synq_lpm_node *chunk = kmalloc(CHUNK_SIZE, synq_conf_gfp());

	if (chunk)
		refcount_set(refs_of(chunk), 1);
	return chunk;
}

static void chunk_put(struct synq_lpm_node *chunk)
{
	if (refcount_dec_and_test(refs_of(chunk)))
		kfree(chunk);
}

/* A power of two: the table doubles when it grows, and its length need not be stored. */
static u32 room_for(u32 chunks)
{
	return chunks < TABLE_MIN ? TABLE_MIN : roundup_pow_of_two(chunks);
}

static struct synq_lpm_node **table_alloc(u32 chunks)
{
	return kvmalloc_array(room_for(chunks), sizeof(struct synq_lpm_node *),
			      synq_conf_gfp());
}

/**
 * synq_chunks_share() - copy a trie by sharing all its chunks
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
 * synq_chunks_own() - copy the shared chunks that an edit would write to
 * @lpm: a draft's
 * @key: of the prefix, as for synq_lpm_insert()
 * @len: of the prefix, bits
 * @insert: the edit inserts the prefix: make room for it, too
 *
 * Context: process
 * Return: 0 or -ENOMEM; the trie has the same prefixes in any case
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
 * chunks_places() - how large an index would be
 * @lpm: published, so that it does not change any more
 * @level: out: how many bits of an address it would go by
 *
 * Context: process, &synq_net.lock held
 * Return: places in it; 0: @lpm has an index already, or is too small to need one
 */
static u32 chunks_places(const struct synq_lpm *lpm, u8 *level)
{
	if (lpm->index || lpm->prefixes < INDEX_MIN)
		return 0;
	return roundup_pow_of_two(2 * synq_lpm_index_level(lpm, level));
}

/**
 * chunks_index_alloc() - memory for an index
 * @places: from chunks_places(), of 8 bytes: at most 32 bytes for each prefix
 * @level: likewise
 *
 * An index is optional, so the OOM killer must not run for it (__GFP_NORETRY).  Near its
 * limit a control group reclaims what is easy to reclaim; then the charge fails.  So does
 * the allocation if the machine has no memory left.
 *
 * Context: process; may sleep for as long as reclaim takes
 * Return: for chunks_index() or chunks_index_free(); NULL without memory
 */
static struct synq_lpm_index *chunks_index_alloc(u32 places, u8 level)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY;
	struct synq_lpm_index *index = kzalloc(sizeof(*index), gfp);

	if (!index)
		return NULL;
	/* On its own: with a header in front, a power of two would take twice its size. */
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
 * chunks_index_free() - undo chunks_index_alloc()
 * @index: that no reader can see; may be NULL
 */
static void chunks_index_free(struct synq_lpm_index *index)
{
	if (index)
		kvfree(index->way);
	kfree(index);
}

/**
 * chunks_index() - speed up lookups in a trie
 * @lpm: published, so that it does not change any more
 * @index: as large as chunks_places() said of it
 *
 * Context: process, &synq_net.lock held
 */
static void chunks_index(struct synq_lpm *lpm, struct synq_lpm_index *index)
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
	chunks_index_free(lpm->index);
	synq_lpm_init(lpm, lpm->bits);
}

/*
 * Makes indexes (lpm.c) of the tables of prefixes that are in force and large enough.  With
 * an index a SYN is classified in about the same time by ten prefixes and by a million.
 *
 * Making an index takes longer than adding a prefix.  So it is made only when a configuration
 * has been in force for a second; while commits come faster, there is none.  After matches have
 * ended it is made at once.  Lookups find the same with an index and without.  If there is no
 * memory for it, lookups stay slow until the next change, and the failure is counted.
 *
 * DOC: what the memory is charged to
 *
 * A worker has no memory control group of its own.  The indexes are charged to the group
 * of the process that began the transaction, as the prefixes were during the edit.  For that
 * each configuration holds a reference to the group from when it is made
 * (synq_conf_alloc(), synq_conf_copy()).  So does the configuration that was in force before
 * a trial, since a worker may have to restore it (draft.c).  The worker takes the reference
 * over, and puts it when the indexes are made.  If no worker has come to a configuration,
 * synq_conf_free() puts it.  If matches are to expire, another reference stays with the
 * configuration for the copy that expire.c will make.  A group that is removed meanwhile
 * stays in memory for so long.  Its charges go to its parent: they are held by the memory
 * and not by the configuration.
 *
 * DOC: what is written after publishing
 *
 * Indexes, @payer and @first_end (expire.c) are written to a configuration after it is
 * published.  The writer holds &synq_net.lock and finds the configuration in force, so it
 * cannot be freed meanwhile.  Memory is allocated without the lock: that may take long
 * near the limit of a group, and readers of counters and the exit of a namespace need the
 * lock.  The configuration is then recognised by its serial, which is never reused; if it
 * was replaced meanwhile it gets no index.  Indexes are freed with their configuration.
 *
 * In a namespace without a configuration the worker finds nothing to do.  When a namespace
 * exits, .pre_exit takes the configuration away, and synq_index_net_exit() waits for the
 * worker in .exit.  Nothing is published in between, so no work is queued again.
 *
 * Process context.
 */

static struct synq_conf *in_force(const struct synq_net *sn)
{
	return rcu_dereference_protected(sn->conf, lockdep_is_held(&sn->lock));
}

/* By number; NULL: there are no more. */
static struct synq_lpm *table(struct synq_conf *conf, unsigned int n)
{
	if (n < 2)
		return &conf->lpm[n];
	n -= 2;
	return n < 2 * conf->n_services ? &conf->service[n / 2].lpm[n % 2] : NULL;
}

/* Likewise; NULL if another configuration is in force, too. */
static struct synq_lpm *table_of(const struct synq_net *sn, u64 serial,
				 unsigned int n)
{
	struct synq_conf *conf = in_force(sn);

	return conf && conf->serial == serial ? table(conf, n) : NULL;
}

/* Returns false if there is no such table any more. */
static bool make_one(struct synq_net *sn, u64 serial, unsigned int n)
{
	struct synq_lpm_index *index;
	struct synq_lpm *lpm;
	u32 places = 0;
	u8 level = 0;

	mutex_lock(&sn->lock);
	lpm = table_of(sn, serial, n);
	if (lpm)
		places = chunks_places(lpm, &level);
	mutex_unlock(&sn->lock);
	if (!places)
		return lpm;

	index = chunks_index_alloc(places, level);
	if (!index) {
		atomic64_inc(&sn->index_failed);
		return true;
	}
	mutex_lock(&sn->lock);
	lpm = table_of(sn, serial, n);
	if (lpm)
		chunks_index(lpm, index);
	mutex_unlock(&sn->lock);
	if (!lpm)
		chunks_index_free(index);
	return lpm;
}

/* Takes one more reference. */
static struct mem_cgroup *get_again(struct mem_cgroup *payer)
{
	struct mem_cgroup *old = set_active_memcg(payer);

	payer = get_mem_cgroup_from_mm(NULL);
	set_active_memcg(old);
	return payer;
}

/* Takes over the payer; returns the serial in force, 0: there is no configuration. */
static u64 begin(struct synq_net *sn, struct mem_cgroup **payer)
{
	struct synq_conf *conf;
	u64 serial = 0;

	*payer = NULL;
	mutex_lock(&sn->lock);
	conf = in_force(sn);
	if (conf) {
		serial = conf->serial;
		*payer = conf->payer;
		/* Taking out matches (expire.c) makes a copy, which is charged, too. */
		conf->payer = conf->first_end ? get_again(*payer) : NULL;
	}
	mutex_unlock(&sn->lock);
	return serial;
}

static void make(struct work_struct *work)
{
	struct synq_net *sn = container_of(to_delayed_work(work),
					   struct synq_net, index_work);
	struct mem_cgroup *payer, *old;
	u64 serial = begin(sn, &payer);
	unsigned int n = 0;

	old = set_active_memcg(payer);
	while (serial && make_one(sn, serial, n))
		n++;
	set_active_memcg(old);
	mem_cgroup_put(payer);
}

/**
 * synq_index_later() - make indexes of the configuration just published
 * @sn: network namespace
 * @delay: jiffies
 *
 * Context: process, &synq_net.lock held
 */
void synq_index_later(struct synq_net *sn, unsigned long delay)
{
	mod_delayed_work(system_long_wq, &sn->index_work, delay);
}

/**
 * synq_index_matches() - how many matches are found by an index
 * @sn: network namespace
 *
 * Context: process, &synq_net.lock held
 * Return: 0..SYNQ_MATCHES_MAX
 */
u32 synq_index_matches(const struct synq_net *sn)
{
	struct synq_conf *conf = in_force(sn);
	const struct synq_lpm *lpm;
	unsigned int i;
	u32 n = 0;

	for (i = 0; conf && (lpm = table(conf, i)); i++)
		n += lpm->index ? lpm->prefixes : 0;
	return n;
}

/**
 * synq_index_net_init() - a network namespace appears
 * @sn: its state
 *
 * Context: process
 */
void synq_index_net_init(struct synq_net *sn)
{
	INIT_DELAYED_WORK(&sn->index_work, make);
}

/**
 * synq_index_net_exit() - a network namespace goes away
 * @sn: its state, with no configuration any more
 *
 * Context: process
 */
void synq_index_net_exit(struct synq_net *sn)
{
	cancel_delayed_work_sync(&sn->index_work);
}
