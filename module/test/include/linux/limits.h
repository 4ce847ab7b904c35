/* SPDX-License-Identifier: GPL-2.0 */
/* What the L1 files need of the kernel's header, for user-space tests. */
#ifndef _SYNQ_TEST_LINUX_LIMITS_H
#define _SYNQ_TEST_LINUX_LIMITS_H

#include_next <linux/limits.h>

#define U32_MAX		0xffffffffU
#define U64_MAX		(~0ULL)

#endif /* _SYNQ_TEST_LINUX_LIMITS_H */
