/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the supported kernels, Linux 6.1 to 7.3.  The only file
 * that knows them.  Stable kernels backport changes of signatures, so nothing
 * here asks for a version: module/Kbuild probes the headers and defines
 * SYNQ_HAVE_* by feature.
 */
#ifndef _SYNQ_COMPAT_H
#define _SYNQ_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>
#include <net/genetlink.h>
#include <net/inet_hashtables.h>
#include <net/inet6_hashtables.h>
#include <net/ipv6.h>
#include <net/secure_seq.h>
#include <net/tcp.h>
#ifdef SYNQ_HAVE_ACCECN
#include <net/tcp_ecn.h>
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "synq needs Linux 6.1 or later"
#endif

/*
 * syn_recv_sock() got a seventh argument, opt_child_init, in 6.19 and in
 * stable kernels: declare and forward "the rest" by these two.
 */
#ifdef SYNQ_HAVE_OPT_CHILD_INIT
#define SYNQ_SYN_RECV_REST_DECL \
	, void (*opt_child_init)(struct sock *newsk, const struct sock *sk)
#define SYNQ_SYN_RECV_REST	, opt_child_init
#else
#define SYNQ_SYN_RECV_REST_DECL
#define SYNQ_SYN_RECV_REST
#endif

/* The lookups lost their hash table argument in 6.18. */
#ifdef SYNQ_HAVE_LOOKUP_HASHINFO
#define SYNQ_HASHINFO(net)	(net)->ipv4.tcp_death_row.hashinfo,
#else
#define SYNQ_HASHINFO(net)
#endif

static inline struct sock *
synq_lookup_listener4(struct net *net, __be32 saddr, __be16 sport,
		      __be32 daddr, u16 hnum, int dif, int sdif)
{
	return __inet_lookup_listener(net, SYNQ_HASHINFO(net) NULL, 0, saddr,
				      sport, daddr, hnum, dif, sdif);
}

static inline struct sock *
synq_lookup_listener6(struct net *net, const struct in6_addr *saddr,
		      __be16 sport, const struct in6_addr *daddr, u16 hnum,
		      int dif, int sdif)
{
	return inet6_lookup_listener(net, SYNQ_HASHINFO(net) NULL, 0, saddr,
				     sport, daddr, hnum, dif, sdif);
}

static inline struct sock *
synq_lookup_established4(struct net *net, __be32 saddr, __be16 sport,
			 __be32 daddr, u16 hnum, int dif, int sdif)
{
	return __inet_lookup_established(net, SYNQ_HASHINFO(net) saddr, sport,
					 daddr, hnum, dif, sdif);
}

static inline struct sock *
synq_lookup_established6(struct net *net, const struct in6_addr *saddr,
			 __be16 sport, const struct in6_addr *daddr, u16 hnum,
			 int dif, int sdif)
{
	return __inet6_lookup_established(net, SYNQ_HASHINFO(net) saddr, sport,
					  daddr, hnum, dif, sdif);
}

/* A timer in softirq.  In one call since 6.13. */
static inline void
synq_hrtimer_setup(struct hrtimer *timer,
		   enum hrtimer_restart (*function)(struct hrtimer *timer))
{
#ifdef SYNQ_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	timer->function = function;
#endif
}

/* The owner of a socket, a function since 6.17. */
static inline kuid_t synq_sk_uid(const struct sock *sk)
{
#ifdef SYNQ_HAVE_SK_UID
	return sk_uid(sk);
#else
	return sk->sk_uid;
#endif
}

/* Does a listener answer with the flow label of the SYN?  A bit field until 6.7. */
static inline bool synq_reflects_flowlabel(const struct sock *sk)
{
#ifdef SYNQ_HAVE_INET_REPFLOW
	return inet6_test_bit(REPFLOW, sk);
#else
	return inet6_sk(sk)->repflow;
#endif
}

/* TCP-AO has a name since 6.7, where it is supported. */
#ifndef TCPOPT_AO
#define TCPOPT_AO	29
#endif

/*
 * What is added to the time stamps of a connection, our side first.  Exported
 * since 7.0 and in stable kernels; elsewhere a cookie has no time stamp.
 */
#ifdef SYNQ_HAVE_SEQ_AND_TS_OFF
#define SYNQ_HAS_TS_OFFSET	true
#else
#define SYNQ_HAS_TS_OFFSET	false
#endif

static inline u32 synq_ts_offset4(const struct net *net,
				  const struct iphdr *iph,
				  const struct tcphdr *th)
{
#ifdef SYNQ_HAVE_SEQ_AND_TS_OFF
	return secure_tcp_seq_and_ts_off(net, iph->daddr, iph->saddr, th->dest,
					 th->source).ts_off;
#else
	return 0;
#endif
}

static inline u32 synq_ts_offset6(const struct net *net,
				  const struct ipv6hdr *ip6h,
				  const struct tcphdr *th)
{
#ifdef SYNQ_HAVE_SEQ_AND_TS_OFF
	return secure_tcpv6_seq_and_ts_off(net, ip6h->daddr.s6_addr32,
					   ip6h->saddr.s6_addr32, th->dest,
					   th->source).ts_off;
#else
	return 0;
#endif
}

/* Accurate ECN (RFC 9768), to which newer kernels can be told to agree. */
#ifndef TCPOPT_ACCECN1
#define TCPOPT_ACCECN1	174
#endif

/* Does a listener agree to it, if a SYN asks for it? */
static inline bool synq_accepts_accecn(const struct sock *sk,
				       const struct tcphdr *syn)
{
#ifdef SYNQ_HAVE_ACCECN
	return tcp_accecn_syn_requested(syn) &&
	       (READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_ecn) >=
		TCP_ECN_IN_ACCECN_OUT_ACCECN || tcp_ca_needs_accecn(sk));
#else
	return false;
#endif
}

static inline bool synq_sends_accecn_option(const struct net *net)
{
#ifdef SYNQ_HAVE_ACCECN
	return READ_ONCE(net->ipv4.sysctl_tcp_ecn_option);
#else
	return false;
#endif
}

/* That accurate ECN seems not to get through, since SYN-ACKs were sent again. */
static inline u8 synq_accecn_fail_mode(const struct request_sock *req)
{
#ifdef SYNQ_HAVE_ACCECN_FAIL_MODE
	return tcp_rsk(req)->accecn_fail_mode;
#else
	return 0;
#endif
}

static inline void synq_set_accecn_fail_mode(struct request_sock *req, u8 mode)
{
#ifdef SYNQ_HAVE_ACCECN_FAIL_MODE
	tcp_rsk(req)->accecn_fail_mode = mode;
#endif
}

/* The flags of a SYN-ACK by the ECN bits of the SYN. */
static inline void synq_agree_to_accecn(struct tcphdr *th, u8 bits)
{
#ifdef SYNQ_HAVE_ACCECN
	tcp_accecn_echo_syn_ect(th, bits);
#endif
}

/*
 * A SYN that follows TIME_WAIT has the sequence number of its SYN-ACK in its control
 * block.  Kernels that have it in a variable of the CPU are not among ours.
 */
static inline bool synq_has_isn(const struct sk_buff *syn)
{
#ifdef SYNQ_HAVE_TW_ISN
	return TCP_SKB_CB(syn)->tcp_tw_isn;
#else
	return __this_cpu_read(tcp_tw_isn);
#endif
}

/*
 * struct genl_split_ops came in 6.2.  Where it is missing, the generated table
 * is converted once, at module load, into the struct genl_ops of old.
 */
#ifdef SYNQ_HAVE_GENL_SPLIT_OPS
#define SYNQ_GENL_OPS(table)	\
	.split_ops = (table), .n_split_ops = ARRAY_SIZE(table)
#define SYNQ_PRE_DOIT_OPS	const struct genl_split_ops

static inline void synq_genl_ops_init(const struct genl_split_ops *split,
				      size_t n)
{
}
#else
struct genl_split_ops {
	int (*doit)(struct sk_buff *skb, struct genl_info *info);
	int (*dumpit)(struct sk_buff *skb, struct netlink_callback *cb);
	const struct nla_policy *policy;
	unsigned int maxattr;
	u8 cmd;
	u8 internal_flags;
	u8 flags;
	u8 validate;
};

#define SYNQ_GENL_OPS_MAX	32
extern struct genl_ops synq_genl_ops[SYNQ_GENL_OPS_MAX];	/* netlink.c */
#define SYNQ_GENL_OPS(table)	\
	.ops = synq_genl_ops, .n_ops = ARRAY_SIZE(table)
#define SYNQ_PRE_DOIT_OPS	const struct genl_ops

/* No operation of synq has both a do and a dump: one entry gives one. */
static inline void synq_genl_ops_init(const struct genl_split_ops *split,
				      size_t n)
{
	size_t i;

	for (i = 0; i < n && i < SYNQ_GENL_OPS_MAX; i++) {
		synq_genl_ops[i].cmd = split[i].cmd;
		synq_genl_ops[i].doit = split[i].doit;
		synq_genl_ops[i].dumpit = split[i].dumpit;
		synq_genl_ops[i].policy = split[i].policy;
		synq_genl_ops[i].maxattr = split[i].maxattr;
		synq_genl_ops[i].flags = split[i].flags;
		synq_genl_ops[i].validate = split[i].validate;
	}
}
#endif

/* What a dump's request asks for moved in 6.6. */
static inline struct nlattr **synq_dump_attrs(struct netlink_callback *cb)
{
#ifdef SYNQ_HAVE_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

/* The namespace of what we export: a string since 6.13. */
#ifdef SYNQ_HAVE_NAMESPACE_STRING
#define SYNQ_NAMESPACE	"SYNQ"
#else
#define SYNQ_NAMESPACE	SYNQ
#endif

/* Until 6.2 a policy could not point to a constant range. */
#ifndef SYNQ_HAVE_NLA_CONST_RANGE
#undef NLA_POLICY_FULL_RANGE
#define NLA_POLICY_FULL_RANGE(tp, r) {				\
	.type = NLA_ENSURE_UINT_OR_BINARY_TYPE(tp),		\
	.validation_type = NLA_VALIDATE_RANGE_PTR,		\
	.range = (struct netlink_range_validation *)(r),	\
}
#endif

#endif /* _SYNQ_COMPAT_H */
