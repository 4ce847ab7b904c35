/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Follows connections, to know who waits for an answer.  See follow.c.
 */
#ifndef _SYNQ_FOLLOW_H
#define _SYNQ_FOLLOW_H

#include <linux/types.h>

struct request_sock;
struct sk_buff;
struct sock;
struct synq_class;
struct synq_inside;
struct synq_record;

int synq_follow_module_init(void);
void synq_follow_module_exit(void);

void synq_follow_enter(struct synq_record *record, const struct synq_class *class,
		       const struct sock *child, const struct request_sock *req,
		       const struct sk_buff *skb);
void synq_follow_age(struct synq_inside *inside, u64 now_ns);
void synq_follow_tend(struct synq_record *record);
void synq_follow_leave(struct synq_record *record, bool close);
void synq_follow_renew(struct synq_record *record, u32 slots);

#endif /* _SYNQ_FOLLOW_H */
