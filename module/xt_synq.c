// SPDX-License-Identifier: GPL-2.0
/*
 * iptables and ip6tables, legacy or nft: "-m synq --class NAME" finds the packets
 * that have the mark of a class, "-j SYNQ --class NAME" gives it to them, and with it
 * the class, since synq looks at the mark first.  So the target has a meaning before
 * synq's hook only: in PREROUTING of the table raw.  The match may stand anywhere.
 *
 * A module of its own, since synq must also run on servers without x_tables.  A name is
 * resolved for each packet (classify.c): a rule may exist before its class, and
 * stays when the class goes.  A rule keeps this module loaded, and this module synq, but
 * neither a configuration nor a namespace.
 *
 * It has no alias by which x_tables would load it: every owner of a network namespace
 * could load synq by that.  iptables' library loads it
 * (tools/iptables), with the rights of the user that runs iptables.
 *
 * Packets: any context, under rcu_read_lock(); no lock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/build_bug.h>
#include <linux/module.h>
#include <linux/netfilter/x_tables.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <uapi/linux/netfilter/xt_synq.h>
#include "compat.h"
#include "mark.h"

static bool match(const struct sk_buff *skb, struct xt_action_param *par)
{
	const struct xt_synq_info *info = par->matchinfo;
	bool invert = info->flags & XT_SYNQ_INVERT;

	return synq_mark_is(xt_net(par), skb->mark, info->name) != invert;
}

static unsigned int target(struct sk_buff *skb,
			   const struct xt_action_param *par)
{
	const struct xt_synq_info *info = par->targinfo;

	skb->mark = synq_mark_set(xt_net(par), skb->mark, info->name);
	return XT_CONTINUE;
}

static int check(const struct xt_synq_info *info, u32 flags)
{
	if (!info->name[0] ||
	    strnlen(info->name, sizeof(info->name)) == sizeof(info->name)) {
		pr_info_ratelimited("no class name, or an unterminated one\n");
		return -EINVAL;
	}
	if (info->flags & ~flags || info->reserved) {
		pr_info_ratelimited("unknown flags: iptables' library is newer\n");
		return -EINVAL;
	}
	return 0;
}

static int check_match(const struct xt_mtchk_param *par)
{
	BUILD_BUG_ON(sizeof(struct xt_synq_info) != 24);
	return check(par->matchinfo, XT_SYNQ_INVERT);
}

static int check_target(const struct xt_tgchk_param *par)
{
	return check(par->targinfo, 0);
}

/* Not for NFPROTO_UNSPEC: arptables and ebtables would have them, too. */
static struct xt_match matches[] __read_mostly = {
	{
		.name		= "synq",
		.family		= NFPROTO_IPV4,
		.match		= match,
		.checkentry	= check_match,
		.matchsize	= sizeof(struct xt_synq_info),
		.me		= THIS_MODULE,
	},
	{
		.name		= "synq",
		.family		= NFPROTO_IPV6,
		.match		= match,
		.checkentry	= check_match,
		.matchsize	= sizeof(struct xt_synq_info),
		.me		= THIS_MODULE,
	},
};

static struct xt_target targets[] __read_mostly = {
	{
		.name		= "SYNQ",
		.family		= NFPROTO_IPV4,
		.table		= "raw",
		.hooks		= 1 << NF_INET_PRE_ROUTING,
		.target		= target,
		.checkentry	= check_target,
		.targetsize	= sizeof(struct xt_synq_info),
		.me		= THIS_MODULE,
	},
	{
		.name		= "SYNQ",
		.family		= NFPROTO_IPV6,
		.table		= "raw",
		.hooks		= 1 << NF_INET_PRE_ROUTING,
		.target		= target,
		.checkentry	= check_target,
		.targetsize	= sizeof(struct xt_synq_info),
		.me		= THIS_MODULE,
	},
};

static int __init xt_synq_init(void)
{
	int err;

	err = xt_register_matches(matches, ARRAY_SIZE(matches));
	if (err)
		return err;
	err = xt_register_targets(targets, ARRAY_SIZE(targets));
	if (err)
		xt_unregister_matches(matches, ARRAY_SIZE(matches));
	return err;
}

static void __exit xt_synq_exit(void)
{
	xt_unregister_targets(targets, ARRAY_SIZE(targets));
	xt_unregister_matches(matches, ARRAY_SIZE(matches));
}

module_init(xt_synq_init);
module_exit(xt_synq_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("iptables: match and set the class that synq gives a packet");
MODULE_IMPORT_NS(SYNQ_NAMESPACE);
