// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of flood.c, in user space.  Run by "make -C module/test check".
 */
#include <linux/time64.h>
#include <linux/types.h>

#include "flood.h"
#include "tap.h"

#define S	((u64)NSEC_PER_SEC)
#define MS	((u64)NSEC_PER_MSEC)

static const u32 rooms[] = { 1, 2, 3, 8, 16, 40, 128, 1000, 4096, 65535, ~0U };

static bool room(void)
{
	check(synq_flood_room(128, 512, true) == 128, "the backlog");
	check(synq_flood_room(128, 512, false) == 128, "the shorter");
	check(synq_flood_room(4096, 512, false) == 384, "three quarters");
	check(synq_flood_room(0, 0, false) == 1, "never nothing");
	check(synq_flood_room(0, 512, true) == 1, "never nothing");
	return true;
}

static struct synq_flood_sight sight_of(u32 room, u32 classes)
{
	return (struct synq_flood_sight){
		.room = room,
		.share = synq_flood_share(room, classes),
		.kept = (classes - 1) * synq_flood_share(room, classes),
	};
}

/* An empty queue is nobody's problem, however short it is. */
static bool empty(void)
{
	struct synq_flood flood = { 0 };
	unsigned int i, classes;

	for (i = 0; i < ARRAY_SIZE(rooms); i++)
		for (classes = 1; classes <= 17; classes++) {
			struct synq_flood_sight sight = sight_of(rooms[i],
								 classes);

			check(!synq_flood_is_full(&sight), "%u", rooms[i]);
			check(!synq_flood_is_due(&flood, &sight, 0), "%u",
			      rooms[i]);
			flood.on = true;
			check(synq_flood_is_due(&flood, &sight, 100 * S), "%u",
			      rooms[i]);
			flood.on = false;
		}
	return true;
}

/* Whatever one class lets in, each of the others finds its share. */
static bool shares(void)
{
	unsigned int i, classes, n;

	for (i = 0; i + 1 < ARRAY_SIZE(rooms); i++)
		for (classes = 1; classes <= 17; classes++) {
			u32 share = synq_flood_share(rooms[i], classes);
			struct synq_flood_sight flood = sight_of(rooms[i],
								 classes);
			struct synq_flood_sight other = flood;

			while (!synq_flood_is_full(&flood)) {
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
				check(!synq_flood_is_full(&other),
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
	struct synq_flood flood = { 0 };
	unsigned int i, classes, n;

	for (i = 0; i < ARRAY_SIZE(rooms); i++)
		for (classes = 1; classes <= 17; classes++)
			for (n = 0; n < 100; n++) {
				struct synq_flood_sight sight =
					sight_of(rooms[i], classes);

				sight.length = n ? tap_below(rooms[i]) :
						   rooms[i] / 4 - !!(rooms[i] / 4);
				sight.own = sight.length - n % 3 * (sight.length / 3);
				sight.spare = rooms[i] / 16;
				if (!synq_flood_is_low(rooms[i], sight.length))
					continue;
				check(!synq_flood_is_due(&flood, &sight, 0) &&
				      !synq_flood_is_sated(&sight),
				      "%u of %u are somebody's share",
				      sight.length, rooms[i]);
			}
	check(synq_flood_is_low(128, 31), "31 of 128");
	check(!synq_flood_is_low(128, 32), "32 of 128");
	return true;
}

/* Far clients of one class may fill the queue; a flood a quarter of it. */
static bool expected(void)
{
	struct synq_flood_sight sight = sight_of(128, 1);
	struct synq_flood flood = { 0 };

	sight.own = 120;
	sight.length = 120;
	sight.expected = 120;
	check(!synq_flood_is_due(&flood, &sight, 0), "far clients");
	check(!synq_flood_is_sated(&sight), "far clients");
	sight.expected = 89;
	check(!synq_flood_is_due(&flood, &sight, 0), "31 lost");
	check(!synq_flood_is_sated(&sight), "31 lost");
	sight.expected = 88;
	check(synq_flood_is_due(&flood, &sight, 0), "32 lost");
	check(synq_flood_is_sated(&sight), "32 lost");
	check(!synq_flood_is_full(&sight), "but there is room");
	sight.own = 8;
	sight.length = 8;
	sight.expected = 100;
	check(!synq_flood_is_due(&flood, &sight, 0), "more than there are");
	sight = sight_of(16, 1);
	sight.own = 7;
	sight.length = 7;
	check(!synq_flood_is_due(&flood, &sight, 0), "few say nothing");
	return true;
}

/* Turn a flood on or off, as soon as that is due.  Returns true if it is on. */
static bool look(struct synq_flood *flood, const struct synq_flood_sight *sight,
		 u64 now)
{
	bool was = flood->on;

	if (synq_flood_is_due(flood, sight, now))
		check(synq_flood_turn(flood, sight, now) ==
		      (flood->on && !was), "%llu", (unsigned long long)now);
	return flood->on;
}

/*
 * A machine stands still, again and again.  When it goes on nobody expects those any
 * more who were under way, until they have answered: for a round trip, even if it
 * stands still meanwhile.
 */
static bool stalls(void)
{
	struct synq_flood_sight held_up = sight_of(128, 2);
	struct synq_flood_sight answered = held_up;
	struct synq_flood flood = { 0 };
	u64 now;

	held_up.own = 128;
	held_up.length = 128;
	check(synq_flood_is_full(&held_up), "for a moment it is");
	for (now = S; now < 100 * S; now += 600 * MS) {
		check(!look(&flood, &held_up, now), "it goes on");
		check(!look(&flood, &held_up, now + 40 * MS), "soon");
		check(!look(&flood, &held_up, now + 540 * MS), "once more");
		check(!look(&flood, &answered, now + 580 * MS), "answered");
	}
	check(!look(&flood, &held_up, now), "for no time");
	check(!look(&flood, &held_up, now + S - 1), "for less than a second");
	check(look(&flood, &held_up, now + S), "for a second");
	return true;
}

/*
 * While it has to last, some of a flood's requests are given up, and others come in their
 * place: that is no end of it.  With fewer it is.
 */
static bool turnover(void)
{
	struct synq_flood_sight sight = sight_of(1024, 2);
	struct synq_flood flood = { 0 };
	unsigned int i;
	u64 now;

	for (now = S; now < 2 * S; now += 10 * MS) {
		sight.own = 256 - now / (10 * MS) % 2 * 32;
		sight.length = sight.own;
		check(!look(&flood, &sight, now), "not yet");
	}
	sight.own = 256 - 32;
	sight.length = sight.own;
	check(look(&flood, &sight, 2 * S), "on though some were given up");
	flood = (struct synq_flood){ 0 };
	for (i = 1; i < 100; i++) {
		sight.own = 256 - i % 2 * 33;
		sight.length = sight.own;
		check(!look(&flood, &sight, i * 300 * MS), "most were answered");
	}
	return true;
}

/* On at a quarter; off at less than an eighth, and not before its time. */
static bool hysteresis(void)
{
	struct synq_flood_sight sight = sight_of(128, 2);
	struct synq_flood flood = { 0 };

	sight.own = 32;
	sight.length = 32;
	check(!synq_flood_is_noted(&flood), "nothing yet");
	check(!look(&flood, &sight, 9 * S), "a quarter, now");
	check(synq_flood_is_noted(&flood), "that is noted");
	check(look(&flood, &sight, 10 * S), "and for a second");
	sight.own = 16;
	sight.length = 16;
	check(look(&flood, &sight, 1000 * S), "an eighth");
	sight.own = 15;
	sight.length = 15;
	check(look(&flood, &sight, 15 * S - 1), "not yet");
	check(synq_flood_is_due(&flood, &sight, 15 * S), "now");
	sight.length = 120;
	check(look(&flood, &sight, 15 * S), "there is no room yet");
	sight.length = 96 - 16;
	check(synq_flood_is_noted(&flood), "until it is");
	check(!look(&flood, &sight, 15 * S), "there is");
	check(!synq_flood_is_noted(&flood), "over");
	return true;
}

/* A flood without end, whose requests vanish at once: twice as long each time. */
static bool hold(void)
{
	struct synq_flood_sight full = sight_of(128, 2);
	struct synq_flood_sight none = full;
	struct synq_flood flood = { 0 };
	u32 turns = 0;
	u64 now, held[16], since = 0;

	full.own = 96;
	full.length = 96;
	for (now = 1; now < 600 * S; now += MS) {
		bool was = flood.on;

		if (look(&flood, was ? &none : &full, now) == was)
			continue;
		if (was && turns / 2 < ARRAY_SIZE(held))
			held[turns / 2] = now - since;
		since = now;
		turns++;
	}
	check(turns / 2 == 10, "%u turns", turns);
	check(held[0] == 5 * S && held[1] == 10 * S && held[2] == 20 * S &&
	      held[3] == 40 * S && held[4] == 80 * S && held[5] == 80 * S,
	      "%llu %llu %llu", (unsigned long long)held[0],
	      (unsigned long long)held[1], (unsigned long long)held[2]);
	/* Long quiet: as at first. */
	now += 80 * S;
	check(!look(&flood, &none, now), "over");
	check(!look(&flood, &full, now + 319 * S), "again");
	check(look(&flood, &full, now + 320 * S), "again");
	check(flood.hold_ns == 5 * S, "%llu", (unsigned long long)flood.hold_ns);
	return true;
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "room is what the kernel has", room },
		{ "an empty queue is nobody's problem", empty },
		{ "each class finds its share", shares },
		{ "a short queue is nobody's share", low },
		{ "far clients are expected", expected },
		{ "a machine stands still", stalls },
		{ "some are given up meanwhile", turnover },
		{ "on and off are apart", hysteresis },
		{ "the longer it lasts the longer it holds", hold },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
