// SPDX-License-Identifier: GPL-2.0
/*
 * synq: life of the module and of network namespaces.  Everything starts in the order of
 * its dependencies and stops in the reverse; nothing else is decided here.
 *
 * A namespace's state outlives all code that can reach it: .pre_exit takes the hooks
 * and the configuration away and leaves the sockets, the core waits for a grace
 * period, .exit waits for the workers.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include "chunks.h"
#include "conf.h"
#include "draft.h"
#include "expire.h"
#include "follow.h"
#include "hold.h"
#include "hook.h"
#include "listener.h"
#include "netlink.h"
#include "peek.h"
#include "record.h"
#include "share.h"
#include "sockopt.h"
#include "stats.h"
#include "synq.h"

static unsigned int net_id __read_mostly;

struct workqueue_struct *synq_workqueue;

/**
 * synq_net() - the state of a network namespace
 * @net: alive
 *
 * Return: never NULL
 */
struct synq_net *synq_net(const struct net *net)
{
	return net_generic(net, net_id);
}

static int __net_init net_init(struct net *net)
{
	struct synq_net *sn = synq_net(net);

	sn->net = net;
	get_random_bytes(&sn->key, sizeof(sn->key));
	mutex_init(&sn->lock);
	INIT_LIST_HEAD(&sn->drafts);
	synq_trial_net_init(sn);
	synq_index_net_init(sn);
	synq_expire_net_init(sn);
	synq_listener_net_init(sn);
	synq_nl_watch_net_init(sn);
	return 0;
}

static void __net_exit net_pre_exit(struct net *net)
{
	synq_nl_watch_net_exit(synq_net(net));
	synq_draft_abort_all(synq_net(net));
	synq_trial_net_exit(synq_net(net));
	synq_conf_exit(synq_net(net));
}

/*
 * A packet may have begun to manage a socket after the configuration was gone, and the
 * socket may have had packets since: they read the state of its namespace, which goes
 * next.
 */
static void __net_exit net_exit_batch(struct list_head *nets)
{
	struct net *net;

	list_for_each_entry(net, nets, exit_list) {
		synq_listener_net_exit(synq_net(net));
		synq_index_net_exit(synq_net(net));
		synq_expire_net_exit(synq_net(net));
	}
	synchronize_rcu();
}

static struct pernet_operations net_ops = {
	.init		= net_init,
	.pre_exit	= net_pre_exit,
	.exit_batch	= net_exit_batch,
	.id		= &net_id,
	.size		= sizeof(struct synq_net),
};

static int __init synq_init(void)
{
	int err;

	synq_tag_init(get_random_u32(), get_random_u64());
	synq_standing_init(get_random_u32());
	synq_workqueue = alloc_workqueue("synq", WQ_UNBOUND, 0);
	if (!synq_workqueue)
		return -ENOMEM;
	err = synq_hold_module_init();
	if (err)
		goto err_workqueue;
	err = synq_follow_module_init();
	if (err)
		goto err_hold;
	err = synq_record_init();
	if (err)
		goto err_inside;
	err = synq_refusal_init();
	if (err)
		goto err_record;
	err = synq_hook_init();
	if (err)
		goto err_refusal;
	err = synq_listener_init();
	if (err)
		goto err_hooks;
	err = register_pernet_subsys(&net_ops);
	if (err)
		goto err_listener;
	err = synq_netlink_init();
	if (err)
		goto err_pernet;
	err = synq_sockopt_init();
	if (err)
		goto err_netlink;
	return 0;

err_netlink:
	synq_netlink_exit();
err_pernet:
	unregister_pernet_subsys(&net_ops);
err_listener:
	synq_listener_exit();
err_hooks:
	synq_hook_exit();
err_refusal:
	synq_refusal_exit();
err_record:
	synq_record_exit();
err_inside:
	synq_follow_module_exit();
err_hold:
	synq_hold_module_exit();
err_workqueue:
	rcu_barrier();
	destroy_workqueue(synq_workqueue);
	return err;
}

static void __exit synq_exit(void)
{
	synq_sockopt_exit();
	synq_netlink_exit();
	unregister_pernet_subsys(&net_ops);
	synq_listener_exit();
	synq_hook_exit();
	synq_refusal_exit();
	/* First the callbacks that queue the work, ours and everybody's, then the work. */
	rcu_barrier();
	destroy_workqueue(synq_workqueue);
	synq_record_exit();
	synq_follow_module_exit();
	synq_hold_module_exit();
}

module_init(synq_init);
module_exit(synq_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("SYN policing and class-ordered accept queues");
