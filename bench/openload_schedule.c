// SPDX-License-Identifier: GPL-2.0
/*
 * openload: when each request of a group is due, and from which address.  Drawn from
 * the group's seed before anything is sent.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "openload.h"

static double rng_uniform(uint64_t *state)
{
	return (double)(rng_next(state) >> 11) / (double)(1ULL << 53);
}

static double rng_exponential(uint64_t *state, double rate)
{
	return -log1p(-rng_uniform(state)) / rate;
}

/* Moves the requests that there are. */
void add_request(struct group *g, int64_t due)
{
	struct request *r;

	if (g->n_req == g->max_req) {
		g->max_req = g->max_req ? 2 * g->max_req : 1024;
		g->req = realloc(g->req, g->max_req * sizeof(*g->req));
		if (!g->req)
			die("out of memory");
	}
	r = &g->req[g->n_req];
	memset(r, 0, sizeof(*r));
	r->due = due;
	r->fd = -1;
	r->family = g->n_req % g->n_ends;
	r->source = rng_next(&g->rng) % g->end[r->family].source.count;
	g->n_req++;
}

static int by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A Poisson process of which the count is known: uniform times, in order. */
static void schedule_count(struct group *g)
{
	double *t = calloc(g->count, sizeof(*t));
	unsigned int i;

	if (!t)
		die("out of memory");
	for (i = 0; i < g->count; i++)
		t[i] = g->from + g->length * rng_uniform(&g->rng);
	qsort(t, g->count, sizeof(*t), by_time);
	for (i = 0; i < g->count; i++)
		add_request(g, epoch + ns_of(t[i]));
	free(t);
}

static void add_burst(struct group *g, double t)
{
	unsigned int n = g->burst_least + rng_next(&g->rng) %
			 (g->burst_most - g->burst_least + 1);

	while (n--)
		add_request(g, epoch + ns_of(t));
}

static void schedule_rate(struct group *g)
{
	double t = g->from, until = g->from + g->length, burst = INFINITY;

	if (g->bursts > 0)
		burst = t + rng_exponential(&g->rng, g->bursts);
	while ((t += rng_exponential(&g->rng, g->rate)) < until) {
		for (; burst < t; burst += rng_exponential(&g->rng, g->bursts))
			add_burst(g, burst);
		add_request(g, epoch + ns_of(t));
	}
}

/* All that is known before the beginning. */
void make_schedule(struct group *g)
{
	unsigned int i;

	g->rng = g->seed;
	if (g->count)
		schedule_count(g);
	else if (g->rate > 0)
		schedule_rate(g);
	for (i = 0; i < g->closed; i++)
		add_request(g, epoch + ns_of(g->from));
}
