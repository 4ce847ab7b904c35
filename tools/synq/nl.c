// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to the kernel module over generic netlink.
 *
 * The kernel handles a request within sendmsg(), so when nl_send() returns,
 * every error is in the receive buffer already.  So it is safe to send thousands
 * of requests without an ACK for each: nl_collect() looks for errors
 * after each batch, without waiting.
 */
#include <assert.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "nl.h"

/* Highest number of attributes of any command. */
#define ATTRS		64

static_assert(SYNQ_A_CLASS_MAX < ATTRS && SYNQ_A_CONF_MAX < ATTRS, "ATTRS");

/* Room for the errors of one batch, if every request in it is refused. */
#define RECEIVE_BUFFER	1048576

struct attributes {
	struct nlattr **attr;
	unsigned int max;
};

static int take_attribute(const struct nlattr *attr, void *arg)
{
	struct attributes *to = arg;
	unsigned int type = mnl_attr_get_type(attr);

	/* A newer kernel module may know more than we do. */
	if (type <= to->max)
		to->attr[type] = (struct nlattr *)attr;
	return MNL_CB_OK;
}

static int no_reply(void)
{
	return fail(UNREACHABLE, "no answer from the kernel: %s",
		    strerror(errno));
}

static void take_family(struct nlattr **attr, void *arg)
{
	*(__u16 *)arg = attr_u16(attr, CTRL_ATTR_FAMILY_ID);
}

static int find_family(struct nl *nl, struct nl_error *error)
{
	char room[MNL_NLMSG_HDRLEN + GENL_HDRLEN + 64];
	struct nlmsghdr *nlh;

	nl->family = GENL_ID_CTRL;
	nlh = nl_request(nl, room, CTRL_CMD_GETFAMILY, 0);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, SYNQ_FAMILY_NAME);
	return nl_call(nl, nlh, CTRL_ATTR_FAMILY_ID, take_family, &nl->family,
		       error);
}

/**
 * nl_try() - reach the kernel module, if it is there
 * @nl: the conversation, closed by nl_close()
 * @error: why it is not: ENOENT, if it is not loaded
 *
 * Return: DONE, though perhaps with an error, which has not been reported; or
 * UNREACHABLE, which has.
 */
int nl_try(struct nl *nl, struct nl_error *error)
{
	int size = RECEIVE_BUFFER;
	int on = 1;

	memset(nl, 0, sizeof(*nl));
	nl->sk = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!nl->sk || mnl_socket_bind(nl->sk, 0, MNL_SOCKET_AUTOPID) < 0)
		return fail(UNREACHABLE, "no generic netlink: %s",
			    strerror(errno));
	nl->port = mnl_socket_get_portid(nl->sk);
	nl->buffer = allocate(NULL, NL_ROOM, 1);

	/* If these fail, there is less text or less room, nothing worse. */
	mnl_socket_setsockopt(nl->sk, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(nl->sk, NETLINK_CAP_ACK, &on, sizeof(on));
	if (setsockopt(mnl_socket_get_fd(nl->sk), SOL_SOCKET, SO_RCVBUFFORCE,
		       &size, sizeof(size)))
		setsockopt(mnl_socket_get_fd(nl->sk), SOL_SOCKET, SO_RCVBUF,
			   &size, sizeof(size));
	return find_family(nl, error);
}

/**
 * nl_open() - reach the kernel module
 * @nl: the conversation
 *
 * Return: DONE or UNREACHABLE, which has been reported.
 */
int nl_open(struct nl *nl)
{
	struct nl_error error;

	if (nl_try(nl, &error))
		return UNREACHABLE;
	if (error.code == ENOENT)
		return fail(UNREACHABLE,
			    "the kernel module is not loaded (insmod synq.ko, or modprobe synq)");
	return error.code ? nl_refuse(NULL, NULL, &error) : DONE;
}

/**
 * nl_close() - end the conversation; a draft of its own is dropped
 * @nl: the conversation, opened, or failed to open
 */
void nl_close(struct nl *nl)
{
	if (nl->sk)
		mnl_socket_close(nl->sk);
	free(nl->buffer);
	memset(nl, 0, sizeof(*nl));
}

/**
 * nl_request() - begin a request
 * @nl: the conversation
 * @room: where to write it
 * @command: SYNQ_CMD_*
 * @flags: NLM_F_* besides NLM_F_REQUEST
 *
 * Return: the message, for attributes to be added.
 */
struct nlmsghdr *nl_request(struct nl *nl, void *room, __u8 command,
			    __u16 flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(room);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = nl->family;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = ++nl->seq;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = command;
	genl->version = SYNQ_FAMILY_VERSION;
	return nlh;
}

/**
 * nl_send() - send one request or several, one behind the other
 * @nl: the conversation
 * @message: the first
 * @length: bytes of all
 *
 * Return: DONE or UNREACHABLE, which has been reported.
 */
int nl_send(struct nl *nl, const void *message, size_t length)
{
	if (mnl_socket_sendto(nl->sk, message, length) < 0)
		return fail(UNREACHABLE, "cannot send to the kernel: %s",
			    strerror(errno));
	return DONE;
}

/* The kernel's message follows the errno and the echoed request, if any. */
static void take_text(const struct nlmsghdr *nlh, struct nl_error *error)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);
	unsigned int offset = sizeof(int);
	const struct nlattr *attr;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (nlh->nlmsg_type == NLMSG_ERROR) {
		if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*err))
			return;
		offset = sizeof(*err);
		if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
			offset += err->msg.nlmsg_len - sizeof(err->msg);
	}
	mnl_attr_for_each(attr, nlh, offset) {
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
		    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
			snprintf(error->text, sizeof(error->text), "%s",
				 mnl_attr_get_str(attr));
	}
}

/*
 * Records the first error of a request numbered @from or later, or until there
 * is one what the kernel says to a request done.  Both kinds of message, that of
 * an error and the end of a dump, begin with an errno.
 */
static void take_error(const struct nlmsghdr *nlh, __u32 from,
		       struct nl_error *error)
{
	int code;

	if (error->code || nlh->nlmsg_seq < from ||
	    mnl_nlmsg_get_payload_len(nlh) < sizeof(code))
		return;
	memcpy(&code, mnl_nlmsg_get_payload(nlh), sizeof(code));
	error->code = -code;
	error->seq = nlh->nlmsg_seq;
	take_text(nlh, error);
}

/**
 * nl_collect() - look for errors of requests sent, without waiting
 * @nl: the conversation
 * @from: sequence number of the first request of interest
 * @error: receives the first error, unless it holds one
 */
void nl_collect(struct nl *nl, __u32 from, struct nl_error *error)
{
	const struct nlmsghdr *nlh;
	ssize_t received;
	int length;

	for (;;) {
		received = recv(mnl_socket_get_fd(nl->sk), nl->buffer, NL_ROOM,
				MSG_DONTWAIT);
		/* ENOBUFS: later errors were lost; the first was not */
		if (received < 0 && (errno == EINTR || errno == ENOBUFS))
			continue;
		if (received <= 0)
			return;
		length = received;
		for (nlh = (struct nlmsghdr *)nl->buffer;
		     mnl_nlmsg_ok(nlh, length);
		     nlh = mnl_nlmsg_next(nlh, &length)) {
			if (nlh->nlmsg_type == NLMSG_ERROR)
				take_error(nlh, from, error);
		}
	}
}

static void take_message(const struct nlmsghdr *nlh, unsigned int max,
			 nl_answer *answer, void *arg)
{
	struct nlattr *attr[ATTRS] = { NULL };
	struct attributes to = { attr, max };

	if (!answer || nlh->nlmsg_type < NLMSG_MIN_TYPE)
		return;
	mnl_attr_parse(nlh, GENL_HDRLEN, take_attribute, &to);
	answer(attr, arg);
}

/*
 * Handles what one recvmsg() brought.  True when the request @seq is finished:
 * acknowledged, refused, or its dump at the end.
 */
static bool take_buffer(struct nl *nl, int length, __u32 from, __u32 seq,
			unsigned int max, nl_answer *answer, void *arg,
			struct nl_error *error, bool *interrupted)
{
	const struct nlmsghdr *nlh;
	bool finished = false;

	for (nlh = (struct nlmsghdr *)nl->buffer; mnl_nlmsg_ok(nlh, length);
	     nlh = mnl_nlmsg_next(nlh, &length)) {
		if (nlh->nlmsg_seq == seq &&
		    (nlh->nlmsg_flags & NLM_F_DUMP_INTR))
			*interrupted = true;
		if (nlh->nlmsg_type == NLMSG_ERROR ||
		    nlh->nlmsg_type == NLMSG_DONE) {
			take_error(nlh, from, error);
			finished |= nlh->nlmsg_seq == seq;
		} else if (nlh->nlmsg_seq == seq) {
			take_message(nlh, max, answer, arg);
		}
	}
	return finished;
}

static int wait_for(struct nl *nl, __u32 from, __u32 seq, unsigned int max,
		    nl_answer *answer, void *arg, struct nl_error *error,
		    bool *interrupted)
{
	ssize_t length;

	do {
		length = mnl_socket_recvfrom(nl->sk, nl->buffer, NL_ROOM);
		if (length < 0 && errno == EINTR) {
			length = 0;
			continue;
		}
		if (length <= 0)
			return no_reply();
	} while (!take_buffer(nl, length, from, seq, max, answer, arg, error,
			      interrupted));
	return DONE;
}

/**
 * nl_wait() - wait for the answer to a request that asked for one
 * @nl: the conversation
 * @from: sequence number of the first request whose errors are of interest
 * @seq: that of the request that is waited for
 * @max: highest attribute of its answer, below 64
 * @answer: takes its answer, or NULL
 * @arg: the first argument of @answer
 * @error: receives the first error, unless it holds one
 *
 * Return: DONE, with @error to be looked at, or UNREACHABLE, reported.
 */
int nl_wait(struct nl *nl, __u32 from, __u32 seq, unsigned int max,
	    nl_answer *answer, void *arg, struct nl_error *error)
{
	bool interrupted;

	return wait_for(nl, from, seq, max, answer, arg, error, &interrupted);
}

/**
 * nl_call() - send one request and wait for its answer
 * @nl: the conversation
 * @request: the request
 * @max: highest attribute of its answer, below 64
 * @answer: takes its answer, or NULL
 * @arg: the first argument of @answer
 * @error: receives the error; code 0 if there was none
 *
 * Return: DONE, with @error to be looked at, or UNREACHABLE, reported.
 */
int nl_call(struct nl *nl, struct nlmsghdr *request, unsigned int max,
	    nl_answer *answer, void *arg, struct nl_error *error)
{
	memset(error, 0, sizeof(*error));
	request->nlmsg_flags |= NLM_F_ACK;
	if (nl_send(nl, request, request->nlmsg_len))
		return UNREACHABLE;
	return nl_wait(nl, request->nlmsg_seq, request->nlmsg_seq, max, answer,
		       arg, error);
}

/**
 * nl_list() - have what a request asks for listed
 * @nl: the conversation
 * @request: the request, with NLM_F_DUMP
 * @max: highest attribute of the messages, below 64
 * @answer: takes each entry
 * @arg: the first argument of @answer
 * @interrupted: set to true if the table changed meanwhile; never to false
 *
 * Return: DONE, or what nl_refuse() returns, reported.
 */
int nl_list(struct nl *nl, struct nlmsghdr *request, unsigned int max,
	    nl_answer *answer, void *arg, bool *interrupted)
{
	struct nl_error error = { 0 };

	if (nl_send(nl, request, request->nlmsg_len) ||
	    wait_for(nl, request->nlmsg_seq, request->nlmsg_seq, max, answer,
		     arg, &error, interrupted))
		return UNREACHABLE;
	return error.code ? nl_refuse(NULL, NULL, &error) : DONE;
}

/**
 * nl_dump() - have a table listed
 * @nl: the conversation
 * @command: SYNQ_CMD_*_GET
 * @max: highest attribute of its messages, below 64
 * @answer: takes each entry
 * @arg: the first argument of @answer
 * @interrupted: set to true if the table changed meanwhile; never to false
 *
 * Return: DONE, or what nl_refuse() returns, reported.
 */
int nl_dump(struct nl *nl, __u8 command, unsigned int max, nl_answer *answer,
	    void *arg, bool *interrupted)
{
	char room[MNL_NLMSG_HDRLEN + GENL_HDRLEN];

	return nl_list(nl, nl_request(nl, room, command, NLM_F_DUMP), max,
		       answer, arg, interrupted);
}

struct group {
	const char *name;
	__u32 id;
};

static int take_group_attribute(const struct nlattr *attr, void *arg)
{
	const struct nlattr **of = arg;

	if (mnl_attr_get_type(attr) <= CTRL_ATTR_MCAST_GRP_MAX)
		of[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

static void take_groups(struct nlattr **attr, void *arg)
{
	struct group *group = arg;
	const struct nlattr *each;

	if (!attr[CTRL_ATTR_MCAST_GROUPS])
		return;
	mnl_attr_for_each_nested(each, attr[CTRL_ATTR_MCAST_GROUPS]) {
		const struct nlattr *of[CTRL_ATTR_MCAST_GRP_MAX + 1] = { NULL };

		mnl_attr_parse_nested(each, take_group_attribute, of);
		if (of[CTRL_ATTR_MCAST_GRP_NAME] &&
		    of[CTRL_ATTR_MCAST_GRP_ID] &&
		    !strcmp(mnl_attr_get_str(of[CTRL_ATTR_MCAST_GRP_NAME]),
			    group->name))
			group->id = mnl_attr_get_u32(of[CTRL_ATTR_MCAST_GRP_ID]);
	}
}

/**
 * nl_join() - join a multicast group
 * @nl: the conversation, for this only from now on
 * @group: its name
 *
 * Return: DONE, or REFUSED or UNREACHABLE, reported.
 */
int nl_join(struct nl *nl, const char *group)
{
	char room[MNL_NLMSG_HDRLEN + GENL_HDRLEN + 64];
	struct group found = { group, 0 };
	struct nl_error error;
	struct nlmsghdr *nlh;

	nlh = nl_request(nl, room, CTRL_CMD_GETFAMILY, 0);
	nlh->nlmsg_type = GENL_ID_CTRL;
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, SYNQ_FAMILY_NAME);
	if (nl_call(nl, nlh, CTRL_ATTR_MCAST_GROUPS, take_groups, &found,
		    &error))
		return UNREACHABLE;
	if (!error.code && !found.id)
		error.code = EOPNOTSUPP;
	if (!error.code &&
	    mnl_socket_setsockopt(nl->sk, NETLINK_ADD_MEMBERSHIP, &found.id,
				  sizeof(found.id)))
		error.code = errno;
	return error.code ? nl_refuse(NULL, NULL, &error) : DONE;
}

/**
 * nl_hear() - receive notifications, until the end of the program
 * @nl: the conversation, joined
 * @max: highest attribute of the messages, below 64
 * @answer: takes each message
 * @arg: the first argument of @answer
 * @missed: there was no room for some, ask for the state
 *
 * Return: DONE if some were missed; else UNREACHABLE, reported.
 */
int nl_hear(struct nl *nl, unsigned int max, nl_answer *answer, void *arg,
	    bool *missed)
{
	const struct nlmsghdr *nlh;
	ssize_t received;
	int length;

	for (;;) {
		received = mnl_socket_recvfrom(nl->sk, nl->buffer, NL_ROOM);
		*missed = received < 0 && errno == ENOBUFS;
		if (*missed)
			return DONE;
		if (received < 0 && errno == EINTR)
			continue;
		if (received <= 0)
			return no_reply();
		length = received;
		for (nlh = (struct nlmsghdr *)nl->buffer;
		     mnl_nlmsg_ok(nlh, length);
		     nlh = mnl_nlmsg_next(nlh, &length)) {
			const struct genlmsghdr *genl =
				mnl_nlmsg_get_payload(nlh);

			nl->heard = genl->cmd;
			take_message(nlh, max, answer, arg);
		}
	}
}

/* For errors without a message from the kernel. */
static const char *words_for(int code)
{
	switch (code) {
	case EEXIST:
		return "exists already";
	case ENOENT:
		return "does not exist";
	case EBUSY:
		return "is in use";
	case ENOSPC:
		return "too many";
	case ENOMEM:
		return "the kernel is out of memory; nothing has changed";
	case EOPNOTSUPP:
		return "the loaded kernel module is too old for this";
	default:
		return strerror(code);
	}
}

/**
 * nl_refuse() - report an error that the kernel answered with
 * @origin: the input that caused it, or NULL
 * @value: the value that caused it, or NULL
 * @error: the error
 *
 * Return: REFUSED, or UNREACHABLE if permission is missing.
 */
int nl_refuse(const struct origin *origin, const char *value,
	      const struct nl_error *error)
{
	if (error->code == EPERM)
		return fail(UNREACHABLE,
			    "not permitted: this needs CAP_NET_ADMIN%s%s%s",
			    *error->text ? " (" : "", error->text,
			    *error->text ? ")" : "");
	return refuse(origin, value, "%s",
		      *error->text ? error->text : words_for(error->code));
}
