// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the accounts of accept queues (account.c) up to date.  Nothing tells us that
 * a connection was accepted, nor that a listener was closed: as long as some are
 * queued a worker looks every second, so that only of the last one before a listener
 * was closed it is unknown who was accepted.  Who asks for the counters looks, too.
 */
#include <linux/workqueue.h>
#include "record.h"
#include "settle.h"

/**
 * synq_settle_later() - some may be queued: look in a second
 * @sn: network namespace
 *
 * If the work is pending it has yet to take the rskq_lock that our caller has
 * released, and so will see what was placed.
 *
 * Context: any
 */
void synq_settle_later(struct synq_net *sn)
{
	if (!delayed_work_pending(&sn->settle_work))
		schedule_delayed_work(&sn->settle_work, HZ);
}

static void settle(struct work_struct *work)
{
	struct synq_net *sn = container_of(to_delayed_work(work),
					   struct synq_net, settle_work);

	if (!synq_record_settle(sn))
		synq_settle_later(sn);
}

/**
 * synq_settle_net_init() - a network namespace appears
 * @sn: its state
 *
 * Context: process
 */
void synq_settle_net_init(struct synq_net *sn)
{
	INIT_DELAYED_WORK(&sn->settle_work, settle);
}

/**
 * synq_settle_net_exit() - a network namespace goes away
 * @sn: its state; the attach_work of listener.c is cancelled, the configuration is
 *	gone, and nobody asks for the account
 *
 * Nobody arms settle_work once it is cancelled.  Its work and attach_work cannot,
 * the one being cancelled and the other cancelled before; on_conf() and
 * synq_data_ready() in listener.c do so for a configuration only, and between taking
 * the last one away (pre_exit) and this function the kernel waits for a grace period.
 *
 * Context: process
 */
void synq_settle_net_exit(struct synq_net *sn)
{
	cancel_delayed_work_sync(&sn->settle_work);
}
