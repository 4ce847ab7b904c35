/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who has full state, and who a cookie.  See fullstate.c.
 */
#ifndef _SYNQ_FULLSTATE_H
#define _SYNQ_FULLSTATE_H

#include "conf.h"

struct sk_buff;
struct sock;
struct synq_record;

enum synq_cookies synq_fullstate_policy(const struct sock *sk,
					const struct synq_listener *listener,
					const struct synq_class *class);
bool synq_fullstate_is_kept(const struct sock *sk, const struct synq_conf *conf,
			    const struct synq_listener *listener,
			    const struct synq_class *class,
			    const struct synq_record *record, bool is_v6);
void synq_fullstate_request(const struct sock *sk,
			    const struct synq_record *record,
			    struct sk_buff *skb);

#endif /* _SYNQ_FULLSTATE_H */
