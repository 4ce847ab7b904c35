// SPDX-License-Identifier: GPL-2.0
/*
 * Simulation of admission in front of one accept queue, with the very code that
 * the kernel runs: law.c, handshakes.c and halfopen.c of the module.
 *
 *	admission_sim				a table
 *	admission_sim --check			fail if a bound is broken
 *	admission_sim --random N --seed S	N servers and clients at random, synq only
 *	admission_sim --synq			the table, synq only
 *
 * The last two print figures with tabs between them, to be compared with those of
 * another version.  What the clients and the server do is in admission_world.c.
 *
 * Laws: stock (a full queue drops SYNs and final ACKs), gate (the reserve alone,
 * at the final ACK), synq, and hash: synq's law for a part of the connections, chosen
 * by a hash, the others refused for good as long as the overload lasts (Jamjoom and
 * Shin 2003).
 */
#include <stdbool.h>

#include "admission_cells.h"
#include "admission_world.h"

static const char * const law_names[] = {
	"stock", "gate", "hash", "synq",
};

/* What is told of a run. */
struct figures {
	double goodput;		/* connections/second */
	double share;		/* of what was possible */
	double refused, late;	/* of SYNs */
	double held, held_s;	/* of connections; of those at p99, s */
	double wait_s;		/* of all at p99 */
	double p50;		/* s: of the ordinary */
	double preferred, p99;	/* in time; s */
	double overtaken;
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

/* Of those that were promoted; most were not held. */
static double held_quantile(const struct run *r, double q)
{
	unsigned int over = r->promoted * (1 - q);

	return over < r->releases ? r->held_for[r->releases - 1 - over] : 0;
}

static int by_connection(const void *a, const void *b)
{
	const struct client *x = a, *y = b;

	return by_size(&x->connected, &y->connected);
}

/*
 * The part of the preferred that were clearly connected before one that was clearly
 * answered earlier.
 */
static double overtaken(struct run *r)
{
	double slack = r->s->workers / r->s->capacity[0], soonest = INFINITY;
	unsigned int i, later = r->clients, found = 0;

	qsort(r->client, r->clients, sizeof(*r->client), by_connection);
	for (i = r->clients; i--;) {
		const struct client *c = &r->client[i], *l;

		if (!c->preferred || !c->answered)
			continue;
		for (; later; later--) {
			l = &r->client[later - 1];
			if (l->connected <= c->connected + slack)
				break;
			if (l->preferred && l->answered)
				soonest = fmin(soonest, l->answered);
		}
		found += soonest < c->answered - slack;
	}
	return (double)found / (r->preferred ? r->preferred : 1);
}

/* Connections/second that could have been served in time, after the ramp. */
static double possible(const struct scenario *s)
{
	double third = s->seconds / 3, sum = 0, from, load;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		load = s->ordinary * surge(s, i) + s->preferred;
		if (s->crowd)
			load += s->crowd / s->crowd_every;
		from = i * third > RAMP ? i * third : RAMP;
		if ((i + 1) * third > from)
			sum += ((i + 1) * third - from) *
			       (load < s->capacity[i] ? load : s->capacity[i]);
	}
	return sum / (s->seconds - RAMP);
}

static double ratio(unsigned int part, unsigned int whole)
{
	return whole ? (double)part / whole : 0;
}

static struct figures figures_of(struct run *r)
{
	const struct scenario *s = r->s;
	struct figures f = {
		.goodput = r->in_time / (s->seconds - RAMP),
		.refused = ratio(r->refused, r->syns),
		.late = ratio(r->late_refused, r->late_syns),
		.held = ratio(r->put_off + r->overflows, r->promoted),
		.held_s = quantile(r->held_for, r->releases, .99),
		.wait_s = held_quantile(r, .99),
		.p50 = quantile(r->delay, r->delays, .5),
		.preferred = r->preferred ?
			     ratio(r->preferred_in_time, r->preferred) : 1,
		.p99 = quantile(r->latency, r->preferred_in_time, .99),
		.overtaken = overtaken(r),
	};

	f.share = f.goodput / possible(s);
	return f;
}

static bool is_within(const struct run *r, const struct figures *f)
{
	const struct scenario *s = r->s;

	return f->share >= s->goodput_min && f->refused <= s->refused_max &&
	       f->late <= s->late_max && f->held <= s->held_max &&
	       f->wait_s <= s->held_s && f->preferred >= s->preferred_min &&
	       f->overtaken <= s->overtaken_max && (s->cookies || !r->cookies);
}

static void tell(const struct run *r, const struct figures *f, const char *prefix)
{
	printf("%s%-34s %-5s goodput %6.1f/s %5.1f %% refused %5.1f %%",
	       prefix, r->s->name, law_names[r->law], f->goodput, 100 * f->share,
	       100 * f->refused);
	if (r->s->settled)
		printf(" late %5.2f %%", 100 * f->late);
	printf(" held %6.3f %% %4.0f ms expired %u wasted %u wait %4.2f s p50 %4.2f s",
	       100 * f->held, 1e3 * f->held_s, r->expired, r->wasted, r->wait_max,
	       f->p50);
	printf(" preferred %u of %u p99 %4.0f ms, %u found no slot,",
	       r->preferred_in_time, r->preferred, 1e3 * f->p99, r->overflows);
	printf(" overtaken %5.2f %% cookies %u\n", 100 * f->overtaken, r->cookies);
}

static void list(const struct run *r, const struct figures *f)
{
	printf("%s\t%.3f\t%.5f\t%.5f\t%.6f\t%.4f\t%.5f\t%.4f\t%.4f\t%u\n",
	       r->s->name, f->goodput, f->share, f->refused, f->held, f->held_s,
	       f->preferred, f->p99, f->p50, r->wasted);
}

enum form { TABLE, CHECK, LIST };

static bool one(const struct scenario *s, enum rule law, enum form form, u64 seed)
{
	struct run r = { .s = s, .law = law, .seed = seed };
	struct figures f;
	bool ok;

	simulate(&r);
	f = figures_of(&r);
	ok = law != SYNQ || is_within(&r, &f);
	if (form == LIST)
		list(&r, &f);
	else if (form == TABLE || !ok)
		tell(&r, &f, form == TABLE ? "" : "# ");
	release_all(&r);
	return ok;
}

static int at_random(unsigned int n)
{
	struct scenario s;
	unsigned int i;

	for (i = 0; i < n; i++) {
		random_scenario(&s, i);
		one(&s, SYNQ, LIST, tap_seed + i);
	}
	return 0;
}

static int the_cells(enum form form)
{
	unsigned int n = ARRAY_SIZE(scenarios), i, law, failed = 0;

	if (form == CHECK)
		printf("KTAP version 1\n1..%u\n", n);
	for (i = 0; i < n; i++) {
		bool ok = true;

		for (law = form == TABLE ? STOCK : SYNQ; law < LAWS; law++)
			ok = one(&scenarios[i], law, form, tap_seed) && ok;
		if (form == CHECK)
			printf("%s %u - %s\n", ok ? "ok" : "not ok", i + 1,
			       scenarios[i].name);
		failed += !ok;
	}
	return form == CHECK && failed;
}

int main(int argc, char **argv)
{
	enum form form = TABLE;
	unsigned int n = 0;
	int i;

	tap_read_seed();
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--check"))
			form = CHECK;
		else if (!strcmp(argv[i], "--synq"))
			form = LIST;
		else if (!strcmp(argv[i], "--random") && i + 1 < argc)
			n = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
			tap_seed = strtoull(argv[++i], NULL, 0);
		else
			return fprintf(stderr, "%s: %s?\n", argv[0], argv[i]), 2;
	}
	return n ? at_random(n) : the_cells(form);
}
