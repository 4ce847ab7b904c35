// SPDX-License-Identifier: GPL-2.0
/*
 * A transaction: any number of edits that take effect together or not at all.
 *
 * Edits are numbered in order, and the netlink sequence number of an error leads
 * back to its edit.  They are sent in batches of 16 KB: few system calls, and the
 * errors of one batch fit into the receive buffer.  Nothing is sent after the
 * first error; closing the socket drops the draft.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tx.h"

#define PIECE		16384

/* More than the longest edit takes. */
#define EDIT_ROOM	512

static int flush(struct tx *tx)
{
	int error = DONE;

	if (tx->used && !tx->error.code)
		error = nl_send(tx->nl, tx->buffer, tx->used);
	if (tx->used && !error)
		nl_collect(tx->nl, tx->first, &tx->error);
	tx->used = 0;
	return error;
}

/**
 * tx_begin() - open a draft
 * @tx: the transaction
 * @nl: the conversation, which can have one at a time
 * @replace: start with an empty configuration instead of the current one
 * @generation: the configuration that the edits are meant for; NULL: any
 *
 * Return: DONE, with tx->error to be looked at, or UNREACHABLE, reported.
 */
int tx_begin(struct tx *tx, struct nl *nl, bool replace,
	     const __u32 *generation)
{
	struct nlmsghdr *nlh;

	memset(tx, 0, sizeof(*tx));
	tx->nl = nl;
	tx->buffer = allocate(NULL, PIECE + EDIT_ROOM, 1);
	nlh = nl_request(nl, tx->buffer, SYNQ_CMD_CONF_BEGIN, 0);
	tx->first = nl->seq + 1;
	if (replace)
		mnl_attr_put(nlh, SYNQ_A_CONF_REPLACE, 0, NULL);
	if (generation)
		mnl_attr_put_u32(nlh, SYNQ_A_CONF_GENERATION, *generation);
	return nl_call(nl, nlh, 0, NULL, NULL, &tx->error);
}

static void put_source_limit(struct nlmsghdr *nlh,
			     const struct class_spec *spec)
{
	if (spec->given & GIVEN_SOURCE_RATE)
		mnl_attr_put_u32(nlh, SYNQ_A_CLASS_SOURCE_RATE,
				 spec->source_rate);
	if ((spec->given & GIVEN_SOURCE_RATE) && spec->source_rate_per != 1)
		mnl_attr_put_u32(nlh, SYNQ_A_CLASS_SOURCE_RATE_PER,
				 spec->source_rate_per);
	if (spec->given & GIVEN_SOURCE_BURST)
		mnl_attr_put_u32(nlh, SYNQ_A_CLASS_SOURCE_BURST,
				 spec->source_burst);
	if (spec->given & GIVEN_NET_RATE)
		mnl_attr_put_u32(nlh, SYNQ_A_CLASS_NET_RATE, spec->net_rate);
	if ((spec->given & GIVEN_NET_RATE) && spec->net_rate_per != 1)
		mnl_attr_put_u32(nlh, SYNQ_A_CLASS_NET_RATE_PER,
				 spec->net_rate_per);
	if (spec->given & GIVEN_NET_BURST)
		mnl_attr_put_u32(nlh, SYNQ_A_CLASS_NET_BURST, spec->net_burst);
	if (spec->given & GIVEN_NET_LEN) {
		mnl_attr_put_u8(nlh, SYNQ_A_CLASS_NET_LEN_V4,
				spec->net_len[0]);
		mnl_attr_put_u8(nlh, SYNQ_A_CLASS_NET_LEN_V6,
				spec->net_len[1]);
	}
	if (spec->given & GIVEN_SOURCE_LEN) {
		mnl_attr_put_u8(nlh, SYNQ_A_CLASS_SOURCE_LEN_V4,
				spec->source_len[0]);
		mnl_attr_put_u8(nlh, SYNQ_A_CLASS_SOURCE_LEN_V6,
				spec->source_len[1]);
	}
}

static void put_class(struct nlmsghdr *nlh, const struct class_spec *spec)
{
	mnl_attr_put_strz(nlh, SYNQ_A_CLASS_NAME, spec->name);
	if (spec->given & GIVEN_PRIORITY)
		mnl_attr_put_u8(nlh, SYNQ_A_CLASS_PRIORITY, spec->priority);
	if (spec->given & GIVEN_DEFAULT)
		mnl_attr_put_u8(nlh, SYNQ_A_CLASS_DEFAULT, spec->is_default);
	if (spec->given & GIVEN_MARK)
		mnl_attr_put_u32(nlh, SYNQ_A_CLASS_MARK, spec->mark);
	if (spec->given & GIVEN_RESERVE)
		mnl_attr_put_u8(nlh, SYNQ_A_CLASS_RESERVE, spec->reserve);
	if (spec->given & GIVEN_WEIGHT)
		mnl_attr_put_u16(nlh, SYNQ_A_CLASS_WEIGHT, spec->weight);
	if (spec->given & GIVEN_CAP)
		mnl_attr_put_u8(nlh, SYNQ_A_CLASS_CAP, spec->cap);
	if (spec->given & GIVEN_MAX_WAIT)
		mnl_attr_put_u32(nlh, SYNQ_A_CLASS_MAX_WAIT, spec->max_wait);
	if (spec->given & GIVEN_MIN_SHARE)
		mnl_attr_put_u8(nlh, SYNQ_A_CLASS_MIN_SHARE, spec->min_share);
	if (spec->given & GIVEN_RATE)
		mnl_attr_put_u32(nlh, SYNQ_A_CLASS_RATE, spec->rate);
	if ((spec->given & GIVEN_RATE) && spec->rate_per != 1)
		mnl_attr_put_u32(nlh, SYNQ_A_CLASS_RATE_PER, spec->rate_per);
	if (spec->given & GIVEN_BURST)
		mnl_attr_put_u32(nlh, SYNQ_A_CLASS_BURST, spec->burst);
	put_source_limit(nlh, spec);
	if (spec->given & GIVEN_EXCESS)
		mnl_attr_put_u8(nlh, SYNQ_A_CLASS_EXCESS, spec->excess);
	if (spec->given & GIVEN_COOKIES)
		mnl_attr_put_u8(nlh, SYNQ_A_CLASS_COOKIES, spec->cookies);
	if (spec->given & GIVEN_ENFORCE)
		mnl_attr_put_u8(nlh, SYNQ_A_CLASS_ENFORCE, !spec->observe);
}

static void put_listener(struct nlmsghdr *nlh, const struct listener_spec *spec)
{
	mnl_attr_put_u16(nlh, SYNQ_A_LISTENER_PORT, spec->port);
	if (spec->given & GIVEN_ORDER)
		mnl_attr_put_u8(nlh, SYNQ_A_LISTENER_ORDER, spec->order);
	if (spec->given & GIVEN_APP_ORDER)
		mnl_attr_put_u8(nlh, SYNQ_A_LISTENER_APP_ORDER,
				spec->app_order);
	if (spec->given & GIVEN_SYNACK_RETRIES)
		mnl_attr_put_u8(nlh, SYNQ_A_LISTENER_SYNACK_RETRIES,
				spec->synack_retries);
	if (spec->given & GIVEN_COOKIES)
		mnl_attr_put_u8(nlh, SYNQ_A_LISTENER_COOKIES, spec->cookies);
	if (spec->given & GIVEN_APP_COOKIES)
		mnl_attr_put_u8(nlh, SYNQ_A_LISTENER_APP_COOKIES,
				spec->app_cookies);
	if (spec->given & GIVEN_INSIDE)
		mnl_attr_put_u32(nlh, SYNQ_A_LISTENER_INSIDE, spec->inside);
	if (spec->given & GIVEN_REQUESTS)
		mnl_attr_put_u8(nlh, SYNQ_A_LISTENER_REQUESTS, spec->requests);
	if (spec->given & GIVEN_ENFORCE)
		mnl_attr_put_u8(nlh, SYNQ_A_LISTENER_ENFORCE, !spec->observe);
}

static void put_service(struct nlmsghdr *nlh, const struct edit *edit)
{
	const struct service *service = &edit->service;

	if (service->to.family) {
		mnl_attr_put(nlh, SYNQ_A_SERVICE_TO,
			     prefix_bytes(&service->to), service->to.address);
		mnl_attr_put_u8(nlh, SYNQ_A_SERVICE_TO_LENGTH,
				service->to.length);
	}
	mnl_attr_put_u16(nlh, SYNQ_A_SERVICE_PORT, service->first);
	mnl_attr_put_u16(nlh, SYNQ_A_SERVICE_PORT_LAST, service->last);
	mnl_attr_put(nlh, SYNQ_A_SERVICE_FORWARD, 0, NULL);
}

static void put_match(struct nlmsghdr *nlh, const struct edit *edit)
{
	const struct service *service = &edit->service;

	mnl_attr_put(nlh, SYNQ_A_MATCH_SOURCE, prefix_bytes(&edit->source),
		     edit->source.address);
	mnl_attr_put_u8(nlh, SYNQ_A_MATCH_LENGTH, edit->source.length);
	if (service->to.family) {
		mnl_attr_put(nlh, SYNQ_A_MATCH_TO, prefix_bytes(&service->to),
			     service->to.address);
		mnl_attr_put_u8(nlh, SYNQ_A_MATCH_TO_LENGTH,
				service->to.length);
	}
	if (service->first) {
		mnl_attr_put_u16(nlh, SYNQ_A_MATCH_PORT, service->first);
		mnl_attr_put_u16(nlh, SYNQ_A_MATCH_PORT_LAST, service->last);
	}
	if (edit->verb != VERB_DEL)
		mnl_attr_put_strz(nlh, SYNQ_A_MATCH_CLASS, edit->class.name);
	if (edit->timeout)
		mnl_attr_put_u32(nlh, SYNQ_A_MATCH_TIMEOUT, edit->timeout);
	if (edit->exist)
		mnl_attr_put(nlh, SYNQ_A_MATCH_EXIST, 0, NULL);
}

static __u8 command_for(const struct edit *edit)
{
	static const __u8 class[] = {
		SYNQ_CMD_CLASS_ADD, SYNQ_CMD_CLASS_SET, SYNQ_CMD_CLASS_DEL,
	};
	static const __u8 match[] = {
		SYNQ_CMD_MATCH_ADD, SYNQ_CMD_MATCH_SET, SYNQ_CMD_MATCH_DEL,
	};
	static const __u8 listener[] = {
		SYNQ_CMD_LISTENER_ADD, SYNQ_CMD_LISTENER_SET,
		SYNQ_CMD_LISTENER_DEL,
	};

	static const __u8 service[] = {
		[VERB_ADD] = SYNQ_CMD_SERVICE_ADD,
		[VERB_DEL] = SYNQ_CMD_SERVICE_DEL,
	};

	switch (edit->object) {
	case OBJECT_SERVICE:
		return service[edit->verb];
	case OBJECT_CLASS:
		return class[edit->verb];
	case OBJECT_MATCH:
		return match[edit->verb];
	case OBJECT_LISTENER:
		return listener[edit->verb];
	case OBJECT_MARK:
	case OBJECT_SET:
		break;
	}
	return SYNQ_CMD_CONF_SET;
}

/**
 * tx_edit() - edit the draft
 * @tx: the transaction, begun
 * @edit: the edit
 *
 * Return: DONE, with tx->error to be looked at, or UNREACHABLE, reported.
 */
int tx_edit(struct tx *tx, const struct edit *edit)
{
	struct nlmsghdr *nlh;

	if (tx->error.code)
		return DONE;
	nlh = nl_request(tx->nl, tx->buffer + tx->used, command_for(edit), 0);
	switch (edit->object) {
	case OBJECT_CLASS:
		put_class(nlh, &edit->class);
		break;
	case OBJECT_MATCH:
		put_match(nlh, edit);
		break;
	case OBJECT_LISTENER:
		put_listener(nlh, &edit->listener);
		break;
	case OBJECT_SERVICE:
		put_service(nlh, edit);
		break;
	case OBJECT_MARK:
		mnl_attr_put_u32(nlh, SYNQ_A_CONF_MARK_MASK,
				 edit->verb == VERB_DEL ? 0 : edit->mask);
		break;
	case OBJECT_SET:
		mnl_attr_put_u8(nlh, SYNQ_A_CONF_ENFORCE, !edit->observe);
		break;
	}
	tx->changes++;
	tx->used += MNL_ALIGN(nlh->nlmsg_len);
	return tx->used >= PIECE ? flush(tx) : DONE;
}

/**
 * tx_commit() - have all edits take effect
 * @tx: the transaction, ended afterwards
 * @error: what tx_begin() returned
 *
 * Return: DONE, with tx->error to be looked at, or UNREACHABLE, reported.
 */
int tx_commit(struct tx *tx, int error)
{
	struct nlmsghdr *nlh;

	if (!error)
		error = flush(tx);
	if (!error && !tx->error.code) {
		nlh = nl_request(tx->nl, tx->buffer, SYNQ_CMD_CONF_COMMIT,
				 NLM_F_ACK);
		mnl_attr_put_u32(nlh, SYNQ_A_CONF_CHANGES, tx->changes);
		if (tx->confirm_within)
			mnl_attr_put_u32(nlh, SYNQ_A_CONF_CONFIRM_WITHIN,
					 tx->confirm_within);
		error = nl_send(tx->nl, nlh, nlh->nlmsg_len);
		if (!error)
			error = nl_wait(tx->nl, tx->first, nlh->nlmsg_seq, 0,
					NULL, NULL, &tx->error);
	}
	if (!error && !tx->error.code && *tx->error.text)
		remark("%s", tx->error.text);
	if (tx->error.code == ESTALE)
		snprintf(tx->error.text, sizeof(tx->error.text), "%s",
			 "another command changed the configuration meanwhile; try again");
	free(tx->buffer);
	tx->buffer = NULL;
	return error;
}

/**
 * tx_edit_failed() - was it an edit that was refused, and which?
 * @tx: the transaction, with an error
 * @edit: number of the edit, from 0
 *
 * Return: false if begin or commit was refused.
 */
bool tx_edit_failed(const struct tx *tx, __u32 *edit)
{
	*edit = tx->error.seq - tx->first;
	return tx->error.code && *edit < tx->changes;
}
