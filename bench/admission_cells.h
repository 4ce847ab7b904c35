/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Servers and clients for admission_sim.c, and what must hold for them with synq; and
 * others at random, for which nothing must hold.
 */
#ifndef _SYNQ_BENCH_ADMISSION_CELLS_H
#define _SYNQ_BENCH_ADMISSION_CELLS_H

#include "admission_world.h"

#pragma GCC diagnostic ignored "-Woverride-init"

#define BASE .ordinary = 400, .preferred = 5, .rtt = .02, .backlog = 128, \
	.workers = 1, .capacity = { 100, 100, 100 }, .seconds = 45, \
	.max_wait = .3, .goodput_min = .95, .refused_max = 1, \
	.held_max = .01, .held_s = .05, .overtaken_max = .001

#define FAST BASE, .ordinary = 1600, .preferred = 20, .rtt = .04, \
	.capacity = { 400, 400, 400 }

#define FAR BASE, .ordinary = 4000, .preferred = 50, .rtt = .376, .backlog = 64, \
	.capacity = { 1000, 1000, 1000 }, .seconds = 20, .cookies = true

static const struct scenario scenarios[] = {
	{ BASE, .name = "base: 4x, RTT 20 ms, backlog 128" },
	{ BASE, .name = "1.5x", .ordinary = 150 },
	{ BASE, .name = "0.5x", .ordinary = 50, .refused_max = 0,
	  .goodput_min = .9 },
	{ BASE, .name = "0.9x", .ordinary = 85, .refused_max = .01 },
	{ BASE, .name = "RTT 200 ms", .rtt = .2 },
	{ BASE, .name = "RTT 200 ms, 0.5x", .rtt = .2, .ordinary = 50,
	  .refused_max = 0, .goodput_min = .9 },
	{ BASE, .name = "RTT 0.2 ms", .rtt = .0002 },
	{ BASE, .name = "RTT 100 +- 90 ms", .rtt = .1, .jitter = .9 },
	{ BASE, .name = "backlog 16", .backlog = 16 },
	{ BASE, .name = "backlog 16, RTT 200 ms", .backlog = 16, .cookies = true, .rtt = .2 },
	{ BASE, .name = "backlog 511", .backlog = 511 },
	{ BASE, .name = "backlog 4096", .backlog = 4096 },
	{ BASE, .name = "backlog 65535", .backlog = 65535 },
	{ BASE, .name = "4 workers", .workers = 4 },
	{ BASE, .name = "32 workers, 1 s each", .workers = 32, .spread = .5,
	  .capacity = { 32, 32, 32 }, .goodput_min = .8 },
	{ BASE, .name = "32 workers in step", .workers = 32,
	  .capacity = { 32, 32, 32 }, .goodput_min = .75 },
	{ BASE, .name = "2/s, backlog 511", .capacity = { 2, 2, 2 },
	  .ordinary = 8, .preferred = .1, .backlog = 511, .seconds = 200,
	  .goodput_min = .85 },
	{ BASE, .name = "spoofed 10x", .spoofed = 1000 },
	{ BASE, .name = "spoofed 10x, RTT 200 ms", .spoofed = 1000, .rtt = .2 },
	{ BASE, .name = "spoofed 10x, 0.5x", .spoofed = 1000, .ordinary = 50,
	  .goodput_min = .9 },
	{ BASE, .name = "spoofed 100x", .spoofed = 10000 },
	{ BASE, .name = "capacity halved, doubled",
	  .capacity = { 100, 50, 200 } },
	{ BASE, .name = "the same, backlog 4096", .backlog = 4096,
	  .capacity = { 100, 50, 200 } },
	{ BASE, .name = "the same, RTT 200 ms", .rtt = .2,
	  .capacity = { 100, 50, 200 } },
	{ FAST, .name = "400/s" },
	{ FAST, .name = "400/s, jitter", .jitter = .1 },
	{ FAST, .name = "400/s, stalls", .stall = .03, .held_max = 1, .stall_every = .4,
	  .goodput_min = .9 },
	{ FAST, .name = "400/s, stalls, preferred 0.75x", .preferred = 300,
	  .stall = .03, .held_max = 1, .stall_every = .4, .seconds = 6, .goodput_min = .85 },
	{ FAST, .name = "400/s, preferred 1.5x", .preferred = 600,
	  .seconds = 20 },
	{ FAST, .name = "the same, stalls of 0.1 s", .preferred = 600,
	  .stall = .1, .held_max = 1, .stall_every = .9, .seconds = 20, .goodput_min = .85 },
	{ FAST, .name = "the same, stalls of 0.5 s", .preferred = 600,
	  .stall = .5, .held_max = 1, .stall_every = 2, .seconds = 20, .goodput_min = .7 },
	{ FAST, .name = "the same, preferred 0.75x", .preferred = 300,
	  .stall = .5, .held_max = 1, .stall_every = 2, .seconds = 20, .goodput_min = .65 },
	{ FAST, .name = "400/s, backlog 16", .backlog = 16, .cookies = true },
	{ FAST, .name = "400/s, backlog 16, jitter", .backlog = 16,
	  .jitter = .1, .cookies = true },
	{ FAST, .name = "400/s, 24 workers", .workers = 24, .spread = .5 },
	{ FAST, .name = "400/s, spoofed 10x", .spoofed = 4000 },
	{ FAST, .name = "400/s, spoofed 10x, 0.5x", .spoofed = 4000,
	  .ordinary = 200, .goodput_min = .9 },
	{ FAST, .name = "400/s, preferred 1.5x, stalls of 30 ms", .preferred = 600,
	  .stall = .03, .held_max = 1, .stall_every = .4, .goodput_min = .9 },
	{ FAST, .name = "400/s, preferred 1.5x, jitter", .preferred = 600, .jitter = .1 },
	{ FAST, .name = "preferred 0.75x, backlog 16, RTT 200 ms",
	  .preferred = 300, .backlog = 16, .rtt = .2, .preferred_min = .99,
	  .cookies = true, .overtaken_max = .01 },
	{ FAST, .name = "the same, in waves, to a fresh server", .preferred = 300,
	  .later = 2, .wave = .032, .backlog = 16, .rtt = .2, .preferred_min = .99,
	  .cookies = true, .overtaken_max = .01 },
	{ FAST, .name = "the same, 1.5x", .preferred = 600, .backlog = 16,
	  .rtt = .2, .seconds = 120, .cookies = true, .overtaken_max = .01 },
	{ FAST, .name = "400/s, backlog 16, RTT 200 ms", .backlog = 16,
	  .rtt = .2, .cookies = true, .goodput_min = .9 },
	{ FAST, .name = "the same, RTT 400 ms", .backlog = 16, .rtt = .4,
	  .cookies = true, .goodput_min = .98 },
	{ FAST, .name = "2000/s, preferred 0.75x, RTT 200 ms", .ordinary = 3000,
	  .capacity = { 2000, 2000, 2000 }, .preferred = 1500, .rtt = .2,
	  .seconds = 20, .preferred_min = .99, .cookies = true, .overtaken_max = .01 },
	{ BASE, .name = "one crowd of 70", .crowd = 70, .crowd_every = 25,
	  .ordinary = 5, .goodput_min = .8, .refused_max = 0 },
	{ BASE, .name = "crowds of 70 every 2 s", .crowd = 70, .crowd_every = 2,
	  .ordinary = 5, .refused_max = 0 },
	{ BASE, .name = "crowds of 400 every 8 s", .crowd = 400,
	  .crowd_every = 8, .ordinary = 5 },
	{ BASE, .name = "the same, backlog 4096", .crowd = 400, .backlog = 4096,
	  .crowd_every = 8, .ordinary = 5 },
	{ BASE, .name = "6 at once, 5/s", .crowd = 6, .crowd_every = 5,
	  .capacity = { 5, 5, 5 }, .ordinary = .5, .preferred = .1,
	  .seconds = 200, .goodput_min = .7, .refused_max = .02 },
	{ BASE, .name = "overload ends", .surge = { 1, 1, .125 },
	  .seconds = 60, .settled = 48 },
	{ BASE, .name = "the same, backlog 4096", .surge = { 1, 1, .125 },
	  .seconds = 60, .settled = 48, .backlog = 4096 },
	{ BASE, .name = "1/s, then 200/s", .capacity = { 1, 200, 200 },
	  .ordinary = 100, .seconds = 60, .settled = 26 },
	{ BASE, .name = "the same, backlog 4096", .backlog = 4096,
	  .capacity = { 1, 200, 200 },
	  .ordinary = 100, .seconds = 60, .settled = 26 },
	{ BASE, .name = "1/s, then 1000/s", .capacity = { 1, 1000, 1000 },
	  .ordinary = 100, .seconds = 60, .settled = 22 },
	{ BASE, .name = "the same, backlog 4096", .backlog = 4096,
	  .capacity = { 1, 1000, 1000 },
	  .ordinary = 100, .seconds = 60, .settled = 22 },
	{ BASE, .name = "base, retries at 1, 3, 7 s", .doubles = true },
	{ BASE, .name = "the same, backlog 4096", .doubles = true, .backlog = 4096 },
	{ FAST, .name = "400/s, retries at 1, 3, 7 s", .doubles = true },
	{ BASE, .name = "crowds of 400, retries at 1, 3, 7 s", .doubles = true,
	  .crowd = 400, .crowd_every = 8, .ordinary = 5, .goodput_min = .6 },
	{ FAR, .name = "RTT 376 ms, backlog 64, 1000/s" },
	{ FAR, .name = "RTT 376 ms, backlog 64, 2600/s", .ordinary = 10400,
	  .preferred = 130, .capacity = { 2600, 2600, 2600 } },
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

/* What a SYN takes to be simulated is the same at each rate: fast servers run shorter. */
static void random_scenario(struct scenario *s, unsigned int n)
{
	static char name[160];
	unsigned int i;
	double base;

	tap_state = tap_seed + 1000003ULL * n;
	base = scale(10, 3000);
	*s = (struct scenario){
		.name = name,
		.ordinary = base * scale(.5, 8),
		.preferred = base * (one_in(4) ? between(0, 1.5) : between(0, .2)),
		.spoofed = one_in(4) ? base * scale(1, 30) : 0,
		.doubles = one_in(3),
		.rtt = scale(.0002, .5),
		.jitter = one_in(2) ? between(0, .9) : 0,
		.backlog = scale(8, 8192),
		.workers = one_in(2) ? 1 : scale(1, 64),
		.spread = one_in(2) ? between(0, 1) : 0,
		.max_wait = one_in(2) ? .3 : scale(.05, 2),
		.seconds = fmax(15, fmin(45, 30000 / base)),
	};
	for (i = 0; i < 3; i++) {
		s->capacity[i] = base;
		if (i && one_in(5))
			s->capacity[i] *= scale(.25, 4);
		if (one_in(6))
			s->surge[i] = scale(.125, 2);
	}
	if (one_in(6)) {
		s->stall = scale(.01, .3);
		s->stall_every = s->stall * between(5, 20);
	}
	if (one_in(6)) {
		s->crowd_every = between(2, 10);
		s->crowd = fmin(4000, base * s->crowd_every * scale(.1, 1));
		s->ordinary *= between(0, .5);
	}
	snprintf(name, sizeof(name),
		 "%u: %.0f/s%s, %.1fx+%.2f, spoofed %.0f, RTT %.1f ms +-%.0f %%, backlog %u, %u workers, wait %.2f%s%s%s",
		 n, base, s->capacity[1] == base && s->capacity[2] == base ? "" : " changes",
		 s->ordinary / base, s->preferred / base, s->spoofed, 1e3 * s->rtt,
		 100 * s->jitter, s->backlog, s->workers, s->max_wait,
		 s->stall ? ", stalls" : "", s->crowd ? ", crowds" : "",
		 s->doubles ? ", 1 3 7" : "");
}

#endif /* _SYNQ_BENCH_ADMISSION_CELLS_H */
