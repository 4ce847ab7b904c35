// SPDX-License-Identifier: GPL-2.0
/*
 * Small tables with aligned columns, as wide as their widest cell.  A column of
 * nothing but "-" is left out.  A table that is too wide is split; each part
 * repeats the left columns.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

#define COLUMNS_MAX	40
#define WIDTH		100
#define CELL_ROOM	48

/**
 * struct columns - a table being filled
 * @left: the first columns, which hold words, are aligned left
 * @number: cells in a row, known from the first row on
 * @cells: cells so far
 * @room: cells for which there is memory
 * @width: of each column
 * @cell: the text of the cells, row by row
 */
struct columns {
	unsigned int left;
	unsigned int number;
	unsigned int cells;
	unsigned int room;
	unsigned int width[COLUMNS_MAX];
	char (*cell)[CELL_ROOM];
};

/**
 * columns_new() - begin a table
 * @left: number of columns that are aligned left; the others are numbers
 *
 * Return: the table, freed by columns_print().
 */
struct columns *columns_new(unsigned int left)
{
	struct columns *columns = allocate(NULL, 1, sizeof(*columns));

	memset(columns, 0, sizeof(*columns));
	columns->left = left;
	return columns;
}

/**
 * columns_cell() - add a cell to the row
 * @columns: the table
 * @format: the text
 */
void columns_cell(struct columns *columns, const char *format, ...)
{
	unsigned int column;
	unsigned int width;
	va_list ap;

	if (columns->cells == columns->room) {
		columns->room = columns->room ? 2 * columns->room : 64;
		columns->cell = allocate(columns->cell, columns->room,
					 CELL_ROOM);
	}
	va_start(ap, format);
	vsnprintf(columns->cell[columns->cells], CELL_ROOM, format, ap);
	va_end(ap);

	column = columns->number ? columns->cells % columns->number :
				   columns->cells;
	width = strlen(columns->cell[columns->cells]);
	if (width > columns->width[column])
		columns->width[column] = width;
	columns->cells++;
}

/**
 * columns_row() - end a row; the first one tells how many columns there are
 * @columns: the table
 */
void columns_row(struct columns *columns)
{
	if (!columns->number)
		columns->number = columns->cells;
}

static bool says_nothing(const struct columns *columns, unsigned int column)
{
	unsigned int i = column + columns->number;

	if (i >= columns->cells)
		return false;
	for (; i < columns->cells; i += columns->number) {
		if (strcmp(columns->cell[i], "-"))
			return false;
	}
	return true;
}

/* The first column, from @from on, that does not fit any more. */
static unsigned int fitting(const struct columns *columns, unsigned int from,
			    const bool *hide)
{
	unsigned int width = 0;
	unsigned int i;

	for (i = 0; i < columns->number; i++) {
		if (hide[i] || (i >= columns->left && i < from))
			continue;
		width += columns->width[i];
		if (width > WIDTH && i > from)
			return i;
		width += 2;
	}
	return columns->number;
}

/* Prints the left columns and those from @from to @to. */
static void print_part(const struct columns *columns, unsigned int from,
		       unsigned int to, const bool *hide)
{
	const char (*row)[CELL_ROOM] = columns->cell;
	unsigned int i, j;

	for (i = 0; i < columns->cells; i += columns->number) {
		const char *blanks = "";
		int behind = 0;		/* blanks owed: a line has none at its end */

		for (j = 0; j < to; j++) {
			int width = columns->width[j];

			if (hide[j] || (j >= columns->left && j < from))
				continue;
			printf("%*s%s", behind, "", blanks);
			if (j < columns->left) {
				printf("%s", row[i + j]);
				behind = width - strlen(row[i + j]);
			} else {
				printf("%*s", width, row[i + j]);
				behind = 0;
			}
			blanks = "  ";
		}
		putchar('\n');
	}
}

/**
 * columns_print() - print a table and free it
 * @columns: the table
 */
void columns_print(struct columns *columns)
{
	bool hide[COLUMNS_MAX];
	unsigned int from, to;
	unsigned int i;

	for (i = 0; i < columns->number; i++)
		hide[i] = says_nothing(columns, i);
	for (from = columns->left; from < columns->number; from = to) {
		if (from > columns->left)
			putchar('\n');
		to = fitting(columns, from, hide);
		print_part(columns, from, to, hide);
		if (columns->cells == columns->number)
			break;	/* headings without a row: one table of them is enough */
	}
	free(columns->cell);
	free(columns);
}
