// SPDX-License-Identifier: GPL-2.0
/*
 * The policer: does a SYN conform to the rate and burst of its class, of its source,
 * and of the network that its source is in?
 *
 * It accepts or refuses and never queues.  One bucket for each class of a
 * network namespace, whatever the listener: one 64-bit word in struct
 * synq_net, which stays when the configuration is replaced.  The buckets of
 * sources are the class's.  What becomes of a SYN that exceeds is
 * its class's business (judge.c).
 *
 * Called for each judged SYN, in softirq, on any CPU at once, under
 * rcu_read_lock(); takes no lock.  How many CPUs share a word: source.c.
 */
#include <linux/build_bug.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "conf.h"
#include "policer.h"

/*
 * The sources of a class: all addresses that share their first bits are one, an
 * aggregate, and have one token bucket together.  This file makes a source of an
 * address, and owns the memory of the buckets; what they decide is in source.c.
 *
 * Each class with a source-rate has a table of its own, so that a flood in one class
 * takes no place from another; and one more if it has a net-rate, of the networks that
 * its sources are in, where fewer bits make a source.  A table is made when a
 * configuration is committed, with room for 65536 sources or as many as the module
 * parameter says, 40 bytes for each, and never grows: 32 are the most that there can
 * be.  Without memory the configuration is refused.
 *
 * A table belongs to the finished configurations that name it, each with a
 * reference, as counters do.  Another configuration takes it over if a class of
 * the same name has the same rate and length, since only then do the buckets mean the
 * same.  A configuration is freed after a grace period, so a
 * packet that found a table in it is done by then.
 *
 * An IPv4 address is kept as an IPv4-mapped one.  So an address that comes
 * mapped is the same source.
 *
 * Packets: any context, under rcu_read_lock(); no lock.
 */

static_assert(SYNQ_SOURCE_RATE_MAX == SYNQ_SOURCE_TBF_RATE_MAX);
static_assert(SYNQ_BURST_MAX <= SYNQ_SOURCE_BURST_MAX);

#define SOURCES_MIN	SYNQ_SOURCE_WAYS
#define SOURCES_MAX	1048576U
#define MAPPED		12	/* where in a mapped address the IPv4 one is */

static unsigned int sources = 65536;
module_param(sources, uint, 0444);
MODULE_PARM_DESC(sources, "how many sources of a class with a source-rate are remembered, 8 to 1048576, rounded up to a power of two");

static void aggregates_free(struct synq_aggregates *aggregates)
{
	kvfree(aggregates->table.set);
	kvfree(aggregates->table.note);
	kfree(aggregates);
}

/* Rather fail than have the OOM killer run for it. */
static void *table_alloc(size_t n, size_t size)
{
	return kvcalloc(n, size, GFP_KERNEL_ACCOUNT | __GFP_NOWARN |
			__GFP_RETRY_MAYFAIL);
}

static u64 mask_of(unsigned int bits)
{
	return bits ? ~0ULL << (64 - bits) : 0;
}

static void set_masks(struct synq_aggregates *aggregates, const u8 len[2])
{
	__be64 high = cpu_to_be64(mask_of(min_t(u8, len[1], 64)));
	__be64 low = cpu_to_be64(mask_of(len[1] > 64 ? len[1] - 64 : 0));

	aggregates->mask4 = cpu_to_be32(mask_of(len[0]) >> 32);
	aggregates->mask6[0] = (__force u64)high;
	aggregates->mask6[1] = (__force u64)low;
}

static void set_key(struct synq_aggregates *aggregates)
{
	static const u64 constant[4] = {
		SIPHASH_CONST_0, SIPHASH_CONST_1,
		SIPHASH_CONST_2, SIPHASH_CONST_3,
	};
	u64 key[2];
	unsigned int i;

	get_random_bytes(key, sizeof(key));
	for (i = 0; i < ARRAY_SIZE(constant); i++)
		aggregates->start[i] = constant[i] ^ key[i % 2];
}

static struct synq_aggregates *aggregates_alloc(const u8 len[2])
{
	u32 n = roundup_pow_of_two(clamp_t(u32, sources, SOURCES_MIN,
					   SOURCES_MAX));
	struct synq_aggregates *aggregates = kzalloc(sizeof(*aggregates),
						     GFP_KERNEL_ACCOUNT);

	if (!aggregates)
		return NULL;
	aggregates->table.mask = n / SYNQ_SOURCE_WAYS - 1;
	aggregates->table.set = table_alloc(n / SYNQ_SOURCE_WAYS,
					    sizeof(*aggregates->table.set));
	aggregates->table.note = table_alloc(n,
					     sizeof(*aggregates->table.note));
	if (!aggregates->table.set || !aggregates->table.note) {
		aggregates_free(aggregates);
		return NULL;
	}
	set_key(aggregates);
	set_masks(aggregates, len);
	refcount_set(&aggregates->refs, 1);
	return aggregates;
}

/**
 * synq_aggregate_put() - give a reference back
 * @aggregates: may be NULL, and gone afterwards
 *
 * Context: no reader sees the configuration that had the reference
 */
void synq_aggregate_put(struct synq_aggregates *aggregates)
{
	if (aggregates && refcount_dec_and_test(&aggregates->refs))
		aggregates_free(aggregates);
}

/* With the old ones, if they are not NULL. */
static struct synq_aggregates *keep_or_alloc(struct synq_aggregates *old, const u8 len[2])
{
	if (!old)
		return aggregates_alloc(len);
	refcount_inc(&old->refs);
	return old;
}

static struct synq_aggregates *kept_sources(const struct synq_class *was,
					    const struct synq_class *is)
{
	return was->source_rate == is->source_rate &&
	       was->source_rate_per == is->source_rate_per &&
	       !memcmp(was->source_len, is->source_len, sizeof(is->source_len)) ?
	       was->aggregates : NULL;
}

static struct synq_aggregates *kept_networks(const struct synq_class *was,
					     const struct synq_class *is)
{
	return was->net_rate == is->net_rate &&
	       was->net_rate_per == is->net_rate_per &&
	       !memcmp(was->net_len, is->net_len, sizeof(is->net_len)) ?
	       was->networks : NULL;
}

/**
 * synq_aggregate_attach() - give each class that needs them its buckets
 * @conf: finished, not published, and without any; synq_conf_free() puts them
 * @old: the configuration in force, or NULL
 *
 * Context: process, &synq_net.lock held
 * Return: 0 or -ENOMEM
 */
int synq_aggregate_attach(struct synq_conf *conf, const struct synq_conf *old)
{
	u8 slot;

	for (slot = SYNQ_SLOT_FIRST; slot < SYNQ_SLOTS; slot++) {
		const struct synq_class *was = old ? &old->class[slot] : NULL;
		struct synq_class *class = &conf->class[slot];

		if (!class->source_rate)
			continue;
		if (was && strcmp(was->name, class->name))
			was = NULL;
		class->aggregates = keep_or_alloc(was ? kept_sources(was, class) : NULL,
						  class->source_len);
		if (!class->aggregates)
			return -ENOMEM;
		if (!class->net_rate)
			continue;
		class->networks = keep_or_alloc(was ? kept_networks(was, class) : NULL,
						class->net_len);
		if (!class->networks)
			return -ENOMEM;
	}
	return 0;
}

static bool is_mapped(const void *addr)
{
	__be64 word[2];

	memcpy(word, addr, sizeof(word));
	return !word[0] && be64_to_cpu(word[1]) >> 32 == 0xffff;
}

static u64 hash_of(const struct synq_aggregates *aggregates, const u64 addr[2])
{
	u32 v4 = be64_to_cpu((__force __be64)addr[1]);

	return is_mapped(addr) ?
	       synq_aggregate_hash4(aggregates, cpu_to_be32(v4)) :
	       synq_aggregate_hash6(aggregates, addr);
}

/**
 * aggregate_of() - the source that an address belongs to
 * @aggregates: of its class
 * @is_v6: @addr has 16 bytes, and not 4
 * @addr: network order
 * @source: filled in
 */
static void aggregate_of(const struct synq_aggregates *aggregates, bool is_v6,
			 const void *addr, struct synq_source *source)
{
	__be32 v4;

	if (!is_v6 || is_mapped(addr)) {
		memcpy(&v4, addr + (is_v6 ? MAPPED : 0), sizeof(v4));
		v4 &= aggregates->mask4;
		source->addr[0] = 0;
		source->addr[1] = (__force u64)
			cpu_to_be64(0xffffULL << 32 | be32_to_cpu(v4));
	} else {
		memcpy(source->addr, addr, sizeof(source->addr));
		source->addr[0] &= aggregates->mask6[0];
		source->addr[1] &= aggregates->mask6[1];
	}
	source->hash = hash_of(aggregates, source->addr);
}

/**
 * synq_aggregate_get() - what is known of the source at a place
 * @aggregates: of a class
 * @rate: of its buckets
 * @index: of the place, below synq_aggregate_places()
 * @now_ns: monotonic clock, ns
 * @state: filled in
 *
 * Return: false if there is none, or another one just takes its place
 */
bool synq_aggregate_get(const struct synq_aggregates *aggregates,
			const struct synq_source_rate *rate, u32 index,
			u64 now_ns, struct synq_source_state *state)
{
	struct synq_source *source = &state->source;

	if (!synq_source_state(&aggregates->table, rate, index, now_ns, state))
		return false;
	source->hash = hash_of(aggregates, source->addr);
	return synq_source_is_at(&aggregates->table, index, source->hash);
}

/**
 * synq_aggregate_is_v4() - of which family is a source?
 * @source: as it was filled in
 *
 * Return: true if it has an IPv4 address, in its last 4 bytes
 */
bool synq_aggregate_is_v4(const struct synq_source *source)
{
	return is_mapped(source->addr);
}

static struct synq_source_class bucket_of(struct synq_net *sn,
					  const struct synq_class *class)
{
	return (struct synq_source_class){
		.tbf = class->rate ? &class->tbf : NULL,
		.stray = &class->stray_tbf,
		.tat = &sn->tat[class->slot],
	};
}

static void find_both(const struct synq_class *class, bool is_v6,
		      const void *addr, struct synq_source_bucket *own,
		      struct synq_source_bucket *net)
{
	own->table = &class->aggregates->table;
	own->rate = &class->source_tbf;
	aggregate_of(class->aggregates, is_v6, addr, &own->source);
	net->table = &class->networks->table;
	net->rate = &class->net_tbf;
	aggregate_of(class->networks, is_v6, addr, &net->source);
}

/* Not inline: what they have on the stack is not for those with one source-rate. */
static noinline enum synq_source_answer
ask_both(const struct synq_class *class, bool is_v6, const void *addr,
	 const struct synq_source_class *bucket, u64 now_ns)
{
	struct synq_source_bucket own, net;

	find_both(class, is_v6, addr, &own, &net);
	return synq_source_ask_both(&own, &net, bucket, now_ns);
}

static noinline enum synq_source_answer
take_both(const struct synq_class *class, const struct synq_client *client,
	  const struct synq_source_class *bucket, u64 now_ns, bool *stray)
{
	struct synq_source_bucket own, net;

	find_both(class, client->is_v6, client->addr, &own, &net);
	return synq_source_take_both(&own, &net, bucket, now_ns, stray);
}

/* Not inline: what it has on the stack is not for those without a source-rate. */
static noinline enum synq_source_answer
ask_source(struct synq_net *sn, const struct synq_class *class, bool is_v6,
	   const void *addr, u64 now_ns)
{
	const struct synq_source_class bucket = bucket_of(sn, class);
	struct synq_source source;

	if (unlikely(class->networks))
		return ask_both(class, is_v6, addr, &bucket, now_ns);
	aggregate_of(class->aggregates, is_v6, addr, &source);
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
 * For a caller that refuses the SYN then.
 *
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
 * Return: whether the SYN conforms; if not, nothing was taken
 */
enum synq_source_answer synq_policer_take(struct synq_net *sn,
					  const struct synq_class *class,
					  const struct synq_client *client,
					  u64 now_ns, bool *stray)
{
	const struct synq_source_class bucket = bucket_of(sn, class);
	struct synq_source source;

	if (unlikely(class->networks))
		return take_both(class, client, &bucket, now_ns, stray);
	if (class->aggregates) {
		aggregate_of(class->aggregates, client->is_v6,
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
