// SPDX-License-Identifier: GPL-2.0
/*
 * One line may be many edits: of the prefixes in a range or a file, or of ports.
 *
 * The same prefix twice in a file is the same as once, so each is here once.
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
 * prefixes_read() - read the file of prefixes that an edit names
 * @prefixes: prefixes; prefixes_free() frees them, whatever is returned
 * @edit: the edit, of a match
 *
 * Return: DONE or REFUSED.
 */
int prefixes_read(struct prefixes *prefixes, const struct edit *edit)
{
	memset(prefixes, 0, sizeof(*prefixes));
	prefixes->list.path = beside(edit->origin.file, edit->sources);
	return list_read(prefixes, &edit->origin);
}

static int each_in_file(const struct edit *common,
			const struct prefixes *prefixes, take_edit *take,
			void *arg)
{
	const struct table *table = &prefixes->table;
	struct edit edit = *common;
	int error = DONE;
	__u32 i;

	edit.from = common->origin.line;
	edit.origin.file = prefixes->list.path;
	for (i = 0; !error && i < table->number; i++) {
		edit.source = table->match[i].prefix;
		edit.origin.line = table->match[i].line;
		error = take(&edit, arg);
	}
	return error;
}

static int each_in_range(const struct edit *common, take_edit *take, void *arg)
{
	struct range range = common->range;
	struct edit edit = *common;
	int error = DONE;

	while (!error && range_next(&range, &edit.source))
		error = take(&edit, arg);
	return error;
}

static int each_port(const struct edit *common, take_edit *take, void *arg)
{
	const struct listener_spec *ports = &common->listener;
	struct edit edit = *common;
	int error = DONE;
	__u32 port;

	for (port = ports->port; !error && port <= ports->last; port++) {
		edit.listener.port = port;
		edit.listener.last = port;
		error = take(&edit, arg);
	}
	return error;
}

/**
 * edit_each() - go through the edits that one line means
 * @common: what the line says
 * @prefixes: the file that it names, if it does
 * @take: takes each edit, of one prefix or one port
 * @arg: the second argument of @take
 *
 * Return: DONE, or what @take returned.
 */
int edit_each(const struct edit *common, const struct prefixes *prefixes,
	      take_edit *take, void *arg)
{
	if (common->object == OBJECT_LISTENER)
		return each_port(common, take, arg);
	if (common->object != OBJECT_MATCH)
		return take(common, arg);
	return common->sources ? each_in_file(common, prefixes, take, arg) :
				 each_in_range(common, take, arg);
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
