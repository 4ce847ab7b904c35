// SPDX-License-Identifier: GPL-2.0
/*
 * The limits: up to which length of an accept queue a class may use it.
 *
 * The kernel promotes while the queue holds no more than sk_max_ack_backlog
 * requests.  A class is promoted while it holds fewer than
 *
 *	backlog - reserves of the classes before - slack
 *
 * requests of any class, so that a class never occupies a slot reserved for
 * one before it.  The gate reads the length without a lock, and a child is
 * queued after it has passed: N CPUs may overshoot by N - 1.  The slack is for
 * them.  A class always has one slot, however short the backlog.  The first
 * class has no limit but the kernel's.
 *
 * A share of what is accepted is worth nothing without slots: for a class with
 * a minimum share half as much again of the backlog is kept (who is due waits
 * for those who are there already, and there must be one after him), for every
 * class in weighted order its share.  Those of them that the class does not use
 * come off the limits of all others; those that it uses are counted already.
 *
 * The last sixteenth below the limit is for final ACKs of SYN cookies: a
 * cookie's connection that is refused has no request in the SYN queue whose
 * SYN-ACK the kernel would send again.  At the SYN a sixteenth more is left (law.h), so
 * that the gate has little to do.
 */
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include "limit.h"

#define COOKIE_SLACK(backlog)	((backlog) / 16)

/**
 * synq_limit_share() - slots of the queue that a share of it means
 * @backlog: of the listener
 * @share: of @whole; 0: none
 * @whole: all of it
 *
 * Context: any
 * Return: slots, at least one if @share is
 */
u32 synq_limit_share(u32 backlog, u32 share, u32 whole)
{
	return share ? max_t(u32, (u64)backlog * share / whole, 1) : 0;
}

/**
 * synq_limit_kept() - slots that only one class may use
 * @conf: snapshot
 * @listener: configured
 * @class: of @conf
 * @backlog: of the listener
 *
 * Context: any
 * Return: slots
 */
u32 synq_limit_kept(const struct synq_conf *conf,
		    const struct synq_listener *listener,
		    const struct synq_class *class, u32 backlog)
{
	switch ((enum synq_order)listener->order) {
	case SYNQ_ORDER_STRICT:
		return synq_limit_share(backlog, 3 * class->min_share, 2 * 100);
	case SYNQ_ORDER_WEIGHTED:
		if (!synq_conf_shares(conf, class))
			break;
		return synq_limit_share(backlog, class->weight,
					conf->weights);
	case SYNQ_ORDER_FIFO:
		break;
	}
	return 0;
}

/**
 * synq_limit_keeps_any() - are slots kept for any class?
 * @conf: snapshot
 * @listener: configured
 *
 * Most configurations need not be asked for each class.
 *
 * Context: any
 * Return: true if so
 */
bool synq_limit_keeps_any(const struct synq_conf *conf,
			  const struct synq_listener *listener)
{
	switch ((enum synq_order)listener->order) {
	case SYNQ_ORDER_STRICT:
		return conf->min_shares;
	case SYNQ_ORDER_WEIGHTED:
		return true;
	case SYNQ_ORDER_FIFO:
		break;
	}
	return false;
}

/*
 * Slots that are kept for others than @class and still free; @any: there are such
 * slots at all.
 */
static u32 free_for_others(const struct synq_conf *conf,
			   const struct synq_listener *listener,
			   const struct synq_class *class,
			   const struct synq_acceptq *queue, u32 backlog,
			   bool *any)
{
	u32 left = 0;
	u8 i;

	*any = false;
	if (!synq_limit_keeps_any(conf, listener))
		return 0;
	for (i = 0; i < conf->n_positions; i++) {
		u32 kept;

		if (conf->order[i] == class->slot)
			continue;
		kept = synq_limit_kept(conf, listener,
				       &conf->class[conf->order[i]], backlog);
		*any |= kept;
		left += kept - min(kept, synq_acceptq_own(queue, i));
	}
	return left;
}

/**
 * synq_limit_of() - requests of any class up to which one class may be promoted
 * @conf: snapshot
 * @listener: configured
 * @class: of @conf
 * @queue: accept queue of the listener
 * @backlog: of the listener
 *
 * Context: any
 * Return: number, at least 1; SYNQ_LIMIT_NONE if only the kernel's limit counts
 */
u32 synq_limit_of(const struct synq_conf *conf,
		  const struct synq_listener *listener,
		  const struct synq_class *class,
		  const struct synq_acceptq *queue, u32 backlog)
{
	bool any;
	u32 taken = free_for_others(conf, listener, class, queue, backlog,
				    &any);

	if (class->slot == SYNQ_SLOT_LOCAL || (!class->reserve_before && !any))
		return SYNQ_LIMIT_NONE;
	/* A reserve is at least one slot. */
	if (class->reserve_before)
		taken += synq_limit_share(backlog, class->reserve_before, 100);
	taken += min_t(u32, num_online_cpus() - 1, backlog / 16);
	return backlog > taken ? backlog - taken : 1;
}

/**
 * synq_limit_ack() - the same for all but SYN cookies
 * @limit: of synq_limit_of()
 * @backlog: of the listener
 *
 * Context: any
 * Return: number, at least 1, or SYNQ_LIMIT_NONE
 */
u32 synq_limit_ack(u32 limit, u32 backlog)
{
	if (limit == SYNQ_LIMIT_NONE)
		return limit;
	return limit > COOKIE_SLACK(backlog) ? limit - COOKIE_SLACK(backlog) : 1;
}
