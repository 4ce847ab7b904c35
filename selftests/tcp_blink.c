// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer blink -N NAME -E FILE ADDRESS PORT: a socket that listens there is opened and
 * closed, as often as it can be, until FILE exists.  Prints "blinking" and, at the end,
 * "blinked TIMES", how often it has listened.
 *
 * tcp_peer unload -N NAME -E FILE ADDRESS PORT...: listens there until FILE exists, then closes
 * and unloads synq, without a pause: with one CPU, the sockets' destructors have not run when
 * the state of their namespace goes.  Prints "listening" and "unloaded".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tcp_peer.h"

#define BETWEEN_LOOKS	64	/* times, for the file */

static int listen_at(const struct address *at)
{
	int fd = open_socket(at->sa.sa_family, false);

	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	if (bind(fd, &at->sa, at->len) < 0)
		die("bind: %s", strerror(errno));
	if (listen(fd, 128) < 0)
		die("listen: %s", strerror(errno));
	return fd;
}

static void usage(const char *name)
{
	die("usage: %s -N NAME -E FILE ADDRESS PORT...", name);
}

/* What both have. Returns the file. */
static const char *options(int argc, char **argv, struct address *at)
{
	const char *end = NULL;
	int option;

	while ((option = getopt(argc, argv, "N:E:")) != -1) {
		switch (option) {
		case 'N': enter_netns(optarg); break;
		case 'E': end = optarg; break;
		default: usage(argv[0]);
		}
	}
	if (!end || argc - optind < 2)
		usage(argv[0]);
	address_parse(at, argv[optind++]);
	return end;
}

int blink_main(int argc, char **argv)
{
	struct address at;
	const char *end = options(argc, argv, &at);
	long times = 0;

	address_set_port(&at, number(argv[optind], 1, 65535));
	printf("blinking\n");
	do {
		close(listen_at(&at));
	} while (++times % BETWEEN_LOOKS || !exists(end));
	printf("blinked %ld\n", times);
	return 0;
}

int unload_main(int argc, char **argv)
{
	struct address at;
	const char *end = options(argc, argv, &at);
	int first = -1, last = -1;

	for (; optind < argc; optind++) {
		address_set_port(&at, number(argv[optind], 1, 65535));
		last = listen_at(&at);
		if (first < 0)
			first = last;
	}
	printf("listening\n");
	while (!exists(end))
		usleep(10000);
	if (close_range(first, last, 0) < 0 ||
	    syscall(SYS_delete_module, "synq", O_NONBLOCK) < 0)
		die("close_range, delete_module: %s", strerror(errno));
	printf("unloaded\n");
	return 0;
}
