// SPDX-License-Identifier: GPL-2.0
/*
 * The command synq: its command line and its exit status.
 *
 * Options may stand anywhere among the words, but only with commands that take
 * them.  All input is read and checked before any request to the kernel module.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

#ifndef VERSION
#define VERSION		"0.1"
#endif

static const char help[] =
"usage: synq COMMAND\n"
"  apply [--strict] [--check [--print] | --confirm TIME] FILE    replace all, or\n"
"      only check FILE, or roll back unless \"confirm\" follows; - is stdin\n"
"  diff FILE, save                    what apply would change; the configuration\n"
"  class|match|listener|service|mark|set show [-j] [NAME...]\n"
"  class add|set NAME OPTION...       class del NAME       set enforce on|off\n"
"      priority 0..15  default  mark N  weight 1..1000  reserve N%  cap N%\n"
"      max-wait TIME|none  min-share N%  rate N/second|minute|hour|day burst N\n"
"      source-rate N/... source-burst N source-len V4,V6  net-... (same)\n"
"      excess drop|pass|reset|cookie|refuse  cookies POLICY  enforce on|off\n"
"  match add|set|del [-e] source A|source-file F [to PREFIX] [port N[-M]] class C\n"
"      timeout TIME  prefer (in FILE)\n"
"  listener add|set port N[-M] OPTION...        listener del port N[-M]\n"
"      order strict|weighted|fifo  inside auto|N|off  requests on|off\n"
"      app-order|app-cookies|enforce on|off  synack-retries N  cookies POLICY\n"
"  service add|del [to PREFIX] port N[-M] forward         mark mask M    mark del\n"
"  classify [-j] ADDRESS [to ADDRESS] [port N] [mark M]   a client's class\n"
"  why [-j] ADDRESS [to ADDRESS] [port N]    and why it was refused lately\n"
"  stats [-j|--prometheus] [class NAME] [listener PORT]    top [-d TIME] [-n N]\n"
"  stats [-j] sources [class NAME] [top N]       off, on, flush: the stock kernel\n"
"  doctor [-j] [--watch TIME] [--follow TIME] [FILE]      what stands in the way\n"
"  monitor [-j], export nft [FILE], -batch [FILE]   events; marks; many changes\n"
"FILE has class, match, listener, service, mark and set commands; # is a comment.\n"
"Exit status: 0 done, 1 refused, 2 no kernel module, 3 differences; see synq(8).\n";

static int command_help(struct words *words, unsigned int flags)
{
	fputs(help, stdout);
	return DONE;
}

static int command_version(struct words *words, unsigned int flags)
{
	puts("synq " VERSION);
	return DONE;
}

/**
 * struct command - a command
 * @name: the word
 * @run: does it; NULL: it has no meaning yet
 * @flags: options that it takes
 */
struct command {
	const char *name;
	int (*run)(struct words *words, unsigned int flags);
	unsigned int flags;
};

static const struct command commands[] = {
	{ "apply", command_apply,
	  FLAG_CHECK | FLAG_PRINT | FLAG_CONFIRM | FLAG_STRICT },
	{ "confirm", command_confirm, 0 },
	{ "diff", command_diff, 0 },
	{ "save", command_save, 0 },
	{ "flush", command_flush, 0 },
	{ "on", command_on, 0 },
	{ "off", command_off, 0 },
	{ "classify", command_classify, FLAG_JSON },
	{ "why", command_why, FLAG_JSON },
	{ "stats", command_stats, FLAG_JSON | FLAG_PROMETHEUS },
	{ "monitor", command_monitor, FLAG_JSON },
	{ "export", command_export, 0 },
	{ "-batch", command_batch, 0 },
	{ "help", command_help, 0 },
	{ "doctor", command_doctor, FLAG_JSON | FLAG_WATCH | FLAG_FOLLOW },
	{ "top", command_top, 0 },
	{ }
};

static const struct command options[] = {
	{ "-j", NULL, FLAG_JSON },
	{ "--json", NULL, FLAG_JSON },
	{ "--check", NULL, FLAG_CHECK },
	{ "--print", NULL, FLAG_PRINT },
	{ "--strict", NULL, FLAG_STRICT },
	{ "-h", command_help, 0 },
	{ "--help", command_help, 0 },
	{ "-V", command_version, 0 },
	{ "--version", command_version, 0 },
	{ "--confirm", NULL, FLAG_CONFIRM },
	{ "--watch", NULL, FLAG_WATCH },
	{ "--follow", NULL, FLAG_FOLLOW },
	{ "--prometheus", NULL, FLAG_PROMETHEUS },
	{ }
};

static const struct command *find(const struct command *command,
				  const char *name)
{
	while (command->name && strcmp(command->name, name))
		command++;
	return command->name ? command : NULL;
}

/* These belong to the grammar, though they begin like an option. */
static bool is_word(const char *word)
{
	return word[0] != '-' || !word[1] || !strcmp(word, "-e") ||
	       !strcmp(word, "-d") || !strcmp(word, "-n") ||
	       !strcmp(word, "-batch");
}

static int refuse_flags(const char *name, unsigned int flags)
{
	const struct command *option = options;

	if (!flags)
		return DONE;
	while (!(option->flags & flags))
		option++;
	return refuse(NULL, option->name, "not an option of %s", name);
}

static int run_object(struct words *words, unsigned int flags,
		      enum object object)
{
	const char *verb;

	verb = words->number > 1 ? words->word[1] : "";
	if (!strcmp(verb, "show")) {
		words->next = 2;
		if (refuse_flags("show", flags & ~FLAG_JSON))
			return REFUSED;
		return command_show(words, flags, object);
	}
	if (refuse_flags("a change", flags))
		return REFUSED;
	return command_change(words);
}

static int run(struct words *words, unsigned int flags)
{
	const char *name = words_peek(words);
	const struct command *command;
	enum object object;

	if (!name)
		return refuse(NULL, NULL,
			      "a command is missing (synq help lists them)");
	if (edit_parse_object(name, &object))
		return run_object(words, flags, object);

	command = find(commands, name);
	if (!command)
		return refuse(NULL, name,
			      "not a command (synq help lists them)");
	if (!command->run)
		return refuse(NULL, name, "not supported yet");
	if (refuse_flags(name, flags & ~command->flags))
		return REFUSED;
	if ((flags & FLAG_PRINT) && !(flags & FLAG_CHECK))
		return refuse(NULL, "--print", "only with --check");
	if ((flags & FLAG_CONFIRM) && (flags & FLAG_CHECK))
		return refuse(NULL, "--confirm", "not with --check");
	words_next(words);
	return command->run(words, flags);
}

/* Removes the options from the words, and some of them with their values. */
static int parse_options(struct words *words, unsigned int *flags,
			 const struct command **instead)
{
	unsigned int number = 0;
	bool only_words = false;
	unsigned int i;

	for (i = 0; i < words->number; i++) {
		const struct command *option;
		char *word = words->word[i];

		if (only_words || is_word(word)) {
			words->word[number++] = word;
			continue;
		}
		if (!strcmp(word, "--")) {
			only_words = true;
			continue;
		}
		option = find(options, word);
		if (!option)
			return refuse(NULL, word,
				      "not an option (synq help lists them)");
		if (option->run)
			*instead = option;
		*flags |= option->flags;
		if (!(option->flags & (FLAG_CONFIRM | FLAG_WATCH | FLAG_FOLLOW)))
			continue;
		if (i + 1 == words->number)
			return refuse(NULL, word, "its value is missing (TIME)");
		i++;
		if (option->flags == FLAG_CONFIRM)
			words->confirm = words->word[i];
		else if (option->flags == FLAG_WATCH)
			words->watch = words->word[i];
		else
			words->follow = words->word[i];
	}
	words->number = number;
	return DONE;
}

/* Output that could not be written is a failure. */
static int flush_output(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	return fail(REFUSED, "cannot write: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	struct words words = {
		.origin = { NULL, 1 },
		.word = argv + 1,
		.number = argc > 0 ? argc - 1 : 0,
	};
	const struct command *instead = NULL;
	unsigned int flags = 0;
	int status;

	status = parse_options(&words, &flags, &instead);
	if (!status && instead)
		status = instead->run(&words, flags);
	else if (!status)
		status = run(&words, flags);
	return flush_output(status);
}
