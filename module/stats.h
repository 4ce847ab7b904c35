/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of one configured listener, by class.  See stats.c.
 */
#ifndef _SYNQ_STATS_H
#define _SYNQ_STATS_H

#include <linux/percpu.h>
#include <linux/refcount.h>
#include "synq.h"

struct synq_counters {
	u64 n[SYNQ_SLOTS][SYNQ_COUNTERS];
};

/**
 * struct synq_port - what outlives a configuration and a listening socket
 * @refs: one for each snapshot and draft that names the port
 * @port: local TCP port, host byte order
 * @sockets: listening sockets managed now
 * @since: by slot, generation from which on it is this class's
 * @counters: by slot of the class; NULL until synq_port_begin(), then they stay
 */
struct synq_port {
	refcount_t refs;
	u16 port;
	atomic_t sockets;
	u32 since[SYNQ_SLOTS];
	struct synq_counters __percpu *counters;
};

struct synq_port *synq_port_alloc(u16 port);
bool synq_port_begin(struct synq_net *sn, struct synq_port *port, gfp_t gfp);
void synq_port_provide(struct synq_net *sn);
void synq_port_net_exit(struct synq_net *sn);
void synq_port_get(struct synq_port *port);
void synq_port_put(struct synq_port *port);

u64 synq_port_sum(const struct synq_port *port, u8 slot,
		  enum synq_counter counter);
void synq_port_give(struct synq_port *port, u8 slot, u32 since);

/**
 * synq_count_add() - count @n events of one class at one listener
 * @port: the listener; synq_port_begin() came before any of its records could be found
 * @slot: of the class
 * @counter: what happened
 * @n: how often
 *
 * Context: any
 */
static inline void synq_count_add(struct synq_port *port, u8 slot,
				  enum synq_counter counter, unsigned int n)
{
	this_cpu_add(port->counters->n[slot][counter], n);
}

static inline void synq_count(struct synq_port *port, u8 slot,
			      enum synq_counter counter)
{
	synq_count_add(port, slot, counter, 1);
}

#endif /* _SYNQ_STATS_H */
