// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer eager [OPTION...] PORT: a server as most are: one process accepts at once
 * whatever comes, and queues requests inside, first come first served, for -j workers
 * (1), each of which works on one for -t MS (10) and then sends it back.  Prints
 * "listening PORT", then "request ADDRESS PORT TEXT" for each that a worker begins with.
 *
 *   -k		keeps connections open; else each is closed after its answer
 *   -B TEXT	says that first to whom it has accepted
 *   -F TEXT	answers each line TEXT at once, as a handshake does, and not by a worker
 *   -Q TEXT	says nothing to a line TEXT
 *   -S FILE	while it exists no worker begins or ends
 *   -E FILE	ends when it exists
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "tcp_peer.h"

#define JOBS		65536
#define WORKERS_MAX	1024

struct conn {
	int fd;
	struct address peer;
	bool closed;
	int jobs;	/* of it, waiting or worked on */
};

struct job {
	struct conn *conn;
	char text[256];
	int length;
};

static struct {
	int workers;
	int service_ms;
	int backlog;
	bool keep;
	const char *banner;
	const char *flight;
	const char *quiet;
	const char *stop;
	const char *end;
	struct address address;
} opt = { .workers = 1, .service_ms = 10, .backlog = 4096 };

static struct job *queue;		/* a ring */
static unsigned int head, tail;
static struct {
	struct job job;
	long long end_ms;		/* 0: idle */
} worker[WORKERS_MAX];

static void drop(struct conn *conn)
{
	if (!conn->closed)
		close(conn->fd);
	conn->closed = true;
	if (!conn->jobs)
		free(conn);
}

static void say(struct conn *conn, const char *text, int length)
{
	/* If it cannot be sent that is heard, too. */
	if (!conn->closed && send(conn->fd, text, length, MSG_NOSIGNAL) < 0)
		shutdown(conn->fd, SHUT_RDWR);
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

static void print(const struct job *job)
{
	char name[INET6_ADDRSTRLEN];

	printf("request %s %u %.*s\n", address_text(&job->conn->peer, name),
	       address_port(&job->conn->peer),
	       (int)strcspn(job->text, "\n"), job->text);
}

static void finish(struct job *job)
{
	struct conn *conn = job->conn;

	say(conn, job->text, job->length);
	conn->jobs--;
	if (!conn->jobs && (conn->closed || !opt.keep))
		drop(conn);
}

static void work(void)
{
	long long now = now_ms();
	int i;

	if (opt.stop && exists(opt.stop))
		return;
	for (i = 0; i < opt.workers; i++) {
		if (worker[i].end_ms && worker[i].end_ms <= now) {
			finish(&worker[i].job);
			worker[i].end_ms = 0;
		}
		if (worker[i].end_ms || head == tail)
			continue;
		worker[i].job = queue[head++ % JOBS];
		worker[i].end_ms = now + opt.service_ms;
		print(&worker[i].job);
	}
}

static void hear(struct conn *conn)
{
	char text[256];
	int n = recv(conn->fd, text, sizeof(text) - 1, 0);

	if (n <= 0) {
		if (n == 0 || errno != EAGAIN)
			drop(conn);
		return;
	}
	text[n] = '\0';
	if (opt.quiet && !strncmp(text, opt.quiet, strlen(opt.quiet)))
		return;
	if (opt.flight && !strncmp(text, opt.flight, strlen(opt.flight)))
		say(conn, text, n);
	else
		add_job(conn, text, n);
}

static void accept_all(int epoll, int listener)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct conn *conn;
	int fd;

	for (;;) {
		struct address peer = { .len = sizeof(peer.in6) };

		fd = accept4(listener, &peer.sa, &peer.len, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		conn = calloc(1, sizeof(*conn));
		if (!conn)
			die("eager: no memory");
		conn->fd = fd;
		conn->peer = peer;
		event.data.ptr = conn;
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
			die("epoll_ctl: %s", strerror(errno));
		if (opt.banner)
			say(conn, opt.banner, strlen(opt.banner));
	}
}

static void serve(int listener)
{
	struct epoll_event event[64], ready = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC), n, i;

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &ready))
		die("epoll: %s", strerror(errno));
	while (!opt.end || !exists(opt.end)) {
		n = epoll_wait(epoll, event, 64, 1);
		for (i = 0; i < n; i++) {
			if (event[i].data.ptr)
				hear(event[i].data.ptr);
			else
				accept_all(epoll, listener);
		}
		work();
	}
}

static void parse(int argc, char **argv)
{
	int o;

	address_parse(&opt.address, "0.0.0.0");
	while ((o = getopt(argc, argv, "N:a:b:j:t:kB:F:Q:S:E:")) != -1) {
		switch (o) {
		case 'N':
			enter_netns(optarg);
			break;
		case 'a':
			address_parse(&opt.address, optarg);
			break;
		case 'b':
			opt.backlog = number(optarg, 0, 1 << 20);
			break;
		case 'j':
			opt.workers = number(optarg, 1, WORKERS_MAX);
			break;
		case 't':
			opt.service_ms = number(optarg, 0, 60000);
			break;
		case 'k':
			opt.keep = true;
			break;
		case 'B':
			opt.banner = optarg;
			break;
		case 'F':
			opt.flight = optarg;
			break;
		case 'Q':
			opt.quiet = optarg;
			break;
		case 'S':
			opt.stop = optarg;
			break;
		case 'E':
			opt.end = optarg;
			break;
		default:
			die("usage: tcp_peer eager [OPTION...] PORT");
		}
	}
	if (optind != argc - 1)
		die("usage: tcp_peer eager [OPTION...] PORT");
	address_set_port(&opt.address, number(argv[optind], 1, 65535));
}

int eager_main(int argc, char **argv)
{
	int fd;

	parse(argc, argv);
	queue = calloc(JOBS, sizeof(*queue));
	if (!queue)
		die("eager: no memory");
	fd = open_socket(opt.address.sa.sa_family, false);
	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	if (bind(fd, &opt.address.sa, opt.address.len) || listen(fd, opt.backlog))
		die("listen: %s", strerror(errno));
	set_nonblocking(fd);
	printf("listening %u\n", address_port(&opt.address));
	serve(fd);
	return 0;
}
