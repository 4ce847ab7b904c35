// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the accept queue of a listener in class order, FIFO inside a class,
 * in O(classes) for each connection, whatever the length of the queue.
 *
 * The queue is the kernel's own singly linked list; synq keeps no list of its
 * own, so that unloading at any moment leaves a valid queue.  accept(2) takes
 * the head without telling anybody.  The idea of one queue with a pointer to
 * the last request of each class is Voigt, Tewari, Freimuth and Mehra, "Kernel
 * Mechanisms for Service Differentiation in Overloaded Web Servers", USENIX
 * 2001; there the kernel's own accept kept the pointers right.
 *
 * DOC: why a remembered tail never dangles
 *
 * A request that synq places is tagged: bit 63, an id, and the position (the
 * class in the order of service) it was placed at.  The tag lives in ir_cookie,
 * which every allocation of a request sets to 0, which was copied to the child
 * when the child was made, and which nothing uses while the request is in the
 * accept queue.  It may hold a real socket cookie when it arrives.  Those count
 * up from small numbers, without bit 63, or down from 2^64 in nested context;
 * ids begin at 1, are never used again and stay below 2^53, so neither looks
 * like a tag.  The whole id is compared, so a tag of another listener (a
 * request cloned by migration) or of an older configuration is no tag.
 *
 * 1. Under rskq_lock requests leave only at the head and come only at the
 *    tail, except by this file.  So the placed requests are a prefix of the
 *    queue, sorted by position.
 * 2. If the head has our tag and position p, then every placed request of a
 *    position before p has left: those tails are void.  The last placed
 *    request of p or later has not: it is the head, or behind it.
 * 3. If the head has no tag of ours, the placed prefix is empty: all void.
 *    The same holds for an empty queue.
 * 4. The unplaced requests are what follows the last valid tail.
 *
 * A tail is void as soon as its request has left, but it is dereferenced only
 * after steps 2 and 3, in the same critical section; no request can leave in
 * between.  The tag holds no pointer: a diag dump may print it, harmlessly.
 *
 * Another generation takes a new id, which voids every tag at once: nothing
 * placed under one configuration is read under another.
 *
 * Called from the listener's sk_data_ready, after every append, in softirq or
 * process context with the child's lock held, BH off, under rcu_read_lock();
 * and from process context, to sort what is queued.  Takes rskq_lock.
 */
#include <linux/ktime.h>
#include <net/inet_connection_sock.h>
#include <net/request_sock.h>
#include "acceptq.h"
#include "classify.h"

#define TAG_BIT		BIT_ULL(63)
#define TAG_ID_SHIFT	10
#define TAG_ID_MAX	(BIT_ULL(53) - 1)
#define TAG_LOW_MASK	(BIT_ULL(TAG_ID_SHIFT) - 1)

static atomic64_t last_id = ATOMIC64_INIT(0);

/**
 * synq_tag_new_id() - an id that no tag ever had
 *
 * One for each listener and generation: at a million in a second 2^53 last
 * for 285 years.
 *
 * Context: any
 * Return: the id, from 1
 */
u64 synq_tag_new_id(void)
{
	return atomic64_inc_return(&last_id) & TAG_ID_MAX;
}

/**
 * synq_tag() - the value to write into a request
 * @id: of the writer
 * @low: 10 bits of the writer's own
 *
 * Context: any
 * Return: the tag
 */
u64 synq_tag(u64 id, unsigned int low)
{
	return TAG_BIT | id << TAG_ID_SHIFT | (low & TAG_LOW_MASK);
}

/**
 * synq_tag_is() - did the owner of an id write this?
 * @tag: found in a request
 * @id: not 0
 *
 * Context: any
 * Return: true if so
 */
bool synq_tag_is(u64 tag, u64 id)
{
	return (tag & ~TAG_LOW_MASK) == (TAG_BIT | id << TAG_ID_SHIFT);
}

/**
 * synq_tag_low() - the writer's own bits
 * @tag: for which synq_tag_is() is true
 *
 * Context: any
 * Return: 0..1023
 */
unsigned int synq_tag_low(u64 tag)
{
	return tag & TAG_LOW_MASK;
}

static u64 tag_of(const struct request_sock *req)
{
	return atomic64_read(&inet_rsk(req)->ir_cookie);
}

/*
 * Steps 2 and 3 of the proof.  Returns the position of the last valid tail, or
 * -1 if nothing is placed.
 */
static int void_tails(struct synq_acceptq *queue,
		      const struct request_sock *head)
{
	int last = -1, p, from;

	from = head && synq_tag_is(tag_of(head), queue->id) ?
	       synq_tag_low(tag_of(head)) : SYNQ_SLOTS;
	for (p = 0; p < from; p++)
		queue->tail[p] = NULL;
	for (; p < SYNQ_SLOTS; p++)
		if (queue->tail[p])
			last = p;
	return last;
}

/* Requests cut off the unplaced end, by position, in order of arrival. */
struct chunk {
	struct request_sock *first[SYNQ_SLOTS];
	struct request_sock *last[SYNQ_SLOTS];
	u32 n;
};

/*
 * Classify, tag and sort up to a chunk's worth of requests.  @highest is the
 * last position in use before them.  Returns the first request left over.
 */
static struct request_sock *take_chunk(const struct sock *sk,
				       const struct synq_acceptq *queue,
				       const struct synq_conf *conf,
				       struct synq_port *port,
				       struct request_sock *req, int highest,
				       struct chunk *chunk)
{
	memset(chunk, 0, sizeof(*chunk));
	for (; req && chunk->n < SYNQ_ACCEPTQ_CHUNK; chunk->n++) {
		const struct synq_class *class =
			synq_classify_request(conf, sk, req);
		u8 p = class->position;

		atomic64_set(&inet_rsk(req)->ir_cookie,
			     synq_tag(queue->id, p));
		if (chunk->last[p])
			chunk->last[p]->dl_next = req;
		else
			chunk->first[p] = req;
		chunk->last[p] = req;

		synq_count(port, class->slot, SYNQ_COUNT_PLACED);
		if (p < highest)
			synq_count(port, class->slot, SYNQ_COUNT_MOVED);
		else
			highest = p;
		req = req->dl_next;
	}
	return req;
}

/*
 * Link the chunk behind the tails of its positions and the rest behind it all.
 * accept(2) and poll(2) look at the head without the lock, so it is written
 * once, at the end, and is never NULL in between.
 */
static void splice_chunk(struct request_sock_queue *q,
			 struct synq_acceptq *queue, int last,
			 const struct chunk *chunk, struct request_sock *rest)
{
	struct request_sock *head = last < 0 ? NULL : q->rskq_accept_head;
	struct request_sock *prev = NULL;
	int p;

	if (last >= 0)
		queue->tail[last]->dl_next = NULL;
	for (p = 0; p < SYNQ_SLOTS; p++) {
		if (queue->tail[p])
			prev = queue->tail[p];
		if (!chunk->first[p])
			continue;
		chunk->last[p]->dl_next = prev ? prev->dl_next : head;
		if (prev)
			prev->dl_next = chunk->first[p];
		else
			head = chunk->first[p];
		queue->tail[p] = chunk->last[p];
		prev = chunk->last[p];
	}
	prev->dl_next = rest;
	if (!rest)
		q->rskq_accept_tail = prev;
	WRITE_ONCE(q->rskq_accept_head, head);
}

/*
 * A sample of the drain rate. Under rskq_lock the length is exact, and what was
 * just placed is what was appended since the last run, but for requests that
 * were accepted before their own run: then the queue was empty in between.
 */
static void measure(const struct sock *sk, struct synq_acceptq *queue,
		    u32 appended)
{
	u32 length = READ_ONCE(sk->sk_ack_backlog);
	u32 before = length > appended ? length - appended : 0;

	synq_drain_sample(&queue->drain, ktime_get_ns(), before,
			  queue->length > before ? queue->length - before : 0);
	queue->length = length;
}

u32 synq_acceptq_ahead(const struct synq_acceptq *queue, const struct sock *sk,
		       u8 position)
{
	return READ_ONCE(sk->sk_ack_backlog);
}

u32 synq_acceptq_own(const struct synq_acceptq *queue, u8 position)
{
	return 0;
}

/**
 * synq_acceptq_place() - put what was appended into class order
 * @sk: listener
 * @queue: what is remembered of its accept queue
 * @conf: snapshot
 * @port: where to count
 *
 * Places at most SYNQ_ACCEPTQ_CHUNK requests, so that the first run over a
 * long queue is bounded; what is left over is a legal unplaced tail for the
 * next run.  Does nothing to a socket that does not listen (MPTCP takes the
 * whole chain out of a queue that it closes).
 *
 * Context: BH may be off, @sk's child may be locked; not under rskq_lock
 * Return: true if unplaced requests remain
 */
bool synq_acceptq_place(struct sock *sk, struct synq_acceptq *queue,
			const struct synq_conf *conf, struct synq_port *port)
{
	struct request_sock_queue *q = &inet_csk(sk)->icsk_accept_queue;
	struct request_sock *rest = NULL, *req;
	struct chunk chunk;
	int last;

	spin_lock_bh(&q->rskq_lock);
	if (inet_sk_state_load(sk) != TCP_LISTEN)
		goto out;
	if (!queue->id || queue->generation != conf->generation) {
		queue->id = synq_tag_new_id();
		queue->generation = conf->generation;
	}
	last = void_tails(queue, q->rskq_accept_head);
	req = last < 0 ? q->rskq_accept_head : queue->tail[last]->dl_next;
	if (!req)
		goto out;
	rest = take_chunk(sk, queue, conf, port, req, last, &chunk);
	splice_chunk(q, queue, last, &chunk, rest);
	if (!rest)
		measure(sk, queue, chunk.n);
out:
	spin_unlock_bh(&q->rskq_lock);
	return rest;
}
