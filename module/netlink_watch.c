// SPDX-License-Identifier: GPL-2.0
/*
 * Events, multicast to the group "events": a class at a listener has begun, or ceased, to
 * exceed its rate, to be refused, to be answered by cookies, to be held; its connections
 * cannot be held; its table of sources is full.
 *
 * The packet path does nothing for it.  While the group has listeners, a worker compares the
 * counters with those of a second ago.  So there is at most one message a second for each
 * listener, class and event, whatever the number of packets.
 *
 * A process that has joined the group asks for the state next ("conf-get"), which starts the
 * worker.  The worker stops when the group has no listeners left.
 *
 * Process context.  &synq_net.lock protects what was told.
 */
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include "compat.h"
#include "conf.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "record.h"

#define PERIOD		HZ
#define QUIET		3	/* periods without growth, after which an event has ended */
#define EVENTS		(SYNQ_EVENT_SOURCES_FULL + 1)
#define SUMMANDS	5

/* The event occurs when one of these counters grows. */
static const struct {
	u8 n;
	u8 counter[SUMMANDS];
} sums[EVENTS] = {
	[SYNQ_EVENT_EXCESS] = { 5, {
		SYNQ_COUNT_EXCESS_DROPPED, SYNQ_COUNT_EXCESS_PASSED,
		SYNQ_COUNT_EXCESS_RESET, SYNQ_COUNT_EXCESS_COOKIE,
		SYNQ_COUNT_EXCESS_UNANSWERED } },
	[SYNQ_EVENT_REFUSED] = { 3, {
		SYNQ_COUNT_QUEUE_REFUSED, SYNQ_COUNT_WAIT_REFUSED,
		SYNQ_COUNT_SHARE_REFUSED } },
	[SYNQ_EVENT_COOKIES] = { 2, {
		SYNQ_COUNT_COOKIE_SENT, SYNQ_COUNT_EXCESS_COOKIE } },
	[SYNQ_EVENT_HOLD] = { 1, { SYNQ_COUNT_HELD } },
	[SYNQ_EVENT_HOLD_FULL] = { 1, { SYNQ_COUNT_HOLD_FULL } },
	[SYNQ_EVENT_SOURCES_FULL] = { 1, { SYNQ_COUNT_SOURCE_UNTRACKED } },
};

/**
 * struct synq_watched - an event of a class at a listener
 * @last: sum of the counters, a second ago
 * @count: by how much they have grown since the event began
 * @quiet: periods without growth
 * @active: its begin was reported
 */
struct synq_watched {
	u64 last;
	u64 count;
	u8 quiet;
	bool active;
};

/**
 * struct synq_watch - the events of a listener
 * @run: &synq_net.watch at the last look; if that has changed, the group had no listeners
 *	in between
 * @since: by slot, generation from which on it is this class's
 * @name: by slot, of that class
 * @event: by slot
 */
struct synq_watch {
	u32 run;
	u32 since[SYNQ_SLOTS];
	char name[SYNQ_SLOTS][SYNQ_NAME_MAX + 1];
	struct synq_watched event[SYNQ_SLOTS][EVENTS];
};

/* Held for reading while a message is sent. */
static DECLARE_RWSEM(telling);
static bool is_open;

static bool somebody_listens(const struct synq_net *sn)
{
	return genl_has_listeners(&synq_nl_family, sn->net, SYNQ_NLGRP_EVENTS);
}

static void tell(const struct synq_net *sn, u16 port, const char *class,
		 u8 event, const struct synq_watched *watched)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *head;

	if (!skb)
		return;
	head = genlmsg_put(skb, 0, 0, &synq_nl_family, 0, SYNQ_CMD_EVENT_NTF);
	if (!head || nla_put_u8(skb, SYNQ_A_EVENT_EVENT, event) ||
	    nla_put_u8(skb, SYNQ_A_EVENT_ACTIVE, watched->active) ||
	    nla_put_u16(skb, SYNQ_A_EVENT_PORT, port) ||
	    nla_put_string(skb, SYNQ_A_EVENT_CLASS, class) ||
	    synq_nl_put_u64(skb, SYNQ_A_EVENT_COUNT, watched->count)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, head);
	genlmsg_multicast_netns(&synq_nl_family, sn->net, skb, 0,
				SYNQ_NLGRP_EVENTS, GFP_KERNEL);
}

static u64 sum_of(const struct synq_port *port, u8 slot, u8 event)
{
	u64 sum = 0;
	u8 i;

	for (i = 0; i < sums[event].n; i++)
		sum += synq_port_sum(port, slot, sums[event].counter[i]);
	return sum;
}

/*
 * A connection that is held since before the last second counts, too.  The counters alone do not
 * say so for certain: one of the slot's previous class may have come late.
 */
static bool any_held(struct synq_net *sn, const struct synq_port *port, u8 slot)
{
	return synq_port_sum(port, slot, SYNQ_COUNT_HELD) !=
	       synq_port_sum(port, slot, SYNQ_COUNT_RELEASED) +
	       synq_port_sum(port, slot, SYNQ_COUNT_HOLD_GONE) +
	       synq_port_sum(port, slot, SYNQ_COUNT_HOLD_FLUSHED) &&
	       synq_record_now(sn, port, slot).held;
}

/* Returns true if there is something to report. */
static bool advance(struct synq_watched *watched, u64 sum, bool goes_on)
{
	u64 grown = sum - watched->last;

	watched->last = sum;
	if (grown || goes_on) {
		watched->quiet = 0;
		watched->count = watched->active ? watched->count + grown : grown;
		if (watched->active)
			return false;
		watched->active = true;
		return true;
	}
	if (!watched->active || ++watched->quiet < QUIET)
		return false;
	watched->active = false;
	return true;
}

/* What happened while the group had no listeners is not reported. */
static void look_at_class(struct synq_net *sn, const struct synq_port *port,
			  const struct synq_class *class, bool is_stale)
{
	struct synq_watched *watched = port->watch->event[class->slot];
	u8 event;

	for (event = 0; event < EVENTS; event++, watched++) {
		u64 sum = sum_of(port, class->slot, event);

		if (is_stale)
			*watched = (struct synq_watched){ .last = sum };
		else if (advance(watched, sum, event == SYNQ_EVENT_HOLD &&
				 any_held(sn, port, class->slot)))
			tell(sn, port->port, class->name, event, watched);
	}
}

/* A class that has gone does nothing any more. */
static void end_all(const struct synq_net *sn, const struct synq_port *port, u8 slot)
{
	struct synq_watch *watch = port->watch;
	struct synq_watched *watched;
	u8 event;

	for (event = 0; event < EVENTS; event++) {
		watched = &watch->event[slot][event];
		if (!watched->active)
			continue;
		watched->active = false;
		tell(sn, port->port, watch->name[slot], event, watched);
	}
	memset(watch->event[slot], 0, sizeof(watch->event[slot]));
}

static void look_at(struct synq_net *sn, const struct synq_conf *conf,
		    struct synq_port *port)
{
	struct synq_watch *watch = port->watch;
	bool is_stale;
	u8 slot;

	/* No SYN has come yet. */
	if (!READ_ONCE(port->counters))
		return;
	if (!watch) {
		watch = kzalloc(sizeof(*watch), GFP_KERNEL_ACCOUNT);
		if (!watch)
			return;
		/* The listener was not there a second ago: count from zero. */
		watch->run = sn->watched;
		port->watch = watch;
	}
	is_stale = watch->run != sn->watch;
	/* Nobody was told that they had begun. */
	if (is_stale)
		memset(watch->event, 0, sizeof(watch->event));
	for (slot = 0; slot < SYNQ_SLOTS; slot++) {
		const struct synq_class *class = &conf->class[slot];

		/* The class has gone; the counters of a new one began at zero. */
		if (watch->since[slot] != class->since || !class->name[0])
			end_all(sn, port, slot);
		watch->since[slot] = class->since;
		strscpy(watch->name[slot], class->name, sizeof(watch->name[slot]));
		if (class->name[0])
			look_at_class(sn, port, class, is_stale);
	}
	watch->run = sn->watch;
}

static void look(struct synq_net *sn)
{
	const struct synq_conf *conf;
	unsigned int i;

	mutex_lock(&sn->lock);
	conf = rcu_dereference_protected(sn->conf, lockdep_is_held(&sn->lock));
	for (i = 0; conf && i < conf->n_listeners; i++) {
		look_at(sn, conf, conf->listener[i].port);
		cond_resched();
	}
	if (conf && conf->forwarded.port)
		look_at(sn, conf, conf->forwarded.port);
	sn->watched = sn->watch;
	mutex_unlock(&sn->lock);
}

static void watch_work(struct work_struct *work)
{
	struct synq_net *sn = container_of(to_delayed_work(work),
					   struct synq_net, watch_work);

	down_read(&telling);
	if (is_open && somebody_listens(sn)) {
		look(sn);
		schedule_delayed_work(&sn->watch_work, PERIOD);
	} else {
		mutex_lock(&sn->lock);
		sn->watch++;
		mutex_unlock(&sn->lock);
	}
	up_read(&telling);
}

/**
 * synq_nl_watch() - report events from now on, while the group has listeners
 * @sn: network namespace
 *
 * Context: process, the family is registered
 */
void synq_nl_watch(struct synq_net *sn)
{
	if (somebody_listens(sn))
		schedule_delayed_work(&sn->watch_work, PERIOD);
}

/**
 * synq_nl_watch_net_init() - begin without listeners
 * @sn: network namespace
 */
void synq_nl_watch_net_init(struct synq_net *sn)
{
	sn->watch = 1;
	INIT_DELAYED_WORK(&sn->watch_work, watch_work);
}

/**
 * synq_nl_watch_net_exit() - a network namespace goes away
 * @sn: its state; no request comes any more
 *
 * Context: process
 */
void synq_nl_watch_net_exit(struct synq_net *sn)
{
	cancel_delayed_work_sync(&sn->watch_work);
}

/**
 * synq_nl_watch_init() - allow messages from now on
 *
 * Context: process, the family is registered
 */
void synq_nl_watch_init(void)
{
	down_write(&telling);
	is_open = true;
	up_write(&telling);
}

/**
 * synq_nl_watch_exit() - no message is sent any more on return
 *
 * Context: process, the family is registered still
 */
void synq_nl_watch_exit(void)
{
	down_write(&telling);
	is_open = false;
	up_write(&telling);
}
