/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What has happened between two samples of the counters.
 */
#ifndef SYNQ_RATES_H
#define SYNQ_RATES_H

#include "counters.h"

/**
 * enum rate_column - what top shows of a listener and class
 * @RATE_PORT: the listener
 * @RATE_CLASS: the class
 * @RATE_OFFERED: SYNs a second
 * @RATE_ADMITTED: of those, admitted
 * @RATE_REFUSED: of those, refused
 * @RATE_WHY: what most of them were refused for
 * @RATE_HELD: connections held now
 * @RATE_INSIDE: connections inside now, and how many there may be
 * @RATE_DEPTH: connections in the accept queue now
 * @RATE_WAIT50: median time in the accept queue
 * @RATE_WAIT99: likewise, 99th percentile
 * @RATE_BY_RATE: refused: over a rate
 * @RATE_BY_QUEUE: refused: no room in the queues
 * @RATE_BY_WAIT: refused: would wait for too long
 * @RATE_BY_SHARE: refused: its class had its share of the SYN queue
 * @RATE_NOT_HELD: final ACKs a second that were dropped
 * @RATE_COOKIES: SYN cookies a second
 * @RATE_HOLD50: median time held
 * @RATE_HOLD99: 99th percentile
 * @RATE_ANSWER50: median time to the first byte of the answer
 * @RATE_ANSWER99: 99th percentile
 * @RATE_COLUMNS: how many there are
 */
enum rate_column {
	RATE_PORT,
	RATE_CLASS,
	RATE_OFFERED,
	RATE_ADMITTED,
	RATE_REFUSED,
	RATE_WHY,
	RATE_HELD,
	RATE_INSIDE,
	RATE_DEPTH,
	RATE_WAIT50,
	RATE_WAIT99,
	RATE_BY_RATE,
	RATE_BY_QUEUE,
	RATE_BY_WAIT,
	RATE_BY_SHARE,
	RATE_NOT_HELD,
	RATE_COOKIES,
	RATE_HOLD50,
	RATE_HOLD99,
	RATE_ANSWER50,
	RATE_ANSWER99,
	RATE_COLUMNS,
};

/* Columns by which rows are not sorted: their order is that of the kernel. */
#define RATE_UNSORTED	RATE_PORT

#define CELL_TEXT	24

/**
 * struct rate - a row: of a listener and class, or of all
 * @port: of the listener
 * @class: its name
 * @place: in the order of the kernel
 * @value: of each column that is a number; of a quantile, 1 + the number of the range in
 *	which it is, or 0 without one
 * @limit: of connections inside; 0: none
 */
struct rate {
	unsigned int port;
	char class[SYNQ_NAME_MAX + 1];
	unsigned int place;
	double value[RATE_COLUMNS];
	__u32 limit;
};

/**
 * struct rates - all rows
 * @rate: the rows
 * @rates: how many
 * @total: their sum, without times
 */
struct rates {
	struct rate *rate;
	unsigned int rates;
	struct rate total;
};

/**
 * struct rate_heading - a column of a table
 * @text: what is above it
 * @width: of the column
 */
struct rate_heading {
	const char *text;
	unsigned int width;
};

extern const struct rate_heading rate_headings[RATE_COLUMNS];

/* rates.c */
void rates_between(const struct stats *before, const struct stats *now,
		   __u64 elapsed_ms, struct rates *rates);
void rates_sort(struct rates *rates, enum rate_column column);
bool rate_is_idle(const struct rate *rate);
const char *rate_text_of(const struct rate *rate, enum rate_column column,
			 char *text);
unsigned int rates_columns(unsigned int width, unsigned int class_width,
			   unsigned int view, enum rate_column *column);

#endif /* SYNQ_RATES_H */
