// SPDX-License-Identifier: GPL-2.0
/*
 * The rules for a configuration as a whole.
 *
 * Of two conflicting classes the later one is refused.  The message names its
 * line, and gives the earlier line as the reason.
 */
#include <stdio.h>
#include <string.h>

#include "conf.h"

static struct origin origin_of(const struct conf *conf, unsigned int line)
{
	return (struct origin){ conf->file, line };
}

/* " (line 3)" where there are lines */
static const char *at_line(const struct conf *conf, const struct class *class,
			   char *text, size_t room)
{
	*text = '\0';
	if (conf->file)
		snprintf(text, room, " (line %u)", class->line);
	return text;
}

static int check_pair(const struct conf *conf, const struct class *earlier,
		      const struct class *later)
{
	struct origin origin = origin_of(conf, later->line);
	const struct class_spec *one = &earlier->spec;
	const struct class_spec *two = &later->spec;
	char value[32];
	char line[32];

	at_line(conf, earlier, line, sizeof(line));
	if (one->priority == two->priority) {
		snprintf(value, sizeof(value), "priority %u", two->priority);
		return refuse(&origin, value,
			      "class %s%s has this priority already",
			      one->name, line);
	}
	if (one->is_default && two->is_default)
		return refuse(&origin, "default",
			      "class %s%s is the default already", one->name,
			      line);
	if (one->mark && one->mark == two->mark) {
		snprintf(value, sizeof(value), "mark 0x%x", two->mark);
		return refuse(&origin, value, "class %s%s has this mark already",
			      one->name, line);
	}
	return DONE;
}

/* No clock of the kernel's counts longer. */
static int check_fill(const struct origin *origin, const char *what, __u32 burst,
		      __u32 rate, __u32 per)
{
	const __u64 days = 24000, day = SYNQ_RATE_PER_MAX;
	char value[32];
	char text[RATE_TEXT];

	if (!rate || !per || burst <= days * day / per * rate)
		return DONE;
	snprintf(value, sizeof(value), "%s %u", what, burst);
	return refuse(origin, value, "at %s this takes more than %u days",
		      rate_text(rate, per, text), (unsigned int)days);
}

/* A network has its sources in it. */
static int check_lengths(const struct origin *origin, const struct class_spec *spec)
{
	static const __u32 sources[] = { SOURCE_LEN_V4, SOURCE_LEN_V6 };
	static const __u32 nets[] = { NET_LEN_V4, NET_LEN_V6 };
	const __u32 *source = spec->given & GIVEN_SOURCE_LEN ? spec->source_len : sources;
	const __u32 *net = spec->given & GIVEN_NET_LEN ? spec->net_len : nets;
	char value[32];

	if (net[0] <= source[0] && net[1] <= source[1])
		return DONE;
	snprintf(value, sizeof(value), "net-len %u,%u", net[0], net[1]);
	return refuse(origin, value, "it is longer than the source-len, %u,%u", source[0],
		      source[1]);
}

static int check_class(const struct conf *conf, const struct class *class)
{
	struct origin origin = origin_of(conf, class->line);
	const struct class_spec *spec = &class->spec;
	__u32 max;
	char value[32];

	if ((spec->given & GIVEN_BURST) && !spec->rate) {
		snprintf(value, sizeof(value), "burst %u", spec->burst);
		return refuse(&origin, value, "a burst without a rate");
	}
	if ((spec->given & GIVEN_SOURCE_BURST) && !spec->source_rate) {
		snprintf(value, sizeof(value), "source-burst %u",
			 spec->source_burst);
		return refuse(&origin, value,
			      "a source-burst without a source-rate");
	}
	if ((spec->given & GIVEN_SOURCE_LEN) && !spec->source_rate) {
		snprintf(value, sizeof(value), "source-len %u,%u",
			 spec->source_len[0], spec->source_len[1]);
		return refuse(&origin, value,
			      "a source-len without a source-rate");
	}
	if ((spec->given & GIVEN_NET_RATE) && spec->net_rate &&
	    !spec->source_rate) {
		char rate[RATE_TEXT];

		snprintf(value, sizeof(value), "net-rate %s",
			 rate_text(spec->net_rate, spec->net_rate_per, rate));
		return refuse(&origin, value, "a net-rate without a source-rate");
	}
	if ((spec->given & GIVEN_NET_BURST) && !spec->net_rate) {
		snprintf(value, sizeof(value), "net-burst %u", spec->net_burst);
		return refuse(&origin, value, "a net-burst without a net-rate");
	}
	if ((spec->given & GIVEN_NET_LEN) && !spec->net_rate) {
		snprintf(value, sizeof(value), "net-len %u,%u",
			 spec->net_len[0], spec->net_len[1]);
		return refuse(&origin, value, "a net-len without a net-rate");
	}
	if (spec->net_rate && check_lengths(&origin, spec))
		return REFUSED;
	if (check_fill(&origin, "burst", spec->burst, spec->rate, spec->rate_per) ||
	    check_fill(&origin, "source-burst", spec->source_burst,
		       spec->source_rate, spec->source_rate_per) ||
	    check_fill(&origin, "net-burst", spec->net_burst, spec->net_rate,
		       spec->net_rate_per))
		return REFUSED;
	if (!spec->mark)
		return DONE;

	snprintf(value, sizeof(value), "mark 0x%x", spec->mark);
	if (!conf->mask)
		return refuse(&origin, value,
			      "no bits are reserved for the mark of %s (mark mask M)",
			      spec->name);
	max = conf->mask / (conf->mask & -conf->mask);
	if (spec->mark > max)
		return refuse(&origin, value,
			      "the mark of %s does not fit mask 0x%08x, which holds 1..%u",
			      spec->name, conf->mask, max);
	return DONE;
}

/* The last class with @given in the file: the message names its line. */
static const struct class *last_given(const struct class **class,
				      unsigned int number, __u64 given)
{
	const struct class *last = NULL;
	unsigned int i;

	for (i = 0; i < number; i++) {
		if ((class[i]->spec.given & given) &&
		    (!last || class[i]->line >= last->line))
			last = class[i];
	}
	return last;
}

static int check_shares(const struct conf *conf)
{
	const struct class *class[SLOTS];
	unsigned int number = conf_sorted_classes(conf, class);
	const struct class *last = last_given(class, number, GIVEN_MIN_SHARE);
	struct origin origin;
	unsigned int sum = 0;
	char value[32];
	unsigned int i;

	for (i = 0; i < number; i++)
		sum += class[i]->spec.min_share;
	if (!last || sum <= SYNQ_MIN_SHARES_MAX)
		return DONE;
	origin = origin_of(conf, last->line);
	snprintf(value, sizeof(value), "min-share %u%%", last->spec.min_share);
	return refuse(&origin, value,
		      "the minimum shares add up to %u%%, the limit is %u%%",
		      sum, SYNQ_MIN_SHARES_MAX);
}

static int check_reserves(const struct conf *conf)
{
	const struct class *class[SLOTS];
	unsigned int number = conf_sorted_classes(conf, class);
	const struct class *last = last_given(class, number, GIVEN_RESERVE);
	struct origin origin;
	unsigned int sum = 0;
	char value[32];
	unsigned int i;

	for (i = 0; i < number; i++) {
		if (class[i]->spec.given & GIVEN_RESERVE)
			sum += class[i]->spec.reserve;
	}
	if (!last)
		return DONE;

	origin = origin_of(conf, last->line);
	snprintf(value, sizeof(value), "reserve %u%%", last->spec.reserve);
	if (sum > SYNQ_RESERVE_MAX)
		return refuse(&origin, value,
			      "the reserves add up to %u%%, the limit is %u%%",
			      sum, SYNQ_RESERVE_MAX);
	if (class[0]->spec.given & GIVEN_RESERVE)
		return DONE;
	sum += SYNQ_RESERVE_FIRST;
	if (sum > SYNQ_RESERVE_MAX)
		return refuse(&origin, value,
			      "with the default of %u%% for the first class, %s, the reserves add up to %u%%, the limit is %u%%",
			      SYNQ_RESERVE_FIRST, class[0]->spec.name, sum,
			      SYNQ_RESERVE_MAX);
	return DONE;
}

static int check_classes(const struct conf *conf)
{
	const struct class *class[SLOTS];
	unsigned int number = conf_sorted_classes(conf, class);
	unsigned int i, j;
	int error;

	for (i = 0; i < number; i++) {
		error = check_class(conf, class[i]);
		for (j = 0; j < i && !error; j++) {
			bool swap = class[j]->line > class[i]->line;

			error = check_pair(conf, class[swap ? i : j],
					   class[swap ? j : i]);
		}
		if (error)
			return error;
	}
	return DONE;
}

/**
 * conf_check() - is a configuration valid as a whole?
 * @conf: the configuration, all edits done
 *
 * Return: DONE or REFUSED.
 */
int conf_check(const struct conf *conf)
{
	if (check_classes(conf) || check_reserves(conf) || check_shares(conf))
		return REFUSED;
	return DONE;
}

/**
 * conf_check_sysctl() - can this network namespace do what is asked for?
 * @conf: the configuration
 *
 * A connection keeps the mark of its SYN, and so its class, only with
 * net.ipv4.tcp_fwmark_accept=1.
 *
 * Return: DONE or REFUSED.
 */
int conf_check_sysctl(const struct conf *conf)
{
	struct origin origin = origin_of(conf, conf->mask_line);
	char value[32];
	FILE *file;
	int c;

	if (!conf->mask)
		return DONE;
	file = fopen("/proc/sys/net/ipv4/tcp_fwmark_accept", "re");
	if (!file)
		return DONE;
	c = getc(file);
	fclose(file);
	if (c != '0')
		return DONE;

	snprintf(value, sizeof(value), "mask 0x%08x", conf->mask);
	return refuse(&origin, value,
		      "needs net.ipv4.tcp_fwmark_accept=1 (sysctl), which is 0 here");
}

/* Options that only count under an order which no listener has. */
static void note_orders(const struct conf *conf, const struct class **class,
			unsigned int number)
{
	unsigned int orders = 0;
	const char *weight = NULL;
	const char *share = NULL;
	unsigned int i;

	for (i = 0; i < conf->listeners; i++) {
		const struct listener_spec *spec = &conf->listener[i].spec;

		orders |= spec->app_order ? ~0U : 1U << spec->order;
	}
	for (i = 0; i < number; i++) {
		if ((class[i]->spec.given & GIVEN_WEIGHT) &&
		    class[i]->spec.weight != 1)
			weight = class[i]->spec.name;
		if (class[i]->spec.min_share)
			share = class[i]->spec.name;
	}
	if (weight && !(orders & 1U << SYNQ_ORDER_WEIGHTED))
		remark("the weight of %s has no effect: no listener has order weighted",
		       weight);
	if (share && !(orders & 1U << SYNQ_ORDER_STRICT))
		remark("the min-share of %s has no effect: no listener has order strict",
		       share);
}

static void note_requests(const struct conf *conf)
{
	unsigned int i;

	for (i = 0; i < conf->listeners; i++) {
		const struct listener_spec *spec = &conf->listener[i].spec;

		if (spec->requests && !spec->inside) {
			remark("requests of port %u has no effect: the listener has no inside",
			       spec->port);
			return;
		}
	}
}

static void note_rates(const struct class **class, unsigned int number)
{
	unsigned int i;

	for (i = 0; i < number; i++) {
		const struct class_spec *spec = &class[i]->spec;

		if (spec->rate && (__u64)spec->source_rate * spec->rate_per >
				  (__u64)spec->rate * spec->source_rate_per)
			remark("the source-rate of %s has no effect: its rate is lower",
			       spec->name);
		if (spec->net_rate && (__u64)spec->source_rate * spec->net_rate_per >
				      (__u64)spec->net_rate * spec->source_rate_per)
			remark("the source-rate of %s has no effect: its net-rate is lower",
			       spec->name);
	}
}

/**
 * conf_judges() - is there a listener for any port of a match?
 * @conf: the configuration
 * @service: the destinations of the match
 *
 * Return: true if there is, or a service that is forwarded.
 */
bool conf_judges(const struct conf *conf, const struct service *service)
{
	unsigned int i;

	if (!service->first)
		return true;
	for (i = 0; i < conf->listeners; i++) {
		__u32 port = conf->listener[i].spec.port;

		if (port >= service->first && port <= service->last)
			return true;
	}
	for (i = 0; i < SYNQ_FORWARDS_MAX; i++) {
		const struct service *other = &conf->forward[i].service;

		if (other->first <= service->last &&
		    other->last >= service->first)
			return true;
	}
	return false;
}

/**
 * conf_note_unjudged() - remark on a match for ports that have no listener
 * @service: the destinations of the match
 */
void conf_note_unjudged(const struct service *service)
{
	char text[SERVICE_TEXT];

	remark("matches%s have no effect: no listener has that port",
	       service_text(service, text));
}

/* Matches for ports that no listener has. */
static void note_ports(const struct conf *conf)
{
	unsigned int i;

	for (i = SERVICE_ALL + 1; i < SERVICES; i++) {
		const struct service *service = &conf->scope[i].service;

		if (conf->scope[i].matches && !conf_judges(conf, service))
			conf_note_unjudged(service);
	}
}

/* Which of two classes a prefix has is better not chosen in silence. */
static void note_preferred(const struct conf *conf)
{
	const struct edit *first = &conf->preferred_first;
	char text[EDIT_TEXT];

	if (conf->preferred)
		remark("%s:%u: preferred to another class for %u prefix%s, \"%s\" is the first",
		       first->origin.file, first->origin.line, conf->preferred,
		       conf->preferred == 1 ? "" : "es",
		       edit_value(first, text));
}

/**
 * conf_notes() - remark on a valid configuration that may not do what was intended
 * @conf: the configuration
 */
void conf_notes(const struct conf *conf)
{
	const struct class *class[SLOTS];
	unsigned int number = conf_sorted_classes(conf, class);
	const struct class_spec *last;
	unsigned int i;

	for (i = 0; i < conf->lists; i++)
		list_notes(&conf->list[i]);
	note_preferred(conf);
	if (!conf->listeners && !conf->forwards)
		remark("no listener is configured, so no SYN is judged");
	else
		note_ports(conf);
	note_requests(conf);
	if (!number)
		return;
	note_rates(class, number);
	last = &class[number - 1]->spec;
	if ((last->given & GIVEN_RESERVE) && last->reserve && last->is_default)
		remark("the reserve of %s has no effect: no class comes after it",
		       last->name);
	if (conf->listeners)
		note_orders(conf, class, number);
}
