/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text files: lines of words, comments from # on, blank lines.
 */
#ifndef SYNQ_LINES_H
#define SYNQ_LINES_H

#include "edit.h"

/**
 * typedef take_line - takes the words of one line, which end with it
 * @words: at least one
 * @arg: the caller's
 *
 * Return: DONE, or REFUSED, which ends it.
 */
typedef int take_line(struct words *words, void *arg);

int lines_read(const char *path, const char *name, const struct origin *at,
	       take_line *take, void *arg);

#endif /* SYNQ_LINES_H */
