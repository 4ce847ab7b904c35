// SPDX-License-Identifier: GPL-2.0
/*
 * The names of the counters, and their values, asked from the kernel module.
 */
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "nl.h"

#define TRIES		10

const struct counter counters[COUNTERS] = {
	{ SYNQ_A_COUNTERS_SEEN, "seen", "SEEN" },
	{ SYNQ_A_COUNTERS_ADMITTED, "admitted", "ADMITTED" },
	{ SYNQ_A_COUNTERS_EXCESS_DROPPED, "excess_dropped", "EXCESS-DROPPED" },
	{ SYNQ_A_COUNTERS_EXCESS_PASSED, "excess_passed", "EXCESS-PASSED" },
	{ SYNQ_A_COUNTERS_EXCESS_RESET, "excess_reset", "EXCESS-RESET" },
	{ SYNQ_A_COUNTERS_EXCESS_COOKIE, "excess_cookie", "EXCESS-COOKIE" },
	{ SYNQ_A_COUNTERS_EXCESS_UNANSWERED, "excess_unanswered",
	  "EXCESS-UNANSWERED" },
	{ SYNQ_A_COUNTERS_QUEUE_REFUSED, "queue_refused", "QUEUE-REFUSED" },
	{ SYNQ_A_COUNTERS_WAIT_REFUSED, "wait_refused", "WAIT-REFUSED" },
	{ SYNQ_A_COUNTERS_COOKIE_SENT, "cookie_sent", "COOKIE-SENT" },
	{ SYNQ_A_COUNTERS_SHARE_REFUSED, "share_refused", "SHARE-REFUSED" },
	{ COUNTER_FIRST_TRIES, "first_tries", "FIRST-TRIES" },
	{ SYNQ_A_COUNTERS_RETRIES, "retries", "RETRIES" },
	{ SYNQ_A_COUNTERS_HALF_OPEN, "half_open", "HALF-OPEN" },
	{ SYNQ_A_COUNTERS_FLOODED, "flooded", "FLOODED" },
	{ SYNQ_A_COUNTERS_FLOODED_NOW, "flooded_now", "NOW" },
	{ SYNQ_A_COUNTERS_PROMOTED, "promoted", "PROMOTED" },
	{ SYNQ_A_COUNTERS_HELD, "held", "HELD" },
	{ SYNQ_A_COUNTERS_RELEASED, "released", "RELEASED" },
	{ SYNQ_A_COUNTERS_HOLD_GONE, "hold_gone", "HOLD-GONE" },
	{ SYNQ_A_COUNTERS_HOLD_FLUSHED, "hold_flushed", "HOLD-FLUSHED" },
	{ SYNQ_A_COUNTERS_HELD_NOW, "held_now", "HELD-NOW" },
	{ SYNQ_A_COUNTERS_HOLD_FULL, "hold_full", "HOLD-FULL" },
	{ SYNQ_A_COUNTERS_COOKIE_REFUSED, "cookie_refused", "COOKIE-REFUSED" },
	{ SYNQ_A_COUNTERS_FASTOPEN_DECLINED, "fastopen_declined",
	  "FASTOPEN-DECLINED" },
	{ SYNQ_A_COUNTERS_GATE_BYPASSED, "gate_bypassed", "GATE-BYPASSED" },
	{ SYNQ_A_COUNTERS_PLACED, "placed", "PLACED" },
	{ SYNQ_A_COUNTERS_MOVED, "moved", "MOVED" },
	{ SYNQ_A_COUNTERS_ACCEPTED, "accepted", "ACCEPTED" },
	{ SYNQ_A_COUNTERS_CLOSED, "closed", "CLOSED" },
	{ SYNQ_A_COUNTERS_REPLACED, "replaced", "REPLACED" },
	{ SYNQ_A_COUNTERS_QUEUED, "queued", "QUEUED" },
	{ SYNQ_A_COUNTERS_SHARED, "shared", "SHARED" },
	{ SYNQ_A_COUNTERS_WOULD_REFUSE, "would_refuse", "WOULD-REFUSE" },
	{ SYNQ_A_COUNTERS_WOULD_HOLD, "would_hold", "WOULD-HOLD" },
	{ SYNQ_A_COUNTERS_WOULD_MOVE, "would_move", "WOULD-MOVE" },
	{ SYNQ_A_COUNTERS_SOURCE_UNTRACKED, "source_untracked",
	  "SOURCE-UNTRACKED" },
	{ SYNQ_A_COUNTERS_SOURCE_EXCEEDED, "source_exceeded",
	  "SOURCE-EXCEEDED" },
	{ SYNQ_A_COUNTERS_NET_EXCEEDED, "net_exceeded", "NET-EXCEEDED" },
	{ SYNQ_A_COUNTERS_BY_MARK, "by_mark", "BY-MARK" },
	{ SYNQ_A_COUNTERS_BY_SERVICE, "by_service", "BY-SERVICE" },
	{ SYNQ_A_COUNTERS_BY_PREFIX, "by_prefix", "BY-PREFIX" },
	{ COUNTER_BY_DEFAULT, "by_default", "BY-DEFAULT" },
	{ SYNQ_A_COUNTERS_WAITED_1MS, "waited_1ms", "<=1MS" },
	{ SYNQ_A_COUNTERS_WAITED_4MS, "waited_4ms", "<=4MS" },
	{ SYNQ_A_COUNTERS_WAITED_16MS, "waited_16ms", "<=16MS" },
	{ SYNQ_A_COUNTERS_WAITED_64MS, "waited_64ms", "<=64MS" },
	{ SYNQ_A_COUNTERS_WAITED_256MS, "waited_256ms", "<=256MS" },
	{ SYNQ_A_COUNTERS_WAITED_1S, "waited_1s", "<=1S" },
	{ SYNQ_A_COUNTERS_WAITED_4S, "waited_4s", "<=4S" },
	{ SYNQ_A_COUNTERS_WAITED_LONGER, "waited_longer", ">4S" },
	{ SYNQ_A_COUNTERS_HELD_1MS, "held_1ms", "HELD<=1MS" },
	{ SYNQ_A_COUNTERS_HELD_4MS, "held_4ms", "HELD<=4MS" },
	{ SYNQ_A_COUNTERS_HELD_16MS, "held_16ms", "HELD<=16MS" },
	{ SYNQ_A_COUNTERS_HELD_64MS, "held_64ms", "HELD<=64MS" },
	{ SYNQ_A_COUNTERS_HELD_256MS, "held_256ms", "HELD<=256MS" },
	{ SYNQ_A_COUNTERS_HELD_1S, "held_1s", "HELD<=1S" },
	{ SYNQ_A_COUNTERS_HELD_4S, "held_4s", "HELD<=4S" },
	{ SYNQ_A_COUNTERS_HELD_LONGER, "held_longer", "HELD>4S" },
	{ SYNQ_A_COUNTERS_ANSWERED_1MS, "answered_1ms", "ANSWERED<=1MS" },
	{ SYNQ_A_COUNTERS_ANSWERED_4MS, "answered_4ms", "ANSWERED<=4MS" },
	{ SYNQ_A_COUNTERS_ANSWERED_16MS, "answered_16ms", "ANSWERED<=16MS" },
	{ SYNQ_A_COUNTERS_ANSWERED_64MS, "answered_64ms", "ANSWERED<=64MS" },
	{ SYNQ_A_COUNTERS_ANSWERED_256MS, "answered_256ms", "ANSWERED<=256MS" },
	{ SYNQ_A_COUNTERS_ANSWERED_1S, "answered_1s", "ANSWERED<=1S" },
	{ SYNQ_A_COUNTERS_ANSWERED_4S, "answered_4s", "ANSWERED<=4S" },
	{ SYNQ_A_COUNTERS_ANSWERED_LONGER, "answered_longer", "ANSWERED>4S" },
	{ SYNQ_A_COUNTERS_UNANSWERED, "unanswered", "UNANSWERED" },
	{ SYNQ_A_COUNTERS_STUCK, "stuck", "STUCK" },
	{ SYNQ_A_COUNTERS_NOT_FOLLOWED, "not_followed", "NOT-FOLLOWED" },
	{ SYNQ_A_COUNTERS_BUSY_NOW, "busy_now", "BUSY-NOW" },
	{ SYNQ_A_COUNTERS_STUCK_NOW, "stuck_now", "STUCK-NOW" },
	{ SYNQ_A_COUNTERS_QUIET_NOW, "quiet_now", "QUIET-NOW" },
	{ SYNQ_A_COUNTERS_REQUEST_HELD, "request_held", "REQUEST-HELD" },
	{ SYNQ_A_COUNTERS_REQUEST_RELEASED, "request_released", "REQUEST-RELEASED" },
	{ SYNQ_A_COUNTERS_REQUEST_OVERDUE, "request_overdue", "REQUEST-OVERDUE" },
	{ SYNQ_A_COUNTERS_REQUEST_FLUSHED, "request_flushed", "REQUEST-FLUSHED" },
	{ SYNQ_A_COUNTERS_REQUEST_HELD_NOW, "request_held_now", "REQUEST-HELD-NOW" },
};

/* Of the network namespace. */
const struct counter net_counters[NET_COUNTERS] = {
	{ SYNQ_A_CONF_FRAGMENTS, "fragments", "fragments not judged" },
	{ SYNQ_A_CONF_NO_LISTENER, "no_listener", "SYNs without a listener" },
	{ SYNQ_A_CONF_ATTACH_FAILED, "attach_failed",
	  "sockets not managed: no memory, or too many" },
	{ SYNQ_A_CONF_ATTACH_BUSY, "attach_busy",
	  "sockets not managed: locked by their owner" },
	{ SYNQ_A_CONF_FOREIGN_OWNER, "foreign_owner",
	  "sockets whose operations were replaced" },
	{ SYNQ_A_CONF_MALFORMED, "malformed", "malformed segments" },
	{ SYNQ_A_CONF_INDEX_FAILED, "index_failed",
	  "tables of prefixes without an index: no memory" },
};

/**
 * stats_row() - append a row, of zeros
 * @stats: receives it
 *
 * Return: the row, until the next one is appended.
 */
struct row *stats_row(struct stats *stats)
{
	struct row *row;

	if (stats->rows == stats->room) {
		stats->room = stats->room ? 2 * stats->room : 32;
		stats->row = allocate(stats->row, stats->room,
				      sizeof(*stats->row));
	}
	row = &stats->row[stats->rows++];
	memset(row, 0, sizeof(*row));
	return row;
}

static void take_row(struct nlattr **attr, void *arg)
{
	const char *class = attr_text(attr, SYNQ_A_STATS_CLASS);
	unsigned int port = attr_u16(attr, SYNQ_A_STATS_PORT);
	struct nlattr *value;
	struct stats *stats = arg;
	bool tells = false;
	struct row *row;

	if (!attr[SYNQ_A_STATS_COUNTERS] ||
	    (stats->class && strcmp(stats->class, class)) ||
	    (stats->port && stats->port != port))
		return;
	row = stats_row(stats);
	row->port = port;
	snprintf(row->class, sizeof(row->class), "%s", class);
	mnl_attr_for_each_nested(value, attr[SYNQ_A_STATS_COUNTERS]) {
		if (mnl_attr_get_type(value) <= SYNQ_A_COUNTERS_MAX)
			row->value[mnl_attr_get_type(value)] =
				mnl_attr_get_u64(value);
		tells |= mnl_attr_get_type(value) == SYNQ_A_COUNTERS_BY_MARK;
	}
	row->value[COUNTER_FIRST_TRIES] = row->value[SYNQ_A_COUNTERS_SEEN] -
					  row->value[SYNQ_A_COUNTERS_RETRIES];
	/* An older kernel module says nothing of it. */
	if (tells)
		row->value[COUNTER_BY_DEFAULT] = row->value[SYNQ_A_COUNTERS_SEEN] -
						 row->value[SYNQ_A_COUNTERS_BY_MARK] -
						 row->value[SYNQ_A_COUNTERS_BY_SERVICE] -
						 row->value[SYNQ_A_COUNTERS_BY_PREFIX];
}

static void take_listener(struct nlattr **attr, void *arg)
{
	struct stats *stats = arg;
	struct port_now *now;

	if (stats->listeners == SYNQ_LISTENERS_MAX)
		return;
	now = &stats->listener[stats->listeners++];
	now->port = attr_u16(attr, SYNQ_A_LISTENER_PORT);
	now->sockets = attr_u32(attr, SYNQ_A_LISTENER_SOCKETS);
	now->inside = attr_u32(attr, SYNQ_A_LISTENER_INSIDE);
	now->limit = attr_u32(attr, SYNQ_A_LISTENER_INSIDE_LIMIT);
	now->observe = attr[SYNQ_A_LISTENER_ENFORCE] &&
		       !attr_u8(attr, SYNQ_A_LISTENER_ENFORCE);
}

static void take_net(struct nlattr **attr, void *arg)
{
	struct stats *stats = arg;
	unsigned int i;

	for (i = 0; i < NET_COUNTERS; i++)
		stats->net[i] = attr_u64(attr, net_counters[i].type);
	stats->sockets = attr_u32(attr, SYNQ_A_CONF_SOCKETS);
	stats->matches = attr_u32(attr, SYNQ_A_CONF_MATCHES);
	stats->indexed = attr_u32(attr, SYNQ_A_CONF_INDEXED);
	stats->generation = attr_u32(attr, SYNQ_A_CONF_GENERATION);
	stats->confirm_left = attr_u32(attr, SYNQ_A_CONF_CONFIRM_LEFT);
	stats->bypass = attr_u8(attr, SYNQ_A_CONF_BYPASS);
	stats->observe = attr[SYNQ_A_CONF_ENFORCE] &&
			 !attr_u8(attr, SYNQ_A_CONF_ENFORCE);
}

/**
 * stats_listener() - find a listener
 * @stats: as fetched
 * @port: its local port
 *
 * Return: the listener, or NULL.
 */
const struct port_now *stats_listener(const struct stats *stats,
				      unsigned int port)
{
	unsigned int i;

	for (i = 0; i < stats->listeners; i++) {
		if (stats->listener[i].port == port)
			return &stats->listener[i];
	}
	return NULL;
}

/**
 * stats_fetch() - ask the kernel module for all counters
 * @nl: the conversation
 * @stats: receives them, in place of those that it has; to be cleared by the caller
 *
 * Return: DONE, or REFUSED or UNREACHABLE, reported.
 */
int stats_fetch(struct nl *nl, struct stats *stats)
{
	char room[MNL_NLMSG_HDRLEN + GENL_HDRLEN];
	struct nl_error result;
	unsigned int tries = 0;
	bool interrupted;
	int error;

	if (!stats->listener)
		stats->listener = allocate(NULL, SYNQ_LISTENERS_MAX,
					   sizeof(*stats->listener));
	do {
		if (tries++ == TRIES)
			return fail(REFUSED,
				    "the configuration changes too fast to be read; try again");
		interrupted = false;
		stats->rows = 0;
		stats->listeners = 0;
		error = nl_dump(nl, SYNQ_CMD_STATS_GET, SYNQ_A_STATS_MAX,
				take_row, stats, &interrupted);
		if (!error)
			error = nl_dump(nl, SYNQ_CMD_LISTENER_GET,
					SYNQ_A_LISTENER_MAX, take_listener,
					stats, &interrupted);
		if (error)
			return error;
	} while (interrupted);

	if (nl_call(nl, nl_request(nl, room, SYNQ_CMD_CONF_GET, 0),
		    SYNQ_A_CONF_MAX, take_net, stats, &result))
		return UNREACHABLE;
	return result.code ? nl_refuse(NULL, NULL, &result) : DONE;
}

/**
 * stats_clear() - free what has been fetched
 * @stats: the counters, or zeros
 */
void stats_clear(struct stats *stats)
{
	free(stats->row);
	free(stats->listener);
	stats->row = NULL;
	stats->listener = NULL;
	stats->rows = 0;
	stats->room = 0;
	stats->listeners = 0;
}
