// SPDX-License-Identifier: GPL-2.0
/*
 * Reads lists of prefixes in the forms in which they are published.
 *
 * plain	a prefix, an address or a range in each line; comments from # or ; on; after
 *		a comma, columns without addresses; at the top, a header of words.
 *		Also what "ipset save" prints, the exit lists of Tor, and the statistics
 *		files of the address registries (fields between |).
 * nft		what "nft list set" prints: elements = { ... }
 * JSON		strings that are a network or a range; in arrays those that are an address,
 *		too
 *
 * What is neither understood nor known to have no meaning is refused: half of a list is
 * worse than none.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "prefixes.h"

#define BLANK		" \t\r"

/* JSON: how deep objects and arrays may nest. */
#define DEPTH_MAX	64

/* Longest word that can be an address or a range. */
#define WORD_ROOM	128

/**
 * struct reader - a list that is being read
 * @prefixes: what was found
 * @origin: the line
 * @form: reads a line; NULL: nothing but comments has been seen
 * @prefixed: lines of the plain form that had a prefix
 * @elements: nft: inside the braces of elements
 * @keyed: nft: the key of the element has been seen
 * @depth: JSON: of objects and arrays
 * @array: JSON: by depth, this is an array
 */
struct reader {
	struct prefixes *prefixes;
	struct origin origin;
	int (*form)(struct reader *reader, char *line);
	bool prefixed;
	bool elements;
	bool keyed;
	unsigned int depth;
	bool array[DEPTH_MAX + 1];
};

static int add_word(struct reader *reader, const char *word)
{
	struct list *list = &reader->prefixes->list;
	struct range range;
	bool masked = false;

	if (value_sources(&reader->origin, word, &range, &masked))
		return REFUSED;
	if (masked && !list->masked++)
		list->masked_line = reader->origin.line;
	prefixes_add(reader->prefixes, range, reader->origin.line);
	return DONE;
}

/* Ends the word at @text and returns what follows it. */
static char *cut(char *text, const char *ends)
{
	text += strcspn(text, ends);
	if (*text)
		*text++ = '\0';
	return text;
}

/* Without the blanks and quotes around it. */
static char *trim(char *text)
{
	size_t length;

	text += strspn(text, BLANK "\"'");
	length = strlen(text);
	while (length && strchr(BLANK "\"'", text[length - 1]))
		text[--length] = '\0';
	return text;
}

/* --- plain --- */

/*
 * A header of words, as opposed to an address with a mistake in it: 10.0.0.x, fe80::x
 * and example.com are none.  Behind the first word there may be a time or the name of
 * a host, but nothing that looks like an address.
 */
static bool is_heading(const char *line)
{
	static const char ends[] = BLANK ",\"'";
	const char *word = line + strspn(line, "\"'");
	bool first = true;

	if (!((*word | 0x20) >= 'a' && (*word | 0x20) <= 'z'))
		return false;
	for (; *word; word += strspn(word, ends), first = false) {
		bool number = isdigit((unsigned char)*word);
		size_t length = strcspn(word, ends);

		for (; length > 1; length--, word++) {
			if ((*word == '.' && (first || number)) ||
			    (*word == ':' && (first || word[1] == ':')))
				return false;
		}
		word += length;
	}
	return true;
}

/* "add SET ENTRY OPTION..." of ipset */
static int take_ipset(struct reader *reader, char *rest)
{
	char *entry = rest + strspn(rest, BLANK);
	char *option;

	entry = cut(entry, BLANK);	/* the name of the set */
	entry += strspn(entry, BLANK);
	option = cut(entry, BLANK);
	while (*option) {
		char *word = option + strspn(option, BLANK);

		option = cut(word, BLANK);
		option += strspn(option, BLANK);
		if (!strcmp(word, "nomatch"))
			return refuse(&reader->origin, entry,
				      "is an exception (nomatch), for which there is no match");
		/* 0: for ever */
		if (!strcmp(word, "timeout") && *option != '0')
			reader->prefixes->list.expiring++;
		if (!strcmp(word, "comment"))
			break;
	}
	return add_word(reader, entry);
}

/* "ExitAddress ADDRESS DATE TIME" of Tor */
static int take_exit(struct reader *reader, char *rest)
{
	char *word = rest + strspn(rest, BLANK);

	cut(word, BLANK);
	return add_word(reader, word);
}

static int skip_line(struct reader *reader, char *rest)
{
	return DONE;
}

/* REGISTRY|COUNTRY|FAMILY|FIRST|SIZE|DATE|STATUS, of an address registry */
static int take_record(struct reader *reader, char *line)
{
	char *field[7] = { NULL };
	struct range range = { 0 };
	unsigned int i;
	char word[WORD_ROOM];
	__u32 size;

	for (i = 0; i < 7 && *line; i++) {
		field[i] = line;
		line = cut(line, "|");
	}
	/* The version line has a number first, a summary no status. */
	if (i < 7 || !strcmp(field[1], "*") || !strcmp(field[2], "asn") ||
	    (field[0][0] >= '0' && field[0][0] <= '9'))
		return DONE;
	if (strncmp(field[6], "allocated", 9) &&
	    strncmp(field[6], "assigned", 8)) {
		reader->prefixes->list.unused++;
		return DONE;
	}
	if (!strcmp(field[2], "ipv6")) {
		snprintf(word, sizeof(word), "%s/%s", field[3], field[4]);
		return add_word(reader, word);
	}
	if (value_address(&reader->origin, field[3], &range.first))
		return REFUSED;
	if (!value_number(field[4], strlen(field[4]), &size) || !size ||
	    range.first.family != AF_INET ||
	    !range_sized(&range, size))
		return refuse(&reader->origin, field[4],
			      "not a number of addresses");
	prefixes_add(reader->prefixes, range, reader->origin.line);
	return DONE;
}

static const struct {
	const char *word;
	int (*take)(struct reader *reader, char *rest);
} known[] = {
	{ "create", skip_line },
	{ "add", take_ipset },
	{ "ExitNode", skip_line },
	{ "Published", skip_line },
	{ "LastStatus", skip_line },
	{ "ExitAddress", take_exit },
};

/* Columns may follow, behind commas; an address among them has a meaning. */
static int check_columns(const struct reader *reader, char *rest)
{
	while (*rest) {
		char *field = rest;

		rest = cut(field, ",");
		field = trim(field);
		field[strcspn(field, "/")] = '\0';
		if (prefix_is_address(field))
			return refuse(&reader->origin, field,
				      "a second address in a line (a range is ADDRESS-ADDRESS)");
	}
	return DONE;
}

static int take_prefix(struct reader *reader, char *line)
{
	size_t end = strcspn(line, ",");
	char range[WORD_ROOM];
	bool columns = line[end];
	char *rest = line + end + columns;
	char *word, *more, *last;

	line[end] = '\0';
	word = trim(line);
	more = cut(word, BLANK);
	more += strspn(more, BLANK);
	if (*more == '-') {		/* FIRST - LAST */
		last = more + 1 + strspn(more + 1, BLANK);
		more = cut(last, BLANK);
		snprintf(range, sizeof(range), "%s-%s", word, last);
		word = range;
	}
	if (add_word(reader, word))
		return REFUSED;
	if (*more) {
		cut(more, BLANK);
		return refuse(&reader->origin, more,
			      "unexpected after a prefix (a comment begins with # or ;)");
	}
	return check_columns(reader, rest);
}

static int plain(struct reader *reader, char *line)
{
	struct list *list = &reader->prefixes->list;
	size_t length = strcspn(line, BLANK);
	bool first = !reader->prefixed;
	unsigned int i;

	if (strchr(line, '|'))
		return take_record(reader, line);
	reader->prefixed = true;
	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (line[length] && strlen(known[i].word) == length &&
		    !strncmp(line, known[i].word, length))
			return known[i].take(reader, line + length);
	}
	if (first && is_heading(line)) {
		list->header = allocate(NULL, strlen(line) + 1, 1);
		memcpy(list->header, line, strlen(line) + 1);
		list->header_line = reader->origin.line;
		return DONE;
	}
	return take_prefix(reader, line);
}

/* --- nft --- */

static int take_word(struct reader *reader, const char *word)
{
	if (!reader->elements)
		return DONE;
	if (!reader->keyed) {
		reader->keyed = true;
		return add_word(reader, word);
	}
	if (!strcmp(word, "."))
		return refuse(&reader->origin, word,
			      "an element of more than an address");
	if (!strcmp(word, "timeout"))
		reader->prefixes->list.expiring++;
	return DONE;
}

static int nft(struct reader *reader, char *line)
{
	static const char ends[] = BLANK ",{}=;\"";
	bool braces = false;	/* the word before was "elements" */

	while (*(line += strspn(line, BLANK))) {
		size_t length = strcspn(line, ends);
		char end = line[length];

		if (*line == '#')
			break;
		line[length] = '\0';
		if (length) {
			if (take_word(reader, line))
				return REFUSED;
			braces = !strcmp(line, "elements");
		}
		line += length + !!end;
		if (end == '"')
			line = cut(line, "\"");
		else if (end == ',')
			reader->keyed = false;
		else if (end == '}')
			reader->elements = false;
		else if (end == '{' && braces)
			reader->elements = true, reader->keyed = false;
	}
	return DONE;
}

/* --- JSON --- */

/* A slash may be written as "\/". */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text != '\\' || text[1] != '/')
			*to++ = *text;
	}
	*to = '\0';
}

/* ADDRESS, ADDRESS-ADDRESS, or ADDRESS/ and anything, as opposed to other strings. */
static bool is_sources(char *text)
{
	size_t at = strcspn(text, "/-");
	char byte = text[at];
	bool good;

	text[at] = '\0';
	good = prefix_is_address(text) &&
	       (byte != '-' || prefix_is_address(text + at + 1));
	text[at] = byte;
	return good;
}

static int take_string(struct reader *reader, char *text)
{
	bool alone = !text[strcspn(text, "/-")];

	/* Its networks are objects, of an address and a length. */
	if (!strcmp(text, "nftables"))
		return refuse(&reader->origin, text,
			      "write the set without nft's option -j");
	if ((alone && !reader->array[reader->depth]) || !is_sources(text))
		return DONE;
	return add_word(reader, text);
}

/* May it stand outside of strings?  Between objects there are only blanks. */
static bool is_json(const struct reader *reader, char c)
{
	return strchr(BLANK "[{", c) ||
	       (reader->depth &&
		(isalnum((unsigned char)c) || strchr("]},:\"+-.", c)));
}

static int json(struct reader *reader, char *line)
{
	for (; *line; line++) {
		bool opens = *line == '[' || *line == '{';
		char *text = line + 1;

		if (!is_json(reader, *line))
			return refuse(&reader->origin, line, "not JSON");
		if (opens && reader->depth == DEPTH_MAX)
			return refuse(&reader->origin, NULL,
				      "JSON that nests too deep");
		if (opens)
			reader->array[++reader->depth] = *line == '[';
		if (*line == ']' || *line == '}')
			reader->depth--;
		if (*line != '"')
			continue;
		for (line = text; *line && *line != '"'; line++)
			line += *line == '\\' && line[1];
		if (!*line)
			return refuse(&reader->origin, NULL,
				      "JSON with a string that does not end");
		*line = '\0';
		unescape(text);
		if (take_string(reader, text))
			return REFUSED;
	}
	return DONE;
}

/* --- all --- */

static void choose_form(struct reader *reader, const char *line)
{
	static const char * const words[] = { "table", "set", "map", "elements" };
	size_t length = strcspn(line, BLANK "=");
	unsigned int i;

	reader->form = *line == '{' || *line == '[' ? json : plain;
	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strlen(words[i]) == length && strchr(line, '{') &&
		    !strncmp(line, words[i], length))
			reader->form = nft;
	}
}

static int take_text(const struct origin *origin, char *line, void *arg)
{
	struct reader *reader = arg;

	reader->origin = *origin;
	line += strspn(line, BLANK);
	if (!*line || *line == '#' || *line == ';')
		return DONE;
	if (!reader->form)
		choose_form(reader, line);
	if (reader->form == plain)
		line[strcspn(line, "#;")] = '\0';
	return reader->form(reader, line);
}

/**
 * list_read() - read a file of prefixes
 * @prefixes: where they go, with the name of the file
 * @at: where that was named
 *
 * Return: DONE or REFUSED.
 */
int list_read(struct prefixes *prefixes, const struct origin *at)
{
	struct reader reader = { .prefixes = prefixes };
	struct text text;
	int error;

	error = text_read(&text, prefixes->list.path, prefixes->list.path, at);
	if (!error)
		error = text_lines(&text, take_text, &reader);
	if (!error && reader.depth)
		error = refuse(&reader.origin, NULL,
			       "JSON that is not complete");
	if (!error && reader.elements)
		error = refuse(&reader.origin, NULL,
			       "a set of nft that is not complete");
	prefixes->list.empty = !prefixes->table.number;
	text_free(&text);
	return error;
}

/**
 * list_notes() - remark on what is unusual in a list
 * @list: read
 */
void list_notes(const struct list *list)
{
	if (list->header)
		remark("%s:%u: \"%.80s\": no prefix, skipped as a header",
		       list->path, list->header_line, list->header);
	if (list->masked)
		remark("%s:%u: host bits cleared in %u prefix%s, this is the first",
		       list->path, list->masked_line, list->masked,
		       list->masked == 1 ? "" : "es");
	if (list->expiring)
		remark("%s: %u entr%s a timeout of its own, which is not read",
		       list->path, list->expiring,
		       list->expiring == 1 ? "y has" : "ies have");
	if (list->unused)
		remark("%s: %u record%s of addresses not in use skipped",
		       list->path, list->unused,
		       list->unused == 1 ? "" : "s");
	if (list->path && list->empty)
		remark("%s: no prefix in this file", list->path);
}

/**
 * list_free() - free the memory
 * @list: read, or zero
 */
void list_free(struct list *list)
{
	free(list->path);
	free(list->header);
	memset(list, 0, sizeof(*list));
}
