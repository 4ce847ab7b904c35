// SPDX-License-Identifier: GPL-2.0
/*
 * The counters in Prometheus's text format.
 *
 * A family is a metric with its help, its type and all of its samples.  A counter of
 * the kernel is a sample of just one family; what adds up to something that can be
 * named is one family with the label "reason".  The kernel counts times in ranges: they
 * become cumulative buckets.  It adds no times up, so a histogram has no sum.
 *
 * A listener without a SYN yet has no samples: of a range of a thousand ports
 * most are never used.  One that is used has all of them, zeros included, so that the first
 * event of a class is seen as one.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "report.h"

struct family {
	unsigned int type;
	const char *name;
	const char *reason;
	const char *help;
};

/* By listener and class.  Rows of one family are together; the first has its help. */
static const struct family families[] = {
	{ SYNQ_A_COUNTERS_SEEN, "synq_syns_total", NULL,
	  "SYNs judged." },
	{ SYNQ_A_COUNTERS_RETRIES, "synq_syns_retried_total", NULL,
	  "SYNs judged that had been refused before." },
	{ SYNQ_A_COUNTERS_ADMITTED, "synq_syns_admitted_total", NULL,
	  "SYNs within the rates for which the queues had room." },
	{ SYNQ_A_COUNTERS_EXCESS_DROPPED, "synq_syns_refused_total",
	  "excess_dropped",
	  "SYNs refused, by what they were refused for." },
	{ SYNQ_A_COUNTERS_EXCESS_RESET, "synq_syns_refused_total",
	  "excess_reset", NULL },
	{ SYNQ_A_COUNTERS_EXCESS_UNANSWERED, "synq_syns_refused_total",
	  "excess_unanswered", NULL },
	{ SYNQ_A_COUNTERS_QUEUE_REFUSED, "synq_syns_refused_total", "queue",
	  NULL },
	{ SYNQ_A_COUNTERS_WAIT_REFUSED, "synq_syns_refused_total", "wait",
	  NULL },
	{ SYNQ_A_COUNTERS_SHARE_REFUSED, "synq_syns_refused_total", "share",
	  NULL },
	{ SYNQ_A_COUNTERS_EXCESS_COOKIE, "synq_syn_cookies_sent_total",
	  "excess",
	  "SYNs answered by a SYN cookie: over a rate, or by the policy on cookies." },
	{ SYNQ_A_COUNTERS_COOKIE_SENT, "synq_syn_cookies_sent_total", "share",
	  NULL },
	{ SYNQ_A_COUNTERS_EXCESS_PASSED, "synq_syns_excess_passed_total", NULL,
	  "SYNs over a rate, left to the stock kernel." },
	{ SYNQ_A_COUNTERS_BY_MARK, "synq_syns_by_mark_total", NULL,
	  "SYNs that had their class by the mark of their packet." },
	{ SYNQ_A_COUNTERS_BY_SERVICE, "synq_syns_by_service_total", NULL,
	  "SYNs that had their class by a match with a destination." },
	{ SYNQ_A_COUNTERS_BY_PREFIX, "synq_syns_by_prefix_total", NULL,
	  "SYNs that had their class by a match for all destinations." },
	{ SYNQ_A_COUNTERS_NET_EXCEEDED, "synq_syns_net_exceeded_total", NULL,
	  "SYNs over the rate of the network of their source." },
	{ SYNQ_A_COUNTERS_SOURCE_EXCEEDED, "synq_syns_source_exceeded_total",
	  NULL, "SYNs over the rate of their source." },
	{ SYNQ_A_COUNTERS_SOURCE_UNTRACKED, "synq_syns_source_untracked_total",
	  NULL,
	  "SYNs judged by the rate of the class only, because the table of sources was full." },
	{ SYNQ_A_COUNTERS_WOULD_REFUSE, "synq_syns_would_refuse_total", NULL,
	  "SYNs that only enforce off saved from refusal." },
	{ SYNQ_A_COUNTERS_FLOODED, "synq_floods_total", NULL,
	  "Floods of the class found in a SYN queue." },
	{ SYNQ_A_COUNTERS_PROMOTED, "synq_connections_promoted_total", NULL,
	  "Connections let into the accept queue." },
	{ SYNQ_A_COUNTERS_HELD, "synq_connections_held_total", NULL,
	  "Connections held at the final ACK." },
	{ SYNQ_A_COUNTERS_RELEASED, "synq_connections_released_total", NULL,
	  "Held connections promoted when there was room." },
	{ SYNQ_A_COUNTERS_HOLD_GONE, "synq_connections_hold_gone_total", NULL,
	  "Held connections reset by their client, or expired." },
	{ SYNQ_A_COUNTERS_HOLD_FLUSHED, "synq_connections_hold_flushed_total",
	  NULL,
	  "Held connections handed to the kernel before there was room." },
	{ SYNQ_A_COUNTERS_HOLD_FULL, "synq_final_acks_refused_total",
	  "hold_full",
	  "Final ACKs dropped: not held, or of a SYN cookie and without a slot." },
	{ SYNQ_A_COUNTERS_COOKIE_REFUSED, "synq_final_acks_refused_total",
	  "cookie", NULL },
	{ SYNQ_A_COUNTERS_FASTOPEN_DECLINED, "synq_fastopen_declined_total",
	  NULL,
	  "Fast Open SYNs answered by an ordinary handshake for want of a slot." },
	{ SYNQ_A_COUNTERS_GATE_BYPASSED,
	  "synq_connections_gate_bypassed_total", NULL,
	  "Connections let in without a slot, because refusing them would have reset them." },
	{ SYNQ_A_COUNTERS_WOULD_HOLD, "synq_connections_would_hold_total", NULL,
	  "Connections that enforce off saved from being held." },
	{ SYNQ_A_COUNTERS_PLACED, "synq_connections_placed_total", NULL,
	  "Connections put into class order in the accept queue." },
	{ SYNQ_A_COUNTERS_MOVED, "synq_connections_moved_total", NULL,
	  "Connections put before an earlier one." },
	{ SYNQ_A_COUNTERS_WOULD_MOVE, "synq_connections_would_move_total", NULL,
	  "Connections that enforce off left where they were." },
	{ SYNQ_A_COUNTERS_SHARED, "synq_connections_shared_total", NULL,
	  "Connections served early for the min-share of their class." },
	{ SYNQ_A_COUNTERS_ACCEPTED, "synq_connections_accepted_total", NULL,
	  "Placed connections that have left the accept queue." },
	{ SYNQ_A_COUNTERS_CLOSED, "synq_connections_closed_total", NULL,
	  "Placed connections that were queued when their listener closed." },
	{ SYNQ_A_COUNTERS_REPLACED, "synq_connections_replaced_total", NULL,
	  "Placed connections that a new configuration placed once more." },
	{ SYNQ_A_COUNTERS_UNANSWERED, "synq_requests_unanswered_total", NULL,
	  "Requests whose connection ended before an answer began to go out." },
	{ SYNQ_A_COUNTERS_STUCK, "synq_requests_stuck_total", NULL,
	  "Requests that took so long that they did not count any more." },
	{ SYNQ_A_COUNTERS_NOT_FOLLOWED, "synq_connections_not_followed_total",
	  NULL,
	  "Connections that are not followed: busy or not is unknown." },
	{ SYNQ_A_COUNTERS_REQUEST_HELD, "synq_requests_held_total", NULL,
	  "Requests on kept-alive connections that had to wait." },
	{ SYNQ_A_COUNTERS_REQUEST_RELEASED, "synq_requests_released_total", NULL,
	  "Held requests given to the server when there was room." },
	{ SYNQ_A_COUNTERS_REQUEST_OVERDUE, "synq_requests_overdue_total", NULL,
	  "Held requests given to the server after a second." },
	{ SYNQ_A_COUNTERS_REQUEST_FLUSHED, "synq_requests_flushed_total", NULL,
	  "Held requests given to the server because holding ended." },
	{ SYNQ_A_COUNTERS_HALF_OPEN, "synq_half_open_requests", NULL,
	  "Requests in the SYN queues, an estimate." },
	{ SYNQ_A_COUNTERS_FLOODED_NOW, "synq_flooded_sockets", NULL,
	  "Listening sockets whose SYN queue the class floods." },
	{ SYNQ_A_COUNTERS_HELD_NOW, "synq_held_connections", NULL,
	  "Connections that are held." },
	{ SYNQ_A_COUNTERS_QUEUED, "synq_queued_connections", NULL,
	  "Connections in the accept queue, an estimate." },
	{ SYNQ_A_COUNTERS_BUSY_NOW, "synq_busy_connections", NULL,
	  "Connections inside that wait for an answer." },
	{ SYNQ_A_COUNTERS_STUCK_NOW, "synq_stuck_connections", NULL,
	  "Connections inside that have waited for so long that they do not count." },
	{ SYNQ_A_COUNTERS_QUIET_NOW, "synq_quiet_connections", NULL,
	  "Connections inside that do not wait for an answer." },
	{ SYNQ_A_COUNTERS_REQUEST_HELD_NOW, "synq_held_requests", NULL,
	  "Held requests on kept-alive connections." },
};

#define FAMILIES	(sizeof(families) / sizeof(*families))

/* By listener and class; the type is that of the shortest time. */
static const struct family histograms[] = {
	{ SYNQ_A_COUNTERS_WAITED_1MS, "synq_queue_wait_seconds", NULL,
	  "Time in the accept queue, a sample of the accepted connections." },
	{ SYNQ_A_COUNTERS_HELD_1MS, "synq_hold_seconds", NULL,
	  "Time for which released connections had been held." },
	{ SYNQ_A_COUNTERS_ANSWERED_1MS, "synq_answer_seconds", NULL,
	  "Time to the first byte of an answer, at listeners with inside." },
};

#define HISTOGRAMS	(sizeof(histograms) / sizeof(*histograms))

static const char *const bounds[TIMES] = {
	"0.001", "0.004", "0.016", "0.064", "0.256", "1", "4", "+Inf",
};

static_assert(SYNQ_A_COUNTERS_WAITED_LONGER ==
	       SYNQ_A_COUNTERS_WAITED_1MS + TIMES - 1, "queue waits");
static_assert(SYNQ_A_COUNTERS_HELD_LONGER ==
	       SYNQ_A_COUNTERS_HELD_1MS + TIMES - 1, "hold times");
static_assert(SYNQ_A_COUNTERS_ANSWERED_LONGER ==
	       SYNQ_A_COUNTERS_ANSWERED_1MS + TIMES - 1, "answer times");

/* Of the network namespace. */
static const struct family net_families[NET_COUNTERS] = {
	{ SYNQ_A_CONF_ATTACH_FAILED, "synq_sockets_not_managed_total",
	  "attach_failed",
	  "Failed attempts to manage a socket, by reason." },
	{ SYNQ_A_CONF_ATTACH_BUSY, "synq_sockets_not_managed_total",
	  "attach_busy", NULL },
	{ SYNQ_A_CONF_FOREIGN_OWNER, "synq_sockets_not_managed_total",
	  "foreign_owner", NULL },
	{ SYNQ_A_CONF_NO_LISTENER, "synq_syns_without_listener_total", NULL,
	  "SYNs to a configured port on which nothing listens." },
	{ SYNQ_A_CONF_FRAGMENTS, "synq_fragments_total", NULL,
	  "Fragments that could not be judged." },
	{ SYNQ_A_CONF_MALFORMED, "synq_malformed_segments_total", NULL,
	  "Malformed segments to configured ports." },
	{ SYNQ_A_CONF_INDEX_FAILED, "synq_index_failures_total", NULL,
	  "Tables of prefixes without an index, for want of memory." },
};

static void begin(const char *name, const char *type, const char *help)
{
	printf("# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static const char *type_of(const char *name)
{
	size_t length = strlen(name);

	return length > 6 && !strcmp(name + length - 6, "_total") ? "counter" :
								    "gauge";
}

static void put_gauge(const char *name, const char *help, __u64 value)
{
	begin(name, "gauge", help);
	printf("%s %llu\n", name, value);
}

/* 'listener="80",class="gold"': names of classes need no escape. */
static void put_labels(const struct row *row)
{
	if (row->port == PORT_FORWARD)
		printf("listener=\"forward\",class=\"%s\"", row->class);
	else
		printf("listener=\"%u\",class=\"%s\"", row->port, row->class);
}

/* The first row behind those of the same listener. */
static const struct row *next_port(const struct stats *stats,
				   const struct row *row)
{
	const struct row *end = stats->row + stats->rows;
	unsigned int port = row->port;

	while (row < end && row->port == port)
		row++;
	return row;
}

static bool is_used(const struct stats *stats, const struct row *row)
{
	const struct row *end = next_port(stats, row);
	const struct port_now *now = stats_listener(stats, row->port);
	unsigned int i;

	if (now && now->sockets)
		return true;
	for (; row < end; row++) {
		for (i = 0; i <= SYNQ_A_COUNTERS_MAX; i++) {
			if (row->value[i])
				return true;
		}
	}
	return false;
}

static void put_family(const struct stats *stats, const struct family *family,
		       const bool *used)
{
	unsigned int i;

	if (family->help)
		begin(family->name, type_of(family->name), family->help);
	for (i = 0; i < stats->rows; i++) {
		const struct row *row = &stats->row[i];

		if (!used[i])
			continue;
		printf("%s{", family->name);
		put_labels(row);
		if (family->reason)
			printf(",reason=\"%s\"", family->reason);
		printf("} %llu\n", row->value[family->type]);
	}
}

static void put_histogram(const struct stats *stats,
			  const struct family *family, const bool *used)
{
	unsigned int i, j;

	begin(family->name, "histogram", family->help);
	for (i = 0; i < stats->rows; i++) {
		const struct row *row = &stats->row[i];
		__u64 sum = 0;

		if (!used[i])
			continue;
		for (j = 0; j < TIMES; j++) {
			sum += row->value[family->type + j];
			printf("%s_bucket{", family->name);
			put_labels(row);
			printf(",le=\"%s\"} %llu\n", bounds[j], sum);
		}
		printf("%s_count{", family->name);
		put_labels(row);
		printf("} %llu\n", sum);
	}
}

static void put_classes(const struct stats *stats)
{
	const struct row *row, *end;

	if (!stats->rows)
		return;
	begin("synq_class_position", "gauge",
	      "Place of a class in the order of service; 0 is the host itself.");
	end = next_port(stats, stats->row);
	for (row = stats->row; row < end; row++)
		printf("synq_class_position{class=\"%s\"} %td\n", row->class,
		       row - stats->row);
}

static void put_listeners(const struct stats *stats)
{
	const struct port_now *now;
	const struct port_now *end = stats->listener + stats->listeners;

	if (!stats->listeners)
		return;
	begin("synq_listener_sockets", "gauge",
	      "Managed listening sockets of a listener.");
	for (now = stats->listener; now < end; now++)
		printf("synq_listener_sockets{listener=\"%u\"} %u\n", now->port,
		       now->sockets);
	begin("synq_listener_enforced", "gauge",
	      "0 while a listener only counts what would be done.");
	for (now = stats->listener; now < end; now++)
		printf("synq_listener_enforced{listener=\"%u\"} %u\n",
		       now->port, !now->observe && !stats->observe);
	begin("synq_inside_limit_connections", "gauge",
	      "How many connections the server of a listener may work on, of listeners with inside.");
	for (now = stats->listener; now < end; now++) {
		if (now->inside)
			printf("synq_inside_limit_connections{listener=\"%u\"} %u\n",
			       now->port, now->limit);
	}
}

static void put_net(const struct stats *stats)
{
	unsigned int i, j;

	put_gauge("synq_up", "1 if the kernel module answers.", 1);
	put_gauge("synq_bypassed",
		  "1 while synq is off and the stock kernel serves all clients.",
		  stats->bypass);
	put_gauge("synq_enforced",
		  "0 while synq only counts what would be done.",
		  !stats->observe);
	put_gauge("synq_generation", "Number of the configuration in force.",
		  stats->generation);
	put_gauge("synq_trial_left_seconds",
		  "Time until the configuration is rolled back; 0 without a trial.",
		  stats->confirm_left);
	put_gauge("synq_managed_sockets", "Listening sockets that are managed.",
		  stats->sockets);
	put_gauge("synq_matches", "Matches in force.", stats->matches);
	put_gauge("synq_indexed_matches", "Matches that are found by an index.",
		  stats->indexed);
	for (i = 0; i < NET_COUNTERS; i++) {
		const struct family *family = &net_families[i];

		if (family->help)
			begin(family->name, "counter", family->help);
		for (j = 0; net_counters[j].type != family->type; j++)
			;
		if (family->reason)
			printf("%s{reason=\"%s\"} %llu\n", family->name,
			       family->reason, stats->net[j]);
		else
			printf("%s %llu\n", family->name, stats->net[j]);
	}
}

/**
 * stats_prometheus() - print counters in Prometheus's text format
 * @stats: the counters; if it is of one class or listener, without those of the
 *	network namespace
 */
void stats_prometheus(const struct stats *stats)
{
	bool *used = allocate(NULL, stats->rows + 1, sizeof(*used));
	unsigned int i;

	for (i = 0; i < stats->rows; i++) {
		used[i] = i && stats->row[i].port == stats->row[i - 1].port ?
			  used[i - 1] : is_used(stats, &stats->row[i]);
	}
	if (!stats->class && !stats->port) {
		put_net(stats);
		put_classes(stats);
		put_listeners(stats);
	}
	for (i = 0; i < FAMILIES; i++)
		put_family(stats, &families[i], used);
	for (i = 0; i < HISTOGRAMS; i++)
		put_histogram(stats, &histograms[i], used);
	free(used);
}
