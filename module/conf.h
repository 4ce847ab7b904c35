/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The configuration of one network namespace, as packets see it.  See conf.c.
 */
#ifndef _SYNQ_CONF_H
#define _SYNQ_CONF_H

#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>
#include "lpm.h"
#include "service.h"
#include "source.h"
#include "stats.h"
#include "synq.h"

struct mem_cgroup;
struct netlink_ext_ack;
struct synq_aggregates;

/* max_wait: no limit */
#define SYNQ_WAIT_NONE	((u32)SYNQ_MAX_WAIT_NONE)

/**
 * struct synq_class - the outcome of classification
 * @name: unique, "" for a slot without a class
 * @tbf: the bucket's parameters, set if @rate is not 0
 * @stray_tbf: the same for sources without a place, set if @source_rate is not 0
 * @source_tbf: parameters of the sources' buckets, set if @source_rate is not 0
 * @aggregates: the sources' buckets, with a reference; NULL without @source_rate,
 *	and while the configuration is a draft
 * @net_tbf: parameters of the buckets of their networks, set if @net_rate is not 0
 * @networks: these buckets, likewise; NULL without @net_rate
 * @bucket_rate: rate of the class's bucket or, without @rate, of its strays'; 0: none
 * @bucket_per: seconds of @bucket_rate
 * @rate: SYNs in @rate_per, 0: no limit
 * @rate_per: seconds
 * @burst: SYNs, as given; 0: by default
 * @burst_effective: SYNs, 0 without @rate
 * @source_rate: SYNs of each source in @source_rate_per, 0: no limit
 * @source_rate_per: seconds
 * @source_burst: SYNs, as given; 0: by default
 * @source_burst_effective: SYNs, 0 without @source_rate
 * @source_len: bits of an address that make a source, IPv4 and IPv6
 * @net_rate: SYNs of each network of a source in @net_rate_per, 0: no limit
 * @net_rate_per: seconds
 * @net_burst: SYNs, as given; 0: by default
 * @net_burst_effective: SYNs, 0 without @net_rate
 * @net_len: bits of an address that make a network, IPv4 and IPv6
 * @given: BIT_ULL() of the netlink number of each attribute that was given
 * @mark: value inside the mask, not shifted; 0: none
 * @mark_bits: the same, shifted into the mask
 * @matches: prefixes that name the class
 * @since: generation since which @slot belongs to this class
 * @slot: number of the class, which never changes
 * @position: place in the order of service, 0 first
 * @priority: 0..15, of a configured class
 * @reserve: per cent of the backlog, as given
 * @reserve_effective: per cent of the backlog
 * @reserve_before: per cent, all classes before this one together
 * @cap: per cent of the backlog, of the class's own requests; 0: no cap
 * @max_wait: ms, as given; SYNQ_WAIT_NONE: no limit
 * @max_wait_effective: ms a new connection may be expected to wait in the
 *	accept queue; SYNQ_WAIT_NONE: no limit
 * @weight: share under SYNQ_ORDER_WEIGHTED, 1..1000
 * @min_share: per cent of what is accepted, under SYNQ_ORDER_STRICT; 0: none
 * @excess: enum synq_excess
 * @cookies: enum synq_cookies
 * @is_default: takes what nothing else matches
 * @observe: count what would be done, and do nothing ("enforce off")
 * @refuses: every SYN of it counts as excess
 * @drops: SYNs over a rate of it are dropped, unless the listener only observes
 */
struct synq_class {
	char name[SYNQ_NAME_MAX + 1];
	struct synq_tbf tbf;
	struct synq_tbf stray_tbf;
	struct synq_source_rate source_tbf;
	struct synq_aggregates *aggregates;
	struct synq_aggregates *networks;
	struct synq_source_rate net_tbf;
	u32 bucket_rate;
	u32 bucket_per;
	u32 rate;
	u32 rate_per;
	u32 burst;
	u32 burst_effective;
	u32 source_rate;
	u32 source_rate_per;
	u32 source_burst;
	u32 source_burst_effective;
	u8 source_len[2];
	u8 net_len[2];
	u32 net_rate;
	u32 net_rate_per;
	u32 net_burst;
	u32 net_burst_effective;
	u64 given;
	u32 mark;
	u32 mark_bits;
	u32 matches;
	u32 since;
	u8 slot;
	u8 position;
	u8 priority;
	u8 reserve;
	u8 reserve_effective;
	u8 reserve_before;
	u8 cap;
	u32 max_wait;
	u32 max_wait_effective;
	u16 weight;
	u8 min_share;
	u8 excess;
	u8 cookies;
	bool is_default;
	bool observe;
	bool refuses;
	bool drops;
};

/**
 * struct synq_listener - a configured listener
 * @port: its port number and counters, with a reference
 * @order: enum synq_order
 * @app_order: the application may choose another for its socket
 * @synack_retries: how often an unanswered SYN-ACK is retransmitted; 0: as the
 *	application and sysctl have it
 * @cookies: enum synq_cookies, for classes that have none of their own
 * @app_cookies: the application may choose another for its socket
 * @observe: count what would be done, and do nothing ("enforce off")
 * @inside: connections that its server may work on; 0: no limit
 * @requests: with a limit, requests on kept-alive connections have to wait, too
 * @given: BIT_ULL() of the netlink number of each attribute that was given
 */
struct synq_listener {
	struct synq_port *port;
	u8 order;
	bool app_order;
	u8 synack_retries;
	u8 cookies;
	bool app_cookies;
	bool observe;
	u32 inside;
	bool requests;
	u64 given;
};

/**
 * struct synq_conf - a snapshot: immutable once published, but for the indexes of
 *	its prefixes, @payer and @first_end
 * @free: after a grace period
 * @payer: memory control group that pays for it (chunks.c), with a reference until
 *	chunks.c takes it away; may be NULL
 * @generation: of the commit that published it
 * @serial: of all snapshots ever published, in any network namespace; not 0
 * @mark_mask: bits of the packet mark that carry a class, 0: none
 * @n_positions: classes in use, built-in ones included
 * @default_slot: of the class that takes the unmatched
 * @order: slots by position
 * @class: by slot
 * @lpm: source prefixes of matches without a service, IPv4 and IPv6; the value is
 *	the slot plus one
 * @first_end: not later than the first end of a match, see expire.h; 0: none ends
 * @weights: of all classes that have a share
 * @n_sharing: their number; at least 1
 * @min_shares: some class has a minimum share
 * @drops: some class does
 * @observe: count what would be done, and do nothing ("enforce off")
 * @inside: which ports have a limit: a bit for all of the same last six
 * @n_listeners: number of @listener
 * @listener: by ascending port number
 * @n_services: number of @service
 * @service: that matches are scoped to, each with one at least, in the order of
 *	service.c; the values are those of @lpm
 * @n_forwards: number of @forward
 * @forward: destinations on other hosts for which SYNs are policed, in the order of
 *	service.c
 * @forwarded: stands for all of them together; no port number, and no port without one
 */
struct synq_conf {
	struct rcu_work free;
	struct mem_cgroup *payer;
	u32 generation;
	u64 serial;
	u32 mark_mask;
	u8 n_positions;
	u8 default_slot;
	u8 order[SYNQ_SLOTS];
	struct synq_class class[SYNQ_SLOTS];
	struct synq_lpm lpm[2];
	u32 first_end;
	u32 weights;
	u8 n_sharing;
	bool min_shares;
	bool drops;
	bool observe;
	u64 inside;
	u8 n_services;
	unsigned int n_listeners;
	struct synq_listener listener[SYNQ_LISTENERS_MAX];
	struct synq_service service[SYNQ_SERVICES_MAX];
	u8 n_forwards;
	struct synq_service_key forward[SYNQ_FORWARDS_MAX];
	struct synq_listener forwarded;
};

/* What a change of the configuration means to sockets and hooks. */
enum synq_conf_event {
	SYNQ_CONF_PREPARE,	/* about to be published; may be refused */
	SYNQ_CONF_PUBLISHED,	/* packets see it; no failure allowed */
	SYNQ_CONF_SWITCHED,	/* off, or on again */
};

struct synq_conf_change {
	struct synq_net *sn;
	const struct synq_conf *conf;	/* the new one; NULL: unconfigured */
	u32 fresh;			/* slots of other classes than before, as bits */
};

int synq_conf_observe(struct notifier_block *nb);
void synq_conf_ignore(struct notifier_block *nb);

struct synq_conf *synq_conf_alloc(void);
gfp_t synq_conf_gfp(void);
struct synq_conf *synq_conf_copy(const struct synq_conf *conf);
void synq_conf_free(struct synq_conf *conf);
int synq_conf_finish(struct synq_conf *conf, const struct net *net,
		     struct netlink_ext_ack *extack);
int synq_conf_publish(struct synq_net *sn, struct synq_conf *conf);
void synq_conf_renew(struct synq_net *sn, struct synq_conf *conf);
void synq_conf_exit(struct synq_net *sn);
void synq_conf_set_bypass(struct synq_net *sn, bool bypass);
bool synq_conf_is_empty(const struct synq_conf *conf);
u32 synq_conf_classes(const struct synq_conf *conf);
u32 synq_conf_matches(const struct synq_conf *conf);
struct synq_class *synq_conf_class_by_name(struct synq_conf *conf,
					   const char *name);

/**
 * synq_conf_listener() - the configured listener of a local port
 * @conf: snapshot
 * @port: host byte order
 *
 * Context: the caller keeps the snapshot
 * Return: NULL if the port is not configured
 */
static inline const struct synq_listener *
synq_conf_listener(const struct synq_conf *conf, u16 port)
{
	unsigned int lo = 0, hi = conf->n_listeners;

	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;
		const struct synq_listener *listener = &conf->listener[mid];

		if (listener->port->port == port)
			return listener;
		if (listener->port->port < port)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/**
 * synq_conf_port() - the counters of the listener of a local port
 * @conf: snapshot
 * @port: host byte order
 *
 * Context: the caller keeps the snapshot
 * Return: NULL if the port is not configured
 */
static inline struct synq_port *synq_conf_port(const struct synq_conf *conf,
					       u16 port)
{
	const struct synq_listener *listener = synq_conf_listener(conf, port);

	return listener ? listener->port : NULL;
}

/**
 * synq_conf_judges() - is there anything to be judged?
 * @conf: snapshot; NULL: unconfigured
 *
 * Context: the caller keeps the snapshot
 * Return: true if so
 */
static inline bool synq_conf_judges(const struct synq_conf *conf)
{
	return conf && (conf->n_listeners || conf->n_forwards);
}

/**
 * synq_conf_shares() - does a class have a share of weighted order, and of the SYN
 * queue?
 * @conf: snapshot
 * @class: of it
 *
 * The host itself has none: it is always served.  The built-in default has none if no
 * connection can be in it.
 *
 * Context: the caller keeps the snapshot
 * Return: true if so
 */
static inline bool synq_conf_shares(const struct synq_conf *conf,
				    const struct synq_class *class)
{
	return class->slot >= SYNQ_SLOT_FIRST ||
	       (class->slot == SYNQ_SLOT_DEFAULT &&
		(class->matches || conf->default_slot == class->slot));
}

/**
 * synq_conf_cookies() - when is a SYN of a class answered by a cookie?
 * @class: of a snapshot
 * @listener: that it came to
 *
 * Context: the caller keeps the snapshot
 * Return: the class's own policy, or else that of the listener
 */
static inline enum synq_cookies
synq_conf_cookies(const struct synq_class *class,
		  const struct synq_listener *listener)
{
	return class->cookies ?: listener->cookies ?: SYNQ_COOKIES_AUTO;
}

/**
 * synq_conf_observes() - "enforce off": only count what would be done?
 * @conf: snapshot
 * @listener: of the connection
 * @class: of the connection
 *
 * Context: the caller keeps the snapshot
 * Return: true if so
 */
static inline bool synq_conf_observes(const struct synq_conf *conf,
				      const struct synq_listener *listener,
				      const struct synq_class *class)
{
	return conf->observe || listener->observe || class->observe;
}

/**
 * synq_conf_active() - the snapshot to judge by now
 * @sn: network namespace
 *
 * Context: rcu_read_lock()
 * Return: NULL while unconfigured or switched off
 */
static inline const struct synq_conf *synq_conf_active(const struct synq_net *sn)
{
	/* Pairs with WRITE_ONCE in synq_conf_set_bypass(); no order needed. */
	if (READ_ONCE(sn->bypass))
		return NULL;
	return rcu_dereference(sn->conf);
}

#endif /* _SYNQ_CONF_H */
