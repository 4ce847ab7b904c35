/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shortest way to refuse a SYN of a flood.  See early.c.
 */
#ifndef _SYNQ_EARLY_H
#define _SYNQ_EARLY_H

#include <linux/err.h>
#include "conf.h"

struct sk_buff;

/* Instead of a class: the SYN is counted, and to be dropped. */
#define SYNQ_EARLY_DROPPED	((const struct synq_class *)ERR_PTR(-EACCES))

const struct synq_class *synq_early4(struct synq_net *sn,
				     const struct synq_conf *conf,
				     struct sk_buff *skb);
const struct synq_class *synq_early6(struct synq_net *sn,
				     const struct synq_conf *conf,
				     struct sk_buff *skb, unsigned int thoff);

#endif /* _SYNQ_EARLY_H */
