// SPDX-License-Identifier: GPL-2.0
/*
 * The account of withheld requests: half-open ones whose promotion the gate
 * put off.  They complete when the client's data or the kernel's SYN-ACK is
 * sent again, or they expire.
 *
 * Nothing tells synq that a half-open request was dropped.  A withheld one is
 * therefore tagged (tag.c) with the second in which that first happened,
 * and counted by second and class; what is left of a second after the longest
 * time that SYN-ACKs are repeated has expired.  withheld = completed + expired
 * + pending, always; pending may be too high for a while, never too low, and
 * is bounded by the length of the SYN queue where it is used.
 *
 * The tag is taken off before a request is promoted, since the child inherits
 * the field as its socket cookie; one of before another configuration, or of the
 * listener that the request has migrated from, too, but not that of the accept queue
 * (tag.c): there another CPU has put it meanwhile, and nobody would know its place any
 * more.  If the socket is no longer managed nobody takes it off: so there are no two
 * tags alike.
 *
 * Called in softirq or process context, under rcu_read_lock().
 */
#include <linux/ktime.h>
#include <net/inet_sock.h>
#include <net/request_sock.h>
#include "tag.h"
#include "withheld.h"

static u32 seconds(void)
{
	return ktime_get_seconds();
}

/**
 * synq_withheld_init() - an empty account
 * @withheld: zero
 *
 * Context: any
 */
void synq_withheld_init(struct synq_withheld *withheld)
{
	spin_lock_init(&withheld->lock);
	withheld->id = synq_tag_new_id(SYNQ_TAG_WITHHELD);
	withheld->now = seconds();
}

static u32 second_of(u64 tag)
{
	return synq_tag_low(tag) % SYNQ_WITHHELD_SECONDS;
}

/* Take everything of one second out, as expired. */
static void expire(struct synq_withheld *withheld, struct synq_port *port,
		   u32 second)
{
	u16 *pending = withheld->pending[second % SYNQ_WITHHELD_SECONDS];
	u8 slot;

	for (slot = 0; slot < SYNQ_SLOTS; slot++) {
		if (!pending[slot])
			continue;
		if (port)
			synq_count_add(port, slot, SYNQ_COUNT_WITHHELD_EXPIRED,
				       pending[slot]);
		WRITE_ONCE(withheld->total, withheld->total - pending[slot]);
		pending[slot] = 0;
	}
}

/* Make room for the present second. */
static void advance(struct synq_withheld *withheld, struct synq_port *port)
{
	u32 now = seconds();
	u32 steps = min_t(u32, now - withheld->now, SYNQ_WITHHELD_SECONDS);

	lockdep_assert_held(&withheld->lock);
	while (steps)
		expire(withheld, port, now - --steps);
	withheld->now = now;
}

/**
 * synq_withheld_clear() - the listener goes, or another configuration comes
 * @withheld: the account
 * @port: where to count, or NULL if its counters are gone
 *
 * Context: any
 */
void synq_withheld_clear(struct synq_withheld *withheld,
			 struct synq_port *port)
{
	u32 second;

	spin_lock_bh(&withheld->lock);
	for (second = 0; second < SYNQ_WITHHELD_SECONDS; second++)
		expire(withheld, port, second);
	/* Tags of before are nobody's. */
	WRITE_ONCE(withheld->id, synq_tag_new_id(SYNQ_TAG_WITHHELD));
	spin_unlock_bh(&withheld->lock);
}

/**
 * synq_withheld_add() - count a request that stays half open
 * @withheld: account of the listener
 * @port: where to count
 * @slot: of its class
 * @req: in the SYN queue
 *
 * Counts a request once, however often it is withheld.
 *
 * Context: any
 * Return: true if it was counted
 */
bool synq_withheld_add(struct synq_withheld *withheld, struct synq_port *port,
		       u8 slot, struct request_sock *req)
{
	bool counted = false;
	u16 *pending;
	u64 tag;

	spin_lock_bh(&withheld->lock);
	advance(withheld, port);
	pending = &withheld->pending[withheld->now % SYNQ_WITHHELD_SECONDS][slot];
	if (*pending == U16_MAX)
		goto out;
	tag = synq_tag(withheld->id,
		       withheld->serial * SYNQ_WITHHELD_SECONDS +
		       withheld->now % SYNQ_WITHHELD_SECONDS);
	if (!synq_tag_wait(&inet_rsk(req)->ir_cookie, tag))
		goto out;
	withheld->serial++;
	(*pending)++;
	WRITE_ONCE(withheld->total, withheld->total + 1);
	synq_count(port, slot, SYNQ_COUNT_WITHHELD);
	counted = true;
out:
	spin_unlock_bh(&withheld->lock);
	return counted;
}

/**
 * synq_withheld_claim() - a request is about to be promoted
 * @withheld: account of the listener
 * @req: its tag is taken off, for the child inherits the field as its cookie
 *
 * Context: any
 * Return: the tag, to be given to synq_withheld_settle(), or 0 if the request
 * was never withheld, as far as this account knows
 */
u64 synq_withheld_claim(const struct synq_withheld *withheld,
			struct request_sock *req)
{
	u64 tag = synq_tag_go(&inet_rsk(req)->ir_cookie);

	/* Pairs with WRITE_ONCE() in synq_withheld_clear(); no order needed. */
	return synq_tag_is(tag, READ_ONCE(withheld->id)) ? tag : 0;
}

/**
 * synq_withheld_settle() - the outcome of a claim
 * @withheld: account of the listener
 * @port: where to count
 * @slot: of the class
 * @req: still half open unless @promoted
 * @claim: what synq_withheld_claim() returned, not 0
 * @promoted: it was
 *
 * A request that the kernel could not promote after all gets its tag back. If
 * another CPU was faster with it, its second expires and counts it there.
 *
 * Context: any
 */
void synq_withheld_settle(struct synq_withheld *withheld,
			  struct synq_port *port, u8 slot,
			  struct request_sock *req, u64 claim, bool promoted)
{
	u16 *pending;

	if (!promoted) {
		atomic64_cmpxchg(&inet_rsk(req)->ir_cookie, 0, claim);
		return;
	}
	spin_lock_bh(&withheld->lock);
	advance(withheld, port);
	pending = &withheld->pending[second_of(claim)][slot];
	if (synq_tag_is(claim, withheld->id) && *pending) {
		(*pending)--;
		WRITE_ONCE(withheld->total, withheld->total - 1);
		synq_count(port, slot, SYNQ_COUNT_WITHHELD_COMPLETED);
	}
	spin_unlock_bh(&withheld->lock);
}
