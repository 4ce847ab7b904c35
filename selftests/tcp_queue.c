// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer queue -N NAME N FILE TEXT [MORE]: holds up the packets that nft has queued
 * (queue 0) until N have come, writes TEXT to FILE (of /proc/sys), and lets them all go
 * as soon as MORE have come (0).  So the setting has certainly changed between what the
 * stack does before and what it does after.  Prints "ready", "written", and
 *
 *   let go NUMBER MS
 *
 * MS is the time for which the first of MORE was held, or, if there are none, the
 * first.  When that is printed the stack has done with them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/netlink.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>

#include "tcp_peer.h"

#define TYPE(message)	(NFNL_SUBSYS_QUEUE << 8 | (message))

static uint32_t last;		/* id, network order */
static long long first_ms;

static int queue_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);

	if (fd < 0)
		skip("nfnetlink");
	return fd;
}

/* A message with one attribute, for queue 0. */
static void tell(int fd, int type, int attribute, const void *data, size_t len)
{
	struct {
		struct nlmsghdr header;
		struct nfgenmsg family;
		struct nlattr attribute;
		uint8_t data[16];
	} message = {
		.header = {
			.nlmsg_len = sizeof(message) - sizeof(message.data) +
				     NLMSG_ALIGN(len),
			.nlmsg_type = TYPE(type),
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.family.version = NFNETLINK_V0,
		.attribute = {
			.nla_len = NLA_HDRLEN + len,
			.nla_type = attribute,
		},
	};

	memcpy(message.data, data, len);
	if (send(fd, &message, message.header.nlmsg_len, 0) < 0)
		die("nfnetlink: %s", strerror(errno));
}

static void on_packet(const struct nlmsghdr *header)
{
	const struct nlattr *attribute = (const void *)
		((const uint8_t *)header + NLMSG_LENGTH(sizeof(struct nfgenmsg)));
	struct nfqnl_msg_packet_hdr packet;

	if (attribute->nla_type != NFQA_PACKET_HDR)
		die("nfnetlink: a packet without its header");
	memcpy(&packet, (const uint8_t *)attribute + NLA_HDRLEN,
	       sizeof(packet));
	last = packet.packet_id;
	if (!first_ms)
		first_ms = now_ms();
}

/* Until @packets and @answers have come. */
static void await(int fd, int packets, int answers)
{
	uint8_t buffer[8192] __attribute__((aligned(8)));

	while (packets > 0 || answers > 0) {
		ssize_t len = recv(fd, buffer, sizeof(buffer), 0);
		const struct nlmsghdr *header = (const void *)buffer;
		const struct nlmsgerr *error = NLMSG_DATA(header);

		if (len < (ssize_t)sizeof(*header))
			die("nfnetlink: %s", strerror(errno));
		if (header->nlmsg_type == TYPE(NFQNL_MSG_PACKET)) {
			on_packet(header);
			packets--;
		} else if (header->nlmsg_type == NLMSG_ERROR) {
			errno = -error->error;
			if (errno)
				skip("nfnetlink_queue");
			answers--;
		}
	}
}

static void bind_queue(int fd)
{
	const struct nfqnl_msg_config_cmd bind = {
		.command = NFQNL_CFG_CMD_BIND,
	};
	const struct nfqnl_msg_config_params params = {
		.copy_mode = NFQNL_COPY_META,
	};

	tell(fd, NFQNL_MSG_CONFIG, NFQA_CFG_CMD, &bind, sizeof(bind));
	await(fd, 0, 1);
	tell(fd, NFQNL_MSG_CONFIG, NFQA_CFG_PARAMS, &params, sizeof(params));
	await(fd, 0, 1);
}

/* All up to the last. */
static void let_go(int fd)
{
	const struct nfqnl_msg_verdict_hdr verdict = {
		.verdict = htonl(NF_ACCEPT),
		.id = last,
	};

	tell(fd, NFQNL_MSG_VERDICT_BATCH, NFQA_VERDICT_HDR, &verdict,
	     sizeof(verdict));
	await(fd, 0, 1);
}

int queue_main(int argc, char **argv)
{
	int c, fd, n, more = 0;
	long long held;

	while ((c = getopt(argc, argv, "N:")) != -1) {
		if (c != 'N')
			die("queue: a wrong option");
		enter_netns(optarg);
	}
	argv += optind;
	argc -= optind;
	if (argc < 3 || argc > 4)
		die("queue: N FILE TEXT [MORE]");
	n = number(argv[0], 1, 1000);
	if (argc == 4)
		more = number(argv[3], 0, 1000);
	fd = queue_open();
	bind_queue(fd);
	puts("ready");
	await(fd, n, 0);
	write_text(argv[1], argv[2]);
	if (more) {
		puts("written");
		first_ms = 0;
		await(fd, more, 0);
	}
	held = now_ms() - first_ms;
	let_go(fd);
	printf("let go %d %lld\n", n + more, held);
	return 0;
}
