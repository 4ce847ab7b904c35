// SPDX-License-Identifier: GPL-2.0
/*
 * Where SYNs for listeners were sent to, just now: so that in a flood it is not looked
 * up for each of them whether an address is the host's and a socket listens there.
 *
 * What is remembered is that a SYN to an address and a port, by an interface, is for
 * a socket of a configured listener, whoever sent it.  So it is not for where a BPF
 * program chooses the socket: syn_hook.c notes nothing then.
 *
 * It is true when it is noted, and believed in the same jiffy, on the same CPU, under
 * the same snapshot.  What may have changed meanwhile is what two CPUs may disagree
 * about anyway: a socket, an address or a route that goes in this instant.  Nothing is
 * remembered of what is not there: a socket that begins to listen is found at once.
 * No pointer is kept, so nothing need be held.
 *
 * A CPU has a few places, each address and port one of them, and the last comer has it.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(): nobody else is at the
 * places of this CPU meanwhile.
 */
#include <linux/build_bug.h>
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include "target.h"

#define PLACES	8	/* a power of two */

/**
 * struct target - a destination
 * @serial: of the snapshot; 0: nothing is noted
 * @when: jiffies
 * @daddr: address, in network order; of IPv4 the second one is 0
 * @dif: interface, as in &struct synq_segment
 * @sdif: likewise
 * @dport: port
 * @is_v6: family
 * @listener: its number in the snapshot
 */
struct target {
	u64 serial;
	unsigned long when;
	u64 daddr[2];
	int dif;
	int sdif;
	__be16 dport;
	bool is_v6;
	u16 listener;
};

static_assert(SYNQ_LISTENERS_MAX <= U16_MAX + 1);

static DEFINE_PER_CPU(struct target[PLACES], targets);

/* Each half of an address; of IPv4 the second one is 0. */
static u64 half(const struct synq_segment *seg, unsigned int i)
{
	u64 half = 0;

	if (seg->client.is_v6)
		memcpy(&half, seg->client.daddr + i * sizeof(half),
		       sizeof(half));
	else if (!i)
		memcpy(&half, seg->client.daddr, sizeof(__be32));
	return half;
}

static struct target *place_of(const struct synq_segment *seg)
{
	u32 low = (half(seg, 0) >> 24) ^ (half(seg, 1) >> 56) ^
		  ntohs(seg->client.dport);

	return this_cpu_ptr(&targets[low % PLACES]);
}

/**
 * synq_target_recall() - was another SYN just now for a listener, where this goes?
 * @conf: snapshot
 * @seg: the SYN
 *
 * Context: BH off, rcu_read_lock()
 * Return: the configured listener, or NULL: look
 */
const struct synq_listener *synq_target_recall(const struct synq_conf *conf,
					       const struct synq_segment *seg)
{
	const struct target *target = place_of(seg);
	const unsigned long now = jiffies;

	if (target->serial != conf->serial || target->when != now ||
	    target->daddr[0] != half(seg, 0) ||
	    target->daddr[1] != half(seg, 1) ||
	    target->dif != seg->dif || target->sdif != seg->sdif ||
	    target->dport != seg->client.dport ||
	    target->is_v6 != seg->client.is_v6)
		return NULL;
	return &conf->listener[target->listener];
}

/**
 * synq_target_note() - a SYN is for a listener
 * @conf: snapshot
 * @seg: the SYN
 * @listener: of @conf
 *
 * Context: BH off, rcu_read_lock()
 */
void synq_target_note(const struct synq_conf *conf,
		      const struct synq_segment *seg,
		      const struct synq_listener *listener)
{
	struct target now = {
		.serial = conf->serial,
		.when = jiffies,
		.daddr = { half(seg, 0), half(seg, 1) },
		.dif = seg->dif,
		.sdif = seg->sdif,
		.dport = seg->client.dport,
		.is_v6 = seg->client.is_v6,
		.listener = listener - conf->listener,
	};

	*place_of(seg) = now;
}
