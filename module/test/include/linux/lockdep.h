/* SPDX-License-Identifier: GPL-2.0 */
/* What handshakes.c needs of the kernel's header, for user-space programs. */
#ifndef _SYNQ_TEST_LINUX_LOCKDEP_H
#define _SYNQ_TEST_LINUX_LOCKDEP_H

#define lockdep_assert_held(lock)	((void)(lock))

#endif /* _SYNQ_TEST_LINUX_LOCKDEP_H */
