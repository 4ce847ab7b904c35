/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One line may be many edits: of the prefixes in a range or a file, or of ports.
 */
#ifndef SYNQ_PREFIXES_H
#define SYNQ_PREFIXES_H

#include "edit.h"
#include "table.h"

/**
 * struct list - a file of prefixes
 * @path: its name; NULL: no file
 * @header: a line of words at its beginning, or NULL
 * @header_line: where it stands
 * @masked: prefixes whose host bits were cleared
 * @masked_line: the first of them
 * @expiring: entries with a timeout
 * @unused: records of a registry that are neither allocated nor assigned
 * @empty: it has no prefix
 */
struct list {
	char *path;
	char *header;
	unsigned int header_line;
	unsigned int masked;
	unsigned int masked_line;
	unsigned int expiring;
	unsigned int unused;
	bool empty;
};

/**
 * struct prefixes - the prefixes in a file, each of them once
 * @list: the file
 * @table: the prefixes in the order of the file, with the line of each
 */
struct prefixes {
	struct list list;
	struct table table;
};

/* prefixes.c */
/**
 * typedef take_edit - takes one edit
 * @edit: the edit
 * @arg: the caller's
 *
 * Return: DONE, or another status, which ends it.
 */
typedef int take_edit(const struct edit *edit, void *arg);

int prefixes_read(struct prefixes *prefixes, const struct edit *edit);
int edit_each(const struct edit *common, const struct prefixes *prefixes,
	      take_edit *take, void *arg);
void prefixes_free(struct prefixes *prefixes);
void prefixes_add(struct prefixes *prefixes, struct range range,
		  unsigned int line);

/* list.c */
int list_read(struct prefixes *prefixes, const struct origin *at);
void list_notes(const struct list *list);
void list_free(struct list *list);

#endif /* SYNQ_PREFIXES_H */
