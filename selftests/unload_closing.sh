#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The listener is closed and the module unloaded in one step: the last reference to the
# socket is that of its record, which goes with the state of its namespace.  Again with
# $SOCKETS of them.
#
# Must fail if: a record wrote to, or asked, the state of a namespace that
# does not exist any more.  KASAN sees it, where there is one CPU.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 4

SOCKETS=8

# unload NAME LAST: two tests, with a listener on each port from $PORT to LAST
unload() {
	local port
	load_synq
	{ three_classes | grep -v '^listener'
	  for ((port = PORT; port <= $2; port++)); do
		echo "listener add port $port"
	  done; } | apply
	rm -f "$TMP/close"
	# shellcheck disable=SC2046
	background "$TMP/unload" "$PEER" unload -N "$SRV" -E "$TMP/close" \
		0.0.0.0 $(seq $PORT "$2")
	must_come 10 has "$TMP/unload" ^listening
	for ((port = PORT; port <= $2; port++)); do
		manage $V4 $port
	done
	: >"$TMP/close"
	check "$1: closed and unloaded" wait_for 60 has "$TMP/unload" ^unloaded
	check "$1: it is gone" test ! -d /sys/module/synq
}

unload "one" $PORT
unload "$SOCKETS" $((PORT + SOCKETS - 1))
