// SPDX-License-Identifier: GPL-2.0
/*
 * What each verdict on a SYN, and each excess action, means.  What is done and why are two
 * things: the verdict is what is done, and each SYN is counted under one.
 */
#include "verdict.h"

const struct synq_verdict_row synq_verdict_row[SYNQ_VERDICTS] = {
	[SYNQ_VERDICT_ADMIT] = {
		.counter	= SYNQ_COUNT_ADMITTED,
		.lets_in	= true,
	},
	[SYNQ_VERDICT_EXCESS_PASS] = {
		.counter	= SYNQ_COUNT_EXCESS_PASSED,
		.lets_in	= true,
		.is_excess	= true,
	},
	[SYNQ_VERDICT_EXCESS_DROP] = {
		.counter	= SYNQ_COUNT_EXCESS_DROPPED,
		.reason		= SYNQ_REFUSED_EXCESS_DROPPED,
		.is_refused	= true,
		.is_excess	= true,
	},
	[SYNQ_VERDICT_EXCESS_RESET] = {
		.counter	= SYNQ_COUNT_EXCESS_RESET,
		.reason		= SYNQ_REFUSED_EXCESS_RESET,
		.unanswered	= SYNQ_VERDICT_EXCESS_UNANSWERED,
		.answers	= true,
		.is_refused	= true,
		.is_excess	= true,
	},
	[SYNQ_VERDICT_EXCESS_COOKIE] = {
		.counter	= SYNQ_COUNT_EXCESS_COOKIE,
		.reason		= SYNQ_REFUSED_EXCESS_COOKIE,
		.unanswered	= SYNQ_VERDICT_EXCESS_UNANSWERED,
		.answers	= true,
		.is_excess	= true,
	},
	[SYNQ_VERDICT_EXCESS_UNANSWERED] = {
		.counter	= SYNQ_COUNT_EXCESS_UNANSWERED,
		.reason		= SYNQ_REFUSED_EXCESS_UNANSWERED,
		.is_refused	= true,
		.is_excess	= true,
	},
	[SYNQ_VERDICT_QUEUE_REFUSE] = {
		.counter	= SYNQ_COUNT_QUEUE_REFUSED,
		.reason		= SYNQ_REFUSED_QUEUE_REFUSED,
		.is_refused	= true,
		.stands		= true,
	},
	[SYNQ_VERDICT_WAIT_REFUSE] = {
		.counter	= SYNQ_COUNT_WAIT_REFUSED,
		.reason		= SYNQ_REFUSED_WAIT_REFUSED,
		.is_refused	= true,
		.stands		= true,
	},
	[SYNQ_VERDICT_COOKIE] = {
		.counter	= SYNQ_COUNT_COOKIE_SENT,
		.reason		= SYNQ_REFUSED_COOKIE_SENT,
		.answers	= true,
	},
	[SYNQ_VERDICT_SHARE_REFUSE] = {
		.counter	= SYNQ_COUNT_SHARE_REFUSED,
		.reason		= SYNQ_REFUSED_SHARE_REFUSED,
		.is_refused	= true,
		.stands		= true,
	},
	[SYNQ_VERDICT_SHARE_RESET] = {
		.counter	= SYNQ_COUNT_SHARE_REFUSED,
		.reason		= SYNQ_REFUSED_SHARE_REFUSED,
		.unanswered	= SYNQ_VERDICT_SHARE_REFUSE,
		.answers	= true,
		.is_refused	= true,
	},
};

const struct synq_excess_row synq_excess_row[SYNQ_EXCESSES] = {
	[SYNQ_EXCESS_DROP] = {
		.over_rate	= SYNQ_VERDICT_EXCESS_DROP,
		.over_share	= SYNQ_VERDICT_SHARE_REFUSE,
	},
	[SYNQ_EXCESS_PASS] = {
		.over_rate	= SYNQ_VERDICT_EXCESS_PASS,
		.over_share	= SYNQ_VERDICT_ADMIT,
	},
	[SYNQ_EXCESS_RESET] = {
		.over_rate	= SYNQ_VERDICT_EXCESS_RESET,
		.over_share	= SYNQ_VERDICT_SHARE_RESET,
	},
	[SYNQ_EXCESS_COOKIE] = {
		.over_rate	= SYNQ_VERDICT_EXCESS_COOKIE,
		.over_share	= SYNQ_VERDICT_SHARE_REFUSE,
	},
	[SYNQ_EXCESS_REFUSE] = {
		.over_rate	= SYNQ_VERDICT_EXCESS_DROP,
		.over_share	= SYNQ_VERDICT_SHARE_REFUSE,
		.always		= true,
	},
};
