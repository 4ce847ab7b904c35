// SPDX-License-Identifier: GPL-2.0
/*
 * Every option that a listening socket takes, for "tcp_peer fuzz owners": a table of options
 * with meaningful values, any option number of four levels with small values, and reading
 * them.
 *
 * Accepted connections inherit what their listener had.  What would keep them from being
 * read, whatever synq does, is undone in each: see options_undo().
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "tcp_fuzz.h"

/* Peers that never come. */
#define NOT_THERE	"198.51.100.1"
#define NOT_THERE6	"2001:db8:ffff::1"

/* What the C library's headers do not have everywhere. */
#define OPT_SO_DETACH_REUSEPORT	68
#define OPT_SO_TXREHASH		74
#define OPT_TCP_INQ		36
#define OPT_TCP_TX_DELAY	37
#define OPT_IP_LOCAL_PORT_RANGE	51
#define OPT_IPV6_ADDR_PREFER	72
#define OPT_IPV6_MINHOPCOUNT	73
#define OPT_IPV6_TRANSPARENT	75
#define OPT_IPV6_FREEBIND	78
#define OPT_IPV6_AUTOFLOWLABEL	70
#define OPT_TCP_MD5SIG_EXT	32
#define SYNQ_SO_ORDER		1216	/* include/uapi/linux/synq.h */
#define SYNQ_SO_COOKIES		1217

enum form {
	INT,		/* from lo to hi */
	TEXT,		/* lo is an index of texts */
	LINGER,
	TIME,		/* up to hi seconds */
	KEY,		/* of Fast Open, 16 or 32 bytes */
	MD5,
	IP_OPTS,
	FILTER,		/* passes all but a part of the SYNs */
	GROUP,		/* sends a SYN to any member of the group */
	UNGROUP,	/* no more */
};

static const char * const texts[] = {
	"reno", "cubic", "smc", "mptcp", "tls", "lo",
};

static const struct {
	const char *name;
	int level;
	int option;
	enum form form;
	int lo;
	int hi;
	enum wants wants;
} options[] = {
	{ "SO_REUSEADDR", SOL_SOCKET, SO_REUSEADDR, INT, 0, 1 },
	{ "SO_REUSEPORT", SOL_SOCKET, SO_REUSEPORT, INT, 0, 1 },
	{ "SO_KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE, INT, 0, 1 },
	{ "SO_OOBINLINE", SOL_SOCKET, SO_OOBINLINE, INT, 0, 1 },
	{ "SO_DONTROUTE", SOL_SOCKET, SO_DONTROUTE, INT, 0, 1 },
	{ "SO_PRIORITY", SOL_SOCKET, SO_PRIORITY, INT, 0, 6 },
	{ "SO_LINGER", SOL_SOCKET, SO_LINGER, LINGER },
	{ "SO_RCVBUF", SOL_SOCKET, SO_RCVBUF, INT, 1, 200000 },
	{ "SO_SNDBUF", SOL_SOCKET, SO_SNDBUF, INT, 1, 200000 },
	{ "SO_RCVLOWAT", SOL_SOCKET, SO_RCVLOWAT, INT, 1, 64 },
	{ "SO_RCVTIMEO", SOL_SOCKET, SO_RCVTIMEO, TIME, 0, 2 },
	{ "SO_SNDTIMEO", SOL_SOCKET, SO_SNDTIMEO, TIME, 0, 2 },
	{ "SO_TIMESTAMP", SOL_SOCKET, SO_TIMESTAMP, INT, 0, 1 },
	/* Some kernels have it for privileged owners only. */
	{ "SO_ATTACH_FILTER", SOL_SOCKET, SO_ATTACH_FILTER, FILTER, 0, 0,
	  WANT_ANY },
	{ "SO_DETACH_FILTER", SOL_SOCKET, SO_DETACH_FILTER, INT, 0, 0,
	  WANT_ANY },
	{ "SO_ATTACH_REUSEPORT_CBPF", SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF,
	  GROUP },
	{ "SO_DETACH_REUSEPORT_BPF", SOL_SOCKET, OPT_SO_DETACH_REUSEPORT,
	  UNGROUP },
	{ "SO_BUSY_POLL", SOL_SOCKET, SO_BUSY_POLL, INT, 0, 1, WANT_ANY },
	{ "SO_INCOMING_CPU", SOL_SOCKET, SO_INCOMING_CPU, INT, 0, 1 },
	{ "SO_MARK", SOL_SOCKET, SO_MARK, INT, 1, 9, WANT_REFUSED },
	{ "SO_BINDTODEVICE", SOL_SOCKET, SO_BINDTODEVICE, TEXT, 5, 5 },
	{ "SO_MAX_PACING_RATE", SOL_SOCKET, SO_MAX_PACING_RATE, INT, 1000,
	  1000000 },
	{ "SO_ZEROCOPY", SOL_SOCKET, SO_ZEROCOPY, INT, 0, 1 },
	{ "SO_TXREHASH", SOL_SOCKET, OPT_SO_TXREHASH, INT, 0, 1 },

	{ "TCP_NODELAY", SOL_TCP, TCP_NODELAY, INT, 0, 1 },
	{ "TCP_MAXSEG", SOL_TCP, TCP_MAXSEG, INT, 88, 1460 },
	{ "TCP_CORK", SOL_TCP, TCP_CORK, INT, 0, 1 },
	{ "TCP_KEEPIDLE", SOL_TCP, TCP_KEEPIDLE, INT, 1, 60 },
	{ "TCP_KEEPINTVL", SOL_TCP, TCP_KEEPINTVL, INT, 1, 60 },
	{ "TCP_KEEPCNT", SOL_TCP, TCP_KEEPCNT, INT, 1, 9 },
	{ "TCP_SYNCNT", SOL_TCP, TCP_SYNCNT, INT, 1, 10 },
	{ "TCP_LINGER2", SOL_TCP, TCP_LINGER2, INT, -1, 10 },
	{ "TCP_DEFER_ACCEPT", SOL_TCP, TCP_DEFER_ACCEPT, INT, 0, 3 },
	{ "TCP_WINDOW_CLAMP", SOL_TCP, TCP_WINDOW_CLAMP, INT, 1, 70000 },
	{ "TCP_QUICKACK", SOL_TCP, TCP_QUICKACK, INT, 0, 1 },
	{ "TCP_CONGESTION", SOL_TCP, TCP_CONGESTION, TEXT, 0, 1 },
	{ "TCP_MD5SIG", SOL_TCP, OPT_TCP_MD5SIG_EXT, MD5 },
	{ "TCP_THIN_LINEAR_TIMEOUTS", SOL_TCP, TCP_THIN_LINEAR_TIMEOUTS,
	  INT, 0, 1 },
	{ "TCP_USER_TIMEOUT", SOL_TCP, TCP_USER_TIMEOUT, INT, 0, 5000 },
	{ "TCP_REPAIR", SOL_TCP, TCP_REPAIR, INT, 1, 1, WANT_REFUSED },
	{ "TCP_FASTOPEN", SOL_TCP, TCP_FASTOPEN, INT, 1, 64 },
	{ "TCP_FASTOPEN_CONNECT", SOL_TCP, TCP_FASTOPEN_CONNECT, INT, 0, 1 },
	{ "TCP_FASTOPEN_KEY", SOL_TCP, TCP_FASTOPEN_KEY, KEY },
	{ "TCP_FASTOPEN_NO_COOKIE", SOL_TCP, TCP_FASTOPEN_NO_COOKIE, INT, 0, 1 },
	{ "TCP_SAVE_SYN", SOL_TCP, TCP_SAVE_SYN, INT, 0, 2 },
	{ "TCP_NOTSENT_LOWAT", SOL_TCP, TCP_NOTSENT_LOWAT, INT, 1, 9999 },
	{ "TCP_INQ", SOL_TCP, OPT_TCP_INQ, INT, 0, 1 },
	{ "TCP_TX_DELAY", SOL_TCP, OPT_TCP_TX_DELAY, INT, 0, 1000 },
	{ "TCP_ULP smc", SOL_TCP, TCP_ULP, TEXT, 2, 2, WANT_ANY },
	{ "TCP_ULP mptcp", SOL_TCP, TCP_ULP, TEXT, 3, 3, WANT_REFUSED },
	{ "TCP_ULP tls", SOL_TCP, TCP_ULP, TEXT, 4, 4, WANT_ANY },

	{ "IP_TOS", SOL_IP, IP_TOS, INT, 0, 255 },
	{ "IP_TTL", SOL_IP, IP_TTL, INT, 1, 255 },
	{ "IP_OPTIONS", SOL_IP, IP_OPTIONS, IP_OPTS },
	{ "IP_RECVOPTS", SOL_IP, IP_RECVOPTS, INT, 0, 1 },
	{ "IP_PKTINFO", SOL_IP, IP_PKTINFO, INT, 0, 1 },
	{ "IP_MTU_DISCOVER", SOL_IP, IP_MTU_DISCOVER, INT, 0, 3 },
	{ "IP_RECVERR", SOL_IP, IP_RECVERR, INT, 0, 1 },
	{ "IP_RECVTTL", SOL_IP, IP_RECVTTL, INT, 0, 1 },
	{ "IP_MINTTL", SOL_IP, IP_MINTTL, INT, 0, 255 },
	{ "IP_FREEBIND", SOL_IP, IP_FREEBIND, INT, 0, 1 },
	{ "IP_TRANSPARENT", SOL_IP, IP_TRANSPARENT, INT, 1, 1, WANT_REFUSED },
	{ "IP_BIND_ADDRESS_NO_PORT", SOL_IP, IP_BIND_ADDRESS_NO_PORT, INT, 0, 1 },
	{ "IP_LOCAL_PORT_RANGE", SOL_IP, OPT_IP_LOCAL_PORT_RANGE, INT, 0, 0 },

	{ "IPV6_V6ONLY", SOL_IPV6, IPV6_V6ONLY, INT, 0, 1 },
	{ "IPV6_UNICAST_HOPS", SOL_IPV6, IPV6_UNICAST_HOPS, INT, 1, 255 },
	{ "IPV6_TCLASS", SOL_IPV6, IPV6_TCLASS, INT, 0, 255 },
	{ "IPV6_RECVPKTINFO", SOL_IPV6, IPV6_RECVPKTINFO, INT, 0, 1 },
	{ "IPV6_RECVTCLASS", SOL_IPV6, IPV6_RECVTCLASS, INT, 0, 1 },
	{ "IPV6_MTU_DISCOVER", SOL_IPV6, IPV6_MTU_DISCOVER, INT, 0, 3 },
	{ "IPV6_MTU", SOL_IPV6, IPV6_MTU, INT, 1280, 1500 },
	{ "IPV6_RECVERR", SOL_IPV6, IPV6_RECVERR, INT, 0, 1 },
	{ "IPV6_DONTFRAG", SOL_IPV6, IPV6_DONTFRAG, INT, 0, 1 },
	{ "IPV6_AUTOFLOWLABEL", SOL_IPV6, OPT_IPV6_AUTOFLOWLABEL, INT, 0, 1 },
	{ "IPV6_ADDR_PREFERENCES", SOL_IPV6, OPT_IPV6_ADDR_PREFER, INT, 1, 2 },
	{ "IPV6_MINHOPCOUNT", SOL_IPV6, OPT_IPV6_MINHOPCOUNT, INT, 0, 255 },
	{ "IPV6_TRANSPARENT", SOL_IPV6, OPT_IPV6_TRANSPARENT, INT, 1, 1,
	  WANT_REFUSED },
	{ "IPV6_FREEBIND", SOL_IPV6, OPT_IPV6_FREEBIND, INT, 0, 1 },

	/* Last, see OPTIONS_SYNQ. */
	{ "SYNQ_SO_ORDER", SOL_IP, SYNQ_SO_ORDER, INT, 0, 2 },
	{ "SYNQ_SO_COOKIES", SOL_IP, SYNQ_SO_COOKIES, INT, 0, 3 },
};

#define OPTIONS		(sizeof(options) / sizeof(*options))
#define OPTIONS_SYNQ	2	/* the last */

static const struct {
	const char *name;
	int level;
	int from;
	int to;
} ranges[] = {
	{ "any SOL_SOCKET option", SOL_SOCKET, 1, 90 },
	{ "any SOL_TCP option", SOL_TCP, 1, 50 },
	{ "any SOL_IP option", SOL_IP, 1, 70 },
	{ "any SOL_IPV6 option", SOL_IPV6, 1, 85 },
	{ "any synq option", SOL_IP, SYNQ_SO_ORDER, SYNQ_SO_ORDER + 3 },
};

#define RANGES		(sizeof(ranges) / sizeof(*ranges))

static unsigned int kind_first, kind_range, kind_get;

/* Of a listener's packets @data begins with the TCP header. */
static int attach_filter(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x02, 0, 3), /* SYN */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_RANDOM),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x03, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
			  sizeof(program));
}

static int attach_group(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_RANDOM),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 3),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program,
			  sizeof(program));
}

static int set_md5(int fd, struct rng *rng)
{
	struct tcp_md5sig md5 = {
		.tcpm_flags = TCP_MD5SIG_FLAG_PREFIX,
		.tcpm_keylen = rng_one_in(rng, 3) ? 0 : 3, .tcpm_key = "key",
	};
	struct address peer = { .len = sizeof(peer.in6) };
	bool v6 = !getsockname(fd, &peer.sa, &peer.len) &&
		  peer.sa.sa_family == AF_INET6;

	address_parse(&peer, v6 ? NOT_THERE6 : NOT_THERE);
	md5.tcpm_prefixlen = v6 ? 128 : 32;
	memcpy(&md5.tcpm_addr, &peer.sa, peer.len);
	return setsockopt(fd, SOL_TCP, OPT_TCP_MD5SIG_EXT, &md5, sizeof(md5));
}

static int set_key(int fd, struct rng *rng)
{
	uint64_t key[4] = {
		rng_next(rng), rng_next(rng), rng_next(rng), rng_next(rng),
	};

	return setsockopt(fd, SOL_TCP, TCP_FASTOPEN_KEY, key,
			  rng_one_in(rng, 2) ? 16 : 32);
}

static int set_ip_options(int fd, struct rng *rng)
{
	/* Record route with room for two, and no-ops. */
	static const uint8_t route[] = { 7, 11, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	static const uint8_t no_ops[] = { 1, 1, 1, 1 };

	switch (rng_below(rng, 3)) {
	case 0: return setsockopt(fd, SOL_IP, IP_OPTIONS, route, sizeof(route));
	case 1: return setsockopt(fd, SOL_IP, IP_OPTIONS, no_ops, sizeof(no_ops));
	}
	return setsockopt(fd, SOL_IP, IP_OPTIONS, NULL, 0);
}

bool is_mptcp(int fd)
{
	int protocol = 0;
	socklen_t len = sizeof(protocol);

	return !getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) &&
	       protocol == IPPROTO_MPTCP;
}

bool is_smc(int fd)
{
	int domain = 0;
	socklen_t len = sizeof(domain);

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) &&
	       domain == AF_SMC;
}

/*
 * What the kernel does wrong, whatever synq does.
 *
 * An MPTCP socket that speaks TCP hands TCP_ULP to the TCP socket below, which is the
 * kernel's own: such a one takes "mptcp" from anybody, and 6.1 crashes.  MPTCP's half-open
 * requests cannot be cloned, which is how they move to another listener of a group: no
 * group has them.
 *
 * An SMC socket that is asked for Fast Open, or connects, becomes the TCP socket below: when
 * that one listens, nobody is woken for what its connections receive.
 */
static bool is_broken(int fd, int level, int option)
{
	if (level == SOL_SOCKET)
		return option == SO_REUSEPORT && is_mptcp(fd);
	if (level != SOL_TCP)
		return false;
	switch (option) {
	case TCP_ULP:
		return is_mptcp(fd);
	case TCP_FASTOPEN:
	case TCP_FASTOPEN_CONNECT:
	case TCP_FASTOPEN_KEY:
	case TCP_FASTOPEN_NO_COOKIE:
		return is_smc(fd);
	}
	return false;
}

static int set_one(int fd, size_t i, struct rng *rng)
{
	int level = options[i].level, option = options[i].option;
	int span = options[i].hi - options[i].lo + 1;
	int value = options[i].lo + rng_below(rng, span > 0 ? span : 1);
	struct linger linger = { rng_below(rng, 2), rng_below(rng, 2) };
	struct timeval time = { value, 100000 };

	switch (options[i].form) {
	case INT: return setsockopt(fd, level, option, &value, sizeof(value));
	case TEXT: return setsockopt(fd, level, option, texts[value],
				     strlen(texts[value]));
	case LINGER: return setsockopt(fd, level, option, &linger,
				       sizeof(linger));
	case TIME: return setsockopt(fd, level, option, &time, sizeof(time));
	case KEY: return set_key(fd, rng);
	case MD5: return set_md5(fd, rng);
	case IP_OPTS: return set_ip_options(fd, rng);
	case FILTER: return attach_filter(fd);
	case GROUP: return attach_group(fd);
	case UNGROUP:
		attach_group(fd);
		return setsockopt(fd, level, option, &value, sizeof(value));
	}
	return -1;
}

/* Counted here.  Returns an error, or 0. */
static int set_and_count(int fd, size_t i, struct rng *rng)
{
	int error;

	if (is_left_out(options[i].name) ||
	    is_broken(fd, options[i].level, options[i].option))
		return 0;
	error = set_one(fd, i, rng) ? errno : 0;
	tally_add(kind_first + i, error);
	return error;
}

/* One of the table. */
int option_step(int fd, struct rng *rng)
{
	size_t i = rng_below(rng, OPTIONS);

	/* They are two of many, and their owner is more likely to want them. */
	if (rng_one_in(rng, 16))
		i = OPTIONS - 1 - rng_below(rng, OPTIONS_SYNQ);
	return set_and_count(fd, i, rng);
}

/* Each of the table, before listen(2) and after it, on sockets of either family. */
void options_tour(struct rng *rng)
{
	static const int families[] = { AF_INET, AF_INET6 };
	int on = 1;
	size_t i;

	for (i = 0; i < 2 * OPTIONS; i++) {
		int fd = socket(families[i % 2], SOCK_STREAM | SOCK_CLOEXEC, 0);

		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
		set_and_count(fd, i / 2, rng);
		listen(fd, 1);
		set_and_count(fd, i / 2, rng);
		close(fd);
	}
}

/*
 * Any number, with small values.  SO_LINGER has its own entry above: to close would
 * take as long as it says.  For IPV6_ADDRFORM see tcp_fuzz_step.c.
 */
int option_random(int fd, struct rng *rng)
{
	static const unsigned char lengths[] = { 4, 4, 4, 4, 0, 1, 8, 16, 40 };
	unsigned int range = rng_below(rng, RANGES), i;
	int option = ranges[range].from +
		     rng_below(rng, ranges[range].to - ranges[range].from);
	int value[10], error;

	for (i = 0; i < 10; i++)
		value[i] = (int)rng_below(rng, 18) - 1;
	if ((ranges[range].level == SOL_SOCKET && option == SO_LINGER) ||
	    is_left_out(ranges[range].name))
		return 0;
	if ((ranges[range].level == SOL_IPV6 && option == IPV6_ADDRFORM) ||
	    is_broken(fd, ranges[range].level, option))
		return 0;
	error = setsockopt(fd, ranges[range].level, option, value,
			   lengths[rng_below(rng, sizeof(lengths))]) ? errno : 0;
	tally_add(kind_range + range, error);
	return error;
}

int option_get(int fd, struct rng *rng)
{
	unsigned int range = rng_below(rng, RANGES);
	int option = ranges[range].from +
		     rng_below(rng, ranges[range].to - ranges[range].from);
	char value[512] = "";
	socklen_t len = rng_one_in(rng, 4) ? sizeof(value) : 4;
	int error;

	error = getsockopt(fd, ranges[range].level, option, value, &len) ?
		errno : 0;
	tally_add(kind_get, error);
	return error;
}

/*
 * What an accepted connection has from its listener, and would keep it from being read
 * or answered: data that is held back or thrown away, a route that is not looked for.  And
 * what would keep others from its port while it is in TIME_WAIT.
 */
void options_undo(int fd)
{
	static const struct {
		int level;
		int option;
		int value;
	} undo[] = {
		{ SOL_SOCKET, SO_REUSEADDR, 1 },
		{ SOL_SOCKET, SO_RCVLOWAT, 1 },
		{ SOL_SOCKET, SO_DONTROUTE, 0 },
		{ SOL_SOCKET, SO_MAX_PACING_RATE, -1 },
		{ SOL_IP, IP_MINTTL, 0 },
		{ SOL_IPV6, OPT_IPV6_MINHOPCOUNT, 0 },
	};
	static const struct timeval never;
	static const struct linger at_once;
	size_t i;

	for (i = 0; i < sizeof(undo) / sizeof(*undo); i++)
		setsockopt(fd, undo[i].level, undo[i].option, &undo[i].value,
			   sizeof(int));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &never, sizeof(never));
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

/* This kernel does not have it, neither for IPv4 nor for IPv6. */
static int lacks(size_t i)
{
	static const int families[] = { AF_INET, AF_INET6 };
	struct rng rng = { i };
	int error = 0, f;

	for (f = 0; f < 2; f++) {
		int fd = socket(families[f], SOCK_STREAM | SOCK_CLOEXEC, 0);

		error = fd < 0 || set_one(fd, i, &rng) ? errno : 0;
		close(fd);
		if (error != ENOPROTOOPT && error != EOPNOTSUPP)
			return 0;
	}
	return error;
}

/* Before any process is forked, and with privileges, which loading modules needs. */
void options_begin(void)
{
	size_t i;

	kind_first = tally_kind(options[0].name, options[0].wants);
	for (i = 1; i < OPTIONS; i++)
		tally_kind(options[i].name, options[i].wants);
	for (i = 0; i < OPTIONS - OPTIONS_SYNQ; i++)
		if (options[i].wants == WANT_OK && lacks(i))
			tally_lacks(kind_first + i, lacks(i));
	kind_range = tally_kind(ranges[0].name, WANT_OK);
	for (i = 1; i < RANGES; i++)
		tally_kind(ranges[i].name, WANT_OK);
	kind_get = tally_kind("getsockopt", WANT_OK);
}
