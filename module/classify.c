// SPDX-License-Identifier: GPL-2.0
/*
 * Which class a client has: by the mark that nft or iptables gave its SYN, by
 * the longest source prefix of the most specific service that has a match for
 * it (service.c), by the longest source prefix of all matches without a
 * service, as the host itself, or by default; in this order.
 *
 * One function serves the packet and the accept queue, so that a connection
 * has the class that its SYN had.  The client is the host itself if its address is one of
 * the host's.  That of a packet may be forged, unless it came in by the loopback
 * interface (synq_classify_is_own()); that of a request, which has passed the
 * handshake, is not.
 *
 * DOC: the destination
 *
 * That which counts is what the connection has in the end, as getsockname() tells
 * the application: after REDIRECT and DNAT, so that a match means the address and the
 * port that a service has on this host, whatever it is called outside; with TPROXY and
 * programs of BPF, which rewrite nothing, where the client sent it.  A request has it
 * as its local address and port, from its SYN or from the final ACK of a cookie.
 *
 * A SYN that comes to its listener has it, too.  In PREROUTING it has the one that it was
 * sent to, by which a class may be found there for a moment (peek.c).
 *
 * Any context, under rcu_read_lock().
 */
#include <linux/build_bug.h>
#include <linux/export.h>
#include <linux/inetdevice.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <net/addrconf.h>
#include <net/inet_sock.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/tcp.h>
#include "classify.h"
#include "compat.h"
#include "conf.h"
#include "mark.h"

static const struct synq_class *class_of_mark(const struct synq_conf *conf,
					      u32 bits)
{
	u8 i;

	for (i = 0; i < conf->n_positions; i++) {
		const struct synq_class *class = &conf->class[conf->order[i]];

		if (class->mark_bits == bits)
			return class;
	}
	return NULL;
}

/* Out of the way where there are no services. */
static noinline u16 value_of_service(const struct synq_conf *conf,
				     const struct synq_client *client, u8 *len,
				     const struct synq_service_key **key)
{
	const struct synq_service_ask ask = {
		.source = client->addr,
		.to = client->daddr,
		.port = ntohs(client->dport),
		.is_v6 = client->is_v6,
	};
	unsigned int which;
	u16 value;

	value = synq_service_lookup(conf->service, conf->n_services, &ask, len,
				    &which);
	if (value)
		*key = &conf->service[which].key;
	return value;
}

/**
 * synq_classify() - the class of a client
 * @conf: snapshot
 * @client: what is known of it
 * @why: says what decided; may be NULL
 *
 * Mark bits that no class has decide nothing.
 *
 * Context: the caller keeps the snapshot
 * Return: never NULL
 */
const struct synq_class *synq_classify(const struct synq_conf *conf,
				       const struct synq_client *client,
				       struct synq_why *why)
{
	const struct synq_service_key *service = NULL;
	const struct synq_class *class;
	u32 bits = client->mark & conf->mark_mask;
	u8 len = 0;
	u16 value;

	if (bits) {
		class = class_of_mark(conf, bits);
		if (class) {
			if (why)
				*why = (struct synq_why){ SYNQ_REASON_MARK };
			return class;
		}
	}
	value = conf->n_services ?
		value_of_service(conf, client, &len, &service) : 0;
	if (!value)
		value = synq_lpm_lookup(&conf->lpm[client->is_v6],
					client->addr, &len);
	if (value) {
		if (why)
			*why = (struct synq_why){ SYNQ_REASON_MATCH, len,
						  service };
		return &conf->class[value - 1];
	}
	if (why)
		*why = (struct synq_why){ client->is_local ?
			SYNQ_REASON_LOCAL : SYNQ_REASON_DEFAULT };
	return synq_classify_unmatched(conf, client->is_local);
}

/**
 * synq_classify_is_local() - is an address one of the host's own?
 * @net: network namespace
 * @is_v6: @addr has 16 bytes
 * @addr: network order
 *
 * Return: true if so
 */
bool synq_classify_is_local(struct net *net, bool is_v6, const void *addr)
{
	struct in6_addr in6;
	__be32 in4;

	if (is_v6) {
		memcpy(&in6, addr, sizeof(in6));
		return ipv6_addr_loopback(&in6) ||
		       ipv6_chk_addr(net, &in6, NULL, 0);
	}
	memcpy(&in4, addr, sizeof(in4));
	return inet_addr_type(net, in4) == RTN_LOCAL;
}

static const struct synq_class *class_of_request(const struct synq_conf *conf,
						 const struct sock *listener,
						 const struct request_sock *req)
{
	const struct inet_request_sock *ireq = inet_rsk(req);
	struct synq_client client = {
		.addr = &ireq->ir_rmt_addr,
		.daddr = &ireq->ir_loc_addr,
		.dport = htons(ireq->ir_num),
		.mark = READ_ONCE(listener->sk_mark) ? 0 : ireq->ir_mark,
	};
	const struct synq_class *class;
	struct synq_why reason;

	/* The family is the listener's: it says nothing about the client. */
	if (ireq->ireq_family == AF_INET6 &&
	    !ipv6_addr_v4mapped(&ireq->ir_v6_rmt_addr)) {
		client.addr = &ireq->ir_v6_rmt_addr;
		client.daddr = &ireq->ir_v6_loc_addr;
		client.is_v6 = true;
	}
	class = synq_classify(conf, &client, &reason);
	/* Routes are looked at only where nothing else decides. */
	if (reason.why == SYNQ_REASON_DEFAULT &&
	    synq_classify_is_local(sock_net(listener), client.is_v6,
				   client.addr))
		return &conf->class[SYNQ_SLOT_LOCAL];
	return class;
}

/**
 * struct asked - the request that a CPU has classified last
 * @req: compared, not looked at: it may be gone
 * @isn: its own sequence number, by which it is told from another at the same address
 * @when: jiffies
 * @serial: of the snapshot; of no other
 * @class: of it
 *
 * The gate and the accept queue ask for the same request, one right after the other.
 *
 * With BH off only: then nothing else uses that of this CPU.
 */
struct asked {
	const struct request_sock *req;
	u32 isn;
	unsigned long when;
	u64 serial;
	const struct synq_class *class;
};

static DEFINE_PER_CPU(struct asked, asked);

/**
 * synq_classify_request() - the class of a connection that is being made
 * @conf: snapshot
 * @listener: socket that it came to
 * @req: its request, before or in the accept queue
 *
 * The request has the mark of its SYN unless the listener has one of its own
 * (SO_MARK), which then says nothing about the client.
 *
 * Context: the caller keeps the snapshot
 * Return: never NULL
 */
const struct synq_class *synq_classify_request(const struct synq_conf *conf,
					       const struct sock *listener,
					       const struct request_sock *req)
{
	const u32 isn = tcp_rsk(req)->snt_isn;
	const unsigned long now = jiffies;
	struct asked *last;

	if (IS_ENABLED(CONFIG_PREEMPT_RT) || !softirq_count())
		return class_of_request(conf, listener, req);
	last = this_cpu_ptr(&asked);
	if (last->req != req || last->isn != isn || last->when != now ||
	    last->serial != conf->serial)
		*last = (struct asked){
			.req = req,
			.isn = isn,
			.when = now,
			.serial = conf->serial,
			.class = class_of_request(conf, listener, req),
		};
	return last->class;
}

static u32 marked(const struct synq_conf *conf, u32 mark,
		  const struct synq_class *class)
{
	return (mark & ~conf->mark_mask) | class->mark_bits;
}

/**
 * synq_classify_mark() - give a packet the mark of a class
 * @conf: snapshot
 * @skb: the packet
 * @class: of its sender
 */
void synq_classify_mark(const struct synq_conf *conf, struct sk_buff *skb,
			const struct synq_class *class)
{
	if (conf->mark_mask)
		skb->mark = marked(conf, skb->mark, class);
}

/**
 * synq_classify_mark_request() - give a request the mark of a class
 * @conf: snapshot
 * @listener: socket that it came to
 * @req: made from a SYN cookie by this CPU, and not to be found yet: what its SYN had
 *	is not known any more
 * @class: of it
 *
 * As its SYN would have: not where the kernel keeps no marks, or the listener has one.
 *
 * Return: true if it has another mark now
 */
bool synq_classify_mark_request(const struct synq_conf *conf,
				const struct sock *listener,
				struct request_sock *req,
				const struct synq_class *class)
{
	u32 mark = marked(conf, inet_rsk(req)->ir_mark, class);

	if (mark == inet_rsk(req)->ir_mark || READ_ONCE(listener->sk_mark) ||
	    !READ_ONCE(sock_net(listener)->ipv4.sysctl_tcp_fwmark_accept))
		return false;
	inet_rsk(req)->ir_mark = mark;
	return true;
}

/*
 * Marks by the names of their classes: all that another module (xt_synq.c) may ask
 * of this one.
 *
 * Mask, classes and marks are those of the moment: the caller holds nothing of a
 * configuration, so none is kept for it, and a new one is in force at once.  Without
 * a configuration, a mask, such a class, or a mark of the class, there is nothing to
 * find and nothing to set.  While synq is switched off its marks stay what they are:
 * other rules go on matching them.
 *
 * DOC: why the state of the namespace is there
 *
 * Packets still pass while their namespace is taken down.  Its state is freed after
 * the .exit of all others, that is when neither devices nor rules are left (net/core/
 * net_namespace.c); from .pre_exit on there is no configuration in it.  The other
 * way to lose it is to unload this module, which its users' need of these symbols
 * prevents.
 *
 * Any context, under rcu_read_lock().
 */

/* 0 if there is no such class, or if it has no mark. */
static u32 bits_of(struct synq_conf *conf, const char *name)
{
	const struct synq_class *class = synq_conf_class_by_name(conf, name);

	return class ? class->mark_bits : 0;
}

/**
 * synq_mark_is() - does a mark say that a packet is of a class?
 * @net: network namespace of the packet
 * @mark: of the packet
 * @name: of the class
 *
 * Context: rcu_read_lock()
 * Return: true if so
 */
bool synq_mark_is(const struct net *net, u32 mark, const char *name)
{
	struct synq_conf *conf = rcu_dereference(synq_net(net)->conf);
	u32 bits;

	if (!conf)
		return false;
	bits = mark & conf->mark_mask;
	return bits && bits == bits_of(conf, name);
}
EXPORT_SYMBOL_NS_GPL(synq_mark_is, SYNQ_NAMESPACE);

/**
 * synq_mark_set() - a mark that says that a packet is of a class
 * @net: network namespace of the packet
 * @mark: of the packet
 * @name: of the class
 *
 * Context: rcu_read_lock()
 * Return: @mark with the value of the class in the bits of the mask; as it was if
 * the class has none
 */
u32 synq_mark_set(const struct net *net, u32 mark, const char *name)
{
	struct synq_conf *conf = rcu_dereference(synq_net(net)->conf);
	u32 bits;

	if (!conf)
		return mark;
	bits = bits_of(conf, name);
	return bits ? (mark & ~conf->mark_mask) | bits : mark;
}
EXPORT_SYMBOL_NS_GPL(synq_mark_set, SYNQ_NAMESPACE);

/*
 * Which socket a TCP segment is for, by its addresses and ports: as the stack
 * will look it up, but without any program that chooses (reuseport's, sk_lookup's
 * excepted), and before the stack knows that the segment is for this host.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(); no lock.
 */

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

static bool is_of_vrf(const struct net_device *dev)
{
	return netif_is_l3_slave(dev) || netif_is_l3_master(dev);
}

/*
 * Of the device that it came in by, as nearly always, or of another one that is up: no
 * route need be looked up.  Where a VRF has either, a route has to say.
 */
static bool is_local4(struct net *net, const struct net_device *dev,
		      __be32 daddr)
{
	const struct net_device *owner = __ip_dev_find(net, daddr, false);

	if (owner == dev)
		return true;
	if (owner && owner->flags & IFF_UP && !is_of_vrf(owner) &&
	    !is_of_vrf(dev))
		return true;
	return inet_addr_type_dev_table(net, dev, daddr) == RTN_LOCAL;
}

/**
 * synq_segment_is_for_host() - is its destination an address of the host?
 * @net: network namespace
 * @dev: that it came in by
 * @seg: the segment
 *
 * Context: softirq, rcu_read_lock()
 * Return: true if so
 */
bool synq_segment_is_for_host(struct net *net, const struct net_device *dev,
			      const struct synq_segment *seg)
{
	if (seg->client.is_v6)
		return is_local6(net, dev, seg->client.daddr);
	return is_local4(net, dev, *(const __be32 *)seg->client.daddr);
}

/*
 * A half-open request outlives a listener that was closed, and the stack forgets it when
 * another SYN comes for it.  That SYN is a new one for the socket that listens now.
 */
static bool is_forsaken(struct sock *sk)
{
	return inet_sk_state_load(inet_reqsk(sk)->rsk_listener) != TCP_LISTEN;
}

/**
 * synq_segment_is_known() - does a connection that was found know a SYN?
 * @sk: with a reference, which is given back
 *
 * Not one in TIME_WAIT, which a SYN may follow.
 *
 * Context: softirq, rcu_read_lock()
 * Return: true if it is established, or half open at a socket that listens
 */
bool synq_segment_is_known(struct sock *sk)
{
	bool known = true;

	switch (READ_ONCE(sk->__sk_common.skc_state)) {
	case TCP_TIME_WAIT:
		known = false;
		break;
	case TCP_NEW_SYN_RECV:
		known = !is_forsaken(sk);
		break;
	}
	sock_gen_put(sk);
	return known;
}

/**
 * synq_segment_read() - read a TCP segment
 * @seg: set, but for its interfaces
 * @net: network namespace
 * @skb: the packet, its network header set
 * @th: its TCP header
 * @is_v6: it is of IPv6
 *
 * Context: rcu_read_lock()
 */
void synq_segment_read(struct synq_segment *seg, struct net *net,
		       const struct sk_buff *skb, const struct tcphdr *th,
		       bool is_v6)
{
	struct synq_client *client = &seg->client;

	client->is_v6 = is_v6;
	client->addr = is_v6 ? (const void *)&ipv6_hdr(skb)->saddr :
			       (const void *)&ip_hdr(skb)->saddr;
	client->daddr = is_v6 ? (const void *)&ipv6_hdr(skb)->daddr :
				(const void *)&ip_hdr(skb)->daddr;
	client->mark = skb->mark;
	client->dport = th->dest;
	client->is_local = synq_classify_is_own(net, skb->skb_iif, is_v6,
						client->addr);
	seg->sport = th->source;
	seg->seq = th->seq;
}

/**
 * synq_segment_listener() - the socket that listens for it
 * @net: network namespace
 * @seg: the segment
 *
 * Context: softirq, rcu_read_lock()
 * Return: NULL if there is none; without a reference: listeners are freed after
 * a grace period
 */
struct sock *synq_segment_listener(struct net *net,
				   const struct synq_segment *seg)
{
	const u16 hnum = ntohs(seg->client.dport);

	if (seg->client.is_v6)
		return synq_lookup_listener6(net, seg->client.addr, seg->sport,
					     seg->client.daddr, hnum, seg->dif,
					     seg->sdif);
	return synq_lookup_listener4(net, *(const __be32 *)seg->client.addr,
				     seg->sport,
				     *(const __be32 *)seg->client.daddr,
				     hnum, seg->dif, seg->sdif);
}

/* As they stand in a packet, where fingerprints of IPv4 are made of whole words. */
static u64 addresses4(const struct synq_segment *seg)
{
	u64 word;

	memcpy(&word, seg->client.addr, sizeof(__be32));
	memcpy((u8 *)&word + sizeof(__be32), seg->client.daddr, sizeof(__be32));
	return word;
}

static u64 ports_and_seq(const struct synq_segment *seg)
{
	const struct {
		__be16 sport;
		__be16 dport;
		__be32 seq;
	} header = { seg->sport, seg->client.dport, seg->seq };
	u64 word;

	static_assert(sizeof(header) == sizeof(word));
	memcpy(&word, &header, sizeof(word));
	return word;
}

/**
 * synq_segment_fingerprint() - a hash by which a refused SYN is recognised
 * @sn: network namespace, whose key is secret
 * @seg: the SYN
 *
 * A retransmitted SYN has the same ports and the same sequence number; a
 * new connection has another.
 *
 * It is not cryptographic, since each SYN of a flood pays for it.  With the key a sender
 * could make SYNs that are taken for each other, or that evict others from the table, which
 * any SYNs do if there are enough.  No result can be seen from outside.
 *
 * Return: a hash
 */
u64 synq_segment_fingerprint(const struct synq_net *sn,
			     const struct synq_segment *seg)
{
	u64 addresses = seg->client.is_v6 ?
			synq_segment_addresses6(sn, seg->client.addr,
						seg->client.daddr) :
			addresses4(seg);

	return synq_segment_fingerprint_of(sn, addresses, ports_and_seq(seg));
}

/**
 * synq_segment_connection() - a hash by which a connection of a SYN cookie is recognised
 * @sn: network namespace, whose key is secret
 * @skb: a segment of its client, which is to complete its handshake
 *
 * Until it is promoted all its segments acknowledge the cookie and nothing else.
 *
 * Return: as synq_segment_fingerprint()
 */
u64 synq_segment_connection(const struct synq_net *sn,
			    const struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	struct synq_segment seg = {
		.client.dport = th->dest,
		.sport = th->source,
		.seq = th->ack_seq,
	};

	if (skb->protocol == htons(ETH_P_IPV6)) {
		seg.client.addr = &ipv6_hdr(skb)->saddr;
		seg.client.daddr = &ipv6_hdr(skb)->daddr;
		seg.client.is_v6 = true;
	} else {
		seg.client.addr = &ip_hdr(skb)->saddr;
		seg.client.daddr = &ip_hdr(skb)->daddr;
	}
	return synq_segment_fingerprint(sn, &seg);
}
