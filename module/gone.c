// SPDX-License-Identifier: GPL-2.0
/*
 * Connections whose client has left before it was answered.  Many servers close, and go on with
 * the work.  They do not show when that is done, so it is guessed.
 *
 * Such a connection counts as busy until one whose request came later is answered, or for half of
 * the time after which it would be stuck.  Where nothing has been answered for some time before
 * its request came the server has more to do than anybody waits for.  Then it counts for as long
 * as that time, up to eight times as long as else, and 5 s: who leaves without a request that can
 * be answered holds the place.
 *
 * Its life is described in follow.c.  With the lock of its record.
 */
#include <linux/list.h>
#include "conf.h"
#include "follow.h"
#include "inside.h"
#include "record.h"

/*
 * Its client has ended it, and not at once: that would be a farewell, or half of a connection.  One
 * that was held may have been ended meanwhile.  If its server has ended it, that knows that there
 * is nothing to do.
 */
bool synq_gone_is_worked_on(const struct synq_followed *conn)
{
	const struct synq_inside *inside = &conn->record->inside;
	u64 ended_ns = READ_ONCE(conn->ended_ns);

	return conn->state == SYNQ_INSIDE_BUSY && ended_ns &&
	       ended_ns + conn->held_ns > conn->since_ns + SYNQ_FRESH_NS &&
	       inside->reached_ns && !inside->closed && conn->slot != SYNQ_SLOT_LOCAL;
}

void synq_gone_tell(const struct synq_followed *conn)
{
	struct synq_inside *inside = &conn->record->inside;
	u64 ended_ns = READ_ONCE(conn->ended_ns), waited_ns;

	/* On 32 bits it may be half of one time and half of another. */
	waited_ns = ended_ns - min(conn->since_ns, ended_ns);
	synq_climb_left(&inside->climb, waited_ns, conn->held_ns, inside->mean_ns);
}

static bool is_over(const struct synq_inside *inside, const struct synq_followed *conn, u64 now_ns)
{
	u64 silent_ns = conn->since_ns - min(inside->silent_since_ns, conn->since_ns);
	u64 counts_ns = synq_followed_longest_ns(inside) / 2;

	counts_ns = clamp(silent_ns, counts_ns, min(8 * counts_ns, SYNQ_STUCK_MOST_NS / 2));

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
