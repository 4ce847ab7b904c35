// SPDX-License-Identifier: GPL-2.0
/*
 * The values of the configuration language, from text and to text.
 *
 * A spelling is refused where it may be a mistake: a rate, a share or a time
 * without its unit, a number with a leading zero (octal elsewhere).  The message says
 * what would be accepted.  Addresses are in prefix.c.  Pure, apart from the line that
 * refuse() prints.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

/**
 * value_number() - read decimal digits: no sign, no leading zero
 * @text: the digits
 * @length: how many
 * @value: the number
 *
 * Return: true if they are a number of 32 bits.
 */
bool value_number(const char *text, size_t length, __u32 *value)
{
	__u64 n = 0;
	size_t i;

	if (!length || length > 10 || (length > 1 && *text == '0'))
		return false;
	for (i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		n = 10 * n + (text[i] - '0');
	}
	*value = n;
	return n <= 0xffffffff;
}

/**
 * value_range() - a decimal number within limits
 * @origin: where it was written
 * @text: the word
 * @what: name of the option, for the message
 * @min: smallest value
 * @max: largest value
 * @value: the number
 *
 * Return: DONE or REFUSED.
 */
int value_range(const struct origin *origin, const char *text,
		const char *what, __u32 min, __u32 max, __u32 *value)
{
	if (!value_number(text, strlen(text), value) || *value < min || *value > max)
		return refuse(origin, text, "%s is a number, %u..%u", what,
			      min, max);
	return DONE;
}

/**
 * value_bits() - a mark or a mask: decimal, or hexadecimal after 0x
 * @origin: where it was written
 * @text: the word
 * @what: name of the option, for the message
 * @value: the number
 *
 * Return: DONE or REFUSED.
 */
int value_bits(const struct origin *origin, const char *text,
	       const char *what, __u32 *value)
{
	size_t digits;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		digits = strspn(text + 2, "0123456789abcdefABCDEF");
		if (digits && digits <= 8 && !text[2 + digits]) {
			*value = strtoul(text + 2, NULL, 16);
			return DONE;
		}
	} else if (value_number(text, strlen(text), value)) {
		return DONE;
	}
	return refuse(origin, text,
		      "%s is a number of 32 bits, decimal or 0x hexadecimal",
		      what);
}

/**
 * value_percent() - a share of something
 * @origin: where it was written
 * @text: the word
 * @what: name of the option and what it is a share of, for the message
 * @min: smallest share
 * @max: largest share
 * @value: per cent
 *
 * Return: DONE or REFUSED.
 */
int value_percent(const struct origin *origin, const char *text,
		  const char *what, __u32 min, __u32 max, __u32 *value)
{
	size_t length = strlen(text);
	bool unit = length && text[length - 1] == '%';

	if (value_number(text, length - unit, value) && *value >= min &&
	    *value <= max) {
		if (unit)
			return DONE;
		return refuse(origin, text, "the unit is missing: %u%%",
			      *value);
	}
	return refuse(origin, text, "%s, %u%%..%u%%", what, min, max);
}

/**
 * value_time() - a time, in milliseconds or seconds
 * @origin: where it was written
 * @text: the word: Nms or Ns
 * @what: name of the option, for the message
 * @max: longest time, in milliseconds; the shortest is 1
 * @ms: the time, in milliseconds
 *
 * Return: DONE or REFUSED.
 */
int value_time(const struct origin *origin, const char *text,
	       const char *what, __u32 max, __u32 *ms)
{
	size_t digits = strspn(text, "0123456789");
	const char *unit = text + digits;
	bool seconds = !strcmp(unit, "s");
	__u32 scale = seconds ? 1000 : 1;
	bool good;

	good = value_number(text, digits, ms) && *ms && *ms <= max / scale;
	if (good && !*unit)
		return refuse(origin, text, "the unit is missing: %ums", *ms);
	if (good && (seconds || !strcmp(unit, "ms"))) {
		*ms *= scale;
		return DONE;
	}
	return refuse(origin, text, "%s is a time, 1ms..%us%s", what, max / 1000,
		      *what == '-' ? "" : ", or none");
}

/**
 * value_seconds() - a time, in seconds
 * @origin: where it was written
 * @text: the word: Ns
 * @what: name of the option, for the message
 * @max: longest time; the shortest is 1
 * @seconds: the time
 *
 * Return: DONE or REFUSED.
 */
int value_seconds(const struct origin *origin, const char *text,
		  const char *what, __u32 max, __u32 *seconds)
{
	size_t digits = strspn(text, "0123456789");

	if (value_number(text, digits, seconds) && *seconds && *seconds <= max) {
		if (!strcmp(text + digits, "s"))
			return DONE;
		if (!text[digits])
			return refuse(origin, text, "the unit is missing: %us",
				      *seconds);
	}
	return refuse(origin, text, "%s is a time, 1s..%us", what, max);
}

/**
 * value_duration() - a time that may be long
 * @origin: where it was written
 * @text: the word: Ns, Nm, Nh or Nd
 * @what: name of the option, for the message
 * @max: longest time, in seconds; the shortest is 1
 * @seconds: the time
 *
 * Return: DONE or REFUSED.
 */
int value_duration(const struct origin *origin, const char *text,
		   const char *what, __u32 max, __u32 *seconds)
{
	static const struct {
		char unit[2];
		__u32 seconds;
	} scale[] = {
		{ "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 },
	};
	size_t digits = strspn(text, "0123456789");
	unsigned int i;

	if (!value_number(text, digits, seconds) || !*seconds)
		goto refused;
	if (!text[digits] && *seconds <= max)
		return refuse(origin, text, "the unit is missing: %us",
			      *seconds);
	for (i = 0; i < sizeof(scale) / sizeof(*scale); i++) {
		if (strcmp(text + digits, scale[i].unit))
			continue;
		if (*seconds > max / scale[i].seconds)
			goto refused;
		*seconds *= scale[i].seconds;
		return DONE;
	}
refused:
	return refuse(origin, text, "%s is a time, 1s..%us, in s, m, h or d",
		      what, max);
}

/* The units of rates, each with the word that is printed first. */
static const struct {
	const char *name[3];
	__u32 seconds;
} units[] = {
	{ { "second", "sec", "s" }, 1 },
	{ { "minute", "min", "m" }, 60 },
	{ { "hour", "h", "h" }, 3600 },
	{ { "day", "d", "d" }, SYNQ_RATE_PER_MAX },
};

#define UNITS		(sizeof(units) / sizeof(*units))

/* Digits behind the point that a rate may have. */
#define DECIMALS_MAX	6

/* N or N.N, as a number of 10^-@decimals. */
static bool decimal(const char *text, size_t length, __u64 *value,
		    unsigned int *decimals)
{
	size_t point = strcspn(text, ".");
	__u32 whole, part = 0;
	unsigned int i;
	__u64 scale = 1;

	*decimals = point < length ? length - point - 1 : 0;
	if (point > length)
		point = length;
	if (!value_number(text, point, &whole) || *decimals > DECIMALS_MAX ||
	    (point < length && !*decimals))
		return false;
	for (i = 0; i < *decimals; i++) {
		char c = text[point + 1 + i];

		if (c < '0' || c > '9')
			return false;
		part = 10 * part + (c - '0');
		scale *= 10;
	}
	*value = whole * scale + part;
	return true;
}

static unsigned int find_unit(const char *text)
{
	unsigned int i, j;

	for (i = 0; i < UNITS; i++) {
		for (j = 0; j < 3; j++) {
			if (!strcmp(text, units[i].name[j]))
				return i;
		}
	}
	return UNITS;
}

/**
 * value_rate() - SYNs in a period
 * @origin: where it was written
 * @text: the word: a number and a unit, 30/hour or 0.5/second
 * @what: name of the option, for the message
 * @max: highest number
 * @value: SYNs in the period
 * @per: the period, in seconds: the unit, or the first longer one of which the rate is
 *	a whole number
 *
 * Return: DONE or REFUSED.
 */
int value_rate(const struct origin *origin, const char *text,
	       const char *what, __u32 max, __u32 *value, __u32 *per)
{
	size_t length = strcspn(text, "/");
	unsigned int unit, decimals, i;
	__u64 number, scale = 1;

	if (!decimal(text, length, &number, &decimals) || !number)
		goto refused;
	if (!text[length])
		return refuse(origin, text, "the unit is missing: %s/second",
			      text);
	unit = find_unit(text + length + 1);
	if (unit == UNITS)
		goto refused;
	while (decimals--)
		scale *= 10;
	for (i = unit; i < UNITS; i++) {
		__u64 n = number * (units[i].seconds / units[unit].seconds);

		if (n % scale)
			continue;
		if (n / scale > max)
			goto refused;
		*value = n / scale;
		*per = units[i].seconds;
		return DONE;
	}
	return refuse(origin, text,
		      "not a whole number per second, minute, hour or day");
refused:
	return refuse(origin, text,
		      "%s is N/second, N/minute, N/hour or N/day, N 1..%u, or a fraction",
		      what, max);
}

/**
 * rate_text() - print a rate, always with its unit
 * @rate: SYNs in the period
 * @per: seconds
 * @text: room for RATE_TEXT bytes
 *
 * Return: @text.
 */
const char *rate_text(__u32 rate, __u32 per, char *text)
{
	unsigned int i;

	/* A newer kernel module may have other periods. */
	snprintf(text, RATE_TEXT, "%u/%useconds", rate, per);
	for (i = 0; i < UNITS; i++) {
		if (units[i].seconds == per)
			snprintf(text, RATE_TEXT, "%u/%s", rate,
				 units[i].name[0]);
	}
	return text;
}

/**
 * value_lengths() - a prefix length of IPv4 and one of IPv6
 * @origin: where it was written
 * @text: the word: V4,V6
 * @what: name of the option, for the message
 * @length: bits of IPv4 and of IPv6
 *
 * Return: DONE or REFUSED.
 */
int value_lengths(const struct origin *origin, const char *text,
		  const char *what, __u32 length[2])
{
	size_t comma = strcspn(text, ",");
	const char *rest = text + comma + !!text[comma];

	if (value_number(text, comma, &length[0]) &&
	    value_number(rest, strlen(rest), &length[1]) && length[0] && length[1] &&
	    length[0] <= SYNQ_SOURCE_LEN_V4_MAX &&
	    length[1] <= SYNQ_SOURCE_LEN_V6_MAX)
		return DONE;
	return refuse(origin, text,
		      "%s is V4,V6: bits of an IPv4 address, 1..%u, and of an IPv6 address, 1..%u",
		      what, SYNQ_SOURCE_LEN_V4_MAX, SYNQ_SOURCE_LEN_V6_MAX);
}

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/**
 * value_name() - may this be the name of a class?
 * @origin: where it was written
 * @text: the word
 *
 * Return: DONE or REFUSED.
 */
int value_name(const struct origin *origin, const char *text)
{
	size_t i;

	if (strlen(text) > SYNQ_NAME_MAX)
		return refuse(origin, text,
			      "a class name has at most %u characters",
			      SYNQ_NAME_MAX);
	for (i = 0; text[i]; i++) {
		if (letter(text[i]))
			continue;
		if (!i || (!(text[i] >= '0' && text[i] <= '9') &&
			   text[i] != '_' && text[i] != '-'))
			break;
	}
	if (!i || text[i])
		return refuse(origin, text,
			      "a class name is a letter and then letters, digits, _ and -");
	return DONE;
}

/**
 * value_ports() - a port, or a range of ports
 * @origin: where it was written
 * @text: the word: N or N-M
 * @service: the ports
 *
 * Return: DONE or REFUSED.
 */
int value_ports(const struct origin *origin, const char *text,
		struct service *service)
{
	size_t digits = strcspn(text, "-");
	const char *rest = text + digits + !!text[digits];
	__u32 first, last;
	bool good;

	good = value_number(text, digits, &first) && first && first <= 65535;
	last = first;
	if (good && text[digits])
		good = value_number(rest, strlen(rest), &last) && last &&
		       last <= 65535;
	if (!good)
		return refuse(origin, text,
			      "port is a number, 1..65535, or two of them: N-M");
	if (first > last)
		return refuse(origin, text,
			      "the lower port comes first: %u-%u", last, first);
	service->first = first;
	service->last = last;
	return DONE;
}

/**
 * time_text() - print a time, always with its unit
 * @ms: milliseconds
 * @text: room for TIME_TEXT bytes
 *
 * Return: @text.
 */
const char *time_text(__u32 ms, char *text)
{
	bool seconds = ms && ms % 1000 == 0;

	snprintf(text, TIME_TEXT, seconds ? "%us" : "%ums",
		 seconds ? ms / 1000 : ms);
	return text;
}

/**
 * service_text() - print the destinations of a match
 * @service: the destinations
 * @text: room for SERVICE_TEXT bytes
 *
 * Return: @text, with a blank before each word; empty for all destinations.
 */
const char *service_text(const struct service *service, char *text)
{
	char to[PREFIX_TEXT];
	int used = 0;

	*text = '\0';
	if (service->to.family)
		used = snprintf(text, SERVICE_TEXT, " to %s",
				prefix_text(&service->to, to));
	if (service->first == service->last && service->first)
		snprintf(text + used, SERVICE_TEXT - used, " port %u",
			 service->first);
	else if (service->first)
		snprintf(text + used, SERVICE_TEXT - used, " port %u-%u",
			 service->first, service->last);
	return text;
}
