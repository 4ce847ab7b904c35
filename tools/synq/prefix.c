// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses, networks and ranges of addresses, from text and to text.
 *
 * An IPv4 client of an IPv6 socket is an IPv4 client to synq, so an IPv4-mapped IPv6
 * address is read as the IPv4 address that it stands for.  Pure, apart from the line
 * that refuse() prints.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "value.h"

/* Bits of an IPv6 address before the IPv4 address in it. */
#define MAPPED_BITS	96

static void unmap(struct prefix *prefix)
{
	static const __u8 mapped[12] = { [10] = 0xff, 0xff };

	if (prefix->family != AF_INET6 || prefix->length < MAPPED_BITS ||
	    memcmp(prefix->address, mapped, sizeof(mapped)))
		return;
	prefix->family = AF_INET;
	prefix->length -= MAPPED_BITS;
	memcpy(prefix->address, prefix->address + sizeof(mapped), 4);
	memset(prefix->address + 4, 0, sizeof(mapped));
}

/* Address in @text[0..@length), in full length, as it was written. */
static bool address(const char *text, size_t length, struct prefix *prefix)
{
	char word[INET6_ADDRSTRLEN];

	if (length >= sizeof(word))
		return false;
	memcpy(word, text, length);
	word[length] = '\0';

	memset(prefix, 0, sizeof(*prefix));
	prefix->family = strchr(word, ':') ? AF_INET6 : AF_INET;
	prefix->length = prefix_bits(prefix);
	return inet_pton(prefix->family, word, prefix->address) == 1;
}

/* Clears the bits behind the prefix length; false if any was set. */
static bool clear_host_bits(struct prefix *prefix)
{
	unsigned int bit = prefix->length;
	unsigned int i = bit / 8;
	bool clear = true;

	for (; i < prefix_bytes(prefix); i++, bit = 0) {
		__u8 host = 0xff >> (bit % 8);

		if (prefix->address[i] & host)
			clear = false;
		prefix->address[i] &= ~host;
	}
	return clear;
}

/**
 * prefix_is_address() - is this the address of a host?
 * @text: the word
 *
 * Return: true if so.
 */
bool prefix_is_address(const char *text)
{
	struct prefix prefix;

	return address(text, strlen(text), &prefix);
}

/**
 * value_address() - the address of a host
 * @origin: where it was written
 * @text: the word
 * @prefix: the address, with full length
 *
 * Return: DONE or REFUSED.
 */
int value_address(const struct origin *origin, const char *text,
		  struct prefix *prefix)
{
	if (!address(text, strlen(text), prefix))
		return refuse(origin, text, "not an IPv4 or IPv6 address");
	unmap(prefix);
	return DONE;
}

/* ADDRESS or ADDRESS/LENGTH, with its host bits cleared. */
static int read_network(const struct origin *origin, const char *text,
			const char *what, struct prefix *prefix, bool *masked)
{
	size_t length = strcspn(text, "/");
	const char *bits = text + length + 1;
	__u32 number;

	if (!address(text, length, prefix))
		return refuse(origin, text,
			      "not a %s (ADDRESS or ADDRESS/LENGTH, IPv4 or IPv6)",
			      what);
	if (text[length]) {
		if (!value_number(bits, strlen(bits), &number) ||
		    number > prefix_bits(prefix))
			return refuse(origin, text,
				      "the prefix length of IPv%c is 0..%u",
				      prefix->family == AF_INET ? '4' : '6',
				      prefix_bits(prefix));
		prefix->length = number;
	}
	unmap(prefix);
	*masked = !clear_host_bits(prefix);
	return DONE;
}

/**
 * value_prefix() - a network, or a single address
 * @origin: where it was written
 * @text: the word: ADDRESS or ADDRESS/LENGTH
 * @what: what the prefix is for, for the message
 * @prefix: the network
 *
 * Return: DONE or REFUSED.
 */
int value_prefix(const struct origin *origin, const char *text,
		 const char *what, struct prefix *prefix)
{
	char right[PREFIX_TEXT];
	bool masked;

	if (read_network(origin, text, what, prefix, &masked))
		return REFUSED;
	if (masked)
		return refuse(origin, text, "host bits set; did you mean %s?",
			      prefix_text(prefix, right));
	return DONE;
}

static int read_range(const struct origin *origin, const char *text,
		      size_t dash, struct range *range)
{
	const char *rest = text + dash + 1;

	if (!address(text, dash, &range->first) ||
	    !address(rest, strlen(rest), &range->last))
		return refuse(origin, text,
			      "not a range (ADDRESS-ADDRESS, IPv4 or IPv6)");
	unmap(&range->first);
	unmap(&range->last);
	if (range->first.family != range->last.family)
		return refuse(origin, text,
			      "the ends of the range are of different families");
	if (memcmp(range->first.address, range->last.address,
		   sizeof(range->first.address)) > 0)
		return refuse(origin, text, "the lower address comes first");
	return DONE;
}

/**
 * value_sources() - addresses of clients: a network, a single address or a range
 * @origin: where they were written
 * @text: the word: ADDRESS, ADDRESS/LENGTH or ADDRESS-ADDRESS
 * @range: the addresses
 * @masked: set to true if host bits were cleared; NULL: refuse them
 *
 * Return: DONE or REFUSED.
 */
int value_sources(const struct origin *origin, const char *text,
		  struct range *range, bool *masked)
{
	size_t dash = strcspn(text, "-");
	bool cleared;

	memset(range, 0, sizeof(*range));
	if (text[dash])
		return read_range(origin, text, dash, range);
	if (!masked)
		return value_prefix(origin, text, "source", &range->first);
	if (read_network(origin, text, "source", &range->first, &cleared))
		return REFUSED;
	*masked |= cleared;
	return DONE;
}

static unsigned __int128 number_of(const struct prefix *prefix)
{
	unsigned __int128 number = 0;
	unsigned int i;

	for (i = 0; i < prefix_bytes(prefix); i++)
		number = number << 8 | prefix->address[i];
	return number;
}

static void set_number(struct prefix *prefix, unsigned __int128 number)
{
	unsigned int i = prefix_bytes(prefix);

	while (i--) {
		prefix->address[i] = number;
		number >>= 8;
	}
}

/**
 * range_next() - cut the largest network off the beginning of a range
 * @range: the rest of the range, all of it at first
 * @prefix: the network
 *
 * Return: false if nothing is left.
 */
bool range_next(struct range *range, struct prefix *prefix)
{
	unsigned __int128 first, last;
	unsigned __int128 size = 0;	/* of the network, less one */

	if (!range->first.family)
		return false;
	*prefix = range->first;
	range->first.family = 0;
	if (!range->last.family)
		return true;

	first = number_of(prefix);
	last = number_of(&range->last);
	/* Twice as large, while it is aligned and ends within the range. */
	while (prefix->length && !(first & (size + 1)) &&
	       (size << 1 | 1) <= last - first) {
		size = size << 1 | 1;
		prefix->length--;
	}
	if (size == last - first)
		return true;
	range->first = *prefix;
	set_number(&range->first, first + size + 1);
	range->first.length = prefix_bits(prefix);
	return true;
}

/**
 * range_sized() - make a range of an address and a number of addresses
 * @range: with its first address
 * @size: how many there are, from 1
 *
 * Return: false if there are not so many.
 */
bool range_sized(struct range *range, __u32 size)
{
	unsigned __int128 last = number_of(&range->first) + size - 1;

	range->last = range->first;
	set_number(&range->last, last);
	return number_of(&range->last) == last;
}

/**
 * address_text() - print the address of a prefix
 * @prefix: the prefix
 * @text: room for PREFIX_TEXT bytes
 *
 * Return: @text.
 */
const char *address_text(const struct prefix *prefix, char *text)
{
	if (!inet_ntop(prefix->family, prefix->address, text, PREFIX_TEXT))
		*text = '\0';
	return text;
}

/**
 * prefix_text() - print a prefix, always with its length
 * @prefix: the prefix
 * @text: room for PREFIX_TEXT bytes
 *
 * Return: @text.
 */
const char *prefix_text(const struct prefix *prefix, char *text)
{
	size_t used;

	address_text(prefix, text);
	used = strlen(text);
	snprintf(text + used, PREFIX_TEXT - used, "/%u", prefix->length);
	return text;
}
