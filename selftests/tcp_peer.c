// SPDX-License-Identifier: GPL-2.0
/*
 * Both ends of TCP connections, as the scripts of this directory need them:
 *
 *   tcp_peer server	listens; holds, accepts, echoes, counts	(tcp_server.c)
 *   tcp_peer client	N connections, their fate one by one	(tcp_client.c)
 *   tcp_peer hammer	connections for T seconds, counted	(tcp_hammer.c)
 *   tcp_peer segment	bare segments from forged sources	(tcp_segment.c)
 *   tcp_peer bpf	BPF programs and maps for a listener	(tcp_bpf.c)
 *   tcp_peer option	the socket option of synq	(tcp_option.c)
 *   tcp_peer in NAME [-u] COMMAND...	COMMAND in a network namespace, with -u
 *			by nobody; static, it starts in a fraction of the time
 *			that nsenter takes
 *   tcp_peer in NAME -w FILE TEXT [...]	writes to files (of /proc/sys) there
 *   tcp_peer plain	no checksums left to a device	(tcp_answer.c)
 *   tcp_peer lists	a device that receives in lists	(tcp_answer.c)
 *   tcp_peer queue	holds up what nft queues	(tcp_queue.c)
 *   tcp_peer twin	what an accept queue should do	(tcp_twin.c)
 *   tcp_peer fuzz	random owners of sockets, and clients	(tcp_fuzz.c)
 *   tcp_peer owner	does to its sockets what it is told	(tcp_owner.c)
 *   tcp_peer destroy	SOCK_DESTROY of a listener	(tcp_owner.c)
 *   tcp_peer hold	holds the lock of its socket	(tcp_hold.c)
 *   tcp_peer eager	accepts at once, and queues inside	(tcp_eager.c)
 *   tcp_peer reader	waits for requests in many ways	(tcp_reader.c)
 *
 * All print lines that start with a word, at once; none waits for a time where
 * it can wait for an event.  -N NAME enters a network namespace first.  Exit
 * status: 0 done, 1 an error, 4 the kernel lacks what was asked for.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tcp_peer.h"

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND		78
#endif
#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT	24
#endif

void die(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("tcp_peer: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void skip(const char *what)
{
	printf("skip %s: %s\n", what, strerror(errno));
	fflush(stdout);
	exit(EXIT_SKIP);
}

long number(const char *text, long min, long max)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 0);
	if (errno || end == text || *end || n < min || n > max)
		die("%s: not a number from %ld to %ld", text, min, max);
	return n;
}

void enter_netns(const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("%s: %s", path, strerror(errno));
	close(fd);
}

void address_parse(struct address *address, const char *text)
{
	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, text, &address->in.sin_addr) == 1) {
		address->in.sin_family = AF_INET;
		address->len = sizeof(address->in);
	} else if (inet_pton(AF_INET6, text, &address->in6.sin6_addr) == 1) {
		address->in6.sin6_family = AF_INET6;
		address->len = sizeof(address->in6);
	} else {
		die("%s: not an address", text);
	}
}

void address_set_port(struct address *address, unsigned int port)
{
	address->in.sin_port = htons(port);	/* the same place in both */
}

unsigned int address_port(const struct address *address)
{
	return ntohs(address->in.sin_port);
}

/* The address @by steps further, in its low 32 bits. */
void address_step(struct address *address, uint32_t by)
{
	uint32_t *low = address->sa.sa_family == AF_INET ?
			&address->in.sin_addr.s_addr :
			&address->in6.sin6_addr.s6_addr32[3];

	*low = htonl(ntohl(*low) + by);
}

/* @text: INET6_ADDRSTRLEN */
const char *address_text(const struct address *address, char *text)
{
	const void *bytes = address->sa.sa_family == AF_INET ?
			    (const void *)&address->in.sin_addr :
			    (const void *)&address->in6.sin6_addr;

	inet_ntop(address->sa.sa_family, bytes, text, INET6_ADDRSTRLEN);
	return text;
}

/* Of the Internet checksum: words in host order, before it is folded. */
uint32_t sum_add(uint32_t sum, const void *from, size_t len)
{
	const uint8_t *bytes = from;
	size_t i;

	for (i = 0; i + 1 < len; i += 2)
		sum += bytes[i] << 8 | bytes[i + 1];
	if (len & 1)
		sum += bytes[len - 1] << 8;
	return sum;
}

uint16_t sum_fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

void pause_ms(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

bool exists(const char *file)
{
	return !access(file, F_OK);
}

void wait_for_file(const char *file)
{
	while (!exists(file))
		pause_ms(10);
}

/* A record with so many bytes, of which the last is a newline; returns its whole length. */
int tls_record(char *to, int type, int first, int len)
{
	const char header[TLS_HEADER] = { type, 3, 3, len >> 8, len };

	memcpy(to, header, TLS_HEADER);
	memset(to + TLS_HEADER, ' ', len);
	to[TLS_HEADER] = first;
	to[TLS_HEADER + len - 1] = '\n';
	return TLS_HEADER + len;
}

/* Spreads an id over 64 bits: equal sums mean the same set of ids. */
uint64_t mix(uint64_t id)
{
	id += 0x9e3779b97f4a7c15ULL;
	id = (id ^ id >> 30) * 0xbf58476d1ce4e5b9ULL;
	id = (id ^ id >> 27) * 0x94d049bb133111ebULL;
	return id ^ id >> 31;
}

int open_socket(int family, bool mptcp)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC,
			mptcp ? IPPROTO_MPTCP : IPPROTO_TCP);

	if (fd < 0 && mptcp && (errno == EPROTONOSUPPORT || errno == ENOPROTOOPT))
		skip("mptcp");
	if (fd < 0)
		die("socket: %s", strerror(errno));
	return fd;
}

void set_option(int fd, int level, int option, int value, const char *name)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)))
		die("%s: %s", name, strerror(errno));
}

void set_nonblocking(int fd)
{
	if (fcntl(fd, F_SETFL, O_NONBLOCK))
		die("fcntl: %s", strerror(errno));
}

/*
 * Any address that the namespace receives for may be a source ("ip route add
 * local"); the port is chosen at connect(), so that a source can be used often.
 * MPTCP refuses some of these options on some kernels: then bind() decides.
 */
void bind_source(int fd, struct address source)
{
	bool v6 = source.sa.sa_family == AF_INET6;
	int one = 1;

	setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP,
		   v6 ? IPV6_FREEBIND : IP_FREEBIND, &one, sizeof(one));
	if (address_port(&source))
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	else
		setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one,
			   sizeof(one));
	if (bind(fd, &source.sa, source.len))
		die("bind: %s", strerror(errno));
}

void write_text(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(text);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		die("%s: %s", file, strerror(errno));
	close(fd);
}

void become_nobody(void)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		die("setuid: %s", strerror(errno));
}

static int in_main(int argc, char **argv)
{
	if (argc < 3)
		die("usage: tcp_peer in NAME [-u] COMMAND...");
	enter_netns(argv[1]);
	argv += 2;
	if (!strcmp(*argv, "-u") && argv[1]) {
		become_nobody();
		argv++;
	}
	if (strcmp(*argv, "-w")) {
		execvp(*argv, argv);
		die("%s: %s", *argv, strerror(errno));
	}
	for (; argc > 4 && !strcmp(*argv, "-w"); argv += 3, argc -= 3)
		write_text(argv[1], argv[2]);
	return 0;
}

/* A client keeps its connections until all of them are settled. */
static void allow_files(void)
{
	const struct rlimit files = { .rlim_cur = 1 << 16, .rlim_max = 1 << 16 };

	if (setrlimit(RLIMIT_NOFILE, &files))
		die("RLIMIT_NOFILE: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} commands[] = {
		{ "server", server_main },
		{ "client", client_main },
		{ "hammer", hammer_main },
		{ "segment", segment_main },
		{ "bpf", bpf_main },
		{ "option", option_main },
		{ "in", in_main },
		{ "plain", plain_main },
		{ "lists", lists_main },
		{ "queue", queue_main },
		{ "twin", twin_main },
		{ "blink", blink_main },
		{ "unload", unload_main },
		{ "fuzz", fuzz_main },
		{ "owner", owner_main },
		{ "destroy", destroy_main },
		{ "hold", hold_main },
		{ "eager", eager_main },
		{ "reader", reader_main },
	};
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	allow_files();
	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	die("usage: tcp_peer server|client|hammer|segment|bpf|option|in|plain|lists|queue|twin|blink|unload|fuzz|owner|destroy|hold|eager|reader OPTION...");
}
