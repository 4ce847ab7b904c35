// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer reader -m MODE [-t MS] [-N NETNS] PORT: a server that accepts at once, keeps
 * connections open, and sends each line back, one after the other, each MS (10) after it has begun
 * with it.  MODE says how it waits for what comes:
 *
 *   blocking	a process for each connection, in recv()
 *   select	select()
 *   level, edge, oneshot, exclusive	epoll, with that flag
 *   uring	io_uring: a recv for each connection
 *   uring-poll	io_uring: a poll for each connection, and recv()
 *   busy	busy polling: SO_BUSY_POLL, and recv() again and again
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <unistd.h>

#include "tcp_peer.h"

#define TEXT	256
#define FDS	FD_SETSIZE

static struct {
	const char *mode;
	long service_ms;
	struct address address;
} opt = { .mode = "level", .service_ms = 10 };

static char text_of[FDS][TEXT];

static void answer(int fd, const char *text, int length)
{
	pause_ms(opt.service_ms);
	/* If it cannot be sent that is heard, too. */
	if (send(fd, text, length, MSG_NOSIGNAL) < 0)
		shutdown(fd, SHUT_RDWR);
}

/* Returns false at the end of the connection, which is closed then. */
static bool hear(int fd)
{
	char text[TEXT];
	int n = recv(fd, text, sizeof(text), 0);

	if (n > 0)
		answer(fd, text, n);
	else if (n == 0 || errno != EAGAIN)
		close(fd);
	return n > 0 || (n < 0 && errno == EAGAIN);
}

static int take(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= FDS)
		die("reader: too many connections");
	return fd;
}

static void run_blocking(int listener)
{
	int fd;

	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		fd = take(listener);
		if (fd >= 0 && !fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(listener);
			while (hear(fd))
				;
			_exit(0);
		}
		close(fd);
	}
}

static void run_select(int listener)
{
	fd_set all, ready;
	int fd, new;

	FD_ZERO(&all);
	FD_SET(listener, &all);
	for (;;) {
		ready = all;
		if (select(FDS, &ready, NULL, NULL, NULL) < 0)
			continue;
		for (fd = 0; fd < FDS; fd++) {
			if (!FD_ISSET(fd, &ready))
				continue;
			if (fd == listener) {
				new = take(listener);
				if (new >= 0)
					FD_SET(new, &all);
			} else if (!hear(fd)) {
				FD_CLR(fd, &all);
			}
		}
	}
}

static void run_epoll(int listener, uint32_t flags)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = listener };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event))
		die("epoll: %s", strerror(errno));
	for (;;) {
		if (epoll_wait(epoll, &event, 1, -1) != 1)
			continue;
		if (event.data.fd == listener) {
			event.data.fd = take(listener);
			event.events = EPOLLIN | flags;
			set_nonblocking(event.data.fd);
			if (epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event))
				die("epoll_ctl: %s", strerror(errno));
		} else if (hear(event.data.fd) && flags & EPOLLONESHOT) {
			event.events = EPOLLIN | flags;
			epoll_ctl(epoll, EPOLL_CTL_MOD, event.data.fd, &event);
		}
	}
}

static void ask(int opcode, int fd)
{
	struct io_uring_sqe sqe = { .opcode = opcode, .fd = fd, .user_data = fd };

	if (opcode == IORING_OP_RECV) {
		sqe.addr = (uintptr_t)text_of[fd];
		sqe.len = TEXT;
	} else if (opcode == IORING_OP_POLL_ADD) {
		sqe.poll32_events = POLLIN;
	}
	ring_add(&sqe);
}

/* What a connection was asked for has come; returns false at its end. */
static bool hear_ring(int fd, int opcode, int result)
{
	if (opcode == IORING_OP_POLL_ADD)
		return hear(fd);
	if (result > 0)
		answer(fd, text_of[fd], result);
	else
		close(fd);
	return result > 0;
}

static void run_ring(int listener, int opcode)
{
	struct io_uring_cqe cqe;

	ring_open();
	ask(IORING_OP_ACCEPT, listener);
	for (;;) {
		ring_take(&cqe);
		if ((int)cqe.user_data == listener) {
			if (cqe.res >= FDS || cqe.res < 0)
				die("reader: accept: %d", cqe.res);
			ask(opcode, cqe.res);
			ask(IORING_OP_ACCEPT, listener);
		} else if (hear_ring(cqe.user_data, opcode, cqe.res)) {
			ask(opcode, cqe.user_data);
		}
	}
}

static void run_busy(int listener)
{
	static int conn[FDS];
	int fd, i, n = 0;

	set_nonblocking(listener);
	for (;;) {
		fd = take(listener);
		if (fd >= 0) {
			set_nonblocking(fd);
			set_option(fd, SOL_SOCKET, SO_BUSY_POLL, 50, "SO_BUSY_POLL");
			conn[n++] = fd;
		}
		for (i = 0; i < n; i++)
			if (!hear(conn[i]))
				conn[i--] = conn[--n];
	}
}

static void run(int listener)
{
	static const struct {
		const char *mode;
		uint32_t flags;
	} epoll[] = {
		{ "level", 0 },
		{ "edge", EPOLLET },
		{ "oneshot", EPOLLONESHOT },
		{ "exclusive", EPOLLEXCLUSIVE },
	};
	unsigned int i;

	for (i = 0; i < sizeof(epoll) / sizeof(*epoll); i++)
		if (!strcmp(opt.mode, epoll[i].mode))
			run_epoll(listener, epoll[i].flags);
	if (!strcmp(opt.mode, "blocking"))
		run_blocking(listener);
	if (!strcmp(opt.mode, "select"))
		run_select(listener);
	if (!strcmp(opt.mode, "uring"))
		run_ring(listener, IORING_OP_RECV);
	if (!strcmp(opt.mode, "uring-poll"))
		run_ring(listener, IORING_OP_POLL_ADD);
	if (!strcmp(opt.mode, "busy"))
		run_busy(listener);
	die("reader: no mode %s", opt.mode);
}

int reader_main(int argc, char **argv)
{
	int o, fd;

	address_parse(&opt.address, "0.0.0.0");
	while ((o = getopt(argc, argv, "N:m:t:")) != -1) {
		switch (o) {
		case 'N':
			enter_netns(optarg);
			break;
		case 'm':
			opt.mode = optarg;
			break;
		case 't':
			opt.service_ms = number(optarg, 0, 60000);
			break;
		default:
			die("usage: tcp_peer reader -m MODE [-t MS] [-N NETNS] PORT");
		}
	}
	if (optind != argc - 1)
		die("usage: tcp_peer reader -m MODE [-t MS] [-N NETNS] PORT");
	address_set_port(&opt.address, number(argv[optind], 1, 65535));
	fd = open_socket(opt.address.sa.sa_family, false);
	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	if (bind(fd, &opt.address.sa, opt.address.len) || listen(fd, 1024))
		die("listen: %s", strerror(errno));
	printf("listening %u\n", address_port(&opt.address));
	run(fd);
	return 0;
}
