// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer fuzz clients: connections to the owners, for "tcp_peer fuzz".  Each asks its
 * unique numbers and the port that it has connected to, with pauses that are long enough
 * for a module to come and go, and checks the answers; some say nothing, some leave at
 * once, some half-close, some reset.
 *
 * An IPv6 socket that was connected to an IPv4 address sends its accepted connections' IPv6
 * packets as IPv4 once it listens, with or without synq.  So over IPv6 it is no fault if no
 * answer ever arrives.  Whether it was woken, the owner checks itself.
 *
 * It is no fault if a server refuses, resets, closes or never answers: its owner does what
 * it likes.  But a server that has answered has accepted the connection, and reads it until
 * it is closed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tcp_fuzz.h"

#define CALLERS		32	/* of a process, at a time */
#define CONNECT_MS	4000
#define UNANSWERED_MS	8000	/* for the first answer */
#define PAUSE_MS	2500	/* at most, between two questions */
#define RETRY_MS	10
#define FINAL_MS	20000	/* for the last answer */
#define LOOK_MS		500	/* how often to look whether it is still there */
#define FINAL_IPV6_MS	3000	/* for the first one as well, see above */

enum {
	CONNECT, MPTCP, FASTOPEN, ASK, ANSWERED, HALF_CLOSE, RESET, QUIET,
	LEAVE, LATE, FINAL, KINDS,
};

static const char * const names[KINDS] = {
	[CONNECT] = "connect", [MPTCP] = "connect mptcp",
	[FASTOPEN] = "connect fastopen", [ASK] = "ask",
	[ANSWERED] = "answer", [HALF_CLOSE] = "half-close", [RESET] = "reset",
	[QUIET] = "quiet", [LEAVE] = "leave at once",
	[LATE] = "not answered yet", [FINAL] = "final answer",
};

static unsigned int kind[KINDS];

struct caller {
	int fd;			/* -1: none */
	int to;			/* AF_INET or AF_INET6 */
	int port;
	uint64_t number;	/* of its first question */
	int way;		/* CONNECT, MPTCP or FASTOPEN */
	int manner;		/* ASK, HALF_CLOSE, RESET, QUIET or LEAVE */
	int questions;		/* that it will ask */
	int asked;
	int answered;
	int have;
	bool connected;
	bool half_closed;
	bool last;		/* has asked its last one, in the end */
	long long next;		/* ms: when it goes on, or has waited for too long */
	long long until;	/* ms: of the last one */
	char text[ANSWER_LEN];
};

static struct caller caller[CALLERS];
static int me;
static bool mptcp;

static bool waits(const struct caller *c)
{
	return c->asked > c->answered;
}

static void leave(struct caller *c, bool reset)
{
	struct linger linger = { 1, 0 };

	if (reset)
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(c->fd);
	c->fd = -1;
	c->next = now_ms() + RETRY_MS;
}

static int question(const struct caller *c, char *text)
{
	return snprintf(text, QUESTION_LEN + 1, QUESTION,
			(unsigned long long)c->number + c->asked,
			(unsigned int)c->port);
}

/* How long it waits: a server that has answered before has no excuse. */
static void expect_answer(struct caller *c, long long patience)
{
	c->asked++;
	c->next = now_ms() + patience;
}

static void ask(struct caller *c)
{
	char text[QUESTION_LEN + 1];
	int len = question(c, text);

	if (send(c->fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT) != len) {
		tally_add(kind[ASK], errno);
		leave(c, false);
		return;
	}
	tally_add(kind[ASK], 0);
	expect_answer(c, c->answered ? fuzz.patience_ms : UNANSWERED_MS);
}

static void choose(struct caller *c, struct rng *rng)
{
	static const int manners[] = {
		ASK, ASK, ASK, ASK, ASK, HALF_CLOSE, HALF_CLOSE, RESET, RESET,
		QUIET, LEAVE,
	};

	c->manner = manners[rng_below(rng, 11)];
	c->questions = 1 + rng_below(rng, rng_one_in(rng, 4) ? 8 : 2);
	c->port = rng_port(rng);
	c->way = CONNECT;
	if (mptcp && rng_one_in(rng, 6))
		c->way = MPTCP;
	else if (rng_one_in(rng, 4) && c->manner == ASK)
		c->way = FASTOPEN;
}

/* Returns an error, or 0. */
static int connect_caller(struct caller *c, struct rng *rng)
{
	struct address to = fuzz.to[rng_below(rng, fuzz.tos)];
	char text[QUESTION_LEN + 1];
	struct address from;
	int i, tries, error;

	c->to = to.sa.sa_family;
	address_set_port(&to, c->port);
	c->fd = open_socket(to.sa.sa_family, c->way == MPTCP);
	set_nonblocking(c->fd);
	for (tries = 0; fuzz.sources && tries < 8; tries++) {
		i = rng_below(rng, fuzz.sources);
		if (fuzz.source[i].sa.sa_family != to.sa.sa_family)
			continue;
		from = fuzz.source[i];
		/* A cookie of Fast Open is for one address. */
		if (c->way != FASTOPEN)
			address_step(&from, rng_below(rng, 50));
		bind_source(c->fd, from);
		break;
	}
	if (c->way == FASTOPEN)
		error = sendto(c->fd, text, question(c, text),
			       MSG_FASTOPEN | MSG_NOSIGNAL, &to.sa, to.len) < 0 ?
			errno : 0;
	else
		error = connect(c->fd, &to.sa, to.len) ? errno : 0;
	/* Fast Open without a cookie takes nothing of the question. */
	if (c->way == FASTOPEN && !error)
		c->asked = 1;
	return error == EINPROGRESS ? 0 : error;
}

static void start(struct caller *c, uint64_t n)
{
	struct rng rng = rng_of(1000 + me, n);
	int error;

	*c = (struct caller){ .fd = -1 };
	c->number = (uint64_t)(1 + me) << 40 | n << 8;
	choose(c, &rng);
	error = connect_caller(c, &rng);
	c->next = now_ms() + CONNECT_MS;
	if (error) {
		tally_add(kind[c->way], error);
		leave(c, false);
	}
}

static void connected(struct caller *c)
{
	socklen_t len = sizeof(int);
	int error = 0;

	getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len);
	tally_add(kind[c->way], error);
	if (error) {
		leave(c, false);
		return;
	}
	c->connected = true;
	if (c->manner == LEAVE) {
		tally_add(kind[LEAVE], 0);
		leave(c, false);
	} else if (c->manner == QUIET) {
		c->next = now_ms() + 1 + c->number / 256 % PAUSE_MS;
	} else if (c->asked) {
		c->next = now_ms() + UNANSWERED_MS;
	} else {
		ask(c);
	}
}

/* It has had all its answers. */
static void end(struct caller *c)
{
	if (c->manner != HALF_CLOSE) {
		if (c->manner == RESET)
			tally_add(kind[RESET], 0);
		leave(c, c->manner == RESET);
		return;
	}
	if (!c->half_closed)
		tally_add(kind[HALF_CLOSE], shutdown(c->fd, SHUT_WR) ? errno : 0);
	c->half_closed = true;
	c->next = now_ms() + UNANSWERED_MS;
}

static void check_answer(struct caller *c)
{
	unsigned long long number = 0, mine = c->number + c->answered;
	unsigned int meant = 0, came = 0;
	char text[ANSWER_LEN + 1];

	memcpy(text, c->text, ANSWER_LEN);
	text[ANSWER_LEN] = '\0';
	if (sscanf(text, "%16llx %5u %5u", &number, &meant, &came) != 3 ||
	    number != mine)
		fault("client: asked %016llx at port %d, was answered %s", mine,
		      c->port, text);
	else if (came && (int)came != c->port)
		fault("client: asked at port %d, was answered from port %u",
		      c->port, came);
	tally_add(kind[ANSWERED], 0);
	c->answered++;
	if (c->last) {
		tally_add(kind[FINAL], 0);
		leave(c, false);
	} else if (c->answered < c->questions) {
		c->next = now_ms() + number * 7919 % PAUSE_MS;
	} else {
		end(c);
	}
}

static void hear(struct caller *c)
{
	char text[256];
	int n = recv(c->fd, text, sizeof(text), MSG_DONTWAIT), i;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		if (waits(c))
			tally_add(kind[ANSWERED], n ? errno : EPIPE);
		leave(c, false);
		return;
	}
	for (i = 0; i < n && c->fd >= 0; i++) {
		c->text[c->have++] = text[i];
		if (c->have == ANSWER_LEN) {
			c->have = 0;
			check_answer(c);
		}
	}
}

/*
 * An MPTCP client is not told of a reset for a minute, nor, on the stock kernel, always that
 * the server has closed its only subflow.
 */
static bool is_established(const struct caller *c)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	return !getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &len) &&
	       (info.tcpi_state == TCP_ESTABLISHED ||
		(info.tcpi_state == TCP_CLOSE_WAIT && c->way != MPTCP));
}

/* Reports a connection without an answer. */
static void complain(const struct caller *c)
{
	struct address name = { .len = sizeof(name.in6) };
	struct address peer = { .len = sizeof(peer.in6) };
	char from[INET6_ADDRSTRLEN] = "?", to[INET6_ADDRSTRLEN] = "?";
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (!getsockname(c->fd, &name.sa, &name.len))
		address_text(&name, from);
	if (!getpeername(c->fd, &peer.sa, &peer.len))
		address_text(&peer, to);
	getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &len);
	fault("client: %016llx, %s, %s port %u to %s port %d: %d answers, then no more (state %u, %u not acknowledged, %u times)",
	      (unsigned long long)c->number, names[c->way], from,
	      address_port(&name), to, c->port, c->answered, info.tcpi_state,
	      info.tcpi_unacked, info.tcpi_retransmits);
}

/* It has waited for as long as it wants to. */
static void go_on(struct caller *c)
{
	if (!c->connected) {
		tally_add(kind[c->way], ETIMEDOUT);
		leave(c, false);
	} else if (!is_established(c)) {
		leave(c, false);
	} else if (c->last && now_ms() < c->until) {
		c->next = now_ms() + LOOK_MS;
	} else if (waits(c) && c->answered) {
		complain(c);
		leave(c, true);
	} else if (waits(c)) {
		tally_add(kind[LATE], 0);
		if (c->last && c->to == AF_INET)
			complain(c);
		leave(c, c->number & 256);
	} else if (c->half_closed) {
		leave(c, false);
	} else if (c->manner == QUIET && c->number & 256) {
		tally_add(kind[QUIET], 0);
		leave(c, false);
	} else {
		if (c->manner == QUIET)
			tally_add(kind[QUIET], 0);
		ask(c);
	}
}

static void turn(void)
{
	struct pollfd pollfd[CALLERS];
	long long now;
	int i;

	for (i = 0; i < CALLERS; i++) {
		pollfd[i].fd = caller[i].fd;
		pollfd[i].events = caller[i].connected ? POLLIN : POLLOUT;
		pollfd[i].revents = 0;
	}
	poll(pollfd, CALLERS, 10);
	now = now_ms();
	for (i = 0; i < CALLERS; i++) {
		struct caller *c = &caller[i];

		if (c->fd >= 0 && pollfd[i].revents && !c->connected)
			connected(c);
		else if (c->fd >= 0 && pollfd[i].revents)
			hear(c);
		if (c->fd >= 0 && c->next <= now)
			go_on(c);
	}
}

/* Each connection asks once more; reports those without an answer. */
static void last_question(struct caller *c)
{
	if (!c->connected || c->half_closed || c->manner == LEAVE) {
		leave(c, false);
		return;
	}
	c->last = true;
	c->questions = c->asked + !waits(c);
	if (!waits(c))
		ask(c);
	if (c->fd < 0)
		return;
	c->until = now_ms() + (c->answered || c->to == AF_INET ? FINAL_MS :
			       FINAL_IPV6_MS);
	c->next = now_ms() + LOOK_MS;
}

static bool any_left(void)
{
	int i;

	for (i = 0; i < CALLERS; i++)
		if (caller[i].fd >= 0)
			return true;
	return false;
}

static void run(void)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < CALLERS; i++)
		caller[i].fd = -1;
	while (!is_time_for(fuzz.final) && !is_time_for(fuzz.end)) {
		for (i = 0; i < CALLERS; i++)
			if (caller[i].fd < 0 && caller[i].next <= now_ms())
				start(&caller[i], n++);
		turn();
	}
	for (i = 0; i < CALLERS; i++)
		if (caller[i].fd >= 0)
			last_question(&caller[i]);
	while (any_left() && !is_time_for(fuzz.end))
		turn();
}

/* One process; -j is its number, for what is unique. */
int fuzz_clients(void)
{
	int i, fd;

	if (!fuzz.tos)
		die("fuzz clients: no addresses");
	me = fuzz.processes;
	for (i = 0; i < KINDS; i++)
		kind[i] = tally_kind(names[i], i == LATE || i == FINAL ?
				     WANT_ANY : WANT_OK);
	fd = socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP);
	mptcp = fd >= 0;
	if (!mptcp)
		tally_lacks(kind[MPTCP], errno);
	close(fd);
	setpriority(PRIO_PROCESS, 0, 10);
	printf("calling\n");
	run();
	tally_report("clients");
	return 0;
}
