/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A segment that answers a SYN in place of the listener.  See answer.c.
 */
#ifndef _SYNQ_ANSWER_H
#define _SYNQ_ANSWER_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <net/dsfield.h>
#include <net/flow.h>

struct sk_buff;
struct sock;

#define SYNQ_ANSWER_OPTIONS	(40 / 4)

/**
 * struct synq_answer - an answer, not yet sent
 * @sk: listener
 * @syn: what is answered
 * @dst: route, with a reference
 * @fl: that it was found by
 * @mark: of the packet
 * @tos: of the packet, or its traffic class
 * @is_v6: @syn is IPv6
 */
struct synq_answer {
	const struct sock *sk;
	struct sk_buff *syn;
	struct dst_entry *dst;
	struct flowi fl;
	u32 mark;
	u8 tos;
	bool is_v6;
};

/**
 * struct synq_answer_tcp - its TCP header
 * @th: ports, data offset and checksum are filled in by synq_answer_send()
 * @option: as on the wire
 * @options: how many of @option there are
 */
struct synq_answer_tcp {
	struct tcphdr th;
	__be32 option[SYNQ_ANSWER_OPTIONS];
	u8 options;
};

/* TOS or traffic class of a SYN. */
static inline u8 synq_answer_dsfield(const struct sk_buff *syn, bool is_v6)
{
	return is_v6 ? ipv6_get_dsfield(ipv6_hdr(syn)) :
		       ipv4_get_dsfield(ip_hdr(syn));
}

bool synq_answer_reset(const struct sock *sk, struct sk_buff *syn, bool is_v6);

/*
 * SYN cookies, sent in place of a listener.
 */

bool synq_cookie_send(const struct sock *sk, struct sk_buff *syn, bool is_v6);

#endif /* _SYNQ_ANSWER_H */
