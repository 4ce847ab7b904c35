// SPDX-License-Identifier: GPL-2.0
/*
 * What the owners of "tcp_peer fuzz" have accepted.  It is read in one of three ways:
 * epoll, edge-triggered epoll, or a thread in a blocking recv(2); none of them looks at a
 * connection that it was not woken for.  Once it is time to settle, there are blocked threads
 * only.  Data that has waited for too long is a fault: a wake-up was lost.  A question for
 * another port is a fault, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tcp_fuzz.h"

#define CONNECTIONS	128	/* of a process */
#define THREADS		8	/* that read, before it is time to settle */
#define STACK		65536
#define LOOK_MS		500

enum how {
	FREE,
	LEVEL,		/* epoll */
	EDGE,		/* edge-triggered */
	THREAD,		/* a thread in recv() */
	OVER,		/* the thread has ended */
};

struct connection {
	int fd;
	int how;
	int port;		/* of the listener; 0: not known */
	int domain;		/* of the listener: AF_SMC shows only there */
	unsigned int reads;
	unsigned int looked;	/* reads, when the waiting data was last looked at */
	long long since;	/* ms, from when on it has */
	int have;
	char text[QUESTION_LEN];
};

static struct connection connection[CONNECTIONS];
static unsigned int kind;		/* of answers */
static int epoll = -1, threads;
static bool settling, is_child;

static int option_of(int fd, int option)
{
	int value = -1;
	socklen_t len = sizeof(value);

	getsockopt(fd, SOL_SOCKET, option, &value, &len);
	return value;
}

static void answer(struct connection *c)
{
	char text[ANSWER_LEN + 1], question[QUESTION_LEN + 1];
	unsigned long long number;
	unsigned int port;
	int sent;

	memcpy(question, c->text, QUESTION_LEN);
	question[QUESTION_LEN] = '\0';
	if (sscanf(question, "%16llx %5u", &number, &port) != 2) {
		fault("owner: not a question, at port %d: %s", c->port, question);
		return;
	}
	if (c->port && c->port != (int)port)
		fault("owner: %016llx, meant for port %u, came to port %d",
		      number, port, c->port);
	snprintf(text, sizeof(text), ANSWER, number, port,
		 (unsigned int)c->port);
	sent = send(c->fd, text, ANSWER_LEN, MSG_NOSIGNAL | MSG_DONTWAIT);
	tally_add(kind, sent < 0 ? errno : 0);
}

static void take_in(struct connection *c, const char *text, int len)
{
	while (len--) {
		c->text[c->have++] = *text++;
		if (c->have == QUESTION_LEN) {
			answer(c);
			c->have = 0;
		}
	}
}

/* Returns false at the end of the connection, or when there is no more now. */
static bool read_some(struct connection *c, int flags)
{
	char text[512];
	int n = recv(c->fd, text, sizeof(text), flags);

	__atomic_fetch_add(&c->reads, 1, __ATOMIC_RELAXED);
	if (n > 0)
		take_in(c, text, n);
	if (n < 0 && errno == EINTR)
		return true;
	if (!n)
		errno = 0;
	return n > 0;
}

static void *reader(void *argument)
{
	struct connection *c = argument;

	while (read_some(c, 0))
		;
	__atomic_store_n(&c->how, OVER, __ATOMIC_RELEASE);
	return NULL;
}

/* In a blocking recv(2), until the other end, or shutdown(2), ends it. */
static bool start_reader(struct connection *c)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	if (fcntl(c->fd, F_SETFL, 0))
		return false;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK);
	c->how = THREAD;
	error = pthread_create(&thread, &attributes, reader, c);
	pthread_attr_destroy(&attributes);
	if (!error)
		threads++;
	else
		c->how = FREE;
	return !error;
}

static void drop(struct connection *c)
{
	if (c->how == OVER)
		threads--;
	else	/* a child may have the file for a moment */
		epoll_ctl(epoll, EPOLL_CTL_DEL, c->fd, NULL);
	close(c->fd);
	c->fd = -1;
	c->how = FREE;
}

/* Its end is the thread's business where there is one. */
static void hang_up(struct connection *c)
{
	if (c->how == THREAD)
		shutdown(c->fd, SHUT_RDWR);
	else if (c->how != FREE)
		drop(c);
}

static void reap(void)
{
	int i;

	for (i = 0; threads && i < CONNECTIONS; i++)
		if (__atomic_load_n(&connection[i].how, __ATOMIC_ACQUIRE) == OVER)
			drop(&connection[i]);
}

static void watch(struct connection *c, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = c };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event))
		drop(c);
}

static struct connection *free_connection(void)
{
	int i;

	for (i = 0; i < CONNECTIONS; i++)
		if (connection[i].how == FREE)
			return &connection[i];
	return NULL;
}

/* Was accepted from a listener of @port, or 0 if that is not known. */
void connection_keep(int fd, int listener, int port, struct rng *rng)
{
	struct connection *c = free_connection();

	options_undo(fd);
	if (!c) {
		close(fd);
		return;
	}
	*c = (struct connection){
		.fd = fd, .port = port, .how = LEVEL,
		.domain = option_of(listener, SO_DOMAIN),
	};
	if (settling || (rng_one_in(rng, 3) && threads < THREADS && !is_child)) {
		if (!start_reader(c))
			drop(c);
		return;
	}
	c->how = rng_one_in(rng, 2) ? LEVEL : EDGE;
	watch(c, c->how == EDGE ? EPOLLIN | EPOLLET : EPOLLIN);
}

/* Reads and answers what it was woken for. */
void connections_serve(int wait_ms)
{
	struct epoll_event event[32];
	int i, n = epoll_wait(epoll, event, 32, wait_ms);

	for (i = 0; i < n; i++) {
		struct connection *c = event[i].data.ptr;

		while (read_some(c, MSG_DONTWAIT))
			;
		if (errno != EAGAIN)
			drop(c);
	}
	reap();
}

static void not_woken(const struct connection *c, int waiting, long long ms)
{
	fault("owner: %d bytes at port %d, and %s was not woken for %lld ms (listener's domain %d, protocol %d, low water %d)",
	      waiting, c->port, c->how == THREAD ? "recv" :
	      c->how == EDGE ? "epoll, by edge," : "epoll", ms,
	      c->domain, option_of(c->fd, SO_PROTOCOL),
	      option_of(c->fd, SO_RCVLOWAT));
}

/* Is there any that has data, and was not read since? */
void connections_look(void)
{
	static long long last;
	long long now = now_ms();
	int i;

	if (now < last + LOOK_MS)
		return;
	last = now;
	for (i = 0; i < CONNECTIONS; i++) {
		struct connection *c = &connection[i];
		unsigned int reads = __atomic_load_n(&c->reads, __ATOMIC_RELAXED);
		int waiting = 0;

		if (c->how == FREE || c->how == OVER ||
		    ioctl(c->fd, FIONREAD, &waiting) || !waiting ||
		    reads != c->looked || !c->since) {
			c->looked = reads;
			c->since = now;
		} else if (now - c->since > fuzz.patience_ms) {
			not_woken(c, waiting, now - c->since);
			c->since = now;
			hang_up(c);
		}
	}
}

/* There is room for one more: any other gives way. */
void connections_make_room(struct rng *rng)
{
	if (!free_connection())
		hang_up(&connection[rng_below(rng, CONNECTIONS)]);
}

/* Both return an error, or 0, or NOTHING_TO_DO. */
int connections_hang_up(struct rng *rng)
{
	struct connection *c = &connection[rng_below(rng, CONNECTIONS)];

	if (c->how == FREE)
		return NOTHING_TO_DO;
	hang_up(c);
	return 0;
}

/* Without keys it stays as it was, but has other operations. */
int connections_tls(struct rng *rng)
{
	struct connection *c = &connection[rng_below(rng, CONNECTIONS)];

	if (c->how == FREE)
		return NOTHING_TO_DO;
	return setsockopt(c->fd, SOL_TCP, TCP_ULP, "tls", 3) ? errno : 0;
}

/* From now on each has a thread. */
void connections_settle(void)
{
	int i;

	settling = true;
	for (i = 0; i < CONNECTIONS; i++) {
		struct connection *c = &connection[i];

		if (c->how != LEVEL && c->how != EDGE)
			continue;
		epoll_ctl(epoll, EPOLL_CTL_DEL, c->fd, NULL);
		if (!start_reader(c))
			drop(c);
	}
}

/* Of a new process: none, without threads if it is a child. */
void connections_open(bool child)
{
	int i;

	is_child = child;
	threads = 0;
	for (i = 0; i < CONNECTIONS; i++) {
		if (connection[i].how != FREE)
			close(connection[i].fd);
		connection[i].how = FREE;
	}
	if (epoll >= 0)
		close(epoll);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		_exit(1);
}

void connections_begin(void)
{
	kind = tally_kind("serve", WANT_OK);
}
