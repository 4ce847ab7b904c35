// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer owner [-N NAME] FIFO: as the user nobody, does to sockets of its own what it
 * is told there, and answers each line by one line: "0", a value, or the name of an
 * error.  Sockets have numbers from 0 on:
 *
 *   socket N tcp4|tcp6|mptcp4|mptcp6|smc4|smc6
 *   set N LEVEL OPTION VALUE	a socket option by its number
 *   bind N ADDRESS PORT
 *   listen N BACKLOG
 *   connect N ADDRESS PORT
 *   disconnect N	connect(2) with AF_UNSPEC
 *   shutdown N
 *   addrform N		IPV6_ADDRFORM: from now on a socket of IPv4
 *   ulp N NAME
 *   steer N I		new connections go to member I of the reuseport group
 *   cookie N		its SO_COOKIE
 *   accept N M		into M; answers the port that the connection was made to
 *   serve N		accepts all that are queued, sends each what it has said, and
 *			closes it; answers "PORT/TEXT" for each, in that order
 *   send N TEXT
 *   recv N		answers "got TEXT"
 *   close N
 *
 * What may wait, waits for 8 s.
 *
 * tcp_peer destroy [-N NAME] PORT COOKIE: SOCK_DESTROY of the IPv4 listener with that
 * SO_COOKIE, among all of a reuseport group.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <linux/filter.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tcp_peer.h"

#define SOCKETS		16
#define WORDS		6
#define WAIT_S		8
#define SERVED_MAX	1000

static int sockets[SOCKETS];

static int number_of(const char *word)
{
	return number(word, 0, SOCKETS - 1);
}

static int fd_of(const char *word)
{
	return sockets[number_of(word)];
}

static void put(const char *word, int fd)
{
	int i = number_of(word);

	if (sockets[i] >= 0)
		close(sockets[i]);
	sockets[i] = fd;
}

static void answer(bool done)
{
	puts(done ? "0" : strerrorname_np(errno));
}

static void do_socket(char **word)
{
	int family = strchr(word[2], '6') ? AF_INET6 : AF_INET, one = 1, fd;
	struct timeval wait = { .tv_sec = WAIT_S };

	fd = *word[2] == 's' ? open_smc(family) :
			       open_socket(family, *word[2] == 'm');
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	put(word[1], fd);
	answer(true);
}

static void do_set(char **word)
{
	int value = atoi(word[4]);

	answer(!setsockopt(fd_of(word[1]), atoi(word[2]), atoi(word[3]), &value,
			   sizeof(value)));
}

static struct address address_of(char **word)
{
	struct address address;

	address_parse(&address, word[0]);
	address_set_port(&address, number(word[1], 0, 65535));
	return address;
}

static void do_bind(char **word)
{
	struct address at = address_of(word + 2);
	bool v6 = at.sa.sa_family == AF_INET6;
	int fd = fd_of(word[1]), one = 1;

	setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP,
		   v6 ? IPV6_FREEBIND : IP_FREEBIND, &one, sizeof(one));
	answer(!bind(fd, &at.sa, at.len));
}

static void do_listen(char **word)
{
	answer(!listen(fd_of(word[1]), atoi(word[2])));
}

static void do_connect(char **word)
{
	struct address to = address_of(word + 2);

	answer(!connect(fd_of(word[1]), &to.sa, to.len));
}

static void do_disconnect(char **word)
{
	struct sockaddr nobody = { .sa_family = AF_UNSPEC };

	answer(!connect(fd_of(word[1]), &nobody, sizeof(nobody)));
}

static void do_shutdown(char **word)
{
	answer(!shutdown(fd_of(word[1]), SHUT_RDWR));
}

static void do_addrform(char **word)
{
	int family = AF_INET;

	answer(!setsockopt(fd_of(word[1]), IPPROTO_IPV6, IPV6_ADDRFORM, &family,
			   sizeof(family)));
}

static void do_ulp(char **word)
{
	answer(!setsockopt(fd_of(word[1]), IPPROTO_TCP, TCP_ULP, word[2],
			   strlen(word[2])));
}

static void do_steer(char **word)
{
	struct sock_filter code = BPF_STMT(BPF_RET | BPF_K, atoi(word[2]));
	struct sock_fprog program = { .len = 1, .filter = &code };

	answer(!setsockopt(fd_of(word[1]), SOL_SOCKET,
			   SO_ATTACH_REUSEPORT_CBPF, &program,
			   sizeof(program)));
}

static void do_cookie(char **word)
{
	unsigned long long cookie;
	socklen_t size = sizeof(cookie);

	if (getsockopt(fd_of(word[1]), SOL_SOCKET, SO_COOKIE, &cookie, &size))
		answer(false);
	else
		printf("%llu\n", cookie);
}

static unsigned int port_of(int fd)
{
	struct address here = { .len = sizeof(here.in6) };

	if (getsockname(fd, &here.sa, &here.len))
		die("getsockname: %s", strerror(errno));
	return address_port(&here);
}

static void do_accept(char **word)
{
	struct timeval wait = { .tv_sec = WAIT_S };
	int fd = accept4(fd_of(word[1]), NULL, NULL, SOCK_CLOEXEC);

	put(word[2], fd);
	if (fd < 0) {
		answer(false);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	printf("%u\n", port_of(fd));
}

static void serve(int fd)
{
	char text[ID_MAX];
	int n = recv(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	printf("%u/%s ", port_of(fd), n < 0 ? strerrorname_np(errno) : text);
	if (n > 0)
		send(fd, text, strlen(text), MSG_NOSIGNAL);
	close(fd);
}

static void do_serve(char **word)
{
	struct timeval wait = { .tv_sec = 1 };
	int listener = fd_of(word[1]), fd, n = 0;

	set_nonblocking(listener);
	while (n++ < SERVED_MAX &&
	       (fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
		serve(fd);
	}
	putchar('\n');
}

static void do_send(char **word)
{
	int n = strlen(word[2]);

	answer(send(fd_of(word[1]), word[2], n, MSG_NOSIGNAL) == n);
}

static void do_recv(char **word)
{
	char text[ID_MAX];
	int n = recv(fd_of(word[1]), text, sizeof(text) - 1, 0);

	if (n < 0) {
		answer(false);
		return;
	}
	text[n] = '\0';
	printf("got %s\n", text);
}

static void do_close(char **word)
{
	put(word[1], -1);
	answer(true);
}

static void obey(char *line)
{
	static const struct {
		const char *name;
		int words;
		void (*run)(char **word);
	} commands[] = {
		{ "socket", 3, do_socket },
		{ "set", 5, do_set },
		{ "bind", 4, do_bind },
		{ "listen", 3, do_listen },
		{ "connect", 4, do_connect },
		{ "disconnect", 2, do_disconnect },
		{ "shutdown", 2, do_shutdown },
		{ "addrform", 2, do_addrform },
		{ "ulp", 3, do_ulp },
		{ "steer", 3, do_steer },
		{ "cookie", 2, do_cookie },
		{ "accept", 3, do_accept },
		{ "serve", 2, do_serve },
		{ "send", 3, do_send },
		{ "recv", 2, do_recv },
		{ "close", 2, do_close },
	};
	char *word[WORDS + 1] = { NULL };
	int n = 0;
	size_t i;

	for (line = strtok(line, "\n "); line && n < WORDS; line = strtok(NULL, "\n "))
		word[n++] = line;
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (n == commands[i].words && !strcmp(word[0], commands[i].name)) {
			commands[i].run(word);
			return;
		}
	}
	die("owner: not a command");
}

int owner_main(int argc, char **argv)
{
	char line[256];
	FILE *fifo;
	int c;

	while ((c = getopt(argc, argv, "N:")) != -1) {
		if (c != 'N')
			die("see the top of tcp_owner.c");
		enter_netns(optarg);
	}
	if (argc - optind != 1)
		die("see the top of tcp_owner.c");
	fifo = fopen(argv[optind], "r+");
	if (!fifo)
		die("%s: %s", argv[optind], strerror(errno));
	become_nobody();
	memset(sockets, -1, sizeof(sockets));
	while (fgets(line, sizeof(line), fifo))
		obey(line);
	return 0;
}

/* --- SOCK_DESTROY --- */

/* Returns the errno of the kernel: a listener is found by where a client would come from. */
static int destroy(int fd, int port, uint64_t cookie, int from)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 request;
	} message = {
		.header = {
			.nlmsg_len = sizeof(message),
			.nlmsg_type = SOCK_DESTROY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.request = {
			.sdiag_family = AF_INET,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = -1,
			.id = {
				.idiag_sport = htons(port),
				.idiag_dport = htons(from),
				.idiag_dst[0] = htonl(INADDR_LOOPBACK),
				.idiag_src[0] = htonl(INADDR_LOOPBACK),
				.idiag_cookie = { cookie, cookie >> 32 },
			},
		},
	};
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} reply;

	if (send(fd, &message, sizeof(message), 0) != sizeof(message) ||
	    recv(fd, &reply, sizeof(reply), 0) < (ssize_t)sizeof(reply) ||
	    reply.header.nlmsg_type != NLMSG_ERROR)
		die("sock_diag: %s", strerror(errno));
	return -reply.error.error;
}

int destroy_main(int argc, char **argv)
{
	int c, fd, from, port;
	uint64_t cookie;

	while ((c = getopt(argc, argv, "N:")) != -1) {
		if (c != 'N')
			die("see the top of tcp_owner.c");
		enter_netns(optarg);
	}
	if (argc - optind != 2)
		die("see the top of tcp_owner.c");
	port = number(argv[optind], 1, 65535);
	cookie = number(argv[optind + 1], 1, __LONG_MAX__);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0)
		skip("sock_diag");
	for (from = 1; from < 1000; from++) {
		errno = destroy(fd, port, cookie, from);
		if (!errno)
			return 0;
		if (errno == EOPNOTSUPP)
			skip("SOCK_DESTROY");
		/* Another member of the group was found, whose cookie differs. */
		if (errno != ENOENT)
			break;
	}
	die("SOCK_DESTROY: %s", strerror(errno));
}
