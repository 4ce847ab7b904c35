/* SPDX-License-Identifier: GPL-2.0 */
/* What the L1 files need of the kernel's header, for user-space tests. */
#ifndef _SYNQ_TEST_LINUX_COMPILER_H
#define _SYNQ_TEST_LINUX_COMPILER_H

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)

#define unlikely(x)	__builtin_expect(!!(x), 0)
#define noinline	__attribute__((noinline))

#endif /* _SYNQ_TEST_LINUX_COMPILER_H */
