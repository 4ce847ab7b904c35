/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which classes may use the queues of a listener.  See admission.c.
 */
#ifndef _SYNQ_ADMISSION_H
#define _SYNQ_ADMISSION_H

#include "acceptq.h"
#include "conf.h"
#include "handshakes.h"

struct request_sock;
struct sock;
struct synq_record;

bool synq_admission_has_room(const struct synq_record *record,
			     const struct synq_conf *conf,
			     const struct synq_listener *listener,
			     const struct synq_class *class);
enum synq_verdict synq_admission_syn(struct synq_record *record,
				     const struct synq_conf *conf,
				     const struct synq_listener *listener,
				     const struct synq_class *class, u64 now_ns);
struct synq_flight_pace synq_admission_pace(const struct synq_record *record,
					    const struct synq_listener *listener, u64 now_ns);
void synq_admission_complete(struct synq_record *record,
			     const struct synq_class *class,
			     const struct request_sock *req,
			     enum synq_final final);
bool synq_admission_promote(const struct synq_record *record,
			    const struct synq_conf *conf,
			    const struct synq_listener *listener,
			    const struct synq_class *class, enum synq_final final);

#endif /* _SYNQ_ADMISSION_H */
