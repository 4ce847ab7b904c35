// SPDX-License-Identifier: GPL-2.0
/*
 * openload: a line for each request, and a summary of each group.
 */
#define _GNU_SOURCE
#include "openload.h"

static const char * const status_name[] = {
	[ST_PENDING]	= "pending",
	[ST_OK]		= "ok",
	[ST_TIMEOUT]	= "timeout",
	[ST_RESET]	= "reset",
	[ST_REFUSED]	= "refused",
	[ST_HTTP_ERROR]	= "http-error",
	[ST_SHORT]	= "short",
	[ST_LOCAL]	= "local-error",
	[ST_CUT]	= "cut",
};

static int64_t since(const struct request *r, int64_t t)
{
	return t ? (t - r->due) / NSEC_PER_USEC : -1;
}

static const char *options_text(const struct request *r, char *text, size_t len)
{
	if (!r->connected)
		return "-";
	snprintf(text, len, "%u,%u,%u,%u", r->options, r->send_scale,
		 r->receive_scale, r->send_mss);
	return text;
}

void print_group(FILE *out, const struct group *g)
{
	char options[20];
	size_t i;

	for (i = 0; i < g->n_req; i++) {
		const struct request *r = &g->req[i];

		fprintf(out, "%s\t%c\t%" PRId64 "\t%" PRId64 "\t%" PRId64
			"\t%" PRId64 "\t%" PRId64 "\t%s\t%u\t%s\n", g->name,
			g->end[r->family].dest.ss_family == AF_INET ? '4' : '6',
			(r->due - epoch) / NSEC_PER_USEC, since(r, r->started),
			since(r, r->connected), since(r, r->first),
			since(r, r->done), status_name[r->status], r->http,
			options_text(r, options, sizeof(options)));
	}
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static double lateness_p99_ms(const struct group *g)
{
	int64_t *late = calloc(g->n_req + 1, sizeof(*late));
	size_t i, n = 0;
	double ms;

	if (!late)
		die("out of memory");
	for (i = 0; i < g->n_req; i++)
		if (g->req[i].started)
			late[n++] = g->req[i].started - g->req[i].due;
	qsort(late, n, sizeof(*late), by_value);
	ms = n ? late[(n * 99 + 99) / 100 - 1] / 1e6 : 0;
	free(late);
	return ms;
}

/* To standard error. */
void summarize(const struct group *g)
{
	size_t count[ARRAY_SIZE(status_name)] = { 0 };
	size_t i;

	for (i = 0; i < g->n_req; i++)
		count[g->req[i].status]++;
	fprintf(stderr, "openload: %s: %zu requests, lateness p99 %.2f ms",
		g->name, g->n_req, lateness_p99_ms(g));
	for (i = 0; i < ARRAY_SIZE(count); i++)
		if (count[i])
			fprintf(stderr, ", %zu %s", count[i], status_name[i]);
	fputc('\n', stderr);
}
