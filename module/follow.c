// SPDX-License-Identifier: GPL-2.0
/*
 * What a server works on: which connections of a listener have sent a request that is not
 * answered yet.  Most servers accept at once and queue internally, where connections
 * cannot be reordered.  So a class is let in only while few enough connections are busy
 * (synq_gate()); the others are held (hold.c).
 *
 * DOC: the sensor
 *
 * It follows connections by their packets at LOCAL_IN and LOCAL_OUT (inside.c),
 * and by nothing else: it touches no socket but the listener, and keeps or replaces no
 * pointer of a child.  (Nor could it keep the child's address: once a grace period is over,
 * its memory may be reused, or not be mapped.)
 *
 * fresh	it was promoted just now.  Most clients send their request at once, so it
 *		counts as busy until it does, the server speaks first, or 10 ms have passed.
 * greeted	the server has answered a part of its handshake (TLS).  The client goes on at
 *		once, so every fourth counts as busy until it does, or 500 ms have passed.  If
 *		none did, others would come in for it meanwhile, one after the other.
 * quiet	it has sent nothing, or was answered: kept alive, a websocket.
 * busy		its client has sent something new, and nothing new has gone out since.
 * kept		likewise, but it was answered KEPT_AFTER ago or more, and nothing holds its
 *		requests back ("requests off").  It does not count for its own class: those who
 *		come would wait for as long as it asks.
 * stuck	it has been busy for longer than 8 times the mean (at first a second, at least
 *		250 ms, at most 10 s): a long poll, half a request, an
 *		upload, a server that has forgotten it, or something that is no request, as
 *		the pong of a websocket.  It does not count, nor does its next request, until
 *		one is answered in time; nor does the time that this one took.
 * held		its request waits in request.c; the server has not got it yet.
 * gone		its client has left unanswered, and it has ended.  Some servers go on with the
 *		work, so it counts as busy for some time (gone.c).
 *
 * Whatever the server sends after the request is an answer.  A server's banner is none, nor
 * is what it sends of itself after a handshake of TLS 1.3 (tls.c); its first flight of a TLS
 * handshake is one.  An answer over another subflow of MPTCP is not seen.
 *
 * It follows the connections that the gate has let through while the listener has a limit,
 * at the listener's own port: an answer from another port (TPROXY) would not be found.  It
 * follows up to OWN_MAX of a listener, NET_MAX of a network namespace and ALL_MAX in all; the
 * rest do not count.  A connection ends with the server's FIN or reset.  A client's reset
 * only raises a doubt, since whether TCP takes it cannot be seen: the connection is looked up
 * among the established a moment later.  It may also end without either (a timeout), so one
 * that was quiet for LOOK_PERIOD is looked up, too.  Two with the same addresses and ports, in
 * two VRFs, are taken for one.
 *
 * DOC: why nothing is used after it is gone
 *
 * 1. A connection is found under rcu_read_lock(), in a hash of all of them or in a list, and
 *    used in that section; it is freed a grace period after it has left hash and lists.
 * 2. It is changed under the lock of its record, while it is not dead; it becomes dead under
 *    the lock, and leaves the hash at that moment.  One that is gone is dead, and in its list:
 *    it is only counted until it is freed, under the lock.
 * 3. Before a record is removed it is closed under the lock, and all its connections
 *    leave the hash and all lists (forget.c); no other is gone after that.  A reader that has
 *    found one before is in an RCU section that keeps the record, which is freed a grace period
 *    after that (record.c).
 *
 * With the lock only that of the crew is taken (crew.c), which is innermost.
 *
 * Softirq, or process context with BH off, under rcu_read_lock().
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/inet_connection_sock.h>
#include <net/mptcp.h>
#include <net/tcp.h>
#include "compat.h"
#include "follow.h"
#include "inside.h"
#include "record.h"
#include "request.h"

#define OWN_MAX		65536
#define NET_MAX		262144
#define LOOK_PERIOD	(10 * HZ)
#define LOOK_AT_ONCE	64
#define LOOKS		64
#define AT_ONCE		256
#define SOME		16
#define ALL_MAX		1048576
#define KEPT_AFTER	(5 * HZ)
#define GREETED_FOR	(2 * HZ)	/* a handshake is over by then */
#define GREETED_NS	(500ULL * NSEC_PER_MSEC)

static struct rhashtable table;
static atomic_t all;

static const struct rhashtable_params params = {
	.key_len = sizeof(struct synq_endpoints),
	.key_offset = offsetof(struct synq_followed, key),
	.head_offset = offsetof(struct synq_followed, node),
	.automatic_shrinking = true,
};

/* Returns 0 or -ENOMEM. */
int synq_follow_module_init(void)
{
	return rhashtable_init(&table, &params);
}

/* Every record has been freed. */
void synq_follow_module_exit(void)
{
	rhashtable_destroy(&table);
}

/* --- one connection, under the lock --- */

void synq_followed_count(const struct synq_followed *conn, enum synq_counter counter)
{
	struct synq_port *port = conn->record->counters;

	/* Not if the slot belongs to another class now.  Pairs with give() in conf.c. */
	if (READ_ONCE(port->since[conn->slot]) == conn->since)
		synq_count(port, conn->slot, counter);
}

static void count_in(struct synq_followed *conn, int n)
{
	struct synq_inside *inside = &conn->record->inside;
	u32 *in = &inside->in[conn->state][conn->slot];

	lockdep_assert_held(&inside->lock);
	WRITE_ONCE(*in, *in + n);
}

static struct list_head *list_of(struct synq_inside *inside,
				 enum synq_inside_state state, u8 slot)
{
	switch (state) {
	case SYNQ_INSIDE_FRESH:
		return &inside->fresh;
	case SYNQ_INSIDE_GREETED:
		return &inside->greeted;
	case SYNQ_INSIDE_BUSY:
	case SYNQ_INSIDE_KEPT:
		return &inside->busy;
	case SYNQ_INSIDE_HELD:
		return &inside->late[slot];
	case SYNQ_INSIDE_GONE:
		return &inside->gone;
	default:
		return &inside->quiet;
	}
}

static void set_state(struct synq_followed *conn, enum synq_inside_state state)
{
	struct synq_inside *inside = &conn->record->inside;

	count_in(conn, -1);
	WRITE_ONCE(conn->state, state);
	count_in(conn, 1);
	conn->looked = jiffies;
	list_move_tail(&conn->list, list_of(inside, state, conn->slot));
}

/* It is not found any more. */
static void die(struct synq_followed *conn)
{
	if (synq_followed_is_waiting(conn->state))
		synq_followed_count(conn, SYNQ_COUNT_UNANSWERED);
	if (conn->state == SYNQ_INSIDE_HELD)
		synq_request_end(conn);
	list_del(&conn->doubt);
	conn->dead = true;
	rhashtable_remove_fast(&table, &conn->node, params);
}

void synq_followed_forget(struct synq_followed *conn)
{
	if (!conn->dead)
		die(conn);
	count_in(conn, -1);
	list_del(&conn->list);
	conn->record->inside.n--;
	atomic_dec(&conn->record->sn->followed);
	atomic_dec(&all);
	kfree_rcu(conn, rcu);
}

void synq_followed_end(struct synq_followed *conn)
{
	bool is_gone = synq_gone_is_worked_on(conn);

	die(conn);
	if (!is_gone) {
		synq_followed_forget(conn);
		return;
	}
	synq_gone_tell(conn);
	set_state(conn, SYNQ_INSIDE_GONE);
}

/* It may have ended, or do so now. */
void synq_followed_doubt(struct synq_followed *conn)
{
	if (!list_empty(&conn->doubt))
		return;
	conn->doubted = jiffies;
	list_add_tail(&conn->doubt, &conn->record->inside.doubted);
}

void synq_followed_set_held(struct synq_followed *conn, u32 from, u64 now_ns)
{
	conn->from = from;
	conn->since_ns = now_ns;
	set_state(conn, SYNQ_INSIDE_HELD);
}

static u32 since(u32 then)
{
	return (u32)jiffies - then;
}

static bool is_young(const struct synq_followed *conn, u32 age)
{
	return !conn->served || since(conn->served) < age;
}

/* Nothing keeps its client from asking. */
static bool is_kept(const struct synq_followed *conn)
{
	struct synq_listener listener;

	return !is_young(conn, KEPT_AFTER) &&
	       synq_record_conf(conn->record, &listener) && !listener.requests;
}

void synq_followed_begin(struct synq_followed *conn, u64 now_ns)
{
	struct synq_inside *inside = &conn->record->inside;

	if (synq_followed_is_waiting(conn->state))
		return;
	if (conn->state == SYNQ_INSIDE_HELD)
		conn->held_ns += now_ns - min(conn->since_ns, now_ns);
	if (list_empty(&inside->busy) && list_empty(&inside->gone))
		inside->silent_since_ns = now_ns;
	conn->since_ns = now_ns;
	conn->on_trial = conn->was_stuck;
	set_state(conn, conn->was_stuck ? SYNQ_INSIDE_STUCK :
			is_kept(conn) ? SYNQ_INSIDE_KEPT : SYNQ_INSIDE_BUSY);
}

void synq_followed_answer(struct synq_followed *conn, bool is_greeting, u64 now_ns)
{
	struct synq_inside *inside = &conn->record->inside;
	u64 ns = now_ns - min(conn->since_ns, now_ns);
	enum synq_inside_state was = conn->state;

	/* The rest of the server's flight. */
	if (was == SYNQ_INSIDE_GREETED && !synq_tls_is_over(&conn->tls))
		return;
	if (synq_followed_is_waiting(was)) {
		inside->silent_since_ns = now_ns;
		if (!is_greeting && !conn->on_trial && conn->slot != SYNQ_SLOT_LOCAL) {
			inside->reached_ns = max(inside->reached_ns, conn->since_ns);
			/* While nobody is held there may be no tick. */
			synq_gone_let_go(inside, SOME, now_ns);
		}
		if (!is_greeting)
			conn->held_ns = 0;
		synq_followed_count(conn, synq_count_of_time(SYNQ_COUNT_ANSWERED,
							     SYNQ_COUNT_ANSWERED_LONGER, ns));
		/* By the limit at the time when it was found: it may be higher by now. */
		conn->was_stuck = !is_greeting &&
				  (ns > synq_followed_longest_ns(inside) ||
				   (was == SYNQ_INSIDE_STUCK && !conn->on_trial));
		conn->served = conn->served ?: (u32)jiffies ?: 1;
		if (is_greeting || (conn->was_stuck && conn->on_trial) ||
		    synq_tls_is_guess(&conn->tls, &inside->tls))
			ns = 0;
		/* It answers no sooner.  On trial are those that ask for nothing, perhaps. */
		if (was == SYNQ_INSIDE_STUCK && !conn->on_trial &&
		    synq_followed_longest_ns(inside) == SYNQ_STUCK_MOST_NS)
			was = SYNQ_INSIDE_BUSY;
	}
	/* What the limit does not hold back says nothing about it. */
	if (was != SYNQ_INSIDE_QUIET && was != SYNQ_INSIDE_FRESH && !is_greeting &&
	    conn->slot != SYNQ_SLOT_LOCAL)
		synq_inside_answered(inside, was == SYNQ_INSIDE_GREETED ? 0 : ns, was, now_ns);
	conn->since_ns = now_ns;
	is_greeting = is_greeting && is_young(conn, GREETED_FOR);
	set_state(conn, is_greeting ? SYNQ_INSIDE_GREETED : SYNQ_INSIDE_QUIET);
}

struct synq_followed *synq_followed_find(const struct synq_endpoints *key)
{
	return rhashtable_lookup(&table, key, params);
}

/* Ends one with the same addresses and ports that has ended unseen. */
static void replace(const struct synq_endpoints *key)
{
	struct synq_followed *old = synq_followed_find(key);

	if (!old)
		return;
	spin_lock(&old->record->inside.lock);
	if (!old->dead)
		synq_followed_end(old);
	spin_unlock(&old->record->inside.lock);
}

/**
 * synq_follow_enter() - follow a connection that was promoted
 * @record: of its listener, which has a limit
 * @class: of the connection
 * @child: its socket
 * @req: its request
 * @skb: the segment that it was promoted by, as TCP has it
 * @held_ns: for how long it was held before
 *
 * Context: BH off, rcu_read_lock()
 */
void synq_follow_enter(struct synq_record *record, const struct synq_class *class,
		       const struct sock *child, const struct request_sock *req,
		       const struct sk_buff *skb, u64 held_ns)
{
	struct synq_inside *inside = &record->inside;
	const struct tcphdr *th = tcp_hdr(skb);
	u32 len = skb->len - 4 * th->doff;
	struct synq_followed *conn = NULL;
	struct synq_tls_data data;
	struct synq_endpoints key;
	int err = -ENOSPC;

	/* A subflow: its connection is there already. */
	if (rsk_drop_req(req))
		return;
	synq_followed_set_endpoints(&key, sock_net(child), skb, th,
				    skb->protocol == htons(ETH_P_IPV6), false);
	replace(&key);
	if (inet_sk(child)->inet_num != record->counters->port ||
	    READ_ONCE(inside->n) >= OWN_MAX ||
	    atomic_read(&record->sn->followed) >= NET_MAX || atomic_read(&all) >= ALL_MAX)
		goto out;
	conn = kzalloc(sizeof(*conn), GFP_ATOMIC | __GFP_NOWARN);
	if (!conn)
		goto out;
	conn->key = key;
	conn->record = record;
	conn->came = tcp_rsk(req)->rcv_isn + 1;
	conn->sent = tcp_rsk(req)->snt_isn + 1;
	conn->slot = class->slot;
	conn->since = class->since;
	conn->bound = READ_ONCE(child->sk_bound_dev_if);
	__skb_queue_head_init(&conn->segments);
	INIT_LIST_HEAD(&conn->doubt);
	conn->state = SYNQ_INSIDE_FRESH;
	conn->since_ns = ktime_get_ns();
	conn->held_ns = held_ns;
	spin_lock(&inside->lock);
	err = inside->closed ? -ENOENT :
	      rhashtable_lookup_insert_fast(&table, &conn->node, params);
	if (!err) {
		inside->n++;
		atomic_inc(&record->sn->followed);
		atomic_inc(&all);
		list_add_tail(&conn->list, &inside->fresh);
		count_in(conn, 1);
		if (synq_followed_is_new(&conn->came, ntohl(th->seq) + th->syn, len)) {
			synq_followed_set_data(&data, skb, len);
			synq_tls_in(&conn->tls, &data);
			synq_followed_begin(conn, conn->since_ns);
		}
	}
	spin_unlock(&inside->lock);
out:
	if (!err)
		return;
	kfree(conn);
	synq_count(record->counters, class->slot, SYNQ_COUNT_NOT_FOLLOWED);
}

/* --- time --- */

/* Those of a list in which the oldest is first. */
static void age(struct list_head *list, u64 most_ns, enum synq_inside_state next, u64 now_ns)
{
	unsigned int budget = AT_ONCE;
	struct synq_followed *conn;

	while (budget-- &&
	       (conn = list_first_entry_or_null(list, struct synq_followed, list)) &&
	       conn->since_ns + most_ns < now_ns) {
		if (next == SYNQ_INSIDE_STUCK) {
			synq_followed_count(conn, SYNQ_COUNT_STUCK);
			conn->was_stuck = true;
		}
		set_state(conn, next);
	}
}

/*
 * Moves the connections whose time has passed to the next state.  With the lock.  Returns whether
 * more than that are to be let go of.
 */
bool synq_follow_age(struct synq_inside *inside, u64 now_ns)
{
	lockdep_assert_held(&inside->lock);
	age(&inside->fresh, SYNQ_FRESH_NS, SYNQ_INSIDE_QUIET, now_ns);
	age(&inside->greeted, GREETED_NS, SYNQ_INSIDE_QUIET, now_ns);
	age(&inside->busy, synq_followed_longest_ns(inside), SYNQ_INSIDE_STUCK, now_ns);
	return synq_gone_let_go(inside, AT_ONCE, now_ns) == AT_ONCE;
}

/* --- connections that have ended unseen --- */

static bool exists(const struct synq_followed *conn)
{
	struct net *net = sock_net(conn->record->sk);
	const struct synq_endpoints *key = &conn->key;
	struct sock *sk;
	bool is;

#if IS_ENABLED(CONFIG_IPV6)
	if (!ipv6_addr_v4mapped(&key->peer))
		sk = synq_lookup_established6(net, &key->peer, key->peer_port, &key->own,
					      ntohs(key->own_port), conn->bound, 0);
	else
#endif
		sk = synq_lookup_established4(net, key->peer.s6_addr32[3], key->peer_port,
					      key->own.s6_addr32[3], ntohs(key->own_port),
					      conn->bound, 0);
	if (!sk)
		return false;
	is = sk_fullsock(sk);
	sock_gen_put(sk);
	return is;
}

/* Not under the lock: putting the last reference of a socket may send. */
static void look_up(struct synq_inside *inside, struct synq_followed **conn, unsigned int n)
{
	unsigned int i;
	bool is;

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "rule 1");
	for (i = 0; i < n; i++) {
		is = exists(conn[i]);
		spin_lock_bh(&inside->lock);
		if (!conn[i]->dead && !is)
			synq_followed_end(conn[i]);
		else if (!conn[i]->dead && (conn[i]->state == SYNQ_INSIDE_QUIET ||
					    conn[i]->state == SYNQ_INSIDE_STUCK))
			set_state(conn[i], conn[i]->state);
		spin_unlock_bh(&inside->lock);
	}
}

/**
 * synq_follow_check() - look up connections that may have ended
 * @inside: of a listener
 *
 * Not before a jiffy is over: TCP sees what raised the doubt after the hook.  What waits in a
 * backlog for longer is found later, by synq_follow_tend().
 *
 * Context: rcu_read_lock(), no lock of ours, nor of a socket
 * Return: how many, at most LOOK_AT_ONCE
 */
unsigned int synq_follow_check(struct synq_inside *inside)
{
	struct synq_followed *conn[LOOK_AT_ONCE], *next;
	unsigned int n = 0;

	if (list_empty(&inside->doubted))
		return 0;
	spin_lock_bh(&inside->lock);
	while (n < LOOK_AT_ONCE &&
	       (next = list_first_entry_or_null(&inside->doubted, struct synq_followed, doubt)) &&
	       since(next->doubted) > 1) {
		list_del_init(&next->doubt);
		conn[n++] = next;
	}
	spin_unlock_bh(&inside->lock);
	look_up(inside, conn, n);
	return n;
}

/* Returns how many it has looked up; as many as it may if there is more to do. */
static unsigned int look_for_some(struct synq_inside *inside)
{
	struct synq_followed *conn[LOOK_AT_ONCE], *next;
	u64 now_ns = ktime_get_ns();
	unsigned int n = 0;
	bool more;

	spin_lock_bh(&inside->lock);
	more = synq_follow_age(inside, now_ns);
	list_for_each_entry(next, &inside->quiet, list) {
		if (n == LOOK_AT_ONCE || since(next->looked) < LOOK_PERIOD)
			break;
		conn[n++] = next;
	}
	spin_unlock_bh(&inside->lock);
	look_up(inside, conn, n);
	return more ? LOOK_AT_ONCE : n;
}

/**
 * synq_follow_tend() - forget connections that have ended unseen
 * @record: of the listener
 *
 * Context: process, &synq_net.records_lock held, so that the record stays
 */
void synq_follow_tend(struct synq_record *record)
{
	unsigned int looks = LOOKS, n;

	do {
		rcu_read_lock();
		n = synq_follow_check(&record->inside);
		n = max(n, look_for_some(&record->inside));
		rcu_read_unlock();
		cond_resched();
	} while (n == LOOK_AT_ONCE && --looks);
}
