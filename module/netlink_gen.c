// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/synq.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/synq.h>

/* Integer value ranges */
static const struct netlink_range_validation synq_a_conf_confirm_within_range = {
	.min	= 1ULL,
	.max	= SYNQ_CONFIRM_MAX,
};

static const struct netlink_range_validation synq_a_class_rate_range = {
	.max	= SYNQ_RATE_MAX,
};

static const struct netlink_range_validation synq_a_class_burst_range = {
	.min	= 1ULL,
	.max	= SYNQ_BURST_MAX,
};

static const struct netlink_range_validation synq_a_class_source_rate_range = {
	.max	= SYNQ_SOURCE_RATE_MAX,
};

static const struct netlink_range_validation synq_a_class_source_burst_range = {
	.min	= 1ULL,
	.max	= SYNQ_BURST_MAX,
};

static const struct netlink_range_validation synq_a_class_rate_per_range = {
	.min	= 1ULL,
	.max	= SYNQ_RATE_PER_MAX,
};

static const struct netlink_range_validation synq_a_class_source_rate_per_range = {
	.min	= 1ULL,
	.max	= SYNQ_RATE_PER_MAX,
};

static const struct netlink_range_validation synq_a_class_net_rate_range = {
	.max	= SYNQ_SOURCE_RATE_MAX,
};

static const struct netlink_range_validation synq_a_class_net_rate_per_range = {
	.min	= 1ULL,
	.max	= SYNQ_RATE_PER_MAX,
};

static const struct netlink_range_validation synq_a_class_net_burst_range = {
	.min	= 1ULL,
	.max	= SYNQ_BURST_MAX,
};

static const struct netlink_range_validation synq_a_match_timeout_range = {
	.min	= 1ULL,
	.max	= SYNQ_MATCH_TIMEOUT_MAX,
};

/* SYNQ_CMD_CONF_BEGIN - do */
static const struct nla_policy synq_conf_begin_nl_policy[SYNQ_A_CONF_REPLACE + 1] = {
	[SYNQ_A_CONF_GENERATION] = { .type = NLA_U32, },
	[SYNQ_A_CONF_REPLACE] = { .type = NLA_FLAG, },
};

/* SYNQ_CMD_CONF_COMMIT - do */
static const struct nla_policy synq_conf_commit_nl_policy[SYNQ_A_CONF_CONFIRM_WITHIN + 1] = {
	[SYNQ_A_CONF_CHANGES] = { .type = NLA_U32, },
	[SYNQ_A_CONF_CONFIRM_WITHIN] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_conf_confirm_within_range),
};

/* SYNQ_CMD_CONF_SET - do */
static const struct nla_policy synq_conf_set_nl_policy[SYNQ_A_CONF_ENFORCE + 1] = {
	[SYNQ_A_CONF_MARK_MASK] = { .type = NLA_U32, },
	[SYNQ_A_CONF_ENFORCE] = NLA_POLICY_MAX(NLA_U8, 1),
};

/* SYNQ_CMD_BYPASS_SET - do */
static const struct nla_policy synq_bypass_set_nl_policy[SYNQ_A_CONF_BYPASS + 1] = {
	[SYNQ_A_CONF_BYPASS] = NLA_POLICY_MAX(NLA_U8, 1),
};

/* SYNQ_CMD_CLASS_ADD - do */
static const struct nla_policy synq_class_add_nl_policy[SYNQ_A_CLASS_NET_LEN_V6 + 1] = {
	[SYNQ_A_CLASS_NAME] = { .type = NLA_NUL_STRING, .len = SYNQ_NAME_MAX, },
	[SYNQ_A_CLASS_PRIORITY] = NLA_POLICY_MAX(NLA_U8, SYNQ_PRIORITY_MAX),
	[SYNQ_A_CLASS_DEFAULT] = NLA_POLICY_MAX(NLA_U8, 1),
	[SYNQ_A_CLASS_MARK] = { .type = NLA_U32, },
	[SYNQ_A_CLASS_RESERVE] = NLA_POLICY_MAX(NLA_U8, SYNQ_RESERVE_MAX),
	[SYNQ_A_CLASS_RATE] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_rate_range),
	[SYNQ_A_CLASS_BURST] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_burst_range),
	[SYNQ_A_CLASS_SOURCE_RATE] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_source_rate_range),
	[SYNQ_A_CLASS_SOURCE_BURST] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_source_burst_range),
	[SYNQ_A_CLASS_SOURCE_LEN_V4] = NLA_POLICY_RANGE(NLA_U8, 1, SYNQ_SOURCE_LEN_V4_MAX),
	[SYNQ_A_CLASS_SOURCE_LEN_V6] = NLA_POLICY_RANGE(NLA_U8, 1, SYNQ_SOURCE_LEN_V6_MAX),
	[SYNQ_A_CLASS_EXCESS] = NLA_POLICY_MAX(NLA_U8, 4),
	[SYNQ_A_CLASS_CAP] = NLA_POLICY_MAX(NLA_U8, SYNQ_CAP_MAX),
	[SYNQ_A_CLASS_MAX_WAIT] = { .type = NLA_U32, },
	[SYNQ_A_CLASS_WEIGHT] = NLA_POLICY_RANGE(NLA_U16, 1, SYNQ_WEIGHT_MAX),
	[SYNQ_A_CLASS_MIN_SHARE] = NLA_POLICY_MAX(NLA_U8, SYNQ_MIN_SHARE_MAX),
	[SYNQ_A_CLASS_COOKIES] = NLA_POLICY_MAX(NLA_U8, 3),
	[SYNQ_A_CLASS_ENFORCE] = NLA_POLICY_MAX(NLA_U8, 1),
	[SYNQ_A_CLASS_RATE_PER] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_rate_per_range),
	[SYNQ_A_CLASS_SOURCE_RATE_PER] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_source_rate_per_range),
	[SYNQ_A_CLASS_NET_RATE] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_net_rate_range),
	[SYNQ_A_CLASS_NET_RATE_PER] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_net_rate_per_range),
	[SYNQ_A_CLASS_NET_BURST] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_net_burst_range),
	[SYNQ_A_CLASS_NET_LEN_V4] = NLA_POLICY_RANGE(NLA_U8, 1, SYNQ_SOURCE_LEN_V4_MAX),
	[SYNQ_A_CLASS_NET_LEN_V6] = NLA_POLICY_RANGE(NLA_U8, 1, SYNQ_SOURCE_LEN_V6_MAX),
};

/* SYNQ_CMD_CLASS_SET - do */
static const struct nla_policy synq_class_set_nl_policy[SYNQ_A_CLASS_NET_LEN_V6 + 1] = {
	[SYNQ_A_CLASS_NAME] = { .type = NLA_NUL_STRING, .len = SYNQ_NAME_MAX, },
	[SYNQ_A_CLASS_PRIORITY] = NLA_POLICY_MAX(NLA_U8, SYNQ_PRIORITY_MAX),
	[SYNQ_A_CLASS_DEFAULT] = NLA_POLICY_MAX(NLA_U8, 1),
	[SYNQ_A_CLASS_MARK] = { .type = NLA_U32, },
	[SYNQ_A_CLASS_RESERVE] = NLA_POLICY_MAX(NLA_U8, SYNQ_RESERVE_MAX),
	[SYNQ_A_CLASS_RATE] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_rate_range),
	[SYNQ_A_CLASS_BURST] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_burst_range),
	[SYNQ_A_CLASS_SOURCE_RATE] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_source_rate_range),
	[SYNQ_A_CLASS_SOURCE_BURST] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_source_burst_range),
	[SYNQ_A_CLASS_SOURCE_LEN_V4] = NLA_POLICY_RANGE(NLA_U8, 1, SYNQ_SOURCE_LEN_V4_MAX),
	[SYNQ_A_CLASS_SOURCE_LEN_V6] = NLA_POLICY_RANGE(NLA_U8, 1, SYNQ_SOURCE_LEN_V6_MAX),
	[SYNQ_A_CLASS_EXCESS] = NLA_POLICY_MAX(NLA_U8, 4),
	[SYNQ_A_CLASS_CAP] = NLA_POLICY_MAX(NLA_U8, SYNQ_CAP_MAX),
	[SYNQ_A_CLASS_MAX_WAIT] = { .type = NLA_U32, },
	[SYNQ_A_CLASS_WEIGHT] = NLA_POLICY_RANGE(NLA_U16, 1, SYNQ_WEIGHT_MAX),
	[SYNQ_A_CLASS_MIN_SHARE] = NLA_POLICY_MAX(NLA_U8, SYNQ_MIN_SHARE_MAX),
	[SYNQ_A_CLASS_COOKIES] = NLA_POLICY_MAX(NLA_U8, 3),
	[SYNQ_A_CLASS_ENFORCE] = NLA_POLICY_MAX(NLA_U8, 1),
	[SYNQ_A_CLASS_RATE_PER] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_rate_per_range),
	[SYNQ_A_CLASS_SOURCE_RATE_PER] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_source_rate_per_range),
	[SYNQ_A_CLASS_NET_RATE] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_net_rate_range),
	[SYNQ_A_CLASS_NET_RATE_PER] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_net_rate_per_range),
	[SYNQ_A_CLASS_NET_BURST] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_class_net_burst_range),
	[SYNQ_A_CLASS_NET_LEN_V4] = NLA_POLICY_RANGE(NLA_U8, 1, SYNQ_SOURCE_LEN_V4_MAX),
	[SYNQ_A_CLASS_NET_LEN_V6] = NLA_POLICY_RANGE(NLA_U8, 1, SYNQ_SOURCE_LEN_V6_MAX),
};

/* SYNQ_CMD_CLASS_DEL - do */
static const struct nla_policy synq_class_del_nl_policy[SYNQ_A_CLASS_NAME + 1] = {
	[SYNQ_A_CLASS_NAME] = { .type = NLA_NUL_STRING, .len = SYNQ_NAME_MAX, },
};

/* SYNQ_CMD_MATCH_ADD - do */
static const struct nla_policy synq_match_add_nl_policy[SYNQ_A_MATCH_TIMEOUT + 1] = {
	[SYNQ_A_MATCH_SOURCE] = { .type = NLA_BINARY, },
	[SYNQ_A_MATCH_LENGTH] = NLA_POLICY_MAX(NLA_U8, 128),
	[SYNQ_A_MATCH_CLASS] = { .type = NLA_NUL_STRING, .len = SYNQ_NAME_MAX, },
	[SYNQ_A_MATCH_TO] = { .type = NLA_BINARY, },
	[SYNQ_A_MATCH_TO_LENGTH] = NLA_POLICY_MAX(NLA_U8, 128),
	[SYNQ_A_MATCH_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[SYNQ_A_MATCH_PORT_LAST] = NLA_POLICY_MIN(NLA_U16, 1),
	[SYNQ_A_MATCH_EXIST] = { .type = NLA_FLAG, },
	[SYNQ_A_MATCH_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_match_timeout_range),
};

/* SYNQ_CMD_MATCH_SET - do */
static const struct nla_policy synq_match_set_nl_policy[SYNQ_A_MATCH_TIMEOUT + 1] = {
	[SYNQ_A_MATCH_SOURCE] = { .type = NLA_BINARY, },
	[SYNQ_A_MATCH_LENGTH] = NLA_POLICY_MAX(NLA_U8, 128),
	[SYNQ_A_MATCH_CLASS] = { .type = NLA_NUL_STRING, .len = SYNQ_NAME_MAX, },
	[SYNQ_A_MATCH_TO] = { .type = NLA_BINARY, },
	[SYNQ_A_MATCH_TO_LENGTH] = NLA_POLICY_MAX(NLA_U8, 128),
	[SYNQ_A_MATCH_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[SYNQ_A_MATCH_PORT_LAST] = NLA_POLICY_MIN(NLA_U16, 1),
	[SYNQ_A_MATCH_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &synq_a_match_timeout_range),
};

/* SYNQ_CMD_MATCH_DEL - do */
static const struct nla_policy synq_match_del_nl_policy[SYNQ_A_MATCH_EXIST + 1] = {
	[SYNQ_A_MATCH_SOURCE] = { .type = NLA_BINARY, },
	[SYNQ_A_MATCH_LENGTH] = NLA_POLICY_MAX(NLA_U8, 128),
	[SYNQ_A_MATCH_TO] = { .type = NLA_BINARY, },
	[SYNQ_A_MATCH_TO_LENGTH] = NLA_POLICY_MAX(NLA_U8, 128),
	[SYNQ_A_MATCH_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[SYNQ_A_MATCH_PORT_LAST] = NLA_POLICY_MIN(NLA_U16, 1),
	[SYNQ_A_MATCH_EXIST] = { .type = NLA_FLAG, },
};

/* SYNQ_CMD_LISTENER_ADD - do */
static const struct nla_policy synq_listener_add_nl_policy[SYNQ_A_LISTENER_REQUESTS + 1] = {
	[SYNQ_A_LISTENER_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[SYNQ_A_LISTENER_ORDER] = NLA_POLICY_MAX(NLA_U8, 2),
	[SYNQ_A_LISTENER_ENFORCE] = NLA_POLICY_MAX(NLA_U8, 1),
	[SYNQ_A_LISTENER_APP_ORDER] = NLA_POLICY_MAX(NLA_U8, 1),
	[SYNQ_A_LISTENER_SYNACK_RETRIES] = NLA_POLICY_MAX(NLA_U8, SYNQ_SYNACK_RETRIES_MAX),
	[SYNQ_A_LISTENER_COOKIES] = NLA_POLICY_MAX(NLA_U8, 3),
	[SYNQ_A_LISTENER_APP_COOKIES] = NLA_POLICY_MAX(NLA_U8, 1),
	[SYNQ_A_LISTENER_INSIDE] = { .type = NLA_U32, },
	[SYNQ_A_LISTENER_REQUESTS] = NLA_POLICY_MAX(NLA_U8, 1),
};

/* SYNQ_CMD_LISTENER_SET - do */
static const struct nla_policy synq_listener_set_nl_policy[SYNQ_A_LISTENER_REQUESTS + 1] = {
	[SYNQ_A_LISTENER_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[SYNQ_A_LISTENER_ORDER] = NLA_POLICY_MAX(NLA_U8, 2),
	[SYNQ_A_LISTENER_ENFORCE] = NLA_POLICY_MAX(NLA_U8, 1),
	[SYNQ_A_LISTENER_APP_ORDER] = NLA_POLICY_MAX(NLA_U8, 1),
	[SYNQ_A_LISTENER_SYNACK_RETRIES] = NLA_POLICY_MAX(NLA_U8, SYNQ_SYNACK_RETRIES_MAX),
	[SYNQ_A_LISTENER_COOKIES] = NLA_POLICY_MAX(NLA_U8, 3),
	[SYNQ_A_LISTENER_APP_COOKIES] = NLA_POLICY_MAX(NLA_U8, 1),
	[SYNQ_A_LISTENER_INSIDE] = { .type = NLA_U32, },
	[SYNQ_A_LISTENER_REQUESTS] = NLA_POLICY_MAX(NLA_U8, 1),
};

/* SYNQ_CMD_LISTENER_DEL - do */
static const struct nla_policy synq_listener_del_nl_policy[SYNQ_A_LISTENER_PORT + 1] = {
	[SYNQ_A_LISTENER_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
};

/* SYNQ_CMD_CLASSIFY - do */
static const struct nla_policy synq_classify_nl_policy[SYNQ_A_QUERY_PORT + 1] = {
	[SYNQ_A_QUERY_SOURCE] = { .type = NLA_BINARY, },
	[SYNQ_A_QUERY_MARK] = { .type = NLA_U32, },
	[SYNQ_A_QUERY_TO] = { .type = NLA_BINARY, },
	[SYNQ_A_QUERY_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
};

/* SYNQ_CMD_REFUSAL_GET - dump */
static const struct nla_policy synq_refusal_get_nl_policy[SYNQ_A_REFUSAL_SOURCE + 1] = {
	[SYNQ_A_REFUSAL_SOURCE] = { .type = NLA_BINARY, },
};

/* SYNQ_CMD_SERVICE_ADD - do */
static const struct nla_policy synq_service_add_nl_policy[SYNQ_A_SERVICE_FORWARD + 1] = {
	[SYNQ_A_SERVICE_TO] = { .type = NLA_BINARY, },
	[SYNQ_A_SERVICE_TO_LENGTH] = NLA_POLICY_MAX(NLA_U8, 128),
	[SYNQ_A_SERVICE_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[SYNQ_A_SERVICE_PORT_LAST] = NLA_POLICY_MIN(NLA_U16, 1),
	[SYNQ_A_SERVICE_FORWARD] = { .type = NLA_FLAG, },
};

/* SYNQ_CMD_SERVICE_DEL - do */
static const struct nla_policy synq_service_del_nl_policy[SYNQ_A_SERVICE_FORWARD + 1] = {
	[SYNQ_A_SERVICE_TO] = { .type = NLA_BINARY, },
	[SYNQ_A_SERVICE_TO_LENGTH] = NLA_POLICY_MAX(NLA_U8, 128),
	[SYNQ_A_SERVICE_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[SYNQ_A_SERVICE_PORT_LAST] = NLA_POLICY_MIN(NLA_U16, 1),
	[SYNQ_A_SERVICE_FORWARD] = { .type = NLA_FLAG, },
};

/* Ops table for synq */
const struct genl_split_ops synq_nl_ops[26] = {
	{
		.cmd	= SYNQ_CMD_CONF_GET,
		.doit	= synq_nl_conf_get_doit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SYNQ_CMD_CONF_BEGIN,
		.doit		= synq_nl_conf_begin_doit,
		.policy		= synq_conf_begin_nl_policy,
		.maxattr	= SYNQ_A_CONF_REPLACE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SYNQ_CMD_CONF_COMMIT,
		.doit		= synq_nl_conf_commit_doit,
		.policy		= synq_conf_commit_nl_policy,
		.maxattr	= SYNQ_A_CONF_CONFIRM_WITHIN,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SYNQ_CMD_CONF_ABORT,
		.doit	= synq_nl_conf_abort_doit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SYNQ_CMD_CONF_SET,
		.doit		= synq_nl_conf_set_doit,
		.policy		= synq_conf_set_nl_policy,
		.maxattr	= SYNQ_A_CONF_ENFORCE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SYNQ_CMD_BYPASS_SET,
		.doit		= synq_nl_bypass_set_doit,
		.policy		= synq_bypass_set_nl_policy,
		.maxattr	= SYNQ_A_CONF_BYPASS,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SYNQ_CMD_CLASS_ADD,
		.doit		= synq_nl_class_add_doit,
		.policy		= synq_class_add_nl_policy,
		.maxattr	= SYNQ_A_CLASS_NET_LEN_V6,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SYNQ_CMD_CLASS_SET,
		.doit		= synq_nl_class_set_doit,
		.policy		= synq_class_set_nl_policy,
		.maxattr	= SYNQ_A_CLASS_NET_LEN_V6,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SYNQ_CMD_CLASS_DEL,
		.doit		= synq_nl_class_del_doit,
		.policy		= synq_class_del_nl_policy,
		.maxattr	= SYNQ_A_CLASS_NAME,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SYNQ_CMD_CLASS_GET,
		.dumpit	= synq_nl_class_get_dumpit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= SYNQ_CMD_MATCH_ADD,
		.doit		= synq_nl_match_add_doit,
		.policy		= synq_match_add_nl_policy,
		.maxattr	= SYNQ_A_MATCH_TIMEOUT,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SYNQ_CMD_MATCH_SET,
		.doit		= synq_nl_match_set_doit,
		.policy		= synq_match_set_nl_policy,
		.maxattr	= SYNQ_A_MATCH_TIMEOUT,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SYNQ_CMD_MATCH_DEL,
		.doit		= synq_nl_match_del_doit,
		.policy		= synq_match_del_nl_policy,
		.maxattr	= SYNQ_A_MATCH_EXIST,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SYNQ_CMD_MATCH_GET,
		.dumpit	= synq_nl_match_get_dumpit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= SYNQ_CMD_LISTENER_ADD,
		.doit		= synq_nl_listener_add_doit,
		.policy		= synq_listener_add_nl_policy,
		.maxattr	= SYNQ_A_LISTENER_REQUESTS,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SYNQ_CMD_LISTENER_SET,
		.doit		= synq_nl_listener_set_doit,
		.policy		= synq_listener_set_nl_policy,
		.maxattr	= SYNQ_A_LISTENER_REQUESTS,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SYNQ_CMD_LISTENER_DEL,
		.doit		= synq_nl_listener_del_doit,
		.policy		= synq_listener_del_nl_policy,
		.maxattr	= SYNQ_A_LISTENER_PORT,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SYNQ_CMD_LISTENER_GET,
		.dumpit	= synq_nl_listener_get_dumpit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= SYNQ_CMD_STATS_GET,
		.dumpit	= synq_nl_stats_get_dumpit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= SYNQ_CMD_CLASSIFY,
		.doit		= synq_nl_classify_doit,
		.policy		= synq_classify_nl_policy,
		.maxattr	= SYNQ_A_QUERY_PORT,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SYNQ_CMD_REFUSAL_GET,
		.dumpit		= synq_nl_refusal_get_dumpit,
		.policy		= synq_refusal_get_nl_policy,
		.maxattr	= SYNQ_A_REFUSAL_SOURCE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= SYNQ_CMD_SOURCE_GET,
		.dumpit	= synq_nl_source_get_dumpit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd	= SYNQ_CMD_CONF_CONFIRM,
		.doit	= synq_nl_conf_confirm_doit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SYNQ_CMD_SERVICE_ADD,
		.doit		= synq_nl_service_add_doit,
		.policy		= synq_service_add_nl_policy,
		.maxattr	= SYNQ_A_SERVICE_FORWARD,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SYNQ_CMD_SERVICE_DEL,
		.doit		= synq_nl_service_del_doit,
		.policy		= synq_service_del_nl_policy,
		.maxattr	= SYNQ_A_SERVICE_FORWARD,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SYNQ_CMD_SERVICE_GET,
		.dumpit	= synq_nl_service_get_dumpit,
		.flags	= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
};

static const struct genl_multicast_group synq_nl_mcgrps[] = {
	[SYNQ_NLGRP_CONFIG] = { "config", },
	[SYNQ_NLGRP_EVENTS] = { "events", },
};
