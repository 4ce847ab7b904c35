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
 * options: what was agreed on in the handshake, as TCP_INFO has it: the bits, the
 * window scales of what is sent and received, and the MSS of what is sent, or "-".
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "openload.h"

#define MAX_EVENTS	64
#define MAX_FILES	1000000

struct group groups[MAX_GROUPS];
unsigned int n_groups;
int64_t epoch;
int64_t run_end = INT64_MAX;

static size_t n_open;
static int epfd;
static atomic_bool told_to_stop;

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

	if (r->tls)
		tls_end(r);
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
	ssize_t said = 0;

	/* An empty buffer takes a request of this size whole. */
	if (n)
		said = r->tls ? tls_send(r, msg, n) : send(r->fd, msg, n, MSG_NOSIGNAL);
	if (said == (ssize_t)n)
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
	r->send_mss = info.tcpi_snd_mss;
}

static bool greet(struct group *g, struct request *r)
{
	const char *msg;
	size_t n;

	msg = g->mode->greeting(g, &n);
	return say(g, r, msg, n);
}

/* Returns whether there is something to read; the end of the handshake is a greeting. */
static bool go_on_shaking(struct group *g, struct request *r)
{
	if (tls_shake(r) == 1)
		return greet(g, r);
	if (errno != EAGAIN)
		finish(g, r, status_of_errno(errno));
	return false;
}

static bool on_connected(struct group *g, struct request *r)
{
	int err = 0;
	socklen_t len = sizeof(err);

	getsockopt(r->fd, SOL_SOCKET, SO_ERROR, &err, &len);
	if (err) {
		finish(g, r, status_of_errno(err));
		return false;
	}
	r->connected = now_ns();
	note_options(r);
	if (!g->mode->tls)
		return greet(g, r);
	tls_begin(r);
	return go_on_shaking(g, r);
}

static void on_readable(struct group *g, struct request *r)
{
	enum status st;
	char buf[16384];
	ssize_t n;

	if (r->tls && !tls_is_shaken(r) && !go_on_shaking(g, r))
		return;
	for (;;) {
		n = r->tls ? tls_recv(r, buf, sizeof(buf)) : recv(r->fd, buf, sizeof(buf), 0);
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
	FILE *out = parse_words(argc, argv);
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
