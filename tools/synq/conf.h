/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A whole configuration, as a file or the kernel has it.
 */
#ifndef SYNQ_CONF_H
#define SYNQ_CONF_H

#include "edit.h"
#include "prefixes.h"
#include "table.h"

/* Default reserve of the first class, per cent of the backlog. */
#define SYNQ_RESERVE_FIRST	25

/* The built-in classes stand in the first two slots. */
#define SLOT_LOCAL	0
#define SLOT_DEFAULT	1
#define SLOTS		(SYNQ_CLASSES_MAX + 2)

/**
 * struct class - a class
 * @spec: name and options; no name: the slot is free
 * @builtin: exists without configuration
 * @line: where it was last written; classes from the kernel have 0
 * @matches: matches that name it
 * @reserve: per cent in force, as the kernel says
 * @burst: SYNs in force, as the kernel says
 * @source_burst: SYNs of a source in force, as the kernel says
 * @net_burst: SYNs of a network in force, as the kernel says
 * @max_wait: ms in force, or SYNQ_MAX_WAIT_NONE, as the kernel says
 * @order: place in the order of service, from 1; 0: not from the kernel
 */
struct class {
	struct class_spec spec;
	bool builtin;
	unsigned int line;
	__u32 matches;
	__u32 reserve;
	__u32 burst;
	__u32 source_burst;
	__u32 net_burst;
	__u32 max_wait;
	unsigned int order;
};

/**
 * struct listener - a listener
 * @spec: port and options
 * @line: where it was written, or 0
 * @sockets: sockets that the kernel manages for it
 * @inside_limit: how many connections they may have inside together now
 */
struct listener {
	struct listener_spec spec;
	unsigned int line;
	__u32 sockets;
	__u32 inside_limit;
};

/**
 * struct forward - destinations on other hosts for which SYNs are policed
 * @service: the destinations; no port: the place is free
 * @line: where it was written, or 0
 */
struct forward {
	struct service service;
	unsigned int line;
};

/* All destinations have the first slot, which is always in use. */
#define SERVICE_ALL	0
#define SERVICES	(SYNQ_SERVICES_MAX + 1)

/**
 * struct scope - destinations that matches are for
 * @service: the destinations
 * @line: where they were first written, or 0
 * @matches: how many are for them; 0: the slot is free
 * @slot: only for sorting
 */
struct scope {
	struct service service;
	unsigned int line;
	__u32 matches;
	__u8 slot;
};

/**
 * struct conf - a configuration
 * @file: where it was read from, or NULL
 * @generation: its number in the kernel
 * @mask: mark mask, or 0
 * @mask_line: where it was written, or 0
 * @observe: count what would be done, and do nothing ("set enforce off")
 * @observe_line: where it was written, or 0
 * @class: classes; a free slot has no name
 * @classes: configured ones
 * @served: classes that the kernel named, the built-in ones included
 * @listener: listeners, in no order
 * @listeners: how many there are
 * @forward: services of other hosts; a free place has no port
 * @forwards: how many there are
 * @scope: destinations of matches, unless @light
 * @matches: matches, unless @light
 * @list: files of prefixes
 * @lists: how many there are
 * @preferred: how often a prefix has the class of a line with "prefer", not of another
 * @preferred_first: the line with "prefer" of the first of them
 * @strict: refuse a file without prefixes
 * @light: the matches were not fetched, only counted in the classes
 * @unknown: and have been edited, so that the classes may have others
 */
struct conf {
	const char *file;
	__u32 generation;
	__u32 mask;
	unsigned int mask_line;
	bool observe;
	unsigned int observe_line;
	struct class class[SLOTS];
	unsigned int classes;
	unsigned int served;
	struct listener listener[SYNQ_LISTENERS_MAX];
	unsigned int listeners;
	struct forward forward[SYNQ_FORWARDS_MAX];
	unsigned int forwards;
	struct scope scope[SERVICES];
	struct table matches;
	struct list *list;
	unsigned int lists;
	unsigned int preferred;
	struct edit preferred_first;
	bool strict;
	bool light;
	bool unknown;
};

/* The packet mark for a value under a mask. */
static inline __u32 mark_shifted(__u32 mask, __u32 value)
{
	return value * (mask & -mask);
}

/* conf.c */
void conf_init(struct conf *conf, const char *file);
void conf_clear(struct conf *conf);
struct class *conf_class(struct conf *conf, const char *name);
struct class *conf_free_class(struct conf *conf);
struct listener *conf_listener(struct conf *conf, __u32 port);
struct scope *conf_scope(struct conf *conf, const struct service *service);
struct scope *conf_free_scope(struct conf *conf);
struct origin conf_match_origin(const struct conf *conf,
				const struct match *match);
int conf_edit(struct conf *conf, const struct edit *edit);
unsigned int conf_sorted_classes(const struct conf *conf,
				 const struct class **sorted);
unsigned int conf_served_classes(const struct conf *conf,
				 const struct class **sorted);
int destination_order(const struct service *a, const struct service *b);
void conf_sort(struct conf *conf);

/* check.c */
int conf_check(const struct conf *conf);
int conf_check_sysctl(const struct conf *conf);
bool conf_judges(const struct conf *conf, const struct service *service);
void conf_note_unjudged(const struct service *service);
void conf_notes(const struct conf *conf);

/* file.c */
int conf_read(struct conf *conf, const char *name, bool strict);

#endif /* SYNQ_CONF_H */
