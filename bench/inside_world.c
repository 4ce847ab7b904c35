// SPDX-License-Identifier: GPL-2.0
/*
 * Servers that accept everything and queue inside, and their clients, simulated.
 *
 * A client whose SYN is refused sends it again after 1, 2, 3, 4 and 5 s, and leaves 5 s
 * after it came, or sooner: the server works for those who have left as for all others, but who is
 * held is not let in any more.  Some servers close then, though they go on with the work.
 * Handshakes take no time.
 *
 * As in the kernel (inside.c, follow.c, release.c): a class is let in while fewer are busy
 * of it and of those before it than the limit.  Those that are held wait class by class, and
 * are let in by a timer, each millisecond.  Who has waited inside for eight times the mean
 * is stuck, and does not count; when it is answered, the server is known not to be silent.
 * An ordinary client that would be held for too long is refused at the SYN, as far as the
 * answers of the last two seconds tell.  Connections that were let in long ago and ask again
 * are not held back, and do not count.
 *
 * What the limit is decides a law: that of the module (climb.c), or a rival.
 */
#include <linux/minmax.h>
#include <linux/time64.h>

#include "inside_world.h"

#define RATE_S	2.0	/* of which the rate of answers is; or of the last eight */
#define AT_ONCE	64	/* let in */
#define US	1e6
#define LONGEST	10	/* s: for so long at most a request counts */
#define HALVES_FROM 20	/* s */
#define WINDOW	1.5	/* s: for so long it matters that connections were held */

enum what { ARRIVE, HALF, SYN, AFTER_WAY, DONE, FREE, EVERY_TICK, STUCK, LEAVE, GONE };

struct event {
	double at;
	unsigned int order;
	enum what kind;
	int job;		/* or class */
};

static double uniform(struct run *r, enum source from)
{
	tap_state = r->random[from];
	r->random[from] += 0x9e3779b97f4a7c15ULL;
	return (double)(tap_random() >> 11) / (1ULL << 53);
}

static double gap(struct run *r, enum source from, double mean)
{
	return -log(1 - uniform(r, from)) * mean;
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

static void at(struct run *r, double when, enum what kind, int job)
{
	const struct event e = { when, r->order++, kind, job };
	unsigned int i = r->events++;

	r->heap = grow(r->heap, i, &r->heap_room, sizeof(*r->heap));
	for (; i && before(&e, &r->heap[(i - 1) / 2]); i = (i - 1) / 2)
		r->heap[i] = r->heap[(i - 1) / 2];
	r->heap[i] = e;
}

static struct event next(struct run *r)
{
	const struct event first = r->heap[0], e = r->heap[--r->events];
	unsigned int i = 0, c;

	for (c = 1; c < r->events; i = c, c = 2 * i + 1) {
		if (c + 1 < r->events && before(&r->heap[c + 1], &r->heap[c]))
			c++;
		if (!before(&r->heap[c], &e))
			break;
		r->heap[i] = r->heap[c];
	}
	r->heap[i] = e;
	return first;
}

static unsigned int length(const struct fifo *f)
{
	return f->tail - f->head;
}

static void append(struct fifo *f, int job)
{
	f->job = grow(f->job, f->tail, &f->room, sizeof(*f->job));
	f->job[f->tail++] = job;
}

static int take(struct fifo *f)
{
	return f->job[f->head++];
}

double work_s(const struct cell *c, double when)
{
	bool changed = c->wave_s ? fmod(when, 2 * c->wave_s) >= c->wave_s :
		       c->change_at && when >= c->change_at;

	return c->work_s * (changed && c->heavier ? c->heavier : 1);
}

static unsigned int workers(const struct cell *c, double when)
{
	if (!c->change_at || when < c->change_at || !c->more)
		return c->workers;
	return fmax(1, rint(c->workers * c->more));
}

/**
 * patience() - how long after it came does a client leave?
 * @c: with this server
 */
double patience(const struct cell *c)
{
	return c->patience ?: 5;
}

/**
 * capacity() - how many requests a second can be answered?
 * @c: with this server
 * @when: then, s
 */
double capacity(const struct cell *c, double when)
{
	double part = c->stall_every ? 1 - c->stall_s / c->stall_every : 1;

	return part * workers(c, when) / (work_s(c, when) + c->tail_s);
}

/**
 * offered() - how many requests a second are a load of 1?
 * @c: with this server
 */
double offered(const struct cell *c)
{
	return c->workers / (c->work_s + c->tail_s);
}

/**
 * knee() - with how many requests inside is the server just busy?
 * @c: the server
 * @when: then, s
 */
double knee(const struct cell *c, double when)
{
	double s = work_s(c, when);

	return workers(c, when) * (s + c->io_s + c->way_s) / (s + c->tail_s);
}

/* The server's own time, which stands still while it stalls. */
static double server_time(const struct cell *c, double when)
{
	double n;

	if (!c->stall_every)
		return when;
	n = floor(when / c->stall_every);
	return n * (c->stall_every - c->stall_s) +
	       fmin(when - n * c->stall_every, c->stall_every - c->stall_s);
}

static double after(const struct cell *c, double when, double work)
{
	double until, each = c->stall_every - c->stall_s;

	if (!c->stall_every)
		return when + work;
	until = server_time(c, when) + work;
	return until + floor(until / each) * c->stall_s;
}

/* How many times as long does everything take?  1 up to the knee, and at most 4. */
static double slowness(const struct run *r, unsigned int n)
{
	return fmin(4, 1 + r->c->thrash * fmax(0, n / knee(r->c, r->now) - 1));
}

/* Each of those that share the CPUs goes on at the same speed. */
static double speed(const struct run *r)
{
	return fmin(1, (double)workers(r->c, r->now) / r->shares) /
	       slowness(r, r->shares);
}

static void share_advance(struct run *r)
{
	double now = server_time(r->c, r->now);

	if (r->shares)
		r->virtual += (now - r->virtual_at) * speed(r);
	r->virtual_at = now;
}

/* When is the first of them done? */
static void share_plan(struct run *r)
{
	r->share_due = !r->shares ? INFINITY :
		       after(r->c, r->now,
			     fmax(0, r->share[0].done - r->virtual) / speed(r));
}

static void share_add(struct run *r, int job)
{
	const struct share s = { r->virtual + r->job[job].work, job };
	unsigned int i = r->shares++;

	r->share = grow(r->share, i, &r->share_room, sizeof(*r->share));
	for (; i && s.done < r->share[(i - 1) / 2].done; i = (i - 1) / 2)
		r->share[i] = r->share[(i - 1) / 2];
	r->share[i] = s;
}

static int share_take(struct run *r)
{
	const struct share first = r->share[0], s = r->share[--r->shares];
	unsigned int i = 0, c;

	for (c = 1; c < r->shares; i = c, c = 2 * i + 1) {
		if (c + 1 < r->shares && r->share[c + 1].done < r->share[c].done)
			c++;
		if (r->share[c].done >= s.done)
			break;
		r->share[i] = r->share[c];
	}
	r->share[i] = s;
	return first.job;
}

static void work_on(struct run *r)
{
	while (!r->c->shared && r->busy < workers(r->c, r->now) && length(&r->queue)) {
		int job = take(&r->queue);
		double slow = slowness(r, r->busy + length(&r->queue));

		r->busy++;
		at(r, after(r->c, r->now, r->job[job].work * slow), DONE, job);
	}
}

static void serve(struct run *r, int job)
{
	if (r->c->shared && (!r->c->children || r->shares < r->c->children)) {
		share_advance(r);
		share_add(r, job);
		share_plan(r);
	} else if (r->c->shared) {
		append(&r->queue, job);
	} else {
		append(&r->queue, job);
		work_on(r);
	}
}

/* Of a class and those before it. */
static bool has_room(const struct listener *l, unsigned int class)
{
	return l->open[0] + (class ? l->open[1] : 0) < l->limit;
}

/* A few that take very long make no difference; if nearly all do, it grows. */
static void add_to_mean(struct listener *l, double took)
{
	l->mean += (fmin(took, 4 * fmax(l->mean, .25)) - l->mean) / 8;
}

static double longest(const struct listener *l)
{
	return fmax(.25, fmin(LONGEST, 8 * l->mean));
}

static struct listener *listener_of(struct run *r, const struct job *j)
{
	return &r->listener[j->listener];
}

static unsigned int *open_of(struct listener *l, const struct job *j)
{
	return j->kept ? &l->kept : &l->open[j->class];
}

static void let_in(struct run *r, int job)
{
	struct job *j = &r->job[job];
	struct listener *l = listener_of(r, j);
	double way = r->c->io_s + (r->c->way_s ? gap(r, WORK, r->c->way_s) : 0);

	j->began = r->now;
	j->state = BUSY;
	if (!l->open[0] && !l->open[1])
		l->silent_since = r->now;
	*open_of(l, j) += 1;
	at(r, r->now + longest(l), STUCK, job);
	if (j->half)
		at(r, r->now + fmax(fmax(1, 1.05 * l->mean), r->now - j->born), LEAVE, job);
	else if (r->c->aborts)
		at(r, fmax(r->now, j->born + patience(r->c)), LEAVE, job);
	if (j->half)
		return;
	if (way)
		at(r, r->now + way, AFTER_WAY, job);
	else
		serve(r, job);
}

static bool is_looked_at(const struct run *r)
{
	return r->now >= r->c->warm && r->now < r->c->seconds;
}

static double some_work(struct run *r)
{
	double mean = work_s(r->c, r->now);

	switch (r->c->work) {
	case EVEN:
		break;
	case EXPONENTIAL:
		return gap(r, WORK, mean);
	case BIMODAL:
		return mean * (uniform(r, WORK) < .9 ? .5 : 5.5);
	case PARETO:
		return mean * .5 / sqrt(1 - uniform(r, WORK));
	}
	return mean;
}

static void born(struct run *r, unsigned int class)
{
	r->job = grow(r->job, r->jobs, &r->job_room, sizeof(*r->job));
	r->job[r->jobs] = (struct job){
		.born = r->now, .class = class, .work = some_work(r),
		.listener = r->turn++ % r->listeners,
	};
	if (r->now >= r->c->warm)
		r->came[class]++;
	r->jobs++;
}

static void comes(struct run *r, unsigned int class)
{
	born(r, class);
	at(r, r->now, SYN, r->jobs - 1);
}

static void asks_again(struct run *r)
{
	born(r, 1);
	r->job[r->jobs - 1].kept = true;
	let_in(r, r->jobs - 1);
}

static void arrive(struct run *r, int class)
{
	const struct cell *c = r->c;
	double load = class ? c->load : c->preferred;

	if (r->now >= c->seconds)
		return;
	at(r, r->now + gap(r, class ? ORDINARY : PREFERRED,
			   1 / (load * offered(c))), ARRIVE, class);
	if (!class || !c->pulse_s || fmod(r->now, c->pulse_s + c->pause_s) < c->pulse_s)
		comes(r, class);
}

static void half(struct run *r)
{
	if (r->now >= r->c->seconds)
		return;
	at(r, r->now + gap(r, ORDINARY, 1 / r->c->halves), HALF, 0);
	comes(r, 1);
	r->job[r->jobs - 1].half = true;
}

/* One of those who come back at once, or never left. */
static void again(struct run *r, const struct job *j)
{
	const struct cell *c = r->c;

	if (r->now >= c->seconds)
		return;
	if (j->kept && (!c->kept_until || r->now < c->kept_until))
		asks_again(r);
	else if (c->clients && j->class && !j->kept)
		comes(r, 1);
}

static void release(struct run *r, struct listener *l)
{
	unsigned int class, n = 0;

	for (class = 0; class < 2; class++) {
		while (length(&l->held[class]) && has_room(l, class) && n < AT_ONCE) {
			int job = take(&l->held[class]);

			if (r->now - r->job[job].born > patience(r->c)) {
				again(r, &r->job[job]);
				continue;
			}
			let_in(r, job);
			n++;
		}
	}
}

static void syn(struct run *r, int job)
{
	static const double later[] = { 1, 1, 1, 1, 1, 2, 4 };
	struct job *j = &r->job[job];
	struct listener *l = listener_of(r, j);
	double wait = r->rate ? r->listeners * length(&l->held[1]) / r->rate : 0;

	if (r->now - j->born > patience(r->c)) {
		again(r, j);
		return;
	}
	if (has_room(l, j->class) && !length(&l->held[0]) &&
	    (!j->class || !length(&l->held[1]))) {
		let_in(r, job);
		return;
	}
	if (j->class && length(&l->held[1]) >= 3 && wait > r->c->max_wait) {
		r->refused++;
		at(r, r->now + later[min(j->tries, ARRAY_SIZE(later) - 1)], SYN, job);
		j->tries++;
		return;
	}
	append(&l->held[j->class], job);
}

static void note_rate(struct run *r)
{
	struct fifo *f = &r->left;
	unsigned int n;

	append(f, r->now * US);
	while (length(f) > 8 && r->now * US - f->job[f->head] > RATE_S * US)
		f->head++;
	n = length(f);
	if (n >= 8)
		r->rate = US * (n - 1) /
			  fmax(1, f->job[f->tail - 1] - f->job[f->head]);
}

static void note_latency(struct run *r, const struct job *j)
{
	double latency = r->now - j->born;

	r->all[r->samples]++;
	if (latency > patience(r->c))
		return;
	if (is_looked_at(r))
		r->in_time++;
	if (j->born < r->c->warm)
		return;
	if (!j->class)
		r->latency[r->ok[0]] = latency;
	r->ok[j->class]++;
}

static bool has_held(const struct run *r, const struct listener *l)
{
	return r->now - l->ticked <= WINDOW;
}

static bool any_holds(const struct run *r)
{
	unsigned int i;

	for (i = 0; i < r->listeners; i++)
		if (r->listener[i].holds)
			return true;
	return false;
}

/* Where all take very long, one that is late is an answer like any other. */
static void tell_climb(struct run *r, const struct job *j)
{
	struct listener *l = listener_of(r, j);

	if (j->state != BUSY && longest(l) < LONGEST)
		synq_climb_hear(&r->climb);
	else if (has_held(r, l))
		synq_climb_answer(&r->climb, j->kept, NSEC_PER_SEC * (r->now - j->began));
}

static void finish(struct run *r, int job)
{
	struct job *j = &r->job[job];
	struct listener *l = listener_of(r, j);

	if (j->state == LEFT)
		return;
	/* Of those who wait: as fast as they are let in. */
	if (!j->kept)
		note_rate(r);
	note_latency(r, j);
	if (r->now >= r->c->blind_s) {
		l->reached = fmax(l->reached, j->began);
		if (r->rule == CLIMB)
			tell_climb(r, j);
		else if (j->state == BUSY)
			rival_done(r, r->now - j->began);
		add_to_mean(l, r->now - j->began);
		l->silent_since = r->now;
		*open_of(l, j) -= j->state == BUSY;
		j->state = ANSWERED;
	}
	again(r, j);
}

static u64 ns_of(double s)
{
	return NSEC_PER_SEC * s;
}

/*
 * The server closes the connection.  The module counts it until one is answered that was let in
 * later (gone.c).
 */
static void leave(struct run *r, int job)
{
	struct job *j = &r->job[job];
	struct listener *l = listener_of(r, j);
	double waited = r->now - j->began;

	if (j->state != BUSY && j->state != GIVEN_UP)
		return;
	if (j->state == BUSY)
		at(r, r->now, GONE, job);
	if (j->state == BUSY && r->rule == CLIMB)
		synq_climb_left(&r->climb, ns_of(waited), ns_of(j->began - j->born),
				ns_of(l->mean));
	j->state = LEFT;
	again(r, j);
}

static void gone(struct run *r, int job)
{
	const struct job *j = &r->job[job];
	struct listener *l = listener_of(r, j);
	double silent = fmin(j->began - l->silent_since, LONGEST);
	double counts = longest(l) / 2;

	counts = fmax(counts, fmin(silent, 8 * counts));

	if (j->began <= l->reached || r->now > j->began + counts)
		*open_of(l, j) -= 1;
	else
		at(r, r->now + TICK, GONE, job);
}

static void stuck(struct run *r, int job)
{
	struct job *j = &r->job[job];
	struct listener *l = listener_of(r, j);
	double when = j->began + longest(l);

	if (j->state != BUSY)
		return;
	if (when > r->now) {
		at(r, when, STUCK, job);
		return;
	}
	j->state = GIVEN_UP;
	*open_of(l, j) -= 1;
}

static void share_done(struct run *r)
{
	int job;

	share_advance(r);
	job = share_take(r);
	if (r->c->shared && length(&r->queue))
		share_add(r, take(&r->queue));
	share_plan(r);
	finish(r, job);
}

static u64 ns(double s)
{
	return 1e9 * (s + 1000);
}

/* While nobody is held all keep their parts, if a higher limit is tried. */
static void add_load(struct run *r, struct synq_load *load, struct listener *l, bool all_keep)
{
	unsigned int held = length(&l->held[0]) + length(&l->held[1]);

	l->holds = held;
	if (held || (all_keep && has_held(r, l)))
		l->ticked = r->now;
	if (has_held(r, l)) {
		load->held += held;
		load->busy += l->open[0] + l->open[1];
		load->kept += l->kept;
		load->listeners++;
	}
}

/* The module's (crew.c), which is called while any have a part. */
static void climb_tick(struct run *r)
{
	struct synq_load load = { 0 };
	bool all_keep = !any_holds(r) && synq_climb_is_trying(&r->climb);
	unsigned int i;

	for (i = 0; i < r->listeners; i++)
		add_load(r, &load, &r->listener[i], all_keep);
	if (load.listeners)
		synq_climb_tick(&r->climb, ns(r->now), &load);
	else
		synq_climb_put_off(&r->climb);
	for (i = 0; i < r->listeners; i++) {
		struct listener *l = &r->listener[i];
		unsigned int parts = load.listeners + !has_held(r, l);

		l->limit = synq_climb_limit(&r->climb);
		if (parts > 1)
			l->limit = fmax(2, ceil(l->limit / parts));
	}
}

static void tick(struct run *r)
{
	double limit = 0;
	unsigned int i;

	if (r->rule == CLIMB)
		climb_tick(r);
	else if (r->ticks % SAMPLE == 0)
		rival_tick(r);
	for (i = 0; i < r->listeners; i++)
		limit += r->listener[i].limit;
	/* There may be other workers by now. */
	if (r->c->change_at) {
		work_on(r);
		share_advance(r);
		share_plan(r);
	}
	for (i = 0; i < r->listeners; i++)
		release(r, &r->listener[i]);
	if (r->ticks++ % SAMPLE == 0)
		r->limits[r->samples++] = fmin(limit, 1e6);
	at(r, r->now + TICK, EVERY_TICK, 0);
}

static void done(struct run *r, int job)
{
	if (r->c->tail_s)
		at(r, r->now + gap(r, WORK, r->c->tail_s), FREE, 0);
	else
		r->busy--;
	finish(r, job);
	work_on(r);
}

static void handle(struct run *r, const struct event *e)
{
	switch (e->kind) {
	case ARRIVE:
		arrive(r, e->job);
		break;
	case HALF:
		half(r);
		break;
	case SYN:
		syn(r, e->job);
		break;
	case AFTER_WAY:
		serve(r, e->job);
		break;
	case DONE:
		done(r, e->job);
		break;
	case FREE:
		r->busy--;
		work_on(r);
		break;
	case EVERY_TICK:
		tick(r);
		break;
	case STUCK:
		stuck(r, e->job);
		break;
	case LEAVE:
		leave(r, e->job);
		break;
	case GONE:
		gone(r, e->job);
		break;
	}
}

static void begin(struct run *r)
{
	const struct cell *c = r->c;
	unsigned int i, most = (c->seconds + 10) / TICK / SAMPLE;
	double rate = offered(c);

	for (i = 0; i < SOURCES; i++)
		r->random[i] = r->seed + ((u64)i << 48);
	r->limits = calloc(most, sizeof(*r->limits));
	r->all = calloc(most, sizeof(*r->all));
	r->latency = calloc(2 * c->preferred * rate * c->seconds + 1000,
			    sizeof(*r->latency));
	r->share_due = INFINITY;
	/* Any other limit is for all of the server. */
	r->listeners = r->rule == CLIMB && c->listeners ? c->listeners : 1;
	rival_init(r);
	synq_climb_init(&r->climb);
	for (i = 0; i < r->listeners; i++) {
		r->listener[i].mean = .125;
		r->listener[i].ticked = -2 * WINDOW;
		if (r->rule == CLIMB)
			r->listener[i].limit = synq_climb_limit(&r->climb);
	}
	if (c->preferred)
		at(r, 5 + gap(r, PREFERRED, 1 / (c->preferred * rate)), ARRIVE, 0);
	if (c->clients) {
		for (i = 0; i < c->clients; i++)
			comes(r, 1);
	} else if (c->load) {
		at(r, gap(r, ORDINARY, 1 / (c->load * rate)), ARRIVE, 1);
	}
	for (i = 0; i < c->kept; i++)
		asks_again(r);
	if (c->halves)
		at(r, HALVES_FROM, HALF, 0);
	at(r, TICK, EVERY_TICK, 0);
}

/**
 * simulate() - from the first client to the last
 * @r: cell and law; figures are added up here
 */
void simulate(struct run *r)
{
	begin(r);
	while (fmin(r->share_due, r->heap[0].at) <= r->c->seconds + 6) {
		if (r->share_due <= r->heap[0].at) {
			r->now = r->share_due;
			share_done(r);
		} else {
			struct event e = next(r);

			r->now = e.at;
			handle(r, &e);
		}
	}
}

/**
 * release_all() - free what simulate() has taken
 * @r: of a run that is over
 */
void release_all(struct run *r)
{
	unsigned int i;

	free(r->heap);
	free(r->job);
	for (i = 0; i < LISTENERS_MAX; i++) {
		free(r->listener[i].held[0].job);
		free(r->listener[i].held[1].job);
	}
	free(r->queue.job);
	free(r->left.job);
	free(r->share);
	free(r->latency);
	free(r->limits);
	free(r->all);
	free(r->rival.window);
}
