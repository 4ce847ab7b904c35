// SPDX-License-Identifier: GPL-2.0
/*
 * stats sources: sources that a source-rate limits, the most often refused first.
 *
 * The kernel lists all sources that it remembers, in no order.  They are selected
 * here, where a table of a million rows delays nothing else.  With "top", at most
 * twice the wanted number of rows is kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "print.h"

#define TRIES		10
#define TOP_MAX		1000000

/**
 * struct row - a source
 * @class: of the source
 * @source: its prefix
 * @conformed: SYNs within the rates of source and class
 * @exceeded: SYNs over the rate of the source
 * @net: it is the network of sources
 * @tokens: SYNs that would be within the rate of the source now
 */
struct row {
	char class[SYNQ_NAME_MAX + 1];
	struct prefix source;
	__u64 conformed;
	__u64 exceeded;
	__u32 tokens;
	bool net;
};

/**
 * struct rows - what is shown
 * @class: only this class, or NULL
 * @top: only so many, or 0
 * @row: the rows
 * @rows: how many
 * @room: for how many there is memory
 */
struct rows {
	const char *class;
	__u32 top;
	struct row *row;
	size_t rows;
	size_t room;
};

static int parse(struct words *words, struct rows *list)
{
	const char *word, *value;
	bool top;

	words_next(words);
	while ((word = words_next(words))) {
		top = !strcmp(word, "top");
		if (!top && strcmp(word, "class"))
			return refuse(NULL, word,
				      "not a stats sources option (class, top)");
		if (top ? !!list->top : !!list->class)
			return refuse(NULL, word, "given twice");
		value = words_next(words);
		if (!value)
			return refuse(NULL, word, "its value is missing (%s)",
				      top ? "N" : "NAME");
		if (top ? value_range(NULL, value, "top", 1, TOP_MAX,
				      &list->top) : value_name(NULL, value))
			return REFUSED;
		if (!top)
			list->class = value;
	}
	return DONE;
}

static int check_class(struct nl *nl, const char *name)
{
	struct conf conf;
	int error;

	error = load_conf(nl, &conf, true);
	if (!error && !conf_class(&conf, name))
		error = refuse(NULL, name, "no such class");
	conf_clear(&conf);
	return error;
}

static int descending(__u64 a, __u64 b)
{
	return a > b ? -1 : a < b;
}

static int row_order(const void *a, const void *b)
{
	const struct row *one = a;
	const struct row *two = b;
	int order = descending(one->exceeded, two->exceeded);

	if (!order)
		order = descending(one->conformed, two->conformed);
	if (!order)
		order = prefix_order(&one->source, &two->source);
	return order ? order : strcmp(one->class, two->class);
}

/* Sorts, and drops the rows beyond "top". */
static void choose(struct rows *list)
{
	if (list->rows)
		qsort(list->row, list->rows, sizeof(*list->row), row_order);
	if (list->top && list->rows > list->top)
		list->rows = list->top;
}

static struct row *new_row(struct rows *list)
{
	if (list->rows == list->room && list->top &&
	    list->room >= 2 * (size_t)list->top)
		choose(list);
	if (list->rows == list->room) {
		list->room = list->room ? 2 * list->room : 32;
		list->row = allocate(list->row, list->room, sizeof(*list->row));
	}
	return &list->row[list->rows++];
}

static void take_row(struct nlattr **attr, void *arg)
{
	const char *class = attr_text(attr, SYNQ_A_SOURCE_CLASS);
	const struct nlattr *source = attr[SYNQ_A_SOURCE_SOURCE];
	struct rows *list = arg;
	struct row *row;
	__u16 length;

	if (!source || (list->class && strcmp(list->class, class)))
		return;
	length = mnl_attr_get_payload_len(source);
	if (length != 4 && length != 16)
		return;
	row = new_row(list);
	memset(row, 0, sizeof(*row));
	snprintf(row->class, sizeof(row->class), "%s", class);
	row->source.family = length == 4 ? AF_INET : AF_INET6;
	row->source.length = attr_u8(attr, SYNQ_A_SOURCE_LENGTH);
	memcpy(row->source.address, mnl_attr_get_payload(source), length);
	row->conformed = attr_u64(attr, SYNQ_A_SOURCE_CONFORMED);
	row->exceeded = attr_u64(attr, SYNQ_A_SOURCE_EXCEEDED);
	row->net = attr[SYNQ_A_SOURCE_NET];
	row->tokens = attr_u32(attr, SYNQ_A_SOURCE_TOKENS);
}

static int fetch(struct nl *nl, struct rows *list)
{
	unsigned int tries;
	bool interrupted;
	int error;

	for (tries = 0; tries < TRIES; tries++) {
		interrupted = false;
		list->rows = 0;
		error = nl_dump(nl, SYNQ_CMD_SOURCE_GET, SYNQ_A_SOURCE_MAX,
				take_row, list, &interrupted);
		if (error || !interrupted) {
			choose(list);
			return error;
		}
	}
	return fail(REFUSED,
		    "the configuration changes too fast to be read; try again");
}

/* No struct columns here: there may be a million rows. */
static void print_table(const struct rows *list)
{
	const struct row *row = list->row;
	const struct row *end = row + list->rows;
	int source = strlen("SOURCE");
	int class = strlen("CLASS");
	char text[PREFIX_TEXT];

	for (; row < end; row++) {
		int length = strlen(prefix_text(&row->source, text));

		if (length > source)
			source = length;
		length = strlen(row->class);
		if (length > class)
			class = length;
	}
	printf("%-*s  %-*s  %10s  %10s  %7s\n", source, "SOURCE", class,
	       "CLASS", "CONFORMED", "EXCEEDED", "TOKENS");
	for (row = list->row; row < end; row++)
		printf("%-*s  %-*s  %10llu  %10llu  %7u\n", source,
		       prefix_text(&row->source, text), class, row->class,
		       row->conformed, row->exceeded, row->tokens);
}

static void print_json(const struct rows *list)
{
	const struct row *row;
	char text[PREFIX_TEXT];
	json_t *json;

	json_array_begin();
	for (row = list->row; row < list->row + list->rows; row++) {
		json = json_object();
		json_object_set_new(json, "class", json_string(row->class));
		json_object_set_new(json, "source",
				    json_string(address_text(&row->source,
							     text)));
		json_object_set_new(json, "length",
				    json_integer(row->source.length));
		json_object_set_new(json, "conformed",
				    json_integer(row->conformed));
		json_object_set_new(json, "exceeded",
				    json_integer(row->exceeded));
		json_object_set_new(json, "tokens", json_integer(row->tokens));
		if (row->net)
			json_object_set_new(json, "net", json_true());
		json_array_put(json);
	}
	json_array_end();
}

/**
 * command_sources() - print the sources that are limited by a source-rate
 * @words: sources [class NAME] [top N]
 * @flags: FLAG_JSON
 *
 * Return: exit status.
 */
int command_sources(struct words *words, unsigned int flags)
{
	struct rows list = { 0 };
	struct nl nl = { 0 };
	int error;

	error = parse(words, &list);
	if (!error)
		error = nl_open(&nl);
	if (!error && list.class)
		error = check_class(&nl, list.class);
	if (!error)
		error = fetch(&nl, &list);
	if (!error && (flags & FLAG_JSON))
		print_json(&list);
	else if (!error && list.rows)
		print_table(&list);
	else if (!error)
		puts("no source is remembered");
	nl_close(&nl);
	free(list.row);
	return error;
}
