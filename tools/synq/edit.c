// SPDX-License-Identifier: GPL-2.0
/*
 * The grammar: from the words of a line or a command to one edit.
 *
 * Tables name every word of the language, those included that have no meaning
 * yet: they are refused by name, never accepted and ignored.  What one line
 * can tell by itself is checked here; whether it fits the rest of the
 * configuration is the business of conf.c, and in the end of the kernel.
 */
#include <stdio.h>
#include <string.h>

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
	unsigned int bit;
	const char *value;
	int (*parse)(struct edit *edit, const char *text);
};

/**
 * struct verbs - what an object's verb takes
 * @may: GIVEN_* that may be written
 * @must: GIVEN_* that have to be
 * @name: a name stands behind the verb
 * @absent: the verb has no meaning yet
 */
struct verbs {
	unsigned int may;
	unsigned int must;
	bool name;
	bool absent;
};

static const char * const verb_names[VERB_NUMBER] = { "add", "set", "del" };
static const char * const excess_names[] = { "drop", "pass" };

static bool taken_away(struct edit *edit, const char *text, int *error)
{
	if (strcmp(text, "none"))
		return false;
	*error = DONE;
	if (edit->verb != VERB_SET)
		*error = refuse(&edit->origin, text,
				"takes something away, so it is for class set only");
	return true;
}

static int parse_priority(struct edit *edit, const char *text)
{
	return value_range(&edit->origin, text, "priority", 0,
			   SYNQ_PRIORITY_MAX, &edit->class.priority);
}

/* The value is optional: "default" or "default none". */
static int parse_default(struct edit *edit, const char *text)
{
	int error = DONE;

	edit->class.is_default = true;
	if (text && taken_away(edit, text, &error))
		edit->class.is_default = false;
	return error;
}

static int parse_mark(struct edit *edit, const char *text)
{
	int error;

	edit->class.mark = 0;
	if (taken_away(edit, text, &error))
		return error;
	error = value_bits(&edit->origin, text, "mark", &edit->class.mark);
	if (!error && !edit->class.mark)
		error = refuse(&edit->origin, text,
			       "mark 0 means \"not marked\", no class can have it");
	return error;
}

static int parse_reserve(struct edit *edit, const char *text)
{
	return value_percent(&edit->origin, text, SYNQ_RESERVE_MAX,
			     &edit->class.reserve);
}

static int parse_rate(struct edit *edit, const char *text)
{
	int error;

	edit->class.rate = 0;
	if (taken_away(edit, text, &error))
		return error;
	return value_rate(&edit->origin, text, &edit->class.rate);
}

static int parse_burst(struct edit *edit, const char *text)
{
	return value_range(&edit->origin, text, "burst", 1, SYNQ_BURST_MAX,
			   &edit->class.burst);
}

static int parse_excess(struct edit *edit, const char *text)
{
	unsigned int i;

	for (i = 0; i < sizeof(excess_names) / sizeof(*excess_names); i++) {
		if (!strcmp(text, excess_names[i])) {
			edit->class.excess = i;
			return DONE;
		}
	}
	if (!strcmp(text, "reset"))
		return refuse(&edit->origin, "excess reset",
			      "not supported yet");
	if (!strcmp(text, "cookie"))
		return refuse(&edit->origin, "excess cookie",
			      "not supported yet");
	return refuse(&edit->origin, text, "excess is drop or pass");
}

static int parse_source(struct edit *edit, const char *text)
{
	return value_prefix(&edit->origin, text, &edit->source);
}

static int parse_name(struct edit *edit, const char *text)
{
	if (value_name(&edit->origin, text))
		return REFUSED;
	memcpy(edit->class.name, text, strlen(text) + 1);
	return DONE;
}

static int parse_port(struct edit *edit, const char *text)
{
	return value_range(&edit->origin, text, "port", 1, 65535, &edit->port);
}

static int parse_order(struct edit *edit, const char *text)
{
	if (!strcmp(text, "strict"))
		return DONE;
	if (!strcmp(text, "weighted"))
		return refuse(&edit->origin, "order weighted",
			      "not supported yet");
	if (!strcmp(text, "fifo"))
		return refuse(&edit->origin, "order fifo",
			      "not supported yet");
	return refuse(&edit->origin, text, "order is strict");
}

static int parse_mask(struct edit *edit, const char *text)
{
	__u32 mask;

	if (value_bits(&edit->origin, text, "mask", &edit->mask))
		return REFUSED;
	mask = edit->mask;
	/* Adding the lowest bit carries through a run of bits and out of it. */
	if (mask & (mask + (mask & -mask)))
		return refuse(&edit->origin, text,
			      "the bits of the mask are not in one piece");
	return DONE;
}

static const struct option class_options[] = {
	{ "priority", GIVEN_PRIORITY, "0..15", parse_priority },
	{ "default", GIVEN_DEFAULT, NULL, parse_default },
	{ "mark", GIVEN_MARK, "N", parse_mark },
	{ "reserve", GIVEN_RESERVE, "N%", parse_reserve },
	{ "rate", GIVEN_RATE, "N/second", parse_rate },
	{ "burst", GIVEN_BURST, "N", parse_burst },
	{ "excess", GIVEN_EXCESS, "drop or pass", parse_excess },
	{ .name = "weight" },
	{ .name = "cap" },
	{ .name = "max-wait" },
	{ .name = "min-share" },
	{ .name = "source-rate" },
	{ .name = "source-burst" },
	{ .name = "source-len" },
	{ .name = "enforce" },
	{ }
};

static const struct option match_options[] = {
	{ "source", GIVEN_SOURCE, "PREFIX", parse_source },
	{ "class", GIVEN_CLASS, "NAME", parse_name },
	{ .name = "source-file" },
	{ .name = "to" },
	{ .name = "port" },
	{ }
};

static const struct option listener_options[] = {
	{ "port", GIVEN_PORT, "N", parse_port },
	{ "order", GIVEN_ORDER, "strict", parse_order },
	{ .name = "address" },
	{ .name = "cookies" },
	{ .name = "synack-retries" },
	{ .name = "enforce" },
	{ }
};

static const struct option mark_options[] = {
	{ "mask", GIVEN_MASK, "M", parse_mask },
	{ }
};

#define CLASS_GIVEN	(GIVEN_PRIORITY | GIVEN_DEFAULT | GIVEN_MARK |	\
			 GIVEN_RESERVE | GIVEN_RATE | GIVEN_BURST |	\
			 GIVEN_EXCESS)

static const struct {
	const char *name;
	const struct option *options;
	struct verbs verbs[VERB_NUMBER];
} objects[] = {
	[OBJECT_CLASS] = { "class", class_options, {
		{ CLASS_GIVEN, GIVEN_PRIORITY, .name = true },
		{ CLASS_GIVEN, 0, .name = true },
		{ 0, 0, .name = true },
	} },
	[OBJECT_MATCH] = { "match", match_options, {
		{ GIVEN_SOURCE | GIVEN_CLASS, GIVEN_SOURCE | GIVEN_CLASS },
		{ GIVEN_SOURCE | GIVEN_CLASS, GIVEN_SOURCE | GIVEN_CLASS },
		{ GIVEN_SOURCE, GIVEN_SOURCE },
	} },
	[OBJECT_LISTENER] = { "listener", listener_options, {
		{ GIVEN_PORT | GIVEN_ORDER, GIVEN_PORT },
		{ .absent = true },
		{ GIVEN_PORT, GIVEN_PORT },
	} },
	[OBJECT_MARK] = { "mark", mark_options, {
		{ GIVEN_MASK, GIVEN_MASK },
		{ GIVEN_MASK, GIVEN_MASK },
		{ 0, 0 },
	} },
};

#define OBJECTS	(sizeof(objects) / sizeof(*objects))

/**
 * excess_name() - the word for an excess action
 * @excess: enum synq_excess, or a value from a newer kernel module
 *
 * Return: the word.
 */
const char *excess_name(unsigned int excess)
{
	return excess < sizeof(excess_names) / sizeof(*excess_names) ?
	       excess_names[excess] : "unknown";
}

/**
 * edit_parse_object() - does a word name an object of the configuration?
 * @word: the word
 * @object: the object
 *
 * Return: true if it does.
 */
bool edit_parse_object(const char *word, enum object *object)
{
	unsigned int i;

	for (i = 0; i < OBJECTS; i++) {
		if (!strcmp(word, objects[i].name)) {
			*object = i;
			return true;
		}
	}
	return false;
}

/**
 * edit_refuse_end() - refuse words that follow a complete command
 * @words: the words; the next is the first that is too much
 * @command: the command, for the message
 *
 * Return: DONE if there is none, or REFUSED.
 */
int edit_refuse_end(const struct words *words, const char *command)
{
	const char *word = words_peek(words);

	if (!word)
		return DONE;
	return refuse(&words->origin, word, "too much for %s", command);
}

/* The words that would have been accepted, for a message. */
static const char *list_options(const struct option *options,
				unsigned int may, char *text, size_t room)
{
	const char *comma = "";
	size_t used = 0;

	*text = '\0';
	for (; options->name && used < room; options++) {
		if (!(options->bit & may))
			continue;
		used += snprintf(text + used, room - used, "%s%s", comma,
				 options->name);
		comma = ", ";
	}
	return text;
}

static int refuse_word(const struct edit *edit, const char *word)
{
	const struct verbs *verb = &objects[edit->object].verbs[edit->verb];
	char list[128];

	if (!verb->may)
		return refuse(&edit->origin, word, "too much for %s %s",
			      objects[edit->object].name,
			      verb_names[edit->verb]);
	return refuse(&edit->origin, word, "not a %s option (%s)",
		      objects[edit->object].name,
		      list_options(objects[edit->object].options, verb->may,
				   list, sizeof(list)));
}

static int parse_option(struct words *words, struct edit *edit)
{
	const struct verbs *verb = &objects[edit->object].verbs[edit->verb];
	const struct option *option = objects[edit->object].options;
	const char *word = words_next(words);
	const char *value;

	while (option->name && strcmp(option->name, word))
		option++;
	if (!option->name)
		return refuse_word(edit, word);
	if (!option->bit)
		return refuse(&edit->origin, word, "not supported yet");
	if (!(option->bit & verb->may))
		return refuse(&edit->origin, word, "not for %s %s",
			      objects[edit->object].name,
			      verb_names[edit->verb]);
	if (option->bit & edit->given)
		return refuse(&edit->origin, word, "given twice");
	edit->given |= option->bit;

	value = words_peek(words);
	if (!option->value) {
		if (value && !strcmp(value, "none"))
			words_next(words);
		else
			value = NULL;
	} else if (!value) {
		return refuse(&edit->origin, word, "its value is missing (%s)",
			      option->value);
	} else {
		words_next(words);
	}
	return option->parse(edit, value);
}

/* "class add gold", for messages about the whole of it */
static const char *heading(const struct edit *edit, char *text, size_t room)
{
	bool name = edit->object == OBJECT_CLASS && *edit->class.name;

	snprintf(text, room, "%s %s%s%s", objects[edit->object].name,
		 verb_names[edit->verb], name ? " " : "",
		 name ? edit->class.name : "");
	return text;
}

static int check_given(const struct edit *edit)
{
	const struct verbs *verb = &objects[edit->object].verbs[edit->verb];
	const struct option *option = objects[edit->object].options;
	char text[64];
	char list[128];

	for (; option->name; option++) {
		if (option->bit & verb->must & ~edit->given)
			return refuse(&edit->origin,
				      heading(edit, text, sizeof(text)),
				      "%s is missing", option->name);
	}
	if (verb->may && !edit->given)
		return refuse(&edit->origin, heading(edit, text, sizeof(text)),
			      "nothing to set (%s)",
			      list_options(objects[edit->object].options,
					   verb->may, list, sizeof(list)));
	return DONE;
}

static int parse_class_name(struct words *words, struct edit *edit)
{
	const char *word = words_next(words);
	char text[64];

	if (!word)
		return refuse(&edit->origin, heading(edit, text, sizeof(text)),
			      "the name of the class is missing");
	if (parse_name(edit, word))
		return REFUSED;
	if (!strcmp(word, "local") || !strcmp(word, "default"))
		return refuse(&edit->origin, word,
			      "the name of a built-in class");
	return DONE;
}

/* "mark mask M" has no verb: it is "mark set mask M". */
static int parse_verb(struct words *words, struct edit *edit)
{
	const char *name = objects[edit->object].name;
	const char *word = words_peek(words);
	char text[64];
	unsigned int i;

	if (!word)
		return refuse(&edit->origin, name,
			      "add, set, del or show is missing");
	if (edit->object == OBJECT_MARK && !strcmp(word, "mask")) {
		edit->verb = VERB_SET;
		return DONE;
	}
	words_next(words);
	for (i = 0; i < VERB_NUMBER; i++) {
		if (strcmp(word, verb_names[i]))
			continue;
		edit->verb = i;
		if (!objects[edit->object].verbs[i].absent)
			return DONE;
		return refuse(&edit->origin,
			      heading(edit, text, sizeof(text)),
			      "not supported yet");
	}
	if (!strcmp(word, "show"))
		return refuse(&edit->origin, word, "not for a file");
	return refuse(&edit->origin, word, "not a %s command (add, set, del%s)",
		      name, edit->origin.file ? "" : ", show");
}

/**
 * edit_parse() - read one edit
 * @words: the words, those of one line or one command; the next is the object
 * @edit: the edit, complete in itself on success
 *
 * Return: DONE or REFUSED.
 */
int edit_parse(struct words *words, struct edit *edit)
{
	const char *word = words_next(words);

	memset(edit, 0, sizeof(*edit));
	edit->origin = words->origin;
	if (!edit_parse_object(word, &edit->object)) {
		if (!strcmp(word, "service") || !strcmp(word, "set"))
			return refuse(&edit->origin, word,
				      "not supported yet");
		return refuse(&edit->origin, word,
			      "not a line of a configuration (class, match, listener, mark)");
	}
	if (parse_verb(words, edit))
		return REFUSED;
	if (objects[edit->object].verbs[edit->verb].name &&
	    parse_class_name(words, edit))
		return REFUSED;
	while (words_peek(words)) {
		if (parse_option(words, edit))
			return REFUSED;
	}
	if (edit->object == OBJECT_CLASS)
		edit->class.given = edit->given;
	return check_given(edit);
}

/**
 * edit_value() - what an edit is about, for messages
 * @edit: the edit
 * @text: room for EDIT_TEXT bytes
 *
 * Return: text, as a user would have written it.
 */
const char *edit_value(const struct edit *edit, char *text)
{
	char prefix[PREFIX_TEXT];

	switch (edit->object) {
	case OBJECT_CLASS:
		return edit->class.name;
	case OBJECT_MATCH:
		snprintf(text, EDIT_TEXT, "%s", prefix_text(&edit->source, prefix));
		break;
	case OBJECT_LISTENER:
		snprintf(text, EDIT_TEXT, "port %u", edit->port);
		break;
	case OBJECT_MARK:
		snprintf(text, EDIT_TEXT, "mask 0x%08x", edit->mask);
		break;
	}
	return text;
}
