/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An option in a TCP header.  See tcpopt.c.
 */
#ifndef _SYNQ_TCPOPT_H
#define _SYNQ_TCPOPT_H

#include <linux/types.h>

const u8 *synq_tcpopt_find(const u8 *option, const u8 *end, u32 kinds);
bool synq_tcpopt_is_mp_join(const u8 *option, const u8 *end);

#endif /* _SYNQ_TCPOPT_H */
