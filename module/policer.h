/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rate and burst of a class and of its sources.  See policer.c.
 */
#ifndef _SYNQ_POLICER_H
#define _SYNQ_POLICER_H

#include <linux/kernel.h>
#include <linux/refcount.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <linux/types.h>
#include "classify.h"
#include "conf.h"
#include "source.h"
#include "synq.h"

struct synq_conf;

/*
 * Sources of a class, cut to a prefix, and their buckets.
 */

/**
 * struct synq_aggregates - the buckets of the sources of one class
 * @start: SipHash's state before any data; its key is random, so that an attacker
 *	cannot choose a set of @table
 * @table: the buckets
 * @mask4: the bits of an IPv4 address that make a source
 * @mask6: the same of an IPv6 address, network order
 * @refs: one for each finished configuration with this class
 */
struct synq_aggregates {
	u64 start[4];
	struct synq_source_table table;
	__be32 mask4;
	u64 mask6[2];
	refcount_t refs;
};

int synq_aggregate_attach(struct synq_conf *conf, const struct synq_conf *old);
void synq_aggregate_put(struct synq_aggregates *aggregates);
bool synq_aggregate_get(const struct synq_aggregates *aggregates,
			const struct synq_source_rate *rate, u32 index,
			u64 now_ns, struct synq_source_state *state);
bool synq_aggregate_is_v4(const struct synq_source *source);

/*
 * SipHash-1-3, keyed; inline, since each SYN of a flood needs it.  It is made for tables
 * with keys from outside: all that can be found out is which addresses share a bucket.
 * The length is not hashed: there are one or two words, by the family.
 */
static __always_inline u64
synq_aggregate_siphash(const struct synq_aggregates *aggregates, bool is_v6,
		       u64 first, u64 second)
{
	const u64 *start = aggregates->start;
	u64 v0 = start[0], v1 = start[1], v2 = start[2], v3 = start[3];

	v3 ^= first;
	SIPHASH_PERMUTATION(v0, v1, v2, v3);
	v0 ^= first;
	if (is_v6) {
		v3 ^= second;
		SIPHASH_PERMUTATION(v0, v1, v2, v3);
		v0 ^= second;
	}
	v2 ^= 0xff;
	SIPHASH_PERMUTATION(v0, v1, v2, v3);
	SIPHASH_PERMUTATION(v0, v1, v2, v3);
	SIPHASH_PERMUTATION(v0, v1, v2, v3);
	return v0 ^ v1 ^ v2 ^ v3;
}

/**
 * synq_aggregate_hash4() - the hash of the source that an IPv4 address belongs to
 * @aggregates: of its class
 * @addr: the address
 *
 * Return: as in &struct synq_source
 */
static __always_inline u64
synq_aggregate_hash4(const struct synq_aggregates *aggregates, __be32 addr)
{
	return synq_aggregate_siphash(aggregates, false,
				      (__force u32)(addr & aggregates->mask4),
				      0);
}

/**
 * synq_aggregate_hash6() - the same of an IPv6 address that is not IPv4-mapped
 * @aggregates: of its class
 * @addr: 16 bytes
 *
 * Return: as in &struct synq_source; of a mapped address what no source has
 */
static __always_inline u64
synq_aggregate_hash6(const struct synq_aggregates *aggregates,
		     const void *addr)
{
	u64 first, second;

	memcpy(&first, addr, sizeof(first));
	memcpy(&second, addr + sizeof(first), sizeof(second));
	return synq_aggregate_siphash(aggregates, true,
				      first & aggregates->mask6[0],
				      second & aggregates->mask6[1]);
}

/**
 * synq_aggregate_places() - for how many sources is there room?
 * @aggregates: of a class
 *
 * Return: their number
 */
static inline u32
synq_aggregate_places(const struct synq_aggregates *aggregates)
{
	return (aggregates->table.mask + 1) * SYNQ_SOURCE_WAYS;
}

enum synq_source_answer synq_policer_ask(struct synq_net *sn,
					 const struct synq_class *class,
					 bool is_v6, const void *addr,
					 u64 now_ns);
enum synq_source_answer synq_policer_take(struct synq_net *sn,
					  const struct synq_class *class,
					  const struct synq_client *client,
					  u64 now_ns, bool *stray);

#endif /* _SYNQ_POLICER_H */
