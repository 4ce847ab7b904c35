// SPDX-License-Identifier: GPL-2.0
/*
 * What others limit the requests inside a server with, for comparison:
 *
 *	vegas		keeps few in the queue that latency suggests; on means of windows
 *	gradient2	follows the quotient of a long and a short mean of latency
 *			(both: Netflix, concurrency-limits, 2018)
 *	bbr		the greatest rate times the least latency, both of ten seconds
 *			(Cardwell et al. 2016)
 *	slope		two limits in turn, B and 1.5 B: B follows the elasticity of the
 *			rate between them
 *
 * Written from their descriptions, to be fed with what the kernel sees.
 */
#include "inside_world.h"

#define LATENCIES	20	/* a window, at least */

static unsigned int all_open(const struct run *r)
{
	return r->listener->open[0] + r->listener->open[1];
}

static void put(struct rival *v, struct sample s)
{
	if (v->tail >= v->room) {
		v->room = v->room ? 2 * v->room : 256;
		v->window = realloc(v->window, v->room * sizeof(s));
		if (!v->window)
			abort();
	}
	v->window[v->tail++] = s;
}

static void forget(struct rival *v, double before)
{
	while (v->window[v->head].at < before)
		v->head++;
}

static double least_value(const struct rival *v)
{
	double least = INFINITY;
	unsigned int i;

	for (i = v->head; i < v->tail; i++)
		least = fmin(least, v->window[i].value);
	return least;
}

static double largest_other(const struct rival *v)
{
	double largest = 0;
	unsigned int i;

	for (i = v->head; i < v->tail; i++)
		largest = fmax(largest, v->window[i].other);
	return largest;
}

/* The mean latency of a window that is over; 0: it goes on. */
static double mean(struct run *r, double took, double least_s)
{
	struct rival *v = &r->rival;
	double value;

	v->sum += took;
	v->n++;
	if (v->n < LATENCIES || r->now - v->since < least_s)
		return 0;
	value = v->sum / v->n;
	v->sum = 0;
	v->n = 0;
	return value;
}

static void vegas(struct run *r, double took)
{
	struct rival *v = &r->rival;
	double value = mean(r, took, .05), step, queue;

	if (!value)
		return;
	put(v, (struct sample){ .at = r->now, .value = value });
	v->since = r->now;
	forget(v, r->now - 30);
	queue = r->listener->limit * (1 - least_value(v) / value);
	step = fmax(1, log10(r->listener->limit));
	if (queue < 3 * step && all_open(r) >= .8 * r->listener->limit)
		r->listener->limit += step;
	else if (queue > 6 * step)
		r->listener->limit = fmax(1, r->listener->limit - step);
}

static void gradient2(struct run *r, double took)
{
	struct rival *v = &r->rival;
	double value = mean(r, took, 0), gradient;

	if (!value)
		return;
	v->longest = v->longest ? v->longest + (value - v->longest) * 40 / 601 : value;
	if (v->longest > 2 * value)
		v->longest *= .95;
	if (all_open(r) < r->listener->limit / 2)
		return;
	gradient = fmax(.5, fmin(1, 1.5 * v->longest / value));
	r->listener->limit = fmax(4, .8 * r->listener->limit +
				     .2 * (r->listener->limit * gradient + 4));
}

static void bbr(struct run *r, double took)
{
	static const double gain[] = { 2, .75, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25 };
	struct rival *v = &r->rival;
	double began = v->since, n = v->n + 1, value = mean(r, took, .1);

	if (!value)
		return;
	put(v, (struct sample){ r->now, value, n / (r->now - began) });
	v->since = r->now;
	forget(v, r->now - 10);
	v->phase = (v->phase + 1) % 8;
	r->listener->limit = fmax(2, least_value(v) * largest_other(v) * gain[v->phase]);
}

static void slope_limit(struct run *r)
{
	const struct rival *v = &r->rival;
	double low = fmax(1, rint(v->base));

	r->listener->limit = v->phase ? fmax(low + 1, rint(1.5 * v->base)) : low;
}

static double elasticity(const struct rival *v)
{
	double e = 1;

	if (v->at[0] != v->at[1])
		e = log(v->rate[1] / v->rate[0]) / log(v->at[1] / v->at[0]);
	return fmax(-1, fmin(1.5, e));
}

static void slope_follow(struct rival *v)
{
	double e = elasticity(v);

	if (v->fast && e > .6) {
		v->base *= 2;
	} else {
		v->fast = false;
		v->base = fmax(1, v->base * exp(.6 * (e - .25)));
	}
}

static void slope(struct run *r, double took)
{
	struct rival *v = &r->rival;

	v->age = v->age ? v->age + .05 * (took - v->age) : took;
	if (v->since < 0 || r->now < v->skip) {
		v->since = r->now;
		v->n = 0;
		return;
	}
	v->n++;
	if (v->n < 40 || r->now - v->since < fmax(.05, .5 * v->age))
		return;
	v->rate[v->phase] = v->n / (r->now - v->since);
	v->at[v->phase] = r->listener->limit;
	if (v->full <= .8 * fmax(1, v->ticks)) {
		v->base = fmin(v->base, fmax(16, 1.5 * v->most));
		v->rate[0] = 0;
		v->rate[1] = 0;
	} else if (v->rate[0] && v->rate[1]) {
		slope_follow(v);
	}
	v->full = 0;
	v->ticks = 0;
	v->most = 0;
	v->n = 0;
	v->phase ^= 1;
	v->since = r->now;
	slope_limit(r);
	v->skip = r->now + fmin(v->age, 1);
}

/* What nobody can do: it is told the knee, and when that changes. */
static void know(struct run *r)
{
	r->listener->limit = fmax(1, rint(r->fixed * knee(r->c, r->now)));
}

/**
 * rival_init() - the limit at first
 * @r: a run that is about to begin
 */
void rival_init(struct run *r)
{
	r->listener->limit = 20;
	if (r->rule == NONE)
		r->listener->limit = INFINITY;
	if (r->rule == FIXED)
		r->listener->limit = fmax(1, rint(r->fixed));
	if (r->rule == KNEE)
		know(r);
	if (r->rule == SLOPE) {
		r->rival = (struct rival){ .base = 16, .since = -1, .fast = true };
		slope_limit(r);
	}
}

/**
 * rival_tick() - a hundredth of a second is over
 * @r: the run
 */
void rival_tick(struct run *r)
{
	struct rival *v = &r->rival;

	v->full += all_open(r) >= .95 * r->listener->limit;
	v->ticks++;
	v->most = fmax(v->most, all_open(r));
	if (r->rule == KNEE)
		know(r);
}

/**
 * rival_done() - there was an answer
 * @r: the run
 * @took: s: since the request was let in
 */
void rival_done(struct run *r, double took)
{
	if (r->rule == VEGAS)
		vegas(r, took);
	else if (r->rule == GRADIENT2)
		gradient2(r, took);
	else if (r->rule == BBR)
		bbr(r, took);
	else if (r->rule == SLOPE)
		slope(r, took);
}
