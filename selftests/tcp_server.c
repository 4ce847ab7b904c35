// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer server [OPTION...] PORT: listens, prints "listening PORT", waits for
 * the file of -H if given, and then, according to -m,
 *
 *   list	accepts one after the other, reads what the client says first,
 *		sends it back and closes.  Prints "accept ADDRESS PORT TEXT" in the
 *		order of accept(2), "-" for a silent client.  -C N: after each N
 *		connections waits for the file of -H with .1, .2, ... behind it.
 *   count	accepts and echoes ids of 8 bytes with -j processes; at the end
 *		prints "total accepted=N ids=N empty=N reset=N sum=HEX".
 *   uring	as list, by io_uring's multishot accept.
 *   exclusive	as list, with -j processes that wait with EPOLLEXCLUSIVE.
 *   recv	a process for each connection, in a blocking recv(2); echoes.
 *   epoll	one process, edge-triggered; echoes.
 *   none	never accepts.
 *   syncnt	prints "listener N" whenever its TCP_SYNCNT has changed, and what
 *		each connection has that it accepts and closes: "child N".
 *
 * -L N: calls listen(2) again with that backlog when the file of -H with .listen
 * behind it exists, and prints "listening again"; -L N,M: once more, with .listen2;
 * -Z: each time after shutdown(2).
 * -X: another process gets the socket and serves.  -S: an SMC socket.  -I: bound to
 * a device.  -T: IP_TRANSPARENT.  -K md5|ao[=ADDRESS[/BITS]]: a key for who comes
 * from there, or else for who never comes.
 * -O LEVEL,OPTION,VALUE: a socket option by its number, up to 4 times; the value a
 * number or a word.  -W: likewise, once, when the file of -H with .option behind it
 * exists; prints "option set".
 *
 * Ends when the file of -E exists and nothing more comes, or after -n accepts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tcp_peer.h"

#define QUIET_MS	1500	/* after the end was asked for */

static struct {
	struct address address;
	const char *mode;
	const char *hold;
	const char *end;
	const char *banner;
	const char *device;
	const char *key;
	int backlog;
	int defer;
	int fastopen;
	int rcvbuf;
	int mark;
	int number;
	int chunk;
	int again[2];
	const char *option[4];
	const char *late_option;
	int options;
	int processes;
	int read_ms;
	int service_ms;
	bool mptcp;
	bool passed;
	bool reuseport;
	bool shut;
	bool smc;
	bool transparent;
	bool v6only;
} opt = {
	.mode = "list", .backlog = 4096, .processes = 1, .read_ms = 1000,
	.number = -1, .again = { -1, -1 },
};

/* In memory that all processes share. */
static struct totals {
	uint64_t accepted;
	uint64_t ids;
	uint64_t empty;
	uint64_t reset;
	uint64_t sum;
} *totals;

static void add(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static void set_by_number(int fd, const char *text)
{
	int level, option, n;
	char value[16], *end;

	if (sscanf(text, "%d,%d,%15s", &level, &option, value) != 3)
		die("server: not an option: %s", text);
	n = strtol(value, &end, 10);
	if (setsockopt(fd, level, option, *end ? (void *)value : &n,
		       *end ? strlen(value) : sizeof(n)))
		die("option %s: %s", text, strerror(errno));
}

static int open_listener(void)
{
	int fd = opt.smc ? open_smc(opt.address.sa.sa_family) :
			   open_socket(opt.address.sa.sa_family, opt.mptcp);
	int i;

	if (opt.device && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE,
				     opt.device, strlen(opt.device)))
		die("SO_BINDTODEVICE: %s", strerror(errno));
	if (opt.transparent)
		set_option(fd, IPPROTO_IP, IP_TRANSPARENT, 1,
			   "IP_TRANSPARENT");
	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	if (opt.address.sa.sa_family == AF_INET6)
		set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, opt.v6only,
			   "IPV6_V6ONLY");
	if (opt.reuseport)
		set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1, "SO_REUSEPORT");
	if (opt.rcvbuf)
		set_option(fd, SOL_SOCKET, SO_RCVBUF, opt.rcvbuf, "SO_RCVBUF");
	if (opt.mark)
		set_option(fd, SOL_SOCKET, SO_MARK, opt.mark, "SO_MARK");
	if (opt.defer)
		set_option(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, opt.defer,
			   "TCP_DEFER_ACCEPT");
	if (opt.fastopen)
		set_option(fd, IPPROTO_TCP, TCP_FASTOPEN, opt.fastopen,
			   "TCP_FASTOPEN");
	if (opt.key)
		add_key(fd, opt.key);
	for (i = 0; i < opt.options; i++)
		set_by_number(fd, opt.option[i]);
	if (bind(fd, &opt.address.sa, opt.address.len))
		die("bind: %s", strerror(errno));
	if (listen(fd, opt.backlog))
		die("listen: %s", strerror(errno));
	printf("listening %u\n", address_port(&opt.address));
	return fd;
}

/* A bound on reading: a client may never say anything. */
static int read_first(int fd, char *text, size_t size)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	int n;

	if (poll(&pollfd, 1, opt.read_ms) != 1)
		return -1;
	n = recv(fd, text, size, 0);
	return n;
}

static void serve(int fd, const struct address *peer)
{
	char text[ID_MAX], printed[ID_MAX] = "-", name[INET6_ADDRSTRLEN];
	int n;

	if (opt.banner &&
	    send(fd, opt.banner, strlen(opt.banner), MSG_NOSIGNAL) < 0)
		perror("send");
	if (opt.read_ms) {
		n = read_first(fd, text, sizeof(text) - 1);
		if (n > 0) {
			memcpy(printed, text, n);
			printed[n] = '\0';
			printed[strcspn(printed, "\n")] = '\0';
			if (send(fd, text, n, MSG_NOSIGNAL) < 0)
				perror("send");
		}
	}
	printf("accept %s %u %s\n", address_text(peer, name),
	       address_port(peer), printed);
	close(fd);
}

/* Returns a connection, or -1 at the end. */
static int next(int listener, struct address *peer)
{
	struct pollfd pollfd = { .fd = listener, .events = POLLIN };
	long long quiet = 0;
	int fd;

	for (;;) {
		if (poll(&pollfd, 1, 20) == 1) {
			peer->len = sizeof(peer->in6);
			fd = accept4(listener, &peer->sa, &peer->len,
				     SOCK_CLOEXEC);
			if (fd >= 0)
				return fd;
			if (errno != EAGAIN && errno != ECONNABORTED)
				die("accept: %s", strerror(errno));
		}
		if (!opt.end || !exists(opt.end))
			continue;
		if (!quiet)
			quiet = now_ms();
		if (now_ms() - quiet > QUIET_MS)
			return -1;
	}
}

/* Listening again, the first or second time. */
static void listen_again(int listener, int time, const char *suffix)
{
	char file[4096];

	if (opt.again[time] < 0)
		return;
	snprintf(file, sizeof(file), "%s.listen%s", opt.hold, suffix);
	if (!exists(file))
		return;
	if (opt.shut && shutdown(listener, SHUT_RD))
		die("shutdown: %s", strerror(errno));
	if (listen(listener, opt.again[time]))
		die("listen: %s", strerror(errno));
	opt.again[time] = -1;
	puts("listening again");
}

static void set_late(int listener)
{
	char file[4096];

	snprintf(file, sizeof(file), "%s.option", opt.hold);
	if (!opt.late_option || !exists(file))
		return;
	set_by_number(listener, opt.late_option);
	opt.late_option = NULL;
	puts("option set");
}

static void hold_all(int listener)
{
	while (!exists(opt.hold)) {
		set_late(listener);
		listen_again(listener, 0, "");
		listen_again(listener, 1, "2");
		pause_ms(10);
	}
}

static void hold_chunk(int accepted)
{
	char file[4096];

	if (!opt.chunk || accepted % opt.chunk)
		return;
	snprintf(file, sizeof(file), "%s.%d", opt.hold, accepted / opt.chunk);
	wait_for_file(file);
}

static void run_list(int listener)
{
	struct address peer;
	int accepted = 0, fd;

	while (opt.number-- && (fd = next(listener, &peer)) >= 0) {
		serve(fd, &peer);
		hold_chunk(++accepted);
		if (opt.service_ms)
			pause_ms(opt.service_ms);
	}
}

static void echo_all(int fd)
{
	char text[256];
	int n;

	while ((n = recv(fd, text, sizeof(text), 0)) > 0)
		if (send(fd, text, n, MSG_NOSIGNAL) != n)
			break;
	close(fd);
}

static void run_recv(int listener)
{
	struct address peer;
	int fd;

	while (opt.number-- && (fd = next(listener, &peer)) >= 0) {
		printf("accept\n");
		if (fork()) {
			close(fd);
			continue;
		}
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(listener);
		echo_all(fd);
		_exit(0);
	}
}

static void watch(int epoll, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		die("epoll_ctl: %s", strerror(errno));
}

static void accept_all(int epoll, int listener, const char *say)
{
	struct address peer;
	int fd;

	for (;;) {
		peer.len = sizeof(peer.in6);
		fd = accept4(listener, &peer.sa, &peer.len,
			     SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		add(&totals->accepted, 1);
		if (say)
			puts(say);
		watch(epoll, fd, EPOLLIN | EPOLLET);
	}
}

/* An edge comes once: everything that is there must be taken. */
static void echo_edge(int fd)
{
	char text[256];
	int n;

	while ((n = recv(fd, text, sizeof(text), 0)) > 0)
		if (send(fd, text, n, MSG_NOSIGNAL) != n)
			break;
	if (n == 0 || (n < 0 && errno != EAGAIN))
		close(fd);
}

/* A client sends its id and closes, or waits for the echo first. */
static void count_edge(int fd)
{
	uint64_t id;
	int n = recv(fd, &id, sizeof(id), 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n == sizeof(id)) {
		add(&totals->ids, 1);
		add(&totals->sum, mix(id));
		if (send(fd, &id, sizeof(id), MSG_NOSIGNAL) < 0)
			add(&totals->reset, 1);
	} else {
		add(n ? &totals->reset : &totals->empty, 1);
	}
	close(fd);
}

static void run_epoll(int listener, void (*edge)(int fd), const char *say)
{
	struct epoll_event event[64];
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	long long quiet = now_ms();
	int i, n;

	if (epoll < 0)
		die("epoll_create1: %s", strerror(errno));
	set_nonblocking(listener);
	watch(epoll, listener, EPOLLIN);
	for (;;) {
		n = epoll_wait(epoll, event, 64, 20);
		for (i = 0; i < n; i++) {
			if (event[i].data.fd == listener)
				accept_all(epoll, listener, say);
			else
				edge(event[i].data.fd);
		}
		if (n > 0 || !opt.end || !exists(opt.end))
			quiet = now_ms();
		else if (now_ms() - quiet > QUIET_MS)
			break;
	}
	close(epoll);
}

static void run_count(int listener)
{
	int i;

	for (i = 1; i < opt.processes; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_epoll(listener, count_edge, NULL);
		_exit(0);
	}
	run_epoll(listener, count_edge, NULL);
	while (wait(NULL) > 0)
		;
	printf("total accepted=%llu ids=%llu empty=%llu reset=%llu sum=%016llx\n",
	       (unsigned long long)totals->accepted,
	       (unsigned long long)totals->ids,
	       (unsigned long long)totals->empty,
	       (unsigned long long)totals->reset,
	       (unsigned long long)totals->sum);
}

static void parse_again(char *text)
{
	char *second = strchr(text, ',');

	if (second) {
		*second++ = '\0';
		opt.again[1] = number(second, 0, 1 << 20);
	}
	opt.again[0] = number(text, 0, 1 << 20);
}

static void parse(int argc, char **argv)
{
	int c;

	address_parse(&opt.address, "0.0.0.0");
	while ((c = getopt(argc, argv,
			   "N:a:b:m:H:C:E:B:D:F:G:I:K:L:O:j:k:n:r:t:W:MRSTVXZ")) != -1) {
		switch (c) {
		case 'N': enter_netns(optarg); break;
		case 'a': address_parse(&opt.address, optarg); break;
		case 'b': opt.backlog = number(optarg, 0, 1 << 20); break;
		case 'm': opt.mode = optarg; break;
		case 'H': opt.hold = optarg; break;
		case 'C': opt.chunk = number(optarg, 1, 1 << 20); break;
		case 'E': opt.end = optarg; break;
		case 'B': opt.banner = optarg; break;
		case 'D': opt.defer = number(optarg, 1, 3600); break;
		case 'F': opt.fastopen = number(optarg, 1, 65535); break;
		case 'G': opt.rcvbuf = number(optarg, 1, 1 << 30); break;
		case 'j': opt.processes = number(optarg, 1, 64); break;
		case 'k': opt.mark = number(optarg, 1, 0x7fffffff); break;
		case 'n': opt.number = number(optarg, 1, 1 << 20); break;
		case 'r': opt.read_ms = number(optarg, 0, 1 << 20); break;
		case 't': opt.service_ms = number(optarg, 1, 1 << 20); break;
		case 'I': opt.device = optarg; break;
		case 'K': opt.key = optarg; break;
		case 'W': opt.late_option = optarg; break;
		case 'L': parse_again(optarg); break;
		case 'O':
			if (opt.options == 4)
				die("server: more than 4 times -O");
			opt.option[opt.options++] = optarg;
			break;
		case 'M': opt.mptcp = true; break;
		case 'R': opt.reuseport = true; break;
		case 'S': opt.smc = true; break;
		case 'T': opt.transparent = true; break;
		case 'V': opt.v6only = true; break;
		case 'X': opt.passed = true; break;
		case 'Z': opt.shut = true; break;
		default: die("server: a wrong option");
		}
	}
	if (optind + 1 != argc)
		die("server: the port is missing");
	address_set_port(&opt.address, number(argv[optind], 1, 65535));
}

int server_main(int argc, char **argv)
{
	int listener;

	parse(argc, argv);
	totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (totals == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	signal(SIGCHLD, !strcmp(opt.mode, "recv") ? SIG_IGN : SIG_DFL);
	listener = opt.passed ? pass_on(open_listener) : open_listener();
	if (opt.hold)
		hold_all(listener);
	if (!strcmp(opt.mode, "list"))
		run_list(listener);
	else if (!strcmp(opt.mode, "uring"))
		run_uring(listener, serve);
	else if (!strcmp(opt.mode, "exclusive"))
		run_exclusive(listener, opt.processes, serve);
	else if (!strcmp(opt.mode, "count"))
		run_count(listener);
	else if (!strcmp(opt.mode, "recv"))
		run_recv(listener);
	else if (!strcmp(opt.mode, "epoll"))
		run_epoll(listener, echo_edge, "accept");
	else if (!strcmp(opt.mode, "syncnt"))
		run_syncnt(listener);
	else if (!strcmp(opt.mode, "none"))
		pause();
	else
		die("%s: not a mode", opt.mode);
	puts("end");
	return 0;
}
