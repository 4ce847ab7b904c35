// SPDX-License-Identifier: GPL-2.0
/*
 * SYNs that PREROUTING has judged, so that those above need not find out again what was
 * found out there.
 *
 * Such a SYN mostly comes to LOCAL_IN and to its listener next, or after the few that
 * the device has delivered with it, on the same CPU.  Each CPU remembers some.
 *
 * DOC: why it is the same packet
 *
 * A packet is compared, and not looked at: it may be gone, and another with its address
 * come.  Whatever comes to PREROUTING and may be a SYN takes its place away before it is
 * looked at, so that only what was judged has one above: unless it has changed the
 * CPU in between, which takes somebody in process context (NFQUEUE).  Such a one would
 * have to be where another was judged in the same jiffy.  What the stack puts together
 * in between is not asked for.  A rule may have rewritten it, and it may come to another
 * listener: so that is compared, too, where it matters.
 *
 * Softirq only, so nobody else is at the places of this CPU; elsewhere nothing is noted
 * or known.
 */
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/skbuff.h>
#include "judged.h"

#define PLACES		16	/* a power of two; devices deliver 8 or so at once */
#define SKB_SHIFT	8	/* their addresses are so far apart */

/**
 * struct judged - a SYN that PREROUTING has judged
 * @skb: the packet; compared only
 * @when: jiffies
 * @keeps: listener in whose SYN queue it is to have a place; NULL: none, or nobody knows;
 *	compared only
 */
struct judged {
	const struct sk_buff *skb;
	unsigned long when;
	const struct sock *keeps;
};

static DEFINE_PER_CPU(struct judged[PLACES], judged);

static struct judged *place_of(const struct sk_buff *skb)
{
	return this_cpu_ptr(&judged[((unsigned long)skb >> SKB_SHIFT) % PLACES]);
}

/* NULL: nothing is known of it. */
static const struct judged *find(const struct sk_buff *skb)
{
	const struct judged *place = place_of(skb);
	const unsigned long now = jiffies;

	return softirq_count() && place->skb == skb && place->when == now ?
	       place : NULL;
}

/**
 * synq_judged_forget() - a packet comes to PREROUTING
 * @skb: the packet
 *
 * Context: any; it matters in softirq only
 */
void synq_judged_forget(const struct sk_buff *skb)
{
	if (softirq_count())
		place_of(skb)->skb = NULL;
}

/**
 * synq_judged_note() - PREROUTING has judged a SYN
 * @skb: the packet
 * @keeps: listener in whose SYN queue it is to have a place, if it comes there; or NULL
 *
 * Context: any; it matters in softirq only
 */
void synq_judged_note(const struct sk_buff *skb, const struct sock *keeps)
{
	if (softirq_count())
		*place_of(skb) = (struct judged){ skb, jiffies, keeps };
}

/**
 * synq_judged_was() - has PREROUTING judged a packet?
 * @skb: the packet, not put together by the stack
 *
 * Context: any
 * Return: true if it has; false: or nobody knows
 */
bool synq_judged_was(const struct sk_buff *skb)
{
	return find(skb);
}

/**
 * synq_judged_keeps() - is a SYN to have a place in a listener's SYN queue?
 * @skb: the packet
 * @sk: listener that it has come to
 *
 * Context: any
 * Return: true if so; false: it is not known
 */
bool synq_judged_keeps(const struct sk_buff *skb, const struct sock *sk)
{
	const struct judged *place = find(skb);

	return place && place->keeps == sk;
}
