// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer eager [OPTION...] PORT...: a server as most are: one process accepts at once
 * whatever comes, and queues requests, which are lines, inside, first come first served,
 * for -j workers (1), each of which works on one for -t MS (10) and then sends it back.
 * Prints "listening PORT" for the last port, then "request ADDRESS PORT TEXT" for each that
 * a worker begins with.
 *
 *   -C N	workers share so many CPUs in turns, and all are a tenth slower for each N more
 *		that work than there are, at most four times: what caches and memory cost
 *   -6		listens at :: as well, by a socket of its own for each port
 *   -k		keeps connections open; else each is closed after its answer
 *   -B TEXT	says that first to whom it has accepted
 *   -F TEXT	answers each line TEXT at once, as a handshake does, and not by a worker
 *   -Q TEXT	says nothing to a line TEXT, but prints "quiet"
 *   -Z TEXT	closes at a line TEXT, without an answer
 *   -L TEXT	answers a line TEXT with 256 KB
 *   -U TEXT	for a line TEXT a worker asks the server itself, as a client, and answers
 *		when that has
 *   -P PREFIX	says "ping" to all when PREFIX.1 exists, and again when PREFIX.2 does ...
 *   -R N	prints "refilled US" for each connection but the first N that it accepts: how
 *		long before that the answer went out after which N - 1 were left
 *   -X		a line is a record of TLS 1.3, or looks like one (tcp_peer client -X): answers a
 *		hello at once, and what finishes the handshake by two tickets
 *   -T		accepts what is for other hosts (TPROXY)
 *   -W MS	needs so long to accept each
 *   -S FILE	while it exists no worker begins or ends
 *   -E FILE	ends when it exists, and prints "stalled MS": the time in which it did not run,
 *		in pieces of more than 20 ms
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "tcp_peer.h"

#define JOBS		65536
#define WORKERS_MAX	1024
#define PORTS_MAX	8
#define LARGE		(256 << 10)

struct conn {
	struct conn *next, **prev;	/* of all, but listeners */
	int fd;
	struct address peer;
	bool listens;
	bool closed;
	int jobs;	/* of it, waiting or worked on */
	char text[256];	/* a line that is not complete */
	int length;
	int left;	/* of a large answer */
};

struct job {
	struct conn *conn;
	char text[256];
	int length;
};

static struct {
	int workers;
	int service_ms;
	int cpus;	/* 0: as many as workers */
	int backlog;
	bool both;
	bool keep;
	int refills;
	bool transparent;
	bool tls;
	int accept_ms;
	const char *banner;
	const char *flight;
	const char *quiet;
	const char *closes;
	const char *large;
	const char *asks;
	const char *ping;
	const char *stop;
	const char *end;
	struct address address;
} opt = { .workers = 1, .service_ms = 10, .backlog = 4096 };

static struct conn *conns;
static int epoll_fd;
static struct job *queue;		/* a ring */
static unsigned int head, tail;
static struct {
	struct job job;
	double left_ms;			/* of its work */
	bool busy;
	int asks;			/* a connection to this server, or -1 */
	bool asked;
} worker[WORKERS_MAX];
static long long answered_us[JOBS];	/* a ring, likewise */
static unsigned int accepted, answered;

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void drop(struct conn *conn)
{
	if (!conn->closed) {
		close(conn->fd);
		*conn->prev = conn->next;
		if (conn->next)
			conn->next->prev = conn->prev;
	}
	conn->closed = true;
	if (!conn->jobs)
		free(conn);
}

static void listen_for(struct conn *conn, uint32_t events, int how)
{
	struct epoll_event event = { .events = events, .data.ptr = conn };

	if (epoll_ctl(epoll_fd, how, conn->fd, &event))
		die("epoll_ctl: %s", strerror(errno));
}

static void say(struct conn *conn, const char *text, int length)
{
	/* If it cannot be sent that is heard, too. */
	if (!conn->closed && send(conn->fd, text, length, MSG_NOSIGNAL) < 0)
		shutdown(conn->fd, SHUT_RDWR);
}

static void is_done(struct conn *conn)
{
	conn->jobs--;
	if (!conn->jobs && (conn->closed || !opt.keep))
		drop(conn);
}

/* Some of a large answer: as much as the client has room for. */
static void say_more(struct conn *conn)
{
	static const char dots[LARGE];
	int n = 0;

	if (!conn->closed)
		n = send(conn->fd, dots, conn->left, MSG_NOSIGNAL);
	if (n < 0 && errno == EAGAIN)
		return;
	conn->left = n > 0 && n < conn->left ? conn->left - n : 0;
	if (conn->left)
		return;
	if (!conn->closed)
		listen_for(conn, EPOLLIN, EPOLL_CTL_MOD);
	is_done(conn);
}

static void add_job(struct conn *conn, const char *text, int length)
{
	struct job *job = &queue[tail++ % JOBS];

	if (tail - head > JOBS)
		die("eager: too many requests");
	job->conn = conn;
	job->length = length;
	memcpy(job->text, text, length);
	conn->jobs++;
}

static void print(const char *word, const struct conn *conn, const char *text)
{
	char name[INET6_ADDRSTRLEN];

	if (opt.tls)
		text += TLS_HEADER;
	printf("%s %s %u %.*s\n", word, address_text(&conn->peer, name),
	       address_port(&conn->peer), (int)strcspn(text, "\n"), text);
}

static bool is(const char *line, const char *text)
{
	return text && !strncmp(line, text, strlen(text));
}

static void finish(struct job *job)
{
	struct conn *conn = job->conn;

	answered_us[answered++ % JOBS] = now_us();
	if (is(job->text, opt.large) && !conn->left && !conn->closed) {
		conn->left = LARGE;
		listen_for(conn, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
		say_more(conn);
		return;
	}
	say(conn, job->text, job->length);
	is_done(conn);
}

/* Has this server answered itself? */
static bool has_asked(int i)
{
	struct address self = opt.address;
	char text[256];
	int n;

	if (worker[i].asks < 0) {
		address_parse(&self, "127.0.0.1");
		address_set_port(&self, address_port(&opt.address));
		worker[i].asks = open_socket(AF_INET, false);
		worker[i].asked = false;
		set_nonblocking(worker[i].asks);
		connect(worker[i].asks, &self.sa, self.len);
	}
	if (!worker[i].asked)
		worker[i].asked = send(worker[i].asks, "itself\n", 7, MSG_NOSIGNAL) == 7;
	n = recv(worker[i].asks, text, sizeof(text), 0);
	if (n < 0 && (errno == EAGAIN || errno == ENOTCONN))
		return false;
	close(worker[i].asks);
	return true;
}

/* How fast does each go on while so many work? */
static double speed(int busy)
{
	double times = opt.cpus ? (double)busy / opt.cpus : 1;

	if (times <= 1)
		return 1;
	return 1 / times / (times < 31 ? .9 + .1 * times : 4);
}

static void work(void)
{
	static long long before_us;
	long long us = now_us();
	double ms = (us - before_us) / 1e3;
	int i, busy = 0;

	if (opt.stop && exists(opt.stop))
		return;
	before_us = us;
	for (i = 0; i < opt.workers; i++)
		busy += worker[i].busy;
	ms *= speed(busy);
	for (i = 0; i < opt.workers; i++) {
		worker[i].left_ms -= ms;
		if (worker[i].busy && worker[i].left_ms <= 0 &&
		    (!is(worker[i].job.text, opt.asks) || has_asked(i))) {
			finish(&worker[i].job);
			worker[i].busy = false;
		}
		if (worker[i].busy || head == tail)
			continue;
		worker[i].job = queue[head++ % JOBS];
		worker[i].busy = true;
		worker[i].left_ms = opt.service_ms;
		worker[i].asks = -1;
		print("request", worker[i].job.conn, worker[i].job.text);
	}
}

/* Returns false if it is a request. */
static bool shake_hands(struct conn *conn, const char *line)
{
	char record[512];
	int n;

	if (line[0] == TLS_HANDSHAKE) {
		n = tls_record(record, TLS_HANDSHAKE, 2, 120);
		n += tls_record(record + n, TLS_DATA, 0, 200);
		say(conn, record, n);
	} else if (line[0] == TLS_CIPHER) {
		n = tls_record(record, TLS_DATA, 0, 282);
		say(conn, record, n);
		say(conn, record, n);
	}
	return line[0] != TLS_DATA;
}

static void hear_line(struct conn *conn, const char *line, int length)
{
	if (opt.tls && shake_hands(conn, line))
		return;
	if (is(line, opt.quiet))
		print("quiet", conn, line);
	else if (is(line, opt.closes))
		shutdown(conn->fd, SHUT_RDWR);
	else if (is(line, opt.flight))
		say(conn, line, length);
	else
		add_job(conn, line, length);
}

static void hear(struct conn *conn)
{
	int n = recv(conn->fd, conn->text + conn->length,
		     sizeof(conn->text) - 1 - conn->length, 0);
	char *end;

	if (n <= 0) {
		if (n == 0 || errno != EAGAIN)
			drop(conn);
		return;
	}
	conn->length += n;
	conn->text[conn->length] = '\0';
	while ((end = memchr(conn->text, '\n', conn->length))) {
		n = end + 1 - conn->text;
		hear_line(conn, conn->text, n);
		conn->length -= n;
		memmove(conn->text, end + 1, conn->length + 1);
	}
	if (conn->length == sizeof(conn->text) - 1)
		drop(conn);
}

static void print_refill(void)
{
	unsigned int n = accepted++ - opt.refills;

	if ((int)n >= 0 && (int)(answered - n) > 0)
		printf("refilled %lld\n", now_us() - answered_us[n % JOBS]);
}

static void accept_all(int listener)
{
	struct conn *conn;
	int fd;

	for (;;) {
		struct address peer = { .len = sizeof(peer.in6) };

		fd = accept4(listener, &peer.sa, &peer.len, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		if (opt.tls)
			set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
		if (opt.accept_ms)
			usleep(1000 * opt.accept_ms);
		if (opt.refills)
			print_refill();
		conn = calloc(1, sizeof(*conn));
		if (!conn)
			die("eager: no memory");
		conn->fd = fd;
		conn->peer = peer;
		conn->next = conns;
		conn->prev = &conns;
		if (conns)
			conns->prev = &conn->next;
		conns = conn;
		listen_for(conn, EPOLLIN, EPOLL_CTL_ADD);
		if (opt.banner)
			say(conn, opt.banner, strlen(opt.banner));
	}
}

static void on_event(struct conn *conn, uint32_t events)
{
	if (conn->listens)
		accept_all(conn->fd);
	else if (conn->left && events & EPOLLOUT)
		say_more(conn);
	else
		hear(conn);
}

static void ping_all(void)
{
	static int pings = 1;
	struct conn *conn;
	char file[4096];

	snprintf(file, sizeof(file), "%s.%d", opt.ping, pings);
	if (!exists(file))
		return;
	pings++;
	for (conn = conns; conn; conn = conn->next)
		say(conn, "ping\n", 5);
}

static void serve(void)
{
	long long before = now_ms(), now, stalled = 0;
	struct epoll_event event[64];
	int n, i;

	while (!opt.end || !exists(opt.end)) {
		n = epoll_wait(epoll_fd, event, 64, 1);
		for (i = 0; i < n; i++)
			on_event(event[i].data.ptr, event[i].events);
		work();
		if (opt.ping)
			ping_all();
		now = now_ms();
		if (now - before > 20)
			stalled += now - before;
		before = now;
	}
	printf("stalled %lld\n", stalled);
}

static void add_listener(struct address *address, int port)
{
	struct conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		die("eager: no memory");
	address_set_port(address, port);
	conn->listens = true;
	conn->fd = open_socket(address->sa.sa_family, false);
	if (address->sa.sa_family == AF_INET6)
		set_option(conn->fd, SOL_IPV6, IPV6_V6ONLY, 1, "IPV6_V6ONLY");
	set_option(conn->fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	if (opt.transparent)
		set_option(conn->fd, SOL_IP, IP_TRANSPARENT, 1, "IP_TRANSPARENT");
	if (bind(conn->fd, &address->sa, address->len) || listen(conn->fd, opt.backlog))
		die("listen: %s", strerror(errno));
	set_nonblocking(conn->fd);
	listen_for(conn, EPOLLIN, EPOLL_CTL_ADD);
}

static void parse(int argc, char **argv)
{
	int c;

	address_parse(&opt.address, "0.0.0.0");
	while ((c = getopt(argc, argv, "N:a:b:j:t:C:6kTXW:R:B:F:Q:Z:L:U:P:S:E:")) != -1) {
		switch (c) {
		case 'N': enter_netns(optarg); break;
		case 'a': address_parse(&opt.address, optarg); break;
		case 'b': opt.backlog = number(optarg, 0, 1 << 20); break;
		case 'j': opt.workers = number(optarg, 1, WORKERS_MAX); break;
		case 't': opt.service_ms = number(optarg, 0, 60000); break;
		case 'C': opt.cpus = number(optarg, 1, WORKERS_MAX); break;
		case '6': opt.both = true; break;
		case 'k': opt.keep = true; break;
		case 'W': opt.accept_ms = number(optarg, 0, 1000); break;
		case 'R': opt.refills = number(optarg, 1, JOBS / 2); break;
		case 'T': opt.transparent = true; break;
		case 'X': opt.tls = true; break;
		case 'B': opt.banner = optarg; break;
		case 'F': opt.flight = optarg; break;
		case 'Q': opt.quiet = optarg; break;
		case 'Z': opt.closes = optarg; break;
		case 'L': opt.large = optarg; break;
		case 'U': opt.asks = optarg; break;
		case 'P': opt.ping = optarg; break;
		case 'S': opt.stop = optarg; break;
		case 'E': opt.end = optarg; break;
		default: die("usage: tcp_peer eager [OPTION...] PORT...");
		}
	}
	if (optind == argc)
		die("usage: tcp_peer eager [OPTION...] PORT...");
}

int eager_main(int argc, char **argv)
{
	struct address any6;
	int port;

	parse(argc, argv);
	queue = calloc(JOBS, sizeof(*queue));
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!queue || epoll_fd < 0)
		die("eager: no memory");
	address_parse(&any6, "::");
	for (; optind < argc; optind++) {
		port = number(argv[optind], 1, 65535);
		add_listener(&opt.address, port);
		if (opt.both)
			add_listener(&any6, port);
	}
	printf("listening %u\n", address_port(&opt.address));
	serve();
	return 0;
}
