/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The class of a client, as the kernel says.
 */
#ifndef SYNQ_CLASSIFY_H
#define SYNQ_CLASSIFY_H

#include <jansson.h>

#include "nl.h"
#include "value.h"

/**
 * struct question - what is asked, and the answer
 * @source: address of the client
 * @mark: mark that its SYN would carry
 * @with_mark: it was given
 * @class: its class
 * @reason: enum synq_reason
 * @prefix: the match that decided; no family: none did
 */
struct question {
	struct prefix source;
	__u32 mark;
	bool with_mark;
	char class[SYNQ_NAME_MAX + 1];
	__u8 reason;
	struct prefix prefix;
};

/* classify.c */
int question_ask(struct nl *nl, struct question *question);
int question_print(struct nl *nl, const struct question *question);
json_t *question_json(const struct question *question);

#endif /* SYNQ_CLASSIFY_H */
