// SPDX-License-Identifier: GPL-2.0
/*
 * openload: the words of the command line.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "openload.h"

#define EPOCH_ASK	(-1)

static const char usage_text[] =
"usage: openload [epoch NS|-] [end SECONDS] [out FILE] GROUP...\n"
"  epoch  CLOCK_MONOTONIC time, in ns, that all other times count from (now);\n"
"         -: say \"ready\" on standard output, then read it from standard input\n"
"  end    stop there, whatever is still open\n"
"  out    where the lines go, one per request (standard output)\n"
"GROUP: group NAME rate PER-SECOND | count REQUESTS | closed CONNECTIONS\n"
"  from SECONDS for SECONDS [seed N] [deadline SECONDS]\n"
"  [bursts PER-SECOND size MIN-MAX]   besides the rate: so many at once\n"
"  source ADDRESS[+COUNT] to ADDRESS   once or twice (IPv4, IPv6: alternating)\n"
"  port N  http|https PATH [requests N, one after the other on a connection] |\n"
"  banner | ssh | postgres WHAT-TO-SELECT\n"
"group, family, due, late, connect, first, done (us), status, http status, options\n";

static void __attribute__((noreturn)) usage(void)
{
	fputs(usage_text, stderr);
	exit(1);
}

static double number(const char *word, const char *s)
{
	char *end;
	double v = strtod(s, &end);

	if (end == s || *end || !(v >= 0))
		die("%s: not a number: '%s'", word, s);
	return v;
}

static void parse_address(const char *s, struct sockaddr_storage *ss)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ss;

	memset(ss, 0, sizeof(*ss));
	if (inet_pton(AF_INET, s, &v4->sin_addr) == 1)
		ss->ss_family = AF_INET;
	else if (inet_pton(AF_INET6, s, &v6->sin6_addr) == 1)
		ss->ss_family = AF_INET6;
	else
		die("not an address: '%s'", s);
}

/* The ends of the family of @ss, new ones if the group has none yet. */
static struct ends *ends_of(struct group *g, const struct sockaddr_storage *ss)
{
	unsigned int i;

	for (i = 0; i < g->n_ends; i++) {
		struct ends *e = &g->end[i];
		int family = e->has_source ? e->source.first.ss_family
					   : e->dest.ss_family;

		if (family == ss->ss_family)
			return e;
	}
	if (g->n_ends == ARRAY_SIZE(g->end))
		die("%s: at most two families", g->name);
	return &g->end[g->n_ends++];
}

static void parse_source(struct group *g, char *s)
{
	struct addr_range range = { .count = 1 };
	char *plus = strchr(s, '+');
	struct ends *e;

	if (plus) {
		*plus = '\0';
		range.count = number("source", plus + 1);
		if (!range.count)
			die("source: no addresses");
	}
	parse_address(s, &range.first);
	e = ends_of(g, &range.first);
	e->source = range;
	e->has_source = true;
}

static void parse_dest(struct group *g, const char *s)
{
	struct sockaddr_storage ss;
	struct ends *e;

	parse_address(s, &ss);
	e = ends_of(g, &ss);
	e->dest = ss;
	e->has_dest = true;
}

static void parse_size(struct group *g, const char *s)
{
	if (sscanf(s, "%u-%u", &g->burst_least, &g->burst_most) != 2 ||
	    g->burst_least > g->burst_most)
		die("size: not MIN-MAX: '%s'", s);
}

static struct group *new_group(const char *name)
{
	struct group *g;

	if (n_groups == MAX_GROUPS)
		die("at most %d groups", MAX_GROUPS);
	g = &groups[n_groups++];
	g->name = name;
	g->deadline = 5;
	g->requests = 1;
	g->seed = n_groups;
	return g;
}

/* Returns whether @word is one of a group's words that take a value. */
static bool parse_group_word(struct group *g, const char *word, char *value)
{
	if (!strcmp(word, "rate"))
		g->rate = number(word, value);
	else if (!strcmp(word, "bursts"))
		g->bursts = number(word, value);
	else if (!strcmp(word, "size"))
		parse_size(g, value);
	else if (!strcmp(word, "count"))
		g->count = number(word, value);
	else if (!strcmp(word, "closed"))
		g->closed = number(word, value);
	else if (!strcmp(word, "from"))
		g->from = number(word, value);
	else if (!strcmp(word, "for"))
		g->length = number(word, value);
	else if (!strcmp(word, "seed"))
		g->seed = number(word, value);
	else if (!strcmp(word, "deadline"))
		g->deadline = number(word, value);
	else if (!strcmp(word, "port"))
		g->port = number(word, value);
	else if (!strcmp(word, "requests"))
		g->requests = number(word, value);
	else if (!strcmp(word, "source"))
		parse_source(g, value);
	else if (!strcmp(word, "to"))
		parse_dest(g, value);
	else if (find_mode(word))
		g->path = value;
	else
		return false;
	return true;
}

static void set_port(struct sockaddr_storage *ss, uint16_t port)
{
	if (ss->ss_family == AF_INET)
		((struct sockaddr_in *)ss)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)ss)->sin6_port = htons(port);
}

static void check_group(struct group *g)
{
	unsigned int i;
	int n;

	n = !!g->count + !!g->closed;
	if (g->rate > 0)
		n++;
	if (!g->mode || !g->n_ends || !g->port || g->length <= 0 || n != 1 ||
	    (g->bursts > 0 && (g->rate <= 0 || !g->burst_most)))
		usage();
	for (i = 0; i < g->n_ends; i++) {
		if (!g->end[i].has_source || !g->end[i].has_dest)
			die("%s: each family needs source and to", g->name);
		set_port(&g->end[i].dest, g->port);
	}
	if (g->mode->requests && g->requests > 1)
		die("%s: only http has several requests", g->name);
	if (g->mode->requests)
		g->requests = g->mode->requests;
	if (g->mode->prepare)
		g->mode->prepare(g);
}

static FILE *open_output(const char *path)
{
	FILE *out = fopen(path, "w");

	if (!out)
		die("%s: %s", path, strerror(errno));
	return out;
}

/* Fills in the groups; returns where the lines go. */
FILE *parse_words(int argc, char **argv)
{
	struct group *g = NULL;
	double end = 0;
	FILE *out = stdout;
	int i;

	epoch = now_ns();
	for (i = 1; i < argc; i++) {
		char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (g && find_mode(word)) {
			g->mode = find_mode(word);
			if (!g->mode->has_path)
				continue;
		}
		if (!value)
			usage();
		i++;
		if (!strcmp(word, "group"))
			g = new_group(value);
		else if (!strcmp(word, "epoch"))
			epoch = strcmp(value, "-") ? strtoll(value, NULL, 10)
						   : EPOCH_ASK;
		else if (!strcmp(word, "end"))
			end = number(word, value);
		else if (!strcmp(word, "out"))
			out = open_output(value);
		else if (!g || !parse_group_word(g, word, value))
			usage();
	}
	if (!n_groups)
		usage();
	for (i = 0; i < (int)n_groups; i++)
		check_group(&groups[i]);
	if (epoch == EPOCH_ASK)
		epoch = agreed_time("epoch");
	if (end > 0)
		run_end = epoch + ns_of(end);
	return out;
}
