// SPDX-License-Identifier: GPL-2.0
/*
 * Simulation of servers that accept everything, behind a limit of how many requests are
 * inside, with the very code that the kernel runs: climb.c of the module.
 *
 *	inside_sim			a table: all laws
 *	inside_sim --check		fail if a bound is broken
 *	inside_sim --climb		the table, climb.c only
 *	inside_sim --random N		N servers and clients at random, climb.c only
 *	inside_sim --only NAME		cells whose name begins so
 *	inside_sim --seed S		other random numbers
 *
 * Goodput is compared with that of the best of several fixed limits, with the same random
 * numbers.  What the clients and the server do is in inside_world.c, what must hold in
 * inside_cells.h.
 */
#include <stdbool.h>

#include "inside_cells.h"
#include "inside_world.h"

#define RAISED_S	2	/* of which the rate is, when it rises */
#define KNEES		1.35	/* what climb.c aims at */
#define ENOUGH		.95	/* of the goodput of the best fixed limit */

static const char * const law_names[] = {
	"none", "vegas", "gradient2", "bbr", "slope", "climb", "fixed", "knee",
};

/* What is told of a run. */
struct figures {
	double goodput;		/* of what was possible */
	double preferred, p99;	/* in time; s */
	double median, low, high; /* of the limit, times the knee; 5 and 95 % */
	double adapt_s;		/* until 90 % of the way are gone; 0: nothing changes */
};

/* The best fixed limit. */
struct best {
	double goodput;
	double limit;
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double quantile(double *value, unsigned int n, double q)
{
	qsort(value, n, sizeof(*value), by_size);
	return n ? value[(unsigned int)(n * q)] : 0;
}

static double offered_all(const struct cell *c)
{
	return (c->load + c->preferred) * offered(c);
}

/* Requests that could have been answered while looked at. */
static double possible(const struct cell *c)
{
	double sum = 0, most, t;

	for (t = c->warm; t < c->seconds; t += STEP) {
		most = c->clients ? c->clients / (c->io_s + c->way_s + work_s(c, t)) :
				    offered_all(c);
		sum += STEP * fmin(capacity(c, t), most);
	}
	return sum;
}

/* How long until it answers what it can now. */
static double until_more(const struct run *r, unsigned int from, unsigned int n)
{
	const struct cell *c = r->c;
	unsigned int width = RAISED_S / STEP, i, k, sum;
	double was = capacity(c, 0), is = fmin(capacity(c, c->seconds), offered_all(c));

	for (i = from; i + width < n; i++) {
		for (sum = 0, k = i; k < i + width; k++)
			sum += r->all[k];
		if (sum / (double)RAISED_S >= was + .9 * (is - was))
			return (i - from) * STEP;
	}
	return INFINITY;
}

static double median_of(const float *limits, unsigned int n)
{
	double *copy = calloc(n, sizeof(*copy)), median;
	unsigned int i;

	for (i = 0; i < n; i++)
		copy[i] = limits[i];
	median = quantile(copy, n, .5);
	free(copy);
	return median;
}

/* How long until the limit is what it will be. */
static double until_less(const struct run *r, unsigned int from, unsigned int n)
{
	unsigned int second = 1 / STEP, i, k;
	double was = median_of(r->limits + from - 5 * second, 5 * second);
	double is = fmin(was, median_of(r->limits + n - 10 * second, 10 * second)), sum;

	for (i = from; i + second < n; i++) {
		for (sum = 0, k = i; k < i + second; k++)
			sum += r->limits[k];
		if (sum / second <= was + .9 * (is - was) + .5)
			return (i - from) * STEP;
	}
	return INFINITY;
}

static struct figures figures_of(struct run *r)
{
	const struct cell *c = r->c;
	unsigned int end = fmin(r->samples, c->seconds / STEP), n = 0, i;
	double *limit = calloc(end, sizeof(*limit));
	struct figures f = {
		.goodput = r->in_time / possible(c),
		.preferred = r->came[0] ? (double)r->ok[0] / r->came[0] : 1,
		.p99 = quantile(r->latency, r->ok[0], .99),
	};

	for (i = c->warm / STEP; i < end; i++)
		limit[n++] = r->limits[i] / fmax(1, knee(c, i * STEP));
	f.low = quantile(limit, n, .05);
	f.median = quantile(limit, n, .5);
	f.high = quantile(limit, n, .95);
	free(limit);
	if (c->change_at && capacity(c, c->seconds) > capacity(c, 0))
		f.adapt_s = until_more(r, c->change_at / STEP, end);
	else if (c->change_at)
		f.adapt_s = until_less(r, c->change_at / STEP, end);
	return f;
}

static struct figures run_of(const struct cell *c, enum rule law, double fixed, u64 seed)
{
	struct run r = { .c = c, .rule = law, .fixed = fixed, .seed = seed };
	struct figures f;

	simulate(&r);
	f = figures_of(&r);
	release_all(&r);
	return f;
}

static struct best best_of(const struct cell *c, u64 seed)
{
	static const double times[] = { .75, 1, 1.25, 1.5, 2, 3, 4 };
	double least = fmin(knee(c, 0), knee(c, c->seconds)), was = 0;
	double most = fmax(knee(c, 0), knee(c, c->seconds));
	struct best best = { 0 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		double middle = i < 2 ? least : i > 3 ? most : sqrt(least * most);
		double limit = fmax(1, rint(middle * times[i])), goodput;

		if (limit == was)
			continue;
		was = limit;
		goodput = run_of(c, FIXED, limit, seed).goodput;
		if (goodput > best.goodput)
			best = (struct best){ goodput, limit };
	}
	return best;
}

static void tell(const char *before, const struct cell *c, enum rule law,
		 const struct figures *f, const struct best *best)
{
	printf("%s%-40.80s %-9s %5.1f %6.2f (%5.2f to %6.2f) %5.3f, best %5.3f at %5.0f: %5.3f",
	       before, c->name, law_names[law], knee(c, 0), f->median, f->low, f->high,
	       f->goodput, best->goodput, best->limit, f->goodput / best->goodput);
	printf("  %.3f, %4.0f ms", f->preferred, 1e3 * f->p99);
	if (c->change_at)
		printf("  %.1f s", f->adapt_s);
	printf("\n");
	fflush(stdout);
}

static bool is_chosen(const struct cell *c, const char *only)
{
	return !strncmp(c->name, only, strlen(only));
}

static int table(enum rule first, const char *only)
{
	unsigned int i, law;

	printf("cell, law, knee; the limit in knees (5 %% to 95 %%); goodput, with the best fixed limit, the quotient;\n");
	printf("preferred in time, p99; after a change: 90 %% of the way\n");
	for (i = 0; i < ARRAY_SIZE(cells); i++) {
		struct best best;

		if (!is_chosen(&cells[i], only))
			continue;
		best = best_of(&cells[i], tap_seed);
		for (law = first; law <= CLIMB; law++) {
			struct figures f = run_of(&cells[i], law, 0, tap_seed);

			tell("", &cells[i], law, &f, &best);
		}
	}
	return 0;
}

static bool is_within(const struct cell *c)
{
	struct best best = best_of(c, tap_seed);
	struct figures f = run_of(c, CLIMB, 0, tap_seed);

	if (f.goodput >= c->share_min * best.goodput && f.preferred >= c->preferred_min &&
	    f.median >= c->least && f.median <= c->most && f.adapt_s <= c->adapt_s)
		return true;
	tell("# ", c, CLIMB, &f, &best);
	return false;
}

static int check_all(const char *only)
{
	unsigned int i, n = 0, failed = 0;

	for (i = 0; i < ARRAY_SIZE(cells); i++)
		n += cells[i].share_min > 0 && is_chosen(&cells[i], only);
	printf("KTAP version 1\n# SEED=%#llx\n1..%u\n", tap_seed, n);
	for (i = 0, n = 0; i < ARRAY_SIZE(cells); i++) {
		bool ok;

		if (!cells[i].share_min || !is_chosen(&cells[i], only))
			continue;
		ok = is_within(&cells[i]);
		printf("%s %u - %s\n", ok ? "ok" : "not ok", ++n, cells[i].name);
		fflush(stdout);
		failed += !ok;
	}
	return !!failed;
}

/* Goodput, of the best fixed limit's. */
static void tell_parts(const char *name, double *part, unsigned int n)
{
	double sum = 0;
	unsigned int k;

	qsort(part, n, sizeof(*part), by_size);
	for (k = 0; k < n; k++)
		sum += part[k];
	printf("# %-9s mean %.3f;", name, sum / fmax(1, n));
	for (k = 0; n && k <= 4; k++)
		printf(" %u %%: %.3f", k < 3 ? 5 * k : 50 * (k - 2),
		       part[(unsigned int)((n - 1) * (k < 3 ? .05 * k : .5 * (k - 2)))]);
	for (k = 0; k < n && part[k] < ENOUGH; k++)
		;
	printf("; %u of %u below %.2f\n", k, n, ENOUGH);
}

static int at_random(unsigned int n, const char *only)
{
	double *part = calloc(n, sizeof(*part)), *known = calloc(n, sizeof(*known));
	unsigned int i, all = 0, inside = 0;

	for (i = 0; i < n; i++) {
		struct figures f;
		struct best best;
		struct cell c;

		random_cell(&c, i);
		if (!is_chosen(&c, only))
			continue;
		best = best_of(&c, tap_seed);
		f = run_of(&c, CLIMB, 0, tap_seed);
		tell("", &c, CLIMB, &f, &best);
		known[all] = run_of(&c, KNEE, KNEES, tap_seed).goodput / best.goodput;
		part[all++] = f.goodput / best.goodput;
		inside += f.median >= 1 && f.median <= 4;
	}
	printf("# goodput, of the best fixed limit's; knee: with %.2f knees, if they were known\n",
	       KNEES);
	tell_parts(law_names[CLIMB], part, all);
	tell_parts(law_names[KNEE], known, all);
	printf("# limit within 1 to 4 knees: %u\n", inside);
	free(part);
	free(known);
	return 0;
}

int main(int argc, char **argv)
{
	enum rule first = NONE;
	const char *only = "";
	bool check = false;
	unsigned int n = 0;
	int i;

	tap_seed = 1;
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--check"))
			check = true;
		else if (!strcmp(argv[i], "--climb"))
			first = CLIMB;
		else if (!strcmp(argv[i], "--random") && i + 1 < argc)
			n = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--only") && i + 1 < argc)
			only = argv[++i];
		else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
			tap_seed = strtoull(argv[++i], NULL, 0);
		else
			return fprintf(stderr, "%s: %s?\n", argv[0], argv[i]), 2;
	}
	if (n)
		return at_random(n, only);
	return check ? check_all(only) : table(first, only);
}
