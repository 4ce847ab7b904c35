// SPDX-License-Identifier: GPL-2.0
/*
 * Which class would a client have, and why?  The kernel answers, by the very
 * function that judges a SYN.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "classify.h"
#include "command.h"

static const char * const reasons[] = { "default", "match", "mark", "local" };

static int parse(struct words *words, struct question *question)
{
	const char *word = words_next(words);

	if (!word)
		return refuse(NULL, "classify", "the address is missing");
	if (value_address(NULL, word, &question->source))
		return REFUSED;
	while ((word = words_next(words))) {
		const char *value = words_next(words);

		if (!strcmp(word, "to") || !strcmp(word, "port"))
			return refuse(NULL, word, "not supported yet");
		if (strcmp(word, "mark"))
			return refuse(NULL, word,
				      "not a classify option (mark)");
		if (question->with_mark)
			return refuse(NULL, word, "given twice");
		if (!value)
			return refuse(NULL, word, "its value is missing (M)");
		if (value_bits(NULL, value, "mark", &question->mark))
			return REFUSED;
		question->with_mark = true;
	}
	return DONE;
}

static void take(struct nlattr **attr, void *arg)
{
	struct question *question = arg;
	struct prefix *prefix = &question->prefix;
	unsigned int length;

	snprintf(question->class, sizeof(question->class), "%s",
		 attr_text(attr, SYNQ_A_QUERY_CLASS));
	question->reason = attr_u8(attr, SYNQ_A_QUERY_REASON);
	if (!attr[SYNQ_A_QUERY_PREFIX])
		return;
	length = mnl_attr_get_payload_len(attr[SYNQ_A_QUERY_PREFIX]);
	if (length != 4 && length != 16)
		return;
	prefix->family = length == 4 ? AF_INET : AF_INET6;
	memcpy(prefix->address, mnl_attr_get_payload(attr[SYNQ_A_QUERY_PREFIX]),
	       length);
	prefix->length = attr_u8(attr, SYNQ_A_QUERY_LENGTH);
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
	char room[MNL_NLMSG_HDRLEN + GENL_HDRLEN + 64];
	char text[PREFIX_TEXT];
	struct nl_error error;
	struct nlmsghdr *nlh;

	nlh = nl_request(nl, room, SYNQ_CMD_CLASSIFY, 0);
	mnl_attr_put(nlh, SYNQ_A_QUERY_SOURCE, prefix_bytes(&question->source),
		     question->source.address);
	if (question->with_mark)
		mnl_attr_put_u32(nlh, SYNQ_A_QUERY_MARK, question->mark);
	if (nl_call(nl, nlh, SYNQ_A_QUERY_MAX, take, question, &error))
		return UNREACHABLE;
	if (error.code)
		return nl_refuse(NULL, address_text(&question->source, text),
				 &error);
	return DONE;
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
	if (question->with_mark)
		json_object_set_new(json, "mark", json_integer(question->mark));
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
	char text[PREFIX_TEXT];

	printf("%s -> %s (", address_text(&question->source, text),
	       question->class);
	switch (question->reason) {
	case SYNQ_REASON_DEFAULT:
		puts("no match)");
		break;
	case SYNQ_REASON_MATCH:
		printf("source %s)\n", prefix_text(&question->prefix, text));
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
 * @words: ADDRESS [mark M]
 * @flags: FLAG_JSON
 *
 * Return: exit status.
 */
int command_classify(struct words *words, unsigned int flags)
{
	struct question question = { 0 };
	struct nl nl = { 0 };
	int error;

	error = parse(words, &question);
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
