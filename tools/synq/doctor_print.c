// SPDX-License-Identifier: GPL-2.0
/*
 * What the doctor says: as lines, and as JSON.
 */
#include <string.h>

#include "command.h"
#include "doctor.h"

static const char * const severities[] = {
	[FINE] = "note",
	[REMARK] = "remark",
	[PROBLEM] = "problem",
};

#define MARGIN		9	/* width of a severity and a blank */

static void print_help(const struct finding *finding)
{
	if (*finding->help)
		printf("%*s-> %s\n", MARGIN, "", finding->help);
}

static void print_listener(const struct watched *watched, const struct findings *findings)
{
	unsigned int i;

	for (i = 0; i < findings->number; i++) {
		const struct finding *finding = &findings->finding[i];
		const char *severity = severities[finding->severity];

		if (!i && finding->severity == FINE)
			severity = "ok";
		printf("%-*sport %u", MARGIN, severity, watched->port);
		if (!i && (*watched->process || watched->loopback))
			printf(" (%s%s%s)", watched->process,
			       *watched->process && watched->loopback ? ", " : "",
			       watched->loopback ? "loopback only" : "");
		printf(": %s\n", finding->text);
		print_help(finding);
	}
}

static void count(const struct findings *findings, unsigned int number[3])
{
	unsigned int i;

	for (i = 0; i < findings->number; i++)
		number[findings->finding[i].severity]++;
}

static void print_number(unsigned int number, const char *what, const char *before)
{
	if (number)
		printf("%s%u %s%s", before, number, what, number == 1 ? "" : "s");
}

static void print_end(const struct facts *facts, const unsigned int number[3])
{
	if (facts->module == MODULE_ABSENT)
		printf("%-*sthe module synq is not loaded\n", MARGIN, "note");
	if (facts->module == MODULE_FORBIDDEN)
		printf("%-*sno permission to query the module synq\n", MARGIN, "note");
	if (*facts->unseen)
		printf("%-*snot examined, since a program or permission is missing: rules of %s\n",
		       MARGIN, "note", facts->unseen);
	print_number(number[PROBLEM], severities[PROBLEM], "");
	print_number(number[REMARK], severities[REMARK], number[PROBLEM] ? ", " : "");
	puts(number[PROBLEM] || number[REMARK] ? "" : "nothing stands in synq's way");
}

/**
 * doctor_print_finding() - print one
 * @finding: it
 * @names_port: it is of a listener, whose port its text does not name
 */
void doctor_print_finding(const struct finding *finding, bool names_port)
{
	printf("%-*s", MARGIN, severities[finding->severity]);
	if (names_port)
		printf("port %u: ", finding->port);
	printf("%s\n", finding->text);
	print_help(finding);
}

/**
 * doctor_print() - print all findings
 * @facts: what they are about
 * @listeners: of each listener
 * @host: of the network namespace
 */
void doctor_print(const struct facts *facts, const struct findings *listeners,
		  const struct findings *host)
{
	unsigned int number[3] = { 0 };
	unsigned int i;

	for (i = 0; i < facts->number; i++) {
		print_listener(&facts->watched[i], &listeners[i]);
		count(&listeners[i], number);
	}
	if (!facts->number)
		printf("%-*sno TCP socket listens in this network namespace\n", MARGIN, "note");
	for (i = 0; i < host->number; i++)
		doctor_print_finding(&host->finding[i], false);
	count(host, number);
	print_end(facts, number);
}

static void put_finding(json_t *array, const struct finding *finding)
{
	json_t *json = json_pack("{s:s, s:s, s:s}", "severity", severities[finding->severity],
				 "code", finding->code, "text", finding->text);

	if (finding->port)
		json_object_set_new(json, "port", json_integer(finding->port));
	if (*finding->help)
		json_object_set_new(json, "help", json_string(finding->help));
	json_array_append_new(array, json);
}

static json_t *top_json(const struct watched *watched)
{
	json_t *array = json_array();
	char text[PREFIX_TEXT];
	unsigned int i;

	for (i = 0; i < DOCTOR_TOP && watched->top_count[i]; i++)
		json_array_append_new(array, json_pack("{s:s, s:i}", "source",
						       address_text(&watched->top[i], text),
						       "connections",
						       (int)watched->top_count[i]));
	return array;
}

static json_t *listener_json(const struct watched *watched, const struct findings *findings)
{
	json_t *json = json_pack("{s:i, s:b, s:s}", "port", watched->port, "loopback",
				 watched->loopback, "process", watched->process);
	const struct {
		const char *name;
		__u64 value;
	} numbers[] = {
		{ "sockets", watched->sockets },
		{ "queue", watched->queue },
		{ "queue_most", watched->queue_most },
		{ "backlog", watched->backlog },
		{ "drops", watched->drops },
		{ "connections", watched->connections },
		{ "local", watched->local },
		{ "busy", watched->busy },
		{ "longest", watched->longest },
		{ "unread", watched->unread },
		{ "arrived", watched->arrived },
		{ "sources", watched->sources },
	};
	unsigned int i;

	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		json_object_set_new(json, numbers[i].name, json_integer(numbers[i].value));
	json_object_set_new(json, "top", top_json(watched));
	json_object_set_new(json, "verdict", json_string(findings->finding[0].code));
	return json;
}

/**
 * doctor_json() - print all findings as JSON
 * @facts: what they are about
 * @listeners: of each listener
 * @host: of the network namespace
 */
void doctor_json(const struct facts *facts, const struct findings *listeners,
		 const struct findings *host)
{
	static const char * const modules[] = {
		[MODULE_ABSENT] = "absent",
		[MODULE_FORBIDDEN] = "forbidden",
		[MODULE_LOADED] = "loaded",
	};
	json_t *findings = json_array();
	json_t *ports = json_array();
	unsigned int i, j;

	for (i = 0; i < facts->number; i++) {
		json_array_append_new(ports, listener_json(&facts->watched[i], &listeners[i]));
		for (j = 0; j < listeners[i].number; j++)
			put_finding(findings, &listeners[i].finding[j]);
	}
	for (i = 0; i < host->number; i++)
		put_finding(findings, &host->finding[i]);
	json_print(json_pack("{s:s, s:i, s:s, s:o, s:o}", "module", modules[facts->module],
			     "watched_ms", (int)facts->watched_ms, "unseen", facts->unseen,
			     "listeners", ports, "findings", findings));
}
