/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the L1 files need of the kernel's header, for user-space tests: really
 * atomic, so that threads can stand for CPUs.
 */
#ifndef _SYNQ_TEST_LINUX_ATOMIC_H
#define _SYNQ_TEST_LINUX_ATOMIC_H

#include <linux/types.h>

struct atomic64 {
	s64 counter;
};

#define atomic64_t	struct atomic64

static inline s64 atomic64_read(const atomic64_t *v)
{
	return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);
}

static inline void atomic64_set(atomic64_t *v, s64 value)
{
	__atomic_store_n(&v->counter, value, __ATOMIC_RELAXED);
}

static inline void atomic64_inc(atomic64_t *v)
{
	__atomic_fetch_add(&v->counter, 1, __ATOMIC_RELAXED);
}

static inline bool atomic64_try_cmpxchg(atomic64_t *v, s64 *old, s64 value)
{
	return __atomic_compare_exchange_n(&v->counter, old, value, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static inline s64 atomic64_inc_return(atomic64_t *v)
{
	return __atomic_add_fetch(&v->counter, 1, __ATOMIC_SEQ_CST);
}

#define atomic64_try_cmpxchg_relaxed	atomic64_try_cmpxchg

#endif /* _SYNQ_TEST_LINUX_ATOMIC_H */
