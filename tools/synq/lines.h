/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text files: as a whole in memory, by lines, and by the words of lines.
 */
#ifndef SYNQ_LINES_H
#define SYNQ_LINES_H

#include "edit.h"

/**
 * struct text - a text file in memory
 * @name: what it is called in messages
 * @bytes: all of it, without a byte order mark
 * @length: of @bytes
 */
struct text {
	const char *name;
	char *bytes;
	size_t length;
};

/**
 * typedef take_line - takes one line
 * @origin: where it stands
 * @line: the line without its end, which may be written to and ends with the call
 * @arg: the caller's
 *
 * Return: DONE, or REFUSED, which ends it.
 */
typedef int take_line(const struct origin *origin, char *line, void *arg);

/**
 * typedef take_words - takes the words of one line, which end with it
 * @words: at least one
 * @arg: the caller's
 *
 * Return: DONE, or REFUSED, which ends it.
 */
typedef int take_words(struct words *words, void *arg);

int text_read(struct text *text, const char *path, const char *name,
	      const struct origin *at);
void text_free(struct text *text);
int text_lines(const struct text *text, take_line *take, void *arg);
int text_words(const struct text *text, take_words *take, void *arg);

#endif /* SYNQ_LINES_H */
