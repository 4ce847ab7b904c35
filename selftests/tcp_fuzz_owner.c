// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer fuzz owners: processes without privileges that do to their sockets what an
 * owner may do, in a random order.  Each has PLACES sockets; a step is one call on one of
 * them.  Calls that belong together make a plan, and a place that has a plan goes on with
 * it most of the time, while the others go on with theirs.
 *
 * What is accepted is read in one of three ways: epoll, edge-triggered epoll, or a thread
 * in a blocking recv(2); none of them looks at a connection that it was not woken for.
 * Once it is time to settle, there are blocked threads only.  Data that has waited for too
 * long is a fault: nobody was woken.
 *
 * A socket that IPV6_ADDRFORM has turned into an IPv4 one keeps its IPv6 part, and the kernel,
 * with or without synq, has those that it accepts point to that part and free what is there:
 * memory of another when the listener is gone.  So the first process holds all of them, up
 * to KEPT, until nothing accepted is left, and shuts them down now and then, since nobody
 * may accept from them any more.
 *
 * A connection that comes out of a listener of another port is a fault, and so is one
 * whose client meant another port.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tcp_fuzz.h"

#define PLACES		20	/* sockets of a process */
#define EXTRA		256	/* that were passed and not yet taken, at the end */
#define CONNECTIONS	128	/* accepted, of a process */
#define THREADS		8	/* that read, before it is time to settle */
#define CHILDREN	2	/* of a process, at a time */
#define CHILD_MS	300	/* how long one lives */
#define CHILD_STEPS	60
#define AT_ONCE		8	/* accepted in one step */
#define SELF_MS		20	/* for a connection to itself */
#define STACK		65536
#define LOOK_MS		500
#define KEPT		8192	/* see above */
#define KEPT_SHUT_MS	2000
#define KEPT_END_MS	20000

#ifndef AF_SMC
#define AF_SMC		43
#endif
#ifndef IPPROTO_SMC6
#define SMCPROTO_SMC6	1
#endif

#define NOTHING_TO_DO	(-1)

struct place {
	int fd;
	const unsigned char *plan;
};

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
	unsigned int reads;
	unsigned int looked;	/* reads, when somebody looked at what waits */
	long long since;	/* ms, from when on it has */
	int have;
	char text[QUESTION_LEN];
};

static struct place place[PLACES];
static struct connection connection[CONNECTIONS];
static int me, epoll = -1, threads, children;
static bool is_child, settling;
static int (*inbox)[2];			/* one pair of sockets for each process */
static int keeper[2];			/* sockets that the first process holds */
static struct {
	unsigned int settled;
	unsigned int converted;
} *shared;

/* --- what is counted --- */

enum step {
	END,
	/* Of a place, each with a function. */
	SOCKET,
	DUAL,		/* an IPv6 socket that takes IPv4, too */
	BIND,
	LISTEN,
	ACCEPT,
	FAST,		/* Fast Open */
	MOVE,		/* the queue to another of the group, and back */
	SHUTDOWN,
	MAPPED,
	UNSPEC,
	SELF,
	CONNECT,
	ADDRFORM,
	OPTION,
	ANY_OPTION,
	GET,
	DUP,
	FORK,
	PASS,
	CLOSE,
	/* Of a connection. */
	HANG_UP,
	TLS,
	STEPS,
	/* Counted only. */
	MPTCP = STEPS,
	SMC,
	RECEIVE,
	SERVE,
	KINDS,
};

static const char * const names[KINDS] = {
	[SOCKET] = "socket", [DUAL] = "dual", [BIND] = "bind",
	[LISTEN] = "listen", [ACCEPT] = "accept", [FAST] = "fast",
	[MOVE] = "move",
	[SHUTDOWN] = "shutdown",
	[MAPPED] = "mapped", [UNSPEC] = "unspec", [SELF] = "self",
	[CONNECT] = "connect", [ADDRFORM] = "addrform", [OPTION] = "option",
	[ANY_OPTION] = "any-option", [GET] = "get", [DUP] = "dup",
	[FORK] = "fork", [PASS] = "pass", [CLOSE] = "close",
	[HANG_UP] = "hang-up", [TLS] = "tls", [MPTCP] = "mptcp", [SMC] = "smc",
	[RECEIVE] = "receive", [SERVE] = "serve",
};

static unsigned int kind[KINDS];
static bool left_out[KINDS];

static void count(enum step step, int result)
{
	if (result != NOTHING_TO_DO)
		tally_add(kind[step], result);
}

static int result_of(int status)
{
	return status < 0 ? errno : 0;
}

/* --- connections --- */

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
	count(SERVE, result_of(sent));
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

static void reap_connections(void)
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

static void keep(int fd, int port, struct rng *rng)
{
	struct connection *c = free_connection();

	options_undo(fd);
	if (!c) {
		close(fd);
		return;
	}
	*c = (struct connection){ .fd = fd, .port = port, .how = LEVEL };
	if (settling || (rng_one_in(rng, 3) && threads < THREADS && !is_child)) {
		if (!start_reader(c))
			drop(c);
		return;
	}
	c->how = rng_one_in(rng, 2) ? LEVEL : EDGE;
	watch(c, c->how == EDGE ? EPOLLIN | EPOLLET : EPOLLIN);
}

static void serve(int wait_ms)
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
	reap_connections();
}

/* Is there any that has data, and was not read since? */
static void look(void)
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
			fault("owner: %d bytes at port %d, and %s was not woken for %lld ms",
			      waiting, c->port, c->how == THREAD ? "recv" :
			      c->how == EDGE ? "epoll, by edge," : "epoll",
			      now - c->since);
			hang_up(c);
		}
	}
}

/* --- steps --- */

static int port_of(int fd)
{
	struct address address = { .len = sizeof(address.in6) };

	if (getsockname(fd, &address.sa, &address.len))
		return 0;
	return address_port(&address);
}

static int family_of(int fd)
{
	struct address address = { .len = sizeof(address.in6) };

	if (getsockname(fd, &address.sa, &address.len))
		return AF_INET;
	return address.sa.sa_family;
}

static struct address any_address(int family, struct rng *rng)
{
	static const char * const v4[] = {
		"0.0.0.0", "0.0.0.0", "0.0.0.0", "127.0.0.1", "192.0.2.1",
	};
	static const char * const v6[] = {
		"::", "::", "::", "::", "::1", "2001:db8::1",
		"::ffff:192.0.2.1", "::ffff:0.0.0.0",
	};
	struct address address;

	if (family == AF_INET6)
		address_parse(&address, v6[rng_below(rng, 8)]);
	else
		address_parse(&address, v4[rng_below(rng, 5)]);
	address_set_port(&address, rng_port(rng));
	return address;
}

static void put_into(struct place *p, int fd)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = fd;
	p->plan = NULL;
}

static void share_port(int fd, struct rng *rng)
{
	int on = 1;

	if (!rng_one_in(rng, 5))
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (!rng_one_in(rng, 4))
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
}

static int do_socket(struct place *p, struct rng *rng)
{
	int family = rng_one_in(rng, 2) ? AF_INET : AF_INET6, one = 1;
	const unsigned char *plan = p->plan;
	enum step what = SOCKET;
	int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, fd;

	if (rng_one_in(rng, 6) && !left_out[MPTCP])
		what = MPTCP;
	else if (rng_one_in(rng, 12) && !left_out[SMC])
		what = SMC;
	if (what == SMC)
		fd = socket(AF_SMC, type, family == AF_INET6 ? SMCPROTO_SMC6 : 0);
	else
		fd = socket(family, type, what == MPTCP ? IPPROTO_MPTCP : 0);
	if (what != SOCKET)
		count(what, result_of(fd));
	if (fd < 0)
		return errno;
	if (family == AF_INET6 && rng_one_in(rng, 3))
		setsockopt(fd, SOL_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	share_port(fd, rng);
	put_into(p, fd);
	p->plan = plan;
	return 0;
}

static int do_dual(struct place *p, struct rng *rng)
{
	const unsigned char *plan = p->plan;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return errno;
	share_port(fd, rng);
	put_into(p, fd);
	p->plan = plan;
	return 0;
}

static int do_bind(struct place *p, struct rng *rng)
{
	struct address to = any_address(family_of(p->fd), rng);

	return result_of(bind(p->fd, &to.sa, to.len));
}

static int do_listen(struct place *p, struct rng *rng)
{
	static const int backlogs[] = { 0, 1, 4, 16, 16, 64, 128, 4096 };

	return result_of(listen(p->fd, backlogs[rng_below(rng, 8)]));
}

/*
 * Another process may do to the same socket what it likes; but the port of one that is
 * bound to it stays.  One that is not may have another each time it listens.
 */
static int do_accept(struct place *p, struct rng *rng)
{
	int port, i, fd, to;

	port = port_of(p->fd);
	for (i = 0; i < AT_ONCE; i++) {
		if (!free_connection())
			hang_up(&connection[rng_below(rng, CONNECTIONS)]);
		fd = accept4(p->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return i ? 0 : errno;
		to = port_of(fd);
		if (port != port_of(p->fd))
			port = 0;
		if (port && to && to != port)
			fault("owner: of the listener of port %d a connection to port %d",
			      port, to);
		keep(fd, port, rng);
		if (i)
			count(ACCEPT, 0);
	}
	return 0;
}

static int do_fast(struct place *p, struct rng *rng)
{
	int backlog = 1 << rng_below(rng, 8);

	return result_of(setsockopt(p->fd, SOL_TCP, TCP_FASTOPEN, &backlog,
				    sizeof(backlog)));
}

static bool is_listening(int fd)
{
	int listening = 0;
	socklen_t len = sizeof(listening);

	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) &&
	       listening;
}

/*
 * With net.ipv4.tcp_migrate_req what a listener has queued goes to another one of its
 * group when it is shut down, and comes back when that one is, if nobody else is there.
 */
static int do_move(struct place *p, struct rng *rng)
{
	struct address name = { .len = sizeof(name.in6) };
	int on = 1, only = 0, fd, error;
	socklen_t len = sizeof(only);
	long pause = rng_below(rng, 12);

	if (!is_listening(p->fd) || getsockname(p->fd, &name.sa, &name.len))
		return NOTHING_TO_DO;
	fd = socket(name.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    0);
	if (fd < 0)
		return errno;
	getsockopt(p->fd, SOL_IPV6, IPV6_V6ONLY, &only, &len);
	setsockopt(fd, SOL_IPV6, IPV6_V6ONLY, &only, sizeof(only));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	error = result_of(bind(fd, &name.sa, name.len) ?: listen(fd, 64));
	if (!error) {
		pause_ms(pause);
		shutdown(p->fd, SHUT_RD);
		pause_ms(pause);
		error = do_listen(p, rng);
		pause_ms(pause);
		shutdown(fd, SHUT_RD);
	}
	close(fd);
	return error;
}

static int do_shutdown(struct place *p, struct rng *rng)
{
	static const int how[] = { SHUT_RD, SHUT_RDWR, SHUT_RDWR, SHUT_WR };

	return result_of(shutdown(p->fd, how[rng_below(rng, 4)]));
}

static int connect_to(int fd, const struct address *to)
{
	int error = result_of(connect(fd, &to->sa, to->len));

	return error == EINPROGRESS ? 0 : error;
}

/* An IPv6 socket to an IPv4 address: one of a listener, one that refuses, no route. */
static int do_mapped(struct place *p, struct rng *rng)
{
	static const char * const to[] = {
		"::ffff:192.0.2.1", "::ffff:127.0.0.1", "::ffff:192.0.2.2",
		"::ffff:198.51.100.1",
	};
	struct address address;

	if (family_of(p->fd) != AF_INET6)
		return NOTHING_TO_DO;
	address_parse(&address, to[rng_below(rng, 4)]);
	address_set_port(&address, rng_port(rng));
	return connect_to(p->fd, &address);
}

static int do_connect(struct place *p, struct rng *rng)
{
	struct address to;

	address_parse(&to, family_of(p->fd) == AF_INET6 ? "::1" : "127.0.0.1");
	address_set_port(&to, rng_port(rng));
	return connect_to(p->fd, &to);
}

static int do_unspec(struct place *p, struct rng *rng)
{
	struct sockaddr unspec = { .sa_family = AF_UNSPEC };

	return result_of(connect(p->fd, &unspec, sizeof(unspec)));
}

/* Both ends of a connection are the same socket: a simultaneous open. */
static int do_self(struct place *p, struct rng *rng)
{
	struct pollfd pollfd = { .fd = p->fd, .events = POLLOUT };
	struct address name = { .len = sizeof(name.in6) };
	struct address peer = { .len = sizeof(peer.in6) };
	int error;

	if (!port_of(p->fd)) {
		error = do_bind(p, rng);
		if (error)
			return error;
	}
	if (family_of(p->fd) == AF_INET)
		address_parse(&peer, "127.0.0.1");
	else
		address_parse(&peer, rng_one_in(rng, 3) ? "::1" :
						"::ffff:127.0.0.1");
	address_set_port(&peer, port_of(p->fd));
	error = connect_to(p->fd, &peer);
	if (error)
		return error;
	poll(&pollfd, 1, SELF_MS);
	peer.len = sizeof(peer.in6);
	if (getpeername(p->fd, &peer.sa, &peer.len) ||
	    getsockname(p->fd, &name.sa, &name.len))
		return errno;
	return address_port(&name) == address_port(&peer) ? 0 : ENOTCONN;
}

static int do_option(struct place *p, struct rng *rng)
{
	return option_step(p->fd, rng);
}

static int do_any_option(struct place *p, struct rng *rng)
{
	return option_random(p->fd, rng);
}

static int do_get(struct place *p, struct rng *rng)
{
	return option_get(p->fd, rng);
}

static int do_dup(struct place *p, struct rng *rng)
{
	struct place *to = &place[rng_below(rng, PLACES)];
	int fd;

	if (to == p)
		return NOTHING_TO_DO;
	fd = fcntl(p->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	put_into(to, fd);
	return 0;
}

static int send_socket(int way, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { .iov_base = "", .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(int));
	return sendmsg(way, &message, MSG_DONTWAIT) < 0 ? errno : 0;
}

/* Returns -1 if nothing has come. */
static int receive_socket(int way)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	int fd = -1;

	if (recvmsg(way, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return -1;
	if (CMSG_FIRSTHDR(&message))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/* To any process, this one, too.  What is on its way keeps the socket open. */
static int do_pass(struct place *p, struct rng *rng)
{
	int error = send_socket(inbox[rng_below(rng, fuzz.processes)][0], p->fd);

	if (!error && rng_one_in(rng, 2))
		put_into(p, -1);
	return error;
}

static int receive(void)
{
	int fd = receive_socket(inbox[me][1]);

	if (fd >= 0)
		count(RECEIVE, 0);
	return fd;
}

/* It has to be connected to an IPv4 address. */
static int do_addrform(struct place *p, struct rng *rng)
{
	struct address peer = { .len = sizeof(peer.in6) };
	socklen_t len = sizeof(int);
	int family = 0, error;

	if (family_of(p->fd) != AF_INET6)
		return NOTHING_TO_DO;
	if (getsockopt(p->fd, SOL_IPV6, IPV6_ADDRFORM, &family, &len) ||
	    getpeername(p->fd, &peer.sa, &peer.len))
		return errno;
	if (!IN6_IS_ADDR_V4MAPPED(&peer.in6.sin6_addr))
		return EADDRNOTAVAIL;
	if (__atomic_fetch_add(&shared->converted, 1, __ATOMIC_RELAXED) >= KEPT)
		return NOTHING_TO_DO;
	error = send_socket(keeper[0], p->fd);
	if (error)
		return error;
	family = AF_INET;
	return result_of(setsockopt(p->fd, SOL_IPV6, IPV6_ADDRFORM, &family,
				    sizeof(family)));
}

static int do_close(struct place *p, struct rng *rng)
{
	put_into(p, -1);
	return 0;
}

static int do_hang_up(struct place *p, struct rng *rng)
{
	struct connection *c = &connection[rng_below(rng, CONNECTIONS)];

	if (c->how == FREE)
		return NOTHING_TO_DO;
	hang_up(c);
	return 0;
}

/* Without keys it stays as it was, but has other operations. */
static int do_tls(struct place *p, struct rng *rng)
{
	struct connection *c = &connection[rng_below(rng, CONNECTIONS)];

	if (c->how == FREE)
		return NOTHING_TO_DO;
	return result_of(setsockopt(c->fd, SOL_TCP, TCP_ULP, "tls", 3));
}

static int do_fork(struct place *p, struct rng *rng);

static int (* const steps[STEPS])(struct place *p, struct rng *rng) = {
	[SOCKET] = do_socket, [DUAL] = do_dual, [BIND] = do_bind,
	[LISTEN] = do_listen, [ACCEPT] = do_accept, [FAST] = do_fast,
	[MOVE] = do_move,
	[SHUTDOWN] = do_shutdown,
	[MAPPED] = do_mapped, [UNSPEC] = do_unspec, [SELF] = do_self,
	[CONNECT] = do_connect, [ADDRFORM] = do_addrform,
	[OPTION] = do_option, [ANY_OPTION] = do_any_option, [GET] = do_get,
	[DUP] = do_dup, [FORK] = do_fork, [PASS] = do_pass, [CLOSE] = do_close,
	[HANG_UP] = do_hang_up, [TLS] = do_tls,
};

/* --- which step is next --- */

static const unsigned char plans[][12] = {
	/* A server; the first is what an empty place begins with. */
	{ SOCKET, OPTION, OPTION, BIND, OPTION, LISTEN, ACCEPT, OPTION, ACCEPT },
	{ SOCKET, BIND, FAST, LISTEN, OPTION, ACCEPT, ACCEPT, PASS },
	{ DUAL, OPTION, BIND, LISTEN, FAST, ACCEPT, OPTION, ACCEPT },
	/* Its second life. */
	{ SHUTDOWN, LISTEN, ACCEPT },
	{ SHUTDOWN, OPTION, LISTEN, OPTION, ACCEPT },
	{ SHUTDOWN, UNSPEC, BIND, LISTEN, ACCEPT },
	{ MOVE, MOVE, ACCEPT },
	{ LISTEN, ACCEPT, LISTEN },
	/* As somebody else in between. */
	{ SHUTDOWN, MAPPED, UNSPEC, LISTEN, ACCEPT, ACCEPT, CLOSE },
	{ DUAL, BIND, LISTEN, ACCEPT, SHUTDOWN, MAPPED, UNSPEC, LISTEN, ACCEPT },
	{ SHUTDOWN, SELF, UNSPEC, LISTEN, ACCEPT },
	{ SHUTDOWN, CONNECT, OPTION, UNSPEC, LISTEN, ACCEPT },
	{ DUAL, BIND, SELF, UNSPEC, LISTEN, ACCEPT },
	/* From IPv6 to IPv4. */
	{ DUAL, BIND, SELF, ADDRFORM, UNSPEC, LISTEN, ACCEPT, ACCEPT },
	{ DUAL, MAPPED, ADDRFORM, UNSPEC, BIND, LISTEN, ACCEPT, ACCEPT },
	{ DUAL, BIND, LISTEN, SHUTDOWN, SELF, ADDRFORM, UNSPEC, LISTEN, ACCEPT },
	{ DUAL, BIND, LISTEN, ACCEPT, SHUTDOWN, MAPPED, ADDRFORM, UNSPEC, LISTEN,
	  ACCEPT },
	/* In other hands. */
	{ DUP, SHUTDOWN, LISTEN },
	{ PASS, SHUTDOWN, LISTEN },
	{ FORK, CLOSE },
	/* A client. */
	{ SOCKET, CONNECT, OPTION, GET, CLOSE },
};

#define PLANS	(sizeof(plans) / sizeof(*plans))

static const struct {
	unsigned char step;
	unsigned char weight;
} single[] = {
	{ OPTION, 50 }, { ANY_OPTION, 30 }, { GET, 12 }, { ACCEPT, 20 },
	{ SHUTDOWN, 3 }, { LISTEN, 5 }, { BIND, 3 }, { MAPPED, 2 },
	{ UNSPEC, 2 }, { SELF, 2 }, { CONNECT, 2 }, { ADDRFORM, 2 },
	{ DUP, 2 }, { PASS, 2 }, { FORK, 1 }, { CLOSE, 2 },
	{ HANG_UP, 4 }, { TLS, 6 }, { MOVE, 4 },
};

static enum step any_step(struct rng *rng)
{
	unsigned int sum = 0, at;
	size_t i;

	for (i = 0; i < sizeof(single) / sizeof(*single); i++)
		sum += single[i].weight;
	at = rng_below(rng, sum);
	for (i = 0; at >= single[i].weight; i++)
		at -= single[i].weight;
	return single[i].step;
}

static enum step next_step(struct place *p, struct rng *rng)
{
	bool go_on = !rng_one_in(rng, 4), anew = rng_one_in(rng, 6);
	unsigned int plan = rng_below(rng, PLANS);
	enum step single_step = any_step(rng);

	if (p->fd < 0 && !p->plan)
		p->plan = plans[rng_below(rng, 3)];
	else if (!p->plan && anew)
		p->plan = plans[plan];
	if (p->plan && (go_on || p->fd < 0)) {
		enum step step = *p->plan++;

		if (*p->plan == END)
			p->plan = NULL;
		return step;
	}
	return single_step;
}

/* Of a place that has no socket only those that make one. */
static void one_step(uint64_t who, uint64_t n)
{
	struct rng rng = rng_of(who, n);
	struct place *p = &place[rng_below(&rng, PLACES)];
	enum step step = next_step(p, &rng);
	int result;

	if (left_out[step] || (step == FORK && is_child))
		return;
	if (p->fd < 0 && step != SOCKET && step != DUAL) {
		p->plan = NULL;
		return;
	}
	result = steps[step](p, &rng);
	/* Options are counted one by one. */
	if (step != OPTION && step != ANY_OPTION && step != GET)
		count(step, result);
}

static void accept_all(struct place *p, int places, uint64_t who, uint64_t n)
{
	struct rng rng = rng_of(who, ~n);
	struct pollfd pollfd[EXTRA];
	int i;

	for (i = 0; i < places; i++)
		pollfd[i] = (struct pollfd){ .fd = p[i].fd, .events = POLLIN };
	if (poll(pollfd, places, 0) <= 0)
		return;
	for (i = 0; i < places; i++)
		if ((pollfd[i].revents & (POLLIN | POLLHUP)) == POLLIN &&
		    !do_accept(&p[i], &rng))
			count(ACCEPT, 0);
}

/* --- processes --- */

static void new_epoll(void)
{
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		_exit(1);
}

static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

/*
 * The sockets of the places are its own, too; the connections are not: it would keep
 * them open.
 */
static void be_child(uint64_t who)
{
	long long end = now_ms() + CHILD_MS;
	int i, n;

	is_child = true;
	children = 0;
	close(epoll);
	new_epoll();
	threads = 0;
	for (i = 0; i < CONNECTIONS; i++) {
		if (connection[i].how != FREE)
			close(connection[i].fd);
		connection[i].how = FREE;
	}
	for (n = 0; n < CHILD_STEPS && now_ms() < end; n++) {
		one_step(who, n);
		serve(1);
	}
	while (now_ms() < end)
		serve(20);
	_exit(0);
}

static int do_fork(struct place *p, struct rng *rng)
{
	uint64_t who = rng_next(rng);
	pid_t parent = getpid(), pid;

	if (children == CHILDREN)
		return NOTHING_TO_DO;
	pid = fork();
	if (pid < 0)
		return errno;
	if (!pid) {
		die_with(parent);
		be_child(who);
	}
	children++;
	return 0;
}

/* A child that was killed has met something that it should not. */
static void reap_children(int options)
{
	int status;

	while (children && waitpid(-1, &status, options) > 0) {
		children--;
		if (!WIFEXITED(status))
			fault("owner: a child ended by signal %d",
			      WTERMSIG(status));
	}
}

static void take_what_was_passed(uint64_t n)
{
	int fd = receive();

	if (fd >= 0)
		put_into(&place[n % PLACES], fd);
}

static void run(void)
{
	/* Queues are longer where they are seen to less often. */
	unsigned int seldom = 1 << me % 3 * 2, round = 0;
	uint64_t n = 0;

	while (!is_time_for(fuzz.settle) && !is_time_for(fuzz.end)) {
		int i;

		for (i = 0; i < 16; i++, n++) {
			one_step(me, n);
			if (n % 4 == 0)
				serve(1);
			if (n % 8 == 0)
				take_what_was_passed(n);
		}
		if (++round % seldom == 0)
			accept_all(place, PLACES, me, n);
		reap_children(WNOHANG);
		look();
	}
}

/* A listener that drops data leaves those that have lost their request without a reset. */
static void make_hear(struct place *p)
{
	if (p->fd >= 0)
		options_undo(p->fd);
}

/* What is passed now must not take the place of a socket that has a queue. */
static void keep_passed(struct place *extra, int *extras, int max)
{
	int fd;

	while (*extras < max && (fd = receive()) >= 0) {
		extra[*extras].fd = fd;
		make_hear(&extra[(*extras)++]);
	}
}

/*
 * Nothing happens any more but connections and data: all that is queued is accepted,
 * each connection has a thread that blocks in recv(2).
 */
static void settle(void)
{
	struct place extra[EXTRA] = { { 0 } };
	int extras = 0, i;

	settling = true;
	reap_children(0);
	for (i = 0; i < PLACES; i++)
		make_hear(&place[i]);
	for (i = 0; i < CONNECTIONS; i++) {
		struct connection *c = &connection[i];

		if (c->how != LEVEL && c->how != EDGE)
			continue;
		epoll_ctl(epoll, EPOLL_CTL_DEL, c->fd, NULL);
		if (!start_reader(c))
			drop(c);
	}
	__atomic_fetch_add(&shared->settled, 1, __ATOMIC_RELAXED);
	while (!is_time_for(fuzz.end)) {
		keep_passed(extra, &extras, EXTRA);
		accept_all(place, PLACES, me, 0);
		accept_all(extra, extras, me, 0);
		reap_connections();
		look();
		pause_ms(10);
	}
}

static void be_owner(int number)
{
	int i;

	me = number;
	for (i = 0; i < PLACES; i++)
		place[i].fd = -1;
	new_epoll();
	run();
	if (!is_time_for(fuzz.end))
		settle();
	for (i = 0; i < PLACES; i++)
		put_into(&place[i], -1);
	_exit(0);
}

static void probe(enum step step, int family, int protocol)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, protocol);

	if (fd < 0) {
		tally_lacks(kind[step], errno);
		left_out[step] = true;
		return;
	}
	close(fd);
}

/* TLS wants a connection: to itself will do. */
static void probe_tls(void)
{
	struct address address = { .len = sizeof(address.in6) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address_parse(&address, "127.0.0.1");
	if (bind(fd, &address.sa, address.len) ||
	    getsockname(fd, &address.sa, &address.len) ||
	    connect(fd, &address.sa, address.len))
		die("a connection to itself: %s", strerror(errno));
	if (setsockopt(fd, SOL_TCP, TCP_ULP, "tls", 3)) {
		tally_lacks(kind[TLS], errno);
		left_out[TLS] = true;
	}
	close(fd);
}

static void begin(void)
{
	int step, i;

	for (step = END + 1; step < KINDS; step++) {
		if (step == OPTION || step == ANY_OPTION || step == GET)
			continue;
		kind[step] = tally_kind(names[step], WANT_OK);
	}
	options_begin();
	probe(MPTCP, AF_INET, IPPROTO_MPTCP);
	probe(SMC, AF_SMC, 0);
	probe_tls();
	for (step = END + 1; step < KINDS; step++)
		left_out[step] = left_out[step] || is_left_out(names[step]);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	inbox = calloc(fuzz.processes, sizeof(*inbox));
	if (shared == MAP_FAILED || !inbox)
		die("no memory");
	for (i = 0; i < fuzz.processes; i++)
		if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, inbox[i]))
			die("socketpair: %s", strerror(errno));
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, keeper))
		die("socketpair: %s", strerror(errno));
}

static void start(int number, pid_t *pid)
{
	pid_t parent = getpid();

	*pid = fork();
	if (*pid < 0)
		die("fork: %s", strerror(errno));
	if (*pid)
		return;
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		die("setuid: %s", strerror(errno));
	die_with(parent);
	setpriority(PRIO_PROCESS, 0, 10);
	be_owner(number);
}

/* --- the first process --- */

static int kept[KEPT], n_kept;

static void shut_kept(void)
{
	static long long last;
	int i;

	if (now_ms() < last + KEPT_SHUT_MS && !is_time_for(fuzz.settle))
		return;
	last = now_ms();
	for (i = 0; i < n_kept; i++)
		shutdown(kept[i], SHUT_RDWR);
}

static void keep_converted(void)
{
	int fd;

	while (n_kept < KEPT && (fd = receive_socket(keeper[1])) >= 0)
		kept[n_kept++] = fd;
	shut_kept();
}

/* Of the owners' ports there are connections that more than TIME_WAIT is left of. */
static bool any_connection(void)
{
	FILE *file = fopen("/proc/self/net/tcp", "re");
	unsigned int port, state;
	bool any = false;
	char line[256];
	int i;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, " %*d: %*8x:%x %*8x:%*x %x", &port, &state) != 2 ||
		    state == TCP_LISTEN || state == TCP_TIME_WAIT)
			continue;
		for (i = 0; i < fuzz.ports; i++)
			any |= (int)port == fuzz.port[i];
	}
	if (file)
		fclose(file);
	return any;
}

static void wait_for_last(void)
{
	long long end = now_ms() + KEPT_END_MS;

	while (n_kept && any_connection() && now_ms() < end)
		pause_ms(50);
}

int fuzz_owners(void)
{
	bool told = false;
	int i, left, status;
	pid_t pid;

	begin();
	for (i = 0; i < fuzz.processes; i++)
		start(i, &pid);
	printf("owning\n");
	for (left = fuzz.processes; left; pause_ms(10)) {
		keep_converted();
		if (!told && __atomic_load_n(&shared->settled, __ATOMIC_RELAXED) ==
			     (unsigned int)fuzz.processes) {
			printf("settled\n");
			told = true;
		}
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			left--;
			if (!WIFEXITED(status) || WEXITSTATUS(status))
				fault("owner: ended with status 0x%x", status);
		}
	}
	keep_converted();
	wait_for_last();
	tally_report("owners");
	return 0;
}
