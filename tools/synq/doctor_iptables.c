// SPDX-License-Identifier: GPL-2.0
/*
 * Rules that look at the packet mark, write it or send a port elsewhere, out of
 * iptables-save, ip6tables-save and "ip -j rule"; and the list of them.  Pure.
 */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define WORDS_MAX	128

/**
 * struct line - a line of iptables-save
 * @text: its words, with NUL between them
 * @word: the words
 * @words: how many
 * @table: the table
 * @number: of the rule in its chain
 * @is_v6: of ip6tables
 */
struct line {
	char text[1024];
	char *word[WORDS_MAX];
	int words;
	const char *table;
	unsigned int number;
	bool is_v6;
};

struct mark_rule *rules_new_mark(struct rules *rules)
{
	struct mark_rule *mark;

	rules->mark = allocate(rules->mark, rules->marks + 1, sizeof(*rules->mark));
	mark = &rules->mark[rules->marks++];
	memset(mark, 0, sizeof(*mark));
	return mark;
}

struct dnat *rules_new_dnat(struct rules *rules)
{
	struct dnat *dnat;

	rules->dnat = allocate(rules->dnat, rules->dnats + 1, sizeof(*rules->dnat));
	dnat = &rules->dnat[rules->dnats++];
	memset(dnat, 0, sizeof(*dnat));
	return dnat;
}

void rules_clear(struct rules *rules)
{
	free(rules->mark);
	free(rules->dnat);
	memset(rules, 0, sizeof(*rules));
}

/* Words may be in quotes, and so have blanks. */
static void split(struct line *line)
{
	char *at = line->text;
	bool quoted = false;
	char *to;

	line->words = 0;
	while (line->words < WORDS_MAX) {
		at += strspn(at, " ");
		if (!*at)
			return;
		line->word[line->words++] = at;
		for (to = at; *at && (quoted || *at != ' '); at++) {
			if (*at == '"')
				quoted = !quoted;
			else
				*to++ = *at;
		}
		if (*at)
			at++;
		*to = '\0';
	}
}

/* The word behind an option; NULL without it. */
static const char *after(const struct line *line, const char *option)
{
	int i;

	for (i = 0; i + 1 < line->words; i++) {
		if (!strcmp(line->word[i], option))
			return line->word[i + 1];
	}
	return NULL;
}

/* Is there "! --dport"? */
static bool is_negated(const struct line *line, const char *option)
{
	int i;

	for (i = 1; i < line->words; i++) {
		if (!strcmp(line->word[i], option) && !strcmp(line->word[i - 1], "!"))
			return true;
	}
	return false;
}

/* "0x1/0xff", or a mark alone, which has all bits */
static void parse_mark(const char *text, __u32 *value, __u32 *bits)
{
	char *end;

	*value = strtoul(text, &end, 0);
	*bits = *end == '/' ? strtoul(end + 1, NULL, 0) : ~0UL;
}

/* Adds a word, in quotes if it needs them, or several words. */
static void put(char *text, size_t room, const char *word, bool several)
{
	const char *quote = !several && strchr(word, ' ') ? "\"" : "";
	size_t length = strlen(text);

	snprintf(text + length, room - length, "%s%s%s%s", length ? " " : "", quote, word,
		 quote);
}

/*
 * The rule, as the reader finds it, and the command that replaces it; from word @from
 * on, @skip words become @instead.
 */
static void describe(const struct line *line, struct mark_rule *mark, int from, int skip,
		     const char *instead)
{
	const char *program = line->is_v6 ? "ip6tables" : "iptables";
	char number[12];
	int i;

	snprintf(mark->where, sizeof(mark->where), "%s -t %s", program, line->table);
	snprintf(mark->mend, sizeof(mark->mend), "%s -t %s -R", program, line->table);
	snprintf(number, sizeof(number), "%u", line->number);
	for (i = 0; i < line->words; i++) {
		put(mark->where, sizeof(mark->where), line->word[i], false);
		if (!i)
			continue;
		if (i < from || i >= from + skip)
			put(mark->mend, sizeof(mark->mend), line->word[i], false);
		else if (i == from)
			put(mark->mend, sizeof(mark->mend), instead, true);
		if (i == 1)
			put(mark->mend, sizeof(mark->mend), number, false);
	}
}

static struct mark_rule *new_mark(struct rules *rules, enum mark_use use, __u32 bits,
				  __u32 value)
{
	struct mark_rule *mark = rules_new_mark(rules);

	mark->use = use;
	mark->bits = bits;
	mark->value = value;
	return mark;
}

/* "-m connmark --mark" is another mark. */
static void take_tests(struct rules *rules, const struct line *line)
{
	const char *module = "";
	__u32 value, bits;
	struct mark_rule *mark;
	int i;

	for (i = 0; i + 1 < line->words; i++) {
		if (!strcmp(line->word[i], "-m"))
			module = line->word[i + 1];
		if (strcmp(module, "mark") || strcmp(line->word[i], "--mark"))
			continue;
		parse_mark(line->word[i + 1], &value, &bits);
		mark = new_mark(rules, MARK_TEST, bits, value);
		mark->except = i && !strcmp(line->word[i - 1], "!");
		describe(line, mark, i, 2, "--mark \2/\1");
	}
}

static void take_targets(struct rules *rules, const struct line *line, const char *target)
{
	static const char * const writes[] = { "--set-xmark", "--set-mark", "--tproxy-mark" };
	__u32 value, bits;
	unsigned int j;
	char instead[48];
	int i;

	for (i = 0; i + 1 < line->words; i++) {
		for (j = 0; j < 3; j++) {
			if (strcmp(line->word[i], writes[j]) || !strcmp(target, "CONNMARK"))
				continue;
			parse_mark(line->word[i + 1], &value, &bits);
			snprintf(instead, sizeof(instead), "%s \2/\1", writes[j]);
			describe(line, new_mark(rules, MARK_SET, bits | value, value), i, 2,
				 instead);
		}
		if (!strcmp(line->word[i], "--restore-mark")) {
			const char *mask = after(line, "--nfmask") ?: after(line, "--mask");

			bits = mask ? strtoul(mask, NULL, 0) : ~0UL;
			describe(line, new_mark(rules, MARK_RESTORE, bits, 0), i, line->words - i,
				 "--restore-mark --nfmask \1 --ctmask \1");
			return;
		}
	}
	/* Without a mask it may be the last word. */
	if (line->words && !strcmp(line->word[line->words - 1], "--restore-mark"))
		describe(line, new_mark(rules, MARK_RESTORE, ~0U, 0), line->words - 1, 1,
			 "--restore-mark --nfmask \1 --ctmask \1");
}

static void take_dnat(struct rules *rules, const struct line *line, const char *ports,
		      const char *to)
{
	const char *at = ports;
	struct dnat *dnat;
	char *end;

	while (at && *at) {
		unsigned long first = strtoul(at, &end, 10);
		unsigned long last = first;
		int i;

		if (*end == ':')
			last = strtoul(end + 1, &end, 10);
		at = *end == ',' ? end + 1 : "";
		if (!first || last > 65535)
			return;
		dnat = rules_new_dnat(rules);
		dnat->first = first;
		dnat->last = last;
		snprintf(dnat->to, sizeof(dnat->to), "%s", to);
		snprintf(dnat->where, sizeof(dnat->where), "%s -t %s",
			 line->is_v6 ? "ip6tables" : "iptables", line->table);
		for (i = 0; i < line->words; i++)
			put(dnat->where, sizeof(dnat->where), line->word[i], false);
	}
}

static void take_rule(struct rules *rules, const struct line *line)
{
	const char *protocol = after(line, "-p");
	const char *target = after(line, "-j") ?: "";
	const char *chain = line->words > 1 ? line->word[1] : "";
	char redirected[24];

	if (protocol && strcmp(protocol, "tcp") && strcmp(protocol, "all") &&
	    strcmp(protocol, "6"))
		return;
	take_tests(rules, line);
	/* Replies leave by these: what is written there classifies nothing. */
	if (strcmp(chain, "OUTPUT") && strcmp(chain, "POSTROUTING"))
		take_targets(rules, line, target);
	if (is_negated(line, "--dport") || is_negated(line, "--dports"))
		return;
	if (!strcmp(target, "DNAT"))
		take_dnat(rules, line, after(line, "--dport") ?: after(line, "--dports"),
			  after(line, "--to-destination") ?: "");
	if (!strcmp(target, "REDIRECT") && after(line, "--to-ports")) {
		snprintf(redirected, sizeof(redirected), ":%s", after(line, "--to-ports"));
		take_dnat(rules, line, after(line, "--dport") ?: after(line, "--dports"),
			  redirected);
	}
}

/* The number of a rule in its chain: rules of a chain may be apart. */
struct chain {
	char name[32];
	unsigned int rules;
};

static unsigned int next_number(struct chain *chain, unsigned int *chains, unsigned int room,
				const char *name)
{
	unsigned int i;

	for (i = 0; i < *chains; i++) {
		if (!strcmp(chain[i].name, name))
			return ++chain[i].rules;
	}
	if (*chains < room) {
		snprintf(chain[*chains].name, sizeof(chain->name), "%s", name);
		chain[(*chains)++].rules = 1;
	}
	return 1;
}

#define CHAINS_MAX	4096

/**
 * iptables_rules() - take what iptables-save has printed
 * @rules: where to
 * @text: lines; what is no rule is ignored
 * @is_v6: of ip6tables-save
 */
void iptables_rules(struct rules *rules, const char *text, bool is_v6)
{
	struct chain *chain = allocate(NULL, CHAINS_MAX, sizeof(*chain));
	unsigned int chains = 0;
	unsigned int tables = 0;
	const char *end;
	struct line line;
	char table[12] = "";

	line.is_v6 = is_v6;
	line.table = table;
	for (; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		if ((size_t)(end - text) >= sizeof(line.text))
			continue;
		memcpy(line.text, text, end - text);
		line.text[end - text] = '\0';
		if (*text == '*') {
			snprintf(table, sizeof(table), "%.11s", line.text + 1);
			if (tables < 5)
				memcpy(rules->tables[is_v6][tables++], table, sizeof(table));
			chains = 0;
		}
		if (!*table || strncmp(line.text, "-A ", 3))
			continue;
		split(&line);
		line.number = next_number(chain, &chains, CHAINS_MAX, line.word[1]);
		take_rule(rules, &line);
	}
	free(chain);
}

/**
 * routing_rules() - take what "ip -j rule" has printed
 * @rules: where to
 * @text: JSON; what is none is ignored
 * @is_v6: of "ip -6 -j rule"
 */
void routing_rules(struct rules *rules, const char *text, bool is_v6)
{
	json_t *json = json_loads(text, 0, NULL);
	const json_t *rule;
	size_t i;

	json_array_foreach(json, i, rule) {
		const char *value = json_string_value(json_object_get(rule, "fwmark"));
		const char *bits = json_string_value(json_object_get(rule, "fwmask"));
		const char *table = json_string_value(json_object_get(rule, "table"));
		json_int_t priority = json_integer_value(json_object_get(rule, "priority"));
		struct mark_rule *mark;

		if (!value || value[0] < '0' || value[0] > '9')
			continue;
		mark = new_mark(rules, MARK_TEST, bits ? strtoul(bits, NULL, 0) : ~0U,
				strtoul(value, NULL, 0));
		mark->routing = true;
		mark->except = json_object_get(rule, "not");
		snprintf(mark->where, sizeof(mark->where), "ip%s rule %lld: %sfwmark %s%s%s",
			 is_v6 ? " -6" : "", (long long)priority, mark->except ? "not " : "",
			 value, bits ? "/" : "", bits ?: "");
		if (table)
			snprintf(mark->mend, sizeof(mark->mend),
				 "ip%s rule add priority %lld %sfwmark \2/\1 table %s; ip%s rule del priority %lld fwmark %s%s%s",
				 is_v6 ? " -6" : "", (long long)priority,
				 mark->except ? "not " : "", table, is_v6 ? " -6" : "",
				 (long long)priority, value, bits ? "/" : "", bits ?: "");
	}
	json_decref(json);
}
