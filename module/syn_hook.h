/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Judges SYNs.  See syn_hook.c.
 */
#ifndef _SYNQ_SYN_HOOK_H
#define _SYNQ_SYN_HOOK_H

int synq_syn_hook_init(void);
void synq_syn_hook_exit(void);

#endif /* _SYNQ_SYN_HOOK_H */
