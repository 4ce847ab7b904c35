// SPDX-License-Identifier: GPL-2.0
/*
 * The hooks of syn_hook.c are registered per network namespace, and only while it has
 * a configured listener, or destinations that it forwards to.
 *
 * Process context; &synq_net.lock held.
 */
#include <linux/lockdep.h>
#include <linux/netfilter.h>
#include <linux/notifier.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "conf.h"
#include "hooks.h"
#include "syn_hook.h"

/**
 * struct synq_hooks - hooks of a network namespace
 * @rcu: freed after a grace period: who lists hooks reads them under RCU
 * @n: number of @ops
 * @ops: each with that namespace's state, which need not be looked up for a packet
 */
struct synq_hooks {
	struct rcu_head rcu;
	unsigned int n;
	struct nf_hook_ops ops[];
};

static int hook_up(struct synq_net *sn, struct synq_hooks **hooks, bool wanted,
		   const struct nf_hook_ops *ops, unsigned int n)
{
	struct synq_hooks *own;
	unsigned int i;
	int err;

	if (!wanted || *hooks)
		return 0;
	own = kmalloc(struct_size(own, ops, n), GFP_KERNEL_ACCOUNT);
	if (!own)
		return -ENOMEM;
	own->n = n;
	memcpy(own->ops, ops, n * sizeof(*ops));
	for (i = 0; i < n; i++)
		own->ops[i].priv = sn;
	err = nf_register_net_hooks(sn->net, own->ops, n);
	if (err)
		kfree_rcu(own, rcu);
	else
		*hooks = own;
	return err;
}

static void unhook(struct synq_net *sn, struct synq_hooks **hooks, bool wanted)
{
	if (wanted || !*hooks)
		return;
	nf_unregister_net_hooks(sn->net, (*hooks)->ops, (*hooks)->n);
	kfree_rcu(*hooks, rcu);
	*hooks = NULL;
}

static int on_conf(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct synq_conf_change *change = data;
	const struct synq_conf *conf = change->conf;
	struct synq_net *sn = change->sn;
	bool locally = conf && conf->n_listeners;
	bool elsewhere = conf && conf->n_forwards;
	bool had;
	int err;

	lockdep_assert_held(&sn->lock);
	switch ((enum synq_conf_event)event) {
	case SYNQ_CONF_PREPARE:
		had = sn->hooks[0];
		err = hook_up(sn, &sn->hooks[0], locally, synq_syn_local,
			      SYNQ_SYN_LOCAL) ?:
		      hook_up(sn, &sn->hooks[1], elsewhere, synq_syn_forward,
			      SYNQ_SYN_FORWARD);
		if (err) {
			unhook(sn, &sn->hooks[0], had);
			return notifier_from_errno(err);
		}
		break;
	case SYNQ_CONF_PUBLISHED:
		unhook(sn, &sn->hooks[0], locally);
		unhook(sn, &sn->hooks[1], elsewhere);
		break;
	case SYNQ_CONF_SWITCHED:
		break;
	}
	return NOTIFY_OK;
}

/* Before listener.c: no new socket is found once the old ones are left. */
static struct notifier_block conf_nb = {
	.notifier_call = on_conf,
	.priority = 1,
};

/**
 * synq_hooks_init() - follow the configuration
 *
 * Context: process
 * Return: 0
 */
int synq_hooks_init(void)
{
	return synq_conf_observe(&conf_nb);
}

/**
 * synq_hooks_exit() - undo synq_hooks_init()
 *
 * Context: process; every namespace is unconfigured
 */
void synq_hooks_exit(void)
{
	synq_conf_ignore(&conf_nb);
}
