// SPDX-License-Identifier: GPL-2.0
/*
 * Makes indexes of the prefixes that are in force (lpm.c), of each table that is large
 * enough, so that a SYN is classified in about the same time by ten of them and by a
 * million.
 *
 * They take longer to make than a prefix to add, so they are made when a configuration
 * has been in force for a second: who changes it more often than that does without.
 * Lookups find the same with them and without; where there was no memory the way stays
 * as long as it is, which is counted, until the next change.
 *
 * DOC: who pays
 *
 * A worker has no memory control group of its own.  The indexes are charged to that
 * of who began the transaction, as the prefixes were when he edited it.  For that each
 * configuration has a reference from when it is made (synq_conf_alloc(),
 * synq_conf_copy()): so has that which is in force before a trial, whose way back
 * (trial.c) is a worker's, too.  The worker takes the reference with it, and gives it up
 * when the indexes are made; of a configuration that no worker has come to,
 * synq_conf_free() does.  A group that is removed meanwhile stays as memory, for these
 * seconds, and its charges go to its parent: a charge is held by the memory and not by
 * the configuration.
 *
 * DOC: whose an index is
 *
 * Indexes and @payer are what is written to a configuration after it is published: by
 * who holds &synq_net.lock and finds it in force, so that it cannot be freed meanwhile.
 * Memory is asked for without the lock, since that may take long near the limit of a
 * group, and the lock is wanted by who looks at counters, and by a namespace that
 * goes.  A configuration is known again by its serial, which no other ever had; and one
 * that was replaced meanwhile gets no index.  They go with the configuration.
 *
 * The worker of a namespace that has none, or whose state is about to go, finds nothing:
 * .pre_exit takes the configuration away, and synq_index_net_exit() waits for the worker
 * in .exit.  Nobody publishes in between, so none is queued again.
 *
 * Process context.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/workqueue.h>
#include "chunks.h"
#include "conf.h"
#include "index.h"

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

/* The same, unless another configuration is in force. */
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
		places = synq_chunks_places(lpm, &level);
	mutex_unlock(&sn->lock);
	if (!places)
		return lpm;

	index = synq_chunks_index_alloc(places, level);
	if (!index) {
		atomic64_inc(&sn->index_failed);
		return true;
	}
	mutex_lock(&sn->lock);
	lpm = table_of(sn, serial, n);
	if (lpm)
		synq_chunks_index(lpm, index);
	mutex_unlock(&sn->lock);
	if (!lpm)
		synq_chunks_index_free(index);
	return lpm;
}

/* Returns the serial of the configuration in force, 0: there is none. */
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
		conf->payer = NULL;
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
 * synq_index_later() - a configuration has been published
 * @sn: network namespace
 *
 * Context: process, &synq_net.lock held
 */
void synq_index_later(struct synq_net *sn)
{
	mod_delayed_work(system_long_wq, &sn->index_work, HZ);
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
 * @sn: its state; nobody configures it any more
 *
 * Context: process
 */
void synq_index_net_exit(struct synq_net *sn)
{
	cancel_delayed_work_sync(&sn->index_work);
}
