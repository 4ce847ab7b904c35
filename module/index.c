// SPDX-License-Identifier: GPL-2.0
/*
 * Makes an index of the prefixes that are in force (lpm.c), so that a SYN is
 * classified in about the same time by ten of them and by a million.
 *
 * It takes longer to make than a prefix to add, so it is made when a configuration has
 * been in force for a second: who changes it more often than that does without.
 * Lookups find the same with it and without.
 *
 * The one thing that is written to a configuration after it is published: by who
 * holds &synq_net.lock and finds it in force, so that it cannot be freed meanwhile.
 * It goes with the configuration.
 *
 * Process context.
 */
#include <linux/workqueue.h>
#include "chunks.h"
#include "conf.h"
#include "index.h"

static void make(struct work_struct *work)
{
	struct synq_net *sn = container_of(to_delayed_work(work),
					   struct synq_net, index_work);
	struct synq_conf *conf;

	mutex_lock(&sn->lock);
	conf = rcu_dereference_protected(sn->conf, lockdep_is_held(&sn->lock));
	if (conf) {
		synq_chunks_index(&conf->lpm[0]);
		synq_chunks_index(&conf->lpm[1]);
	}
	mutex_unlock(&sn->lock);
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
