/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SYN cookies, sent in place of a listener.  See cookie.c.
 */
#ifndef _SYNQ_COOKIE_H
#define _SYNQ_COOKIE_H

#include <linux/types.h>

struct sk_buff;
struct sock;

bool synq_cookie_send(const struct sock *sk, struct sk_buff *syn, bool is_v6);

#endif /* _SYNQ_COOKIE_H */
