// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that print what is configured: class, listener, mark and set show, and with
 * show_match.c match and service show.
 *
 * Each table has a JSON form, whose keys are the names of the specification with
 * _ for -.  An attribute that the kernel leaves out has no key.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "print.h"
#include "show.h"

static json_t *wait_json(__u32 ms)
{
	return ms == SYNQ_MAX_WAIT_NONE ? json_null() : json_integer(ms);
}

static void net_json(json_t *json, const struct class_spec *spec)
{
	if (spec->net_rate) {
		json_object_set_new(json, "net_rate",
				    json_integer(spec->net_rate));
		json_object_set_new(json, "net_rate_per",
				    json_integer(spec->net_rate_per));
	}
	if (spec->given & GIVEN_NET_BURST)
		json_object_set_new(json, "net_burst",
				    json_integer(spec->net_burst));
	if (spec->given & GIVEN_NET_LEN) {
		json_object_set_new(json, "net_len_v4",
				    json_integer(spec->net_len[0]));
		json_object_set_new(json, "net_len_v6",
				    json_integer(spec->net_len[1]));
	}
}

static json_t *class_json(const struct class *class)
{
	const struct class_spec *spec = &class->spec;
	json_t *json = json_object();

	json_object_set_new(json, "name", json_string(spec->name));
	if (!class->builtin)
		json_object_set_new(json, "priority",
				    json_integer(spec->priority));
	json_object_set_new(json, "default", json_boolean(spec->is_default));
	if (spec->mark)
		json_object_set_new(json, "mark", json_integer(spec->mark));
	if (spec->given & GIVEN_RESERVE)
		json_object_set_new(json, "reserve",
				    json_integer(spec->reserve));
	json_object_set_new(json, "weight", json_integer(spec->weight));
	if (spec->cap)
		json_object_set_new(json, "cap", json_integer(spec->cap));
	if (spec->given & GIVEN_MAX_WAIT)
		json_object_set_new(json, "max_wait",
				    wait_json(spec->max_wait));
	if (spec->min_share)
		json_object_set_new(json, "min_share",
				    json_integer(spec->min_share));
	if (spec->rate) {
		json_object_set_new(json, "rate", json_integer(spec->rate));
		json_object_set_new(json, "rate_per",
				    json_integer(spec->rate_per));
	}
	if (spec->given & GIVEN_BURST)
		json_object_set_new(json, "burst", json_integer(spec->burst));
	if (spec->source_rate) {
		json_object_set_new(json, "source_rate",
				    json_integer(spec->source_rate));
		json_object_set_new(json, "source_rate_per",
				    json_integer(spec->source_rate_per));
	}
	if (spec->given & GIVEN_SOURCE_BURST)
		json_object_set_new(json, "source_burst",
				    json_integer(spec->source_burst));
	if (spec->given & GIVEN_SOURCE_LEN) {
		json_object_set_new(json, "source_len_v4",
				    json_integer(spec->source_len[0]));
		json_object_set_new(json, "source_len_v6",
				    json_integer(spec->source_len[1]));
	}
	net_json(json, spec);
	json_object_set_new(json, "excess",
			    json_string(excess_name(spec->excess)));
	if (spec->cookies)
		json_object_set_new(json, "cookies",
				    json_string(cookies_name(spec->cookies)));
	json_object_set_new(json, "enforce", json_boolean(!spec->observe));
	json_object_set_new(json, "reserve_effective",
			    json_integer(class->reserve));
	json_object_set_new(json, "burst_effective",
			    json_integer(class->burst));
	json_object_set_new(json, "source_burst_effective",
			    json_integer(class->source_burst));
	if (spec->net_rate)
		json_object_set_new(json, "net_burst_effective",
				    json_integer(class->net_burst));
	json_object_set_new(json, "max_wait_effective",
			    wait_json(class->max_wait));
	json_object_set_new(json, "builtin", json_boolean(class->builtin));
	json_object_set_new(json, "matches", json_integer(class->matches));
	return json;
}

/**
 * struct said - what any class says, and so a column is for
 * @weight: a weight other than 1
 * @cookies: a policy of its own
 * @observe: "enforce off"
 */
struct said {
	bool weight;
	bool cookies;
	bool observe;
};

static void say(struct said *said, const struct class_spec *spec)
{
	said->weight |= spec->weight > 1;
	said->cookies |= spec->cookies;
	said->observe |= spec->observe;
}

/* Returns true if the value shown is a default. */
static bool source_cells(struct columns *columns, const struct class *class)
{
	const struct class_spec *spec = &class->spec;
	bool burst = !(spec->given & GIVEN_SOURCE_BURST);
	bool len = !(spec->given & GIVEN_SOURCE_LEN);
	char rate[RATE_TEXT];

	if (!spec->source_rate) {
		columns_cell(columns, "-");
		columns_cell(columns, "-");
		columns_cell(columns, "-");
		return false;
	}
	columns_cell(columns, "%s",
		     rate_text(spec->source_rate, spec->source_rate_per, rate));
	columns_cell(columns, "%u%s", class->source_burst, burst ? "*" : "");
	columns_cell(columns, "%u,%u%s", spec->source_len[0],
		     spec->source_len[1], len ? "*" : "");
	return burst || len;
}

/* Returns true if the value shown is a default. */
static bool net_cells(struct columns *columns, const struct class *class)
{
	const struct class_spec *spec = &class->spec;
	bool burst = !(spec->given & GIVEN_NET_BURST);
	bool len = !(spec->given & GIVEN_NET_LEN);
	char rate[RATE_TEXT];

	if (!spec->net_rate) {
		columns_cell(columns, "-");
		columns_cell(columns, "-");
		columns_cell(columns, "-");
		return false;
	}
	columns_cell(columns, "%s",
		     rate_text(spec->net_rate, spec->net_rate_per, rate));
	columns_cell(columns, "%u%s", class->net_burst, burst ? "*" : "");
	columns_cell(columns, "%u,%u%s", spec->net_len[0], spec->net_len[1],
		     len ? "*" : "");
	return burst || len;
}

/* Returns true if the value shown is a default. */
static bool class_row(struct columns *columns, const struct class *class,
		      const struct said *said)
{
	const struct class_spec *spec = &class->spec;
	bool none = class->max_wait == SYNQ_MAX_WAIT_NONE;
	bool reserve = !(spec->given & GIVEN_RESERVE) && class->reserve;
	bool burst = !(spec->given & GIVEN_BURST) && class->burst;
	bool wait = !(spec->given & GIVEN_MAX_WAIT) && !none;
	bool source;
	char time[TIME_TEXT];
	char rate[RATE_TEXT];

	columns_cell(columns, "%s", spec->name);
	columns_cell(columns, "%s", class->builtin ? "built-in" :
				    spec->is_default ? "default" : "-");
	if (class->builtin)
		columns_cell(columns, "-");
	else
		columns_cell(columns, "%u", spec->priority);
	columns_cell(columns, spec->mark ? "0x%x" : "-", spec->mark);
	columns_cell(columns, said->weight ? "%u" : "-", spec->weight);
	columns_cell(columns, "%u%%%s", class->reserve, reserve ? "*" : "");
	columns_cell(columns, spec->cap ? "%u%%" : "-", spec->cap);
	columns_cell(columns, "%s%s",
		     none ? "none" : time_text(class->max_wait, time),
		     wait ? "*" : "");
	columns_cell(columns, spec->min_share ? "%u%%" : "-", spec->min_share);
	columns_cell(columns, "%s", spec->rate ?
		     rate_text(spec->rate, spec->rate_per, rate) : "-");
	if (class->burst)
		columns_cell(columns, "%u%s", class->burst, burst ? "*" : "");
	else
		columns_cell(columns, "-");
	source = source_cells(columns, class);
	source |= net_cells(columns, class);
	columns_cell(columns, "%s",
		     spec->rate || spec->source_rate ||
		     spec->excess != SYNQ_EXCESS_DROP ?
		     excess_name(spec->excess) : "-");
	columns_cell(columns, "%s",
		     said->cookies ? cookies_name(spec->cookies) : "-");
	columns_cell(columns, "%s",
		     said->observe ? enforce_name(spec->observe) : "-");
	columns_cell(columns, "%u", class->matches);
	columns_row(columns);
	return reserve || burst || wait || source;
}

static bool named(const struct words *words, const char *name)
{
	unsigned int i;

	for (i = words->next; i < words->number; i++) {
		if (!strcmp(words->word[i], name))
			return true;
	}
	return words->next == words->number;
}

static int check_classes(const struct words *words, struct conf *conf)
{
	unsigned int i;

	for (i = words->next; i < words->number; i++) {
		if (!conf_class(conf, words->word[i]))
			return refuse(NULL, words->word[i], "no such class");
	}
	return DONE;
}

static int show_classes(struct words *words, unsigned int flags,
			struct conf *conf)
{
	static const char * const headings[] = {
		"CLASS", "KIND", "PRIORITY", "MARK", "WEIGHT", "RESERVE",
		"CAP", "MAX-WAIT", "MIN-SHARE", "RATE", "BURST",
		"SOURCE-RATE", "SOURCE-BURST", "SOURCE-LEN", "NET-RATE",
		"NET-BURST", "NET-LEN", "EXCESS", "COOKIES", "ENFORCE", "MATCHES",
	};
	const struct class *class[SLOTS];
	unsigned int number = conf_served_classes(conf, class);
	struct columns *columns;
	struct said said = { 0 };
	bool by_default = false;
	unsigned int i;

	if (check_classes(words, conf))
		return REFUSED;
	if (flags & FLAG_JSON) {
		json_array_begin();
		for (i = 0; i < number; i++) {
			if (named(words, class[i]->spec.name))
				json_array_put(class_json(class[i]));
		}
		json_array_end();
		return DONE;
	}
	columns = columns_new(2);
	for (i = 0; i < sizeof(headings) / sizeof(*headings); i++)
		columns_cell(columns, "%s", headings[i]);
	columns_row(columns);
	for (i = 0; i < number; i++)
		say(&said, &class[i]->spec);
	for (i = 0; i < number; i++) {
		if (named(words, class[i]->spec.name))
			by_default |= class_row(columns, class[i], &said);
	}
	columns_print(columns);
	if (by_default)
		puts("* default, not given");
	return DONE;
}

static bool select_ports(struct conf *conf, const struct service *ports)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < conf->listeners; i++) {
		struct listener *listener = &conf->listener[i];

		if (listener->spec.port < ports->first ||
		    listener->spec.port > ports->last)
			continue;
		listener->line = 1;
		any = true;
	}
	return any;
}

/* Words are ports or ranges of them; "port" before one is tolerated. */
static int select_listeners(struct words *words, struct conf *conf)
{
	struct service ports;
	const char *word;
	unsigned int i;

	if (!words_peek(words))
		return DONE;
	for (i = 0; i < conf->listeners; i++)
		conf->listener[i].line = 0;
	while ((word = words_next(words))) {
		if (!strcmp(word, "port") && words_peek(words))
			word = words_next(words);
		if (value_ports(NULL, word, &ports))
			return REFUSED;
		if (!select_ports(conf, &ports))
			return refuse(NULL, word, "no such listener");
	}
	return DONE;
}

static const char *policy_name(const struct listener_spec *spec)
{
	return cookies_name(spec->cookies ?: SYNQ_COOKIES_AUTO);
}

static json_t *listener_json(const struct listener *listener)
{
	const struct listener_spec *spec = &listener->spec;

	json_t *json;

	json = json_pack("{s:i, s:s, s:b, s:s, s:b, s:b, s:i}", "port",
			 (int)spec->port, "order", order_name(spec->order),
			 "app_order", spec->app_order, "cookies",
			 policy_name(spec), "app_cookies", spec->app_cookies,
			 "enforce", !spec->observe, "sockets",
			 (int)listener->sockets);
	if (spec->synack_retries)
		json_object_set_new(json, "synack_retries",
				    json_integer(spec->synack_retries));
	if (spec->inside == SYNQ_INSIDE_AUTO)
		json_object_set_new(json, "inside", json_string("auto"));
	else if (spec->inside)
		json_object_set_new(json, "inside", json_integer(spec->inside));
	if (spec->requests)
		json_object_set_new(json, "requests", json_true());
	if (spec->inside)
		json_object_set_new(json, "inside_limit",
				    json_integer(listener->inside_limit));
	return json;
}

static int show_listeners(struct words *words, unsigned int flags,
			  struct conf *conf)
{
	bool all = !words_peek(words);
	const struct listener_spec *spec;
	struct columns *columns;
	char number[INSIDE_ROOM];
	unsigned int i;

	conf_sort(conf);
	if (select_listeners(words, conf))
		return REFUSED;
	if (flags & FLAG_JSON) {
		json_array_begin();
		for (i = 0; i < conf->listeners; i++) {
			struct listener *listener = &conf->listener[i];

			if (all || listener->line)
				json_array_put(listener_json(listener));
		}
		json_array_end();
		return DONE;
	}
	columns = columns_new(0);
	columns_cell(columns, "PORT");
	columns_cell(columns, "ORDER");
	columns_cell(columns, "APP-ORDER");
	columns_cell(columns, "SYNACK-RETRIES");
	columns_cell(columns, "COOKIES");
	columns_cell(columns, "APP-COOKIES");
	columns_cell(columns, "INSIDE");
	columns_cell(columns, "LIMIT");
	columns_cell(columns, "REQUESTS");
	columns_cell(columns, "ENFORCE");
	columns_cell(columns, "SOCKETS");
	columns_row(columns);
	for (i = 0; i < conf->listeners; i++) {
		if (!all && !conf->listener[i].line)
			continue;
		spec = &conf->listener[i].spec;
		columns_cell(columns, "%u", spec->port);
		columns_cell(columns, "%s", order_name(spec->order));
		columns_cell(columns, "%s", switch_name(spec->app_order));
		if (spec->synack_retries)
			columns_cell(columns, "%u", spec->synack_retries);
		else
			columns_cell(columns, "-");
		columns_cell(columns, "%s", policy_name(spec));
		columns_cell(columns, "%s", switch_name(spec->app_cookies));
		columns_cell(columns, "%s", inside_name(spec->inside, number));
		if (spec->inside && conf->listener[i].sockets)
			columns_cell(columns, "%u", conf->listener[i].inside_limit);
		else
			columns_cell(columns, "-");
		columns_cell(columns, "%s", switch_name(spec->requests));
		columns_cell(columns, "%s", enforce_name(spec->observe));
		columns_cell(columns, "%u", conf->listener[i].sockets);
	}
	columns_print(columns);
	return DONE;
}

static int show_mark(struct words *words, unsigned int flags,
		     struct conf *conf)
{
	__u32 mask = conf->mask;

	if (flags & FLAG_JSON)
		json_print(json_pack("{s:I}", "mark_mask", (json_int_t)mask));
	else if (mask)
		printf("mask 0x%08x, for classes of mark 0x1..0x%x\n", mask,
		       mask / (mask & -mask));
	else
		puts("no mask");
	return DONE;
}

static int show_set(struct words *words, unsigned int flags, struct conf *conf)
{
	if (flags & FLAG_JSON)
		json_print(json_pack("{s:b}", "enforce", !conf->observe));
	else
		printf("enforce %s\n", enforce_name(conf->observe));
	return DONE;
}

/**
 * command_show() - print the classes, matches, listeners, services, the mark mask or
 * what concerns all
 * @words: NAME...: those that are to be printed; none: all
 * @flags: FLAG_JSON
 * @object: what is to be printed
 *
 * Return: exit status.
 */
int command_show(struct words *words, unsigned int flags, enum object object)
{
	struct nl nl = { 0 };
	struct conf conf;
	int error;

	if (object == OBJECT_SERVICE && edit_refuse_end(words, "service show"))
		return REFUSED;
	if (object == OBJECT_MARK && edit_refuse_end(words, "mark show"))
		return REFUSED;
	if (object == OBJECT_SET && edit_refuse_end(words, "set show"))
		return REFUSED;
	conf_init(&conf, NULL);
	error = nl_open(&nl);
	if (!error)
		error = load_conf(&nl, &conf, object != OBJECT_MATCH);
	if (!error) {
		switch (object) {
		case OBJECT_CLASS:
			error = show_classes(words, flags, &conf);
			break;
		case OBJECT_MATCH:
			error = show_matches(words, flags, &conf);
			break;
		case OBJECT_LISTENER:
			error = show_listeners(words, flags, &conf);
			break;
		case OBJECT_SERVICE:
			error = show_services(flags, &conf);
			break;
		case OBJECT_MARK:
			error = show_mark(words, flags, &conf);
			break;
		case OBJECT_SET:
			error = show_set(words, flags, &conf);
			break;
		}
	}
	nl_close(&nl);
	conf_clear(&conf);
	return error;
}
