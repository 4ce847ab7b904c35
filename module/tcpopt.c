// SPDX-License-Identifier: GPL-2.0
/*
 * Finds an option in a TCP header as the stack does: what is there is what the
 * sender wrote, so nothing behind the end is looked at, and nothing behind an
 * option whose length is wrong is believed.
 *
 * Pure: any context, no lock.
 */
#include <linux/bits.h>

#include "tcpopt.h"

#define END	0
#define PADDING	1
#define MPTCP	30
#define MP_JOIN	1

/**
 * synq_tcpopt_find() - find a TCP option
 * @option: where the options of the header begin
 * @end: of the header
 * @kinds: that will do, 2 to 31, as bits
 *
 * Return: the first such option that is all there, its kind and length of 2 or more
 * in front; NULL if there is none
 */
const u8 *synq_tcpopt_find(const u8 *option, const u8 *end, u32 kinds)
{
	while (option < end && *option != END) {
		if (*option == PADDING) {
			option++;
			continue;
		}
		if (end - option < 2 || option[1] < 2 ||
		    option[1] > end - option)
			return NULL;
		if (*option < 32 && kinds & BIT(*option))
			return option;
		option += option[1];
	}
	return NULL;
}

/**
 * synq_tcpopt_is_mp_join() - does a segment join a subflow to an MPTCP connection?
 * @option: where the options of its header begin
 * @end: of the header
 *
 * Return: true if so (RFC 8684)
 */
bool synq_tcpopt_is_mp_join(const u8 *option, const u8 *end)
{
	option = synq_tcpopt_find(option, end, BIT(MPTCP));
	return option && option[1] > 2 && option[2] >> 4 == MP_JOIN;
}
