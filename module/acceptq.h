/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The accept queue of a listener, kept in class order.  See acceptq.c.
 */
#ifndef _SYNQ_ACCEPTQ_H
#define _SYNQ_ACCEPTQ_H

#include "conf.h"
#include "drain.h"

struct request_sock;
struct sock;

#define SYNQ_ACCEPTQ_CHUNK	256	/* requests placed in one run */

/**
 * struct synq_acceptq - what synq remembers of one accept queue
 * @id: marks the requests placed under @generation; 0: none yet
 * @generation: of the snapshot that @id belongs to
 * @tail: last placed request of each position, believed only after the head
 *	has been looked at
 *
 * @length: requests in the queue after the last run
 * @drain: how fast it is emptied
 *
 * Protected by the queue's own rskq_lock.
 */
struct synq_acceptq {
	u64 id;
	u32 generation;
	struct request_sock *tail[SYNQ_SLOTS];
	u32 length;
	struct synq_drain drain;
};

bool synq_acceptq_place(struct sock *sk, struct synq_acceptq *queue,
			const struct synq_conf *conf, struct synq_port *port);

u32 synq_acceptq_ahead(const struct synq_acceptq *queue, const struct sock *sk,
		       u8 position);
u32 synq_acceptq_own(const struct synq_acceptq *queue, u8 position);

/* Tags: what synq writes into a request.  See acceptq.c. */
u64 synq_tag_new_id(void);
u64 synq_tag(u64 id, unsigned int low);
bool synq_tag_is(u64 tag, u64 id);
unsigned int synq_tag_low(u64 tag);

#endif /* _SYNQ_ACCEPTQ_H */
