/* SPDX-License-Identifier: GPL-2.0 */
/* What the L1 files need of the kernel's header, for user-space tests. */
#ifndef _SYNQ_TEST_ASM_BYTEORDER_H
#define _SYNQ_TEST_ASM_BYTEORDER_H

#include_next <asm/byteorder.h>

#define be64_to_cpu(x)	__be64_to_cpu(x)
#define cpu_to_be64(x)	__cpu_to_be64(x)

#endif /* _SYNQ_TEST_ASM_BYTEORDER_H */
