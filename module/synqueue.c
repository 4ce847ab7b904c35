// SPDX-License-Identifier: GPL-2.0
/*
 * Who may use the SYN queue of a listener: whether a class has had its share of it
 * (flood.c), from what the kernel counts and what is known of its classes
 * (halfopen.c).  What becomes of a SYN then is judge.c's business.
 *
 * A class that was flooded stays so for a while; that is looked at again with each of
 * its SYNs, and whenever somebody asks for the statistics.
 *
 * SYNs read without a lock.  Only where the state of a class has to change is the
 * lock taken.  N CPUs may let N - 1 SYNs too many through, for which there is
 * room.
 *
 * Called in softirq or process context, under rcu_read_lock().
 */
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <net/inet_connection_sock.h>
#include <net/net_namespace.h>
#include "admission.h"
#include "synqueue.h"

static_assert(SYNQ_HALFOPEN_CLASSES == SYNQ_SLOTS);

static u32 room_of(const struct sock *sk)
{
	const struct net *net = sock_net(sk);

	return synq_flood_room(READ_ONCE(sk->sk_max_ack_backlog),
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
static u32 length_soon(const struct synq_synqueue *queue, const struct sock *sk)
{
	u32 counted = READ_ONCE(queue->halfopen.total);
	u32 length = length_of(sk);

	return clamp_t(u32, counted, length, length + NAPI_POLL_WEIGHT);
}

/* What the other classes do not use of their shares. */
static u32 kept_for_others(const struct synq_admission *admission,
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
		kept += share - min(share, READ_ONCE(admission->synqueue
						     .halfopen.open[slot]));
	}
	return kept;
}

static struct synq_flood_sight sight_of(const struct synq_admission *admission,
					const struct synq_conf *conf,
					const struct synq_class *class,
					const struct sock *sk)
{
	const struct synq_synqueue *queue = &admission->synqueue;
	u32 room = room_of(sk);
	u32 open = READ_ONCE(queue->halfopen.open[class->slot]);
	struct synq_flood_sight sight = {
		.room = room,
		.length = length_soon(queue, sk),
		.share = synq_flood_share(room, conf->n_sharing),
		.spare = min_t(u32, num_online_cpus() - 1, room / 16),
	};

	sight.own = min(open, sight.length);
	/* While on, handshakes under way are of cookies, and not in there. */
	if (!READ_ONCE(queue->flood[class->slot].on))
		sight.expected = (u64)READ_ONCE(admission->open[class->slot]) *
				 READ_ONCE(admission->ratio[class->slot]) /
				 SYNQ_FLIGHT_ONE;
	/* All shares together are no more than the other half. */
	if (!synq_flood_is_low(room, sight.length))
		sight.kept = kept_for_others(admission, conf, class,
					     sight.share);
	return sight;
}

static void turn(struct synq_admission *admission, const struct synq_conf *conf,
		 const struct synq_class *class, const struct sock *sk,
		 struct synq_port *port, u64 now_ns)
{
	struct synq_flood *flood = &admission->synqueue.flood[class->slot];
	struct synq_flood_sight sight = sight_of(admission, conf, class, sk);

	lockdep_assert_held(&admission->lock);
	if (synq_flood_is_due(flood, &sight, now_ns) &&
	    synq_flood_turn(flood, &sight, now_ns))
		synq_count(port, class->slot, SYNQ_COUNT_FLOODED);
}

/* Not inline: what it has on the stack is not for those who find a short queue. */
static noinline bool look(struct synq_admission *admission,
			  const struct synq_conf *conf,
			  const struct synq_class *class, const struct sock *sk,
			  struct synq_port *port, u64 now_ns)
{
	struct synq_flood *flood = &admission->synqueue.flood[class->slot];
	struct synq_flood_sight sight = sight_of(admission, conf, class, sk);

	if (synq_flood_is_due(flood, &sight, now_ns)) {
		spin_lock_bh(&admission->lock);
		turn(admission, conf, class, sk, port, now_ns);
		spin_unlock_bh(&admission->lock);
	}
	return READ_ONCE(flood->on) || synq_flood_is_sated(&sight);
}

/* So short that whose requests are in it makes no difference. */
static bool is_low(const struct synq_synqueue *queue, const struct sock *sk)
{
	return synq_flood_is_low(room_of(sk), length_soon(queue, sk));
}

/**
 * synq_synqueue_is_flooded() - has a class had its share of the SYN queue?
 * @admission: of the listener
 * @conf: snapshot
 * @class: of a SYN that came now
 * @sk: listener
 * @port: where to count
 * @now_ns: monotonic clock, ns; as for synq_admission_advance()
 *
 * Context: any
 * Return: true if so: it holds no more of them, or too many that are idle, or they were
 *	a flood a while ago
 */
bool synq_synqueue_is_flooded(struct synq_admission *admission,
			      const struct synq_conf *conf,
			      const struct synq_class *class,
			      const struct sock *sk, struct synq_port *port,
			      u64 now_ns)
{
	const struct synq_flood *flood = &admission->synqueue.flood[class->slot];

	if (!synq_flood_is_noted(flood) && is_low(&admission->synqueue, sk))
		return false;
	/* What was expected a while ago may be no more. */
	synq_admission_advance(admission, sk, now_ns);
	return look(admission, conf, class, sk, port, now_ns);
}

/**
 * synq_synqueue_is_full() - does the SYN queue hold no more requests of a class?
 * @admission: of the listener
 * @conf: snapshot
 * @class: of a SYN
 * @sk: listener
 * @now_ns: monotonic clock, ns; as for synq_admission_advance()
 *
 * Context: any
 * Return: true if so
 */
bool synq_synqueue_is_full(struct synq_admission *admission,
			   const struct synq_conf *conf,
			   const struct synq_class *class,
			   const struct sock *sk, u64 now_ns)
{
	struct synq_flood_sight sight;

	if (is_low(&admission->synqueue, sk))
		return false;
	synq_admission_advance(admission, sk, now_ns);
	sight = sight_of(admission, conf, class, sk);
	return synq_flood_is_full(&sight);
}

/**
 * synq_synqueue_settle() - bring the account up to date
 * @admission: of the listener
 * @conf: snapshot
 * @sk: listener
 * @port: where to count
 *
 * Context: any
 */
void synq_synqueue_settle(struct synq_admission *admission,
			  const struct synq_conf *conf, const struct sock *sk,
			  struct synq_port *port)
{
	u64 now = ktime_get_ns();
	u8 i;

	spin_lock_bh(&admission->lock);
	synq_halfopen_settle(&admission->synqueue.halfopen, now, length_of(sk));
	for (i = 0; i < conf->n_positions; i++)
		if (admission->synqueue.flood[conf->order[i]].on)
			turn(admission, conf, &conf->class[conf->order[i]], sk,
			     port, now);
	spin_unlock_bh(&admission->lock);
}
