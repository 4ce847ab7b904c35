/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A transaction: any number of edits that take effect together or not at all.
 */
#ifndef SYNQ_TX_H
#define SYNQ_TX_H

#include <linux/genetlink.h>

#include "conf.h"
#include "nl.h"

/**
 * struct tx - a transaction
 * @nl: the conversation
 * @first: sequence number of the first edit
 * @changes: edits so far
 * @buffer: edits not sent yet
 * @used: bytes of them
 * @confirm_within: seconds of the trial, or 0; set it after tx_begin()
 * @error: the first error
 */
struct tx {
	struct nl *nl;
	__u32 first;
	__u32 changes;
	char *buffer;
	size_t used;
	__u32 confirm_within;
	struct nl_error error;
};

/* tx.c */
int tx_begin(struct tx *tx, struct nl *nl, bool replace,
	     const __u32 *generation);
int tx_edit(struct tx *tx, const struct edit *edit);
int tx_commit(struct tx *tx, int error);
bool tx_edit_failed(const struct tx *tx, __u32 *edit);

/* load.c */
int load_conf(struct nl *nl, struct conf *conf, bool light);

#endif /* SYNQ_TX_H */
