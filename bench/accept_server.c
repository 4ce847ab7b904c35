// SPDX-License-Identifier: GPL-2.0
/*
 * accept_server - a blocking accept loop whose capacity is known
 *
 * Each worker takes a connection, is busy for the service time and answers; it
 * never looks at a second connection before it has finished the first.  Like most such
 * servers it does not notice that a client has left.
 *
 * It does not wait for the request before it answers: a request may be lost where
 * the queue was full, and a worker that waits for it would measure the clients'
 * retransmission timers.  The socket stays open until the client closes its end.
 * Only with keep-alive requests are read, one after the other; there a request for
 * "/2.5" takes so many service times.
 *
 * A worker that always finds a connection waiting ends one every service time
 * exactly: what accept(), write() and close() cost, and a late wake-up, come off
 * the next sleeps.  So the capacity is workers / service time whatever else the
 * machine does, and a system under test cannot gain by leaving it more CPU.
 *
 * With "log", each worker writes a line for each connection: the client's address and
 * what was agreed on in the handshake, as openload does.
 *
 * With a second port, a worker takes from the main one only while nothing waits
 * there: what an application can do for its preferred clients by itself.
 *
 * "time MS" on standard input changes the service time of what follows; end of
 * file there ends the server.  It says "ready" once it listens.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

#define REQUEST_MAX	4096
#define MAX_FILES	1000000
#define MAX_EVENTS	16
#define CATCH_UP_MAX	(250 * NSEC_PER_MSEC)
#define PATIENCE_SEC	5	/* for a request that does not come */

static struct {
	unsigned int port, second;
	int backlog;
	unsigned int workers;
	double ms;
	size_t body;
	bool spin;
	bool banner;
	bool keepalive;
	const char *log;
} conf = { .backlog = 128, .workers = 1, .ms = 10, .body = 1024 };

static int main_fd = -1, second_fd = -1, log_fd = -1;
static _Atomic int64_t *service_ns;	/* shared with the workers */
static char *response, *last_response;

static void be_busy_until(int64_t t)
{
	struct timespec ts = timespec_of(t);

	if (conf.spin) {
		while (now_ns() < t)
			;
		return;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

static int open_listener(unsigned int port, int type)
{
	struct sockaddr_in6 any = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(port),
		.sin6_addr = in6addr_any,
	};
	int one = 1, zero = 0, fd;

	fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | type, 0);
	if (fd < 0)
		die("socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (bind(fd, (struct sockaddr *)&any, sizeof(any)) ||
	    listen(fd, conf.backlog))
		die("port %u: %s", port, strerror(errno));
	return fd;
}

/* With a second listener both are non-blocking, and poll() is what blocks. */
static int next_connection(bool *waited)
{
	struct pollfd p[2] = {
		{ .fd = main_fd, .events = POLLIN },
		{ .fd = second_fd, .events = POLLIN },
	};
	int fd;

	*waited = false;
	if (second_fd < 0) {
		*waited = !poll(p, 1, 0);
		return accept4(main_fd, NULL, NULL, SOCK_CLOEXEC);
	}
	for (;;) {
		fd = accept4(second_fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			fd = accept4(main_fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			return fd;
		*waited = true;
		poll(p, 2, -1);
	}
}

/* Reads up to the end of one request; false if none came. */
static bool read_request(int fd, char *buf)
{
	size_t have = 0;
	ssize_t n;

	while (have < REQUEST_MAX) {
		n = recv(fd, buf + have, REQUEST_MAX - have, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		have += n;
		buf[have] = '\0';
		if (strstr(buf, "\r\n\r\n"))
			return true;
	}
	return false;
}

static bool send_all(int fd, const char *buf)
{
	size_t left = strlen(buf);
	ssize_t n;

	while (left) {
		n = send(fd, buf, left, MSG_NOSIGNAL);
		if (n < 0)
			return false;
		buf += n;
		left -= n;
	}
	return true;
}

/* The time at which a service that begins now ends; see the top. */
static int64_t service_end(int64_t *free_at, bool waited, double times)
{
	int64_t service = atomic_load(service_ns) * times, now = now_ns();

	if (waited || *free_at < now - CATCH_UP_MAX)
		*free_at = now;
	*free_at += service;
	return *free_at;
}

/* Has the client's end of file close the socket, sooner or later. */
static void close_after_client(int epfd, int fd)
{
	struct epoll_event ev = { .events = EPOLLRDHUP, .data.fd = fd };

	if (shutdown(fd, SHUT_WR) || epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev))
		close(fd);
}

static void close_left(int epfd)
{
	struct epoll_event ev[MAX_EVENTS];
	int i, n;

	n = epoll_wait(epfd, ev, MAX_EVENTS, 0);
	for (i = 0; i < n; i++)
		close(ev[i].data.fd);
}

/* How many service times a request takes: its path, if that is a number. */
static double times_of(const char *request)
{
	double times;

	return sscanf(request, "GET /%lf", &times) == 1 && times > 0 ? times : 1;
}

/* A line is one write(), so those of several workers do not mix. */
static void log_connection(int fd)
{
	struct sockaddr_in6 peer = { 0 };
	socklen_t len = sizeof(peer);
	struct tcp_info info = { 0 };
	char text[INET6_ADDRSTRLEN];

	if (log_fd < 0 || getpeername(fd, (struct sockaddr *)&peer, &len))
		return;
	len = sizeof(info);
	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
	inet_ntop(AF_INET6, &peer.sin6_addr, text, sizeof(text));
	dprintf(log_fd, "%s\t%u,%u,%u,%u\n", text, info.tcpi_options,
		info.tcpi_snd_wscale, info.tcpi_rcv_wscale, info.tcpi_snd_mss);
}

/* Closes with nothing unread, so that the last answer is not lost to a reset. */
static void serve_requests(int fd, int64_t *free_at, bool waited)
{
	char buf[REQUEST_MAX + 1];
	struct timeval patience = { .tv_sec = PATIENCE_SEC };
	bool last;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	do {
		if (!read_request(fd, buf))
			break;
		last = strcasestr(buf, "\r\nConnection: close");
		be_busy_until(service_end(free_at, waited, times_of(buf)));
		waited = true;
	} while (send_all(fd, last ? last_response : response) && !last);
	close(fd);
}

static void __attribute__((noreturn)) work(void)
{
	int epfd = epoll_create1(EPOLL_CLOEXEC), fd;
	int64_t free_at = 0;
	bool waited;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_TIMERSLACK, 1);
	for (;;) {
		fd = next_connection(&waited);
		if (fd < 0)
			continue;
		log_connection(fd);
		if (conf.keepalive) {
			serve_requests(fd, &free_at, waited);
			continue;
		}
		be_busy_until(service_end(&free_at, waited, 1));
		send_all(fd, conf.banner ? "220 ready\r\n" : last_response);
		close_after_client(epfd, fd);
		close_left(epfd);
	}
}

static char *make_response(const char *connection)
{
	char *s = NULL;
	int n;

	n = asprintf(&s, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
		     "Content-Length: %zu\r\nConnection: %s\r\n\r\n%*s",
		     conf.body, connection, (int)conf.body, "");
	if (n < 0)
		die("out of memory");
	return s;
}

static void set_time(double ms)
{
	atomic_store(service_ns, (int64_t)(ms * NSEC_PER_MSEC));
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: accept_server port N [second PORT] [backlog N] [workers N]\n"
	      "  [time MS] [body BYTES] [log FILE] [spin] [banner] [keepalive]\n"
	      "standard input: time MS\n", stderr);
	exit(1);
}

static void parse(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		const char *word = argv[i], *value = argv[i + 1];

		if (!strcmp(word, "spin")) {
			conf.spin = true;
			continue;
		}
		if (!strcmp(word, "banner")) {
			conf.banner = true;
			continue;
		}
		if (!strcmp(word, "keepalive")) {
			conf.keepalive = true;
			continue;
		}
		if (!value)
			usage();
		i++;
		if (!strcmp(word, "port"))
			conf.port = atoi(value);
		else if (!strcmp(word, "second"))
			conf.second = atoi(value);
		else if (!strcmp(word, "backlog"))
			conf.backlog = atoi(value);
		else if (!strcmp(word, "workers"))
			conf.workers = atoi(value);
		else if (!strcmp(word, "time"))
			conf.ms = atof(value);
		else if (!strcmp(word, "log"))
			conf.log = value;
		else if (!strcmp(word, "body"))
			conf.body = atoi(value);
		else
			usage();
	}
	if (!conf.port || !conf.workers || conf.ms <= 0)
		usage();
}

static void open_listeners(void)
{
	int type = conf.second ? SOCK_NONBLOCK : 0;

	main_fd = open_listener(conf.port, type);
	if (conf.second)
		second_fd = open_listener(conf.second, type);
}

int main(int argc, char **argv)
{
	struct rlimit files = { MAX_FILES, MAX_FILES };
	char line[128];
	unsigned int i;
	double ms;

	parse(argc, argv);
	setrlimit(RLIMIT_NOFILE, &files);
	service_ns = mmap(NULL, sizeof(*service_ns), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (service_ns == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	set_time(conf.ms);
	response = make_response("keep-alive");
	last_response = make_response("close");
	if (conf.log) {
		log_fd = open(conf.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			      0644);
		if (log_fd < 0)
			die("%s: %s", conf.log, strerror(errno));
	}
	open_listeners();
	for (i = 0; i < conf.workers; i++) {
		switch (fork()) {
		case 0:
			work();
		case -1:
			die("fork: %s", strerror(errno));
		}
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		if (sscanf(line, "time %lf", &ms) == 1 && ms > 0)
			set_time(ms);
	/* Workers go with their parent. */
	return 0;
}
