// SPDX-License-Identifier: GPL-2.0
/*
 * Which classes may use the SYN queue of a listener: whether a class has had its share of it
 * (halfopen.c), from what the kernel counts and what is known of its classes.  What
 * becomes of a SYN then is judge.c's business.
 *
 * It counts as a flood if for a whole second a class has too many requests that are not
 * expected to be answered: after a stall the delayed ones are answered at once, and
 * lost segments are retransmitted within a second.  It is over when they have been less than
 * half as many for a second.  That is for the statistics only.
 *
 * SYNs read without a lock.  N CPUs may let N - 1 SYNs too many through, for which there
 * is room.
 *
 * Called in softirq or process context, under rcu_read_lock().
 */
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <net/inet_connection_sock.h>
#include <net/net_namespace.h>
#include "synqueue.h"

#define LASTS_NS	((u64)NSEC_PER_SEC)

/*
 * synq_handshakes.idle_since_ns: 0, or an even time since when there are too many that are
 * not expected to be answered.  Odd: for longer than LASTS_NS, and, if it is not 1, since
 * that time there are clearly fewer.
 */
#define FLOODED		1ULL

static u32 room_of(const struct sock *sk)
{
	const struct net *net = sock_net(sk);

	return synq_halfopen_room(READ_ONCE(sk->sk_max_ack_backlog),
				  READ_ONCE(net->ipv4.sysctl_max_syn_backlog),
				  READ_ONCE(net->ipv4.sysctl_tcp_syncookies));
}

static u32 length_of(const struct sock *sk)
{
	return max(inet_csk_reqsk_queue_len(sk), 0);
}

/*
 * A batch of packets passes PREROUTING before the first of them has become a
 * request.
 */
static u32 length_soon(const struct synq_handshakes *shakes, const struct sock *sk)
{
	u32 counted = READ_ONCE(shakes->halfopen.total);
	u32 length = length_of(sk);

	return clamp_t(u32, counted, length, length + NAPI_POLL_WEIGHT);
}

/* What the other classes do not use of their shares. */
static u32 kept_for_others(const struct synq_handshakes *shakes,
			   const struct synq_conf *conf,
			   const struct synq_class *class, u32 share)
{
	u32 kept = 0;
	u8 i;

	for (i = 0; i < conf->n_positions; i++) {
		u8 slot = conf->order[i];

		if (slot == class->slot ||
		    !synq_conf_shares(conf, &conf->class[slot]))
			continue;
		kept += share - min(share, READ_ONCE(shakes->halfopen.open[slot]));
	}
	return kept;
}

static struct synq_halfopen_sight sight_of(const struct synq_handshakes *shakes,
					   const struct synq_conf *conf,
					   const struct synq_class *class,
					   const struct sock *sk)
{
	u32 room = room_of(sk), length = length_soon(shakes, sk);
	u32 share = synq_halfopen_share(room, conf->n_sharing);

	return (struct synq_halfopen_sight){
		.room = room,
		.length = length,
		.own = min(READ_ONCE(shakes->halfopen.open[class->slot]), length),
		.expected = READ_ONCE(shakes->expected[class->slot]),
		.share = share,
		.kept = kept_for_others(shakes, conf, class, share),
		.spare = min_t(u32, num_online_cpus() - 1, room / 16),
	};
}

/* So short that it makes no difference of which class its requests are. */
static bool is_low(const struct synq_handshakes *shakes, const struct sock *sk)
{
	return synq_halfopen_is_low(room_of(sk), length_soon(shakes, sk));
}

/* A flood is over when that has lasted, too: what expires of it is soon replaced. */
static u64 since(u64 before, bool is_idle, bool is_busy, u64 now_ns)
{
	bool has_lasted = now_ns >= before + LASTS_NS;

	if (before & FLOODED) {
		if (!is_busy)
			return FLOODED;
		if (before == FLOODED)
			return now_ns | FLOODED;
		return has_lasted ? 0 : before;
	}
	if (is_idle && !before)
		return now_ns & ~FLOODED;
	if (is_idle && has_lasted)
		return FLOODED;
	return is_busy ? 0 : before;
}

/* Of two CPUs only one counts. */
static void note(struct synq_handshakes *shakes, u8 slot,
		 const struct synq_halfopen_sight *sight, struct synq_port *port,
		 u64 now_ns)
{
	u64 *word = &shakes->idle_since_ns[slot], before = READ_ONCE(*word);
	u64 after = since(before, synq_halfopen_is_idle(sight),
			  synq_halfopen_is_busy(sight), now_ns);

	if (likely(after == before))
		return;
	spin_lock_bh(&shakes->lock);
	if (*word == before) {
		WRITE_ONCE(*word, after);
		if (after == FLOODED && !(before & FLOODED))
			synq_count(port, slot, SYNQ_COUNT_FLOODED);
	}
	spin_unlock_bh(&shakes->lock);
}

/* Not inline: a SYN that finds a short queue does not pay for its stack. */
static noinline bool look(struct synq_handshakes *shakes,
			  const struct synq_conf *conf,
			  const struct synq_class *class, const struct sock *sk,
			  struct synq_port *port, u64 now_ns)
{
	struct synq_halfopen_sight sight;

	synq_handshakes_advance(shakes, now_ns);
	synq_handshakes_settle(shakes, length_of(sk), now_ns);
	sight = sight_of(shakes, conf, class, sk);
	note(shakes, class->slot, &sight, port, now_ns);
	return synq_halfopen_is_full(&sight) || synq_halfopen_is_idle(&sight);
}

/**
 * synq_synqueue_is_flooded() - has a class had its share of the SYN queue?
 * @shakes: of the listener
 * @conf: snapshot
 * @class: of a SYN that came now
 * @sk: listener
 * @port: where to count
 * @now_ns: monotonic clock, ns; as for synq_handshakes_advance()
 *
 * Return: true if so: it holds no more of them, or too many that are not expected to be
 *	answered
 */
bool synq_synqueue_is_flooded(struct synq_handshakes *shakes,
			      const struct synq_conf *conf,
			      const struct synq_class *class,
			      const struct sock *sk, struct synq_port *port,
			      u64 now_ns)
{
	return !is_low(shakes, sk) && look(shakes, conf, class, sk, port, now_ns);
}

/**
 * synq_synqueue_is_full() - does the SYN queue hold no more requests of a class?
 * @shakes: of the listener
 * @conf: snapshot
 * @class: of a SYN
 * @sk: listener
 * @now_ns: monotonic clock, ns; as for synq_handshakes_advance()
 *
 * Return: true if so
 */
bool synq_synqueue_is_full(struct synq_handshakes *shakes,
			   const struct synq_conf *conf,
			   const struct synq_class *class,
			   const struct sock *sk, u64 now_ns)
{
	struct synq_halfopen_sight sight;

	if (is_low(shakes, sk))
		return false;
	synq_handshakes_settle(shakes, length_of(sk), now_ns);
	sight = sight_of(shakes, conf, class, sk);
	return synq_halfopen_is_full(&sight);
}

/**
 * synq_synqueue_was_flooded() - is a class flooded, as of when its SYNs were last judged?
 * @shakes: of the listener
 * @slot: of the class
 *
 * Return: true if so
 */
bool synq_synqueue_was_flooded(const struct synq_handshakes *shakes, u8 slot)
{
	return READ_ONCE(shakes->idle_since_ns[slot]) & FLOODED;
}

/**
 * synq_synqueue_settle() - bring the account up to date
 * @shakes: of the listener
 * @conf: snapshot
 * @sk: listener
 * @port: where to count
 */
void synq_synqueue_settle(struct synq_handshakes *shakes,
			  const struct synq_conf *conf, const struct sock *sk,
			  struct synq_port *port)
{
	u64 now_ns = ktime_get_ns();
	u8 i;

	spin_lock_bh(&shakes->lock);
	synq_halfopen_settle(&shakes->halfopen, now_ns, length_of(sk));
	spin_unlock_bh(&shakes->lock);
	for (i = 0; i < conf->n_positions; i++) {
		u8 slot = conf->order[i];
		struct synq_halfopen_sight sight =
			sight_of(shakes, conf, &conf->class[slot], sk);

		if (READ_ONCE(shakes->idle_since_ns[slot]))
			note(shakes, slot, &sight, port, now_ns);
	}
}
