/* SPDX-License-Identifier: GPL-2.0 */
/* What the L1 files need of the kernel's header, for user-space tests. */
#ifndef _SYNQ_TEST_LINUX_MATH64_H
#define _SYNQ_TEST_LINUX_MATH64_H

#include <linux/types.h>

static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (u64)(((__uint128_t)a * b) >> shift);
}

#endif /* _SYNQ_TEST_LINUX_MATH64_H */
