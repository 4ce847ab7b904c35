/* SPDX-License-Identifier: GPL-2.0 */
/* What the L1 files need of the kernel's header, for user-space tests. */
#ifndef _SYNQ_TEST_LINUX_BITS_H
#define _SYNQ_TEST_LINUX_BITS_H

#define BIT(n)		(1UL << (n))
#define BIT_ULL(n)	(1ULL << (n))

#endif /* _SYNQ_TEST_LINUX_BITS_H */
