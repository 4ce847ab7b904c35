// SPDX-License-Identifier: GPL-2.0
/*
 * Judges a SYN whose listener and class are known: asks the policer and
 * admission.c, counts it, tells refusal.c, and gives it its class's mark.
 *
 * Knows nothing of where packets come from: syn_hook.c finds the SYN and its
 * listener, and carries out what is said here.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(); no lock.
 */
#include <linux/ktime.h>
#include <linux/skbuff.h>
#include "admission.h"
#include "judge.h"
#include "policer.h"
#include "record.h"

static void count(const struct synq_arrival *syn, enum synq_counter counter)
{
	synq_count(syn->listener->port, syn->class->slot, counter);
}

static enum synq_verdict police(const struct synq_arrival *syn)
{
	bool pass = syn->class->excess == SYNQ_EXCESS_PASS, stray = false;
	enum synq_source_answer answer;

	answer = synq_policer_take(syn->sn, syn->class, &syn->seg.client,
				   ktime_get_ns(), &stray);
	if (stray)
		count(syn, SYNQ_COUNT_SOURCE_UNTRACKED);
	switch (answer) {
	case SYNQ_SOURCE_CONFORMS:
		break;
	case SYNQ_SOURCE_EXCEEDS:
		return pass ? SYNQ_VERDICT_SOURCE_PASS :
			      SYNQ_VERDICT_SOURCE_DROP;
	case SYNQ_SOURCE_CLASS_EXCEEDS:
		return pass ? SYNQ_VERDICT_EXCESS_PASS :
			      SYNQ_VERDICT_EXCESS_DROP;
	}
	return SYNQ_VERDICT_ADMIT;
}

static enum synq_verdict decide(const struct synq_arrival *syn)
{
	struct synq_record *record = syn->record;
	enum synq_verdict verdict;
	struct synq_listener own;

	/* Health checks and local proxies. */
	if (syn->class->slot == SYNQ_SLOT_LOCAL)
		return SYNQ_VERDICT_ADMIT;
	verdict = police(syn);
	if (verdict != SYNQ_VERDICT_ADMIT || !record)
		return verdict;
	own = synq_record_listener(record, syn->listener);
	return synq_admission_syn(&record->admission, syn->conf, &own,
				  syn->class, syn->sk, &record->acceptq,
				  &record->withheld, syn->history.refused_ms);
}

/* What would have been done, and is not ("enforce off"). */
static enum synq_verdict forgo(const struct synq_arrival *syn,
			       enum synq_verdict verdict)
{
	switch (verdict) {
	case SYNQ_VERDICT_ADMIT:
	case SYNQ_VERDICT_EXCESS_PASS:
	case SYNQ_VERDICT_SOURCE_PASS:
		return verdict;
	case SYNQ_VERDICT_EXCESS_DROP:
	case SYNQ_VERDICT_SOURCE_DROP:
	case SYNQ_VERDICT_QUEUE_REFUSE:
	case SYNQ_VERDICT_WAIT_REFUSE:
		break;
	}
	count(syn, SYNQ_COUNT_WOULD_REFUSE);
	return SYNQ_VERDICT_ADMIT;
}

/**
 * synq_judge_mark() - give a packet the mark of a class
 * @arrival: the packet
 * @class: of its sender
 *
 * Context: any
 */
void synq_judge_mark(const struct synq_arrival *arrival,
		     const struct synq_class *class)
{
	const u32 mask = arrival->conf->mark_mask;
	struct sk_buff *skb = arrival->skb;

	if (mask)
		skb->mark = (skb->mark & ~mask) | class->mark_bits;
}

/* Counts what is done.  Returns true if the SYN is left to the stack. */
static bool carry_out(const struct synq_arrival *syn, enum synq_verdict verdict)
{
	switch (verdict) {
	case SYNQ_VERDICT_ADMIT:
		count(syn, SYNQ_COUNT_ADMITTED);
		break;
	case SYNQ_VERDICT_EXCESS_PASS:
		count(syn, SYNQ_COUNT_EXCESS_PASSED);
		break;
	case SYNQ_VERDICT_SOURCE_PASS:
		count(syn, SYNQ_COUNT_SOURCE_PASSED);
		break;
	case SYNQ_VERDICT_EXCESS_DROP:
		count(syn, SYNQ_COUNT_EXCESS_DROPPED);
		return false;
	case SYNQ_VERDICT_SOURCE_DROP:
		count(syn, SYNQ_COUNT_SOURCE_DROPPED);
		return false;
	case SYNQ_VERDICT_QUEUE_REFUSE:
		count(syn, SYNQ_COUNT_QUEUE_REFUSED);
		return false;
	case SYNQ_VERDICT_WAIT_REFUSE:
		count(syn, SYNQ_COUNT_WAIT_REFUSED);
		return false;
	}
	synq_judge_mark(syn, syn->class);
	return true;
}

static void recall(struct synq_arrival *syn)
{
	const struct synq_segment *seg = &syn->seg;

	syn->history = (struct synq_refusal_syn){
		.saddr = seg->client.addr,
		.daddr = seg->daddr,
		.is_v6 = seg->client.is_v6,
		.sport = seg->sport,
		.dport = seg->dport,
		.seq = seg->seq,
	};
	count(syn, SYNQ_COUNT_SEEN);
	if (synq_refusal_find(syn->sn, &syn->history))
		count(syn, SYNQ_COUNT_RETRIES);
	syn->record = synq_record_find(syn->sk);
	if (!syn->record)
		synq_record_want(syn->sn, syn->sk);
}

/**
 * synq_judge() - judge a SYN, and do what there is to be done but for dropping it
 * @syn: all set but for what this sets
 *
 * Context: softirq, rcu_read_lock()
 * Return: true if it is to be left to the stack, false if it is to be dropped
 */
bool synq_judge(struct synq_arrival *syn)
{
	bool observes = synq_conf_observes(syn->conf, syn->listener, syn->class);
	enum synq_verdict verdict;
	bool let_in;

	recall(syn);
	verdict = decide(syn);
	synq_refusal_note(syn->sn, &syn->history, syn->listener->port,
			  syn->class, verdict, observes);
	if (observes)
		verdict = forgo(syn, verdict);
	let_in = carry_out(syn, verdict);
	if (syn->record && let_in)
		synq_admission_begin(&syn->record->admission, syn->class);
	return let_in;
}
