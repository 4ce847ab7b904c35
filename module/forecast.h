/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a SYN's connection will find when its handshake has completed.  See forecast.c.
 */
#ifndef _SYNQ_FORECAST_H
#define _SYNQ_FORECAST_H

#include <linux/types.h>
#include "conf.h"
#include "law.h"

struct synq_admission;

/**
 * struct synq_forecast - what a SYN of one class finds at a listener
 * @admission: of the listener
 * @conf: snapshot
 * @listener: configured
 * @class: of the SYN
 * @queued: connections of any class in the accept queue
 * @ahead: of those, that will be served before
 * @interval_ns: from one departure to the next, in the worst case; 0: nobody knows
 */
struct synq_forecast {
	const struct synq_admission *admission;
	const struct synq_conf *conf;
	const struct synq_listener *listener;
	const struct synq_class *class;
	u32 queued;
	u32 ahead;
	u32 interval_ns;
};

void synq_forecast_sum(const struct synq_forecast *forecast, struct synq_law *law);
void synq_forecast_slices(const struct synq_forecast *forecast,
			  struct synq_law *law);

#endif /* _SYNQ_FORECAST_H */
