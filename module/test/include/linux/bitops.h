/* SPDX-License-Identifier: GPL-2.0 */
/* What the L1 files need of the kernel's header, for user-space tests. */
#ifndef _SYNQ_TEST_LINUX_BITOPS_H
#define _SYNQ_TEST_LINUX_BITOPS_H

#include <linux/types.h>

/* Number of the topmost bit set, counted from 1; 0 if there is none. */
static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

/* Number of the lowest bit set, counted from 0; @x is not 0. */
static inline unsigned long __ffs(unsigned long x)
{
	return __builtin_ctzl(x);
}

static inline u32 rol32(u32 word, unsigned int shift)
{
	return word << (shift & 31) | word >> (-shift & 31);
}

#endif /* _SYNQ_TEST_LINUX_BITOPS_H */
