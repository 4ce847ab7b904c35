// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer segment [OPTION...] ADDRESS PORT: -n bare TCP segments through a raw
 * socket, from -S addresses from -s on, with the flags of -f (letters of
 * FSRPAUECN, N being what was NS and is AE; default S), -d bytes of data and source
 * ports from -p on.  -r N sends N in a second, the default as fast as possible; -E FILE
 * goes on after them until FILE exists.  IPv4 and IPv6.  -o LIST has other options than an MSS (see
 * tcp_answer.c), -t TOS and -T TTL say what the IP header has, and -w MS prints what
 * is answered until MS after the last.
 *
 * -X LIST puts extension headers before TCP (IPv6): d destination options, h
 * hop-by-hop options, r routing, f the fragment header of a packet that is whole,
 * l options that are longer than the packet, u an unknown one, n "no next
 * header".  -F N splits what is behind the IP header into fragments of 8 * N bytes;
 * each begins -Y N times 8 bytes before the end of the last, and -M leaves out the
 * last.
 *
 * Malformed: -W has a wrong checksum, -D N says that the TCP header has N words, -c N
 * cuts the segment to N bytes, -Z changes some bytes of the TCP header, others each
 * time, but not its ports, and the checksum is right.
 *
 * -B MTU sends no segments but ICMPv6 messages that packets
 * to these sources are bigger than MTU.
 *
 * Prints "sent N MS" at the end.  Answers go to the owner of the source.
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

#define DATA_MAX	1400
#define PACKET_MAX	(DATA_MAX + 600)

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
	int overlap;
	int doff;
	int cut;
	int tos;
	int ttl;
	int wait;
	const char *options;
	const char *chain;
	const char *end;
	bool no_last;
	bool mutate;
	bool wrong;
} opt = { .step = 1, .number = 1, .flags = TH_SYN, .port = 20000, .ttl = 64,
	  .options = "mss=1460", .chain = "", .doff = -1, .cut = PACKET_MAX };

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

/* Up to four bytes behind the ports become others; the same for the same @n. */
static void mutate(uint8_t *tcp, size_t len, uint32_t n)
{
	uint64_t random = mix(n + 1);
	int i;

	for (i = random & 3; i >= 0; i--) {
		random = mix(random);
		tcp[4 + random % (len - 4)] = random >> 32;
	}
	tcp[16] = 0;
	tcp[17] = 0;
}

/* A header, with options on a SYN; returns its length with the data. */
static size_t make_tcp(uint8_t *to, const struct address *from, uint32_t n)
{
	const uint32_t number = n;
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
	to[12] = (opt.doff >= 0 ? opt.doff : (int)len / 4) << 4 | opt.flags >> 8;
	to[13] = opt.flags;
	to[14] = 0xff;
	if (opt.mutate)
		mutate(to, len, number);
	memset(to + len, 'x', opt.data);
	len += opt.data;
	if (len > (size_t)opt.cut)
		return opt.cut;
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

/* An extension header; returns its type, @to its length. */
static uint8_t make_extension(uint8_t *to, char what, size_t *len)
{
	static const uint8_t padding[8] = { 0, 0, 1, 4 };

	memcpy(to, padding, sizeof(padding));
	*len = sizeof(padding);
	switch (what) {
	case 'd':
		return IPPROTO_DSTOPTS;
	case 'h':
		return IPPROTO_HOPOPTS;
	case 'l':
		to[1] = 255;
		return IPPROTO_DSTOPTS;
	case 'r':
		memset(to, 0, sizeof(padding));
		return IPPROTO_ROUTING;
	case 'f':
		memset(to, 0, sizeof(padding));
		return IPPROTO_FRAGMENT;
	case 'u':
		return 253;	/* for experiments, RFC 3692 */
	case 'n':
		*len = 0;
		return IPPROTO_NONE;
	}
	die("%c: not an extension header", what);
}

static size_t make6(uint8_t *to, const struct address *from, uint32_t n)
{
	struct ip6_hdr ip = {
		.ip6_hlim = opt.ttl,
		.ip6_src = from->in6.sin6_addr, .ip6_dst = opt.to.in6.sin6_addr,
	};
	size_t at = sizeof(ip), len;
	uint8_t *next = &ip.ip6_nxt;
	const char *what;

	ip.ip6_flow = htonl(0x60000000 | opt.tos << 20);
	for (what = opt.chain; *what; what++, at += len) {
		*next = make_extension(to + at, *what, &len);
		next = to + at;
	}
	if (!strchr(opt.chain, 'n'))
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

/* A fragment: @size bytes from @at on of what is behind the IPv4 header. */
static size_t make_piece4(uint8_t *to, const uint8_t *packet, size_t at,
			  size_t size, bool more, uint32_t n)
{
	struct ip ip;

	memcpy(&ip, packet, sizeof(ip));
	ip.ip_id = htons(n + opt.port);
	ip.ip_off = htons(at / 8 | (more ? IP_MF : 0));
	ip.ip_len = htons(sizeof(ip) + size);
	memcpy(to, &ip, sizeof(ip));
	memcpy(to + sizeof(ip), packet + sizeof(ip) + at, size);
	return sizeof(ip) + size;
}

static size_t make_piece6(uint8_t *to, const uint8_t *packet, size_t at,
			  size_t size, bool more, uint32_t n)
{
	struct ip6_frag fragment = { .ip6f_ident = htonl(n + opt.port) };
	struct ip6_hdr ip;
	size_t len = sizeof(ip) + sizeof(fragment);

	memcpy(&ip, packet, sizeof(ip));
	fragment.ip6f_nxt = ip.ip6_nxt;
	fragment.ip6f_offlg = htons(at | more);
	ip.ip6_nxt = IPPROTO_FRAGMENT;
	ip.ip6_plen = htons(sizeof(fragment) + size);
	memcpy(to, &ip, sizeof(ip));
	memcpy(to + sizeof(ip), &fragment, sizeof(fragment));
	memcpy(to + len, packet + sizeof(ip) + at, size);
	return len + size;
}

static void send_pieces(int fd, const uint8_t *packet, size_t len, uint32_t n)
{
	bool is_v6 = opt.to.sa.sa_family == AF_INET6;
	size_t at, size, most = opt.piece;
	uint8_t piece[PACKET_MAX + 8];

	len -= is_v6 ? sizeof(struct ip6_hdr) : sizeof(struct ip);
	for (at = 0; at < len; at += size - opt.overlap) {
		bool more = len - at > most;

		size = more ? most : len - at;
		if (!more && opt.no_last)
			break;
		send_packet(fd, piece, is_v6 ?
			    make_piece6(piece, packet, at, size, more, n) :
			    make_piece4(piece, packet, at, size, more, n));
		if (!more)
			break;
	}
}

static void send_one(int fd, uint32_t n)
{
	uint8_t packet[PACKET_MAX];
	struct address from = opt.from;
	size_t len;

	address_step(&from, n % opt.step);
	len = from.sa.sa_family == AF_INET ? make4(packet, &from, n) :
					     make6(packet, &from, n);
	if (opt.piece)
		send_pieces(fd, packet, len, n);
	else
		send_packet(fd, packet, len);
}

static int flags_of(const char *text)
{
	static const char letters[] = "FSRPAUECN";
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

	while ((c = getopt(argc, argv, "N:s:S:n:r:f:p:d:o:t:T:w:B:c:D:E:F:X:Y:MWZ")) != -1) {
		switch (c) {
		case 'N': enter_netns(optarg); break;
		case 's': address_parse(&opt.from, optarg); break;
		case 'S': opt.step = number(optarg, 1, 1 << 24); break;
		case 'n': opt.number = number(optarg, 1, 1 << 24); break;
		case 'r': opt.rate = number(optarg, 1, 1 << 24); break;
		case 'f': opt.flags = flags_of(optarg); break;
		case 'p': opt.port = number(optarg, 1, 65535); break;
		case 'd': opt.data = number(optarg, 0, DATA_MAX); break;
		case 'B': opt.too_big = number(optarg, 1280, 65535); break;
		case 'F': opt.piece = number(optarg, 1, 125) * 8; break;
		case 'o': opt.options = optarg; break;
		case 't': opt.tos = number(optarg, 0, 255); break;
		case 'T': opt.ttl = number(optarg, 1, 255); break;
		case 'w': opt.wait = number(optarg, 1, 1 << 20); break;
		case 'W': opt.wrong = true; break;
		case 'c': opt.cut = number(optarg, 0, PACKET_MAX); break;
		case 'D': opt.doff = number(optarg, 0, 15); break;
		case 'E': opt.end = optarg; break;
		case 'X': opt.chain = optarg; break;
		case 'Y': opt.overlap = number(optarg, 0, 124) * 8; break;
		case 'M': opt.no_last = true; break;
		case 'Z': opt.mutate = true; break;
		default: die("segment: a wrong option");
		}
	}
	if (optind + 2 != argc)
		die("segment: address and port are missing");
	address_parse(&opt.to, argv[optind]);
	address_set_port(&opt.to, number(argv[optind + 1], 1, 65535));
	if (opt.from.sa.sa_family != opt.to.sa.sa_family)
		die("segment: a source of the same family is missing");
	if (strlen(opt.chain) > 16 || (opt.piece && opt.overlap >= opt.piece))
		die("segment: too many extension headers, or too much overlap");
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
	while (n < opt.number || (opt.end && !exists(opt.end))) {
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
