// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a network namespace as a message: the answer to conf-get, and what
 * the group "config" hears whenever another configuration is in force, what is on
 * trial is confirmed, or synq is switched off or on, whoever did it.
 *
 * An observer of conf.c: &synq_net.lock is held, so that the messages come in
 * the order of the generations.  A listener that has no room loses some (ENOBUFS)
 * and asks for the state.
 *
 * Process context.
 */
#include <linux/notifier.h>
#include "conf.h"
#include "compat.h"
#include "index.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "trial.h"

static int put_left(struct sk_buff *skb, const struct synq_net *sn)
{
	u32 left = synq_trial_left(sn);

	return left ? nla_put_u32(skb, SYNQ_A_CONF_CONFIRM_LEFT, left) : 0;
}

/**
 * synq_nl_put_conf() - say what state a network namespace is in
 * @skb: room for it
 * @sn: network namespace
 *
 * Context: process, &synq_net.lock held
 * Return: 0; else there was no room
 */
int synq_nl_put_conf(struct sk_buff *skb, const struct synq_net *sn)
{
	const struct synq_conf *conf =
		rcu_dereference_protected(sn->conf, lockdep_is_held(&sn->lock));

	return nla_put_u32(skb, SYNQ_A_CONF_GENERATION, sn->generation) ||
	       nla_put_u32(skb, SYNQ_A_CONF_MARK_MASK,
			   conf ? conf->mark_mask : 0) ||
	       nla_put_u8(skb, SYNQ_A_CONF_BYPASS, READ_ONCE(sn->bypass)) ||
	       nla_put_u8(skb, SYNQ_A_CONF_ENFORCE,
			  !(conf && conf->observe)) ||
	       nla_put_u32(skb, SYNQ_A_CONF_CLASSES,
			   conf ? synq_conf_classes(conf) : 0) ||
	       nla_put_u32(skb, SYNQ_A_CONF_MATCHES,
			   conf ? synq_conf_matches(conf) : 0) ||
	       nla_put_u32(skb, SYNQ_A_CONF_SERVICES,
			   conf ? conf->n_services : 0) ||
	       nla_put_u32(skb, SYNQ_A_CONF_FORWARDS,
			   conf ? conf->n_forwards : 0) ||
	       nla_put_u32(skb, SYNQ_A_CONF_LISTENERS,
			   conf ? conf->n_listeners : 0) ||
	       put_left(skb, sn) ||
	       nla_put_u32(skb, SYNQ_A_CONF_SOCKETS,
			   atomic_read(&sn->sockets)) ||
	       synq_nl_put_u64(skb, SYNQ_A_CONF_FRAGMENTS,
			       atomic64_read(&sn->fragments)) ||
	       synq_nl_put_u64(skb, SYNQ_A_CONF_NO_LISTENER,
			       atomic64_read(&sn->no_listener)) ||
	       synq_nl_put_u64(skb, SYNQ_A_CONF_ATTACH_FAILED,
			       atomic64_read(&sn->attach_failed)) ||
	       synq_nl_put_u64(skb, SYNQ_A_CONF_ATTACH_BUSY,
			       atomic64_read(&sn->attach_busy)) ||
	       synq_nl_put_u64(skb, SYNQ_A_CONF_FOREIGN_OWNER,
			       atomic64_read(&sn->foreign_owner)) ||
	       synq_nl_put_u64(skb, SYNQ_A_CONF_MALFORMED,
			       atomic64_read(&sn->malformed)) ||
	       nla_put_u32(skb, SYNQ_A_CONF_INDEXED, synq_index_matches(sn)) ||
	       synq_nl_put_u64(skb, SYNQ_A_CONF_INDEX_FAILED,
			       atomic64_read(&sn->index_failed));
}

/**
 * synq_nl_tell() - tell whoever listens what state a network namespace is in
 * @sn: network namespace
 *
 * Context: process, &synq_net.lock held
 */
void synq_nl_tell(const struct synq_net *sn)
{
	struct sk_buff *skb;
	void *head;

	if (!genl_has_listeners(&synq_nl_family, sn->net, SYNQ_NLGRP_CONFIG))
		return;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return;
	head = genlmsg_put(skb, 0, 0, &synq_nl_family, 0, SYNQ_CMD_CONF_NTF);
	if (!head || synq_nl_put_conf(skb, sn)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, head);
	genlmsg_multicast_netns(&synq_nl_family, sn->net, skb, 0,
				SYNQ_NLGRP_CONFIG, GFP_KERNEL);
}

static int on_conf(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct synq_conf_change *change = data;

	switch ((enum synq_conf_event)event) {
	case SYNQ_CONF_PREPARE:
		break;
	case SYNQ_CONF_PUBLISHED:
	case SYNQ_CONF_SWITCHED:
		synq_nl_tell(change->sn);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block conf_nb = { .notifier_call = on_conf };

/**
 * synq_nl_event_init() - tell from now on
 *
 * Context: process, the family is registered
 */
void synq_nl_event_init(void)
{
	synq_conf_observe(&conf_nb);
}

/**
 * synq_nl_event_exit() - nobody is told any more on return
 *
 * Context: process, the family is registered still
 */
void synq_nl_event_exit(void)
{
	synq_conf_ignore(&conf_nb);
}
