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
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include "conf.h"
#include "judge.h"
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
 */
void synq_port_put(struct synq_port *port)
{
	if (!refcount_dec_and_test(&port->refs))
		return;
	free_percpu(port->counters);
	kfree(port->watch);
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

/*
 * What is remembered of refused SYNs, of each network namespace that has a
 * configured listener or forwards, in memory of fixed size:
 *
 * - a fingerprint of each (fingerprint.h), by which one that comes again is
 *   told from a first try.  A flood pushes fingerprints out, and then retries
 *   are taken for first tries: the table has room for 8192.  So are connections
 *   of SYN cookies that found no slot, which leave nothing else behind;
 * - a sample in full, to answer why a client does not get in.  A token bucket limits
 *   what is written, so that in a flood the sample still spans some seconds: one for
 *   first tries and another for retries, since forged SYNs
 *   seldom come twice and clients nearly always do.
 *
 * It decides nothing.  Without memory the configuration is refused.
 *
 * Called by the packet hook in softirq, or process context with BH off, under
 * rcu_read_lock().  The sample has a lock, taken only for what is written to it:
 * 100 times in a second, and 100 more after a pause.
 */

#define SAMPLE_RATE	50	/* per second, of first tries and of retries */
#define SAMPLE_BURST	50

static struct synq_refusals *refusals_alloc(void)
{
	struct synq_refusals *refusals = kvzalloc(sizeof(*refusals),
						  GFP_KERNEL_ACCOUNT);

	if (!refusals)
		return NULL;
	synq_tbf_init(&refusals->sampler, SAMPLE_RATE, 1, SAMPLE_BURST);
	spin_lock_init(&refusals->lock);
	return refusals;
}

static u32 to_ms(u64 ns)
{
	return div_u64(ns, NSEC_PER_MSEC);
}

/**
 * synq_refusal_find() - was this SYN refused before?
 * @sn: network namespace
 * @syn: completed
 *
 * Context: rcu_read_lock()
 * Return: true if so, and it is remembered
 */
bool synq_refusal_find(const struct synq_net *sn, struct synq_refusal_syn *syn)
{
	const struct synq_refusals *refusals = rcu_dereference(sn->refusals);

	if (!refusals)
		return false;
	syn->is_retry = synq_fingerprint_age(&refusals->fingerprints, syn->hash,
					     to_ms(syn->now_ns)) >= 0;
	return syn->is_retry;
}

static bool may_write(struct synq_refusals *refusals, unsigned int kind, u64 now_ns)
{
	atomic64_t *word = &refusals->tat[kind];
	s64 tat = atomic64_read(word);
	u64 next;

	if (!synq_tbf_next(&refusals->sampler, tat, now_ns, &next)) {
		/* Pairs with READ_ONCE in synq_refusal_is_sated(); once a jiffy. */
		if (!synq_refusal_is_sated(refusals, kind))
			WRITE_ONCE(refusals->sated[kind], jiffies);
		return false;
	}
	/* A lost exchange is not repeated: another CPU writes a sample then. */
	return atomic64_try_cmpxchg(word, &tat, next);
}

static void write_sample(struct synq_refusals *refusals,
			 const struct synq_refusal_syn *syn,
			 const struct synq_port *port,
			 const struct synq_class *class, u8 reason,
			 bool observed, u64 now_ns)
{
	struct synq_refusal *refusal;

	spin_lock_bh(&refusals->lock);
	refusal = &refusals->sample[++refusals->written % SYNQ_REFUSALS_MAX];
	*refusal = (struct synq_refusal){
		.ns = now_ns,
		.port = port->port,
		.reason = reason,
		.is_v6 = syn->is_v6,
		.is_retry = syn->is_retry,
		.observed = observed,
		.source_exceeded = syn->source_exceeded,
	};
	memcpy(refusal->addr, syn->saddr, syn->is_v6 ? 16 : 4);
	memcpy(refusal->class, class->name, sizeof(refusal->class));
	spin_unlock_bh(&refusals->lock);
}

/**
 * synq_refusal_note() - a SYN was judged: remember it if it was refused, or
 * answered by a cookie
 * @sn: network namespace
 * @syn: as synq_refusal_find() left it
 * @port: of the listener
 * @class: of the SYN
 * @verdict: on it
 * @observed: it is let through all the same ("enforce off")
 *
 * Context: rcu_read_lock()
 */
void synq_refusal_note(const struct synq_net *sn,
		       const struct synq_refusal_syn *syn,
		       const struct synq_port *port,
		       const struct synq_class *class,
		       enum synq_verdict verdict, bool observed)
{
	const struct synq_verdict_row *row = &synq_verdict_row[verdict];
	struct synq_refusals *refusals;
	u64 now;

	if (row->lets_in)
		return;
	refusals = rcu_dereference(sn->refusals);
	if (!refusals)
		return;
	now = syn->now_ns;
	/*
	 * A SYN that was let through or got a cookie was not refused: if it comes
	 * again, it was lost elsewhere.
	 */
	if (!observed && row->is_refused)
		synq_fingerprint_note(&refusals->fingerprints, syn->hash,
				      to_ms(now));
	if (may_write(refusals, syn->is_retry, now))
		write_sample(refusals, syn, port, class, row->reason, observed,
			     now);
}

/**
 * synq_refusal_connection() - a connection of a SYN cookie found no slot: again?
 * @sn: network namespace
 * @hash: synq_segment_connection()
 *
 * Its client sends its ACK, what it says, and that again and again.
 *
 * Context: rcu_read_lock()
 * Return: false if it found none before, so far as is remembered
 */
bool synq_refusal_connection(const struct synq_net *sn, u64 hash)
{
	struct synq_refusals *refusals = rcu_dereference(sn->refusals);

	return refusals &&
	       synq_fingerprint_note(&refusals->fingerprints, hash,
				     to_ms(ktime_get_ns())) >= 0;
}

/**
 * synq_refusal_knows() - has a connection of a SYN cookie found no slot before?
 * @sn: network namespace
 * @hash: synq_segment_connection()
 *
 * Context: rcu_read_lock()
 * Return: true if so, so far as is remembered
 */
bool synq_refusal_knows(const struct synq_net *sn, u64 hash)
{
	const struct synq_refusals *refusals = rcu_dereference(sn->refusals);

	return refusals &&
	       synq_fingerprint_age(&refusals->fingerprints, hash,
				    to_ms(ktime_get_ns())) >= 0;
}

/**
 * synq_refusal_sample() - a SYN is dropped: write it to the sample, if it is due
 * @refusals: that know it already
 * @syn: but for its hash and its time, which is now
 * @port: of the listener
 * @class: of the SYN
 * @verdict: on it
 *
 * Context: rcu_read_lock()
 */
void synq_refusal_sample(struct synq_refusals *refusals,
			 const struct synq_refusal_syn *syn,
			 const struct synq_port *port,
			 const struct synq_class *class,
			 enum synq_verdict verdict)
{
	u64 now_ns = ktime_get_ns();

	if (may_write(refusals, syn->is_retry, now_ns))
		write_sample(refusals, syn, port, class,
			     synq_verdict_row[verdict].reason, false, now_ns);
}

/**
 * synq_refusal_sample_final() - a final ACK has to wait, or is dropped: write it to the
 * sample, if it is due
 * @sn: network namespace
 * @port: of the listener
 * @class: of the connection
 * @reason: why
 * @saddr: of the client, network order
 * @is_v6: it has 16 bytes, and not 4
 *
 * Context: rcu_read_lock()
 */
void synq_refusal_sample_final(const struct synq_net *sn, const struct synq_port *port,
			       const struct synq_class *class,
			       enum synq_refused reason, const void *saddr, bool is_v6)
{
	struct synq_refusals *refusals = rcu_dereference(sn->refusals);
	const struct synq_refusal_syn syn = { .saddr = saddr, .is_v6 = is_v6 };
	u64 now_ns = ktime_get_ns();

	if (refusals && may_write(refusals, 2, now_ns))
		write_sample(refusals, &syn, port, class, reason, false, now_ns);
}

static struct synq_refusals *refusals_of(const struct synq_net *sn)
{
	return rcu_dereference_protected(sn->refusals,
					 lockdep_is_held(&sn->lock));
}

/**
 * synq_refusal_newest() - the last of the sample
 * @sn: network namespace
 *
 * Context: process, &synq_net.lock held
 * Return: its number, or 0 if there is none
 */
unsigned long synq_refusal_newest(const struct synq_net *sn)
{
	struct synq_refusals *refusals = refusals_of(sn);
	unsigned long written;

	if (!refusals)
		return 0;
	spin_lock_bh(&refusals->lock);
	written = refusals->written;
	spin_unlock_bh(&refusals->lock);
	return written;
}

/**
 * synq_refusal_get() - one of the sample
 * @sn: network namespace
 * @number: from 1 to synq_refusal_newest()
 * @refusal: filled in
 *
 * Context: process, &synq_net.lock held
 * Return: false if it has been overwritten, and all before it, or never was
 */
bool synq_refusal_get(const struct synq_net *sn, unsigned long number,
		      struct synq_refusal *refusal)
{
	struct synq_refusals *refusals = refusals_of(sn);
	bool found;

	if (!refusals || !number)
		return false;
	spin_lock_bh(&refusals->lock);
	found = number <= refusals->written &&
		refusals->written - number < SYNQ_REFUSALS_MAX;
	if (found)
		*refusal = refusals->sample[number % SYNQ_REFUSALS_MAX];
	spin_unlock_bh(&refusals->lock);
	return found;
}

static int on_conf(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct synq_conf_change *change = data;
	struct synq_net *sn = change->sn;
	bool wanted = synq_conf_judges(change->conf);
	struct synq_refusals *refusals = refusals_of(sn);

	switch ((enum synq_conf_event)event) {
	case SYNQ_CONF_PREPARE:
		if (!wanted || refusals)
			break;
		refusals = refusals_alloc();
		if (!refusals)
			return notifier_from_errno(-ENOMEM);
		rcu_assign_pointer(sn->refusals, refusals);
		break;
	case SYNQ_CONF_PUBLISHED:
		if (wanted || !refusals)
			break;
		RCU_INIT_POINTER(sn->refusals, NULL);
		kvfree_rcu(refusals, rcu);
		break;
	case SYNQ_CONF_SWITCHED:
		break;
	}
	return NOTIFY_OK;
}

/* Before hook.c: without memory no hook is registered in vain. */
static struct notifier_block conf_nb = {
	.notifier_call = on_conf,
	.priority = 2,
};

/**
 * synq_refusal_init() - follow the configuration
 *
 * Context: process
 * Return: 0
 */
int synq_refusal_init(void)
{
	return synq_conf_observe(&conf_nb);
}

/**
 * synq_refusal_exit() - undo synq_refusal_init()
 *
 * Context: process; every namespace is unconfigured
 */
void synq_refusal_exit(void)
{
	synq_conf_ignore(&conf_nb);
}
