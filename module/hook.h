/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netfilter's hooks.  See hook.c.
 */
#ifndef _SYNQ_HOOK_H
#define _SYNQ_HOOK_H

int synq_hook_init(void);
void synq_hook_exit(void);

#endif /* _SYNQ_HOOK_H */
