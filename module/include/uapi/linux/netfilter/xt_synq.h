/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/*
 * What the match "synq" and the target "SYNQ" of iptables hand to the kernel.
 */
#ifndef _UAPI_LINUX_NETFILTER_XT_SYNQ_H
#define _UAPI_LINUX_NETFILTER_XT_SYNQ_H

#include <linux/synq.h>
#include <linux/types.h>

#define XT_SYNQ_INVERT	1	/* of the match only */

/**
 * struct xt_synq_info - a class of synq
 * @name: of the class, with a zero behind it
 * @flags: XT_SYNQ_*
 * @reserved: 0
 *
 * The same size and layout for 32 and 64 bit.
 */
struct xt_synq_info {
	char name[SYNQ_NAME_MAX + 1];
	__u32 flags;
	__u32 reserved;
};

#endif /* _UAPI_LINUX_NETFILTER_XT_SYNQ_H */
