// SPDX-License-Identifier: GPL-2.0
/*
 * syn_trace FROM STEP WARM NUMBER DATA TO PORT: a trace of IPv4 SYNs through a raw
 * socket, the same each time, and what it takes.
 *
 * Source number i is FROM + i * STEP.  First one SYN from each of WARM sources; then
 * NUMBER SYNs from the last of these, in the same order and again and again if they are
 * fewer, or without WARM from as many others; each with DATA bytes behind its header
 * and another port.  Prints the ns that the NUMBER took: where the clock counts
 * instructions, instructions.
 */
#define _GNU_SOURCE
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "common.h"

#define DATA_MAX	1400

struct syn {
	struct ip ip;
	struct tcphdr tcp;
	uint8_t mss[4];
	uint8_t data[DATA_MAX];
};

static struct sockaddr_in to = { .sin_family = AF_INET };
static struct syn syn;
static uint32_t base;		/* of the checksum: all that does not change */
static size_t data;

static void prepare(int port)
{
	static const uint8_t mss[4] = { 2, 4, 1460 >> 8, 1460 & 0xff };
	size_t len = sizeof(syn.tcp) + sizeof(mss) + data;

	syn.ip = (struct ip){
		.ip_v = 4, .ip_hl = 5, .ip_p = IPPROTO_TCP, .ip_ttl = 64,
		.ip_len = htons(sizeof(syn.ip) + len), .ip_dst = to.sin_addr,
	};
	syn.tcp = (struct tcphdr){
		.th_dport = htons(port), .th_off = 6, .th_flags = TH_SYN,
		.th_win = htons(64240),
	};
	memcpy(syn.mss, mss, sizeof(mss));
	memset(syn.data, 'x', data);
	base = sum_add(IPPROTO_TCP + len, &syn.tcp, len);
	base = sum_add(base, &syn.ip.ip_dst, 4);
}

static void send_syn(int fd, uint32_t source, uint32_t n)
{
	uint32_t sum;

	syn.ip.ip_src.s_addr = htonl(source);
	syn.tcp.th_sport = htons(1024 + n % 60000);
	syn.tcp.th_seq = htonl(n * 2654435761U);
	sum = sum_add(base, &syn.ip.ip_src, 4);
	sum = sum_add(sum, &syn.tcp.th_sport, 2);
	sum = sum_add(sum, &syn.tcp.th_seq, 4);
	syn.tcp.th_sum = sum_end(sum);
	if (sendto(fd, &syn, ntohs(syn.ip.ip_len), 0, (struct sockaddr *)&to,
		   sizeof(to)) < 0)
		die("sendto: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	uint32_t from, step, warm, number, first, i;
	struct in_addr address;
	int64_t begun;
	int fd;

	if (argc != 8 || inet_pton(AF_INET, argv[1], &address) != 1 ||
	    inet_pton(AF_INET, argv[6], &to.sin_addr) != 1) {
		fputs("usage: syn_trace FROM STEP WARM NUMBER DATA TO PORT\n",
		      stderr);
		return 2;
	}
	from = ntohl(address.s_addr);
	step = atoi(argv[2]);
	warm = atoi(argv[3]);
	number = atoi(argv[4]);
	data = atoi(argv[5]);
	if (data > DATA_MAX || data & 1) {
		fputs("syn_trace: an odd number of bytes, or too many\n", stderr);
		return 2;
	}
	prepare(atoi(argv[7]));
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0)
		die("socket: %s", strerror(errno));
	for (i = 0; i < warm; i++)
		send_syn(fd, from + i * step, i);
	first = warm > number ? warm - number : 0;
	begun = now_ns();
	for (i = 0; i < number; i++) {
		uint32_t source = warm && warm < number ? i % warm : first + i;

		send_syn(fd, from + source * step, warm + i);
	}
	printf("%" PRId64 "\n", now_ns() - begun);
	return 0;
}
