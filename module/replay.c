// SPDX-License-Identifier: GPL-2.0
/*
 * Segments that are taken from TCP for a while, and given to it once more.
 */
#include <linux/netdevice.h>
#include <net/inet_connection_sock.h>
#include <net/protocol.h>
#include <net/tcp.h>
#include <net/xfrm.h>
#include "compat.h"
#include "replay.h"
#include "tcpopt.h"

#define COPY_MAX	512	/* bytes: smaller segments are copied, as no page waits then */

static bool passes_policy(const struct sock *sk, struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (skb->protocol == htons(ETH_P_IPV6))
		return xfrm6_policy_check((struct sock *)sk, XFRM_POLICY_IN, skb);
#endif
	return xfrm4_policy_check((struct sock *)sk, XFRM_POLICY_IN, skb);
}

/**
 * synq_replay_copy() - copy a segment, to give it to TCP later
 * @sk: its listener
 * @skb: as TCP has it
 *
 * What TCP has done to it is undone in the copy: its control block is IP's again.
 *
 * Context: BH off, rcu_read_lock()
 * Return: NULL if it is not to be held, or without memory
 */
struct sk_buff *synq_replay_copy(const struct sock *sk, struct sk_buff *skb)
{
	struct sk_buff *copy;

	if (!skb->dev || !skb_dst_force(skb))
		return NULL;
	copy = skb->len <= COPY_MAX && !skb_is_gso(skb) ?
	       skb_copy(skb, GFP_ATOMIC) : skb_clone(skb, GFP_ATOMIC);
	if (!copy)
		return NULL;
#if IS_ENABLED(CONFIG_IPV6)
	if (skb->protocol == htons(ETH_P_IPV6))
		memmove(IP6CB(copy), &TCP_SKB_CB(skb)->header.h6,
			sizeof(struct inet6_skb_parm));
	else
#endif
		memmove(IPCB(copy), &TCP_SKB_CB(skb)->header.h4,
			sizeof(struct inet_skb_parm));
	/* A connection that is tracked would keep its namespace. */
	nf_reset_ct(copy);
	/*
	 * As TCP will ask then.  What IPsec knew of a packet may be used up, and of one that
	 * was rewritten it has to ask conntrack.
	 */
	if (!passes_policy(sk, copy)) {
		kfree_skb(copy);
		return NULL;
	}
	copy->skb_iif = skb->dev->ifindex;
	copy->dev = NULL;
	return copy;
}

/**
 * synq_replay() - give a segment to TCP, as IP would
 * @net: of its listener
 * @skb: made by synq_replay_copy(); its reference is TCP's from now on
 *
 * Context: BH off, rcu_read_lock(), no lock of ours
 * Return: false if its device has gone, or its route, which then leads into another
 *	namespace: the segment is lost, as on the way
 */
bool synq_replay(struct net *net, struct sk_buff *skb)
{
	skb->dev = dev_get_by_index_rcu(net, skb->skb_iif);
	if (!skb->dev || dev_net(skb_dst(skb)->dev) != net) {
		kfree_skb(skb);
		return false;
	}
#if IS_ENABLED(CONFIG_IPV6)
	if (skb->protocol == htons(ETH_P_IPV6))
		rcu_dereference(inet6_protos[IPPROTO_TCP])->handler(skb);
	else
#endif
		rcu_dereference(inet_protos[IPPROTO_TCP])->handler(skb);
	return true;
}

/* By the time stamp that the client has sent back; if it is one of milliseconds. */
static u64 stamped_us(const struct request_sock *req, const struct sk_buff *skb,
		      u64 now_us)
{
	const struct tcphdr *th = tcp_hdr(skb);
	const u8 *option = synq_tcpopt_find((const u8 *)(th + 1),
					    (const u8 *)th + 4 * th->doff,
					    BIT(TCPOPT_TIMESTAMP));
	__be32 echoed;
	u32 sent;

	if (!option || option[1] != TCPOLEN_TIMESTAMP)
		return U64_MAX;
	memcpy(&echoed, option + 6, sizeof(echoed));
	sent = ntohl(echoed) - tcp_rsk(req)->ts_off;
	return (u64)((u32)div_u64(now_us, USEC_PER_MSEC) - sent) * USEC_PER_MSEC;
}

/**
 * synq_replay_rtt_us() - the round trip time, as the kernel would take it now
 * @req: request
 * @skb: the segment that answers its SYN-ACK
 * @now_ns: monotonic clock
 *
 * If the SYN-ACK was sent more than once, the client's time stamp tells which one it
 * answers.  Without time stamps it is taken for the last one.
 *
 * Return: microseconds
 */
u64 synq_replay_rtt_us(const struct request_sock *req, const struct sk_buff *skb,
		       u64 now_ns)
{
	u64 now_us = div_u64(now_ns, NSEC_PER_USEC);
	u64 since_us = now_us - min(now_us, tcp_rsk(req)->snt_synack), us;
	unsigned long last;

	if (!req->num_retrans)
		return since_us;
	us = stamped_us(req, skb, now_us);
	if (us <= since_us)
		return us;
	last = READ_ONCE(req->rsk_timer.expires) - (req->timeout << req->num_timeout);
	return min_t(u64, since_us, max_t(long, jiffies - last, 1) *
				    jiffies_to_msecs(1) * USEC_PER_MSEC);
}
