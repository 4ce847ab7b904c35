// SPDX-License-Identifier: GPL-2.0
/*
 * A configuration as text: the canonical lines, and how two of them differ.
 *
 * Canonical: set, mark, classes by priority, matches (by destination, those of
 * all first; then IPv4 first, by address), listeners by port, services; only
 * options that were given and have an effect.  The parser reads the output back
 * to the same lines.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "print.h"

__printf(2, 3)
static void append(char *text, const char *format, ...)
{
	size_t used = strlen(text);
	va_list ap;

	va_start(ap, format);
	vsnprintf(text + used, LINE_ROOM - used, format, ap);
	va_end(ap);
}

/**
 * class_line() - the line that adds a class
 * @spec: the class
 * @text: room for LINE_ROOM bytes
 *
 * Return: @text.
 */
const char *class_line(const struct class_spec *spec, char *text)
{
	char time[TIME_TEXT];
	char rate[RATE_TEXT];

	snprintf(text, LINE_ROOM, "class add %s priority %u", spec->name,
		 spec->priority);
	if (spec->is_default)
		append(text, " default");
	if (spec->mark)
		append(text, " mark 0x%x", spec->mark);
	if ((spec->given & GIVEN_WEIGHT) && spec->weight != 1)
		append(text, " weight %u", spec->weight);
	if (spec->given & GIVEN_RESERVE)
		append(text, " reserve %u%%", spec->reserve);
	if (spec->cap)
		append(text, " cap %u%%", spec->cap);
	if (spec->given & GIVEN_MAX_WAIT)
		append(text, " max-wait %s",
		       spec->max_wait == SYNQ_MAX_WAIT_NONE ? "none" :
		       time_text(spec->max_wait, time));
	if (spec->min_share)
		append(text, " min-share %u%%", spec->min_share);
	if (spec->rate)
		append(text, " rate %s",
		       rate_text(spec->rate, spec->rate_per, rate));
	if (spec->given & GIVEN_BURST)
		append(text, " burst %u", spec->burst);
	if (spec->source_rate)
		append(text, " source-rate %s",
		       rate_text(spec->source_rate, spec->source_rate_per,
				 rate));
	if (spec->given & GIVEN_SOURCE_BURST)
		append(text, " source-burst %u", spec->source_burst);
	if (spec->given & GIVEN_SOURCE_LEN)
		append(text, " source-len %u,%u", spec->source_len[0],
		       spec->source_len[1]);
	if (spec->net_rate)
		append(text, " net-rate %s",
		       rate_text(spec->net_rate, spec->net_rate_per, rate));
	if (spec->given & GIVEN_NET_BURST)
		append(text, " net-burst %u", spec->net_burst);
	if (spec->given & GIVEN_NET_LEN)
		append(text, " net-len %u,%u", spec->net_len[0],
		       spec->net_len[1]);
	if (spec->excess != SYNQ_EXCESS_DROP)
		append(text, " excess %s", excess_name(spec->excess));
	if (spec->cookies)
		append(text, " cookies %s", cookies_name(spec->cookies));
	if (spec->observe)
		append(text, " enforce off");
	return text;
}

/**
 * match_line() - the line that adds a match
 * @conf: the configuration
 * @match: one of its matches
 * @text: room for LINE_ROOM bytes
 *
 * Return: @text.
 */
const char *match_line(const struct conf *conf, const struct match *match,
		       char *text)
{
	char service[SERVICE_TEXT];
	char prefix[PREFIX_TEXT];

	snprintf(text, LINE_ROOM, "match add source %s%s class %s",
		 prefix_text(&match->prefix, prefix),
		 service_text(&conf->scope[match->service].service, service),
		 conf->class[match->class].spec.name);
	if (match->timeout)
		append(text, " timeout %us", match->timeout);
	return text;
}

/**
 * inside_name() - a limit of connections inside, as text
 * @inside: SYNQ_INSIDE_AUTO, a number, or 0
 * @text: room for INSIDE_ROOM bytes
 *
 * Return: "auto", the number, or "off"
 */
const char *inside_name(__u32 inside, char *text)
{
	if (!inside)
		return "off";
	if (inside == SYNQ_INSIDE_AUTO)
		return "auto";
	snprintf(text, INSIDE_ROOM, "%u", inside);
	return text;
}

/**
 * listener_line() - the line that adds a listener
 * @spec: the listener
 * @text: room for LINE_ROOM bytes
 *
 * Return: @text.
 */
const char *listener_line(const struct listener_spec *spec, char *text)
{
	char number[INSIDE_ROOM];

	snprintf(text, LINE_ROOM, "listener add port %u", spec->port);
	if (spec->last > spec->port)
		append(text, "-%u", spec->last);
	if (spec->order != SYNQ_ORDER_STRICT)
		append(text, " order %s", order_name(spec->order));
	if (spec->app_order)
		append(text, " app-order on");
	if (spec->synack_retries)
		append(text, " synack-retries %u", spec->synack_retries);
	if (spec->cookies > SYNQ_COOKIES_AUTO)
		append(text, " cookies %s", cookies_name(spec->cookies));
	if (spec->app_cookies)
		append(text, " app-cookies on");
	if (spec->inside)
		append(text, " inside %s", inside_name(spec->inside, number));
	if (spec->requests)
		append(text, " requests on");
	if (spec->observe)
		append(text, " enforce off");
	return text;
}

/**
 * service_line() - the line that adds a service
 * @service: the service, of other hosts
 * @text: room for LINE_ROOM bytes
 *
 * Return: @text.
 */
const char *service_line(const struct service *service, char *text)
{
	char destination[SERVICE_TEXT];

	snprintf(text, LINE_ROOM, "service add%s forward",
		 service_text(service, destination));
	return text;
}

/**
 * mark_line() - the line that sets the mark mask
 * @conf: the configuration, which has one
 * @text: room for LINE_ROOM bytes
 *
 * Return: @text.
 */
const char *mark_line(const struct conf *conf, char *text)
{
	snprintf(text, LINE_ROOM, "mark mask 0x%08x", conf->mask);
	return text;
}

/**
 * set_line() - the line that sets what concerns all
 * @conf: the configuration, which has "enforce off"
 * @text: room for LINE_ROOM bytes
 *
 * Return: @text.
 */
const char *set_line(const struct conf *conf, char *text)
{
	snprintf(text, LINE_ROOM, "set enforce %s",
		 enforce_name(conf->observe));
	return text;
}

static bool same_options(const struct listener_spec *a,
			 const struct listener_spec *b)
{
	struct listener_spec c = *b;
	char one[LINE_ROOM], two[LINE_ROOM];

	c.port = a->port;
	c.last = a->last;
	return !strcmp(listener_line(a, one), listener_line(&c, two));
}

/* The ports from @listener on that follow each other and have the same options. */
static unsigned int same_listeners(const struct listener *listener,
				   unsigned int left,
				   struct listener_spec *spec)
{
	unsigned int n = 0;

	*spec = listener->spec;
	spec->last = spec->port;
	while (++n < left && listener[n].spec.port == spec->last + 1 &&
	       same_options(spec, &listener[n].spec))
		spec->last++;
	return n;
}

static void print_listeners(const struct conf *conf)
{
	struct listener_spec spec;
	char text[LINE_ROOM];
	unsigned int i = 0;

	while (i < conf->listeners) {
		i += same_listeners(&conf->listener[i], conf->listeners - i,
				    &spec);
		puts(listener_line(&spec, text));
	}
}

/**
 * conf_print() - print the canonical lines of a configuration
 * @conf: the configuration; it is sorted
 */
void conf_print(struct conf *conf)
{
	const struct class *class[SLOTS];
	unsigned int classes = conf_sorted_classes(conf, class);
	char text[LINE_ROOM];
	__u32 i;

	conf_sort(conf);
	if (conf->observe)
		puts(set_line(conf, text));
	if (conf->mask)
		puts(mark_line(conf, text));
	for (i = 0; i < classes; i++)
		puts(class_line(&class[i]->spec, text));
	for (i = 0; i < conf->matches.number; i++)
		puts(match_line(conf, &conf->matches.match[i], text));
	print_listeners(conf);
	for (i = 0; i < conf->forwards; i++)
		puts(service_line(&conf->forward[i].service, text));
}

/* Two lines of the same place, one of which may be empty; true if they differ. */
static bool differ(const char *old, const char *new)
{
	if (!strcmp(old, new))
		return false;
	if (*old)
		printf("-%s\n", old);
	if (*new)
		printf("+%s\n", new);
	return true;
}

static bool diff_mark(const struct conf *old, const struct conf *new)
{
	char before[LINE_ROOM] = "";
	char after[LINE_ROOM] = "";

	return differ(old->mask ? mark_line(old, before) : before,
		      new->mask ? mark_line(new, after) : after);
}

static bool diff_set(const struct conf *old, const struct conf *new)
{
	char before[LINE_ROOM] = "";
	char after[LINE_ROOM] = "";

	return differ(old->observe ? set_line(old, before) : before,
		      new->observe ? set_line(new, after) : after);
}

/* Walks two sorted lists: which of them has the next place? */
#define IN_OLD	1
#define IN_NEW	2

static int next_in(bool old_left, bool new_left, int order)
{
	if (!old_left || !new_left)
		return old_left ? IN_OLD : IN_NEW;
	if (!order)
		return IN_OLD | IN_NEW;
	return order < 0 ? IN_OLD : IN_NEW;
}

static bool diff_classes(const struct conf *old, const struct conf *new)
{
	const struct class *one[SLOTS];
	const struct class *two[SLOTS];
	unsigned int ones = conf_sorted_classes(old, one);
	unsigned int twos = conf_sorted_classes(new, two);
	unsigned int i = 0, j = 0;
	bool different = false;

	while (i < ones || j < twos) {
		char before[LINE_ROOM] = "";
		char after[LINE_ROOM] = "";
		int order = 0;
		int in;

		if (i < ones && j < twos)
			order = (int)one[i]->spec.priority -
				(int)two[j]->spec.priority;
		in = next_in(i < ones, j < twos, order);
		if (in & IN_OLD)
			class_line(&one[i++]->spec, before);
		if (in & IN_NEW)
			class_line(&two[j++]->spec, after);
		different |= differ(before, after);
	}
	return different;
}

static int match_order(const struct conf *a, const struct match *one,
		       const struct conf *b, const struct match *two)
{
	int order = destination_order(&a->scope[one->service].service,
				      &b->scope[two->service].service);

	return order ? order : prefix_order(&one->prefix, &two->prefix);
}

/* Time that passes is no difference; whether a match ends is one. */
static void same_time(struct match *old, const struct match *new)
{
	if (old->timeout && new->timeout)
		old->timeout = new->timeout;
}

static bool diff_matches(struct conf *old, const struct conf *new)
{
	struct table *one = &old->matches;
	const struct table *two = &new->matches;
	bool different = false;
	__u32 i = 0, j = 0;

	while (i < one->number || j < two->number) {
		char before[LINE_ROOM] = "";
		char after[LINE_ROOM] = "";
		int order = 0;
		int in;

		if (i < one->number && j < two->number)
			order = match_order(old, &one->match[i], new,
					    &two->match[j]);
		in = next_in(i < one->number, j < two->number, order);
		if (in == (IN_OLD | IN_NEW))
			same_time(&one->match[i], &two->match[j]);
		if (in & IN_OLD)
			match_line(old, &one->match[i++], before);
		if (in & IN_NEW)
			match_line(new, &two->match[j++], after);
		different |= differ(before, after);
	}
	return different;
}

/* Ports that follow each other and change alike; no port: not there. */
struct run {
	struct listener_spec old;
	struct listener_spec new;
};

static bool run_print(const struct run *run)
{
	char before[LINE_ROOM] = "";
	char after[LINE_ROOM] = "";

	if (run->old.port)
		listener_line(&run->old, before);
	if (run->new.port)
		listener_line(&run->new, after);
	return differ(before, after);
}

static bool follows(const struct listener_spec *a,
		    const struct listener_spec *b)
{
	if (!a->port || !b->port)
		return !a->port && !b->port;
	return b->port == a->last + 1 && same_options(a, b);
}

static bool run_take(struct run *run, const struct run *next)
{
	bool different;

	if (follows(&run->old, &next->old) && follows(&run->new, &next->new)) {
		run->old.last = next->old.last;
		run->new.last = next->new.last;
		return false;
	}
	different = run_print(run);
	*run = *next;
	return different;
}

static bool diff_listeners(const struct conf *old, const struct conf *new)
{
	struct run run = { 0 };
	bool different = false;
	unsigned int i = 0, j = 0;

	while (i < old->listeners || j < new->listeners) {
		struct run next = { 0 };
		int order = 0;
		int in;

		if (i < old->listeners && j < new->listeners)
			order = (int)old->listener[i].spec.port -
				(int)new->listener[j].spec.port;
		in = next_in(i < old->listeners, j < new->listeners, order);
		if (in & IN_OLD)
			next.old = old->listener[i++].spec;
		if (in & IN_NEW)
			next.new = new->listener[j++].spec;
		next.old.last = next.old.port;
		next.new.last = next.new.port;
		different |= run_take(&run, &next);
	}
	return run_print(&run) | different;
}

static bool diff_services(const struct conf *old, const struct conf *new)
{
	bool different = false;
	unsigned int i = 0, j = 0;

	while (i < old->forwards || j < new->forwards) {
		char before[LINE_ROOM] = "";
		char after[LINE_ROOM] = "";
		int order = 0;
		int in;

		if (i < old->forwards && j < new->forwards)
			order = destination_order(&old->forward[i].service,
						  &new->forward[j].service);
		in = next_in(i < old->forwards, j < new->forwards, order);
		if (in & IN_OLD)
			service_line(&old->forward[i++].service, before);
		if (in & IN_NEW)
			service_line(&new->forward[j++].service, after);
		different |= differ(before, after);
	}
	return different;
}

/**
 * conf_diff() - print the lines that would go and come
 * @old: a configuration; it is sorted
 * @new: the one that would replace it; it is sorted
 *
 * Return: true if there is a difference.
 */
bool conf_diff(struct conf *old, struct conf *new)
{
	bool different;

	conf_sort(old);
	conf_sort(new);
	different = diff_set(old, new);
	different |= diff_mark(old, new);
	different |= diff_classes(old, new);
	different |= diff_matches(old, new);
	different |= diff_listeners(old, new);
	different |= diff_services(old, new);
	return different;
}
