// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of rates.c, TAP on stdout.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../rates.h"
#include "../report.h"

static unsigned int number, failed;

static void check(bool good, const char *name)
{
	failed += !good;
	printf("%sok %u - rates: %s\n", good ? "" : "not ", ++number, name);
}

static struct row *add(struct stats *stats, unsigned int port, const char *class)
{
	struct row *row = stats_row(stats);

	row->port = port;
	snprintf(row->class, sizeof(row->class), "%s", class);
	return row;
}

static bool is(const struct rate *rate, enum rate_column column, const char *text)
{
	char got[CELL_TEXT];

	if (!strcmp(rate_text_of(rate, column, got), text))
		return true;
	printf("# %s: %s, not %s\n", rate_headings[column].text, got, text);
	return false;
}

static void two_samples(void)
{
	static struct port_now listener[] = { { .port = 80, .inside = 5, .limit = 6 },
					      { .port = 81 } };
	struct stats before = { 0 }, now = { .listener = listener, .listeners = 2 };
	struct rates rates;
	struct row *row;

	row = add(&before, 80, "gold");
	row->value[SYNQ_A_COUNTERS_SEEN] = 1000;
	row->value[SYNQ_A_COUNTERS_WAITED_4S] = 1000;
	row = add(&before, 80, "normal");
	row->value[SYNQ_A_COUNTERS_SEEN] = 50;

	/* Another order, one row more, and one that began anew. */
	row = add(&now, 80, "normal");
	row->value[SYNQ_A_COUNTERS_SEEN] = 40;
	row->value[SYNQ_A_COUNTERS_WAIT_REFUSED] = 20;
	row->value[SYNQ_A_COUNTERS_QUEUE_REFUSED] = 10;
	row->value[SYNQ_A_COUNTERS_BUSY_NOW] = 4;
	row = add(&now, 80, "gold");
	row->value[SYNQ_A_COUNTERS_SEEN] = 1010;
	row->value[SYNQ_A_COUNTERS_WAITED_1MS] = 50;
	row->value[SYNQ_A_COUNTERS_WAITED_16MS] = 48;
	row->value[SYNQ_A_COUNTERS_WAITED_64MS] = 1;
	row->value[SYNQ_A_COUNTERS_WAITED_4S] = 1000;
	row->value[SYNQ_A_COUNTERS_WAITED_LONGER] = 1;
	row->value[SYNQ_A_COUNTERS_HELD_NOW] = 7;
	row = add(&now, 81, "gold");
	row->value[SYNQ_A_COUNTERS_SEEN] = 3;
	add(&now, PORT_FORWARD, "gold");

	rates_between(&before, &now, 2000, &rates);
	check(rates.rates == 4, "a row for each of the later sample");
	check(is(&rates.rate[1], RATE_OFFERED, "5.0") &&
	      rates.rate[1].value[RATE_OFFERED] == 5, "a second");
	check(is(&rates.rate[0], RATE_OFFERED, "20"), "counters that began anew");
	check(is(&rates.rate[2], RATE_OFFERED, "1.5"), "a row that is new");
	check(is(&rates.rate[0], RATE_REFUSED, "15") &&
	      is(&rates.rate[0], RATE_WHY, "wait") &&
	      is(&rates.rate[0], RATE_BY_QUEUE, "5.0"), "refused, by reason");
	check(is(&rates.rate[1], RATE_WHY, "-"), "nothing refused");
	check(is(&rates.rate[1], RATE_WAIT50, "1ms") &&
	      is(&rates.rate[1], RATE_WAIT99, "64ms"), "quantiles, of the difference");
	check(is(&rates.rate[0], RATE_WAIT50, "-"), "no time, no quantile");
	check(is(&rates.rate[0], RATE_INSIDE, "4/6") &&
	      is(&rates.rate[2], RATE_INSIDE, "0"), "inside, and its limit");
	check(is(&rates.rate[1], RATE_HELD, "7"), "held");
	check(is(&rates.rate[3], RATE_PORT, "fwd") && rate_is_idle(&rates.rate[3]) &&
	      !rate_is_idle(&rates.rate[2]), "idle");
	check(is(&rates.total, RATE_OFFERED, "26") && is(&rates.total, RATE_WAIT99, "-") &&
	      is(&rates.total, RATE_HELD, "7"), "the sum");

	rates_sort(&rates, RATE_OFFERED);
	check(rates.rate[0].place == 0 && rates.rate[1].place == 1 &&
	      rates.rate[2].place == 2 && rates.rate[3].place == 3, "sorted by offered");
	rates_sort(&rates, RATE_HELD);
	check(rates.rate[0].place == 1 && rates.rate[1].place == 0 &&
	      rates.rate[2].place == 2, "sorted by held, equal ones in order");
	rates_sort(&rates, RATE_UNSORTED);
	check(rates.rate[0].place == 0 && rates.rate[1].place == 1, "not sorted");

	free(rates.rate);
	free(before.row);
	free(now.row);
}

/* The 99th percentile is in the last range only if more than one of 100 is. */
static void quantiles(void)
{
	struct stats before = { 0 }, now = { 0 };
	struct rates rates;
	struct row *row = add(&now, 80, "a");

	row->value[SYNQ_A_COUNTERS_ANSWERED_4MS] = 99;
	row->value[SYNQ_A_COUNTERS_ANSWERED_LONGER] = 1;
	row->value[SYNQ_A_COUNTERS_HELD_LONGER] = 2;
	row->value[SYNQ_A_COUNTERS_HELD_1S] = 98;
	rates_between(&before, &now, 0, &rates);
	check(is(&rates.rate[0], RATE_ANSWER50, "4ms") &&
	      is(&rates.rate[0], RATE_ANSWER99, "4ms"), "one of 100 is longer");
	check(is(&rates.rate[0], RATE_HOLD50, "1s") &&
	      is(&rates.rate[0], RATE_HOLD99, ">4s"), "two of 100 are longer");
	free(rates.rate);
	free(now.row);
}

static void cells(void)
{
	static const struct {
		double value;
		const char *rate, *count;
	} cases[] = {
		{ 0, "0", "0" }, { 0.5, "0.5", "0" }, { 9.96, "10", "10" },
		{ 1234, "1234", "1234" }, { 9999.4, "9999", "9999" },
		{ 10000, "10k", "10k" }, { 999400, "999k", "999k" },
		{ 10000000, "10.0M", "10.0M" },
	};
	enum rate_column column[RATE_COLUMNS];
	struct rate rate = { 0 };
	char text[CELL_TEXT];
	bool good = true;
	unsigned int i, j, width, number_of;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		rate.value[RATE_OFFERED] = cases[i].value;
		rate.value[RATE_DEPTH] = cases[i].value;
		good &= is(&rate, RATE_OFFERED, cases[i].rate) &&
			is(&rate, RATE_DEPTH, cases[i].count);
	}
	check(good, "numbers");
	/* Whatever they are, none is wider than its column. */
	good = true;
	rate.port = 65535;
	rate.limit = 65535;
	for (i = 0; i < RATE_COLUMNS; i++)
		rate.value[i] = 10000000;
	for (i = RATE_WAIT50; i <= RATE_WAIT99; i++)
		rate.value[i] = 5;
	for (i = RATE_HOLD50; i <= RATE_ANSWER99; i++)
		rate.value[i] = 5;
	rate.value[RATE_INSIDE] = 65535;
	for (i = 0; i < RATE_COLUMNS; i++)
		good &= i == RATE_CLASS ||
			strlen(rate_text_of(&rate, i, text)) <= rate_headings[i].width;
	check(good, "a cell fits into its column");
	number_of = rates_columns(80, 12, 0, column);
	good = number_of == 11 && column[10] == RATE_WAIT99;
	check(good, "80 columns have all of the first view");
	good = true;
	for (i = 0; i < 3; i++) {
		for (j = 20; j < 250; j++) {
			unsigned int k;

			number_of = rates_columns(j, 7, i, column);
			width = 7;
			for (k = 0; k < number_of; k++)
				width += k == 1 ? 1 : rate_headings[column[k]].width + !!k;
			good &= width <= j && number_of >= 2;
		}
	}
	check(good, "no table is wider than the screen");
}

int main(void)
{
	two_samples();
	quantiles();
	cells();
	return !!failed;
}
