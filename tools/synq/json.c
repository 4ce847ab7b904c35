// SPDX-License-Identifier: GPL-2.0
/*
 * JSON output.
 *
 * An array is printed element by element, one per line, so that a table of a
 * million matches is not in memory twice.  Members keep the order in which they
 * were added, that of the specification.
 */
#include <stdio.h>
#include <stdlib.h>

#include "command.h"

static bool first;

static void put(json_t *value)
{
	if (!value || json_dumpf(value, stdout, JSON_ENSURE_ASCII))
		exit(fail(REFUSED, "cannot print JSON"));
	json_decref(value);
}

/**
 * json_array_begin() - begin an array of objects
 */
void json_array_begin(void)
{
	putchar('[');
	first = true;
}

/**
 * json_array_put() - print one element of the array
 * @element: the element; the reference is taken over
 */
void json_array_put(json_t *element)
{
	fputs(first ? "\n" : ",\n", stdout);
	first = false;
	put(element);
}

/**
 * json_array_end() - end the array
 */
void json_array_end(void)
{
	puts(first ? "]" : "\n]");
}

/**
 * json_print() - print a value that is the whole output
 * @value: the value; the reference is taken over
 */
void json_print(json_t *value)
{
	put(value);
	putchar('\n');
}
