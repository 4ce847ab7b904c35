// SPDX-License-Identifier: GPL-2.0
/*
 * connect_cost SERVER-NETNS CLIENT-NETNS ADDRESS PORT SOURCE NUMBER TIMES: what a connection
 * costs on a machine whose clock counts instructions.
 *
 * One process connects to itself, from one network namespace into another, accepts, and
 * closes both ends, the server's by a reset: nothing waits, and the scheduler has no part in
 * it.  Prints the nanoseconds that each of NUMBER connections took, on a line for each time.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

static void enter(const char *netns)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("%s: %s", path, strerror(errno));
	close(fd);
}

static struct sockaddr_in address(const char *text, int port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (inet_pton(AF_INET, text, &sin.sin_addr) != 1)
		die("not an address: '%s'", text);
	return sin;
}

static void one(int listener, const struct sockaddr_in *to, const struct sockaddr_in *from)
{
	static const struct linger at_once = { .l_onoff = 1 };
	static const int yes = 1;
	int client, child;

	client = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(client, SOL_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof(yes));
	if (bind(client, (const struct sockaddr *)from, sizeof(*from)) ||
	    connect(client, (const struct sockaddr *)to, sizeof(*to)))
		die("connect: %s", strerror(errno));
	child = accept(listener, NULL, NULL);
	if (child < 0)
		die("accept: %s", strerror(errno));
	setsockopt(child, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(child);
	close(client);
}

int main(int argc, char **argv)
{
	struct sockaddr_in to, from;
	int listener, number, times, i;
	int64_t begun;

	if (argc != 8)
		die("usage: connect_cost SERVER CLIENT ADDRESS PORT SOURCE NUMBER TIMES");
	to = address(argv[3], atoi(argv[4]));
	from = address(argv[5], 0);
	number = atoi(argv[6]);
	enter(argv[1]);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&to, sizeof(to)) || listen(listener, 128))
		die("listen: %s", strerror(errno));
	enter(argv[2]);
	for (times = atoi(argv[7]); times > 0; times--) {
		begun = now_ns();
		for (i = 0; i < number; i++)
			one(listener, &to, &from);
		printf("%lld\n", (long long)(now_ns() - begun) / number);
	}
	return 0;
}
