// SPDX-License-Identifier: GPL-2.0
/*
 * How many connections a server works on, and how many it may (design: "inside").  Most
 * servers accept at once and queue inside themselves, where they cannot be put into
 * order.  So a class is let in while few enough are busy (follow.c), and the others are
 * held (hold.c).
 *
 * A class is let in while fewer connections of it and of the classes before it are busy than
 * the limit.  So a preferred connection never waits for others, and at most twice the limit
 * are inside.  But a connection that was kept open for long, whose requests nothing holds
 * back, keeps nobody of its own class out: they would wait for as long as it asks.  In other
 * orders than strict all classes count.  A class with a minimum share has that share of the
 * limit, whatever else is busy.  Reserves have no meaning here: the first class has all of the
 * limit for itself.
 *
 * Fail open.  While connections are held and nothing is answered for a second, or longer
 * where answers take longer, the limit is doubled, and again.  So a stalled server, or one
 * whose answers are not seen, ends as with the stock kernel.  The next answer restores the
 * limit.  Not if clients leave ("auto", climb_open.c), nor while connections wait in the accept
 * queue: a server that does not accept lacks no connections, and would have to work on all of
 * them when it goes on.  What is held then is promoted when its time is up (hold.c).
 *
 * Softirq, or process context with BH off, under rcu_read_lock().
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/time64.h>
#include <net/tcp.h>
#include "crew.h"
#include "follow.h"
#include "inside.h"
#include "record.h"
#include "request.h"

#ifndef CONFIG_PROC_FS
#error "synq tells network namespaces apart by their inode numbers: CONFIG_PROC_FS"
#endif

#define BLIND_NS	((u64)NSEC_PER_SEC)
#define BLIND_MAX_NS	(4 * BLIND_NS)
#define MEAN_LEAST_NS	(250ULL * NSEC_PER_MSEC)
#define MEAN_AT_FIRST_NS	(125ULL * NSEC_PER_MSEC)
#define PAUSE_NS	(NSEC_PER_SEC / 10)
#define OPENED_MAX	16
#define STOPPED_NS	(NSEC_PER_SEC / 10)

/**
 * synq_inside_init() - nothing is inside
 * @inside: in a record that cannot be found yet
 */
void synq_inside_init(struct synq_inside *inside)
{
	u8 slot;

	spin_lock_init(&inside->lock);
	for (slot = 0; slot < SYNQ_SLOTS; slot++)
		INIT_LIST_HEAD(&inside->late[slot]);
	__skb_queue_head_init(&inside->due);
	INIT_LIST_HEAD(&inside->fresh);
	INIT_LIST_HEAD(&inside->greeted);
	INIT_LIST_HEAD(&inside->busy);
	INIT_LIST_HEAD(&inside->gone);
	INIT_LIST_HEAD(&inside->quiet);
	INIT_LIST_HEAD(&inside->doubted);
	/* One short answer says little: those that take longer need not be stuck. */
	inside->mean_ns = MEAN_AT_FIRST_NS;
}

/**
 * synq_inside_limit() - how many connections may be busy
 * @inside: of the listener
 * @listener: configured, with a limit
 *
 * Return: connections
 */
u32 synq_inside_limit(const struct synq_inside *inside,
		      const struct synq_listener *listener)
{
	if (listener->inside == SYNQ_INSIDE_AUTO)
		return synq_crew_limit(inside);
	return min_t(u64, (u64)listener->inside << READ_ONCE(inside->opened), U32_MAX);
}

/*
 * Of all classes whose work is done before that of one, and its own.  Those that are kept count
 * for later classes, but not beside what "auto" finds, which leaves them out.  Not of the host
 * itself: any process of it could keep all others out.
 */
static u32 busy_of(const struct synq_inside *inside, const struct synq_conf *conf,
		   const struct synq_listener *listener,
		   const struct synq_class *class)
{
	bool is_strict = listener->order == SYNQ_ORDER_STRICT;
	u8 last = is_strict ? class->position : conf->n_positions - 1, p;
	u32 busy = 0;

	for (p = 0; p <= last; p++) {
		if (conf->order[p] == SYNQ_SLOT_LOCAL)
			continue;
		busy += synq_inside_own(inside, conf->order[p]);
		if (is_strict && p < last && listener->inside != SYNQ_INSIDE_AUTO)
			busy += synq_inside_kept(inside, conf->order[p]);
	}
	return busy;
}

/*
 * The server works on as many besides as "auto" knows to be kept.  Those of later classes do not
 * count for a class, so it may have their places, too.
 */
static u32 limit_of(const struct synq_inside *inside, const struct synq_conf *conf,
		    const struct synq_listener *listener, const struct synq_class *class)
{
	u32 limit = synq_inside_limit(inside, listener), kept = 0;
	u8 p;

	if (listener->inside != SYNQ_INSIDE_AUTO || listener->order != SYNQ_ORDER_STRICT)
		return limit;
	for (p = class->position + 1; p < conf->n_positions; p++)
		if (conf->order[p] != SYNQ_SLOT_LOCAL)
			kept += synq_inside_kept(inside, conf->order[p]);
	return limit + min(kept, synq_crew_beside(inside));
}

/**
 * synq_inside_has_room() - may a connection of a class be promoted?
 * @record: of the listener
 * @conf: snapshot
 * @listener: configured, as it is for the socket
 * @class: of the connection
 * @is_cookie: it is one of a SYN cookie, which cannot be held
 *
 * A class with a minimum share has that part of the limit, whatever else is busy.  The
 * host itself never waits: a server may connect to itself.
 *
 * Return: true if it may, or the listener has no limit
 */
bool synq_inside_has_room(const struct synq_record *record,
			  const struct synq_conf *conf,
			  const struct synq_listener *listener,
			  const struct synq_class *class, bool is_cookie)
{
	const struct synq_inside *inside = &record->inside;
	u32 limit;

	if (likely(!listener->inside) || class->slot == SYNQ_SLOT_LOCAL)
		return true;
	limit = limit_of(inside, conf, listener, class);
	if (is_cookie)
		limit += limit / 16 + 1;
	if (listener->order == SYNQ_ORDER_STRICT &&
	    synq_inside_own(inside, class->slot) * 100ULL < (u64)limit * class->min_share)
		return true;
	return busy_of(inside, conf, listener, class) < limit;
}

/**
 * synq_inside_room() - how many connections of a class could be promoted at once?
 * @record: of the listener
 * @conf: snapshot
 * @listener: configured, with a limit
 * @class: of the connections, not the host's own
 *
 * Return: connections
 */
u32 synq_inside_room(const struct synq_record *record, const struct synq_conf *conf,
		     const struct synq_listener *listener, const struct synq_class *class)
{
	const struct synq_inside *inside = &record->inside;
	u32 limit = limit_of(inside, conf, listener, class), share = 0;
	u32 room = limit - min(limit, busy_of(inside, conf, listener, class));

	if (listener->order == SYNQ_ORDER_STRICT)
		share = div_u64((u64)limit * class->min_share + 99, 100);
	return max(room, share - min(share, synq_inside_own(inside, class->slot)));
}

/* A server without answers for so long sends none, or they are not seen. */
static void open_if_blind(struct synq_inside *inside, u64 now_ns)
{
	u64 most_ns = clamp(inside->mean_ns, BLIND_NS, BLIND_MAX_NS);

	lockdep_assert_held(&inside->lock);
	if (now_ns - inside->answered_ns < most_ns)
		return;
	inside->answered_ns = now_ns;
	WRITE_ONCE(inside->opened, min(inside->opened + 1, OPENED_MAX));
}

/* Time is let pass: connections are held, say, or were just now. */
static bool is_holding(const struct synq_inside *inside, u64 now_ns)
{
	return now_ns - inside->ticked_ns <= PAUSE_NS;
}

/*
 * A server that does not accept cannot answer.  More connections inside would only wait for it,
 * and all be worked on when it goes on.  A moment is nothing: it accepts one after the other.
 */
static bool is_stopped(struct synq_inside *inside, const struct sock *sk, u64 now_ns)
{
	lockdep_assert_held(&inside->lock);
	if (!READ_ONCE(sk->sk_ack_backlog) || !is_holding(inside, now_ns))
		inside->drained_ns = now_ns;
	return now_ns - inside->drained_ns > STOPPED_NS;
}

/* A few that take very long make no difference; if nearly all do, it grows. */
static void add_to_mean(struct synq_inside *inside, u64 took_ns)
{
	u64 most_ns = 4 * max(inside->mean_ns, MEAN_LEAST_NS);

	inside->mean_ns += div_s64((s64)(min(took_ns, most_ns) - inside->mean_ns), 8);
}

/**
 * synq_inside_answered() - an answer goes out
 * @inside: of the listener
 * @took_ns: since its request came; 0: that says nothing
 * @was: the state of its connection until now
 * @now_ns: monotonic clock
 *
 * Context: BH off, with the lock
 */
void synq_inside_answered(struct synq_inside *inside, u64 took_ns,
			  enum synq_inside_state was, u64 now_ns)
{
	if (took_ns)
		add_to_mean(inside, took_ns);
	/* It works on those that it has let in while it was stopped, say: that is no silence. */
	if (was == SYNQ_INSIDE_STUCK)
		synq_crew_hear(inside);
	else
		synq_crew_answered(inside, was == SYNQ_INSIDE_KEPT, took_ns);
	inside->answered_ns = now_ns;
	WRITE_ONCE(inside->opened, 0);
}

/* Of all classes but the host's own, whose answers are not counted either. */
static bool tell_crew(struct synq_inside *inside, u32 held, bool is_excused)
{
	struct synq_told told = {
		.held = held, .holds = held > 0, .excused = held && is_excused,
	};
	u8 slot;

	for (slot = 0; slot < SYNQ_SLOTS; slot++) {
		if (slot == SYNQ_SLOT_LOCAL)
			continue;
		told.busy += synq_inside_own(inside, slot);
		told.kept += synq_inside_kept(inside, slot);
	}
	return synq_crew_tick(inside, &told);
}

/**
 * synq_inside_tick() - some milliseconds have gone by
 * @record: of the listener
 * @held: how many there are
 * @is_auto: the limit is not given
 *
 * Called while connections are held, and until it returns false.
 *
 * Context: softirq, rcu_read_lock()
 * Return: true if it has to be called again though none may be held
 */
bool synq_inside_tick(struct synq_record *record, u32 held, bool is_auto)
{
	struct synq_inside *inside = &record->inside;
	bool is_excused, follows, again = held;
	u64 now_ns;

	synq_follow_check(inside);
	spin_lock(&inside->lock);
	/* Not before: an answer may have gone out meanwhile. */
	now_ns = ktime_get_ns();
	synq_follow_age(inside, now_ns);
	is_excused = is_stopped(inside, record->sk, now_ns);
	follows = is_holding(inside, now_ns);
	if (!held || !follows)
		inside->answered_ns = now_ns;
	else if (!is_excused)
		open_if_blind(inside, now_ns);
	inside->ticked_ns = now_ns;
	if (is_auto)
		again = tell_crew(inside, held, follows && is_excused);
	else
		synq_crew_rest(inside);
	spin_unlock(&inside->lock);
	return again;
}

/*
 * What is seen of the packets of a connection that is followed (follow.c): that something
 * new has come, that an answer goes out, and that it ends.
 *
 * Data is new if it is beyond all that went before in its direction, so retransmissions
 * change nothing.  Whether data has arrived is told by the acknowledgments of the server's
 * own TCP, not by the segments that came.
 *
 * Under rcu_read_lock().
 */

#define AHEAD_MAX	BIT(24)	/* bytes: no window is as large, or hardly any */

void synq_followed_set_endpoints(struct synq_endpoints *key, const struct net *net,
				 const struct sk_buff *skb, const struct tcphdr *th,
				 bool is_v6, bool is_out)
{
	struct in6_addr *source = is_out ? &key->own : &key->peer;
	struct in6_addr *dest = is_out ? &key->peer : &key->own;

	key->peer_port = is_out ? th->dest : th->source;
	key->own_port = is_out ? th->source : th->dest;
	key->net = net->ns.inum;
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

/*
 * Does it acknowledge what was sent, or some of it?  A sender that does not see the
 * connection cannot know the number.
 */
bool synq_followed_is_answer_to(const struct synq_followed *conn, const struct tcphdr *th)
{
	return th->ack && READ_ONCE(conn->sent) - ntohl(th->ack_seq) <= AHEAD_MAX;
}

static bool read_data(const struct synq_tls_data *data, u32 at, u8 *to, u32 n)
{
	const struct sk_buff *skb = data->packet;

	return !skb_copy_bits(skb, skb->len - data->len + at, to, n);
}

void synq_followed_set_data(struct synq_tls_data *data, const struct sk_buff *skb, u32 len)
{
	data->read = read_data;
	data->packet = skb;
	data->len = len;
	data->now_ms = jiffies_to_msecs(jiffies);
}

/*
 * What has come is part of a handshake, and no request.  Only what comes in order is looked at:
 * the rest TCP may never accept.
 */
static bool is_no_request(struct synq_followed *conn, const struct sk_buff *skb, u32 len,
			  bool is_next)
{
	struct synq_tls_data data;
	bool is_none;

	if (likely(synq_tls_is_over(&conn->tls)))
		return false;
	synq_followed_set_data(&data, skb, len);
	spin_lock_bh(&conn->record->inside.lock);
	is_none = is_next ? synq_tls_in(&conn->tls, &data) : synq_tls_give_up(&conn->tls);
	spin_unlock_bh(&conn->record->inside.lock);
	return is_none;
}

/* Likewise, and no answer.  With the lock. */
static bool is_no_answer(struct synq_followed *conn, const struct sk_buff *skb, u32 len)
{
	struct synq_tls_data data;

	if (likely(!synq_tls_has_begun(&conn->tls)))
		return false;
	synq_followed_set_data(&data, skb, len);
	return synq_tls_out(&conn->tls, &conn->record->inside.tls, &data,
			    synq_followed_is_waiting(conn->state));
}

/* Without the lock if there is a doubt already: resets may come as a flood. */
static void see_reset(struct synq_followed *conn)
{
	if (!list_empty(&conn->doubt))
		return;
	spin_lock_bh(&conn->record->inside.lock);
	if (!conn->dead)
		synq_followed_doubt(conn);
	spin_unlock_bh(&conn->record->inside.lock);
}

/**
 * synq_seen_in() - a segment has come for a port that has a limit
 * @net: network namespace
 * @skb: the segment, with the header of IP
 * @th: its header
 * @len: bytes of data behind that
 * @is_v6: IPv6
 * @okfn: what LOCAL_IN continues with; NULL: it is not to be held
 *
 * Without the lock where it changes nothing but what is to come.
 *
 * Context: BH off, rcu_read_lock(), no lock of ours, nor of a socket
 * Return: true if it is held (request.c): the caller's is not needed any more
 */
bool synq_seen_in(const struct net *net, struct sk_buff *skb, const struct tcphdr *th,
		  u32 len, bool is_v6, synq_okfn okfn)
{
	struct synq_followed *conn = len || th->rst || th->fin ?
				     find(net, skb, th, is_v6, false) : NULL;
	enum synq_inside_state state;
	u32 from;

	if (!conn)
		return false;
	state = READ_ONCE(conn->state);
	from = READ_ONCE(conn->came);
	if ((th->fin || th->rst) && !READ_ONCE(conn->ended_ns))
		WRITE_ONCE(conn->ended_ns, ktime_get_ns());
	if (unlikely(state == SYNQ_INSIDE_HELD) && okfn &&
	    synq_request_follow(conn, skb, th, len, okfn))
		return true;
	if (th->rst) {
		see_reset(conn);
		return false;
	}
	if (!synq_followed_is_answer_to(conn, th) ||
	    !synq_followed_is_new(&conn->came, ntohl(th->seq), len) ||
	    synq_followed_is_waiting(state) ||
	    is_no_request(conn, skb, len, ntohl(th->seq) == from))
		return false;
	if (state == SYNQ_INSIDE_QUIET && okfn &&
	    synq_request_hold(conn, skb, th, len, from, okfn))
		return true;
	spin_lock_bh(&conn->record->inside.lock);
	if (!conn->dead && conn->state != SYNQ_INSIDE_HELD)
		synq_followed_begin(conn, ktime_get_ns());
	spin_unlock_bh(&conn->record->inside.lock);
	return false;
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
 * Context: rcu_read_lock(), no lock of ours
 */
void synq_seen_out(const struct net *net, const struct sk_buff *skb,
		   const struct tcphdr *th, u32 len, bool is_v6)
{
	bool is_end = th->fin || th->rst;
	enum synq_inside_state state;
	struct synq_followed *conn;
	bool is_greeted;

	conn = len || is_end ? find(net, skb, th, is_v6, true) : NULL;
	if (!conn)
		return;
	/* Whatever else has seemed to come has not. */
	WRITE_ONCE(conn->came, ntohl(th->ack_seq));
	len = synq_followed_is_new(&conn->sent, ntohl(th->seq), len) ? len : 0;
	state = READ_ONCE(conn->state);
	if (!is_end && (!len || state == SYNQ_INSIDE_HELD ||
			(state == SYNQ_INSIDE_QUIET && !synq_tls_has_begun(&conn->tls))))
		return;
	spin_lock_bh(&conn->record->inside.lock);
	is_greeted = synq_tls_is_greeted(&conn->tls);
	if (!conn->dead && len && conn->state != SYNQ_INSIDE_HELD &&
	    !is_no_answer(conn, skb, len))
		synq_followed_answer(conn, is_greeted, ktime_get_ns());
	if (!conn->dead && is_end)
		synq_followed_end(conn);
	spin_unlock_bh(&conn->record->inside.lock);
}
