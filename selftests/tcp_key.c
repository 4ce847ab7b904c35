// SPDX-License-Identifier: GPL-2.0
/*
 * Keys of TCP-MD5 and TCP-AO: tcp_peer's servers and clients have the same one.
 */
#define _GNU_SOURCE
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

#include "tcp_peer.h"

#define KEY		"key"

#ifndef TCP_AO_ADD_KEY
#define TCP_AO_ADD_KEY	38
#endif

/* struct tcp_ao_add of the kernel, which the C library does not have yet. */
struct ao_key {
	struct sockaddr_storage addr;
	char algorithm[64];
	int32_t ifindex;
	uint32_t flags;
	uint16_t reserved;
	uint8_t prefix;
	uint8_t sndid;
	uint8_t rcvid;
	uint8_t maclen;
	uint8_t keyflags;
	uint8_t keylen;
	uint8_t key[80];
} __attribute__((aligned(8)));

static int add_md5(int fd, const struct address *peer, int bits)
{
	struct tcp_md5sig md5 = {
		.tcpm_flags = TCP_MD5SIG_FLAG_PREFIX,
		.tcpm_prefixlen = bits,
		.tcpm_keylen = strlen(KEY), .tcpm_key = KEY,
	};

	memcpy(&md5.tcpm_addr, &peer->sa, peer->len);
	return setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG_EXT, &md5, sizeof(md5));
}

static int add_ao(int fd, const struct address *peer, int bits)
{
	struct ao_key ao = {
		.algorithm = "hmac(sha1)", .prefix = bits,
		.sndid = 100, .rcvid = 100,
		.keylen = strlen(KEY), .key = KEY,
	};

	memcpy(&ao.addr, &peer->sa, peer->len);
	return setsockopt(fd, IPPROTO_TCP, TCP_AO_ADD_KEY, &ao, sizeof(ao));
}

/*
 * @text: "md5" or "ao", and behind "=" the peers that the key is for: an address, or
 * ADDRESS/BITS; else for an IPv4 host that never comes.
 */
void add_key(int fd, const char *text)
{
	char what[4] = "", name[INET6_ADDRSTRLEN] = "198.51.100.1";
	struct address peer;
	int bits = -1;

	if (sscanf(text, "%3[a-z0-9]=%45[^/]/%d", what, name, &bits) < 1)
		die("%s: not WHAT[=ADDRESS[/BITS]]", text);
	address_parse(&peer, name);
	if (bits < 0)
		bits = peer.sa.sa_family == AF_INET ? 32 : 128;
	if (!strcmp(what, "md5") ? add_md5(fd, &peer, bits) :
				   add_ao(fd, &peer, bits))
		skip(what);
}
