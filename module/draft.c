// SPDX-License-Identifier: GPL-2.0
/*
 * Transactions: a draft is a private configuration that one netlink socket
 * edits and then commits as a whole, or drops.
 *
 * Several may be open; the first to commit wins and the others, which began
 * from an older generation, are refused: two writers cannot lose each other's
 * work, and none can lock the others out.  A draft with a refused edit cannot
 * be committed.
 *
 * Process context, under &synq_net.lock.
 */
#include <linux/jiffies.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "conf.h"
#include "draft.h"
#include "edit.h"
#include "expire.h"
#include "policer.h"

/*
 * A configuration on trial: unless it is confirmed in time, the previous one is in force
 * again.  An administrator who is locked out need only wait.
 *
 * The previous configuration is kept as a private copy, complete with its buckets.  So
 * going back allocates nothing itself; observers may (the hooks), and if that fails it is
 * tried again each second.  Going back is a commit like any other, with a generation of
 * its own.  Other commits are refused meanwhile, since going back would undo them.
 *
 * Lifetime: @before is owned under &synq_net.lock.  The work and the confirmation
 * both take it away under the lock, so exactly one of them gets it.  The work may be
 * late: while it waits for the lock its trial may be confirmed and another one may
 * begin.  So it checks @trial_end, which has not come for the new trial, and for which
 * it is armed anew.  synq_trial_net_exit() waits for it before the namespace's state is
 * gone.
 *
 * Process context, under &synq_net.lock.
 */

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
 * trial_refuse() - is a configuration on trial?
 * @sn: network namespace
 * @extack: says so
 *
 * Context: &synq_net.lock held
 * Return: 0 or -EBUSY
 */
static int trial_refuse(const struct synq_net *sn, struct netlink_ext_ack *extack)
{
	if (!sn->before)
		return 0;
	NL_SET_ERR_MSG(extack, "a configuration is on trial: confirm it, or wait for its end");
	return -EBUSY;
}

/**
 * trial_begin() - put what is about to be published on trial
 * @sn: network namespace, with none on trial
 * @seconds: until the configuration in force now is restored
 *
 * Followed by publishing, or by synq_trial_confirm() if that fails.
 *
 * Context: &synq_net.lock held
 * Return: 0 or -ENOMEM
 */
static int trial_begin(struct synq_net *sn, u32 seconds)
{
	const struct synq_conf *now =
		rcu_dereference_protected(sn->conf, lockdep_is_held(&sn->lock));
	struct synq_conf *before = synq_conf_copy(now);
	int err;

	if (!before)
		return -ENOMEM;
	/* All its classes are in force: it shares their tables of sources. */
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
 * synq_trial_confirm() - end the trial and keep its configuration
 * @sn: network namespace
 *
 * Context: &synq_net.lock held
 * Return: 0, or -ENOENT: nothing is on trial
 */
int synq_trial_confirm(struct synq_net *sn)
{
	if (!sn->before)
		return -ENOENT;
	/* So that the next trial can arm it anew. */
	cancel_delayed_work(&sn->trial_work);
	synq_conf_free(take(sn));
	return 0;
}

/**
 * synq_trial_left() - how long the trial still lasts
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
 * @sn: network namespace, which gets no commit any more
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

static bool too_many(const struct synq_net *sn)
{
	const struct synq_draft *draft;
	unsigned int n = 0;

	list_for_each_entry(draft, &sn->drafts, list)
		n++;
	return n >= SYNQ_DRAFTS_MAX;
}

static const struct synq_conf *current_conf(struct synq_net *sn)
{
	return rcu_dereference_protected(sn->conf, lockdep_is_held(&sn->lock));
}

/**
 * synq_draft_find() - the open draft of a netlink socket
 * @sn: network namespace
 * @portid: of the socket
 *
 * Context: &synq_net.lock held
 * Return: NULL if there is none
 */
struct synq_draft *synq_draft_find(struct synq_net *sn, u32 portid)
{
	struct synq_draft *draft;

	lockdep_assert_held(&sn->lock);
	list_for_each_entry(draft, &sn->drafts, list)
		if (draft->portid == portid)
			return draft;
	return NULL;
}

/**
 * synq_draft_begin() - open a draft
 * @sn: network namespace
 * @portid: of the netlink socket that will own it
 * @replace: begin empty, and not with a copy
 * @expected: generation that the caller believes to be in force, or NULL
 * @extack: says why not
 *
 * Context: &synq_net.lock held
 * Return: 0; -ESTALE: @expected is not in force; -EBUSY: one is open for this
 * socket, or too many; -ENOMEM
 */
int synq_draft_begin(struct synq_net *sn, u32 portid, bool replace,
		     const u32 *expected, struct netlink_ext_ack *extack)
{
	struct synq_draft *draft;

	if (expected && *expected != sn->generation) {
		NL_SET_ERR_MSG(extack, "the configuration has changed meanwhile");
		return -ESTALE;
	}
	if (synq_draft_find(sn, portid)) {
		NL_SET_ERR_MSG(extack, "this socket has a transaction open");
		return -EBUSY;
	}
	if (too_many(sn)) {
		NL_SET_ERR_MSG(extack, "too many transactions are open");
		return -EBUSY;
	}
	draft = kzalloc(sizeof(*draft), GFP_KERNEL_ACCOUNT);
	if (!draft)
		return -ENOMEM;
	draft->conf = replace ? synq_conf_alloc() :
				synq_conf_copy(current_conf(sn));
	if (!draft->conf) {
		kfree(draft);
		return -ENOMEM;
	}
	draft->portid = portid;
	draft->base = sn->generation;
	list_add(&draft->list, &sn->drafts);
	return 0;
}

static void drop(struct synq_draft *draft)
{
	list_del(&draft->list);
	synq_conf_free(draft->conf);
	kfree(draft);
}

static int attach(struct synq_net *sn, struct synq_conf *conf,
		  struct netlink_ext_ack *extack)
{
	int err = synq_aggregate_attach(conf, current_conf(sn));

	if (err)
		NL_SET_ERR_MSG(extack, "no memory for the source buckets");
	return err;
}

static int publish(struct synq_net *sn, struct synq_conf *conf, u32 trial)
{
	int err = trial ? trial_begin(sn, trial) : 0;

	if (err)
		return err;
	err = synq_conf_publish(sn, conf);
	if (err && trial)
		synq_trial_confirm(sn);
	return err;
}

/**
 * synq_draft_commit() - publish a draft and close it
 * @sn: network namespace
 * @portid: of the netlink socket that owns it
 * @changes: edits that the owner made, or NULL
 * @trial: seconds within which it has to be confirmed, or 0
 * @extack: says why not
 *
 * Context: &synq_net.lock held
 * Return: 0. Else the draft is closed all the same and nothing has changed:
 * -ENOENT: none was open; -ESTALE: another commit came first; -EBUSY: one is on
 * trial; -ECANCELED: an edit was refused or did not arrive; -EINVAL:
 * synq_conf_finish(); -ENOMEM
 */
int synq_draft_commit(struct synq_net *sn, u32 portid, const u32 *changes,
		      u32 trial, struct netlink_ext_ack *extack)
{
	struct synq_draft *draft = synq_draft_find(sn, portid);
	int err;

	if (!draft) {
		NL_SET_ERR_MSG(extack, "no transaction is open");
		return -ENOENT;
	}
	if (draft->failed || (changes && *changes != draft->changes)) {
		NL_SET_ERR_MSG(extack, "an edit of this transaction was refused or lost");
		err = -ECANCELED;
	} else if (draft->base != sn->generation) {
		NL_SET_ERR_MSG(extack, "the configuration has changed meanwhile");
		err = -ESTALE;
	} else {
		/* What is over does not come back. */
		err = trial_refuse(sn, extack) ?:
		      synq_edit_expire(draft->conf, synq_expire_now(), NULL) ?:
		      synq_conf_finish(draft->conf, sn->net, extack) ?:
		      attach(sn, draft->conf, extack);
	}
	if (!err)
		err = publish(sn, draft->conf, trial);
	if (!err)
		draft->conf = NULL;
	drop(draft);
	return err;
}

/**
 * synq_draft_abort() - drop the draft of a netlink socket
 * @sn: network namespace
 * @portid: of the socket
 *
 * Context: &synq_net.lock held
 * Return: 0, or -ENOENT: none was open
 */
int synq_draft_abort(struct synq_net *sn, u32 portid)
{
	struct synq_draft *draft = synq_draft_find(sn, portid);

	if (!draft)
		return -ENOENT;
	drop(draft);
	return 0;
}

/**
 * synq_draft_abort_all() - the network namespace goes away
 * @sn: its state
 *
 * Context: process
 */
void synq_draft_abort_all(struct synq_net *sn)
{
	struct synq_draft *draft, *next;

	mutex_lock(&sn->lock);
	list_for_each_entry_safe(draft, next, &sn->drafts, list)
		drop(draft);
	mutex_unlock(&sn->lock);
}
