// SPDX-License-Identifier: GPL-2.0
/*
 * Judges SYNs to configured listeners, in PREROUTING, after nft's and
 * iptables' raw chains (which may mark) and before conntrack (so that a
 * refused SYN costs no entry).
 *
 * A segment is judged if the stack would treat it as a SYN for a socket that
 * listens on a configured port of this host; everything else passes untouched.
 * The port is the socket's own, wherever the SYN was sent.  A SYN for a
 * connection that exists, half open or in TIME_WAIT included, is left to the
 * stack: a retransmission is not charged again.
 *
 * DOC: the second chance
 *
 * In PREROUTING it may not be known yet which socket a SYN is for: it is to be
 * rewritten (REDIRECT, DNAT), will be given a socket (TPROXY), is in fragments,
 * or goes where a BPF program wants it.  LOCAL_IN judges these, after the
 * host's firewall and before source NAT.  That each is judged once follows
 * from the packet itself, not from a memory of what happened to it:
 *
 * 1. PREROUTING judges if target_of() finds a socket by the destination that
 *    the packet has there, and never a fragment of IPv4.
 * 2. LOCAL_IN asks target_of() for the same destination (conntrack knows it if
 *    it was rewritten), and judges only if it finds none, or if the stack put
 *    the packet together after PREROUTING.
 *
 * The two may disagree only about a SYN that is on its way in the instant when
 * a socket begins or ceases to listen, or the configuration changes.
 *
 * IPv6 puts fragments together behind LOCAL_IN: there the first one is judged
 * in PREROUTING, if it holds the TCP header; the stack wants that, too.
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
#include <net/netfilter/nf_conntrack.h>
#include <net/route.h>
#include <net/tcp.h>
#include "admission.h"
#include "classify.h"
#include "compat.h"
#include "policer.h"
#include "record.h"
#include "refusal.h"
#include "syn_hook.h"

/**
 * struct segment - a TCP segment, as far as it matters here
 * @client: addresses point into the packet
 * @daddr: destination
 * @sport: of the client
 * @dport: of this host
 * @seq: sequence number
 * @dif: interface for socket lookups
 * @sdif: the same, of a VRF's slave, or 0
 */
struct segment {
	struct synq_client client;
	const void *daddr;
	__be16 sport;
	__be16 dport;
	__be32 seq;
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

static enum synq_verdict police(struct synq_net *sn, struct synq_port *port,
				const struct synq_class *class,
				const struct synq_client *client)
{
	bool pass = class->excess == SYNQ_EXCESS_PASS, stray = false;
	enum synq_source_answer answer;

	answer = synq_policer_take(sn, class, client, ktime_get_ns(), &stray);
	if (stray)
		synq_count(port, class->slot, SYNQ_COUNT_SOURCE_UNTRACKED);
	switch (answer) {
	case SYNQ_SOURCE_CONFORMS:
		break;
	case SYNQ_SOURCE_EXCEEDS:
		return pass ? SYNQ_VERDICT_SOURCE_PASS :
			      SYNQ_VERDICT_SOURCE_DROP;
	case SYNQ_SOURCE_CLASS_EXCEEDS:
		return pass ? SYNQ_VERDICT_EXCESS_PASS :
			      SYNQ_VERDICT_EXCESS_DROP;
	}
	return SYNQ_VERDICT_ADMIT;
}

static enum synq_verdict decide(struct synq_net *sn,
				const struct synq_conf *conf,
				const struct synq_listener *listener,
				const struct synq_class *class,
				const struct synq_client *client,
				const struct sock *sk,
				struct synq_record *record, u32 refused_ms)
{
	struct synq_listener own;
	enum synq_verdict verdict;

	/* Health checks and local proxies. */
	if (class->slot == SYNQ_SLOT_LOCAL)
		return SYNQ_VERDICT_ADMIT;
	verdict = police(sn, listener->port, class, client);
	if (verdict != SYNQ_VERDICT_ADMIT)
		return verdict;
	if (!record)
		return SYNQ_VERDICT_ADMIT;
	own = synq_record_listener(record, listener);
	return synq_admission_syn(&record->admission, conf, &own, class, sk,
				  &record->acceptq, &record->withheld,
				  refused_ms);
}

/* What would have been done, and is not ("enforce off"). */
static enum synq_verdict forgo(enum synq_verdict verdict,
			       struct synq_port *port,
			       const struct synq_class *class)
{
	switch (verdict) {
	case SYNQ_VERDICT_ADMIT:
	case SYNQ_VERDICT_EXCESS_PASS:
	case SYNQ_VERDICT_SOURCE_PASS:
		return verdict;
	case SYNQ_VERDICT_EXCESS_DROP:
	case SYNQ_VERDICT_SOURCE_DROP:
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
	case SYNQ_VERDICT_SOURCE_PASS:
		synq_count(port, class->slot, SYNQ_COUNT_SOURCE_PASSED);
		break;
	case SYNQ_VERDICT_EXCESS_DROP:
		synq_count(port, class->slot, SYNQ_COUNT_EXCESS_DROPPED);
		return NF_DROP;
	case SYNQ_VERDICT_SOURCE_DROP:
		synq_count(port, class->slot, SYNQ_COUNT_SOURCE_DROPPED);
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

/* Sockets of the kernel itself are left alone. */
static const struct synq_listener *listener_of(const struct synq_conf *conf,
					       const struct sock *sk)
{
	return sk->sk_net_refcnt ?
	       synq_conf_listener(conf, inet_sk(sk)->inet_num) : NULL;
}

/*
 * The socket that a SYN is for by its destination alone, if it is to be judged.
 * Counts a port on which nothing listens only where it is judged.
 */
static struct sock *target_of(struct synq_net *sn, const struct synq_conf *conf,
			      const struct net_device *dev,
			      const struct segment *seg, bool count)
{
	struct sock *sk;

	if (!synq_conf_port(conf, ntohs(seg->dport)) ||
	    !is_for_this_host(sn->net, dev, seg) || is_known(sn->net, seg))
		return NULL;
	sk = find_listener(sn->net, seg);
	if (!sk && count)
		atomic64_inc(&sn->no_listener);
	return sk && listener_of(conf, sk) ? sk : NULL;
}

static unsigned int judge(struct synq_net *sn, const struct synq_conf *conf,
			  struct sock *sk, struct sk_buff *skb,
			  const struct segment *seg)
{
	const struct synq_listener *listener = listener_of(conf, sk);
	struct synq_refusal_syn syn = {
		.saddr = seg->client.addr,
		.daddr = seg->daddr,
		.is_v6 = seg->client.is_v6,
		.sport = seg->sport,
		.dport = seg->dport,
		.seq = seg->seq,
	};
	struct synq_port *port = listener->port;
	const struct synq_class *class;
	struct synq_record *record;
	enum synq_verdict verdict;
	unsigned int outcome;
	bool observes;

	record = synq_record_find(sk);
	if (!record)
		synq_record_want(sn, sk);
	class = synq_classify(conf, &seg->client, NULL);
	synq_count(port, class->slot, SYNQ_COUNT_SEEN);
	if (synq_refusal_find(sn, &syn))
		synq_count(port, class->slot, SYNQ_COUNT_RETRIES);
	verdict = decide(sn, conf, listener, class, &seg->client, sk, record,
			 syn.refused_ms);
	observes = synq_conf_observes(conf, listener, class);
	synq_refusal_note(sn, &syn, port, class, verdict, observes);
	if (observes)
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

static void fill_in(struct segment *seg, const struct sk_buff *skb,
		    const struct tcphdr *th)
{
	seg->sport = th->source;
	seg->dport = th->dest;
	seg->seq = th->seq;
	seg->dif = skb->dev->ifindex;
	seg->client.mark = skb->mark;
	/* No remote sender can choose the interface. */
	seg->client.is_local = skb->dev->flags & IFF_LOOPBACK;
}

static unsigned int prerouting(struct synq_net *sn,
			       const struct synq_conf *conf,
			       struct sk_buff *skb, unsigned int thoff,
			       bool is_fragment, struct segment *seg)
{
	struct tcphdr buf;
	const struct tcphdr *th;
	struct sock *sk;

	th = skb_header_pointer(skb, thoff, sizeof(buf), &buf);
	if (!th) {
		if (is_fragment)
			atomic64_inc(&sn->fragments);
		return NF_ACCEPT;
	}
	if (!synq_conf_port(conf, ntohs(th->dest)))
		return NF_ACCEPT;
	fill_in(seg, skb, th);
	if (is_syn(th)) {
		sk = target_of(sn, conf, skb->dev, seg, true);
		return sk ? judge(sn, conf, sk, skb, seg) : NF_ACCEPT;
	}
	if (conf->mark_mask)
		mark_cookie_ack(sn, conf, skb, th, seg);
	return NF_ACCEPT;
}

/* Set by TPROXY, or by a program of tc's; early demux sets no listener. */
static struct sock *assigned_listener(const struct sk_buff *skb)
{
	struct sock *sk = skb->sk;

	return sk && READ_ONCE(sk->__sk_common.skc_state) == TCP_LISTEN ?
	       sk : NULL;
}

/*
 * Sets @seg's destination to that of PREROUTING. Returns false if it is that: over
 * loopback it was rewritten before, in OUTPUT, or never.
 */
static bool undo_nat(const struct sk_buff *skb, struct segment *seg)
{
	const struct nf_conntrack_tuple *tuple;
	enum ip_conntrack_info ctinfo;
	const struct nf_conn *ct = nf_ct_get(skb, &ctinfo);
	size_t len = seg->client.is_v6 ? sizeof(struct in6_addr) :
					 sizeof(struct in_addr);

	if (seg->client.is_local || !ct || nf_ct_is_template(ct))
		return false;
	tuple = &ct->tuplehash[CTINFO2DIR(ctinfo)].tuple;
	if (tuple->dst.u.tcp.port == seg->dport &&
	    !memcmp(&tuple->dst.u3, seg->daddr, len))
		return false;
	seg->dport = tuple->dst.u.tcp.port;
	seg->daddr = &tuple->dst.u3;
	return true;
}

static bool has_lookup_program(const struct net *net)
{
	return rcu_access_pointer(net->bpf.run_array[NETNS_BPF_SK_LOOKUP]);
}

static unsigned int local_in(struct synq_net *sn, const struct synq_conf *conf,
			     struct sk_buff *skb, unsigned int thoff,
			     bool is_reassembled, struct segment *seg)
{
	struct segment before;
	struct tcphdr buf;
	const struct tcphdr *th;
	struct sock *sk;
	bool rewritten;

	th = skb_header_pointer(skb, thoff, sizeof(buf), &buf);
	if (!th || (!is_syn(th) && !conf->mark_mask))
		return NF_ACCEPT;
	fill_in(seg, skb, th);
	before = *seg;
	sk = assigned_listener(skb);
	rewritten = undo_nat(skb, &before);
	if (!sk && !rewritten && !is_reassembled &&
	    !has_lookup_program(sn->net))
		return NF_ACCEPT;
	if (!sk)
		sk = find_listener(sn->net, seg);
	if (!sk || !listener_of(conf, sk))
		return NF_ACCEPT;
	if (!is_syn(th)) {
		mark_cookie_ack(sn, conf, skb, th, seg);
		return NF_ACCEPT;
	}
	if (is_known(sn->net, seg) ||
	    (!is_reassembled &&
	     target_of(sn, conf, skb->dev, &before, false)))
		return NF_ACCEPT;
	return judge(sn, conf, sk, skb, seg);
}

/*
 * What comes in through a VRF passes twice; the second time skb->dev is the
 * VRF itself, which the socket lookups want.
 */
static bool is_to_be_judged(const struct sk_buff *skb)
{
	return skb->pkt_type == PACKET_HOST && !netif_is_l3_slave(skb->dev);
}

/* The stack's own doing, after PREROUTING, unless somebody had it done before. */
static bool is_reassembled4(const struct net *net, const struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_NF_DEFRAG_IPV4)
	if (READ_ONCE(net->nf.defrag_ipv4_users))
		return false;
#endif
	return IPCB(skb)->frag_max_size;
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

	if (iph->protocol != IPPROTO_TCP || ip_is_fragment(iph) ||
	    !is_to_be_judged(skb))
		return NF_ACCEPT;
	conf = synq_conf_active(sn);
	if (!conf)
		return NF_ACCEPT;
	if (netif_is_l3_master(skb->dev))
		seg.sdif = inet_sdif(skb);
	if (state->hook == NF_INET_LOCAL_IN)
		return local_in(sn, conf, skb, ip_hdrlen(skb),
				is_reassembled4(state->net, skb), &seg);
	return prerouting(sn, conf, skb, ip_hdrlen(skb), false, &seg);
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
	if (state->hook == NF_INET_LOCAL_IN)
		return local_in(sn, conf, skb, thoff, false, &seg);
	return prerouting(sn, conf, skb, thoff, flags & IP6_FH_F_FRAG, &seg);
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
