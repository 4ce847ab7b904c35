/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family.  See netlink.c, netlink_dump.c and netlink_event.c.
 */
#ifndef _SYNQ_NETLINK_H
#define _SYNQ_NETLINK_H

#include <net/genetlink.h>

struct synq_net;

extern struct genl_family synq_nl_family;

int synq_netlink_init(void);
void synq_netlink_exit(void);
int synq_nl_permitted(const struct net *net, struct netlink_ext_ack *extack);

int synq_nl_put_conf(struct sk_buff *skb, const struct synq_net *sn);
void synq_nl_tell(const struct synq_net *sn);
void synq_nl_event_init(void);
void synq_nl_event_exit(void);

/* Not aligned, so that no padding is needed: readers copy. */
static inline int synq_nl_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put(skb, attr, sizeof(value), &value);
}

#endif /* _SYNQ_NETLINK_H */
