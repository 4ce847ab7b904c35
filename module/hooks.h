/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers the hooks of syn_hook.c.  See hooks.c.
 */
#ifndef _SYNQ_HOOKS_H
#define _SYNQ_HOOKS_H

int synq_hooks_init(void);
void synq_hooks_exit(void);

#endif /* _SYNQ_HOOKS_H */
