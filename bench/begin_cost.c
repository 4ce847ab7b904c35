// SPDX-License-Identifier: GPL-2.0
/*
 * What a flood costs the CPUs that share a listener: handshakes.c and law.c of the module,
 * run by one thread on each of two CPUs, as a flood's SYNs are judged there.
 *
 *	begin_cost [--check]		a table; or fail if it is less than it has to be
 *
 * refused	by wait.  The listener's memory is read-only meanwhile: that nothing is
 *		written is proved by not crashing.
 * cookie	let in, and answered by a cookie, of a class that hardly completes: told to
 *		the others some dozens at a time.
 * half-open	let in, with a place in the SYN queue: each takes the lock.
 *
 * Of what the kernel does itself nothing is in here.
 */
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../module/handshakes.h"
#include "../module/law.h"

#define CPUS		2
#define CLASS		3
#define TIMES		20000000U
#define COOKIES_MIN	10e6	/* in a second, on all CPUs */

struct shared {
	struct synq_handshakes shakes;
	struct synq_drain drain;
};

static struct shared *shared;
/* A CPU has one, far enough from the next. */
static struct synq_begun begun[64 * CPUS];
static u64 began_ns;
static unsigned int refused[CPUS];

static u64 clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (u64)NSEC_PER_SEC + t.tv_nsec;
}

/* As admission.c. */
static bool is_refused(u64 now_ns)
{
	struct synq_law law = {
		.limit = 80,
		.low = READ_ONCE(shared->drain.low),
		.interval_ns = READ_ONCE(shared->drain.interval_ns),
		.max_wait_ns = 300 * NSEC_PER_MSEC,
	};

	synq_handshakes_advance(&shared->shakes, now_ns);
	law.queued = 40 + READ_ONCE(shared->shakes.all_expected);
	law.ahead = law.queued;
	law.gone = READ_ONCE(shared->shakes.least_ns) / law.interval_ns;
	return synq_law(&law) != SYNQ_LAW_ADMIT;
}

static void *refuse(void *cpu)
{
	unsigned int n, count = 0;

	test_cpu = 64 * (unsigned long)cpu;
	for (n = 0; n < TIMES; n++)
		count += is_refused(began_ns + n % NSEC_PER_MSEC);
	refused[test_cpu / 64] = count;
	return NULL;
}

static void begin(unsigned int times, bool is_halfopen)
{
	unsigned int n;

	/* A SYN every 100 ns on each CPU. */
	for (n = 0; n < times; n++)
		synq_handshakes_begin(&shared->shakes, CLASS, is_halfopen,
				      (struct synq_flight_pace){
					      .interval_ns = shared->drain.interval_ns,
					      .pace_ns = shared->drain.pace_ns,
					      .most = 4096,
				      },
				      began_ns + n * 100ULL);
}

static void *by_cookie(void *cpu)
{
	test_cpu = 64 * (unsigned long)cpu;
	begin(TIMES, false);
	return NULL;
}

static void *half_open(void *cpu)
{
	test_cpu = 64 * (unsigned long)cpu;
	begin(TIMES / 4, true);
	return NULL;
}

/* How often in a second, on all CPUs? */
static double measure(void *(*work)(void *), unsigned int times)
{
	pthread_t thread[CPUS];
	unsigned long i;
	u64 since;

	began_ns = clock_ns();
	since = clock_ns();
	for (i = 0; i < CPUS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			abort();
	for (i = 0; i < CPUS; i++)
		pthread_join(thread[i], NULL);
	return (double)times * CPUS * NSEC_PER_SEC / (clock_ns() - since);
}

/* Nobody has completed for a while. */
static void become_a_flood(void)
{
	unsigned int i;
	u64 now_ns = clock_ns();

	for (i = 0; i < 40; i++) {
		now_ns += 2 * NSEC_PER_SEC;
		synq_handshakes_advance(&shared->shakes, now_ns);
		began_ns = now_ns;
		begin(100, false);
	}
}

static void set_up(void)
{
	unsigned int i;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		abort();
	synq_handshakes_init(&shared->shakes, 0, clock_ns());
	for (i = 1; i < 100; i++)
		synq_drain_sample(&shared->drain, i * 10 * NSEC_PER_MSEC, 40, 1);
}

static bool refuses(void)
{
	double rate;

	mprotect(shared, sizeof(*shared), PROT_READ);
	rate = measure(refuse, TIMES);
	mprotect(shared, sizeof(*shared), PROT_READ | PROT_WRITE);
	printf("refused    %6.1f M/s, without a write\n", rate / 1e6);
	return refused[0] == TIMES && refused[1] == TIMES;
}

static bool begins(void)
{
	double rate;

	become_a_flood();
	shared->shakes.begun = begun;
	rate = measure(by_cookie, TIMES);
	printf("cookie     %6.1f M/s\n", rate / 1e6);
	printf("half-open  %6.1f M/s\n", measure(half_open, TIMES / 4) / 1e6);
	return rate >= COOKIES_MIN;
}

int main(int argc, char **argv)
{
	bool check = argc > 1 && !strcmp(argv[1], "--check"), ok;

	set_up();
	ok = refuses();
	ok = begins() && ok;
	return check && !ok;
}
