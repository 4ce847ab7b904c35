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

static int edit_matches(struct conf *conf, const struct edit *common)
{
	struct prefixes prefixes;
	struct edit edit;
	int error;
	__u32 i;

	error = prefixes_read(&prefixes, common);
	if (!error && common->sources)
		error = keep_list(conf, &prefixes, common);
	if (error) {
		prefixes_free(&prefixes);
		return error;
	}
	for (i = 0; !error && i < prefixes.table.number; i++) {
		prefixes_edit(&prefixes, common, i, &edit);
		edit.list = common->sources ? conf->lists : 0;
		error = conf_edit(conf, &edit);
	}
	table_clear(&prefixes.table);
	return error;
}

static int take_edit(struct words *words, void *conf)
{
	struct edit edit;

	if (edit_parse(words, &edit))
		return REFUSED;
	return edit.object == OBJECT_MATCH ? edit_matches(conf, &edit) :
					     conf_edit(conf, &edit);
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
		error = text_words(&text, take_edit, conf);
	text_free(&text);
	return error ? error : conf_check(conf);
}
