#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A BPF sockmap holds the listener, from before or after it is managed.  With a verdict
# program the map takes over the socket's wake-up (and on the stock kernel consumes the
# clients' data).  Its callback still runs, the socket is served in class order, and the
# module can be unloaded at any time.
#
# Must fail if: another owner's callback were lost or cut off, or kept one of synq's.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan $((2 * KIND_TESTS + 8))

# attach WHAT: the server's socket, until the file "end" is there
attach() {
	rm -f "$TMP/end"
	background "$TMP/bpf" "$PEER" bpf -E "$TMP/end" "$1" "$held"
	bpf=$LAST
	must_come 10 has "$TMP/bpf" '^(attached|skip|tcp_peer)'
	has "$TMP/bpf" ^attached
}

detach() {
	touch "$TMP/end"
	wait_for 10 is_gone "$bpf"
}

hold
if ! attach verdict; then
	stop "$held"
	skip_kind sockmap "$(cat "$TMP/bpf")"
	skip_kind sockmap "$(cat "$TMP/bpf")"
	for _ in 1 2 3 4 5 6 7 8; do
		skip sockmap "$(cat "$TMP/bpf")"
	done
	exit
fi
detach
stop "$held"

prepare() {
	attach sockmap
}
kind "in a sockmap before"
prepare() {
	:
}
meanwhile() {
	attach sockmap
}
kind "in a sockmap after"
meanwhile() {
	:
}

# addresses: by which the clients are told apart when their words are lost
addresses() {
	awk '$1 == "accept" { print $2 }' "$TMP/server"
}

# silent: clients that say nothing, accepted by a server that does not ask
arrivals 12 4 >"$TMP/list"
listen='-a 0.0.0.0 -r 0' talk=-q
silent() {
	client "$TMP/silent" -q -c 1 -w 50000 -f "$TMP/list" $V4 $PORT
	must_come 20 queue_is 12
	touch "$TMP/go"
	must_come 20 has "$TMP/server" ^accept 12
	addresses >"$TMP/got"
}

# --- a verdict program ---
hold
attach verdict
silent
check "verdict, stock kernel: order of arrival" cmp "$TMP/got" "$TMP/list"
stop "$held"

load_synq
three_classes | apply
hold
attach verdict
manage
silent
by_class "$TMP/list" | while read -r id; do
	sed -n "$((${id#c} + 1))p" "$TMP/list"
done >"$TMP/expected"
check "verdict before synq: class, then arrival" cmp "$TMP/got" "$TMP/expected"
check "verdict before synq: unloads" rmmod synq
detach
"$PEER" client -N "$CLI" -q -w 30000 -s 10.1.0.1 $V4 $PORT >"$TMP/then"
is "and the listener goes on" "$(field "$TMP/then" closed)" 1
stop "$held"

load_synq
three_classes | apply
hold
manage
attach verdict
silent
check "verdict after synq: class, then arrival" cmp "$TMP/got" "$TMP/expected"
is "verdict after synq: no operations were replaced" \
	"$(conf_counter foreign_owner)" 0
check "verdict after synq: unloads" rmmod synq
detach
"$PEER" client -N "$CLI" -q -w 30000 -s 10.1.0.1 $V4 $PORT >"$TMP/then"
is "and the listener goes on when the other has gone" \
	"$(field "$TMP/then" closed)" 1
stop "$held"
