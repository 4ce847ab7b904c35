// SPDX-License-Identifier: GPL-2.0
/*
 * doctor: what synq would do for each listener of this network namespace, and what stands
 * in its way.
 *
 * It only reads.  The module need not be loaded, nothing need be configured, and what may
 * not be read is left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "classify.h"
#include "command.h"
#include "doctor.h"

#define WATCH_MS	1000	/* unless asked for more */
#define WATCH_MAX	600000
#define LOOK_MS		100	/* between two looks at the queues */

/* Exit status if it could not look; the others are severities. */
#define BLIND		3

static void take_conf(struct nlattr **attr, void *arg)
{
	struct facts *facts = arg;

	facts->off = attr_u8(attr, SYNQ_A_CONF_BYPASS);
}

static void take_stats(struct nlattr **attr, void *arg)
{
	__u64 *seen = arg;
	struct nlattr *value;

	if (!attr[SYNQ_A_STATS_COUNTERS])
		return;
	mnl_attr_for_each_nested(value, attr[SYNQ_A_STATS_COUNTERS]) {
		if (mnl_attr_get_type(value) == SYNQ_A_COUNTERS_SEEN)
			seen[attr_u16(attr, SYNQ_A_STATS_PORT)] += mnl_attr_get_u64(value);
	}
}

static bool is_first(const struct facts *facts, const struct prefix *source, __u16 port)
{
	struct question question = { .source = *source, .port = port };

	return !question_ask(facts->nl, &question) && !strcmp(question.class, facts->first);
}

/* Is the module there, may it be asked, and is it on? */
static int try_module(struct facts *facts)
{
	char room[MNL_NLMSG_HDRLEN + GENL_HDRLEN];
	struct nl_error error;

	if (nl_try(facts->nl, &error))
		return UNREACHABLE;
	if (error.code)
		return DONE;
	if (nl_call(facts->nl, nl_request(facts->nl, room, SYNQ_CMD_CONF_GET, 0),
		    SYNQ_A_CONF_MAX, take_conf, facts, &error))
		return UNREACHABLE;
	facts->module = error.code ? MODULE_FORBIDDEN : MODULE_LOADED;
	return DONE;
}

static int ask_module(struct facts *facts)
{
	const struct class *class[SLOTS];
	bool interrupted;
	int error;

	error = try_module(facts);
	if (error || facts->module != MODULE_LOADED || facts->from_file)
		return error;
	facts->conf = allocate(NULL, 1, sizeof(*facts->conf));
	error = load_conf(facts->nl, facts->conf, true);
	if (error)
		return error;
	facts->seen = allocate(NULL, PORTS, sizeof(*facts->seen));
	memset(facts->seen, 0, PORTS * sizeof(*facts->seen));
	error = nl_dump(facts->nl, SYNQ_CMD_STATS_GET, SYNQ_A_STATS_MAX, take_stats, facts->seen,
			&interrupted);
	if (conf_sorted_classes(facts->conf, class)) {
		facts->first = class[0]->spec.name;
		facts->is_first = is_first;
	}
	return error;
}

static int read_file(struct words *words, struct facts *facts)
{
	const char *name = words_next(words);

	if (!name)
		return DONE;
	if (edit_refuse_end(words, "doctor"))
		return REFUSED;
	facts->conf = allocate(NULL, 1, sizeof(*facts->conf));
	facts->from_file = true;
	return conf_read(facts->conf, name, false);
}

static int look(struct facts *facts, __u32 watch_ms)
{
	struct sockets *sockets;
	unsigned int i;
	int error;

	error = sockets_open(&sockets);
	if (!error)
		error = sockets_listeners(sockets, facts);
	host_counters(facts, "", false);
	for (i = LOOK_MS; !error && i <= watch_ms; i += LOOK_MS) {
		sockets_events(sockets, facts, i);
		error = sockets_listeners(sockets, facts);
	}
	if (!error)
		error = sockets_connections(sockets, facts, true);
	host_counters(facts, "", true);
	sockets_close(sockets);
	if (error)
		return fail(BLIND, "the kernel does not list sockets (sock_diag): %s",
			    strerror(-error));
	host_sysctls(facts, "");
	host_links(facts);
	host_rules(facts, "");
	watch_sources(facts);
	return DONE;
}

static enum severity worst(const struct findings *findings)
{
	enum severity severity = FINE;
	unsigned int i;

	for (i = 0; i < findings->number; i++) {
		if (findings->finding[i].severity > severity)
			severity = findings->finding[i].severity;
	}
	return severity;
}

static int judge(const struct facts *facts, unsigned int flags)
{
	struct findings *listeners = allocate(NULL, facts->number + 1, sizeof(*listeners));
	struct findings host = { 0 };
	enum severity severity;
	unsigned int i;

	memset(listeners, 0, (facts->number + 1) * sizeof(*listeners));
	for (i = 0; i < facts->number; i++)
		judge_listener(facts, &facts->watched[i], &listeners[i]);
	judge_host(facts, &host);
	watch_probes(facts, &host);
	severity = worst(&host);
	for (i = 0; i < facts->number; i++) {
		if (worst(&listeners[i]) > severity)
			severity = worst(&listeners[i]);
	}
	if (flags & FLAG_JSON)
		doctor_json(facts, listeners, &host);
	else
		doctor_print(facts, listeners, &host);
	for (i = 0; i < facts->number; i++)
		free(listeners[i].finding);
	free(listeners);
	free(host.finding);
	return severity;
}

/**
 * command_doctor() - look for what stands in the way
 * @words: [FILE], a configuration that is to be applied
 * @flags: FLAG_JSON, FLAG_WATCH
 *
 * Return: the worst severity; or BLIND.
 */
int command_doctor(struct words *words, unsigned int flags)
{
	__u32 watch_ms = WATCH_MS;
	struct nl nl = { 0 };
	struct facts facts = { .nl = &nl };
	int status = BLIND;
	int error = DONE;

	if (words->watch)
		error = value_time(NULL, words->watch, "--watch", WATCH_MAX, &watch_ms);
	if (!error)
		error = read_file(words, &facts);
	if (!error)
		error = look(&facts, watch_ms);
	if (!error)
		error = ask_module(&facts);
	if (!error)
		status = judge(&facts, flags);
	nl_close(&nl);
	rules_clear(&facts.rules);
	if (facts.conf)
		conf_clear(facts.conf);
	free(facts.conf);
	free(facts.seen);
	free(facts.watched);
	free(facts.arrival);
	return status;
}
