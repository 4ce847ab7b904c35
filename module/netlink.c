// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family: thin handlers between messages and draft.c, conf.c,
 * draft.c and classify.c.  What is said and allowed is in the spec,
 * Documentation/netlink/specs/synq.yaml; the policies and the table of
 * operations are generated from it.
 *
 * Process context.  Handlers run in parallel and take &synq_net.lock.
 */
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/notifier.h>
#include <net/genetlink.h>
#include "chunks.h"
#include "compat.h"
#include "conf.h"
#include "draft.h"
#include "listener.h"
#include "netlink.h"
#include "netlink_gen.h"

/*
 * The state of a network namespace as a message: the answer to conf-get, and what
 * the group "config" gets whenever another configuration is in force, a trial is
 * confirmed, or synq is switched off or on, by any process.
 *
 * An observer of conf.c: &synq_net.lock is held, so that the messages come in
 * the order of the generations.  A listener that has no room loses some (ENOBUFS)
 * and asks for the state.
 *
 * Process context.
 */

static int put_left(struct sk_buff *skb, const struct synq_net *sn)
{
	u32 left = synq_trial_left(sn);

	return left ? nla_put_u32(skb, SYNQ_A_CONF_CONFIRM_LEFT, left) : 0;
}

/**
 * nl_put_conf() - say what state a network namespace is in
 * @skb: room for it
 * @sn: network namespace
 *
 * Context: process, &synq_net.lock held
 * Return: 0; else there was no room
 */
static int nl_put_conf(struct sk_buff *skb, const struct synq_net *sn)
{
	const struct synq_conf *conf =
		rcu_dereference_protected(sn->conf, lockdep_is_held(&sn->lock));

	return nla_put_u32(skb, SYNQ_A_CONF_GENERATION, sn->generation) ||
	       nla_put_u32(skb, SYNQ_A_CONF_MARK_MASK,
			   conf ? conf->mark_mask : 0) ||
	       nla_put_u8(skb, SYNQ_A_CONF_BYPASS, READ_ONCE(sn->bypass)) ||
	       nla_put_u8(skb, SYNQ_A_CONF_ENFORCE,
			  !(conf && conf->observe)) ||
	       nla_put_u32(skb, SYNQ_A_CONF_CLASSES,
			   conf ? synq_conf_classes(conf) : 0) ||
	       nla_put_u32(skb, SYNQ_A_CONF_MATCHES,
			   conf ? synq_conf_matches(conf) : 0) ||
	       nla_put_u32(skb, SYNQ_A_CONF_SERVICES,
			   conf ? conf->n_services : 0) ||
	       nla_put_u32(skb, SYNQ_A_CONF_FORWARDS,
			   conf ? conf->n_forwards : 0) ||
	       nla_put_u32(skb, SYNQ_A_CONF_LISTENERS,
			   conf ? conf->n_listeners : 0) ||
	       put_left(skb, sn) ||
	       nla_put_u32(skb, SYNQ_A_CONF_SOCKETS,
			   atomic_read(&sn->sockets)) ||
	       synq_nl_put_u64(skb, SYNQ_A_CONF_FRAGMENTS,
			       atomic64_read(&sn->fragments)) ||
	       synq_nl_put_u64(skb, SYNQ_A_CONF_NO_LISTENER,
			       atomic64_read(&sn->no_listener)) ||
	       synq_nl_put_u64(skb, SYNQ_A_CONF_ATTACH_FAILED,
			       atomic64_read(&sn->attach_failed)) ||
	       synq_nl_put_u64(skb, SYNQ_A_CONF_ATTACH_BUSY,
			       atomic64_read(&sn->attach_busy)) ||
	       synq_nl_put_u64(skb, SYNQ_A_CONF_FOREIGN_OWNER,
			       atomic64_read(&sn->foreign_owner)) ||
	       synq_nl_put_u64(skb, SYNQ_A_CONF_MALFORMED,
			       atomic64_read(&sn->malformed)) ||
	       nla_put_u32(skb, SYNQ_A_CONF_INDEXED, synq_index_matches(sn)) ||
	       synq_nl_put_u64(skb, SYNQ_A_CONF_INDEX_FAILED,
			       atomic64_read(&sn->index_failed));
}

/**
 * nl_tell() - send the state of a network namespace to the group
 * @sn: network namespace
 *
 * Context: process, &synq_net.lock held
 */
static void nl_tell(const struct synq_net *sn)
{
	struct sk_buff *skb;
	void *head;

	if (!genl_has_listeners(&synq_nl_family, sn->net, SYNQ_NLGRP_CONFIG))
		return;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return;
	head = genlmsg_put(skb, 0, 0, &synq_nl_family, 0, SYNQ_CMD_CONF_NTF);
	if (!head || nl_put_conf(skb, sn)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, head);
	genlmsg_multicast_netns(&synq_nl_family, sn->net, skb, 0,
				SYNQ_NLGRP_CONFIG, GFP_KERNEL);
}

static int on_conf(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct synq_conf_change *change = data;

	switch ((enum synq_conf_event)event) {
	case SYNQ_CONF_PREPARE:
		break;
	case SYNQ_CONF_PUBLISHED:
	case SYNQ_CONF_SWITCHED:
		nl_tell(change->sn);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block conf_nb = { .notifier_call = on_conf };

/**
 * nl_event_init() - tell from now on
 *
 * Context: process, the family is registered
 */
static void nl_event_init(void)
{
	synq_conf_observe(&conf_nb);
}

/**
 * nl_event_exit() - no event is sent any more on return
 *
 * Context: process, the family is registered still
 */
static void nl_event_exit(void)
{
	synq_conf_ignore(&conf_nb);
}

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
	synq_nl_watch(sn);
	synq_listener_tend(sn);
	mutex_lock(&sn->lock);
	err = nl_put_conf(reply, sn);
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
		nl_tell(sn);
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
	[SYNQ_NLGRP_EVENTS] = {
		.name = SYNQ_MCGRP_EVENTS,
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
	nl_event_init();
	synq_nl_watch_init();
	return 0;
}

/**
 * synq_netlink_exit() - no handler runs any more on return
 *
 * Context: process
 */
void synq_netlink_exit(void)
{
	synq_nl_watch_exit();
	nl_event_exit();
	netlink_unregister_notifier(&release_nb);
	genl_unregister_family(&synq_nl_family);
}
