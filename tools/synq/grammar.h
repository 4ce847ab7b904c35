/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The grammar, as tables.
 */
#ifndef SYNQ_GRAMMAR_H
#define SYNQ_GRAMMAR_H

#include "edit.h"

/**
 * struct option - a word that may follow "class add NAME" and the like
 * @name: the word
 * @bit: GIVEN_*; 0 if the word has no meaning yet
 * @value: what follows, for messages; NULL: nothing need follow
 * @parse: reads the value @text into the edit
 */
struct option {
	const char *name;
	__u64 bit;
	const char *value;
	int (*parse)(struct edit *edit, const char *text);
};

/**
 * struct verbs - what an object's verb takes
 * @may: GIVEN_* that may be written
 * @must: GIVEN_* that have to be
 * @name: a name follows the verb
 */
struct verbs {
	__u64 may;
	__u64 must;
	bool name;
};

/**
 * struct grammar - what can be said of an object
 * @name: the word for it
 * @options: all of them
 * @verbs: which of them each verb takes
 */
struct grammar {
	const char *name;
	const struct option *options;
	struct verbs verbs[VERB_NUMBER];
};

extern const struct grammar grammar[OBJECTS];

const char *grammar_again(const char *word);
int grammar_name(struct edit *edit, const char *text);

#endif /* SYNQ_GRAMMAR_H */
