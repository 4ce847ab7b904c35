// SPDX-License-Identifier: GPL-2.0
/*
 * A configuration as variables for rulesets of nft(8): the bits of the packet
 * mark for its classes, and its ports.
 *
 * The same configuration gives the same text: classes by priority, ports by
 * number.  It has no prefixes: a SYN carries its class in its mark, whatever
 * decided the class, and the intervals of nft's sets cannot be nested.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"

static const char heading[] =
"# Printed by \"synq export nft\": synq's classes, for rulesets.\n"
"#\n"
"# In a raw chain, before synq, rules put a packet into a class by\n"
"#\tmeta mark set meta mark & $synq_others | $synq_class_NAME\n"
"# and after synq they match the SYNs of a class by\n"
"#\tmeta mark & $synq_mask == $synq_class_NAME\n"
"\n";

static void print_class(const struct conf *conf, const struct class_spec *spec)
{
	if (spec->mark)
		printf("define synq_class_%s = 0x%08x\n", spec->name,
		       mark_shifted(conf->mask, spec->mark));
	else
		printf("# class %s has no mark\n", spec->name);
}

/* nft has no empty set literal: without listeners the variable is left out. */
static void print_ports(const struct conf *conf)
{
	unsigned int i;

	if (!conf->listeners)
		return;
	printf("define synq_ports =");
	for (i = 0; i < conf->listeners; i++)
		printf("%s %u", i ? "," : " {", conf->listener[i].spec.port);
	puts(" }");
}

static int print_nft(struct conf *conf)
{
	const struct origin origin = { conf->file, 0 };
	const struct class *class[SLOTS];
	unsigned int number = conf_sorted_classes(conf, class);
	unsigned int i;

	if (!conf->mask)
		return refuse(&origin, "export nft",
			      "no bits of the packet mark are reserved for classes (mark mask M)");
	conf_sort(conf);
	fputs(heading, stdout);
	printf("define synq_mask = 0x%08x\n", conf->mask);
	printf("define synq_others = 0x%08x\n", ~conf->mask);
	for (i = 0; i < number; i++)
		print_class(conf, &class[i]->spec);
	print_ports(conf);
	return DONE;
}

static int load(struct conf *conf)
{
	struct nl nl = { 0 };
	int error;

	error = nl_open(&nl);
	if (!error)
		error = load_conf(&nl, conf, true);
	nl_close(&nl);
	return error;
}

/**
 * command_export() - print the classes for other programs
 * @words: nft [FILE]: of that file and not of the kernel's configuration
 * @flags: none
 *
 * Return: exit status.
 */
int command_export(struct words *words, unsigned int flags)
{
	const char *format = words_next(words);
	struct conf conf;
	const char *name;
	int error;

	if (!format)
		return refuse(NULL, "export", "the format is missing (nft)");
	if (strcmp(format, "nft"))
		return refuse(NULL, format, "not a format of export (nft)");
	name = words_next(words);
	if (edit_refuse_end(words, "export nft"))
		return REFUSED;

	conf_init(&conf, NULL);
	error = name ? conf_read(&conf, name, false) : load(&conf);
	if (!error)
		error = print_nft(&conf);
	conf_clear(&conf);
	return error;
}
