// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink messages that edit a configuration: thin handlers between their
 * attributes and edit.c.
 *
 * Process context.  Handlers run in parallel and take &synq_net.lock.
 */
#include <linux/netlink.h>
#include <net/genetlink.h>
#include "attribute.h"
#include "compat.h"
#include "draft.h"
#include "edit.h"
#include "netlink.h"
#include "netlink_gen.h"

/* Edits: each gets the draft of the sender; a failed one spoils it. */
typedef int (*edit_fn)(struct synq_net *sn, struct synq_conf *conf,
		       struct genl_info *info);

static int edit(struct genl_info *info, edit_fn fn)
{
	struct synq_net *sn = synq_nl_net(info);
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

static u32 value_of(const struct synq_attr *attr, const struct nlattr *nla)
{
	return attr->size == sizeof(u32) ? nla_get_u32(nla) :
	       attr->size == sizeof(u16) ? nla_get_u16(nla) : nla_get_u8(nla);
}

/* What can be given, the operation's policy has a place for. */
static void read_attrs(struct synq_edit *edit, const struct synq_attrs *attrs,
		       struct nlattr **given)
{
	unsigned int i;

	edit->has = 0;
	for (i = 0; i < attrs->n; i++) {
		const struct synq_attr *attr = &attrs->row[i];

		if (attr->show == SYNQ_SHOW_ONLY || !given[attr->id])
			continue;
		edit->has |= BIT(attr->id);
		edit->value[attr->id] = value_of(attr, given[attr->id]);
	}
}

static int add_class(struct synq_net *sn, struct synq_conf *conf,
		     struct genl_info *info)
{
	struct synq_edit edit;

	if (GENL_REQ_ATTR_CHECK(info, SYNQ_A_CLASS_NAME))
		return -EINVAL;
	read_attrs(&edit, &synq_class_attrs, info->attrs);
	return synq_edit_add_class(sn, conf,
				   nla_data(info->attrs[SYNQ_A_CLASS_NAME]),
				   &edit, info->extack);
}

int synq_nl_class_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	return edit(info, add_class);
}

static int set_class(struct synq_net *sn, struct synq_conf *conf,
		     struct genl_info *info)
{
	struct synq_edit edit;

	if (GENL_REQ_ATTR_CHECK(info, SYNQ_A_CLASS_NAME))
		return -EINVAL;
	read_attrs(&edit, &synq_class_attrs, info->attrs);
	return synq_edit_set_class(conf,
				   nla_data(info->attrs[SYNQ_A_CLASS_NAME]),
				   &edit, info->extack);
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
		     enum synq_match_edit how)
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
				   how, info->extack);
}

static int add_match(struct synq_net *sn, struct synq_conf *conf,
		     struct genl_info *info)
{
	return put_match(conf, info,
			 info->attrs[SYNQ_A_MATCH_EXIST] ? SYNQ_MATCH_EXIST :
							   SYNQ_MATCH_ADD);
}

int synq_nl_match_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	return edit(info, add_match);
}

static int set_match(struct synq_net *sn, struct synq_conf *conf,
		     struct genl_info *info)
{
	return put_match(conf, info, SYNQ_MATCH_SET);
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
	       synq_edit_del_match(conf, &prefix, &service,
				   info->attrs[SYNQ_A_MATCH_EXIST],
				   info->extack);
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

static int add_listener(struct synq_net *sn, struct synq_conf *conf,
			struct genl_info *info)
{
	struct synq_edit edit;

	if (GENL_REQ_ATTR_CHECK(info, SYNQ_A_LISTENER_PORT))
		return -EINVAL;
	read_attrs(&edit, &synq_listener_attrs, info->attrs);
	return synq_edit_add_listener(sn, conf,
				      nla_get_u16(info->attrs[SYNQ_A_LISTENER_PORT]),
				      &edit, info->extack);
}

int synq_nl_listener_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	return edit(info, add_listener);
}

static int set_listener(struct synq_net *sn, struct synq_conf *conf,
			struct genl_info *info)
{
	struct synq_edit edit;

	if (GENL_REQ_ATTR_CHECK(info, SYNQ_A_LISTENER_PORT))
		return -EINVAL;
	read_attrs(&edit, &synq_listener_attrs, info->attrs);
	return synq_edit_set_listener(conf,
				      nla_get_u16(info->attrs[SYNQ_A_LISTENER_PORT]),
				      &edit, info->extack);
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
