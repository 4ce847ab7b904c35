/* SPDX-License-Identifier: GPL-2.0 */
/* What the L1 files need of the kernel's header, for user-space tests. */
#ifndef _SYNQ_TEST_LINUX_SCHED_H
#define _SYNQ_TEST_LINUX_SCHED_H

static inline void cond_resched(void)
{
}

#endif /* _SYNQ_TEST_LINUX_SCHED_H */
