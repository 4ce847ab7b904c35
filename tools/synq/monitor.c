// SPDX-License-Identifier: GPL-2.0
/*
 * The command monitor: a line for the configuration in force, and another one
 * whenever it is replaced, or synq is switched off or on, by any process; and a line
 * when something begins or ends for a class at a listener.
 */
#include <linux/genetlink.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

/* By enum synq_event: its name in JSON, and what it is in a line. */
static const struct {
	const char *key;
	const char *words;
} events[] = {
	[SYNQ_EVENT_EXCESS] = { "excess", "over its rate" },
	[SYNQ_EVENT_REFUSED] = { "refused", "refused" },
	[SYNQ_EVENT_COOKIES] = { "cookies", "answered by SYN cookies" },
	[SYNQ_EVENT_HOLD] = { "hold", "held" },
	[SYNQ_EVENT_HOLD_FULL] = { "hold_full", "cannot be held" },
	[SYNQ_EVENT_SOURCES_FULL] = { "sources_full",
				      "no place in the table of sources" },
};

#define EVENTS	(sizeof(events) / sizeof(*events))

/**
 * struct hearer - a listener of events, and its output format
 * @heard: the conversation that hears of changes
 * @flags: FLAG_JSON
 */
struct hearer {
	struct nl heard;
	unsigned int flags;
};

static void print_json(struct nlattr **attr)
{
	json_t *json;

	json = json_pack("{s:I, s:i, s:I, s:i, s:b, s:b}", "generation",
			 (json_int_t)attr_u32(attr, SYNQ_A_CONF_GENERATION),
			 "classes", (int)attr_u32(attr, SYNQ_A_CONF_CLASSES),
			 "matches",
			 (json_int_t)attr_u32(attr, SYNQ_A_CONF_MATCHES),
			 "listeners",
			 (int)attr_u32(attr, SYNQ_A_CONF_LISTENERS),
			 "off", attr_u8(attr, SYNQ_A_CONF_BYPASS), "enforce",
			 attr_u8(attr, SYNQ_A_CONF_ENFORCE));
	if (attr[SYNQ_A_CONF_CONFIRM_LEFT])
		json_object_set_new(json, "confirm_left",
				    json_integer(attr_u32(attr,
							  SYNQ_A_CONF_CONFIRM_LEFT)));
	json_print(json);
}

static const char *plural(__u32 number)
{
	return number == 1 ? "" : "s";
}

static void print_text(struct nlattr **attr)
{
	__u32 classes = attr_u32(attr, SYNQ_A_CONF_CLASSES);
	__u32 matches = attr_u32(attr, SYNQ_A_CONF_MATCHES);
	__u32 listeners = attr_u32(attr, SYNQ_A_CONF_LISTENERS);

	printf("generation %u: %u class%s, %u match%s, %u listener%s",
	       attr_u32(attr, SYNQ_A_CONF_GENERATION), classes,
	       classes == 1 ? "" : "es", matches, matches == 1 ? "" : "es",
	       listeners, plural(listeners));
	if (attr_u8(attr, SYNQ_A_CONF_BYPASS))
		printf(", off");
	if (!attr_u8(attr, SYNQ_A_CONF_ENFORCE) && classes)
		printf(", enforce off");
	if (attr[SYNQ_A_CONF_CONFIRM_LEFT])
		printf(", on trial for %us",
		       attr_u32(attr, SYNQ_A_CONF_CONFIRM_LEFT));
	putchar('\n');
}

static void take_state(struct nlattr **attr, void *arg)
{
	const struct hearer *hearer = arg;

	if (hearer->flags & FLAG_JSON)
		print_json(attr);
	else
		print_text(attr);
	/* The reader wants each line at once. */
	fflush(stdout);
}

static void print_event(struct nlattr **attr, unsigned int flags)
{
	unsigned int event = attr_u8(attr, SYNQ_A_EVENT_EVENT);
	unsigned int port = attr_u16(attr, SYNQ_A_EVENT_PORT);
	const char *class = attr_text(attr, SYNQ_A_EVENT_CLASS);
	__u64 count = attr_u64(attr, SYNQ_A_EVENT_COUNT);
	bool active = attr_u8(attr, SYNQ_A_EVENT_ACTIVE);
	char name[16] = "forward";

	/* Of a module that is newer. */
	if (event >= EVENTS)
		return;
	if (flags & FLAG_JSON) {
		json_print(json_pack("{s:s, s:b, s:i, s:s, s:I}", "event",
				     events[event].key, "active", active, "port",
				     (int)port, "class", class, "count",
				     (json_int_t)count));
		return;
	}
	if (port)
		snprintf(name, sizeof(name), "port %u", port);
	printf("%s, class %s: %s", name, class, events[event].words);
	if (active)
		printf(", %llu in a second\n", count);
	else
		printf(" no more, %llu since it began\n", count);
}

static void take_change(struct nlattr **attr, void *arg)
{
	struct hearer *hearer = arg;

	switch (hearer->heard.heard) {
	case SYNQ_CMD_CONF_NTF:
		take_state(attr, hearer);
		break;
	case SYNQ_CMD_EVENT_NTF:
		print_event(attr, hearer->flags);
		fflush(stdout);
		break;
	}
}

static int print_now(struct nl *nl, struct hearer *hearer)
{
	char room[MNL_NLMSG_HDRLEN + GENL_HDRLEN];
	struct nl_error error;

	if (nl_call(nl, nl_request(nl, room, SYNQ_CMD_CONF_GET, 0),
		    SYNQ_A_CONF_MAX, take_state, hearer, &error))
		return UNREACHABLE;
	return error.code ? nl_refuse(NULL, NULL, &error) : DONE;
}

/*
 * One conversation hears of changes, the other asks: an answer that is waited for
 * is not to be mixed with them.  What changes between joining and asking is
 * printed twice, and nothing is missed.  To ask is also what has the module look for
 * events.
 */
static int monitor(struct hearer *hearer, struct nl *asked)
{
	bool missed = false;
	int error;

	error = nl_join(&hearer->heard, SYNQ_MCGRP_CONFIG);
	if (!error)
		error = nl_join(&hearer->heard, SYNQ_MCGRP_EVENTS);
	do {
		if (!error)
			error = print_now(asked, hearer);
		if (!error)
			error = nl_hear(&hearer->heard, SYNQ_A_CONF_MAX,
					take_change, hearer, &missed);
	} while (!error && missed);
	return error;
}

/**
 * command_monitor() - print each change and each event until interrupted
 * @words: none
 * @flags: FLAG_JSON
 *
 * Return: exit status.
 */
int command_monitor(struct words *words, unsigned int flags)
{
	struct hearer hearer = { .flags = flags };
	struct nl asked = { 0 };
	int error;

	if (edit_refuse_end(words, "monitor"))
		return REFUSED;
	error = nl_open(&hearer.heard);
	if (!error)
		error = nl_open(&asked);
	if (!error)
		error = monitor(&hearer, &asked);
	nl_close(&hearer.heard);
	nl_close(&asked);
	return error;
}
