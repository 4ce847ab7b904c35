/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the L1 files need of the kernel's header, for user-space tests.  Unlike
 * the kernel's, these evaluate their arguments more than once.
 */
#ifndef _SYNQ_TEST_LINUX_MINMAX_H
#define _SYNQ_TEST_LINUX_MINMAX_H

#define min(x, y)		((x) < (y) ? (x) : (y))
#define max(x, y)		((x) > (y) ? (x) : (y))
#define min3(x, y, z)		min(min(x, y), z)
#define min_t(type, x, y)	min((type)(x), (type)(y))
#define max_t(type, x, y)	max((type)(x), (type)(y))
#define clamp_t(type, v, lo, hi) min_t(type, max_t(type, v, lo), hi)

#endif /* _SYNQ_TEST_LINUX_MINMAX_H */
