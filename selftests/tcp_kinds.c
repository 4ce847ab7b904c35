// SPDX-License-Identifier: GPL-2.0
/*
 * What tcp_peer server has for unusual ways to listen and to accept: a socket
 * passed to another process, SMC, io_uring's multishot accept, several processes
 * that wait with EPOLLEXCLUSIVE; and one that only looks at TCP_SYNCNT.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/io_uring.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tcp_peer.h"

#ifndef AF_SMC
#define AF_SMC		43
#endif
#define SMCPROTO_SMC	0
#define SMCPROTO_SMC6	1

int open_smc(int family)
{
	int fd = socket(AF_SMC, SOCK_STREAM | SOCK_CLOEXEC,
			family == AF_INET6 ? SMCPROTO_SMC6 : SMCPROTO_SMC);

	if (fd < 0 && (errno == EAFNOSUPPORT || errno == EPROTONOSUPPORT))
		skip("smc");
	if (fd < 0)
		die("socket: %s", strerror(errno));
	return fd;
}

static void send_socket(int way, int fd)
{
	char control[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec iov = { .iov_base = "", .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	if (sendmsg(way, &message, 0) != 1)
		die("sendmsg: %s", strerror(errno));
}

static int receive_socket(int way)
{
	int fd;
	char byte, control[CMSG_SPACE(sizeof(fd))];
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};

	if (recvmsg(way, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
		die("recvmsg: %s", strerror(errno));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/*
 * Returns the socket in another process, which was there before it; the caller's
 * has closed it and only stays to be killed.
 */
int pass_on(int (*open_listener)(void))
{
	int way[2], fd;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, way))
		die("socketpair: %s", strerror(errno));
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		return receive_socket(way[1]);
	}
	fd = open_listener();
	send_socket(way[0], fd);
	close(fd);
	wait(NULL);
	exit(0);
}

static void serve_one(int fd, serve_fn *serve)
{
	struct address peer = { .len = sizeof(peer.in6) };

	if (getpeername(fd, &peer.sa, &peer.len))
		die("getpeername: %s", strerror(errno));
	serve(fd, &peer);
}

/* --- io_uring --- */

static void ask_for_all(int listener)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_ACCEPT,
		.fd = listener,
		.ioprio = IORING_ACCEPT_MULTISHOT,
	};

	ring_add(&sqe);
}

void run_uring(int listener, serve_fn *serve)
{
	struct io_uring_cqe cqe;

	ring_open();
	ask_for_all(listener);
	for (;;) {
		ring_take(&cqe);
		if (cqe.res < 0)
			die("multishot: %s", strerror(-cqe.res));
		if (!(cqe.flags & IORING_CQE_F_MORE))
			ask_for_all(listener);
		serve_one(cqe.res, serve);
	}
}

/* --- EPOLLEXCLUSIVE --- */

static void put(int fd)
{
	if (write(fd, "", 1) != 1)
		die("write: %s", strerror(errno));
}

static void take(int fd)
{
	char token;

	if (read(fd, &token, 1) != 1)
		die("read: %s", strerror(errno));
}

/*
 * The token in @turns makes the order of what they print that of accept(2).  It is
 * there when all are: a process that is killed before it is known to end with the first
 * would keep the listener open.
 */
static void wait_exclusively(int listener, const int *turns, serve_fn *serve)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	int epoll = epoll_create1(EPOLL_CLOEXEC), fd;

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event))
		die("epoll: %s", strerror(errno));
	for (;;) {
		if (epoll_wait(epoll, &event, 1, -1) != 1)
			continue;
		take(turns[0]);
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			serve_one(fd, serve);
		else if (errno != EAGAIN && errno != ECONNABORTED)
			die("accept: %s", strerror(errno));
		put(turns[1]);
	}
}

void run_exclusive(int listener, int processes, serve_fn *serve)
{
	int turns[2], ready[2], i;

	set_nonblocking(listener);
	if (pipe(turns) || pipe(ready))
		die("pipe: %s", strerror(errno));
	for (i = 1; i < processes; i++) {
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			put(ready[1]);
			wait_exclusively(listener, turns, serve);
		}
	}
	for (i = 1; i < processes; i++)
		take(ready[0]);
	put(turns[1]);
	wait_exclusively(listener, turns, serve);
}

static int syncnt_of(int fd)
{
	int n = 0;
	socklen_t size = sizeof(n);

	if (getsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &n, &size))
		die("TCP_SYNCNT: %s", strerror(errno));
	return n;
}

void run_syncnt(int listener)
{
	int last = -1;

	set_nonblocking(listener);
	for (;;) {
		int now = syncnt_of(listener);
		int fd = accept(listener, NULL, NULL);

		if (now != last)
			printf("listener %d\n", now);
		last = now;
		if (fd < 0) {
			pause_ms(10);
			continue;
		}
		printf("child %d\n", syncnt_of(fd));
		close(fd);
	}
}
