// SPDX-License-Identifier: GPL-2.0
/*
 * The empty hook that experiments/cost.sh measures: what a netfilter hook costs that
 * drops every packet without a look, where synq looks at it.  In the network
 * namespace of the process that loads it.
 */
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <net/net_namespace.h>

static struct net *space;

static unsigned int drop(void *priv, struct sk_buff *skb,
			 const struct nf_hook_state *state)
{
	return NF_DROP;
}

static const struct nf_hook_ops hooks[] = {
	{
		.hook		= drop,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_PRE_ROUTING,
		.priority	= NF_IP_PRI_RAW + 10,
	},
	{
		.hook		= drop,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_PRE_ROUTING,
		.priority	= NF_IP6_PRI_RAW + 10,
	},
};

static int __init null_hook_init(void)
{
	int err;

	space = get_net(current->nsproxy->net_ns);
	err = nf_register_net_hooks(space, hooks, ARRAY_SIZE(hooks));
	if (err)
		put_net(space);
	return err;
}

static void __exit null_hook_exit(void)
{
	nf_unregister_net_hooks(space, hooks, ARRAY_SIZE(hooks));
	put_net(space);
}

module_init(null_hook_init);
module_exit(null_hook_exit);
MODULE_DESCRIPTION("Empty netfilter hook, for comparison");
MODULE_LICENSE("GPL");
