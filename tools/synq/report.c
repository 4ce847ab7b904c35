// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: always one line, whatever the input was made of.
 *
 * A refusal is printed where it is detected.  Its status is passed up to main()
 * unchanged, and no caller prints a second line.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* Longest part of a refused value that is repeated, in bytes. */
#define VALUE_MAX	100

/* No control characters for a terminal or a log reader. */
static void put_clean(const char *text, size_t max)
{
	size_t i;

	for (i = 0; text[i] && i < max; i++) {
		unsigned char c = text[i];

		if (c < ' ' || c > '~')
			fprintf(stderr, "\\x%02x", c);
		else
			fputc(c, stderr);
	}
	if (text[i])
		fputs("...", stderr);
}

static void put_reason(const char *format, va_list ap)
{
	char text[512];

	vsnprintf(text, sizeof(text), format, ap);
	put_clean(text, sizeof(text));
	fputc('\n', stderr);
}

/**
 * refuse() - say which value is refused, where, and why
 * @origin: file and line, or NULL for the command line
 * @value: the text in question, or NULL
 * @format: the reason
 *
 * Return: REFUSED, to be handed to the caller.
 */
int refuse(const struct origin *origin, const char *value, const char *format,
	   ...)
{
	va_list ap;

	fputs("synq: ", stderr);
	if (origin && origin->file) {
		put_clean(origin->file, 4096);
		if (origin->line)
			fprintf(stderr, ":%u", origin->line);
		fputs(": ", stderr);
	}
	if (value) {
		fputc('"', stderr);
		put_clean(value, VALUE_MAX);
		fputs("\": ", stderr);
	}
	va_start(ap, format);
	put_reason(format, ap);
	va_end(ap);

	return REFUSED;
}

/**
 * fail() - report an error that no input caused
 * @status: the status to return
 * @format: what went wrong
 *
 * Return: @status.
 */
int fail(enum status status, const char *format, ...)
{
	va_list ap;

	fputs("synq: ", stderr);
	va_start(ap, format);
	put_reason(format, ap);
	va_end(ap);

	return status;
}

/**
 * remark() - a remark on input that is accepted
 * @format: the remark
 */
void remark(const char *format, ...)
{
	va_list ap;

	fputs("synq: note: ", stderr);
	va_start(ap, format);
	put_reason(format, ap);
	va_end(ap);
}

/**
 * allocate() - get or resize memory, or end the program
 * @old: what to resize, or NULL
 * @number: elements
 * @size: bytes of one
 *
 * Return: memory that is never NULL.
 */
void *allocate(void *old, size_t number, size_t size)
{
	void *new = reallocarray(old, number, size);

	if (!new)
		exit(fail(REFUSED, "out of memory; nothing has changed"));
	return new;
}
