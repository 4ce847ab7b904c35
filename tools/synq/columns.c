// SPDX-License-Identifier: GPL-2.0
/*
 * Small tables with aligned columns, as wide as their widest cell.  A column
 * in which no row has more to say than "-" is left out.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

#define COLUMNS_MAX	16
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

/**
 * columns_print() - print a table and free it
 * @columns: the table
 */
void columns_print(struct columns *columns)
{
	bool hide[COLUMNS_MAX];
	unsigned int shown = 0;	/* the last column that is */
	unsigned int i;

	for (i = 0; i < columns->number; i++) {
		hide[i] = says_nothing(columns, i);
		if (!hide[i])
			shown = i;
	}
	for (i = 0; i < columns->cells; i++) {
		unsigned int column = i % columns->number;
		bool last = column == shown;
		int width = columns->width[column];

		if (hide[column])
			continue;
		if (column >= columns->left)
			printf("%*s", width, columns->cell[i]);
		else if (last)	/* no blanks at the end of a line */
			printf("%s", columns->cell[i]);
		else
			printf("%-*s", width, columns->cell[i]);
		fputs(last ? "\n" : "  ", stdout);
	}
	free(columns->cell);
	free(columns);
}
