/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the command says on stderr, and the status with which it exits.
 */
#ifndef SYNQ_REPORT_H
#define SYNQ_REPORT_H

#include <stddef.h>

#define __printf(text, first)	__attribute((format(printf, text, first)))

/**
 * enum status - exit status of the command, and result of most functions
 * @DONE: Done.
 * @REFUSED: Refused input; nothing has changed. One line on stderr says why.
 * @UNREACHABLE: No kernel module, or no permission to talk to it.
 * @DIFFERENT: "diff" found differences.
 */
enum status {
	DONE,
	REFUSED,
	UNREACHABLE,
	DIFFERENT,
};

/**
 * struct origin - where a piece of input came from
 * @file: name of the file, or NULL for the command line
 * @line: line in it, from 1; 0: no particular line
 */
struct origin {
	const char *file;
	unsigned int line;
};

/* report.c */
__printf(3, 4)
int refuse(const struct origin *origin, const char *value, const char *format,
	   ...);
__printf(2, 3)
int fail(enum status status, const char *format, ...);
__printf(1, 2)
void remark(const char *format, ...);
void *allocate(void *old, size_t number, size_t size);

#endif /* SYNQ_REPORT_H */
