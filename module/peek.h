/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PREROUTING peeks at SYNs.  See peek.c.
 */
#ifndef _SYNQ_PEEK_H
#define _SYNQ_PEEK_H

#include <linux/bits.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include "classify.h"
#include "conf.h"
#include "source.h"

struct sk_buff;

/*
 * Standing refusals: what became of SYNs just now, by where they were sent to.
 */

/* All modules together have 8 KB of each CPU. */
#define SYNQ_NOTES_SHIFT	4
#define SYNQ_NOTES	BIT(SYNQ_NOTES_SHIFT)

/**
 * struct synq_note - what is known of a destination
 * @serial: of the snapshot, and the family: synq_standing_serial(); 0: nothing is noted
 * @when: jiffies
 * @daddr: address, in network order; of IPv4 the second one is 0
 * @sk: listener that was found for it; compared only
 * @group: its reuseport group, likewise; NULL: none
 * @port: of the listener, held by the snapshot; NULL: no SYN has come to it yet
 * @until_ns: monotonic clock, which is not that late yet in the same jiffy
 * @span: the same, as the buckets of the sources of the class in @slot have it
 * @ms: when it was noted; wraps
 * @empty: slots of the classes with an empty bucket until @until_ns
 * @dif: interface
 * @sdif: likewise
 * @dport: port
 * @is_group: another socket may get the next SYN
 * @is_mptcp: a SYN may join a connection
 * @may_refuse: a bucket may be empty, or a refusal stands; there is a @port then
 * @slot: of a class; 0: @span is not known
 * @refusal: enum synq_verdict that stands, by slots of classes; 0: none
 */
struct synq_note {
	u64 serial;
	unsigned long when;
	u64 daddr[2];
	const struct sock *sk;
	const void *group;
	struct synq_port *port;
	u64 until_ns;
	struct synq_source_span span;
	u32 ms;
	u32 empty;
	int dif;
	int sdif;
	__be16 dport;
	bool is_group;
	bool is_mptcp;
	bool may_refuse;
	u8 slot;
	u8 refusal[SYNQ_SLOTS];
} __aligned(128);

DECLARE_PER_CPU(struct synq_note[SYNQ_NOTES], synq_notes);
extern u32 synq_standing_key;

void synq_standing_init(u32 random);
void synq_standing_open(const struct synq_conf *conf,
			const struct synq_segment *seg, const struct sock *sk);
struct synq_note *synq_standing_reach(const struct synq_conf *conf,
				      const struct synq_segment *seg,
				      const struct sock *sk,
				      struct synq_port *port);

/* Here, since each SYN of a flood asks: */

/*
 * Is nothing else at the notes of this CPU?  A hook behind NFQUEUE is called in process
 * context with BH on, and a softirq may come in between.  With PREEMPT_RT another task may
 * come in even then.
 */
static __always_inline bool synq_standing_is_ours(void)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && softirq_count();
}

/* Each half of an address; of IPv4 the second one is 0. */
static __always_inline u64 synq_standing_half(bool is_v6, const void *daddr,
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

static __always_inline u64 synq_standing_serial(const struct synq_conf *conf, bool is_v6)
{
	return 2 * conf->serial + is_v6;
}

/* Of this CPU. */
static __always_inline struct synq_note *
synq_standing_place(bool is_v6, const void *daddr, __be16 dport)
{
	u64 both = synq_standing_half(is_v6, daddr, 0) ^
		   synq_standing_half(is_v6, daddr, 1);
	u32 low = ((u32)both ^ (u32)(both >> 32) ^ ntohs(dport)) * synq_standing_key;

	return this_cpu_ptr(&synq_notes[low >> (32 - SYNQ_NOTES_SHIFT)]);
}

/**
 * synq_standing_is() - is a note of where a SYN goes?
 * @note: synq_standing_place()
 * @conf: snapshot
 * @is_v6: @daddr has 16 bytes, and not 4
 * @daddr: where it goes, network order
 * @dport: likewise
 * @dif: interface, as in &struct synq_segment
 * @sdif: likewise
 *
 * Context: BH off, rcu_read_lock()
 * Return: true if so, for as long as the caller has BH off
 */
static __always_inline bool
synq_standing_is(const struct synq_note *note, const struct synq_conf *conf,
		 bool is_v6, const void *daddr, __be16 dport, int dif, int sdif)
{
	const unsigned long now = jiffies;

	return note->when == now &&
	       note->serial == synq_standing_serial(conf, is_v6) &&
	       note->daddr[0] == synq_standing_half(is_v6, daddr, 0) &&
	       (!is_v6 || note->daddr[1] == synq_standing_half(is_v6, daddr, 1)) &&
	       note->dport == dport && note->dif == dif && note->sdif == sdif;
}

/* NULL: there is none. */
static inline struct synq_note *
synq_standing_find(const struct synq_conf *conf, const struct synq_segment *seg)
{
	const struct synq_client *client = &seg->client;
	struct synq_note *note;

	if (!synq_standing_is_ours())
		return NULL;
	note = synq_standing_place(client->is_v6, client->daddr, client->dport);
	return synq_standing_is(note, conf, client->is_v6, client->daddr,
				client->dport, seg->dif, seg->sdif) ?
	       note : NULL;
}

/* A SYN of a class was refused at its listener: so are those that follow. */
static inline void synq_standing_refuse(struct synq_note *note, u8 slot,
					enum synq_verdict verdict)
{
	if (note->is_group)
		return;
	note->refusal[slot] = verdict;
	note->may_refuse = true;
}

bool synq_peek4(struct synq_net *sn, const struct synq_conf *conf,
		struct sk_buff *skb, unsigned int thoff);
bool synq_peek6(struct synq_net *sn, const struct synq_conf *conf,
		struct sk_buff *skb, unsigned int thoff);

#endif /* _SYNQ_PEEK_H */
