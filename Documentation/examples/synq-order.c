// SPDX-License-Identifier: GPL-2.0
/*
 * synq-order PORT strict|weighted|fifo: a server that chooses the order in which
 * it accepts.  Prints the address of each client and closes the connection.
 *
 *	cc -o synq-order synq-order.c		(with <linux/synq.h>)
 *	synq listener add port 8080 app-order on
 *	./synq-order 8080 fifo
 *
 * It runs without synq just as well: then the order is that of the kernel.
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

#define ORDERS	((int)(sizeof(orders) / sizeof(*orders)))

static int find_order(const char *name)
{
	int order;

	for (order = 0; order < ORDERS; order++) {
		if (!strcmp(name, orders[order]))
			return order;
	}
	fprintf(stderr, "synq-order: %s: not an order\n", name);
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
static void choose(int fd, int order)
{
	socklen_t size = sizeof(order);

	if (!setsockopt(fd, SOL_IP, SYNQ_SO_ORDER, &order, sizeof(order)))
		;
	else if (errno == ENOPROTOOPT)
		puts("synq does not serve this port");
	else if (errno == EPERM)
		puts("the administrator chooses (app-order off)");
	else
		perror("synq-order: setsockopt");

	if (!getsockopt(fd, SOL_IP, SYNQ_SO_ORDER, &order, &size) &&
	    order < ORDERS)
		printf("order %s\n", orders[order]);
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

	if (argc != 3) {
		fprintf(stderr, "usage: synq-order PORT strict|weighted|fifo\n");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	fd = listen_on(atoi(argv[1]));
	choose(fd, find_order(argv[2]));
	for (;;)
		serve(fd);
}
