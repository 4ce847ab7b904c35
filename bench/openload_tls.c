// SPDX-License-Identifier: GPL-2.0
/*
 * openload: TLS, as a client speaks it that checks no certificate and never resumes a
 * session.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "openload.h"

static struct ssl_ctx_st *context;

/* Once connected, before anything is said. */
void tls_begin(struct request *r)
{
	if (!context) {
		context = SSL_CTX_new(TLS_client_method());
		if (!context)
			die("TLS: %s", ERR_error_string(ERR_get_error(), NULL));
		SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	}
	r->tls = SSL_new(context);
	if (!r->tls || !SSL_set_fd(r->tls, r->fd))
		die("TLS: %s", ERR_error_string(ERR_get_error(), NULL));
	/* As browsers do: the request right behind what ends the handshake. */
	setsockopt(r->fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	SSL_set_connect_state(r->tls);
}

/* What the library said of @result, as errno says it; never returns 0 for an error. */
static ssize_t told(struct request *r, int result)
{
	switch (SSL_get_error(r->tls, result)) {
	case SSL_ERROR_NONE:
		return result;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		errno = EAGAIN;
		break;
	default:
		/* The server has left, or talks something else. */
		errno = ECONNRESET;
	}
	ERR_clear_error();
	return -1;
}

/* Goes on with the handshake; 1: it is complete, -1 and EAGAIN: the server's turn. */
ssize_t tls_shake(struct request *r)
{
	return told(r, SSL_do_handshake(r->tls));
}

bool tls_is_shaken(const struct request *r)
{
	return SSL_is_init_finished(r->tls);
}

ssize_t tls_recv(struct request *r, char *buf, size_t len)
{
	return told(r, SSL_read(r->tls, buf, len));
}

ssize_t tls_send(struct request *r, const char *msg, size_t len)
{
	return told(r, SSL_write(r->tls, msg, len));
}

void tls_end(struct request *r)
{
	SSL_free(r->tls);
	r->tls = NULL;
}
