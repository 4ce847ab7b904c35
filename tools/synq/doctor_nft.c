// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of nft that look at the packet mark, write it or send a port elsewhere, out of
 * "nft -j list ruleset".  Pure.
 *
 * What a "meta mark set" leaves alone is computed bit by bit from its expression.  Tables
 * that iptables-save has listed are skipped here: nft cannot tell what their rules do.
 */
#include <string.h>

#include "doctor.h"

/**
 * struct bits - what is known of each bit of an expression
 * @zero: is 0
 * @one: is 1
 * @keep: is what it was in the packet mark
 * @ct: is what it is in the mark of the connection
 */
struct bits {
	__u32 zero;
	__u32 one;
	__u32 keep;
	__u32 ct;
};

static struct bits constant(__u32 value)
{
	return (struct bits){ .zero = ~value, .one = value };
}

/* With its key, as {"meta": {"key": "mark"}} */
static bool is_mark(const json_t *expression, const char *of)
{
	const char *key = json_string_value(json_object_get(json_object_get(expression, of),
							    "key"));

	return key && !strcmp(key, "mark");
}

static struct bits take_and(struct bits a, struct bits b)
{
	struct bits r = { .zero = a.zero | b.zero, .one = a.one & b.one };

	r.keep = ((a.one & b.keep) | (b.one & a.keep) | (a.keep & b.keep)) & ~r.zero;
	r.ct = ((a.one & b.ct) | (b.one & a.ct)) & ~r.zero;
	return r;
}

static struct bits take_or(struct bits a, struct bits b)
{
	struct bits r = { .zero = a.zero & b.zero, .one = a.one | b.one };

	r.keep = ((a.zero & b.keep) | (b.zero & a.keep) | (a.keep & b.keep)) & ~r.one;
	r.ct = ((a.zero & b.ct) | (b.zero & a.ct)) & ~r.one;
	return r;
}

static struct bits take_xor(struct bits a, struct bits b)
{
	return (struct bits){
		.zero = (a.zero & b.zero) | (a.one & b.one),
		.one = (a.zero & b.one) | (a.one & b.zero),
		.keep = (a.zero & b.keep) | (b.zero & a.keep),
		.ct = (a.zero & b.ct) | (b.zero & a.ct),
	};
}

static struct bits evaluate(const json_t *expression);

static struct bits operate(const json_t *operands,
			   struct bits (*operation)(struct bits a, struct bits b))
{
	struct bits bits = evaluate(json_array_get(operands, 0));
	size_t i;

	for (i = 1; i < json_array_size(operands); i++)
		bits = operation(bits, evaluate(json_array_get(operands, i)));
	return bits;
}

/* Of what is not understood, no bit is known. */
static struct bits evaluate(const json_t *expression)
{
	const json_t *operands;

	if (json_is_integer(expression))
		return constant(json_integer_value(expression));
	if (is_mark(expression, "meta"))
		return (struct bits){ .keep = ~0U };
	if (is_mark(expression, "ct"))
		return (struct bits){ .ct = ~0U };
	operands = json_object_get(expression, "&");
	if (operands)
		return operate(operands, take_and);
	operands = json_object_get(expression, "|");
	if (operands)
		return operate(operands, take_or);
	operands = json_object_get(expression, "^");
	if (operands)
		return operate(operands, take_xor);
	return (struct bits){ 0 };
}

/* The bits of the packet mark that an expression compares; 0: none. */
static __u32 compared(const json_t *expression)
{
	const json_t *operands = json_object_get(expression, "&");
	__u32 bits = ~0U;
	bool mark = false;
	const json_t *operand;
	size_t i;

	if (is_mark(expression, "meta"))
		return ~0U;
	json_array_foreach(operands, i, operand) {
		if (json_is_integer(operand))
			bits &= json_integer_value(operand);
		else if (compared(operand))
			mark = true;
	}
	return mark ? bits : 0;
}

static void name_rule(const json_t *rule, char *text, size_t room)
{
	json_int_t handle = json_integer_value(json_object_get(rule, "handle"));
	const char *family = json_string_value(json_object_get(rule, "family"));
	const char *table = json_string_value(json_object_get(rule, "table"));
	const char *chain = json_string_value(json_object_get(rule, "chain"));

	snprintf(text, room, "nft rule %s %s %s handle %lld", family ?: "?", table ?: "?",
		 chain ?: "?", (long long)handle);
}

static void take_match(struct rules *rules, const json_t *rule, const json_t *match)
{
	const json_t *right = json_object_get(match, "right");
	const char *op = json_string_value(json_object_get(match, "op"));
	__u32 bits = compared(json_object_get(match, "left"));
	struct mark_rule *mark;

	if (!bits)
		return;
	mark = rules_new_mark(rules);
	mark->use = MARK_TEST;
	mark->bits = bits;
	mark->value = json_integer_value(right);
	mark->except = op && !strcmp(op, "!=");
	name_rule(rule, mark->where, sizeof(mark->where));
	if (json_is_integer(right))
		snprintf(mark->mend, sizeof(mark->mend),
			 "meta mark & \1 %s \2  (in %s)",
			 mark->except ? "!=" : "==", mark->where);
	else
		snprintf(mark->mend, sizeof(mark->mend), "meta mark & \1 ...  (in %s)",
			 mark->where);
}

static void take_set(struct rules *rules, const json_t *rule, const json_t *value)
{
	struct bits bits = evaluate(value);
	struct mark_rule *mark;

	if (bits.keep == ~0U)
		return;
	mark = rules_new_mark(rules);
	mark->use = bits.ct ? MARK_RESTORE : MARK_SET;
	mark->bits = ~bits.keep;
	mark->value = bits.ct ?: bits.one;
	name_rule(rule, mark->where, sizeof(mark->where));
	/* Most kernels cannot join bits of two marks; a SYN's connection has none yet. */
	if (bits.ct)
		snprintf(mark->mend, sizeof(mark->mend),
			 "ct mark != 0 meta mark set ct mark & \2  (in %s)", mark->where);
	else if (~bits.keep == ((bits.zero | bits.one) & ~bits.keep))
		snprintf(mark->mend, sizeof(mark->mend),
			 "meta mark set meta mark & \3 | \2  (in %s)", mark->where);
	else
		snprintf(mark->mend, sizeof(mark->mend),
			 "let it write no more than the bits \1  (%s)", mark->where);
}

static void new_dnat(struct rules *rules, const json_t *rule, __u16 first, __u16 last,
		     const char *address, json_int_t port)
{
	struct dnat *dnat = rules_new_dnat(rules);
	char colon[8] = "";

	if (port > 0 && port < 65536)
		snprintf(colon, sizeof(colon), ":%u", (unsigned int)port);
	dnat->first = first;
	dnat->last = last;
	snprintf(dnat->to, sizeof(dnat->to), strchr(address, ':') ? "[%s]%s" : "%s%s",
		 address, colon);
	name_rule(rule, dnat->where, sizeof(dnat->where));
}

static void take_ports(struct rules *rules, const json_t *rule, const json_t *ports,
		       const char *address, json_int_t port)
{
	const json_t *range = json_object_get(ports, "range");
	const json_t *set = json_object_get(ports, "set");
	const json_t *element;
	size_t i;

	if (json_is_integer(ports))
		new_dnat(rules, rule, json_integer_value(ports), json_integer_value(ports),
			 address, port);
	else if (range)
		new_dnat(rules, rule, json_integer_value(json_array_get(range, 0)),
			 json_integer_value(json_array_get(range, 1)), address, port);
	json_array_foreach(set, i, element)
		take_ports(rules, rule, element, address, port);
}

static const json_t *find_dports(const json_t *expressions)
{
	const json_t *expression;
	size_t i;

	json_array_foreach(expressions, i, expression) {
		const json_t *match = json_object_get(expression, "match");
		const json_t *left = json_object_get(json_object_get(match, "left"), "payload");
		const char *field = json_string_value(json_object_get(left, "field"));
		const char *op = json_string_value(json_object_get(match, "op"));

		if (field && !strcmp(field, "dport") && op && strcmp(op, "!="))
			return json_object_get(match, "right");
	}
	return NULL;
}

/* A rule for another protocol concerns no SYN. */
static bool other_protocol(const json_t *expressions)
{
	const json_t *expression;
	size_t i;

	json_array_foreach(expressions, i, expression) {
		const json_t *match = json_object_get(expression, "match");
		const json_t *left = json_object_get(match, "left");
		const char *key = json_string_value(json_object_get(json_object_get(left, "meta"),
								    "key"));
		const json_t *payload = json_object_get(left, "payload");
		const char *field = json_string_value(json_object_get(payload, "protocol"));
		const char *right = json_string_value(json_object_get(match, "right"));
		const char *op = json_string_value(json_object_get(match, "op"));

		if (!op || !strcmp(op, "!="))
			continue;
		if (key && !strcmp(key, "l4proto") && right && strcmp(right, "tcp"))
			return true;
		if (field && (!strcmp(field, "udp") || !strcmp(field, "icmp")))
			return true;
	}
	return false;
}

/* Replies leave by these; what is written into their mark classifies nothing. */
static bool is_way_out(const json_t *objects, const json_t *rule)
{
	const json_t *object;
	size_t i;

	json_array_foreach(objects, i, object) {
		const json_t *chain = json_object_get(object, "chain");
		const char *hook = json_string_value(json_object_get(chain, "hook"));

		if (hook && (!strcmp(hook, "output") || !strcmp(hook, "postrouting")) &&
		    json_equal(json_object_get(chain, "name"), json_object_get(rule, "chain")) &&
		    json_equal(json_object_get(chain, "table"),
			       json_object_get(rule, "table")) &&
		    json_equal(json_object_get(chain, "family"),
			       json_object_get(rule, "family")))
			return true;
	}
	return false;
}

static void take_rule(struct rules *rules, const json_t *objects, const json_t *rule)
{
	const json_t *expressions = json_object_get(rule, "expr");
	const json_t *expression;
	size_t i;

	if (other_protocol(expressions))
		return;
	json_array_foreach(expressions, i, expression) {
		const json_t *mangle = json_object_get(expression, "mangle");
		const json_t *vmap = json_object_get(expression, "vmap");
		const json_t *match = json_object_get(expression, "match");
		const json_t *dnat = json_object_get(expression, "dnat");
		const json_t *redirect = json_object_get(expression, "redirect");

		if (match)
			take_match(rules, rule, match);
		if (vmap && compared(json_object_get(vmap, "key"))) {
			json_t *like = json_pack("{s:s, s:O}", "op", "==", "left",
						 json_object_get(vmap, "key"));

			take_match(rules, rule, like);
			json_decref(like);
		}
		if (mangle && is_mark(json_object_get(mangle, "key"), "meta") &&
		    !is_way_out(objects, rule))
			take_set(rules, rule, json_object_get(mangle, "value"));
		if (dnat)
			take_ports(rules, rule, find_dports(expressions),
				   json_string_value(json_object_get(dnat, "addr")) ?: "",
				   json_integer_value(json_object_get(dnat, "port")));
		if (redirect)
			take_ports(rules, rule, find_dports(expressions), "",
				   json_integer_value(json_object_get(redirect, "port")));
	}
}

static bool is_listed(const struct rules *rules, const json_t *rule)
{
	const char *family = json_string_value(json_object_get(rule, "family"));
	const char *table = json_string_value(json_object_get(rule, "table"));
	bool is_v6 = family && !strcmp(family, "ip6");
	unsigned int i;

	if (!family || !table || (!is_v6 && strcmp(family, "ip")))
		return false;
	for (i = 0; i < 5; i++) {
		if (!strcmp(rules->tables[is_v6][i], table))
			return true;
	}
	return false;
}

/**
 * nft_rules() - take what "nft -j list ruleset" has printed
 * @rules: where to, after iptables_rules()
 * @text: JSON; what is none is ignored
 */
void nft_rules(struct rules *rules, const char *text)
{
	json_t *json = json_loads(text, 0, NULL);
	const json_t *objects = json_object_get(json, "nftables");
	const json_t *object;
	size_t i;

	json_array_foreach(objects, i, object) {
		const json_t *rule = json_object_get(object, "rule");

		if (rule && !is_listed(rules, rule))
			take_rule(rules, objects, rule);
	}
	json_decref(json);
}
