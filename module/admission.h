/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who may use the queues of a listener.  See admission.c.
 */
#ifndef _SYNQ_ADMISSION_H
#define _SYNQ_ADMISSION_H

#include "conf.h"
#include "withheld.h"

struct sock;

/**
 * struct synq_handshakes - how many handshakes of a listener complete
 * @second: that @admitted and @completed belong to
 * @young: half-open requests at its begin
 * @admitted: SYNs
 * @completed: final ACKs, of SYN cookies as well
 * @ratio: completed of 256 resolved, in the second before
 *
 * Written by any CPU, without a lock; a count lost at the turn of a second
 * does not matter.
 */
struct synq_handshakes {
	u32 second;
	u32 young;
	atomic_t admitted;
	atomic_t completed;
	u32 ratio;
};

/**
 * enum synq_final - how a connection asks to be promoted
 * @SYNQ_FINAL_ACK: of a request in the SYN queue
 * @SYNQ_FINAL_COOKIE: of a SYN cookie; there is no request to come back to
 * @SYNQ_FINAL_FASTOPEN: a Fast Open SYN; refused, it becomes an ordinary one
 */
enum synq_final {
	SYNQ_FINAL_ACK,
	SYNQ_FINAL_COOKIE,
	SYNQ_FINAL_FASTOPEN,
};

void synq_handshakes_init(struct synq_handshakes *handshakes);
void synq_handshakes_admit(struct synq_handshakes *handshakes,
			   const struct sock *sk);
void synq_handshakes_complete(struct synq_handshakes *handshakes,
			      const struct sock *sk);

bool synq_admission_syn(const struct synq_class *class, const struct sock *sk,
			const struct synq_withheld *withheld,
			const struct synq_handshakes *handshakes);
bool synq_admission_promote(const struct synq_class *class,
			    const struct sock *sk, enum synq_final final);

#endif /* _SYNQ_ADMISSION_H */
