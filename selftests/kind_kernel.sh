#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Listeners of the kernel itself: RDS listens on port 16385 of each namespace, MPTCP
# on the port of an endpoint.  The first is left alone even if its port is configured;
# the second looks like any other MPTCP listener, and goes when the endpoint does.
#
# Must fail if: a socket were managed that holds no reference to its namespace,
# or an endpoint's removal left something.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan 11

# connect_some PORT: true if some were answered; RDS may reset them at once, and on a
# busy machine not look at all of them
connect_some() {
	"$PEER" client -N "$CLI" -n 5 -q -A -w 30000 -s 10.1.0.1 $V4 "$1" \
		>"$TMP/some"
	grep -qE '^(connected|failed .* Connection reset)' "$TMP/some"
}

listens() {
	[ -n "$(srv ss -Hltn "sport = :$1")" ]
}

not_listening() {
	! listens "$1"
}

RDS=16385
modprobe rds_tcp 2>/dev/null
if wait_for 2 listens $RDS; then
	check "RDS, stock kernel: answers" connect_some $RDS
	load_synq
	three_classes $RDS | apply
	check "RDS: answers" connect_some $RDS
	is "RDS: is not managed" "$(conf_counter sockets)" 0
	is "RDS: nothing has failed" "$(conf_counter attach_failed)" 0
	PORT=$RDS
	is "RDS: no SYN is judged" "$(totals seen)" 0
	unload_synq
else
	for _ in 1 2 3 4 5; do
		skip "RDS" "not in this kernel"
	done
fi

PORT=8090
if ip -n "$SRV" mptcp endpoint add $V4 port $PORT signal 2>/dev/null &&
   wait_for 2 listens $PORT; then
	connect_some $PORT
	ok "MPTCP endpoint, stock kernel: listens"
	load_synq
	three_classes $PORT | apply
	connect_some $PORT
	is "MPTCP endpoint: SYNs are judged" "$(totals seen)" 5
	is "MPTCP endpoint: nothing has failed" "$(conf_counter attach_failed)" 0
	ip -n "$SRV" mptcp endpoint flush
	check "MPTCP endpoint: listens no more" \
		wait_for 10 not_listening $PORT
	clean_end "MPTCP endpoint"
else
	for _ in 1 2 3 4 5 6; do
		skip "MPTCP endpoint" "not in this kernel"
	done
fi
