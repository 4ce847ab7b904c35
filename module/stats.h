/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of one configured listener, by class.  See stats.c.
 */
#ifndef _SYNQ_STATS_H
#define _SYNQ_STATS_H

#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/time64.h>
#include "fingerprint.h"
#include "source.h"
#include "synq.h"

struct synq_class;
struct synq_watch;

struct synq_counters {
	u64 n[SYNQ_SLOTS][SYNQ_COUNTERS];
};

/**
 * struct synq_port - what outlives a configuration and a listening socket
 * @refs: one for each snapshot and draft that names the port
 * @port: local TCP port, host byte order
 * @sockets: listening sockets managed now
 * @since: by slot, generation since which it belongs to its class
 * @counters: by slot of the class; NULL until synq_port_begin(), then they stay
 * @watch: events that were reported, under &synq_net.lock; NULL until the first look
 */
struct synq_port {
	refcount_t refs;
	u16 port;
	atomic_t sockets;
	u32 since[SYNQ_SLOTS];
	struct synq_counters __percpu *counters;
	struct synq_watch *watch;
};

struct synq_port *synq_port_alloc(u16 port);
bool synq_port_begin(struct synq_net *sn, struct synq_port *port, gfp_t gfp);
void synq_port_provide(struct synq_net *sn);
void synq_port_net_exit(struct synq_net *sn);
void synq_port_get(struct synq_port *port);
void synq_port_put(struct synq_port *port);

u64 synq_port_sum(const struct synq_port *port, u8 slot,
		  enum synq_counter counter);

/**
 * synq_count_add() - count @n events of one class at one listener
 * @port: the listener; synq_port_begin() came before any of its records could be found
 * @slot: of the class
 * @counter: what happened
 * @n: how often
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

/* The counter for a time, of several: up to 1 ms, 4 ms, 16 ms ..., and longer. */
static inline enum synq_counter synq_count_of_time(enum synq_counter first,
						   enum synq_counter longer, u64 ns)
{
	u64 limit = NSEC_PER_MSEC;

	for (; ns > limit && first < longer; first++)
		limit *= 4;
	return first;
}

/*
 * What is remembered of refused SYNs.
 */

/**
 * struct synq_refusal_syn - a SYN, as far as it matters here
 * @saddr: of the client, network order
 * @is_v6: it has 16 bytes, and not 4
 * @now_ns: monotonic clock
 * @hash: synq_segment_fingerprint(), if synq_refusal_is_any()
 * @is_retry: it was refused before, set by synq_refusal_find()
 * @source_exceeded: from synq_source_whose(), set before
 *	synq_refusal_note()
 */
struct synq_refusal_syn {
	const void *saddr;
	bool is_v6;
	u64 now_ns;
	u64 hash;
	bool is_retry;
	u8 source_exceeded;
};

/**
 * struct synq_refusal - a sample
 * @ns: monotonic clock
 * @addr: of the client, network order
 * @class: its name at the time
 * @port: of the listener, host byte order
 * @reason: enum synq_refused
 * @is_v6: @addr has 16 bytes, and not 4
 * @is_retry: the same SYN had been refused before
 * @observed: it would have been refused, and was let through
 * @source_exceeded: from synq_source_whose()
 */
struct synq_refusal {
	u64 ns;
	u8 addr[16];
	char class[SYNQ_NAME_MAX + 1];
	u16 port;
	u8 reason;
	bool is_v6;
	bool is_retry;
	bool observed;
	u8 source_exceeded;
};

/**
 * struct synq_refusals - the memory of one network namespace
 * @rcu: freed after a grace period
 * @sated: jiffies in which the bucket of first tries, of retries, or of final ACKs was
 *	empty
 * @sampler: rate and burst of the buckets
 * @tat: bucket of first tries, of retries, and of final ACKs
 * @lock: protects @written and @sample
 * @written: refusals ever written to @sample
 * @sample: the last ones; number n, from 1, stands at n modulo its size
 * @fingerprints: of refused SYNs, and of connections that found no slot
 */
struct synq_refusals {
	struct rcu_head rcu;
	unsigned long sated[3];
	struct synq_tbf sampler;
	atomic64_t tat[3];
	spinlock_t lock;	/* protects next 2 fields */
	unsigned long written;
	struct synq_refusal sample[SYNQ_REFUSALS_MAX];
	struct synq_fingerprints fingerprints;
};

int synq_refusal_init(void);
void synq_refusal_exit(void);

/**
 * synq_refusal_is_any() - may a SYN have been refused that is still known?
 * @sn: network namespace
 * @now_ns: monotonic clock
 *
 * Each takes a token of the sample, if there is one; within a jiffy not all of them ask.
 *
 * Context: rcu_read_lock()
 * Return: true if so
 */
static inline bool synq_refusal_is_any(const struct synq_net *sn, u64 now_ns)
{
	const u64 known_ns = (SYNQ_FINGERPRINT_MS + 1000ULL) * NSEC_PER_MSEC;
	const struct synq_refusals *refusals = rcu_dereference(sn->refusals);
	u64 since_ns = now_ns - min(now_ns, known_ns);

	return refusals &&
	       !(synq_tbf_is_idle(&refusals->sampler, atomic64_read(&refusals->tat[0]),
				  since_ns) &&
		 synq_tbf_is_idle(&refusals->sampler, atomic64_read(&refusals->tat[1]),
				  since_ns));
}

bool synq_refusal_find(const struct synq_net *sn, struct synq_refusal_syn *syn);
void synq_refusal_note(const struct synq_net *sn,
		       const struct synq_refusal_syn *syn,
		       const struct synq_port *port,
		       const struct synq_class *class,
		       enum synq_verdict verdict, bool observed);
void synq_refusal_sample(struct synq_refusals *refusals,
			 const struct synq_refusal_syn *syn,
			 const struct synq_port *port,
			 const struct synq_class *class,
			 enum synq_verdict verdict);

/**
 * synq_refusal_is_sated() - may nothing be written to the sample now?
 * @refusals: of a network namespace
 * @kind: 1 if what is to be written was refused before; 2: a final ACK
 *
 * The bucket is not asked again in one jiffy: it has a token in 20 ms.
 *
 * Return: true if so
 */
static inline bool synq_refusal_is_sated(const struct synq_refusals *refusals,
					 unsigned int kind)
{
	const unsigned long now = jiffies;

	/* Pairs with WRITE_ONCE in may_write(). */
	return READ_ONCE(refusals->sated[kind]) == now;
}

void synq_refusal_sample_final(const struct synq_net *sn, const struct synq_port *port,
			       const struct synq_class *class,
			       enum synq_refused reason, const void *saddr, bool is_v6);
bool synq_refusal_connection(const struct synq_net *sn, u64 hash);
bool synq_refusal_knows(const struct synq_net *sn, u64 hash);
unsigned long synq_refusal_newest(const struct synq_net *sn);
bool synq_refusal_get(const struct synq_net *sn, unsigned long number,
		      struct synq_refusal *refusal);

#endif /* _SYNQ_STATS_H */
