// SPDX-License-Identifier: GPL-2.0
/*
 * openload - open-loop TCP load generator for overloaded servers
 *
 * Every request has a time at which it is due, drawn beforehand from a seed as a
 * Poisson process, so it does not depend on how the server behaves: two runs with
 * the same words on the command line offer exactly the same load.  All latencies
 * count from the time due, not from the time the generator got round to it, and
 * the difference (lateness) is recorded, so that a reader can see whether the
 * generator kept its schedule.
 *
 * The TCP is the kernel's own: non-blocking connect() and whatever the kernel
 * retransmits.  At its deadline a request is given up by a plain close(), as a
 * browser does whose user leaves; the kernel goes on as it does for a browser.
 *
 * A request may be several on one connection, one after the other (keep-alive); it
 * is served when all of them are.
 *
 * SIGTERM ends the run as its planned end would.
 *
 * One thread, one epoll set, edge triggered: one epoll_ctl() a connection.
 *
 * Output: one line per request, tab separated, in the order due within a group:
 *   group family due late connect first done status http options
 * due in us since the epoch; the next four in us since due, -1 where it never came;
 * options: what was agreed on in the handshake, as TCP_INFO has it: the bits, and the
 * window scales of what is sent and received, or "-".
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_SEC	1000000000LL
#define NSEC_PER_USEC	1000
#define MAX_GROUPS	16
#define MAX_EVENTS	64
#define HEAD_MAX	2048
#define MAX_FILES	1000000
#define EPOCH_ASK	(-1)
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
	int fd;
	uint32_t source;	/* index into the family's address range */
	uint16_t http;
	uint8_t options, send_scale, receive_scale;
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

static struct group groups[MAX_GROUPS];
static unsigned int n_groups;
static int64_t epoch;
static int64_t run_end = INT64_MAX;
static size_t n_open;
static int epfd;
static atomic_bool told_to_stop;

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *fmt, ...)
{
	va_list ap;

	fputs("openload: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static int64_t ns_of(double seconds)
{
	return (int64_t)(seconds * NSEC_PER_SEC);
}

/* --- the schedule --- */

/* splitmix64: the same numbers on every machine and C library. */
static uint64_t rng_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static double rng_uniform(uint64_t *state)
{
	return (double)(rng_next(state) >> 11) / (double)(1ULL << 53);
}

static double rng_exponential(uint64_t *state, double rate)
{
	return -log1p(-rng_uniform(state)) / rate;
}

static void add_request(struct group *g, int64_t due)
{
	struct request *r;

	if (g->n_req == g->max_req) {
		g->max_req = g->max_req ? 2 * g->max_req : 1024;
		g->req = realloc(g->req, g->max_req * sizeof(*g->req));
		if (!g->req)
			die("out of memory");
	}
	r = &g->req[g->n_req];
	memset(r, 0, sizeof(*r));
	r->due = due;
	r->fd = -1;
	r->family = g->n_req % g->n_ends;
	r->source = rng_next(&g->rng) % g->end[r->family].source.count;
	g->n_req++;
}

static int by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A Poisson process of which the count is known: uniform times, in order. */
static void schedule_count(struct group *g)
{
	double *t = calloc(g->count, sizeof(*t));
	unsigned int i;

	if (!t)
		die("out of memory");
	for (i = 0; i < g->count; i++)
		t[i] = g->from + g->length * rng_uniform(&g->rng);
	qsort(t, g->count, sizeof(*t), by_time);
	for (i = 0; i < g->count; i++)
		add_request(g, epoch + ns_of(t[i]));
	free(t);
}

static void add_burst(struct group *g, double t)
{
	unsigned int n = g->burst_least + rng_next(&g->rng) %
			 (g->burst_most - g->burst_least + 1);

	while (n--)
		add_request(g, epoch + ns_of(t));
}

static void schedule_rate(struct group *g)
{
	double t = g->from, until = g->from + g->length, burst = INFINITY;

	if (g->bursts > 0)
		burst = t + rng_exponential(&g->rng, g->bursts);
	while ((t += rng_exponential(&g->rng, g->rate)) < until) {
		for (; burst < t; burst += rng_exponential(&g->rng, g->bursts))
			add_burst(g, burst);
		add_request(g, epoch + ns_of(t));
	}
}

static void make_schedule(struct group *g)
{
	unsigned int i;

	g->rng = g->seed;
	if (g->count)
		schedule_count(g);
	else if (g->rate > 0)
		schedule_rate(g);
	for (i = 0; i < g->closed; i++)
		add_request(g, epoch + ns_of(g->from));
}

/* --- protocols --- */

static const char *http_greeting(const struct group *g, size_t *len)
{
	const struct message *m = g->requests > 1 ? &g->message : &g->last;

	*len = m->len;
	return m->text;
}

static void http_parse_head(struct request *r, struct response *resp)
{
	unsigned int code = 0;
	const char *p;

	if (sscanf(resp->head, "HTTP/1.%*1u %3u", &code) == 1)
		r->http = code;
	resp->body_want = -1;
	p = strcasestr(resp->head, "\r\nContent-Length:");
	if (p)
		resp->body_want = strtoll(p + strlen("\r\nContent-Length:"), NULL, 10);
	resp->chunked = strcasestr(resp->head, "\r\nTransfer-Encoding: chunked");
}

static void http_body(struct response *resp, const char *buf, size_t len)
{
	size_t n = len < sizeof(resp->tail) ? len : sizeof(resp->tail);

	resp->body_have += len;
	memmove(resp->tail, resp->tail + n, sizeof(resp->tail) - n);
	memcpy(resp->tail + sizeof(resp->tail) - n, buf + len - n, n);
}

/* Takes what belongs to the head; returns how many bytes of @buf that was. */
static size_t http_head(struct request *r, struct response *resp,
			const char *buf, size_t len)
{
	size_t before = resp->head_len;
	size_t n = len < HEAD_MAX - before ? len : HEAD_MAX - before;
	char *end;

	memcpy(resp->head + before, buf, n);
	resp->head[before + n] = '\0';
	end = strstr(resp->head, "\r\n\r\n");
	if (!end) {
		resp->head_len += n;
		return len;
	}
	end[2] = '\0';
	resp->head_len = end + 4 - resp->head;
	resp->head_done = true;
	http_parse_head(r, resp);
	return resp->head_len - before;
}

static bool http_complete(const struct response *resp, bool closed)
{
	if (!resp->head_done)
		return false;
	if (resp->chunked)
		return !memcmp(resp->tail, "0\r\n\r\n", sizeof(resp->tail));
	if (resp->body_want >= 0)
		return resp->body_have >= resp->body_want;
	return closed;
}

static enum status http_input(struct request *r, const char *buf, size_t len)
{
	struct response *resp = r->resp;
	size_t used = 0;

	if (!resp) {
		resp = calloc(1, sizeof(*resp));
		if (!resp)
			die("out of memory");
		r->resp = resp;
	}
	if (!resp->head_done)
		used = http_head(r, resp, buf, len);
	if (used < len)
		http_body(resp, buf + used, len - used);
	if (http_complete(resp, !len))
		return r->http == 200 ? ST_OK : ST_HTTP_ERROR;
	return len ? ST_PENDING : ST_SHORT;
}

static const char *no_greeting(const struct group *g, size_t *len)
{
	(void)g;
	*len = 0;
	return NULL;
}

/* A server that talks first has served its client with its first line. */
static enum status banner_input(struct request *r, const char *buf, size_t len)
{
	(void)r;
	if (!len)
		return ST_SHORT;
	return memchr(buf, '\n', len) ? ST_OK : ST_PENDING;
}

static const struct mode modes[] = {
	{ "http", http_greeting, http_input },
	{ "banner", no_greeting, banner_input },
};

/* --- one request --- */

static enum status status_of_errno(int err)
{
	switch (err) {
	case ECONNREFUSED:
		return ST_REFUSED;
	case ECONNRESET:
	case EPIPE:
		return ST_RESET;
	case ETIMEDOUT:
		return ST_TIMEOUT;
	default:
		return ST_LOCAL;
	}
}

static void finish(struct group *g, struct request *r, enum status st)
{
	int64_t now = now_ns();

	if (r->fd >= 0) {
		close(r->fd);
		n_open--;
	}
	r->fd = -1;
	r->done = now;
	r->status = st;
	free(r->resp);
	r->resp = NULL;
	/* Last, because it may move the array. */
	if (g->closed && now < epoch + ns_of(g->from + g->length))
		add_request(g, now);
}

static socklen_t sockaddr_len(const struct sockaddr_storage *ss)
{
	return ss->ss_family == AF_INET ? sizeof(struct sockaddr_in)
					: sizeof(struct sockaddr_in6);
}

/* The @i-th address of a range; a range stays within the last 32 bits. */
static struct sockaddr_storage nth_address(const struct addr_range *range,
					   uint32_t i)
{
	struct sockaddr_storage ss = range->first;
	struct in6_addr *a6;
	uint32_t last;

	if (ss.ss_family == AF_INET) {
		struct in_addr *a4 = &((struct sockaddr_in *)&ss)->sin_addr;

		a4->s_addr = htonl(ntohl(a4->s_addr) + i);
		return ss;
	}
	a6 = &((struct sockaddr_in6 *)&ss)->sin6_addr;
	memcpy(&last, &a6->s6_addr[12], sizeof(last));
	last = htonl(ntohl(last) + i);
	memcpy(&a6->s6_addr[12], &last, sizeof(last));
	return ss;
}

static int open_socket(const struct group *g, const struct request *r)
{
	const struct ends *e = &g->end[r->family];
	struct sockaddr_storage src = nth_address(&e->source, r->source);
	int one = 1, fd;

	fd = socket(src.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	/* Let connect() choose the port: it may reuse one for another peer. */
	setsockopt(fd, SOL_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&src, sockaddr_len(&src)) ||
	    (connect(fd, (const struct sockaddr *)&e->dest,
		     sockaddr_len(&e->dest)) && errno != EINPROGRESS)) {
		int err = errno;

		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

static void start(unsigned int group, size_t index)
{
	struct group *g = &groups[group];
	struct request *r = &g->req[index];
	struct epoll_event ev = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		.data.u64 = (uint64_t)group << 32 | index,
	};

	r->started = now_ns();
	r->fd = open_socket(g, r);
	if (r->fd < 0) {
		finish(g, r, status_of_errno(errno));
		return;
	}
	n_open++;
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, r->fd, &ev))
		die("epoll_ctl: %s", strerror(errno));
}

/* Returns false when the request is finished. */
static bool say(struct group *g, struct request *r, const char *msg, size_t n)
{
	/* An empty buffer takes a request of this size whole. */
	if (!n || send(r->fd, msg, n, MSG_NOSIGNAL) == (ssize_t)n)
		return true;
	finish(g, r, status_of_errno(errno));
	return false;
}

/* Asks once more on the same connection. */
static bool ask_again(struct group *g, struct request *r)
{
	const struct message *m;

	m = r->answered + 1u < g->requests ? &g->message : &g->last;
	memset(r->resp, 0, sizeof(*r->resp));
	return say(g, r, m->text, m->len);
}

static void note_options(struct request *r)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(r->fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return;
	r->options = info.tcpi_options;
	r->send_scale = info.tcpi_snd_wscale;
	r->receive_scale = info.tcpi_rcv_wscale;
}

static bool on_connected(struct group *g, struct request *r)
{
	int err = 0;
	socklen_t len = sizeof(err);
	const char *msg;
	size_t n;

	getsockopt(r->fd, SOL_SOCKET, SO_ERROR, &err, &len);
	if (err) {
		finish(g, r, status_of_errno(err));
		return false;
	}
	r->connected = now_ns();
	note_options(r);
	msg = g->mode->greeting(g, &n);
	return say(g, r, msg, n);
}

static void on_readable(struct group *g, struct request *r)
{
	enum status st;
	char buf[16384];
	ssize_t n;

	for (;;) {
		n = recv(r->fd, buf, sizeof(buf), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			finish(g, r, status_of_errno(errno));
			return;
		}
		if (n && !r->first)
			r->first = now_ns();
		st = g->mode->input(r, buf, n);
		if (st == ST_OK && ++r->answered < g->requests) {
			if (!ask_again(g, r))
				return;
			continue;
		}
		if (st != ST_PENDING) {
			finish(g, r, st);
			return;
		}
	}
}

static void on_event(const struct epoll_event *ev)
{
	struct group *g = &groups[ev->data.u64 >> 32];
	struct request *r = &g->req[ev->data.u64 & UINT32_MAX];

	if (r->fd < 0)
		return;
	if (!r->connected) {
		if (!(ev->events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
			return;
		if (!on_connected(g, r))
			return;
	}
	if (ev->events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP))
		on_readable(g, r);
}

/* --- the loop --- */

static void start_due(unsigned int group)
{
	struct group *g = &groups[group];

	while (g->next_start < g->n_req &&
	       g->req[g->next_start].due <= now_ns())
		start(group, g->next_start++);
}

/* One deadline for a whole group: the oldest unfinished one is the next. */
static int64_t expire_due(struct group *g)
{
	int64_t limit = ns_of(g->deadline);

	for (; g->next_expire < g->next_start; g->next_expire++) {
		struct request *r = &g->req[g->next_expire];

		if (r->status != ST_PENDING)
			continue;
		if (r->due + limit > now_ns())
			return r->due + limit;
		finish(g, r, ST_TIMEOUT);
	}
	return INT64_MAX;
}

/* Returns when something is due next, INT64_MAX when nothing ever is. */
static int64_t do_timers(void)
{
	int64_t next = INT64_MAX, t;
	unsigned int i;

	for (i = 0; i < n_groups; i++) {
		struct group *g = &groups[i];

		start_due(i);
		t = expire_due(g);
		if (t < next)
			next = t;
		if (g->next_start < g->n_req && g->req[g->next_start].due < next)
			next = g->req[g->next_start].due;
	}
	return next;
}

static void stop(int sig)
{
	(void)sig;
	told_to_stop = true;
}

/* The signal comes while the loop waits, or is seen before it waits again. */
static void run(void)
{
	struct epoll_event ev[MAX_EVENTS];
	sigset_t term, unmasked;
	int64_t next, wait;
	int i, n;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &unmasked);
	sigdelset(&unmasked, SIGTERM);
	signal(SIGTERM, stop);
	for (;;) {
		next = do_timers();
		if (next == INT64_MAX || now_ns() >= run_end || told_to_stop)
			return;
		if (next > run_end)
			next = run_end;
		wait = next - now_ns();
		if (wait < 0)
			wait = 0;
		n = epoll_pwait2(epfd, ev, MAX_EVENTS, &(struct timespec){
				.tv_sec = wait / NSEC_PER_SEC,
				.tv_nsec = wait % NSEC_PER_SEC }, &unmasked);
		if (n < 0 && errno != EINTR)
			die("epoll_pwait2: %s", strerror(errno));
		for (i = 0; i < n; i++)
			on_event(&ev[i]);
	}
}

/*
 * What is still open stays open until exit, so that the clients which are cut
 * off do not all leave while another generator still measures.
 */
static void cut(struct group *g)
{
	size_t i;

	for (i = 0; i < g->n_req; i++)
		if (g->req[i].status == ST_PENDING)
			g->req[i].status = ST_CUT;
}

/* --- results --- */

static int64_t since(const struct request *r, int64_t t)
{
	return t ? (t - r->due) / NSEC_PER_USEC : -1;
}

static const char *options_text(const struct request *r, char *text, size_t len)
{
	if (!r->connected)
		return "-";
	snprintf(text, len, "%u,%u,%u", r->options, r->send_scale,
		 r->receive_scale);
	return text;
}

static void print_group(FILE *out, const struct group *g)
{
	char options[16];
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

static void summarize(const struct group *g)
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

/* --- the command line --- */

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
"  port N  http PATH [requests N, one after the other on a connection] | banner\n"
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

static const struct mode *find_mode(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (!strcmp(modes[i].name, name))
			return &modes[i];
	return NULL;
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
	else if (!strcmp(word, "http"))
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

static void http_message(const struct group *g, const char *connection,
			 struct message *m)
{
	int n;

	n = snprintf(m->text, sizeof(m->text),
		     "GET %s HTTP/1.1\r\nHost: server\r\nUser-Agent: openload\r\n"
		     "Accept: */*\r\nConnection: %s\r\n\r\n", g->path,
		     connection);
	if (n >= (int)sizeof(m->text))
		die("http: path too long");
	m->len = n;
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
	if (!g->path && g->requests > 1)
		die("%s: only http has several requests", g->name);
	if (g->path) {
		http_message(g, "keep-alive", &g->message);
		http_message(g, "close", &g->last);
	}
}

/*
 * Several generators, each started when it may be, begin together: whoever
 * started them waits until all are ready and then names a time to come.
 */
static int64_t agreed_epoch(void)
{
	int64_t ns;

	puts("ready");
	fflush(stdout);
	if (scanf("%" SCNd64, &ns) != 1)
		die("epoch: no time on standard input");
	return ns;
}

static FILE *open_output(const char *path)
{
	FILE *out = fopen(path, "w");

	if (!out)
		die("%s: %s", path, strerror(errno));
	return out;
}

static FILE *parse(int argc, char **argv)
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
			if (!strcmp(word, "banner"))
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
		epoch = agreed_epoch();
	if (end > 0)
		run_end = epoch + ns_of(end);
	return out;
}

static void raise_file_limit(void)
{
	struct rlimit lim;

	lim.rlim_cur = MAX_FILES;
	lim.rlim_max = MAX_FILES;
	if (!setrlimit(RLIMIT_NOFILE, &lim))
		return;
	getrlimit(RLIMIT_NOFILE, &lim);
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
}

int main(int argc, char **argv)
{
	FILE *out = parse(argc, argv);
	unsigned int i;

	raise_file_limit();
	epfd = epoll_create1(EPOLL_CLOEXEC);
	if (epfd < 0)
		die("epoll_create1: %s", strerror(errno));
	for (i = 0; i < n_groups; i++)
		make_schedule(&groups[i]);
	run();
	for (i = 0; i < n_groups; i++) {
		cut(&groups[i]);
		print_group(out, &groups[i]);
		summarize(&groups[i]);
	}
	if (fclose(out))
		die("output: %s", strerror(errno));
	return 0;
}
