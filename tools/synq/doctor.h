/* SPDX-License-Identifier: GPL-2.0 */
/*
 * synq doctor: what it knows of a network namespace, and what it finds.
 *
 * One file gathers from sock_diag, one from /proc and from programs; all others are
 * pure, so that they are tested with files.
 */
#ifndef SYNQ_DOCTOR_H
#define SYNQ_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "conf.h"
#include "nl.h"

#define PORTS		65536
#define DOCTOR_TOP	4	/* so few addresses are a balancer, not clients */
#define DOCTOR_NAME	32
#define DOCTOR_TEXT	320
#define DOCTOR_HELP	640

enum severity {
	FINE,
	REMARK,
	PROBLEM,
};

/**
 * struct finding - what stands in the way, or is worth to know
 * @severity: how bad
 * @code: stable name
 * @port: of the listener; 0: of the network namespace
 * @text: one line
 * @help: the command that helps, or empty
 */
struct finding {
	enum severity severity;
	const char *code;
	__u16 port;
	char text[DOCTOR_TEXT];
	char help[DOCTOR_HELP];
};

struct findings {
	struct finding *finding;
	unsigned int number;
	unsigned int room;
};

/**
 * struct watched - the TCP listeners of one port, either on loopback or not
 * @port: local port
 * @loopback: they are bound to loopback addresses
 * @device: they are bound to a device
 * @sockets: how many there are
 * @inode: of one of them, 0: unknown
 * @process: name of its process, or empty
 * @pid: and its number
 * @queue: connections in their accept queues, now
 * @queue_most: the most that any of them had
 * @queued_always: there was one each time
 * @backlog: the shortest backlog of them
 * @backlog_most: the longest
 * @drops: SYNs and final ACKs that they have dropped
 * @connections: established ones, that were accepted
 * @local: of those, from addresses of this host
 * @busy: of those, got data since they last sent any
 * @longest: milliseconds that the longest of these has waited
 * @unread: have data that the server has not read
 * @sources: different addresses of clients
 * @nat64: connections from the best known prefix of NAT64
 * @top: the addresses with most connections
 * @top_count: how many
 * @arrived: connections, now and in the time watched
 * @proxy: process at the other end of local connections, or empty
 * @proxy_pid: and its number
 * @proxy_port: port at which that listens, or 0
 */
struct watched {
	__u16 port;
	bool loopback;
	bool device;
	__u32 sockets;
	__u32 inode;
	char process[DOCTOR_NAME];
	__u32 pid;
	__u32 queue;
	__u32 queue_most;
	bool queued_always;
	__u32 backlog;
	__u32 backlog_most;
	__u64 drops;
	__u32 connections;
	__u32 local;
	__u32 busy;
	__u32 longest;
	__u32 unread;
	__u32 sources;
	__u32 nat64;
	struct prefix top[DOCTOR_TOP];
	__u32 top_count[DOCTOR_TOP];
	__u32 arrived;
	char proxy[DOCTOR_NAME];
	__u32 proxy_pid;
	__u16 proxy_port;
};

/**
 * struct arrival - a connection of a client
 * @port: of the listener
 * @loopback: as in struct watched
 * @source: address of the client
 * @ended: in ms from the beginning of the watch; -1: it has not
 */
struct arrival {
	__u16 port;
	bool loopback;
	struct prefix source;
	long long ended;
};

/**
 * enum mark_use - what a rule does with the packet mark
 * @MARK_TEST: compares bits of it
 * @MARK_SET: writes bits of it
 * @MARK_RESTORE: writes bits of the connection's mark
 */
enum mark_use {
	MARK_TEST,
	MARK_SET,
	MARK_RESTORE,
};

/* In "mend": the bits of the rule without those of synq, its value without them, and
 * all that a rule is to leave alone.
 */
#define MEND_BITS	'\1'
#define MEND_VALUE	'\2'
#define MEND_KEEP	'\3'

/**
 * struct mark_rule - a rule that looks at the packet mark, or writes it
 * @use: which of it
 * @bits: that it compares or writes
 * @value: that it compares with, or writes; of MARK_RESTORE bits of the connection's mark
 * @except: it is for all other marks
 * @routing: it chooses a route
 * @where: the rule, for the reader
 * @mend: the rule as it should be, with MEND_* where synq's bits count; or empty
 */
struct mark_rule {
	enum mark_use use;
	__u32 bits;
	__u32 value;
	bool except;
	bool routing;
	char where[200];
	char mend[420];
};

/**
 * struct dnat - a rule that sends a port elsewhere
 * @first: lowest port
 * @last: highest
 * @to: where to, "172.17.0.2:80", or ":8080" of this host
 * @where: the rule
 */
struct dnat {
	__u16 first;
	__u16 last;
	char to[64];
	char where[200];
};

/**
 * struct rules - all rules that matter
 * @mark: those that look at marks
 * @marks: how many
 * @dnat: those that rewrite destinations
 * @dnats: how many
 * @tables: tables that iptables-save has listed, by family
 */
struct rules {
	struct mark_rule *mark;
	unsigned int marks;
	struct dnat *dnat;
	unsigned int dnats;
	char tables[2][5][12];
};

enum sysctl {
	SYSCTL_TCP_ABORT_ON_OVERFLOW,
	SYSCTL_TCP_TIMESTAMPS,
	SYSCTL_TCP_SYNCOOKIES,
	SYSCTL_TCP_FWMARK_ACCEPT,
	SYSCTL_TCP_MAX_SYN_BACKLOG,
	SYSCTL_TCP_L3MDEV_ACCEPT,
	SYSCTL_SOMAXCONN,
	SYSCTL_CONNTRACK_COUNT,
	SYSCTL_CONNTRACK_MAX,
	SYSCTL_BRIDGE_IPTABLES,
	SYSCTLS,
};

#define NO_SYSCTL	(-1)	/* the kernel has none of this name here */

enum module {
	MODULE_ABSENT,
	MODULE_FORBIDDEN,
	MODULE_LOADED,
};

/**
 * struct facts - all that is known
 * @watched: listeners
 * @number: how many
 * @arrival: connections seen
 * @arrivals: how many
 * @watched_ms: for how long it was watched
 * @sysctl: values, or NO_SYSCTL
 * @overflows: ListenOverflows
 * @overflows_new: of those, while it was watched
 * @drops: ListenDrops
 * @opens: PassiveOpens
 * @bridge: name of a bridge, or empty
 * @vrf: name of a VRF, or empty
 * @rules: of the firewall, and of routing
 * @module: can it be asked?
 * @conf: the configuration, of the module or of a file; NULL: none
 * @from_file: it is from a file
 * @off: "synq off"
 * @first: name of the first class, or NULL
 * @is_first: is a client at a port in that class, as the module says?
 * @nl: for that
 * @seen: SYNs that the module has judged, by port; NULL: not known
 * @unseen: what could not be looked at, words with ", " between them
 */
struct facts {
	struct watched *watched;
	unsigned int number;
	struct arrival *arrival;
	unsigned int arrivals;
	__u32 watched_ms;
	long long sysctl[SYSCTLS];
	__u64 overflows;
	__u64 overflows_new;
	__u64 drops;
	__u64 opens;
	char bridge[16];
	char vrf[16];
	struct rules rules;
	enum module module;
	struct conf *conf;
	bool from_file;
	bool off;
	const char *first;
	bool (*is_first)(const struct facts *facts, const struct prefix *source, __u16 port);
	struct nl *nl;
	__u64 *seen;
	char unseen[160];
};

/* doctor_socks.c */
struct sockets;
int sockets_open(struct sockets **sockets);
int sockets_listeners(struct sockets *sockets, struct facts *facts);
int sockets_connections(struct sockets *sockets, struct facts *facts, bool name);
void sockets_events(struct sockets *sockets, struct facts *facts, int until_ms);
void sockets_close(struct sockets *sockets);

/* doctor_process.c */
void processes_name(struct facts *facts, const __u32 *peer);

/* doctor_host.c */
void host_sysctls(struct facts *facts, const char *root);
bool host_counter(const char *text, const char *table, const char *name,
		  __u64 *value);
void host_counters(struct facts *facts, const char *root, bool again);
void host_rules(struct facts *facts, const char *root);
void host_links(struct facts *facts);

/* doctor_nft.c */
void nft_rules(struct rules *rules, const char *text);

/* doctor_iptables.c */
void iptables_rules(struct rules *rules, const char *text, bool is_v6);
void routing_rules(struct rules *rules, const char *text, bool is_v6);
struct mark_rule *rules_new_mark(struct rules *rules);
struct dnat *rules_new_dnat(struct rules *rules);
void rules_clear(struct rules *rules);

/* doctor_watch.c */
void watch_sources(struct facts *facts);
void watch_probes(const struct facts *facts, struct findings *findings);

/* doctor_marks.c */
void judge_marks(const struct facts *facts, struct findings *findings);

/* doctor_print.c */
void doctor_print_finding(const struct finding *finding, bool names_port);
void doctor_print(const struct facts *facts, const struct findings *listeners,
		  const struct findings *host);
void doctor_json(const struct facts *facts, const struct findings *listeners,
		 const struct findings *host);

/* doctor_judge.c */
__printf(5, 6)
struct finding *find_new(struct findings *findings, enum severity severity,
			 const char *code, __u16 port, const char *format, ...);
__printf(2, 3)
void find_help(struct finding *finding, const char *format, ...);
void judge_listener(const struct facts *facts, const struct watched *watched,
		    struct findings *findings);
void judge_host(const struct facts *facts, struct findings *findings);
void judge_sysctls(const struct facts *facts, struct findings *findings);

#endif /* SYNQ_DOCTOR_H */
