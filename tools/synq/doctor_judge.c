// SPDX-License-Identifier: GPL-2.0
/*
 * What the facts mean: for each listener a verdict, and what else is worth to know.
 * Pure.
 */
#include <stdarg.h>
#include <string.h>

#include "doctor.h"

#define MANY		32	/* so many connections, or requests, are load */
#define SOME		8	/* so many late answers are no accident */
#define CLIENTS		16	/* so many connections tell where they are from */
#define LONG_MS		1000	/* an answer that takes so long is late */
#define SHORT_BACKLOG	8
#define SHORT_SOMAXCONN	128	/* until Linux 5.4 */
#define KERNEL_BACKLOG	4096	/* net.core.somaxconn since Linux 5.4 */
#define DNATS_MAX	16	/* more are a router */
#define OVERFLOWS	10	/* fewer are an accident */

/**
 * find_new() - add a finding
 * @findings: where to
 * @severity: how bad
 * @code: stable name
 * @port: of the listener, or 0
 * @format: one line
 *
 * Return: the finding, for find_help(), until the next one is added.
 */
struct finding *find_new(struct findings *findings, enum severity severity,
			 const char *code, __u16 port, const char *format, ...)
{
	struct finding *finding;
	va_list ap;

	if (findings->number == findings->room) {
		findings->room = findings->room ? 2 * findings->room : 8;
		findings->finding = allocate(findings->finding, findings->room,
					     sizeof(*findings->finding));
	}
	finding = &findings->finding[findings->number++];
	memset(finding, 0, sizeof(*finding));
	finding->severity = severity;
	finding->code = code;
	finding->port = port;
	va_start(ap, format);
	vsnprintf(finding->text, sizeof(finding->text), format, ap);
	va_end(ap);
	return finding;
}

/**
 * find_help() - add the command that helps
 * @finding: to what
 * @format: the command
 */
void find_help(struct finding *finding, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(finding->help, sizeof(finding->help), format, ap);
	va_end(ap);
}

static const struct listener_spec *find_spec(const struct facts *facts, __u16 port)
{
	const struct listener *listener = facts->conf ? conf_listener(facts->conf, port) : NULL;

	return listener ? &listener->spec : NULL;
}

/* What holds of a server that queues inside itself. */
static void judge_inside(const struct watched *watched, const struct listener_spec *spec,
			 struct findings *findings)
{
	bool late = watched->busy >= MANY ||
		    (watched->busy * 2 >= watched->connections && watched->longest >= LONG_MS);
	struct finding *finding;
	char wait[32] = "";

	if (watched->busy)
		snprintf(wait, sizeof(wait), ", the longest for %u.%u s",
			 watched->longest / 1000, watched->longest / 100 % 10);
	if (spec && spec->inside) {
		find_new(findings, FINE, "inside", watched->port,
			 "accepts at once, up to the limit inside: %u connections, %u wait for an answer%s",
			 watched->connections, watched->busy, wait);
		return;
	}
	finding = find_new(findings, late ? REMARK : FINE, "accepts_at_once", watched->port,
			   "accepts at once%s: %u connections, %u wait for an answer%s",
			   late ? " and queues inside" : "", watched->connections,
			   watched->busy, wait);
	find_help(finding, "synq listener %s port %u inside auto", spec ? "set" : "add",
		  watched->port);
}

static void judge_queue(const struct watched *watched, const struct listener_spec *spec,
			struct findings *findings)
{
	struct finding *finding;

	if (watched->queue_most >= watched->backlog && watched->queue_most)
		finding = find_new(findings, PROBLEM, "queue_full", watched->port,
				   "the accept queue is full (%u of %u): all clients are dropped alike",
				   watched->queue_most, watched->backlog);
	else
		finding = find_new(findings, spec ? FINE : REMARK, "queue_waits",
				   watched->port,
				   "connections wait to be accepted (up to %u of %u)%s",
				   watched->queue_most, watched->backlog,
				   spec ? ", in the order of synq" : "");
	if (spec)
		find_help(finding, "synq stats listener %u", watched->port);
	else
		find_help(finding, "synq listener add port %u, and classes (see synq(8), EXAMPLES)",
			  watched->port);
}

static void judge_front(const struct watched *watched, const struct listener_spec *spec,
			struct findings *findings)
{
	enum severity severity = spec ? REMARK : FINE;
	struct finding *finding;
	char others[24] = "";
	char by[128] = "";
	char text[PREFIX_TEXT];
	__u32 sum = 0;
	unsigned int i;

	for (i = 0; i < DOCTOR_TOP; i++)
		sum += watched->top_count[i];
	if (watched->nat64 >= CLIENTS / 2) {
		finding = find_new(findings, severity, "nat64", watched->port,
				   "%u connections came by NAT64 (64:ff9b::/96): one source by default",
				   watched->nat64);
		find_help(finding, "synq class set NAME source-len 32,128");
	}
	if (watched->local >= CLIENTS && watched->local * 10ULL >= watched->connections * 9ULL) {
		if (*watched->proxy && watched->proxy_port)
			snprintf(by, sizeof(by), ", by %s, which listens at port %u",
				 watched->proxy, watched->proxy_port);
		else if (*watched->proxy)
			snprintf(by, sizeof(by), ", by %s", watched->proxy);
		finding = find_new(findings, severity, "local_proxy", watched->port,
				   "nearly all connections come from this host%s: clients look alike here",
				   by);
		if (watched->proxy_port)
			find_help(finding, "synq listener add port %u",
				  watched->proxy_port);
		else
			find_help(finding,
				  "configure the proxy's own port: here all clients are of class local");
		return;
	}
	if (watched->arrived < CLIENTS || sum * 10ULL < watched->arrived * 9ULL)
		return;
	for (i = 1; i < DOCTOR_TOP && watched->top_count[i]; i++)
		snprintf(others, sizeof(others), " and %u other%s", i, i > 1 ? "s" : "");
	finding = find_new(findings, severity, "few_sources", watched->port,
			   "nearly all connections (%u of %u) come from %s%s: a balancer, a proxy or NAT is in front",
			   sum, watched->arrived, address_text(&watched->top[0], text), others);
	find_help(finding,
		  "run synq there; or by marks, see \"Behind a balancer\" in Documentation/operation.rst");
}

/* Does a rule send this port elsewhere? */
static const struct dnat *find_dnat(const struct facts *facts, __u16 port)
{
	unsigned int i;

	for (i = 0; i < facts->rules.dnats; i++) {
		const struct dnat *dnat = &facts->rules.dnat[i];

		if (port >= dnat->first && port <= dnat->last)
			return dnat;
	}
	return NULL;
}

/* Of "172.17.0.2:80" or "[2001:db8::1]:80" */
static int address_length(const char *text)
{
	return text[0] == '[' ? strcspn(text + 1, "]") : strcspn(text, ":");
}

/* A listener of the configuration that gets no SYN. */
static void judge_unseen(const struct facts *facts, __u16 port, struct findings *findings)
{
	const struct dnat *dnat = find_dnat(facts, port);
	const struct watched *watched = NULL;
	struct finding *finding;
	__u32 connections = 0;
	unsigned int i;

	for (i = 0; i < facts->number; i++) {
		if (facts->watched[i].port != port)
			continue;
		watched = &facts->watched[i];
		connections += watched->connections;
	}
	if (facts->off || (facts->seen && facts->seen[port]))
		return;
	if (dnat) {
		finding = find_new(findings, facts->seen ? PROBLEM : REMARK, "sent_elsewhere",
				   port,
				   "what comes to port %u goes to %s by a rule: no SYN is seen here (%s)",
				   port, dnat->to, dnat->where);
		if (dnat->to[0] == ':')
			find_help(finding, "synq listener add port %s", dnat->to + 1);
		else
			find_help(finding,
				  "run synq there (ip netns exec, nsenter), or: synq service add to %.*s port N forward",
				  address_length(dnat->to), dnat->to + (dnat->to[0] == '['));
	} else if (!watched) {
		finding = find_new(findings, REMARK, "no_listener", port,
				   "nothing listens on port %u, for which synq is configured",
				   port);
		find_help(finding, "start the server, or: synq listener del port %u", port);
	} else if (facts->seen && connections) {
		finding = find_new(findings, REMARK, "none_seen", port,
				   "listening, %u connections, but no SYN seen since synq was configured",
				   connections);
		find_help(finding, "synq stats listener %u, after the next connection", port);
	}
}

/**
 * judge_listener() - find what there is to say about a listener, a verdict first
 * @facts: what is known
 * @watched: the listener
 * @findings: where to
 */
void judge_listener(const struct facts *facts, const struct watched *watched,
		    struct findings *findings)
{
	const struct listener_spec *spec = find_spec(facts, watched->port);
	struct finding *finding;

	if (watched->queue_most >= watched->backlog && watched->queue_most)
		judge_queue(watched, spec, findings);
	else if (watched->queued_always && watched->queue_most)
		judge_queue(watched, spec, findings);
	else if (watched->connections >= MANY ||
		 (watched->busy >= SOME && watched->longest >= LONG_MS))
		judge_inside(watched, spec, findings);
	else
		find_new(findings, FINE, "idle", watched->port,
			 "no connection waits to be accepted; %u connection%s",
			 watched->connections, watched->connections == 1 ? "" : "s");
	judge_front(watched, spec, findings);
	if (!watched->loopback && watched->backlog < SHORT_BACKLOG) {
		finding = find_new(findings, REMARK, "short_backlog", watched->port,
				   "a backlog of %u has no room for a burst, nor for classes",
				   watched->backlog);
		find_help(finding, "let the server listen with a backlog of %u", KERNEL_BACKLOG);
	}
}

static void judge_backlogs(const struct facts *facts, struct findings *findings)
{
	long long somaxconn = facts->sysctl[SYSCTL_SOMAXCONN];
	const struct watched *lower = NULL, *cut = NULL;
	unsigned int lowers = 0, cuts = 0;
	struct finding *finding = NULL;
	unsigned int i;

	if (somaxconn < 0)
		return;
	for (i = 0; i < facts->number; i++) {
		const struct watched *watched = &facts->watched[i];

		if (watched->backlog_most > somaxconn) {
			lower = watched;
			lowers++;
		} else if (watched->backlog == somaxconn && somaxconn < KERNEL_BACKLOG) {
			cut = watched;
			cuts++;
		}
	}
	if (lower)
		finding = find_new(findings, REMARK, "somaxconn", lower->port,
				   "net.core.somaxconn=%lld is below the backlog of port %u%s, %u, which a restart would cut",
				   somaxconn, lower->port, lowers > 1 ? " and others" : "",
				   lower->backlog_most);
	else if (cut)
		finding = find_new(findings, REMARK, "somaxconn", cut->port,
				   "net.core.somaxconn=%lld cuts the backlog of port %u%s",
				   somaxconn, cut->port, cuts > 1 ? " and others" : "");
	else if (!facts->number && somaxconn < SHORT_SOMAXCONN)
		finding = find_new(findings, REMARK, "somaxconn", 0,
				   "net.core.somaxconn=%lld: no server gets a longer backlog",
				   somaxconn);
	if (finding)
		find_help(finding, "sysctl -w net.core.somaxconn=%u, and restart the server",
			  KERNEL_BACKLOG);
}

/* Only without cookies does the kernel look at tcp_max_syn_backlog. */
static void judge_syn_backlog(const struct facts *facts, struct findings *findings)
{
	long long most = facts->sysctl[SYSCTL_TCP_MAX_SYN_BACKLOG];
	const struct watched *longest = NULL;
	struct finding *finding;
	unsigned int i;

	if (most < 0 || facts->sysctl[SYSCTL_TCP_SYNCOOKIES])
		return;
	for (i = 0; i < facts->number; i++) {
		if (!longest || facts->watched[i].backlog_most > longest->backlog_most)
			longest = &facts->watched[i];
	}
	if (!longest || most >= longest->backlog_most)
		return;
	finding = find_new(findings, REMARK, "tcp_max_syn_backlog", longest->port,
			   "net.ipv4.tcp_max_syn_backlog=%lld limits the SYN queue of port %u, whose backlog is %u",
			   most, longest->port, longest->backlog_most);
	find_help(finding, "sysctl -w net.ipv4.tcp_max_syn_backlog=%u", longest->backlog_most);
}

/**
 * struct wrong - a sysctl with a value that stands in the way
 * @sysctl: which
 * @value: that value
 * @severity: how bad
 * @text: why
 * @right: the value that helps
 */
struct wrong {
	enum sysctl sysctl;
	long long value;
	enum severity severity;
	const char *text;
	int right;
};

static const struct wrong abort_on_overflow = {
	SYSCTL_TCP_ABORT_ON_OVERFLOW, 1, REMARK,
	"clients that find a full queue are reset, and synq holds none", 0,
};

static const struct wrong timestamps = {
	SYSCTL_TCP_TIMESTAMPS, 0, REMARK,
	"connections of SYN cookies lose window scaling and SACK", 1,
};

static const struct wrong no_cookies = {
	SYSCTL_TCP_SYNCOOKIES, 0, REMARK,
	"a flood fills the SYN queue, and synq can only refuse", 1,
};

static const struct wrong only_cookies = {
	SYSCTL_TCP_SYNCOOKIES, 2, REMARK,
	"every SYN gets a cookie, and connections of cookies are not held", 1,
};

static const struct wrong fwmark_accept = {
	SYSCTL_TCP_FWMARK_ACCEPT, 0, PROBLEM,
	"connections lose the class that a mark gave their SYN", 1,
};

static void judge_sysctl(const struct facts *facts, const struct wrong *wrong,
			 struct findings *findings)
{
	static const char * const names[] = {
		[SYSCTL_TCP_ABORT_ON_OVERFLOW] = "tcp_abort_on_overflow",
		[SYSCTL_TCP_TIMESTAMPS] = "tcp_timestamps",
		[SYSCTL_TCP_SYNCOOKIES] = "tcp_syncookies",
		[SYSCTL_TCP_FWMARK_ACCEPT] = "tcp_fwmark_accept",
	};
	const char *name = names[wrong->sysctl];
	struct finding *finding;

	if (facts->sysctl[wrong->sysctl] != wrong->value)
		return;
	finding = find_new(findings, wrong->severity, name, 0, "net.ipv4.%s=%lld: %s", name,
			   wrong->value, wrong->text);
	find_help(finding, "sysctl -w net.ipv4.%s=%d", name, wrong->right);
}

/**
 * judge_sysctls() - find sysctls that stand in the way
 * @facts: sysctls, and listeners whose backlog counts
 * @findings: where to
 */
void judge_sysctls(const struct facts *facts, struct findings *findings)
{
	judge_sysctl(facts, &abort_on_overflow, findings);
	judge_sysctl(facts, &timestamps, findings);
	judge_backlogs(facts, findings);
	judge_syn_backlog(facts, findings);
}

/* Of these apply says something itself. */
static void judge_cookies(const struct facts *facts, struct findings *findings)
{
	judge_sysctl(facts, &no_cookies, findings);
	judge_sysctl(facts, &only_cookies, findings);
	if (facts->conf && facts->conf->mask)
		judge_sysctl(facts, &fwmark_accept, findings);
}

static void judge_overflows(const struct facts *facts, struct findings *findings)
{
	const struct watched *most = NULL;
	struct finding *finding;
	char where[48] = "";
	unsigned int i;

	for (i = 0; i < facts->number; i++) {
		if (!most || facts->watched[i].drops > most->drops)
			most = &facts->watched[i];
	}
	if (most && most->drops)
		snprintf(where, sizeof(where), ", most at port %u", most->port);
	if (facts->overflows_new)
		finding = find_new(findings, PROBLEM, "overflows", 0,
				   "%llu overflows of accept queues in %u ms%s",
				   (unsigned long long)facts->overflows_new,
				   facts->watched_ms, where);
	else if (facts->overflows >= OVERFLOWS && facts->overflows * 1000 >= facts->opens)
		finding = find_new(findings, REMARK, "overflows", 0,
				   "%llu overflows of accept queues so far, with %llu connections%s",
				   (unsigned long long)facts->overflows,
				   (unsigned long long)facts->opens, where);
	else
		return;
	find_help(finding, "nstat -az TcpExtListenOverflows, again after a while");
}

static void judge_conntrack(const struct facts *facts, struct findings *findings)
{
	long long count = facts->sysctl[SYSCTL_CONNTRACK_COUNT];
	long long most = facts->sysctl[SYSCTL_CONNTRACK_MAX];
	struct finding *finding;

	if (most <= 0 || count * 4 < most * 3)
		return;
	finding = find_new(findings, count * 10 >= most * 9 ? PROBLEM : REMARK, "conntrack", 0,
			   "the conntrack table has %lld of %lld entries; a full one drops all clients alike",
			   count, most);
	find_help(finding, "sysctl -w net.netfilter.nf_conntrack_max=%lld", 4 * most);
}

static void judge_bridge(const struct facts *facts, struct findings *findings)
{
	struct finding *finding;

	if (!*facts->bridge || facts->sysctl[SYSCTL_BRIDGE_IPTABLES] <= 0)
		return;
	finding = find_new(findings, FINE, "br_netfilter", 0,
			   "br_netfilter: what bridge %s passes on goes through the firewall and conntrack",
			   facts->bridge);
	find_help(finding, "sysctl -w net.bridge.bridge-nf-call-iptables=0, if no rule needs it");
}

static void judge_vrf(const struct facts *facts, struct findings *findings)
{
	const struct watched *unbound = NULL;
	enum severity severity = FINE;
	struct finding *finding;
	unsigned int i;

	if (!*facts->vrf || facts->sysctl[SYSCTL_TCP_L3MDEV_ACCEPT])
		return;
	for (i = 0; i < facts->number && severity == FINE; i++) {
		if (facts->watched[i].loopback || facts->watched[i].device)
			continue;
		unbound = &facts->watched[i];
		if (find_spec(facts, unbound->port))
			severity = REMARK;
	}
	if (!unbound)
		return;
	finding = find_new(findings, severity, "vrf", unbound->port,
			   "port %u is not served to clients behind VRF %s: its socket is not bound to that",
			   unbound->port, facts->vrf);
	find_help(finding, "sysctl -w net.ipv4.tcp_l3mdev_accept=1, or bind the server to %s",
		  facts->vrf);
}

/* Not a port of the configuration; shown so that one can see where it goes. */
static void judge_dnats(const struct facts *facts, struct findings *findings)
{
	const struct dnat *dnat = facts->rules.dnat;
	const struct dnat *end = dnat + (facts->rules.dnats < DNATS_MAX ?
					 facts->rules.dnats : DNATS_MAX);

	for (; dnat < end; dnat++) {
		if (!find_spec(facts, dnat->first) && dnat->to[0] != ':')
			find_new(findings, FINE, "sent_elsewhere", dnat->first,
				 "what comes to port %u goes to %s by a rule: synq belongs there (%s)",
				 dnat->first, dnat->to, dnat->where);
	}
}

/**
 * judge_host() - find what there is to say about the network namespace
 * @facts: what is known
 * @findings: where to
 */
void judge_host(const struct facts *facts, struct findings *findings)
{
	unsigned int i;

	judge_overflows(facts, findings);
	judge_sysctls(facts, findings);
	judge_cookies(facts, findings);
	judge_marks(facts, findings);
	judge_conntrack(facts, findings);
	judge_bridge(facts, findings);
	judge_vrf(facts, findings);
	judge_dnats(facts, findings);
	if (facts->off)
		find_help(find_new(findings, REMARK, "off", 0,
				   "synq is off: the stock kernel serves all clients"),
			  "synq on");
	if (!facts->conf)
		return;
	for (i = 0; i < facts->conf->listeners; i++)
		judge_unseen(facts, facts->conf->listener[i].spec.port, findings);
}
