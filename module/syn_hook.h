/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Has SYNs judged.  See syn_hook.c.
 */
#ifndef _SYNQ_SYN_HOOK_H
#define _SYNQ_SYN_HOOK_H

#include <linux/netfilter.h>

#define SYNQ_SYN_LOCAL		4
#define SYNQ_SYN_FORWARD	2

extern const struct nf_hook_ops synq_syn_local[SYNQ_SYN_LOCAL];
extern const struct nf_hook_ops synq_syn_forward[SYNQ_SYN_FORWARD];

#endif /* _SYNQ_SYN_HOOK_H */
