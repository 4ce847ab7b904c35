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
#include <time.h>

#include "classify.h"
#include "command.h"
#include "doctor.h"

#define WATCH_MS	1000	/* unless asked for more */
#define TIME_MAX	600000
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

	nl_close(facts->nl);
	if (nl_try(facts->nl, &error))
		return UNREACHABLE;
	if (error.code)
		return DONE;
	if (nl_call(facts->nl, nl_request(facts->nl, room, SYNQ_CMD_CONF_GET, 0),
		    SYNQ_A_CONF_MAX, take_conf, facts, &error))
		return UNREACHABLE;
	if (!error.code)
		facts->module = MODULE_LOADED;
	else if (error.code == EPERM)
		facts->module = MODULE_FORBIDDEN;
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

/* What was found at one look. */
struct look {
	struct facts facts;
	struct findings *listeners;
	struct findings host;
};

static void judge(struct look *look)
{
	struct facts *facts = &look->facts;
	unsigned int i;

	look->listeners = allocate(NULL, facts->number + 1, sizeof(*look->listeners));
	memset(look->listeners, 0, (facts->number + 1) * sizeof(*look->listeners));
	for (i = 0; i < facts->number; i++)
		judge_listener(facts, &facts->watched[i], &look->listeners[i]);
	judge_host(facts, &look->host);
	watch_probes(facts, &look->host);
}

/* file: NULL: none, the module's configuration counts */
static int examine(const char *file, __u32 watch_ms, struct nl *nl, struct look *now)
{
	struct facts *facts = &now->facts;
	int error = DONE;

	memset(now, 0, sizeof(*now));
	facts->nl = nl;
	if (file) {
		facts->conf = allocate(NULL, 1, sizeof(*facts->conf));
		facts->from_file = true;
		error = conf_read(facts->conf, file, false);
	}
	if (!error)
		error = look(facts, watch_ms);
	if (!error)
		error = ask_module(facts);
	if (!error)
		judge(now);
	return error;
}

static void forget(struct look *look)
{
	struct facts *facts = &look->facts;
	unsigned int i;

	for (i = 0; look->listeners && i < facts->number; i++)
		free(look->listeners[i].finding);
	free(look->listeners);
	free(look->host.finding);
	rules_clear(&facts->rules);
	if (facts->conf)
		conf_clear(facts->conf);
	free(facts->conf);
	free(facts->seen);
	free(facts->watched);
	free(facts->arrival);
}

static enum severity worst_of(const struct look *look)
{
	enum severity severity = worst(&look->host);
	unsigned int i;

	for (i = 0; i < look->facts.number; i++) {
		if (worst(&look->listeners[i]) > severity)
			severity = worst(&look->listeners[i]);
	}
	return severity;
}

/* There may be several rules; of all else, numbers in the text are others each time. */
static bool is_of_rule(const struct finding *finding)
{
	return !strncmp(finding->code, "mark_", 5) || !strcmp(finding->code, "sent_elsewhere");
}

static bool is_same(const struct finding *one, const struct finding *two)
{
	return one->severity == two->severity && one->port == two->port &&
	       !strcmp(one->code, two->code) &&
	       (!is_of_rule(one) || !strcmp(one->text, two->text));
}

static bool is_among(const struct findings *findings, const struct finding *finding)
{
	unsigned int i;

	for (i = 0; i < findings->number; i++) {
		if (is_same(&findings->finding[i], finding))
			return true;
	}
	return false;
}

static bool was_found(const struct look *before, const struct finding *finding)
{
	unsigned int i;

	for (i = 0; i < before->facts.number; i++) {
		if (is_among(&before->listeners[i], finding))
			return true;
	}
	return is_among(&before->host, finding);
}

static void print_new(const struct look *before, const struct findings *findings,
		      bool names_port)
{
	unsigned int i;

	for (i = 0; i < findings->number; i++) {
		const struct finding *finding = &findings->finding[i];

		if (finding->severity > FINE && !was_found(before, finding))
			doctor_print_finding(finding, names_port);
	}
}

/* Another module takes its place, or not: what was found with it is not new afterwards. */
static bool is_gone(const struct look *before, const struct look *now)
{
	return before->facts.module == MODULE_LOADED && now->facts.module != MODULE_LOADED;
}

static void print_all_new(const struct look *before, const struct look *now)
{
	unsigned int i;

	for (i = 0; i < now->facts.number; i++)
		print_new(before, &now->listeners[i], true);
	print_new(before, &now->host, false);
}

/* Until it is interrupted, or cannot look, or nobody reads what it says. */
static int follow(const char *file, __u32 watch_ms, __u32 every_ms, struct nl *nl,
		  struct look *before)
{
	const struct timespec pause = {
		.tv_sec = every_ms / 1000,
		.tv_nsec = every_ms % 1000 * 1000000L,
	};
	bool has_failed = false, was_gone = false;
	struct look now;
	int error;

	while (!fflush(stdout)) {
		nanosleep(&pause, NULL);
		error = examine(file, watch_ms, nl, &now);
		/* The module may go at any moment, and come back. */
		if (error && has_failed) {
			forget(&now);
			return error;
		}
		has_failed = error;
		if (!error && is_gone(before, &now) && !was_gone)
			printf("remark   synq is not loaded any more: the stock kernel serves\n");
		was_gone = !error && is_gone(before, &now);
		if (error || was_gone) {
			forget(&now);
			continue;
		}
		print_all_new(before, &now);
		forget(before);
		*before = now;
	}
	return REFUSED;
}

static int read_words(struct words *words, unsigned int flags, const char **file,
		      __u32 *watch_ms, __u32 *every_ms)
{
	int error = DONE;

	if (words->watch)
		error = value_time(NULL, words->watch, "--watch", TIME_MAX, watch_ms);
	if (!error && words->follow)
		error = value_time(NULL, words->follow, "--follow", TIME_MAX, every_ms);
	if (error)
		return error;
	if (words->follow && (flags & FLAG_JSON))
		return refuse(NULL, "--follow", "not with -j");
	*file = words_next(words);
	if (words->follow && *file && !strcmp(*file, "-"))
		return refuse(NULL, "--follow", "not with standard input, which is read once");
	return *file ? edit_refuse_end(words, "doctor") : DONE;
}

/**
 * command_doctor() - look for what stands in the way
 * @words: [FILE], a configuration that is to be applied
 * @flags: FLAG_JSON, FLAG_WATCH, FLAG_FOLLOW
 *
 * Return: the worst severity; or BLIND.
 */
int command_doctor(struct words *words, unsigned int flags)
{
	__u32 watch_ms = WATCH_MS, every_ms = 0;
	struct nl nl = { 0 };
	struct look now = { 0 };
	const char *file = NULL;
	int status = BLIND;
	int error;

	error = read_words(words, flags, &file, &watch_ms, &every_ms);
	if (!error)
		error = examine(file, watch_ms, &nl, &now);
	if (!error && (flags & FLAG_JSON))
		doctor_json(&now.facts, now.listeners, &now.host);
	else if (!error)
		doctor_print(&now.facts, now.listeners, &now.host);
	if (!error && words->follow)
		error = follow(file, watch_ms, every_ms, &nl, &now);
	if (!error)
		status = worst_of(&now);
	forget(&now);
	nl_close(&nl);
	return status;
}
