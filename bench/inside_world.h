/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Servers that accept everything and queue inside, and their clients, simulated.
 * See inside_world.c.
 */
#ifndef _SYNQ_BENCH_INSIDE_WORLD_H
#define _SYNQ_BENCH_INSIDE_WORLD_H

#include <linux/types.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "climb.h"
#include "tap.h"

#define TICK		.001	/* s */
#define SAMPLE		10	/* ticks, of figures that are kept */
#define STEP		(SAMPLE * TICK)

/* How the work of a request is distributed. */
enum work { EVEN, EXPONENTIAL, BIMODAL, PARETO };

#define LISTENERS_MAX	2

enum rule { NONE, VEGAS, GRADIENT2, BBR, SLOPE, CLIMB, FIXED, KNEE };

/**
 * struct cell - a server, its clients, and what must hold with the law of climb.c
 * @workers: requests that it can work on
 * @work_s: of a request, on average
 * @work: its distribution
 * @shared: the workers are CPUs, which all requests share; else each request waits for a
 *	worker of its own
 * @children: if not 0: at most so many requests share them, and the others queue
 * @io_s: so long a request waits for something else first, without a worker
 * @way_s: so long it takes from the module to a worker, on average
 * @tail_s: so long a worker is busy after the answer, on average
 * @thrash: everything takes so much longer with twice as many inside as at the knee
 * @load: of ordinary clients, of the capacity
 * @preferred: likewise, from 5 s on
 * @pulse_s: if not 0: ordinary clients come for so long, ...
 * @pause_s: ... and then none for so long
 * @clients: if not 0: so many ordinary clients come back at once, instead of @load
 * @kept: so many other ordinary clients keep their connections and ask again at once; they
 *	are not held back
 * @kept_until: s: then these leave; 0: they stay
 * @listeners: if not 0: clients come to so many of one process, in turns
 * @aborts: the server closes when a client leaves, though it goes on with the work; else it
 *	answers as ever
 * @halves: from 20 s on so many ordinary clients a second send half a request, and leave as soon
 *	as that counts
 * @patience: s: a client leaves so long after it came; 0: 5 s
 * @max_wait: s: an ordinary client that would wait for longer is refused
 * @change_at: s: from then on ...
 * @heavier: ... a request is so many times the work
 * @more: ... there are so many times the workers
 * @wave_s: s: the work changes by @heavier so often, instead of once
 * @blind_s: s: so long no answer is seen
 * @stall_s: s: so long the server does nothing, ...
 * @stall_every: ... s
 * @seconds: how long clients come
 * @warm: s, not looked at
 * @share_min: goodput, of that with the best fixed limit; 0: not checked
 * @least: least median of the limit, times the knee
 * @most: largest
 * @preferred_min: of the preferred, those that are answered in time
 * @adapt_s: most that it takes to adapt to the change
 */
struct cell {
	const char *name;
	unsigned int workers;
	double work_s;
	enum work work;
	bool shared;
	unsigned int children;
	double io_s;
	double way_s;
	double tail_s;
	double thrash;
	double load;
	double preferred;
	double pulse_s;
	double pause_s;
	unsigned int clients;
	unsigned int kept;
	double kept_until;
	unsigned int listeners;
	bool aborts;
	double halves;
	double patience;
	double max_wait;
	double change_at;
	double heavier;
	double more;
	double wave_s;
	double blind_s;
	double stall_s;
	double stall_every;
	double seconds;
	double warm;
	double share_min;
	double preferred_min;
	double least;
	double most;
	double adapt_s;
};

/* What the module knows of a request. */
enum state { OUTSIDE, BUSY, GIVEN_UP, LEFT, ANSWERED };

/* Sources of random numbers. */
enum source { PREFERRED, ORDINARY, WORK, SOURCES };

struct job {
	double born;
	double began;
	double work;
	u8 class;		/* 0 preferred, 1 ordinary */
	u8 listener;
	bool kept;
	bool half;
	u8 tries;
	u8 state;
};

struct fifo {
	int *job;
	unsigned int head, tail, room;
};

/* Of requests that share CPUs, by the work that was done for each when they are done. */
struct share {
	double done;
	int job;
};

/* The mean of some values, and when it was taken. */
struct sample {
	double at, value, other;
};

/* What the module knows at one listener. */
struct listener {
	struct fifo held[2];
	unsigned int open[2];	/* let in and not answered, as far as seen */
	unsigned int kept;	/* likewise, of those that are not held back */
	double mean;		/* time that they take */
	double limit;
	bool holds;		/* connections, at the last tick */
	double ticked;		/* while it held some */
	double silent_since;	/* the last answer, or nobody was inside */
	double reached;		/* the latest that was answered was let in then */
};

/* A law that was published, or the one of the first simulation. */
struct rival {
	double sum, since, longest, base, age, skip;
	unsigned int n, phase, ticks, full, most;
	bool fast;
	double rate[2], at[2];
	struct sample *window;
	unsigned int head, tail, room;
};

struct run {
	const struct cell *c;
	enum rule rule;
	double fixed;		/* limit of FIXED, or knees of KNEE */
	u64 seed;
	double now;
	u64 random[SOURCES];
	struct event *heap;
	unsigned int events, heap_room, order;
	struct job *job;
	unsigned int jobs, job_room;
	struct listener listener[LISTENERS_MAX];
	unsigned int listeners, turn;
	struct synq_climb climb;

	/* the server */
	unsigned int busy;	/* workers */
	struct fifo queue;
	struct share *share;
	unsigned int shares, share_room;
	double virtual, virtual_at, share_due;

	struct fifo left;	/* times of answers, us */
	double rate;

	struct rival rival;

	/* figures */
	unsigned int in_time, refused;
	unsigned int came[2], ok[2];
	double *latency;	/* of the preferred in time */
	float *limits;		/* one a STEP */
	unsigned int *all;	/* answers, likewise */
	unsigned int samples;
	unsigned int ticks;
};

void simulate(struct run *r);
void release_all(struct run *r);
double patience(const struct cell *c);
double capacity(const struct cell *c, double when);
double offered(const struct cell *c);
double work_s(const struct cell *c, double when);
double knee(const struct cell *c, double when);

/* inside_rivals.c */
void rival_init(struct run *r);
void rival_tick(struct run *r);
void rival_done(struct run *r, double took);

#endif /* _SYNQ_BENCH_INSIDE_WORLD_H */
