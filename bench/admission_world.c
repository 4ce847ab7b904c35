// SPDX-License-Identifier: GPL-2.0
/*
 * Clients, a server and its queues, simulated.
 *
 * Clients send a SYN again at 1, 2, 3, 4, 5 and 7 s, as current Linux does (those of one
 * machine in waves, as far apart as its timers are exact), or at 1, 3 and 7 s, and give up
 * at their deadline of 5 s: the server works for those who have left as for all others.
 * One round trip from SYN to final ACK.
 *
 * A connection for which there is no slot is held (hold.c of the module): in order of
 * arrival in its class, up to half of the backlog for a class and those before it, and for
 * 6 s after its SYN.  Beyond that its final ACK is dropped, and what its client sends asks
 * again 0.2, 0.4, 0.8 ... s later; likewise if it came by a SYN cookie.
 *
 * Spoofed SYNs inside the ordinary prefix take places in the SYN queue, for 63 s, or 7 s
 * while it is more than half full.  A full one, and "cookies auto", gives cookies: who has
 * one takes no place there, and its final ACK does not tell when its SYN came.
 */
#include <linux/minmax.h>

#include "admission_model.h"
#include "admission_world.h"

#define DEADLINE	5.0	/* s */
#define HELD_MAX	6.0

enum what { ARRIVE, SYN, ACK, DEPART, CHOOSE, EXPIRE, UNHOLD };

struct event {
	double at;
	unsigned int order;
	enum what kind;
	int client;		/* or enum source */
	unsigned int n;		/* of the try */
};

static double uniform(struct run *r, enum source from)
{
	tap_state = r->random[from];
	r->random[from] += 0x9e3779b97f4a7c15ULL;
	return (double)(tap_random() >> 11) / (1ULL << 53);
}

static double gap(struct run *r, enum source from, double rate)
{
	return -log(1 - uniform(r, from)) / rate;
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

double surge(const struct scenario *s, unsigned int third)
{
	return s->surge[third] ? s->surge[third] : 1;
}

static unsigned int length(const struct fifo *f)
{
	return f->tail - f->head;
}

static unsigned int queued(const struct run *r)
{
	return length(&r->queue[0]) + length(&r->queue[1]);
}

static u64 ns(double s)
{
	return 1e9 * (s + 1000);
}

static struct sight sight_of(const struct run *r, unsigned int kind)
{
	return (struct sight){
		.now_ns = ns(r->now),
		.kind = kind,
		.queued = { length(&r->queue[0]), length(&r->queue[1]) },
		.held = { r->held[0], r->held[1] },
		.half_open = r->half_open,
	};
}

static bool admit(struct run *r, const struct client *c)
{
	struct sight sight = sight_of(r, !c || !c->preferred);

	switch (r->law) {
	case STOCK:
		return queued(r) <= r->s->backlog;
	case GATE:
		return true;
	case HASH:
		if (!sight.kind)
			return true;
		if (c && c->hash >= r->chosen)
			return false;
		break;
	default:
		break;
	}
	return model_admit(r->model, &sight);
}

/* A SYN was let in.  Returns true if it is answered by a cookie. */
static bool begin(struct run *r, unsigned int kind)
{
	struct sight sight = sight_of(r, kind);
	bool cookie = r->half_open >= r->s->backlog;

	if (r->law >= HASH) {
		cookie |= model_gets_cookie(r->model, &sight);
		model_begin(r->model, &sight, cookie);
	}
	r->half_open += !cookie;
	return cookie;
}

static bool has_room(const struct run *r, unsigned int kind, bool cookie)
{
	return queued(r) < (r->law == STOCK ? r->s->backlog + 1 :
			    model_limit(r->model, kind, cookie));
}

static void promote(struct run *r, int client)
{
	struct client *c = &r->client[client];
	unsigned int kind = !c->preferred;
	struct sight sight = sight_of(r, kind);
	struct fifo *f = &r->queue[kind];

	r->promoted++;
	r->half_open -= !c->cookie;
	model_append(r->model, &sight, r->departed);
	r->departed = 0;
	f->client[f->tail++] = client;
}

static void serve(struct run *r)
{
	const struct scenario *s = r->s;
	double mean = s->workers / capacity(r);

	while (r->busy < s->workers && queued(r)) {
		struct fifo *f = &r->queue[!length(&r->queue[0])];

		r->departed++;
		r->busy++;
		at(r, r->now + mean * (1 + s->spread * (2 * uniform(r, OTHER) - 1)),
		   DEPART, f->client[f->head++], 0);
	}
}

/* The next of a class that is held; -1: none is. */
static int first_held(struct run *r, unsigned int kind)
{
	struct fifo *f = &r->hold[kind];

	while (length(f) && !r->client[f->client[f->head]].held)
		f->head++;
	return length(f) ? f->client[f->head] : -1;
}

static void unhold(struct run *r, int client)
{
	struct client *c = &r->client[client];

	c->held = false;
	r->held[!c->preferred]--;
	r->held_for[r->releases++] = r->now - c->connected;
}

static void release(struct run *r)
{
	unsigned int kind;

	serve(r);
	for (kind = 0; kind < 2; kind++) {
		while (r->held[kind] && has_room(r, kind, false)) {
			int client = first_held(r, kind);

			unhold(r, client);
			promote(r, client);
			serve(r);
		}
	}
}

static bool hold(struct run *r, int client)
{
	struct client *c = &r->client[client];
	unsigned int kind = !c->preferred, backlog = r->s->backlog;
	struct fifo *f = &r->hold[kind];

	if (r->law == STOCK || c->cookie ||
	    r->held[0] + kind * r->held[1] >= max(backlog / 2, 1U) ||
	    r->held[0] + r->held[1] >= max(backlog, 2U))
		return false;
	c->held = true;
	r->held[kind]++;
	f->client[f->tail++] = client;
	at(r, c->synced + HELD_MAX, UNHOLD, client, 0);
	return true;
}

static void born(struct run *r, bool preferred)
{
	enum source from = preferred ? PREFERRED : ORDINARY;

	r->client = grow(r->client, r->clients, &r->client_room,
			 sizeof(*r->client));
	r->client[r->clients] = (struct client){
		.born = r->now, .preferred = preferred, .hash = uniform(r, from),
	};
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
		if (admit(r, NULL) && !begin(r, 1))
			at(r, r->now + 7, EXPIRE, 0, 0);
		break;
	default:
		for (n = 0; n < r->s->crowd; n++)
			born(r, false);
		at(r, r->now + r->s->crowd_every, ARRIVE, from, 0);
		return;
	}
	r->due[from] += gap(r, from, rate);
	at(r, r->due[from], ARRIVE, from, 0);
}

/* Nobody has answered its SYN-ACKs, of which the last is sent 31 s after the first. */
static void expire(struct run *r, const struct event *e)
{
	static const double after[] = { 8, 16, 32 };

	if (e->n < ARRAY_SIZE(after) && 2 * r->half_open <= max(8U, r->s->backlog))
		at(r, r->now + after[e->n], EXPIRE, 0, e->n + 1);
	else
		r->half_open--;
}

/* When is a SYN sent again, for the @n-th time?  INFINITY: never. */
static double retry(const struct run *r, const struct client *c, unsigned int n)
{
	static const double linear[] = { 1, 2, 3, 4, 5, 7 }, doubles[] = { 1, 3, 7 };
	double when, wave = r->s->wave;

	if (n > (r->s->doubles ? ARRAY_SIZE(doubles) : ARRAY_SIZE(linear)))
		return INFINITY;
	when = c->born + (r->s->doubles ? doubles : linear)[n - 1];
	return wave ? ceil(when / wave) * wave : when;
}

static void syn(struct run *r, const struct event *e)
{
	struct client *c = &r->client[e->client];
	enum source from = c->preferred ? PREFERRED : ORDINARY;
	double when;

	if (r->now - c->born >= DEADLINE)
		return;
	r->syns++;
	r->late_syns += is_settled(r);
	if (admit(r, c)) {
		c->synced = r->now;
		c->cookie = begin(r, !c->preferred);
		r->cookies += c->cookie && c->preferred;
		at(r, r->now + r->s->rtt *
		   (1 + r->s->jitter * (2 * uniform(r, from) - 1)),
		   ACK, e->client, 0);
		return;
	}
	r->refused++;
	r->late_refused += is_settled(r);
	when = retry(r, c, e->n + 1);
	if (when < INFINITY)
		at(r, when, SYN, e->client, e->n + 1);
}

static void ack(struct run *r, const struct event *e)
{
	struct client *c = &r->client[e->client];
	unsigned int kind = !c->preferred;
	struct sight sight = sight_of(r, kind);
	bool may_pass = has_room(r, kind, c->cookie) &&
			(c->cookie || (!r->held[0] && !(kind && r->held[1])));

	if (!e->n) {
		c->connected = r->now;
		if (r->law >= HASH)
			model_complete(r->model, &sight,
				       1e9 * (r->now - c->synced), c->cookie);
	} else if (r->now - c->born >= DEADLINE) {
		r->expired++;
		r->half_open -= !c->cookie;
		return;
	}
	if (may_pass) {
		promote(r, e->client);
		serve(r);
		return;
	}
	if (!e->n) {
		r->put_off += kind;
		r->overflows += !kind;
	}
	if (!hold(r, e->client))
		at(r, r->now + 0.2 * (1 << e->n), ACK, e->client, e->n + 1);
}

/*
 * As many as keep the queue at half of the longest wait; all when it falls under
 * its floor.
 */
static void choose(struct run *r)
{
	double wait = model_interval_ns(r->model) / 1e9 * queued(r);

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
	release(r);
}

static void handle(struct run *r, const struct event *e, const double *rate)
{
	switch (e->kind) {
	case ARRIVE:
		arrive(r, e->client, rate[e->client]);
		break;
	case SYN:
		syn(r, e);
		break;
	case ACK:
		ack(r, e);
		break;
	case DEPART:
		depart(r, e);
		break;
	case CHOOSE:
		choose(r);
		break;
	case EXPIRE:
		expire(r, e);
		break;
	case UNHOLD:
		if (r->client[e->client].held) {
			unhold(r, e->client);
			r->expired++;
			r->half_open--;
		}
		break;
	}
}

/* At most. */
static double clients(const struct scenario *s)
{
	double rate = s->preferred, most = 1;
	unsigned int i;

	for (i = 0; i < 3; i++)
		most = fmax(most, surge(s, i));
	rate += s->ordinary * most;
	if (s->crowd)
		rate += s->crowd / s->crowd_every;
	return rate * s->seconds + s->crowd;
}

/* The machine stands still: how long after that time does it go on? */
static double stalled(const struct scenario *s, double when)
{
	double since = s->stall ? fmod(when + s->stall_every / 2, s->stall_every) :
				  0;

	return since < s->stall ? s->stall - since + .000001 : 0;
}

/**
 * simulate() - from the first client to the last
 * @r: scenario and law; figures are added up here
 */
void simulate(struct run *r)
{
	const struct scenario *s = r->s;
	const double rate[CROWD + 1] = {
		[PREFERRED] = s->preferred, [ORDINARY] = s->ordinary,
		[SPOOFED] = s->spoofed,
	};
	unsigned int most = clients(s) * 2 + 1000, kind;

	for (kind = 0; kind < SOURCES; kind++)
		r->random[kind] = r->seed + ((u64)kind << 48);
	for (kind = 0; kind < 2; kind++) {
		r->queue[kind].client = calloc(most, sizeof(int));
		r->hold[kind].client = calloc(most, sizeof(int));
	}
	r->latency = calloc(most, sizeof(double));
	r->delay = calloc(most, sizeof(double));
	r->held_for = calloc(most, sizeof(double));
	r->chosen = 1;
	r->model = model_new(s->backlog, s->max_wait, ns(0));
	for (kind = 0; kind < CROWD; kind++) {
		if (!rate[kind])
			continue;
		r->due[kind] = gap(r, kind, rate[kind]);
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
		handle(r, &e, rate);
	}
}

/**
 * release_all() - free what simulate() has taken
 * @r: of a run that is over
 */
void release_all(struct run *r)
{
	unsigned int kind;

	for (kind = 0; kind < 2; kind++) {
		free(r->queue[kind].client);
		free(r->hold[kind].client);
	}
	free(r->heap);
	free(r->client);
	free(r->latency);
	free(r->delay);
	free(r->held_for);
	model_free(r->model);
}
