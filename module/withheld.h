/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests whose promotion was put off.  See withheld.c.
 */
#ifndef _SYNQ_WITHHELD_H
#define _SYNQ_WITHHELD_H

#include "stats.h"
#include "synq.h"

struct request_sock;

/* A SYN-ACK is sent again for at most 63 s: 1, 2, 4, 8, 16 and 32 s. */
#define SYNQ_WITHHELD_SECONDS	64

/**
 * struct synq_withheld - requests of one listener whose promotion was put off
 * @lock: protects the rest; taken only while withheld requests exist
 * @id: of the tags that mark them; may be read without the lock
 * @serial: of the next tag; wraps at 2^26 of one @id
 * @now: second up to which expired requests have been taken out
 * @total: sum of @pending
 * @pending: by second of the first time, and slot of the class
 */
struct synq_withheld {
	spinlock_t lock;	/* protects the rest */
	u32 id;
	u32 serial;
	u32 now;
	u32 total;
	u16 pending[SYNQ_WITHHELD_SECONDS][SYNQ_SLOTS];
};

void synq_withheld_init(struct synq_withheld *withheld);
void synq_withheld_clear(struct synq_withheld *withheld,
			 struct synq_port *port);
bool synq_withheld_add(struct synq_withheld *withheld, struct synq_port *port,
		       u8 slot, struct request_sock *req);
u64 synq_withheld_claim(const struct synq_withheld *withheld,
			struct request_sock *req);
void synq_withheld_settle(struct synq_withheld *withheld,
			  struct synq_port *port, u8 slot,
			  struct request_sock *req, u64 claim, bool promoted);

#endif /* _SYNQ_WITHHELD_H */
