// SPDX-License-Identifier: GPL-2.0
/*
 * The dumps of the generic netlink family: classes, matches, listeners and
 * counters of the configuration in force, and sources and refusals remembered.
 *
 * Each message is made by one function, which leaves in cb->args where to go
 * on and returns an error if there is no room for it.  If another
 * configuration is published in mid-dump, the messages say so
 * (NLM_F_DUMP_INTR), and the reader asks again.
 *
 * Process context; &synq_net.lock is held while a part of a dump is made.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include "attribute.h"
#include "compat.h"
#include "conf.h"
#include "expire.h"
#include "listener.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "policer.h"
#include "record.h"
#include "stats.h"

/* Places of sources that are looked at in one go. */
#define PLACES		1024

struct dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	struct synq_net *sn;
	const struct synq_conf *conf;
};

static void *dump_put(const struct dump *d, u8 cmd)
{
	void *head = genlmsg_put(d->skb, NETLINK_CB(d->cb->skb).portid,
				 d->cb->nlh->nlmsg_seq, &synq_nl_family, NLM_F_MULTI,
				 cmd);

	if (head)
		genl_dump_check_consistent(d->cb, head);
	return head;
}

static int dump_end(const struct dump *d, void *head, int err)
{
	if (err) {
		genlmsg_cancel(d->skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(d->skb, head);
	return 0;
}

/* Calls @each until there is no room, or nothing more: it returns -ENOENT. */
static int dump(struct sk_buff *skb, struct netlink_callback *cb,
		int (*each)(struct dump *d))
{
	struct net *net = sock_net(skb->sk);
	struct dump d = { .skb = skb, .cb = cb, .sn = synq_net(net) };
	int err = synq_nl_permitted(net, cb->extack);

	if (err)
		return err;
	mutex_lock(&d.sn->lock);
	d.conf = rcu_dereference_protected(d.sn->conf,
					   lockdep_is_held(&d.sn->lock));
	/* 0 would switch the check off.  A service that moves has another place in a dump. */
	cb->seq = d.sn->generation + d.sn->expire_moved + 1;
	while (d.conf && !err)
		err = each(&d);
	mutex_unlock(&d.sn->lock);
	return err == -EMSGSIZE && !skb->len ? err : skb->len;
}

static int put_attr(struct sk_buff *skb, const struct synq_attr *attr, u32 value)
{
	return attr->size == sizeof(u32) ? nla_put_u32(skb, attr->id, value) :
	       attr->size == sizeof(u16) ? nla_put_u16(skb, attr->id, value) :
					   nla_put_u8(skb, attr->id, value);
}

static int put_attrs(struct sk_buff *skb, const struct synq_attrs *attrs,
		     const void *object)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < attrs->n && !err; i++)
		if (synq_attr_is_shown(attrs, &attrs->row[i], object))
			err = put_attr(skb, &attrs->row[i],
				       synq_attr_get(&attrs->row[i], object));
	return err;
}

static int put_class(struct sk_buff *skb, const struct synq_class *class)
{
	return nla_put_string(skb, SYNQ_A_CLASS_NAME, class->name) ||
	       put_attrs(skb, &synq_class_attrs, class) ||
	       nla_put_u8(skb, SYNQ_A_CLASS_BUILTIN,
			  class->slot < SYNQ_SLOT_FIRST);
}

static int dump_class(struct dump *d)
{
	const struct synq_class *class;
	void *head;
	int err;

	if (d->cb->args[0] >= d->conf->n_positions)
		return -ENOENT;
	class = &d->conf->class[d->conf->order[d->cb->args[0]]];
	head = dump_put(d, SYNQ_CMD_CLASS_GET);
	if (!head)
		return -EMSGSIZE;
	err = dump_end(d, head, put_class(d->skb, class));
	if (!err)
		d->cb->args[0]++;
	return err;
}

int synq_nl_class_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_class);
}

static int put_match_attrs(struct sk_buff *skb, const struct synq_conf *conf,
			   const struct synq_service *service,
			   const struct synq_lpm_node *node, bool is_v6)
{
	return nla_put(skb, SYNQ_A_MATCH_SOURCE, is_v6 ? 16 : 4, node->key) ||
	       nla_put_u8(skb, SYNQ_A_MATCH_LENGTH, node->len) ||
	       nla_put_string(skb, SYNQ_A_MATCH_CLASS,
			      conf->class[node->value - 1].name) ||
	       (node->end && nla_put_u32(skb, SYNQ_A_MATCH_TIMEOUT,
					 synq_expire_left(node->end, synq_expire_now()))) ||
	       (service && synq_nl_put_service(skb, &service->key,
					       &synq_nl_match_names));
}

/* args[1]: of IPv6?  args[2]: 0, or the service plus one */
static int dump_match(struct dump *d)
{
	const unsigned long is_v6 = d->cb->args[1], table = d->cb->args[2];
	const struct synq_service *service;
	const struct synq_lpm_node *node;
	u32 next;
	void *head;
	int err;

	if (table > d->conf->n_services)
		return -ENOENT;
	service = table ? &d->conf->service[table - 1] : NULL;
	next = synq_lpm_walk(service ? &service->lpm[is_v6] :
				       &d->conf->lpm[is_v6],
			     d->cb->args[0], &node);
	if (!next) {
		d->cb->args[0] = 0;
		d->cb->args[1] = !is_v6;
		d->cb->args[2] += is_v6;
		return 0;
	}
	if (synq_expire_is_over(node->end, synq_expire_now())) {
		d->cb->args[0] = next;
		return 0;
	}
	head = dump_put(d, SYNQ_CMD_MATCH_GET);
	if (!head)
		return -EMSGSIZE;
	err = dump_end(d, head,
		       put_match_attrs(d->skb, d->conf, service, node, is_v6));
	if (!err)
		d->cb->args[0] = next;
	return err;
}

int synq_nl_match_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_match);
}

static int dump_service(struct dump *d)
{
	const struct synq_service_key *key;
	void *head;
	int err;

	if (d->cb->args[0] >= d->conf->n_forwards)
		return -ENOENT;
	key = &d->conf->forward[d->cb->args[0]];
	head = dump_put(d, SYNQ_CMD_SERVICE_GET);
	if (!head)
		return -EMSGSIZE;
	err = dump_end(d, head,
		       synq_nl_put_service(d->skb, key,
					   &synq_nl_service_names) ||
		       nla_put_flag(d->skb, SYNQ_A_SERVICE_FORWARD));
	if (!err)
		d->cb->args[0]++;
	return err;
}

int synq_nl_service_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb)
{
	return dump(skb, cb, dump_service);
}

static int dump_listener(struct dump *d)
{
	const struct synq_listener *listener;
	void *head;
	int err;

	if (d->cb->args[0] >= d->conf->n_listeners)
		return -ENOENT;
	listener = &d->conf->listener[d->cb->args[0]];
	head = dump_put(d, SYNQ_CMD_LISTENER_GET);
	if (!head)
		return -EMSGSIZE;
	err = nla_put_u16(d->skb, SYNQ_A_LISTENER_PORT, listener->port->port) ||
	      nla_put_u32(d->skb, SYNQ_A_LISTENER_SOCKETS,
			  atomic_read(&listener->port->sockets)) ||
	      put_attrs(d->skb, &synq_listener_attrs, listener) ||
	      (listener->inside &&
	       nla_put_u32(d->skb, SYNQ_A_LISTENER_INSIDE_LIMIT,
			   synq_record_inside_limit(d->sn, listener)));
	err = dump_end(d, head, err);
	if (!err)
		d->cb->args[0]++;
	return err;
}

int synq_nl_listener_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	return dump(skb, cb, dump_listener);
}

static int put_counters(struct sk_buff *skb, struct synq_net *sn,
			const struct synq_port *port, u8 slot)
{
	static const u8 attr[SYNQ_COUNTERS] = {
		[SYNQ_COUNT_SEEN] = SYNQ_A_COUNTERS_SEEN,
		[SYNQ_COUNT_RETRIES] = SYNQ_A_COUNTERS_RETRIES,
		[SYNQ_COUNT_ADMITTED] = SYNQ_A_COUNTERS_ADMITTED,
		[SYNQ_COUNT_EXCESS_DROPPED] = SYNQ_A_COUNTERS_EXCESS_DROPPED,
		[SYNQ_COUNT_EXCESS_PASSED] = SYNQ_A_COUNTERS_EXCESS_PASSED,
		[SYNQ_COUNT_QUEUE_REFUSED] = SYNQ_A_COUNTERS_QUEUE_REFUSED,
		[SYNQ_COUNT_WAIT_REFUSED] = SYNQ_A_COUNTERS_WAIT_REFUSED,
		[SYNQ_COUNT_PROMOTED] = SYNQ_A_COUNTERS_PROMOTED,
		[SYNQ_COUNT_HELD] = SYNQ_A_COUNTERS_HELD,
		[SYNQ_COUNT_RELEASED] = SYNQ_A_COUNTERS_RELEASED,
		[SYNQ_COUNT_HOLD_GONE] = SYNQ_A_COUNTERS_HOLD_GONE,
		[SYNQ_COUNT_HOLD_FLUSHED] = SYNQ_A_COUNTERS_HOLD_FLUSHED,
		[SYNQ_COUNT_HOLD_FULL] = SYNQ_A_COUNTERS_HOLD_FULL,
		[SYNQ_COUNT_COOKIE_REFUSED] = SYNQ_A_COUNTERS_COOKIE_REFUSED,
		[SYNQ_COUNT_FASTOPEN_DECLINED] =
			SYNQ_A_COUNTERS_FASTOPEN_DECLINED,
		[SYNQ_COUNT_GATE_BYPASSED] = SYNQ_A_COUNTERS_GATE_BYPASSED,
		[SYNQ_COUNT_PLACED] = SYNQ_A_COUNTERS_PLACED,
		[SYNQ_COUNT_MOVED] = SYNQ_A_COUNTERS_MOVED,
		[SYNQ_COUNT_ACCEPTED] = SYNQ_A_COUNTERS_ACCEPTED,
		[SYNQ_COUNT_SHARED] = SYNQ_A_COUNTERS_SHARED,
		[SYNQ_COUNT_WOULD_REFUSE] = SYNQ_A_COUNTERS_WOULD_REFUSE,
		[SYNQ_COUNT_WOULD_HOLD] = SYNQ_A_COUNTERS_WOULD_HOLD,
		[SYNQ_COUNT_WOULD_MOVE] = SYNQ_A_COUNTERS_WOULD_MOVE,
		[SYNQ_COUNT_CLOSED] = SYNQ_A_COUNTERS_CLOSED,
		[SYNQ_COUNT_REPLACED] = SYNQ_A_COUNTERS_REPLACED,
		[SYNQ_COUNT_SOURCE_UNTRACKED] =
			SYNQ_A_COUNTERS_SOURCE_UNTRACKED,
		[SYNQ_COUNT_SOURCE_EXCEEDED] = SYNQ_A_COUNTERS_SOURCE_EXCEEDED,
		[SYNQ_COUNT_WAITED] = SYNQ_A_COUNTERS_WAITED_1MS,
		[SYNQ_COUNT_WAITED + 1] = SYNQ_A_COUNTERS_WAITED_4MS,
		[SYNQ_COUNT_WAITED + 2] = SYNQ_A_COUNTERS_WAITED_16MS,
		[SYNQ_COUNT_WAITED + 3] = SYNQ_A_COUNTERS_WAITED_64MS,
		[SYNQ_COUNT_WAITED + 4] = SYNQ_A_COUNTERS_WAITED_256MS,
		[SYNQ_COUNT_WAITED + 5] = SYNQ_A_COUNTERS_WAITED_1S,
		[SYNQ_COUNT_WAITED + 6] = SYNQ_A_COUNTERS_WAITED_4S,
		[SYNQ_COUNT_WAITED_LONGER] = SYNQ_A_COUNTERS_WAITED_LONGER,
		[SYNQ_COUNT_HELD_FOR] = SYNQ_A_COUNTERS_HELD_1MS,
		[SYNQ_COUNT_HELD_FOR + 1] = SYNQ_A_COUNTERS_HELD_4MS,
		[SYNQ_COUNT_HELD_FOR + 2] = SYNQ_A_COUNTERS_HELD_16MS,
		[SYNQ_COUNT_HELD_FOR + 3] = SYNQ_A_COUNTERS_HELD_64MS,
		[SYNQ_COUNT_HELD_FOR + 4] = SYNQ_A_COUNTERS_HELD_256MS,
		[SYNQ_COUNT_HELD_FOR + 5] = SYNQ_A_COUNTERS_HELD_1S,
		[SYNQ_COUNT_HELD_FOR + 6] = SYNQ_A_COUNTERS_HELD_4S,
		[SYNQ_COUNT_HELD_LONGER] = SYNQ_A_COUNTERS_HELD_LONGER,
		[SYNQ_COUNT_EXCESS_RESET] = SYNQ_A_COUNTERS_EXCESS_RESET,
		[SYNQ_COUNT_EXCESS_COOKIE] = SYNQ_A_COUNTERS_EXCESS_COOKIE,
		[SYNQ_COUNT_EXCESS_UNANSWERED] =
			SYNQ_A_COUNTERS_EXCESS_UNANSWERED,
		[SYNQ_COUNT_COOKIE_SENT] = SYNQ_A_COUNTERS_COOKIE_SENT,
		[SYNQ_COUNT_SHARE_REFUSED] = SYNQ_A_COUNTERS_SHARE_REFUSED,
		[SYNQ_COUNT_FLOODED] = SYNQ_A_COUNTERS_FLOODED,
		[SYNQ_COUNT_ANSWERED] = SYNQ_A_COUNTERS_ANSWERED_1MS,
		[SYNQ_COUNT_ANSWERED + 1] = SYNQ_A_COUNTERS_ANSWERED_4MS,
		[SYNQ_COUNT_ANSWERED + 2] = SYNQ_A_COUNTERS_ANSWERED_16MS,
		[SYNQ_COUNT_ANSWERED + 3] = SYNQ_A_COUNTERS_ANSWERED_64MS,
		[SYNQ_COUNT_ANSWERED + 4] = SYNQ_A_COUNTERS_ANSWERED_256MS,
		[SYNQ_COUNT_ANSWERED + 5] = SYNQ_A_COUNTERS_ANSWERED_1S,
		[SYNQ_COUNT_ANSWERED + 6] = SYNQ_A_COUNTERS_ANSWERED_4S,
		[SYNQ_COUNT_ANSWERED_LONGER] = SYNQ_A_COUNTERS_ANSWERED_LONGER,
		[SYNQ_COUNT_UNANSWERED] = SYNQ_A_COUNTERS_UNANSWERED,
		[SYNQ_COUNT_STUCK] = SYNQ_A_COUNTERS_STUCK,
		[SYNQ_COUNT_NET_EXCEEDED] = SYNQ_A_COUNTERS_NET_EXCEEDED,
		[SYNQ_COUNT_BY_MARK] = SYNQ_A_COUNTERS_BY_MARK,
		[SYNQ_COUNT_BY_SERVICE] = SYNQ_A_COUNTERS_BY_SERVICE,
		[SYNQ_COUNT_BY_PREFIX] = SYNQ_A_COUNTERS_BY_PREFIX,
		[SYNQ_COUNT_NOT_FOLLOWED] = SYNQ_A_COUNTERS_NOT_FOLLOWED,
		[SYNQ_COUNT_REQUEST_HELD] = SYNQ_A_COUNTERS_REQUEST_HELD,
		[SYNQ_COUNT_REQUEST_RELEASED] = SYNQ_A_COUNTERS_REQUEST_RELEASED,
		[SYNQ_COUNT_REQUEST_OVERDUE] = SYNQ_A_COUNTERS_REQUEST_OVERDUE,
		[SYNQ_COUNT_REQUEST_FLUSHED] = SYNQ_A_COUNTERS_REQUEST_FLUSHED,
	};
	const struct synq_record_now now = synq_record_now(sn, port, slot);
	struct nlattr *nest;
	int i;

	nest = nla_nest_start(skb, SYNQ_A_STATS_COUNTERS);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < SYNQ_COUNTERS; i++)
		if (synq_nl_put_u64(skb, attr[i], synq_port_sum(port, slot, i)))
			return -EMSGSIZE;
	if (synq_nl_put_u64(skb, SYNQ_A_COUNTERS_QUEUED, now.queued) ||
	    synq_nl_put_u64(skb, SYNQ_A_COUNTERS_HELD_NOW, now.held) ||
	    synq_nl_put_u64(skb, SYNQ_A_COUNTERS_BUSY_NOW,
			    now.inside[SYNQ_INSIDE_FRESH] +
			    now.inside[SYNQ_INSIDE_GREETED] +
			    now.inside[SYNQ_INSIDE_BUSY] +
			    now.inside[SYNQ_INSIDE_GONE] +
			    now.inside[SYNQ_INSIDE_KEPT]) ||
	    synq_nl_put_u64(skb, SYNQ_A_COUNTERS_STUCK_NOW,
			    now.inside[SYNQ_INSIDE_STUCK]) ||
	    synq_nl_put_u64(skb, SYNQ_A_COUNTERS_QUIET_NOW,
			    now.inside[SYNQ_INSIDE_QUIET]) ||
	    synq_nl_put_u64(skb, SYNQ_A_COUNTERS_REQUEST_HELD_NOW,
			    now.inside[SYNQ_INSIDE_HELD]) ||
	    synq_nl_put_u64(skb, SYNQ_A_COUNTERS_HALF_OPEN, now.half_open) ||
	    synq_nl_put_u64(skb, SYNQ_A_COUNTERS_FLOODED_NOW, now.flooded))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* The last one stands for what is forwarded. */
static const struct synq_port *port_number(const struct synq_conf *conf,
					   unsigned long n)
{
	return n < conf->n_listeners ? conf->listener[n].port :
	       n == conf->n_listeners ? conf->forwarded.port : NULL;
}

/* args[0]: listener, args[1]: position of the class */
static int dump_stats(struct dump *d)
{
	const struct synq_class *class;
	const struct synq_port *port;
	void *head;
	int err;

	if (!d->cb->args[0] && !d->cb->args[1])
		synq_listener_tend(d->sn);
	if (d->cb->args[1] >= d->conf->n_positions) {
		d->cb->args[0]++;
		d->cb->args[1] = 0;
	}
	port = port_number(d->conf, d->cb->args[0]);
	if (!port)
		return -ENOENT;
	class = &d->conf->class[d->conf->order[d->cb->args[1]]];
	head = dump_put(d, SYNQ_CMD_STATS_GET);
	if (!head)
		return -EMSGSIZE;
	err = nla_put_u16(d->skb, SYNQ_A_STATS_PORT, port->port) ||
	      nla_put_string(d->skb, SYNQ_A_STATS_CLASS, class->name) ||
	      put_counters(d->skb, d->sn, port, class->slot);
	err = dump_end(d, head, err);
	if (!err)
		d->cb->args[1]++;
	return err;
}

int synq_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_stats);
}

static int put_refusal(struct sk_buff *skb, const struct synq_refusal *refusal)
{
	u64 age = div_u64(ktime_get_ns() - refusal->ns, NSEC_PER_MSEC);

	return nla_put(skb, SYNQ_A_REFUSAL_SOURCE, refusal->is_v6 ? 16 : 4,
		       refusal->addr) ||
	       nla_put_u32(skb, SYNQ_A_REFUSAL_AGE, min_t(u64, age, U32_MAX)) ||
	       nla_put_u16(skb, SYNQ_A_REFUSAL_PORT, refusal->port) ||
	       nla_put_string(skb, SYNQ_A_REFUSAL_CLASS, refusal->class) ||
	       nla_put_u8(skb, SYNQ_A_REFUSAL_REASON, refusal->reason) ||
	       nla_put_u8(skb, SYNQ_A_REFUSAL_RETRY, refusal->is_retry) ||
	       nla_put_u8(skb, SYNQ_A_REFUSAL_ENFORCE, !refusal->observed) ||
	       nla_put_u8(skb, SYNQ_A_REFUSAL_SOURCE_EXCEEDED,
			  refusal->source_exceeded);
}

static bool is_source(const struct synq_refusal *refusal,
		      const struct nlattr *source)
{
	return nla_len(source) == (refusal->is_v6 ? 16 : 4) &&
	       !memcmp(nla_data(source), refusal->addr, nla_len(source));
}

/* args[0]: number of the refusal, downwards; args[1]: has begun */
static int dump_refusal(struct dump *d)
{
	const struct nlattr *source =
		synq_dump_attrs(d->cb)[SYNQ_A_REFUSAL_SOURCE];
	struct synq_refusal refusal;
	void *head;
	int err;

	if (!d->cb->args[1]) {
		d->cb->args[0] = synq_refusal_newest(d->sn);
		d->cb->args[1] = 1;
	}
	if (!synq_refusal_get(d->sn, d->cb->args[0], &refusal))
		return -ENOENT;
	if (!source || is_source(&refusal, source)) {
		head = dump_put(d, SYNQ_CMD_REFUSAL_GET);
		if (!head)
			return -EMSGSIZE;
		err = dump_end(d, head, put_refusal(d->skb, &refusal));
		if (err)
			return err;
	}
	d->cb->args[0]--;
	return 0;
}

int synq_nl_refusal_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb)
{
	const struct nlattr *source =
		synq_dump_attrs(cb)[SYNQ_A_REFUSAL_SOURCE];

	if (source && nla_len(source) != 4 && nla_len(source) != 16) {
		NL_SET_ERR_MSG_ATTR(cb->extack, source,
				    "an address has 4 or 16 bytes");
		return -EINVAL;
	}
	return dump(skb, cb, dump_refusal);
}

static int put_source(struct sk_buff *skb, const struct synq_class *class,
		      const struct synq_source_state *state, bool is_net)
{
	bool is_v4 = synq_aggregate_is_v4(&state->source);
	const u8 *addr = (const u8 *)state->source.addr;

	return nla_put_string(skb, SYNQ_A_SOURCE_CLASS, class->name) ||
	       nla_put(skb, SYNQ_A_SOURCE_SOURCE, is_v4 ? 4 : 16,
		       is_v4 ? addr + 12 : addr) ||
	       nla_put_u8(skb, SYNQ_A_SOURCE_LENGTH,
			  (is_net ? class->net_len : class->source_len)[!is_v4]) ||
	       (is_net && nla_put_flag(skb, SYNQ_A_SOURCE_NET)) ||
	       synq_nl_put_u64(skb, SYNQ_A_SOURCE_CONFORMED,
			       state->conformed) ||
	       synq_nl_put_u64(skb, SYNQ_A_SOURCE_EXCEEDED, state->exceeded) ||
	       nla_put_u32(skb, SYNQ_A_SOURCE_TOKENS, state->tokens);
}

/* The next source, or network, from place *@place on, of the next few. */
static bool next_source(const struct synq_class *class, bool is_net, long *place,
			struct synq_source_state *state)
{
	const struct synq_aggregates *table = is_net ? class->networks :
						       class->aggregates;
	long end = min_t(long, *place + PLACES, synq_aggregate_places(table));
	u64 now = ktime_get_ns();

	for (; *place < end; ++*place)
		if (synq_aggregate_get(table, is_net ? &class->net_tbf :
						       &class->source_tbf,
				       *place, now, state))
			return true;
	return false;
}

/* Returns false if there is nothing more in the table of this class. */
static bool has_places(const struct synq_class *class, bool is_net, long place)
{
	const struct synq_aggregates *table = is_net ? class->networks :
						       class->aggregates;

	return table && place < synq_aggregate_places(table);
}

/* args[0]: position of the class, args[1]: place in its table, args[2]: of networks */
static int dump_source(struct dump *d)
{
	struct synq_source_state state;
	const struct synq_class *class;
	void *head;
	int err;

	if (d->cb->args[0] >= d->conf->n_positions)
		return -ENOENT;
	class = &d->conf->class[d->conf->order[d->cb->args[0]]];
	if (!has_places(class, d->cb->args[2], d->cb->args[1])) {
		d->cb->args[0] += d->cb->args[2];
		d->cb->args[1] = 0;
		d->cb->args[2] = !d->cb->args[2];
		return 0;
	}
	cond_resched();
	if (!next_source(class, d->cb->args[2], &d->cb->args[1], &state))
		return 0;
	head = dump_put(d, SYNQ_CMD_SOURCE_GET);
	if (!head)
		return -EMSGSIZE;
	err = dump_end(d, head, put_source(d->skb, class, &state, d->cb->args[2]));
	if (!err)
		d->cb->args[1]++;
	return err;
}

int synq_nl_source_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, dump_source);
}
