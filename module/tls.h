/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What can be seen of TLS from outside: which records are requests and answers.  See tls.c.
 */
#ifndef _SYNQ_TLS_H
#define _SYNQ_TLS_H

#include <linux/types.h>

/**
 * struct synq_tls - a connection
 * @state: how far its handshake is
 * @acknowledged: so are the client's settings of HTTP/2, perhaps
 * @n: records of the prelude that its server has sent
 * @len: of the first of them
 * @finished_ms: clock, when the client had finished the handshake
 */
struct synq_tls {
	u8 state;
	bool acknowledged;
	u8 n;
	u16 len;
	u32 finished_ms;
};

#define SYNQ_TLS_PRELUDE	4	/* records */

/**
 * struct synq_tls_server - what a listener's server sends of itself after each handshake
 * @len: bytes of each record
 * @n: how many; 0: not known
 * @guesses: answers that may have been the first of it, up to GUESSES
 */
struct synq_tls_server {
	u16 len[SYNQ_TLS_PRELUDE];
	u8 n;
	u8 guesses;
};

/**
 * struct synq_tls_data - what a segment carries
 * @read: copies @n bytes from @at on; returns false if they are not there
 * @packet: for @read
 * @len: bytes
 * @now_ms: clock; wraps
 */
struct synq_tls_data {
	bool (*read)(const struct synq_tls_data *data, u32 at, u8 *to, u32 n);
	const void *packet;
	u32 len;
	u32 now_ms;
};

bool synq_tls_has_begun(const struct synq_tls *tls);
bool synq_tls_is_greeted(const struct synq_tls *tls);
bool synq_tls_is_guess(const struct synq_tls *tls, const struct synq_tls_server *server);
bool synq_tls_is_over(const struct synq_tls *tls);
bool synq_tls_give_up(struct synq_tls *tls);
bool synq_tls_in(struct synq_tls *tls, const struct synq_tls_data *data);
bool synq_tls_out(struct synq_tls *tls, struct synq_tls_server *server,
		  const struct synq_tls_data *data, bool is_asked);

#endif /* _SYNQ_TLS_H */
