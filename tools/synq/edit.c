// SPDX-License-Identifier: GPL-2.0
/*
 * From the words of a line or a command to one edit, by the tables of grammar.c.
 *
 * This file checks what a line alone can tell.  Whether it fits the rest of the
 * configuration, conf.c decides, and finally the kernel.
 */
#include <stdio.h>
#include <string.h>

#include "grammar.h"

/* Room for the names of all options of an object. */
#define LIST_ROOM	256

static const char * const verb_names[VERB_NUMBER] = { "add", "set", "del" };

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
		if (!strcmp(word, grammar[i].name)) {
			*object = i;
			return true;
		}
	}
	return false;
}

/**
 * edit_refuse_end() - refuse words that follow a complete command
 * @words: the words; the next one is the first surplus word
 * @command: the command, for the message
 *
 * Return: DONE if there is none, or REFUSED.
 */
int edit_refuse_end(const struct words *words, const char *command)
{
	const char *word = words_peek(words);

	if (!word)
		return DONE;
	return refuse(&words->origin, word, "unexpected after %s", command);
}

/* The words that would have been accepted, for a message. */
static const char *list_options(const struct option *options,
				__u64 may, char *text, size_t room)
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
	const struct verbs *verb = &grammar[edit->object].verbs[edit->verb];
	char list[LIST_ROOM];

	if (!verb->may)
		return refuse(&edit->origin, word, "unexpected after %s %s",
			      grammar[edit->object].name,
			      verb_names[edit->verb]);
	return refuse(&edit->origin, word, "not a %s option (%s)",
		      grammar[edit->object].name,
		      list_options(grammar[edit->object].options, verb->may,
				   list, sizeof(list)));
}

/* The last one, without a name, if there is none. */
static const struct option *find_option(const struct option *option,
					const char *word)
{
	while (option->name && strcmp(option->name, word))
		option++;
	return option;
}

static int parse_option(struct words *words, struct edit *edit)
{
	const struct verbs *verb = &grammar[edit->object].verbs[edit->verb];
	const struct option *option = grammar[edit->object].options;
	const char *word = words_next(words);
	const char *value;

	option = find_option(option, word);
	if (!option->name)
		return refuse_word(edit, word);
	/* "source-rate A source-len B source-rate C source-len D" */
	edit->again |= option->bit == GIVEN_SOURCE_RATE &&
		       (edit->given & GIVEN_SOURCE_RATE);
	if (edit->again)
		option = find_option(grammar[edit->object].options,
				     grammar_again(word));
	if (!option->bit)
		return refuse(&edit->origin, word, "not supported yet");
	if (!(option->bit & verb->may))
		return refuse(&edit->origin, word, "not valid in %s %s",
			      grammar[edit->object].name,
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

	if (edit->object == OBJECT_SET)
		return grammar[edit->object].name;
	snprintf(text, room, "%s %s%s%s", grammar[edit->object].name,
		 verb_names[edit->verb], name ? " " : "",
		 name ? edit->class.name : "");
	return text;
}

static int check_given(const struct edit *edit)
{
	const struct verbs *verb = &grammar[edit->object].verbs[edit->verb];
	const struct option *option = grammar[edit->object].options;
	__u64 may;
	char text[64];
	char list[LIST_ROOM];

	for (; option->name; option++) {
		if (option->bit & verb->must & ~edit->given)
			return refuse(&edit->origin,
				      heading(edit, text, sizeof(text)),
				      "%s is missing", option->name);
	}
	may = verb->may & ~(verb->must | GIVEN_KEY);
	/* A class has to be given with a match: that is something to set. */
	if (edit->verb == VERB_SET && may && !(verb->must & ~GIVEN_KEY) &&
	    !(edit->given & may))
		return refuse(&edit->origin, heading(edit, text, sizeof(text)),
			      "nothing to set (%s)",
			      list_options(grammar[edit->object].options, may,
					   list, sizeof(list)));
	return DONE;
}

static int parse_class_name(struct words *words, struct edit *edit)
{
	const char *word = words_next(words);
	char text[64];

	if (!word)
		return refuse(&edit->origin, heading(edit, text, sizeof(text)),
			      "the name of the class is missing");
	if (grammar_name(edit, word))
		return REFUSED;
	if (!strcmp(word, "local") || !strcmp(word, "default"))
		return refuse(&edit->origin, word,
			      "the name of a built-in class");
	return DONE;
}

/* "mark mask M" has no verb: it is "mark set mask M"; and "set" is one. */
static int parse_verb(struct words *words, struct edit *edit)
{
	const char *name = grammar[edit->object].name;
	const char *word = words_peek(words);
	unsigned int i;

	if (edit->object == OBJECT_SET) {
		edit->verb = VERB_SET;
		return DONE;
	}
	if (!word)
		return refuse(&edit->origin, name,
			      "add, set, del or show is missing");
	if (edit->object == OBJECT_MARK && !strcmp(word, "mask")) {
		edit->verb = VERB_SET;
		return DONE;
	}
	words_next(words);
	for (i = 0; i < VERB_NUMBER; i++) {
		if (!strcmp(word, verb_names[i])) {
			if (edit->object == OBJECT_SERVICE && i == VERB_SET)
				return refuse(&edit->origin, word,
					      "a service has nothing to set (add, del)");
			edit->verb = i;
			return DONE;
		}
	}
	if (!strcmp(word, "show"))
		return refuse(&edit->origin, word, "not valid in a file");
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
	if (!edit_parse_object(word, &edit->object))
		return refuse(&edit->origin, word,
			      "not a configuration command (class, match, listener, service, mark, set)");
	if (parse_verb(words, edit))
		return REFUSED;
	if (grammar[edit->object].verbs[edit->verb].name &&
	    parse_class_name(words, edit))
		return REFUSED;
	while (words_peek(words)) {
		if (parse_option(words, edit))
			return REFUSED;
	}
	if (edit->object == OBJECT_CLASS)
		edit->class.given = edit->given;
	if (edit->object == OBJECT_LISTENER)
		edit->listener.given = edit->given;
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
	char service[SERVICE_TEXT];
	char prefix[PREFIX_TEXT];

	switch (edit->object) {
	case OBJECT_CLASS:
		return edit->class.name;
	case OBJECT_MATCH:
		snprintf(text, EDIT_TEXT, "%s%s",
			 prefix_text(&edit->source, prefix),
			 service_text(&edit->service, service));
		break;
	case OBJECT_LISTENER:
		snprintf(text, EDIT_TEXT, "port %u", edit->listener.port);
		break;
	case OBJECT_SERVICE:
		return service_text(&edit->service, text) + 1;
	case OBJECT_MARK:
		snprintf(text, EDIT_TEXT, "mask 0x%08x", edit->mask);
		break;
	case OBJECT_SET:
		snprintf(text, EDIT_TEXT, "enforce %s",
			 enforce_name(edit->observe));
		break;
	}
	return text;
}
