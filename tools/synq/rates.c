// SPDX-License-Identifier: GPL-2.0
/*
 * What has happened between two samples of the counters: rates, the state now, and
 * quantiles of times, as rows for top.
 *
 * The kernel counts times in ranges.  A quantile is given as the end of the range in which
 * it is: 16ms is at most 16 ms, and more than 4 ms.  Nothing is invented between them.
 *
 * No input, no output, no clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rates.h"
#include "report.h"

const struct rate_heading rate_headings[RATE_COLUMNS] = {
	[RATE_PORT] = { "PORT", 5 },
	[RATE_CLASS] = { "CLASS", 5 },
	[RATE_OFFERED] = { "OFFERED", 7 },
	[RATE_ADMITTED] = { "ADMIT", 6 },
	[RATE_REFUSED] = { "REFUSE", 6 },
	[RATE_WHY] = { "WHY", 5 },
	[RATE_HELD] = { "HELD", 5 },
	[RATE_INSIDE] = { "INSIDE", 9 },
	[RATE_DEPTH] = { "DEPTH", 5 },
	[RATE_WAIT50] = { "P50<=", 5 },
	[RATE_WAIT99] = { "P99<=", 5 },
	[RATE_BY_RATE] = { "R-RATE", 6 },
	[RATE_BY_QUEUE] = { "R-QUEUE", 7 },
	[RATE_BY_WAIT] = { "R-WAIT", 6 },
	[RATE_BY_SHARE] = { "R-SHARE", 7 },
	[RATE_NOT_HELD] = { "R-ACK", 6 },
	[RATE_COOKIES] = { "COOKIES", 7 },
	[RATE_HOLD50] = { "HOLD50<=", 8 },
	[RATE_HOLD99] = { "HOLD99<=", 8 },
	[RATE_ANSWER50] = { "ANSW50<=", 8 },
	[RATE_ANSWER99] = { "ANSW99<=", 8 },
};

static const char *const ends[TIMES] = {
	"1ms", "4ms", "16ms", "64ms", "256ms", "1s", "4s", ">4s",
};

/* Which columns follow those of the listener and class, by view. */
static const enum rate_column views[][RATE_COLUMNS] = {
	{ RATE_OFFERED, RATE_ADMITTED, RATE_REFUSED, RATE_WHY, RATE_HELD,
	  RATE_INSIDE, RATE_DEPTH, RATE_WAIT50, RATE_WAIT99, RATE_BY_RATE,
	  RATE_BY_QUEUE, RATE_BY_WAIT, RATE_BY_SHARE, RATE_NOT_HELD,
	  RATE_COOKIES, RATE_HOLD50, RATE_HOLD99, RATE_ANSWER50,
	  RATE_ANSWER99 },
	{ RATE_OFFERED, RATE_REFUSED, RATE_BY_RATE, RATE_BY_QUEUE,
	  RATE_BY_WAIT, RATE_BY_SHARE, RATE_NOT_HELD, RATE_COOKIES },
	{ RATE_INSIDE, RATE_WAIT50, RATE_WAIT99, RATE_HOLD50, RATE_HOLD99,
	  RATE_ANSWER50, RATE_ANSWER99 },
};

/* Which counters make a rate. */
static const struct {
	unsigned int type;
	enum rate_column column;
} parts[] = {
	{ SYNQ_A_COUNTERS_SEEN, RATE_OFFERED },
	{ SYNQ_A_COUNTERS_ADMITTED, RATE_ADMITTED },
	{ SYNQ_A_COUNTERS_EXCESS_DROPPED, RATE_BY_RATE },
	{ SYNQ_A_COUNTERS_EXCESS_RESET, RATE_BY_RATE },
	{ SYNQ_A_COUNTERS_EXCESS_UNANSWERED, RATE_BY_RATE },
	{ SYNQ_A_COUNTERS_QUEUE_REFUSED, RATE_BY_QUEUE },
	{ SYNQ_A_COUNTERS_WAIT_REFUSED, RATE_BY_WAIT },
	{ SYNQ_A_COUNTERS_SHARE_REFUSED, RATE_BY_SHARE },
	{ SYNQ_A_COUNTERS_HOLD_FULL, RATE_NOT_HELD },
	{ SYNQ_A_COUNTERS_COOKIE_REFUSED, RATE_NOT_HELD },
	{ SYNQ_A_COUNTERS_EXCESS_COOKIE, RATE_COOKIES },
	{ SYNQ_A_COUNTERS_COOKIE_SENT, RATE_COOKIES },
};

static const struct {
	enum rate_column column;
	const char *name;
} reasons[] = {
	{ RATE_BY_RATE, "rate" },
	{ RATE_BY_QUEUE, "queue" },
	{ RATE_BY_WAIT, "wait" },
	{ RATE_BY_SHARE, "share" },
};

#define NUMBER_OF(array)	(sizeof(array) / sizeof(*(array)))

/* A counter that has become less began anew. */
static __u64 grown(const struct row *before, const struct row *now,
		   unsigned int type)
{
	__u64 from = before ? before->value[type] : 0;

	return now->value[type] >= from ? now->value[type] - from :
					  now->value[type];
}

/* The end of the range in which the quantile is: 1 + its number, or 0 without any. */
static unsigned int quantile(const struct row *before, const struct row *now,
			     unsigned int shortest, unsigned int percent)
{
	__u64 count[TIMES], all = 0, sum = 0;
	unsigned int i;

	for (i = 0; i < TIMES; i++) {
		count[i] = grown(before, now, shortest + i);
		all += count[i];
	}
	if (!all)
		return 0;
	for (i = 0; i < TIMES - 1; i++) {
		sum += count[i];
		if (sum * 100 >= all * percent)
			break;
	}
	return i + 1;
}

/* Mostly it is in the same place. */
static const struct row *find(const struct stats *before, unsigned int place,
			      const struct row *now)
{
	unsigned int i, at;

	for (i = 0; i < before->rows; i++) {
		const struct row *row;

		at = (place + i) % before->rows;
		row = &before->row[at];
		if (row->port == now->port && !strcmp(row->class, now->class))
			return row;
	}
	return NULL;
}

static void between(const struct row *before, const struct row *now,
		    __u64 elapsed_ms, struct rate *rate)
{
	static const struct {
		unsigned int shortest;
		enum rate_column p50;
	} times[] = {
		{ SYNQ_A_COUNTERS_WAITED_1MS, RATE_WAIT50 },
		{ SYNQ_A_COUNTERS_HELD_1MS, RATE_HOLD50 },
		{ SYNQ_A_COUNTERS_ANSWERED_1MS, RATE_ANSWER50 },
	};
	unsigned int i;

	for (i = 0; i < NUMBER_OF(parts); i++)
		rate->value[parts[i].column] +=
			grown(before, now, parts[i].type) * 1000.0 / elapsed_ms;
	for (i = 0; i < NUMBER_OF(reasons); i++)
		rate->value[RATE_REFUSED] += rate->value[reasons[i].column];
	for (i = 0; i < NUMBER_OF(times); i++) {
		rate->value[times[i].p50] =
			quantile(before, now, times[i].shortest, 50);
		rate->value[times[i].p50 + 1] =
			quantile(before, now, times[i].shortest, 99);
	}
	rate->value[RATE_HELD] = now->value[SYNQ_A_COUNTERS_HELD_NOW];
	rate->value[RATE_INSIDE] = now->value[SYNQ_A_COUNTERS_BUSY_NOW];
	rate->value[RATE_DEPTH] = now->value[SYNQ_A_COUNTERS_QUEUED];
}

static bool is_time(enum rate_column column)
{
	return column == RATE_WAIT50 || column == RATE_WAIT99 ||
	       column >= RATE_HOLD50;
}

/**
 * rates_between() - what has happened between two samples
 * @before: the earlier one; may be empty
 * @now: the later one
 * @elapsed_ms: between them; 0 is taken for 1
 * @rates: receives a row for each one of @now, in the same order; to be freed by the caller
 */
void rates_between(const struct stats *before, const struct stats *now,
		   __u64 elapsed_ms, struct rates *rates)
{
	const struct port_now *listener = NULL;
	unsigned int i, j;

	memset(&rates->total, 0, sizeof(rates->total));
	rates->total.port = PORT_ALL;
	rates->rates = now->rows;
	rates->rate = allocate(NULL, now->rows + 1, sizeof(*rates->rate));
	for (i = 0; i < now->rows; i++) {
		const struct row *row = &now->row[i];
		struct rate *rate = &rates->rate[i];

		memset(rate, 0, sizeof(*rate));
		rate->port = row->port;
		rate->place = i;
		memcpy(rate->class, row->class, sizeof(rate->class));
		if (!listener || listener->port != row->port)
			listener = stats_listener(now, row->port);
		rate->limit = listener && listener->inside ? listener->limit : 0;
		between(find(before, i, row), row, elapsed_ms ?: 1, rate);
		for (j = 0; j < RATE_COLUMNS; j++) {
			if (!is_time(j))
				rates->total.value[j] += rate->value[j];
		}
	}
}

static enum rate_column sort_column;

static int compare(const void *a, const void *b)
{
	const struct rate *left = a, *right = b;
	double l = left->value[sort_column], r = right->value[sort_column];

	if (sort_column != RATE_UNSORTED && l != r)
		return l < r ? 1 : -1;
	return left->place < right->place ? -1 : left->place > right->place;
}

/**
 * rates_sort() - sort rows
 * @rates: the rows
 * @column: by which, the largest first; equal ones, and all by RATE_UNSORTED, as the
 *	kernel has them
 */
void rates_sort(struct rates *rates, enum rate_column column)
{
	sort_column = column;
	qsort(rates->rate, rates->rates, sizeof(*rates->rate), compare);
}

/**
 * rate_is_idle() - has nothing happened, and is there nothing?
 * @rate: the row
 *
 * Return: true if so.
 */
bool rate_is_idle(const struct rate *rate)
{
	unsigned int i;

	for (i = 0; i < RATE_COLUMNS; i++) {
		if (rate->value[i])
			return false;
	}
	return true;
}

/* In at most five characters, for what there is. */
static void number_text(double value, char *text)
{
	if (value > 0 && value < 9.95)
		snprintf(text, CELL_TEXT / 2, "%.1f", value);
	else if (value < 9999.5)
		snprintf(text, CELL_TEXT / 2, "%.0f", value);
	else if (value < 999500)
		snprintf(text, CELL_TEXT / 2, "%.0fk", value / 1000);
	else
		snprintf(text, CELL_TEXT / 2, "%.1fM", value / 1000000);
}

/* A whole number, in at most four characters up to a million. */
static void count_text(double value, char *text)
{
	if (value < 9999.5)
		snprintf(text, CELL_TEXT / 2, "%.0f", value);
	else
		number_text(value, text);
}

static const char *why(const struct rate *rate)
{
	const char *name = "-";
	double most = 0;
	unsigned int i;

	for (i = 0; i < NUMBER_OF(reasons); i++) {
		if (rate->value[reasons[i].column] > most) {
			most = rate->value[reasons[i].column];
			name = reasons[i].name;
		}
	}
	return name;
}

/**
 * rate_text_of() - a cell of the table
 * @rate: the row
 * @column: the column
 * @text: room for CELL_TEXT characters
 *
 * Return: @text.
 */
const char *rate_text_of(const struct rate *rate, enum rate_column column,
			 char *text)
{
	double value = rate->value[column];
	char number[CELL_TEXT / 2], limit[CELL_TEXT / 2];

	switch (column) {
	case RATE_PORT:
		if (rate->port == PORT_FORWARD || rate->port == PORT_ALL)
			snprintf(text, CELL_TEXT, "%s",
				 rate->port ? "all" : "fwd");
		else
			snprintf(text, CELL_TEXT, "%u", rate->port);
		break;
	case RATE_CLASS:
		snprintf(text, CELL_TEXT, "%s", rate->class);
		break;
	case RATE_WHY:
		snprintf(text, CELL_TEXT, "%s", why(rate));
		break;
	case RATE_INSIDE:
		count_text(value, number);
		count_text(rate->limit, limit);
		snprintf(text, CELL_TEXT, "%s%s%s", number,
			 rate->limit ? "/" : "", rate->limit ? limit : "");
		break;
	case RATE_HELD:
	case RATE_DEPTH:
		count_text(value, text);
		break;
	case RATE_WAIT50:
	case RATE_WAIT99:
	case RATE_HOLD50:
	case RATE_HOLD99:
	case RATE_ANSWER50:
	case RATE_ANSWER99:
		snprintf(text, CELL_TEXT, "%s",
			 value ? ends[(int)value - 1] : "-");
		break;
	default:
		number_text(value, text);
	}
	return text;
}

/**
 * rates_columns() - which columns fit on a screen
 * @width: of the screen
 * @class_width: of the longest name of a class
 * @view: which columns come first; every number is a view
 * @column: receives them, in their order; room for RATE_COLUMNS
 *
 * Return: how many; at least those of the listener and class.
 */
unsigned int rates_columns(unsigned int width, unsigned int class_width,
			   unsigned int view, enum rate_column *column)
{
	unsigned int used = rate_headings[RATE_PORT].width + 1 + class_width;
	unsigned int number = 2;
	unsigned int i;

	view %= NUMBER_OF(views);
	column[0] = RATE_PORT;
	column[1] = RATE_CLASS;
	for (i = 0; i < RATE_COLUMNS && views[view][i] != RATE_PORT; i++) {
		used += 1 + rate_headings[views[view][i]].width;
		if (used > width)
			break;
		column[number++] = views[view][i];
	}
	return number;
}
