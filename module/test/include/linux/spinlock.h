/* SPDX-License-Identifier: GPL-2.0 */
/* What handshakes.c needs of the kernel's header, for user-space programs. */
#ifndef _SYNQ_TEST_LINUX_SPINLOCK_H
#define _SYNQ_TEST_LINUX_SPINLOCK_H

#include <linux/types.h>

struct test_spinlock {
	bool held;
};

#define spinlock_t	struct test_spinlock

static inline void spin_lock_init(spinlock_t *lock)
{
	lock->held = false;
}

static inline bool spin_trylock(spinlock_t *lock)
{
	return !__atomic_exchange_n(&lock->held, true, __ATOMIC_ACQUIRE);
}

static inline void spin_lock(spinlock_t *lock)
{
	while (!spin_trylock(lock))
		while (__atomic_load_n(&lock->held, __ATOMIC_RELAXED))
			;
}

static inline void spin_unlock(spinlock_t *lock)
{
	__atomic_store_n(&lock->held, false, __ATOMIC_RELEASE);
}

#define spin_lock_bh	spin_lock
#define spin_trylock_bh	spin_trylock
#define spin_unlock_bh	spin_unlock

#endif /* _SYNQ_TEST_LINUX_SPINLOCK_H */
