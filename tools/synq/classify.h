/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The class of a client, as the kernel says.
 */
#ifndef SYNQ_CLASSIFY_H
#define SYNQ_CLASSIFY_H

#include <jansson.h>

#include "edit.h"
#include "nl.h"

/**
 * struct question - what is asked, and the answer
 * @source: address of the client
 * @to: address that its SYN would go to; no family: not given
 * @port: port that it would go to; 0: not given
 * @mark: mark that it would carry
 * @with_mark: it was given
 * @assumes: classes have marks, and none was given: it is taken for 0
 * @class: its class
 * @reason: enum synq_reason
 * @prefix: the match that decided; no family: none did
 * @service: the destinations of that match
 */
struct question {
	struct prefix source;
	struct prefix to;
	__u32 port;
	__u32 mark;
	bool with_mark;
	bool assumes;
	char class[SYNQ_NAME_MAX + 1];
	__u8 reason;
	struct prefix prefix;
	struct service service;
};

/* classify.c */
int question_parse(struct words *words, const char *command, bool marks,
		   struct question *question);
int question_ask(struct nl *nl, struct question *question);
int question_print(struct nl *nl, const struct question *question);
json_t *question_json(const struct question *question);
void service_json(json_t *json, const char *before,
		  const struct service *service);

#endif /* SYNQ_CLASSIFY_H */
