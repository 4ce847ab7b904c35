// SPDX-License-Identifier: GPL-2.0
/*
 * What the doctor finds in files: all of it that asks no kernel.
 *
 *	doctor DIRECTORY
 *
 * In the directory, each where it is there: proc/, as the kernel has it; nft.json,
 * iptables-save, ip6tables-save, rule.json and rule6.json, as the programs print them; conf,
 * a configuration; and facts, with lines
 *
 *	listen PORT NAME VALUE...	a listener: backlog, queue, most, connections ...
 *	arrive PORT ADDRESS NUMBER [MS STEP]	connections, or some that ended, every STEP ms
 *	seen PORT NUMBER		what the module has counted; "seen 0 0": it is there
 *	set NAME VALUE			bridge, vrf, overflows, off
 *
 * Prints a line for each finding: severity, code, port, text, and the help behind "->".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../doctor.h"

static void bad(const char *line)
{
	exit(fail(REFUSED, "facts: %s", line));
}

static void take_listener(struct facts *facts)
{
	struct watched *watched;
	const struct {
		const char *name;
		__u32 *value;
	} *field;
	char *name, *value;

	facts->watched = allocate(facts->watched, facts->number + 1, sizeof(*watched));
	watched = &facts->watched[facts->number++];
	memset(watched, 0, sizeof(*watched));
	watched->sockets = 1;
	watched->port = atoi(strtok(NULL, " "));
	while ((name = strtok(NULL, " "))) {
		const struct {
			const char *name;
			__u32 *value;
		} fields[] = {
			{ "backlog", &watched->backlog },
			{ "most", &watched->queue_most },
			{ "connections", &watched->connections },
			{ "local", &watched->local },
			{ "busy", &watched->busy },
			{ "longest", &watched->longest },
			{ NULL, NULL },
		};

		value = strtok(NULL, " ");
		if (!value)
			bad(name);
		for (field = (const void *)fields; field->name; field++) {
			if (!strcmp(field->name, name))
				break;
		}
		if (field->name)
			*field->value = atoi(value);
		else if (!strcmp(name, "loopback"))
			watched->loopback = atoi(value);
		else if (!strcmp(name, "device"))
			watched->device = atoi(value);
		else if (!strcmp(name, "always"))
			watched->queued_always = atoi(value);
		else if (!strcmp(name, "proxy"))
			snprintf(watched->proxy, sizeof(watched->proxy), "%s", value);
		else if (!strcmp(name, "proxy_port"))
			watched->proxy_port = atoi(value);
		else if (!strcmp(name, "drops"))
			watched->drops = atoi(value);
		else
			bad(name);
	}
	watched->backlog_most = watched->backlog;
}

static void take_arrivals(struct facts *facts)
{
	struct arrival arrival = { .port = atoi(strtok(NULL, " ")), .ended = -1 };
	const char *address = strtok(NULL, " ");
	int number, step = 0;
	char *at;

	if (value_address(NULL, address, &arrival.source))
		exit(REFUSED);
	number = atoi(strtok(NULL, " "));
	at = strtok(NULL, " ");
	if (at) {
		arrival.ended = atoi(at);
		step = atoi(strtok(NULL, " "));
	}
	facts->arrival = allocate(facts->arrival, facts->arrivals + number, sizeof(arrival));
	for (; number; number--) {
		facts->arrival[facts->arrivals++] = arrival;
		arrival.ended += step;
	}
}

static void take_seen(struct facts *facts)
{
	unsigned int port = atoi(strtok(NULL, " "));

	if (!facts->seen) {
		facts->seen = allocate(NULL, 65536, sizeof(*facts->seen));
		memset(facts->seen, 0, 65536 * sizeof(*facts->seen));
		facts->module = MODULE_LOADED;
	}
	facts->seen[port] = atoi(strtok(NULL, " "));
}

static void take_set(struct facts *facts)
{
	const char *name = strtok(NULL, " ");
	const char *value = strtok(NULL, " ");

	if (!strcmp(name, "bridge"))
		snprintf(facts->bridge, sizeof(facts->bridge), "%s", value);
	else if (!strcmp(name, "vrf"))
		snprintf(facts->vrf, sizeof(facts->vrf), "%s", value);
	else if (!strcmp(name, "overflows"))
		facts->overflows_new = atoi(value);
	else if (!strcmp(name, "off"))
		facts->off = true;
	else
		bad(name);
}

static void read_facts(struct facts *facts, const char *directory)
{
	char path[512];
	char line[512];
	const char *word;
	FILE *file;

	snprintf(path, sizeof(path), "%s/facts", directory);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		word = strtok(line, " ");
		if (!word || *word == '#')
			continue;
		if (!strcmp(word, "listen"))
			take_listener(facts);
		else if (!strcmp(word, "arrive"))
			take_arrivals(facts);
		else if (!strcmp(word, "seen"))
			take_seen(facts);
		else if (!strcmp(word, "set"))
			take_set(facts);
		else
			bad(word);
	}
	if (file)
		fclose(file);
}

static void read_conf(struct facts *facts, const char *directory)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/conf", directory);
	file = fopen(path, "re");
	if (!file)
		return;
	fclose(file);
	facts->conf = allocate(NULL, 1, sizeof(*facts->conf));
	if (conf_read(facts->conf, path, false))
		exit(REFUSED);
}

static void print(struct findings *findings)
{
	static const char * const names[] = { "note", "remark", "problem" };
	unsigned int i;

	for (i = 0; i < findings->number; i++) {
		const struct finding *finding = &findings->finding[i];

		printf("%s %s %u %s%s%s\n", names[finding->severity], finding->code, finding->port,
		       finding->text, *finding->help ? " -> " : "", finding->help);
	}
	free(findings->finding);
	memset(findings, 0, sizeof(*findings));
}

int main(int argc, char **argv)
{
	struct findings findings = { 0 };
	struct facts facts = { .watched_ms = 1000 };
	unsigned int i;

	if (argc != 2)
		return fail(REFUSED, "usage: doctor DIRECTORY");
	read_conf(&facts, argv[1]);
	read_facts(&facts, argv[1]);
	host_counters(&facts, argv[1], false);
	host_sysctls(&facts, argv[1]);
	host_rules(&facts, argv[1]);
	watch_sources(&facts);
	for (i = 0; i < facts.number; i++) {
		judge_listener(&facts, &facts.watched[i], &findings);
		print(&findings);
	}
	judge_host(&facts, &findings);
	watch_probes(&facts, &findings);
	print(&findings);
	rules_clear(&facts.rules);
	if (facts.conf)
		conf_clear(facts.conf);
	free(facts.conf);
	free(facts.seen);
	free(facts.watched);
	free(facts.arrival);
	return DONE;
}
