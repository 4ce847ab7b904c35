/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The prefixes that one edit of matches is for: one, a range, or a file of them.
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
 * struct prefixes - prefixes, each of them once
 * @list: where they are from
 * @table: the prefixes in the order of the file, with the line of each
 */
struct prefixes {
	struct list list;
	struct table table;
};

/* prefixes.c */
int prefixes_read(struct prefixes *prefixes, const struct edit *edit);
void prefixes_edit(const struct prefixes *prefixes, const struct edit *common,
		   __u32 i, struct edit *edit);
void prefixes_free(struct prefixes *prefixes);
void prefixes_add(struct prefixes *prefixes, struct range range,
		  unsigned int line);

/* list.c */
int list_read(struct prefixes *prefixes, const struct origin *at);
void list_notes(const struct list *list);
void list_free(struct list *list);

#endif /* SYNQ_PREFIXES_H */
