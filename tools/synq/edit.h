/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One edit of the configuration: the meaning of one line of a file, or of one
 * command.
 */
#ifndef SYNQ_EDIT_H
#define SYNQ_EDIT_H

#include "value.h"

enum object {
	OBJECT_CLASS,
	OBJECT_MATCH,
	OBJECT_LISTENER,
	OBJECT_SERVICE,
	OBJECT_MARK,
	OBJECT_SET,
};

#define OBJECTS		(OBJECT_SET + 1)

enum verb {
	VERB_ADD,
	VERB_SET,
	VERB_DEL,
	VERB_NUMBER,
};

/* Options, as bits of "given"; those of all objects share one space. */
#define GIVEN_PRIORITY	0x00001
#define GIVEN_DEFAULT	0x00002
#define GIVEN_MARK	0x00004
#define GIVEN_RESERVE	0x00008
#define GIVEN_RATE	0x00010
#define GIVEN_BURST	0x00020
#define GIVEN_EXCESS	0x00040
#define GIVEN_SOURCE	0x00080
#define GIVEN_CLASS	0x00100
#define GIVEN_PORT	0x00200
#define GIVEN_ORDER	0x00400
#define GIVEN_MASK	0x00800
#define GIVEN_WEIGHT	0x01000
#define GIVEN_CAP	0x02000
#define GIVEN_MAX_WAIT	0x04000
#define GIVEN_MIN_SHARE	0x08000
#define GIVEN_ENFORCE	0x10000
#define GIVEN_APP_ORDER	0x20000
#define GIVEN_SOURCE_RATE	0x40000
#define GIVEN_SOURCE_BURST	0x80000
#define GIVEN_SOURCE_LEN	0x100000
#define GIVEN_SYNACK_RETRIES	0x200000
#define GIVEN_COOKIES		0x400000
#define GIVEN_APP_COOKIES	0x800000
#define GIVEN_TO		0x1000000
#define GIVEN_FORWARD		0x2000000
#define GIVEN_EXIST		0x4000000
#define GIVEN_INSIDE		0x8000000
#define GIVEN_PREFER		0x10000000
#define GIVEN_TIMEOUT		0x20000000
#define GIVEN_NET_RATE		0x40000000
#define GIVEN_NET_BURST		0x80000000
#define GIVEN_NET_LEN		0x100000000
#define GIVEN_REQUESTS		0x200000000

/* The key of a match or listener, as opposed to its values. */
#define GIVEN_KEY	(GIVEN_SOURCE | GIVEN_TO | GIVEN_PORT)

/**
 * struct class_spec - what can be said of a class
 * @name: its name
 * @given: GIVEN_* of the members that follow
 * @priority: 0 is first
 * @is_default: takes the unmatched
 * @mark: value inside the mark mask, not shifted; 0: none
 * @weight: share under "order weighted"; without GIVEN_WEIGHT it is 1
 * @reserve: per cent of the backlog
 * @cap: per cent of the backlog; 0: none
 * @max_wait: ms; SYNQ_MAX_WAIT_NONE: no limit
 * @min_share: per cent of the connections accepted; 0: none
 * @rate: SYNs in a period; 0: no limit
 * @rate_per: the period, seconds
 * @burst: SYNs
 * @source_rate: SYNs of each source in a period; 0: no limit
 * @source_rate_per: the period, seconds
 * @source_burst: SYNs
 * @source_len: bits of an address that identify a source, IPv4 and IPv6
 * @net_rate: SYNs of each network of a source in a period; 0: no limit
 * @net_rate_per: the period, seconds
 * @net_burst: SYNs
 * @net_len: bits of an address that identify a network, IPv4 and IPv6
 * @excess: enum synq_excess
 * @cookies: enum synq_cookies
 * @observe: only count what would be done ("enforce off")
 */
struct class_spec {
	char name[SYNQ_NAME_MAX + 1];
	__u64 given;
	__u32 priority;
	bool is_default;
	__u32 mark;
	__u32 weight;
	__u32 reserve;
	__u32 cap;
	__u32 max_wait;
	__u32 min_share;
	__u32 rate;
	__u32 rate_per;
	__u32 burst;
	__u32 source_rate;
	__u32 source_rate_per;
	__u32 source_burst;
	__u32 source_len[2];
	__u32 net_rate;
	__u32 net_rate_per;
	__u32 net_burst;
	__u32 net_len[2];
	__u32 excess;
	__u32 cookies;
	bool observe;
};

/**
 * struct listener_spec - what can be said of a listener
 * @port: local TCP port
 * @last: in an edit of several ports, the last of them
 * @given: GIVEN_* of the members that follow
 * @order: enum synq_order
 * @app_order: the application may choose another for its socket
 * @synack_retries: how often a SYN-ACK is retransmitted; 0: not set
 * @cookies: enum synq_cookies
 * @app_cookies: the application may choose another for its socket
 * @inside: how many connections its server may work on, or SYNQ_INSIDE_AUTO; 0: any
 * @requests: requests of kept connections have to wait, too
 * @observe: only count what would be done ("enforce off")
 */
struct listener_spec {
	__u32 port;
	__u32 last;
	__u64 given;
	__u32 order;
	bool app_order;
	__u32 synack_retries;
	__u32 cookies;
	bool app_cookies;
	__u32 inside;
	bool requests;
	bool observe;
};

/* Room for edit_value(). */
#define EDIT_TEXT	(PREFIX_TEXT + SERVICE_TEXT)

/**
 * struct edit - one edit
 * @origin: where it was written
 * @object: what is edited
 * @verb: how
 * @given: GIVEN_* of the options that were written
 * @again: a second source-rate was written: what follows is of the network
 * @class: OBJECT_CLASS: the class; OBJECT_MATCH: only the name is used
 * @range: OBJECT_MATCH: the sources, as they were written
 * @source: OBJECT_MATCH: one of them, filled in by edit_each()
 * @exist: OBJECT_MATCH: adding what is there, or deleting what is not, is no error
 * @prefer: OBJECT_MATCH: what lines without it say of the same prefix does not count
 * @timeout: OBJECT_MATCH: seconds after which it goes; 0: never
 * @service: OBJECT_MATCH: where @source has the class; OBJECT_SERVICE
 * @sources: OBJECT_MATCH: a file of prefixes instead of @range, or NULL
 * @from: line of the configuration that names the file of @origin; 0: @origin is
 *	in the configuration itself
 * @list: number of that file in the configuration, or 0
 * @listener: OBJECT_LISTENER
 * @mask: OBJECT_MARK; 0: none
 * @observe: OBJECT_SET: "enforce off"
 */
struct edit {
	struct origin origin;
	enum object object;
	enum verb verb;
	__u64 given;
	bool again;
	struct class_spec class;
	struct range range;
	struct prefix source;
	bool exist;
	bool prefer;
	__u32 timeout;
	struct service service;
	const char *sources;
	unsigned int from;
	unsigned int list;
	struct listener_spec listener;
	__u32 mask;
	bool observe;
};

/**
 * struct words - the words of a line or a command, being read
 * @origin: where they stand
 * @word: the words
 * @number: how many there are
 * @next: the next to be read
 * @confirm: the value of the option --confirm, or NULL
 * @watch: the value of the option --watch, or NULL
 * @follow: the value of the option --follow, or NULL
 */
struct words {
	struct origin origin;
	char **word;
	unsigned int number;
	unsigned int next;
	const char *confirm;
	const char *watch;
	const char *follow;
};

static inline const char *words_peek(const struct words *words)
{
	return words->next < words->number ? words->word[words->next] : NULL;
}

static inline const char *words_next(struct words *words)
{
	return words->next < words->number ? words->word[words->next++] : NULL;
}

/* edit.c */
bool edit_parse_object(const char *word, enum object *object);
int edit_parse(struct words *words, struct edit *edit);
int edit_refuse_end(const struct words *words, const char *command);
const char *edit_value(const struct edit *edit, char *text);

/* grammar.c */
const char *excess_name(unsigned int excess);
const char *cookies_name(unsigned int cookies);
const char *order_name(unsigned int order);

static inline const char *switch_name(bool on)
{
	return on ? "on" : "off";
}

static inline const char *enforce_name(bool observe)
{
	return switch_name(!observe);
}

#endif /* SYNQ_EDIT_H */
