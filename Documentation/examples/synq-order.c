// SPDX-License-Identifier: GPL-2.0
/*
 * synq-order PORT strict|weighted|fifo [auto|always|never]: a server that chooses the
 * order in which it accepts, and whether its clients are answered by SYN cookies.
 * Prints the address of each client and closes the connection.
 *
 *	cc -o synq-order synq-order.c		(with <linux/synq.h>)
 *	synq listener add port 8080 app-order on app-cookies on
 *	./synq-order 8080 fifo never
 *
 * It runs without synq just as well: then both are as the kernel has them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/synq.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char * const orders[] = {
	[SYNQ_ORDER_STRICT] = "strict",
	[SYNQ_ORDER_FIFO] = "fifo",
	[SYNQ_ORDER_WEIGHTED] = "weighted",
};

static const char * const policies[] = {
	[SYNQ_COOKIES_INHERIT] = "as configured",
	[SYNQ_COOKIES_AUTO] = "auto",
	[SYNQ_COOKIES_ALWAYS] = "always",
	[SYNQ_COOKIES_NEVER] = "never",
};

static const struct choice {
	int option;
	const char *what;
	const char *allowed_by;
	const char * const *names;
	int number;
} order_choice = {
	SYNQ_SO_ORDER, "order", "app-order", orders,
	sizeof(orders) / sizeof(*orders),
}, cookies_choice = {
	SYNQ_SO_COOKIES, "cookies", "app-cookies", policies,
	sizeof(policies) / sizeof(*policies),
};

static int find(const struct choice *choice, const char *name)
{
	int value;

	for (value = 0; value < choice->number; value++) {
		if (!strcmp(name, choice->names[value]))
			return value;
	}
	fprintf(stderr, "synq-order: %s: not a value of %s\n", name,
		choice->what);
	exit(1);
}

/* For both, IPv4 and IPv6. */
static int listen_on(int port)
{
	struct sockaddr_in6 address = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(port),
	};
	int fd = socket(AF_INET6, SOCK_STREAM, 0), on = 1;

	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, 4096)) {
		perror("synq-order: listen");
		exit(1);
	}
	return fd;
}

/* After listen().  SOL_IP, whatever the family is. */
static void choose(int fd, const struct choice *choice, const char *name)
{
	int value = find(choice, name);
	socklen_t size = sizeof(value);

	if (!setsockopt(fd, SOL_IP, choice->option, &value, sizeof(value)))
		;
	else if (errno == ENOPROTOOPT)
		puts("synq does not serve this port");
	else if (errno == EPERM)
		printf("the administrator chooses (%s off)\n",
		       choice->allowed_by);
	else
		perror("synq-order: setsockopt");

	if (!getsockopt(fd, SOL_IP, choice->option, &value, &size) &&
	    value < choice->number)
		printf("%s %s\n", choice->what, choice->names[value]);
}

static void serve(int fd)
{
	struct sockaddr_in6 peer;
	socklen_t size = sizeof(peer);
	char text[INET6_ADDRSTRLEN];
	int client;

	client = accept(fd, (struct sockaddr *)&peer, &size);
	if (client < 0) {
		perror("synq-order: accept");
		return;
	}
	printf("client %s\n", inet_ntop(AF_INET6, &peer.sin6_addr, text,
					sizeof(text)));
	close(client);
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: synq-order PORT strict|weighted|fifo [auto|always|never]\n");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	fd = listen_on(atoi(argv[1]));
	choose(fd, &order_choice, argv[2]);
	if (argc == 4)
		choose(fd, &cookies_choice, argv[3]);
	for (;;)
		serve(fd);
}
