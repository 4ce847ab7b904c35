/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clients, a server and its queues, simulated.  See admission_world.c.
 */
#ifndef _SYNQ_BENCH_ADMISSION_WORLD_H
#define _SYNQ_BENCH_ADMISSION_WORLD_H

#include <linux/types.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../module/test/tap.h"

#define RAMP		5.0	/* s, not looked at */

enum rule { STOCK, GATE, HASH, SYNQ, LAWS };

/**
 * struct scenario - a server, its clients, and what must hold with synq
 * @ordinary: connections/second
 * @preferred: likewise
 * @later: s: so much they come after the ordinary
 * @spoofed: SYNs/second
 * @surge: of the ordinary, by third of the time; 0: 1
 * @crowd: ordinary clients that come at once
 * @crowd_every: s
 * @stall: s: so long nothing happens
 * @stall_every: s
 * @wave: s: SYNs are sent again at multiples of it; 0: whenever they are due
 * @doubles: SYNs are sent again after 1, 3 and 7 s
 * @rtt: s
 * @jitter: of it, 0..1
 * @spread: of the time of service, 0..1
 * @capacity: connections/second, by third of the time
 * @max_wait: s
 * @goodput_min: of what could be served
 * @refused_max: of ordinary SYNs
 * @settled: s: from then on, if not 0, ...
 * @late_max: ... of ordinary SYNs
 * @held_max: of connections
 * @held_s: s: for so long at p99
 * @preferred_min: of them, in time
 * @overtaken_max: of the preferred, by their like
 * @cookies: may go to the preferred, too: the queues are short
 */
struct scenario {
	const char *name;
	double ordinary;
	double preferred;
	double later;
	double spoofed;
	double surge[3];
	unsigned int crowd;
	double crowd_every;
	double stall;
	double stall_every;
	double wave;
	bool doubles;
	double rtt;
	double jitter;
	unsigned int backlog;
	unsigned int workers;
	double spread;
	double capacity[3];
	double seconds;
	double max_wait;
	double goodput_min;
	double refused_max;
	double settled;
	double late_max;
	double held_max;
	double held_s;
	double preferred_min;
	double overtaken_max;
	bool cookies;
};

/* Sources of SYNs; each has random numbers of its own. */
enum source { PREFERRED, ORDINARY, SPOOFED, CROWD, OTHER, SOURCES };

struct client {
	double born;
	bool preferred;
	double synced;		/* when the SYN was let through */
	double connected;	/* when its final ACK came first */
	double answered;	/* 0: not in time */
	bool cookie;		/* it would get one */
	bool held;
	double hash;		/* 0..1 */
};

struct fifo {
	int *client;
	unsigned int head, tail;
};

struct run {
	const struct scenario *s;
	enum rule law;
	u64 seed;
	double now;
	u64 random[SOURCES];
	double due[CROWD];	/* when the next one comes, by source */
	struct event *heap;
	unsigned int events, room, order;
	struct client *client;
	unsigned int clients, client_room;
	struct fifo queue[2];	/* preferred, ordinary */
	struct fifo hold[2];
	unsigned int held[2];
	unsigned int busy;

	struct model *model;
	unsigned int half_open;
	unsigned int departed;	/* since the last sample */
	double chosen;		/* part of the connections, by HASH */

	/* figures */
	unsigned int in_time, wasted, promoted, put_off, expired, overflows;
	unsigned int cookies;
	unsigned int syns, refused, preferred, preferred_in_time;
	unsigned int late_syns, late_refused;	/* once settled */
	double *latency;	/* of the preferred */
	double *delay;		/* of the ordinary in time */
	double *held_for;
	unsigned int delays, releases;
	double wait_max;	/* of the ordinary, in the queue */
};

void simulate(struct run *r);
void release_all(struct run *r);
double surge(const struct scenario *s, unsigned int third);

#endif /* _SYNQ_BENCH_ADMISSION_WORLD_H */
