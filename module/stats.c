// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of a configured listener, by class and CPU.
 *
 * They belong to the configured port and not to a socket or a snapshot: a
 * server that restarts and a configuration that is replaced go on counting.
 * A class keeps its slot, and so its counters, as long as a class of its name
 * is configured.
 *
 * A port has them from its first managed socket on: they are 7 KB for each CPU, and of a
 * range of ports only a few may ever be used.  That socket may be found by a packet,
 * where so much memory cannot be counted on; so one set is kept ready.
 *
 * Writers are packets and socket callbacks, on any CPU, without a lock; readers
 * are dumps.  A sum taken while SYNs arrive is a moment's, not a snapshot.
 */
#include <linux/slab.h>
#include "stats.h"

/**
 * synq_port_alloc() - a port, without counters
 * @port: local TCP port, host byte order
 *
 * Context: process
 * Return: one reference, or NULL without memory
 */
struct synq_port *synq_port_alloc(u16 port)
{
	struct synq_port *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);

	if (!p)
		return NULL;
	refcount_set(&p->refs, 1);
	p->port = port;
	return p;
}

/**
 * synq_port_begin() - count from now on: counters, all zero, unless there are any
 * @sn: network namespace
 * @port: held by the caller
 * @gfp: if nothing is set aside
 *
 * Context: as @gfp allows
 * Return: false without memory
 */
bool synq_port_begin(struct synq_net *sn, struct synq_port *port, gfp_t gfp)
{
	struct synq_counters __percpu *counters;

	if (READ_ONCE(port->counters))
		return true;
	counters = xchg(&sn->spare_counters, NULL) ?:
		   alloc_percpu_gfp(struct synq_counters, gfp);
	if (!counters)
		return false;
	/* Another CPU may have been faster.  Pairs with READ_ONCE in this file. */
	if (cmpxchg(&port->counters, NULL, counters))
		free_percpu(counters);
	return true;
}

/**
 * synq_port_provide() - set counters aside for the next port
 * @sn: network namespace
 *
 * Context: process
 */
void synq_port_provide(struct synq_net *sn)
{
	if (!READ_ONCE(sn->spare_counters))
		free_percpu(xchg(&sn->spare_counters,
				 alloc_percpu_gfp(struct synq_counters,
						  GFP_KERNEL_ACCOUNT)));
}

/**
 * synq_port_net_exit() - a network namespace goes away; no packet is counted
 * @sn: its state
 */
void synq_port_net_exit(struct synq_net *sn)
{
	free_percpu(xchg(&sn->spare_counters, NULL));
}

/**
 * synq_port_get() - take another reference
 * @port: held by the caller
 *
 * Context: any
 */
void synq_port_get(struct synq_port *port)
{
	refcount_inc(&port->refs);
}

/**
 * synq_port_put() - give a reference back
 * @port: may be gone afterwards
 *
 * A snapshot gives its references back after its grace period, so a reader
 * that found the port in it is done.
 *
 * Context: any
 */
void synq_port_put(struct synq_port *port)
{
	if (!refcount_dec_and_test(&port->refs))
		return;
	free_percpu(port->counters);
	kfree(port);
}

/**
 * synq_port_sum() - a counter, over all CPUs
 * @port: the listener
 * @slot: of the class
 * @counter: which
 *
 * Context: process
 * Return: number of events
 */
u64 synq_port_sum(const struct synq_port *port, u8 slot,
		  enum synq_counter counter)
{
	const struct synq_counters __percpu *counters = READ_ONCE(port->counters);
	u64 sum = 0;
	int cpu;

	if (!counters)
		return 0;
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(counters, cpu)->n[slot][counter]);
	return sum;
}

/**
 * synq_port_give() - a slot has a class; if it is another one, counters begin at zero
 * @port: the listener
 * @slot: of the class
 * @since: generation from which on it has the slot, not 0
 *
 * Packets that still see the old snapshot may add a few to the new class.
 *
 * Context: process
 */
void synq_port_give(struct synq_port *port, u8 slot, u32 since)
{
	struct synq_counters __percpu *counters = READ_ONCE(port->counters);
	int cpu;

	if (port->since[slot] == since)
		return;
	/* Pairs with READ_ONCE in synq_acceptq_count(); no order needed. */
	WRITE_ONCE(port->since[slot], since);
	/* If a socket brings them at this moment they are zero, or nearly so. */
	if (!counters)
		return;
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(counters, cpu)->n[slot], 0,
		       sizeof(counters->n[slot]));
}
