/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module's admission at one listener with two classes, preferred and
 * ordinary, as the simulation uses it.  See admission_model.c.
 */
#ifndef _SYNQ_BENCH_ADMISSION_MODEL_H
#define _SYNQ_BENCH_ADMISSION_MODEL_H

#include <linux/types.h>

/**
 * struct sight - what is to be seen of the queues
 * @now_ns: monotonic clock, ns
 * @kind: class of who asks: 0 preferred, 1 ordinary
 * @queued: in the accept queue, by class
 * @held: that wait for a slot in it
 * @half_open: in the SYN queue
 */
struct sight {
	u64 now_ns;
	unsigned int kind;
	unsigned int queued[2];
	unsigned int held[2];
	unsigned int half_open;
};

struct model *model_new(unsigned int backlog, double max_wait, u64 now_ns);
void model_free(struct model *m);

bool model_admit(struct model *m, const struct sight *sight);
bool model_gets_cookie(struct model *m, const struct sight *sight);
void model_begin(struct model *m, const struct sight *sight, bool cookie);
void model_complete(struct model *m, const struct sight *sight, u64 age_ns,
		    bool cookie);
void model_append(struct model *m, const struct sight *sight,
		  unsigned int departed);
unsigned int model_limit(const struct model *m, unsigned int kind, bool cookie);
u64 model_interval_ns(const struct model *m);

#endif /* _SYNQ_BENCH_ADMISSION_MODEL_H */
