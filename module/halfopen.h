/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which requests are in the SYN queue.  See halfopen.c.
 */
#ifndef _SYNQ_HALFOPEN_H
#define _SYNQ_HALFOPEN_H

#include <linux/minmax.h>
#include <linux/types.h>

#define SYNQ_HALFOPEN_CLASSES	18
#define SYNQ_HALFOPEN_SLICES	32

/**
 * struct synq_halfopen - half-open requests of one listener, by class
 * @slice: number of the present slice of time
 * @oldest: no slice before it has any
 * @fresh: counted since the last synq_halfopen_settle()
 * @total: all of them; may be read without the lock
 * @open: by class; may be read without the lock
 * @in: by slice and class
 */
struct synq_halfopen {
	u64 slice;
	u64 oldest;
	u32 fresh;
	u32 total;
	u32 open[SYNQ_HALFOPEN_CLASSES];
	u32 in[SYNQ_HALFOPEN_SLICES][SYNQ_HALFOPEN_CLASSES];
};

/**
 * struct synq_halfopen_sight - the SYN queue of a listener, as one class sees it
 * @room: requests that it can hold
 * @length: requests in it
 * @own: of these, the class's that have not been answered
 * @expected: of those, that will be, soon
 * @share: requests that are the class's due
 * @kept: of the shares of the other classes, what they do not use
 * @spare: for other CPUs
 */
struct synq_halfopen_sight {
	u32 room;
	u32 length;
	u32 own;
	u32 expected;
	u32 share;
	u32 kept;
	u32 spare;
};

void synq_halfopen_init(struct synq_halfopen *halfopen, u64 now_ns);
void synq_halfopen_begin(struct synq_halfopen *halfopen, u8 class, u64 now_ns);
void synq_halfopen_answered(struct synq_halfopen *halfopen, u8 class,
			    u64 now_ns, u64 age_ns);
void synq_halfopen_forget(struct synq_halfopen *halfopen, u8 class);
void synq_halfopen_settle(struct synq_halfopen *halfopen, u64 now_ns,
			  u32 length);

u32 synq_halfopen_share(u32 room, u32 classes);
bool synq_halfopen_is_full(const struct synq_halfopen_sight *sight);
bool synq_halfopen_is_idle(const struct synq_halfopen_sight *sight);
bool synq_halfopen_is_busy(const struct synq_halfopen_sight *sight);

/**
 * synq_halfopen_room() - requests that the SYN queue of a listener can hold
 * @backlog: of the listener
 * @syn_backlog: net.ipv4.tcp_max_syn_backlog
 * @cookies: net.ipv4.tcp_syncookies is not 0
 *
 * Without cookies the kernel keeps the last quarter of @syn_backlog for
 * destinations that it knows.
 *
 * Return: requests, at least 1
 */
static inline u32 synq_halfopen_room(u32 backlog, u32 syn_backlog, bool cookies)
{
	if (!cookies)
		backlog = min(backlog, syn_backlog - syn_backlog / 4);
	return max(backlog, 1U);
}

/**
 * synq_halfopen_is_low() - is the queue so short that no class can have had its share?
 * @room: of the queue
 * @length: requests in it
 *
 * What is in it is less than it takes to say that it is a flood's; and with all that
 * others have a claim to, a half, and what is spare, a sixteenth, less than there is
 * room for.
 *
 * Return: true if so
 */
static inline bool synq_halfopen_is_low(u32 room, u32 length)
{
	return length < room / 4;
}

#endif /* _SYNQ_HALFOPEN_H */
