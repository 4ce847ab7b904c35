// SPDX-License-Identifier: GPL-2.0
/*
 * What the owners of "tcp_peer fuzz" do to their sockets, and in which order.  A step is
 * one call on the socket of one place, most of the time.  Calls that belong together make a
 * plan, and a place that has a plan goes on with it, while the others go on with theirs.
 *
 * A connection that comes out of a listener of another port is a fault.
 *
 * A socket that IPV6_ADDRFORM has converted to IPv4 keeps its IPv6 part.  With or without synq,
 * the sockets that it accepts point to that part and free what is there: a use after free
 * when the listener is gone.  So the first process holds all of these listeners, see
 * tcp_fuzz_owner.c, and there are no more than MOST_CONVERTED.
 *
 * Nor does the stock kernel take an IPv6 connection out of the SYN queue when its listener is
 * converted.  If the socket listens again before the final ACK comes, the kernel makes an IPv4
 * child of that connection, and warns (inet_ehash_insert()).  So no socket is converted while an
 * IPv6 connection waits at its port.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tcp_fuzz.h"

#define AT_ONCE		8	/* accepted in one step */
#define SELF_MS		20	/* for a connection to itself */
#define MOVE_MS		12	/* at most, between two calls that move a queue */

#define SMCPROTO_SMC6	1

struct place place[PLACES];

static int (*inbox)[2];			/* one pair of sockets for each process */
static int keeper[2];
static unsigned int *converted;		/* all processes share it */

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
	KINDS,
};

static const char * const names[KINDS] = {
	[SOCKET] = "socket", [DUAL] = "dual", [BIND] = "bind",
	[LISTEN] = "listen", [ACCEPT] = "accept", [FAST] = "fast",
	[MOVE] = "move", [SHUTDOWN] = "shutdown",
	[MAPPED] = "mapped", [UNSPEC] = "unspec", [SELF] = "self",
	[CONNECT] = "connect", [ADDRFORM] = "addrform", [OPTION] = "option",
	[ANY_OPTION] = "any-option", [GET] = "get", [DUP] = "dup",
	[FORK] = "fork", [PASS] = "pass", [CLOSE] = "close",
	[HANG_UP] = "hang-up", [TLS] = "tls", [MPTCP] = "mptcp", [SMC] = "smc",
	[RECEIVE] = "receive",
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

/* What was there is closed. */
void place_put(struct place *p, int fd)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = fd;
	p->plan = NULL;
}

static void share_port(int fd, struct rng *rng)
{
	int on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (!rng_one_in(rng, 4) && !is_mptcp(fd))
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
}

/*
 * Listens, or there is none: SMC's listen(2) that fails leaves its operations in the
 * socket, and 6.1 calls itself without end once the next one succeeds.  So it does that
 * only once.
 */
static int smc_listener(int family, struct rng *rng)
{
	struct address at = any_address(family, rng);
	int fd = socket(AF_SMC, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			family == AF_INET6 ? SMCPROTO_SMC6 : 0);
	int error;

	share_port(fd, rng);
	error = result_of(bind(fd, &at.sa, at.len) ?: listen(fd, 64));
	count(SMC, error);
	if (error) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int do_socket(struct place *p, struct rng *rng)
{
	int family = rng_one_in(rng, 2) ? AF_INET : AF_INET6, one = 1;
	const unsigned char *plan = p->plan;
	bool mptcp = rng_one_in(rng, 6) && !left_out[MPTCP];
	int fd;

	if (!mptcp && !left_out[SMC] && rng_one_in(rng, 12)) {
		place_put(p, smc_listener(family, rng));
		return 0;
	}
	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    mptcp ? IPPROTO_MPTCP : 0);
	if (mptcp)
		count(MPTCP, result_of(fd));
	if (fd < 0)
		return errno;
	if (family == AF_INET6 && rng_one_in(rng, 3))
		setsockopt(fd, SOL_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	share_port(fd, rng);
	place_put(p, fd);
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
	place_put(p, fd);
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

	if (is_smc(p->fd))
		return NOTHING_TO_DO;
	return result_of(listen(p->fd, backlogs[rng_below(rng, 8)]));
}

/*
 * Another process may do to the same socket what it likes; but the port of one that is
 * bound to it stays.  One that is not may have another each time it listens.
 */
static int do_accept(struct place *p, struct rng *rng)
{
	int port = port_of(p->fd), i, fd, to;

	for (i = 0; i < AT_ONCE; i++) {
		connections_make_room(rng);
		fd = accept4(p->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return i ? 0 : errno;
		to = port_of(fd);
		if (port != port_of(p->fd))
			port = 0;
		if (port && to && to != port)
			fault("owner: of the listener of port %d a connection to port %d",
			      port, to);
		connection_keep(fd, p->fd, port, rng);
		if (i)
			count(ACCEPT, 0);
	}
	return 0;
}

static int do_fast(struct place *p, struct rng *rng)
{
	int backlog = 1 << rng_below(rng, 8);

	if (is_smc(p->fd))
		return NOTHING_TO_DO;
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
	long pause = rng_below(rng, MOVE_MS);

	if (!is_listening(p->fd) || is_smc(p->fd) ||
	    getsockname(p->fd, &name.sa, &name.len))
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

	if (is_smc(p->fd))
		return NOTHING_TO_DO;
	return result_of(shutdown(p->fd, how[rng_below(rng, 4)]));
}

/* For SMC see is_broken(). */
static int connect_to(int fd, const struct address *to)
{
	int error;

	if (is_smc(fd))
		return NOTHING_TO_DO;
	error = result_of(connect(fd, &to->sa, to->len));
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
	place_put(to, fd);
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
		place_put(p, -1);
	return error;
}

/* Does an IPv6 connection wait for its final ACK at the port?  If in doubt, yes. */
static bool is_awaited(int fd)
{
	FILE *connections = fopen("/proc/net/tcp6", "re");
	struct address local = { .len = sizeof(local.in6) };
	bool found = false;
	char line[256];

	if (!connections || getsockname(fd, &local.sa, &local.len))
		found = true;
	while (!found && fgets(line, sizeof(line), connections)) {
		unsigned int port, state;

		found = sscanf(line, " %*u: %*32[0-9A-F]:%x %*32[0-9A-F]:%*x %x", &port,
			       &state) == 2 &&
			state == TCP_SYN_RECV && port == ntohs(local.in6.sin6_port);
	}
	if (connections)
		fclose(connections);
	return found;
}

/* It has to be connected to an IPv4 address: then it gets no new requests. */
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
	if (!IN6_IS_ADDR_V4MAPPED(&peer.in6.sin6_addr) || is_awaited(p->fd) ||
	    __atomic_fetch_add(converted, 1, __ATOMIC_RELAXED) >= MOST_CONVERTED)
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
	place_put(p, -1);
	return 0;
}

static int do_hang_up(struct place *p, struct rng *rng)
{
	return connections_hang_up(rng);
}

static int do_tls(struct place *p, struct rng *rng)
{
	return connections_tls(rng);
}

static int do_fork(struct place *p, struct rng *rng)
{
	return owner_fork(rng_next(rng));
}

static int (* const steps[STEPS])(struct place *p, struct rng *rng) = {
	[SOCKET] = do_socket, [DUAL] = do_dual, [BIND] = do_bind,
	[LISTEN] = do_listen, [ACCEPT] = do_accept, [FAST] = do_fast,
	[MOVE] = do_move, [SHUTDOWN] = do_shutdown, [MAPPED] = do_mapped,
	[UNSPEC] = do_unspec, [SELF] = do_self, [CONNECT] = do_connect,
	[ADDRFORM] = do_addrform,
	[OPTION] = do_option, [ANY_OPTION] = do_any_option, [GET] = do_get,
	[DUP] = do_dup, [FORK] = do_fork, [PASS] = do_pass, [CLOSE] = do_close,
	[HANG_UP] = do_hang_up, [TLS] = do_tls,
};

/* --- which step is next --- */

static const unsigned char plans[][12] = {
	/* A server; an empty place begins with one of these three. */
	{ SOCKET, OPTION, OPTION, BIND, OPTION, LISTEN, ACCEPT, OPTION, ACCEPT },
	{ SOCKET, BIND, FAST, LISTEN, OPTION, ACCEPT, ACCEPT, PASS },
	{ DUAL, OPTION, BIND, LISTEN, FAST, ACCEPT, OPTION, ACCEPT },
	/* Its second life. */
	{ SHUTDOWN, LISTEN, ACCEPT },
	{ SHUTDOWN, OPTION, LISTEN, OPTION, ACCEPT },
	{ SHUTDOWN, UNSPEC, BIND, LISTEN, ACCEPT },
	{ MOVE, MOVE, ACCEPT },
	{ LISTEN, ACCEPT, LISTEN },
	/* As another thread might, in between. */
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
void step_one(uint64_t who, uint64_t n)
{
	struct rng rng = rng_of(who, n);
	struct place *p = &place[rng_below(&rng, PLACES)];
	enum step step = next_step(p, &rng);
	int result;

	if (left_out[step])
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

/* From all with connections queued; @places: EXTRA at most */
void steps_accept(struct place *p, int places, uint64_t who, uint64_t n)
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

/* Of what was passed to process @number, one; -1 if there is none. */
int step_receive(int number)
{
	int fd = receive_socket(inbox[number][1]);

	if (fd >= 0)
		count(RECEIVE, 0);
	return fd;
}

/* Of what the first process is to hold. */
int step_receive_converted(void)
{
	return receive_socket(keeper[1]);
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

/* Before any process is forked. */
void steps_begin(void)
{
	int step, i;

	for (step = END + 1; step < KINDS; step++) {
		if (step == OPTION || step == ANY_OPTION || step == GET)
			continue;
		/* On 6.1 SMC does not share its port, which others mostly have. */
		kind[step] = tally_kind(names[step], step == SMC ? WANT_ANY : WANT_OK);
	}
	probe(MPTCP, AF_INET, IPPROTO_MPTCP);
	probe(SMC, AF_SMC, 0);
	probe_tls();
	for (step = END + 1; step < KINDS; step++)
		left_out[step] = left_out[step] || is_left_out(names[step]);
	converted = mmap(NULL, sizeof(*converted), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < PLACES; i++)
		place[i].fd = -1;
	inbox = calloc(fuzz.processes, sizeof(*inbox));
	if (converted == MAP_FAILED || !inbox)
		die("no memory");
	for (i = 0; i < fuzz.processes; i++)
		if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, inbox[i]))
			die("socketpair: %s", strerror(errno));
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, keeper))
		die("socketpair: %s", strerror(errno));
}
