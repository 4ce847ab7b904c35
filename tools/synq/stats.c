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
#include <string.h>

#include "command.h"
#include "counters.h"
#include "notes.h"
#include "print.h"

#define SYN_COUNTERS	11	/* columns of the first table */
#define ALWAYS		2	/* of those, shown even if zero */
#define ANSWERS		(COUNTERS - 19)	/* columns of the last */

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
			total = stats_row(stats);
			total->port = PORT_ALL;
			memcpy(total->class, stats->row[i].class,
			       sizeof(total->class));
		}
		for (j = 0; j <= COUNTER_BY_DEFAULT; j++)
			total->value[j] += stats->row[i].value[j];
	}
}

/* Is there anything to count?  Without retries all are first tries. */
static bool any_count(const struct stats *stats, unsigned int counter)
{
	unsigned int type = counters[counter].type;
	unsigned int i;

	if (type == COUNTER_FIRST_TRIES)
		type = SYNQ_A_COUNTERS_RETRIES;
	for (i = 0; i < stats->rows; i++) {
		if (stats->row[i].value[type])
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
				columns_cell(columns, "%llu",
					     row->value[counters[i].type]);
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

/* On listeners that are passed by, and on a source-rate for what are not clients. */
static void print_notes(struct nl *nl, const struct stats *stats)
{
	bool *unseen = allocate(NULL, PORT_ALL, sizeof(*unseen));
	bool any = false;
	unsigned int i;

	memset(unseen, 0, PORT_ALL * sizeof(*unseen));
	for (i = 0; i < stats->rows; i++) {
		if (stats->row[i].port && stats->row[i].port < PORT_ALL)
			unseen[stats->row[i].port] = true;
	}
	for (i = 0; i < stats->rows; i++) {
		if (stats->row[i].port < PORT_ALL && stats->row[i].value[SYNQ_A_COUNTERS_SEEN])
			unseen[stats->row[i].port] = false;
	}
	for (i = 0; i < PORT_ALL; i++)
		any |= unseen[i];
	if (any && !stats->bypass && !stats->class)
		notes_unseen(unseen);
	notes_sources(nl);
	free(unseen);
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
				    json_integer(row->value[counters[i].type]));
	return json_pack("{s:i, s:s, s:o}", "port", (int)row->port, "class",
			 row->class, "counters", values);
}

/**
 * stats_json() - print counters as JSON
 * @stats: the counters
 */
void stats_json(const struct stats *stats)
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
 * @flags: FLAG_JSON or FLAG_PROMETHEUS
 *
 * Return: exit status.
 */
int command_stats(struct words *words, unsigned int flags)
{
	struct stats stats = { 0 };
	struct nl nl = { 0 };
	int error;

	if ((flags & FLAG_JSON) && (flags & FLAG_PROMETHEUS))
		return refuse(NULL, "--prometheus", "not with -j");
	if (words_peek(words) && !strcmp(words_peek(words), "sources")) {
		if (flags & FLAG_PROMETHEUS)
			return refuse(NULL, "--prometheus",
				      "not an option of stats sources");
		return command_sources(words, flags);
	}
	error = parse(words, &stats);
	if (!error)
		error = nl_open(&nl);
	if (!error && (stats.class || stats.port))
		error = check_filters(&nl, &stats);
	if (!error)
		error = stats_fetch(&nl, &stats);
	if (!error && (flags & FLAG_JSON)) {
		stats_json(&stats);
	} else if (!error && (flags & FLAG_PROMETHEUS)) {
		stats_prometheus(&stats);
	} else if (!error) {
		if (stats.rows)
			print_tables(&stats);
		if (!stats.class && !stats.port)
			print_net(&stats);
		fflush(stdout);
		print_notes(&nl, &stats);
	}
	nl_close(&nl);
	stats_clear(&stats);
	return error;
}
