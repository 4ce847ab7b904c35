/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When held connections are released.  See release.c.
 */
#ifndef _SYNQ_RELEASE_H
#define _SYNQ_RELEASE_H

#include <linux/time64.h>
#include <linux/types.h>

#define SYNQ_RELEASE_TICK	NSEC_PER_MSEC

struct synq_conf;
struct synq_hold;
struct synq_record;

void synq_release_init(struct synq_hold *hold);
void synq_release_destroy(struct synq_hold *hold);

void synq_release_all(struct synq_record *record, bool close);
void synq_release_sort(struct synq_record *record, const struct synq_conf *conf);

#endif /* _SYNQ_RELEASE_H */
