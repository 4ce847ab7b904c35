// SPDX-License-Identifier: GPL-2.0
/*
 * The command monitor: a line for the configuration in force, and another one
 * whenever it is replaced, or synq is switched off or on, by any process.
 */
#include <linux/genetlink.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

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
	const unsigned int *flags = arg;

	if (*flags & FLAG_JSON)
		print_json(attr);
	else
		print_text(attr);
	/* The reader wants each line at once. */
	fflush(stdout);
}

static int print_now(struct nl *nl, unsigned int *flags)
{
	char room[MNL_NLMSG_HDRLEN + GENL_HDRLEN];
	struct nl_error error;

	if (nl_call(nl, nl_request(nl, room, SYNQ_CMD_CONF_GET, 0),
		    SYNQ_A_CONF_MAX, take_state, flags, &error))
		return UNREACHABLE;
	return error.code ? nl_refuse(NULL, NULL, &error) : DONE;
}

/*
 * One conversation hears of changes, the other asks: an answer that is waited for
 * is not to be mixed with them.  What changes between joining and asking is
 * printed twice, and nothing is missed.
 */
static int monitor(struct nl *heard, struct nl *asked, unsigned int *flags)
{
	bool missed = false;
	int error;

	error = nl_join(heard, SYNQ_MCGRP_CONFIG);
	do {
		if (!error)
			error = print_now(asked, flags);
		if (!error)
			error = nl_hear(heard, SYNQ_A_CONF_MAX, take_state,
					flags, &missed);
	} while (!error && missed);
	return error;
}

/**
 * command_monitor() - print each change of the configuration until interrupted
 * @words: none
 * @flags: FLAG_JSON
 *
 * Return: exit status.
 */
int command_monitor(struct words *words, unsigned int flags)
{
	struct nl heard = { 0 }, asked = { 0 };
	int error;

	if (edit_refuse_end(words, "monitor"))
		return REFUSED;
	error = nl_open(&heard);
	if (!error)
		error = nl_open(&asked);
	if (!error)
		error = monitor(&heard, &asked, &flags);
	nl_close(&heard);
	nl_close(&asked);
	return error;
}
