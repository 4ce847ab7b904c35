// SPDX-License-Identifier: GPL-2.0
/*
 * Answers a SYN in place of the listener that it is for: finds the way back,
 * puts a TCP header into a packet and sends it.  What is in the header is the
 * business of cookies (below); here is only the TCP reset.
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
#include <linux/log2.h>
#include <linux/math64.h>
#include <net/dst.h>
#include <net/inet_connection_sock.h>
#include <net/inet_ecn.h>
#include <net/inet_sock.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/sock.h>
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
 * answer_route() - find the way back to the sender of a SYN
 * @answer: filled in
 * @sk: listener
 * @syn: as conn_request() gets it
 * @is_v6: what it is
 *
 * Context: BH off, rcu_read_lock()
 * Return: false if there is no way, or it is not to be answered; else the caller
 * calls answer_send()
 */
static bool answer_route(struct synq_answer *answer, const struct sock *sk,
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
 * answer_send() - send an answer
 * @answer: with a route, whose reference is given back
 * @tcp: its TCP header
 *
 * Context: softirq, rcu_read_lock()
 * Return: false for want of memory
 */
static bool answer_send(struct synq_answer *answer, struct synq_answer_tcp *tcp)
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

	if (!answer_route(&answer, sk, syn, is_v6))
		return false;
	answer.tos = tos_of(syn, is_v6);
	tcp.th.rst = 1;
	tcp.th.ack = 1;
	tcp.th.ack_seq = htonl(TCP_SKB_CB(syn)->end_seq);
	if (!answer_send(&answer, &tcp))
		return false;
	TCP_INC_STATS(sock_net(sk), TCP_MIB_OUTRSTS);
	return true;
}

/*
 * Answers a SYN by a SYN cookie that the kernel itself will honour: no state is
 * kept here, and none is kept there.  At the final ACK the listener's own code
 * (net/ipv4/syncookies.c) checks it and makes the connection.
 *
 * DOC: what the kernel reads again
 *
 * sequence number	the hash and the client's MSS, rounded down to one of four or
 *			five: __cookie_v4_init_sequence() and its twin.
 * time stamp		in the lowest 6 bits what the client can do: window scaling
 *			(its shift), SACK, ECN.  Our clock, in ms and never ahead of
 *			it, plus the offset of the connection.  A client without
 *			time stamps is offered nothing but an MSS.
 *			Whether ECN is the accurate one it sees by the flags of the
 *			final ACK.
 * window scaling	of ours is nowhere in it: the kernel works it out again, by
 *			tcp_select_initial_window(), from the listener's
 *			buffer, the route and sysctls.  So do we, in the
 *			same way; no supported kernel but the oldest exports that.
 * listener		tcp_synq_overflow(): it believes cookies for two
 *			minutes after it (or its reuseport group) has sent one.
 *
 * The rest of the SYN-ACK is what the kernel's own cookie has, too, so that a
 * client cannot tell one from the other; selftests/cookie_fields.sh compares.
 *
 * DOC: what is not answered
 *
 * The caller treats these as it has to, as it does what answer.c leaves without an
 * answer: while tcp_syncookies is 0 or the accept queue is full the cookie would be of no
 * use.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(); no lock.
 */

/* The encoding of net/ipv4/syncookies.c, which has no header. */
#define TS_BITS		6
#define TS_NO_WSCALE	0xf
#define TS_SACK		BIT(4)
#define TS_ECN		BIT(5)

#define RESERVED_FLAGS	0x0f000000	/* of RFC 3168; one of them has a name now */

static void read_options(const struct sock *sk, const struct sk_buff *syn,
			 bool is_v6, struct tcp_options_received *opt)
{
	*opt = (struct tcp_options_received){
		.mss_clamp = is_v6 ? IPV6_MIN_MTU - sizeof(struct tcphdr) -
				     sizeof(struct ipv6hdr) : TCP_MSS_DEFAULT,
		.user_mss = READ_ONCE(tcp_sk(sk)->rx_opt.user_mss),
	};
	tcp_parse_options(sock_net(sk), syn, opt, 0, NULL);
	if (!opt->saw_tstamp || !SYNQ_HAS_TS_OFFSET)
		tcp_clear_options(opt);
}

static u32 sequence_of(const struct sk_buff *syn, bool is_v6, u16 mss)
{
	return is_v6 ? __cookie_v6_init_sequence(ipv6_hdr(syn), tcp_hdr(syn),
						 &mss) :
		       __cookie_v4_init_sequence(ip_hdr(syn), tcp_hdr(syn),
						 &mss);
}

static u8 ect_of(const struct sk_buff *syn, bool is_v6)
{
	return synq_answer_dsfield(syn, is_v6) & INET_ECN_MASK;
}

/* What is agreed on with a client. */
enum ecn {
	ECN_NONE,
	ECN_CLASSIC,	/* RFC 3168 */
	ECN_ACCURATE,	/* RFC 9768 */
};

/*
 * As tcp_ecn_create_request().  A SYN that is marked as capable is one of RFC 3168 only
 * if it has one of the flags that were reserved then.
 */
static enum ecn ecn_of(const struct sock *sk, const struct sk_buff *syn,
		       const struct dst_entry *dst, bool is_v6)
{
	const u32 by_route = dst_feature(dst, DST_FEATURE_ECN_MASK);
	const struct tcphdr *th = tcp_hdr(syn);

	if (synq_accepts_accecn(sk, th))
		return ECN_ACCURATE;
	if (!th->ece || !th->cwr)
		return ECN_NONE;
	if (tcp_ca_needs_ecn(sk) || by_route & DST_FEATURE_ECN_CA)
		return ECN_CLASSIC;
	if (!READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_ecn) && !by_route)
		return ECN_NONE;
	return ect_of(syn, is_v6) == INET_ECN_NOT_ECT ||
	       tcp_flag_word(th) & htonl(RESERVED_FLAGS) ? ECN_CLASSIC : ECN_NONE;
}

static u32 offset_of(const struct sock *sk, const struct sk_buff *syn,
		     bool is_v6)
{
	return is_v6 ? synq_ts_offset6(sock_net(sk), ipv6_hdr(syn),
				       tcp_hdr(syn)) :
		       synq_ts_offset4(sock_net(sk), ip_hdr(syn),
				       tcp_hdr(syn));
}

/* The clock, with the options in place of its lowest bits; never ahead. */
static u32 time_stamp(const struct tcp_options_received *opt, bool ecn)
{
	u64 now = div_u64(ktime_get_ns(), NSEC_PER_MSEC);
	u64 ts = now >> TS_BITS << TS_BITS;

	ts |= opt->wscale_ok ? opt->snd_wscale : TS_NO_WSCALE;
	if (opt->sack_ok)
		ts |= TS_SACK;
	if (ecn)
		ts |= TS_ECN;
	return ts > now ? ts - BIT(TS_BITS) : ts;
}

/**
 * struct synq_window - what the kernel offers a client first
 * @bytes: of the SYN-ACK, not scaled
 * @scale: shift of those to come
 */
struct synq_window {
	u32 bytes;
	u8 scale;
};

/* As tcp_select_initial_window() from tcp_openreq_init_rwin(). */
static struct synq_window window_of(const struct sock *sk,
				    const struct dst_entry *dst, u32 mss,
				    bool scales)
{
	const struct net *net = sock_net(sk);
	u32 space = max(tcp_full_space(sk), 0);
	u32 clamp = READ_ONCE(tcp_sk(sk)->window_clamp) ?:
		    dst_metric(dst, RTAX_WINDOW);
	u32 packets = dst_metric(dst, RTAX_INITRWND);
	struct synq_window window = { };

	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK && (clamp > space || !clamp))
		clamp = space;
	if (!clamp)
		clamp = U16_MAX << TCP_MAX_WSCALE;
	space = min(clamp, space);
	if (space > mss)
		space = rounddown(space, mss);
	window.bytes = space;
	if (READ_ONCE(net->ipv4.sysctl_tcp_workaround_signed_windows))
		window.bytes = min(window.bytes, MAX_TCP_WINDOW);
	if (packets)
		window.bytes = min(window.bytes, packets * mss);
	window.bytes = min_t(u32, window.bytes, U16_MAX);
	if (!scales)
		return window;
	space = max_t(u32, space, READ_ONCE(net->ipv4.sysctl_tcp_rmem[2]));
	space = max_t(u32, space, READ_ONCE(sysctl_rmem_max));
	space = min(space, clamp);
	if (space)
		window.scale = clamp_t(int, ilog2(space) - 15, 0,
				       TCP_MAX_WSCALE);
	return window;
}

static void add_option(struct synq_answer_tcp *tcp, u8 a, u8 b, u8 c, u8 d)
{
	tcp->option[tcp->options++] = htonl(a << 24 | b << 16 | c << 8 | d);
}

/* In the order and with the padding that tcp_options_write() gives them. */
static void write_options(struct synq_answer_tcp *tcp,
			  const struct tcp_options_received *opt, u16 mss,
			  u32 tsval, u8 scale, bool accecn)
{
	add_option(tcp, TCPOPT_MSS, TCPOLEN_MSS, mss >> 8, mss & 0xff);
	if (opt->saw_tstamp) {
		add_option(tcp, opt->sack_ok ? TCPOPT_SACK_PERM : TCPOPT_NOP,
			   opt->sack_ok ? TCPOLEN_SACK_PERM : TCPOPT_NOP,
			   TCPOPT_TIMESTAMP, TCPOLEN_TIMESTAMP);
		tcp->option[tcp->options++] = htonl(tsval);
		tcp->option[tcp->options++] = htonl(opt->rcv_tsval);
	}
	/* Nothing was received: three counters of 24 bits at 1, 0 and 1. */
	if (accecn) {
		add_option(tcp, TCPOPT_ACCECN1, 2 + 3 * 3, 0, 0);
		add_option(tcp, 1, 0, 0, 0);
		add_option(tcp, 0, 0, 1, TCPOPT_NOP);
	}
	if (opt->wscale_ok)
		add_option(tcp, TCPOPT_NOP, TCPOPT_WINDOW, TCPOLEN_WINDOW,
			   scale);
}

static void fill_in(struct synq_answer_tcp *tcp, const struct synq_answer *answer)
{
	const struct sock *sk = answer->sk;
	struct sk_buff *syn = answer->syn;
	u16 mss = tcp_mss_clamp(tcp_sk(sk),
				max_t(u32, dst_metric_advmss(answer->dst),
				      TCP_MIN_MSS));
	enum ecn ecn = ecn_of(sk, syn, answer->dst, answer->is_v6);
	struct tcp_options_received opt;
	struct synq_window window;

	read_options(sk, syn, answer->is_v6, &opt);
	if (!opt.saw_tstamp && ecn == ECN_CLASSIC)
		ecn = ECN_NONE;
	window = window_of(sk, answer->dst,
			   mss - (opt.saw_tstamp ? TCPOLEN_TSTAMP_ALIGNED : 0),
			   opt.wscale_ok);
	tcp->th.syn = 1;
	tcp->th.ack = 1;
	tcp->th.ece = ecn == ECN_CLASSIC;
	if (ecn == ECN_ACCURATE)
		synq_agree_to_accecn(&tcp->th, ect_of(syn, answer->is_v6));
	tcp->th.seq = htonl(sequence_of(syn, answer->is_v6, opt.mss_clamp));
	tcp->th.ack_seq = htonl(ntohl(tcp_hdr(syn)->seq) + 1);
	tcp->th.window = htons(window.bytes);
	write_options(tcp, &opt, mss,
		      time_stamp(&opt, ecn != ECN_NONE) +
		      offset_of(sk, syn, answer->is_v6), window.scale,
		      ecn == ECN_ACCURATE &&
		      synq_sends_accecn_option(sock_net(sk)));
}

/**
 * synq_cookie_send() - answer a SYN by a SYN cookie
 * @sk: listener
 * @syn: as conn_request() gets it; not of an MPTCP subflow, whose cookie would make
 *	another connection, nor one that follows TIME_WAIT
 * @is_v6: what it is
 *
 * Context: softirq, rcu_read_lock()
 * Return: false if none can be sent, or none should be (see above)
 */
bool synq_cookie_send(const struct sock *sk, struct sk_buff *syn, bool is_v6)
{
	struct net *net = sock_net(sk);
	struct synq_answer_tcp tcp = { };
	struct synq_answer answer;

	if (!READ_ONCE(net->ipv4.sysctl_tcp_syncookies) ||
	    sk_acceptq_is_full(sk) ||
	    !answer_route(&answer, sk, syn, is_v6))
		return false;
	fill_in(&tcp, &answer);
	/* Before the answer is out, and the client's can come. */
	tcp_synq_overflow(sk);
	if (!answer_send(&answer, &tcp))
		return false;
	NET_INC_STATS(net, LINUX_MIB_SYNCOOKIESSENT);
	return true;
}
