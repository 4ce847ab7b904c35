/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A configuration while it is edited, and the transaction that owns it.  See
 * draft.c.
 */
#ifndef _SYNQ_DRAFT_H
#define _SYNQ_DRAFT_H

#include "conf.h"
#include "synq.h"

struct netlink_ext_ack;

/*
 * A configuration on trial.
 */

int synq_trial_confirm(struct synq_net *sn);
u32 synq_trial_left(const struct synq_net *sn);
void synq_trial_net_init(struct synq_net *sn);
void synq_trial_net_exit(struct synq_net *sn);

#define SYNQ_DRAFTS_MAX		8	/* open at once in a namespace */

/**
 * struct synq_draft - a transaction
 * @list: of its network namespace
 * @portid: of the netlink socket that owns it
 * @base: generation that it began from
 * @changes: edits made
 * @failed: an edit was refused; the draft can only be dropped
 * @conf: private
 */
struct synq_draft {
	struct list_head list;
	u32 portid;
	u32 base;
	u32 changes;
	bool failed;
	struct synq_conf *conf;
};

int synq_draft_begin(struct synq_net *sn, u32 portid, bool replace,
		     const u32 *expected, struct netlink_ext_ack *extack);
int synq_draft_commit(struct synq_net *sn, u32 portid, const u32 *changes,
		      u32 trial, struct netlink_ext_ack *extack);
int synq_draft_abort(struct synq_net *sn, u32 portid);
void synq_draft_abort_all(struct synq_net *sn);
struct synq_draft *synq_draft_find(struct synq_net *sn, u32 portid);

#endif /* _SYNQ_DRAFT_H */
