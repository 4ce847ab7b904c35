// SPDX-License-Identifier: GPL-2.0
/*
 * Forgets followed connections when the configuration changes, or the record goes.  Their life
 * is described in follow.c.
 */
#include <linux/list.h>
#include <linux/sched.h>
#include "conf.h"
#include "follow.h"
#include "inside.h"
#include "record.h"
#include "request.h"

#define AT_ONCE		256

static unsigned int leave_some(struct synq_inside *inside, struct list_head *list,
			       unsigned int n)
{
	struct synq_followed *conn;

	while (n && (conn = list_first_entry_or_null(list, struct synq_followed, list))) {
		synq_followed_forget(conn);
		n--;
	}
	return n;
}

/**
 * synq_follow_leave() - forget all connections
 * @record: of the listener
 * @close: follow no new ones, either
 *
 * Context: process
 */
void synq_follow_leave(struct synq_record *record, bool close)
{
	struct synq_inside *inside = &record->inside;
	unsigned int left;
	u8 slot;

	do {
		spin_lock_bh(&inside->lock);
		if (close)
			inside->closed = true;
		left = leave_some(inside, &inside->fresh, AT_ONCE);
		left = leave_some(inside, &inside->greeted, left);
		left = leave_some(inside, &inside->busy, left);
		left = leave_some(inside, &inside->gone, left);
		for (slot = 0; slot < SYNQ_SLOTS; slot++)
			left = leave_some(inside, &inside->late[slot], left);
		left = leave_some(inside, &inside->quiet, left);
		spin_unlock_bh(&inside->lock);
		cond_resched();
	} while (!left);
	do {
		rcu_read_lock();
		left = synq_request_give(record);
		rcu_read_unlock();
		cond_resched();
	} while (!left);
}

static bool has_limit(const struct synq_record *record)
{
	struct synq_listener listener;
	bool has;

	rcu_read_lock();
	has = synq_record_conf(record, &listener) && listener.inside;
	rcu_read_unlock();
	return has;
}

/* Forgets some connections of a list; returns false if there may be more. */
static bool forget(struct list_head *list, u32 slots)
{
	unsigned int budget = AT_ONCE;
	struct synq_followed *conn, *next;

	list_for_each_entry_safe(conn, next, list, list) {
		if (!(slots & BIT(conn->slot)))
			continue;
		synq_followed_forget(conn);
		if (!--budget)
			return false;
	}
	return true;
}

/**
 * synq_follow_renew() - adapt to a new snapshot
 * @record: of the listener
 * @slots: slots that belong to another class now, as bits
 *
 * Context: process
 */
void synq_follow_renew(struct synq_record *record, u32 slots)
{
	struct synq_inside *inside = &record->inside;
	bool all_gone;
	u8 slot;

	if (!READ_ONCE(inside->n))
		return;
	if (!has_limit(record)) {
		synq_follow_leave(record, false);
		return;
	}
	if (!slots)
		return;
	do {
		spin_lock_bh(&inside->lock);
		all_gone = forget(&inside->fresh, slots) &&
			   forget(&inside->greeted, slots) && forget(&inside->busy, slots) &&
			   forget(&inside->gone, slots) && forget(&inside->quiet, slots);
		for (slot = 0; slot < SYNQ_SLOTS && all_gone; slot++)
			all_gone = forget(&inside->late[slot], slots);
		spin_unlock_bh(&inside->lock);
		cond_resched();
	} while (!all_gone);
}
