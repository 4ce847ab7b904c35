// SPDX-License-Identifier: GPL-2.0
/*
 * How often a listener sends an unanswered SYN-ACK again: fewer times make it a
 * weaker amplifier for SYNs with forged sources, of this port alone and without a
 * change to the application.
 *
 * It is the field that setsockopt(TCP_SYNCNT) sets, and that the kernel reads at
 * each timeout: requests that are half open already obey as well.  What the
 * application has set is remembered and put back; what it sets meanwhile is taken
 * for its own, unless it is the same number, and stays until the configuration
 * is changed.  If it sets it in the very instant in which we do, the later wins.
 *
 * Writers hold &synq_net.records_lock (listener.c); children are disinherited under
 * rcu_read_lock().
 */
#include <net/inet_connection_sock.h>
#include "retries.h"

/**
 * synq_retries_set() - have a listener send SYN-ACKs so many times again
 * @retries: of the listener
 * @sk: listener
 * @wanted: 1..SYNQ_SYNACK_RETRIES_MAX; 0: what it had before
 *
 * @ours stays when the listener has its own back: a child that was copied before
 * may be on its way to synq_retries_disinherit().
 *
 * Context: &synq_net.records_lock
 */
void synq_retries_set(struct synq_retries *retries, struct sock *sk, u8 wanted)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	u8 now = READ_ONCE(icsk->icsk_syn_retries);

	if (!retries->held || now != retries->ours)
		WRITE_ONCE(retries->was, now);
	retries->held = wanted;
	if (wanted)
		WRITE_ONCE(retries->ours, wanted);
	if (now != (wanted ?: retries->was))
		WRITE_ONCE(icsk->icsk_syn_retries, wanted ?: retries->was);
}

/**
 * synq_retries_disinherit() - give a child what its listener had of its own
 * @retries: of the listener
 * @child: locked, and nobody can have called it yet
 *
 * It sends no SYN-ACK; but getsockopt(TCP_SYNCNT) would tell.
 *
 * Context: any
 */
void synq_retries_disinherit(const struct synq_retries *retries,
			     struct sock *child)
{
	struct inet_connection_sock *icsk = inet_csk(child);
	u8 ours = READ_ONCE(retries->ours);

	if (ours && icsk->icsk_syn_retries == ours)
		icsk->icsk_syn_retries = READ_ONCE(retries->was);
}

/**
 * synq_retries_of() - how often a listener sends a SYN-ACK again
 * @sk: listener
 *
 * Context: any
 * Return: the number in force
 */
u8 synq_retries_of(const struct sock *sk)
{
	return READ_ONCE(inet_csk(sk)->icsk_syn_retries) ?:
	       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_synack_retries);
}
