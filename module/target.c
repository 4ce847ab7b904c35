// SPDX-License-Identifier: GPL-2.0
/*
 * Where SYNs for listeners were sent to, just now: so that in a flood it is not looked
 * up for each of them whether an address is the host's and a socket listens there.
 *
 * What is remembered is that a SYN to an address and a port, by an interface, is for
 * a socket of a configured listener, whoever sent it.  So it is not for where a BPF
 * program chooses the socket: arrival.c notes nothing then.
 *
 * It is true when it is noted, and believed in the same jiffy, on the same CPU, under
 * the same snapshot.  What may have changed meanwhile is what two CPUs may disagree
 * about anyway: a socket, an address or a route that goes in this instant.  Nothing is
 * remembered of what is not there: a socket that begins to listen is found at once.
 * Nothing need be held: what the snapshot holds is there while that is.
 *
 * A CPU has a few places, each address and port one of them, and the last comer has it.
 *
 * DOC: the clock of a jiffy
 *
 * What is noted says what time it was, too.  While the jiffy lasts it is not later than
 * that by two ticks, unless ticks are late; and who exceeds a rate even then exceeds it
 * now.  So a bucket that is empty for longer needs no clock: who waits for it to have
 * a token again asks the clock itself.  Of a class it is noted that its bucket is empty
 * for so long, since nothing but time fills it.  Where ticks are late a token is handed
 * out as much later, and not lost: what counts is when it is due.
 *
 * Softirq, or process context with BH off, under rcu_read_lock(): nobody else is at the
 * places of this CPU meanwhile.  With BH on nothing is noted or believed.
 */
#include <linux/build_bug.h>
#include <linux/math64.h>
#include <linux/time64.h>
#include "target.h"

static_assert(SYNQ_SLOTS <= 32);	/* bits of synq_target.empty */

DEFINE_PER_CPU(struct synq_target[SYNQ_TARGETS], synq_targets);

/**
 * synq_target_note() - a SYN is for a listener
 * @conf: snapshot
 * @seg: the SYN
 * @port: of the listener, of @conf
 * @now_ns: monotonic clock
 *
 * Context: any, rcu_read_lock()
 */
void synq_target_note(const struct synq_conf *conf,
		      const struct synq_segment *seg, struct synq_port *port,
		      u64 now_ns)
{
	const struct synq_client *client = &seg->client;
	const void *daddr = client->daddr;

	if (!synq_target_is_ours())
		return;
	*synq_target_place(client->is_v6, daddr, client->dport) =
		(struct synq_target){
			.serial = conf->serial,
			.when = jiffies,
			.daddr = {
				synq_target_half(client->is_v6, daddr, 0),
				synq_target_half(client->is_v6, daddr, 1),
			},
			.port = port,
			.until_ns = now_ns + 2 * TICK_NSEC,
			.ms = div_u64(now_ns, NSEC_PER_MSEC),
			.dif = seg->dif,
			.sdif = seg->sdif,
			.dport = client->dport,
			.is_v6 = client->is_v6,
		};
}
