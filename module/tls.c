// SPDX-License-Identifier: GPL-2.0
/*
 * Tells the tickets of TLS 1.3 from an answer, and the end of its handshake from a request.
 *
 * When the client has finished the handshake, a server sends tickets for later sessions
 * (RFC 8446, 4.6.1), and most clients send their request right behind their Finished.  So the
 * tickets leave when the server has only just got the request, and would be taken
 * for its answer: it would never seem to be busy.
 *
 * The contents are encrypted, but the types and lengths of records are not (5.1).  In TLS 1.3
 * the client's second flight is one record, its Finished, behind a change of cipher spec
 * or not; what follows is a request.  The next records of the server are its tickets, all of
 * about the same length.  How long and how many is learnt for each listener: from
 * connections whose request comes later than the tickets, and from two records of the
 * same length which leave one after the other.  Until then tickets are taken for an answer.
 *
 * In TLS 1.2 each flight of the server answers one of the client.  A client that has sent early
 * data, or a certificate, is taken for one that has sent a request.
 *
 * Pure: any context, no lock.
 */
#include <linux/compiler.h>
#include <linux/minmax.h>

#include "tls.h"

enum {
	BEGIN,		/* nothing has come */
	HELLO,		/* the client's, and the server has not answered it */
	SHAKEN,		/* it has: the client finishes, or goes on */
	FINISHED,	/* TLS 1.3: tickets come next, or an answer */
	GUESSED,	/* the first record was taken for an answer */
	OVER,		/* not TLS, or nothing is left to be told apart */
};

#define CIPHER_SPEC	20
#define HANDSHAKE	22
#define APPLICATION	23
#define CLIENT_HELLO	1
#define HEADER		5U	/* bytes: type, version, length */
#define CIPHER_SPEC_LEN	(HEADER + 1)
#define TICKET_LEAST	48
#define TICKET_MOST	2048
#define TICKETS_MAX	4
#define NEAR		32	/* bytes by which tickets differ: the name of the host is in them */

/* The type of the record at @at, or 0; sets *@len to its bytes behind the header. */
static u8 record_at(const struct synq_tls_data *data, u32 at, u16 *len)
{
	u8 head[HEADER];

	if (at > data->len || data->len - at < HEADER ||
	    !data->read(data, at, head, HEADER) || head[1] != 3)
		return 0;
	*len = head[3] << 8 | head[4];
	return head[0];
}

static bool is_client_hello(const struct synq_tls_data *data, u32 at)
{
	u8 type;

	return data->len > at + HEADER &&
	       data->read(data, at + HEADER, &type, 1) && type == CLIENT_HELLO;
}

/**
 * synq_tls_is_over() - is there nothing more to tell apart?
 * @tls: of a connection
 *
 * Return: true if the other functions need not be called any more
 */
bool synq_tls_is_over(const struct synq_tls *tls)
{
	return READ_ONCE(tls->state) == OVER;
}

/* Returns true if the client's flight is its Finished alone, or the beginning of it. */
static bool finishes(struct synq_tls *tls, const struct synq_tls_data *data)
{
	u32 at = 0;
	u16 len;
	u8 type;

	type = record_at(data, at, &len);
	if (type == CIPHER_SPEC) {
		at = CIPHER_SPEC_LEN;
		if (data->len == at)
			return true;
		type = record_at(data, at, &len);
	}
	if (type == HANDSHAKE && is_client_hello(data, at))
		tls->state = HELLO;
	else
		tls->state = type == APPLICATION ? FINISHED : OVER;
	return type == APPLICATION && data->len - at <= HEADER + len;
}

/**
 * synq_tls_in() - new data has come from the client
 * @tls: of the connection
 * @data: of the segment, all of it new
 *
 * Return: true if it is no request, nor anything else that the server answers
 */
bool synq_tls_in(struct synq_tls *tls, const struct synq_tls_data *data)
{
	u16 len;

	switch (tls->state) {
	case BEGIN:
		tls->state = record_at(data, 0, &len) == HANDSHAKE &&
			     is_client_hello(data, 0) ? HELLO : OVER;
		return false;
	case SHAKEN:
		return finishes(tls, data);
	default:
		return false;
	}
}

static bool is_near(u16 a, u16 b)
{
	return max(a, b) - min(a, b) <= NEAR;
}

static void learn(struct synq_tls_server *server, u16 len, u8 n)
{
	if (!is_near(server->len, len))
		server->n = 0;
	server->len = len;
	server->n = max(server->n, n);
}

/* Is the record at @at a ticket? */
static bool is_ticket(struct synq_tls *tls, struct synq_tls_server *server,
		      const struct synq_tls_data *data, u32 at, bool is_asked)
{
	u16 len, next;

	if (record_at(data, at, &len) != APPLICATION || len < TICKET_LEAST ||
	    len > TICKET_MOST || tls->n >= TICKETS_MAX)
		return false;
	if (!tls->len)
		tls->len = len;
	if (!is_near(tls->len, len))
		return false;
	if (!is_asked) {
		learn(server, len, tls->n + 1);
	} else if (!is_near(server->len, len) || tls->n >= server->n) {
		/* Two in one segment. */
		if (tls->n || record_at(data, at + HEADER + len, &next) != APPLICATION ||
		    next != len)
			return false;
		learn(server, len, 2);
	}
	tls->n++;
	return true;
}

/**
 * synq_tls_out() - new data leaves for the client
 * @tls: of the connection
 * @server: of its listener
 * @data: of the segment, all of it new
 * @is_asked: the server has a request that it has not answered
 *
 * Return: true if it is no answer
 */
bool synq_tls_out(struct synq_tls *tls, struct synq_tls_server *server,
		  const struct synq_tls_data *data, bool is_asked)
{
	u32 at = 0;
	u16 len;

	switch (tls->state) {
	case HELLO:
		tls->state = SHAKEN;
		return false;
	case FINISHED:
		break;
	case GUESSED:
		/* The second of two that leave one after the other. */
		if (record_at(data, 0, &len) == APPLICATION && len == tls->len &&
		    data->len == HEADER + len)
			learn(server, len, 2);
		tls->state = OVER;
		return false;
	default:
		return false;
	}
	while (at < data->len) {
		if (!is_ticket(tls, server, data, at, is_asked)) {
			tls->state = tls->n ? OVER : GUESSED;
			return false;
		}
		record_at(data, at, &len);
		at += HEADER + len;
	}
	return true;
}
