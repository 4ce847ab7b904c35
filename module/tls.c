// SPDX-License-Identifier: GPL-2.0
/*
 * Tells what a server sends of itself after a handshake of TLS 1.3 from an answer, and the end
 * of the handshake from a request.
 *
 * When the client has finished the handshake, a server sends tickets for later sessions
 * (RFC 8446, 4.6.1), then its settings of HTTP/2 (RFC 9113, 3.4) or its greeting: the prelude.
 * Most clients send their request right behind their Finished, so the prelude leaves when the
 * server has only just got the request.  If it were taken for the answer, no connection
 * would seem to be busy.
 *
 * The contents are encrypted, but the types and lengths of records are not (5.1).  In TLS 1.3
 * the client's second flight is one record, its Finished, behind a change of cipher spec
 * or not; what follows is a request.  The length of each record of the prelude is learnt
 * for each listener: from connections whose request comes later, and from two records
 * of the same length which leave one after the other, as tickets do.  Until then the first
 * is taken for an answer.  So that the client's settings are acknowledged is known by its
 * length.
 *
 * In TLS 1.2 each flight of the server answers one of the client; but when a session is
 * resumed the client finishes last, and begins that with a change of cipher spec.  A client that
 * has sent early data, or a certificate, is taken for one that has sent a request.
 *
 * Pure.  Callers exclude each other (with the lock of inside.c); synq_tls_has_begun() and
 * synq_tls_is_over() need no lock.
 */
#include <linux/compiler.h>
#include <linux/minmax.h>

#include "tls.h"

enum {
	BEGIN,		/* nothing has come */
	HELLO,		/* the client's, and the server has not answered it */
	SHAKEN,		/* it has: the client finishes, or goes on */
	LAST,		/* TLS 1.2: the client has gone on, and the server finishes */
	FINISHED,	/* TLS 1.3: the server's prelude comes next, or an answer */
	GUESSED,	/* its first record was taken for an answer */
	OVER,		/* not TLS, or nothing is left to be told apart */
};

#define CIPHER_SPEC	20
#define HANDSHAKE	22
#define APPLICATION	23
#define CLIENT_HELLO	1
#define HEADER		5U	/* bytes: type, version, length */
#define CIPHER_SPEC_LEN	(HEADER + 1)
#define OVERHEAD	17U	/* bytes: type and tag, encrypted */
#define SETTINGS_ACK	(9 + OVERHEAD)
#define WINDOW_UPDATE	13U	/* bytes: behind it, or not */
#define PRELUDE_MOST	2048	/* of one of the prelude */
#define PRELUDE_MS	200	/* later it is something else: that a request did not come, say */
#define GUESSES		16	/* then it has none */
#define NEAR		32	/* by which tickets differ: the name of the host is in them */

/* It may be read without the lock. */
static void set_state(struct synq_tls *tls, u8 state)
{
	WRITE_ONCE(tls->state, state);
}

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
 * synq_tls_has_begun() - has the client sent a hello?
 * @tls: of a connection
 *
 * Return: true if synq_tls_out() is to be called
 */
bool synq_tls_has_begun(const struct synq_tls *tls)
{
	u8 state = READ_ONCE(tls->state);

	return state != BEGIN && state != OVER;
}

/**
 * synq_tls_is_greeted() - is what the server sends next a part of the handshake, upon which the
 * client goes on at once?
 * @tls: of a connection
 *
 * Return: true if so
 */
bool synq_tls_is_greeted(const struct synq_tls *tls)
{
	return tls->state == HELLO || tls->state == LAST;
}

/**
 * synq_tls_is_guess() - may what has just been taken for an answer be the prelude?
 * @tls: of a connection
 * @server: of its listener
 *
 * Return: true if so, as long as it may not yet have been learnt
 */
bool synq_tls_is_guess(const struct synq_tls *tls, const struct synq_tls_server *server)
{
	return tls->state == GUESSED && !server->n && server->guesses < GUESSES;
}

/**
 * synq_tls_is_over() - is there nothing more to tell apart?
 * @tls: of a connection
 *
 * Return: true if synq_tls_in() need not be called any more
 */
bool synq_tls_is_over(const struct synq_tls *tls)
{
	return READ_ONCE(tls->state) == OVER;
}

/**
 * synq_tls_give_up() - something has come out of order
 * @tls: of the connection
 *
 * Return: false: it is a request, for all that is known
 */
bool synq_tls_give_up(struct synq_tls *tls)
{
	set_state(tls, OVER);
	return false;
}

/* Returns true if the client's flight is its Finished alone, or the beginning of it. */
static bool finishes(struct synq_tls *tls, const struct synq_tls_data *data)
{
	u8 type, last = LAST;
	u32 at = 0;
	u16 len;

	type = record_at(data, at, &len);
	if (type == CIPHER_SPEC) {
		at = CIPHER_SPEC_LEN;
		if (data->len == at)
			return true;
		type = record_at(data, at, &len);
		last = OVER;
	}
	if (type == HANDSHAKE)
		set_state(tls, is_client_hello(data, at) ? HELLO : last);
	else
		set_state(tls, type == APPLICATION ? FINISHED : OVER);
	tls->finished_ms = data->now_ms;
	return (type == APPLICATION || (type == HANDSHAKE && tls->state == OVER)) &&
	       data->len - at <= HEADER + len;
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
	bool is_hello;
	u16 len;

	switch (tls->state) {
	case BEGIN:
		is_hello = record_at(data, 0, &len) == HANDSHAKE && is_client_hello(data, 0);
		set_state(tls, is_hello ? HELLO : OVER);
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

static void learn(struct synq_tls_server *server, u8 i, u16 len)
{
	if (server->n && !is_near(server->len[i], len) && !i)
		server->n = 0;
	server->len[i] = len;
	server->n = max_t(u8, server->n, i + 1);
}

/* Has the server sent a record of its prelude that is no ticket? */
static bool has_settings(const struct synq_tls *tls, const struct synq_tls_server *server)
{
	return tls->n > 1 && !is_near(server->len[tls->n - 1], tls->len);
}

/* Is the record at @at no answer? */
static bool is_prelude(struct synq_tls *tls, struct synq_tls_server *server,
		       const struct synq_tls_data *data, u32 at, bool is_asked)
{
	u8 i = tls->n;
	u16 len, next;

	if (record_at(data, at, &len) != APPLICATION)
		return false;
	if (!tls->acknowledged && has_settings(tls, server) &&
	    (len == SETTINGS_ACK || len == SETTINGS_ACK + WINDOW_UPDATE)) {
		tls->acknowledged = true;
		return true;
	}
	if (!tls->len)
		tls->len = len;
	if (len > PRELUDE_MOST || i == SYNQ_TLS_PRELUDE ||
	    (!is_asked && data->now_ms - tls->finished_ms > PRELUDE_MS))
		return false;
	if (!is_asked) {
		learn(server, i, len);
	} else if (i >= server->n || !is_near(server->len[i], len) ||
		   /* The tickets of one session have the same length; it may have fewer. */
		   (i && is_near(server->len[i], tls->len) && len != tls->len)) {
		/* Two in one segment? */
		if (i || record_at(data, at + HEADER + len, &next) != APPLICATION ||
		    next != len)
			return false;
		learn(server, 0, len);
		learn(server, 1, len);
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
		set_state(tls, SHAKEN);
		return false;
	case LAST:
		set_state(tls, OVER);
		return false;
	case FINISHED:
		break;
	case GUESSED:
		/* The second of two that leave one after the other. */
		if (record_at(data, 0, &len) == APPLICATION && len == tls->len &&
		    len <= PRELUDE_MOST && data->len == HEADER + len) {
			learn(server, 0, len);
			learn(server, 1, len);
		}
		set_state(tls, OVER);
		return false;
	default:
		return false;
	}
	while (at < data->len) {
		if (!is_prelude(tls, server, data, at, is_asked)) {
			set_state(tls, tls->n ? OVER : GUESSED);
			server->guesses = min(server->guesses + 1, GUESSES);
			return false;
		}
		record_at(data, at, &len);
		at += HEADER + len;
	}
	return true;
}
