// SPDX-License-Identifier: GPL-2.0
/*
 * Commands on the configuration as a whole: apply, confirm, diff, save, flush, on,
 * off.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "notes.h"
#include "print.h"
#include "rules.h"

#define TRIES		10

/**
 * struct plan - the edits that build a configuration from an empty one
 * @conf: the configuration
 * @class: its classes
 * @classes: how many there are
 */
struct plan {
	const struct conf *conf;
	const struct class *class[SLOTS];
	__u32 classes;
};

static void plan_class(const struct plan *plan, __u32 i, struct edit *edit)
{
	edit->object = OBJECT_CLASS;
	edit->class = plan->class[i]->spec;
	edit->origin.line = plan->class[i]->line;
}

static void plan_match(const struct plan *plan, __u32 i, struct edit *edit)
{
	const struct match *match = &plan->conf->matches.match[i];

	edit->object = OBJECT_MATCH;
	edit->source = match->prefix;
	edit->service = plan->conf->scope[match->service].service;
	edit->class = plan->conf->class[match->class].spec;
	edit->timeout = match->timeout;
	edit->origin = conf_match_origin(plan->conf, match);
}

static void plan_listener(const struct plan *plan, __u32 i, struct edit *edit)
{
	edit->object = OBJECT_LISTENER;
	edit->listener = plan->conf->listener[i].spec;
	edit->origin.line = plan->conf->listener[i].line;
}

static void plan_service(const struct plan *plan, __u32 i, struct edit *edit)
{
	edit->object = OBJECT_SERVICE;
	edit->service = plan->conf->forward[i].service;
	edit->origin.line = plan->conf->forward[i].line;
}

static void plan_mark(const struct plan *plan, struct edit *edit)
{
	edit->object = OBJECT_MARK;
	edit->mask = plan->conf->mask;
	edit->origin.line = plan->conf->mask_line;
}

static void plan_set(const struct plan *plan, struct edit *edit)
{
	edit->object = OBJECT_SET;
	edit->observe = plan->conf->observe;
	edit->origin.line = plan->conf->observe_line;
}

/* Edit number @i, from 0; false if there are no more. */
static bool plan_edit(const struct plan *plan, __u32 i, struct edit *edit)
{
	const struct conf *conf = plan->conf;

	memset(edit, 0, sizeof(*edit));
	edit->verb = VERB_ADD;
	edit->origin.file = conf->file;
	if (conf->observe && !i--) {
		plan_set(plan, edit);
		return true;
	}
	if (conf->mask && !i--) {
		plan_mark(plan, edit);
		return true;
	}
	if (i < plan->classes) {
		plan_class(plan, i, edit);
		return true;
	}
	i -= plan->classes;
	if (i < conf->matches.number) {
		plan_match(plan, i, edit);
		return true;
	}
	i -= conf->matches.number;
	if (i < conf->listeners) {
		plan_listener(plan, i, edit);
		return true;
	}
	i -= conf->listeners;
	if (i < conf->forwards) {
		plan_service(plan, i, edit);
		return true;
	}
	return false;
}

static int refuse_plan(const struct plan *plan, const struct tx *tx)
{
	struct origin origin = { plan->conf->file, 0 };
	struct edit edit;
	char text[EDIT_TEXT];
	__u32 number;

	if (tx->error.code == ESTALE)
		return fail(REFUSED, "%s", tx->error.text);
	if (!tx_edit_failed(tx, &number) || !plan_edit(plan, number, &edit))
		return nl_refuse(&origin, NULL, &tx->error);
	return nl_refuse(&edit.origin, edit_value(&edit, text), &tx->error);
}

/* The configuration in force; its generation goes with the replacement. */
static int get_generation(struct nl *nl, __u32 *generation)
{
	struct conf conf;
	int error = load_conf(nl, &conf, true);

	*generation = conf.generation;
	conf_clear(&conf);
	return error;
}

static int apply(struct nl *nl, struct conf *conf, __u32 confirm_within)
{
	struct plan plan = { .conf = conf };
	struct edit edit;
	__u32 generation;
	struct tx tx;
	__u32 i;
	int error;

	conf_sort(conf);
	plan.classes = conf_sorted_classes(conf, plan.class);
	error = get_generation(nl, &generation);
	if (error)
		return error;
	error = tx_begin(&tx, nl, true, &generation);
	tx.confirm_within = confirm_within;
	for (i = 0; !error && !tx.error.code && plan_edit(&plan, i, &edit);
	     i++)
		error = tx_edit(&tx, &edit);
	if (tx_commit(&tx, error))
		return UNREACHABLE;
	return tx.error.code ? refuse_plan(&plan, &tx) : DONE;
}

/* apply and diff take one word, the name of a file. */
static int read_conf(struct words *words, const char *command, bool strict,
		     struct conf *conf)
{
	const char *name = words_next(words);

	conf_init(conf, NULL);
	if (!name)
		return refuse(NULL, command,
			      "the name of a file is missing (- is standard input)");
	if (edit_refuse_end(words, command))
		return REFUSED;
	return conf_read(conf, name, strict);
}

static int read_confirm(const struct words *words, __u32 *seconds)
{
	if (!words->confirm)
		return DONE;
	return value_seconds(NULL, words->confirm, "--confirm",
			     SYNQ_CONFIRM_MAX, seconds);
}

/**
 * command_apply() - replace the whole configuration, or only check a file
 * @words: FILE
 * @flags: FLAG_CHECK, FLAG_PRINT, FLAG_CONFIRM, FLAG_STRICT
 *
 * Return: exit status.
 */
int command_apply(struct words *words, unsigned int flags)
{
	__u32 confirm_within = 0;
	struct nl nl = { 0 };
	struct conf conf;
	int error;

	if (read_confirm(words, &confirm_within))
		return REFUSED;
	error = read_conf(words, "apply", flags & FLAG_STRICT, &conf);
	if (!error && !(flags & FLAG_CHECK)) {
		error = conf_check_sysctl(&conf);
		if (!error)
			error = nl_open(&nl);
		if (!error)
			error = apply(&nl, &conf, confirm_within);
		nl_close(&nl);
	}
	if (!error) {
		conf_notes(&conf);
		if (!(flags & FLAG_CHECK)) {
			rules_note(conf.mask);
			notes_host(&conf);
		}
		if (flags & FLAG_PRINT)
			conf_print(&conf);
		if (confirm_within)
			remark("on trial for %us: synq confirm keeps it",
			       confirm_within);
	}
	conf_clear(&conf);
	return error;
}

/**
 * command_diff() - print what apply would change
 * @words: FILE
 * @flags: none
 *
 * Return: exit status.
 */
int command_diff(struct words *words, unsigned int flags)
{
	struct conf old, new;
	struct nl nl = { 0 };
	int error;

	conf_init(&old, NULL);
	error = read_conf(words, "diff", false, &new);
	if (!error)
		error = nl_open(&nl);
	if (!error)
		error = load_conf(&nl, &old, false);
	if (!error && conf_diff(&old, &new))
		error = DIFFERENT;
	nl_close(&nl);
	conf_clear(&old);
	conf_clear(&new);
	return error;
}

/**
 * command_save() - print the configuration
 * @words: none
 * @flags: none
 *
 * Return: exit status.
 */
int command_save(struct words *words, unsigned int flags)
{
	struct nl nl = { 0 };
	struct conf conf;
	int error;

	if (edit_refuse_end(words, "save"))
		return REFUSED;
	conf_init(&conf, NULL);
	error = nl_open(&nl);
	if (!error)
		error = load_conf(&nl, &conf, false);
	if (!error)
		conf_print(&conf);
	nl_close(&nl);
	conf_clear(&conf);
	return error;
}

/**
 * command_flush() - remove the configuration
 * @words: none
 * @flags: none
 *
 * Return: exit status.
 */
int command_flush(struct words *words, unsigned int flags)
{
	unsigned int tries = 0;
	struct nl nl = { 0 };
	struct tx tx;
	int error;

	if (edit_refuse_end(words, "flush"))
		return REFUSED;
	error = nl_open(&nl);
	while (!error) {
		error = tx_begin(&tx, &nl, true, NULL);
		error = tx_commit(&tx, error);
		if (error || tx.error.code != ESTALE || ++tries == TRIES)
			break;
	}
	if (!error && tx.error.code)
		error = nl_refuse(NULL, NULL, &tx.error);
	nl_close(&nl);
	return error;
}

/* One request, with its attribute if it has one. */
static int ask(struct words *words, const char *command, __u8 request,
	       const __u8 *bypass)
{
	char room[MNL_NLMSG_HDRLEN + GENL_HDRLEN + 64];
	struct nl_error result = { 0 };
	struct nl nl = { 0 };
	struct nlmsghdr *nlh;
	int error;

	if (edit_refuse_end(words, command))
		return REFUSED;
	error = nl_open(&nl);
	if (!error) {
		nlh = nl_request(&nl, room, request, 0);
		if (bypass)
			mnl_attr_put_u8(nlh, SYNQ_A_CONF_BYPASS, *bypass);
		error = nl_call(&nl, nlh, 0, NULL, NULL, &result);
	}
	if (!error && result.code)
		error = nl_refuse(NULL, NULL, &result);
	nl_close(&nl);
	return error;
}

/**
 * command_confirm() - keep the configuration on trial
 * @words: none
 * @flags: none
 *
 * Return: exit status.
 */
int command_confirm(struct words *words, unsigned int flags)
{
	return ask(words, "confirm", SYNQ_CMD_CONF_CONFIRM, NULL);
}

/**
 * command_on() - resume after "off"
 * @words: none
 * @flags: none
 *
 * Return: exit status.
 */
int command_on(struct words *words, unsigned int flags)
{
	static const __u8 bypass;

	return ask(words, "on", SYNQ_CMD_BYPASS_SET, &bypass);
}

/**
 * command_off() - leave everything to the stock kernel, keep the configuration
 * @words: none
 * @flags: none
 *
 * Return: exit status.
 */
int command_off(struct words *words, unsigned int flags)
{
	static const __u8 bypass = 1;

	return ask(words, "off", SYNQ_CMD_BYPASS_SET, &bypass);
}
