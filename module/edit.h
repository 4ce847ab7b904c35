/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Edits of a configuration that is not published.  See edit.c.
 */
#ifndef _SYNQ_EDIT_H
#define _SYNQ_EDIT_H

#include "conf.h"

struct synq_edit;

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
			const char *name, const struct synq_edit *edit,
			struct netlink_ext_ack *extack);
int synq_edit_set_class(struct synq_conf *conf, const char *name,
			const struct synq_edit *edit,
			struct netlink_ext_ack *extack);
int synq_edit_del_class(struct synq_conf *conf, const char *name,
			struct netlink_ext_ack *extack);
int synq_edit_put_match(struct synq_conf *conf,
			const struct synq_prefix *prefix,
			const struct synq_service_key *service,
			const char *class, enum synq_match_edit how,
			u32 timeout, struct netlink_ext_ack *extack);
int synq_edit_del_match(struct synq_conf *conf,
			const struct synq_prefix *prefix,
			const struct synq_service_key *service, bool exist,
			struct netlink_ext_ack *extack);
int synq_edit_expire(struct synq_conf *conf, u32 now, const u64 *serial);
int synq_edit_add_listener(struct synq_net *sn, struct synq_conf *conf, u16 port,
			   const struct synq_edit *edit,
			   struct netlink_ext_ack *extack);
int synq_edit_set_listener(struct synq_conf *conf, u16 port,
			   const struct synq_edit *edit,
			   struct netlink_ext_ack *extack);
int synq_edit_del_listener(struct synq_conf *conf, u16 port,
			   struct netlink_ext_ack *extack);

/* edit.c */
int synq_forward_add(struct synq_net *sn, struct synq_conf *conf,
		     const struct synq_service_key *key,
		     struct netlink_ext_ack *extack);
int synq_forward_del(struct synq_conf *conf,
		     const struct synq_service_key *key,
		     struct netlink_ext_ack *extack);

#endif /* _SYNQ_EDIT_H */
