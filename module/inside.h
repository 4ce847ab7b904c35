/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many connections a server works on, and how many it may.  See inside.c.
 */
#ifndef _SYNQ_INSIDE_H
#define _SYNQ_INSIDE_H

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include "conf.h"
#include "crew.h"
#include "request.h"
#include "tls.h"

struct sock;
struct synq_crew;
struct synq_net;
struct synq_record;

/**
 * enum synq_inside_state - state of a connection that is followed
 * @SYNQ_INSIDE_QUIET: it has sent nothing, or was answered
 * @SYNQ_INSIDE_FRESH: it was promoted just now, and will send something
 * @SYNQ_INSIDE_GREETED: the server has answered its hello (TLS), and it will go on
 * @SYNQ_INSIDE_BUSY: it has sent something, and waits for an answer
 * @SYNQ_INSIDE_KEPT: likewise, but it was answered first long ago, and nothing holds its
 *	requests back
 * @SYNQ_INSIDE_STUCK: it has waited for so long that it does not count
 * @SYNQ_INSIDE_HELD: it has sent something that the server has not got yet (request.c)
 * @SYNQ_INSIDE_GONE: it has ended while it was busy, and the server may go on with its work
 */
enum synq_inside_state {
	SYNQ_INSIDE_QUIET,
	SYNQ_INSIDE_FRESH,
	SYNQ_INSIDE_GREETED,
	SYNQ_INSIDE_BUSY,
	SYNQ_INSIDE_KEPT,
	SYNQ_INSIDE_STUCK,
	SYNQ_INSIDE_HELD,
	SYNQ_INSIDE_GONE,
	SYNQ_INSIDE_STATES
};

/**
 * struct synq_inside - what one listener's server works on
 * @lock: protects the rest
 * @closed: connections are not followed any more
 * @opened: how often a given limit was doubled, since nothing was answered
 * @n: connections that are followed
 * @in: connections by state and slot of their class; may be read without the lock
 * @fresh: fresh connections, the oldest first
 * @greeted: likewise
 * @busy: busy connections, likewise
 * @gone: those that are gone
 * @late: connections with a held request, by slot, likewise
 * @quiet: all others
 * @doubted: those of all states that may have ended; whether there are any may be read without
 *	the lock
 * @held: segments of held requests, and in @due; may be read without the lock
 * @bytes: truesize of these
 * @due: segments that are not held any more and have to be given to IP
 * @mean_ns: mean time to the first byte of an answer
 * @answered_ns: monotonic clock, when the last answer went out, or the limit was doubled
 * @silent_since_ns: when the last answer went out, or there was nothing to answer
 * @reached_ns: when the latest of the requests came that were answered; 0: none was
 * @ticked_ns: when synq_inside_tick() was called last
 * @drained_ns: when the accept queue was last seen empty
 * @parted: it tells its crew nothing any more
 * @window: of its crew, in which it has held connections last; 0: in none; may be read without the
 *	lock
 * @told: what its crew knows of it
 * @crew: finds the limit, if none is given (crew.c); may be read without the lock
 * @alone: what @crew was before others were joined; or the same
 * @tls: what its server sends of itself after a handshake
 */
struct synq_inside {
	spinlock_t lock;	/* protects the rest */
	bool closed;
	u8 opened;
	u32 n;
	u32 in[SYNQ_INSIDE_STATES][SYNQ_SLOTS];
	struct list_head fresh;
	struct list_head greeted;
	struct list_head busy;
	struct list_head gone;
	struct list_head late[SYNQ_SLOTS];
	struct list_head quiet;
	struct list_head doubted;
	u32 held;
	u32 bytes;
	struct sk_buff_head due;
	u64 mean_ns;
	u64 answered_ns;
	u64 silent_since_ns;
	u64 reached_ns;
	u64 ticked_ns;
	u64 drained_ns;
	bool parted;
	u32 window;
	struct synq_told told;
	struct synq_crew *crew;
	struct synq_crew *alone;
	struct synq_tls_server tls;
};

void synq_inside_init(struct synq_inside *inside);
u32 synq_inside_limit(const struct synq_inside *inside,
		      const struct synq_listener *listener);

bool synq_inside_has_room(const struct synq_record *record,
			  const struct synq_conf *conf,
			  const struct synq_listener *listener,
			  const struct synq_class *class, bool is_cookie);
u32 synq_inside_room(const struct synq_record *record, const struct synq_conf *conf,
		     const struct synq_listener *listener, const struct synq_class *class);
void synq_inside_answered(struct synq_inside *inside, u64 took_ns,
			  enum synq_inside_state was, u64 now_ns);
bool synq_inside_tick(struct synq_record *record, u32 held, bool is_auto);

/**
 * synq_inside_kept() - how many of a class are busy and cannot be held back
 * @inside: of the listener
 * @slot: of the class
 *
 * Return: connections
 */
static inline u32 synq_inside_kept(const struct synq_inside *inside, u8 slot)
{
	return READ_ONCE(inside->in[SYNQ_INSIDE_KEPT][slot]);
}

/**
 * synq_inside_own() - how many of a class are busy, or will be at once, and can be held back
 * @inside: of the listener
 * @slot: of the class
 *
 * In the middle of a handshake is only every fourth counted: the server has nothing to do
 * meanwhile, and a round trip may take longer than a request.
 *
 * Return: connections
 */
static inline u32 synq_inside_own(const struct synq_inside *inside, u8 slot)
{
	return READ_ONCE(inside->in[SYNQ_INSIDE_BUSY][slot]) +
	       READ_ONCE(inside->in[SYNQ_INSIDE_GONE][slot]) +
	       READ_ONCE(inside->in[SYNQ_INSIDE_FRESH][slot]) +
	       DIV_ROUND_UP(READ_ONCE(inside->in[SYNQ_INSIDE_GREETED][slot]), 4);
}

/*
 * What is seen of the packets of followed connections.
 */

/* Cheap test: most ports have no limit, and six bits distinguish most of the others. */
static inline bool synq_seen_is_wanted(const struct synq_conf *conf, __be16 port)
{
	const struct synq_listener *listener;
	u16 number = ntohs(port);

	if (likely(!(conf->inside & BIT_ULL(number % 64))))
		return false;
	listener = synq_conf_listener(conf, number);
	return listener && listener->inside;
}

/* Bytes behind the header of TCP, which is at @thoff. */
static inline unsigned int synq_seen_length(const struct sk_buff *skb, unsigned int thoff,
					    const struct tcphdr *th)
{
	unsigned int headers = thoff + 4 * th->doff;

	return th->doff < sizeof(*th) / 4 ? 0 : skb->len - min(headers, skb->len);
}

bool synq_seen_in(const struct net *net, struct sk_buff *skb, const struct tcphdr *th,
		  u32 len, bool is_v6, synq_okfn okfn);
void synq_seen_out(const struct net *net, const struct sk_buff *skb,
		   const struct tcphdr *th, u32 len, bool is_v6);

#endif /* _SYNQ_INSIDE_H */
