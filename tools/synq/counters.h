/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of the kernel module, as stats, stats --prometheus and top read them.
 */
#ifndef SYNQ_COUNTERS_H
#define SYNQ_COUNTERS_H

#include <stdbool.h>

#include <linux/synq.h>
#include <linux/types.h>

struct nl;

/* No counters of the kernel: seen less retries; seen less those that a rule classified. */
#define COUNTER_FIRST_TRIES	0
#define COUNTER_BY_DEFAULT	(SYNQ_A_COUNTERS_MAX + 1)

#define COUNTERS	78
#define NET_COUNTERS	7

/* A distribution: its longest and its shortest times are these many counters apart. */
#define TIMES		8

/* Not port numbers: forwarded SYNs, and all listeners together. */
#define PORT_FORWARD	0
#define PORT_ALL	65536

/**
 * struct counter - a counter, in the order in which they are shown
 * @type: of the attribute, SYNQ_A_COUNTERS_* or SYNQ_A_CONF_*
 * @key: its name in JSON
 * @heading: its name in a table
 */
struct counter {
	unsigned int type;
	const char *key;
	const char *heading;
};

/**
 * struct row - a pair of listener and class
 * @port: local port, PORT_FORWARD or PORT_ALL
 * @class: name of the class
 * @value: of each counter, by its type
 */
struct row {
	unsigned int port;
	char class[SYNQ_NAME_MAX + 1];
	__u64 value[COUNTER_BY_DEFAULT + 1];
};

/**
 * struct port_now - a listener as it is now
 * @port: local port
 * @sockets: that are managed
 * @inside: how many connections its server may work on, as configured; 0: any number
 * @limit: how many that is now
 * @observe: enforce is off
 */
struct port_now {
	unsigned int port;
	__u32 sockets;
	__u32 inside;
	__u32 limit;
	bool observe;
};

/**
 * struct stats - what is shown
 * @class: only this class, or NULL
 * @port: only this listener, or 0
 * @row: the rows, in the order of the kernel: by listener, of each the classes in the
 *	order in which they are served
 * @rows: how many
 * @room: for how many there is memory
 * @listener: those that are configured
 * @listeners: how many
 * @net: counters of the network namespace
 * @sockets: managed now
 * @matches: in force
 * @indexed: of those, found by an index
 * @generation: of the configuration
 * @confirm_left: seconds until it is rolled back, or 0
 * @bypass: switched off
 * @observe: "set enforce off"
 */
struct stats {
	const char *class;
	__u32 port;
	struct row *row;
	unsigned int rows;
	unsigned int room;
	struct port_now *listener;
	unsigned int listeners;
	__u64 net[NET_COUNTERS];
	__u32 sockets;
	__u32 matches;
	__u32 indexed;
	__u32 generation;
	__u32 confirm_left;
	bool bypass;
	bool observe;
};

/* counters.c */
extern const struct counter counters[COUNTERS];
extern const struct counter net_counters[NET_COUNTERS];
struct row *stats_row(struct stats *stats);
const struct port_now *stats_listener(const struct stats *stats,
				      unsigned int port);
int stats_fetch(struct nl *nl, struct stats *stats);
void stats_clear(struct stats *stats);

/* stats.c */
void stats_json(const struct stats *stats);

/* metrics.c */
void stats_prometheus(const struct stats *stats);

#endif /* SYNQ_COUNTERS_H */
