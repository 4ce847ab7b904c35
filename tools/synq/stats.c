// SPDX-License-Identifier: GPL-2.0
/*
 * Counters: of each class at each listener, and of the network namespace.
 *
 * The columns of the first table are the verdicts on SYNs and add up to SEEN.  The
 * second table is about the resulting connections, the gate and the accept queue;
 * each column is a part of another.  Columns of zeros are left out, except SEEN
 * and ADMITTED.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "print.h"

#define TRIES		10

/* Not a counter of the kernel: seen less retries. */
#define FIRST_TRIES_TYPE	0
#define BY_DEFAULT_TYPE		(SYNQ_A_COUNTERS_MAX + 1)

static const struct counter {
	unsigned int type;
	const char *key;
	const char *heading;
} counters[] = {
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
	{ FIRST_TRIES_TYPE, "first_tries", "FIRST-TRIES" },
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
	{ BY_DEFAULT_TYPE, "by_default", "BY-DEFAULT" },
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
};

#define COUNTERS	(sizeof(counters) / sizeof(*counters))
#define SYN_COUNTERS	11	/* columns of the first table */
#define ALWAYS		2	/* of those, shown even if zero */
#define SEEN		0
#define ANSWERS		(COUNTERS - 14)	/* columns of the last */
#define FIRST_TRIES	11
#define RETRIES		12
#define BY_MARK		(BY_DEFAULT - 3)
#define BY_DEFAULT	42

/* Not port numbers: forwarded SYNs, and all listeners together. */
#define PORT_FORWARD	0
#define PORT_ALL	65536

/* Of the network namespace. */
static const struct counter net_counters[] = {
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

#define NET_COUNTERS	(sizeof(net_counters) / sizeof(*net_counters))

/**
 * struct row - a pair of listener and class
 * @port: local port, PORT_FORWARD or PORT_ALL
 * @class: name of the class
 * @value: of each counter
 */
struct row {
	unsigned int port;
	char class[SYNQ_NAME_MAX + 1];
	__u64 value[COUNTERS];
};

/**
 * struct stats - what is shown
 * @class: only this class, or NULL
 * @port: only this listener, or 0
 * @row: the rows, in the order of the kernel, then those of all listeners
 * @rows: how many
 * @room: for how many there is memory
 * @net: counters of the network namespace
 * @sockets: managed now
 * @matches: in force
 * @indexed: of those, found by an index
 * @generation: of the configuration
 * @confirm_left: seconds until it is rolled back, or 0
 * @bypass: switched off
 * @observe: "set enforce off"
 */
struct stats {
	const char *class;
	__u32 port;
	struct row *row;
	unsigned int rows;
	unsigned int room;
	__u64 net[NET_COUNTERS];
	__u32 sockets;
	__u32 matches;
	__u32 indexed;
	__u32 generation;
	__u32 confirm_left;
	bool bypass;
	bool observe;
};

static int parse(struct words *words, struct stats *stats)
{
	const char *word, *value;

	while ((word = words_next(words))) {
		if (strcmp(word, "class") && strcmp(word, "listener"))
			return refuse(NULL, word,
				      "not a stats option (sources, class, listener)");
		value = words_next(words);
		if (*word == 'c' ? !!stats->class : !!stats->port)
			return refuse(NULL, word, "given twice");
		if (!value)
			return refuse(NULL, word, "its value is missing (%s)",
				      *word == 'c' ? "NAME" : "PORT");
		if (*word == 'c') {
			if (value_name(NULL, value))
				return REFUSED;
			stats->class = value;
		} else if (value_range(NULL, value, "port", 1, 65535,
				       &stats->port)) {
			return REFUSED;
		}
	}
	return DONE;
}

/* A class or listener without counters may exist: refuse only one that does not. */
static int check_filters(struct nl *nl, const struct stats *stats)
{
	struct conf conf;
	char text[16];
	int error;

	error = load_conf(nl, &conf, true);
	if (!error && stats->class && !conf_class(&conf, stats->class))
		error = refuse(NULL, stats->class, "no such class");
	if (!error && stats->port) {
		snprintf(text, sizeof(text), "%u", stats->port);
		if (!conf_listener(&conf, stats->port))
			error = refuse(NULL, text, "no such listener");
	}
	conf_clear(&conf);
	return error;
}

static struct row *new_row(struct stats *stats)
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
	struct row *row;
	bool tells = false;
	unsigned int i;

	if (!attr[SYNQ_A_STATS_COUNTERS] ||
	    (stats->class && strcmp(stats->class, class)) ||
	    (stats->port && stats->port != port))
		return;
	row = new_row(stats);
	row->port = port;
	snprintf(row->class, sizeof(row->class), "%s", class);
	mnl_attr_for_each_nested(value, attr[SYNQ_A_STATS_COUNTERS]) {
		for (i = 0; i < COUNTERS; i++) {
			if (mnl_attr_get_type(value) == counters[i].type)
				row->value[i] = mnl_attr_get_u64(value);
		}
		tells |= mnl_attr_get_type(value) == SYNQ_A_COUNTERS_BY_MARK;
	}
	row->value[FIRST_TRIES] = row->value[SEEN] - row->value[RETRIES];
	/* An older kernel module says nothing of it. */
	if (tells)
		row->value[BY_DEFAULT] = row->value[SEEN];
	for (i = BY_MARK; i < BY_DEFAULT; i++)
		row->value[BY_DEFAULT] -= row->value[i];
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

static int fetch(struct nl *nl, struct stats *stats)
{
	char room[MNL_NLMSG_HDRLEN + GENL_HDRLEN];
	struct nl_error result;
	unsigned int tries = 0;
	bool interrupted;
	int error;

	do {
		if (tries++ == TRIES)
			return fail(REFUSED,
				    "the configuration changes too fast to be read; try again");
		interrupted = false;
		stats->rows = 0;
		error = nl_dump(nl, SYNQ_CMD_STATS_GET, SYNQ_A_STATS_MAX,
				take_row, stats, &interrupted);
		if (error)
			return error;
	} while (interrupted);

	if (nl_call(nl, nl_request(nl, room, SYNQ_CMD_CONF_GET, 0),
		    SYNQ_A_CONF_MAX, take_net, stats, &result))
		return UNREACHABLE;
	return result.code ? nl_refuse(NULL, NULL, &result) : DONE;
}

static struct row *find_total(struct stats *stats, unsigned int from,
			      const char *class)
{
	unsigned int i;

	for (i = from; i < stats->rows; i++) {
		if (!strcmp(stats->row[i].class, class))
			return &stats->row[i];
	}
	return NULL;
}

/* Appends rows of PORT_ALL for classes with several listeners. */
static void add_totals(struct stats *stats)
{
	unsigned int rows = stats->rows;
	unsigned int i, j;
	struct row *total;

	if (!rows || stats->row[0].port == stats->row[rows - 1].port)
		return;
	for (i = 0; i < rows; i++) {
		total = find_total(stats, rows, stats->row[i].class);
		if (!total) {
			total = new_row(stats);
			total->port = PORT_ALL;
			memcpy(total->class, stats->row[i].class,
			       sizeof(total->class));
		}
		for (j = 0; j < COUNTERS; j++)
			total->value[j] += stats->row[i].value[j];
	}
}

/* Is there anything to count?  Without retries all are first tries. */
static bool any_count(const struct stats *stats, unsigned int counter)
{
	unsigned int i;

	if (counter == FIRST_TRIES)
		counter = RETRIES;
	for (i = 0; i < stats->rows; i++) {
		if (stats->row[i].value[counter])
			return true;
	}
	return counter < ALWAYS;
}

static void print_table(const struct stats *stats, unsigned int from,
			unsigned int to)
{
	struct columns *columns = columns_new(2);
	const struct row *row;
	bool show[COUNTERS];
	unsigned int i;

	columns_cell(columns, "LISTENER");
	columns_cell(columns, "CLASS");
	for (i = from; i < to; i++) {
		show[i] = any_count(stats, i);
		if (show[i])
			columns_cell(columns, "%s", counters[i].heading);
	}
	columns_row(columns);
	for (row = stats->row; row < stats->row + stats->rows; row++) {
		if (row->port == PORT_ALL || row->port == PORT_FORWARD)
			columns_cell(columns, "%s",
				     row->port ? "all" : "forward");
		else
			columns_cell(columns, "%u", row->port);
		columns_cell(columns, "%s", row->class);
		for (i = from; i < to; i++) {
			if (show[i])
				columns_cell(columns, "%llu", row->value[i]);
		}
	}
	columns_print(columns);
}

/* With a line before it; not if there is nothing in it. */
static void print_further(const struct stats *stats, unsigned int from, unsigned int to)
{
	unsigned int i = from;

	while (i < to && !any_count(stats, i))
		i++;
	if (i == to)
		return;
	putchar('\n');
	print_table(stats, from, to);
}

static void print_tables(struct stats *stats)
{
	add_totals(stats);
	print_table(stats, 0, SYN_COUNTERS);
	print_further(stats, SYN_COUNTERS, ANSWERS);
	print_further(stats, ANSWERS, COUNTERS);
}

static void print_net(const struct stats *stats)
{
	unsigned int i;

	if (stats->rows)
		putchar('\n');
	else
		puts("no listener is configured");
	if (stats->bypass)
		puts("synq is off: the stock kernel serves all clients (synq on resumes)");
	if (stats->observe)
		puts("enforce is off: what would be done is only counted (synq set enforce on)");
	if (stats->confirm_left)
		printf("on trial for %us (synq confirm keeps it)\n",
		       stats->confirm_left);
	printf("sockets managed: %u\n", stats->sockets);
	printf("matches: %u, by index: %u\n", stats->matches, stats->indexed);
	for (i = 0; i < NET_COUNTERS; i++)
		printf("%s: %llu\n", net_counters[i].heading, stats->net[i]);
}

static json_t *conf_json(const struct stats *stats)
{
	json_t *json = json_object();
	unsigned int i;

	json_object_set_new(json, "generation",
			    json_integer(stats->generation));
	if (stats->confirm_left)
		json_object_set_new(json, "confirm_left",
				    json_integer(stats->confirm_left));
	json_object_set_new(json, "bypass", json_boolean(stats->bypass));
	json_object_set_new(json, "enforce", json_boolean(!stats->observe));
	json_object_set_new(json, "sockets", json_integer(stats->sockets));
	json_object_set_new(json, "matches", json_integer(stats->matches));
	json_object_set_new(json, "indexed", json_integer(stats->indexed));
	for (i = 0; i < NET_COUNTERS; i++)
		json_object_set_new(json, net_counters[i].key,
				    json_integer(stats->net[i]));
	return json;
}

static json_t *row_json(const struct row *row)
{
	json_t *values = json_object();
	unsigned int i;

	for (i = 0; i < COUNTERS; i++)
		json_object_set_new(values, counters[i].key,
				    json_integer(row->value[i]));
	return json_pack("{s:i, s:s, s:o}", "port", (int)row->port, "class",
			 row->class, "counters", values);
}

static void print_json(const struct stats *stats)
{
	json_t *rows = json_array();
	unsigned int i;

	for (i = 0; i < stats->rows; i++)
		json_array_append_new(rows, row_json(&stats->row[i]));
	json_print(json_pack("{s:o, s:o}", "conf", conf_json(stats), "stats",
			     rows));
}

/**
 * command_stats() - print counters
 * @words: [class NAME] [listener PORT], or sources and what follows it
 * @flags: FLAG_JSON
 *
 * Return: exit status.
 */
int command_stats(struct words *words, unsigned int flags)
{
	struct stats stats = { 0 };
	struct nl nl = { 0 };
	int error;

	if (words_peek(words) && !strcmp(words_peek(words), "sources"))
		return command_sources(words, flags);
	error = parse(words, &stats);
	if (!error)
		error = nl_open(&nl);
	if (!error && (stats.class || stats.port))
		error = check_filters(&nl, &stats);
	if (!error)
		error = fetch(&nl, &stats);
	if (!error && (flags & FLAG_JSON)) {
		print_json(&stats);
	} else if (!error) {
		if (stats.rows)
			print_tables(&stats);
		if (!stats.class && !stats.port)
			print_net(&stats);
	}
	nl_close(&nl);
	free(stats.row);
	return error;
}
