// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of tls.c, in user space.  Run by "make -C module/test check".
 *
 * A segment is a list of records, each with a type and a length.  What is read behind the end of
 * a segment is seen by the address sanitizer.
 */
#include <linux/types.h>
#include <string.h>

#include "tls.h"
#include "tap.h"

#define RECORD(type, len)	((type) << 16 | (len))
#define HANDSHAKE_TYPE	22
#define CIPHER		RECORD(20, 1)
#define HANDSHAKE(len)	RECORD(HANDSHAKE_TYPE, len)
#define DATA(len)	RECORD(23, len)
#define CLIENT_HELLO	1
#define SERVER_HELLO	2
#define KEY_EXCHANGE	16
#define FINISHED	DATA(53)
#define TICKET		DATA(282)
#define REQUEST		DATA(120)
#define ANSWER		DATA(1100)
#define SETTINGS	DATA(63)

struct segment {
	u8 *byte;
	u32 len;
};

static bool read_segment(const struct synq_tls_data *data, u32 at, u8 *to, u32 n)
{
	const struct segment *segment = data->packet;

	if (at > segment->len || segment->len - at < n)
		return false;
	memcpy(to, segment->byte + at, n);
	return true;
}

/* Of a handshake the first byte is @first. */
static void fill(struct segment *segment, const int *record, size_t n, u8 first)
{
	u8 *to;
	size_t i;

	segment->len = 0;
	for (i = 0; i < n; i++)
		segment->len += 5 + (record[i] & 0xffff);
	segment->byte = calloc(1, segment->len);
	to = segment->byte;
	if (!to)
		abort();
	for (i = 0; i < n; i++) {
		to[0] = record[i] >> 16;
		to[1] = 3;
		to[2] = 3;
		to[3] = record[i] >> 8;
		to[4] = record[i];
		to[5] = to[0] == HANDSHAKE_TYPE ? first : 0xaa;
		to += 5 + (record[i] & 0xffff);
	}
}

static u32 now_ms = 0xffffffff - 50;

static bool pass(struct synq_tls *tls, struct synq_tls_server *server, bool out, bool asked,
		 const int *record, size_t n, u8 first, u32 cut)
{
	struct segment segment;
	struct synq_tls_data data = { .read = read_segment, .packet = &segment,
				      .now_ms = now_ms };
	bool is_nothing;
	u8 *whole;

	fill(&segment, record, n, first);
	whole = segment.byte;
	segment.len -= cut;
	data.len = segment.len;
	/* So that the sanitizer knows where it ends. */
	segment.byte = malloc(segment.len ?: 1);
	if (!segment.byte)
		abort();
	memcpy(segment.byte, whole, segment.len);
	is_nothing = out ? synq_tls_out(tls, server, &data, asked) : synq_tls_in(tls, &data);
	free(segment.byte);
	free(whole);
	return is_nothing;
}

#define in(tls, first, ...)						\
	pass(tls, NULL, false, false, (const int[]){ __VA_ARGS__ },	\
	     ARRAY_SIZE(((int[]){ __VA_ARGS__ })), first, 0)

#define out(tls, server, asked, ...)					\
	pass(tls, server, true, asked, (const int[]){ __VA_ARGS__ },	\
	     ARRAY_SIZE(((int[]){ __VA_ARGS__ })), SERVER_HELLO, 0)

/* Up to where the client has to finish. */
static void shake(struct synq_tls *tls, struct synq_tls_server *server)
{
	memset(tls, 0, sizeof(*tls));
	in(tls, CLIENT_HELLO, HANDSHAKE(512));
	out(tls, server, true, HANDSHAKE(122), CIPHER, DATA(600));
}

static bool request_comes_later(void)
{
	struct synq_tls_server server = {};
	struct synq_tls tls, again = {};

	shake(&tls, &server);
	check(!synq_tls_is_greeted(&tls), "its hello was answered");
	in(&again, CLIENT_HELLO, HANDSHAKE(512));
	check(synq_tls_is_greeted(&again), "a hello");
	check(in(&tls, 0, CIPHER, FINISHED), "Finished is no request");
	check(!synq_tls_is_guess(&tls, &server), "nothing is guessed yet");
	check(out(&tls, &server, false, TICKET), "a ticket is no answer");
	check(out(&tls, &server, false, TICKET), "nor is the second");
	check(server.len[0] == 282 && server.n == 2, "learnt: %u of %u", server.n, server.len[0]);
	check(!in(&tls, 0, REQUEST), "a request");
	check(!out(&tls, &server, true, ANSWER), "an answer");
	check(!out(&tls, &server, true, TICKET), "as many tickets as there are, no more");
	return true;
}

static bool request_comes_with_it(void)
{
	struct synq_tls_server server = { .len = { 270, 270 }, .n = 2 };
	struct synq_tls tls;

	shake(&tls, &server);
	check(!in(&tls, 0, CIPHER, FINISHED, REQUEST), "a request behind Finished");
	check(out(&tls, &server, true, TICKET), "a ticket of about that length");
	check(out(&tls, &server, true, TICKET), "and the other");
	check(!out(&tls, &server, true, TICKET), "an answer of about that length");
	check(synq_tls_is_over(&tls), "and that is all");

	shake(&tls, &server);
	in(&tls, 0, FINISHED, REQUEST);
	check(!out(&tls, &server, true, TICKET, TICKET, ANSWER), "with an answer behind them");

	shake(&tls, &server);
	in(&tls, 0, CIPHER, FINISHED, REQUEST);
	check(!out(&tls, &server, true, ANSWER), "a server that sends none this time");

	/* A session that goes on gets one. */
	shake(&tls, &server);
	in(&tls, 0, CIPHER, FINISHED, REQUEST);
	check(out(&tls, &server, true, TICKET), "one ticket");
	check(!out(&tls, &server, true, DATA(290)), "an answer of about that length");

	/* GET of a server that does not speak HTTP. */
	shake(&tls, &server);
	in(&tls, 0, CIPHER, FINISHED, REQUEST);
	out(&tls, &server, true, TICKET, TICKET);
	check(!out(&tls, &server, true, DATA(26)), "no settings, so none acknowledged");
	return true;
}

static bool learns_from_two(void)
{
	struct synq_tls_server server = {};
	struct synq_tls tls;
	unsigned int i;

	shake(&tls, &server);
	in(&tls, 0, CIPHER, FINISHED, REQUEST);
	check(!out(&tls, &server, true, TICKET), "not known: taken for an answer");
	check(synq_tls_is_guess(&tls, &server), "which is a guess");
	check(!out(&tls, &server, false, TICKET), "nothing to answer any more");
	check(server.len[0] == 282 && server.n == 2, "learnt: %u of %u", server.n, server.len[0]);

	memset(&server, 0, sizeof(server));
	shake(&tls, &server);
	in(&tls, 0, CIPHER, FINISHED, REQUEST);
	check(out(&tls, &server, true, TICKET, TICKET), "both in one segment");
	check(server.len[0] == 282 && server.n == 2, "learnt: %u of %u", server.n, server.len[0]);

	memset(&server, 0, sizeof(server));
	shake(&tls, &server);
	in(&tls, 0, CIPHER, FINISHED, REQUEST);
	check(!out(&tls, &server, true, ANSWER), "an answer");
	check(!out(&tls, &server, false, DATA(1101)) && !server.n, "two of other lengths");
	check(synq_tls_is_over(&tls), "and that is all");
	for (i = 0; i < 15; i++) {
		shake(&tls, &server);
		in(&tls, 0, CIPHER, FINISHED, REQUEST);
		out(&tls, &server, true, ANSWER);
	}
	check(!synq_tls_is_guess(&tls, &server), "a server without tickets");
	return true;
}

static bool one_ticket(void)
{
	struct synq_tls_server server = {};
	struct synq_tls tls;

	shake(&tls, &server);
	in(&tls, 0, CIPHER, FINISHED);
	out(&tls, &server, false, DATA(130));
	check(server.n == 1, "one is learnt");
	shake(&tls, &server);
	in(&tls, 0, CIPHER, FINISHED, REQUEST);
	check(out(&tls, &server, true, DATA(130)), "the ticket");
	check(!out(&tls, &server, true, DATA(130)), "an answer of the same length");
	return true;
}

static bool settings_behind_tickets(void)
{
	struct synq_tls_server server = {};
	struct synq_tls tls;

	shake(&tls, &server);
	in(&tls, 0, CIPHER, FINISHED);
	check(out(&tls, &server, false, TICKET, TICKET), "tickets");
	check(out(&tls, &server, false, SETTINGS), "and settings");
	check(server.n == 3 && server.len[2] == 63, "learnt: %u", server.n);

	shake(&tls, &server);
	in(&tls, 0, CIPHER, FINISHED, REQUEST);
	check(out(&tls, &server, true, TICKET, TICKET, SETTINGS), "all three");
	check(out(&tls, &server, true, DATA(26)), "settings are acknowledged: no answer");
	check(!out(&tls, &server, true, DATA(26)), "the next is one");
	shake(&tls, &server);
	in(&tls, 0, CIPHER, FINISHED, REQUEST);
	check(out(&tls, &server, true, TICKET, TICKET, SETTINGS, DATA(39)), "with a window update");
	check(!out(&tls, &server, true, ANSWER), "an answer");

	shake(&tls, &server);
	in(&tls, 0, CIPHER, FINISHED, REQUEST);
	out(&tls, &server, true, TICKET, TICKET);
	check(!out(&tls, &server, true, DATA(24)), "an answer without settings, a short one");
	check(server.n == 3, "which changes nothing");

	/* That no request came, for instance. */
	shake(&tls, &server);
	in(&tls, 0, CIPHER, FINISHED);
	now_ms += 100;
	out(&tls, &server, false, TICKET, TICKET, SETTINGS);
	now_ms += 200;
	check(!out(&tls, &server, false, DATA(300)) && server.n == 3, "much later: no prelude");

	shake(&tls, &server);
	in(&tls, 0, CIPHER, FINISHED);
	out(&tls, &server, false, DATA(180));
	check(server.n == 1 && server.len[0] == 180, "other tickets: all begins anew");
	return true;
}

static bool other_handshakes(void)
{
	struct synq_tls_server server = {};
	struct synq_tls tls = {};

	in(&tls, CLIENT_HELLO, HANDSHAKE(512));
	check(!out(&tls, &server, true, HANDSHAKE(90), HANDSHAKE(900)), "TLS 1.2 answers");
	check(!in(&tls, KEY_EXCHANGE, HANDSHAKE(37), CIPHER, HANDSHAKE(40)),
	      "keys are something to answer");
	check(synq_tls_is_greeted(&tls), "upon which the client goes on");
	check(!out(&tls, &server, true, CIPHER, HANDSHAKE(40)), "it is answered");
	check(synq_tls_is_over(&tls), "and that is all");

	memset(&tls, 0, sizeof(tls));
	in(&tls, CLIENT_HELLO, HANDSHAKE(512));
	out(&tls, &server, true, HANDSHAKE(90), CIPHER, HANDSHAKE(40));
	check(in(&tls, 0, CIPHER, HANDSHAKE(40)), "resumed: the client finishes");
	check(synq_tls_is_over(&tls), "upon which nothing comes");

	memset(&tls, 0, sizeof(tls));
	in(&tls, CLIENT_HELLO, HANDSHAKE(512));
	out(&tls, &server, true, HANDSHAKE(90), CIPHER, HANDSHAKE(40));
	check(!in(&tls, 0, CIPHER, HANDSHAKE(40), DATA(300)), "resumed, with a request");

	memset(&tls, 0, sizeof(tls));
	in(&tls, CLIENT_HELLO, HANDSHAKE(512));
	out(&tls, &server, true, HANDSHAKE(88), CIPHER);
	check(!in(&tls, CLIENT_HELLO, CIPHER, HANDSHAKE(512)), "another hello is answered");
	out(&tls, &server, true, HANDSHAKE(122), DATA(600));
	check(in(&tls, 0, FINISHED), "then the client finishes");

	shake(&tls, &server);
	check(in(&tls, 0, CIPHER), "a change of cipher spec alone");
	check(in(&tls, 0, FINISHED), "and Finished");
	check(!server.n, "nothing is learnt from that");
	return true;
}

static bool not_tls(void)
{
	static const int plain[] = { RECORD('G', 30), DATA(50), CIPHER, RECORD(21, 2) };
	struct synq_tls_server server = {};
	struct synq_tls tls;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(plain); i++) {
		memset(&tls, 0, sizeof(tls));
		check(!pass(&tls, NULL, false, false, &plain[i], 1, 0, 0), "a request");
		check(synq_tls_is_over(&tls), "and not TLS");
	}
	memset(&tls, 0, sizeof(tls));
	check(!in(&tls, SERVER_HELLO, HANDSHAKE(512)) && synq_tls_is_over(&tls),
	      "a handshake of somebody else");
	memset(&tls, 0, sizeof(tls));
	check(!out(&tls, &server, false, DATA(100)) && !synq_tls_is_over(&tls),
	      "a server that speaks first");
	return true;
}

/* Whatever comes, nothing is read behind the end, and it is over some day. */
static bool anything(void)
{
	struct synq_tls_server server = {};
	unsigned int round, i;

	for (round = 0; round < 20000; round++) {
		struct synq_tls tls = {};

		for (i = 0; i < 12; i++) {
			size_t n = 1 + tap_below(3), j;
			int record[3];
			u32 all = 0;

			for (j = 0; j < n; j++) {
				u32 len = 1 + tap_below(tap_below(2) ? 8 : 400);

				record[j] = RECORD(19 + tap_below(6), len);
				all += 5 + len;
			}
			pass(&tls, &server, tap_below(2), tap_below(2), record, n,
			     1 + tap_below(2), tap_below(2) ? tap_below(all) : 0);
		}
		check(server.n <= SYNQ_TLS_PRELUDE, "%u records", server.n);
	}
	return true;
}

static const struct tap_case cases[] = {
	{ "a request that comes after the tickets", request_comes_later },
	{ "a request that comes with the end of the handshake", request_comes_with_it },
	{ "two tickets, one after the other, are learnt from", learns_from_two },
	{ "a server with one ticket", one_ticket },
	{ "settings of HTTP/2 behind the tickets", settings_behind_tickets },
	{ "TLS 1.2, another hello, a change of cipher spec alone", other_handshakes },
	{ "no TLS", not_tls },
	{ "anything", anything },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
