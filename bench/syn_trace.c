// SPDX-License-Identifier: GPL-2.0
/*
 * syn_trace DEVICE MAC FROM STEP WARM NUMBER DATA TO PORT [TIMES]: a trace of SYNs through
 * a packet socket, the same each time, and what it takes.
 *
 * They go to MAC, without a route lookup: that would allocate a route for each, and the
 * kernel frees unused ones some 700 at a time, which took 200,000 instructions in some
 * stretches and not in others.
 *
 * Source number i is FROM + i * STEP; of IPv6 the 32 bits before a /48 count.  First one
 * SYN from each of WARM sources; then NUMBER SYNs from the last of these, in the same
 * order and again and again if they are fewer, or without WARM from as many others; each
 * with DATA bytes behind its header, another port and an id in its IP header: one that
 * the kernel has to make takes it 170 to 380 instructions, more of them the more sources
 * there are.  With TIMES, so often from the same sources.
 *
 * Prints the ns that NUMBER took: where the clock counts instructions, instructions.
 * Of each thousand, and the mean of the middle half of these: what the system does once
 * in a while (millions of instructions at a time) would be in one trace and not in
 * another, and a thousand see one tick of the clock, or two.
 */
#define _GNU_SOURCE
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common.h"

#define DATA_MAX	1400
#define TIMES_MAX	15
#define STRETCH		1000
#define VARIES6		2	/* where in an address the bits are that vary */

static const uint8_t mss[4] = { 2, 4, 1460 >> 8, 1460 & 0xff };

static struct sockaddr_ll via = { .sll_family = AF_PACKET, .sll_halen = ETH_ALEN };
static uint8_t packet[sizeof(struct ip6_hdr) + sizeof(struct tcphdr) +
		      sizeof(mss) + DATA_MAX] __attribute__((aligned(8)));
static size_t length;
static uint8_t *varies;		/* of the source */
static struct tcphdr *tcp;
static uint32_t base;		/* of the checksum: all that does not change */

/* The first source; returns what of it is counted up. */
static uint32_t parse(const char *from, const char *dest)
{
	struct ip6_hdr *ip6 = (struct ip6_hdr *)packet;
	struct ip *ip = (struct ip *)packet;
	uint32_t first;

	if (inet_pton(AF_INET, dest, &ip->ip_dst) == 1 &&
	    inet_pton(AF_INET, from, &ip->ip_src) == 1) {
		via.sll_protocol = htons(ETH_P_IP);
		varies = (uint8_t *)&ip->ip_src;
	} else if (inet_pton(AF_INET6, dest, &ip6->ip6_dst) == 1 &&
		   inet_pton(AF_INET6, from, &ip6->ip6_src) == 1) {
		via.sll_protocol = htons(ETH_P_IPV6);
		varies = (uint8_t *)&ip6->ip6_src + VARIES6;
	} else {
		die("%s, %s: not addresses of a family", from, dest);
	}
	memcpy(&first, varies, sizeof(first));
	memset(varies, 0, sizeof(first));
	return ntohl(first);
}

static void parse_neighbour(const char *device, const char *mac)
{
	const struct ether_addr *addr = ether_aton(mac);

	via.sll_ifindex = if_nametoindex(device);
	if (!via.sll_ifindex || !addr)
		die("%s, %s: no device, or no address of one", device, mac);
	memcpy(via.sll_addr, addr, sizeof(*addr));
}

/* @len: of TCP.  Returns where it begins. */
static uint8_t *prepare_ip(size_t len)
{
	struct ip6_hdr *ip6 = (struct ip6_hdr *)packet;
	struct ip *ip = (struct ip *)packet;

	base = IPPROTO_TCP + len;
	if (via.sll_protocol == htons(ETH_P_IP)) {
		ip->ip_v = 4;
		ip->ip_hl = sizeof(*ip) / 4;
		ip->ip_p = IPPROTO_TCP;
		ip->ip_ttl = 64;
		ip->ip_len = htons(sizeof(*ip) + len);
		base = sum_add(base, &ip->ip_dst, sizeof(ip->ip_dst));
		return packet + sizeof(*ip);
	}
	ip6->ip6_flow = htonl(0x60000000);
	ip6->ip6_plen = htons(len);
	ip6->ip6_nxt = IPPROTO_TCP;
	ip6->ip6_hlim = 64;
	base = sum_add(base, &ip6->ip6_src, sizeof(ip6->ip6_src));
	base = sum_add(base, &ip6->ip6_dst, sizeof(ip6->ip6_dst));
	return packet + sizeof(*ip6);
}

static void prepare(int port, size_t data)
{
	const size_t len = sizeof(*tcp) + sizeof(mss) + data;
	uint8_t *begin = prepare_ip(len);

	tcp = (struct tcphdr *)begin;
	*tcp = (struct tcphdr){
		.th_dport = htons(port), .th_off = 6, .th_flags = TH_SYN,
		.th_win = htons(64240),
	};
	memcpy(begin + sizeof(*tcp), mss, sizeof(mss));
	memset(begin + sizeof(*tcp) + sizeof(mss), 'x', data);
	base = sum_add(base, begin, len);
	length = begin + len - packet;
}

static void sum_up_ip(void)
{
	struct ip *ip = (struct ip *)packet;

	ip->ip_sum = 0;
	ip->ip_sum = sum_end(sum_add(0, ip, sizeof(*ip)));
}

static void send_syn(int fd, uint32_t source, uint32_t n)
{
	uint32_t sum;

	source = htonl(source);
	memcpy(varies, &source, sizeof(source));
	tcp->th_sport = htons(1024 + n % 60000);
	tcp->th_seq = htonl(n * 2654435761U);
	sum = sum_add(base, varies, sizeof(source));
	sum = sum_add(sum, &tcp->th_sport, 2);
	sum = sum_add(sum, &tcp->th_seq, 4);
	tcp->th_sum = sum_end(sum);
	if (via.sll_protocol == htons(ETH_P_IP))
		sum_up_ip();
	if (sendto(fd, packet, length, 0, (struct sockaddr *)&via, sizeof(via)) < 0)
		die("sendto: %s", strerror(errno));
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int main(int argc, char **argv)
{
	uint32_t from, step, warm, number, first, data, i, n, times, done, all;
	int64_t *took, begun, sum = 0;
	int fd;

	if (argc < 10 || argc > 11) {
		fputs("usage: syn_trace DEVICE MAC FROM STEP WARM NUMBER DATA TO PORT [TIMES]\n",
		      stderr);
		return 2;
	}
	parse_neighbour(argv[1], argv[2]);
	argv += 2;
	times = argc > 10 ? atoi(argv[8]) : 1;
	if (!times || times > TIMES_MAX)
		die("1 to %d times", TIMES_MAX);
	from = parse(argv[1], argv[6]);
	step = atoi(argv[2]);
	warm = atoi(argv[3]);
	number = atoi(argv[4]);
	if (!number || number % STRETCH)
		die("a NUMBER of thousands");
	data = atoi(argv[5]);
	if (data > DATA_MAX || data & 1)
		die("an odd number of bytes, or too many");
	prepare(atoi(argv[7]), data);
	fd = socket(AF_PACKET, SOCK_DGRAM, 0);
	if (fd < 0)
		die("socket: %s", strerror(errno));
	for (n = 0; n < warm; n++)
		send_syn(fd, from + n * step, n);
	first = warm > number ? warm - number : 0;
	all = times * (number / STRETCH);
	took = calloc(all, sizeof(*took));
	if (!took)
		die("out of memory");
	for (done = 0; done < all; done++) {
		begun = now_ns();
		for (i = 0; i < STRETCH; i++) {
			uint32_t k = (done * STRETCH + i) % number;
			uint32_t source = warm && warm < number ? k % warm :
								  first + k;

			send_syn(fd, from + source * step, n++);
		}
		took[done] = now_ns() - begun;
	}
	qsort(took, all, sizeof(*took), compare);
	for (done = all / 4; done < all - all / 4; done++)
		sum += took[done];
	printf("%" PRId64 "\n", sum * (number / STRETCH) / (all - 2 * (all / 4)));
	free(took);
	return 0;
}
