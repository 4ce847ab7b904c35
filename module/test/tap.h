/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The little that user-space unit tests share: KTAP output, a condition that
 * ends a test case where it fails, and random numbers that can be repeated.
 *
 * A test case is a function that returns true.  A test program ends with
 * return tap_run(cases, number); exit status 0 means that every case passed.
 */
#ifndef _SYNQ_TEST_TAP_H
#define _SYNQ_TEST_TAP_H

#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

struct tap_case {
	const char *name;
	bool (*run)(void);
};

static u64 tap_seed = 0x53594e51;
static u64 tap_state;

/* splitmix64: a counter and a mixer; any seed is good */
static inline u64 tap_random(void)
{
	u64 x = tap_state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* 0 to @n - 1 */
static inline u32 tap_below(u32 n)
{
	return ((tap_random() >> 32) * n) >> 32;
}

#define check(condition, ...)						\
	do {								\
		if (!(condition)) {					\
			printf("# line %d: %s\n#", __LINE__, #condition); \
			printf(" " __VA_ARGS__);			\
			printf("\n");					\
			return false;					\
		}							\
	} while (0)

/* Other random numbers on demand. */
static inline void tap_read_seed(void)
{
	const char *seed = getenv("SEED");

	if (seed)
		tap_seed = strtoull(seed, NULL, 0);
}

/* Each case starts from the seed: it fails alone as it fails among others. */
static inline int tap_run(const struct tap_case *cases, unsigned int number)
{
	unsigned int failed = 0;
	unsigned int i;
	bool ok;

	tap_read_seed();
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n# SEED=%#llx\n1..%u\n", tap_seed, number);

	for (i = 0; i < number; i++) {
		tap_state = tap_seed;
		ok = cases[i].run();
		failed += !ok;
		printf("%s %u - %s\n", ok ? "ok" : "not ok", i + 1,
		       cases[i].name);
	}
	printf("# %u of %u passed\n", number - failed, number);

	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif /* _SYNQ_TEST_TAP_H */
