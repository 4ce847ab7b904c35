/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of openload share: groups of requests, and what becomes of each.
 * See openload.c.
 */
#ifndef _SYNQ_OPENLOAD_H
#define _SYNQ_OPENLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include "common.h"

#define MAX_GROUPS	16
#define HEAD_MAX	2048
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

enum status {
	ST_PENDING,
	ST_OK,
	ST_TIMEOUT,	/* deadline of the client passed */
	ST_RESET,
	ST_REFUSED,
	ST_HTTP_ERROR,	/* complete, but not 200 */
	ST_SHORT,	/* the server closed before the response was complete */
	ST_LOCAL,	/* the generator's own machine failed: a broken test */
	ST_CUT,		/* still open when the run ended: neither good nor bad */
};

/* What has been read of one response; exists only while the request reads. */
struct response {
	unsigned int head_len;
	bool head_done;
	bool chunked;
	int64_t body_want;	/* -1: until the server closes */
	int64_t body_have;
	char tail[5];		/* last bytes of the body, for chunked */
	char head[HEAD_MAX + 1];
};

struct request {
	int64_t due;		/* ns, CLOCK_MONOTONIC */
	int64_t started;	/* this and the next three: 0 until it happens */
	int64_t connected;
	int64_t first;
	int64_t done;
	struct response *resp;
	struct ssl_st *tls;
	int fd;
	uint32_t source;	/* index into the family's address range */
	uint16_t http;
	uint8_t options, send_scale, receive_scale;
	uint16_t send_mss;
	uint16_t answered;	/* of the requests on this connection */
	uint8_t family;		/* index into group.end */
	uint8_t status;
};

struct addr_range {
	struct sockaddr_storage first;
	uint32_t count;
};

/* One family's two ends of a group. */
struct ends {
	struct addr_range source;
	struct sockaddr_storage dest;
	bool has_source, has_dest;
};

struct group;

/*
 * A protocol: what to say once connected, and what to make of bytes that came
 * (len 0: the server closed).  Return ST_PENDING to go on reading.
 */
struct mode {
	const char *name;
	bool has_path;		/* its word takes one */
	bool tls;
	unsigned int requests;	/* on each connection; 0: as the command line says */
	void (*prepare)(struct group *g);	/* its messages */
	const char *(*greeting)(const struct group *g, size_t *len);
	enum status (*input)(struct request *r, const char *buf, size_t len);
};

struct message {
	char text[512];
	size_t len;
};

struct group {
	const char *name;
	const struct mode *mode;
	double rate;		/* requests/second */
	double bursts;		/* besides, so many a second, of so many at once: */
	unsigned int burst_least, burst_most;
	unsigned int count;	/* requests in all, instead of a rate */
	double from, length;	/* seconds */
	double deadline;	/* seconds */
	unsigned int closed;	/* connections kept busy instead of a rate */
	uint64_t seed;
	uint16_t port;
	const char *path;
	unsigned int requests;	/* on each connection */
	struct message message;	/* all but the last of them */
	struct message last;

	/* v4 and v6; the order in which the command line named them */
	struct ends end[2];
	unsigned int n_ends;

	uint64_t rng;
	struct request *req;
	size_t n_req, max_req;
	size_t next_start;	/* the first one not started */
	size_t next_expire;	/* every one before it is finished */
};

extern struct group groups[MAX_GROUPS];
extern unsigned int n_groups;
extern int64_t epoch;		/* ns, CLOCK_MONOTONIC: what "from" counts from */
extern int64_t run_end;		/* ns, CLOCK_MONOTONIC */

static inline int64_t ns_of(double seconds)
{
	return (int64_t)(seconds * NSEC_PER_SEC);
}

/* openload_schedule.c */
void add_request(struct group *g, int64_t due);
void make_schedule(struct group *g);

/* openload_modes.c */
const struct mode *find_mode(const char *name);

/* openload_tls.c: as recv() and send() do, errno included */
void tls_begin(struct request *r);
ssize_t tls_shake(struct request *r);
bool tls_is_shaken(const struct request *r);
ssize_t tls_recv(struct request *r, char *buf, size_t len);
ssize_t tls_send(struct request *r, const char *msg, size_t len);
void tls_end(struct request *r);

/* openload_report.c */
void print_group(FILE *out, const struct group *g);
void summarize(const struct group *g);

/* openload_words.c */
FILE *parse_words(int argc, char **argv);

#endif /* _SYNQ_OPENLOAD_H */
