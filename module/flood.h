/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the SYN queue is shared out, and when a class has had its share.  See flood.c.
 */
#ifndef _SYNQ_FLOOD_H
#define _SYNQ_FLOOD_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>

/**
 * struct synq_flood_sight - the SYN queue of a listener, as one class sees it
 * @room: requests that it can hold
 * @length: requests in it
 * @own: of these, the class's that have not been answered
 * @expected: of those, that will be, soon
 * @share: requests that are the class's due
 * @kept: of the shares of the other classes, what they do not use
 * @spare: for other CPUs
 */
struct synq_flood_sight {
	u32 room;
	u32 length;
	u32 own;
	u32 expected;
	u32 share;
	u32 kept;
	u32 spare;
};

/**
 * struct synq_flood - the state of one class at one listener
 * @on: it has had its share, for a while
 * @since_ns: while not on, since when it looks like a flood; 0: it does not
 * @changed_ns: since when it is on, or not; 0: it never was
 * @hold_ns: so long at least that lasts; 0 likewise
 */
struct synq_flood {
	bool on;
	u64 since_ns;
	u64 changed_ns;
	u64 hold_ns;
};

u32 synq_flood_share(u32 room, u32 classes);
bool synq_flood_is_full(const struct synq_flood_sight *sight);
bool synq_flood_is_sated(const struct synq_flood_sight *sight);
bool synq_flood_is_due(const struct synq_flood *flood,
		       const struct synq_flood_sight *sight, u64 now_ns);
bool synq_flood_turn(struct synq_flood *flood,
		     const struct synq_flood_sight *sight, u64 now_ns);

/**
 * synq_flood_room() - requests that the SYN queue of a listener can hold
 * @backlog: of the listener
 * @syn_backlog: net.ipv4.tcp_max_syn_backlog
 * @cookies: net.ipv4.tcp_syncookies is not 0
 *
 * Without cookies the kernel keeps the last quarter of @syn_backlog for
 * destinations that it knows.
 *
 * Context: any
 * Return: requests, at least 1
 */
static inline u32 synq_flood_room(u32 backlog, u32 syn_backlog, bool cookies)
{
	if (!cookies)
		backlog = min(backlog, syn_backlog - syn_backlog / 4);
	return max(backlog, 1U);
}

/**
 * synq_flood_is_low() - is the queue so short that no class can have had its share?
 * @room: of the queue
 * @length: requests in it
 *
 * What is in it is less than it takes to say that it is a flood's; and with all that
 * others have a claim to, a half, and what is spare, a sixteenth, less than there is
 * room for.  So synq_flood_is_due() need not be asked about a class of which nothing is
 * noted.
 *
 * Context: any
 * Return: true if so
 */
static inline bool synq_flood_is_low(u32 room, u32 length)
{
	return length < room / 4;
}

/**
 * synq_flood_is_noted() - is a class flooded, or was it about to be?
 * @flood: its state
 *
 * Context: any
 * Return: false if there is nothing in it that could be over by now
 */
static inline bool synq_flood_is_noted(const struct synq_flood *flood)
{
	return READ_ONCE(flood->on) || READ_ONCE(flood->since_ns);
}

#endif /* _SYNQ_FLOOD_H */
