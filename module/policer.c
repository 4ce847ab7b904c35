// SPDX-License-Identifier: GPL-2.0
/*
 * The policer: does a SYN conform to the rate and burst of its class?
 *
 * It accepts or refuses and never queues.  One bucket for each class of a
 * network namespace, whatever the listener: one 64-bit word in struct
 * synq_net, which stays when the configuration is replaced.  What becomes of
 * a SYN that exceeds is its class's business (syn_hook.c).
 *
 * Called for each judged SYN, in softirq, on any CPU at once, under
 * rcu_read_lock(); takes no lock.
 */
#include "policer.h"

/**
 * synq_policer_conform() - take a token of a class
 * @sn: network namespace
 * @class: of the SYN
 * @now_ns: monotonic clock, ns
 *
 * Two CPUs never spend the same token: the loser of the exchange asks again
 * with the winner's word.  A loser means that another SYN was admitted, so
 * the loop ends after as many rounds as SYNs conform.
 *
 * Context: any
 * Return: false if the bucket is empty; nothing was taken
 */
bool synq_policer_conform(struct synq_net *sn, const struct synq_class *class,
			  u64 now_ns)
{
	atomic64_t *word = &sn->tat[class->slot];
	s64 tat;
	u64 next;

	if (!class->rate)
		return true;
	tat = atomic64_read(word);
	do {
		if (!synq_tbf_next(&class->tbf, tat, now_ns, &next))
			return false;
	} while (!atomic64_try_cmpxchg(word, &tat, next));
	return true;
}
