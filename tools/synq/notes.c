// SPDX-License-Identifier: GPL-2.0
/*
 * Remarks of apply and stats on what surrounds a configuration: sysctls, and traffic that
 * does not look as it was meant to.  What cannot be read is not remarked on.
 */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "notes.h"

#define SYNS_MIN	1000	/* fewer say nothing of a source's share */
#define SHARE		90	/* per cent: nearly all */

/* Listeners that are not of the configuration do not matter. */
static void keep_ports(struct facts *facts, const bool *wanted)
{
	unsigned int i, kept = 0;

	for (i = 0; i < facts->number; i++) {
		if (wanted[facts->watched[i].port])
			facts->watched[kept++] = facts->watched[i];
	}
	facts->number = kept;
}

/* Listeners at the ports wanted, perhaps with their connections. */
static void read_sockets(struct facts *facts, const bool *wanted, bool connections)
{
	struct sockets *sockets;

	if (!sockets_open(&sockets) && !sockets_listeners(sockets, facts)) {
		keep_ports(facts, wanted);
		if (connections)
			sockets_connections(sockets, facts, false);
	}
	sockets_close(sockets);
}

static void clear(struct facts *facts)
{
	free(facts->watched);
	free(facts->arrival);
}

/**
 * notes_host() - remark on sysctls that stand in the way of a configuration
 * @conf: the configuration
 */
void notes_host(const struct conf *conf)
{
	bool *wanted = allocate(NULL, PORTS, sizeof(*wanted));
	struct findings findings = { 0 };
	struct facts facts = { 0 };
	unsigned int i;

	memset(wanted, 0, PORTS * sizeof(*wanted));
	for (i = 0; i < conf->listeners; i++)
		wanted[conf->listener[i].spec.port] = true;
	if (conf->listeners) {
		read_sockets(&facts, wanted, false);
		host_sysctls(&facts, "");
		judge_sysctls(&facts, &findings);
	}
	for (i = 0; i < findings.number; i++)
		remark("%s", findings.finding[i].text);
	free(findings.finding);
	free(wanted);
	clear(&facts);
}

/**
 * notes_unseen() - remark on listeners that have connections, but never saw a SYN
 * @unseen: for each port, are there counters that are 0?
 */
void notes_unseen(const bool *unseen)
{
	struct facts facts = { 0 };
	unsigned int i;

	read_sockets(&facts, unseen, true);
	for (i = 0; i < facts.number; i++) {
		const struct watched *watched = &facts.watched[i];

		if (watched->connections)
			remark("port %u: listening, %u connection%s, none seen (synq doctor)",
			       watched->port, watched->connections,
			       watched->connections == 1 ? "" : "s");
	}
	clear(&facts);
}

/**
 * struct share - the SYNs of a class by their source
 * @class: its name
 * @syns: of all sources that are remembered
 * @most: of one
 * @source: that one
 */
struct share {
	char class[SYNQ_NAME_MAX + 1];
	__u64 syns;
	__u64 most;
	struct prefix source;
};

struct shares {
	struct share share[SLOTS];
	unsigned int number;
};

static void take_source(struct nlattr **attr, void *arg)
{
	const char *class = attr_text(attr, SYNQ_A_SOURCE_CLASS);
	__u64 syns = attr_u64(attr, SYNQ_A_SOURCE_CONFORMED) +
		     attr_u64(attr, SYNQ_A_SOURCE_EXCEEDED);
	struct shares *shares = arg;
	struct share *share = shares->share;

	while (share < shares->share + shares->number && strcmp(share->class, class))
		share++;
	if (share == shares->share + SLOTS)
		return;
	if (share == shares->share + shares->number) {
		memset(share, 0, sizeof(*share));
		snprintf(share->class, sizeof(share->class), "%s", class);
		shares->number++;
	}
	share->syns += syns;
	if (syns <= share->most)
		return;
	share->most = syns;
	attr_prefix(attr, SYNQ_A_SOURCE_SOURCE, SYNQ_A_SOURCE_LENGTH, &share->source);
}

/**
 * notes_sources() - remark on a source-rate that one source has nearly all traffic of
 * @nl: the kernel module
 */
void notes_sources(struct nl *nl)
{
	struct shares shares = { .number = 0 };
	char text[PREFIX_TEXT];
	bool interrupted = false;
	unsigned int i;

	if (nl_dump(nl, SYNQ_CMD_SOURCE_GET, SYNQ_A_SOURCE_MAX, take_source, &shares,
		    &interrupted) || interrupted)
		return;
	for (i = 0; i < shares.number; i++) {
		const struct share *share = &shares.share[i];

		if (share->syns < SYNS_MIN || share->most * 100 < share->syns * SHARE)
			continue;
		remark("class %s: %s sent %llu of %llu SYNs: a proxy, which source-rate limits",
		       share->class, prefix_text(&share->source, text),
		       (unsigned long long)share->most, (unsigned long long)share->syns);
	}
}
