// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer fuzz destroy: what an administrator does to the sockets of the owners of
 * "tcp_peer fuzz": SOCK_DESTROY of any of them, listening, connected or half open; and
 * sysctls that change how queues are kept.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tcp_fuzz.h"

#define PAUSE_MS	100	/* at most, between two of them */
#define REPLY_MS	2000

enum { LISTENING, CONNECTED, HALF_OPEN, MIGRATE, COOKIES, ABORT, KINDS };

static const char * const names[KINDS] = {
	[LISTENING] = "destroy listening", [CONNECTED] = "destroy connected",
	[HALF_OPEN] = "destroy half-open", [MIGRATE] = "tcp_migrate_req",
	[COOKIES] = "tcp_syncookies", [ABORT] = "tcp_abort_on_overflow",
};

static unsigned int kind[KINDS];

static int diag;

struct request {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

static int ask(struct request *request)
{
	static unsigned int sequence;

	request->head.nlmsg_len = sizeof(*request);
	request->head.nlmsg_seq = ++sequence;
	return send(diag, request, sizeof(*request), 0) < 0 ? errno : 0;
}

static bool is_owners(const struct inet_diag_msg *m)
{
	int i;

	for (i = 0; i < fuzz.ports; i++)
		if (ntohs(m->id.idiag_sport) == fuzz.port[i])
			return true;
	return false;
}

/*
 * Nobody has accepted it yet.  The kernel warns when such a one is being destroyed in the
 * moment in which its listener closes (inet_csk_listen_stop(), with or without synq).
 */
static bool is_queued(const struct inet_diag_msg *m)
{
	return m->idiag_state == TCP_ESTABLISHED && !m->idiag_inode;
}

/* Reads a dump to its end; one of the sockets is chosen.  Returns how many there were. */
static unsigned int choose(struct inet_diag_msg *chosen, struct rng *rng)
{
	static char text[32768];
	unsigned int number = 0;
	ssize_t len;

	while ((len = recv(diag, text, sizeof(text), 0)) > 0) {
		struct nlmsghdr *head = (struct nlmsghdr *)text;

		for (; NLMSG_OK(head, len); head = NLMSG_NEXT(head, len)) {
			struct inet_diag_msg *m = NLMSG_DATA(head);

			if (head->nlmsg_type == NLMSG_DONE ||
			    head->nlmsg_type == NLMSG_ERROR)
				return number;
			if (!is_owners(m) || is_queued(m))
				continue;
			if (rng_one_in(rng, ++number))
				*chosen = *m;
		}
	}
	return number;
}

/* Returns an error, or 0. */
static int acknowledged(void)
{
	char text[4096];
	struct nlmsghdr *head = (struct nlmsghdr *)text;
	ssize_t len = recv(diag, text, sizeof(text), 0);
	int error = EBADMSG;

	if (len < 0)
		error = errno;
	else if (NLMSG_OK(head, len) && head->nlmsg_type == NLMSG_ERROR)
		error = -((struct nlmsgerr *)NLMSG_DATA(head))->error;
	return error;
}

static void destroy(struct rng *rng)
{
	static const struct {
		int kind;
		uint32_t states;
	} what[] = {
		{ LISTENING, 1 << TCP_LISTEN }, { CONNECTED, 1 << TCP_ESTABLISHED },
		{ HALF_OPEN, 1 << TCP_SYN_RECV },
	};
	unsigned int i = rng_below(rng, 3);
	struct request request = {
		.head.nlmsg_type = SOCK_DIAG_BY_FAMILY,
		.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		.body.sdiag_family = rng_one_in(rng, 2) ? AF_INET : AF_INET6,
		.body.sdiag_protocol = IPPROTO_TCP,
		.body.idiag_states = what[i].states,
	};
	struct inet_diag_msg chosen;

	if (ask(&request) || !choose(&chosen, rng))
		return;
	request.head.nlmsg_type = SOCK_DESTROY;
	request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	request.body.sdiag_family = chosen.idiag_family;
	request.body.id = chosen.id;
	request.body.idiag_states = ~0U;
	if (!ask(&request))
		tally_add(kind[what[i].kind], acknowledged());
}

static void set_sysctl(int which, const char *file, const char *value)
{
	write_text(file, value);
	tally_add(kind[which], 0);
}

static void change(struct rng *rng)
{
	static const char * const cookies[] = { "1", "1", "0", "2" };

	switch (rng_below(rng, 4)) {
	case 0:
		set_sysctl(COOKIES, "/proc/sys/net/ipv4/tcp_syncookies",
			   cookies[rng_below(rng, 4)]);
		break;
	case 1:
		set_sysctl(ABORT, "/proc/sys/net/ipv4/tcp_abort_on_overflow",
			   rng_one_in(rng, 4) ? "1" : "0");
		break;
	default:
		set_sysctl(MIGRATE, "/proc/sys/net/ipv4/tcp_migrate_req",
			   rng_one_in(rng, 4) ? "0" : "1");
	}
}

int fuzz_destroy(void)
{
	struct timeval reply = { REPLY_MS / 1000 };
	uint64_t n;
	int i;

	for (i = 0; i < KINDS; i++)
		kind[i] = tally_kind(names[i], i == HALF_OPEN ? WANT_ANY : WANT_OK);
	diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (diag < 0)
		die("sock_diag: %s", strerror(errno));
	setsockopt(diag, SOL_SOCKET, SO_RCVTIMEO, &reply, sizeof(reply));
	printf("destroying\n");
	for (n = 0; !is_time_for(fuzz.settle) && !is_time_for(fuzz.end); n++) {
		struct rng rng = rng_of(2000, n);

		if (rng_one_in(&rng, 4))
			change(&rng);
		else if (!is_left_out("destroy"))
			destroy(&rng);
		pause_ms(rng_below(&rng, PAUSE_MS));
	}
	write_text("/proc/sys/net/ipv4/tcp_syncookies", "1");
	write_text("/proc/sys/net/ipv4/tcp_abort_on_overflow", "0");
	tally_report("destroy");
	return 0;
}
