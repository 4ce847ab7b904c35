// SPDX-License-Identifier: GPL-2.0
/*
 * How many requests of each class are in an accept queue, and how many were
 * accepted: accept(2) takes them without notice.
 *
 * DOC: what the head tells
 *
 * A class is served in order of arrival, in every discipline.  So the number
 * that a request carries says, when it is seen at the head, how many of its
 * class are left.  Of the others this is known:
 *
 * strict	what is in lanes before the head's has left, what is behind it
 *		has not; the head's own lane has the rest of the total.
 * weighted	the requests of a class finish a step apart, so the key of the
 *		head says how many finish before it.
 * fifo		that all of them together are the rest of the total.
 *
 * Where the total says that more have left, and only one class can have lost
 * them, it has.  Where two or more can, it stays open until one of them is seen
 * at the head: with three classes or more under fifo, and where two have a
 * minimum share, or are only observed.  What is counted as accepted was; what
 * is taken for queued may be too much meanwhile.
 *
 * The total is unknown while more is unplaced than one run looks at, and the
 * lane of the head is then left as it was.
 *
 * Of each class the wait of one request at a time is measured, from its placing
 * until it is known to have left: at the next run, so that it may seem longer
 * than it was by the time between two connections, or by the tenth of a second after
 * which the worker of listener.c looks.
 *
 * Whatever becomes of a placed request is counted once: placed = accepted +
 * closed + replaced + queued, always.
 *
 * Written under the rskq_lock of the listener, read without it: readers get a
 * moment's estimate, and compare it with the length that the kernel keeps.
 */
#include <linux/bitops.h>
#include <net/sock.h>
#include "acceptq.h"

/* Requests of the lanes behind one; of other disciplines the lanes are the classes. */
static u64 queued_behind(const struct synq_acceptq *queue, u8 position)
{
	bool has_lanes = READ_ONCE(queue->order) == SYNQ_ORDER_STRICT;
	u8 p, n = READ_ONCE(queue->n);
	u64 behind = 0;

	for (p = position + 1; p < n; p++)
		behind += has_lanes ? READ_ONCE(queue->lane[p].queued) :
				      READ_ONCE(queue->member[p].queued);
	return behind;
}

static u32 ahead_by_weight(const struct synq_acceptq *queue, u32 length,
			   u8 position)
{
	u32 own = READ_ONCE(queue->member[position].queued);
	u32 weight = READ_ONCE(queue->member[position].weight);
	u8 p, n = READ_ONCE(queue->n);
	u64 total = 0, ahead = 0;

	if (!weight)
		return length;
	for (p = 0; p < n; p++) {
		u64 queued = READ_ONCE(queue->member[p].queued);
		u64 turns = (own + 1ULL) * READ_ONCE(queue->member[p].weight);

		total += queued;
		ahead += p == position ? own :
			 min(queued, div_u64(turns, weight));
	}
	/* Where unplaced requests will be is not known yet. */
	if (length > total)
		ahead += length - total;
	return min_t(u64, ahead, length);
}

/**
 * synq_acceptq_ahead() - how many would a new request wait for?
 * @queue: of the listener
 * @sk: listener
 * @position: of the class of the request
 *
 * By the configured order, even where that is only observed.
 *
 * Context: no lock
 * Return: 0 up to the length of the queue
 */
u32 synq_acceptq_ahead(const struct synq_acceptq *queue, const struct sock *sk,
		       u8 position)
{
	u32 length = READ_ONCE(sk->sk_ack_backlog);
	u64 behind;

	switch ((enum synq_order)READ_ONCE(queue->policy)) {
	case SYNQ_ORDER_STRICT:
		behind = queued_behind(queue, position);
		return length > behind ? length - behind : 0;
	case SYNQ_ORDER_WEIGHTED:
		return ahead_by_weight(queue, length, position);
	case SYNQ_ORDER_FIFO:
		break;
	}
	return length;
}

/**
 * synq_acceptq_own() - how many requests of a class are queued?
 * @queue: of the listener
 * @position: of the class
 *
 * Context: no lock
 * Return: those placed and not known to have been accepted
 */
u32 synq_acceptq_own(const struct synq_acceptq *queue, u8 position)
{
	return READ_ONCE(queue->member[position].queued);
}

/**
 * synq_acceptq_queued() - how many requests of a class are queued?
 * @queue: of the listener
 * @slot: of the class
 *
 * Context: no lock
 * Return: those placed and not known to have been accepted
 */
u32 synq_acceptq_queued(const struct synq_acceptq *queue, u8 slot)
{
	u8 p;

	for (p = 0; p < SYNQ_SLOTS; p++)
		if (p < READ_ONCE(queue->n) &&
		    READ_ONCE(queue->member[p].slot) == slot)
			return READ_ONCE(queue->member[p].queued);
	return 0;
}

/**
 * synq_acceptq_would_move() - would a request be put before an earlier one?
 * @queue: of the listener, where the order is only observed
 * @position: of the class of the request
 *
 * As if what is queued had been in the configured order.
 *
 * Context: rskq_lock
 * Return: true if so
 */
bool synq_acceptq_would_move(const struct synq_acceptq *queue, u8 position)
{
	const struct synq_member *own = &queue->member[position], *other;

	for (other = queue->member; other < queue->member + queue->n; other++) {
		u64 theirs = (u64)other->queued * own->weight;
		u64 ours = (own->queued + 1ULL) * other->weight;

		if (other == own || !other->queued)
			continue;
		switch ((enum synq_order)queue->policy) {
		case SYNQ_ORDER_STRICT:
			if (other > own)
				return true;
			break;
		case SYNQ_ORDER_WEIGHTED:
			/* Would the last of the other finish later? */
			if (theirs > ours || (theirs == ours && other > own))
				return true;
			break;
		case SYNQ_ORDER_FIFO:
			break;
		}
	}
	return false;
}

/* Strict: what is left in each lane.  Returns how many were accepted. */
static u32 leave_lanes(struct synq_acceptq *queue, bool any, u32 head,
		       s64 placed)
{
	u8 first = any ? synq_acceptq_lane(head) : queue->n;
	u32 accepted = 0, left, used;
	s64 behind = 0;
	u8 p;

	for (used = queue->used; used; used &= ~BIT(p)) {
		struct synq_lane *lane;

		p = __fls(used);
		lane = &queue->lane[p];
		left = lane->queued;
		if (p < first)
			left = 0;
		else if (p == first && placed >= 0)
			left = clamp_t(s64, placed - behind, 0, left);
		behind += left;
		accepted += lane->queued - left;
		WRITE_ONCE(lane->queued, left);
	}
	return accepted;
}

/* Is the request whose wait is measured among the oldest @accepted? */
static void leave_sample(struct synq_member *member, struct synq_port *port,
			 u32 accepted, u64 now_ns)
{
	if (!member->sample)
		return;
	if (accepted < member->sample) {
		member->sample -= accepted;
		return;
	}
	member->sample = 0;
	synq_acceptq_count(port, member,
			   synq_count_of_time(SYNQ_COUNT_WAITED, SYNQ_COUNT_WAITED_LONGER,
					      now_ns - member->sampled_ns), 1);
}

/* The oldest requests of a class have left, except the last @left. */
static void leave_member(struct synq_acceptq *queue, struct synq_port *port,
			 u8 position, u32 left, u64 now_ns)
{
	struct synq_member *member = &queue->member[position];
	u32 accepted, shared;

	if (left >= member->queued)
		return;
	accepted = member->queued - left;
	/* Those that were moved forward came first, and are paid for. */
	shared = min(accepted, member->shared);
	member->shared -= shared;
	member->credit = synq_share_spend(member->credit, accepted - shared);
	WRITE_ONCE(member->queued, left);
	leave_sample(member, port, accepted, now_ns);
	synq_acceptq_count(port, member, SYNQ_COUNT_ACCEPTED, accepted);
}

/* How many of a class are left at most, by what the head tells. */
static u32 left_of(const struct synq_acceptq *queue, u8 position, u32 head)
{
	const struct synq_member *member = &queue->member[position];

	switch ((enum synq_order)queue->order) {
	case SYNQ_ORDER_WEIGHTED:
		if (!queue->lane[position].tail)
			return 0;
		if (member->observe)
			break;
		return synq_share_left(member->finish, member->step, head,
				       position);
	case SYNQ_ORDER_STRICT:
		if (position < synq_acceptq_lane(head) && !member->observe)
			return 0;
		fallthrough;
	case SYNQ_ORDER_FIFO:
		if (position == synq_acceptq_member(queue, head))
			return ((member->placed - head) & SYNQ_NUMBER_MASK) + 1;
		break;
	}
	return member->queued;
}

/* May more of a class have left than left_of() knows? */
static bool is_open(const struct synq_acceptq *queue, u8 position, u32 head)
{
	const struct synq_member *member = &queue->member[position];

	if (!member->queued || position == synq_acceptq_member(queue, head))
		return false;
	switch ((enum synq_order)queue->order) {
	case SYNQ_ORDER_STRICT:
		return member->observe || member->shared ||
		       position == synq_acceptq_lane(head);
	case SYNQ_ORDER_WEIGHTED:
		return member->observe;
	case SYNQ_ORDER_FIFO:
		break;
	}
	return true;
}

/* The total says that @missing more have left. */
static void leave_rest(struct synq_acceptq *queue, struct synq_port *port,
		       u32 head, s64 missing, u64 now_ns)
{
	int candidate = -1;
	u8 p;

	for (p = 0; p < queue->n; p++) {
		if (!is_open(queue, p, head))
			continue;
		if (candidate >= 0)
			return;
		candidate = p;
	}
	if (candidate >= 0)
		leave_member(queue, port, candidate,
			     max_t(s64, queue->member[candidate].queued -
					missing, 0), now_ns);
}

/* Is nothing remembered of a position any more?  Only then it may leave @used. */
static bool is_forgotten(const struct synq_acceptq *queue, u8 position)
{
	const struct synq_lane *lane = &queue->lane[position];

	return !queue->member[position].queued && !lane->tail &&
	       (!lane->queued || queue->order != SYNQ_ORDER_STRICT);
}

/* Nothing that was placed is left; no class has a minimum share. */
static void leave_all(struct synq_acceptq *queue, struct synq_port *port,
		      u64 now_ns)
{
	u32 used;

	for (used = queue->used; used; used &= used - 1) {
		u8 p = __ffs(used);

		WRITE_ONCE(queue->lane[p].queued, 0);
		leave_member(queue, port, p, 0, now_ns);
	}
	queue->used = 0;
}

/**
 * synq_acceptq_leave() - bring the account up to date
 * @queue: of the listener
 * @port: where to count
 * @any: is there a placed request?
 * @head: what the first of them carries
 * @placed: how many there are, or -1 if that is unknown
 * @now_ns: monotonic clock, ns
 *
 * Context: rskq_lock
 */
void synq_acceptq_leave(struct synq_acceptq *queue, struct synq_port *port,
			bool any, u32 head, s64 placed, u64 now_ns)
{
	u32 accepted = 0, used;
	s64 total = 0;

	/* As below, and as nearly always where the server keeps up. */
	if (!any && !queue->sharing) {
		leave_all(queue, port, now_ns);
		return;
	}
	if (queue->order == SYNQ_ORDER_STRICT)
		accepted = leave_lanes(queue, any, head, placed);
	for (used = queue->used | queue->sharing; used; used &= used - 1) {
		u8 p = __ffs(used);
		struct synq_member *member = &queue->member[p];

		if (member->percent)
			member->credit = synq_share_earn(member->credit,
							 member->percent,
							 accepted);
		if (member->queued)
			leave_member(queue, port, p,
				     any ? left_of(queue, p, head) : 0, now_ns);
		total += member->queued;
		if (is_forgotten(queue, p))
			queue->used &= ~BIT(p);
	}
	if (any && placed >= 0 && total > placed)
		leave_rest(queue, port, head, total - placed, now_ns);
}

/* Nothing is known any more of what is queued of a class. */
static void forget(struct synq_acceptq *queue, u8 position)
{
	struct synq_member *member = &queue->member[position];

	WRITE_ONCE(member->queued, 0);
	member->shared = 0;
	member->sample = 0;
	WRITE_ONCE(queue->lane[position].queued, 0);
}

/**
 * synq_acceptq_forget() - the account ends, with requests in it
 * @queue: of the listener
 * @port: where to count
 * @counter: as what to count them
 *
 * Context: &synq_acceptq.lock
 */
void synq_acceptq_forget(struct synq_acceptq *queue, struct synq_port *port,
			 enum synq_counter counter)
{
	u8 p;

	for (p = 0; p < queue->n; p++) {
		if (queue->member[p].queued)
			synq_acceptq_count(port, &queue->member[p], counter,
					   queue->member[p].queued);
		forget(queue, p);
	}
}
