// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of halfopen.c, in user space.  Run by "make -C module/test check".
 */
#include <linux/time64.h>
#include <linux/types.h>

#include "halfopen.h"
#include "tap.h"

#define S	((u64)NSEC_PER_SEC)
#define MS	((u64)NSEC_PER_MSEC)

static bool sums_agree(const struct synq_halfopen *halfopen)
{
	u32 total = 0, slice, class;

	for (class = 0; class < SYNQ_HALFOPEN_CLASSES; class++) {
		u32 open = 0;

		for (slice = 0; slice < SYNQ_HALFOPEN_SLICES; slice++)
			open += halfopen->in[slice][class];
		check(open == halfopen->open[class], "class %u: %u, not %u",
		      class, halfopen->open[class], open);
		total += open;
	}
	check(total == halfopen->total, "%u, not %u", halfopen->total, total);
	return true;
}

static bool begun_and_answered(void)
{
	struct synq_halfopen halfopen = { 0 };
	u32 n;

	synq_halfopen_init(&halfopen, 1000 * S);
	for (n = 0; n < 100; n++)
		synq_halfopen_begin(&halfopen, 3, 1000 * S + n * 100 * MS);
	check(halfopen.open[3] == 100, "%u", halfopen.open[3]);
	for (n = 0; n < 100; n++)
		synq_halfopen_answered(&halfopen, 3, 1010 * S + n * 100 * MS,
				       10 * S);
	check(halfopen.open[3] == 0, "%u", halfopen.open[3]);
	return sums_agree(&halfopen);
}

/* The SYN-ACK is sent after the SYN was counted. */
static bool slice_before(void)
{
	struct synq_halfopen halfopen = { 0 };

	synq_halfopen_init(&halfopen, 1000 * S);
	synq_halfopen_begin(&halfopen, 0, 1002 * S - 1);
	synq_halfopen_answered(&halfopen, 0, 1002 * S + 50 * MS, 50 * MS);
	check(!halfopen.total, "%u", halfopen.total);
	/* What was not counted is not taken from anybody. */
	synq_halfopen_begin(&halfopen, 1, 1002 * S);
	synq_halfopen_answered(&halfopen, 0, 1002 * S + 50 * MS, 50 * MS);
	synq_halfopen_answered(&halfopen, 1, 1002 * S + 50 * MS, 2000 * S);
	check(halfopen.open[1] == 1, "%u", halfopen.open[1]);
	return sums_agree(&halfopen);
}

static bool expires(void)
{
	struct synq_halfopen halfopen = { 0 };

	synq_halfopen_init(&halfopen, 0);
	synq_halfopen_begin(&halfopen, 5, 0);
	synq_halfopen_begin(&halfopen, 6, 1 * S);
	synq_halfopen_begin(&halfopen, 7, 2 * S);
	synq_halfopen_settle(&halfopen, 63 * S, ~0U);
	check(halfopen.total == 3, "%u", halfopen.total);
	synq_halfopen_settle(&halfopen, 64 * S, ~0U);
	check(halfopen.total == 1 && halfopen.open[7] == 1, "%u", halfopen.total);
	synq_halfopen_settle(&halfopen, 1000000 * S, ~0U);
	check(!halfopen.total, "%u", halfopen.total);
	return sums_agree(&halfopen);
}

/* Of one class nothing is left, of the others all. */
static bool forgets(void)
{
	struct synq_halfopen halfopen = { 0 };
	u32 n;

	synq_halfopen_init(&halfopen, 0);
	for (n = 0; n < 80; n++) {
		synq_halfopen_begin(&halfopen, 2, n * S);
		synq_halfopen_begin(&halfopen, 3, n * S);
	}
	synq_halfopen_forget(&halfopen, 2);
	check(!halfopen.open[2] && halfopen.open[3] == halfopen.total &&
	      halfopen.total >= 60, "%u %u %u", halfopen.open[2],
	      halfopen.open[3], halfopen.total);
	synq_halfopen_forget(&halfopen, 2);
	check(sums_agree(&halfopen), "not twice");
	synq_halfopen_answered(&halfopen, 2, 80 * S, S);
	return sums_agree(&halfopen);
}

/* The oldest are gone first, and of one slice those of a flood. */
static bool settles(void)
{
	struct synq_halfopen halfopen = { 0 };
	u32 n;

	synq_halfopen_init(&halfopen, 0);
	for (n = 0; n < 10; n++)
		synq_halfopen_begin(&halfopen, 2, 0);
	synq_halfopen_begin(&halfopen, 1, 0);
	for (n = 0; n < 5; n++)
		synq_halfopen_begin(&halfopen, 3, 10 * S);
	synq_halfopen_settle(&halfopen, 10 * S, 0);
	check(halfopen.total == 16, "%u on their way", halfopen.total);
	synq_halfopen_settle(&halfopen, 10 * S, 16);
	check(halfopen.total == 16, "%u", halfopen.total);
	synq_halfopen_settle(&halfopen, 10 * S, 7);
	check(halfopen.open[2] == 1 && halfopen.open[1] == 1 &&
	      halfopen.open[3] == 5, "%u %u %u", halfopen.open[2],
	      halfopen.open[1], halfopen.open[3]);
	synq_halfopen_settle(&halfopen, 10 * S, 4);
	check(halfopen.open[3] == 4 && halfopen.total == 4, "%u",
	      halfopen.open[3]);
	synq_halfopen_settle(&halfopen, 10 * S, 0);
	check(!halfopen.total, "%u", halfopen.total);
	synq_halfopen_settle(&halfopen, 10 * S, 0);
	return sums_agree(&halfopen);
}

/*
 * Beside a queue that keeps each request by itself: a flood that is answered by
 * nobody, clients who answer after a while, and a kernel that gives up after 7 s.
 * The number of each class may be off by what the slices blur.
 */
static bool like_the_queue(void)
{
	enum { MOST = 4096, LIFE = 7 };
	static struct {
		u64 begun, due;
		u8 class;
	} queue[MOST];
	struct synq_halfopen halfopen = { 0 };
	u32 n = 0, i, worst = 0;
	u64 now;

	synq_halfopen_init(&halfopen, 0);
	for (now = 0; now < 100 * S; now += 2 * MS) {
		bool flood = now > 20 * S && now < 60 * S;
		u32 open[2] = { 0 };

		for (i = 0; i < n; ) {
			if (queue[i].due <= now) {
				synq_halfopen_answered(&halfopen,
						       queue[i].class, now,
						       now - queue[i].begun);
			} else if (queue[i].begun + LIFE * S > now) {
				i++;
				continue;
			}
			queue[i] = queue[--n];
		}
		if (n < MOST && tap_below(2)) {
			u8 class = flood ? tap_below(3) > 0 : 0;

			queue[n].begun = now;
			queue[n].class = class;
			queue[n].due = class ? ~0ULL :
				       now + (100 + tap_below(400)) * MS;
			n++;
			synq_halfopen_begin(&halfopen, class, now);
		}
		synq_halfopen_settle(&halfopen, now, n);
		for (i = 0; i < n; i++)
			open[queue[i].class]++;
		check(halfopen.total <= n + 1, "%u of %u", halfopen.total, n);
		for (i = 0; i < 2; i++) {
			u32 off = halfopen.open[i] > open[i] ?
				  halfopen.open[i] - open[i] :
				  open[i] - halfopen.open[i];

			worst = off > worst ? off : worst;
		}
	}
	/* 83 clients and 167 of the flood in a second; slices of two. */
	check(worst < 120, "off by %u", worst);
	return sums_agree(&halfopen);
}

static bool at_random(void)
{
	struct synq_halfopen halfopen = { 0 };
	u64 now = tap_below(1000) * S;
	u32 i;

	synq_halfopen_init(&halfopen, now);
	for (i = 0; i < 200000; i++) {
		u8 class = tap_below(SYNQ_HALFOPEN_CLASSES);

		now += tap_below(1000) ? tap_below(20) * MS :
					 tap_below(100) * S;
		switch (tap_below(4)) {
		case 0:
		case 1:
			synq_halfopen_begin(&halfopen, class, now);
			break;
		case 2:
			synq_halfopen_answered(&halfopen, class, now,
					       tap_below(70000) * MS);
			break;
		case 3:
			synq_halfopen_settle(&halfopen, now, tap_below(500));
			break;
		}
		if (!sums_agree(&halfopen))
			return false;
	}
	return true;
}

static const u32 rooms[] = { 1, 2, 3, 8, 16, 40, 128, 1000, 4096, 65535, ~0U };

static bool room(void)
{
	check(synq_halfopen_room(128, 512, true) == 128, "the backlog");
	check(synq_halfopen_room(128, 512, false) == 128, "the shorter");
	check(synq_halfopen_room(4096, 512, false) == 384, "three quarters");
	check(synq_halfopen_room(0, 0, false) == 1, "never nothing");
	check(synq_halfopen_room(0, 512, true) == 1, "never nothing");
	return true;
}

static struct synq_halfopen_sight sight_of(u32 room, u32 classes)
{
	return (struct synq_halfopen_sight){
		.room = room,
		.share = synq_halfopen_share(room, classes),
		.kept = (classes - 1) * synq_halfopen_share(room, classes),
	};
}

/* An empty queue is nobody's problem, however short it is. */
static bool empty(void)
{
	unsigned int i, classes;

	for (i = 0; i < ARRAY_SIZE(rooms); i++)
		for (classes = 1; classes <= 17; classes++) {
			struct synq_halfopen_sight sight = sight_of(rooms[i],
								 classes);

			check(!synq_halfopen_is_full(&sight), "%u", rooms[i]);
			check(!synq_halfopen_is_idle(&sight), "%u", rooms[i]);
			check(synq_halfopen_is_busy(&sight), "%u", rooms[i]);
		}
	return true;
}

/* Whatever one class lets in, each of the others finds its share. */
static bool shares(void)
{
	unsigned int i, classes, n;

	for (i = 0; i + 1 < ARRAY_SIZE(rooms); i++)
		for (classes = 1; classes <= 17; classes++) {
			u32 share = synq_halfopen_share(rooms[i], classes);
			struct synq_halfopen_sight flood = sight_of(rooms[i],
								 classes);
			struct synq_halfopen_sight other = flood;

			while (!synq_halfopen_is_full(&flood)) {
				flood.own++;
				flood.length++;
			}
			check(flood.length + flood.kept >= rooms[i] &&
			      flood.length <= rooms[i], "%u", flood.length);
			check(classes > 1 || flood.length == rooms[i],
			      "alone it has all of %u", rooms[i]);
			other.length = flood.length;
			other.kept = (classes > 1 ? classes - 2 : 0) * share;
			for (n = 0; classes > 1 && n < share; n++) {
				check(!synq_halfopen_is_full(&other),
				      "%u of %u, room %u", n, share, rooms[i]);
				other.own++;
				other.length++;
			}
		}
	return true;
}

/* In a short queue nobody has had its share, whosever the requests are. */
static bool low(void)
{
	unsigned int i, classes, n;

	for (i = 0; i < ARRAY_SIZE(rooms); i++)
		for (classes = 1; classes <= 17; classes++)
			for (n = 0; n < 100; n++) {
				struct synq_halfopen_sight sight =
					sight_of(rooms[i], classes);

				sight.length = n ? tap_below(rooms[i]) :
						   rooms[i] / 4 - !!(rooms[i] / 4);
				sight.own = sight.length - n % 3 * (sight.length / 3);
				sight.spare = rooms[i] / 16;
				if (!synq_halfopen_is_low(rooms[i], sight.length))
					continue;
				check(!synq_halfopen_is_full(&sight) &&
				      !synq_halfopen_is_idle(&sight),
				      "%u of %u are somebody's share",
				      sight.length, rooms[i]);
			}
	check(synq_halfopen_is_low(128, 31), "31 of 128");
	check(!synq_halfopen_is_low(128, 32), "32 of 128");
	return true;
}

/* Far clients of one class may fill the queue; a flood a quarter of it. */
static bool expected(void)
{
	struct synq_halfopen_sight sight = sight_of(128, 1);

	sight.own = 120;
	sight.length = 120;
	sight.expected = 120;
	check(!synq_halfopen_is_idle(&sight), "far clients");
	check(synq_halfopen_is_busy(&sight), "far clients");
	sight.expected = 89;
	check(!synq_halfopen_is_idle(&sight), "31 lost");
	check(!synq_halfopen_is_busy(&sight), "31 lost");
	sight.expected = 88;
	check(synq_halfopen_is_idle(&sight), "32 lost");
	check(!synq_halfopen_is_full(&sight), "but there is room");
	sight.own = 8;
	sight.length = 8;
	sight.expected = 100;
	check(!synq_halfopen_is_idle(&sight), "more than there are");
	sight = sight_of(16, 1);
	sight.own = 7;
	sight.length = 7;
	check(!synq_halfopen_is_idle(&sight), "few say nothing");
	return true;
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "what is begun is open until it is answered", begun_and_answered },
		{ "the slice before counts, too", slice_before },
		{ "what is older than 64 s is not counted", expires },
		{ "a class that is gone leaves nothing", forgets },
		{ "the oldest are gone first", settles },
		{ "it follows a queue", like_the_queue },
		{ "the sums agree after anything", at_random },
		{ "room", room },
		{ "an empty queue", empty },
		{ "shares", shares },
		{ "a short queue", low },
		{ "those that are expected", expected },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
