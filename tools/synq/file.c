// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a configuration file: lines of edits, comments and blank lines.
 *
 * Needs neither privilege nor kernel module.  The first error ends it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"

/* More than any line of the language has, with every option given. */
#define WORDS_MAX	32

/* Cuts a line at blanks, up to a comment; returns more than @max if too long. */
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

static int read_line(struct conf *conf, unsigned int number, char *line,
		     size_t length)
{
	struct words words = { .origin = { conf->file, number } };
	char *word[WORDS_MAX];
	struct edit edit;

	if (strlen(line) != length)
		return refuse(&words.origin, NULL,
			      "a NUL byte: not a text file");
	words.word = word;
	words.number = split(line, word, WORDS_MAX);
	if (!words.number)
		return DONE;
	if (words.number > WORDS_MAX)
		return refuse(&words.origin, word[0], "too many words");
	if (edit_parse(&words, &edit))
		return REFUSED;
	return conf_edit(conf, &edit);
}

static int read_lines(struct conf *conf, FILE *file)
{
	unsigned int number = 0;
	char *line = NULL;
	size_t room = 0;
	int error = DONE;
	ssize_t length;

	errno = 0;
	while (!error) {
		length = getline(&line, &room, file);
		if (length < 0)
			break;
		error = read_line(conf, ++number, line, length);
	}
	if (!error && ferror(file))
		error = refuse(NULL, conf->file, "%s", strerror(errno));
	free(line);
	return error;
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
	FILE *file = stdin;
	int error;

	if (strcmp(name, "-")) {
		conf_init(conf, name);
		file = fopen(name, "re");
		if (!file)
			return refuse(NULL, name, "%s", strerror(errno));
	} else {
		conf_init(conf, "<stdin>");
	}
	error = read_lines(conf, file);
	if (file != stdin)
		fclose(file);
	return error ? error : conf_check(conf);
}
