// SPDX-License-Identifier: GPL-2.0
/*
 * What a SYN's connection will find in the accept queue when its handshake has
 * completed: from what is queued and from the handshakes under way, either as a sum,
 * which is a bound, or slice by slice, while the server takes connections out.
 *
 * All is read without the lock of the listener's admission, since a flood's SYNs come
 * here, and may be a little old (struct synq_admission).
 *
 * Called in softirq or process context, under rcu_read_lock().
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include "admission.h"
#include "forecast.h"

/* If it comes to the worst: all, or so many times as many as are expected. */
#define AT_MOST	4

/*
 * The listener was found by a SYN, and others had come until it was managed.  All are
 * expected, before anybody.
 */
static void add_unseen(const struct synq_forecast *forecast, struct synq_law *law)
{
	u32 unseen = READ_ONCE(forecast->admission->unseen);

	law->queued += unseen;
	law->most += unseen;
	law->ahead += unseen;
}

static_assert(SYNQ_MIN_SHARE_MAX < 100);	/* share_ahead() divides by the rest */

/*
 * A minimum share does not wait for all of those before its class, and its part of the
 * queue is measured by them.
 */
static void share_ahead(const struct synq_forecast *forecast, struct synq_law *law)
{
	u8 share = forecast->class->min_share;
	u32 others;

	if (forecast->listener->order != SYNQ_ORDER_STRICT || !share)
		return;
	others = law->ahead - min(law->ahead, law->own);
	law->due = (u64)others * share / (100 - share);
	law->ahead = min_t(u64, law->ahead, (u64)law->own * 100 / share);
}

/**
 * synq_forecast_sum() - what is queued or under way
 * @forecast: what is found
 * @law: what is queued is added to: of any class, of the SYN's own, and of those that
 *	will be served before it
 *
 * So many will there be at the most when its handshake has completed.  A bound for what
 * synq_forecast_slices() finds: whom the law lets in by this it would let in by that,
 * too.  So nearly all of a flood that is answered by cookies need not be foreseen.
 *
 * Context: any
 */
void synq_forecast_sum(const struct synq_forecast *forecast, struct synq_law *law)
{
	const struct synq_admission *admission = forecast->admission;
	u8 i;

	for (i = 0; i < forecast->conf->n_positions; i++) {
		u8 slot = forecast->conf->order[i];
		u32 expected = READ_ONCE(admission->expected[slot]);

		law->queued += expected;
		law->most += synq_flight_most(expected,
					      READ_ONCE(admission->open[slot]),
					      AT_MOST);
		if (i <= forecast->class->position)
			law->ahead += expected;
		if (slot == forecast->class->slot)
			law->own += expected;
	}
	add_unseen(forecast, law);
	share_ahead(forecast, law);
}

/**
 * synq_forecast_slices() - what there will be, as far as can be foreseen
 * @forecast: what is found
 * @law: as synq_forecast_sum() left it; what will be queued is written anew
 *
 * Context: any
 */
void synq_forecast_slices(const struct synq_forecast *forecast,
			  struct synq_law *law)
{
	const struct synq_admission *admission = forecast->admission;
	u64 expected[SYNQ_FLIGHT_WINDOW] = { 0 };
	u64 ahead[SYNQ_FLIGHT_WINDOW] = { 0 };
	u64 most[SYNQ_FLIGHT_WINDOW] = { 0 };
	struct synq_flight_outlook outlook = {
		.handshake_ns = READ_ONCE(admission->handshake_ns),
		.slice_ns = READ_ONCE(admission->slice_ns),
		.interval_ns = forecast->interval_ns,
		.bunch = min_t(u32, law->limit - 1, SYNQ_FLIGHT_BUNCH),
	};
	u8 i;

	/* All flights that matter have advanced to the slice that ends then. */
	synq_flight_outlook_at(&outlook, READ_ONCE(admission->due_ns),
			       READ_ONCE(admission->clock.first_ns),
			       ktime_get_ns());
	for (i = 0; i < forecast->conf->n_positions; i++) {
		u8 slot = forecast->conf->order[i];
		const struct synq_flight *flight = &admission->flight[slot];
		u32 ratio = READ_ONCE(admission->ratio[slot]);

		if (!READ_ONCE(admission->open[slot]))
			continue;
		synq_flight_due(flight, ratio, AT_MOST, most);
		synq_flight_due(flight, ratio, 1, expected);
		if (i <= forecast->class->position)
			synq_flight_due(flight, ratio, 1, ahead);
	}
	law->queued = synq_flight_forecast(expected, forecast->queued, &outlook);
	law->most = synq_flight_forecast(most, forecast->queued, &outlook);
	law->ahead = synq_flight_forecast(ahead, forecast->ahead, &outlook);
	add_unseen(forecast, law);
	share_ahead(forecast, law);
}
