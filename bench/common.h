/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of this directory have in common: how they end in an error, their
 * clock and the time at which several of them begin, random numbers, the Internet
 * checksum.  It is included after _GNU_SOURCE is defined.
 */
#ifndef _SYNQ_BENCH_COMMON_H
#define _SYNQ_BENCH_COMMON_H

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NSEC_PER_SEC	1000000000LL
#define NSEC_PER_MSEC	1000000LL
#define NSEC_PER_USEC	1000

/* "PROGRAM: what is wrong", and exit status 1. */
static inline void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

/* Of CLOCK_MONOTONIC. */
static inline int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static inline struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){
		.tv_sec = ns / NSEC_PER_SEC,
		.tv_nsec = ns % NSEC_PER_SEC,
	};
}

/*
 * Lets several generators begin together: the script that started them waits until
 * all are ready and then gives them a time in the future.  @word is the option that
 * asked for it.
 */
static inline int64_t agreed_time(const char *word)
{
	int64_t ns;

	puts("ready");
	fflush(stdout);
	if (scanf("%" SCNd64, &ns) != 1)
		die("%s: no time on standard input", word);
	return ns;
}

/* splitmix64: the same numbers on every machine and C library. */
static inline uint64_t rng_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Of the checksum, before it is folded: words in host order, an even @len. */
static inline uint32_t sum_add(uint32_t sum, const void *from, size_t len)
{
	const uint8_t *bytes = from;
	size_t i;

	for (i = 0; i + 1 < len; i += 2)
		sum += bytes[i] << 8 | bytes[i + 1];
	return sum;
}

/* The checksum, in network order. */
static inline uint16_t sum_end(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum & 0xffff);
}

#endif /* _SYNQ_BENCH_COMMON_H */
