#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Prints -DSYNQ_HAVE_... for each feature that the headers of a kernel have.
# Stable kernels backport changes of signatures, so the version says nothing.
# Called by module/Kbuild; the answers are used in module/compat.h only.
#
# usage: probe.sh KERNEL-SOURCE
set -eu

include=$1/include

probe() { # name, header, extended regex over the header as one line
	if tr -s '\n\t ' ' ' < "$include/$2" | grep -qE "$3"; then
		printf -- '-DSYNQ_HAVE_%s ' "$1"
	fi
}

probe OPT_CHILD_INIT net/inet_connection_sock.h \
	'void \(\*opt_child_init\)'
probe LOOKUP_HASHINFO net/inet_hashtables.h \
	'__inet_lookup_established\((const )?struct net \*net, struct inet_hashinfo'
probe GENL_INFO_DUMP net/genetlink.h \
	'genl_info_dump\('
probe GENL_SPLIT_OPS net/genetlink.h \
	'struct genl_split_ops \{'
probe NLA_CONST_RANGE net/netlink.h \
	'const struct netlink_range_validation \*range;'
probe SK_UID net/sock.h \
	'kuid_t sk_uid\('
probe INET_REPFLOW net/inet_sock.h \
	'INET_FLAGS_REPFLOW'
probe NAMESPACE_STRING linux/export.h \
	'EXPORT_SYMBOL_NS_GPL\(sym, ns\) __EXPORT_SYMBOL\(sym, "GPL", ns\)'
probe SEQ_AND_TS_OFF net/secure_seq.h \
	'secure_tcp_seq_and_ts_off\('
probe TW_ISN net/tcp.h \
	'u32 tcp_tw_isn;'
probe HRTIMER_SETUP linux/hrtimer.h \
	'void hrtimer_setup\('
probe ACCECN_FAIL_MODE linux/tcp.h \
	'struct tcp_request_sock \{[^}]*accecn_fail_mode'
probe ACCECN net/tcp.h \
	'tcp_ca_needs_accecn\('
