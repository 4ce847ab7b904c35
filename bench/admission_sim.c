// SPDX-License-Identifier: GPL-2.0
/*
 * Simulation of admission in front of one accept queue, with the very code that
 * the kernel runs: drain.c, flight.c, flood.c, halfopen.c, law.c and slack.c of the
 * module.
 *
 *	admission_sim [--check]		a table; or fail if a bound is broken
 *
 * Clients send a SYN again at 1, 2, 3, 4, 5 and 7 s, as current Linux does (those of one
 * machine in waves, as far apart as its timers are exact), and give up at their deadline
 * of 5 s: the server works for those who have left as for all others.  One round trip
 * from SYN to promotion.  A withheld promotion
 * is tried again 0.2, 0.4, 0.8 ... s later.  Ordinary clients, preferred
 * ones that are served first, spoofed SYNs inside the ordinary prefix, and crowds:
 * ordinary clients that come all at once.  Who would get a cookie by "cookies auto" is
 * known: it takes no place among the half-open, its final ACK does not tell when its
 * SYN came, and those of the preferred are counted.
 *
 * Laws: stock (a full queue drops SYNs and final ACKs), gate (the reserve alone,
 * at the final ACK), synq, and hash: synq's law for a part of the connections, chosen
 * by a hash, the others refused for good as long as the overload lasts (Jamjoom and
 * Shin 2003).
 */
#include <linux/minmax.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../module/drain.h"
#include "../module/flight.h"
#include "../module/flood.h"
#include "../module/halfopen.h"
#include "../module/law.h"
#include "../module/slack.h"
#include "../module/test/tap.h"

#define DEADLINE	5.0	/* s */
#define RAMP		5.0	/* s, not looked at */

static const double again[] = { 0, 1, 2, 3, 4, 5, 7 };

enum rule { STOCK, GATE, HASH, SYNQ, LAWS };

static const char * const law_names[] = {
	"stock", "gate", "hash", "synq",
};

struct scenario {
	const char *name;
	double ordinary;	/* connections/second */
	double preferred;
	double later;		/* s: so much they come after the ordinary */
	double spoofed;		/* SYNs/second */
	double surge[3];	/* of the ordinary, by third of the time; 0: 1 */
	unsigned int crowd;	/* ordinary at once, */
	double crowd_every;	/* s */
	double stall;		/* s: so long nothing happens, */
	double stall_every;	/* s */
	double wave;		/* s: SYNs are sent again at multiples of it; 0: at once */
	double rtt;		/* s */
	double jitter;		/* of it, 0..1 */
	unsigned int backlog;
	unsigned int workers;
	double spread;		/* of the time of service, 0..1 */
	double capacity[3];	/* connections/second, by third of the time */
	double seconds;
	double max_wait;	/* s */
	/* what must hold with synq */
	double goodput_min;	/* of what could be served */
	double refused_max;	/* of ordinary SYNs */
	double settled;		/* s: from then on, if not 0, */
	double late_max;	/* of ordinary SYNs */
	double withheld_max;	/* of ordinary promotions */
	double preferred_min;	/* of them, in time */
	double overtaken_max;	/* of the preferred, by their like */
	bool cookies;		/* may go to the preferred, too: the queues are short */
};

enum source { PREFERRED, ORDINARY, SPOOFED, CROWD };

enum what { ARRIVE, SYN, ACK, DEPART, CHOOSE };

struct event {
	double at;
	unsigned int order;
	enum what kind;
	int client;		/* or enum source */
	unsigned int n;		/* of the try */
};

struct client {
	double born;
	bool preferred;
	double synced;		/* when the SYN was let through */
	double refused;		/* when it was last not, 0: never */
	double connected;	/* when its final ACK came first */
	double answered;	/* 0: not in time */
	bool cookie;		/* it would get one */
	double hash;		/* 0..1 */
};

struct run {
	const struct scenario *s;
	enum rule law;
	double now;
	double due[CROWD];	/* when the next one comes, by source */
	struct event *heap;
	unsigned int events, room, order;
	struct client *client;
	unsigned int clients, client_room;
	int *queue[2];		/* client numbers: preferred, ordinary */
	unsigned int head[2], tail[2];
	unsigned int busy;

	struct synq_drain drain;
	struct synq_flight_clock clock;
	struct synq_flight flight[2];
	struct synq_slack slack;	/* of the ordinary */
	struct synq_slack first;
	struct synq_halfopen halfopen;
	struct synq_flood flood[2];
	unsigned int half_open;		/* the kernel's number */
	unsigned int departed;	/* since the last sample */
	unsigned int withheld;
	double chosen;		/* part of the connections, by HASH */

	/* figures */
	unsigned int in_time, wasted, promoted, put_off, expired, overflows;
	unsigned int cookies;
	unsigned int syns, refused, preferred, preferred_in_time;
	unsigned int late_syns, late_refused;	/* once settled */
	double *latency;	/* of the preferred */
	double *delay;		/* of the ordinary in time */
	unsigned int delays;
	double wait_max;	/* of the ordinary, in the queue */
	double idle;
};

static double uniform(void)
{
	return (double)(tap_random() >> 11) / (1ULL << 53);
}

static double gap(double rate)
{
	return -log(1 - uniform()) / rate;
}

static void *grow(void *p, unsigned int n, unsigned int *room, size_t size)
{
	if (n < *room)
		return p;
	*room = *room ? 2 * *room : 1024;
	p = realloc(p, *room * size);
	if (!p)
		abort();
	return p;
}

static bool before(const struct event *a, const struct event *b)
{
	return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void swap(struct event *a, struct event *b)
{
	struct event t = *a;

	*a = *b;
	*b = t;
}

static void at(struct run *r, double when, enum what kind, int client,
	       unsigned int n)
{
	unsigned int i = r->events;

	r->heap = grow(r->heap, r->events, &r->room, sizeof(*r->heap));
	r->heap[r->events++] = (struct event){ when, r->order++, kind, client, n };
	for (; i && before(&r->heap[i], &r->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&r->heap[i], &r->heap[(i - 1) / 2]);
}

static struct event next(struct run *r)
{
	struct event e = r->heap[0];
	unsigned int i = 0, least;

	r->heap[0] = r->heap[--r->events];
	for (;;) {
		least = i;
		for (unsigned int c = 2 * i + 1; c <= 2 * i + 2; c++)
			if (c < r->events && before(&r->heap[c], &r->heap[least]))
				least = c;
		if (least == i)
			return e;
		swap(&r->heap[i], &r->heap[least]);
		i = least;
	}
}

static unsigned int third(const struct run *r)
{
	unsigned int n = r->now * 3 / r->s->seconds;

	return n < 3 ? n : 2;
}

static double capacity(const struct run *r)
{
	return r->s->capacity[third(r)];
}

static bool is_settled(const struct run *r)
{
	return r->s->settled && r->now >= r->s->settled;
}

static double surge(const struct scenario *s, unsigned int third)
{
	return s->surge[third] ? s->surge[third] : 1;
}

static unsigned int queued(const struct run *r)
{
	return r->tail[0] - r->head[0] + r->tail[1] - r->head[1];
}

static u64 ns(double s)
{
	return 1e9 * (s + 1000);
}

/* Up to which the ordinary are promoted: as admission.c, with two CPUs. */
static unsigned int limit(const struct run *r)
{
	unsigned int backlog = r->s->backlog, reserve = backlog / 4;

	if (r->law == STOCK)
		return backlog + 1;
	if (!reserve)
		reserve = 1;
	backlog -= reserve + (backlog / 16 ? 1 : 0) + backlog / 16;
	return backlog ? backlog : 1;
}

static unsigned int limit_at_syn(const struct run *r)
{
	return synq_slack_limit(limit(r), r->slack.more, r->s->backlog);
}

/* What is kept for the preferred, who are first. */
static unsigned int reserve(const struct run *r)
{
	return r->s->backlog / 4 ? r->s->backlog / 4 : 1;
}

/* Connections taken out during a handshake. */
static unsigned int departures(const struct run *r)
{
	return synq_flight_clock_least(&r->clock) / r->drain.interval_ns;
}

/* Up to which SYNs of theirs are let through, as admission.c. */
static unsigned int limit_first(const struct run *r)
{
	if (!r->drain.interval_ns)
		return ~0U;
	return synq_slack_first(r->first.more, r->s->backlog, departures(r));
}

static u32 forecast(const struct run *r, const struct synq_law *law,
		    const u64 due[SYNQ_FLIGHT_WINDOW], unsigned int length)
{
	const struct synq_flight_clock *clock = &r->clock;
	struct synq_flight_outlook outlook = {
		.handshake_ns = synq_flight_clock_least(clock),
		.slice_ns = clock->slice_ns,
		.interval_ns = r->drain.sure_ns,
		.bunch = min_t(u32, law->limit - 1, SYNQ_FLIGHT_BUNCH),
	};

	synq_flight_outlook_at(&outlook, synq_flight_clock_next(clock, ns(r->now)),
			       clock->first_ns, ns(r->now));
	return synq_flight_forecast(due, length, &outlook);
}

static unsigned int expected(const struct run *r, unsigned int kind)
{
	return ceil((double)synq_flight_open(&r->flight[kind]) *
		    synq_flight_ratio(&r->flight[kind]) / SYNQ_FLIGHT_ONE);
}

/* What will be there when a handshake that begins now completes. */
static void foresee(struct run *r, struct synq_law *law, bool first)
{
	u64 due[2][SYNQ_FLIGHT_WINDOW] = { 0 };
	u64 most[SYNQ_FLIGHT_WINDOW] = { 0 };
	unsigned int i, n;

	for (i = 0; i < 2; i++) {
		u32 ratio;

		synq_flight_advance(&r->flight[i], &r->clock, ns(r->now));
		ratio = synq_flight_ratio(&r->flight[i]);
		synq_flight_due(&r->flight[i], ratio, 4, most);
		synq_flight_due(&r->flight[i], ratio, 1, due[i]);
	}
	if (first)
		law->ahead = forecast(r, law, due[0], r->tail[0] - r->head[0]);
	for (n = 0; n < SYNQ_FLIGHT_WINDOW; n++)
		due[0][n] += due[1][n];
	law->queued = forecast(r, law, due[0], queued(r));
	law->most = forecast(r, law, most, queued(r));
	if (!first)
		law->ahead = law->queued;
}

/* Would a SYN get a cookie?  As synqueue.c. */
static bool gets_cookie(struct run *r, unsigned int kind)
{
	struct synq_flood *flood = &r->flood[kind];
	const u32 room = synq_flood_room(r->s->backlog, 4096, true);
	struct synq_flood_sight sight = {
		.room = room,
		.length = r->half_open,
		.share = synq_flood_share(room, 2),
		.spare = room / 16 ? 1 : 0,
	};

	synq_halfopen_settle(&r->halfopen, ns(r->now), r->half_open);
	sight.own = r->halfopen.open[kind];
	if (!flood->on)
		sight.expected = expected(r, kind);
	if (r->halfopen.open[!kind] < sight.share)
		sight.kept = sight.share - r->halfopen.open[!kind];
	if (synq_flood_is_due(flood, &sight, ns(r->now)))
		synq_flood_turn(flood, &sight, ns(r->now));
	return flood->on || synq_flood_is_full(&sight);
}

/* Of the preferred, what is queued and under way, unless they are far away. */
static void add_up(struct run *r, struct synq_law *law)
{
	law->own = r->tail[0] - r->head[0] + expected(r, 0);
	if (!r->drain.interval_ns || departures(r) > reserve(r))
		return;
	law->queued = queued(r) + expected(r, 0) + expected(r, 1);
}

static bool admit(struct run *r, const struct client *c)
{
	bool first = c && c->preferred;
	struct synq_law law = {
		.limit = first ? limit_first(r) : limit_at_syn(r),
		.kept = first ? reserve(r) : 0,
		.withheld = first ? 0 : r->withheld,
		.withheld_max = first ? ~0U : reserve(r),
		.low = queued(r) < r->drain.low ? queued(r) : r->drain.low,
		.max_wait_ns = first ? 0 : 1e9 * r->s->max_wait,
		.interval_ns = r->drain.interval_ns,
	};
	enum synq_law_answer answer;

	if (r->law == STOCK)
		return queued(r) < limit(r);
	if (r->law == GATE || (first && r->law == HASH))
		return true;
	synq_flight_clock_see(&r->clock, ns(r->now));
	if (r->law == HASH && c && c->hash >= r->chosen)
		return false;
	foresee(r, &law, first);
	if (first)
		add_up(r, &law);
	if (c && c->refused)
		law.refused_ns = 1e9 * (r->now - c->refused);
	answer = synq_law(&law);
	if (answer == SYNQ_LAW_FULL && queued(r) >= law.limit / 2)
		synq_slack_refused(first ? &r->first : &r->slack,
				   r->s->backlog, ns(r->now));
	return answer == SYNQ_LAW_ADMIT;
}

static void serve(struct run *r)
{
	const struct scenario *s = r->s;
	double mean = s->workers / capacity(r);

	while (r->busy < s->workers && queued(r)) {
		unsigned int kind = r->head[0] == r->tail[0];
		int client = r->queue[kind][r->head[kind]++];

		r->departed++;
		r->busy++;
		at(r, r->now + mean * (1 + s->spread * (2 * uniform() - 1)),
		   DEPART, client, 0);
	}
}

static void born(struct run *r, bool preferred)
{
	r->client = grow(r->client, r->clients, &r->client_room,
			 sizeof(*r->client));
	r->client[r->clients] = (struct client){ .born = r->now,
						 .preferred = preferred,
						 .hash = uniform() };
	r->preferred += preferred;
	at(r, r->now, SYN, r->clients++, 0);
}

static void arrive(struct run *r, enum source from, double rate)
{
	unsigned int n;

	if (r->now >= r->s->seconds)
		return;
	switch (from) {
	case PREFERRED:
		born(r, true);
		break;
	case ORDINARY:
		rate *= surge(r->s, third(r));
		born(r, false);
		break;
	case SPOOFED:
		r->syns++;
		if (admit(r, NULL) && r->law >= HASH)
			synq_flight_begin(&r->flight[1], &r->clock, ns(r->now));
		break;
	case CROWD:
		for (n = 0; n < r->s->crowd; n++)
			born(r, false);
		at(r, r->now + r->s->crowd_every, ARRIVE, from, 0);
		return;
	}
	r->due[from] += gap(rate);
	at(r, r->due[from], ARRIVE, from, 0);
}

static double retry(const struct run *r, const struct client *c, unsigned int n)
{
	double when = c->born + again[n], wave = r->s->wave;

	return wave ? ceil(when / wave) * wave : when;
}

static void syn(struct run *r, const struct event *e)
{
	struct client *c = &r->client[e->client];
	double rtt = r->s->rtt * (1 + r->s->jitter * (2 * uniform() - 1));

	if (r->now - c->born >= DEADLINE)
		return;
	r->syns++;
	r->late_syns += is_settled(r);
	if (admit(r, c)) {
		c->synced = r->now;
		c->cookie = gets_cookie(r, !c->preferred);
		r->cookies += c->cookie && c->preferred;
		r->half_open += !c->cookie;
		if (!c->cookie)
			synq_halfopen_begin(&r->halfopen, !c->preferred,
					    ns(r->now));
		synq_flight_begin(&r->flight[!c->preferred], &r->clock,
				  ns(r->now));
		at(r, r->now + rtt, ACK, e->client, 0);
		return;
	}
	c->refused = r->now;
	r->refused++;
	r->late_refused += is_settled(r);
	if (e->n + 1 < ARRAY_SIZE(again))
		at(r, retry(r, c, e->n + 1), SYN, e->client, e->n + 1);
}

/* Of who has a cookie nobody knows when its SYN came: admission.c. */
static void complete(struct run *r, const struct client *c, double age)
{
	unsigned int kind = !c->preferred;

	if (c->cookie) {
		synq_flight_complete(&r->flight[kind], &r->clock, ns(r->now),
				     r->clock.mean_ns);
		return;
	}
	synq_flight_complete(&r->flight[kind], &r->clock, ns(r->now), 1e9 * age);
	synq_flight_clock_add(&r->clock, ns(r->now), 1e9 * age);
	synq_halfopen_answered(&r->halfopen, kind, ns(r->now), 1e9 * age);
}

static void ack(struct run *r, const struct event *e)
{
	struct client *c = &r->client[e->client];
	unsigned int kind = !c->preferred;
	double age = r->now - c->synced;

	synq_flight_clock_see(&r->clock, ns(r->now));
	if (!e->n) {
		complete(r, c, age);
		c->connected = r->now;
	}
	if (r->now - c->born >= DEADLINE && e->n) {
		r->expired++;
		r->withheld -= kind;
		r->half_open -= !c->cookie;
		return;
	}
	if (!kind && queued(r) > r->s->backlog) {
		r->overflows += !e->n;
		if (!e->n)
			synq_slack_withheld(&r->first, r->s->backlog,
					    ns(r->now), r->clock.mean_ns);
		at(r, r->now + 0.2 * (1 << e->n), ACK, e->client, e->n + 1);
		return;
	}
	if (kind && queued(r) >= limit(r)) {
		if (!e->n)
			synq_slack_withheld(&r->slack, r->s->backlog,
					    ns(r->now), r->clock.mean_ns);
		r->put_off += !e->n;
		r->withheld += !e->n;
		at(r, r->now + 0.2 * (1 << e->n), ACK, e->client, e->n + 1);
		return;
	}
	if (e->n)
		r->withheld -= kind;
	else
		synq_slack_promoted(kind ? &r->slack : &r->first,
				    r->s->backlog);
	r->promoted++;
	r->half_open -= !c->cookie;
	synq_drain_sample(&r->drain, ns(r->now), queued(r), r->departed);
	r->departed = 0;
	r->queue[kind][r->tail[kind]++] = e->client;
	serve(r);
}

/*
 * As many as keep the queue at half of the longest wait; all when it falls under
 * its floor.
 */
static void choose(struct run *r)
{
	double wait = r->drain.interval_ns / 1e9 * queued(r);

	if (r->now >= r->s->seconds)
		return;
	if (queued(r) < 3)
		r->chosen = 1;
	else
		r->chosen *= wait > r->s->max_wait / 2 ? .9 : 1.05;
	r->chosen = fmin(r->chosen, 1);
	at(r, r->now + .1, CHOOSE, 0, 0);
}

static void depart(struct run *r, const struct event *e)
{
	struct client *c = &r->client[e->client];
	double latency = r->now - c->born;
	bool in_time = latency <= DEADLINE;

	r->busy--;
	r->wasted += !in_time;
	if (r->now >= RAMP && r->now < r->s->seconds)
		r->in_time += in_time;
	if (in_time)
		c->answered = r->now;
	if (c->preferred) {
		if (in_time)
			r->latency[r->preferred_in_time] = latency;
		r->preferred_in_time += in_time;
	} else if (r->now >= RAMP) {
		r->wait_max = fmax(r->wait_max, r->now - c->synced);
		if (in_time)
			r->delay[r->delays++] = latency;
	}
	serve(r);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* At most. */
static double clients(const struct scenario *s)
{
	double rate = s->preferred, most = 1;
	unsigned int i;

	for (i = 0; i < 3; i++)
		most = surge(s, i) > most ? surge(s, i) : most;
	rate += s->ordinary * most;
	if (s->crowd)
		rate += s->crowd / s->crowd_every;
	return rate * s->seconds + s->crowd;
}

/* The machine stands still: how long after that time does it go on? */
static double stalled(const struct scenario *s, double at)
{
	double since = s->stall ? fmod(at + s->stall_every / 2, s->stall_every) :
				  0;

	return since < s->stall ? s->stall - since + .000001 : 0;
}

static void simulate(struct run *r)
{
	const struct scenario *s = r->s;
	const double rate[CROWD + 1] = {
		[PREFERRED] = s->preferred, [ORDINARY] = s->ordinary,
		[SPOOFED] = s->spoofed,
	};
	unsigned int most = clients(s) * 2 + 1000;
	int kind;

	for (kind = 0; kind < 2; kind++)
		r->queue[kind] = calloc(most, sizeof(int));
	r->latency = calloc(most, sizeof(double));
	r->delay = calloc(most, sizeof(double));
	r->chosen = 1;
	synq_flight_clock_init(&r->clock, ns(0));
	synq_flight_init(&r->flight[0]);
	synq_flight_init(&r->flight[1]);
	synq_halfopen_init(&r->halfopen, ns(0));
	for (kind = 0; kind < CROWD; kind++) {
		if (!rate[kind])
			continue;
		r->due[kind] = gap(rate[kind]);
		if (kind == PREFERRED)
			r->due[kind] += s->later;
		at(r, r->due[kind], ARRIVE, kind, 0);
	}
	if (s->crowd)
		at(r, s->crowd_every, ARRIVE, CROWD, 0);
	if (r->law == HASH)
		at(r, 0, CHOOSE, 0, 0);
	while (r->events) {
		struct event e = next(r);
		double late = stalled(s, e.at);

		if (late) {
			at(r, e.at + late, e.kind, e.client, e.n);
			continue;
		}
		/* What has come while it stood still comes at once. */
		r->now = fmax(r->now, e.at);
		switch (e.kind) {
		case ARRIVE:
			arrive(r, e.client, rate[e.client]);
			break;
		case SYN:
			syn(r, &e);
			break;
		case ACK:
			ack(r, &e);
			break;
		case DEPART:
			depart(r, &e);
			break;
		case CHOOSE:
			choose(r);
			break;
		}
	}
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

static void release(struct run *r)
{
	free(r->heap);
	free(r->client);
	free(r->queue[0]);
	free(r->queue[1]);
	free(r->latency);
	free(r->delay);
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

static bool one(const struct scenario *s, enum rule law, bool quiet)
{
	struct run r = { .s = s, .law = law };
	double goodput, share, refused, late, put_off, p99, p50, passed;
	bool ok;

	tap_state = tap_seed;
	simulate(&r);
	goodput = r.in_time / (s->seconds - RAMP);
	share = goodput / possible(s);
	refused = (double)r.refused / (r.syns ? r.syns : 1);
	late = (double)r.late_refused / (r.late_syns ? r.late_syns : 1);
	put_off = (double)r.put_off / (r.promoted ? r.promoted : 1);
	qsort(r.latency, r.preferred_in_time, sizeof(double), by_size);
	p99 = r.preferred_in_time ?
		r.latency[(unsigned int)(r.preferred_in_time * .99)] : 0;
	qsort(r.delay, r.delays, sizeof(double), by_size);
	p50 = r.delays ? r.delay[r.delays / 2] : 0;
	passed = overtaken(&r);
	ok = law != SYNQ || (share >= s->goodput_min &&
			     refused <= s->refused_max &&
			     late <= s->late_max &&
			     put_off <= s->withheld_max &&
			     r.preferred_in_time >=
			     s->preferred_min * r.preferred &&
			     passed <= s->overtaken_max &&
			     (s->cookies || !r.cookies));
	if (!quiet || !ok) {
		printf("%s%-34s %-5s goodput %6.1f/s %5.1f %% refused %5.1f %%",
		       quiet ? "# " : "", s->name, law_names[law], goodput,
		       100 * share, 100 * refused);
		if (s->settled)
			printf(" late %5.2f %%", 100 * late);
		printf(" withheld %6.3f %% expired %u wasted %u wait %4.2f s p50 %4.2f s",
		       100 * put_off, r.expired, r.wasted, r.wait_max, p50);
		printf(" preferred %u of %u p99 %4.0f ms, %u found no slot,",
		       r.preferred_in_time, r.preferred, 1e3 * p99,
		       r.overflows);
		printf(" overtaken %5.2f %% cookies %u\n", 100 * passed,
		       r.cookies);
	}
	release(&r);
	return ok;
}

#define BASE .ordinary = 400, .preferred = 5, .rtt = .02, .backlog = 128, \
	.workers = 1, .capacity = { 100, 100, 100 }, .seconds = 45, \
	.max_wait = .3, .goodput_min = .95, .refused_max = 1, \
	.withheld_max = .002, .overtaken_max = .001

#define FAST BASE, .ordinary = 1600, .preferred = 20, .rtt = .04, \
	.capacity = { 400, 400, 400 }

#pragma GCC diagnostic ignored "-Woverride-init"

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
	{ FAST, .name = "400/s, stalls", .stall = .03, .stall_every = .4,
	  .goodput_min = .9 },
	{ FAST, .name = "400/s, stalls, preferred 0.75x", .preferred = 300,
	  .stall = .03, .stall_every = .4, .seconds = 6, .goodput_min = .85 },
	{ FAST, .name = "400/s, preferred 1.5x", .preferred = 600,
	  .seconds = 20 },
	{ FAST, .name = "the same, stalls of 0.1 s", .preferred = 600,
	  .stall = .1, .stall_every = .9, .seconds = 20, .goodput_min = .85 },
	{ FAST, .name = "the same, stalls of 0.5 s", .preferred = 600,
	  .stall = .5, .stall_every = 2, .seconds = 20, .goodput_min = .7 },
	{ FAST, .name = "the same, preferred 0.75x", .preferred = 300,
	  .stall = .5, .stall_every = 2, .seconds = 20, .goodput_min = .65 },
	{ FAST, .name = "400/s, backlog 16", .backlog = 16, .cookies = true },
	{ FAST, .name = "400/s, backlog 16, jitter", .backlog = 16,
	  .jitter = .1, .cookies = true },
	{ FAST, .name = "400/s, 24 workers", .workers = 24, .spread = .5 },
	{ FAST, .name = "400/s, spoofed 10x", .spoofed = 4000,
	  .withheld_max = .0002 },
	{ FAST, .name = "400/s, spoofed 10x, 0.5x", .spoofed = 4000,
	  .ordinary = 200, .goodput_min = .9 },
	{ FAST, .name = "400/s, preferred 1.5x, stalls of 30 ms", .preferred = 600,
	  .stall = .03, .stall_every = .4, .goodput_min = .9 },
	{ FAST, .name = "400/s, preferred 1.5x, jitter", .preferred = 600, .jitter = .1 },
	{ FAST, .name = "preferred 0.75x, backlog 16, RTT 200 ms",
	  .preferred = 300, .backlog = 16, .rtt = .2, .preferred_min = .99,
	  .cookies = true, .overtaken_max = .01 },
	{ FAST, .name = "the same, in waves, to a fresh server", .preferred = 300,
	  .later = 2, .wave = .032, .backlog = 16, .rtt = .2, .preferred_min = .99,
	  .cookies = true, .overtaken_max = .01, .withheld_max = .0001 },
	{ FAST, .name = "the same, 1.5x", .preferred = 600, .backlog = 16,
	  .rtt = .2, .cookies = true, .overtaken_max = .01 },
	{ FAST, .name = "400/s, backlog 16, RTT 200 ms", .backlog = 16,
	  .rtt = .2, .cookies = true, .goodput_min = .9 },
	{ FAST, .name = "the same, RTT 400 ms", .backlog = 16, .rtt = .4,
	  .cookies = true, .goodput_min = .98, .withheld_max = .004 },
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
	  .ordinary = 100, .seconds = 60, .settled = 26,
	  .withheld_max = .02 },
	{ BASE, .name = "the same, backlog 4096", .backlog = 4096,
	  .capacity = { 1, 200, 200 },
	  .ordinary = 100, .seconds = 60, .settled = 26 },
	{ BASE, .name = "1/s, then 1000/s", .capacity = { 1, 1000, 1000 },
	  .ordinary = 100, .seconds = 60, .settled = 22,
	  .withheld_max = .02 },
	{ BASE, .name = "the same, backlog 4096", .backlog = 4096,
	  .capacity = { 1, 1000, 1000 },
	  .ordinary = 100, .seconds = 60, .settled = 22 },
};

int main(int argc, char **argv)
{
	bool quiet = argc > 1 && !strcmp(argv[1], "--check");
	unsigned int n = ARRAY_SIZE(scenarios), i, failed = 0;
	unsigned int law;

	tap_read_seed();
	if (quiet)
		printf("KTAP version 1\n1..%u\n", n);
	for (i = 0; i < n; i++) {
		bool ok = true;

		for (law = quiet ? SYNQ : STOCK; law < LAWS; law++)
			ok = one(&scenarios[i], law, quiet) && ok;
		if (quiet)
			printf("%s %u - %s\n", ok ? "ok" : "not ok", i + 1,
			       scenarios[i].name);
		failed += !ok;
	}
	return quiet && failed;
}
