// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink messages that edit a configuration: thin handlers between their
 * attributes and edit.c.
 *
 * Process context.  Handlers run in parallel and take &synq_net.lock.
 */
#include <linux/limits.h>
#include <linux/netlink.h>
#include <linux/string.h>
#include <net/genetlink.h>
#include "attribute.h"
#include "classify.h"
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
		edit->has |= BIT_ULL(attr->id);
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
	const struct nlattr *timeout = info->attrs[SYNQ_A_MATCH_TIMEOUT];
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
				   how, timeout ? nla_get_u32(timeout) : 0,
				   info->extack);
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

/*
 * Services as attributes of netlink, and the answer to classify, which names one.
 *
 * Process context.
 */

const struct synq_nl_service synq_nl_match_names = {
	.to = SYNQ_A_MATCH_TO,
	.to_length = SYNQ_A_MATCH_TO_LENGTH,
	.port = SYNQ_A_MATCH_PORT,
	.port_last = SYNQ_A_MATCH_PORT_LAST,
};

const struct synq_nl_service synq_nl_service_names = {
	.to = SYNQ_A_SERVICE_TO,
	.to_length = SYNQ_A_SERVICE_TO_LENGTH,
	.port = SYNQ_A_SERVICE_PORT,
	.port_last = SYNQ_A_SERVICE_PORT_LAST,
};

static int read_address(struct synq_service_key *key, const struct nlattr *to,
			const struct nlattr *length,
			struct netlink_ext_ack *extack)
{
	if (!to && !length)
		return 0;
	if (!to) {
		NL_SET_ERR_MSG_ATTR(extack, length,
				    "a length without an address");
		return -EINVAL;
	}
	if (nla_len(to) != 4 && nla_len(to) != 16) {
		NL_SET_ERR_MSG_ATTR(extack, to, "an address has 4 or 16 bytes");
		return -EINVAL;
	}
	key->family = nla_len(to) == 4 ? SYNQ_SERVICE_V4 : SYNQ_SERVICE_V6;
	key->len = length ? nla_get_u8(length) : 8 * nla_len(to);
	memcpy(key->addr, nla_data(to), nla_len(to));
	return 0;
}

/**
 * synq_nl_read_service() - read destinations
 * @key: filled in; all of them, if nothing is said
 * @attrs: of the message
 * @names: which of them
 * @extack: says why not
 *
 * Context: process
 * Return: 0 or -EINVAL; it may be no service yet: synq_service_is_valid()
 */
int synq_nl_read_service(struct synq_service_key *key, struct nlattr **attrs,
			 const struct synq_nl_service *names,
			 struct netlink_ext_ack *extack)
{
	const struct nlattr *first = attrs[names->port];
	const struct nlattr *last = attrs[names->port_last];

	*key = (struct synq_service_key){ .last = U16_MAX };
	if (last && !first) {
		NL_SET_ERR_MSG_ATTR(extack, last,
				    "a last port without a first");
		return -EINVAL;
	}
	if (first) {
		key->first = nla_get_u16(first);
		key->last = last ? nla_get_u16(last) : key->first;
	}
	return read_address(key, attrs[names->to], attrs[names->to_length],
			    extack);
}

/**
 * synq_nl_put_service() - say what a service is
 * @skb: room for it
 * @key: the service; not more than it says is put
 * @names: the attributes
 *
 * Return: 0; else there was no room
 */
int synq_nl_put_service(struct sk_buff *skb, const struct synq_service_key *key,
			const struct synq_nl_service *names)
{
	const bool is_v6 = key->family == SYNQ_SERVICE_V6;

	return (key->family != SYNQ_SERVICE_ANY &&
		(nla_put(skb, names->to, is_v6 ? 16 : 4, key->addr) ||
		 nla_put_u8(skb, names->to_length, key->len))) ||
	       (key->first &&
		(nla_put_u16(skb, names->port, key->first) ||
		 nla_put_u16(skb, names->port_last, key->last)));
}

/* Destination and source are of one family, if both are known. */
static int read_client(struct synq_client *client, struct nlattr **attrs,
		       struct netlink_ext_ack *extack)
{
	const struct nlattr *source = attrs[SYNQ_A_QUERY_SOURCE];
	const struct nlattr *mark = attrs[SYNQ_A_QUERY_MARK];
	const struct nlattr *port = attrs[SYNQ_A_QUERY_PORT];
	const struct nlattr *to = attrs[SYNQ_A_QUERY_TO];

	if (nla_len(source) != 4 && nla_len(source) != 16) {
		NL_SET_ERR_MSG_ATTR(extack, source,
				    "an address has 4 or 16 bytes");
		return -EINVAL;
	}
	if (to && nla_len(to) != nla_len(source)) {
		NL_SET_ERR_MSG_ATTR(extack, to,
				    "source and destination are of different families");
		return -EINVAL;
	}
	*client = (struct synq_client){
		.addr = nla_data(source),
		.daddr = to ? nla_data(to) : NULL,
		.mark = mark ? nla_get_u32(mark) : 0,
		.dport = port ? htons(nla_get_u16(port)) : 0,
		.is_v6 = nla_len(source) == 16,
	};
	return 0;
}

static int put_matched(struct sk_buff *skb, const struct synq_client *client,
		       const struct synq_why *why)
{
	static const struct synq_nl_service names = {
		.to = SYNQ_A_QUERY_SERVICE_TO,
		.to_length = SYNQ_A_QUERY_SERVICE_TO_LENGTH,
		.port = SYNQ_A_QUERY_SERVICE_PORT,
		.port_last = SYNQ_A_QUERY_SERVICE_PORT_LAST,
	};
	const u8 bytes = client->is_v6 ? 16 : 4;
	u8 prefix[16], i;

	memcpy(prefix, client->addr, bytes);
	for (i = why->len; i < 8 * bytes; i++)
		prefix[i / 8] &= ~(0x80 >> i % 8);
	return nla_put(skb, SYNQ_A_QUERY_PREFIX, bytes, prefix) ||
	       nla_put_u8(skb, SYNQ_A_QUERY_LENGTH, why->len) ||
	       (why->service &&
		synq_nl_put_service(skb, why->service, &names));
}

/**
 * synq_nl_put_answer() - say which class a client has, and why
 * @skb: room for it
 * @sn: network namespace
 * @attrs: of the question, attribute set "query", with a source
 * @extack: says why not
 *
 * Context: process
 * Return: 0, -EINVAL, or -ENOENT: nothing is configured; else there was no room
 */
int synq_nl_put_answer(struct sk_buff *skb, struct synq_net *sn,
		       struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	const struct synq_class *class;
	const struct synq_conf *conf;
	struct synq_client client;
	struct synq_why why = {};
	int err;

	err = read_client(&client, attrs, extack);
	if (err)
		return err;
	client.is_local = synq_classify_is_local(sn->net, client.is_v6,
						 client.addr);
	rcu_read_lock();
	conf = rcu_dereference(sn->conf);
	if (conf) {
		class = synq_classify(conf, &client, &why);
		err = nla_put(skb, SYNQ_A_QUERY_SOURCE, client.is_v6 ? 16 : 4,
			      client.addr) ||
		      nla_put_string(skb, SYNQ_A_QUERY_CLASS, class->name) ||
		      nla_put_u8(skb, SYNQ_A_QUERY_REASON, why.why) ||
		      (why.why == SYNQ_REASON_MATCH &&
		       put_matched(skb, &client, &why));
	} else {
		NL_SET_ERR_MSG(extack, "nothing is configured");
		err = -ENOENT;
	}
	rcu_read_unlock();
	return err;
}
