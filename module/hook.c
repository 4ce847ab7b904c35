// SPDX-License-Identifier: GPL-2.0
/*
 * netfilter's hooks.  Only this file knows their verdicts.  It reads IP headers, and finds
 * the TCP header.
 *
 * PREROUTING	after nft's and iptables' raw chains (which may mark) and before conntrack
 *		(so that a refused SYN costs no entry): SYNs that their listener would
 *		refuse are dropped, others get marks (peek.c).
 * LOCAL_IN	after the host's firewall: finds the listener of a SYN.  An unmanaged
 *		listener is managed from then on (listener.c), so that its very first SYN is
 *		judged.  NAT has rewritten the SYN by now, and TPROXY has chosen its socket.
 *		Also, last of all, packets of connections that are followed (inside.c).
 * LOCAL_OUT	packets that those send.
 * FORWARD	SYNs for the destinations of other hosts that are named (conf->forward) are
 *		policed (judge.c), after the firewall, and after the destination was
 *		rewritten.  Fragments pass unless conntrack has reassembled them.
 *
 * Each is registered per network namespace, and only while it has a configured listener,
 * or destinations that it forwards to.
 *
 * The hooks run in softirq, or process context (NFQUEUE), under rcu_read_lock(), with no
 * lock; what registers them in process context, with &synq_net.lock held.
 */
#include <linux/ipv6.h>
#include <linux/lockdep.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/notifier.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/tcp.h>
#include "conf.h"
#include "hook.h"
#include "inside.h"
#include "judge.h"
#include "listener.h"
#include "peek.h"
#include "record.h"

/* --- packets --- */

/*
 * What comes in through a VRF passes twice; the second time skb->dev is the
 * VRF itself, which the socket lookups want.
 */
static bool is_to_be_judged(const struct sk_buff *skb)
{
	return skb->pkt_type == PACKET_HOST && !netif_is_l3_slave(skb->dev);
}

static bool is_whole4(const struct sk_buff *skb)
{
	return !ip_is_fragment(ip_hdr(skb)) && is_to_be_judged(skb);
}

static bool is_syn(const struct tcphdr *th)
{
	return th->syn && !th->ack && !th->rst && !th->fin;
}

static bool is_linear(const struct sk_buff *skb, unsigned int thoff)
{
	return skb_headlen(skb) >= thoff + sizeof(struct tcphdr);
}

static const void *tcp_at(const struct sk_buff *skb, unsigned int thoff)
{
	return skb->data + thoff;
}

/* If it is not sure: true.  What begins like a SYN may be the middle of a fragment. */
static bool may_be_syn(const struct sk_buff *skb, unsigned int thoff)
{
	const struct tcphdr *th = tcp_at(skb, thoff);

	return !is_linear(skb, thoff) || (th->syn && !th->ack);
}

/* Where TCP's header is, from skb->data on, if it is the first behind IP's. */
static unsigned int behind_ip6(const struct sk_buff *skb)
{
	return skb_network_offset(skb) + sizeof(struct ipv6hdr);
}

/* Behind other headers; 0: there is none, or not in this fragment. */
static noinline unsigned int find_tcp6(const struct sk_buff *skb)
{
	unsigned short frag_off = 0;
	unsigned int thoff = 0;
	int flags = 0;

	return ipv6_find_hdr(skb, &thoff, -1, &frag_off, &flags) ==
	       IPPROTO_TCP && !frag_off ? thoff : 0;
}

/* Nearly always there is nothing between. */
static __always_inline unsigned int tcp6(const struct sk_buff *skb)
{
	return likely(ipv6_hdr(skb)->nexthdr == IPPROTO_TCP) ? behind_ip6(skb) :
							       find_tcp6(skb);
}

static bool is_first_fragment(const struct sk_buff *skb, bool is_v6,
			      unsigned int thoff)
{
	unsigned int at = 0;

	return is_v6 && thoff != behind_ip6(skb) &&
	       ipv6_find_hdr(skb, &at, NEXTHDR_FRAGMENT, NULL, NULL) ==
	       NEXTHDR_FRAGMENT;
}

/* --- PREROUTING --- */

/* Rare: once more, with the header in reach. */
static noinline unsigned int pull(void *priv, struct sk_buff *skb, unsigned int thoff,
				  const struct nf_hook_state *state, nf_hookfn *hook)
{
	return pskb_may_pull(skb, thoff + sizeof(struct tcphdr)) ?
	       hook(priv, skb, state) : NF_ACCEPT;
}

/* Most packets are no SYNs, and nothing else is tested. */
static unsigned int prerouting4(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	const struct synq_conf *conf = synq_conf_active(priv);
	unsigned int thoff;

	if (!conf || ip_hdr(skb)->protocol != IPPROTO_TCP)
		return NF_ACCEPT;
	thoff = ip_hdrlen(skb);
	if (unlikely(!is_linear(skb, thoff)))
		return pull(priv, skb, thoff, state, prerouting4);
	return is_syn(tcp_at(skb, thoff)) && is_whole4(skb) &&
	       !synq_peek4(priv, conf, skb, thoff) ? NF_DROP : NF_ACCEPT;
}

static unsigned int prerouting6(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state);

static __always_inline unsigned int peek6(void *priv, const struct synq_conf *conf,
					  struct sk_buff *skb, unsigned int thoff,
					  const struct nf_hook_state *state)
{
	if (unlikely(!is_linear(skb, thoff)))
		return pull(priv, skb, thoff, state, prerouting6);
	return is_syn(tcp_at(skb, thoff)) && is_to_be_judged(skb) &&
	       !synq_peek6(priv, conf, skb, thoff) ? NF_DROP : NF_ACCEPT;
}

/* Behind extension headers.  Not inline, since it has to save registers. */
static noinline unsigned int peek6_far(void *priv, const struct synq_conf *conf,
				       struct sk_buff *skb,
				       const struct nf_hook_state *state)
{
	unsigned int thoff = find_tcp6(skb);

	return thoff ? peek6(priv, conf, skb, thoff, state) : NF_ACCEPT;
}

static unsigned int prerouting6(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	const struct synq_conf *conf = synq_conf_active(priv);

	if (!conf)
		return NF_ACCEPT;
	return likely(ipv6_hdr(skb)->nexthdr == IPPROTO_TCP) ?
	       peek6(priv, conf, skb, behind_ip6(skb), state) :
	       peek6_far(priv, conf, skb, state);
}

/* --- LOCAL_IN and FORWARD --- */

/*
 * A SYN that the stack drops before it looks up a listener, or right after:
 * its header is not all there, or it has flags that no SYN has.  Of a fragment
 * the rest may come.
 */
static bool is_malformed(const struct sk_buff *skb, unsigned int thoff,
			 const struct tcphdr *th, bool is_fragment)
{
	if (!th->syn || th->ack)
		return false;
	return th->rst || th->fin || th->doff < sizeof(*th) / 4 ||
	       (thoff + 4 * th->doff > skb->len && !is_fragment);
}

/* Set by TPROXY, or by a program of tc's; early demux sets no listener. */
static struct sock *assigned_listener(const struct sk_buff *skb)
{
	struct sock *sk = skb->sk;

	return sk && READ_ONCE(sk->__sk_common.skc_state) == TCP_LISTEN ?
	       sk : NULL;
}

static bool has_lookup_program(const struct net *net)
{
	return rcu_access_pointer(net->bpf.run_array[NETNS_BPF_SK_LOOKUP]);
}

/* A rule or a program may give it to a socket of another port. */
static bool is_for_us(const struct synq_net *sn, const struct synq_conf *conf,
		      const struct sk_buff *skb, const struct tcphdr *th)
{
	return synq_conf_port(conf, ntohs(th->dest)) || assigned_listener(skb) ||
	       has_lookup_program(sn->net);
}

/* Counts what is no SYN for the stack, though it looks like one, where it is for us. */
static bool read_syn(struct synq_net *sn, const struct synq_conf *conf,
		     const struct sk_buff *skb, unsigned int thoff, bool is_v6,
		     unsigned int hook, struct synq_segment *seg)
{
	bool is_fragment = is_first_fragment(skb, is_v6, thoff);
	bool is_local = hook == NF_INET_LOCAL_IN;
	const struct tcphdr *th;
	struct tcphdr buf;

	th = skb_header_pointer(skb, thoff, sizeof(buf), &buf);
	if (!th) {
		if (is_local)
			atomic64_inc(is_fragment ? &sn->fragments :
						   &sn->malformed);
		return false;
	}
	if (is_local && !is_for_us(sn, conf, skb, th))
		return false;
	if (is_malformed(skb, thoff, th, is_fragment)) {
		if (is_local)
			atomic64_inc(&sn->malformed);
		return false;
	}
	if (!is_syn(th))
		return false;
	synq_segment_read(seg, sn->net, skb, th, is_v6);
	seg->dif = skb->dev->ifindex;
	if (netif_is_l3_master(skb->dev))
		seg->sdif = is_v6 ? inet6_sdif(skb) : inet_sdif(skb);
	return true;
}

/* Was the destination of a SYN rewritten?  Without conntrack there is no NAT. */
static bool is_rewritten(const struct sk_buff *skb)
{
	enum ip_conntrack_info ctinfo;
	const struct nf_conn *ct = nf_ct_get(skb, &ctinfo);

	return ct && ct->status & IPS_DST_NAT;
}

/*
 * Sockets of the kernel itself are left alone.  A socket that was found may be closed
 * meanwhile on another CPU: it stays until a grace period is over, but has no port any
 * more.
 */
static bool is_configured(const struct synq_conf *conf, const struct sock *sk)
{
	return sk->sk_net_refcnt &&
	       synq_conf_listener(conf, READ_ONCE(inet_sk(sk)->inet_num));
}

/* Finds the listener of a SYN, and attaches to it if it is not managed. */
static void seek(struct synq_net *sn, const struct synq_conf *conf,
		 const struct sk_buff *skb, const struct synq_segment *seg)
{
	struct sock *sk = assigned_listener(skb);
	bool is_chosen = sk || has_lookup_program(sn->net) || is_rewritten(skb);
	const struct synq_note *note = synq_standing_find(conf, seg);

	/* Another SYN has been there just now. */
	if (!is_chosen && note && note->port && !note->is_group)
		return;
	if (!sk)
		sk = synq_segment_listener(sn->net, seg);
	if (!sk) {
		atomic64_inc(&sn->no_listener);
		return;
	}
	if (!is_configured(conf, sk))
		return;
	if (!synq_record_find(sk))
		synq_listener_attach(sn, conf, sk);
	if (!is_chosen && !note)
		synq_standing_open(conf, seg, sk);
}

static bool is_forwarded(const struct synq_conf *conf,
			 const struct synq_client *client)
{
	const struct synq_service_ask ask = {
		.to = client->daddr,
		.port = ntohs(client->dport),
		.is_v6 = client->is_v6,
	};
	unsigned int i;

	for (i = 0; i < conf->n_forwards; i++)
		if (synq_service_is_to(&conf->forward[i], &ask))
			return true;
	return false;
}

static noinline unsigned int look(struct synq_net *sn, const struct synq_conf *conf,
				  struct sk_buff *skb, unsigned int thoff,
				  bool is_v6, unsigned int hook)
{
	struct synq_segment seg = { };

	if (!read_syn(sn, conf, skb, thoff, is_v6, hook, &seg))
		return NF_ACCEPT;
	if (hook == NF_INET_LOCAL_IN) {
		seek(sn, conf, skb, &seg);
		return NF_ACCEPT;
	}
	return !is_forwarded(conf, &seg.client) ||
	       synq_judge_forwarded(sn, conf, skb, &seg) ? NF_ACCEPT : NF_DROP;
}

static unsigned int hook4(void *priv, struct sk_buff *skb,
			  const struct nf_hook_state *state)
{
	const struct synq_conf *conf = synq_conf_active(priv);

	if (!conf || ip_hdr(skb)->protocol != IPPROTO_TCP ||
	    !may_be_syn(skb, ip_hdrlen(skb)) || !is_whole4(skb))
		return NF_ACCEPT;
	return look(priv, conf, skb, ip_hdrlen(skb), false, state->hook);
}

static unsigned int hook6(void *priv, struct sk_buff *skb,
			  const struct nf_hook_state *state)
{
	const struct synq_conf *conf = synq_conf_active(priv);
	unsigned int thoff = conf ? tcp6(skb) : 0;

	if (!thoff || !may_be_syn(skb, thoff) || !is_to_be_judged(skb))
		return NF_ACCEPT;
	return look(priv, conf, skb, thoff, true, state->hook);
}

/* --- what a server works on --- */

/* Conntrack has to see it, or to change it, which it does after us. */
static bool is_for_conntrack(const struct sk_buff *skb)
{
	enum ip_conntrack_info ctinfo;
	const struct nf_conn *ct = nf_ct_get(skb, &ctinfo);

	return ct && (ct->status & (IPS_CONFIRMED | IPS_HELPER | IPS_SEQ_ADJUST)) !=
		     IPS_CONFIRMED;
}

static unsigned int come(struct synq_net *sn, const struct synq_conf *conf,
			 struct sk_buff *skb, unsigned int thoff, bool is_v6,
			 const struct nf_hook_state *state)
{
	const struct tcphdr *th;
	struct tcphdr buf;

	th = skb_header_pointer(skb, thoff, sizeof(buf), &buf);
	if (!th || !synq_seen_is_wanted(conf, th->dest) ||
	    !synq_seen_in(sn->net, skb, th, synq_seen_length(skb, thoff, th), is_v6,
			  is_for_conntrack(skb) ? NULL : state->okfn))
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

static unsigned int come4(void *priv, struct sk_buff *skb,
			  const struct nf_hook_state *state)
{
	const struct synq_conf *conf = synq_conf_active(priv);

	if (!conf || ip_hdr(skb)->protocol != IPPROTO_TCP || !is_whole4(skb))
		return NF_ACCEPT;
	return come(priv, conf, skb, ip_hdrlen(skb), false, state);
}

static unsigned int come6(void *priv, struct sk_buff *skb,
			  const struct nf_hook_state *state)
{
	const struct synq_conf *conf = synq_conf_active(priv);
	unsigned int thoff = conf ? tcp6(skb) : 0;

	if (!thoff || !is_to_be_judged(skb))
		return NF_ACCEPT;
	return come(priv, conf, skb, thoff, true, state);
}

/*
 * Not what a raw socket sends, nor TCP's own for resets; nor what has been a connection's, and
 * is in a tunnel now.
 */
static bool is_of_connection(const struct sk_buff *skb, bool is_v6)
{
	const struct sock *sk = skb->sk;

	return sk && sk_fullsock(sk) && sk->sk_type == SOCK_STREAM &&
	       sk->sk_protocol == IPPROTO_TCP &&
	       (is_v6 ? ipv6_hdr(skb)->nexthdr : ip_hdr(skb)->protocol) == IPPROTO_TCP &&
	       skb_headlen(skb) >= skb_transport_offset(skb) + sizeof(struct tcphdr);
}

static unsigned int leave(void *priv, struct sk_buff *skb, bool is_v6)
{
	const struct synq_conf *conf = synq_conf_active(priv);
	struct synq_net *sn = priv;

	if (conf && is_of_connection(skb, is_v6) &&
	    synq_seen_is_wanted(conf, tcp_hdr(skb)->source))
		synq_seen_out(sn->net, skb, tcp_hdr(skb),
			      synq_seen_length(skb, skb_transport_offset(skb), tcp_hdr(skb)),
			      is_v6);
	return NF_ACCEPT;
}

static unsigned int leave4(void *priv, struct sk_buff *skb,
			   const struct nf_hook_state *state)
{
	return leave(priv, skb, false);
}

static unsigned int leave6(void *priv, struct sk_buff *skb,
			   const struct nf_hook_state *state)
{
	return leave(priv, skb, true);
}

/* --- registering --- */

#define OP(name, family, at, order) {		\
	.hook = (name),				\
	.pf = NFPROTO_##family,			\
	.hooknum = NF_INET_##at,		\
	.priority = (order),			\
}

/* Of SYNs for this host. */
static const struct nf_hook_ops ops_local[] = {
	OP(prerouting4, IPV4, PRE_ROUTING, NF_IP_PRI_RAW + 10),
	OP(prerouting6, IPV6, PRE_ROUTING, NF_IP6_PRI_RAW + 10),
	OP(hook4, IPV4, LOCAL_IN, NF_IP_PRI_FILTER + 10),
	OP(hook6, IPV6, LOCAL_IN, NF_IP6_PRI_FILTER + 10),
};

/* And for others. */
static const struct nf_hook_ops ops_forward[] = {
	OP(hook4, IPV4, FORWARD, NF_IP_PRI_FILTER + 10),
	OP(hook6, IPV6, FORWARD, NF_IP6_PRI_FILTER + 10),
};

/*
 * Of connections to listeners with a limit: after the last rule, but for conntrack's end,
 * and before the first that changes where answers go to.
 */
static const struct nf_hook_ops ops_inside[] = {
	OP(come4, IPV4, LOCAL_IN, NF_IP_PRI_LAST - 2),
	OP(come6, IPV6, LOCAL_IN, NF_IP6_PRI_LAST - 2),
	OP(leave4, IPV4, LOCAL_OUT, NF_IP_PRI_RAW),
	OP(leave6, IPV6, LOCAL_OUT, NF_IP6_PRI_RAW),
};

/**
 * struct synq_hooks - hooks of a network namespace
 * @rcu: freed after a grace period: the list of hooks is read under RCU
 * @n: number of @ops
 * @ops: each with that namespace's state, which need not be looked up for a packet
 */
struct synq_hooks {
	struct rcu_head rcu;
	unsigned int n;
	struct nf_hook_ops ops[];
};

static int hook_up(struct synq_net *sn, struct synq_hooks **hooks, bool wanted,
		   const struct nf_hook_ops *ops, unsigned int n)
{
	struct synq_hooks *own;
	unsigned int i;
	int err;

	if (!wanted || *hooks)
		return 0;
	own = kmalloc(struct_size(own, ops, n), GFP_KERNEL_ACCOUNT);
	if (!own)
		return -ENOMEM;
	own->n = n;
	memcpy(own->ops, ops, n * sizeof(*ops));
	for (i = 0; i < n; i++)
		own->ops[i].priv = sn;
	err = nf_register_net_hooks(sn->net, own->ops, n);
	if (err)
		kfree_rcu(own, rcu);
	else
		*hooks = own;
	return err;
}

static void unhook(struct synq_net *sn, struct synq_hooks **hooks, bool wanted)
{
	if (wanted || !*hooks)
		return;
	nf_unregister_net_hooks(sn->net, (*hooks)->ops, (*hooks)->n);
	kfree_rcu(*hooks, rcu);
	*hooks = NULL;
}

static int on_conf(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct synq_conf_change *change = data;
	const struct synq_conf *conf = change->conf;
	struct synq_net *sn = change->sn;
	bool locally = conf && conf->n_listeners;
	bool elsewhere = conf && conf->n_forwards;
	bool limited = conf && conf->inside;
	bool had[2];
	int err;

	lockdep_assert_held(&sn->lock);
	switch ((enum synq_conf_event)event) {
	case SYNQ_CONF_PREPARE:
		had[0] = sn->hooks[0];
		had[1] = sn->hooks[1];
		err = hook_up(sn, &sn->hooks[0], locally, ops_local,
			      ARRAY_SIZE(ops_local)) ?:
		      hook_up(sn, &sn->hooks[1], elsewhere, ops_forward,
			      ARRAY_SIZE(ops_forward)) ?:
		      hook_up(sn, &sn->hooks[2], limited, ops_inside,
			      ARRAY_SIZE(ops_inside));
		if (err) {
			unhook(sn, &sn->hooks[0], had[0]);
			unhook(sn, &sn->hooks[1], had[1]);
			return notifier_from_errno(err);
		}
		break;
	case SYNQ_CONF_PUBLISHED:
		unhook(sn, &sn->hooks[0], locally);
		unhook(sn, &sn->hooks[1], elsewhere);
		unhook(sn, &sn->hooks[2], limited);
		break;
	case SYNQ_CONF_SWITCHED:
		break;
	}
	return NOTIFY_OK;
}

/* Before listener.c: no new socket is found once the old ones are left. */
static struct notifier_block conf_nb = {
	.notifier_call = on_conf,
	.priority = 1,
};

int synq_hook_init(void)
{
	return synq_conf_observe(&conf_nb);
}

/* Every namespace is unconfigured. */
void synq_hook_exit(void)
{
	synq_conf_ignore(&conf_nb);
}
