/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One edit of the configuration: the meaning of one line of a file, or of one
 * command.
 */
#ifndef SYNQ_EDIT_H
#define SYNQ_EDIT_H

#include "value.h"

enum object {
	OBJECT_CLASS,
	OBJECT_MATCH,
	OBJECT_LISTENER,
	OBJECT_MARK,
};

enum verb {
	VERB_ADD,
	VERB_SET,
	VERB_DEL,
	VERB_NUMBER,
};

/* Options, as bits of "given"; those of all objects share one space. */
#define GIVEN_PRIORITY	0x001
#define GIVEN_DEFAULT	0x002
#define GIVEN_MARK	0x004
#define GIVEN_RESERVE	0x008
#define GIVEN_RATE	0x010
#define GIVEN_BURST	0x020
#define GIVEN_EXCESS	0x040
#define GIVEN_SOURCE	0x080
#define GIVEN_CLASS	0x100
#define GIVEN_PORT	0x200
#define GIVEN_ORDER	0x400
#define GIVEN_MASK	0x800

/**
 * struct class_spec - what can be said of a class
 * @name: its name
 * @given: GIVEN_* of the members that follow
 * @priority: 0 is first
 * @is_default: takes what nothing else matches
 * @mark: value inside the mark mask, not shifted; 0: none
 * @reserve: per cent of the backlog
 * @rate: SYNs per second; 0: no limit
 * @burst: SYNs
 * @excess: enum synq_excess
 */
struct class_spec {
	char name[SYNQ_NAME_MAX + 1];
	unsigned int given;
	__u32 priority;
	bool is_default;
	__u32 mark;
	__u32 reserve;
	__u32 rate;
	__u32 burst;
	__u32 excess;
};

/* Room for edit_value(). */
#define EDIT_TEXT	64

/**
 * struct edit - one edit
 * @origin: where it was written
 * @object: what is edited
 * @verb: how
 * @given: GIVEN_* of the options that were written
 * @class: OBJECT_CLASS: the class; OBJECT_MATCH: only the name is used
 * @source: OBJECT_MATCH
 * @port: OBJECT_LISTENER
 * @mask: OBJECT_MARK; 0: none
 */
struct edit {
	struct origin origin;
	enum object object;
	enum verb verb;
	unsigned int given;
	struct class_spec class;
	struct prefix source;
	__u32 port;
	__u32 mask;
};

/**
 * struct words - the words of a line or a command, being read
 * @origin: where they stand
 * @word: the words
 * @number: how many there are
 * @next: the next to be read
 */
struct words {
	struct origin origin;
	char **word;
	unsigned int number;
	unsigned int next;
};

static inline const char *words_peek(const struct words *words)
{
	return words->next < words->number ? words->word[words->next] : NULL;
}

static inline const char *words_next(struct words *words)
{
	return words->next < words->number ? words->word[words->next++] : NULL;
}

/* edit.c */
bool edit_parse_object(const char *word, enum object *object);
int edit_parse(struct words *words, struct edit *edit);
int edit_refuse_end(const struct words *words, const char *command);
const char *edit_value(const struct edit *edit, char *text);
const char *excess_name(unsigned int excess);

#endif /* SYNQ_EDIT_H */
