// SPDX-License-Identifier: GPL-2.0
/*
 * Has SYNs to configured listeners judged (arrival.c), in PREROUTING, after nft's
 * and iptables' raw chains (which may mark) and before conntrack (so that a
 * refused SYN costs no entry).
 *
 * What comes for the host itself is looked at in LOCAL_IN, too, after the host's
 * firewall, and what is for others in FORWARD; arrival.c says why.
 *
 * DOC: floods
 *
 * A SYN that goes to where another was just found to be for a listener, and that
 * exceeds a rate, is refused by early.c in PREROUTING, before anything is done for it
 * here.  What early.c has found out of others is not asked again; and one whose excess is
 * answered is left to LOCAL_IN at once.
 *
 * The only file that knows what netfilter's hooks are; hooks.c has them registered.  It
 * reads IP headers, and finds TCP's.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(); no lock.
 */
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/tcp.h>
#include <net/xfrm.h>
#include "arrival.h"
#include "early.h"
#include "syn_hook.h"

static unsigned int hand_over(struct synq_arrival *arrival, bool is_reassembled,
			      bool is_fragment)
{
	bool passes;

	switch (arrival->hook) {
	case NF_INET_LOCAL_IN:
		passes = synq_arrival_local_in(arrival, is_reassembled,
					       is_fragment);
		break;
	case NF_INET_FORWARD:
		passes = synq_arrival_forward(arrival, is_fragment);
		break;
	default:
		passes = synq_arrival_prerouting(arrival, is_fragment);
		break;
	}
	return passes ? NF_ACCEPT : NF_DROP;
}

/*
 * What comes in through a VRF passes twice; the second time skb->dev is the
 * VRF itself, which the socket lookups want.
 */
static bool is_to_be_judged(const struct sk_buff *skb)
{
	return skb->pkt_type == PACKET_HOST && !netif_is_l3_slave(skb->dev);
}

/* From IPsec's transport mode: it was the packet around it that came in fragments. */
static bool was_unwrapped(const struct sk_buff *skb)
{
	const struct sec_path *sp = skb_sec_path(skb);

	return sp && sp->len &&
	       sp->xvec[sp->len - 1]->props.mode == XFRM_MODE_TRANSPORT;
}

/* The stack's own doing, after PREROUTING, unless somebody had it done before. */
static bool is_reassembled4(const struct net *net, const struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_NF_DEFRAG_IPV4)
	if (READ_ONCE(net->nf.defrag_ipv4_users))
		return false;
#endif
	return IPCB(skb)->frag_max_size && !was_unwrapped(skb);
}

/*
 * So that the SYN can be answered: the TCP header linear, as far as there is one.
 * Pointers into the packet change.  False: malformed, or no memory.
 */
static bool pull_header(struct sk_buff *skb, unsigned int thoff)
{
	const struct tcphdr *th;

	if (!pskb_may_pull(skb, thoff + sizeof(*th)))
		return false;
	th = (struct tcphdr *)(skb->data + thoff);
	return pskb_may_pull(skb, min(skb->len, thoff + 4 * th->doff));
}

/* On the stack of those packets only that get so far: it is cleared. */
static unsigned int arrive4(struct synq_net *sn, const struct synq_conf *conf,
			    struct sk_buff *skb, unsigned int hook,
			    const struct synq_class *class)
{
	struct synq_arrival arrival = {
		.sn = sn,
		.conf = conf,
		.skb = skb,
		.hook = hook,
		.seg = {
			.client = {
				.addr = &ip_hdr(skb)->saddr,
				.daddr = &ip_hdr(skb)->daddr,
			},
			.thoff = ip_hdrlen(skb),
		},
		.class = class,
	};

	if (netif_is_l3_master(skb->dev))
		arrival.seg.sdif = inet_sdif(skb);
	return hand_over(&arrival, hook == NF_INET_LOCAL_IN &&
				   is_reassembled4(sn->net, skb), false);
}

/*
 * Most of what comes is no SYN, and is asked nothing else.  What begins like one may be
 * the middle of a fragment.
 */
static __always_inline bool may_be_syn4(const struct synq_conf *conf,
					const struct sk_buff *skb)
{
	return ip_hdr(skb)->protocol == IPPROTO_TCP &&
	       !synq_arrival_is_passed_over(conf, skb, ip_hdrlen(skb));
}

static bool is_whole4(const struct sk_buff *skb)
{
	return !ip_is_fragment(ip_hdr(skb)) && is_to_be_judged(skb);
}

/* What there is to be done with a SYN is not inline: it needs registers. */
static noinline unsigned int prerouting_syn4(struct synq_net *sn,
					     const struct synq_conf *conf,
					     struct sk_buff *skb)
{
	const struct synq_class *class;

	if (!is_whole4(skb))
		return NF_ACCEPT;
	class = synq_early4(sn, conf, skb);
	if (class == SYNQ_EARLY_DROPPED)
		return NF_DROP;
	if (class && synq_arrival_leaves(conf, skb, class))
		return NF_ACCEPT;
	return arrive4(sn, conf, skb, NF_INET_PRE_ROUTING, class);
}

static unsigned int prerouting4(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	const struct synq_conf *conf = synq_conf_active(priv);

	if (!conf || !may_be_syn4(conf, skb))
		return NF_ACCEPT;
	return prerouting_syn4(priv, conf, skb);
}

static noinline unsigned int look4(struct synq_net *sn, struct sk_buff *skb,
				   unsigned int hook)
{
	const struct synq_conf *conf = synq_conf_active(sn);

	if (!conf || !is_whole4(skb))
		return NF_ACCEPT;
	if (hook == NF_INET_LOCAL_IN) {
		if (synq_arrival_is_settled(sn, conf, skb) &&
		    !is_reassembled4(sn->net, skb))
			return NF_ACCEPT;
		if (!pull_header(skb, ip_hdrlen(skb)))
			return NF_ACCEPT;
	}
	return arrive4(sn, conf, skb, hook, NULL);
}

static unsigned int hook4(void *priv, struct sk_buff *skb,
			  const struct nf_hook_state *state)
{
	const struct synq_conf *conf = synq_conf_active(priv);

	if (!conf || !may_be_syn4(conf, skb))
		return NF_ACCEPT;
	return look4(priv, skb, state->hook);
}

/* Where TCP's header is, from skb->data on, if it is the first behind IP's. */
static unsigned int behind_ip6(const struct sk_buff *skb)
{
	return skb_network_offset(skb) + sizeof(struct ipv6hdr);
}

static bool is_first_fragment6(const struct sk_buff *skb, unsigned int thoff)
{
	unsigned int at = 0;

	return thoff != behind_ip6(skb) &&
	       ipv6_find_hdr(skb, &at, NEXTHDR_FRAGMENT, NULL, NULL) ==
	       NEXTHDR_FRAGMENT;
}

static unsigned int arrive6(struct synq_net *sn, const struct synq_conf *conf,
			    struct sk_buff *skb, unsigned int hook,
			    unsigned int thoff, const struct synq_class *class)
{
	const bool is_fragment = is_first_fragment6(skb, thoff);
	struct synq_arrival arrival = {
		.sn = sn,
		.conf = conf,
		.skb = skb,
		.hook = hook,
		.seg = {
			.client = {
				.addr = &ipv6_hdr(skb)->saddr,
				.daddr = &ipv6_hdr(skb)->daddr,
				.is_v6 = true,
			},
			.thoff = thoff,
		},
		.class = class,
	};

	if (netif_is_l3_master(skb->dev))
		arrival.seg.sdif = inet6_sdif(skb);
	return hand_over(&arrival, false, is_fragment);
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
static __always_inline bool is_next_tcp6(const struct sk_buff *skb)
{
	return likely(ipv6_hdr(skb)->nexthdr == IPPROTO_TCP);
}

static noinline unsigned int prerouting_syn6(struct synq_net *sn,
					     const struct synq_conf *conf,
					     struct sk_buff *skb,
					     unsigned int thoff)
{
	const struct synq_class *class;

	if (!is_to_be_judged(skb))
		return NF_ACCEPT;
	class = synq_early6(sn, conf, skb, thoff);
	if (class == SYNQ_EARLY_DROPPED)
		return NF_DROP;
	if (class && synq_arrival_leaves(conf, skb, class))
		return NF_ACCEPT;
	return arrive6(sn, conf, skb, NF_INET_PRE_ROUTING, thoff, class);
}

/* What is behind other headers is looked for out of the way. */
static noinline unsigned int prerouting_far6(struct synq_net *sn,
					     const struct synq_conf *conf,
					     struct sk_buff *skb)
{
	unsigned int thoff = find_tcp6(skb);

	if (!thoff || synq_arrival_is_passed_over(conf, skb, thoff))
		return NF_ACCEPT;
	return prerouting_syn6(sn, conf, skb, thoff);
}

static unsigned int prerouting6(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	const struct synq_conf *conf = synq_conf_active(priv);

	if (!conf)
		return NF_ACCEPT;
	if (!is_next_tcp6(skb))
		return prerouting_far6(priv, conf, skb);
	if (synq_arrival_is_passed_over(conf, skb, behind_ip6(skb)))
		return NF_ACCEPT;
	return prerouting_syn6(priv, conf, skb, behind_ip6(skb));
}

static noinline unsigned int look6(struct synq_net *sn, struct sk_buff *skb,
				   unsigned int hook)
{
	const struct synq_conf *conf = synq_conf_active(sn);
	unsigned int thoff = is_next_tcp6(skb) ? behind_ip6(skb) :
						 find_tcp6(skb);

	if (!conf || !thoff || !is_to_be_judged(skb) ||
	    synq_arrival_is_passed_over(conf, skb, thoff))
		return NF_ACCEPT;
	if (hook == NF_INET_LOCAL_IN &&
	    (synq_arrival_is_settled(sn, conf, skb) || !pull_header(skb, thoff)))
		return NF_ACCEPT;
	return arrive6(sn, conf, skb, hook, thoff, NULL);
}

static unsigned int hook6(void *priv, struct sk_buff *skb,
			  const struct nf_hook_state *state)
{
	const struct synq_conf *conf = synq_conf_active(priv);

	/* Behind other headers it may still be a SYN. */
	if (!conf || (is_next_tcp6(skb) &&
		      synq_arrival_is_passed_over(conf, skb, behind_ip6(skb))))
		return NF_ACCEPT;
	return look6(priv, skb, state->hook);
}

/* Of SYNs for this host. */
const struct nf_hook_ops synq_syn_local[SYNQ_SYN_LOCAL] = {
	{
		.hook		= prerouting4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_PRE_ROUTING,
		.priority	= NF_IP_PRI_RAW + 10,
	},
	{
		.hook		= prerouting6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_PRE_ROUTING,
		.priority	= NF_IP6_PRI_RAW + 10,
	},
	{
		.hook		= hook4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP_PRI_FILTER + 10,
	},
	{
		.hook		= hook6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP6_PRI_FILTER + 10,
	},
};

/* And for others. */
const struct nf_hook_ops synq_syn_forward[SYNQ_SYN_FORWARD] = {
	{
		.hook		= hook4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_FORWARD,
		.priority	= NF_IP_PRI_FILTER + 10,
	},
	{
		.hook		= hook6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_FORWARD,
		.priority	= NF_IP6_PRI_FILTER + 10,
	},
};
