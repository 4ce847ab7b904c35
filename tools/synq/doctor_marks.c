// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of others that test, set or restore the bits of the packet mark that synq keeps
 * classes in.  Pure.
 *
 * A rule whose bits are all synq's is taken for one that is meant for synq (a rule that
 * chooses a class, or counts by it), unless it has the name or the mask of a program that
 * is known for marks.
 */
#include <string.h>

#include "doctor.h"

static const struct owner {
	const char *name;
	const char *chain;	/* in the names of its chains; NULL: none */
	__u32 bits;		/* of its rules; 0: any */
	__u32 value;		/* of its rules; 0: any */
} owners[] = {
	{ "Kubernetes", "KUBE-", 0, 0 },
	{ "Calico", "cali", 0, 0 },
	{ "Tailscale", "ts-", 0, 0 },
	{ "wg-quick", "wg-quick", 0, 0 },
	{ "Kubernetes", NULL, 0x4000, 0 },
	{ "Kubernetes", NULL, 0x8000, 0 },
	{ "Calico", NULL, 0xffff0000, 0 },
	{ "Tailscale", NULL, 0xff0000, 0 },
	{ "wg-quick", NULL, 0, 0xca6c },
};

/* All of these, and of wg-quick's value. */
#define KNOWN_BITS	(0xffff0000 | 0x4000 | 0x8000 | 0xca6c)

static const char *find_owner(const struct mark_rule *rule)
{
	unsigned int i;

	for (i = 0; i < sizeof(owners) / sizeof(*owners); i++) {
		const struct owner *owner = &owners[i];

		if (owner->chain ? !!strstr(rule->where, owner->chain) :
		    owner->bits ? rule->bits == owner->bits : rule->value == owner->value)
			return owner->name;
	}
	return NULL;
}

/* The line as it should be: with the bits that are left to it. */
static void mend(const struct mark_rule *rule, __u32 ours, struct finding *finding)
{
	char *to = finding->help;
	size_t room = sizeof(finding->help);
	const char *from;
	int n;

	for (from = rule->mend; *from; from++) {
		if (*from == MEND_BITS)
			n = snprintf(to, room, "0x%08x", rule->bits & ~ours);
		else if (*from == MEND_VALUE)
			n = snprintf(to, room, "0x%x", rule->value & ~ours);
		else if (*from == MEND_KEEP)
			n = snprintf(to, room, "0x%08x", ~rule->bits | ours);
		else
			n = snprintf(to, room, "%c", *from);
		if (n < 0 || (size_t)n >= room)
			return;
		to += n;
		room -= n;
	}
}

/*
 * A mask for synq, of at most four bits, that no rule here and no known program has; of
 * rules that compare or write all of the mark, nothing can be learned.  Low bits, which
 * small numbers have, come last; 0: there is none.
 */
static __u32 free_mask(const struct rules *rules)
{
	__u32 taken = KNOWN_BITS;
	unsigned int i, bits;

	for (i = 0; i < rules->marks; i++) {
		if (rules->mark[i].bits != ~0U)
			taken |= rules->mark[i].bits;
		if (rules->mark[i].use != MARK_RESTORE)
			taken |= rules->mark[i].value;
	}
	for (bits = 4; bits; bits--) {
		for (i = 32 - bits; i < 32; i--) {
			__u32 mask = ((1U << bits) - 1) << i;

			if (!(taken & mask))
				return mask;
		}
	}
	return 0;
}

static void judge(const struct rules *rules, const struct mark_rule *rule, __u32 ours,
		  struct findings *findings)
{
	const char *owner = find_owner(rule);
	struct finding *finding;
	char by[32] = "";

	if (!(rule->bits & ours))
		return;
	/* "not fwmark 0xca6c": true with any class, as it was without. */
	if (rule->use == MARK_TEST && rule->except && !(rule->value & ours))
		return;
	if (!(rule->bits & ~ours) && !owner && !rule->routing)
		return;
	if (owner)
		snprintf(by, sizeof(by), " (%s)", owner);
	switch (rule->use) {
	case MARK_TEST:
		if (rule->routing)
			finding = find_new(findings, REMARK, "mark_routed", 0,
					   "%s%s tests bits of synq's mask 0x%08x: SYNs and replies are routed by class",
					   rule->where, by, ours);
		else
			finding = find_new(findings, PROBLEM, "mark_tested", 0,
					   "%s%s tests bits of synq's mask 0x%08x: what it does depends on the class",
					   rule->where, by, ours);
		break;
	case MARK_SET:
		finding = find_new(findings, PROBLEM, "mark_set", 0,
				   "%s%s writes bits of synq's mask 0x%08x: it gives or takes classes",
				   rule->where, by, ours);
		break;
	default:
		finding = find_new(findings, PROBLEM, "mark_restored", 0,
				   "%s%s restores bits of synq's mask 0x%08x: it gives or takes classes",
				   rule->where, by, ours);
	}
	/* A value with bits of ours is no use without them. */
	if (!owner && (rule->bits & ~ours) &&
	    !(rule->use == MARK_TEST && (rule->value & ours)))
		mend(rule, ours, finding);
	else if (free_mask(rules))
		find_help(finding, "synq mark mask 0x%08x, of which no rule here has a bit",
			  free_mask(rules));
	else
		find_help(finding, "change the mask of synq, or of the rule");
}

/**
 * judge_marks() - find rules that share bits with the mask
 * @facts: with rules, and a configuration
 * @findings: where to
 */
void judge_marks(const struct facts *facts, struct findings *findings)
{
	unsigned int i;

	if (!facts->conf || !facts->conf->mask)
		return;
	for (i = 0; i < facts->rules.marks; i++)
		judge(&facts->rules, &facts->rules.mark[i], facts->conf->mask, findings);
}
