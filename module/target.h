/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where SYNs for listeners were sent to, just now.  See target.c.
 */
#ifndef _SYNQ_TARGET_H
#define _SYNQ_TARGET_H

#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include "segment.h"

#define SYNQ_TARGETS	8	/* a power of two */

/**
 * struct synq_target - where a SYN went to
 * @serial: of the snapshot; 0: nothing is noted
 * @when: jiffies
 * @daddr: address, in network order; of IPv4 the second one is 0
 * @port: of the listener, held by the snapshot
 * @until_ns: monotonic clock, which is not that late yet in the same jiffy
 * @span: the same, as the buckets of the sources of the class in @slot have it
 * @ms: when it was noted; wraps
 * @empty: classes whose bucket is empty until @until_ns, by their slots
 * @dif: interface
 * @sdif: likewise
 * @dport: port
 * @is_v6: family
 * @slot: of a class; 0: @span is not known
 */
struct synq_target {
	u64 serial;
	unsigned long when;
	u64 daddr[2];
	struct synq_port *port;
	u64 until_ns;
	struct synq_source_span span;
	u32 ms;
	u32 empty;
	int dif;
	int sdif;
	__be16 dport;
	bool is_v6;
	u8 slot;
} __aligned(128);

DECLARE_PER_CPU(struct synq_target[SYNQ_TARGETS], synq_targets);

void synq_target_note(const struct synq_conf *conf,
		      const struct synq_segment *seg, struct synq_port *port,
		      u64 now_ns);

/* Here, since each SYN of a flood asks: */

/*
 * Is nobody else at the places of this CPU?  A hook behind NFQUEUE is called in process
 * context with BH on, and a softirq may come in between.
 */
static __always_inline bool synq_target_is_ours(void)
{
	return softirq_count();
}

/* Each half of an address; of IPv4 the second one is 0. */
static __always_inline u64 synq_target_half(bool is_v6, const void *daddr,
					    unsigned int i)
{
	u32 whole;

	if (is_v6)
		return synq_segment_word(daddr, i);
	if (i)
		return 0;
	memcpy(&whole, daddr, sizeof(whole));
	return whole;
}

/* Of this CPU. */
static __always_inline struct synq_target *
synq_target_place(bool is_v6, const void *daddr, __be16 dport)
{
	u32 low = (synq_target_half(is_v6, daddr, 0) >> 24) ^
		  (synq_target_half(is_v6, daddr, 1) >> 56) ^ ntohs(dport);

	return this_cpu_ptr(&synq_targets[low % SYNQ_TARGETS]);
}

/**
 * synq_target_is() - was another SYN just now for a listener, where this goes?
 * @target: synq_target_place()
 * @conf: snapshot
 * @is_v6: @daddr has 16 bytes, and not 4
 * @daddr: where it goes, network order
 * @dport: likewise
 * @dif: interface, as in &struct synq_segment
 * @sdif: likewise
 *
 * Context: BH off, rcu_read_lock()
 * Return: true if so, which @target tells of, for as long; false: look
 */
static __always_inline bool
synq_target_is(const struct synq_target *target, const struct synq_conf *conf,
	       bool is_v6, const void *daddr, __be16 dport, int dif, int sdif)
{
	const unsigned long now = jiffies;

	return target->when == now && target->serial == conf->serial &&
	       target->daddr[0] == synq_target_half(is_v6, daddr, 0) &&
	       (!is_v6 ||
		target->daddr[1] == synq_target_half(is_v6, daddr, 1)) &&
	       target->dport == dport && target->is_v6 == is_v6 &&
	       target->dif == dif && target->sdif == sdif;
}

#endif /* _SYNQ_TARGET_H */
