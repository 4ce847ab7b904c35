// SPDX-License-Identifier: GPL-2.0
/*
 * The prefixes that one edit of matches is for: one prefix, the prefixes that make up
 * a range, or those in a file.
 *
 * The same prefix twice is the same as once, so each is here once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prefixes.h"

/* A relative name is relative to the directory of the configuration file. */
static char *beside(const char *file, const char *name)
{
	const char *slash = file && *name != '/' ? strrchr(file, '/') : NULL;
	int directory = slash ? slash - file + 1 : 0;
	size_t room = directory + strlen(name) + 1;
	char *path = allocate(NULL, room, 1);

	snprintf(path, room, "%.*s%s", directory, file ? file : "", name);
	return path;
}

/**
 * prefixes_add() - add the prefixes that make up a range
 * @prefixes: prefixes
 * @range: the range
 * @line: where it was written
 */
void prefixes_add(struct prefixes *prefixes, struct range range,
		  unsigned int line)
{
	struct prefix prefix;

	while (range_next(&range, &prefix)) {
		if (!table_find(&prefixes->table, &prefix, 0))
			table_add(&prefixes->table, &prefix, 0)->line = line;
	}
}

/**
 * prefixes_read() - find the prefixes of an edit
 * @prefixes: prefixes; prefixes_free() frees them, whatever is returned
 * @edit: the edit, of a match
 *
 * Return: DONE or REFUSED.
 */
int prefixes_read(struct prefixes *prefixes, const struct edit *edit)
{
	const struct origin *origin = &edit->origin;

	memset(prefixes, 0, sizeof(*prefixes));
	if (!edit->sources) {
		prefixes_add(prefixes, edit->range, origin->line);
		return DONE;
	}
	prefixes->list.path = beside(origin->file, edit->sources);
	return list_read(prefixes, origin);
}

/**
 * prefixes_edit() - the edit of one of the prefixes
 * @prefixes: read
 * @common: the edit of all
 * @i: which, from 0
 * @edit: the edit; its origin is in the file, if there is one
 */
void prefixes_edit(const struct prefixes *prefixes, const struct edit *common,
		   __u32 i, struct edit *edit)
{
	const struct match *match = &prefixes->table.match[i];

	*edit = *common;
	edit->source = match->prefix;
	if (!prefixes->list.path)
		return;
	edit->from = common->origin.line;
	edit->origin.file = prefixes->list.path;
	edit->origin.line = match->line;
}

/**
 * prefixes_free() - free the memory
 * @prefixes: prefixes, or zero
 */
void prefixes_free(struct prefixes *prefixes)
{
	list_free(&prefixes->list);
	table_clear(&prefixes->table);
}
