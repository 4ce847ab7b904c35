// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the replies to the segments of "tcp_peer segment".  A packet socket reads them,
 * so their destination need not exist.  One line for each TCP segment from the destination
 * to one of their source ports, with all fields that do not vary between replies:
 *
 *   answer PORT v=4 tos=0x00 ttl=64 df=1 id=0 flags=SA ack=1 window=64240
 *   options=mss:1460,sack,ts,nop,ws:7 tsecr=1000 sum=right
 *
 * and two that do, seq= and tsval=.  PORT is its destination port; ack= counts from the
 * sequence number of the first segment; sum= is "partial" if a device is to fill it in, see
 * "tcp_peer plain".
 *
 * tcp_peer plain -N NAME DEVICE: let the kernel fill in all checksums of packets that
 * leave by a device.  tcp_peer lists -N NAME DEVICE, for both ends of a veth: packets that
 * arrive together pass the stack in lists of eight (GRO), as with most network cards.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tcp_peer.h"

#define FAST_OPEN	34	/* kind of the option, RFC 7413 */

/*
 * Options from a list such as "mss=1460,sack,ts=1000,ws=7,join", with NOPs to make
 * it whole words; returns their length.  "fo" asks for a Fast Open cookie, "fo=HEX"
 * has one, and "hex=HEX" is any bytes.
 */
static uint8_t *add_hex(uint8_t *to, const char *text)
{
	unsigned int byte;

	for (; text && sscanf(text, "%2x", &byte) == 1; text += 2) {
		*to++ = byte;
		if (!text[1])
			break;
	}
	return to;
}

size_t options_make(uint8_t *to, const char *list)
{
	char *copy = strdup(list), *rest = copy, *word;
	uint8_t *at = to;

	while ((word = strsep(&rest, ","))) {
		char *value = strchr(word, '=');
		unsigned long n = value ? strtoul(value + 1, NULL, 0) : 0;

		if (value)
			*value = '\0';
		if (at - to + (value ? strlen(value + 1) / 2 : 0) > 40) {
			die("%s: too many options", list);
		} else if (!strcmp(word, "mss")) {
			uint8_t mss[] = { TCPOPT_MAXSEG, 4, n >> 8, n };

			memcpy(at, mss, sizeof(mss));
			at += sizeof(mss);
		} else if (!strcmp(word, "sack")) {
			*at++ = TCPOPT_SACK_PERMITTED;
			*at++ = 2;
		} else if (!strcmp(word, "ws")) {
			*at++ = TCPOPT_WINDOW;
			*at++ = 3;
			*at++ = n;
		} else if (!strcmp(word, "ts")) {
			uint8_t ts[] = {
				TCPOPT_TIMESTAMP, 10,
				n >> 24, n >> 16, n >> 8, n, 0, 0, 0, 0,
			};

			memcpy(at, ts, sizeof(ts));
			at += sizeof(ts);
		} else if (!strcmp(word, "join")) {
			uint8_t join[12] = { 30, 12, 0x10 };

			memcpy(at, join, sizeof(join));
			at += sizeof(join);
		} else if (!strcmp(word, "fo")) {
			uint8_t *end = add_hex(at + 2, value ? value + 1 : NULL);

			at[0] = FAST_OPEN;
			at[1] = end - at;
			at = end;
		} else if (!strcmp(word, "hex")) {
			at = add_hex(at, value + 1);
		} else if (*word) {
			die("%s: not an option", word);
		}
	}
	free(copy);
	while ((at - to) % 4)
		*at++ = TCPOPT_NOP;
	if (at - to > 40)
		die("%s: too many options", list);
	return at - to;
}

int answers_open(void)
{
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ALL));

	if (fd < 0)
		die("packet socket: %s", strerror(errno));
	/* What is sent would fill it before anybody reads. */
	set_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1,
		   "PACKET_IGNORE_OUTGOING");
	return fd;
}

static uint32_t word_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 |
	       bytes[3];
}

static void print_options(const uint8_t *at, const uint8_t *end)
{
	uint32_t tsval = 0, tsecr = 0;
	const char *comma = "";

	printf(" options=");
	for (; at < end && *at; comma = ",") {
		size_t len = *at == TCPOPT_NOP || at + 1 == end ? 1 : at[1];

		if (!len || at + len > end)
			break;
		printf("%s", comma);
		if (*at == TCPOPT_NOP) {
			printf("nop");
		} else if (*at == TCPOPT_MAXSEG) {
			printf("mss:%u", at[2] << 8 | at[3]);
		} else if (*at == TCPOPT_SACK_PERMITTED) {
			printf("sack");
		} else if (*at == TCPOPT_WINDOW) {
			printf("ws:%u", at[2]);
		} else if (*at == TCPOPT_TIMESTAMP && len == 10) {
			printf("ts");
			tsval = word_at(at + 2);
			tsecr = word_at(at + 6);
		} else {
			size_t i;

			if (*at == FAST_OPEN)
				printf("fo:");
			else
				printf("%u:", *at);
			for (i = 2; i < len; i++)
				printf("%02x", at[i]);
		}
		at += len;
	}
	if (tsval)
		printf(" tsecr=%u tsval=%u", tsecr, tsval);
}

static void print_flags(unsigned int flags)
{
	static const char letters[] = "FSRPAUECN";
	int i;

	printf(" flags=");
	for (i = 0; i < 9; i++)
		if (flags & 1 << i)
			putchar(letters[i]);
}

/* @tcp: with the data; @addresses: sum of both */
static void print_tcp(const uint8_t *tcp, size_t len, uint32_t addresses,
		      uint32_t seq)
{
	uint32_t pseudo = addresses + IPPROTO_TCP + len;
	size_t header = (tcp[12] >> 4) * 4;

	print_flags((tcp[12] & 1) << 8 | tcp[13]);
	printf(" ack=%u window=%u data=%zu",
	       tcp[13] & TH_ACK ? word_at(tcp + 8) - seq : 0,
	       tcp[14] << 8 | tcp[15], len - header);
	print_options(tcp + 20, tcp + header);
	printf(" sum=%s seq=%u\n",
	       sum_fold(sum_add(pseudo, tcp, len)) == 0xffff ? "right" :
	       sum_fold(pseudo) == (tcp[16] << 8 | tcp[17]) ? "partial" : "wrong",
	       word_at(tcp + 4));
}

static bool is_answer(const uint8_t *tcp, size_t len, const struct question *to)
{
	int port = tcp[2] << 8 | tcp[3];

	return len >= 20 && len >= (size_t)(tcp[12] >> 4) * 4 &&
	       (tcp[0] << 8 | tcp[1]) == (int)address_port(&to->to) &&
	       port >= to->port && port < to->port + to->number;
}

static bool print4(const uint8_t *packet, size_t len, const struct question *to)
{
	const uint8_t *tcp = packet + 20;
	struct ip ip;

	memcpy(&ip, packet, sizeof(ip));
	if (len < 40 || ip.ip_hl != 5 || ip.ip_p != IPPROTO_TCP ||
	    ntohs(ip.ip_len) > len ||
	    ip.ip_src.s_addr != to->to.in.sin_addr.s_addr)
		return false;
	len = ntohs(ip.ip_len) - 20;
	if (!is_answer(tcp, len, to))
		return false;
	printf("answer %u v=4 tos=0x%02x ttl=%u df=%u id=%u",
	       tcp[2] << 8 | tcp[3], ip.ip_tos, ip.ip_ttl,
	       ntohs(ip.ip_off) >> 14 & 1, ntohs(ip.ip_id));
	print_tcp(tcp, len, sum_add(0, packet + 12, 8), to->seq);
	return true;
}

static bool print6(const uint8_t *packet, size_t len, const struct question *to)
{
	const uint8_t *tcp = packet + 40;
	struct ip6_hdr ip;

	memcpy(&ip, packet, sizeof(ip));
	if (len < 60 || ip.ip6_nxt != IPPROTO_TCP ||
	    ntohs(ip.ip6_plen) + 40U > len ||
	    memcmp(&ip.ip6_src, &to->to.in6.sin6_addr, 16))
		return false;
	len = ntohs(ip.ip6_plen);
	if (!is_answer(tcp, len, to))
		return false;
	printf("answer %u v=6 tos=0x%02x ttl=%u label=%s",
	       tcp[2] << 8 | tcp[3], ntohl(ip.ip6_flow) >> 20 & 0xff,
	       ip.ip6_hlim, ntohl(ip.ip6_flow) & 0xfffff ? "some" : "none");
	print_tcp(tcp, len, sum_add(0, packet + 8, 32), to->seq);
	return true;
}

/* Prints what is answered for @ms; returns how many. */
int answers_print(int fd, long ms, const struct question *to)
{
	long long end = now_ms() + ms;
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	uint8_t packet[2048];
	int number = 0;
	long left;

	while ((left = end - now_ms()) > 0) {
		ssize_t len;

		if (poll(&poll_fd, 1, left) <= 0)
			continue;
		len = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);
		if (len < 20)
			continue;
		number += packet[0] >> 4 == 4 ? print4(packet, len, to) :
						print6(packet, len, to);
	}
	return number;
}

/* Enters the namespace; returns the device. */
static const char *device_of(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "N:")) != -1) {
		if (c != 'N')
			die("%s: a wrong option", argv[0]);
		enter_netns(optarg);
	}
	if (optind + 1 != argc)
		die("%s: the device is missing", argv[0]);
	return argv[optind];
}

static void set_feature(const char *device, uint32_t feature, uint32_t on)
{
	struct ethtool_value value = { .cmd = feature, .data = on };
	struct ifreq request = { .ifr_data = (void *)&value };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
	if (fd < 0 || ioctl(fd, SIOCETHTOOL, &request))
		die("%s: %s", device, strerror(errno));
	close(fd);
}

int plain_main(int argc, char **argv)
{
	set_feature(device_of(argc, argv), ETHTOOL_STXCSUM, 0);
	return 0;
}

/* A veth looks for lists only if the other end cuts into segments itself. */
int lists_main(int argc, char **argv)
{
	const char *device = device_of(argc, argv);

	set_feature(device, ETHTOOL_STSO, 0);
	set_feature(device, ETHTOOL_SGRO, 1);
	return 0;
}
