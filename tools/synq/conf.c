// SPDX-License-Identifier: GPL-2.0
/*
 * A whole configuration, and what one edit makes of it.
 *
 * An edit is refused here if it makes no sense in its place: a name is taken or
 * unknown, a table is full.  Rules about the result (unique priorities, marks,
 * reserves, shares) are in check.c and apply after the last edit, so that a
 * transaction may pass through invalid states.  The kernel module does the same,
 * with the same limits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"

/**
 * conf_init() - start with an empty configuration
 * @conf: the configuration
 * @file: name of the file from which it will be read, or NULL
 */
void conf_init(struct conf *conf, const char *file)
{
	memset(conf, 0, sizeof(*conf));
	conf->file = file;
	conf->class[SLOT_LOCAL].builtin = true;
	conf->class[SLOT_DEFAULT].builtin = true;
	snprintf(conf->class[SLOT_LOCAL].spec.name, SYNQ_NAME_MAX, "local");
	snprintf(conf->class[SLOT_DEFAULT].spec.name, SYNQ_NAME_MAX,
		 "default");
}

/**
 * conf_clear() - free the memory of a configuration
 * @conf: the configuration, empty afterwards
 */
void conf_clear(struct conf *conf)
{
	while (conf->lists)
		list_free(&conf->list[--conf->lists]);
	free(conf->list);
	table_clear(&conf->matches);
	conf_init(conf, conf->file);
}

/**
 * conf_class() - find a class by name
 * @conf: the configuration
 * @name: the name
 *
 * Return: the class, or NULL.
 */
struct class *conf_class(struct conf *conf, const char *name)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++) {
		if (!strcmp(conf->class[i].spec.name, name))
			return &conf->class[i];
	}
	return NULL;
}

/**
 * conf_free_class() - find room for one more class
 * @conf: the configuration
 *
 * Return: a class without name, or NULL.
 */
struct class *conf_free_class(struct conf *conf)
{
	return conf_class(conf, "");
}

/**
 * conf_listener() - find a listener by its port
 * @conf: the configuration
 * @port: the port
 *
 * Return: the listener, or NULL.
 */
struct listener *conf_listener(struct conf *conf, __u32 port)
{
	unsigned int i;

	for (i = 0; i < conf->listeners; i++) {
		if (conf->listener[i].spec.port == port)
			return &conf->listener[i];
	}
	return NULL;
}

/**
 * conf_scope() - find what matches to a destination are filed under
 * @conf: the configuration
 * @service: the destinations
 *
 * Return: the scope, or NULL.
 */
struct scope *conf_scope(struct conf *conf, const struct service *service)
{
	unsigned int i;

	for (i = 0; i < SERVICES; i++) {
		if ((i == SERVICE_ALL || conf->scope[i].matches) &&
		    !destination_order(&conf->scope[i].service, service))
			return &conf->scope[i];
	}
	return NULL;
}

/**
 * conf_free_scope() - find room for one more scope
 * @conf: the configuration
 *
 * Return: a scope without matches, or NULL.
 */
struct scope *conf_free_scope(struct conf *conf)
{
	unsigned int i;

	for (i = SERVICE_ALL + 1; i < SERVICES; i++) {
		if (!conf->scope[i].matches)
			return &conf->scope[i];
	}
	return NULL;
}

static void merge(struct class_spec *to, const struct class_spec *from)
{
	to->given |= from->given;
	if (from->given & GIVEN_PRIORITY)
		to->priority = from->priority;
	if (from->given & GIVEN_DEFAULT)
		to->is_default = from->is_default;
	if (from->given & GIVEN_MARK)
		to->mark = from->mark;
	if (from->given & GIVEN_WEIGHT)
		to->weight = from->weight;
	if (from->given & GIVEN_RESERVE)
		to->reserve = from->reserve;
	if (from->given & GIVEN_CAP)
		to->cap = from->cap;
	if (from->given & GIVEN_MAX_WAIT)
		to->max_wait = from->max_wait;
	if (from->given & GIVEN_MIN_SHARE)
		to->min_share = from->min_share;
	if (from->given & GIVEN_RATE) {
		to->rate = from->rate;
		to->rate_per = from->rate_per;
	}
	if (from->given & GIVEN_BURST)
		to->burst = from->burst;
	if (from->given & GIVEN_SOURCE_RATE) {
		to->source_rate = from->source_rate;
		to->source_rate_per = from->source_rate_per;
	}
	if (from->given & GIVEN_SOURCE_BURST)
		to->source_burst = from->source_burst;
	if (from->given & GIVEN_SOURCE_LEN)
		memcpy(to->source_len, from->source_len,
		       sizeof(to->source_len));
	if (from->given & GIVEN_NET_RATE) {
		to->net_rate = from->net_rate;
		to->net_rate_per = from->net_rate_per;
	}
	if (from->given & GIVEN_NET_BURST)
		to->net_burst = from->net_burst;
	if (from->given & GIVEN_NET_LEN)
		memcpy(to->net_len, from->net_len, sizeof(to->net_len));
	if (from->given & GIVEN_EXCESS)
		to->excess = from->excess;
	if (from->given & GIVEN_COOKIES)
		to->cookies = from->cookies;
	if (from->given & GIVEN_ENFORCE)
		to->observe = from->observe;

	/* Removing a rate removes its burst. */
	if ((from->given & GIVEN_RATE) && !from->rate)
		to->given &= ~GIVEN_BURST | from->given;
	if ((from->given & GIVEN_SOURCE_RATE) && !from->source_rate) {
		to->given &= ~(GIVEN_SOURCE_BURST | GIVEN_SOURCE_LEN |
			       GIVEN_NET_RATE) | from->given;
		if (!(from->given & GIVEN_NET_RATE))
			to->net_rate = 0;
	}
	if (!to->net_rate)
		to->given &= ~(GIVEN_NET_BURST | GIVEN_NET_LEN) | from->given;
}

static int edit_class(struct conf *conf, const struct edit *edit)
{
	const char *name = edit->class.name;
	struct class *class = conf_class(conf, name);

	if (edit->verb != VERB_ADD && !class)
		return refuse(&edit->origin, name, "no such class");

	switch (edit->verb) {
	case VERB_ADD:
		if (class)
			return refuse(&edit->origin, name,
				      "there is a class of this name already");
		class = conf_free_class(conf);
		if (!class)
			return refuse(&edit->origin, name,
				      "too many classes, the limit is %u",
				      SYNQ_CLASSES_MAX);
		class->spec = edit->class;
		conf->classes++;
		break;
	case VERB_SET:
		merge(&class->spec, &edit->class);
		break;
	case VERB_DEL:
		/* Matches that were edited are counted by the kernel only. */
		if (class->matches && !conf->unknown)
			return refuse(&edit->origin, name,
				      "still used by %u match%s",
				      class->matches,
				      class->matches == 1 ? "" : "es");
		memset(class, 0, sizeof(*class));
		conf->classes--;
		return DONE;
	case VERB_NUMBER:
		break;
	}
	class->line = edit->origin.line;
	return DONE;
}

/* Same addresses, and port ranges that overlap in part only. */
static bool cross(const struct service *a, const struct service *b)
{
	const struct service *low = a->first <= b->first ? a : b;
	const struct service *high = low == a ? b : a;

	return a->first && b->first && !prefix_order(&a->to, &b->to) &&
	       low->first < high->first && high->first <= low->last &&
	       low->last < high->last;
}

static struct scope *add_scope(struct conf *conf, const struct edit *edit)
{
	const struct service *service = &edit->service;
	unsigned int line = edit->from ? edit->from : edit->origin.line;
	struct scope *scope;
	char text[SERVICE_TEXT];
	char other[SERVICE_TEXT];
	unsigned int i;

	service_text(service, text);
	for (i = SERVICE_ALL + 1; i < SERVICES; i++) {
		scope = &conf->scope[i];
		if (!scope->matches || !cross(&scope->service, service))
			continue;
		refuse(&edit->origin, text + 1,
		       "overlaps%s (line %u): neither port range contains the other",
		       service_text(&scope->service, other), scope->line);
		return NULL;
	}
	scope = conf_free_scope(conf);
	if (!scope) {
		refuse(&edit->origin, text + 1,
		       "too many destinations, the limit is %u",
		       SYNQ_SERVICES_MAX);
		return NULL;
	}
	*scope = (struct scope){ .service = *service, .line = line };
	return scope;
}

static int check_family(const struct edit *edit)
{
	const struct prefix *to = &edit->service.to;
	char text[EDIT_TEXT];

	if (!to->family || to->family == edit->source.family)
		return DONE;
	return refuse(&edit->origin, edit_value(edit, text),
		      "source and destination are of different families");
}

/**
 * conf_match_origin() - where was a match written?
 * @conf: the configuration
 * @match: one of its matches
 *
 * Return: file and line.
 */
struct origin conf_match_origin(const struct conf *conf,
				const struct match *match)
{
	const char *file = match->list ? conf->list[match->list - 1].path :
					 conf->file;

	return (struct origin){ file, match->line };
}

static void give_match(struct conf *conf, struct match *match,
		       const struct edit *edit, struct class *class)
{
	match->class = class - conf->class;
	match->prefer = edit->prefer;
	match->timeout = edit->timeout;
	match->list = edit->list;
	match->line = edit->origin.line;
	class->matches++;
}

/* Two lines give a prefix a class each, and one of them says "prefer". */
static void choose(struct conf *conf, const struct edit *edit,
		   struct match *match)
{
	if (!conf->preferred++) {
		conf->preferred_first = *edit;
		if (match->prefer)
			conf->preferred_first.origin =
				conf_match_origin(conf, match);
	}
	if (match->prefer)
		return;
	conf->class[match->class].matches--;
	give_match(conf, match, edit, conf_class(conf, edit->class.name));
}

/*
 * A prefix that has a match already.  A list is a set, and two may have prefixes in
 * common; but a prefix has only one class.
 */
static int add_again(struct conf *conf, const struct edit *edit,
		     struct match *match)
{
	const char *class = conf->class[match->class].spec.name;
	struct origin origin = conf_match_origin(conf, match);
	char text[EDIT_TEXT];

	if (strcmp(class, edit->class.name)) {
		if (edit->prefer == match->prefer)
			return refuse(&edit->origin, edit_value(edit, text),
				      "class %s here, but class %s at %s:%u%s",
				      edit->class.name, class, origin.file,
				      origin.line, edit->prefer ?
				      ", and both say prefer" :
				      " (prefer says which)");
		choose(conf, edit, match);
		return DONE;
	}
	match->prefer |= edit->prefer;
	/* What one line has for ever, no other has for a time. */
	if (edit->exist)
		match->timeout = edit->timeout;
	else if (!edit->timeout || edit->timeout > match->timeout)
		match->timeout = match->timeout ? edit->timeout : 0;
	if (edit->list || match->list || edit->exist)
		return DONE;
	return refuse(&edit->origin, edit_value(edit, text),
		      "has a match already (line %u)", match->line);
}

static int edit_match(struct conf *conf, const struct edit *edit)
{
	struct class *class = NULL;
	struct match *match = NULL;
	struct scope *scope;
	char text[EDIT_TEXT];

	edit_value(edit, text);
	if (check_family(edit))
		return REFUSED;
	if (edit->verb != VERB_DEL) {
		class = conf_class(conf, edit->class.name);
		if (!class)
			return refuse(&edit->origin, edit->class.name,
				      conf->file ?
				      "no such class before this line" :
				      "no such class");
	}
	/* The matches were not fetched: only the kernel knows which exist. */
	if (conf->light) {
		conf->unknown = true;
		return DONE;
	}

	scope = conf_scope(conf, &edit->service);
	if (scope)
		match = table_find(&conf->matches, &edit->source,
				   scope - conf->scope);
	if (edit->verb == VERB_DEL && !match && edit->exist)
		return DONE;
	if (edit->verb != VERB_ADD && !match)
		return refuse(&edit->origin, text, "no such match");

	switch (edit->verb) {
	case VERB_ADD:
		if (match)
			return add_again(conf, edit, match);
		if (conf->matches.number >= SYNQ_MATCHES_MAX)
			return refuse(&edit->origin, text,
				      "too many matches, the limit is %u",
				      SYNQ_MATCHES_MAX);
		if (!scope)
			scope = add_scope(conf, edit);
		if (!scope)
			return REFUSED;
		match = table_add(&conf->matches, &edit->source,
				  scope - conf->scope);
		scope->matches++;
		break;
	case VERB_SET:
		conf->class[match->class].matches--;
		break;
	case VERB_DEL:
		conf->class[match->class].matches--;
		scope->matches--;
		table_del(&conf->matches, match);
		return DONE;
	case VERB_NUMBER:
		break;
	}
	give_match(conf, match, edit, class);
	return DONE;
}

static void merge_listener(struct listener_spec *to,
			   const struct listener_spec *from)
{
	to->given |= from->given;
	if (from->given & GIVEN_ORDER)
		to->order = from->order;
	if (from->given & GIVEN_APP_ORDER)
		to->app_order = from->app_order;
	if (from->given & GIVEN_SYNACK_RETRIES)
		to->synack_retries = from->synack_retries;
	if (from->given & GIVEN_COOKIES)
		to->cookies = from->cookies;
	if (from->given & GIVEN_APP_COOKIES)
		to->app_cookies = from->app_cookies;
	if (from->given & GIVEN_INSIDE)
		to->inside = from->inside;
	if (from->given & GIVEN_REQUESTS)
		to->requests = from->requests;
	if (from->given & GIVEN_ENFORCE)
		to->observe = from->observe;
}

static int add_listener(struct conf *conf, const struct edit *edit,
			const char *text)
{
	struct listener *listener = conf_listener(conf, edit->listener.port);

	if (listener && listener->line)
		return refuse(&edit->origin, text,
			      "has a listener already (line %u)",
			      listener->line);
	if (listener)
		return refuse(&edit->origin, text, "has a listener already");
	if (conf->listeners == SYNQ_LISTENERS_MAX)
		return refuse(&edit->origin, text,
			      "too many listeners, the limit is %u",
			      SYNQ_LISTENERS_MAX);
	listener = &conf->listener[conf->listeners++];
	*listener = (struct listener){
		.spec = edit->listener,
		.line = edit->origin.line,
	};
	return DONE;
}

static int edit_listener(struct conf *conf, const struct edit *edit)
{
	struct listener *listener = conf_listener(conf, edit->listener.port);
	char text[16];

	snprintf(text, sizeof(text), "port %u", edit->listener.port);
	if (edit->verb != VERB_ADD && !listener)
		return refuse(&edit->origin, text, "no such listener");

	switch (edit->verb) {
	case VERB_ADD:
		return add_listener(conf, edit, text);
	case VERB_SET:
		merge_listener(&listener->spec, &edit->listener);
		listener->line = edit->origin.line;
		break;
	case VERB_DEL:
		*listener = conf->listener[--conf->listeners];
		break;
	case VERB_NUMBER:
		break;
	}
	return DONE;
}

static struct forward *find_forward(struct conf *conf,
				    const struct service *service)
{
	unsigned int i;

	for (i = 0; i < SYNQ_FORWARDS_MAX; i++) {
		if (!destination_order(&conf->forward[i].service, service))
			return &conf->forward[i];
	}
	return NULL;
}

static int edit_service(struct conf *conf, const struct edit *edit)
{
	struct forward *forward = find_forward(conf, &edit->service);
	const struct service none = { 0 };
	char text[SERVICE_TEXT];

	service_text(&edit->service, text);
	if (edit->verb == VERB_DEL) {
		if (!forward)
			return refuse(&edit->origin, text + 1,
				      "no such service");
		memset(forward, 0, sizeof(*forward));
		conf->forwards--;
		return DONE;
	}
	if (forward)
		return refuse(&edit->origin, text + 1,
			      "there is such a service already");
	forward = find_forward(conf, &none);
	if (!forward)
		return refuse(&edit->origin, text + 1,
			      "too many services, the limit is %u",
			      SYNQ_FORWARDS_MAX);
	forward->service = edit->service;
	forward->line = edit->origin.line;
	conf->forwards++;
	return DONE;
}

static int edit_mark(struct conf *conf, const struct edit *edit)
{
	char text[EDIT_TEXT];

	if (edit->verb == VERB_ADD && conf->mask && conf->mask_line)
		return refuse(&edit->origin, edit_value(edit, text),
			      "the mask is 0x%08x already (line %u)",
			      conf->mask, conf->mask_line);
	if (edit->verb == VERB_ADD && conf->mask)
		return refuse(&edit->origin, edit_value(edit, text),
			      "the mask is 0x%08x already", conf->mask);
	conf->mask = edit->verb == VERB_DEL ? 0 : edit->mask;
	conf->mask_line = edit->origin.line;
	return DONE;
}

/**
 * conf_edit() - change a configuration
 * @conf: the configuration
 * @edit: the change, one of those that edit_each() makes of a line
 *
 * Return: DONE, or REFUSED and nothing has changed.
 */
int conf_edit(struct conf *conf, const struct edit *edit)
{
	switch (edit->object) {
	case OBJECT_CLASS:
		return edit_class(conf, edit);
	case OBJECT_MATCH:
		return edit_match(conf, edit);
	case OBJECT_LISTENER:
		return edit_listener(conf, edit);
	case OBJECT_SERVICE:
		return edit_service(conf, edit);
	case OBJECT_MARK:
		return edit_mark(conf, edit);
	case OBJECT_SET:
		conf->observe = edit->observe;
		conf->observe_line = edit->origin.line;
		break;
	}
	return DONE;
}
