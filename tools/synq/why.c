// SPDX-License-Identifier: GPL-2.0
/*
 * Why does a client not get in?  Prints its class, and why its last SYNs were
 * refused, each with the option that decided and its present value.
 *
 * The kernel remembers a sample only: a client without remembered refusals may
 * have been refused all the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify.h"
#include "command.h"

#define TRIES		10
#define AGE_TEXT	16
#define REASON_TEXT	128

/**
 * struct refusal - a SYN that was refused
 * @age: milliseconds since
 * @port: local port
 * @class: of the client, at the time
 * @reason: enum synq_refused
 * @retry: the same SYN had been refused before
 * @observe: it would have been refused, and was let through
 * @source_exceeded: 1: it exceeded the rate of its source, 2: of the source's network
 */
struct refusal {
	__u32 age;
	__u16 port;
	char class[SYNQ_NAME_MAX + 1];
	__u8 reason;
	bool retry;
	bool observe;
	__u8 source_exceeded;
};

/**
 * struct refusals - all that the kernel remembers of a client
 * @refusal: newest first
 * @number: how many there are
 * @room: for how many there is memory
 */
struct refusals {
	struct refusal *refusal;
	unsigned int number;
	unsigned int room;
};

static const char * const reasons[] = {
	[SYNQ_REFUSED_EXCESS_DROPPED] = "excess_dropped",
	[SYNQ_REFUSED_QUEUE_REFUSED] = "queue_refused",
	[SYNQ_REFUSED_WAIT_REFUSED] = "wait_refused",
	[SYNQ_REFUSED_EXCESS_RESET] = "excess_reset",
	[SYNQ_REFUSED_EXCESS_COOKIE] = "excess_cookie",
	[SYNQ_REFUSED_EXCESS_UNANSWERED] = "excess_unanswered",
	[SYNQ_REFUSED_COOKIE_SENT] = "cookie_sent",
	[SYNQ_REFUSED_SHARE_REFUSED] = "share_refused",
	[SYNQ_REFUSED_HELD] = "held",
	[SYNQ_REFUSED_HOLD_FULL] = "hold_full",
};

static void take(struct nlattr **attr, void *arg)
{
	struct refusals *refusals = arg;
	struct refusal *refusal;

	if (refusals->number == refusals->room) {
		refusals->room = refusals->room ? 2 * refusals->room : 32;
		refusals->refusal = allocate(refusals->refusal, refusals->room,
					     sizeof(*refusals->refusal));
	}
	refusal = &refusals->refusal[refusals->number++];
	memset(refusal, 0, sizeof(*refusal));
	refusal->age = attr_u32(attr, SYNQ_A_REFUSAL_AGE);
	refusal->port = attr_u16(attr, SYNQ_A_REFUSAL_PORT);
	snprintf(refusal->class, sizeof(refusal->class), "%s",
		 attr_text(attr, SYNQ_A_REFUSAL_CLASS));
	refusal->reason = attr_u8(attr, SYNQ_A_REFUSAL_REASON);
	refusal->retry = attr_u8(attr, SYNQ_A_REFUSAL_RETRY);
	refusal->observe = attr[SYNQ_A_REFUSAL_ENFORCE] &&
			   !attr_u8(attr, SYNQ_A_REFUSAL_ENFORCE);
	refusal->source_exceeded = attr_u8(attr,
					   SYNQ_A_REFUSAL_SOURCE_EXCEEDED);
}

static int fetch(struct nl *nl, const struct prefix *source,
		 struct refusals *refusals)
{
	char room[MNL_NLMSG_HDRLEN + GENL_HDRLEN + 64];
	struct nlmsghdr *nlh;
	unsigned int tries;
	bool interrupted;
	int error;

	for (tries = 0; tries < TRIES; tries++) {
		interrupted = false;
		refusals->number = 0;
		nlh = nl_request(nl, room, SYNQ_CMD_REFUSAL_GET, NLM_F_DUMP);
		mnl_attr_put(nlh, SYNQ_A_REFUSAL_SOURCE, prefix_bytes(source),
			     source->address);
		error = nl_list(nl, nlh, SYNQ_A_REFUSAL_MAX, take, refusals,
				&interrupted);
		if (error || !interrupted)
			return error;
	}
	return fail(REFUSED,
		    "the configuration changes too fast to be read; try again");
}

/* Per cent of the backlog that classes before this one reserve. */
static unsigned int reserved_before(const struct conf *conf,
				    const struct class *class)
{
	unsigned int sum = 0;
	unsigned int i;

	for (i = 0; i < SLOTS; i++) {
		if (conf->class[i].order &&
		    conf->class[i].order < class->order)
			sum += conf->class[i].reserve;
	}
	return sum;
}

static const char *queue_text(const struct conf *conf,
			      const struct class *class, char *text)
{
	unsigned int before = class ? reserved_before(conf, class) : 0;
	unsigned int cap = class ? class->spec.cap : 0;
	int length;

	length = snprintf(text, REASON_TEXT,
			  "queue-refused: no slot for its class");
	if (before)
		length += snprintf(text + length, REASON_TEXT - length,
				   "; reserve of others %u%%", before);
	if (cap)
		snprintf(text + length, REASON_TEXT - length, "%s cap %u%%",
			 before ? "," : ";", cap);
	return text;
}

static const char *excess_text(const char *verdict, const struct class *class,
			       __u8 source, char *text)
{
	static const char * const options[] = { "rate", "source-rate", "net-rate" };
	const struct class_spec *spec = class ? &class->spec : NULL;
	const char *option = options[source < 3 ? source : 1];
	__u32 rate = 0, per = 1;
	char number[RATE_TEXT];

	if (spec && spec->excess == SYNQ_EXCESS_REFUSE) {
		snprintf(text, REASON_TEXT, "%s: its class never gets in (excess refuse)",
			 verdict);
		return text;
	}
	if (spec) {
		const __u32 rates[][2] = {
			{ spec->rate, spec->rate_per },
			{ spec->source_rate, spec->source_rate_per },
			{ spec->net_rate, spec->net_rate_per },
		};

		rate = rates[source < 3 ? source : 1][0];
		per = rates[source < 3 ? source : 1][1];
	}
	if (rate)
		snprintf(text, REASON_TEXT, "%s: over %s %s", verdict, option,
			 rate_text(rate, per, number));
	else
		snprintf(text, REASON_TEXT, "%s: over the %s of that time", verdict,
			 option);
	return text;
}

/* Because of a cookie policy: that of the class, or else of the listener. */
static const char *cookie_text(struct conf *conf, const struct refusal *refusal,
			       const struct class *class, char *text)
{
	const struct listener *listener = conf_listener(conf, refusal->port);
	bool own = class && class->spec.cookies;
	unsigned int cookies = own ? class->spec.cookies :
			       listener ? listener->spec.cookies : 0;

	if (cookies == SYNQ_COOKIES_ALWAYS)
		snprintf(text, REASON_TEXT, "cookie-sent: its %s has cookies always",
			 own ? "class" : "listener");
	else
		snprintf(text, REASON_TEXT,
			 "cookie-sent: its class has had its share of the SYN queue");
	return text;
}

static const char *reason_text(struct conf *conf,
			       const struct refusal *refusal, char *text)
{
	const struct class *class = conf_class(conf, refusal->class);
	__u8 source = refusal->source_exceeded;
	char time[TIME_TEXT];

	switch (refusal->reason) {
	case SYNQ_REFUSED_EXCESS_DROPPED:
		return excess_text("excess-dropped", class, source, text);
	case SYNQ_REFUSED_EXCESS_RESET:
		return excess_text("excess-reset", class, source, text);
	case SYNQ_REFUSED_EXCESS_COOKIE:
		return excess_text("excess-cookie", class, source, text);
	case SYNQ_REFUSED_EXCESS_UNANSWERED:
		return excess_text("excess-unanswered", class, source, text);
	case SYNQ_REFUSED_COOKIE_SENT:
		return cookie_text(conf, refusal, class, text);
	case SYNQ_REFUSED_SHARE_REFUSED:
		return "share-refused: its class has had its share of the SYN queue";
	case SYNQ_REFUSED_QUEUE_REFUSED:
		return queue_text(conf, class, text);
	case SYNQ_REFUSED_HELD:
		return "held: connected, and waits for a slot of its class";
	case SYNQ_REFUSED_HOLD_FULL:
		return "hold-full: too many wait for a slot, or it did for 6 s";
	case SYNQ_REFUSED_WAIT_REFUSED:
		if (!class || class->max_wait == SYNQ_MAX_WAIT_NONE)
			return "wait-refused: would wait longer than the max-wait of that time";
		snprintf(text, REASON_TEXT,
			 "wait-refused: would wait longer than max-wait %s",
			 time_text(class->max_wait, time));
		break;
	default:
		snprintf(text, REASON_TEXT, "reason %u", refusal->reason);
	}
	return text;
}

static const char *age_text(__u32 ms, char *text)
{
	if (ms < 1000)
		snprintf(text, AGE_TEXT, "%ums", ms);
	else if (ms < 100000)
		snprintf(text, AGE_TEXT, "%u.%us", ms / 1000, ms / 100 % 10);
	else
		snprintf(text, AGE_TEXT, "%us", ms / 1000);
	return text;
}

/* No struct columns here: its cells are too small for a sentence. */
static void print_table(struct conf *conf, const struct refusals *refusals)
{
	char reason[REASON_TEXT];
	int width = strlen("CLASS");
	char age[AGE_TEXT];
	unsigned int i;

	for (i = 0; i < refusals->number; i++) {
		int length = strlen(refusals->refusal[i].class);

		if (length > width)
			width = length;
	}
	printf("%8s  %5s  %-*s  %-5s  %s\n", "AGO", "PORT", width, "CLASS",
	       "TRY", "VERDICT");
	for (i = 0; i < refusals->number; i++) {
		const struct refusal *refusal = &refusals->refusal[i];
		char port[8] = "fwd";

		if (refusal->port)
			snprintf(port, sizeof(port), "%u", refusal->port);
		printf("%8s  %5s  %-*s  %-5s  %s%s\n",
		       age_text(refusal->age, age), port, width,
		       refusal->class, refusal->retry ? "again" : "first",
		       refusal->observe ? "would be " : "",
		       reason_text(conf, refusal, reason));
	}
}

static int print(struct nl *nl, const struct question *question,
		 const struct refusals *refusals)
{
	struct conf conf;
	int error;

	error = question_print(nl, question);
	if (error)
		return error;
	if (!refusals->number) {
		puts("no refusal is remembered");
		return DONE;
	}
	error = load_conf(nl, &conf, true);
	if (!error)
		print_table(&conf, refusals);
	conf_clear(&conf);
	return error;
}

static json_t *refusal_json(const struct refusal *refusal)
{
	json_t *json = json_object();

	json_object_set_new(json, "age", json_integer(refusal->age));
	json_object_set_new(json, "port", json_integer(refusal->port));
	json_object_set_new(json, "class", json_string(refusal->class));
	if (refusal->reason < sizeof(reasons) / sizeof(*reasons))
		json_object_set_new(json, "reason",
				    json_string(reasons[refusal->reason]));
	json_object_set_new(json, "retry", json_boolean(refusal->retry));
	json_object_set_new(json, "enforce", json_boolean(!refusal->observe));
	json_object_set_new(json, "source_exceeded",
			    json_boolean(refusal->source_exceeded));
	json_object_set_new(json, "net_exceeded",
			    json_boolean(refusal->source_exceeded > 1));
	return json;
}

static void print_json(const struct question *question,
		       const struct refusals *refusals)
{
	json_t *json = question_json(question);
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; i < refusals->number; i++)
		json_array_append_new(array,
				      refusal_json(&refusals->refusal[i]));
	json_object_set_new(json, "refusals", array);
	json_print(json);
}

/**
 * command_why() - print the class of a client and why it was refused
 * @words: ADDRESS [to ADDRESS] [port N]
 * @flags: FLAG_JSON
 *
 * Return: exit status.
 */
int command_why(struct words *words, unsigned int flags)
{
	struct question question = { 0 };
	struct refusals refusals = { 0 };
	struct nl nl = { 0 };
	int error;

	error = question_parse(words, "why", false, &question);
	if (!error)
		error = nl_open(&nl);
	if (!error)
		error = question_ask(&nl, &question);
	if (!error)
		error = fetch(&nl, &question.source, &refusals);
	if (!error && (flags & FLAG_JSON))
		print_json(&question, &refusals);
	else if (!error)
		error = print(&nl, &question, &refusals);
	nl_close(&nl);
	free(refusals.refusal);
	return error;
}
