// SPDX-License-Identifier: GPL-2.0
/*
 * A file of prefixes: the line "match add source-file FILE class NAME" makes a
 * match of each of them.
 *
 * One prefix per line.  A relative name is relative to the directory of the
 * configuration file, not to the current directory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "prefixes.h"

struct reading {
	const struct edit *edit;
	take_edit *take;
	void *arg;
};

static char *beside(const char *file, const char *name)
{
	const char *slash = file && *name != '/' ? strrchr(file, '/') : NULL;
	int directory = slash ? slash - file + 1 : 0;
	size_t room = directory + strlen(name) + 1;
	char *path = allocate(NULL, room, 1);

	snprintf(path, room, "%.*s%s", directory, file ? file : "", name);
	return path;
}

static int take_prefix(struct words *words, void *arg)
{
	const struct reading *reading = arg;
	struct edit edit = *reading->edit;

	edit.origin = words->origin;
	edit.from = reading->edit->origin.line;
	edit.sources = NULL;
	if (value_prefix(&edit.origin, words_next(words), "source",
			 &edit.source) ||
	    edit_refuse_end(words, "a file of prefixes"))
		return REFUSED;
	return reading->take(&edit, reading->arg);
}

/**
 * prefixes_read() - make an edit of each prefix in a file
 * @edit: an edit with @edit->sources
 * @take: takes each edit; its origin is the line of the prefix
 * @arg: the second argument of @take
 *
 * Return: DONE or REFUSED.
 */
int prefixes_read(const struct edit *edit, take_edit *take, void *arg)
{
	struct reading reading = { edit, take, arg };
	char *path = beside(edit->origin.file, edit->sources);
	int error = lines_read(path, path, &edit->origin, take_prefix,
			       &reading);

	free(path);
	return error;
}
