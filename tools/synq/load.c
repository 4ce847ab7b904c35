// SPDX-License-Identifier: GPL-2.0
/*
 * Fetches the configuration from the kernel module.
 *
 * This takes several requests, and the configuration may change in between: the
 * generation is read before and after, and all starts over if it has changed.
 */
#include <arpa/inet.h>
#include <string.h>

#include "tx.h"

#define TRIES		10

static bool observed(struct nlattr **attr, int enforce)
{
	return attr[enforce] && !mnl_attr_get_u8(attr[enforce]);
}

static void take_conf(struct nlattr **attr, void *arg)
{
	struct conf *conf = arg;

	conf->generation = attr_u32(attr, SYNQ_A_CONF_GENERATION);
	conf->mask = attr_u32(attr, SYNQ_A_CONF_MARK_MASK);
	conf->observe = observed(attr, SYNQ_A_CONF_ENFORCE);
}

static int get_conf(struct nl *nl, struct conf *conf)
{
	char room[MNL_NLMSG_HDRLEN + GENL_HDRLEN];
	struct nl_error error;

	if (nl_call(nl, nl_request(nl, room, SYNQ_CMD_CONF_GET, 0),
		    SYNQ_A_CONF_MAX, take_conf, conf, &error))
		return UNREACHABLE;
	return error.code ? nl_refuse(NULL, NULL, &error) : DONE;
}

/*
 * Seconds.  Older kernel modules have two bytes, and those without have seconds only;
 * what is of another length has no known unit, and is printed so.
 */
static __u32 take_period(const struct nlattr *attr)
{
	if (!attr)
		return 1;
	switch (mnl_attr_get_payload_len(attr)) {
	case sizeof(__u16):
		return mnl_attr_get_u16(attr);
	case sizeof(__u32):
		return mnl_attr_get_u32(attr);
	}
	return 0;
}

/* Fills in the default for a length that was not given. */
static void take_source_limit(struct class_spec *spec, struct nlattr **attr)
{
	__u8 v4 = attr_u8(attr, SYNQ_A_CLASS_SOURCE_LEN_V4);
	__u8 v6 = attr_u8(attr, SYNQ_A_CLASS_SOURCE_LEN_V6);

	spec->source_rate = attr_u32(attr, SYNQ_A_CLASS_SOURCE_RATE);
	spec->source_rate_per =
		take_period(attr[SYNQ_A_CLASS_SOURCE_RATE_PER]);
	if (spec->source_rate)
		spec->given |= GIVEN_SOURCE_RATE;
	spec->source_burst = attr_u32(attr, SYNQ_A_CLASS_SOURCE_BURST);
	if (spec->source_burst)
		spec->given |= GIVEN_SOURCE_BURST;
	if (v4 || v6)
		spec->given |= GIVEN_SOURCE_LEN;
	spec->source_len[0] = v4 ? v4 : SOURCE_LEN_V4;
	spec->source_len[1] = v6 ? v6 : SOURCE_LEN_V6;
}

static void take_net_limit(struct class_spec *spec, struct nlattr **attr)
{
	__u8 v4 = attr_u8(attr, SYNQ_A_CLASS_NET_LEN_V4);
	__u8 v6 = attr_u8(attr, SYNQ_A_CLASS_NET_LEN_V6);

	spec->net_rate = attr_u32(attr, SYNQ_A_CLASS_NET_RATE);
	spec->net_rate_per = take_period(attr[SYNQ_A_CLASS_NET_RATE_PER]);
	if (spec->net_rate)
		spec->given |= GIVEN_NET_RATE;
	spec->net_burst = attr_u32(attr, SYNQ_A_CLASS_NET_BURST);
	if (spec->net_burst)
		spec->given |= GIVEN_NET_BURST;
	if (v4 || v6)
		spec->given |= GIVEN_NET_LEN;
	spec->net_len[0] = v4 ? v4 : NET_LEN_V4;
	spec->net_len[1] = v6 ? v6 : NET_LEN_V6;
}

static void take_spec(struct class_spec *spec, struct nlattr **attr)
{
	spec->given = 0;
	if (attr[SYNQ_A_CLASS_PRIORITY])
		spec->given |= GIVEN_PRIORITY;
	spec->priority = attr_u8(attr, SYNQ_A_CLASS_PRIORITY);
	spec->is_default = attr_u8(attr, SYNQ_A_CLASS_DEFAULT);
	if (spec->is_default)
		spec->given |= GIVEN_DEFAULT;
	spec->mark = attr_u32(attr, SYNQ_A_CLASS_MARK);
	if (spec->mark)
		spec->given |= GIVEN_MARK;
	if (attr[SYNQ_A_CLASS_RESERVE])
		spec->given |= GIVEN_RESERVE;
	spec->reserve = attr_u8(attr, SYNQ_A_CLASS_RESERVE);
	spec->weight = attr_u16(attr, SYNQ_A_CLASS_WEIGHT);
	if (spec->weight)
		spec->given |= GIVEN_WEIGHT;
	spec->cap = attr_u8(attr, SYNQ_A_CLASS_CAP);
	if (spec->cap)
		spec->given |= GIVEN_CAP;
	if (attr[SYNQ_A_CLASS_MAX_WAIT])
		spec->given |= GIVEN_MAX_WAIT;
	spec->max_wait = attr_u32(attr, SYNQ_A_CLASS_MAX_WAIT);
	spec->min_share = attr_u8(attr, SYNQ_A_CLASS_MIN_SHARE);
	if (spec->min_share)
		spec->given |= GIVEN_MIN_SHARE;
	spec->rate = attr_u32(attr, SYNQ_A_CLASS_RATE);
	spec->rate_per = take_period(attr[SYNQ_A_CLASS_RATE_PER]);
	if (spec->rate)
		spec->given |= GIVEN_RATE;
	spec->burst = attr_u32(attr, SYNQ_A_CLASS_BURST);
	if (spec->rate && spec->burst)
		spec->given |= GIVEN_BURST;
	take_source_limit(spec, attr);
	take_net_limit(spec, attr);
	spec->excess = attr_u8(attr, SYNQ_A_CLASS_EXCESS);
	if (attr[SYNQ_A_CLASS_EXCESS])
		spec->given |= GIVEN_EXCESS;
	spec->cookies = attr_u8(attr, SYNQ_A_CLASS_COOKIES);
	if (spec->cookies)
		spec->given |= GIVEN_COOKIES;
	spec->observe = observed(attr, SYNQ_A_CLASS_ENFORCE);
	if (attr[SYNQ_A_CLASS_ENFORCE])
		spec->given |= GIVEN_ENFORCE;
}

static void take_class(struct nlattr **attr, void *arg)
{
	const char *name = attr_text(attr, SYNQ_A_CLASS_NAME);
	struct conf *conf = arg;
	struct class *class;

	if (!*name || strlen(name) > SYNQ_NAME_MAX)
		return;
	class = conf_class(conf, name);
	if (!class)
		class = conf_free_class(conf);
	if (!class)
		return;
	memset(class, 0, sizeof(*class));
	memcpy(class->spec.name, name, strlen(name) + 1);
	take_spec(&class->spec, attr);
	class->builtin = attr_u8(attr, SYNQ_A_CLASS_BUILTIN);
	class->matches = attr_u32(attr, SYNQ_A_CLASS_MATCHES);
	class->reserve = attr_u8(attr, SYNQ_A_CLASS_RESERVE_EFFECTIVE);
	class->burst = attr_u32(attr, SYNQ_A_CLASS_BURST_EFFECTIVE);
	class->source_burst = attr_u32(attr,
				       SYNQ_A_CLASS_SOURCE_BURST_EFFECTIVE);
	class->net_burst = attr_u32(attr, SYNQ_A_CLASS_NET_BURST_EFFECTIVE);
	class->max_wait = attr_u32(attr, SYNQ_A_CLASS_MAX_WAIT_EFFECTIVE);
	class->order = ++conf->served;
	conf->classes += !class->builtin;
}

/* NULL: more than this program has room for. */
static struct scope *take_scope(struct conf *conf, struct nlattr **attr)
{
	struct service service = { 0 };
	struct scope *scope;

	attr_prefix(attr, SYNQ_A_MATCH_TO, SYNQ_A_MATCH_TO_LENGTH, &service.to);
	service.first = attr_u16(attr, SYNQ_A_MATCH_PORT);
	service.last = attr_u16(attr, SYNQ_A_MATCH_PORT_LAST);
	scope = conf_scope(conf, &service);
	if (scope)
		return scope;
	scope = conf_free_scope(conf);
	if (scope)
		*scope = (struct scope){ .service = service };
	return scope;
}

static void take_match(struct nlattr **attr, void *arg)
{
	struct conf *conf = arg;
	struct prefix prefix;
	struct match *match;
	struct scope *scope;
	struct class *class;
	__u8 slot;

	class = conf_class(conf, attr_text(attr, SYNQ_A_MATCH_CLASS));
	scope = take_scope(conf, attr);
	if (!class || !scope ||
	    !attr_prefix(attr, SYNQ_A_MATCH_SOURCE, SYNQ_A_MATCH_LENGTH,
			 &prefix))
		return;
	slot = scope - conf->scope;
	/* A table that changes while it is listed may repeat an entry. */
	if (table_find(&conf->matches, &prefix, slot))
		return;
	match = table_add(&conf->matches, &prefix, slot);
	match->class = class - conf->class;
	match->timeout = attr_u32(attr, SYNQ_A_MATCH_TIMEOUT);
	scope->matches++;
}

static void take_listener(struct nlattr **attr, void *arg)
{
	struct conf *conf = arg;
	struct listener *listener;

	if (conf->listeners == SYNQ_LISTENERS_MAX)
		return;
	listener = &conf->listener[conf->listeners++];
	listener->spec.port = attr_u16(attr, SYNQ_A_LISTENER_PORT);
	listener->spec.order = attr_u8(attr, SYNQ_A_LISTENER_ORDER);
	listener->spec.observe = observed(attr, SYNQ_A_LISTENER_ENFORCE);
	listener->spec.app_order = attr_u8(attr, SYNQ_A_LISTENER_APP_ORDER);
	listener->spec.synack_retries =
		attr_u8(attr, SYNQ_A_LISTENER_SYNACK_RETRIES);
	listener->spec.cookies = attr_u8(attr, SYNQ_A_LISTENER_COOKIES);
	listener->spec.app_cookies =
		attr_u8(attr, SYNQ_A_LISTENER_APP_COOKIES);
	listener->spec.inside = attr_u32(attr, SYNQ_A_LISTENER_INSIDE);
	listener->spec.requests = attr_u8(attr, SYNQ_A_LISTENER_REQUESTS);
	listener->spec.given = GIVEN_PORT | GIVEN_ORDER | GIVEN_APP_ORDER |
			       GIVEN_ENFORCE | GIVEN_SYNACK_RETRIES |
			       GIVEN_COOKIES | GIVEN_APP_COOKIES |
			       GIVEN_INSIDE | GIVEN_REQUESTS;
	listener->sockets = attr_u32(attr, SYNQ_A_LISTENER_SOCKETS);
	listener->inside_limit = attr_u32(attr, SYNQ_A_LISTENER_INSIDE_LIMIT);
}

static void take_service(struct nlattr **attr, void *arg)
{
	struct conf *conf = arg;
	struct service *service;

	if (conf->forwards == SYNQ_FORWARDS_MAX ||
	    !attr[SYNQ_A_SERVICE_FORWARD])
		return;
	service = &conf->forward[conf->forwards++].service;
	attr_prefix(attr, SYNQ_A_SERVICE_TO, SYNQ_A_SERVICE_TO_LENGTH,
		    &service->to);
	service->first = attr_u16(attr, SYNQ_A_SERVICE_PORT);
	service->last = attr_u16(attr, SYNQ_A_SERVICE_PORT_LAST);
}

static int fetch(struct nl *nl, struct conf *conf, bool light, bool *changed)
{
	__u32 generation;
	int error;

	error = get_conf(nl, conf);
	if (error)
		return error;
	generation = conf->generation;

	error = nl_dump(nl, SYNQ_CMD_CLASS_GET, SYNQ_A_CLASS_MAX, take_class,
			conf, changed);
	if (!error)
		error = nl_dump(nl, SYNQ_CMD_LISTENER_GET, SYNQ_A_LISTENER_MAX,
				take_listener, conf, changed);
	if (!error)
		error = nl_dump(nl, SYNQ_CMD_SERVICE_GET, SYNQ_A_SERVICE_MAX,
				take_service, conf, changed);
	if (!error && !light)
		error = nl_dump(nl, SYNQ_CMD_MATCH_GET, SYNQ_A_MATCH_MAX,
				take_match, conf, changed);
	if (!error)
		error = get_conf(nl, conf);
	if (generation != conf->generation)
		*changed = true;
	return error;
}

/**
 * load_conf() - fetch the configuration from the kernel
 * @nl: the conversation
 * @conf: the configuration, uninitialised; to be cleared by the caller
 * @light: without the matches
 *
 * Return: DONE, or REFUSED or UNREACHABLE, reported.
 */
int load_conf(struct nl *nl, struct conf *conf, bool light)
{
	unsigned int tries;
	bool changed;
	int error;

	conf_init(conf, NULL);
	for (tries = 0; tries < TRIES; tries++) {
		conf_clear(conf);
		conf->light = light;
		changed = false;
		error = fetch(nl, conf, light, &changed);
		if (error || !changed)
			return error;
	}
	return fail(REFUSED,
		    "the configuration changes too fast to be read; try again");
}
