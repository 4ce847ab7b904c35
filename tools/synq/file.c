// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a configuration file: each line is an edit.
 *
 * Needs neither privilege nor kernel module.
 */
#include <string.h>

#include "conf.h"
#include "lines.h"
#include "prefixes.h"

static int take_prefix(const struct edit *edit, void *conf)
{
	return conf_edit(conf, edit);
}

static int take_edit_line(struct words *words, void *conf)
{
	struct edit edit;

	if (edit_parse(words, &edit))
		return REFUSED;
	return edit.sources ? prefixes_read(&edit, take_prefix, conf) :
			      conf_edit(conf, &edit);
}

/**
 * conf_read() - read and check a configuration file
 * @conf: the configuration, uninitialised; to be cleared by the caller
 * @name: name of the file; "-" is standard input
 *
 * Return: DONE or REFUSED.
 */
int conf_read(struct conf *conf, const char *name)
{
	bool is_stdin = !strcmp(name, "-");
	int error;

	conf_init(conf, is_stdin ? "<stdin>" : name);
	error = lines_read(is_stdin ? NULL : name, conf->file, NULL,
			   take_edit_line, conf);
	return error ? error : conf_check(conf);
}
