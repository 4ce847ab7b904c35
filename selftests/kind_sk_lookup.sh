#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A BPF program chooses the socket (sk_lookup): SYNs to other ports, and to the port of
# another listener, count for the port of the chosen socket.
#
# Must fail if: the port in the packet decided, or a SYN were judged for both ports.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan $((2 * KIND_TESTS + 4))

steerer=''
prepare() {
	[ -z "$steerer" ] || stop "$steerer"
	background "$TMP/bpf" "$PEER" bpf -N "$SRV" -p "$dial" lookup "$held"
	steerer=$LAST
	must_come 10 has "$TMP/bpf" '^(attached|skip)'
	has "$TMP/bpf" ^attached
}

hold
if ! prepare; then
	stop "$held"
	skip_kind "sk_lookup" "$(cat "$TMP/bpf")"
	skip_kind "sk_lookup" "$(cat "$TMP/bpf")"
	for _ in 1 2 3 4; do
		skip "sk_lookup" "$(cat "$TMP/bpf")"
	done
	exit
fi
stop "$held"

dial=7777
kind "steered from port 7777"
to=$V6 listen='-a :: -V' sources='fd00:1:: fd00:2:: fd00:3::'
kind "steered, IPv6"

# From one configured listener to another: judged once, for that which gets it.
to=$V4 listen='-a 0.0.0.0' sources='10.1.0. 10.2.0. 10.3.0.' dial=8081
load_synq
{ three_classes; echo listener add port 8081; } | apply
server "$TMP/other" -m none 8081
other=$LAST
arrivals $N 7 >"$TMP/list"
queue_up synq
by_class "$TMP/list" >"$TMP/expected"
same "to another listener: class, then arrival" "$TMP/server" "$TMP/expected"
once "to another listener"
PORT=8081
is "the listener that was dialled saw none" "$(totals seen placed)" "0 0"
PORT=8080

# To a port that is not configured: left alone.
stop "$steerer"
sq flush
three_classes 8081 | apply
queue_up_unmanaged() {
	hold
	prepare
	arrive "$TMP/list"
	release $N
}
queue_up_unmanaged
by_arrival
same "to a listener that is not configured: order of arrival" \
	"$TMP/server" "$TMP/expected"
stop "$other" "$steerer"
