/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Servers and clients for inside_sim.c, and what must hold for them with climb.c; and
 * others at random.
 */
#ifndef _SYNQ_BENCH_INSIDE_CELLS_H
#define _SYNQ_BENCH_INSIDE_CELLS_H

#include "inside_world.h"

#pragma GCC diagnostic ignored "-Woverride-init"

#define POOL .workers = 64, .work_s = .1, .load = 4, .preferred = .05, .max_wait = .3, \
	.seconds = 60, .warm = 10, .share_min = .95, .least = 1, .most = 4, \
	.adapt_s = 10

#define CPUS POOL, .shared = true

/* For IPv4 and IPv6; at most so many processes share a CPU. */
#define TWO .listeners = 2, .aborts = true, .children = 64

/* As measured: a few ms pass until a worker has a request, and until it takes the next. */
#define REAL POOL, .workers = 4, .work_s = .02, .way_s = .002, .tail_s = .001

/*
 * The first 17 are those of the first simulation.  Where less than 0.95 is asked for: a
 * server of some hundred workers that take a second is found after 12 s, and after a change
 * as slowly; of one with a few slow workers an epoch says too little, or clients leave
 * first, and each lower limit that is tried costs seconds; one that thrashes, or answers late,
 * pays for each connection above the knee, as the reserve is; where many ask whom the limit does
 * not hold back, those who are held come in late; where the mix of requests changes as fast
 * as it looks, it follows what was; and of two listeners each sees only half of the answers.
 */
static const struct cell cells[] = {
	{ POOL, .name = "pool 4, 40 ms", .workers = 4, .work_s = .04 },
	{ POOL, .name = "pool 4, exp", .workers = 4, .work_s = .04, .work = EXPONENTIAL,
	  .most = 6 },
	{ POOL, .name = "pool 64, 0.1 s" },
	{ POOL, .name = "pool 64, exp", .work = EXPONENTIAL },
	{ POOL, .name = "pool 64, bimodal", .work = BIMODAL },
	{ POOL, .name = "pool 64, pareto", .work = PARETO },
	{ CPUS, .name = "cpu 2, 20 ms", .workers = 2, .work_s = .02 },
	{ CPUS, .name = "cpu 2, exp", .workers = 2, .work_s = .02, .work = EXPONENTIAL },
	{ CPUS, .name = "cpu 16, 5 ms bimodal", .workers = 16, .work_s = .02, .work = BIMODAL },
	{ CPUS, .name = "cpu 2 behind 0.1 s of I/O", .workers = 2, .work_s = .005,
	  .work = EXPONENTIAL, .io_s = .1 },
	{ POOL, .name = "pool 300, 1 s", .workers = 300, .work_s = 1, .work = EXPONENTIAL,
	  .share_min = .88 },
	{ POOL, .name = "pool 64, requests 3x heavier from 30 s on", .work = EXPONENTIAL,
	  .change_at = 30, .heavier = 3, .seconds = 70 },
	{ CPUS, .name = "cpu 2, lighter from 30 s on", .workers = 2, .work_s = .03,
	  .change_at = 30, .heavier = .3 },
	{ POOL, .name = "pool 64, load 1.5", .work = EXPONENTIAL, .load = 1.5 },
	{ POOL, .name = "pool 64, load 0.8", .work = EXPONENTIAL, .load = .8,
	  .least = 0, .most = INFINITY },
	{ CPUS, .name = "cpu 2 behind I/O, load 0.8", .workers = 2, .work_s = .005,
	  .work = EXPONENTIAL, .io_s = .1, .load = .8, .least = 0, .most = INFINITY },
	{ POOL, .name = "pool 1, 14 ms", .workers = 1, .work_s = .014 },

	{ POOL, .name = "pool 16, then 64", .workers = 16, .work = EXPONENTIAL, .load = 8,
	  .change_at = 30, .more = 4 },
	{ POOL, .name = "pool 64, then 16", .work = EXPONENTIAL, .load = 2,
	  .change_at = 30, .more = .25 },
	{ CPUS, .name = "cpu 2, then 8", .workers = 2, .work_s = .02, .work = EXPONENTIAL,
	  .load = 8, .change_at = 30, .more = 4, .share_min = .87 },
	{ CPUS, .name = "cpu 8, then 2", .workers = 8, .work_s = .02, .work = EXPONENTIAL,
	  .load = 2, .change_at = 30, .more = .25 },
	{ CPUS, .name = "cpu 2 behind I/O, 4x lighter", .workers = 2, .work_s = .02,
	  .work = EXPONENTIAL, .io_s = .1, .load = 8, .change_at = 30, .heavier = .25 },
	{ CPUS, .name = "cpu 2 behind I/O, 4x heavier", .workers = 2, .work_s = .005,
	  .work = EXPONENTIAL, .io_s = .1, .load = 2, .change_at = 30, .heavier = 4 },
	{ POOL, .name = "pool 64, 4x heavier", .work = EXPONENTIAL, .load = 2,
	  .change_at = 30, .heavier = 4 },
	{ POOL, .name = "pool 300, 1 s, even", .workers = 300, .work_s = 1, .share_min = .82 },
	{ POOL, .name = "pool 300, then 75", .workers = 300, .work_s = 1,
	  .work = EXPONENTIAL, .change_at = 30, .more = .25, .load = 2, .adapt_s = 25 },
	{ POOL, .name = "pool 75, then 300", .workers = 75, .work_s = 1,
	  .work = EXPONENTIAL, .change_at = 30, .more = 4, .load = 6, .adapt_s = 15 },
	{ POOL, .name = "pool 4, bimodal", .workers = 4, .work_s = .04, .work = BIMODAL },
	{ POOL, .name = "pool 4, bimodal, slow", .workers = 4, .work_s = .2, .work = BIMODAL,
	  .seconds = 120, .warm = 20, .share_min = .82, .most = 7 },
	{ POOL, .name = "pool 8, the mix changes every 3 s", .workers = 8, .work_s = .05,
	  .work = EXPONENTIAL, .heavier = 3, .wave_s = 3, .share_min = .88 },
	{ POOL, .name = "pool 64, blind for 8 s", .work = EXPONENTIAL, .blind_s = 8,
	  .seconds = 70, .warm = 20 },
	{ POOL, .name = "pool 4, blind for 8 s", .workers = 4, .work_s = .04,
	  .work = EXPONENTIAL, .blind_s = 8, .seconds = 110, .warm = 50 },
	{ POOL, .name = "pool 64, stalls of 2 s", .work = EXPONENTIAL, .stall_s = 2,
	  .stall_every = 20, .seconds = 80 },
	{ POOL, .name = "pool 64, stalls of 0.1 s", .work = EXPONENTIAL, .stall_s = .1,
	  .stall_every = 1 },
	{ POOL, .name = "pool 300, 100 clients", .workers = 300, .work_s = 1,
	  .work = EXPONENTIAL, .clients = 100, .least = 0, .most = INFINITY },
	{ POOL, .name = "pool 64, 80 clients", .work = EXPONENTIAL, .clients = 80 },
	{ POOL, .name = "pool 4, 50 kept", .workers = 4, .work_s = .04, .work = EXPONENTIAL,
	  .kept = 50, .share_min = .88, .least = 1, .most = 15 },
	{ POOL, .name = "pool 300, 50 kept", .workers = 300, .work_s = .2,
	  .work = EXPONENTIAL, .kept = 50 },
	{ POOL, .name = "pool 4, 50 kept until 30 s", .workers = 4, .work_s = .04,
	  .work = EXPONENTIAL, .kept = 50, .kept_until = 30, .share_min = .9,
	  .least = 0, .most = 15 },
	{ POOL, .name = "pool 4, 20 clients", .workers = 4, .work_s = .04,
	  .work = EXPONENTIAL, .clients = 20,
	  .least = 0, .most = INFINITY },
	{ CPUS, .name = "cpu 4, thrashing", .workers = 4, .work_s = .02,
	  .work = EXPONENTIAL, .thrash = .3, .share_min = .86 },
	{ POOL, .name = "pool 4, 0.4 s", .workers = 4, .work_s = .4, .share_min = .86 },
	{ POOL, .name = "pool 2, 0.4 s", .workers = 2, .work_s = .4, .share_min = .88 },
	{ POOL, .name = "pool 2, 0.5 s", .workers = 2, .work_s = .5, .seconds = 200, .warm = 30 },
	{ POOL, .name = "pool 32, 2 s", .workers = 32, .work_s = 2, .seconds = 120, .warm = 30,
	  .share_min = .95 },
	{ REAL, .name = "real 4, 20 ms" },
	{ REAL, .name = "real 4, preferred 0.25x", .preferred = .25 },
	{ REAL, .name = "real 4, load 1.5", .load = 1.5 },
	{ REAL, .name = "real 4, tail 5 ms", .tail_s = .005, .way_s = .001 },
	{ REAL, .name = "real 4, stalls of 30 ms", .stall_s = .03, .stall_every = .5 },
	{ REAL, .name = "real 4, way 6 ms, exp", .way_s = .006, .work = EXPONENTIAL, .most = 5 },
	/* As many at once as a pool needs would be answered by none of these in time. */
	{ CPUS, .name = "cpu 1, 0.1 s, thrashing", .workers = 1, .work_s = .1, .thrash = .1,
	  .seconds = 200, .warm = 30, .share_min = .78 },
	{ CPUS, .name = "cpu 1, 0.2 s", .workers = 1, .work_s = .2, .seconds = 300, .warm = 50,
	  .share_min = .87 },
	{ CPUS, .name = "cpu 1, 0.3 s", .workers = 1, .work_s = .3, .seconds = 300, .warm = 50,
	  .share_min = .84 },
	{ CPUS, .name = "cpu 2, 0.3 s, thrashing", .workers = 2, .work_s = .3, .thrash = .1,
	  .seconds = 300, .warm = 50, .share_min = .92 },
	{ CPUS, .name = "cpu 4, 0.8 s, thrashing", .workers = 4, .work_s = .8, .thrash = .1,
	  .seconds = 300, .warm = 50, .share_min = .82 },
	/* As nginx before php-fpm. */
	{ TWO, CPUS, .name = "two: cpu 1, 0.1 s", .workers = 1, .work_s = .1, .preferred = .25,
	  .warm = 5, .share_min = .7, .most = 20 },
	{ TWO, CPUS, .name = "two: cpu 1, 0.1 s, thrashing", .workers = 1, .work_s = .1,
	  .preferred = .25, .thrash = .05, .warm = 5, .share_min = .4, .most = 20 },
	{ TWO, CPUS, .name = "two: cpu 1, 0.05 s", .workers = 1, .work_s = .05,
	  .preferred = .25, .warm = 5, .most = 20 },
	{ TWO, CPUS, .name = "two: cpu 2, 0.2 s, exp", .workers = 2, .work_s = .2,
	  .work = EXPONENTIAL, .preferred = .25, .seconds = 120, .warm = 20,
	  .share_min = .65, .most = 10 },
	{ TWO, CPUS, .name = "two: cpu 1, 0.1 s, leave after 2 s", .workers = 1, .work_s = .1,
	  .preferred = .1, .load = 3, .patience = 2, .warm = 20, .share_min = .3, .most = 20 },
	{ TWO, CPUS, .name = "two: cpu 1, 0.1 s, thrashing, leave after 2 s", .workers = 1,
	  .work_s = .1, .thrash = .1, .preferred = .1, .load = 3, .patience = 2, .warm = 20,
	  .share_min = .2, .most = 20 },
	/* After each stall there is a pile of work of those who have left. */
	{ TWO, CPUS, .name = "two: cpu 1, 0.1 s, stalls", .workers = 1, .work_s = .1,
	  .preferred = .1, .load = 3, .stall_s = 3, .stall_every = 20, .seconds = 120, .warm = 10,
	  .share_min = .6, .preferred_min = .85, .most = 40 },
	{ TWO, CPUS, .name = "two: cpu 1, 0.1 s, thrashing, stalls", .workers = 1, .work_s = .1,
	  .preferred = .1, .load = 3, .thrash = .1, .stall_s = 3, .stall_every = 20,
	  .seconds = 120, .warm = 10, .share_min = .3, .preferred_min = .75, .most = 40 },
	{ TWO, POOL, .name = "two: pool 4, 20 ms", .workers = 4, .work_s = .02 },
	{ TWO, POOL, .name = "two: pool 16, exp", .workers = 16, .work = EXPONENTIAL },
	{ TWO, POOL, .name = "two: pool 64, 0.2 s, exp", .work_s = .2, .work = EXPONENTIAL,
	  .share_min = .9 },
	{ TWO, POOL, .name = "two: pool 4, 0.4 s", .workers = 4, .work_s = .4,
	  .share_min = .65, .most = 8 },
	{ TWO, POOL, .name = "two: pool 32, 2 s", .workers = 32, .work_s = 2, .seconds = 120,
	  .warm = 30, .share_min = .5, .least = .3 },
	{ TWO, POOL, .name = "two: pool 64, 1 s, exp", .work_s = 1, .work = EXPONENTIAL,
	  .share_min = .7 },
	{ TWO, POOL, .name = "two: pool 300, 1 s, exp", .workers = 300, .work_s = 1,
	  .work = EXPONENTIAL, .share_min = .5 },
	/* Always so many, whom a higher limit lets in; some servers are cold in the beginning. */
	{ POOL, .name = "pool 4, cold, 48 clients", .workers = 4, .work_s = .064,
	  .clients = 48, .change_at = .8, .heavier = .625 },
	{ POOL, .name = "pool 4, 24 clients", .workers = 4, .work_s = .04, .clients = 24 },
	{ POOL, .name = "pool 4, 24 clients, exp", .workers = 4, .work_s = .04,
	  .work = EXPONENTIAL, .clients = 24 },
	{ POOL, .name = "pool 100, 24 clients", .workers = 100, .clients = 24,
	  .least = 0 },
	{ CPUS, .name = "cpu 2, thrashing, 30 clients", .workers = 2, .work_s = .02,
	  .thrash = .1, .clients = 30 },
	{ POOL, .name = "pool 4, cold, 48 clients, 20 kept", .workers = 4, .work_s = .064,
	  .clients = 48, .change_at = .8, .heavier = .625, .kept = 20, .most = 6 },
	{ TWO, POOL, .name = "two: pool 4, cold, 48 clients", .workers = 4, .work_s = .064,
	  .clients = 48, .change_at = .8, .heavier = .625 },
	{ TWO, POOL, .name = "two: pool 4, 24 clients", .workers = 4, .work_s = .04,
	  .clients = 24 },
	{ POOL, .name = "pool 64, bursts of 0.5 s", .work = EXPONENTIAL, .pulse_s = .5,
	  .pause_s = .5, .share_min = .85 },
	{ POOL, .name = "pool 64, bursts of 2 s", .work = EXPONENTIAL, .pulse_s = 2,
	  .pause_s = 2 },
	{ POOL, .name = "pool 64, bursts of 0.3 s, rare", .work_s = .3, .work = EXPONENTIAL,
	  .pulse_s = .3, .pause_s = 9.7, .seconds = 200, .least = .4 },
	{ POOL, .name = "pool 64, bursts of 2 s, rare", .work_s = .3, .work = EXPONENTIAL,
	  .pulse_s = 2, .pause_s = 30, .seconds = 200 },
	{ POOL, .name = "pool 4, bursts of 1 s", .workers = 4, .work_s = .04, .pulse_s = 1,
	  .pause_s = 1, .load = 2 },
	{ TWO, REAL, .name = "two: real 4, 40 ms", .work_s = .04, .way_s = .01, .preferred = .25 },
	{ POOL, .name = "pool 16, preferred 0.7x", .workers = 16, .work = EXPONENTIAL,
	  .preferred = .7 },
	{ POOL, .name = "halves: pool 32, 1 s", .workers = 32, .work_s = 1,
	  .work = EXPONENTIAL, .load = .3, .preferred = .7, .halves = 50, .seconds = 120,
	  .share_min = .4, .preferred_min = .5, .least = 0, .most = INFINITY },
};

static double between(double least, double most)
{
	double u = (double)(tap_random() >> 11) / (1ULL << 53);

	return least + u * (most - least);
}

/* Each order of magnitude alike. */
static double scale(double least, double most)
{
	return least * pow(most / least, between(0, 1));
}

static bool one_in(unsigned int n)
{
	return !tap_below(n);
}

/* Those that are slow are looked at for longer. */
static void random_cell(struct cell *c, unsigned int n)
{
	static const char * const works[] = { "even", "exp", "bimodal", "pareto" };
	static char name[160];
	double rate;

	tap_state = tap_seed + 1000003ULL * n;
	*c = (struct cell){
		POOL,
		.name = name,
		.aborts = true,
		.work = tap_below(4),
		.shared = one_in(2),
		.io_s = one_in(3) ? scale(.01, .5) : 0,
		.way_s = one_in(2) ? scale(.0003, .005) : 0,
		.load = scale(1.2, 6),
		.preferred = one_in(4) ? between(0, .7) : .05,
		.max_wait = one_in(2) ? .3 : scale(.1, 1),
	};
	do {
		c->workers = scale(1, 400);
		c->work_s = scale(.002, 1);
		rate = c->workers / c->work_s;
	} while (rate < 10 || rate > 1500);
	if (!c->shared && one_in(2))
		c->tail_s = c->work_s * between(0, .3);
	if (c->shared && one_in(4))
		c->thrash = scale(.02, .2);
	c->seconds = fmax(60, fmin(1000, 12000 / rate));
	c->warm = c->seconds / 6;
	if (one_in(4)) {
		c->change_at = c->seconds / 2;
		if (one_in(2))
			c->heavier = scale(.25, 4);
		else
			c->more = scale(.25, 4);
	}
	snprintf(name, sizeof(name),
		 "%u: %s %u, %.0f ms %s, I/O %.0f ms, %.1fx+%.2f, wait %.2f%s%s",
		 n, c->shared ? "cpu" : "pool", c->workers, 1e3 * c->work_s, works[c->work],
		 1e3 * c->io_s, c->load, c->preferred, c->max_wait,
		 c->change_at ? ", changes" : "", c->thrash ? ", thrashes" : "");
}

#endif /* _SYNQ_BENCH_INSIDE_CELLS_H */
