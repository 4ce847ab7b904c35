// SPDX-License-Identifier: GPL-2.0
/*
 * match show and service show: prefixes and their destinations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify.h"
#include "command.h"
#include "print.h"
#include "show.h"

/**
 * struct selection - the matches to be shown
 * @class: those of these classes
 * @prefix: and these
 * @prefixes: how many
 * @all: no choice was made
 */
struct selection {
	bool class[SLOTS];
	struct prefix *prefix;
	unsigned int prefixes;
	bool all;
};

static bool has_match(const struct conf *conf, const struct prefix *prefix)
{
	unsigned int i;

	for (i = 0; i < SERVICES; i++) {
		if (table_find(&conf->matches, prefix, i))
			return true;
	}
	return false;
}

static int select_matches(const struct words *words, struct conf *conf,
			  struct selection *selection)
{
	unsigned int i;

	memset(selection, 0, sizeof(*selection));
	selection->all = words->next == words->number;
	selection->prefix = allocate(NULL, words->number + 1,
				     sizeof(*selection->prefix));
	for (i = words->next; i < words->number; i++) {
		const char *word = words->word[i];
		struct class *class = conf_class(conf, word);
		struct prefix *prefix;

		if (class) {
			selection->class[class - conf->class] = true;
			continue;
		}
		if (!strpbrk(word, ".:/"))
			return refuse(NULL, word, "no such class");
		prefix = &selection->prefix[selection->prefixes++];
		if (value_prefix(NULL, word, "source", prefix))
			return REFUSED;
		if (!has_match(conf, prefix))
			return refuse(NULL, word, "no such match");
	}
	return DONE;
}

static bool selected(const struct selection *selection,
		     const struct match *match)
{
	unsigned int i;

	if (selection->all || selection->class[match->class])
		return true;
	for (i = 0; i < selection->prefixes; i++) {
		if (!prefix_order(&selection->prefix[i], &match->prefix))
			return true;
	}
	return false;
}

static json_t *match_json(const struct conf *conf, const struct match *match)
{
	const struct service *service = &conf->scope[match->service].service;
	char address[PREFIX_TEXT];
	json_t *json;

	json = json_pack("{s:s, s:i, s:s}", "source",
			 address_text(&match->prefix, address), "length",
			 (int)match->prefix.length, "class",
			 conf->class[match->class].spec.name);
	service_json(json, "", service);
	if (match->timeout)
		json_object_set_new(json, "timeout",
				    json_integer(match->timeout));
	return json;
}

/* "-" where a match has no value. */
static const char *ports_text(const struct service *service, char *text)
{
	const struct service ports = {
		.first = service->first,
		.last = service->last,
	};

	service_text(&ports, text);
	return *text ? text + strlen(" port ") : "-";
}

static void print_destination(const struct service *service, int width)
{
	char ports[SERVICE_TEXT];
	char to[PREFIX_TEXT];

	printf("%-*s  %-11s  ", width,
	       service->to.family ? prefix_text(&service->to, to) : "-",
	       ports_text(service, ports));
}

/* The width of the column, if it was @width so far. */
static int to_width(const struct service *service, int width)
{
	char text[PREFIX_TEXT];
	int length = 2;

	if (service->to.family)
		length = strlen(prefix_text(&service->to, text));
	return length > width ? length : width;
}

/* 0: no match has a destination. */
static int destination_width(const struct conf *conf)
{
	int width = 0;
	unsigned int i;

	for (i = SERVICE_ALL + 1; i < SERVICES; i++) {
		if (conf->scope[i].matches)
			width = to_width(&conf->scope[i].service, width);
	}
	return width;
}

/* No struct columns here: there may be two million rows. */
static void print_matches(const struct conf *conf,
			  const struct selection *selection)
{
	const struct match *match = conf->matches.match;
	char text[PREFIX_TEXT];
	int destination = destination_width(conf);
	int width = strlen("SOURCE");
	bool times = false;
	__u32 i;

	for (i = 0; i < conf->matches.number; i++) {
		int length;

		if (!selected(selection, &match[i]))
			continue;
		length = strlen(prefix_text(&match[i].prefix, text));
		if (length > width)
			width = length;
		times |= match[i].timeout;
	}
	printf("%-*s  ", width, "SOURCE");
	if (destination)
		printf("%-*s  %-11s  ", destination, "TO", "PORT");
	puts(times ? "CLASS            LEFT" : "CLASS");
	for (i = 0; i < conf->matches.number; i++) {
		if (!selected(selection, &match[i]))
			continue;
		printf("%-*s  ", width, prefix_text(&match[i].prefix, text));
		if (destination)
			print_destination(&conf->scope[match[i].service].service,
					  destination);
		if (match[i].timeout)
			printf("%-15s  %us\n",
			       conf->class[match[i].class].spec.name,
			       match[i].timeout);
		else
			puts(conf->class[match[i].class].spec.name);
	}
}

/**
 * show_matches() - print the matches
 * @words: CLASS or PREFIX...: those that are to be printed; none: all
 * @flags: FLAG_JSON
 * @conf: loaded
 *
 * Return: exit status.
 */
int show_matches(struct words *words, unsigned int flags, struct conf *conf)
{
	struct selection selection;
	int error;
	__u32 i;

	error = select_matches(words, conf, &selection);
	conf_sort(conf);
	if (!error && (flags & FLAG_JSON)) {
		json_array_begin();
		for (i = 0; i < conf->matches.number; i++) {
			struct match *match = &conf->matches.match[i];

			if (selected(&selection, match))
				json_array_put(match_json(conf, match));
		}
		json_array_end();
	} else if (!error) {
		print_matches(conf, &selection);
	}
	free(selection.prefix);
	return error;
}

/**
 * show_services() - print the services
 * @flags: FLAG_JSON
 * @conf: loaded
 *
 * Return: exit status.
 */
int show_services(unsigned int flags, struct conf *conf)
{
	unsigned int i;
	int width = 2;

	conf_sort(conf);
	if (flags & FLAG_JSON) {
		json_array_begin();
		for (i = 0; i < conf->forwards; i++) {
			json_t *json = json_object();

			service_json(json, "", &conf->forward[i].service);
			json_object_set_new(json, "forward", json_true());
			json_array_put(json);
		}
		json_array_end();
		return DONE;
	}
	for (i = 0; i < conf->forwards; i++)
		width = to_width(&conf->forward[i].service, width);
	printf("%-*s  %-11s  KIND\n", width, "TO", "PORT");
	for (i = 0; i < conf->forwards; i++) {
		print_destination(&conf->forward[i].service, width);
		puts("forward");
	}
	return DONE;
}
