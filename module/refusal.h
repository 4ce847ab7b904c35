/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is remembered of refused SYNs.  See refusal.c.
 */
#ifndef _SYNQ_REFUSAL_H
#define _SYNQ_REFUSAL_H

#include "conf.h"

/**
 * struct synq_refusal_syn - a SYN, as far as it matters here
 * @saddr: of the client, network order
 * @is_v6: it has 16 bytes, and not 4
 * @now_ns: monotonic clock
 * @hash: synq_segment_fingerprint()
 * @is_retry: it was refused before, set by synq_refusal_find()
 * @refused_ms: since then, likewise
 * @source_exceeded: it exceeds the rate of its source, set before
 *	synq_refusal_note()
 */
struct synq_refusal_syn {
	const void *saddr;
	bool is_v6;
	u64 now_ns;
	u64 hash;
	bool is_retry;
	u32 refused_ms;
	bool source_exceeded;
};

/**
 * struct synq_refusal - a sample
 * @ns: monotonic clock
 * @addr: of the client, network order
 * @class: its name at the time
 * @port: of the listener, host byte order
 * @reason: enum synq_refused
 * @is_v6: @addr has 16 bytes, and not 4
 * @is_retry: the same SYN had been refused before
 * @observed: it would have been refused, and was let through
 * @source_exceeded: it exceeded the rate of its source
 */
struct synq_refusal {
	u64 ns;
	u8 addr[16];
	char class[SYNQ_NAME_MAX + 1];
	u16 port;
	u8 reason;
	bool is_v6;
	bool is_retry;
	bool observed;
	bool source_exceeded;
};

int synq_refusal_init(void);
void synq_refusal_exit(void);

bool synq_refusal_find(const struct synq_net *sn, struct synq_refusal_syn *syn);
void synq_refusal_note(const struct synq_net *sn,
		       const struct synq_refusal_syn *syn,
		       const struct synq_port *port,
		       const struct synq_class *class,
		       enum synq_verdict verdict, bool observed);
bool synq_refusal_drop(const struct synq_net *sn, struct synq_refusal_syn *syn,
		       const struct synq_port *port,
		       const struct synq_class *class);

unsigned long synq_refusal_newest(const struct synq_net *sn);
bool synq_refusal_get(const struct synq_net *sn, unsigned long number,
		      struct synq_refusal *refusal);

#endif /* _SYNQ_REFUSAL_H */
