// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a configuration file: each line is an edit.
 *
 * Needs neither privilege nor kernel module.
 */
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "lines.h"

/* More files of prefixes than struct match can number are a mistake. */
#define LISTS_MAX	65535

/* Makes the list one of the configuration's, which has no other edits of it. */
static int keep_list(struct conf *conf, struct prefixes *prefixes,
		     const struct edit *edit)
{
	if (conf->strict && prefixes->list.empty)
		return refuse(&edit->origin, edit->sources,
			      "no prefix in this file");
	if (conf->lists == LISTS_MAX)
		return refuse(&edit->origin, edit->sources,
			      "too many files, the limit is %u", LISTS_MAX);
	conf->list = allocate(conf->list, conf->lists + 1,
			      sizeof(*conf->list));
	conf->list[conf->lists++] = prefixes->list;
	return DONE;
}

static int take_one(const struct edit *edit, void *conf)
{
	return conf_edit(conf, edit);
}

static int take_list(struct conf *conf, struct edit *edit)
{
	struct prefixes prefixes;
	int error;

	error = prefixes_read(&prefixes, edit);
	if (!error)
		error = keep_list(conf, &prefixes, edit);
	if (error) {
		prefixes_free(&prefixes);
		return error;
	}
	edit->list = conf->lists;
	error = edit_each(edit, &prefixes, take_one, conf);
	table_clear(&prefixes.table);
	return error;
}

static int read_line(struct words *words, void *conf)
{
	struct edit edit;

	if (edit_parse(words, &edit))
		return REFUSED;
	return edit.sources ? take_list(conf, &edit) :
			      edit_each(&edit, NULL, take_one, conf);
}

/**
 * conf_read() - read and check a configuration file
 * @conf: the configuration, uninitialised; to be cleared by the caller
 * @name: name of the file; "-" is standard input
 * @strict: refuse a file of prefixes that has none
 *
 * Return: DONE or REFUSED.
 */
int conf_read(struct conf *conf, const char *name, bool strict)
{
	bool is_stdin = !strcmp(name, "-");
	struct text text;
	int error;

	conf_init(conf, is_stdin ? "<stdin>" : name);
	conf->strict = strict;
	error = text_read(&text, is_stdin ? NULL : name, conf->file, NULL);
	if (!error)
		error = text_words(&text, read_line, conf);
	text_free(&text);
	return error ? error : conf_check(conf);
}
