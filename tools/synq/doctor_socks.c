// SPDX-License-Identifier: GPL-2.0
/*
 * The listeners and connections of this network namespace, by sock_diag.
 *
 * A connection that ends between two looks is not missed: the kernel tells of each
 * socket that it destroys.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "doctor.h"

#define ROOM		65536
#define DROPS		8	/* place of the drops in INET_DIAG_SKMEMINFO */
#define ARRIVALS_MAX	2000000
#define PEERS		8	/* local connections of a listener that are looked into */

enum {
	ESTABLISHED = 1,
	CLOSE_WAIT = 8,
	LISTEN = 10,
};

/**
 * struct peer - a connection from this host to a listener, and its other end
 * @watched: number of the listener
 * @port: of the client
 * @inode: socket of the client
 */
struct peer {
	unsigned int watched;
	__u16 port;
	__u32 inode;
};

/**
 * struct sockets - the conversation
 * @sk: for questions
 * @events: for sockets that are destroyed; NULL: the kernel does not tell
 * @facts: where answers go
 * @begun: when it began, in ms
 * @again: the listeners are known
 * @peer: local connections, at most PEERS of a listener
 * @peers: how many
 */
struct sockets {
	struct mnl_socket *sk;
	struct mnl_socket *events;
	struct facts *facts;
	long long begun;
	bool again;
	struct peer *peer;
	unsigned int peers;
};

/* What the kernel adds about a socket, if it is asked. */
struct extra {
	const __u32 *memory;
	unsigned int memories;
	struct tcp_info info;
};

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static int take_attribute(const struct nlattr *attr, void *arg)
{
	size_t length = mnl_attr_get_payload_len(attr);
	struct extra *extra = arg;

	if (mnl_attr_get_type(attr) == INET_DIAG_SKMEMINFO) {
		extra->memory = mnl_attr_get_payload(attr);
		extra->memories = length / sizeof(__u32);
	} else if (mnl_attr_get_type(attr) == INET_DIAG_INFO) {
		if (length > sizeof(extra->info))
			length = sizeof(extra->info);
		memcpy(&extra->info, mnl_attr_get_payload(attr), length);
	}
	return MNL_CB_OK;
}

/* A mapped address is the IPv4 address, as everywhere. */
static void take_address(__u8 family, const __be32 *from, struct prefix *to)
{
	memset(to, 0, sizeof(*to));
	if (family == AF_INET6 && !from[0] && !from[1] && from[2] == htonl(0xffff)) {
		family = AF_INET;
		from += 3;
	}
	to->family = family;
	to->length = family == AF_INET ? 32 : 128;
	memcpy(to->address, from, family == AF_INET ? 4 : 16);
}

static bool is_loopback(const struct prefix *address)
{
	if (address->family == AF_INET)
		return address->address[0] == 127;
	return !memcmp(address->address, &in6addr_loopback, 16);
}

static struct watched *find(struct facts *facts, __u16 port, bool loopback)
{
	unsigned int i;

	for (i = 0; i < facts->number; i++) {
		if (facts->watched[i].port == port && facts->watched[i].loopback == loopback)
			return &facts->watched[i];
	}
	return NULL;
}

/* That of a connection with this local address. */
static struct watched *find_for(struct facts *facts, __u16 port, const struct prefix *local)
{
	struct watched *watched = NULL;

	if (is_loopback(local))
		watched = find(facts, port, true);
	return watched ?: find(facts, port, false);
}

static struct watched *new_watched(struct facts *facts, __u16 port, bool loopback)
{
	struct watched *watched;

	facts->watched = allocate(facts->watched, facts->number + 1, sizeof(*watched));
	watched = &facts->watched[facts->number++];
	memset(watched, 0, sizeof(*watched));
	watched->port = port;
	watched->loopback = loopback;
	watched->queued_always = true;
	watched->backlog = ~0U;
	return watched;
}

static int take_listener(const struct nlmsghdr *nlh, void *arg)
{
	const struct inet_diag_msg *diag = mnl_nlmsg_get_payload(nlh);
	struct sockets *sockets = arg;
	struct watched *watched;
	struct extra extra = { 0 };
	struct prefix address;
	bool loopback;
	__u16 port;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*diag))
		return MNL_CB_ERROR;
	mnl_attr_parse(nlh, sizeof(*diag), take_attribute, &extra);
	port = ntohs(diag->id.idiag_sport);
	take_address(diag->idiag_family, diag->id.idiag_src, &address);
	loopback = is_loopback(&address);
	watched = find(sockets->facts, port, loopback);
	if (!watched && sockets->again)
		return MNL_CB_OK;
	if (!watched)
		watched = new_watched(sockets->facts, port, loopback);
	watched->queue += diag->idiag_rqueue;
	if (diag->idiag_rqueue > watched->queue_most)
		watched->queue_most = diag->idiag_rqueue;
	if (sockets->again)
		return MNL_CB_OK;
	watched->sockets++;
	if (diag->id.idiag_if)
		watched->device = true;
	watched->inode = diag->idiag_inode;
	if (diag->idiag_wqueue < watched->backlog)
		watched->backlog = diag->idiag_wqueue;
	if (diag->idiag_wqueue > watched->backlog_most)
		watched->backlog_most = diag->idiag_wqueue;
	if (extra.memories > DROPS)
		watched->drops += extra.memory[DROPS];
	return MNL_CB_OK;
}

static void new_arrival(struct facts *facts, const struct watched *watched,
			const struct prefix *source, long long ended)
{
	struct arrival *arrival;

	if (facts->arrivals == ARRIVALS_MAX)
		return;
	if (!(facts->arrivals & (facts->arrivals - 1)))
		facts->arrival = allocate(facts->arrival,
					  facts->arrivals ? 2 * facts->arrivals : 1,
					  sizeof(*arrival));
	arrival = &facts->arrival[facts->arrivals++];
	memset(arrival, 0, sizeof(*arrival));
	arrival->port = watched->port;
	arrival->loopback = watched->loopback;
	arrival->source = *source;
	arrival->ended = ended;
}

/* Has it got data since it last sent any? */
static bool is_busy(const struct tcp_info *info)
{
	if (!info->tcpi_data_segs_in)
		return false;
	return info->tcpi_last_data_recv < info->tcpi_last_data_sent ||
	       !info->tcpi_data_segs_out;
}

static void new_peer(struct sockets *sockets, const struct watched *watched, __u16 port)
{
	unsigned int index = watched - sockets->facts->watched;
	unsigned int i, same = 0;

	for (i = 0; i < sockets->peers; i++)
		same += sockets->peer[i].watched == index;
	if (same == PEERS)
		return;
	sockets->peer = allocate(sockets->peer, sockets->peers + 1, sizeof(*sockets->peer));
	sockets->peer[sockets->peers++] = (struct peer){ .watched = index, .port = port };
}

static int take_connection(const struct nlmsghdr *nlh, void *arg)
{
	const struct inet_diag_msg *diag = mnl_nlmsg_get_payload(nlh);
	struct prefix local, remote;
	struct sockets *sockets = arg;
	struct watched *watched;
	struct extra extra = { 0 };

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*diag))
		return MNL_CB_ERROR;
	take_address(diag->idiag_family, diag->id.idiag_src, &local);
	watched = find_for(sockets->facts, ntohs(diag->id.idiag_sport), &local);
	if (!watched)
		return MNL_CB_OK;
	take_address(diag->idiag_family, diag->id.idiag_dst, &remote);
	new_arrival(sockets->facts, watched, &remote, -1);
	/* Not accepted yet: it has no file. */
	if (!diag->idiag_inode)
		return MNL_CB_OK;
	watched->connections++;
	if (is_loopback(&remote) || !memcmp(&local, &remote, sizeof(local))) {
		watched->local++;
		new_peer(sockets, watched, ntohs(diag->id.idiag_dport));
	}
	mnl_attr_parse(nlh, sizeof(*diag), take_attribute, &extra);
	watched->unread += !!diag->idiag_rqueue;
	if (!is_busy(&extra.info))
		return MNL_CB_OK;
	watched->busy++;
	if (extra.info.tcpi_last_data_recv > watched->longest)
		watched->longest = extra.info.tcpi_last_data_recv;
	return MNL_CB_OK;
}

/* The client's end of a local connection. */
static int take_peer(const struct nlmsghdr *nlh, void *arg)
{
	const struct inet_diag_msg *diag = mnl_nlmsg_get_payload(nlh);
	struct sockets *sockets = arg;
	unsigned int i;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*diag))
		return MNL_CB_ERROR;
	for (i = 0; i < sockets->peers; i++) {
		struct peer *peer = &sockets->peer[i];

		if (peer->port == ntohs(diag->id.idiag_sport) &&
		    sockets->facts->watched[peer->watched].port == ntohs(diag->id.idiag_dport))
			peer->inode = diag->idiag_inode;
	}
	return MNL_CB_OK;
}

static int take_event(const struct nlmsghdr *nlh, void *arg)
{
	const struct inet_diag_msg *diag = mnl_nlmsg_get_payload(nlh);
	struct prefix local, remote;
	struct sockets *sockets = arg;
	struct watched *watched;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*diag))
		return MNL_CB_OK;
	take_address(diag->idiag_family, diag->id.idiag_src, &local);
	take_address(diag->idiag_family, diag->id.idiag_dst, &remote);
	watched = find_for(sockets->facts, ntohs(diag->id.idiag_sport), &local);
	if (watched && diag->id.idiag_dport)
		new_arrival(sockets->facts, watched, &remote, now_ms() - sockets->begun);
	return MNL_CB_OK;
}

static int dump(struct sockets *sockets, __u8 family, __u32 states, __u8 extra, mnl_cb_t take)
{
	static char buffer[ROOM];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct inet_diag_req_v2 *request;
	static unsigned int seq;
	ssize_t length;
	int result;

	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nlh->nlmsg_seq = ++seq;
	request = mnl_nlmsg_put_extra_header(nlh, sizeof(*request));
	request->sdiag_family = family;
	request->sdiag_protocol = IPPROTO_TCP;
	request->idiag_ext = extra;
	request->idiag_states = states;
	if (mnl_socket_sendto(sockets->sk, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	do {
		length = mnl_socket_recvfrom(sockets->sk, buffer, sizeof(buffer));
		if (length <= 0)
			return length ? -errno : 0;
		result = mnl_cb_run(buffer, length, seq, mnl_socket_get_portid(sockets->sk),
				    take, sockets);
	} while (result > MNL_CB_STOP);
	return result < 0 ? -errno : 0;
}

/* A kernel without IPv6 has no sockets of it. */
static int dump_both(struct sockets *sockets, __u32 states, __u8 extra, mnl_cb_t take)
{
	int error = dump(sockets, AF_INET, states, extra, take);

	dump(sockets, AF_INET6, states, extra, take);
	return error;
}

/**
 * sockets_open() - reach sock_diag, and listen for sockets that are destroyed
 * @sockets: the conversation, for sockets_close()
 *
 * Return: 0 or a negative errno.
 */
int sockets_open(struct sockets **sockets)
{
	struct sockets *new = allocate(NULL, 1, sizeof(*new));
	int size = 4 << 20;
	unsigned int groups = 1 << (SKNLGRP_INET_TCP_DESTROY - 1) |
			      1 << (SKNLGRP_INET6_TCP_DESTROY - 1);

	memset(new, 0, sizeof(*new));
	*sockets = new;
	new->begun = now_ms();
	new->sk = mnl_socket_open2(NETLINK_SOCK_DIAG, SOCK_CLOEXEC);
	if (!new->sk || mnl_socket_bind(new->sk, 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	new->events = mnl_socket_open2(NETLINK_SOCK_DIAG, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!new->events)
		return 0;
	if (setsockopt(mnl_socket_get_fd(new->events), SOL_SOCKET, SO_RCVBUFFORCE, &size,
		       sizeof(size)))
		setsockopt(mnl_socket_get_fd(new->events), SOL_SOCKET, SO_RCVBUF, &size,
			   sizeof(size));
	if (mnl_socket_bind(new->events, groups, MNL_SOCKET_AUTOPID) < 0) {
		mnl_socket_close(new->events);
		new->events = NULL;
	}
	return 0;
}

void sockets_close(struct sockets *sockets)
{
	if (sockets->sk)
		mnl_socket_close(sockets->sk);
	if (sockets->events)
		mnl_socket_close(sockets->events);
	free(sockets->peer);
	free(sockets);
}

static int listener_order(const void *a, const void *b)
{
	const struct watched *one = a;
	const struct watched *two = b;

	return one->port != two->port ? one->port - two->port : one->loopback - two->loopback;
}

/**
 * sockets_listeners() - look at the listeners; again: only at their queues
 * @sockets: the conversation
 * @facts: where to
 *
 * Return: 0 or a negative errno.
 */
int sockets_listeners(struct sockets *sockets, struct facts *facts)
{
	unsigned int i;
	int error;

	sockets->facts = facts;
	for (i = 0; i < facts->number; i++)
		facts->watched[i].queue = 0;
	error = dump_both(sockets, 1 << LISTEN, 1 << (INET_DIAG_SKMEMINFO - 1), take_listener);
	if (error)
		return error;
	if (!sockets->again && facts->number)
		qsort(facts->watched, facts->number, sizeof(*facts->watched), listener_order);
	for (i = 0; i < facts->number; i++)
		facts->watched[i].queued_always &= !!facts->watched[i].queue;
	sockets->again = true;
	return 0;
}

/**
 * sockets_connections() - look at the connections of the listeners
 * @sockets: the conversation, behind sockets_listeners()
 * @facts: where to
 * @name: name the processes, too
 *
 * Return: 0 or a negative errno.
 */
int sockets_connections(struct sockets *sockets, struct facts *facts, bool name)
{
	__u32 states = 1 << ESTABLISHED | 1 << CLOSE_WAIT;
	__u32 *peer = allocate(NULL, facts->number + 1, sizeof(*peer));
	unsigned int i;
	int error;

	memset(peer, 0, (facts->number + 1) * sizeof(*peer));
	error = dump_both(sockets, states, 1 << (INET_DIAG_INFO - 1), take_connection);
	if (!error && name && sockets->peers)
		error = dump_both(sockets, states, 0, take_peer);
	for (i = 0; i < sockets->peers; i++) {
		if (sockets->peer[i].inode)
			peer[sockets->peer[i].watched] = sockets->peer[i].inode;
	}
	if (name)
		processes_name(facts, peer);
	free(peer);
	return error;
}

/**
 * sockets_events() - take connections that end, for a while
 * @sockets: the conversation, behind sockets_listeners()
 * @facts: where to
 * @until_ms: when to return, from sockets_open() on
 */
void sockets_events(struct sockets *sockets, struct facts *facts, int until_ms)
{
	static char buffer[ROOM];
	struct pollfd poll_fd = { .fd = -1, .events = POLLIN };
	long long left;
	ssize_t length;

	if (sockets->events)
		poll_fd.fd = mnl_socket_get_fd(sockets->events);
	while ((left = sockets->begun + until_ms - now_ms()) > 0) {
		if (poll(&poll_fd, 1, left) <= 0)
			continue;
		/* Some are missed if there are too many. */
		length = mnl_socket_recvfrom(sockets->events, buffer, sizeof(buffer));
		if (length > 0)
			mnl_cb_run(buffer, length, 0, 0, take_event, sockets);
	}
	facts->watched_ms = now_ms() - sockets->begun;
}
