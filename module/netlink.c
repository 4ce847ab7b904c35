// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family: thin handlers between messages and draft.c, edit.c,
 * conf.c and stats.c.  What is said and allowed is in the spec,
 * Documentation/netlink/specs/synq.yaml; the policies and the table of
 * operations are generated from it.
 *
 * Process context.  Handlers run in parallel and take &synq_net.lock.
 */
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include "compat.h"
#include "draft.h"
#include "edit.h"
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

static struct synq_net *net_of(struct genl_info *info)
{
	return synq_net(genl_info_net(info));
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
	struct synq_net *sn = net_of(info);
	struct sk_buff *reply;
	void *head;
	int err;

	reply = new_reply(info, &head);
	if (!reply)
		return -ENOMEM;
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
	struct synq_net *sn = net_of(info);
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
	struct synq_net *sn = net_of(info);
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
	struct synq_net *sn = net_of(info);
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
	struct synq_net *sn = net_of(info);
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
	synq_conf_set_bypass(net_of(info),
			     nla_get_u8(info->attrs[SYNQ_A_CONF_BYPASS]));
	return 0;
}

/* Edits: each gets the draft of the sender; a failed one spoils it. */
typedef int (*edit_fn)(struct synq_net *sn, struct synq_conf *conf,
		       struct genl_info *info);

static int edit(struct genl_info *info, edit_fn fn)
{
	struct synq_net *sn = net_of(info);
	struct synq_draft *draft;
	int err = -ENOENT;

	mutex_lock(&sn->lock);
	draft = synq_draft_find(sn, info->snd_portid);
	if (draft) {
		err = fn(sn, draft->conf, info);
		draft->changes++;
		draft->failed |= err;
	} else {
		NL_SET_ERR_MSG(info->extack, "no transaction is open");
	}
	mutex_unlock(&sn->lock);
	return err;
}

static int edit_conf(struct synq_net *sn, struct synq_conf *conf,
		     struct genl_info *info)
{
	const struct nlattr *enforce = info->attrs[SYNQ_A_CONF_ENFORCE];
	const struct nlattr *attr = info->attrs[SYNQ_A_CONF_MARK_MASK];
	u32 mask = attr ? nla_get_u32(attr) : conf->mark_mask;
	u32 low = mask & -mask;

	if (mask & (mask + low)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "the bits of the mark mask are not contiguous");
		return -EINVAL;
	}
	conf->mark_mask = mask;
	if (enforce)
		conf->observe = !nla_get_u8(enforce);
	return 0;
}

int synq_nl_conf_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return edit(info, edit_conf);
}

static void read_class(struct synq_class_edit *edit, struct nlattr **attrs)
{
	static const struct {
		u8 attr;
		u8 field;
		u8 bits;
	} map[] = {
		{ SYNQ_A_CLASS_PRIORITY, SYNQ_CLASS_PRIORITY, 8 },
		{ SYNQ_A_CLASS_DEFAULT, SYNQ_CLASS_DEFAULT, 8 },
		{ SYNQ_A_CLASS_MARK, SYNQ_CLASS_MARK, 32 },
		{ SYNQ_A_CLASS_RESERVE, SYNQ_CLASS_RESERVE, 8 },
		{ SYNQ_A_CLASS_RATE, SYNQ_CLASS_RATE, 32 },
		{ SYNQ_A_CLASS_BURST, SYNQ_CLASS_BURST, 32 },
		{ SYNQ_A_CLASS_SOURCE_RATE, SYNQ_CLASS_SOURCE_RATE, 32 },
		{ SYNQ_A_CLASS_SOURCE_BURST, SYNQ_CLASS_SOURCE_BURST, 32 },
		{ SYNQ_A_CLASS_SOURCE_LEN_V4, SYNQ_CLASS_SOURCE_LEN_V4, 8 },
		{ SYNQ_A_CLASS_SOURCE_LEN_V6, SYNQ_CLASS_SOURCE_LEN_V6, 8 },
		{ SYNQ_A_CLASS_EXCESS, SYNQ_CLASS_EXCESS, 8 },
		{ SYNQ_A_CLASS_CAP, SYNQ_CLASS_CAP, 8 },
		{ SYNQ_A_CLASS_MAX_WAIT, SYNQ_CLASS_MAX_WAIT, 32 },
		{ SYNQ_A_CLASS_WEIGHT, SYNQ_CLASS_WEIGHT, 16 },
		{ SYNQ_A_CLASS_MIN_SHARE, SYNQ_CLASS_MIN_SHARE, 8 },
		{ SYNQ_A_CLASS_ENFORCE, SYNQ_CLASS_ENFORCE, 8 },
		{ SYNQ_A_CLASS_COOKIES, SYNQ_CLASS_COOKIES, 8 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(map); i++) {
		const struct nlattr *attr = attrs[map[i].attr];

		if (!attr)
			continue;
		edit->has |= BIT(map[i].field);
		edit->value[map[i].field] =
			map[i].bits == 32 ? nla_get_u32(attr) :
			map[i].bits == 16 ? nla_get_u16(attr) :
					    nla_get_u8(attr);
	}
}

static int add_class(struct synq_net *sn, struct synq_conf *conf,
		     struct genl_info *info)
{
	struct synq_class_edit edit = {};

	if (GENL_REQ_ATTR_CHECK(info, SYNQ_A_CLASS_NAME))
		return -EINVAL;
	edit.name = nla_data(info->attrs[SYNQ_A_CLASS_NAME]);
	read_class(&edit, info->attrs);
	return synq_edit_add_class(sn, conf, &edit, info->extack);
}

int synq_nl_class_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	return edit(info, add_class);
}

static int set_class(struct synq_net *sn, struct synq_conf *conf,
		     struct genl_info *info)
{
	struct synq_class_edit edit = {};

	if (GENL_REQ_ATTR_CHECK(info, SYNQ_A_CLASS_NAME))
		return -EINVAL;
	edit.name = nla_data(info->attrs[SYNQ_A_CLASS_NAME]);
	read_class(&edit, info->attrs);
	return synq_edit_set_class(conf, &edit, info->extack);
}

int synq_nl_class_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return edit(info, set_class);
}

static int del_class(struct synq_net *sn, struct synq_conf *conf,
		     struct genl_info *info)
{
	if (GENL_REQ_ATTR_CHECK(info, SYNQ_A_CLASS_NAME))
		return -EINVAL;
	return synq_edit_del_class(conf,
				   nla_data(info->attrs[SYNQ_A_CLASS_NAME]),
				   info->extack);
}

int synq_nl_class_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return edit(info, del_class);
}

/* The family is told by the length of the address. */
static int read_prefix(struct synq_prefix *prefix, struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[SYNQ_A_MATCH_SOURCE];

	if (GENL_REQ_ATTR_CHECK(info, SYNQ_A_MATCH_SOURCE) ||
	    GENL_REQ_ATTR_CHECK(info, SYNQ_A_MATCH_LENGTH))
		return -EINVAL;
	if (nla_len(attr) != 4 && nla_len(attr) != 16) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "an address has 4 or 16 bytes");
		return -EINVAL;
	}
	memset(prefix, 0, sizeof(*prefix));
	prefix->is_v6 = nla_len(attr) == 16;
	prefix->len = nla_get_u8(info->attrs[SYNQ_A_MATCH_LENGTH]);
	memcpy(prefix->addr, nla_data(attr), nla_len(attr));
	return 0;
}

/* Where it has a class, too. */
static int read_match(struct synq_prefix *prefix,
		      struct synq_service_key *service, struct genl_info *info)
{
	return read_prefix(prefix, info) ?:
	       synq_nl_read_service(service, info->attrs, &synq_nl_match_names,
				    info->extack);
}

static int put_match(struct synq_conf *conf, struct genl_info *info,
		     bool exists)
{
	struct synq_service_key service;
	struct synq_prefix prefix;
	int err;

	err = read_match(&prefix, &service, info);
	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, SYNQ_A_MATCH_CLASS))
		return -EINVAL;
	return synq_edit_put_match(conf, &prefix, &service,
				   nla_data(info->attrs[SYNQ_A_MATCH_CLASS]),
				   exists, info->extack);
}

static int add_match(struct synq_net *sn, struct synq_conf *conf,
		     struct genl_info *info)
{
	return put_match(conf, info, false);
}

int synq_nl_match_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	return edit(info, add_match);
}

static int set_match(struct synq_net *sn, struct synq_conf *conf,
		     struct genl_info *info)
{
	return put_match(conf, info, true);
}

int synq_nl_match_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return edit(info, set_match);
}

static int del_match(struct synq_net *sn, struct synq_conf *conf,
		     struct genl_info *info)
{
	struct synq_service_key service;
	struct synq_prefix prefix;

	return read_match(&prefix, &service, info) ?:
	       synq_edit_del_match(conf, &prefix, &service, info->extack);
}

int synq_nl_match_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return edit(info, del_match);
}

static int add_forward(struct synq_net *sn, struct synq_conf *conf,
		       struct genl_info *info)
{
	struct synq_service_key key;

	if (GENL_REQ_ATTR_CHECK(info, SYNQ_A_SERVICE_PORT) ||
	    GENL_REQ_ATTR_CHECK(info, SYNQ_A_SERVICE_FORWARD))
		return -EINVAL;
	return synq_nl_read_service(&key, info->attrs, &synq_nl_service_names,
				    info->extack) ?:
	       synq_forward_add(sn, conf, &key, info->extack);
}

int synq_nl_service_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	return edit(info, add_forward);
}

static int del_forward(struct synq_net *sn, struct synq_conf *conf,
		       struct genl_info *info)
{
	struct synq_service_key key;

	if (GENL_REQ_ATTR_CHECK(info, SYNQ_A_SERVICE_PORT))
		return -EINVAL;
	return synq_nl_read_service(&key, info->attrs, &synq_nl_service_names,
				    info->extack) ?:
	       synq_forward_del(conf, &key, info->extack);
}

int synq_nl_service_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return edit(info, del_forward);
}

static int read_listener(struct synq_listener_edit *edit,
			 struct genl_info *info)
{
	const struct nlattr *enforce = info->attrs[SYNQ_A_LISTENER_ENFORCE];
	const struct nlattr *app = info->attrs[SYNQ_A_LISTENER_APP_ORDER];
	const struct nlattr *retries =
		info->attrs[SYNQ_A_LISTENER_SYNACK_RETRIES];
	const struct nlattr *cookies = info->attrs[SYNQ_A_LISTENER_COOKIES];
	const struct nlattr *app_cookies =
		info->attrs[SYNQ_A_LISTENER_APP_COOKIES];
	const struct nlattr *order = info->attrs[SYNQ_A_LISTENER_ORDER];

	if (GENL_REQ_ATTR_CHECK(info, SYNQ_A_LISTENER_PORT))
		return -EINVAL;
	*edit = (struct synq_listener_edit){
		.port = nla_get_u16(info->attrs[SYNQ_A_LISTENER_PORT]),
		.has_order = order,
		.order = order ? nla_get_u8(order) : 0,
		.has_app_order = app,
		.app_order = app && nla_get_u8(app),
		.has_synack_retries = retries,
		.synack_retries = retries ? nla_get_u8(retries) : 0,
		.has_cookies = cookies,
		.cookies = cookies ? nla_get_u8(cookies) : 0,
		.has_app_cookies = app_cookies,
		.app_cookies = app_cookies && nla_get_u8(app_cookies),
		.has_observe = enforce,
		.observe = enforce && !nla_get_u8(enforce),
	};
	return 0;
}

static int add_listener(struct synq_net *sn, struct synq_conf *conf,
			struct genl_info *info)
{
	struct synq_listener_edit edit;

	return read_listener(&edit, info) ?:
	       synq_edit_add_listener(sn, conf, &edit, info->extack);
}

int synq_nl_listener_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	return edit(info, add_listener);
}

static int set_listener(struct synq_net *sn, struct synq_conf *conf,
			struct genl_info *info)
{
	struct synq_listener_edit edit;

	return read_listener(&edit, info) ?:
	       synq_edit_set_listener(conf, &edit, info->extack);
}

int synq_nl_listener_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return edit(info, set_listener);
}

static int del_listener(struct synq_net *sn, struct synq_conf *conf,
			struct genl_info *info)
{
	/* This operation has no other attribute: attrs ends with the port. */
	if (GENL_REQ_ATTR_CHECK(info, SYNQ_A_LISTENER_PORT))
		return -EINVAL;
	return synq_edit_del_listener(conf,
				      nla_get_u16(info->attrs[SYNQ_A_LISTENER_PORT]),
				      info->extack);
}

int synq_nl_listener_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return edit(info, del_listener);
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
	err = synq_nl_put_answer(reply, net_of(info), info->attrs,
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
