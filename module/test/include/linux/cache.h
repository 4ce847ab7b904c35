/* SPDX-License-Identifier: GPL-2.0 */
/* What handshakes.c needs of the kernel's header, for user-space programs. */
#ifndef _SYNQ_TEST_LINUX_CACHE_H
#define _SYNQ_TEST_LINUX_CACHE_H

#define ____cacheline_aligned_in_smp	__attribute__((__aligned__(64)))

#endif /* _SYNQ_TEST_LINUX_CACHE_H */
