#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Once SYNs were refused for a second, the next are refused earlier, and earlier still
# once connections had to wait at the gate: while the server holds, fewer of the same
# clients are let into the queue than before.  How they are made to wait is in
# gate_lib.sh.
#
# Would miss its mark if: nothing were learned from those that were refused, or had to
# wait, or the class were shut out.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/gate_lib.sh"
plan 5

CROWD=50

# filled: clients come while the server holds; LENGTH is that of the queue then
filled() {
	local seen refused
	seen=$(counter bulk seen)
	refused=$(counter bulk queue_refused)
	fillers=()
	fill -w 40000 $V4 $PORT
	must_come 20 counter_from bulk seen $((seen + CROWD))
	must_come 20 counter_from bulk queue_refused $((refused + CROWD - BACKLOG))
	LENGTH=$(queued)
}

# accept_all FILE N: they are served, and the server holds again
accept_all() {
	touch "$1"
	must_come 60 has "$TMP/server" ^accept "$2"
	must_come 60 has "$TMP/bulk" ^done
}

load_synq
two_classes
hold -m list -C $CROWD
manage

BULK=$CROWD
filled
first=$LENGTH
before=$(counter bulk queue_refused)
"$PEER" segment -N "$CLI" -n 50 -r 20 -s 10.3.7.1 -p 7000 $V4 $PORT >/dev/null
must_come 20 counter_from bulk queue_refused $((before + 50))
accept_all "$TMP/go" $CROWD
filled
second=$LENGTH
accept_all "$TMP/go.1" $((2 * CROWD))

# As many once more, some of whom come late.
BULK=$((CROWD - LATE))
overfill
must_come 30 counter_from bulk withheld 3
accept_all "$TMP/go.2" $((3 * CROWD))
is "who had to wait is served" "$(counter bulk withheld_completed)" \
	"$(counter bulk withheld)"
before=$(counter bulk withheld)

BULK=$CROWD
filled
within "at first so many were let in" "$first" 10 $((BACKLOG - RESERVE))
within "once SYNs were refused, fewer" "$second" 8 $((first - 1))
within "once connections had to wait, fewer still" "$LENGTH" 5 $((second - 1))
is "and nobody had to wait" "$(counter bulk withheld)" "$before"
