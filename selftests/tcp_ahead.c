// SPDX-License-Identifier: GPL-2.0
/*
 * Segments of a connection that its peer's TCP ignores, since they are beyond its window, and
 * that belong to it for all that the rest of their headers says.  IPv4.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "tcp_peer.h"

#define BEYOND	(8 << 20)	/* bytes: no window is as large here */

/* Where one of the queues is, as the kernel says to who checkpoints a process. */
static uint32_t sequence(int fd, int queue)
{
	uint32_t seq;
	socklen_t len = sizeof(seq);

	set_option(fd, IPPROTO_TCP, TCP_REPAIR_QUEUE, queue, "TCP_REPAIR_QUEUE");
	if (getsockopt(fd, IPPROTO_TCP, TCP_QUEUE_SEQ, &seq, &len))
		die("TCP_QUEUE_SEQ: %s", strerror(errno));
	return seq;
}

static void send_segment(int raw, const struct address *from, const struct address *to,
			 uint32_t seq, uint32_t ack, bool resets)
{
	struct {
		struct tcphdr head;
		char data;
	} __attribute__((packed)) segment = {
		.head = {
			.th_sport = from->in.sin_port,
			.th_dport = to->in.sin_port,
			.th_seq = htonl(seq),
			.th_ack = htonl(ack),
			.th_off = sizeof(struct tcphdr) / 4,
			.th_flags = resets ? TH_RST | TH_ACK : TH_PUSH | TH_ACK,
			.th_win = 0xffff,
		},
		.data = 'x',
	};
	size_t len = sizeof(segment) - resets;
	struct address bare = *to;
	uint32_t sum = IPPROTO_TCP + len;

	sum = sum_add(sum, &from->in.sin_addr, sizeof(from->in.sin_addr));
	sum = sum_add(sum, &to->in.sin_addr, sizeof(to->in.sin_addr));
	segment.head.th_sum = htons(~sum_fold(sum_add(sum, &segment, len)) & 0xffff);
	address_set_port(&bare, 0);
	if (sendto(raw, &segment, len, 0, &bare.sa, bare.len) != (ssize_t)len)
		die("sendto: %s", strerror(errno));
}

/*
 * Data far ahead, and a reset right behind that.  Whoever checkpoints a process has to be
 * root of its network namespace.
 */
void send_ahead(int fd)
{
	struct address from = { .len = sizeof(from.in6) }, to = from;
	int raw = socket(AF_INET, SOCK_RAW, IPPROTO_TCP);
	uint32_t seq, ack;

	if (raw < 0 || getsockname(fd, &from.sa, &from.len) ||
	    getpeername(fd, &to.sa, &to.len))
		die("a socket: %s", strerror(errno));
	set_option(fd, IPPROTO_TCP, TCP_REPAIR, TCP_REPAIR_ON, "TCP_REPAIR");
	seq = sequence(fd, TCP_SEND_QUEUE);
	ack = sequence(fd, TCP_RECV_QUEUE);
	set_option(fd, IPPROTO_TCP, TCP_REPAIR, TCP_REPAIR_OFF_NO_WP, "TCP_REPAIR");
	bind_source(raw, from);
	send_segment(raw, &from, &to, seq + BEYOND, ack, false);
	send_segment(raw, &from, &to, seq + BEYOND + 1, ack, true);
	close(raw);
}
