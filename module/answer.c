// SPDX-License-Identifier: GPL-2.0
/*
 * Answers a SYN in place of the listener that it is for: finds the way back,
 * puts a TCP header into a packet and sends it.  What is in the header is the
 * business of who asks (cookie.c); here is only the TCP reset.
 *
 * Everything is as the stack does it for the listener's own SYN-ACK: the route
 * by the listener's device, mark, TOS and user, or by the SYN's where sysctls
 * say so (tcp_fwmark_accept, tcp_l3mdev_accept, tcp_reflect_tos); TTL, TOS, DF,
 * flow label and priority of the listener.  A reset has the TOS of the SYN, as
 * that from a closed port.
 *
 * The stack has found the SYN to be welcome: its TTL, IPsec policy and signature are
 * checked before its listener is asked (listener.c).  The packet's device and conntrack
 * entry are not known any more then; the answer belongs to the SYN's entry, which is
 * confirmed, as the stack's own does.
 *
 * DOC: what is not answered
 *
 * A SYN that is signed (TCP-MD5, TCP-AO), and any SYN to a listener that has a key.  A peer
 * that has a key wants a signed answer, and only the stack can sign.  To look up the
 * peers of the keys would tell a few more SYNs apart, but no kernel exports that for
 * TCP-AO.
 *
 * The way back is looked up with the policy of IPsec for what leaves: where that
 * wants protection the answer is protected as the stack's own, or not sent.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(); no lock.
 */
#include <linux/bits.h>
#include <net/dst.h>
#include <net/inet_ecn.h>
#include <net/inet_sock.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/tcp.h>
#include "answer.h"
#include "compat.h"
#include "tcpopt.h"

static struct dst_entry *route4(struct synq_answer *answer)
{
	const struct iphdr *iph = ip_hdr(answer->syn);
	const struct tcphdr *th = tcp_hdr(answer->syn);
	const struct sock *sk = answer->sk;
	struct flowi4 *fl4 = &answer->fl.u.ip4;
	struct rtable *rt;

	flowi4_init_output(fl4, inet_request_bound_dev_if(sk, answer->syn),
			   answer->mark, ip_sock_rt_tos(sk),
			   ip_sock_rt_scope(sk), IPPROTO_TCP,
			   inet_sk_flowi_flags(sk), iph->saddr, iph->daddr,
			   th->source, th->dest, synq_sk_uid(sk));
	rt = ip_route_output_flow(sock_net(sk), fl4, sk);
	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

static struct dst_entry *route6(struct synq_answer *answer)
{
	const struct ipv6hdr *ip6h = ipv6_hdr(answer->syn);
	const struct tcphdr *th = tcp_hdr(answer->syn);
	const struct sock *sk = answer->sk;
	struct flowi6 *fl6 = &answer->fl.u.ip6;

	fl6->flowi6_proto = IPPROTO_TCP;
	fl6->daddr = ip6h->saddr;
	fl6->saddr = ip6h->daddr;
	fl6->flowi6_oif = inet_request_bound_dev_if(sk, answer->syn);
	/* So that link-local addresses have a meaning. */
	if ((!READ_ONCE(sk->sk_bound_dev_if) ||
	     ipv6_l3mdev_skb(TCP_SKB_CB(answer->syn)->header.h6.flags)) &&
	    ipv6_addr_type(&ip6h->saddr) & IPV6_ADDR_LINKLOCAL)
		fl6->flowi6_oif = tcp_v6_iif(answer->syn);
	fl6->flowi6_mark = answer->mark;
	fl6->fl6_dport = th->source;
	fl6->fl6_sport = th->dest;
	fl6->flowi6_uid = synq_sk_uid(sk);
	return ip6_dst_lookup_flow(sock_net(sk), sk, fl6, NULL);
}

/* Without its bits for ECN. */
static u8 tos_of(const struct sk_buff *syn, bool is_v6)
{
	return synq_answer_dsfield(syn, is_v6) & ~INET_ECN_MASK;
}

static bool has_keys(const struct sock *sk)
{
#ifdef CONFIG_TCP_MD5SIG
	if (rcu_access_pointer(tcp_sk(sk)->md5sig_info))
		return true;
#endif
#ifdef CONFIG_TCP_AO
	if (rcu_access_pointer(tcp_sk(sk)->ao_info))
		return true;
#endif
	return false;
}

static bool is_signed(const struct sk_buff *syn)
{
	const struct tcphdr *th = tcp_hdr(syn);

	return synq_tcpopt_find((const u8 *)(th + 1),
				(const u8 *)th + 4 * th->doff,
				BIT(TCPOPT_MD5SIG) | BIT(TCPOPT_AO));
}

/* See "what is not answered".  Of a reuseport group another may have the key. */
static bool wants_signature(const struct sock *sk, const struct sk_buff *syn)
{
	return has_keys(sk) || is_signed(syn);
}

/**
 * synq_answer_route() - find the way back to who sent a SYN
 * @answer: filled in
 * @sk: listener
 * @syn: as conn_request() gets it
 * @is_v6: what it is
 *
 * Context: BH off, rcu_read_lock()
 * Return: false if there is no way, or it is not to be answered; else the caller
 * calls synq_answer_send()
 */
bool synq_answer_route(struct synq_answer *answer, const struct sock *sk,
		       struct sk_buff *syn, bool is_v6)
{
	*answer = (struct synq_answer){
		.sk = sk,
		.syn = syn,
		.mark = inet_request_mark(sk, syn),
		.tos = is_v6 ? inet6_sk(sk)->tclass : READ_ONCE(inet_sk(sk)->tos),
		.is_v6 = is_v6,
	};
	if (READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_reflect_tos))
		answer->tos = tos_of(syn, is_v6) | (answer->tos & INET_ECN_MASK);
	/* The listener's own extension headers could contain another way. */
	if (wants_signature(sk, syn) ||
	    (is_v6 && rcu_access_pointer(inet6_sk(sk)->opt)))
		return false;
	answer->dst = is_v6 ? route6(answer) : route4(answer);
	return !IS_ERR(answer->dst);
}

static void send4(const struct synq_answer *answer, struct sk_buff *skb)
{
	const struct iphdr *in = ip_hdr(answer->syn);
	const struct sock *sk = answer->sk;
	int ttl = READ_ONCE(inet_sk(sk)->uc_ttl);
	struct tcphdr *th = tcp_hdr(skb);
	struct iphdr *iph;

	th->check = ~tcp_v4_check(skb->len, in->daddr, in->saddr, 0);
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct tcphdr, check);
	iph = skb_push(skb, sizeof(*iph));
	skb_reset_network_header(skb);
	/* Too small to be fragmented: it needs no ID, see ip_build_and_send_pkt(). */
	*iph = (struct iphdr){
		.version = 4,
		.ihl = sizeof(*iph) / 4,
		.tos = answer->tos,
		.frag_off = htons(IP_DF),
		.ttl = ttl < 0 ? ip4_dst_hoplimit(answer->dst) : ttl,
		.protocol = IPPROTO_TCP,
		.saddr = in->daddr,
		.daddr = in->saddr,
	};
	skb->mark = answer->mark;
	skb->priority = READ_ONCE(sk->sk_priority);
	ip_local_out(sock_net(sk), NULL, skb);
}

static void send6(struct synq_answer *answer, struct sk_buff *skb)
{
	const struct ipv6hdr *in = ipv6_hdr(answer->syn);
	struct flowi6 *fl6 = &answer->fl.u.ip6;
	const struct sock *sk = answer->sk;

	__tcp_v6_send_check(skb, &in->daddr, &in->saddr);
	if (synq_reflects_flowlabel(sk))
		fl6->flowlabel = ip6_flowlabel(in);
	ip6_xmit(sk, skb, fl6, answer->mark, NULL, answer->tos,
		 READ_ONCE(sk->sk_priority));
}

/**
 * synq_answer_send() - send an answer
 * @answer: with a route, whose reference is given back
 * @tcp: its TCP header
 *
 * Context: softirq, rcu_read_lock()
 * Return: false for want of memory
 */
bool synq_answer_send(struct synq_answer *answer, struct synq_answer_tcp *tcp)
{
	unsigned int len = sizeof(tcp->th) + 4 * tcp->options;
	const struct tcphdr *syn = tcp_hdr(answer->syn);
	struct sk_buff *skb = alloc_skb(MAX_TCP_HEADER, GFP_ATOMIC);

	if (!skb) {
		dst_release(answer->dst);
		return false;
	}
	tcp->th.source = syn->dest;
	tcp->th.dest = syn->source;
	tcp->th.doff = len / 4;
	skb_reserve(skb, MAX_TCP_HEADER);
	skb_dst_set(skb, answer->dst);
	memcpy(skb_push(skb, len), tcp, len);
	skb_reset_transport_header(skb);
	skb->ip_summed = CHECKSUM_PARTIAL;
	TCP_INC_STATS(sock_net(answer->sk), TCP_MIB_OUTSEGS);
	if (answer->is_v6)
		send6(answer, skb);
	else
		send4(answer, skb);
	return true;
}

/**
 * synq_answer_reset() - answer a SYN by a TCP reset
 * @sk: listener
 * @syn: as conn_request() gets it
 * @is_v6: what it is
 *
 * Context: BH off, rcu_read_lock()
 * Return: false if it could not be sent, or should not be (see above)
 */
bool synq_answer_reset(const struct sock *sk, struct sk_buff *syn, bool is_v6)
{
	struct synq_answer_tcp tcp = { };
	struct synq_answer answer;

	if (!synq_answer_route(&answer, sk, syn, is_v6))
		return false;
	answer.tos = tos_of(syn, is_v6);
	tcp.th.rst = 1;
	tcp.th.ack = 1;
	tcp.th.ack_seq = htonl(TCP_SKB_CB(syn)->end_seq);
	if (!synq_answer_send(&answer, &tcp))
		return false;
	TCP_INC_STATS(sock_net(sk), TCP_MIB_OUTRSTS);
	return true;
}
