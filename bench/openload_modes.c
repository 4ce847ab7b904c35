// SPDX-License-Identifier: GPL-2.0
/*
 * openload: the protocols that it talks.  What is said once a connection is there, and
 * when what comes back is an answer.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <string.h>

#include "openload.h"

#define SSH_KEXINIT		20
#define SSH_KEX_ECDH_INIT	30
#define SSH_KEX_ECDH_REPLY	31

/* The first of the messages. */
static const char *ask(const struct group *g, size_t *len)
{
	const struct message *m = g->requests > 1 ? &g->message : &g->last;

	*len = m->len;
	return m->text;
}

static struct response *response_of(struct request *r)
{
	if (!r->resp)
		r->resp = calloc(1, sizeof(*r->resp));
	if (!r->resp)
		die("out of memory");
	return r->resp;
}

static void http_parse_head(struct request *r, struct response *resp)
{
	unsigned int code = 0;
	const char *p;

	if (sscanf(resp->head, "HTTP/1.%*1u %3u", &code) == 1)
		r->http = code;
	resp->body_want = -1;
	p = strcasestr(resp->head, "\r\nContent-Length:");
	if (p)
		resp->body_want = strtoll(p + strlen("\r\nContent-Length:"), NULL, 10);
	resp->chunked = strcasestr(resp->head, "\r\nTransfer-Encoding: chunked");
}

static void keep_tail(struct response *resp, const char *buf, size_t len)
{
	size_t n = len < sizeof(resp->tail) ? len : sizeof(resp->tail);

	memmove(resp->tail, resp->tail + n, sizeof(resp->tail) - n);
	memcpy(resp->tail + sizeof(resp->tail) - n, buf + len - n, n);
}

/* Takes what belongs to the head; returns how many bytes of @buf that was. */
static size_t http_head(struct request *r, struct response *resp,
			const char *buf, size_t len)
{
	size_t before = resp->head_len;
	size_t n = len < HEAD_MAX - before ? len : HEAD_MAX - before;
	char *end;

	memcpy(resp->head + before, buf, n);
	resp->head[before + n] = '\0';
	end = strstr(resp->head, "\r\n\r\n");
	if (!end) {
		resp->head_len += n;
		return len;
	}
	end[2] = '\0';
	resp->head_len = end + 4 - resp->head;
	resp->head_done = true;
	http_parse_head(r, resp);
	return resp->head_len - before;
}

static bool http_complete(const struct response *resp, bool closed)
{
	if (!resp->head_done)
		return false;
	if (resp->chunked)
		return !memcmp(resp->tail, "0\r\n\r\n", sizeof(resp->tail));
	if (resp->body_want >= 0)
		return resp->body_have >= resp->body_want;
	return closed;
}

static enum status http_input(struct request *r, const char *buf, size_t len)
{
	struct response *resp = response_of(r);
	size_t used = 0;

	if (!resp->head_done)
		used = http_head(r, resp, buf, len);
	if (used < len) {
		resp->body_have += len - used;
		keep_tail(resp, buf + used, len - used);
	}
	if (http_complete(resp, !len))
		return r->http == 200 ? ST_OK : ST_HTTP_ERROR;
	return len ? ST_PENDING : ST_SHORT;
}

static void set_message(struct message *m, const char *text, size_t len)
{
	memcpy(m->text, text, len);
	m->len = len;
}

static void http_message(const struct group *g, const char *connection,
			 struct message *m)
{
	int n;

	n = snprintf(m->text, sizeof(m->text),
		     "GET %s HTTP/1.1\r\nHost: server\r\nUser-Agent: openload\r\n"
		     "Accept: */*\r\nAccept-Encoding: gzip\r\n"
		     "Connection: %s\r\n\r\n", g->path, connection);
	if (n >= (int)sizeof(m->text))
		die("http: path too long");
	m->len = n;
}

static void http_prepare(struct group *g)
{
	http_message(g, "keep-alive", &g->message);
	http_message(g, "close", &g->last);
}

static const char *no_greeting(const struct group *g, size_t *len)
{
	(void)g;
	*len = 0;
	return NULL;
}

/* A server that talks first has served its client with its first line. */
static enum status banner_input(struct request *r, const char *buf, size_t len)
{
	(void)r;
	if (!len)
		return ST_SHORT;
	return memchr(buf, '\n', len) ? ST_OK : ST_PENDING;
}

/*
 * PostgreSQL, protocol 3.0: a start and one query, each of which is answered by messages of
 * which ReadyForQuery is the last.  One of so many locks is held for the time of service,
 * as if each were a row that everybody writes.
 */
static void postgres_prepare(struct group *g)
{
	static const char start[] =
		"\0\0\0\x29\0\3\0\0user\0postgres\0database\0postgres\0";
	char query[sizeof(g->last.text)];
	int n;

	n = snprintf(query, sizeof(query), "Q%c%c%c%cselect %s", 0, 0, 0,
		     (int)(strlen("select ") + strlen(g->path) + 5), g->path);
	set_message(&g->message, start, sizeof(start));
	set_message(&g->last, query, n + 1);
}

static enum status postgres_input(struct request *r, const char *buf, size_t len)
{
	struct response *resp = response_of(r);

	if (!len)
		return ST_SHORT;
	keep_tail(resp, buf, len);
	return memcmp(resp->tail, "\0\0\0\5I", sizeof(resp->tail)) ? ST_PENDING : ST_OK;
}

/* RFC 4253: length, length of the padding, payload, padding. */
static size_t ssh_packet(char *to, const char *payload, size_t len)
{
	size_t pad = 8 - (5 + len) % 8;
	uint32_t be;

	if (pad < 4)
		pad += 8;
	be = htonl(1 + len + pad);
	memcpy(to, &be, sizeof(be));
	to[4] = pad;
	memcpy(to + 5, payload, len);
	memset(to + 5 + len, 0, pad);
	return 5 + len + pad;
}

static size_t ssh_string(char *to, const char *text, size_t len)
{
	uint32_t be = htonl(len);

	memcpy(to, &be, sizeof(be));
	memcpy(to + sizeof(be), text, len);
	return sizeof(be) + len;
}

/*
 * OpenSSH, as far as it needs no account: the algorithms are agreed on, and the server
 * signs a key exchange, which costs it most.  The client's part of that is the same each
 * time; it leaves before the key is used.
 */
static void ssh_prepare(struct group *g)
{
	static const char hello[] = "SSH-2.0-openload\r\n", key[32] = { 9 };
	static const char *const lists[] = {
		"curve25519-sha256", "ssh-ed25519", "aes128-ctr", "aes128-ctr",
		"hmac-sha2-256", "hmac-sha2-256", "none", "none", "", "",
	};
	char text[sizeof(g->message.text)], payload[sizeof(text) / 2] = { SSH_KEXINIT };
	size_t len = 1 + 16, i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		len += ssh_string(payload + len, lists[i], strlen(lists[i]));
	len += 1 + 4;	/* no guess follows; reserved */
	memcpy(text, hello, strlen(hello));
	len = strlen(hello) + ssh_packet(text + strlen(hello), payload, len);
	set_message(&g->message, text, len);
	payload[0] = SSH_KEX_ECDH_INIT;
	len = 1 + ssh_string(payload + 1, key, sizeof(key));
	set_message(&g->last, text, ssh_packet(text, payload, len));
}

/* Behind the server's first line the one packet that is awaited. */
static enum status ssh_input(struct request *r, const char *buf, size_t len)
{
	struct response *resp = response_of(r);
	const char *packet = resp->head, *end;
	uint32_t be;

	if (!len || resp->head_len + len > HEAD_MAX)
		return ST_SHORT;
	memcpy(resp->head + resp->head_len, buf, len);
	resp->head_len += len;
	end = resp->head + resp->head_len;
	if (!r->answered) {
		packet = memchr(resp->head, '\n', resp->head_len);
		packet = packet ? packet + 1 : end;
	}
	if (end - packet < 6)
		return ST_PENDING;
	if (packet[5] != (r->answered ? SSH_KEX_ECDH_REPLY : SSH_KEXINIT))
		return ST_SHORT;
	memcpy(&be, packet, sizeof(be));
	return (size_t)(end - packet) < sizeof(be) + ntohl(be) ? ST_PENDING : ST_OK;
}

static const struct mode modes[] = {
	{ "http", true, false, 0, http_prepare, ask, http_input },
	{ "https", true, true, 0, http_prepare, ask, http_input },
	{ "banner", false, false, 1, NULL, no_greeting, banner_input },
	{ "postgres", true, false, 2, postgres_prepare, ask, postgres_input },
	{ "ssh", false, false, 2, ssh_prepare, ask, ssh_input },
};

/* NULL if there is none of that name. */
const struct mode *find_mode(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (!strcmp(modes[i].name, name))
			return &modes[i];
	return NULL;
}
