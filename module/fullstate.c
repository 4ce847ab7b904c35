// SPDX-License-Identifier: GPL-2.0
/*
 * Who has full state, and who a cookie: the policy of a class, a listener and an
 * application; and how the kernel is made to keep to it where it would answer each
 * SYN by a cookie of its own (tcp_syncookies=2).
 *
 * DOC: full state under tcp_syncookies=2
 *
 * The kernel asks neither that sysctl nor its queue when a SYN comes with the
 * sequence number that its SYN-ACK is to have, as one for a connection in TIME_WAIT
 * does (tcp_conn_request(); the number is in the packet's control block).  So the
 * borrowed conn_request() in listener.c comes here first, and a SYN whose class has
 * full state by the policy gets such a number: under "never", and under "auto" while
 * its class has not had its share.  Everybody else is left to the sysctl: "always",
 * classes that have had their share (of whom only those come here that synq could
 * not answer), "enforce off", synq off, sockets that are not managed.
 *
 * Whether a SYN is to have it is known of those that PREROUTING has judged (judged.c).
 * For all others it makes no difference who judged the SYN, or whether anybody did, or
 * passed it on as excess: class and policy are looked up again, which costs as much as
 * the first time.  All this is done under that sysctl only.  With 0 and 1 there is
 * nothing to do: synq shares the queue out, so that the kernel's own cookies do not
 * begin, and where they do its queue is full.
 *
 * DOC: what else hangs on that number
 *
 * In tcp_conn_request() and what it calls, Linux 6.1 to 7.3:
 *
 * a full SYN queue	is not looked for: but here, by the kernel's own rule.  Who
 *			finds it full gets no number, and the kernel's cookie.
 * its last quarter	is for peers that are known, with tcp_syncookies=0: not
 *			where this is done.
 * the number itself	is what the kernel would have chosen a moment later, from the
 *			same function (compat.h): a keyed hash of addresses and
 *			ports, and the clock.  0 means none: 1 stands for it.
 * IPv6			does not keep the SYN for IPV6_2292PKTOPTIONS, nor send its
 *			flow label back.  Listeners that want either keep the
 *			kernel's cookies.
 * TIME_WAIT		has given its SYN a number: full state, left alone.
 *
 * Nothing else does.  Time stamps and their offset, ECN, Fast Open, SMC, TCP-AO, saved
 * SYNs, security modules and MPTCP look at whether it is to be a cookie, or at
 * nothing.  MPTCP's listeners call the same function; SMC's have the operations of
 * TCP, but for syn_recv_sock().
 *
 * Softirq, or process context with BH off, under rcu_read_lock(); no lock.
 */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <net/flow.h>
#include <net/inet_connection_sock.h>
#include "classify.h"
#include "compat.h"
#include "fullstate.h"
#include "judged.h"
#include "record.h"

/**
 * synq_fullstate_policy() - the policy on cookies in force
 * @sk: listener
 * @listener: configured, as it is for @sk
 * @class: of the client
 *
 * Context: any; the caller keeps the snapshot
 * Return: by class, application and listener; "never" where the kernel would not
 * look at any
 */
enum synq_cookies synq_fullstate_policy(const struct sock *sk,
					const struct synq_listener *listener,
					const struct synq_class *class)
{
	if (!READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_syncookies))
		return SYNQ_COOKIES_NEVER;
	return synq_conf_cookies(class, listener);
}

/*
 * Is a SYN to be answered by a cookie now?  By what the last SYN of the class has
 * shown; changes nothing.
 */
static bool is_denied(const struct sock *sk, const struct synq_listener *listener,
		      const struct synq_class *class,
		      const struct synq_record *record)
{
	switch (synq_fullstate_policy(sk, listener, class)) {
	case SYNQ_COOKIES_INHERIT:
	case SYNQ_COOKIES_AUTO:
		return record &&
		       READ_ONCE(record->admission.synqueue.flood[class->slot].on);
	case SYNQ_COOKIES_ALWAYS:
		return true;
	case SYNQ_COOKIES_NEVER:
		break;
	}
	return false;
}

/* Of IPv6: for whoever asks for what came with it, or for its flow label. */
static bool wants_syn(const struct sock *sk)
{
	return READ_ONCE(inet6_sk(sk)->rxopt.all) || synq_reflects_flowlabel(sk);
}

/**
 * synq_fullstate_is_kept() - does a SYN that is let in take a place in the SYN queue?
 * @sk: listener
 * @conf: snapshot
 * @listener: configured, as it is for @sk
 * @class: of the client
 * @record: of @sk
 * @is_v6: the SYN is of IPv6
 *
 * Context: any, rcu_read_lock()
 * Return: true if so; false: the kernel answers it by a cookie of its own
 */
bool synq_fullstate_is_kept(const struct sock *sk, const struct synq_conf *conf,
			    const struct synq_listener *listener,
			    const struct synq_class *class,
			    const struct synq_record *record, bool is_v6)
{
	if (READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_syncookies) != 2)
		return true;
	return SYNQ_HAS_ISN && !(is_v6 && wants_syn(sk)) &&
	       !synq_conf_observes(conf, listener, class) &&
	       !is_denied(sk, listener, class, record);
}

/* As it was judged: its mark has not changed since; its device has gone. */
static const struct synq_class *class_of(const struct synq_conf *conf,
					 struct net *net,
					 const struct sk_buff *skb, bool is_v6)
{
	const void *saddr = is_v6 ? (const void *)&ipv6_hdr(skb)->saddr :
				    (const void *)&ip_hdr(skb)->saddr;
	struct synq_client client = {
		.addr = saddr,
		.daddr = is_v6 ? (const void *)&ipv6_hdr(skb)->daddr :
				 (const void *)&ip_hdr(skb)->daddr,
		.mark = skb->mark,
		.dport = tcp_hdr(skb)->dest,
		.is_v6 = is_v6,
		.is_local = skb->skb_iif == LOOPBACK_IFINDEX &&
			    synq_classify_is_local(net, is_v6, saddr),
	};

	return synq_classify(conf, &client, NULL);
}

/* By the policy, which is looked up.  Out of the way of those of whom it is known. */
static noinline bool is_to_be_kept(const struct sock *sk,
				   const struct synq_record *record,
				   const struct sk_buff *skb, bool is_v6)
{
	struct synq_listener listener;
	const struct synq_conf *conf = synq_record_conf(record, &listener);

	return conf &&
	       synq_fullstate_is_kept(sk, conf, &listener,
				      class_of(conf, sock_net(sk), skb, is_v6),
				      record, is_v6);
}

/**
 * synq_fullstate_request() - a listener is about to treat a SYN
 * @sk: listener
 * @record: of @sk
 * @skb: the SYN, as TCP has it
 *
 * Has the kernel keep full state, if that is the policy and would not be the
 * kernel's.  The configuration is asked for only where it can make a difference.
 *
 * Context: softirq or process with BH off, rcu_read_lock()
 */
void synq_fullstate_request(const struct sock *sk,
			    const struct synq_record *record,
			    struct sk_buff *skb)
{
	const struct net *net = sock_net(sk);
	bool is_v6 = skb->protocol == htons(ETH_P_IPV6);

	if (READ_ONCE(net->ipv4.sysctl_tcp_syncookies) != 2 ||
	    inet_csk_reqsk_queue_is_full(sk) || synq_has_isn(skb))
		return;
	if (synq_judged_keeps(skb, sk) || is_to_be_kept(sk, record, skb, is_v6))
		synq_choose_isn(net, skb, is_v6);
}
