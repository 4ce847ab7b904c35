// SPDX-License-Identifier: GPL-2.0
/*
 * Takes out matches whose time is over: one delayed work for each network namespace, no
 * timer for an entry.
 *
 * A published configuration does not change.  So the work makes a copy without the matches
 * that have expired, which shares all memory but the nodes around them, and publishes it.
 * This is no commit: the generation stays, so that an open transaction does not fail because
 * a ban has ended, and no observer is called.  A draft has its own copy of the times.  What
 * has expired when it is committed goes next; likewise when a trial is rolled back.
 *
 * DOC: when
 *
 * Lookups ignore the time: a match counts until the work has run.  The work never runs
 * early.  It runs within two seconds, since the clock has seconds, plus one second for each
 * 50,000 matches of the configuration: it visits all of them, and their index (chunks.c) has
 * to be made anew, so it must not run all the time.  Without memory it tries again after the
 * same pause, and no process is killed for it.
 *
 * Process context; &synq_net.lock protects what is in force.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/workqueue.h>
#include "conf.h"
#include "edit.h"
#include "expire.h"
#include "policer.h"

#define MATCHES_PER_SECOND	50000
#define LOOK_PERIOD		86400U	/* seconds, which no clock of jiffies is too short for */

static struct synq_conf *in_force(const struct synq_net *sn)
{
	return rcu_dereference_protected(sn->conf, lockdep_is_held(&sn->lock));
}

/* A copy, charged to whoever pays for the original; NULL: nothing is due, or no memory. */
static struct synq_conf *copy_if_due(struct synq_net *sn, u32 now, u64 *serial)
{
	struct synq_conf *conf, *copy = NULL;
	struct mem_cgroup *old;

	mutex_lock(&sn->lock);
	conf = in_force(sn);
	if (conf && synq_expire_is_over(conf->first_end, now)) {
		*serial = conf->serial;
		old = set_active_memcg(conf->payer);
		copy = synq_conf_copy(conf);
		set_active_memcg(old);
	}
	mutex_unlock(&sn->lock);
	return copy;
}

static bool take_out(const struct synq_net *sn, struct synq_conf *copy, u32 now)
{
	struct mem_cgroup *old = set_active_memcg(copy->payer);
	int err = synq_edit_expire(copy, now, &sn->serial);

	set_active_memcg(old);
	return !err;
}

/* True: the copy is in force now, and not what it was made from. */
static bool put_in_force(struct synq_net *sn, struct synq_conf *conf,
			 struct synq_conf *copy)
{
	if (copy->n_services != conf->n_services)
		sn->expire_moved++;
	if (synq_conf_matches(copy) == synq_conf_matches(conf)) {
		/* The match that was due has been given more time. */
		conf->first_end = copy->first_end;
		return false;
	}
	if (synq_aggregate_attach(copy, conf))
		return false;
	synq_conf_renew(sn, copy);
	return true;
}

/*
 * The copy is worked on without the lock: that may take seconds where its payer is near its
 * limit.  Nobody else has it, and what it shares with others is not written to.  When there is a
 * commit meanwhile, or the namespace goes, it is of no use: a commit takes out what is due itself.
 */
static void expire(struct work_struct *work)
{
	struct synq_net *sn = container_of(to_delayed_work(work),
					   struct synq_net, expire_work);
	const u32 now = synq_expire_now();
	struct synq_conf *conf, *copy;
	u64 serial = 0;
	bool done;

	copy = copy_if_due(sn, now, &serial);
	done = copy && take_out(sn, copy, now);

	mutex_lock(&sn->lock);
	conf = in_force(sn);
	if (serial && conf)
		sn->expire_after = synq_expire_now() + 1 +
				   synq_conf_matches(conf) / MATCHES_PER_SECOND;
	done = done && conf && conf->serial == serial && put_in_force(sn, conf, copy);
	synq_expire_later(sn);
	mutex_unlock(&sn->lock);
	if (!done)
		synq_conf_free(copy);
}

/**
 * synq_expire_later() - a configuration has been published
 * @sn: network namespace
 *
 * Context: process, &synq_net.lock held
 */
void synq_expire_later(struct synq_net *sn)
{
	const struct synq_conf *conf = in_force(sn);
	const u32 now = synq_expire_now();
	u32 at;

	if (!conf || !conf->first_end)
		return;
	at = max(conf->first_end, sn->expire_after);
	mod_delayed_work(system_long_wq, &sn->expire_work,
			 at > now ? min(at - now, LOOK_PERIOD) * HZ : 0);
}

/**
 * synq_expire_net_init() - a network namespace appears
 * @sn: its state
 *
 * Context: process
 */
void synq_expire_net_init(struct synq_net *sn)
{
	INIT_DELAYED_WORK(&sn->expire_work, expire);
}

/**
 * synq_expire_net_exit() - a network namespace goes away
 * @sn: its state, with no configuration any more
 *
 * Context: process
 */
void synq_expire_net_exit(struct synq_net *sn)
{
	cancel_delayed_work_sync(&sn->expire_work);
}
