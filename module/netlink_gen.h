/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/synq.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_SYNQ_GEN_H
#define _LINUX_SYNQ_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/synq.h>

/* Ops table for synq */
extern const struct genl_split_ops synq_nl_ops[26];

int synq_nl_conf_get_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_conf_begin_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_conf_commit_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_conf_abort_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_conf_set_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_bypass_set_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_class_add_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_class_set_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_class_del_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_class_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int synq_nl_match_add_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_match_set_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_match_del_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_match_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int synq_nl_listener_add_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_listener_set_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_listener_del_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_listener_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int synq_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int synq_nl_classify_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_refusal_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int synq_nl_source_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int synq_nl_conf_confirm_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_service_add_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_service_del_doit(struct sk_buff *skb, struct genl_info *info);
int synq_nl_service_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);

enum {
	SYNQ_NLGRP_CONFIG,
	SYNQ_NLGRP_EVENTS,
};

#endif /* _LINUX_SYNQ_GEN_H */
