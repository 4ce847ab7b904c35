/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SYNs that PREROUTING has judged, on their way up.  See judged.c.
 */
#ifndef _SYNQ_JUDGED_H
#define _SYNQ_JUDGED_H

#include <linux/types.h>

struct sk_buff;
struct sock;

void synq_judged_forget(const struct sk_buff *skb);
void synq_judged_note(const struct sk_buff *skb, const struct sock *keeps);
bool synq_judged_was(const struct sk_buff *skb);
bool synq_judged_keeps(const struct sk_buff *skb, const struct sock *sk);

#endif /* _SYNQ_JUDGED_H */
