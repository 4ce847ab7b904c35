#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A BPF sockmap holds the listener, from before or from after it is managed.  With a
# verdict program the map takes over what wakes the socket (and on the stock kernel
# eats what the clients send): below synq it is called; on top of it, the socket is
# served in order of arrival, and the module stays until the socket is closed.
#
# Would miss its mark if: a callback of another owner were lost or cut off, or the
# module went while the other might call it.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan $((2 * KIND_TESTS + 10))

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
	for _ in 1 2 3 4 5 6 7 8 9 10; do
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
check "verdict below synq: class, then arrival" cmp "$TMP/got" "$TMP/expected"
check "verdict below synq: unloads" rmmod synq
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
sort "$TMP/got" >"$TMP/sorted"
check "verdict on top: nothing is lost" \
	cmp "$TMP/sorted" <<-EOT
		$(sort "$TMP/list")
	EOT
sq flush
is "verdict on top: the other owner is counted" "$(conf_counter foreign_owner)" 1
rmmod synq 2>/dev/null
check "verdict on top: cannot be unloaded" test -d /sys/module/synq
detach
check "also when the other has gone" test -d /sys/module/synq
stop "$held"
check "when the listener is closed, no socket is left" \
	wait_for 10 conf_counter_is sockets 0
check "and it can" wait_for 10 rmmod synq
