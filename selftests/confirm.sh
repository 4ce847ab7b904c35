#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A configuration on trial is rolled back by itself, completely, and stays if it is
# confirmed; no other process can commit meanwhile.  Listeners of the multicast group
# are told of each change, whichever process made it.  The namespace and the module can
# go in the middle of a trial.
#
# Must fail if: the old configuration were not kept whole, the end of one trial were
# taken for the end of the next, or the work outlived the namespace.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 24

# What is in force.
saved() {
	sq save | grep -v '^#'
}

saved_is() {
	[ "$(saved)" = "$1" ]
}

generation() {
	conf_counter generation
}

# heard N REGEX: the line number N of the monitor
heard() {
	sed -n "$1p" "$TMP/monitor" | grep -qE "$2"
}

# refused NAME COMMAND...: since another configuration is on trial
refused() {
	local name=$1
	shift
	if "$@" >"$TMP/out" 2>&1; then
		not_ok "$name is refused"
		return
	fi
	check "$name is refused" grep -q 'is on trial' "$TMP/out"
}

load_synq
background "$TMP/monitor" "$PEER" in "$SRV" synq monitor
monitor=$LAST
must_come 10 heard 1 '^generation 0: 0 classes, 0 matches, 0 listeners$'

# Sources are kept, too: none begins anew because of a trial.
{
	three_classes
	echo "class set bulk source-rate 1/second source-burst 3"
} | apply
before=$(saved)
n=$(generation)
check "what is applied is told" wait_for 10 heard 2 \
	"^generation $n: 3 classes, 6 matches, 1 listener\$"
server "$TMP/server" $PORT
manage
client "$TMP/c" -n 10 -c 1 -s 10.3.0.1 -S 1 -w 3000 $V4 $PORT
wait_for 20 has "$TMP/c" ^done
sources=$(sq stats sources -j | grep -c '"source"')
is "a source is known" "$sources" 1

{
	echo "class add other priority 2"
	echo "match add source 10.9.0.0/16 class other"
	echo "listener add port 81"
} >"$TMP/other"
other=$(cat "$TMP/other")

# --- it goes back ---
is "on trial" "$(sq apply --confirm 4s "$TMP/other" 2>&1)" \
	"synq: note: on trial for 4s: synq confirm keeps it"
check "it is in force" saved_is "$other"
within "stats say how long still" "$(conf_counter confirm_left)" 1 4
refused "another configuration" sq apply "$TMP/other"
refused "one more trial" sq apply --confirm 100s "$TMP/other"
refused "a change" sq class add more priority 9
refused "flush" sq flush
check "off and on work" eval "sq off && sq on"
check "what was before is back" wait_for 30 saved_is "$before"
is "that is a generation of its own" "$(generation)" $((n + 2))
is "the source is known still" "$(sq stats sources -j | grep -c '"source"')" 1
check "it can be changed again" sq class add more priority 9
sq class del more

# --- it stays ---
sq apply --confirm 3s "$TMP/other" 2>/dev/null
check "confirmed" sq confirm
n=$(generation)
check "that is told" wait_for 10 grep -q "^generation $n: .* listener$" "$TMP/monitor"
is "nothing is on trial any more" "$(conf_counter confirm_left)" ""
sq confirm >"$TMP/out" 2>&1
is "confirmed twice" "$? $(cat "$TMP/out")" "1 synq: nothing is on trial"

# The end of the first trial comes in the middle of the second one.
echo "listener add port 82" >"$TMP/third"
sq apply --confirm 100s "$TMP/third" 2>/dev/null
sleep 4
check "the end of a trial is not that of the next" saved_is \
	"listener add port 82"
sq confirm

# --- each change is told, in order ---
sq flush
n=$(generation)
check "the last one is told" wait_for 10 grep -q "^generation $n: 0 classes" "$TMP/monitor"
sed -n 's/^generation \([0-9]*\):.*/\1/p' "$TMP/monitor" | uniq >"$TMP/told"
is "none is missing" "$(cat "$TMP/told")" "$(seq 0 "$n")"
is "trials are told" "$(grep -c 'on trial' "$TMP/monitor")" 5
is "off is told" "$(grep -c ', off' "$TMP/monitor")" 1
stop "$monitor"

# --- the namespace goes, and the module ---
new_pair "$SRV-b" "$CLI-b"
SPACE=$SRV-b sq apply --confirm 2s "$TMP/other" 2>/dev/null
del_ns "$SRV-b"
sq apply --confirm 2s "$TMP/other" 2>/dev/null
check "unloads in the middle of a trial" rmmod synq
sleep 3
