// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of slack.c, in user space.  Run by "make -C module/test check".
 */
#include <linux/time64.h>
#include <linux/types.h>

#include "slack.h"
#include "tap.h"

#define MS	((u64)NSEC_PER_MSEC)

static bool at_first(void)
{
	check(synq_slack(0, 128) == 8, "%u", synq_slack(0, 128));
	check(synq_slack(0, 1) == 1, "%u", synq_slack(0, 1));
	check(synq_slack(0, 65535) == 4095, "%u", synq_slack(0, 65535));
	check(synq_slack_limit(88, 0, 128) == 80, "a sixteenth");
	check(synq_slack_limit(7, 0, 40) == 5, "a third of a short limit");
	check(synq_slack_limit(7, 9 * SYNQ_SLACK_ONE, 40) == 3,
	      "two thirds of it");
	check(synq_slack_limit(2, ~0U, 128) == 1, "one of two");
	check(synq_slack_limit(1, ~0U, 128) == 1, "never nothing");
	return true;
}

static bool grows(void)
{
	static const u32 backlogs[] = { 0, 1, 4, 16, 128, 4096, 65535, ~0U };
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(backlogs); i++) {
		struct synq_slack slack = { 0 };
		u32 last = synq_slack(slack.more, backlogs[i]);

		for (n = 1; n < 100; n++) {
			u32 is;

			synq_slack_withheld(&slack, backlogs[i], n * 50 * MS,
					    40 * MS);
			is = synq_slack(slack.more, backlogs[i]);
			check(is >= last, "%u after %u", is, last);
			last = is;
		}
		check(last <= synq_slack_least(backlogs[i]) + backlogs[i] / 4,
		      "%u of %u", last, backlogs[i]);
		check(backlogs[i] < 16 || backlogs[i] == ~0U ||
		      last >= backlogs[i] / 4, "%u of %u", last, backlogs[i]);
	}
	return true;
}

/* Those that were under way when the first had to wait are the same mistake. */
static bool once_a_handshake(void)
{
	struct synq_slack slack = { 0 };
	unsigned int n;

	for (n = 0; n < 30; n++)
		synq_slack_withheld(&slack, 128, 1000 * MS + n * MS, 40 * MS);
	check(synq_slack(slack.more, 128) == 16, "%u",
	      synq_slack(slack.more, 128));
	synq_slack_withheld(&slack, 128, 1040 * MS, 40 * MS);
	check(synq_slack(slack.more, 128) == 24, "%u",
	      synq_slack(slack.more, 128));
	return true;
}

/* What needs some slack has one in 8000 wait. */
static bool settles(void)
{
	struct synq_slack slack = { 0 };
	unsigned int n, withheld = 0;

	for (n = 0; n < 200000; n++) {
		/* Up to 30 slots beyond what was foreseen, evenly spread. */
		if (tap_below(30) >= synq_slack(slack.more, 128) &&
		    !tap_below(20)) {
			withheld++;
			synq_slack_withheld(&slack, 128, n * 50 * MS, 40 * MS);
		} else {
			synq_slack_promoted(&slack, 128);
		}
	}
	check(withheld > 12 && withheld < 60, "%u of %u", withheld, n);
	for (n = 0; n < 40000; n++)
		synq_slack_promoted(&slack, 128);
	check(synq_slack(slack.more, 128) == 8, "%u",
	      synq_slack(slack.more, 128));
	return true;
}

static void promoted(struct synq_slack *slack, unsigned int n)
{
	while (n--)
		synq_slack_promoted(slack, 128);
}

/* Of a bunch each counts, up to a number. */
static bool in_bunches(void)
{
	struct synq_slack slack = { 0 };
	unsigned int n, i, withheld = 0;

	for (n = 0; n < 3; n++)
		synq_slack_withheld(&slack, 128, 1000 * MS, 40 * MS);
	promoted(&slack, 2 * SYNQ_SLACK_ONE);
	check(synq_slack(slack.more, 128) == 16, "%u",
	      synq_slack(slack.more, 128));
	promoted(&slack, SYNQ_SLACK_ONE);
	check(synq_slack(slack.more, 128) == 8, "%u",
	      synq_slack(slack.more, 128));
	for (n = 0; n < 1000; n++)
		synq_slack_withheld(&slack, 128, 2000 * MS, 40 * MS);
	promoted(&slack, 5 * SYNQ_SLACK_ONE);
	check(synq_slack(slack.more, 128) == 8, "%u",
	      synq_slack(slack.more, 128));
	for (n = 0; n < 500000; n++) {
		if (tap_below(30) < synq_slack(slack.more, 128) ||
		    tap_below(100)) {
			synq_slack_promoted(&slack, 128);
			continue;
		}
		for (i = 0; i < 4; i++)
			synq_slack_withheld(&slack, 128, (10000 + n) * MS,
					    MS / 2);
		withheld += i;
	}
	check(withheld > 30 && withheld < 140, "%u of %u", withheld, n);
	return true;
}

/* refused() - by so many SYNs, so often */
static void refused(struct synq_slack *slack, u64 *now, unsigned int n, u64 every)
{
	for (; n; n--, *now += every)
		synq_slack_refused(slack, 128, *now);
}

/* Who is refused for a second has a step made, and no second; who comes in crowds not. */
static bool refuses(void)
{
	struct synq_slack slack = { 0 };
	u64 now = 5000 * MS;
	unsigned int n;

	for (n = 0; n < 20; n++) {
		refused(&slack, &now, 300, 0);
		now += 600 * MS;
	}
	check(synq_slack(slack.more, 128) == 8, "%u",
	      synq_slack(slack.more, 128));
	refused(&slack, &now, 11, 90 * MS);
	check(synq_slack(slack.more, 128) == 8, "%u",
	      synq_slack(slack.more, 128));
	refused(&slack, &now, 1000, 90 * MS);
	check(synq_slack(slack.more, 128) == 16, "%u",
	      synq_slack(slack.more, 128));
	synq_slack_withheld(&slack, 128, now, 40 * MS);
	refused(&slack, &now, 1000, 90 * MS);
	check(synq_slack(slack.more, 128) == 24, "%u",
	      synq_slack(slack.more, 128));
	for (n = 0; n < 20000; n++)
		synq_slack_promoted(&slack, 128);
	check(synq_slack(slack.more, 128) == 8, "%u",
	      synq_slack(slack.more, 128));
	for (n = 0; n < 100; n++)
		synq_slack_refused(&slack, ~0U, now += 20 * MS);
	check(slack.more == ~0U, "%u", slack.more);
	return true;
}

/* More leave during a handshake than there are slots: an eighth of them on top. */
static bool is_first(void)
{
	check(synq_slack_first(0, 128, 0) == 129, "all slots");
	check(synq_slack_first(0, 128, 128) == 129, "all slots");
	check(synq_slack_first(0, 128, 400) == 179, "%u",
	      synq_slack_first(0, 128, 400));
	check(synq_slack_first(8 * SYNQ_SLACK_ONE, 128, 400) == 121, "a step");
	check(synq_slack_first(~0U, 128, 400) == 97, "a quarter");
	check(synq_slack_first(~0U, 0, 0) == 1, "no backlog");
	return true;
}

/* What is asked without a lock first. */
static bool news(void)
{
	struct synq_slack slack = { 0 };
	u64 now = 1000 * MS;

	check(synq_slack_is_news(slack.refused_ns, now), "the first");
	synq_slack_refused(&slack, 128, now);
	check(!synq_slack_is_news(slack.refused_ns, now + 10 * MS), "10 ms");
	check(synq_slack_is_news(slack.refused_ns, now + 100 * MS), "100 ms");
	return true;
}

static const struct tap_case cases[] = {
	{ "at first", at_first },
	{ "grows", grows },
	{ "once a handshake", once_a_handshake },
	{ "settles", settles },
	{ "in bunches", in_bunches },
	{ "refuses", refuses },
	{ "first class", is_first },
	{ "news", news },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
