// SPDX-License-Identifier: GPL-2.0
/*
 * A configuration on trial: unless it is confirmed in time, that before it is in
 * force again.  Whoever has shut himself out need only wait.
 *
 * What was in force is kept as a private copy, complete with its buckets, so that
 * going back takes no memory but what an observer wants (the hooks); where that fails
 * it is tried again each second.  It is a commit like any other, with a generation
 * of its own.  Nobody else can commit meanwhile: going back would undo his work.
 *
 * Lifetime: @before belongs to whoever holds &synq_net.lock and finds it; the work
 * and the confirmation both take it away under the lock, so that exactly one does.
 * The work may be late: it can have begun to wait for the lock when the trial that
 * it was armed for was confirmed, and find the next one.  So it goes by
 * @trial_end, which has not come for that one, and for which it is armed anew.
 * synq_trial_net_exit() waits for it before the namespace's state is gone.
 *
 * Process context, under &synq_net.lock.
 */
#include <linux/jiffies.h>
#include <linux/netlink.h>
#include <linux/workqueue.h>
#include "aggregate.h"
#include "conf.h"
#include "trial.h"

static struct synq_conf *take(struct synq_net *sn)
{
	struct synq_conf *before = sn->before;

	sn->before = NULL;
	return before;
}

static void go_back(struct work_struct *work)
{
	struct synq_net *sn = container_of(to_delayed_work(work),
					   struct synq_net, trial_work);
	struct synq_conf *before;

	mutex_lock(&sn->lock);
	if (sn->before && time_after_eq(jiffies, sn->trial_end)) {
		before = take(sn);
		if (synq_conf_publish(sn, before)) {
			sn->before = before;
			schedule_delayed_work(&sn->trial_work, HZ);
		}
	}
	mutex_unlock(&sn->lock);
}

/**
 * synq_trial_refuse() - is a configuration on trial?
 * @sn: network namespace
 * @extack: says so
 *
 * Context: &synq_net.lock held
 * Return: 0 or -EBUSY
 */
int synq_trial_refuse(const struct synq_net *sn, struct netlink_ext_ack *extack)
{
	if (!sn->before)
		return 0;
	NL_SET_ERR_MSG(extack, "a configuration is on trial: confirm it, or wait for its end");
	return -EBUSY;
}

/**
 * synq_trial_begin() - what is about to be published is on trial
 * @sn: network namespace, with none on trial
 * @seconds: until it goes back to what is in force now
 *
 * To be followed by the publishing, or by synq_trial_confirm() if that fails.
 *
 * Context: &synq_net.lock held
 * Return: 0 or -ENOMEM
 */
int synq_trial_begin(struct synq_net *sn, u32 seconds)
{
	const struct synq_conf *now =
		rcu_dereference_protected(sn->conf, lockdep_is_held(&sn->lock));
	struct synq_conf *before = synq_conf_copy(now);
	int err;

	if (!before)
		return -ENOMEM;
	/* All its classes are in force: it shares their sources. */
	err = synq_aggregate_attach(before, now);
	if (err) {
		synq_conf_free(before);
		return err;
	}
	sn->before = before;
	sn->trial_end = jiffies + seconds * HZ;
	schedule_delayed_work(&sn->trial_work, seconds * HZ);
	return 0;
}

/**
 * synq_trial_confirm() - what is on trial stays
 * @sn: network namespace
 *
 * Context: &synq_net.lock held
 * Return: 0, or -ENOENT: nothing is on trial
 */
int synq_trial_confirm(struct synq_net *sn)
{
	if (!sn->before)
		return -ENOENT;
	/* The next trial is to arm it anew. */
	cancel_delayed_work(&sn->trial_work);
	synq_conf_free(take(sn));
	return 0;
}

/**
 * synq_trial_left() - how long the trial still takes
 * @sn: network namespace
 *
 * Context: &synq_net.lock held
 * Return: seconds, at least 1; 0: nothing is on trial
 */
u32 synq_trial_left(const struct synq_net *sn)
{
	long left = sn->trial_end - jiffies;

	if (!sn->before)
		return 0;
	return left > 0 ? DIV_ROUND_UP(left, HZ) : 1;
}

/**
 * synq_trial_net_init() - prepare the state of a network namespace
 * @sn: its state
 *
 * Context: process
 */
void synq_trial_net_init(struct synq_net *sn)
{
	INIT_DELAYED_WORK(&sn->trial_work, go_back);
}

/**
 * synq_trial_net_exit() - the namespace or the module goes away
 * @sn: network namespace, which nobody configures any more
 *
 * Context: process
 */
void synq_trial_net_exit(struct synq_net *sn)
{
	cancel_delayed_work_sync(&sn->trial_work);
	mutex_lock(&sn->lock);
	synq_trial_confirm(sn);
	mutex_unlock(&sn->lock);
}
