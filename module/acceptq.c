// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the accept queue of a listener in the order of its discipline, FIFO
 * inside a class, in O(classes) for each connection, whatever the length of
 * the queue.
 *
 * The queue is the kernel's own singly linked list; synq keeps no list of its
 * own, so unloading at any moment leaves a valid queue.  accept(2) takes
 * the head and notifies nothing.  The idea of one queue with a pointer to
 * the last request of each class is Voigt, Tewari, Freimuth and Mehra, "Kernel
 * Mechanisms for Service Differentiation in Overloaded Web Servers", USENIX
 * 2001; there the kernel's own accept kept the pointers right.
 *
 * DOC: why a remembered tail never dangles
 *
 * A request that synq places is tagged (share.c) with an id of this listener and
 * this generation of its configuration, and with its rank.  A request with another
 * id is unplaced.  Each generation takes a new id, so nothing placed under
 * one configuration is interpreted under another.
 *
 * The queue is served in lanes: by class, except that fifo has one lane for
 * all, and that a minimum share and a class that is only observed put requests
 * into the lane of another class.  The rank is the lane in strict order, 0 in
 * fifo, and the key of its finish (share.c) in weighted order.  Ranks are
 * compared by signed difference.
 *
 * 1. Under rskq_lock requests leave only at the head and come only at the
 *    tail, except by this file.  So the placed requests are a prefix of the
 *    queue, sorted by rank.
 * 2. If the head has our tag it was placed, and every placed request of a
 *    lower rank has left.  The tail of a lane has the highest rank of its lane,
 *    and no request behind it is of its lane.  If its rank is lower than the
 *    head's it has left: the tail is void.  If its rank is higher, it is behind the head.
 *    If it is equal, both are of the same lane, and the tail is the head or behind it:
 *    strict and fifo have one rank for each lane, and keys of different classes
 *    differ.
 * 3. If the head has no tag of ours, nothing placed is left: all are void.
 *    The same holds for an empty queue.
 * 4. The unplaced requests are what follows the valid tail of the highest
 *    rank.
 *
 * A tail is void as soon as its request has left, but it is dereferenced only
 * after steps 2 and 3, in the same critical section; no request can leave in
 * between.
 *
 * All this is about one queue, and one account of it.  When a socket listens again it has
 * another queue, though requests with our tag may come into it: look() notices.  When
 * the socket is managed anew, the previous account is closed first:
 * synq_acceptq_close().
 *
 * The signed difference is right: keys in the queue at the same time are
 * less than half of the range apart (share.c), and a placed head was
 * in the queue together with every tail that the last run left valid.
 *
 * DOC: what it costs
 *
 * Strict and fifo look at each lane in use once.  Weighted order looks at each lane
 * for the valid tail of the highest rank below the new one.  It goes on from there, over
 * requests of classes with a higher tail.  All of them finish
 * within the step of the new request: it stops at the last request of its class, or at the
 * head.  So of each class it passes at most the ratio of the
 * two weights, rounded up, whatever the length of the queue.  The
 * steps of a class do not overlap, so a request is passed by each other class at
 * most once in its life: O(classes) on average.
 *
 * A minimum share moves the first request of a lane behind the tail of another,
 * no more often than requests are accepted.
 *
 * Called after every append, in softirq, under rcu_read_lock(); and from process
 * context, to sort what is queued.  Takes &synq_acceptq.lock and rskq_lock.
 */
#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include <net/inet_connection_sock.h>
#include <net/request_sock.h>
#include <net/tcp.h>
#include "acceptq.h"
#include "classify.h"
#include "share.h"

/* One critical section. */
struct run {
	struct request_sock_queue *q;
	struct synq_acceptq *queue;
	struct synq_port *port;
	struct request_sock *last;	/* of the placed; NULL: none */
	u32 last_rank;
	u64 now_ns;
};

static u64 tag_of(const struct request_sock *req)
{
	return atomic64_read(&inet_rsk(req)->ir_cookie);
}

static u32 id_of(const struct synq_acceptq *queue, const struct request_sock *req)
{
	return synq_tag_bind(queue->id, req);
}

static u32 low_of(const struct request_sock *req)
{
	return synq_tag_low(tag_of(req));
}

static u32 rank_of(const struct synq_acceptq *queue, u32 low)
{
	switch ((enum synq_order)queue->order) {
	case SYNQ_ORDER_STRICT:
		return synq_acceptq_lane(low);
	case SYNQ_ORDER_WEIGHTED:
		return low;
	case SYNQ_ORDER_FIFO:
		break;
	}
	return 0;
}

static bool is_before(u32 rank, u32 other)
{
	return (s32)(rank - other) < 0;
}

/*
 * Is it still the queue of the last look?  Between two looks the same socket may close its
 * queue and listen again, and its requests may come back from another
 * listener, in other memory (tcp_migrate_req).  A flag tells: it is set here in a field that
 * listen(2) clears and that a listening socket does not use.
 *
 * Called under rskq_lock while the socket listens.  shutdown(2), close(2) and SOCK_DESTROY
 * end that before they take the lock to empty the queue, so it is
 * one queue until the lock is released.  listen(2) announces that it listens, and ends it
 * without the lock if the port is not to be had; it is hashed only when it has the port.
 * Returns false if it does not listen.
 */
static bool look(const struct run *run, struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct synq_acceptq *queue = run->queue;

	if (inet_sk_state_load(sk) != TCP_LISTEN || sk_unhashed(sk))
		return false;
	if (!icsk->icsk_ack.lrcvtime) {
		synq_acceptq_forget(queue, run->port, SYNQ_COUNT_CLOSED);
		queue->length = 0;
		queue->id = 0;	/* begin(): nothing of it is remembered */
		icsk->icsk_ack.lrcvtime = 1;
	}
	return true;
}

static struct request_sock *first_unplaced(const struct run *run)
{
	return run->last ? run->last->dl_next : run->q->rskq_accept_head;
}

/* Steps 2 to 4 of the proof. */
static void void_tails(struct run *run)
{
	const struct request_sock *head = run->q->rskq_accept_head;
	struct synq_acceptq *queue = run->queue;
	bool any = head && synq_tag_is(tag_of(head), id_of(queue, head));
	u32 left, first = any ? rank_of(queue, low_of(head)) : 0;

	run->last = NULL;
	for (left = queue->used; left; left &= left - 1) {
		struct synq_lane *lane = &queue->lane[__ffs(left)];

		if (!any || is_before(lane->rank, first))
			lane->tail = NULL;
		if (lane->tail && (!run->last ||
				   is_before(run->last_rank, lane->rank))) {
			run->last = lane->tail;
			run->last_rank = lane->rank;
		}
	}
}

/*
 * Counts the requests that were accepted since the last run.  Returns how many placed requests
 * are left, or -1 if there are too many unplaced ones to tell.
 */
static s64 settle(const struct run *run, const struct sock *sk)
{
	const struct request_sock *req = first_unplaced(run);
	s64 placed = READ_ONCE(sk->sk_ack_backlog);
	unsigned int n;

	for (n = 0; req && n < SYNQ_ACCEPTQ_CHUNK; n++)
		req = req->dl_next;
	placed = req ? -1 : max_t(s64, placed - n, 0);
	synq_acceptq_leave(run->queue, run->port, run->last,
			   run->last ? low_of(run->q->rskq_accept_head) : 0,
			   placed, run->now_ns);
	return placed;
}

/* With another configuration nothing is placed and nothing remembered. */
static void begin(struct run *run, const struct synq_conf *conf,
		  const struct synq_listener *listener)
{
	struct synq_acceptq *queue = run->queue;
	u16 heaviest = 1;
	u8 p;

	synq_acceptq_forget(queue, run->port, SYNQ_COUNT_REPLACED);
	memset_startat(queue, 0, id);
	queue->number = synq_tag_take();
	queue->id = synq_tag_id(queue->number);
	queue->generation = conf->generation;
	queue->policy = listener->order;
	queue->order = conf->observe || listener->observe ? SYNQ_ORDER_FIFO :
							    listener->order;
	queue->n = conf->n_positions;
	for (p = 0; p < queue->n; p++)
		heaviest = max(heaviest,
			       conf->class[conf->order[p]].weight);
	for (p = 0; p < queue->n; p++) {
		const struct synq_class *class = &conf->class[conf->order[p]];
		struct synq_member *member = &queue->member[p];

		member->slot = class->slot;
		member->since = class->since;
		member->weight = class->weight;
		member->step = synq_share_step(member->weight, heaviest);
		member->observe = class->observe;
		member->percent = class->observe ? 0 : class->min_share;
		if (member->percent)
			queue->sharing |= BIT(p);
	}
	run->last = NULL;
}

/* The tail of the nearest lane in use at or before one; NULL: none. */
static struct request_sock *tail_before(const struct synq_acceptq *queue,
					int lane)
{
	for (; lane >= 0; lane--)
		if (queue->lane[lane].tail)
			return queue->lane[lane].tail;
	return NULL;
}

/* The last placed request with a rank at or before one behind the head's. */
static struct request_sock *walk_to(const struct run *run, u32 rank)
{
	struct request_sock *prev = run->q->rskq_accept_head;
	const struct synq_lane *lane, *nearest = NULL;

	for (lane = run->queue->lane;
	     lane < run->queue->lane + run->queue->n; lane++)
		if (lane->tail && !is_before(rank, lane->rank) &&
		    (!nearest || is_before(nearest->rank, lane->rank)))
			nearest = lane;
	if (nearest)
		prev = nearest->tail;
	while (prev != run->last && !is_before(rank, low_of(prev->dl_next)))
		prev = prev->dl_next;
	return prev;
}

/*
 * accept(2) and poll(2) look at the head without the lock, so it must never be NULL in
 * between.
 */
static void link_behind(const struct run *run, struct request_sock *prev,
			struct request_sock *req)
{
	if (prev) {
		req->dl_next = prev->dl_next;
		prev->dl_next = req;
	} else {
		req->dl_next = run->q->rskq_accept_head;
		WRITE_ONCE(run->q->rskq_accept_head, req);
	}
	if (!req->dl_next)
		run->q->rskq_accept_tail = req;
}

static void unlink_behind(const struct run *run, struct request_sock *prev)
{
	prev->dl_next = prev->dl_next->dl_next;
	if (!prev->dl_next)
		run->q->rskq_accept_tail = prev;
}

static void tag(const struct run *run, struct request_sock *req, u8 lane,
		u32 low)
{
	struct synq_lane *to = &run->queue->lane[lane];

	atomic64_set(&inet_rsk(req)->ir_cookie,
		     synq_tag(id_of(run->queue, req), low));
	run->queue->used |= BIT(lane);
	to->tail = req;
	to->rank = rank_of(run->queue, low);
}

/* Strict order, and fifo as its special case. */
static struct request_sock *in_lane(const struct run *run,
				    struct synq_member *member, u8 *lane,
				    u32 *low)
{
	u8 position = *lane;

	if (run->queue->order == SYNQ_ORDER_FIFO)
		*lane = 0;
	else if (member->observe && run->last)
		*lane = max_t(u32, position, run->last_rank);
	*low = (u32)*lane << SYNQ_LANE_SHIFT |
	       (u32)position << SYNQ_MEMBER_SHIFT |
	       (member->placed & SYNQ_NUMBER_MASK);
	return tail_before(run->queue, *lane);
}

static struct request_sock *in_turn(const struct run *run,
				    struct synq_member *member, u8 position,
				    u32 *low)
{
	u64 now = 0;

	if (run->last)
		now = synq_share_time(low_of(run->q->rskq_accept_head));
	if (!run->queue->lane[position].tail)
		member->finish = now;
	member->finish = synq_share_finish(member->finish, member->step, now);
	*low = synq_share_key(member->finish, position);
	/* If nothing is placed yet, it becomes the head. */
	return run->last ? walk_to(run, *low) : NULL;
}

/* An observed class in weighted order: to the end of the queue, as by the stock kernel. */
static struct request_sock *in_arrival(const struct run *run,
				       struct synq_member *member, u8 position,
				       u32 *low)
{
	struct request_sock *prev = in_turn(run, member, position, low);

	if (prev == run->last)
		return prev;
	synq_count(run->port, member->slot, SYNQ_COUNT_WOULD_MOVE);
	member->finish = synq_share_behind(run->last_rank);
	*low = synq_share_key(member->finish, position);
	return run->last;
}

/* Place the first of the unplaced requests, which follows the placed ones. */
static void place(struct run *run, struct request_sock *req,
		  const struct synq_class *class)
{
	struct synq_member *member = &run->queue->member[class->position];
	struct request_sock *prev;
	u8 lane = class->position;
	u32 low;

	member->placed++;
	if (run->queue->order != SYNQ_ORDER_WEIGHTED)
		prev = in_lane(run, member, &lane, &low);
	else if (member->observe)
		prev = in_arrival(run, member, lane, &low);
	else
		prev = in_turn(run, member, lane, &low);
	if (run->queue->order == SYNQ_ORDER_FIFO ?
	    synq_acceptq_would_move(run->queue, class->position) :
	    lane != class->position)
		synq_count(run->port, class->slot, SYNQ_COUNT_WOULD_MOVE);

	if (prev == run->last) {
		run->last = req;
		run->last_rank = rank_of(run->queue, low);
	} else {
		unlink_behind(run, run->last);
		link_behind(run, prev, req);
		synq_count(run->port, class->slot, SYNQ_COUNT_MOVED);
	}
	tag(run, req, lane, low);
	run->queue->used |= BIT(class->position);
	WRITE_ONCE(member->queued, member->queued + 1);
	if (!member->sample) {
		member->sample = member->queued;
		member->sampled_ns = run->now_ns;
	}
	WRITE_ONCE(run->queue->lane[lane].queued,
		   run->queue->lane[lane].queued + 1);
	synq_acceptq_count(run->port, member, SYNQ_COUNT_PLACED, 1);
}

/*
 * If a class has a claim to its minimum share, the first request of its lane moves
 * behind the tail of the first lane in use, but never before a request of its class
 * that was moved earlier.  A request of an observed class may have others of its class
 * in any lane before; it only joins the nearest of them, and so makes way.  Returns
 * false if there is nothing to move.
 */
static bool share(struct run *run, u8 position)
{
	struct synq_acceptq *queue = run->queue;
	struct synq_member *member = &queue->member[position];
	struct synq_lane *own = &queue->lane[position];
	struct request_sock *prev, *to, *req;
	u8 lane = 0, of;
	u32 low;

	while (lane < position && !queue->lane[lane].tail)
		lane++;
	if (member->shared)
		lane = max(lane, member->lane);
	prev = tail_before(queue, position - 1);
	if (lane >= position || !prev || !own->tail)
		return false;

	req = prev->dl_next;
	low = low_of(req);
	of = synq_acceptq_member(queue, low);
	if (of == position) {
		member->shared++;
		member->lane = lane;
		synq_count(run->port, member->slot, SYNQ_COUNT_SHARED);
	} else if (queue->member[of].observe) {
		lane = synq_acceptq_lane(low_of(prev));
	}
	to = tail_before(queue, lane);
	if (own->tail == req)
		own->tail = NULL;
	if (run->last == req) {
		run->last = to == prev ? req : prev;
		run->last_rank = to == prev ? lane :
					      rank_of(queue, low_of(prev));
	}
	unlink_behind(run, prev);
	link_behind(run, to, req);
	low &= ~(~0U << SYNQ_LANE_SHIFT);
	tag(run, req, lane, (u32)lane << SYNQ_LANE_SHIFT | low);
	WRITE_ONCE(own->queued, own->queued - 1);
	WRITE_ONCE(queue->lane[lane].queued, queue->lane[lane].queued + 1);
	return true;
}

static void share_out(struct run *run)
{
	struct synq_member *member;
	u32 left;
	u8 p;

	/* The first has no class before it. */
	for (left = run->queue->sharing & ~BIT(0); left; left &= left - 1) {
		p = __ffs(left);
		member = &run->queue->member[p];
		if (!member->credit)
			continue;
		while (member->credit >= SYNQ_SHARE_ONE && share(run, p))
			member->credit = synq_share_spend(member->credit, 1);
		member->credit = synq_share_keep(member->credit);
	}
}

/*
 * Takes a sample of the drain rate.  Under rskq_lock the length is exact.  If the last
 * run placed everything, the requests placed before this one were the queue just
 * before the append.  Otherwise nothing is known, and the queue counts as empty before.
 */
static void measure(const struct run *run, const struct sock *sk, s64 placed,
		    bool whole)
{
	struct synq_acceptq *queue = run->queue;
	u32 before = min_t(u32, max_t(s64, placed, 0), queue->length);

	synq_drain_sample(&queue->drain, run->now_ns, before,
			  queue->length - before);
	queue->length = whole ? READ_ONCE(sk->sk_ack_backlog) : 0;
}

/* Returns true if unplaced requests remain. */
static bool place_some(struct run *run, struct sock *sk,
		       const struct synq_conf *conf,
		       const struct synq_listener *listener)
{
	struct synq_acceptq *queue = run->queue;
	struct request_sock *req;
	unsigned int n;
	s64 placed;

	run->now_ns = ktime_get_ns();	/* in the lock, so that runs are in order of time */
	void_tails(run);
	placed = settle(run, sk);
	if (!queue->id || queue->generation != conf->generation ||
	    queue->policy != listener->order || synq_tag_is_old(queue->number))
		begin(run, conf, listener);
	for (n = 0; (req = first_unplaced(run)) && n < SYNQ_ACCEPTQ_CHUNK; n++)
		place(run, req, synq_classify_request(conf, sk, req));
	if (!n)
		return false;
	if (queue->order == SYNQ_ORDER_STRICT)
		share_out(run);
	measure(run, sk, placed, !req);
	return req;
}

/*
 * synq has a lock of its own around the kernel's: synq_acceptq_close() need not touch the
 * queue of a socket that may be listening again.
 */
static bool is_open(const struct synq_acceptq *queue, const struct sock *sk)
{
	return !queue->closed && inet_sk_state_load(sk) == TCP_LISTEN;
}

/**
 * synq_acceptq_place() - sort what was appended
 * @sk: listener
 * @queue: what is remembered of its accept queue
 * @conf: snapshot
 * @listener: that @conf has for the port, or in another order, as the
 *	application has chosen it
 *
 * Places at most SYNQ_ACCEPTQ_CHUNK requests, so that the first run over a
 * long queue is bounded; the rest is a legal unplaced tail for the
 * next run.  Does nothing to a socket that does not listen (MPTCP takes the
 * whole chain out of a queue that it closes).
 *
 * Context: BH may be off; not under rskq_lock
 * Return: true if unplaced requests remain
 */
bool synq_acceptq_place(struct sock *sk, struct synq_acceptq *queue,
			const struct synq_conf *conf,
			const struct synq_listener *listener)
{
	struct run run = {
		.q = &inet_csk(sk)->icsk_accept_queue,
		.queue = queue,
		.port = listener->port,
	};
	bool more = false;

	spin_lock_bh(&queue->lock);
	if (is_open(queue, sk)) {
		spin_lock(&run.q->rskq_lock);
		if (look(&run, sk))
			more = place_some(&run, sk, conf, listener);
		spin_unlock(&run.q->rskq_lock);
	}
	spin_unlock_bh(&queue->lock);
	return more;
}

/**
 * synq_acceptq_settle() - count requests accepted since the last one came
 * @sk: listener
 * @queue: what is remembered of its accept queue
 * @port: where to count
 *
 * Context: as for synq_acceptq_place()
 */
void synq_acceptq_settle(struct sock *sk, struct synq_acceptq *queue,
			 struct synq_port *port)
{
	struct run run = {
		.q = &inet_csk(sk)->icsk_accept_queue,
		.queue = queue,
		.port = port,
	};

	spin_lock_bh(&queue->lock);
	if (is_open(queue, sk)) {
		spin_lock(&run.q->rskq_lock);
		if (look(&run, sk)) {
			run.now_ns = ktime_get_ns();
			void_tails(&run);
			settle(&run, sk);
		}
		spin_unlock(&run.q->rskq_lock);
	}
	spin_unlock_bh(&queue->lock);
}

/**
 * synq_acceptq_close() - end the account: nothing is placed any more
 * @queue: what is remembered of the accept queue
 * @port: where to count
 *
 * Another account of the same queue may begin: it takes a new id.  A CPU that is about to
 * use this one finds no valid tail any more.
 *
 * Context: not under rskq_lock
 */
void synq_acceptq_close(struct synq_acceptq *queue, struct synq_port *port)
{
	spin_lock_bh(&queue->lock);
	queue->closed = true;
	synq_acceptq_forget(queue, port, SYNQ_COUNT_CLOSED);
	spin_unlock_bh(&queue->lock);
}
