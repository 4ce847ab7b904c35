// SPDX-License-Identifier: GPL-2.0
/*
 * The module's admission at one listener, put together as admission.c and synqueue.c do,
 * with two classes in strict order: the preferred, who have a reserve of a quarter, and
 * the ordinary.
 */
#include <linux/minmax.h>
#include <stdlib.h>

#include "../module/handshakes.h"
#include "../module/law.h"
#include "admission_model.h"

struct model {
	unsigned int backlog;
	u64 max_wait_ns;
	struct synq_drain drain;
	struct synq_handshakes shakes;
};

/**
 * model_new() - a listener that is managed from now on
 * @backlog: of the listener
 * @max_wait: of the ordinary, s
 * @now_ns: monotonic clock, ns
 *
 * Return: to be given back by model_free()
 */
struct model *model_new(unsigned int backlog, double max_wait, u64 now_ns)
{
	struct model *m = aligned_alloc(64, (sizeof(*m) + 63) & ~63UL);

	if (!m)
		abort();
	*m = (struct model){ .backlog = backlog, .max_wait_ns = 1e9 * max_wait };
	synq_handshakes_init(&m->shakes, 0, now_ns);
	return m;
}

/**
 * model_free() - undo model_new()
 * @m: the listener
 */
void model_free(struct model *m)
{
	free(m);
}

static struct synq_flight_pace pace_of(const struct model *m)
{
	return (struct synq_flight_pace){
		.interval_ns = m->drain.interval_ns,
		.pace_ns = m->drain.pace_ns,
		.most = 2 * m->backlog + 3,
	};
}

/* What is kept for the preferred. */
static unsigned int reserve(const struct model *m)
{
	return max(m->backlog / 4, 1U);
}

/**
 * model_limit() - up to which length of the queue is a class promoted?
 * @m: the listener, on a machine with two CPUs
 * @kind: the class
 * @cookie: the connection is one of a SYN cookie
 *
 * Return: connections
 */
unsigned int model_limit(const struct model *m, unsigned int kind, bool cookie)
{
	unsigned int taken;

	if (!kind)
		return m->backlog + 1;
	taken = reserve(m) + min(m->backlog / 16, 1U);
	taken += cookie ? 0 : m->backlog / 16;
	return m->backlog > taken ? m->backlog - taken : 1;
}

/**
 * model_interval_ns() - how fast are connections taken out?
 * @m: the listener
 *
 * Return: from one to the next; 0: not known
 */
u64 model_interval_ns(const struct model *m)
{
	return m->drain.interval_ns;
}

/**
 * model_gets_cookie() - would a SYN get a cookie?
 * @m: the listener
 * @sight: what is to be seen
 *
 * Return: true if so
 */
bool model_gets_cookie(struct model *m, const struct sight *sight)
{
	const struct synq_halfopen *halfopen = &m->shakes.halfopen;
	const u32 room = synq_halfopen_room(m->backlog, 4096, true);
	struct synq_halfopen_sight seen = {
		.room = room,
		.length = sight->half_open,
		.share = synq_halfopen_share(room, 2),
		.spare = min(room / 16, 1U),
	};

	if (synq_halfopen_is_low(room, sight->half_open))
		return false;
	synq_handshakes_settle(&m->shakes, sight->half_open, sight->now_ns);
	seen.own = min(halfopen->open[sight->kind], sight->half_open);
	seen.expected = m->shakes.expected[sight->kind];
	seen.kept = seen.share - min(seen.share, halfopen->open[!sight->kind]);
	return synq_halfopen_is_full(&seen) || synq_halfopen_is_idle(&seen);
}

/**
 * model_admit() - may a SYN be let in?
 * @m: the listener
 * @sight: what is to be seen
 *
 * Return: true if so
 */
bool model_admit(struct model *m, const struct sight *sight)
{
	const bool first = !sight->kind;
	const u32 queued = sight->queued[0] + sight->queued[1];
	const u32 pace = m->drain.interval_ns ?: m->drain.pace_ns;
	struct synq_law law = {
		.limit = synq_law_limit(model_limit(m, sight->kind, false),
					m->backlog),
		.queued = queued + sight->held[0] + sight->held[1],
		.there = queued + sight->held[0] + sight->held[1],
		.low = min(queued, m->drain.low),
		.interval_ns = m->drain.interval_ns,
		.max_wait_ns = first ? 0 : m->max_wait_ns,
	};

	law.lull_ns = max_t(u64, m->drain.lull_ns,
			    sight->now_ns - m->drain.last_ns);
	synq_handshakes_advance(&m->shakes, sight->now_ns);
	law.ahead = first ? sight->queued[0] + sight->held[0] : law.queued;
	law.ahead += first ? m->shakes.expected[0] : m->shakes.all_expected;
	law.queued += m->shakes.all_expected;
	law.own = sight->queued[sight->kind] + sight->held[sight->kind] +
		  m->shakes.expected[sight->kind];
	if (first) {
		law.kept = reserve(m);
		if (!synq_drain_is_known(&m->drain))
			law.limit = ~0U;
	}
	if (pace)
		law.gone = m->shakes.least_ns / pace;
	law.paced = synq_flight_clock_paced(&m->shakes.clock, pace_of(m), sight->now_ns);
	return synq_law(&law) == SYNQ_LAW_ADMIT;
}

/**
 * model_begin() - a SYN was let in
 * @m: the listener
 * @sight: what is to be seen
 * @cookie: it was answered by a cookie
 */
void model_begin(struct model *m, const struct sight *sight, bool cookie)
{
	synq_handshakes_begin(&m->shakes, sight->kind, !cookie, pace_of(m), sight->now_ns);
}

/**
 * model_complete() - a final ACK came for the first time
 * @m: the listener
 * @sight: what is to be seen
 * @age_ns: since its SYN
 * @cookie: it was answered by a cookie
 */
void model_complete(struct model *m, const struct sight *sight, u64 age_ns,
		    bool cookie)
{
	synq_handshakes_complete(&m->shakes, sight->kind,
				 cookie ? SYNQ_FINAL_COOKIE : SYNQ_FINAL_ACK,
				 age_ns, true, sight->now_ns);
}

/**
 * model_append() - a connection is put into the accept queue
 * @m: the listener
 * @sight: what is to be seen before
 * @departed: connections that have left since the last one was
 */
void model_append(struct model *m, const struct sight *sight,
		  unsigned int departed)
{
	synq_drain_sample(&m->drain, sight->now_ns,
			  sight->queued[0] + sight->queued[1], departed);
}
