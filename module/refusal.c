// SPDX-License-Identifier: GPL-2.0
/*
 * What is remembered of refused SYNs, of each network namespace that has a
 * configured listener or forwards, in memory of fixed size:
 *
 * - a fingerprint of each (fingerprint.c), by which one that comes again is
 *   told from a first try.  A flood pushes fingerprints out, and then retries
 *   are taken for first tries: the table has room for 8192.  So are connections
 *   of SYN cookies that found no slot, which leave nothing else behind;
 * - a sample in full, for who asks why a client does not get in.  So that a
 *   flood leaves it a span of some seconds, a token bucket limits what is
 *   written: one for first tries and another for retries, since forged SYNs
 *   seldom come twice and clients nearly always do.
 *
 * It decides nothing.  Without memory the configuration is refused.
 *
 * Called by the packet hook in softirq, or process context with BH off, under
 * rcu_read_lock().  The sample has a lock, taken only for what is written to it:
 * 100 times in a second, and 100 more after a pause.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include "refusal.h"
#include "verdict.h"

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
 * Context: any, rcu_read_lock()
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
	/* Who loses the exchange to another CPU leaves it at that. */
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
 * Context: any, rcu_read_lock()
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
	 * Who was let through or got a cookie was not refused: if it comes
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
 * Context: any, rcu_read_lock()
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
 * Context: any, rcu_read_lock()
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
 * Context: any, rcu_read_lock()
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
 * Context: any, rcu_read_lock()
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
