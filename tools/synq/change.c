// SPDX-License-Identifier: GPL-2.0
/*
 * One change, given on the command line: class, match, listener, mark, set.  It is
 * one edit, or one for each prefix in a file, and in any case one transaction.
 *
 * It first fetches the configuration from the kernel, all but the matches.  So
 * the same rules apply to the change as to a line of a file, with the same
 * messages.  Scripts may run many of these at once: the loser of a race starts
 * over.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "prefixes.h"

#define TRIES		20

/**
 * struct change - what is to be done
 * @edit: what the edits have in common
 * @prefixes: OBJECT_MATCH: an edit for each
 * @unjudged: OBJECT_MATCH: no listener has its ports
 */
struct change {
	struct edit edit;
	struct prefixes prefixes;
	bool unjudged;
};

static int read_change(struct words *words, struct change *change)
{
	if (edit_parse(words, &change->edit))
		return REFUSED;
	return change->edit.object == OBJECT_MATCH ?
	       prefixes_read(&change->prefixes, &change->edit) : DONE;
}

/* Edit number @i, from 0; false if there are no more. */
static bool get_edit(const struct change *change, __u32 i, struct edit *edit)
{
	if (change->edit.object == OBJECT_LISTENER)
		return edit_ports(&change->edit, i, edit);
	if (change->edit.object != OBJECT_MATCH) {
		*edit = change->edit;
		return !i;
	}
	if (i >= change->prefixes.table.number)
		return false;
	prefixes_edit(&change->prefixes, &change->edit, i, edit);
	return true;
}

static int judge(struct nl *nl, struct change *change, __u32 *generation)
{
	enum object object = change->edit.object;
	struct edit edit;
	struct conf conf;
	int error;
	__u32 i;

	error = load_conf(nl, &conf, true);
	for (i = 0; !error && get_edit(change, i, &edit); i++)
		error = conf_edit(&conf, &edit);
	if (!error && (object == OBJECT_CLASS || object == OBJECT_MARK)) {
		error = conf_check(&conf);
		if (!error)
			error = conf_check_sysctl(&conf);
	}
	change->unjudged = object == OBJECT_MATCH &&
			   change->edit.verb == VERB_ADD &&
			   !conf_judges(&conf, &change->edit.service);
	*generation = conf.generation;
	conf_clear(&conf);
	return error;
}

static int attempt(struct nl *nl, struct change *change, struct tx *tx)
{
	__u32 generation, i;
	struct edit edit;
	int error;

	error = judge(nl, change, &generation);
	if (error)
		return error;
	error = tx_begin(tx, nl, false, &generation);
	for (i = 0; !error && !tx->error.code && get_edit(change, i, &edit);
	     i++)
		error = tx_edit(tx, &edit);
	return tx_commit(tx, error);
}

static int refuse_change(const struct change *change, const struct tx *tx)
{
	char text[EDIT_TEXT];
	struct edit edit;
	bool failed;
	__u32 i;

	if (tx->error.code == ESTALE)
		return fail(REFUSED, "%s", tx->error.text);
	failed = tx_edit_failed(tx, &i);
	/* The commit: of several edits it is none. */
	if (!failed && change->prefixes.table.number > 1)
		return nl_refuse(&change->edit.origin, NULL, &tx->error);
	get_edit(change, failed ? i : 0, &edit);
	return nl_refuse(&edit.origin, edit_value(&edit, text), &tx->error);
}

static int make(struct nl *nl, struct change *change)
{
	unsigned int tries = 0;
	struct tx tx = { 0 };
	int error;

	do {
		error = attempt(nl, change, &tx);
	} while (!error && tx.error.code == ESTALE && ++tries < TRIES);
	if (!error && tx.error.code)
		error = refuse_change(change, &tx);
	return error;
}

/**
 * command_change() - make one change
 * @words: the whole command, the object included
 *
 * Return: exit status.
 */
int command_change(struct words *words)
{
	struct change change = { 0 };
	struct nl nl = { 0 };
	int error;

	error = read_change(words, &change);
	/* An empty file changes nothing. */
	if (!error && !change.prefixes.list.empty) {
		error = nl_open(&nl);
		if (!error)
			error = make(&nl, &change);
		nl_close(&nl);
	}
	if (!error)
		list_notes(&change.prefixes.list);
	if (!error && change.unjudged)
		conf_note_unjudged(&change.edit.service);
	prefixes_free(&change.prefixes);
	return error;
}
