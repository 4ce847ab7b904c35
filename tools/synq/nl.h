/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests to the kernel module over generic netlink.
 */
#ifndef SYNQ_NL_H
#define SYNQ_NL_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <linux/synq.h>
#include <linux/types.h>

#include "value.h"

/* Room for one request or for what one recvmsg() brings. */
#define NL_ROOM		65536

/**
 * struct nl - a conversation with the kernel module
 * @sk: the socket
 * @family: number of the generic netlink family
 * @port: address of the socket
 * @seq: sequence number of the latest request
 * @heard: command of the notification that is being taken
 * @buffer: answers
 */
struct nl {
	struct mnl_socket *sk;
	__u16 family;
	unsigned int port;
	__u32 seq;
	__u8 heard;
	char *buffer;
};

/**
 * struct nl_error - an error that the kernel answered with
 * @code: positive errno; 0: none
 * @seq: sequence number of the request
 * @text: the kernel's own words, or empty; without an error a warning
 */
struct nl_error {
	int code;
	__u32 seq;
	char text[160];
};

/**
 * typedef nl_answer - takes one message of an answer
 * @attr: the attributes, indexed by type, absent ones NULL; @max of them
 * @arg: the caller's
 */
typedef void nl_answer(struct nlattr **attr, void *arg);

/* nl.c */
int nl_open(struct nl *nl);
int nl_try(struct nl *nl, struct nl_error *error);
void nl_close(struct nl *nl);
struct nlmsghdr *nl_request(struct nl *nl, void *room, __u8 command,
			    __u16 flags);
int nl_send(struct nl *nl, const void *message, size_t length);
void nl_collect(struct nl *nl, __u32 from, struct nl_error *error);
int nl_wait(struct nl *nl, __u32 from, __u32 seq, unsigned int max,
	    nl_answer *answer, void *arg, struct nl_error *error);
int nl_call(struct nl *nl, struct nlmsghdr *request, unsigned int max,
	    nl_answer *answer, void *arg, struct nl_error *error);
int nl_list(struct nl *nl, struct nlmsghdr *request, unsigned int max,
	    nl_answer *answer, void *arg, bool *interrupted);
int nl_dump(struct nl *nl, __u8 command, unsigned int max, nl_answer *answer,
	    void *arg, bool *interrupted);
int nl_join(struct nl *nl, const char *group);
int nl_hear(struct nl *nl, unsigned int max, nl_answer *answer, void *arg,
	    bool *missed);
int nl_refuse(const struct origin *origin, const char *value,
	      const struct nl_error *error);

/* Attributes that may be absent. */
static inline __u8 attr_u8(struct nlattr **attr, int type)
{
	return attr[type] ? mnl_attr_get_u8(attr[type]) : 0;
}

static inline __u16 attr_u16(struct nlattr **attr, int type)
{
	return attr[type] ? mnl_attr_get_u16(attr[type]) : 0;
}

static inline __u32 attr_u32(struct nlattr **attr, int type)
{
	return attr[type] ? mnl_attr_get_u32(attr[type]) : 0;
}

static inline __u64 attr_u64(struct nlattr **attr, int type)
{
	return attr[type] ? mnl_attr_get_u64(attr[type]) : 0;
}

/* A network or an address; returns false if it is absent, or of no family. */
static inline bool attr_prefix(struct nlattr **attr, int type, int length,
			       struct prefix *prefix)
{
	__u16 bytes = attr[type] ? mnl_attr_get_payload_len(attr[type]) : 0;

	memset(prefix, 0, sizeof(*prefix));
	if (bytes != 4 && bytes != 16)
		return false;
	prefix->family = bytes == 4 ? AF_INET : AF_INET6;
	prefix->length = attr_u8(attr, length);
	memcpy(prefix->address, mnl_attr_get_payload(attr[type]), bytes);
	return true;
}

static inline const char *attr_text(struct nlattr **attr, int type)
{
	return attr[type] ? mnl_attr_get_str(attr[type]) : "";
}

#endif /* SYNQ_NL_H */
