/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where SYNs for listeners were sent to, just now.  See target.c.
 */
#ifndef _SYNQ_TARGET_H
#define _SYNQ_TARGET_H

#include "segment.h"

const struct synq_listener *synq_target_recall(const struct synq_conf *conf,
					       const struct synq_segment *seg);
void synq_target_note(const struct synq_conf *conf,
		      const struct synq_segment *seg,
		      const struct synq_listener *listener);

#endif /* _SYNQ_TARGET_H */
