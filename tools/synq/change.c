// SPDX-License-Identifier: GPL-2.0
/*
 * One edit, given on the command line: class, match, listener, mark, set.
 *
 * The configuration of the kernel is fetched first, all but the matches, so
 * that the edit is judged by the same rules and refused in the same words as a
 * line of a file.  Scripts may run many of these at once: whoever loses the
 * race begins again.
 */
#include <errno.h>
#include <string.h>

#include "command.h"

#define TRIES		20

static int judge(struct nl *nl, const struct edit *edit, __u32 *generation)
{
	struct conf conf;
	int error;

	error = load_conf(nl, &conf, true);
	if (!error)
		error = conf_edit(&conf, edit);
	if (!error && (edit->object == OBJECT_CLASS ||
		       edit->object == OBJECT_MARK)) {
		error = conf_check(&conf);
		if (!error)
			error = conf_check_sysctl(&conf);
	}
	*generation = conf.generation;
	conf_clear(&conf);
	return error;
}

static int attempt(struct nl *nl, const struct edit *edit,
		   struct nl_error *result)
{
	__u32 generation;
	struct tx tx;
	int error;

	error = judge(nl, edit, &generation);
	if (error)
		return error;
	error = tx_begin(&tx, nl, false, &generation);
	if (!error)
		error = tx_edit(&tx, edit);
	error = tx_commit(&tx, error);
	*result = tx.error;
	return error;
}

/**
 * command_change() - make one edit
 * @words: the whole command, the object included
 *
 * Return: exit status.
 */
int command_change(struct words *words)
{
	struct nl_error result = { 0 };
	unsigned int tries = 0;
	char text[EDIT_TEXT];
	struct nl nl = { 0 };
	struct edit edit;
	int error;

	error = edit_parse(words, &edit);
	if (!error)
		error = nl_open(&nl);
	while (!error) {
		error = attempt(&nl, &edit, &result);
		if (error || result.code != ESTALE || ++tries == TRIES)
			break;
	}
	if (!error && result.code == ESTALE)
		error = fail(REFUSED, "%s", result.text);
	else if (!error && result.code)
		error = nl_refuse(&edit.origin, edit_value(&edit, text),
				  &result);
	nl_close(&nl);
	return error;
}
