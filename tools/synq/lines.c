// SPDX-License-Identifier: GPL-2.0
/*
 * Text files: as a whole in memory, by lines, and by the words of lines.
 *
 * A file is read at once, since it may be a pipe, and what it says may be needed twice.
 * A byte order mark at its beginning is no part of the text, nor is the carriage return
 * before a line feed.  Reading lines stops at the first error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

/* More words than the longest valid line has. */
#define WORDS_MAX	40

#define ROOM_FIRST	65536

static const char mark[] = "\xef\xbb\xbf";

static int read_all(FILE *file, struct text *text, const struct origin *at)
{
	size_t room = 0;
	size_t got;

	errno = 0;
	do {
		if (text->length == room) {
			room = room ? 2 * room : ROOM_FIRST;
			text->bytes = allocate(text->bytes, room, 1);
		}
		got = fread(text->bytes + text->length, 1, room - text->length,
			    file);
		text->length += got;
	} while (got);
	if (ferror(file))
		return refuse(at, text->name, "%s", strerror(errno));
	if (text->length >= strlen(mark) &&
	    !memcmp(text->bytes, mark, strlen(mark))) {
		text->length -= strlen(mark);
		memmove(text->bytes, text->bytes + strlen(mark), text->length);
	}
	return DONE;
}

/**
 * text_read() - read a file as a whole
 * @text: the text; text_free() frees it, whatever is returned
 * @path: the file; NULL: standard input
 * @name: what it is called in messages; kept
 * @at: where it was named, or NULL
 *
 * Return: DONE or REFUSED.
 */
int text_read(struct text *text, const char *path, const char *name,
	      const struct origin *at)
{
	FILE *file = stdin;
	int error;

	*text = (struct text){ .name = name };
	if (path)
		file = fopen(path, "re");
	if (!file)
		return refuse(at, name, "%s", strerror(errno));
	error = read_all(file, text, at);
	if (path)
		fclose(file);
	return error;
}

/**
 * text_free() - free a text
 * @text: read, or zero
 */
void text_free(struct text *text)
{
	free(text->bytes);
	memset(text, 0, sizeof(*text));
}

/**
 * text_lines() - go through the lines of a text
 * @text: the text
 * @take: takes each line, blank ones included
 * @arg: the last argument of @take
 *
 * Return: DONE or REFUSED.
 */
int text_lines(const struct text *text, take_line *take, void *arg)
{
	struct origin origin = { text->name, 0 };
	const char *at = text->bytes;
	const char *end = at + text->length;
	char *line = NULL;
	size_t room = 0;
	int error = DONE;

	while (!error && at != end) {
		const char *stop = memchr(at, '\n', end - at) ?: end;
		size_t length = stop - at;

		if (length >= room) {
			room = 2 * length + 256;
			line = allocate(line, room, 1);
		}
		memcpy(line, at, length);
		if (length && line[length - 1] == '\r')
			length--;
		line[length] = '\0';
		origin.line++;
		if (strlen(line) != length)
			error = refuse(&origin, NULL,
				       "a NUL byte: not a text file");
		else
			error = take(&origin, line, arg);
		at = stop + (stop != end);
	}
	free(line);
	return error;
}

struct by_words {
	take_words *take;
	void *arg;
};

/* Splits a line into words, up to a comment; returns more than @max if too long. */
static unsigned int split(char *line, char **word, unsigned int max)
{
	unsigned int number = 0;

	for (;;) {
		line += strspn(line, " \t\r");
		if (!*line || *line == '#')
			return number;
		if (number == max)
			return max + 1;
		word[number++] = line;
		line += strcspn(line, " \t\r");
		if (*line)
			*line++ = '\0';
	}
}

static int split_line(const struct origin *origin, char *line, void *arg)
{
	struct words words = { .origin = *origin };
	const struct by_words *by = arg;
	char *word[WORDS_MAX];

	words.word = word;
	words.number = split(line, word, WORDS_MAX);
	if (!words.number)
		return DONE;
	if (words.number > WORDS_MAX)
		return refuse(origin, word[0], "too many words");
	return by->take(&words, by->arg);
}

/**
 * text_words() - go through the lines of a text that have words
 * @text: the text; comments are from # on
 * @take: takes the words of each line
 * @arg: the second argument of @take
 *
 * Return: DONE or REFUSED.
 */
int text_words(const struct text *text, take_words *take, void *arg)
{
	struct by_words by = { take, arg };

	return text_lines(text, split_line, &by);
}
