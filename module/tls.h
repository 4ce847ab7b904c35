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
 * @n: tickets that its server has sent
 * @len: of the first record that its server has sent since the client has finished; 0: none
 */
struct synq_tls {
	u8 state;
	u8 n;
	u16 len;
};

/**
 * struct synq_tls_server - the tickets that a listener's server sends with each handshake
 * @len: bytes of a record
 * @n: how many; 0: not known
 */
struct synq_tls_server {
	u16 len;
	u8 n;
};

/**
 * struct synq_tls_data - what a segment carries
 * @read: copies @n bytes from @at on; returns false if they are not there
 * @packet: for @read
 * @len: bytes
 */
struct synq_tls_data {
	bool (*read)(const struct synq_tls_data *data, u32 at, u8 *to, u32 n);
	const void *packet;
	u32 len;
};

bool synq_tls_is_over(const struct synq_tls *tls);
bool synq_tls_in(struct synq_tls *tls, const struct synq_tls_data *data);
bool synq_tls_out(struct synq_tls *tls, struct synq_tls_server *server,
		  const struct synq_tls_data *data, bool is_asked);

#endif /* _SYNQ_TLS_H */
