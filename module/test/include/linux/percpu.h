/* SPDX-License-Identifier: GPL-2.0 */
/* What handshakes.c needs of the kernel's header, for user-space programs. */
#ifndef _SYNQ_TEST_LINUX_PERCPU_H
#define _SYNQ_TEST_LINUX_PERCPU_H

/* Each CPU is a thread, which sets this. */
__attribute__((weak)) _Thread_local unsigned int test_cpu;

#define __percpu
#define this_cpu_ptr(array)	(&(array)[test_cpu])

#endif /* _SYNQ_TEST_LINUX_PERCPU_H */
