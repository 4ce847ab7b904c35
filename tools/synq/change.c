// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of the configuration in force: one, given on the command line, or the lines
 * of a batch.  Either is one transaction.
 *
 * All input is read before any request to the kernel.  Then the configuration is fetched
 * from there, without the matches.  So the same rules apply to a change as to a line of a
 * file, with the same messages, except that only the kernel knows whether a match exists.
 * Scripts may run many of these at once: the loser of a race starts over, from what was
 * read, since standard input cannot be read twice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "lines.h"
#include "prefixes.h"

#define TRIES		20

/**
 * struct change - what is to be done
 * @words: the command; NULL: a batch
 * @text: the batch
 * @read: the files of prefixes have been read
 * @list: these files, in the order in which they are named
 * @lists: how many there are
 * @next: the next of them to be named
 * @edits: edits in all
 * @take: takes each edit
 * @arg: the second argument of @take
 */
struct change {
	struct words *words;
	struct text text;
	bool read;
	struct prefixes *list;
	unsigned int lists;
	unsigned int next;
	__u32 edits;
	take_edit *take;
	void *arg;
};

/**
 * struct attempt - a try to make the change
 * @conf: the configuration that was in force, with the edits
 * @tx: the transaction
 * @check: the rules for a configuration as a whole may be broken
 */
struct attempt {
	struct conf conf;
	struct tx tx;
	bool check;
};

static int read_list(struct change *change, const struct edit *edit)
{
	change->list = allocate(change->list, change->lists + 1,
				sizeof(*change->list));
	return prefixes_read(&change->list[change->lists++], edit);
}

static int read_line(struct words *words, void *arg)
{
	struct prefixes *prefixes = NULL;
	struct change *change = arg;
	struct edit edit;

	if (edit_parse(words, &edit))
		return REFUSED;
	/* The kernel does not know how a match was written. */
	if (edit.prefer)
		return refuse(&edit.origin, "prefer",
			      "valid in a configuration file only (match set gives another class)");
	if (edit.sources) {
		if (!change->read && read_list(change, &edit))
			return REFUSED;
		prefixes = &change->list[change->next++];
	}
	return edit_each(&edit, prefixes, change->take, change->arg);
}

/* All edits; what @take returns ends it, unless it is DONE. */
static int each(struct change *change, take_edit *take, void *arg)
{
	change->take = take;
	change->arg = arg;
	change->next = 0;
	if (!change->words)
		return text_words(&change->text, read_line, change);
	change->words->next = 0;
	return read_line(change->words, change);
}

static int count(const struct edit *edit, void *arg)
{
	++*(__u32 *)arg;
	return DONE;
}

static int read_change(struct change *change)
{
	int error = each(change, count, &change->edits);

	change->read = true;
	return error;
}

static int send_edit(const struct edit *edit, void *arg)
{
	struct attempt *attempt = arg;

	/* What follows may be wrong only because of the error. */
	if (attempt->tx.error.code)
		return DONE;
	if (conf_edit(&attempt->conf, edit))
		return REFUSED;
	attempt->check |= edit->object == OBJECT_CLASS ||
			  edit->object == OBJECT_MARK;
	return tx_edit(&attempt->tx, edit);
}

static int try(struct nl *nl, struct change *change, struct attempt *attempt)
{
	struct conf *conf = &attempt->conf;
	int error;

	memset(&attempt->tx, 0, sizeof(attempt->tx));
	attempt->check = false;
	error = load_conf(nl, conf, true);
	if (error)
		return error;
	error = tx_begin(&attempt->tx, nl, false, &conf->generation);
	if (!error)
		error = each(change, send_edit, attempt);
	if (!error && attempt->check && !attempt->tx.error.code) {
		error = conf_check(conf);
		if (!error)
			error = conf_check_sysctl(conf);
	}
	return tx_commit(&attempt->tx, error);
}

/**
 * struct blame - the edit that was refused
 * @error: what the kernel said
 * @skip: edits before it
 */
struct blame {
	const struct nl_error *error;
	__u32 skip;
};

static int blame_edit(const struct edit *edit, void *arg)
{
	struct blame *blame = arg;
	char text[EDIT_TEXT];

	if (blame->skip--)
		return DONE;
	return nl_refuse(&edit->origin, edit_value(edit, text), blame->error);
}

static int refuse_change(struct change *change, const struct tx *tx)
{
	struct origin origin = { change->text.name, 0 };
	struct blame blame = { .error = &tx->error };

	if (tx->error.code == ESTALE)
		return fail(REFUSED, "%s", tx->error.text);
	/* If it was the commit, it is the only edit, or none of them. */
	if (tx_edit_failed(tx, &blame.skip))
		return each(change, blame_edit, &blame);
	blame.skip = 0;
	if (change->edits == 1)
		return each(change, blame_edit, &blame);
	return nl_refuse(&origin, NULL, &tx->error);
}

/* Remarks on the first one, which ends it. */
static int note_unjudged(const struct edit *edit, void *conf)
{
	if (edit->object != OBJECT_MATCH || edit->verb != VERB_ADD ||
	    conf_judges(conf, &edit->service))
		return DONE;
	conf_note_unjudged(&edit->service);
	return REFUSED;
}

static int make(struct change *change)
{
	struct attempt attempt = { 0 };
	unsigned int tries = 0;
	struct nl nl = { 0 };
	int error;

	conf_init(&attempt.conf, NULL);
	error = nl_open(&nl);
	while (!error) {
		conf_clear(&attempt.conf);
		error = try(&nl, change, &attempt);
		if (error || attempt.tx.error.code != ESTALE ||
		    ++tries == TRIES)
			break;
	}
	if (!error && attempt.tx.error.code)
		error = refuse_change(change, &attempt.tx);
	/* Only now, since a later line may have added the listener. */
	if (!error)
		each(change, note_unjudged, &attempt.conf);
	nl_close(&nl);
	conf_clear(&attempt.conf);
	return error;
}

/* Empty lists change nothing. */
static int read_and_make(struct change *change)
{
	int error = read_change(change);
	unsigned int i;

	if (!error && change->edits)
		error = make(change);
	for (i = 0; !error && i < change->lists; i++)
		list_notes(&change->list[i].list);
	return error;
}

static void free_change(struct change *change)
{
	while (change->lists)
		prefixes_free(&change->list[--change->lists]);
	free(change->list);
	text_free(&change->text);
}

/**
 * command_change() - make one change
 * @words: the whole command, the object included
 *
 * Return: exit status.
 */
int command_change(struct words *words)
{
	struct change change = { .words = words };
	int error = read_and_make(&change);

	free_change(&change);
	return error;
}

/**
 * command_batch() - make the changes that a file lists
 * @words: the name of the file; none, or "-": standard input
 * @flags: none
 *
 * Return: exit status.
 */
int command_batch(struct words *words, unsigned int flags)
{
	const char *name = words_next(words);
	struct change change = { 0 };
	int error;

	if (edit_refuse_end(words, "-batch"))
		return REFUSED;
	if (name && !strcmp(name, "-"))
		name = NULL;
	error = text_read(&change.text, name, name ?: "<stdin>", NULL);
	if (!error)
		error = read_and_make(&change);
	free_change(&change);
	return error;
}
