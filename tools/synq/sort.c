// SPDX-License-Identifier: GPL-2.0
/*
 * The order in which what is configured is printed and saved, and that in which
 * classes are served.
 */
#include <stdlib.h>

#include "conf.h"

static int class_order(const void *a, const void *b)
{
	const struct class *one = *(const struct class * const *)a;
	const struct class *two = *(const struct class * const *)b;

	if (one->spec.priority != two->spec.priority)
		return one->spec.priority < two->spec.priority ? -1 : 1;
	return one < two ? -1 : 1;
}

/**
 * conf_sorted_classes() - the configured classes, the first one first
 * @conf: the configuration
 * @sorted: room for SLOTS pointers
 *
 * Return: the number of configured classes.
 */
unsigned int conf_sorted_classes(const struct conf *conf,
				 const struct class **sorted)
{
	unsigned int number = 0;
	unsigned int i;

	for (i = 0; i < SLOTS; i++) {
		if (conf->class[i].spec.name[0] && !conf->class[i].builtin)
			sorted[number++] = &conf->class[i];
	}
	qsort(sorted, number, sizeof(*sorted), class_order);
	return number;
}

static int service_order(const void *a, const void *b)
{
	const struct class *one = *(const struct class * const *)a;
	const struct class *two = *(const struct class * const *)b;

	return one->order < two->order ? -1 : 1;
}

/**
 * conf_served_classes() - all classes of the kernel, in the order of service
 * @conf: the configuration, from the kernel
 * @sorted: room for SLOTS pointers
 *
 * Return: the number of classes, the built-in ones included.
 */
unsigned int conf_served_classes(const struct conf *conf,
				 const struct class **sorted)
{
	unsigned int number = 0;
	unsigned int i;

	for (i = 0; i < SLOTS; i++) {
		if (conf->class[i].order)
			sorted[number++] = &conf->class[i];
	}
	qsort(sorted, number, sizeof(*sorted), service_order);
	return number;
}

static int listener_order(const void *a, const void *b)
{
	__u32 one = ((const struct listener *)a)->spec.port;
	__u32 two = ((const struct listener *)b)->spec.port;

	return one < two ? -1 : one > two;
}

/**
 * destination_order() - the order in which destinations are printed
 * @a: destinations of a match
 * @b: others
 *
 * Those of any address first, then by address; of the same, those of any port first,
 * then by port.
 *
 * Return: less than, equal to or greater than 0.
 */
int destination_order(const struct service *a, const struct service *b)
{
	int order = prefix_order(&a->to, &b->to);

	if (!order)
		order = (int)a->first - (int)b->first;
	return order ? order : (int)a->last - (int)b->last;
}

/* Free places come last. */
static int forward_order(const void *a, const void *b)
{
	const struct service *one = &((const struct forward *)a)->service;
	const struct service *two = &((const struct forward *)b)->service;

	if (!one->first || !two->first)
		return !one->first - !two->first;
	return destination_order(one, two);
}

/* Free slots come last. */
static int scope_order(const void *a, const void *b)
{
	const struct scope *one = a, *two = b;

	if (!one->matches || !two->matches)
		return !one->matches - !two->matches;
	return destination_order(&one->service, &two->service);
}

static void sort_scopes(struct conf *conf)
{
	struct match *match = conf->matches.match;
	__u8 now[SERVICES] = { 0 };
	__u32 i;

	for (i = 0; i < SERVICES; i++)
		conf->scope[i].slot = i;
	qsort(conf->scope + 1, SERVICES - 1, sizeof(*conf->scope),
	      scope_order);
	for (i = 0; i < SERVICES; i++)
		now[conf->scope[i].slot] = i;
	for (i = 0; i < conf->matches.number; i++)
		match[i].service = now[match[i].service];
}

/**
 * conf_sort() - bring matches, listeners and services into the order of "save"
 * @conf: the configuration
 */
void conf_sort(struct conf *conf)
{
	sort_scopes(conf);
	qsort(conf->forward, SYNQ_FORWARDS_MAX, sizeof(*conf->forward),
	      forward_order);
	table_sort(&conf->matches);
	qsort(conf->listener, conf->listeners, sizeof(*conf->listener),
	      listener_order);
}
