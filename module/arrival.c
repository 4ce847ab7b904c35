// SPDX-License-Identifier: GPL-2.0
/*
 * Which segments are judged (judge.c), and in which of netfilter's hooks.
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
 * Of most SYNs LOCAL_IN asks nothing: each CPU remembers those that PREROUTING has
 * judged just now (judged.c).
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
 * DOC: forwarded SYNs
 *
 * A SYN for another host is judged in FORWARD, by its rates only, if its
 * destination is one of those named (conf->forward), after the firewall and
 * after the destination was rewritten.  PREROUTING has not judged it: it is not for
 * an address of this host, unless it was rewritten there although a socket listens.
 * No socket tells a SYN that is sent again from a first one: each is charged.
 * Fragments that nobody has put together pass.
 *
 * Knows nothing of IP headers: syn_hook.c reads them.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(); no lock.
 */
#include <linux/skbuff.h>
#include <linux/string.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/tcp.h>
#include "arrival.h"
#include "judged.h"
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
	synq_judge_mark(arrival->conf, arrival->skb,
			class_of(arrival, &arrival->seg));
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
	seg->client.is_local = synq_classify_is_own(skb->dev, seg->client.is_v6,
						    seg->client.addr);
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
static bool judge_early(struct synq_arrival *syn)
{
	const struct synq_segment *seg = &syn->seg;
	bool passes;

	syn->listener = syn->class ? listener_at(syn, seg, &syn->sk) :
				     target_of(syn, seg, &syn->sk);
	if (!syn->listener)
		return true;
	if (!syn->class) {
		note_target(syn);
		syn->class = class_of(syn, seg);
	}
	if (!synq_judge_leaves(syn)) {
		passes = synq_judge(syn);
		synq_judged_note(syn->skb, syn->keeps ? syn->sk : NULL);
		return passes;
	}
	/* Who changes these bits meanwhile breaks their contract. */
	synq_judge_mark(syn->conf, syn->skb, syn->class);
	return true;
}

/**
 * synq_arrival_leaves() - leave a SYN in PREROUTING to LOCAL_IN, if its class says so
 * @conf: snapshot
 * @skb: the packet
 * @class: that early.c has found
 *
 * As synq_arrival_prerouting() would, without asking who listens: early.c knows that
 * somebody does.
 *
 * Context: softirq, rcu_read_lock()
 * Return: true if it is left; false if synq_arrival_prerouting() is to be asked
 */
bool synq_arrival_leaves(const struct synq_conf *conf, struct sk_buff *skb,
			 const struct synq_class *class)
{
	if (!synq_conf_answers(class))
		return false;
	synq_judged_forget(skb);
	/* Who changes these bits meanwhile breaks their contract. */
	synq_judge_mark(conf, skb, class);
	return true;
}

/**
 * synq_arrival_prerouting() - a TCP segment for this host is in PREROUTING
 * @arrival: as far as the IP header tells, and what early.c has found out
 * @is_fragment: the first; of IPv6
 *
 * Context: softirq, rcu_read_lock()
 * Return: false if it is to be dropped
 */
bool synq_arrival_prerouting(struct synq_arrival *arrival, bool is_fragment)
{
	const struct synq_conf *conf = arrival->conf;
	const struct tcphdr *th;
	struct tcphdr buf;

	synq_judged_forget(arrival->skb);
	th = skb_header_pointer(arrival->skb, arrival->seg.thoff, sizeof(buf),
				&buf);
	if (!th) {
		atomic64_inc(is_fragment ? &arrival->sn->fragments :
					   &arrival->sn->malformed);
		return true;
	}
	if (!arrival->class && !synq_conf_port(conf, ntohs(th->dest)))
		return true;
	if (is_malformed(arrival, th, is_fragment)) {
		atomic64_inc(&arrival->sn->malformed);
		return true;
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
	return true;
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

	if (skb->dev->flags & IFF_LOOPBACK || !ct || nf_ct_is_template(ct))
		return false;
	tuple = &ct->tuplehash[CTINFO2DIR(ctinfo)].tuple;
	if (tuple->dst.u.tcp.port == seg->client.dport &&
	    !memcmp(&tuple->dst.u3, seg->client.daddr, len))
		return false;
	seg->client.dport = tuple->dst.u.tcp.port;
	seg->client.daddr = &tuple->dst.u3;
	return true;
}

/**
 * synq_arrival_is_settled() - is there nothing that LOCAL_IN could find out about a SYN?
 * @sn: network namespace
 * @conf: snapshot
 * @skb: the packet, not put together by the stack
 *
 * It has been judged.  Or else nobody has given it a socket or another destination, and
 * PREROUTING has left none.  synq_arrival_local_in() would let it pass.
 *
 * Context: rcu_read_lock()
 * Return: true if so
 */
bool synq_arrival_is_settled(const struct synq_net *sn,
			     const struct synq_conf *conf,
			     const struct sk_buff *skb)
{
	return synq_judged_was(skb) ||
	       (!conf->answers && !skb->sk && !skb_nfct(skb) &&
		!has_lookup_program(sn->net) && !synq_judge_left_any(sn));
}

/**
 * synq_arrival_local_in() - a TCP segment for this host is in LOCAL_IN
 * @arrival: as far as the IP header tells; its TCP header linear, as far as there is one
 * @is_reassembled: the stack put it together after PREROUTING
 * @is_fragment: the first; of IPv6
 *
 * Context: softirq, rcu_read_lock()
 * Return: false if it is to be dropped
 */
bool synq_arrival_local_in(struct synq_arrival *arrival, bool is_reassembled,
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
		return true;
	if (is_malformed(arrival, th, is_fragment)) {
		if (is_reassembled && synq_conf_port(conf, ntohs(th->dest)))
			atomic64_inc(&arrival->sn->malformed);
		return true;
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
		return true;
	if (!arrival->sk)
		arrival->sk = synq_segment_listener(net, &arrival->seg);
	if (arrival->sk)
		arrival->listener = listener_of(conf, arrival->sk);
	if (!arrival->listener)
		return true;
	if (!is_syn(th)) {
		mark_cookie_ack(arrival, th);
		return true;
	}
	arrival->peer = synq_segment_peer(net, &arrival->seg);
	if (arrival->peer == SYNQ_SEGMENT_KNOWN ||
	    (!is_reassembled && !left && target_of(arrival, &before, NULL)))
		return true;
	if (!arrival->class)
		arrival->class = class_of(arrival, &arrival->seg);
	arrival->may_answer = true;
	return synq_judge(arrival);
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

/**
 * synq_arrival_forward() - a TCP segment for another host is in FORWARD
 * @arrival: as far as the IP header tells
 * @is_fragment: the first; of IPv6
 *
 * Where it goes is known, and the firewall has let it pass.
 *
 * Context: softirq, rcu_read_lock()
 * Return: false if it is to be dropped
 */
bool synq_arrival_forward(struct synq_arrival *arrival, bool is_fragment)
{
	const struct tcphdr *th;
	struct tcphdr buf;

	th = skb_header_pointer(arrival->skb, arrival->seg.thoff, sizeof(buf),
				&buf);
	if (!th || !is_syn(th) || is_malformed(arrival, th, is_fragment))
		return true;
	fill_in(arrival, th);
	if (!is_forwarded(arrival->conf, &arrival->seg.client))
		return true;
	arrival->class = class_of(arrival, &arrival->seg);
	arrival->listener = &arrival->conf->forwarded;
	return synq_judge_forwarded(arrival);
}
