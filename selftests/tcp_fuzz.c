// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_peer fuzz ROLE [OPTION...] [ADDRESS...]: random sequences around sockets that
 * listen, for owners.sh.  ROLE is
 *
 *   owners	-j processes of the user nobody, each with some dozen sockets on the ports of -p,
 *		to which they do all that an owner may do; they accept, read and
 *		echo (tcp_fuzz_owner.c)
 *   clients	connect from the sources of -s to the addresses, talk and check what they
 *		get (tcp_fuzz_client.c)
 *   destroy	SOCK_DESTROY of the owners' sockets, and sysctls that change
 *		(tcp_fuzz_destroy.c)
 *
 * -r SEED repeats the choices of a run: step N of a process makes the same ones, whatever
 * came of those before.  -x NAMES, between commas, are left out.  -S FILE: the owners only
 * accept and serve when it exists; -F FILE: the clients begin no more, and have each
 * connection answer once more; -E FILE: the end.  -w MS: what a connection that has
 * answered before may take to answer again.  -T SECONDS: the end in any case.
 *
 * Prints "fault TEXT" at once for what must not be; at the end, for each kind of step,
 * how often it succeeded and how often it failed with which error:
 *
 *   step NAME ok=N [ERROR=N...]
 *   never NAME		if it has to succeed and never did
 *   allowed NAME	if it has to be refused and once was not
 *   lacks NAME ERROR	this kernel does not have it
 *   total ROLE steps=N ok=N failed=N kinds=N faults=N
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tcp_fuzz.h"

#define KINDS_MAX	256
#define ERRNOS		160

struct fuzz fuzz = { .processes = 4, .patience_ms = 15000 };

/* In memory that all processes of a role share. */
static struct shared {
	uint64_t faults;
	struct {
		uint64_t ok;
		uint64_t failed[ERRNOS];
	} count[KINDS_MAX];
} *shared;

static struct {
	const char *name;
	enum wants wants;
	int lacks;		/* errno */
} kinds[KINDS_MAX];
static unsigned int n_kinds;

struct rng rng_of(uint64_t who, uint64_t step)
{
	struct rng rng = { mix(mix(fuzz.seed ^ who << 48) ^ step) };

	return rng;
}

uint64_t rng_next(struct rng *rng)
{
	rng->state += 0x9e3779b97f4a7c15ULL;
	return mix(rng->state);
}

unsigned int rng_below(struct rng *rng, unsigned int n)
{
	return rng_next(rng) % n;
}

bool rng_one_in(struct rng *rng, unsigned int n)
{
	return !rng_below(rng, n);
}

int rng_port(struct rng *rng)
{
	return fuzz.port[rng_below(rng, fuzz.ports)];
}

/* Before any process is forked. */
unsigned int tally_kind(const char *name, enum wants wants)
{
	if (n_kinds == KINDS_MAX)
		die("too many kinds of steps");
	kinds[n_kinds].name = name;
	kinds[n_kinds].wants = wants;
	return n_kinds++;
}

void tally_lacks(unsigned int kind, int error)
{
	kinds[kind].lacks = error;
}

/* @error: 0, or why it has failed */
void tally_add(unsigned int kind, int error)
{
	uint64_t *counter = &shared->count[kind].ok;

	if (error)
		counter = &shared->count[kind].failed[error < ERRNOS ? error : 0];
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static const char *error_name(int error)
{
	const char *name = error ? strerrorname_np(error) : NULL;

	return name ?: "other";
}

/* Returns how often it was done. */
static uint64_t report_kind(unsigned int kind, uint64_t *failed)
{
	uint64_t ok = shared->count[kind].ok, sum = 0;
	const char *name = kinds[kind].name;
	int i;

	printf("step %s ok=%llu", name, (unsigned long long)ok);
	for (i = 0; i < ERRNOS; i++) {
		uint64_t n = shared->count[kind].failed[i];

		if (n)
			printf(" %s=%llu", error_name(i), (unsigned long long)n);
		sum += n;
	}
	putchar('\n');
	*failed = sum;
	if (kinds[kind].lacks)
		printf("lacks %s %s\n", name, error_name(kinds[kind].lacks));
	else if (is_left_out(name) || kinds[kind].wants == WANT_ANY)
		return ok + sum;
	else if (kinds[kind].wants == WANT_REFUSED && ok)
		printf("allowed %s\n", name);
	else if (kinds[kind].wants == WANT_REFUSED ? !sum : !ok)
		printf("never %s\n", name);
	return ok + sum;
}

void tally_report(const char *role)
{
	unsigned long long steps = 0, failed = 0;
	unsigned int kind;

	for (kind = 0; kind < n_kinds; kind++) {
		uint64_t n;

		steps += report_kind(kind, &n);
		failed += n;
	}
	printf("total %s steps=%llu ok=%llu failed=%llu kinds=%u faults=%llu\n",
	       role, steps, steps - failed, failed, n_kinds,
	       (unsigned long long)shared->faults);
	fflush(stdout);
}

/* Any process, any thread: one line, at once. */
void fault(const char *format, ...)
{
	char text[300] = "fault ";
	va_list args;
	size_t len;

	va_start(args, format);
	vsnprintf(text + 6, sizeof(text) - 7, format, args);
	va_end(args);
	len = strlen(text);
	text[len++] = '\n';
	__atomic_fetch_add(&shared->faults, 1, __ATOMIC_RELAXED);
	if (write(STDOUT_FILENO, text, len) < 0)
		_exit(1);
}

bool is_left_out(const char *name)
{
	size_t len = strlen(name);
	const char *at = fuzz.skip;

	while (at && *at) {
		size_t word = strcspn(at, ",");

		if (word == len && !strncmp(at, name, len))
			return true;
		at += word + (at[word] == ',');
	}
	return false;
}

bool is_time_for(const char *file)
{
	return (file && exists(file)) || now_ms() > fuzz.limit;
}

static void parse_ports(char *text)
{
	char *word;

	while ((word = strsep(&text, ","))) {
		if (fuzz.ports == PORTS_MAX)
			die("fuzz: too many ports");
		fuzz.port[fuzz.ports++] = number(word, 1, 65535);
	}
}

static void parse_address(struct address *list, int *n, const char *text)
{
	if (*n == ADDRESSES_MAX)
		die("fuzz: too many addresses");
	address_parse(&list[(*n)++], text);
}

static void parse(int argc, char **argv)
{
	long seconds = 60;
	int c;

	while ((c = getopt(argc, argv, "N:E:F:S:T:j:p:r:s:w:x:")) != -1) {
		switch (c) {
		case 'N': enter_netns(optarg); break;
		case 'E': fuzz.end = optarg; break;
		case 'F': fuzz.final = optarg; break;
		case 'S': fuzz.settle = optarg; break;
		case 'T': seconds = number(optarg, 1, 1 << 20); break;
		case 'j': fuzz.processes = number(optarg, 1, 64); break;
		case 'p': parse_ports(optarg); break;
		case 'r': fuzz.seed = number(optarg, 0, 0x7fffffff); break;
		case 's': parse_address(fuzz.source, &fuzz.sources, optarg); break;
		case 'w': fuzz.patience_ms = number(optarg, 1, 1 << 20); break;
		case 'x': fuzz.skip = optarg; break;
		default: die("fuzz: a wrong option");
		}
	}
	for (; optind < argc; optind++)
		parse_address(fuzz.to, &fuzz.tos, argv[optind]);
	if (!fuzz.ports || !fuzz.end)
		die("fuzz: -p and -E are missing");
	fuzz.limit = now_ms() + seconds * 1000LL;
}

int fuzz_main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} roles[] = {
		{ "owners", fuzz_owners },
		{ "clients", fuzz_clients },
		{ "destroy", fuzz_destroy },
	};
	size_t i;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	for (i = 0; argc > 1 && i < sizeof(roles) / sizeof(*roles); i++) {
		if (strcmp(argv[1], roles[i].name))
			continue;
		parse(argc - 1, argv + 1);
		return roles[i].run();
	}
	die("usage: tcp_peer fuzz owners|clients|destroy OPTION...");
}
