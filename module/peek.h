/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PREROUTING peeks at SYNs.  See peek.c.
 */
#ifndef _SYNQ_PEEK_H
#define _SYNQ_PEEK_H

#include "conf.h"

struct sk_buff;

bool synq_peek4(struct synq_net *sn, const struct synq_conf *conf,
		struct sk_buff *skb);
bool synq_peek6(struct synq_net *sn, const struct synq_conf *conf,
		struct sk_buff *skb, unsigned int thoff);

#endif /* _SYNQ_PEEK_H */
