// SPDX-License-Identifier: GPL-2.0
/*
 * The code of the tracepoints, and the names of verdicts there: the verdict and its reason
 * are separate fields.
 */
#include <net/ipv6.h>
#include <linux/string.h>
#include "synq.h"

struct meaning {
	u8 verdict;
	u8 reason;
};

/* The numbers are those of SYNQ_TRACE_VERDICTS and SYNQ_TRACE_REASONS. */
static const struct meaning __maybe_unused meanings[SYNQ_VERDICTS] = {
	[SYNQ_VERDICT_ADMIT]		 = { 0, 0 },
	[SYNQ_VERDICT_EXCESS_DROP]	 = { 2, 1 },
	[SYNQ_VERDICT_EXCESS_PASS]	 = { 1, 1 },
	[SYNQ_VERDICT_QUEUE_REFUSE]	 = { 2, 2 },
	[SYNQ_VERDICT_WAIT_REFUSE]	 = { 2, 3 },
	[SYNQ_VERDICT_EXCESS_RESET]	 = { 3, 1 },
	[SYNQ_VERDICT_EXCESS_COOKIE]	 = { 4, 1 },
	[SYNQ_VERDICT_EXCESS_UNANSWERED] = { 2, 1 },
	[SYNQ_VERDICT_COOKIE]		 = { 4, 4 },
	[SYNQ_VERDICT_SHARE_REFUSE]	 = { 2, 4 },
	[SYNQ_VERDICT_SHARE_RESET]	 = { 3, 4 },
};

static u8 __maybe_unused synq_trace_verdict(enum synq_verdict verdict)
{
	return meanings[verdict].verdict;
}

static u8 __maybe_unused synq_trace_reason(enum synq_verdict verdict)
{
	return meanings[verdict].reason;
}

/* The numbers are those of SYNQ_TRACE_ENDS. */
static u8 __maybe_unused synq_trace_end(enum synq_counter counter)
{
	return counter == SYNQ_COUNT_RELEASED ? 0 :
	       counter == SYNQ_COUNT_HOLD_GONE ? 1 : 2;
}

/* Clears the whole field: a histogram by class uses all of it as the key. */
static void __maybe_unused synq_trace_class(char *to, const char *class)
{
	memset(to, 0, SYNQ_NAME_MAX + 1);
	strscpy(to, class, SYNQ_NAME_MAX + 1);
}

static void __maybe_unused synq_trace_source(u8 *to, const void *source, bool is_v6)
{
	struct in6_addr addr;
	__be32 v4;

	if (is_v6) {
		memcpy(&addr, source, sizeof(addr));
	} else {
		memcpy(&v4, source, sizeof(v4));
		ipv6_addr_set_v4mapped(v4, &addr);
	}
	memcpy(to, &addr, sizeof(addr));
}

#define CREATE_TRACE_POINTS
#include "synq_trace.h"
