// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer client [OPTION...] ADDRESS PORT: -n connections, each with an id,
 * from the sources of -s (each stepped through -S addresses, several taken in
 * turn; -P: from which port on) or of the file of -f (one to a line), and what
 * becomes of each:
 *
 *   connected ID	the handshake is complete, as the client sees it
 *   acked ID		the server's end exists: what was sent is acknowledged
 *   all acked		all of them do
 *   answered ID MS TEXT	the server wrote something
 *   closed|reset|failed ID [REASON]
 *   done n=N connected=N acked=N answered=N closed=N reset=N failed=N
 *
 * At most -c connections (default 1) are neither acked nor given up at a time,
 * so that by default they arrive in order; with -C neither answered nor given up.
 * -r N starts N in a second instead, whatever becomes of them ("late N" at the end:
 * started later than in time, more than 8 at once).
 * -q sends nothing: the server talks first.  -L FILE
 * sends when FILE exists.  -A expects no answer.  Ends when all is settled or
 * -w ms after each connection's start; -K FILE stays until FILE exists.  -k
 * md5|ao=ADDRESS signs what goes there.
 *
 * -B sends a FIN right behind its line.
 * -H sends half a line, and no more.  -y MS reads a byte each MS, and has room for few.
 * -X talks as a client of TLS 1.3 looks (tcp_peer eager -X): a hello; when that is answered what
 * finishes the handshake, and its line right behind that; with -L later.
 * -D says it together with the last segment of the handshake.
 * -a says its line again with each answer, as long as it stays.  -J first sends segments of which
 * the server's TCP ignores the data, and the reset: beyond its window.
 * -W answers each line "ping" with "pong".  -Z ends with a reset, not a FIN.
 *
 * -g PREFIX -G N: then, N times, waits for PREFIX.1, PREFIX.2, ..., sends a line
 * on each connection and prints "stage N answered=N slowest=MS".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tcp_peer.h"

#define SOURCES_MAX	16
#define LOOK_MS		2	/* how often to look for what no event tells */
#define LOOK_SELDOM_MS	40	/* when nothing has happened for long */
#define AT_ONCE		8
#define WAIT_MS		200	/* when events tell all that may come */

#ifndef TCP_FASTOPEN_CONNECT
#define TCP_FASTOPEN_CONNECT	30
#endif

struct conn {
	int fd;
	long long since;	/* ms, of start or of a stage's line */
	bool connected;
	bool shaken;		/* hands */
	bool sent;
	bool acked;
	bool answered;
	bool gone;		/* closed, reset or failed */
};

static struct {
	struct address to;
	struct address source[SOURCES_MAX];
	int sources;
	int step;
	int port;
	struct address *listed;
	int number;
	int concurrency;
	bool closed;
	int rate;
	int deadline_ms;
	int patience_ms;
	const char *id;
	const char *late;
	const char *keep;
	const char *key;
	const char *stage;
	int stages;
	int slow_ms;
	bool half;
	bool farewell;
	bool pongs;
	bool again;
	bool ahead;
	bool quiet;
	bool no_answer;
	bool mptcp;
	bool fastopen;
	bool resets;
	bool tls;
	bool together;
} opt = {
	.step = 1, .number = 1, .concurrency = 1, .deadline_ms = 10000,
	.patience_ms = 2000, .id = "c",
};

static struct conn *conns;
static int started, epoll_fd;
static int first;	/* all before are acked or gone */
static int late;	/* beyond AT_ONCE at once */
static int settled;	/* all before are, for this stage */
static int look_ms = LOOK_MS;
static bool is_late;	/* what -L waits for is there */
static struct {
	int connected, acked, answered, closed, reset, failed;
} count;

static bool source_of(int i, struct address *source)
{
	if (opt.listed) {
		*source = opt.listed[i];
		return true;
	}
	if (!opt.sources)
		return false;
	*source = opt.source[i % opt.sources];
	address_step(source, i / opt.sources % opt.step);
	if (opt.port)
		address_set_port(source, opt.port + i);
	return true;
}

static void give_up(struct conn *conn, int *counter, const char *word,
		    int error)
{
	printf("%s %s%d %s\n", word, opt.id, (int)(conn - conns),
	       error ? strerror(error) : "");
	conn->gone = true;
	++*counter;
	close(conn->fd);
	conn->fd = -1;
}

static void say_id(struct conn *conn)
{
	char id[TLS_HEADER + ID_MAX];
	int n;

	if (opt.quiet || conn->sent || conn->gone || (opt.late && !is_late) ||
	    (opt.tls && !conn->shaken))
		return;
	n = snprintf(id, ID_MAX, "%s%d%s", opt.id, (int)(conn - conns),
		     opt.half || opt.tls ? "" : "\n");
	if (opt.tls) {
		char text[ID_MAX];

		memcpy(text, id, n);
		tls_record(id, TLS_DATA, 0, ID_MAX);
		memcpy(id + TLS_HEADER, text, n);
		n = TLS_HEADER + ID_MAX;
	}
	if (opt.ahead)
		send_ahead(conn->fd);
	/* Before the connection is made only Fast Open takes it. */
	if (send(conn->fd, id, n, MSG_NOSIGNAL) == n)
		conn->sent = true;
	else if (errno != EAGAIN && errno != EINPROGRESS)
		give_up(conn, &count.reset, "reset", errno);
	else if (errno == EINPROGRESS)
		conn->sent = true;
	if (conn->sent && opt.farewell)
		shutdown(conn->fd, SHUT_WR);
}

static void start(void)
{
	struct conn *conn = &conns[started];
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLOUT | EPOLLET,
		.data.ptr = conn,
	};
	static const struct linger at_once = { .l_onoff = 1 };
	struct address source;

	conn->since = now_ms();
	conn->fd = open_socket(opt.to.sa.sa_family, opt.mptcp);
	set_nonblocking(conn->fd);
	if (opt.key)
		add_key(conn->fd, opt.key);
	if (source_of(started, &source))
		bind_source(conn->fd, source);
	if (opt.slow_ms)
		set_option(conn->fd, SOL_SOCKET, SO_RCVBUF, 1, "SO_RCVBUF");
	if (opt.fastopen)
		set_option(conn->fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1,
			   "TCP_FASTOPEN_CONNECT");
	if (opt.tls)
		set_option(conn->fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
	if (opt.resets)
		setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	/* The kernel waits for data to send the ACK with. */
	if (opt.together && !opt.mptcp)
		set_option(conn->fd, IPPROTO_TCP, TCP_QUICKACK, 0, "TCP_QUICKACK");
	started++;
	look_ms = LOOK_MS;
	if (connect(conn->fd, &opt.to.sa, opt.to.len) && errno != EINPROGRESS) {
		give_up(conn, &count.failed, "failed", errno);
		return;
	}
	if (opt.fastopen)
		say_id(conn);
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, conn->fd, &event))
		die("epoll_ctl: %s", strerror(errno));
}

static void pong(struct conn *conn, const char *text)
{
	while ((text = strstr(text, "ping\n"))) {
		text += 5;
		send(conn->fd, "pong\n", 5, MSG_NOSIGNAL);
	}
}

static void say_hello(struct conn *conn)
{
	char record[TLS_HEADER + 100];
	int n = tls_record(record, TLS_HANDSHAKE, 1, 100);

	if (send(conn->fd, record, n, MSG_NOSIGNAL) != n)
		give_up(conn, &count.reset, "reset", errno);
}

/* Returns true if it is not what the server answers to the line. */
static bool shake_hands(struct conn *conn, const char *text, int length)
{
	char id[ID_MAX], flight[128];
	int n;

	if (text[0] != TLS_HANDSHAKE) {
		n = snprintf(id, sizeof(id), "%s%d ", opt.id, (int)(conn - conns));
		return !memmem(text, length, id, n);
	}
	n = tls_record(flight, TLS_CIPHER, 1, 1);
	flight[TLS_HEADER] = 1;
	n += tls_record(flight + n, TLS_DATA, 0, 53);
	if (send(conn->fd, flight, n, MSG_NOSIGNAL) == n) {
		conn->shaken = true;
		say_id(conn);
	}
	return true;
}

/* Returns false if there is nothing more, for now or for ever. */
static bool read_some(struct conn *conn)
{
	char text[1024];
	int n = recv(conn->fd, text, opt.slow_ms ? 1 : sizeof(text) - 1, 0);

	if (n == 0)
		give_up(conn, &count.closed, "closed", 0);
	else if (n < 0 && errno != EAGAIN)
		give_up(conn, &count.reset, "reset", errno);
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (opt.tls && shake_hands(conn, text, n))
		return !conn->gone;
	if (opt.pongs)
		pong(conn, text);
	if (opt.again && memchr(text, '\n', n)) {
		conn->sent = false;
		say_id(conn);
	}
	if (!conn->answered) {
		conn->answered = true;
		count.answered++;
		printf("answered %s%d %lld %.*s\n", opt.id, (int)(conn - conns),
		       now_ms() - conn->since, (int)strcspn(text, "\n"), text);
	}
	return true;
}

static void read_slowly(void)
{
	static long long last;
	int i;

	if (now_ms() - last < opt.slow_ms)
		return;
	last = now_ms();
	for (i = 0; i < started; i++)
		if (!conns[i].gone && conns[i].connected)
			read_some(&conns[i]);
}

static void on_event(struct conn *conn, uint32_t events)
{
	int id = conn - conns, error = 0;
	socklen_t len = sizeof(error);

	if (conn->gone)
		return;
	if (!conn->connected) {
		getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &error, &len);
		if (error) {
			give_up(conn, &count.failed, "failed", error);
			return;
		}
		if (!(events & EPOLLOUT))
			return;
		conn->connected = true;
		count.connected++;
		printf("connected %s%d\n", opt.id, id);
		if (opt.tls)
			say_hello(conn);
		say_id(conn);
		if (conn->gone)
			return;
	}
	while (!opt.slow_ms && read_some(conn))
		;
}

static void look_for_ack(struct conn *conn)
{
	int left;

	if (conn->gone || conn->acked || !conn->connected || !conn->sent)
		return;
	if (ioctl(conn->fd, SIOCOUTQ, &left) || left)
		return;
	conn->acked = true;
	count.acked++;
	look_ms = LOOK_MS;
	printf("acked %s%d\n", opt.id, (int)(conn - conns));
	if (count.acked == opt.number)
		puts("all acked");
}

static bool is_settled(const struct conn *conn)
{
	if (conn->gone || conn->answered ||
	    now_ms() - conn->since > opt.deadline_ms)
		return true;
	return opt.no_answer && (opt.quiet ? conn->connected : conn->acked);
}

/* The next connection of a sequence may start. */
static bool is_placed(const struct conn *conn)
{
	bool silent = opt.quiet || opt.late;

	if (opt.closed)
		return is_settled(conn);
	return conn->gone || conn->answered || conn->acked ||
	       (silent && conn->connected) ||
	       now_ms() - conn->since > opt.patience_ms;
}

static void start_some(long long begun)
{
	int i, busy = 0, n = 0;

	if (opt.rate) {
		while (started < opt.number &&
		       (now_ms() - begun) * opt.rate / 1000 >= started) {
			start();
			late += n++ >= AT_ONCE;
		}
		return;
	}
	for (i = first; i < started && busy < opt.concurrency; i++)
		busy += !is_placed(&conns[i]);
	while (started < opt.number && busy++ < opt.concurrency)
		start();
}

/* Nothing is to be looked for any more. */
static bool is_over(const struct conn *conn)
{
	return opt.closed ? is_settled(conn) : conn->acked || conn->gone;
}

/*
 * How long to wait for an event.  Nothing tells that data was acknowledged, that a
 * file is there or that time is up: look, less and less often.
 */
static int turn_ms(void)
{
	int ms = look_ms;

	while (first < started && is_over(&conns[first]))
		first++;
	if (first == opt.number && !opt.keep)
		return WAIT_MS;
	if (opt.rate && started < opt.number)
		return LOOK_MS;
	if (look_ms < LOOK_SELDOM_MS)
		look_ms += 1 + look_ms / 4;
	return ms;
}

static void turn(void)
{
	struct epoll_event event[64];
	int i, n;

	n = epoll_wait(epoll_fd, event, 64, turn_ms());
	if (n > 0)
		look_ms = LOOK_MS;
	for (i = 0; i < n; i++)
		on_event(event[i].data.ptr, event[i].events);
	if (opt.late && !is_late)
		is_late = exists(opt.late);
	if (opt.slow_ms)
		read_slowly();
	for (i = first; i < started; i++) {
		if (opt.late && conns[i].connected)
			say_id(&conns[i]);
		look_for_ack(&conns[i]);
	}
}

static bool all_settled(void)
{
	if (started < opt.number)
		return false;
	while (settled < started && is_settled(&conns[settled]))
		settled++;
	return settled == started;
}

static void run_stage(int stage)
{
	long long begun, slowest = 0;
	char file[4096], line[ID_MAX];
	int i, n, answered = 0;

	snprintf(file, sizeof(file), "%s.%d", opt.stage, stage);
	wait_for_file(file);
	begun = now_ms();
	settled = 0;
	n = snprintf(line, sizeof(line), "stage%d\n", stage);
	for (i = 0; i < started; i++) {
		conns[i].answered = false;
		conns[i].since = begun;
		if (!conns[i].gone &&
		    send(conns[i].fd, line, n, MSG_NOSIGNAL) != n)
			give_up(&conns[i], &count.reset, "reset", errno);
	}
	while (!all_settled())
		turn();
	for (i = 0; i < started; i++)
		answered += conns[i].answered;
	slowest = now_ms() - begun;
	printf("stage %d answered=%d slowest=%lld\n", stage, answered, slowest);
}

static void read_sources(const char *name)
{
	FILE *file = fopen(name, "r");
	char line[128];
	int n = 0;

	if (!file)
		die("%s: %s", name, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		opt.listed = realloc(opt.listed, (n + 1) * sizeof(*opt.listed));
		if (!opt.listed)
			die("no memory");
		address_parse(&opt.listed[n++], line);
	}
	fclose(file);
	opt.number = n;
}

static void add_source(const char *text)
{
	if (opt.sources == SOURCES_MAX)
		die("too many sources");
	address_parse(&opt.source[opt.sources++], text);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "N:s:S:P:f:n:c:r:w:p:i:k:L:K:g:G:y:BDHWXqaJAMFZC")) != -1) {
		switch (c) {
		case 'N': enter_netns(optarg); break;
		case 's': add_source(optarg); break;
		case 'S': opt.step = number(optarg, 1, 1 << 24); break;
		case 'P': opt.port = number(optarg, 1, 60000); break;
		case 'f': read_sources(optarg); break;
		case 'n': opt.number = number(optarg, 1, 1 << 20); break;
		case 'c': opt.concurrency = number(optarg, 1, 1 << 20); break;
		case 'r': opt.rate = number(optarg, 1, 1 << 20); break;
		case 'w': opt.deadline_ms = number(optarg, 1, 1 << 30); break;
		case 'p': opt.patience_ms = number(optarg, 1, 1 << 30); break;
		case 'i': opt.id = optarg; break;
		case 'L': opt.late = optarg; break;
		case 'k': opt.key = optarg; break;
		case 'K': opt.keep = optarg; break;
		case 'g': opt.stage = optarg; break;
		case 'G': opt.stages = number(optarg, 1, 1000); break;
		case 'y': opt.slow_ms = number(optarg, 1, 1 << 30); break;
		case 'B': opt.farewell = true; break;
		case 'D': opt.together = true; break;
		case 'H': opt.half = true; break;
		case 'W': opt.pongs = true; break;
		case 'X': opt.tls = true; break;
		case 'q': opt.quiet = true; break;
		case 'a': opt.again = true; break;
		case 'J': opt.ahead = true; break;
		case 'A': opt.no_answer = true; break;
		case 'M': opt.mptcp = true; break;
		case 'F': opt.fastopen = true; break;
		case 'Z': opt.resets = true; break;
		case 'C': opt.closed = true; break;
		default: die("client: a wrong option");
		}
	}
	if (optind + 2 != argc)
		die("client: address and port are missing");
	address_parse(&opt.to, argv[optind]);
	address_set_port(&opt.to, number(argv[optind + 1], 1, 65535));
}

int client_main(int argc, char **argv)
{
	long long begun;
	int stage;

	parse(argc, argv);
	conns = calloc(opt.number, sizeof(*conns));
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!conns || epoll_fd < 0)
		die("no memory");
	is_late = opt.late && exists(opt.late);
	begun = now_ms();
	do {
		start_some(begun);
		turn();
	} while (!all_settled());
	for (stage = 1; stage <= opt.stages; stage++)
		run_stage(stage);
	while (opt.keep && !exists(opt.keep))
		turn();
	if (opt.rate)
		printf("late %d\n", late);
	printf("done n=%d connected=%d acked=%d answered=%d closed=%d reset=%d failed=%d\n",
	       opt.number, count.connected, count.acked, count.answered,
	       count.closed, count.reset, count.failed);
	return 0;
}
