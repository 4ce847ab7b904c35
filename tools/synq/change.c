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

struct place {
	struct prefix prefix;
	unsigned int line;
};

/**
 * struct change - what is to be done
 * @edit: all that the edits have in common
 * @place: a prefix for each edit, if there are several
 * @edits: how many there are
 * @room: capacity of @place
 */
struct change {
	struct edit edit;
	struct place *place;
	__u32 edits;
	__u32 room;
};

static int take_prefix(const struct edit *edit, void *arg)
{
	struct change *change = arg;
	struct place *place;

	if (change->edits == SYNQ_MATCHES_MAX)
		return refuse(&edit->origin, NULL,
			      "too many matches, the limit is %u",
			      SYNQ_MATCHES_MAX);
	if (change->edits == change->room) {
		change->room = change->room ? 2 * change->room : 1024;
		change->place = allocate(change->place, change->room,
					 sizeof(*place));
	}
	place = &change->place[change->edits++];
	place->prefix = edit->source;
	place->line = edit->origin.line;
	return DONE;
}

static int read_change(struct words *words, struct change *change)
{
	if (edit_parse(words, &change->edit))
		return REFUSED;
	if (change->edit.sources)
		return prefixes_read(&change->edit, take_prefix, change);
	change->edits = 1;
	return DONE;
}

static void get_edit(const struct change *change, __u32 i, struct edit *edit)
{
	*edit = change->edit;
	if (!change->place)
		return;
	edit->origin.file = change->edit.sources;
	edit->origin.line = change->place[i].line;
	edit->source = change->place[i].prefix;
}

static int judge(struct nl *nl, const struct change *change, __u32 *generation)
{
	enum object object = change->edit.object;
	struct edit edit;
	struct conf conf;
	int error;

	get_edit(change, 0, &edit);
	error = load_conf(nl, &conf, true);
	if (!error)
		error = conf_edit(&conf, &edit);
	if (!error && (object == OBJECT_CLASS || object == OBJECT_MARK)) {
		error = conf_check(&conf);
		if (!error)
			error = conf_check_sysctl(&conf);
	}
	*generation = conf.generation;
	conf_clear(&conf);
	return error;
}

static int attempt(struct nl *nl, const struct change *change, struct tx *tx)
{
	__u32 generation, i;
	struct edit edit;
	int error;

	error = judge(nl, change, &generation);
	if (error)
		return error;
	error = tx_begin(tx, nl, false, &generation);
	for (i = 0; !error && !tx->error.code && i < change->edits; i++) {
		get_edit(change, i, &edit);
		error = tx_edit(tx, &edit);
	}
	return tx_commit(tx, error);
}

static int refuse_change(const struct change *change, const struct tx *tx)
{
	char text[EDIT_TEXT];
	struct edit edit;
	__u32 i;

	if (tx->error.code == ESTALE)
		return fail(REFUSED, "%s", tx->error.text);
	if (!tx_edit_failed(tx, &i) && change->place)
		return nl_refuse(&change->edit.origin, NULL, &tx->error);
	get_edit(change, change->place ? i : 0, &edit);
	return nl_refuse(&edit.origin, edit_value(&edit, text), &tx->error);
}

static int make(struct nl *nl, const struct change *change)
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
	if (!error && change.edits) {
		error = nl_open(&nl);
		if (!error)
			error = make(&nl, &change);
		nl_close(&nl);
	}
	free(change.place);
	return error;
}
