// SPDX-License-Identifier: GPL-2.0
/*
 * The grammar: every word of the language, and how its value is read.
 *
 * The tables also have words that do nothing yet: these are refused by name, not
 * accepted and ignored.
 */
#include <string.h>

#include "grammar.h"

static const char * const excess_names[] = {
	[SYNQ_EXCESS_DROP] = "drop",
	[SYNQ_EXCESS_PASS] = "pass",
	[SYNQ_EXCESS_RESET] = "reset",
	[SYNQ_EXCESS_COOKIE] = "cookie",
	[SYNQ_EXCESS_REFUSE] = "refuse",
};

static const char * const cookies_names[] = {
	[SYNQ_COOKIES_INHERIT] = "none",
	[SYNQ_COOKIES_AUTO] = "auto",
	[SYNQ_COOKIES_ALWAYS] = "always",
	[SYNQ_COOKIES_NEVER] = "never",
};

static const char * const order_names[] = {
	[SYNQ_ORDER_STRICT] = "strict",
	[SYNQ_ORDER_FIFO] = "fifo",
	[SYNQ_ORDER_WEIGHTED] = "weighted",
};

static bool taken_away(struct edit *edit, const char *text, int *error)
{
	if (strcmp(text, "none"))
		return false;
	*error = DONE;
	if (edit->verb != VERB_SET)
		*error = refuse(&edit->origin, text,
				"removes an option, so it is valid in %s set only",
				edit->object == OBJECT_CLASS ? "class" :
							       "listener");
	return true;
}

static int parse_priority(struct edit *edit, const char *text)
{
	return value_range(&edit->origin, text, "priority", 0,
			   SYNQ_PRIORITY_MAX, &edit->class.priority);
}

/* The value is optional: "default" or "default none". */
static int parse_default(struct edit *edit, const char *text)
{
	int error = DONE;

	edit->class.is_default = true;
	if (text && taken_away(edit, text, &error))
		edit->class.is_default = false;
	return error;
}

static int parse_mark(struct edit *edit, const char *text)
{
	int error;

	edit->class.mark = 0;
	if (taken_away(edit, text, &error))
		return error;
	error = value_bits(&edit->origin, text, "mark", &edit->class.mark);
	if (!error && !edit->class.mark)
		error = refuse(&edit->origin, text,
			       "mark 0 means \"not marked\", no class can have it");
	return error;
}

static int parse_reserve(struct edit *edit, const char *text)
{
	return value_percent(&edit->origin, text,
			     "reserve is a share of the backlog", 0,
			     SYNQ_RESERVE_MAX, &edit->class.reserve);
}

static int parse_cap(struct edit *edit, const char *text)
{
	int error;

	edit->class.cap = 0;
	if (taken_away(edit, text, &error))
		return error;
	return value_percent(&edit->origin, text,
			     "cap is a share of the backlog", 1, SYNQ_CAP_MAX,
			     &edit->class.cap);
}

/* Here "none" is an ordinary value, since most classes have a default. */
static int parse_max_wait(struct edit *edit, const char *text)
{
	if (!strcmp(text, "none")) {
		edit->class.max_wait = SYNQ_MAX_WAIT_NONE;
		return DONE;
	}
	return value_time(&edit->origin, text, "max-wait", SYNQ_MAX_WAIT_MAX,
			  &edit->class.max_wait);
}

static int parse_min_share(struct edit *edit, const char *text)
{
	int error;

	edit->class.min_share = 0;
	if (taken_away(edit, text, &error))
		return error;
	return value_percent(&edit->origin, text,
			     "min-share is a share of what is accepted", 1,
			     SYNQ_MIN_SHARE_MAX, &edit->class.min_share);
}

static int parse_weight(struct edit *edit, const char *text)
{
	return value_range(&edit->origin, text, "weight", 1, SYNQ_WEIGHT_MAX,
			   &edit->class.weight);
}

static int parse_rate(struct edit *edit, const char *text)
{
	int error;

	edit->class.rate = 0;
	edit->class.rate_per = 1;
	if (taken_away(edit, text, &error))
		return error;
	return value_rate(&edit->origin, text, "rate", SYNQ_RATE_MAX,
			  &edit->class.rate, &edit->class.rate_per);
}

static int parse_burst(struct edit *edit, const char *text)
{
	return value_range(&edit->origin, text, "burst", 1, SYNQ_BURST_MAX,
			   &edit->class.burst);
}

static int parse_source_rate(struct edit *edit, const char *text)
{
	int error;

	edit->class.source_rate = 0;
	edit->class.source_rate_per = 1;
	if (taken_away(edit, text, &error))
		return error;
	return value_rate(&edit->origin, text, "source-rate",
			  SYNQ_SOURCE_RATE_MAX, &edit->class.source_rate,
			  &edit->class.source_rate_per);
}

static int parse_source_burst(struct edit *edit, const char *text)
{
	return value_range(&edit->origin, text, "source-burst", 1,
			   SYNQ_BURST_MAX, &edit->class.source_burst);
}

static int parse_source_len(struct edit *edit, const char *text)
{
	return value_lengths(&edit->origin, text, "source-len",
			     edit->class.source_len);
}

static int parse_net_rate(struct edit *edit, const char *text)
{
	int error;

	edit->class.net_rate = 0;
	edit->class.net_rate_per = 1;
	if (taken_away(edit, text, &error))
		return error;
	return value_rate(&edit->origin, text, "net-rate", SYNQ_SOURCE_RATE_MAX,
			  &edit->class.net_rate, &edit->class.net_rate_per);
}

static int parse_net_burst(struct edit *edit, const char *text)
{
	return value_range(&edit->origin, text, "net-burst", 1, SYNQ_BURST_MAX,
			   &edit->class.net_burst);
}

static int parse_net_len(struct edit *edit, const char *text)
{
	return value_lengths(&edit->origin, text, "net-len",
			     edit->class.net_len);
}

static int parse_excess(struct edit *edit, const char *text)
{
	unsigned int i;

	for (i = 0; i < sizeof(excess_names) / sizeof(*excess_names); i++) {
		if (!strcmp(text, excess_names[i])) {
			edit->class.excess = i;
			return DONE;
		}
	}
	return refuse(&edit->origin, text,
		      "excess is drop, pass, reset, cookie or refuse");
}

/* For a class or a listener; other objects do not read it. */
static int parse_cookies(struct edit *edit, const char *text)
{
	unsigned int i;
	int error;

	edit->class.cookies = SYNQ_COOKIES_INHERIT;
	edit->listener.cookies = SYNQ_COOKIES_INHERIT;
	if (taken_away(edit, text, &error))
		return error;
	for (i = SYNQ_COOKIES_AUTO;
	     i < sizeof(cookies_names) / sizeof(*cookies_names); i++) {
		if (!strcmp(text, cookies_names[i])) {
			edit->class.cookies = i;
			edit->listener.cookies = i;
			return DONE;
		}
	}
	return refuse(&edit->origin, text, "cookies is auto, always or never");
}

static int parse_source_file(struct edit *edit, const char *text)
{
	edit->sources = text;
	return DONE;
}

static int parse_source(struct edit *edit, const char *text)
{
	return value_sources(&edit->origin, text, &edit->range, NULL);
}

static int parse_to(struct edit *edit, const char *text)
{
	return value_prefix(&edit->origin, text, "destination",
			    &edit->service.to);
}

static int parse_ports(struct edit *edit, const char *text)
{
	return value_ports(&edit->origin, text, &edit->service);
}

/**
 * grammar_name() - read the name of a class
 * @edit: the edit that it is for
 * @text: the word
 *
 * Return: DONE or REFUSED.
 */
int grammar_name(struct edit *edit, const char *text)
{
	if (value_name(&edit->origin, text))
		return REFUSED;
	memcpy(edit->class.name, text, strlen(text) + 1);
	return DONE;
}

static int parse_port(struct edit *edit, const char *text)
{
	struct service ports;

	if (value_ports(&edit->origin, text, &ports))
		return REFUSED;
	edit->listener.port = ports.first;
	edit->listener.last = ports.last;
	return DONE;
}

static int parse_forward(struct edit *edit, const char *text)
{
	return text ? refuse(&edit->origin, text, "unexpected after forward") :
		      DONE;
}

static int parse_exist(struct edit *edit, const char *text)
{
	edit->exist = true;
	return text ? refuse(&edit->origin, text, "unexpected after -e") : DONE;
}

static int parse_prefer(struct edit *edit, const char *text)
{
	edit->prefer = true;
	return text ? refuse(&edit->origin, text, "unexpected after prefer") :
		      DONE;
}

static int parse_timeout(struct edit *edit, const char *text)
{
	return value_duration(&edit->origin, text, "timeout",
			      SYNQ_MATCH_TIMEOUT_MAX, &edit->timeout);
}

static int parse_order(struct edit *edit, const char *text)
{
	unsigned int i;

	for (i = 0; i < sizeof(order_names) / sizeof(*order_names); i++) {
		if (!strcmp(text, order_names[i])) {
			edit->listener.order = i;
			return DONE;
		}
	}
	return refuse(&edit->origin, text,
		      "order is strict, weighted or fifo");
}

static int parse_switch(struct edit *edit, const char *text, const char *what,
			bool *on)
{
	*on = !strcmp(text, "on");
	if (!*on && strcmp(text, "off"))
		return refuse(&edit->origin, text, "%s is on or off", what);
	return DONE;
}

static int parse_app_order(struct edit *edit, const char *text)
{
	return parse_switch(edit, text, "app-order",
			    &edit->listener.app_order);
}

static int parse_app_cookies(struct edit *edit, const char *text)
{
	return parse_switch(edit, text, "app-cookies",
			    &edit->listener.app_cookies);
}

static int parse_synack_retries(struct edit *edit, const char *text)
{
	int error;

	edit->listener.synack_retries = 0;
	if (taken_away(edit, text, &error))
		return error;
	return value_range(&edit->origin, text, "synack-retries", 1,
			   SYNQ_SYNACK_RETRIES_MAX,
			   &edit->listener.synack_retries);
}

static int parse_inside(struct edit *edit, const char *text)
{
	edit->listener.inside = 0;
	if (!strcmp(text, "off"))
		return DONE;
	if (!strcmp(text, "auto")) {
		edit->listener.inside = SYNQ_INSIDE_AUTO;
		return DONE;
	}
	if (text[strspn(text, "0123456789")])
		return refuse(&edit->origin, text,
			      "inside is auto, off or a number, 1..%u", SYNQ_INSIDE_MAX);
	return value_range(&edit->origin, text, "inside", 1, SYNQ_INSIDE_MAX,
			   &edit->listener.inside);
}

static int parse_requests(struct edit *edit, const char *text)
{
	return parse_switch(edit, text, "requests", &edit->listener.requests);
}

/* For a class, a listener or "set"; other objects do not read it. */
static int parse_enforce(struct edit *edit, const char *text)
{
	bool enforce;

	if (parse_switch(edit, text, "enforce", &enforce))
		return REFUSED;
	edit->observe = !enforce;
	edit->class.observe = !enforce;
	edit->listener.observe = !enforce;
	return DONE;
}

static int parse_mask(struct edit *edit, const char *text)
{
	__u32 mask;

	if (value_bits(&edit->origin, text, "mask", &edit->mask))
		return REFUSED;
	mask = edit->mask;
	/* Adding the lowest bit carries through a run of bits and out of it. */
	if (mask & (mask + (mask & -mask)))
		return refuse(&edit->origin, text,
			      "the bits of the mask are not contiguous");
	return DONE;
}

static const struct option class_options[] = {
	{ "priority", GIVEN_PRIORITY, "0..15", parse_priority },
	{ "default", GIVEN_DEFAULT, NULL, parse_default },
	{ "mark", GIVEN_MARK, "N", parse_mark },
	{ "weight", GIVEN_WEIGHT, "1..1000", parse_weight },
	{ "reserve", GIVEN_RESERVE, "N%", parse_reserve },
	{ "cap", GIVEN_CAP, "N%", parse_cap },
	{ "max-wait", GIVEN_MAX_WAIT, "TIME or none", parse_max_wait },
	{ "min-share", GIVEN_MIN_SHARE, "N%", parse_min_share },
	{ "rate", GIVEN_RATE, "N/UNIT", parse_rate },
	{ "burst", GIVEN_BURST, "N", parse_burst },
	{ "source-rate", GIVEN_SOURCE_RATE, "N/UNIT", parse_source_rate },
	{ "source-burst", GIVEN_SOURCE_BURST, "N", parse_source_burst },
	{ "source-len", GIVEN_SOURCE_LEN, "V4,V6", parse_source_len },
	{ "net-rate", GIVEN_NET_RATE, "N/UNIT", parse_net_rate },
	{ "net-burst", GIVEN_NET_BURST, "N", parse_net_burst },
	{ "net-len", GIVEN_NET_LEN, "V4,V6", parse_net_len },
	{ "excess", GIVEN_EXCESS, "drop, pass, reset, cookie or refuse",
	  parse_excess },
	{ "cookies", GIVEN_COOKIES, "auto, always or never", parse_cookies },
	{ "enforce", GIVEN_ENFORCE, "on or off", parse_enforce },
	{ }
};

static const struct option match_options[] = {
	{ "source", GIVEN_SOURCE, "PREFIX", parse_source },
	{ "source-file", GIVEN_SOURCE, "FILE", parse_source_file },
	{ "to", GIVEN_TO, "PREFIX", parse_to },
	{ "port", GIVEN_PORT, "N or N-M", parse_ports },
	{ "class", GIVEN_CLASS, "NAME", grammar_name },
	{ "timeout", GIVEN_TIMEOUT, "TIME", parse_timeout },
	{ "-e", GIVEN_EXIST, NULL, parse_exist },
	{ "prefer", GIVEN_PREFER, NULL, parse_prefer },
	{ }
};

static const struct option listener_options[] = {
	{ "port", GIVEN_PORT, "N or N-M", parse_port },
	{ "order", GIVEN_ORDER, "strict, weighted or fifo", parse_order },
	{ "app-order", GIVEN_APP_ORDER, "on or off", parse_app_order },
	{ "enforce", GIVEN_ENFORCE, "on or off", parse_enforce },
	{ .name = "address" },
	{ "synack-retries", GIVEN_SYNACK_RETRIES, "N",
	  parse_synack_retries },
	{ "cookies", GIVEN_COOKIES, "auto, always or never", parse_cookies },
	{ "app-cookies", GIVEN_APP_COOKIES, "on or off", parse_app_cookies },
	{ "inside", GIVEN_INSIDE, "auto, N or off", parse_inside },
	{ "requests", GIVEN_REQUESTS, "on or off", parse_requests },
	{ }
};

static const struct option service_options[] = {
	{ "to", GIVEN_TO, "PREFIX", parse_to },
	{ "port", GIVEN_PORT, "N or N-M", parse_ports },
	{ "forward", GIVEN_FORWARD, NULL, parse_forward },
	{ }
};

static const struct option mark_options[] = {
	{ "mask", GIVEN_MASK, "M", parse_mask },
	{ }
};

static const struct option set_options[] = {
	{ "enforce", GIVEN_ENFORCE, "on or off", parse_enforce },
	{ }
};

#define CLASS_GIVEN	(GIVEN_PRIORITY | GIVEN_DEFAULT | GIVEN_MARK |	\
			 GIVEN_WEIGHT | GIVEN_RESERVE | GIVEN_CAP |	\
			 GIVEN_MAX_WAIT | GIVEN_MIN_SHARE | GIVEN_RATE |	\
			 GIVEN_BURST | GIVEN_SOURCE_RATE |		\
			 GIVEN_SOURCE_BURST | GIVEN_SOURCE_LEN |	\
			 GIVEN_NET_RATE | GIVEN_NET_BURST | GIVEN_NET_LEN | \
			 GIVEN_EXCESS | GIVEN_COOKIES | GIVEN_ENFORCE)
#define MATCH_GIVEN	(GIVEN_KEY | GIVEN_CLASS)
#define SERVICE_GIVEN	(GIVEN_TO | GIVEN_PORT | GIVEN_FORWARD)
#define LISTENER_GIVEN	(GIVEN_PORT | GIVEN_ORDER | GIVEN_APP_ORDER |	\
			 GIVEN_ENFORCE | GIVEN_SYNACK_RETRIES |		\
			 GIVEN_COOKIES | GIVEN_APP_COOKIES | GIVEN_INSIDE | \
			 GIVEN_REQUESTS)

const struct grammar grammar[OBJECTS] = {
	[OBJECT_CLASS] = { "class", class_options, {
		{ CLASS_GIVEN, GIVEN_PRIORITY, .name = true },
		{ CLASS_GIVEN, 0, .name = true },
		{ 0, 0, .name = true },
	} },
	[OBJECT_MATCH] = { "match", match_options, {
		{ MATCH_GIVEN | GIVEN_TIMEOUT | GIVEN_EXIST | GIVEN_PREFER,
		  GIVEN_SOURCE | GIVEN_CLASS },
		{ MATCH_GIVEN | GIVEN_TIMEOUT, GIVEN_SOURCE | GIVEN_CLASS },
		{ GIVEN_KEY | GIVEN_EXIST, GIVEN_SOURCE },
	} },
	[OBJECT_LISTENER] = { "listener", listener_options, {
		{ LISTENER_GIVEN, GIVEN_PORT },
		{ LISTENER_GIVEN, GIVEN_PORT },
		{ GIVEN_PORT, GIVEN_PORT },
	} },
	[OBJECT_SERVICE] = { "service", service_options, {
		{ SERVICE_GIVEN, GIVEN_PORT | GIVEN_FORWARD },
		{ 0, 0 },
		{ SERVICE_GIVEN, GIVEN_PORT },
	} },
	[OBJECT_MARK] = { "mark", mark_options, {
		{ GIVEN_MASK, GIVEN_MASK },
		{ GIVEN_MASK, GIVEN_MASK },
		{ 0, 0 },
	} },
	[OBJECT_SET] = { "set", set_options, {
		[VERB_SET] = { GIVEN_ENFORCE, GIVEN_ENFORCE },
	} },
};

/**
 * grammar_again() - what a word means behind a second source-rate
 * @word: the word
 *
 * Return: the word for it, or @word.
 */
const char *grammar_again(const char *word)
{
	static const char * const net[][2] = {
		{ "source-rate", "net-rate" },
		{ "source-burst", "net-burst" },
		{ "source-len", "net-len" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(net) / sizeof(*net); i++) {
		if (!strcmp(word, net[i][0]))
			return net[i][1];
	}
	return word;
}

/**
 * excess_name() - the word for an excess action
 * @excess: enum synq_excess, or a value from a newer kernel module
 *
 * Return: the word.
 */
const char *excess_name(unsigned int excess)
{
	return excess < sizeof(excess_names) / sizeof(*excess_names) ?
	       excess_names[excess] : "unknown";
}

/**
 * cookies_name() - the word for a policy on cookies
 * @cookies: enum synq_cookies, or a value from a newer kernel module
 *
 * Return: the word.
 */
const char *cookies_name(unsigned int cookies)
{
	return cookies < sizeof(cookies_names) / sizeof(*cookies_names) ?
	       cookies_names[cookies] : "unknown";
}

/**
 * order_name() - the word for the order of an accept queue
 * @order: enum synq_order, or a value from a newer kernel module
 *
 * Return: the word.
 */
const char *order_name(unsigned int order)
{
	return order < sizeof(order_names) / sizeof(*order_names) ?
	       order_names[order] : "unknown";
}
