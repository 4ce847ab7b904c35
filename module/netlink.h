/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family.  See netlink.c, netlink_edit.c, netlink_dump.c,
 * and netlink_watch.c.
 */
#ifndef _SYNQ_NETLINK_H
#define _SYNQ_NETLINK_H

#include <net/genetlink.h>
#include "synq.h"

struct synq_service_key;

/**
 * struct synq_nl_service - the attributes that say what a service is
 * @to: network address
 * @to_length: bits
 * @port: lowest port
 * @port_last: highest port
 */
struct synq_nl_service {
	u8 to;
	u8 to_length;
	u8 port;
	u8 port_last;
};

extern struct genl_family synq_nl_family;
extern const struct synq_nl_service synq_nl_match_names;
extern const struct synq_nl_service synq_nl_service_names;

int synq_netlink_init(void);
void synq_netlink_exit(void);
int synq_nl_permitted(const struct net *net, struct netlink_ext_ack *extack);

int synq_nl_read_service(struct synq_service_key *key, struct nlattr **attrs,
			 const struct synq_nl_service *names,
			 struct netlink_ext_ack *extack);
int synq_nl_put_service(struct sk_buff *skb, const struct synq_service_key *key,
			const struct synq_nl_service *names);
int synq_nl_put_answer(struct sk_buff *skb, struct synq_net *sn,
		       struct nlattr **attrs, struct netlink_ext_ack *extack);

void synq_nl_watch(struct synq_net *sn);
void synq_nl_watch_init(void);
void synq_nl_watch_exit(void);
void synq_nl_watch_net_init(struct synq_net *sn);
void synq_nl_watch_net_exit(struct synq_net *sn);

/* The network namespace that a message is about. */
static inline struct synq_net *synq_nl_net(struct genl_info *info)
{
	return synq_net(genl_info_net(info));
}

/* Not aligned, so that no padding is needed: readers copy. */
static inline int synq_nl_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put(skb, attr, sizeof(value), &value);
}

#endif /* _SYNQ_NETLINK_H */
