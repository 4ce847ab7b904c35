// SPDX-License-Identifier: GPL-2.0
/*
 * Text files: lines of words, comments from # on, blank lines.
 *
 * Reading stops at the first error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

/* More words than the longest valid line has. */
#define WORDS_MAX	32

/* Splits a line into words, up to a comment; returns more than @max if too long. */
static unsigned int split(char *line, char **word, unsigned int max)
{
	unsigned int number = 0;

	for (;;) {
		line += strspn(line, " \t\r\n");
		if (!*line || *line == '#')
			return number;
		if (number == max)
			return max + 1;
		word[number++] = line;
		line += strcspn(line, " \t\r\n");
		if (*line)
			*line++ = '\0';
	}
}

static int read_line(const struct origin *origin, char *line, size_t length,
		     take_line *take, void *arg)
{
	struct words words = { .origin = *origin };
	char *word[WORDS_MAX];

	if (strlen(line) != length)
		return refuse(origin, NULL, "a NUL byte: not a text file");
	words.word = word;
	words.number = split(line, word, WORDS_MAX);
	if (!words.number)
		return DONE;
	if (words.number > WORDS_MAX)
		return refuse(origin, word[0], "too many words");
	return take(&words, arg);
}

static int read_all(FILE *file, const char *name, const struct origin *at,
		    take_line *take, void *arg)
{
	struct origin origin = { name, 0 };
	char *line = NULL;
	size_t room = 0;
	int error = DONE;
	ssize_t length;

	errno = 0;
	while (!error) {
		length = getline(&line, &room, file);
		if (length < 0)
			break;
		origin.line++;
		error = read_line(&origin, line, length, take, arg);
	}
	if (!error && ferror(file))
		error = refuse(at, name, "%s", strerror(errno));
	free(line);
	return error;
}

/**
 * lines_read() - read a file line by line
 * @path: the file; NULL: standard input
 * @name: what it is called in messages
 * @at: where it was named, or NULL
 * @take: takes each line that has words
 * @arg: the second argument of @take
 *
 * Return: DONE or REFUSED.
 */
int lines_read(const char *path, const char *name, const struct origin *at,
	       take_line *take, void *arg)
{
	FILE *file = stdin;
	int error;

	if (path)
		file = fopen(path, "re");
	if (!file)
		return refuse(at, name, "%s", strerror(errno));
	error = read_all(file, name, at, take, arg);
	if (path)
		fclose(file);
	return error;
}
