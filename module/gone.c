// SPDX-License-Identifier: GPL-2.0
/*
 * Connections whose client has left before it was answered.  Many servers close, and go on with
 * the work.  They do not show when that is done, so it is guessed.
 *
 * Such a connection counts as busy until one whose request came later is answered, or for half of
 * the time after which it would be stuck.  If nothing had been answered for longer than that when
 * its request came, the server has more to do than its clients wait for.  Then it counts for as
 * long as that silence, up to eight times that half, and 10 s at most, which is longer than most
 * clients wait.  A client that sends half a request and leaves keeps the place for as long.
 *
 * follow.c describes the life of a connection.
 *
 * Softirq, or process context with BH off, with the lock of the record's inside.
 */
#include <linux/list.h>
#include "conf.h"
#include "crew.h"
#include "follow.h"
#include "inside.h"
#include "record.h"

/*
 * May the server go on with its work, though it has closed?  Yes if the client has ended it first,
 * and not at once: that would be a farewell, or half of a connection.  The client may have done so
 * while it was held.  If the server has ended it first, it knows that there is nothing to do.
 */
bool synq_gone_is_worked_on(const struct synq_followed *conn)
{
	const struct synq_inside *inside = &conn->record->inside;
	u64 ended_ns = READ_ONCE(conn->ended_ns);

	return conn->state == SYNQ_INSIDE_BUSY && ended_ns &&
	       ended_ns + conn->held_ns > conn->since_ns + SYNQ_FRESH_NS &&
	       inside->reached_ns && !inside->closed && conn->slot != SYNQ_SLOT_LOCAL;
}

/* Tells climb.c that its client has left. */
void synq_gone_tell(const struct synq_followed *conn)
{
	struct synq_inside *inside = &conn->record->inside;
	u64 ended_ns = READ_ONCE(conn->ended_ns), waited_ns;

	/* On 32 bits it may be half of one time and half of another. */
	waited_ns = ended_ns - min(conn->since_ns, ended_ns);
	synq_crew_left(inside, waited_ns, conn->held_ns);
}

static bool is_over(const struct synq_inside *inside, const struct synq_followed *conn, u64 now_ns)
{
	u64 silent_ns = conn->since_ns - min(inside->silent_since_ns, conn->since_ns);
	u64 counts_ns = synq_followed_longest_ns(inside) / 2;

	counts_ns = clamp(silent_ns, counts_ns, min(8 * counts_ns, SYNQ_STUCK_MOST_NS));
	return conn->since_ns <= inside->reached_ns || conn->since_ns + counts_ns < now_ns;
}

/*
 * Those that the server works on no more; returns how many.  The others are looked at again after
 * all others.
 */
unsigned int synq_gone_let_go(struct synq_inside *inside, unsigned int budget, u64 now_ns)
{
	struct synq_followed *conn, *next;
	unsigned int n = 0;
	LIST_HEAD(stay);

	list_for_each_entry_safe(conn, next, &inside->gone, list) {
		if (!budget--)
			break;
		if (is_over(inside, conn, now_ns)) {
			synq_followed_forget(conn);
			n++;
		} else {
			list_move_tail(&conn->list, &stay);
		}
	}
	list_splice_tail(&stay, &inside->gone);
	return n;
}
