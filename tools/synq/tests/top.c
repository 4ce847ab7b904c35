// SPDX-License-Identifier: GPL-2.0
/*
 * The command top with made-up counters: two listeners with three classes, a second of
 * which always has the same events.  Linked with --wrap, see the Makefile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wrap.h"

int __wrap_nl_open(struct nl *nl)
{
	return DONE;
}

void __wrap_nl_close(struct nl *nl)
{
}

/* A counter that grows by @rate a second. */
static __u64 at(double seconds, unsigned int rate)
{
	return (__u64)(seconds * rate);
}

int __wrap_stats_fetch(struct nl *nl, struct stats *stats)
{
	static const char *const class[] = { "gold", "normal", "a-class-of-15-c" };
	static double began;
	struct timespec now;
	double seconds;
	unsigned int i;

	clock_gettime(CLOCK_MONOTONIC, &now);
	seconds = now.tv_sec + now.tv_nsec / 1e9;
	if (!began)
		began = seconds;
	seconds -= began;
	if (getenv("GONE_AFTER") && seconds > atof(getenv("GONE_AFTER")))
		return fail(UNREACHABLE, "the kernel module is not loaded");
	if (!stats->listener)
		stats->listener = allocate(NULL, 2, sizeof(*stats->listener));
	stats->listener[0] = (struct port_now){ .port = 80, .sockets = 1, .inside = 6,
						.limit = 6 };
	stats->listener[1] = (struct port_now){ .port = 8443, .sockets = 2 };
	stats->listeners = 2;
	stats->sockets = 3;
	stats->rows = 0;
	for (i = 0; i < 9; i++) {
		struct row *row = stats_row(stats);

		row->port = i < 3 ? 80 : i < 6 ? 8443 : PORT_FORWARD;
		snprintf(row->class, sizeof(row->class), "%s", class[i % 3]);
		if (i > 3)
			continue;
		row->value[SYNQ_A_COUNTERS_SEEN] = at(seconds, 100 * (i + 1));
		row->value[SYNQ_A_COUNTERS_ADMITTED] = at(seconds, 60 + i);
		row->value[SYNQ_A_COUNTERS_WAIT_REFUSED] = at(seconds, 90 * i);
		row->value[SYNQ_A_COUNTERS_WAITED_16MS] = at(seconds, 60);
		row->value[SYNQ_A_COUNTERS_QUEUED] = i == 2 ? 900 : 3;
		row->value[SYNQ_A_COUNTERS_BUSY_NOW] = i ? 0 : 5;
		row->value[SYNQ_A_COUNTERS_HELD_NOW] = i == 1 ? 17 : 0;
	}
	return DONE;
}

int main(int argc, char **argv)
{
	struct words words = { .word = argv + 1, .number = argc - 1 };

	return command_top(&words, 0);
}
