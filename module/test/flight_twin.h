/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of flight.c share: a slow obvious twin, which keeps every handshake
 * in a list with the times of its begin and end.
 */
#ifndef _SYNQ_TEST_FLIGHT_TWIN_H
#define _SYNQ_TEST_FLIGHT_TWIN_H

#include <linux/time64.h>
#include <linux/types.h>
#include <string.h>

#include "flight.h"

#define MS	((u64)NSEC_PER_MSEC)
#define MANY	4000

struct handshake {
	u64 begun;
	u64 ends;		/* 0: never */
	bool ended;
};

struct twin {
	struct synq_flight flight;
	struct synq_flight_clock clock;
	struct handshake list[MANY];
	unsigned int n;
	u64 now;
};

static struct twin twin;

static inline void begin(u64 now)
{
	memset(&twin, 0, sizeof(twin));
	twin.now = now;
	synq_flight_clock_init(&twin.clock, now);
	synq_flight_init(&twin.flight);
}

/* One more, that takes @takes; 0: it never completes */
static inline void add(u64 takes)
{
	struct handshake *h = &twin.list[twin.n++];

	*h = (struct handshake){ twin.now, takes ? twin.now + takes : 0, false };
	synq_flight_begin(&twin.flight, &twin.clock, twin.now);
}

static inline void pass(u64 until)
{
	for (;;) {
		struct handshake *first = NULL;
		unsigned int i;

		for (i = 0; i < twin.n; i++) {
			struct handshake *h = &twin.list[i];

			if (h->ends && !h->ended && h->ends <= until &&
			    (!first || h->ends < first->ends))
				first = h;
		}
		if (!first)
			break;
		first->ended = true;
		synq_flight_clock_add(&twin.clock, first->ends,
				      first->ends - first->begun);
		synq_flight_complete(&twin.flight, &twin.clock, first->ends,
				     first->ends - first->begun);
	}
	twin.now = until;
	synq_flight_advance(&twin.flight, &twin.clock, twin.now);
}

#endif /* _SYNQ_TEST_FLIGHT_TWIN_H */
