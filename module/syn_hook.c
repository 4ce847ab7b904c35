// SPDX-License-Identifier: GPL-2.0
/*
 * Judges SYNs to configured listeners, in PREROUTING, after nft's and
 * iptables' raw chains (which may mark) and before conntrack (so that a
 * refused SYN costs no entry).
 *
 * A segment is judged if the stack would treat it as a SYN for a socket that
 * listens on a configured port of this host; everything else passes untouched.
 * A SYN for a connection that exists, half open or in TIME_WAIT included, is
 * left to the stack: a retransmission is not charged again.  Of a fragmented
 * SYN the first fragment is judged, if it holds the TCP header; otherwise it
 * passes and is counted.
 *
 * The hooks are registered per network namespace and only while it has a
 * configured listener.  The only file that knows netfilter's hooks.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(); no lock.
 */
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/ktime.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/tcp.h>
#include "admission.h"
#include "classify.h"
#include "compat.h"
#include "policer.h"
#include "record.h"
#include "syn_hook.h"

/**
 * struct segment - a TCP segment, as far as it matters here
 * @client: addresses point into the packet
 * @daddr: destination
 * @sport: of the client
 * @dport: of this host
 * @dif: interface for socket lookups
 * @sdif: the same, of a VRF's slave, or 0
 */
struct segment {
	struct synq_client client;
	const void *daddr;
	__be16 sport;
	__be16 dport;
	int dif;
	int sdif;
};

static bool is_syn(const struct tcphdr *th)
{
	return th->syn && !th->ack && !th->rst && !th->fin;
}

/* An address of the host, or any that a local route (AnyIP) delivers here. */
static bool is_local6(struct net *net, const struct net_device *dev,
		      const struct in6_addr *daddr)
{
	/* A VRF has addresses and a table of its own. */
	int vrf = netif_is_l3_master(dev) ? dev->ifindex : 0;
	struct rt6_info *rt;
	bool is_local;

	if (ipv6_chk_addr(net, daddr, dev, 0))
		return true;
	rt = rt6_lookup(net, daddr, NULL, vrf, NULL, 0);
	is_local = rt && rt->rt6i_flags & RTF_LOCAL;
	ip6_rt_put(rt);
	return is_local;
}

static bool is_for_this_host(struct net *net, const struct net_device *dev,
			     const struct segment *seg)
{
	if (seg->client.is_v6)
		return is_local6(net, dev, seg->daddr);
	return inet_addr_type_dev_table(net, dev,
					*(const __be32 *)seg->daddr) ==
	       RTN_LOCAL;
}

/* Half open, established or in TIME_WAIT. */
static bool is_known(struct net *net, const struct segment *seg)
{
	const u16 hnum = ntohs(seg->dport);
	struct sock *sk;

	if (seg->client.is_v6)
		sk = synq_lookup_established6(net, seg->client.addr,
					      seg->sport, seg->daddr, hnum,
					      seg->dif, seg->sdif);
	else
		sk = synq_lookup_established4(net,
					      *(const __be32 *)seg->client.addr,
					      seg->sport,
					      *(const __be32 *)seg->daddr,
					      hnum, seg->dif, seg->sdif);
	if (!sk)
		return false;
	sock_gen_put(sk);
	return true;
}

/* No reference: listeners are freed after a grace period. */
static struct sock *find_listener(struct net *net, const struct segment *seg)
{
	const u16 hnum = ntohs(seg->dport);

	if (seg->client.is_v6)
		return synq_lookup_listener6(net, seg->client.addr, seg->sport,
					     seg->daddr, hnum, seg->dif,
					     seg->sdif);
	return synq_lookup_listener4(net, *(const __be32 *)seg->client.addr,
				     seg->sport, *(const __be32 *)seg->daddr,
				     hnum, seg->dif, seg->sdif);
}

static enum synq_verdict decide(struct synq_net *sn,
				const struct synq_conf *conf,
				const struct synq_listener *listener,
				const struct synq_class *class,
				const struct sock *sk,
				struct synq_record *record)
{
	/* Health checks and local proxies. */
	if (class->slot == SYNQ_SLOT_LOCAL)
		return SYNQ_VERDICT_ADMIT;
	if (!synq_policer_conform(sn, class, ktime_get_ns()))
		return class->excess == SYNQ_EXCESS_PASS ?
			SYNQ_VERDICT_EXCESS_PASS : SYNQ_VERDICT_EXCESS_DROP;
	if (!record)
		return SYNQ_VERDICT_ADMIT;
	return synq_admission_syn(&record->admission, conf, listener, class,
				  sk, &record->acceptq, &record->withheld);
}

/* What would have been done, and is not ("enforce off"). */
static enum synq_verdict forgo(enum synq_verdict verdict,
			       struct synq_port *port,
			       const struct synq_class *class)
{
	switch (verdict) {
	case SYNQ_VERDICT_ADMIT:
	case SYNQ_VERDICT_EXCESS_PASS:
		return verdict;
	case SYNQ_VERDICT_EXCESS_DROP:
	case SYNQ_VERDICT_QUEUE_REFUSE:
	case SYNQ_VERDICT_WAIT_REFUSE:
		break;
	}
	synq_count(port, class->slot, SYNQ_COUNT_WOULD_REFUSE);
	return SYNQ_VERDICT_ADMIT;
}

static void set_mark(const struct synq_conf *conf, struct sk_buff *skb,
		     const struct synq_class *class)
{
	if (conf->mark_mask)
		skb->mark = (skb->mark & ~conf->mark_mask) | class->mark_bits;
}

static unsigned int carry_out(enum synq_verdict verdict,
			      const struct synq_conf *conf,
			      struct synq_port *port,
			      const struct synq_class *class,
			      struct sk_buff *skb)
{
	switch (verdict) {
	case SYNQ_VERDICT_ADMIT:
		synq_count(port, class->slot, SYNQ_COUNT_ADMITTED);
		break;
	case SYNQ_VERDICT_EXCESS_PASS:
		synq_count(port, class->slot, SYNQ_COUNT_EXCESS_PASSED);
		break;
	case SYNQ_VERDICT_EXCESS_DROP:
		synq_count(port, class->slot, SYNQ_COUNT_EXCESS_DROPPED);
		return NF_DROP;
	case SYNQ_VERDICT_QUEUE_REFUSE:
		synq_count(port, class->slot, SYNQ_COUNT_QUEUE_REFUSED);
		return NF_DROP;
	case SYNQ_VERDICT_WAIT_REFUSE:
		synq_count(port, class->slot, SYNQ_COUNT_WAIT_REFUSED);
		return NF_DROP;
	}
	set_mark(conf, skb, class);
	return NF_ACCEPT;
}

static unsigned int judge(struct synq_net *sn, const struct synq_conf *conf,
			  const struct synq_listener *listener,
			  struct sk_buff *skb, const struct segment *seg)
{
	struct synq_port *port = listener->port;
	const struct synq_class *class;
	struct synq_record *record;
	enum synq_verdict verdict;
	unsigned int outcome;
	struct sock *sk;

	if (!is_for_this_host(sn->net, skb->dev, seg) ||
	    is_known(sn->net, seg))
		return NF_ACCEPT;
	sk = find_listener(sn->net, seg);
	if (!sk) {
		atomic64_inc(&sn->no_listener);
		return NF_ACCEPT;
	}
	record = synq_record_find(sk);
	if (!record)
		synq_record_want(sn, sk);
	class = synq_classify(conf, &seg->client, NULL);
	synq_count(port, class->slot, SYNQ_COUNT_SEEN);
	verdict = decide(sn, conf, listener, class, sk, record);
	if (synq_conf_observes(conf, listener, class))
		verdict = forgo(verdict, port, class);
	outcome = carry_out(verdict, conf, port, class, skb);
	if (record && outcome == NF_ACCEPT)
		synq_admission_begin(&record->admission, class);
	return outcome;
}

/*
 * The final ACK of a SYN cookie makes a request with the mark that the ACK
 * has: give it the class of the client, so that the application can read it.
 */
static void mark_cookie_ack(struct synq_net *sn, const struct synq_conf *conf,
			    struct sk_buff *skb, const struct tcphdr *th,
			    const struct segment *seg)
{
	if (!th->ack || th->syn || th->rst || skb->mark & conf->mark_mask ||
	    is_known(sn->net, seg))
		return;
	set_mark(conf, skb, synq_classify(conf, &seg->client, NULL));
}

static unsigned int handle(struct synq_net *sn, const struct synq_conf *conf,
			   struct sk_buff *skb, unsigned int thoff,
			   bool is_fragment, struct segment *seg)
{
	struct tcphdr buf;
	const struct tcphdr *th;
	const struct synq_listener *listener;

	th = skb_header_pointer(skb, thoff, sizeof(buf), &buf);
	if (!th) {
		if (is_fragment)
			atomic64_inc(&sn->fragments);
		return NF_ACCEPT;
	}
	listener = synq_conf_listener(conf, ntohs(th->dest));
	if (!listener)
		return NF_ACCEPT;
	seg->sport = th->source;
	seg->dport = th->dest;
	seg->dif = skb->dev->ifindex;
	seg->client.mark = skb->mark;
	/* No remote sender can choose the interface. */
	seg->client.is_local = skb->dev->flags & IFF_LOOPBACK;
	if (is_syn(th))
		return judge(sn, conf, listener, skb, seg);
	if (conf->mark_mask)
		mark_cookie_ack(sn, conf, skb, th, seg);
	return NF_ACCEPT;
}

/*
 * What comes in through a VRF passes twice; the second time skb->dev is the
 * VRF itself, which the socket lookups want.
 */
static bool is_to_be_judged(const struct sk_buff *skb)
{
	return skb->pkt_type == PACKET_HOST && !netif_is_l3_slave(skb->dev);
}

static unsigned int hook4(void *priv, struct sk_buff *skb,
			  const struct nf_hook_state *state)
{
	const struct iphdr *iph = ip_hdr(skb);
	struct synq_net *sn = synq_net(state->net);
	const struct synq_conf *conf;
	struct segment seg = {
		.client.addr = &iph->saddr,
		.daddr = &iph->daddr,
	};

	if (iph->protocol != IPPROTO_TCP || ntohs(iph->frag_off) & IP_OFFSET ||
	    !is_to_be_judged(skb))
		return NF_ACCEPT;
	conf = synq_conf_active(sn);
	if (!conf)
		return NF_ACCEPT;
	if (netif_is_l3_master(skb->dev))
		seg.sdif = inet_sdif(skb);
	return handle(sn, conf, skb, ip_hdrlen(skb), ip_is_fragment(iph), &seg);
}

static unsigned int hook6(void *priv, struct sk_buff *skb,
			  const struct nf_hook_state *state)
{
	const struct ipv6hdr *ip6h = ipv6_hdr(skb);
	struct synq_net *sn = synq_net(state->net);
	const struct synq_conf *conf;
	struct segment seg = {
		.client.addr = &ip6h->saddr,
		.client.is_v6 = true,
		.daddr = &ip6h->daddr,
	};
	unsigned short frag_off = 0;
	unsigned int thoff = 0;
	int flags = 0;

	conf = synq_conf_active(sn);
	if (!conf || !is_to_be_judged(skb))
		return NF_ACCEPT;
	if (ipv6_find_hdr(skb, &thoff, -1, &frag_off, &flags) != IPPROTO_TCP ||
	    frag_off)
		return NF_ACCEPT;
	if (netif_is_l3_master(skb->dev))
		seg.sdif = inet6_sdif(skb);
	return handle(sn, conf, skb, thoff, flags & IP6_FH_F_FRAG, &seg);
}

static const struct nf_hook_ops hooks[] = {
	{
		.hook		= hook4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_PRE_ROUTING,
		.priority	= NF_IP_PRI_RAW + 10,
	},
	{
		.hook		= hook6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_PRE_ROUTING,
		.priority	= NF_IP6_PRI_RAW + 10,
	},
};

static int on_conf(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct synq_conf_change *change = data;
	struct synq_net *sn = change->sn;
	bool wanted = change->conf && change->conf->n_listeners;
	int err;

	lockdep_assert_held(&sn->lock);
	switch ((enum synq_conf_event)event) {
	case SYNQ_CONF_PREPARE:
		if (!wanted || sn->hooked)
			break;
		err = nf_register_net_hooks(sn->net, hooks, ARRAY_SIZE(hooks));
		if (err)
			return notifier_from_errno(err);
		sn->hooked = true;
		break;
	case SYNQ_CONF_PUBLISHED:
		if (wanted || !sn->hooked)
			break;
		nf_unregister_net_hooks(sn->net, hooks, ARRAY_SIZE(hooks));
		sn->hooked = false;
		break;
	}
	return NOTIFY_OK;
}

/* Before listener.c: no new socket is found once the old ones are left. */
static struct notifier_block conf_nb = {
	.notifier_call = on_conf,
	.priority = 1,
};

/**
 * synq_syn_hook_init() - follow the configuration
 *
 * Context: process
 * Return: 0
 */
int synq_syn_hook_init(void)
{
	return synq_conf_observe(&conf_nb);
}

/**
 * synq_syn_hook_exit() - undo synq_syn_hook_init()
 *
 * Context: process; every namespace is unconfigured
 */
void synq_syn_hook_exit(void)
{
	synq_conf_ignore(&conf_nb);
}
