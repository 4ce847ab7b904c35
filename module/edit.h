/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Edits of a configuration that is not published.  See edit.c.
 */
#ifndef _SYNQ_EDIT_H
#define _SYNQ_EDIT_H

#include "conf.h"

/* What can be given of a class. */
enum synq_class_field {
	SYNQ_CLASS_PRIORITY,
	SYNQ_CLASS_DEFAULT,
	SYNQ_CLASS_MARK,
	SYNQ_CLASS_RESERVE,
	SYNQ_CLASS_RATE,
	SYNQ_CLASS_RATE_PER,
	SYNQ_CLASS_BURST,
	SYNQ_CLASS_SOURCE_RATE,
	SYNQ_CLASS_SOURCE_RATE_PER,
	SYNQ_CLASS_SOURCE_BURST,
	SYNQ_CLASS_SOURCE_LEN_V4,
	SYNQ_CLASS_SOURCE_LEN_V6,
	SYNQ_CLASS_EXCESS,
	SYNQ_CLASS_CAP,
	SYNQ_CLASS_MAX_WAIT,
	SYNQ_CLASS_WEIGHT,
	SYNQ_CLASS_MIN_SHARE,
	SYNQ_CLASS_ENFORCE,
	SYNQ_CLASS_COOKIES,
	SYNQ_CLASS_FIELDS
};

/**
 * struct synq_class_edit - what to change of a class
 * @name: of the class
 * @has: BIT() of each enum synq_class_field that is given
 * @value: of those, within the ranges of the netlink policy, which has none
 *	for SYNQ_CLASS_MAX_WAIT
 */
struct synq_class_edit {
	const char *name;
	u32 has;
	u32 value[SYNQ_CLASS_FIELDS];
};

/**
 * struct synq_listener_edit - what to change of a listener
 * @port: host byte order
 * @has_order: @order is given
 * @order: enum synq_order
 * @has_app_order: @app_order is given
 * @app_order: the application may choose another for its socket
 * @has_synack_retries: @synack_retries is given
 * @synack_retries: how often an unanswered SYN-ACK is sent again; 0: not set
 * @has_cookies: @cookies is given
 * @cookies: enum synq_cookies
 * @has_app_cookies: @app_cookies is given
 * @app_cookies: the application may choose another for its socket
 * @has_inside: @inside is given
 * @inside: connections that the server may work on; 0: as many as it likes
 * @has_observe: @observe is given
 * @observe: count what would be done, and do nothing
 */
struct synq_listener_edit {
	u16 port;
	bool has_order;
	u8 order;
	bool has_app_order;
	bool app_order;
	bool has_synack_retries;
	u8 synack_retries;
	bool has_cookies;
	u8 cookies;
	bool has_app_cookies;
	bool app_cookies;
	bool has_inside;
	u32 inside;
	bool has_observe;
	bool observe;
};

/**
 * struct synq_prefix - a source prefix
 * @addr: network order, host bits zero
 * @is_v6: 16 bytes of @addr count, and not 4
 * @len: bits
 */
struct synq_prefix {
	u8 addr[16];
	bool is_v6;
	u8 len;
};

/**
 * enum synq_match_edit - how a prefix is given a class
 * @SYNQ_MATCH_ADD: it must have none
 * @SYNQ_MATCH_EXIST: it must have none, or this one
 * @SYNQ_MATCH_SET: it must have one
 */
enum synq_match_edit {
	SYNQ_MATCH_ADD,
	SYNQ_MATCH_EXIST,
	SYNQ_MATCH_SET,
};

int synq_edit_add_class(struct synq_net *sn, struct synq_conf *conf,
			const struct synq_class_edit *edit,
			struct netlink_ext_ack *extack);
int synq_edit_set_class(struct synq_conf *conf,
			const struct synq_class_edit *edit,
			struct netlink_ext_ack *extack);
int synq_edit_del_class(struct synq_conf *conf, const char *name,
			struct netlink_ext_ack *extack);
int synq_edit_put_match(struct synq_conf *conf,
			const struct synq_prefix *prefix,
			const struct synq_service_key *service,
			const char *class, enum synq_match_edit how,
			struct netlink_ext_ack *extack);
int synq_edit_del_match(struct synq_conf *conf,
			const struct synq_prefix *prefix,
			const struct synq_service_key *service, bool exist,
			struct netlink_ext_ack *extack);
int synq_edit_add_listener(struct synq_net *sn, struct synq_conf *conf,
			   const struct synq_listener_edit *edit,
			   struct netlink_ext_ack *extack);
int synq_edit_set_listener(struct synq_conf *conf,
			   const struct synq_listener_edit *edit,
			   struct netlink_ext_ack *extack);
int synq_edit_del_listener(struct synq_conf *conf, u16 port,
			   struct netlink_ext_ack *extack);

/* forward.c */
int synq_forward_add(struct synq_net *sn, struct synq_conf *conf,
		     const struct synq_service_key *key,
		     struct netlink_ext_ack *extack);
int synq_forward_del(struct synq_conf *conf,
		     const struct synq_service_key *key,
		     struct netlink_ext_ack *extack);

#endif /* _SYNQ_EDIT_H */
