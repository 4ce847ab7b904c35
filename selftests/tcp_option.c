// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer option [-C] [-a ADDRESS] PORT: the socket option SYNQ_SO_ORDER, or with -C
 * SYNQ_SO_COOKIES, in every state of a socket that it meets; prints "CASE SET GET",
 * the errors by their names, or 0 and the value.
 *
 * tcp_peer option -H FILE [-n N] PORT ORDER: listens, prints "listening PORT",
 * waits for FILE, sets the order, prints "set", and accepts N connections: "accept
 * ADDRESS".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tcp_peer.h"

/* include/uapi/linux/synq.h, which a kernel tree does not have */
#define SYNQ_SO_ORDER	1216
#define SYNQ_SO_COOKIES	1217

static struct address address;
static int so = SYNQ_SO_ORDER;
static const char *hold;
static int expected = 1;

static int new_socket(int type, int protocol)
{
	int fd = socket(address.sa.sa_family, type, protocol), on = 1;

	if (fd >= 0 && type == SOCK_STREAM)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return fd;
}

static int listening_socket(int protocol)
{
	int fd = new_socket(SOCK_STREAM, protocol);

	if (fd < 0)
		return fd;
	if (bind(fd, &address.sa, address.len) || listen(fd, 64))
		die("listen: %s", strerror(errno));
	return fd;
}

static const char *name_of(int error)
{
	return error ? strerrorname_np(error) : "0";
}

static void report(const char *name, int fd, int value, socklen_t size)
{
	int set, get, now = -1;

	set = setsockopt(fd, SOL_IP, so, &value, size) ? errno : 0;
	get = getsockopt(fd, SOL_IP, so, &now, &size) ? errno : 0;
	if (get)
		printf("%s %s %s\n", name, name_of(set), name_of(get));
	else
		printf("%s %s %d\n", name, name_of(set), now);
}

/* Memory that is not there. */
static void report_nowhere(int fd)
{
	int set = setsockopt(fd, SOL_IP, so, NULL, sizeof(int)) ? errno : 0;

	printf("nowhere %s\n", name_of(set));
}

static void report_socket(const char *name, int type, int protocol)
{
	int fd = new_socket(type, protocol);

	if (fd < 0) {
		printf("%s none none\n", name);
		return;
	}
	report(name, fd, 1, sizeof(int));
	close(fd);
}

/* Both ends of a connection to the listener. */
static void report_connected(int listener)
{
	int fd = new_socket(SOCK_STREAM, 0), child;

	if (connect(fd, &address.sa, address.len))
		die("connect: %s", strerror(errno));
	child = accept(listener, NULL, NULL);
	if (child < 0)
		die("accept: %s", strerror(errno));
	report("child", child, 1, sizeof(int));
	close(child);
	close(fd);
}

static void report_mptcp(void)
{
	int fd = listening_socket(IPPROTO_MPTCP);

	if (fd < 0) {
		puts("mptcp none none");
		return;
	}
	report("mptcp", fd, 1, sizeof(int));
	close(fd);
}

static void report_all(void)
{
	int fd;

	report_socket("udp", SOCK_DGRAM, 0);
	report_socket("unbound", SOCK_STREAM, 0);
	fd = new_socket(SOCK_STREAM, 0);
	if (bind(fd, &address.sa, address.len))
		die("bind: %s", strerror(errno));
	report("bound", fd, 1, sizeof(int));
	close(fd);

	fd = listening_socket(0);
	report("fifo", fd, 1, sizeof(int));
	report("weighted", fd, 2, sizeof(int));
	report("above", fd, 3, sizeof(int));
	report("below", fd, -1, sizeof(int));
	report("short", fd, 0, 2);
	report_nowhere(fd);
	report("strict", fd, 0, sizeof(int));
	report_connected(fd);
	close(fd);
	report_mptcp();
}

static void serve(int order)
{
	int fd = listening_socket(0);

	printf("listening %u\n", address_port(&address));
	wait_for_file(hold);
	if (setsockopt(fd, SOL_IP, SYNQ_SO_ORDER, &order, sizeof(order)))
		die("setsockopt: %s", strerror(errno));
	puts("set");
	while (expected--) {
		struct address peer = { .len = sizeof(peer.in6) };
		char text[INET6_ADDRSTRLEN];
		int child = accept(fd, &peer.sa, &peer.len);

		if (child < 0)
			die("accept: %s", strerror(errno));
		printf("accept %s\n", address_text(&peer, text));
		close(child);
	}
}

int option_main(int argc, char **argv)
{
	int option;

	address_parse(&address, "0.0.0.0");
	while ((option = getopt(argc, argv, "N:a:H:n:C")) != -1) {
		switch (option) {
		case 'N': enter_netns(optarg); break;
		case 'a': address_parse(&address, optarg); break;
		case 'H': hold = optarg; break;
		case 'C': so = SYNQ_SO_COOKIES; break;
		case 'n': expected = number(optarg, 1, 1000); break;
		default: die("see the top of tcp_option.c");
		}
	}
	if (argc - optind != (hold ? 2 : 1))
		die("see the top of tcp_option.c");
	address_set_port(&address, number(argv[optind], 1, 65535));
	if (hold)
		serve(number(argv[optind + 1], 0, 2));
	else
		report_all();
	return 0;
}
