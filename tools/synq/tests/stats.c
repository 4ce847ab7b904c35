// SPDX-License-Identifier: GPL-2.0
/*
 * Prints made-up counters as the command prints those of the kernel:
 * stats json|prometheus LISTENERS CLASSES; no two counters are alike.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counters.h"
#include "../report.h"

static void fill(struct stats *stats, unsigned int listeners,
		 unsigned int classes)
{
	__u64 next = 1;
	struct row *row;
	unsigned int i, j, k;

	stats->listener = allocate(NULL, listeners + 1,
				   sizeof(*stats->listener));
	for (i = 0; i <= listeners; i++) {
		/* The last one is of what is forwarded. */
		unsigned int port = i < listeners ? 80 + i : PORT_FORWARD;

		stats->listener[i] = (struct port_now){
			.port = port, .sockets = i == 1 ? 0 : i + 1,
			.inside = i ? 0 : SYNQ_INSIDE_AUTO, .limit = i ? 0 : 42,
			.observe = i == 1,
		};
		for (j = 0; j < classes; j++) {
			row = stats_row(stats);
			row->port = port;
			snprintf(row->class, sizeof(row->class), "class-%u", j % 100);
			/* Nobody has come to the second listener. */
			if (i == 1)
				continue;
			for (k = 1; k <= SYNQ_A_COUNTERS_MAX; k++)
				row->value[k] = next++;
			row->value[COUNTER_FIRST_TRIES] =
				row->value[SYNQ_A_COUNTERS_SEEN] -
				row->value[SYNQ_A_COUNTERS_RETRIES];
			row->value[COUNTER_BY_DEFAULT] =
				row->value[SYNQ_A_COUNTERS_SEEN] -
				row->value[SYNQ_A_COUNTERS_BY_MARK] -
				row->value[SYNQ_A_COUNTERS_BY_SERVICE] -
				row->value[SYNQ_A_COUNTERS_BY_PREFIX];
		}
	}
	stats->listeners = listeners;
	for (i = 0; i < NET_COUNTERS; i++)
		stats->net[i] = next++;
	stats->sockets = 5;
	stats->matches = 7;
	stats->indexed = 6;
	stats->generation = 9;
	stats->confirm_left = 11;
	stats->bypass = true;
	stats->observe = false;
}

int main(int argc, char **argv)
{
	struct stats stats = { 0 };

	if (argc != 4)
		return 1;
	fill(&stats, atoi(argv[2]), atoi(argv[3]));
	if (!strcmp(argv[1], "json"))
		stats_json(&stats);
	else
		stats_prometheus(&stats);
	stats_clear(&stats);
	return 0;
}
