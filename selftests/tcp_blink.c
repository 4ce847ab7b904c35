// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer blink -N NAME -E FILE ADDRESS PORT: a socket that listens there is opened and
 * closed, as often as it can be, until FILE exists.  Prints "blinking" and, at the end,
 * "blinked TIMES", how often it has listened.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tcp_peer.h"

#define BETWEEN_LOOKS	64	/* times, for the file */

static void blink(const struct address *at)
{
	int fd = open_socket(at->sa.sa_family, false);

	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	if (bind(fd, &at->sa, at->len) < 0)
		die("bind: %s", strerror(errno));
	if (listen(fd, 128) < 0)
		die("listen: %s", strerror(errno));
	close(fd);
}

int blink_main(int argc, char **argv)
{
	const char *end = NULL;
	struct address at;
	long times = 0;
	int option;

	while ((option = getopt(argc, argv, "N:E:")) != -1) {
		switch (option) {
		case 'N': enter_netns(optarg); break;
		case 'E': end = optarg; break;
		default: die("usage: blink -N NAME -E FILE ADDRESS PORT");
		}
	}
	if (!end || argc - optind != 2)
		die("usage: blink -N NAME -E FILE ADDRESS PORT");
	address_parse(&at, argv[optind]);
	address_set_port(&at, number(argv[optind + 1], 1, 65535));
	printf("blinking\n");
	do {
		blink(&at);
	} while (++times % BETWEEN_LOOKS || !exists(end));
	printf("blinked %ld\n", times);
	return 0;
}
