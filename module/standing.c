// SPDX-License-Identifier: GPL-2.0
/*
 * Standing refusals: what became of SYNs just now, by where they were sent to.  So most
 * SYNs of a flood are refused in PREROUTING (peek.c), before anything is looked up for
 * them and before conntrack, though only a listener can say that they are to be.
 *
 * LOCAL_IN opens a note of an address and a port to which a SYN has come as it was sent,
 * and for which it has found a configured socket.  That socket puts into the note that
 * SYNs reach it, and which classes it has refused.  If another one is reached the note is
 * of no use.  PREROUTING reads it.
 *
 * DOC: how long a note is believed
 *
 * For the rest of the jiffy, on the same CPU, under the same snapshot.  So about one SYN
 * in each jiffy is judged (of a batch of packets, those of the first), for each class,
 * listener and CPU; what is said of it stands for the others.  What may change meanwhile
 * is what two CPUs may disagree about anyway: a socket, an address or a route that goes
 * in this instant, or a slot that becomes free.  Nothing is remembered of what is not
 * there: a socket that begins to listen is found at once.  Nothing need be held: what the
 * snapshot holds is there while that is.
 *
 * A CPU has a few notes.  An address and port has one of them, by a secret hash; the first
 * to come in a jiffy keeps it.
 *
 * DOC: where no refusal stands
 *
 * The next SYN to the same address and port may be for another socket:
 *
 * reuseport		another member of the group may be idle; only rates count, which
 *			are not a matter of the socket.
 * TPROXY, tc, sk_lookup	a rule or a program chooses: no note.
 * REDIRECT, DNAT	no note of where the rule sends it, since a SYN that is sent there
 *			need not be treated so.  A rule that rewrites some of the SYNs to
 *			an address and port, and lets others reach a listener there, is
 *			not seen: in the jiffies in which that refuses a class, so are those
 *			of the class that were to be rewritten.
 * enforce off		nothing is refused.
 *
 * DOC: the clock of a jiffy
 *
 * A note says what time it was, too.  While the jiffy lasts it is not later than that by
 * two ticks, unless ticks are late.  A source that exceeds a rate even then exceeds it
 * now.  So a bucket that is empty for longer needs no clock; for one that may have a token
 * again the clock is read.  The note marks a class whose bucket is empty for so long, since
 * nothing but time fills it.  Where ticks are late a token is handed out as much later, and
 * not lost: what counts is when it is due.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(); no lock: the notes are of
 * this CPU, and nothing else runs there meanwhile.  With BH on nothing is noted or believed.
 */
#include <linux/build_bug.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/time64.h>
#include <net/mptcp.h>
#include <net/sock_reuseport.h>
#include "standing.h"

static_assert(SYNQ_SLOTS <= 32);	/* bits of synq_note.empty */
static_assert(sizeof(struct synq_note) == 128);	/* modules have little of each CPU */

DEFINE_PER_CPU(struct synq_note[SYNQ_NOTES], synq_notes);
u32 synq_standing_key __ro_after_init = 1;

/**
 * synq_standing_init() - the module is loaded
 * @random: secret
 */
void synq_standing_init(u32 random)
{
	synq_standing_key = random | 1;
}

/**
 * synq_standing_open() - a SYN in LOCAL_IN is where it was sent to
 * @conf: snapshot
 * @seg: the SYN
 * @sk: that listens for it
 *
 * Context: any, rcu_read_lock()
 */
void synq_standing_open(const struct synq_conf *conf,
			const struct synq_segment *seg, const struct sock *sk)
{
	const struct synq_client *client = &seg->client;
	const void *daddr = client->daddr;
	const unsigned long now = jiffies;
	struct synq_note *note;
	u64 now_ns;

	if (!synq_standing_is_ours())
		return;
	note = synq_standing_place(client->is_v6, daddr, client->dport);
	if (note->when == now && note->serial && note->port)
		return;
	now_ns = ktime_get_ns();
	*note = (struct synq_note){
		.serial = conf->serial,
		.when = now,
		.daddr = {
			synq_standing_half(client->is_v6, daddr, 0),
			synq_standing_half(client->is_v6, daddr, 1),
		},
		.until_ns = now_ns + 2 * TICK_NSEC,
		.ms = div_u64(now_ns, NSEC_PER_MSEC),
		.dif = seg->dif,
		.sdif = seg->sdif,
		.dport = client->dport,
		.is_v6 = client->is_v6,
		.sk = sk,
		.group = rcu_access_pointer(sk->sk_reuseport_cb),
	};
}

static bool is_in_group(const struct sock *sk)
{
	const struct sock_reuseport *group =
		rcu_dereference(sk->sk_reuseport_cb);

	return group && READ_ONCE(group->num_socks) > 1;
}

/**
 * synq_standing_reach() - a SYN has come to a managed socket
 * @conf: snapshot
 * @seg: the SYN
 * @sk: the socket
 * @port: its counters, held by the snapshot
 *
 * Context: BH off, rcu_read_lock()
 * Return: the note of where it was sent to; NULL: there is none, or it was another's
 */
struct synq_note *synq_standing_reach(const struct synq_conf *conf,
				      const struct synq_segment *seg,
				      const struct sock *sk,
				      struct synq_port *port)
{
	struct synq_note *note = synq_standing_find(conf, seg);

	if (!note)
		return NULL;
	if (!note->port) {
		note->is_group = is_in_group(sk);
		note->is_mptcp = sk_is_mptcp(sk);
	}
	if (note->sk != sk &&
	    (!note->group ||
	     note->group != rcu_access_pointer(sk->sk_reuseport_cb))) {
		note->serial = 0;
		return NULL;
	}
	note->port = port;
	return note;
}
