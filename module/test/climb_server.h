/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A server for unit tests of climb.c and climb_open.c.
 *
 * It has so many workers, each of which answers so often in a second; more connections than that
 * wait inside and bring nothing.
 */
#ifndef _CLIMB_SERVER_H
#define _CLIMB_SERVER_H

#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "climb.h"
#include "tap.h"

#define MS	((u64)NSEC_PER_MSEC)

struct server {
	struct synq_climb climb;
	u64 now_ns;
	u32 workers;
	u32 rate;		/* answers/second of each worker */
	u32 listeners;		/* that hold connections */
	u32 kept;		/* connections that the limit does not count */
	u32 sham;		/* likewise, which only seem to be busy, ... */
	u32 sham_rate;		/* ... and are answered so often in a second, in all */
	u64 kept_parts;		/* of an answer to those that are kept */
	u64 sham_parts;
	u64 parts;		/* of an answer: of a million */
	bool collapses;		/* with more than 16 inside */
	bool by_chance;		/* are answers, like those of a Poisson process */
	u64 answers;
	u32 part_ms;		/* time passes for so long, though none is held */
};

static inline void begin(struct server *s, u32 workers, u32 rate)
{
	*s = (struct server){
		.now_ns = 1, .workers = workers, .rate = rate, .listeners = 1,
	};
	synq_climb_init(&s->climb);
}

/* The limit, unless a higher one is being tried. */
static inline u32 settled_limit(const struct server *s)
{
	return s->climb.phase == SYNQ_CLIMB_UP ? s->climb.from / 16 :
						 synq_climb_limit(&s->climb);
}

/* Of one listener. */
static inline void tick(struct synq_climb *climb, u64 now_ns, u32 held, u32 busy, u32 kept)
{
	synq_climb_tick(climb, now_ns, &(struct synq_load){
		.held = held, .busy = busy, .kept = kept, .listeners = 1 });
}

static inline u32 answers(struct server *s, u32 busy)
{
	u32 n = 0;

	if (s->by_chance) {
		while (busy--)
			n += tap_below(1000) < s->rate;
		return n;
	}
	s->parts += 1000ULL * busy * s->rate;
	for (; s->parts >= 1000000; s->parts -= 1000000)
		n++;
	return n;
}

/* With so many inside. */
static inline u64 takes_ns(const struct server *s, u32 all)
{
	return NSEC_PER_SEC / s->rate * max(all, s->workers) / s->workers;
}

/* With connections held, or none. */
static inline void run(struct server *s, u32 ms, u32 held)
{
	while (ms--) {
		u32 limit = synq_climb_limit(&s->climb), all = limit + s->kept;
		u32 busy = all < s->workers ? all : s->workers, n = answers(s, busy);

		s->now_ns += MS;
		s->answers += n;
		for (; n; n--) {
			s->kept_parts += s->kept;
			synq_climb_answer(&s->climb, s->kept_parts >= all,
					  takes_ns(s, all));
			s->kept_parts -= s->kept_parts >= all ? all : 0;
		}
		s->sham_parts += s->sham_rate;
		for (; s->sham_parts >= 1000; s->sham_parts -= 1000)
			synq_climb_answer(&s->climb, true, 0);
		synq_climb_tick(&s->climb, s->now_ns, &(struct synq_load){
			.held = held, .busy = limit, .kept = s->kept + s->sham,
			.listeners = s->listeners });
	}
}

/* Of what the server can do, per cent, in the next milliseconds. */
static inline u32 goodput(struct server *s, u32 ms)
{
	u64 before = s->answers;

	run(s, ms, 1);
	return (s->answers - before) * 100 * 1000 / ((u64)s->workers * s->rate * ms);
}

#endif /* _CLIMB_SERVER_H */
