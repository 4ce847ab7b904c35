// SPDX-License-Identifier: GPL-2.0
/*
 * Has SYNs to configured listeners judged (judge.c), in PREROUTING, after nft's
 * and iptables' raw chains (which may mark) and before conntrack (so that a
 * refused SYN costs no entry).
 *
 * A segment is judged if the stack would treat it as a SYN for a socket that
 * listens on a configured port of this host; everything else passes untouched.
 * The port is the socket's own, wherever the SYN was sent.  A SYN for a
 * connection that exists, half open included, is left to the stack: a
 * retransmission is not charged again.  One for a connection in TIME_WAIT is
 * judged: the stack lets a new one begin with it, or whoever has been served
 * could come again past the rate of his class.
 *
 * DOC: the second chance
 *
 * In PREROUTING it may not be known yet which socket a SYN is for: it is to be
 * rewritten (REDIRECT, DNAT), will be given a socket (TPROXY), is in fragments,
 * or goes where a BPF program wants it.  LOCAL_IN judges these, after the
 * host's firewall and before source NAT.  That each is judged once follows
 * from the packet itself, but for those that PREROUTING leaves:
 *
 * 1. PREROUTING judges, or leaves to LOCAL_IN, if target_of() finds a socket by
 *    the destination that the packet has there, and never a fragment of IPv4.
 * 2. LOCAL_IN judges what was left.  For the rest it asks target_of() for
 *    the same destination (conntrack knows it if it was rewritten), and
 *    judges only if that finds none, or if the stack put the packet together
 *    after PREROUTING.
 *
 * The two may disagree only about a SYN that is on its way in the instant when
 * a socket begins or ceases to listen, or the configuration changes; and where
 * left.c says so.
 *
 * IPv6 puts fragments together behind LOCAL_IN: there the first one is judged
 * in PREROUTING, if it holds the TCP header; the stack wants that, too.
 *
 * What IPsec has protected comes in as ESP, which is passed over.  What was in a
 * tunnel then arrives anew, as any packet; what was in transport mode passes
 * PREROUTING a second time, whole, even if it came in fragments.
 *
 * DOC: answers
 *
 * A SYN of a class whose excess is answered (reset, cookie), or that is to be
 * answered by a cookie now, is left to LOCAL_IN, and judged there only: before that
 * nobody knows whether the host's firewall lets it in, and an answer would tell that
 * the port is open.  It has its class's mark from PREROUTING on, so that both find
 * the same class.  For its excess it is left whenever it is of that class where it
 * was sent to, which LOCAL_IN asks again.  For a cookie it is left if its class has
 * had its share of the SYN queue in that moment, which LOCAL_IN cannot know: so there
 * is a note of each (left.c), by where it was sent to.  One for which there is no
 * note any more has been judged.
 *
 * DOC: floods
 *
 * A SYN that goes to where another was just found to be for a listener, and that
 * exceeds a rate, is refused by early.c in PREROUTING, before anything is done for it
 * here.  What early.c has found out of others is not asked again.
 *
 * DOC: forwarded SYNs
 *
 * A SYN for another host is judged in FORWARD, by its rates only, if its
 * destination is one of those named (conf->forward), after the firewall and
 * after the destination was rewritten.  PREROUTING has not judged it: it is not for
 * an address of this host, unless it was rewritten there although a socket listens.
 * No socket tells a SYN that is sent again from a first one: each is charged.
 * Fragments that nobody has put together pass.
 *
 * The only file that knows what netfilter's hooks are; hooks.c has them registered.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(); no lock.
 */
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/string.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/tcp.h>
#include <net/xfrm.h>
#include "early.h"
#include "judge.h"
#include "syn_hook.h"
#include "target.h"

static bool is_syn(const struct tcphdr *th)
{
	return th->syn && !th->ack && !th->rst && !th->fin;
}

/*
 * A SYN that the stack drops before it asks who listens, or as soon as it has:
 * its header is not all there, or it has flags that no SYN has.  Of a fragment
 * the rest may come.
 */
static bool is_malformed(const struct synq_arrival *arrival,
			 const struct tcphdr *th, bool is_fragment)
{
	const unsigned int end = arrival->seg.thoff + 4 * th->doff;

	if (!th->syn || th->ack)
		return false;
	return th->rst || th->fin || th->doff < sizeof(*th) / 4 ||
	       (end > arrival->skb->len && !is_fragment);
}

/*
 * Sockets of the kernel itself are left alone.  A socket that was found may be closed
 * meanwhile on another CPU: it stays until a grace period is over, but has no port any
 * more.  So each is asked once, and nobody counts on another answer being the same.
 */
static const struct synq_listener *listener_of(const struct synq_conf *conf,
					       const struct sock *sk)
{
	return sk->sk_net_refcnt ?
	       synq_conf_listener(conf, READ_ONCE(inet_sk(sk)->inet_num)) :
	       NULL;
}

static bool is_known(const struct synq_arrival *arrival,
		     const struct synq_segment *seg)
{
	return synq_segment_peer(arrival->sn->net, seg) == SYNQ_SEGMENT_KNOWN;
}

/* Counts a port on which nothing listens where the socket is wanted, to judge it. */
static const struct synq_listener *
listener_at(const struct synq_arrival *arrival, const struct synq_segment *seg,
	    struct sock **wanted)
{
	struct synq_net *sn = arrival->sn;
	struct sock *sk = synq_segment_listener(sn->net, seg);

	if (!sk && wanted)
		atomic64_inc(&sn->no_listener);
	if (wanted)
		*wanted = sk;
	return sk ? listener_of(arrival->conf, sk) : NULL;
}

/* Of the socket that a SYN is for by its destination alone, if it is to be judged. */
static const struct synq_listener *
target_of(const struct synq_arrival *arrival, const struct synq_segment *seg,
	  struct sock **wanted)
{
	if (!synq_conf_port(arrival->conf, ntohs(seg->client.dport)) ||
	    !synq_segment_is_for_host(arrival->sn->net, arrival->skb->dev,
				      seg) ||
	    is_known(arrival, seg))
		return NULL;
	return listener_at(arrival, seg, wanted);
}

static const struct synq_class *class_of(const struct synq_arrival *arrival,
					 const struct synq_segment *seg)
{
	return synq_classify(arrival->conf, &seg->client, NULL);
}

static unsigned int judge(struct synq_arrival *syn)
{
	return synq_judge(syn) ? NF_ACCEPT : NF_DROP;
}

static bool has_lookup_program(const struct net *net)
{
	return rcu_access_pointer(net->bpf.run_array[NETNS_BPF_SK_LOOKUP]);
}

/*
 * The final ACK of a SYN cookie makes a request with the mark that the ACK
 * has: give it the class of the client, so that the application can read it.
 */
static void mark_cookie_ack(const struct synq_arrival *arrival,
			    const struct tcphdr *th)
{
	if (!th->ack || th->syn || th->rst ||
	    arrival->skb->mark & arrival->conf->mark_mask ||
	    synq_segment_peer(arrival->sn->net, &arrival->seg) !=
	    SYNQ_SEGMENT_STRANGER)
		return;
	synq_judge_mark(arrival, class_of(arrival, &arrival->seg));
}

static void fill_in(struct synq_arrival *arrival, const struct tcphdr *th)
{
	const struct sk_buff *skb = arrival->skb;
	struct synq_segment *seg = &arrival->seg;

	seg->sport = th->source;
	seg->client.dport = th->dest;
	seg->seq = th->seq;
	seg->dif = skb->dev->ifindex;
	seg->client.mark = skb->mark;
	/* No remote sender can choose the interface. */
	seg->client.is_local = skb->dev->flags & IFF_LOOPBACK;
}

/* So that early.c need not look for the next one, where it is to refuse any. */
static void note_target(struct synq_arrival *syn)
{
	if (syn->listener->observe || has_lookup_program(syn->sn->net))
		return;
	syn->history.now_ns = ktime_get_ns();
	synq_target_note(syn->conf, &syn->seg, syn->listener->port,
			 syn->history.now_ns);
}

/*
 * Well-formed, to a port that is configured, in PREROUTING.  If it has a class, it is
 * for a listener, and a stranger: early.c.
 */
static unsigned int judge_early(struct synq_arrival *syn)
{
	const struct synq_segment *seg = &syn->seg;

	syn->listener = syn->class ? listener_at(syn, seg, &syn->sk) :
				     target_of(syn, seg, &syn->sk);
	if (!syn->listener)
		return NF_ACCEPT;
	if (!syn->class) {
		note_target(syn);
		syn->class = class_of(syn, seg);
	}
	if (!synq_judge_leaves(syn))
		return judge(syn);
	/* Who changes these bits meanwhile breaks their contract. */
	synq_judge_mark(syn, syn->class);
	return NF_ACCEPT;
}

static unsigned int prerouting(struct synq_arrival *arrival, bool is_fragment)
{
	const struct synq_conf *conf = arrival->conf;
	const struct tcphdr *th;
	struct tcphdr buf;

	th = skb_header_pointer(arrival->skb, arrival->seg.thoff, sizeof(buf),
				&buf);
	if (!th) {
		atomic64_inc(is_fragment ? &arrival->sn->fragments :
					   &arrival->sn->malformed);
		return NF_ACCEPT;
	}
	if (!arrival->class && !synq_conf_port(conf, ntohs(th->dest)))
		return NF_ACCEPT;
	if (is_malformed(arrival, th, is_fragment)) {
		atomic64_inc(&arrival->sn->malformed);
		return NF_ACCEPT;
	}
	if (is_syn(th)) {
		fill_in(arrival, th);
		return judge_early(arrival);
	}
	/* As its SYN: by where it goes, unless somebody listens here. */
	if (conf->mark_mask) {
		fill_in(arrival, th);
		if (!conf->n_services ||
		    target_of(arrival, &arrival->seg, NULL))
			mark_cookie_ack(arrival, th);
	}
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
static bool undo_nat(const struct sk_buff *skb, struct synq_segment *seg)
{
	const struct nf_conntrack_tuple *tuple;
	enum ip_conntrack_info ctinfo;
	const struct nf_conn *ct = nf_ct_get(skb, &ctinfo);
	size_t len = seg->client.is_v6 ? sizeof(struct in6_addr) :
					 sizeof(struct in_addr);

	if (seg->client.is_local || !ct || nf_ct_is_template(ct))
		return false;
	tuple = &ct->tuplehash[CTINFO2DIR(ctinfo)].tuple;
	if (tuple->dst.u.tcp.port == seg->client.dport &&
	    !memcmp(&tuple->dst.u3, seg->client.daddr, len))
		return false;
	seg->client.dport = tuple->dst.u.tcp.port;
	seg->client.daddr = &tuple->dst.u3;
	return true;
}

static unsigned int local_in(struct synq_arrival *arrival, bool is_reassembled,
			     bool is_fragment)
{
	const struct synq_conf *conf = arrival->conf;
	struct net *net = arrival->sn->net;
	struct synq_segment before;
	bool rewritten, left = false;
	const struct tcphdr *th;
	struct tcphdr buf;

	th = skb_header_pointer(arrival->skb, arrival->seg.thoff, sizeof(buf),
				&buf);
	if (!th || (!is_syn(th) && !conf->mark_mask))
		return NF_ACCEPT;
	if (is_malformed(arrival, th, is_fragment)) {
		if (is_reassembled && synq_conf_port(conf, ntohs(th->dest)))
			atomic64_inc(&arrival->sn->malformed);
		return NF_ACCEPT;
	}
	fill_in(arrival, th);
	before = arrival->seg;
	rewritten = undo_nat(arrival->skb, &before);
	if (is_syn(th) && !is_reassembled) {
		if (conf->answers)
			arrival->class = class_of(arrival, &before);
		left = synq_judge_was_left(arrival, &before);
		/* Where it goes it may have another. */
		if (rewritten && conf->n_services)
			arrival->class = NULL;
	}
	arrival->sk = assigned_listener(arrival->skb);
	if (!arrival->sk && !rewritten && !is_reassembled && !left &&
	    !has_lookup_program(net))
		return NF_ACCEPT;
	if (!arrival->sk)
		arrival->sk = synq_segment_listener(net, &arrival->seg);
	if (arrival->sk)
		arrival->listener = listener_of(conf, arrival->sk);
	if (!arrival->listener)
		return NF_ACCEPT;
	if (!is_syn(th)) {
		mark_cookie_ack(arrival, th);
		return NF_ACCEPT;
	}
	if (synq_segment_peer(net, &arrival->seg) == SYNQ_SEGMENT_KNOWN ||
	    (!is_reassembled && !left && target_of(arrival, &before, NULL)))
		return NF_ACCEPT;
	if (!arrival->class)
		arrival->class = class_of(arrival, &arrival->seg);
	arrival->may_answer = true;
	return judge(arrival);
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

/* For another host: where it goes is known, and the firewall has let it pass. */
static unsigned int forward(struct synq_arrival *arrival, bool is_fragment)
{
	const struct tcphdr *th;
	struct tcphdr buf;

	th = skb_header_pointer(arrival->skb, arrival->seg.thoff, sizeof(buf),
				&buf);
	if (!th || !is_syn(th) || is_malformed(arrival, th, is_fragment))
		return NF_ACCEPT;
	fill_in(arrival, th);
	if (!is_forwarded(arrival->conf, &arrival->seg.client))
		return NF_ACCEPT;
	arrival->class = class_of(arrival, &arrival->seg);
	arrival->listener = &arrival->conf->forwarded;
	return synq_judge_forwarded(arrival) ? NF_ACCEPT : NF_DROP;
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
	if (hook == NF_INET_LOCAL_IN)
		return local_in(&arrival, is_reassembled4(sn->net, skb), false);
	if (hook == NF_INET_FORWARD)
		return forward(&arrival, false);
	return prerouting(&arrival, false);
}

static bool is_tcp4(const struct sk_buff *skb)
{
	return ip_hdr(skb)->protocol == IPPROTO_TCP &&
	       !ip_is_fragment(ip_hdr(skb)) && is_to_be_judged(skb);
}

static unsigned int prerouting4(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	const struct synq_class *class;
	const struct synq_conf *conf;

	if (!is_tcp4(skb))
		return NF_ACCEPT;
	conf = synq_conf_active(priv);
	if (!conf)
		return NF_ACCEPT;
	class = synq_early4(priv, conf, skb);
	if (class == SYNQ_EARLY_DROPPED)
		return NF_DROP;
	return arrive4(priv, conf, skb, NF_INET_PRE_ROUTING, class);
}

static unsigned int hook4(void *priv, struct sk_buff *skb,
			  const struct nf_hook_state *state)
{
	const bool is_last = state->hook == NF_INET_LOCAL_IN;
	const struct synq_conf *conf;

	if (!is_tcp4(skb))
		return NF_ACCEPT;
	conf = synq_conf_active(priv);
	if (!conf || (is_last && !pull_header(skb, ip_hdrlen(skb))))
		return NF_ACCEPT;
	return arrive4(priv, conf, skb, state->hook, NULL);
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
	if (hook == NF_INET_LOCAL_IN)
		return local_in(&arrival, false, is_fragment);
	if (hook == NF_INET_FORWARD)
		return forward(&arrival, is_fragment);
	return prerouting(&arrival, is_fragment);
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
	return likely(ipv6_hdr(skb)->nexthdr == IPPROTO_TCP) ?
	       behind_ip6(skb) : find_tcp6(skb);
}

static unsigned int prerouting6(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	const struct synq_class *class;
	const struct synq_conf *conf;
	unsigned int thoff;

	thoff = tcp6(skb);
	if (!thoff || !is_to_be_judged(skb))
		return NF_ACCEPT;
	conf = synq_conf_active(priv);
	if (!conf)
		return NF_ACCEPT;
	class = synq_early6(priv, conf, skb, thoff);
	if (class == SYNQ_EARLY_DROPPED)
		return NF_DROP;
	return arrive6(priv, conf, skb, NF_INET_PRE_ROUTING, thoff, class);
}

static unsigned int hook6(void *priv, struct sk_buff *skb,
			  const struct nf_hook_state *state)
{
	const bool is_last = state->hook == NF_INET_LOCAL_IN;
	const struct synq_conf *conf;
	unsigned int thoff;

	thoff = tcp6(skb);
	if (!thoff || !is_to_be_judged(skb))
		return NF_ACCEPT;
	conf = synq_conf_active(priv);
	if (!conf || (is_last && !pull_header(skb, thoff)))
		return NF_ACCEPT;
	return arrive6(priv, conf, skb, state->hook, thoff, NULL);
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
