// SPDX-License-Identifier: GPL-2.0
/*
 * synflood - TCP SYNs from random sources, at a rate, for a time
 *
 * For one's own virtual machines: the frames leave through the named device to the
 * named neighbour, and replies are not answered.  It ends after "for" seconds and
 * GRACE for late ones, or on SIGTERM.
 *
 * The n-th SYN is due n / rate seconds after the beginning, whatever becomes of
 * those before: all that are due go out together, at most BATCH at a time, then it
 * sleeps until the next PERIOD.  How late the first of each lot was is recorded,
 * and one that could not be sent by the end is missing in "sent", so that a reader
 * sees whether the flood was the one that was asked for.
 *
 * Each SYN has a source drawn from a prefix (of several families or prefixes in
 * turn), a random source port and sequence number, and the options of a Linux
 * client: MSS, SACK, time stamp, window scale.  A packet socket, so nothing of the
 * sender's own IP stack is paid for.
 *
 * Prints one line: wanted, sent, their bytes (of IP), seconds that it took, and
 * lateness in us (p99, most).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "common.h"

#define PERIOD		(100 * NSEC_PER_USEC)	/* ns */
#define GRACE		(200 * NSEC_PER_MSEC)
#define BATCH		32
#define LANES		4
#define LATE_MAX	1000000		/* lots that are looked at for p99 */
#define RATE_MAX	1e6
#define FOR_MAX		600
#define OPTIONS_LEN	20
#define TCP_LEN		(sizeof(struct tcphdr) + OPTIONS_LEN)
#define FRAME_MAX	(sizeof(struct ether_header) + sizeof(struct ip6_hdr) + TCP_LEN)

/* Where SYNs come from and go to, and what they look like but for the random. */
struct lane {
	uint8_t source[16], dest[16];
	unsigned int family, bits;
	bool has_dest;
	uint32_t pseudo;	/* sum of what never changes */
	size_t len;		/* of the frame */
	uint8_t frame[FRAME_MAX];
};

static struct lane lanes[LANES];
static unsigned int n_lanes;
static double rate, seconds;
static uint16_t port;
static uint64_t rng = 1;
static uint8_t gateway[ETH_ALEN];
static const char *device;
static bool ask_begin;
static uint32_t late_us[LATE_MAX];
static size_t n_late;
static uint64_t sent, bytes;
static atomic_bool told_to_stop;

static void sleep_until(int64_t t)
{
	struct timespec ts = timespec_of(t);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* --- frames --- */

static size_t address_len(const struct lane *l)
{
	return l->family == AF_INET ? 4 : 16;
}

static size_t ip_len(const struct lane *l)
{
	return l->family == AF_INET ? sizeof(struct ip) : sizeof(struct ip6_hdr);
}

/* The bits of the prefix, and random ones after them. */
static void draw_source(const struct lane *l, uint8_t *to)
{
	size_t len = address_len(l), i = l->bits / 8;
	uint64_t random[2] = { rng_next(&rng), rng_next(&rng) };
	uint8_t keep = 0xff00 >> l->bits % 8;

	memcpy(to, l->source, len);
	if (i == len)
		return;
	to[i] = (l->source[i] & keep) | (((uint8_t *)random)[i] & ~keep);
	while (++i < len)
		to[i] = ((uint8_t *)random)[i];
}

/* What all SYNs of a lane have in common. */
static void make_template(struct lane *l)
{
	struct ether_header eth = { .ether_type = htons(l->family == AF_INET ?
					ETHERTYPE_IP : ETHERTYPE_IPV6) };
	struct tcphdr tcp = {
		.dest = htons(port), .doff = TCP_LEN / 4, .syn = 1,
		.window = htons(64240),
	};
	uint16_t mss = l->family == AF_INET ? 1460 : 1440;
	uint8_t options[OPTIONS_LEN] = { 2, 4, mss >> 8, mss & 0xff, 4, 2, 8, 10,
					 0, 0, 0, 0, 0, 0, 0, 0, 1, 3, 3, 7 };
	struct ip ip = {
		.ip_v = 4, .ip_hl = 5, .ip_p = IPPROTO_TCP, .ip_ttl = 64,
		.ip_len = htons(sizeof(ip) + TCP_LEN), .ip_off = htons(IP_DF),
	};
	struct ip6_hdr ip6 = {
		.ip6_flow = htonl(0x60000000), .ip6_nxt = IPPROTO_TCP,
		.ip6_plen = htons(TCP_LEN), .ip6_hlim = 64,
	};
	uint8_t *at = l->frame + sizeof(eth);

	memcpy(eth.ether_dhost, gateway, ETH_ALEN);
	memcpy(eth.ether_shost, gateway, ETH_ALEN);
	eth.ether_shost[ETH_ALEN - 1]++;
	memcpy(l->frame, &eth, sizeof(eth));
	if (l->family == AF_INET) {
		memcpy(&ip.ip_dst, l->dest, 4);
		memcpy(at, &ip, sizeof(ip));
	} else {
		memcpy(&ip6.ip6_dst, l->dest, 16);
		memcpy(at, &ip6, sizeof(ip6));
	}
	at += ip_len(l);
	memcpy(at, &tcp, sizeof(tcp));
	memcpy(at + sizeof(tcp), options, sizeof(options));
	l->pseudo = sum_add(IPPROTO_TCP + TCP_LEN, l->dest, address_len(l));
	l->len = sizeof(eth) + ip_len(l) + TCP_LEN;
}

/* The next SYN of a lane. */
static void make_frame(const struct lane *l, uint8_t *frame)
{
	uint8_t *ip = frame + sizeof(struct ether_header);
	uint8_t *source = ip + (l->family == AF_INET ? 12 : 8);
	uint8_t *tcp = ip + ip_len(l);
	uint64_t random = rng_next(&rng);
	uint32_t stamp = now_ns() / 1000000;
	uint16_t from = htons(1024 + (random >> 32) % 64512), sum;

	memcpy(frame, l->frame, l->len);
	draw_source(l, source);
	if (l->family == AF_INET) {
		memcpy(ip + 4, (uint8_t *)&random + 6, 2);
		sum = sum_end(sum_add(0, ip, sizeof(struct ip)));
		memcpy(ip + 10, &sum, 2);
	}
	memcpy(tcp, &from, 2);
	memcpy(tcp + 4, &random, 4);
	stamp = htonl(stamp);
	memcpy(tcp + 28, &stamp, 4);
	sum = sum_end(sum_add(sum_add(l->pseudo, source, address_len(l)), tcp,
			      TCP_LEN));
	memcpy(tcp + 16, &sum, 2);
}

/* --- sending --- */

static int open_device(void)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET };
	int one = 1, fd;

	to.sll_ifindex = if_nametoindex(device);
	if (!to.sll_ifindex)
		die("device: %s: %s", device, strerror(errno));
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("socket: %s", strerror(errno));
	setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&to, sizeof(to)))
		die("bind: %s", strerror(errno));
	return fd;
}

/* Sends the next @n SYNs; those that the device has no room for are lost. */
static void send_lot(int fd, unsigned int n)
{
	static uint8_t frame[BATCH][FRAME_MAX];
	struct mmsghdr message[BATCH] = { 0 };
	struct iovec part[BATCH];
	unsigned int i;
	int done;

	for (i = 0; i < n; i++) {
		const struct lane *l = &lanes[(sent + i) % n_lanes];

		make_frame(l, frame[i]);
		part[i] = (struct iovec){ frame[i], l->len };
		message[i].msg_hdr.msg_iov = &part[i];
		message[i].msg_hdr.msg_iovlen = 1;
	}
	done = sendmmsg(fd, message, n, 0);
	if (done < 0 && errno != ENOBUFS && errno != EAGAIN && errno != EINTR)
		die("sendmmsg: %s", strerror(errno));
	for (i = 0; done > 0 && i < (unsigned int)done; i++)
		bytes += part[i].iov_len - sizeof(struct ether_header);
	sent += done > 0 ? done : 0;
}

static int64_t due(int64_t begin, uint64_t n)
{
	return begin + (int64_t)(n * (NSEC_PER_SEC / rate));
}

static void note_late(int64_t late)
{
	if (n_late < LATE_MAX)
		late_us[n_late++] = late > 0 ? late / NSEC_PER_USEC : 0;
}

/* At a rate: all that is due, then a sleep. */
static void run_paced(int fd, int64_t begin, uint64_t wanted)
{
	int64_t end = begin + (int64_t)(seconds * NSEC_PER_SEC) + GRACE, now;
	uint64_t due_now;

	while (sent < wanted && !told_to_stop && (now = now_ns()) < end) {
		if (now < due(begin, sent)) {
			now = due(begin, sent);
			sleep_until(begin + ((now - begin) / PERIOD + 1) * PERIOD);
			continue;
		}
		note_late(now - due(begin, sent) - PERIOD);
		due_now = (now - begin) * rate / NSEC_PER_SEC + 1;
		if (due_now > wanted)
			due_now = wanted;
		send_lot(fd, due_now - sent < BATCH ? due_now - sent : BATCH);
	}
}

/* As fast as it goes. */
static void run_unpaced(int fd, int64_t begin)
{
	int64_t end = begin + (int64_t)(seconds * NSEC_PER_SEC);

	while (!told_to_stop && now_ns() < end)
		send_lot(fd, BATCH);
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void report(uint64_t wanted, int64_t took)
{
	qsort(late_us, n_late, sizeof(*late_us), by_value);
	printf("wanted %" PRIu64 " sent %" PRIu64 " bytes %" PRIu64
	       " seconds %.3f late_p99_us %u late_most_us %u\n", wanted, sent,
	       bytes, took / 1e9, n_late ? late_us[(n_late * 99 + 99) / 100 - 1] : 0,
	       n_late ? late_us[n_late - 1] : 0);
}

/* --- the command line --- */

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: synflood [begin -] device NAME gateway MAC port N rate PER-SECOND\n"
	      "  for SECONDS [seed N] source PREFIX to ADDRESS [source ... to ...]\n"
	      "  begin -  say \"ready\", and begin at the CLOCK_MONOTONIC time, in ns, that\n"
	      "           standard input says\n"
	      "  rate     0: as fast as it goes\n", stderr);
	exit(1);
}

static double number(const char *word, const char *s, double most)
{
	char *end;
	double v = strtod(s, &end);

	if (end == s || *end || !(v >= 0 && v <= most))
		die("%s: not a number from 0 to %g: '%s'", word, most, s);
	return v;
}

static unsigned int parse_address(const char *s, uint8_t *to)
{
	if (inet_pton(AF_INET, s, to) == 1)
		return AF_INET;
	if (inet_pton(AF_INET6, s, to) != 1)
		die("not an address: '%s'", s);
	return AF_INET6;
}

static void parse_source(char *s)
{
	struct lane *l = &lanes[n_lanes];
	char *slash = strchr(s, '/');

	if (n_lanes == LANES || !slash)
		usage();
	*slash = '\0';
	l->family = parse_address(s, l->source);
	l->bits = number("source", slash + 1, 8 * address_len(l));
	n_lanes++;
}

static void parse_dest(const char *s)
{
	struct lane *l;

	if (!n_lanes)
		usage();
	l = &lanes[n_lanes - 1];
	if (parse_address(s, l->dest) != l->family)
		die("to: another family than its source: '%s'", s);
	l->has_dest = true;
}

static void parse_gateway(const char *s)
{
	uint8_t *m = gateway;

	if (sscanf(s, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", m, m + 1, m + 2, m + 3,
		   m + 4, m + 5) != ETH_ALEN)
		die("gateway: not an Ethernet address: '%s'", s);
}

static void parse(int argc, char **argv)
{
	unsigned int n;
	int i;

	for (i = 1; i + 1 < argc; i += 2) {
		char *word = argv[i], *value = argv[i + 1];

		if (!strcmp(word, "begin"))
			ask_begin = true;
		else if (!strcmp(word, "device"))
			device = value;
		else if (!strcmp(word, "gateway"))
			parse_gateway(value);
		else if (!strcmp(word, "port"))
			port = number(word, value, UINT16_MAX);
		else if (!strcmp(word, "rate"))
			rate = number(word, value, RATE_MAX);
		else if (!strcmp(word, "for"))
			seconds = number(word, value, FOR_MAX);
		else if (!strcmp(word, "seed"))
			rng = number(word, value, UINT32_MAX);
		else if (!strcmp(word, "source"))
			parse_source(value);
		else if (!strcmp(word, "to"))
			parse_dest(value);
		else
			usage();
	}
	if (i != argc || !device || !port || !n_lanes || seconds <= 0)
		usage();
	for (n = 0; n < n_lanes; n++) {
		if (!lanes[n].has_dest)
			usage();
		make_template(&lanes[n]);
	}
}

static void stop(int sig)
{
	(void)sig;
	told_to_stop = true;
}

int main(int argc, char **argv)
{
	uint64_t wanted;
	int64_t begin;
	int fd;

	parse(argc, argv);
	fd = open_device();
	signal(SIGTERM, stop);
	prctl(PR_SET_TIMERSLACK, 1);
	wanted = rate * seconds;
	begin = ask_begin ? agreed_time("begin") : now_ns();
	sleep_until(begin);
	if (rate > 0)
		run_paced(fd, begin, wanted);
	else
		run_unpaced(fd, begin);
	report(wanted, now_ns() - begin);
	return 0;
}
