// SPDX-License-Identifier: GPL-2.0
/*
 * Which socket a TCP segment is for, by its addresses and ports: as the stack
 * will look it up, but without any program that chooses (reuseport's, sk_lookup's
 * excepted), and before the stack knows that the segment is for this host.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(); no lock.
 */
#include <linux/build_bug.h>
#include <linux/inetdevice.h>
#include <linux/string.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/tcp.h>
#include "compat.h"
#include "segment.h"

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
 * synq_segment_fingerprint() - by which a refused SYN is known again
 * @sn: network namespace, whose key nobody outside knows
 * @seg: the SYN
 *
 * A client sends its SYN again with the same ports and the same sequence number; a
 * new connection has another.
 *
 * No hash of cryptography, since each SYN of a flood pays for it.  A sender who knew the
 * key could make SYNs that are taken for each other, or that push out those of somebody
 * else, which any SYNs do if there are enough; and nothing that comes out of here can
 * be seen from outside.
 *
 * Context: any
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
 * synq_segment_connection() - by which a connection of a SYN cookie is known again
 * @sn: network namespace, whose key nobody outside knows
 * @skb: a segment of its client, which is to complete its handshake
 *
 * Until it is promoted all its segments acknowledge the cookie, and nothing else.
 *
 * Context: any
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
