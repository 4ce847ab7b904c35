// SPDX-License-Identifier: GPL-2.0
/*
 * The policer: does a SYN conform to the rate and burst of its class, and of its
 * source?
 *
 * It accepts or refuses and never queues.  One bucket for each class of a
 * network namespace, whatever the listener: one 64-bit word in struct
 * synq_net, which stays when the configuration is replaced.  The buckets of
 * sources are the class's (aggregate.c).  What becomes of a SYN that exceeds is
 * its class's business (judge.c).
 *
 * Called for each judged SYN, in softirq, on any CPU at once, under
 * rcu_read_lock(); takes no lock.  How many CPUs share a word: source.c.
 */
#include "aggregate.h"
#include "policer.h"

static struct synq_source_class bucket_of(struct synq_net *sn,
					  const struct synq_class *class)
{
	return (struct synq_source_class){
		.tbf = class->rate ? &class->tbf : NULL,
		.stray = &class->stray_tbf,
		.tat = &sn->tat[class->slot],
	};
}

/* Not inline: what it has on the stack is not for those without a source-rate. */
static noinline enum synq_source_answer
ask_source(struct synq_net *sn, const struct synq_class *class, bool is_v6,
	   const void *addr, u64 now_ns)
{
	const struct synq_source_class bucket = bucket_of(sn, class);
	struct synq_source source;

	synq_aggregate_of(class->aggregates, is_v6, addr, &source);
	return synq_source_ask(&class->aggregates->table, &class->source_tbf,
			       &source, &bucket, now_ns);
}

/**
 * synq_policer_ask() - would synq_policer_take() find that a SYN exceeds?
 * @sn: network namespace
 * @class: of the SYN
 * @is_v6: @addr has 16 bytes, and not 4
 * @addr: of the client, network order
 * @now_ns: monotonic clock, ns
 *
 * For who refuses the SYN then.
 *
 * Context: any
 * Return: what it exceeds; SYNQ_SOURCE_CONFORMS: nothing, or it has to be asked.
 * Nothing was taken
 */
enum synq_source_answer synq_policer_ask(struct synq_net *sn,
					 const struct synq_class *class,
					 bool is_v6, const void *addr,
					 u64 now_ns)
{
	u64 next;

	if (class->refuses)
		return SYNQ_SOURCE_CLASS_EXCEEDS;
	if (class->aggregates)
		return ask_source(sn, class, is_v6, addr, now_ns);
	if (!class->rate ||
	    synq_tbf_next(&class->tbf, atomic64_read(&sn->tat[class->slot]),
			  now_ns, &next))
		return SYNQ_SOURCE_CONFORMS;
	return SYNQ_SOURCE_CLASS_EXCEEDS;
}

/**
 * synq_policer_take() - take a token of a class, and one of the source
 * @sn: network namespace
 * @class: of the SYN
 * @client: that sent it
 * @now_ns: monotonic clock, ns
 * @stray: set to true if the source found no place, and the class alone decided
 *
 * Context: any
 * Return: whether the SYN conforms; if not, nothing was taken
 */
enum synq_source_answer synq_policer_take(struct synq_net *sn,
					  const struct synq_class *class,
					  const struct synq_client *client,
					  u64 now_ns, bool *stray)
{
	const struct synq_source_class bucket = bucket_of(sn, class);
	struct synq_source source;

	if (class->aggregates) {
		synq_aggregate_of(class->aggregates, client->is_v6,
				  client->addr, &source);
		return synq_source_take(&class->aggregates->table,
					&class->source_tbf, &source, &bucket,
					now_ns, stray);
	}
	if (!bucket.tbf ||
	    synq_source_take_class(bucket.tbf, bucket.tat, now_ns))
		return SYNQ_SOURCE_CONFORMS;
	return SYNQ_SOURCE_CLASS_EXCEEDS;
}
