/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The matches of a configuration: prefix and service to class, up to SYNQ_MATCHES_MAX.
 */
#ifndef SYNQ_TABLE_H
#define SYNQ_TABLE_H

#include "value.h"

/**
 * struct match - a match
 * @prefix: half of the key
 * @service: the other half: slot of the destinations in struct conf
 * @class: slot of the class in struct conf
 * @prefer: what lines without "prefer" say of it does not count
 * @timeout: seconds that are left; 0: it stays
 * @list: number of the file of prefixes where it was written; 0: none
 * @line: where it was written, or 0
 * @next: the next in the same bucket, as index + 1; 0 ends the chain
 */
struct match {
	struct prefix prefix;
	__u8 service;
	__u8 class;
	bool prefer;
	__u16 list;
	__u32 timeout;
	__u32 line;
	__u32 next;
};

/**
 * struct table - all matches
 * @match: the matches, in no order
 * @number: how many there are
 * @room: for how many there is memory
 * @bucket: heads of the chains, as index + 1; one for each place in @match
 */
struct table {
	struct match *match;
	__u32 number;
	__u32 room;
	__u32 *bucket;
};

/* table.c */
struct match *table_find(const struct table *table,
			 const struct prefix *prefix, __u8 service);
struct match *table_add(struct table *table, const struct prefix *prefix,
			__u8 service);
void table_del(struct table *table, struct match *match);
void table_clear(struct table *table);
int prefix_order(const struct prefix *a, const struct prefix *b);
void table_sort(struct table *table);

#endif /* SYNQ_TABLE_H */
