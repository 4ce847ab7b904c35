// SPDX-License-Identifier: GPL-2.0
/*
 * Which socket a TCP segment is for, by its addresses and ports: as the stack
 * will look it up, but without any program that chooses (reuseport's, sk_lookup's
 * excepted), and before the stack knows that the segment is for this host.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(); no lock.
 */
#include <linux/inetdevice.h>
#include <linux/math64.h>
#include <linux/siphash.h>
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

/*
 * Of the device that it came in by, as nearly always: no route need be looked up.
 * Those of other devices are for a route to say, which knows about VRFs.
 */
static bool is_local4(struct net *net, const struct net_device *dev,
		      __be32 daddr)
{
	return __ip_dev_find(net, daddr, false) == dev ||
	       inet_addr_type_dev_table(net, dev, daddr) == RTN_LOCAL;
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

/**
 * synq_segment_peer() - is there a connection that it belongs to?
 * @net: network namespace
 * @seg: the segment
 *
 * Context: softirq, rcu_read_lock()
 * Return: see there
 */
enum synq_segment_peer synq_segment_peer(struct net *net,
					 const struct synq_segment *seg)
{
	const u16 hnum = ntohs(seg->client.dport);
	enum synq_segment_peer peer;
	struct sock *sk;

	if (seg->client.is_v6)
		sk = synq_lookup_established6(net, seg->client.addr,
					      seg->sport, seg->client.daddr,
					      hnum, seg->dif, seg->sdif);
	else
		sk = synq_lookup_established4(net,
					      *(const __be32 *)seg->client.addr,
					      seg->sport,
					      *(const __be32 *)seg->client.daddr,
					      hnum, seg->dif, seg->sdif);
	if (!sk)
		return SYNQ_SEGMENT_STRANGER;
	peer = READ_ONCE(sk->__sk_common.skc_state) == TCP_TIME_WAIT ?
	       SYNQ_SEGMENT_LEFT : SYNQ_SEGMENT_KNOWN;
	sock_gen_put(sk);
	return peer;
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

static u64 ports_and_seq(const struct synq_segment *seg)
{
	return (u64)(__force u32)seg->seq << 32 |
	       (u32)(__force u16)seg->sport << 16 |
	       (__force u16)seg->client.dport;
}

static u64 addresses4(const struct synq_segment *seg)
{
	u32 saddr, daddr;

	memcpy(&saddr, seg->client.addr, sizeof(saddr));
	memcpy(&daddr, seg->client.daddr, sizeof(daddr));
	return (u64)saddr << 32 | daddr;
}

/**
 * synq_segment_hash() - by which a SYN is known again
 * @sn: network namespace, whose key nobody outside knows
 * @seg: the SYN
 *
 * A client sends its SYN again with the same ports and the same sequence number; a
 * new connection has another.
 *
 * Context: any
 * Return: a hash
 */
u64 synq_segment_hash(const struct synq_net *sn,
		      const struct synq_segment *seg)
{
	struct {
		u8 saddr[16];
		u8 daddr[16];
		u64 rest;
	} v6;

	if (seg->client.is_v6) {
		memcpy(v6.saddr, seg->client.addr, sizeof(v6.saddr));
		memcpy(v6.daddr, seg->client.daddr, sizeof(v6.daddr));
		v6.rest = ports_and_seq(seg);
		return siphash(&v6, sizeof(v6), &sn->key);
	}
	return siphash_2u64(addresses4(seg), ports_and_seq(seg), &sn->key);
}

/* Both halves of the product, each bit of which depends on many of both. */
static u64 mix(u64 a, u64 b)
{
	return a * b ^ mul_u64_u64_shr(a, b, 64);
}

/* What is on the stack costs something: not in the way of IPv4. */
static noinline u64 addresses6(const u64 key[2], const struct synq_segment *seg)
{
	u64 saddr[2], daddr[2];

	memcpy(saddr, seg->client.addr, sizeof(saddr));
	memcpy(daddr, seg->client.daddr, sizeof(daddr));
	return mix(saddr[0] ^ key[0], saddr[1] ^ key[1]) +
	       mix(daddr[0] ^ key[1], daddr[1] ^ key[0]);
}

/**
 * synq_segment_fingerprint() - by which a refused SYN is known again
 * @sn: network namespace, whose key nobody outside knows
 * @seg: the SYN
 *
 * As synq_segment_hash(), for a tenth of the price: each SYN of a flood pays it.  A
 * sender who knew the key could make SYNs that are taken for each other, or that push
 * out those of somebody else, which any SYNs do if there are enough; and nothing
 * that comes out of here can be seen from outside.
 *
 * Context: any
 * Return: a hash
 */
u64 synq_segment_fingerprint(const struct synq_net *sn,
			     const struct synq_segment *seg)
{
	const u64 *key = sn->key.key;
	u64 addresses = seg->client.is_v6 ? addresses6(key, seg) :
					    addresses4(seg);

	return mix(addresses ^ key[0], ports_and_seq(seg) ^ key[1]);
}
