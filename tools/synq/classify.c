// SPDX-License-Identifier: GPL-2.0
/*
 * Which class would a client have, and why?  The kernel answers, with the same
 * function that classifies a SYN.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "classify.h"
#include "command.h"

static const char * const reasons[] = { "default", "match", "mark", "local" };

static int parse_option(struct words *words, const char *command, bool marks,
			struct question *question)
{
	const char *word = words_next(words);
	const char *value = words_next(words);
	bool mark = marks && !strcmp(word, "mark");
	bool port = !strcmp(word, "port");
	bool to = !strcmp(word, "to");

	if (!mark && !port && !to)
		return refuse(NULL, word, "not a %s option (to, port%s)",
			      command, marks ? ", mark" : "");
	if ((mark && question->with_mark) || (port && question->port) ||
	    (to && question->to.family))
		return refuse(NULL, word, "given twice");
	if (!value)
		return refuse(NULL, word, "its value is missing (%s)",
			      mark ? "M" : port ? "N" : "ADDRESS");
	if (port)
		return value_range(NULL, value, "port", 1, 65535,
				   &question->port);
	if (to)
		return value_address(NULL, value, &question->to);
	question->with_mark = true;
	return value_bits(NULL, value, "mark", &question->mark);
}

/**
 * question_parse() - read what is asked
 * @words: ADDRESS [to ADDRESS] [port N] [mark M]
 * @command: which command asks, for messages
 * @marks: a mark is allowed
 * @question: receives it
 *
 * Return: DONE or REFUSED.
 */
int question_parse(struct words *words, const char *command, bool marks,
		   struct question *question)
{
	const char *word = words_next(words);

	if (!word)
		return refuse(NULL, command, "the address is missing");
	if (value_address(NULL, word, &question->source))
		return REFUSED;
	while (words_peek(words)) {
		if (parse_option(words, command, marks, question))
			return REFUSED;
	}
	if (question->to.family &&
	    question->to.family != question->source.family)
		return refuse(NULL, word,
			      "source and destination are of different families");
	return DONE;
}

static void take(struct nlattr **attr, void *arg)
{
	struct question *question = arg;
	struct service *service = &question->service;

	snprintf(question->class, sizeof(question->class), "%s",
		 attr_text(attr, SYNQ_A_QUERY_CLASS));
	question->reason = attr_u8(attr, SYNQ_A_QUERY_REASON);
	attr_prefix(attr, SYNQ_A_QUERY_PREFIX, SYNQ_A_QUERY_LENGTH,
		    &question->prefix);
	attr_prefix(attr, SYNQ_A_QUERY_SERVICE_TO,
		    SYNQ_A_QUERY_SERVICE_TO_LENGTH, &service->to);
	service->first = attr_u16(attr, SYNQ_A_QUERY_SERVICE_PORT);
	service->last = attr_u16(attr, SYNQ_A_QUERY_SERVICE_PORT_LAST);
}

static void take_mask(struct nlattr **attr, void *arg)
{
	struct question *question = arg;

	question->assumes = !question->with_mark &&
			    attr_u32(attr, SYNQ_A_CONF_MARK_MASK);
}

/**
 * question_ask() - have the kernel answer
 * @nl: the conversation
 * @question: what is asked; receives the answer
 *
 * Return: exit status.
 */
int question_ask(struct nl *nl, struct question *question)
{
	char room[MNL_NLMSG_HDRLEN + GENL_HDRLEN + 128];
	char text[PREFIX_TEXT];
	struct nl_error error;
	struct nlmsghdr *nlh;

	nlh = nl_request(nl, room, SYNQ_CMD_CLASSIFY, 0);
	mnl_attr_put(nlh, SYNQ_A_QUERY_SOURCE, prefix_bytes(&question->source),
		     question->source.address);
	if (question->to.family)
		mnl_attr_put(nlh, SYNQ_A_QUERY_TO, prefix_bytes(&question->to),
			     question->to.address);
	if (question->port)
		mnl_attr_put_u16(nlh, SYNQ_A_QUERY_PORT, question->port);
	if (question->with_mark)
		mnl_attr_put_u32(nlh, SYNQ_A_QUERY_MARK, question->mark);
	if (nl_call(nl, nlh, SYNQ_A_QUERY_MAX, take, question, &error))
		return UNREACHABLE;
	if (error.code)
		return nl_refuse(NULL, address_text(&question->source, text),
				 &error);
	nlh = nl_request(nl, room, SYNQ_CMD_CONF_GET, 0);
	if (nl_call(nl, nlh, SYNQ_A_CONF_MAX, take_mask, question, &error))
		return UNREACHABLE;
	return error.code ? nl_refuse(NULL, NULL, &error) : DONE;
}

/**
 * service_json() - destinations as members of an object
 * @json: the object
 * @before: begins the names of the members
 * @service: the destinations; members without a value are left out
 */
void service_json(json_t *json, const char *before,
		  const struct service *service)
{
	char address[PREFIX_TEXT];
	char name[32];

	if (service->to.family) {
		snprintf(name, sizeof(name), "%sto", before);
		json_object_set_new(json, name,
				    json_string(address_text(&service->to,
							     address)));
		snprintf(name, sizeof(name), "%sto_length", before);
		json_object_set_new(json, name,
				    json_integer(service->to.length));
	}
	if (service->first) {
		snprintf(name, sizeof(name), "%sport", before);
		json_object_set_new(json, name, json_integer(service->first));
		snprintf(name, sizeof(name), "%sport_last", before);
		json_object_set_new(json, name, json_integer(service->last));
	}
}

/**
 * question_json() - the answer as JSON
 * @question: answered
 *
 * Return: an object, a new reference.
 */
json_t *question_json(const struct question *question)
{
	json_t *json = json_object();
	char text[PREFIX_TEXT];

	json_object_set_new(json, "source",
			    json_string(address_text(&question->source, text)));
	if (question->to.family)
		json_object_set_new(json, "to",
				    json_string(address_text(&question->to,
							     text)));
	if (question->port)
		json_object_set_new(json, "port", json_integer(question->port));
	if (question->with_mark)
		json_object_set_new(json, "mark", json_integer(question->mark));
	if (question->assumes)
		json_object_set_new(json, "assumes_no_mark", json_true());
	json_object_set_new(json, "class", json_string(question->class));
	if (question->reason < sizeof(reasons) / sizeof(*reasons))
		json_object_set_new(json, "reason",
				    json_string(reasons[question->reason]));
	if (question->prefix.family) {
		json_object_set_new(json, "prefix",
				    json_string(address_text(&question->prefix,
							     text)));
		json_object_set_new(json, "length",
				    json_integer(question->prefix.length));
		service_json(json, "service_", &question->service);
	}
	return json;
}

/* The bits of the mark that decided: those in the mask. */
static int print_mark(struct nl *nl, const struct question *question)
{
	struct conf conf;
	int error = load_conf(nl, &conf, true);

	if (!error)
		printf("mark 0x%08x)\n", question->mark & conf.mask);
	conf_clear(&conf);
	return error;
}

/**
 * question_print() - the answer as a line of text
 * @nl: the conversation
 * @question: answered
 *
 * Return: exit status.
 */
int question_print(struct nl *nl, const struct question *question)
{
	const char *assumed = question->assumes ? ", if no rule marks it" : "";
	char service[SERVICE_TEXT];
	char text[PREFIX_TEXT];

	fputs(address_text(&question->source, text), stdout);
	if (question->to.family)
		printf(" to %s", address_text(&question->to, text));
	if (question->port)
		printf(" port %u", question->port);
	printf(" -> %s (", question->class);
	switch (question->reason) {
	case SYNQ_REASON_DEFAULT:
		printf("no match%s)\n", assumed);
		break;
	case SYNQ_REASON_MATCH:
		printf("source %s%s%s)\n", prefix_text(&question->prefix, text),
		       service_text(&question->service, service), assumed);
		break;
	case SYNQ_REASON_MARK:
		return print_mark(nl, question);
	case SYNQ_REASON_LOCAL:
		puts("this host)");
		break;
	default:
		printf("reason %u)\n", question->reason);
	}
	return DONE;
}

/**
 * command_classify() - print the class of a client
 * @words: ADDRESS [to ADDRESS] [port N] [mark M]
 * @flags: FLAG_JSON
 *
 * Return: exit status.
 */
int command_classify(struct words *words, unsigned int flags)
{
	struct question question = { 0 };
	struct nl nl = { 0 };
	int error;

	error = question_parse(words, "classify", true, &question);
	if (!error)
		error = nl_open(&nl);
	if (!error)
		error = question_ask(&nl, &question);
	if (!error && (flags & FLAG_JSON))
		json_print(question_json(&question));
	else if (!error)
		error = question_print(&nl, &question);
	nl_close(&nl);
	return error;
}
