// SPDX-License-Identifier: GPL-2.0
/*
 * What is seen of the packets of a connection that is followed (follow.c): that something
 * new has come, that an answer goes out, and that it ends.
 *
 * New is what is beyond all that went before in its direction, so what is sent again
 * changes nothing.  Nobody's word is taken for it that something came: what the server's
 * TCP acknowledges is what did.
 *
 * Under rcu_read_lock().
 */
#include <linux/ktime.h>
#include <net/tcp.h>
#include "followed.h"
#include "record.h"
#include "seen.h"

#define AHEAD_MAX	BIT(24)	/* bytes: no window is as large, or hardly any */

void synq_followed_set_endpoints(struct synq_endpoints *key, const struct net *net,
				 const struct sk_buff *skb, const struct tcphdr *th,
				 bool is_v6, bool is_out)
{
	struct in6_addr *source = is_out ? &key->own : &key->peer;
	struct in6_addr *dest = is_out ? &key->peer : &key->own;

	key->peer_port = is_out ? th->dest : th->source;
	key->own_port = is_out ? th->source : th->dest;
	key->zero = 0;
	key->net = net;
	if (is_v6) {
		*source = ipv6_hdr(skb)->saddr;
		*dest = ipv6_hdr(skb)->daddr;
	} else {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, source);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, dest);
	}
}

static struct synq_followed *find(const struct net *net, const struct sk_buff *skb,
				  const struct tcphdr *th, bool is_v6, bool is_out)
{
	struct synq_endpoints key;

	synq_followed_set_endpoints(&key, net, skb, th, is_v6, is_out);
	return synq_followed_find(&key);
}

/* Is there something beyond what was there before?  Then it is, from now on. */
bool synq_followed_is_new(u32 *end, u32 seq, u32 len)
{
	u32 before = READ_ONCE(*end), ahead = seq + len - before;

	if (!len || !ahead || ahead > AHEAD_MAX)
		return false;
	WRITE_ONCE(*end, before + ahead);
	return true;
}

/* Does it acknowledge what was sent, or some of it?  Who does not see that cannot know. */
static bool is_answer_to(const struct synq_followed *conn, const struct tcphdr *th)
{
	return th->ack && READ_ONCE(conn->sent) - ntohl(th->ack_seq) <= AHEAD_MAX;
}

/* As TCP wants it (RFC 5961), or behind a FIN. */
static bool is_reset(const struct synq_followed *conn, const struct tcphdr *th)
{
	return th->rst && ntohl(th->seq) - READ_ONCE(conn->came) <= 1;
}

/**
 * synq_seen_in() - a segment has come for a port that has a limit
 * @net: network namespace
 * @skb: the segment, with the header of IP
 * @th: its header
 * @len: bytes of data behind that
 * @is_v6: IPv6
 *
 * Without the lock where it changes nothing but what is to come.
 *
 * Context: BH off, rcu_read_lock(), no lock of ours
 */
void synq_seen_in(const struct net *net, const struct sk_buff *skb,
		  const struct tcphdr *th, u32 len, bool is_v6)
{
	struct synq_followed *conn = len || th->rst ? find(net, skb, th, is_v6, false) : NULL;
	bool is_end;

	if (!conn)
		return;
	is_end = is_reset(conn, th);
	if (!is_end && (!is_answer_to(conn, th) ||
			!synq_followed_is_new(&conn->came, ntohl(th->seq), len) ||
			synq_followed_is_waiting(READ_ONCE(conn->state))))
		return;
	spin_lock_bh(&conn->record->inside.lock);
	if (!conn->dead && is_end)
		synq_followed_end(conn);
	else if (!conn->dead)
		synq_followed_begin(conn, ktime_get_ns());
	spin_unlock_bh(&conn->record->inside.lock);
}

/**
 * synq_seen_out() - a segment leaves a port that has a limit
 * @net: network namespace
 * @skb: the segment, with the header of IP
 * @th: its header
 * @len: bytes of data behind that
 * @is_v6: IPv6
 *
 * TCP calls for one connection at a time.  Without the lock if it changes nothing.
 *
 * Context: any, rcu_read_lock(), no lock of ours
 */
void synq_seen_out(const struct net *net, const struct sk_buff *skb,
		   const struct tcphdr *th, u32 len, bool is_v6)
{
	bool is_end = th->fin || th->rst;
	struct synq_followed *conn;

	conn = len || is_end ? find(net, skb, th, is_v6, true) : NULL;
	if (!conn)
		return;
	/* Whatever else has seemed to come has not. */
	WRITE_ONCE(conn->came, ntohl(th->ack_seq));
	len = synq_followed_is_new(&conn->sent, ntohl(th->seq), len) ? len : 0;
	if (!is_end && (!len || READ_ONCE(conn->state) == SYNQ_INSIDE_QUIET))
		return;
	spin_lock_bh(&conn->record->inside.lock);
	if (!conn->dead && len)
		synq_followed_answer(conn, ktime_get_ns());
	if (!conn->dead && is_end)
		synq_followed_end(conn);
	spin_unlock_bh(&conn->record->inside.lock);
}
