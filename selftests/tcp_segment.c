// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer segment [OPTION...] ADDRESS PORT: -n bare TCP segments through a raw
 * socket, from -S addresses from -s on, with the flags of -f (letters of
 * FSRPAUEC; default S), -d bytes of data and source ports from -p on.  -r N sends
 * N in a second, the default as fast as possible.  IPv4 and IPv6; -x puts a
 * destination options header before TCP, -V the fragment header of a packet that
 * is whole (both IPv6); -F N splits what is behind the IPv4 header into fragments of
 * 8 * N bytes.  -o LIST has other options than an MSS (see tcp_answer.c), -t TOS and
 * -T TTL say what the IP header has, -W leaves a wrong checksum, and -w MS prints
 * what is answered until MS after the last.
 *
 * -B MTU sends no segments but ICMPv6 messages that packets
 * to these sources are bigger than MTU.
 *
 * Prints "sent N MS" at the end.  Answers go to whoever owns the source.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tcp_peer.h"

#define DATA_MAX	1000

static struct {
	struct address from;
	struct address to;
	int step;
	int number;
	int rate;
	int flags;
	int port;
	int data;
	int too_big;
	int piece;
	int tos;
	int ttl;
	int wait;
	const char *options;
	bool extension;
	bool fragment;
	bool wrong;
} opt = { .step = 1, .number = 1, .flags = TH_SYN, .port = 20000, .ttl = 64,
	  .options = "mss=1460" };

/* With the pseudo header. */
static uint16_t sum_of(const struct address *from, int protocol,
		       const void *bytes, size_t len)
{
	uint32_t sum = protocol + len;

	if (from->sa.sa_family == AF_INET) {
		sum = sum_add(sum, &from->in.sin_addr, 4);
		sum = sum_add(sum, &opt.to.in.sin_addr, 4);
	} else {
		sum = sum_add(sum, &from->in6.sin6_addr, 16);
		sum = sum_add(sum, &opt.to.in6.sin6_addr, 16);
	}
	return htons(~sum_fold(sum_add(sum, bytes, len)) & 0xffff);
}

/* A header, with options on a SYN; returns its length with the data. */
static size_t make_tcp(uint8_t *to, const struct address *from, uint32_t n)
{
	size_t len = 20;
	uint16_t sum;

	memset(to, 0, len);
	if (opt.flags & TH_SYN)
		len += options_make(to + len, opt.options);
	to[0] = (opt.port + n % 40000) >> 8;
	to[1] = (opt.port + n % 40000) & 0xff;
	memcpy(to + 2, &opt.to.in.sin_port, 2);
	n = htonl(mix(n));
	memcpy(to + 4, &n, 4);
	if (opt.flags & TH_ACK)
		memcpy(to + 8, &n, 4);
	to[12] = len / 4 << 4;
	to[13] = opt.flags;
	to[14] = 0xff;
	memset(to + len, 'x', opt.data);
	len += opt.data;
	sum = sum_of(from, IPPROTO_TCP, to, len) ^ opt.wrong;
	memcpy(to + 16, &sum, 2);
	return len;
}

/*
 * Of a ping from the destination that did not fit: the kernel wants no socket to
 * believe that.
 */
static size_t make_too_big(uint8_t *to, const struct address *from)
{
	struct {
		struct icmp6_hdr error;
		struct ip6_hdr ip;
		struct icmp6_hdr ping;
	} message = {
		.error = {
			.icmp6_type = ICMP6_PACKET_TOO_BIG,
			.icmp6_mtu = htonl(opt.too_big),
		},
		.ip = {
			.ip6_src = opt.to.in6.sin6_addr,
			.ip6_dst = from->in6.sin6_addr,
			.ip6_plen = htons(1452),
			.ip6_nxt = IPPROTO_ICMPV6,
			.ip6_hlim = 64,
		},
		.ping.icmp6_type = ICMP6_ECHO_REQUEST,
	};

	message.ip.ip6_vfc = 0x60;
	message.error.icmp6_cksum = sum_of(from, IPPROTO_ICMPV6, &message,
					   sizeof(message));
	memcpy(to, &message, sizeof(message));
	return sizeof(message);
}

static size_t make4(uint8_t *to, const struct address *from, uint32_t n)
{
	struct ip ip = {
		.ip_v = 4, .ip_hl = 5, .ip_p = IPPROTO_TCP,
		.ip_tos = opt.tos, .ip_ttl = opt.ttl,
		.ip_src = from->in.sin_addr, .ip_dst = opt.to.in.sin_addr,
	};
	size_t len = sizeof(ip) + make_tcp(to + sizeof(ip), from, n);

	ip.ip_len = htons(len);
	memcpy(to, &ip, sizeof(ip));	/* the kernel fills in the checksum */
	return len;
}

static size_t make6(uint8_t *to, const struct address *from, uint32_t n)
{
	struct ip6_hdr ip = {
		.ip6_hlim = opt.ttl,
		.ip6_src = from->in6.sin6_addr, .ip6_dst = opt.to.in6.sin6_addr,
	};
	size_t at = sizeof(ip);
	uint8_t *next = &ip.ip6_nxt;

	ip.ip6_flow = htonl(0x60000000 | opt.tos << 20);
	if (opt.extension) {
		*next = IPPROTO_DSTOPTS;
		next = to + at;
		memcpy(to + at, "\0\0\1\4\0\0\0\0", 8);	/* padding */
		at += 8;
	}
	if (opt.fragment) {
		*next = IPPROTO_FRAGMENT;
		next = to + at;
		memset(to + at, 0, 8);
		at += 8;
	}
	*next = opt.too_big ? IPPROTO_ICMPV6 : IPPROTO_TCP;
	at += opt.too_big ? make_too_big(to + at, from) :
			    make_tcp(to + at, from, n);
	ip.ip6_plen = htons(at - sizeof(ip));
	memcpy(to, &ip, sizeof(ip));
	return at;
}

static void send_packet(int fd, const void *packet, size_t len)
{
	struct address to = opt.to;

	address_set_port(&to, 0);
	while (sendto(fd, packet, len, 0, &to.sa, to.len) < 0) {
		if (errno != ENOBUFS && errno != EAGAIN)
			die("sendto: %s", strerror(errno));
		pause_ms(1);
	}
}

static void send_pieces(int fd, const uint8_t *packet, size_t len, uint32_t n)
{
	uint8_t piece[DATA_MAX + 200];
	struct ip ip;
	size_t at, size, most = opt.piece;

	memcpy(&ip, packet, sizeof(ip));
	ip.ip_id = htons(n + opt.port);
	for (at = sizeof(ip); at < len; at += size) {
		size = len - at < most ? len - at : most;
		ip.ip_off = htons((at - sizeof(ip)) / 8 |
				  (at + size < len ? IP_MF : 0));
		ip.ip_len = htons(sizeof(ip) + size);
		memcpy(piece, &ip, sizeof(ip));
		memcpy(piece + sizeof(ip), packet + at, size);
		send_packet(fd, piece, sizeof(ip) + size);
	}
}

static void send_one(int fd, uint32_t n)
{
	uint8_t packet[DATA_MAX + 200];
	struct address from = opt.from;
	size_t len;

	address_step(&from, n % opt.step);
	len = from.sa.sa_family == AF_INET ? make4(packet, &from, n) :
					     make6(packet, &from, n);
	if (opt.piece && from.sa.sa_family == AF_INET)
		send_pieces(fd, packet, len, n);
	else
		send_packet(fd, packet, len);
}

static int flags_of(const char *text)
{
	static const char letters[] = "FSRPAUEC";
	int flags = 0;

	for (; *text; text++) {
		const char *letter = strchr(letters, *text);

		if (!letter)
			die("%s: not flags (%s)", text, letters);
		flags |= 1 << (letter - letters);
	}
	return flags;
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "N:s:S:n:r:f:p:d:o:t:T:w:B:F:xVW")) != -1) {
		switch (c) {
		case 'N': enter_netns(optarg); break;
		case 's': address_parse(&opt.from, optarg); break;
		case 'S': opt.step = number(optarg, 1, 1 << 24); break;
		case 'n': opt.number = number(optarg, 1, 1 << 24); break;
		case 'r': opt.rate = number(optarg, 1, 1 << 24); break;
		case 'f': opt.flags = flags_of(optarg); break;
		case 'p': opt.port = number(optarg, 1, 25535); break;
		case 'd': opt.data = number(optarg, 0, DATA_MAX); break;
		case 'B': opt.too_big = number(optarg, 1280, 65535); break;
		case 'F': opt.piece = number(optarg, 1, 125) * 8; break;
		case 'o': opt.options = optarg; break;
		case 't': opt.tos = number(optarg, 0, 255); break;
		case 'T': opt.ttl = number(optarg, 1, 255); break;
		case 'w': opt.wait = number(optarg, 1, 1 << 20); break;
		case 'W': opt.wrong = true; break;
		case 'x': opt.extension = true; break;
		case 'V': opt.fragment = true; break;
		default: die("segment: a wrong option");
		}
	}
	if (optind + 2 != argc)
		die("segment: address and port are missing");
	address_parse(&opt.to, argv[optind]);
	address_set_port(&opt.to, number(argv[optind + 1], 1, 65535));
	if (opt.from.sa.sa_family != opt.to.sa.sa_family)
		die("segment: a source of the same family is missing");
}

int segment_main(int argc, char **argv)
{
	long long begun;
	int fd, answers = -1, n = 0;

	parse(argc, argv);
	fd = socket(opt.to.sa.sa_family, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	if (fd < 0)
		die("socket: %s", strerror(errno));
	if (opt.wait)
		answers = answers_open();
	begun = now_ms();
	while (n < opt.number) {
		if (opt.rate && (now_ms() - begun) * opt.rate / 1000 < n) {
			pause_ms(1);
			continue;
		}
		send_one(fd, n++);
	}
	printf("sent %d %lld\n", n, now_ms() - begun);
	if (opt.wait) {
		struct question question = {
			.to = opt.to, .port = opt.port, .number = n,
			.seq = mix(0),
		};

		printf("answers %d\n",
		       answers_print(answers, opt.wait, &question));
	}
	return 0;
}
