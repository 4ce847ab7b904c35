// SPDX-License-Identifier: GPL-2.0
/*
 * The iptables and ip6tables extension, legacy or nft: parses, lists and saves the
 * match "-m synq [!] --class NAME" and the target "-j SYNQ --class NAME". The kernel
 * part is module/xt_synq.c.
 *
 * It loads that module with the rights of the caller. The module has no alias, since
 * x_tables would load it for the root of any user namespace. If loading fails, iptables
 * says that the match or target is not supported.
 *
 * iptables looks for a file named after the match or target. This file is installed
 * under both names, and registers both in either case.
 */
#include <linux/netfilter/xt_synq.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xtables.h>

#define DATA_SIZE	XT_ALIGN(sizeof(struct xt_synq_info))

enum { OPT_CLASS };

static const struct xt_option_entry match_options[] = {
	{
		.name	= "class",
		.id	= OPT_CLASS,
		.type	= XTTYPE_STRING,
		.flags	= XTOPT_MAND | XTOPT_INVERT,
	},
	XTOPT_TABLEEND,
};

static const struct xt_option_entry target_options[] = {
	{
		.name	= "class",
		.id	= OPT_CLASS,
		.type	= XTTYPE_STRING,
		.flags	= XTOPT_MAND,
	},
	XTOPT_TABLEEND,
};

static void match_help(void)
{
	printf("synq match options:\n"
	       "[!] --class NAME  match packets with the mark of this synq class\n");
}

static void target_help(void)
{
	printf("SYNQ target options (table raw, PREROUTING):\n"
	       "    --class NAME  put the connection into this synq class\n");
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The same rule as in the command synq. */
static bool is_name(const char *text)
{
	if (!is_letter(*text))
		return false;
	while (*++text)
		if (!is_letter(*text) && !(*text >= '0' && *text <= '9') &&
		    *text != '_' && *text != '-')
			return false;
	return true;
}

static void parse(struct xt_option_call *cb)
{
	struct xt_synq_info *info = cb->data;

	xtables_option_parse(cb);
	if (strlen(cb->arg) > SYNQ_NAME_MAX)
		xtables_error(PARAMETER_PROBLEM,
			      "%s: \"%s\": a class name has at most %u characters",
			      cb->ext_name, cb->arg, SYNQ_NAME_MAX);
	if (!is_name(cb->arg))
		xtables_error(PARAMETER_PROBLEM,
			      "%s: \"%s\": a class name is a letter and then letters, digits, _ and -",
			      cb->ext_name, cb->arg);
	snprintf(info->name, sizeof(info->name), "%s", cb->arg);
	if (cb->invert)
		info->flags |= XT_SYNQ_INVERT;
}

/* The kernel has checked that the name is terminated. */
static void match_print(const void *ip, const struct xt_entry_match *match,
			int numeric)
{
	const struct xt_synq_info *info = (const void *)match->data;

	printf(" synq %sclass %s",
	       info->flags & XT_SYNQ_INVERT ? "! " : "", info->name);
}

static void match_save(const void *ip, const struct xt_entry_match *match)
{
	const struct xt_synq_info *info = (const void *)match->data;

	printf("%s --class", info->flags & XT_SYNQ_INVERT ? " !" : "");
	xtables_save_string(info->name);
}

static void target_print(const void *ip, const struct xt_entry_target *target,
			 int numeric)
{
	const struct xt_synq_info *info = (const void *)target->data;

	printf(" class %s", info->name);
}

static void target_save(const void *ip, const struct xt_entry_target *target)
{
	const struct xt_synq_info *info = (const void *)target->data;

	printf(" --class");
	xtables_save_string(info->name);
}

static struct xtables_match synq_match = {
	.version	= XTABLES_VERSION,
	.name		= "synq",
	.family		= NFPROTO_UNSPEC,
	.size		= DATA_SIZE,
	.userspacesize	= DATA_SIZE,
	.help		= match_help,
	.print		= match_print,
	.save		= match_save,
	.x6_parse	= parse,
	.x6_options	= match_options,
};

static struct xtables_target synq_target = {
	.version	= XTABLES_VERSION,
	.name		= "SYNQ",
	.family		= NFPROTO_UNSPEC,
	.size		= DATA_SIZE,
	.userspacesize	= DATA_SIZE,
	.help		= target_help,
	.print		= target_print,
	.save		= target_save,
	.x6_parse	= parse,
	.x6_options	= target_options,
};

/* Must happen before iptables asks the kernel for the match or target. */
static void __attribute__((constructor)) begin(void)
{
	if (access("/sys/module/xt_synq", F_OK))
		xtables_insmod("xt_synq", xtables_modprobe_program, true);
	xtables_register_match(&synq_match);
	xtables_register_target(&synq_target);
}
