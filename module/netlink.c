// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family: thin handlers between messages and draft.c, conf.c,
 * trial.c and classify.c.  What is said and allowed is in the spec,
 * Documentation/netlink/specs/synq.yaml; the policies and the table of
 * operations are generated from it.
 *
 * Process context.  Handlers run in parallel and take &synq_net.lock.
 */
#include <linux/module.h>
#include <linux/netlink.h>
#include <net/genetlink.h>
#include "compat.h"
#include "draft.h"
#include "listener.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "trial.h"

static bool userns;
module_param(userns, bool, 0444);
MODULE_PARM_DESC(userns, "allow configuration in network namespaces that do not belong to the initial user namespace");

#ifndef SYNQ_HAVE_GENL_SPLIT_OPS
struct genl_ops synq_genl_ops[SYNQ_GENL_OPS_MAX];
#endif

/**
 * synq_nl_permitted() - may this network namespace be configured at all?
 * @net: network namespace
 * @extack: says why not
 *
 * Comes on top of CAP_NET_ADMIN in the owning user namespace, which the
 * operation's flags ask for.
 *
 * Context: any
 * Return: 0 or -EPERM
 */
int synq_nl_permitted(const struct net *net, struct netlink_ext_ack *extack)
{
	if (net->user_ns == &init_user_ns || userns)
		return 0;
	NL_SET_ERR_MSG(extack, "owned by a user namespace: needs the module parameter userns=1");
	return -EPERM;
}

/* All operations change or show what an unprivileged user must not. */
static int pre_doit(SYNQ_PRE_DOIT_OPS *ops, struct sk_buff *skb,
		    struct genl_info *info)
{
	return synq_nl_permitted(genl_info_net(info), info->extack);
}

static struct sk_buff *new_reply(struct genl_info *info, void **head)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (!skb)
		return NULL;
	*head = genlmsg_put_reply(skb, info, &synq_nl_family, 0, info->genlhdr->cmd);
	if (!*head) {
		nlmsg_free(skb);
		return NULL;
	}
	return skb;
}

static int send_reply(struct sk_buff *skb, struct genl_info *info, void *head,
		      int err)
{
	if (err) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return genlmsg_reply(skb, info);
}

static int reply_generation(struct genl_info *info, u32 generation)
{
	struct sk_buff *skb;
	void *head;

	skb = new_reply(info, &head);
	if (!skb)
		return -ENOMEM;
	return send_reply(skb, info, head,
			  nla_put_u32(skb, SYNQ_A_CONF_GENERATION, generation));
}

int synq_nl_conf_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct synq_net *sn = synq_nl_net(info);
	struct sk_buff *reply;
	void *head;
	int err;

	reply = new_reply(info, &head);
	if (!reply)
		return -ENOMEM;
	synq_listener_tend(sn);
	mutex_lock(&sn->lock);
	err = synq_nl_put_conf(reply, sn);
	mutex_unlock(&sn->lock);
	return send_reply(reply, info, head, err);
}

static const u32 *u32_or_null(const struct nlattr *attr, u32 *value)
{
	if (!attr)
		return NULL;
	*value = nla_get_u32(attr);
	return value;
}

int synq_nl_conf_begin_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct synq_net *sn = synq_nl_net(info);
	u32 value, generation;
	int err;

	mutex_lock(&sn->lock);
	generation = sn->generation;
	err = synq_draft_begin(sn, info->snd_portid,
			       info->attrs[SYNQ_A_CONF_REPLACE],
			       u32_or_null(info->attrs[SYNQ_A_CONF_GENERATION],
					   &value), info->extack);
	mutex_unlock(&sn->lock);
	return err ?: reply_generation(info, generation);
}

int synq_nl_conf_commit_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *within = info->attrs[SYNQ_A_CONF_CONFIRM_WITHIN];
	struct synq_net *sn = synq_nl_net(info);
	u32 value, generation;
	int err;

	mutex_lock(&sn->lock);
	err = synq_draft_commit(sn, info->snd_portid,
				u32_or_null(info->attrs[SYNQ_A_CONF_CHANGES],
					    &value),
				within ? nla_get_u32(within) : 0, info->extack);
	generation = sn->generation;
	mutex_unlock(&sn->lock);
	return err ?: reply_generation(info, generation);
}

int synq_nl_conf_confirm_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct synq_net *sn = synq_nl_net(info);
	int err;

	mutex_lock(&sn->lock);
	err = synq_trial_confirm(sn);
	if (!err)
		synq_nl_tell(sn);
	mutex_unlock(&sn->lock);
	if (err)
		NL_SET_ERR_MSG(info->extack, "nothing is on trial");
	return err;
}

int synq_nl_conf_abort_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct synq_net *sn = synq_nl_net(info);
	int err;

	mutex_lock(&sn->lock);
	err = synq_draft_abort(sn, info->snd_portid);
	mutex_unlock(&sn->lock);
	return err;
}

int synq_nl_bypass_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	if (GENL_REQ_ATTR_CHECK(info, SYNQ_A_CONF_BYPASS))
		return -EINVAL;
	synq_conf_set_bypass(synq_nl_net(info),
			     nla_get_u8(info->attrs[SYNQ_A_CONF_BYPASS]));
	return 0;
}

int synq_nl_classify_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply;
	void *head;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, SYNQ_A_QUERY_SOURCE))
		return -EINVAL;
	reply = new_reply(info, &head);
	if (!reply)
		return -ENOMEM;
	err = synq_nl_put_answer(reply, synq_nl_net(info), info->attrs,
				 info->extack);
	if (err == -ENOENT || err == -EINVAL) {
		nlmsg_free(reply);
		return err;
	}
	return send_reply(reply, info, head, err);
}

static const struct genl_multicast_group groups[] = {
	[SYNQ_NLGRP_CONFIG] = {
		.name = SYNQ_MCGRP_CONFIG,
		.flags = GENL_MCAST_CAP_NET_ADMIN,
	},
};

struct genl_family synq_nl_family __ro_after_init = {
	.name		= SYNQ_FAMILY_NAME,
	.version	= SYNQ_FAMILY_VERSION,
	.module		= THIS_MODULE,
	.netnsok	= true,
	.parallel_ops	= true,
	.pre_doit	= pre_doit,
	SYNQ_GENL_OPS(synq_nl_ops),
	.mcgrps		= groups,
	.n_mcgrps	= ARRAY_SIZE(groups),
	.resv_start_op	= SYNQ_CMD_SOURCE_GET + 1,
};

/* A socket that closes drops its draft. */
static int on_release(struct notifier_block *nb, unsigned long event,
		      void *data)
{
	const struct netlink_notify *notify = data;
	struct synq_net *sn;

	if (event != NETLINK_URELEASE || notify->protocol != NETLINK_GENERIC)
		return NOTIFY_DONE;
	sn = synq_net(notify->net);
	if (list_empty(&sn->drafts))
		return NOTIFY_DONE;
	mutex_lock(&sn->lock);
	synq_draft_abort(sn, notify->portid);
	mutex_unlock(&sn->lock);
	return NOTIFY_DONE;
}

static struct notifier_block release_nb = { .notifier_call = on_release };

/**
 * synq_netlink_init() - register the family
 *
 * Context: process, after the pernet state is there
 * Return: 0 or an error of genl_register_family()
 */
int synq_netlink_init(void)
{
	int err;

	synq_genl_ops_init(synq_nl_ops, ARRAY_SIZE(synq_nl_ops));
	err = genl_register_family(&synq_nl_family);
	if (err)
		return err;
	err = netlink_register_notifier(&release_nb);
	if (err) {
		genl_unregister_family(&synq_nl_family);
		return err;
	}
	synq_nl_event_init();
	return 0;
}

/**
 * synq_netlink_exit() - no handler runs any more on return
 *
 * Context: process
 */
void synq_netlink_exit(void)
{
	synq_nl_event_exit();
	netlink_unregister_notifier(&release_nb);
	genl_unregister_family(&synq_nl_family);
}
