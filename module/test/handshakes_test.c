// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of handshakes.c, in user space.  Run by "make -C module/test check".
 */
#include <linux/time64.h>
#include <linux/types.h>
#include <string.h>

#include "handshakes.h"
#include "tap.h"

#define MS	((u64)NSEC_PER_MSEC)
#define CPUS	2
#define CLASS	3

static const struct synq_flight_pace pace = {
	.interval_ns = MS,
	.pace_ns = 2 * MS,
	.most = 1000,
};

static struct synq_handshakes shakes;
static struct synq_begun begun[CPUS];
static u64 now;

static void begin_with(u32 unseen)
{
	memset(&shakes, 0, sizeof(shakes));
	memset(begun, 0, sizeof(begun));
	now = 5000 * MS;
	shakes.begun = begun;
	synq_handshakes_init(&shakes, unseen, now);
	test_cpu = 0;
}

static void pass(u64 ns)
{
	now += ns;
	synq_handshakes_advance(&shakes, now);
}

static void begin(unsigned int n, bool is_halfopen)
{
	while (n--)
		synq_handshakes_begin(&shakes, CLASS, is_halfopen, pace, now);
}

static void complete(unsigned int n, enum synq_final final, u64 age_ns)
{
	while (n--)
		synq_handshakes_complete(&shakes, CLASS, final, age_ns, true, now);
}

static bool counts(void)
{
	begin_with(0);
	begin(10, true);
	check(shakes.all_expected == 10 && shakes.expected[CLASS] == 10, "%u",
	      shakes.all_expected);
	check(shakes.halfopen.open[CLASS] == 10, "%u", shakes.halfopen.total);
	check(synq_flight_clock_paced(&shakes.clock, pace, now) == 9, "served at once");
	pass(20 * MS);
	complete(4, SYNQ_FINAL_ACK, 20 * MS);
	check(shakes.all_expected == 6 && shakes.halfopen.open[CLASS] == 6, "%u",
	      shakes.all_expected);
	check(shakes.clock.mean_ns == 20 * MS, "%llu", shakes.clock.mean_ns);
	begin(1, false);
	check(shakes.all_expected == 7 && shakes.halfopen.open[CLASS] == 6,
	      "a cookie is not half open");
	complete(1, SYNQ_FINAL_COOKIE, 0);
	check(shakes.all_expected == 6, "it comes as long after as others");
	begin(1, true);
	complete(1, SYNQ_FINAL_FASTOPEN, 0);
	check(shakes.all_expected == 6 && shakes.halfopen.open[CLASS] == 6,
	      "Fast Open");
	pass(3000 * MS);
	pass(3000 * MS);
	check(!shakes.all_expected && !shakes.busy, "given up");
	return true;
}

/* They came before it was managed. */
static bool unseen(void)
{
	begin_with(3);
	pass(100 * MS);
	complete(1, SYNQ_FINAL_ACK, 200 * MS);
	check(shakes.unseen == 2 && !shakes.all_expected, "%u", shakes.unseen);
	begin(1, true);
	complete(1, SYNQ_FINAL_ACK, 0);
	check(shakes.unseen == 2, "%u: one of those seen", shakes.unseen);
	pass(1100 * MS);
	check(!shakes.unseen, "for a second");
	return true;
}

static bool forgets(void)
{
	begin_with(0);
	begin(10, true);
	synq_handshakes_begin(&shakes, CLASS + 1, true, pace, now);
	synq_handshakes_forget(&shakes, 1U << CLASS);
	check(shakes.all_expected == 1 && !shakes.expected[CLASS], "%u",
	      shakes.all_expected);
	check(shakes.halfopen.total == 1, "%u", shakes.halfopen.total);
	return true;
}

/* Nobody completes any more. */
static void become_a_flood(void)
{
	unsigned int i;

	for (i = 0; i < 40; i++) {
		begin(100, false);
		pass(2000 * MS);
	}
}

/* They write only what belongs to their CPU, and tell the others some dozens at a time. */
static bool on_their_cpu(void)
{
	struct synq_handshakes before;
	unsigned int i;
	u32 told;

	begin_with(0);
	become_a_flood();
	check(shakes.flight[CLASS].ratio < SYNQ_FLIGHT_ONE / 4, "%u",
	      shakes.flight[CLASS].ratio);
	for (i = 0; i < CPUS; i++) {
		test_cpu = i;
		begin(1, false);
		memcpy(&before, &shakes, sizeof(shakes));
		begin(60, false);
		check(!memcmp(&before, &shakes, sizeof(shakes)), "CPU %u", i);
		told = shakes.flight[CLASS].epoch[0].begun;
		begin(4, false);
		check(shakes.flight[CLASS].epoch[0].begun == told + 64, "CPU %u", i);
		begin(3, false);
		pass(2 * MS);
		told = shakes.flight[CLASS].epoch[0].begun;
		begin(1, false);
		check(shakes.flight[CLASS].epoch[0].begun == told + 4,
		      "CPU %u: after some time", i);
	}
	told = shakes.flight[CLASS].epoch[0].begun;
	begin(1, true);
	check(shakes.flight[CLASS].epoch[0].begun == told + 1, "at once: half open");
	shakes.begun = NULL;
	begin(1, false);
	check(shakes.flight[CLASS].epoch[0].begun == told + 2, "at once: no memory");
	return true;
}

static const struct tap_case cases[] = {
	{ "counts", counts },
	{ "those of before", unseen },
	{ "a class that is gone leaves nothing", forgets },
	{ "a flood is counted on its CPU", on_their_cpu },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
