// SPDX-License-Identifier: GPL-2.0
/*
 * Services as attributes of netlink, and the answer to classify, which names one.
 *
 * Process context.
 */
#include <linux/limits.h>
#include <linux/netlink.h>
#include <linux/string.h>
#include "classify.h"
#include "netlink.h"

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
 * Context: any
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

static int put_match(struct sk_buff *skb, const struct synq_client *client,
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
		       put_match(skb, &client, &why));
	} else {
		NL_SET_ERR_MSG(extack, "nothing is configured");
		err = -ENOENT;
	}
	rcu_read_unlock();
	return err;
}
