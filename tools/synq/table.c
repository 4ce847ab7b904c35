// SPDX-License-Identifier: GPL-2.0
/*
 * The matches of a configuration: prefix and service to class.
 *
 * A chained hash over one growing array, so that a file of a million lines is
 * checked for duplicates in linear time.  No input comes from a network, so the
 * hash is not keyed.
 */
#include <stdlib.h>
#include <string.h>

#include "table.h"

#define ROOM_FIRST	1024

static __u32 hash(const struct prefix *prefix, __u8 service, __u32 room)
{
	__u64 high, low;

	memcpy(&high, prefix->address, 8);
	memcpy(&low, prefix->address + 8, 8);
	high = (high ^ prefix->family ^ (prefix->length << 8) ^
		((__u64)service << 16)) *
	       0x9e3779b97f4a7c15ULL;
	high ^= high >> 32;
	high = (high ^ low) * 0xbf58476d1ce4e5b9ULL;
	high ^= high >> 29;
	return high & (room - 1);	/* room is a power of two */
}

static void chain(struct table *table, __u32 i)
{
	__u32 *head = &table->bucket[hash(&table->match[i].prefix,
					  table->match[i].service,
					  table->room)];

	table->match[i].next = *head;
	*head = i + 1;
}

static void chain_all(struct table *table)
{
	__u32 i;

	memset(table->bucket, 0, table->room * sizeof(*table->bucket));
	for (i = 0; i < table->number; i++)
		chain(table, i);
}

static void grow(struct table *table)
{
	table->room = table->room ? 2 * table->room : ROOM_FIRST;
	table->match = allocate(table->match, table->room,
				sizeof(*table->match));
	table->bucket = allocate(table->bucket, table->room,
				 sizeof(*table->bucket));
	chain_all(table);
}

static bool same(const struct prefix *a, const struct prefix *b)
{
	return a->family == b->family && a->length == b->length &&
	       !memcmp(a->address, b->address, sizeof(a->address));
}

/**
 * table_find() - find the match of exactly one prefix
 * @table: the matches
 * @prefix: the prefix
 * @service: of this service
 *
 * Return: the match, valid until the next change of the table, or NULL.
 */
struct match *table_find(const struct table *table,
			 const struct prefix *prefix, __u8 service)
{
	__u32 i;

	if (!table->room)
		return NULL;
	i = table->bucket[hash(prefix, service, table->room)];
	while (i && (table->match[i - 1].service != service ||
		     !same(&table->match[i - 1].prefix, prefix)))
		i = table->match[i - 1].next;
	return i ? &table->match[i - 1] : NULL;
}

/**
 * table_add() - add a match for a prefix that has none
 * @table: the matches
 * @prefix: the prefix
 * @service: of this service
 *
 * Return: the match, for the caller to fill in.
 */
struct match *table_add(struct table *table, const struct prefix *prefix,
			__u8 service)
{
	struct match *match;

	if (table->number == table->room)
		grow(table);
	match = &table->match[table->number];
	memset(match, 0, sizeof(*match));
	match->prefix = *prefix;
	match->service = service;
	chain(table, table->number++);
	return match;
}

/* The link that points to place @i. */
static __u32 *link_to(struct table *table, __u32 i)
{
	__u32 *link = &table->bucket[hash(&table->match[i].prefix,
					  table->match[i].service,
					  table->room)];

	while (*link != i + 1)
		link = &table->match[*link - 1].next;
	return link;
}

/**
 * table_del() - take a match out
 * @table: the matches
 * @match: the match; another may stand in its place afterwards
 */
void table_del(struct table *table, struct match *match)
{
	__u32 i = match - table->match;
	__u32 last;

	*link_to(table, i) = match->next;
	last = --table->number;
	if (i == last)
		return;
	*link_to(table, last) = i + 1;
	*match = table->match[last];
}

/**
 * table_clear() - take all matches out and give the memory back
 * @table: the matches
 */
void table_clear(struct table *table)
{
	free(table->match);
	free(table->bucket);
	memset(table, 0, sizeof(*table));
}

/**
 * prefix_order() - the order in which prefixes are printed
 * @a: a prefix
 * @b: another
 *
 * IPv4 before IPv6, then by address, then the shorter first.
 *
 * Return: less than, equal to or greater than 0.
 */
int prefix_order(const struct prefix *a, const struct prefix *b)
{
	int order;

	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	order = memcmp(a->address, b->address, sizeof(a->address));
	return order ? order : (int)a->length - (int)b->length;
}

static int match_order(const void *a, const void *b)
{
	const struct match *one = a, *two = b;

	if (one->service != two->service)
		return (int)one->service - (int)two->service;
	return prefix_order(&one->prefix, &two->prefix);
}

/**
 * table_sort() - bring the matches into the order in which they are printed
 * @table: the matches; the slots of their services are in order
 */
void table_sort(struct table *table)
{
	if (!table->number)
		return;
	qsort(table->match, table->number, sizeof(*table->match), match_order);
	chain_all(table);
}
