// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer twin ORDER OPTION...: a slow obvious twin of one accept queue, in one
 * array.  Reads events:
 *
 *   arrive CLASS ID	a connection of class 1, 2 or 3
 *   accept N		the first N are accepted
 *   order ORDER OPTION...	all that is queued is placed anew in the order that it has
 *
 * and prints the ids in the order of acceptance, the rest at the end.  ORDER is strict, fifo
 * or weighted; w1=3 is the weight of class 1, s3=10 the minimum share of class 3 in per
 * cent, o2=1 has class 2 only observed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tcp_peer.h"

#define CLASSES		3
#define QUEUE_MAX	4096
#define UNIT		137438953472ULL	/* of virtual time, as share.c has it: 2^37 */

struct request {
	int class;
	uint64_t key;
	bool moved;
	char id[24];
};

static struct request queue[QUEUE_MAX];
static int n;

static char order[16];
static struct {
	int weight;
	int percent;	/* that is its minimum share */
	bool observed;
	int credit;	/* hundredths of a request */
	int queued;
	int paid;	/* accepted without being moved, since the last look */
	uint64_t finish;
	uint64_t step;
} classes[CLASSES + 1];
static int left;	/* accepted since the last look */

static void set(char *text)
{
	const char *word = strtok(text, " ");
	int c, heaviest = 1;

	snprintf(order, sizeof(order), "%s", word ? word : "");
	for (c = 1; c <= CLASSES; c++) {
		classes[c].weight = 1;
		classes[c].percent = 0;
		classes[c].credit = 0;
		classes[c].queued = 0;
		classes[c].observed = false;
	}
	while ((word = strtok(NULL, " "))) {
		char what;
		int value;

		if (sscanf(word, "%c%d=%d", &what, &c, &value) != 3 || c < 1 ||
		    c > CLASSES)
			die("%s: not an option of a twin", word);
		if (what == 'w')
			classes[c].weight = value;
		if (what == 's')
			classes[c].percent = value;
		if (what == 'o')
			classes[c].observed = value;
	}
	for (c = 1; c <= CLASSES; c++)
		if (classes[c].weight > heaviest)
			heaviest = classes[c].weight;
	for (c = 1; c <= CLASSES; c++)
		classes[c].step = 4 * UNIT * heaviest / classes[c].weight;
}

static void put(int at, const struct request *request)
{
	if (n == QUEUE_MAX)
		die("twin: more than %d are queued", n);
	memmove(&queue[at + 1], &queue[at], (n++ - at) * sizeof(*queue));
	queue[at] = *request;
}

static void cut(int at)
{
	memmove(&queue[at], &queue[at + 1], (--n - at) * sizeof(*queue));
}

static uint64_t key_of(int c)
{
	uint64_t now = n ? queue[0].key / 32 * UNIT : 0;

	if (!strcmp(order, "fifo"))
		return 0;
	if (!strcmp(order, "strict"))
		return classes[c].observed && n && queue[n - 1].key > (uint64_t)c ?
		       queue[n - 1].key : (uint64_t)c;
	if (!classes[c].queued)
		classes[c].finish = now;
	classes[c].finish += classes[c].step;
	return classes[c].finish / UNIT * 32 + c;
}

static void arrive(int c, const char *id)
{
	struct request request = { .class = c, .key = key_of(c) };
	int at = n;

	snprintf(request.id, sizeof(request.id), "%s", id);
	while (at > 0 && queue[at - 1].key > request.key)
		at--;
	put(at, &request);
	classes[c].queued++;
}

/* Arrivals since the last look were placed; now, which have left? */
static void leave(void)
{
	int c;

	for (c = 1; c <= CLASSES; c++) {
		classes[c].credit += classes[c].percent * left -
				     100 * classes[c].paid;
		if (classes[c].credit < 0)
			classes[c].credit = 0;
		classes[c].paid = 0;
	}
	left = 0;
}

/* The first of the lane @c, if it is not the first lane; else -1. */
static int first_of(int c)
{
	int at = 0;

	while (at < n && queue[at].key < (uint64_t)c)
		at++;
	return at && at < n && queue[at].key == (uint64_t)c ? at : -1;
}

static void share(void)
{
	int c, from, at;

	for (c = 1; c <= CLASSES; c++) {
		while (classes[c].credit >= 100 && (from = first_of(c)) > 0) {
			struct request request = queue[from];

			classes[c].credit -= 100;
			if (classes[request.class].observed) {
				queue[from].key = queue[from - 1].key;
				continue;
			}
			for (at = 0; queue[at].key == queue[0].key; at++)
				;
			request.key = queue[0].key;
			request.moved = true;
			cut(from);
			put(at, &request);
		}
		if (classes[c].credit > 100)
			classes[c].credit = 100;
	}
}

static void take(int k)
{
	while (k-- && n) {
		puts(queue[0].id);
		classes[queue[0].class].queued--;
		classes[queue[0].class].paid += !queue[0].moved;
		left++;
		cut(0);
	}
}

static void place_anew(char *text)
{
	static struct request old[QUEUE_MAX];
	int i, n_old = n;

	memcpy(old, queue, n * sizeof(*queue));
	n = 0;
	left = 0;
	set(text);
	for (i = 0; i < n_old; i++)
		arrive(old[i].class, old[i].id);
}

int twin_main(int argc, char **argv)
{
	char line[256] = "", id[24];
	int i, what;

	for (i = 1; i < argc; i++) {
		strncat(line, argv[i], sizeof(line) - strlen(line) - 1);
		strncat(line, " ", sizeof(line) - strlen(line) - 1);
	}
	set(line);
	setvbuf(stdout, NULL, _IOFBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "arrive %d %23s", &what, id) == 2 &&
		    what >= 1 && what <= CLASSES) {
			leave();
			arrive(what, id);
			share();
		} else if (sscanf(line, "accept %d", &what) == 1) {
			take(what);
		} else if (!strncmp(line, "order ", 6)) {
			place_anew(line + 6);
		} else {
			die("%s: not an event", line);
		}
	}
	take(n);
	return 0;
}
