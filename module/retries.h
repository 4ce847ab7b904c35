/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How often a listener sends an unanswered SYN-ACK again.  See retries.c.
 */
#ifndef _SYNQ_RETRIES_H
#define _SYNQ_RETRIES_H

#include <linux/types.h>

struct sock;

/**
 * struct synq_retries - what was done to one listener
 * @ours: the number that was set last; 0: none ever
 * @was: the listener's own
 * @held: @ours is in force
 */
struct synq_retries {
	u8 ours;
	u8 was;
	bool held;
};

void synq_retries_set(struct synq_retries *retries, struct sock *sk, u8 wanted);
void synq_retries_disinherit(const struct synq_retries *retries,
			     struct sock *child);
u8 synq_retries_of(const struct sock *sk);

#endif /* _SYNQ_RETRIES_H */
