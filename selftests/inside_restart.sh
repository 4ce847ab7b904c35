#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A server that accepts at once, with "inside auto", has more ordinary clients than it can
# serve, and is stopped for a while (SIGSTOP for $STOPPED s, 15), goes on, is killed, and
# started again, all under load.  While it is stopped clients come in within the time that
# anybody is held, but not all of them; when it goes on they are served, and others are at once.
#
# Must fail if: clients of a server that stands still were lost, or held for longer than their
# time, or let in for it to work on for long; or the dead server's were remembered.
#
# One kernel will do: it takes long.  The clock may leap.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/inside_lib.sh"
plan 21

STOPPED=${STOPPED:-15}

# served NAME: two tests
served() {
	preferred 24 8
	note "$1: preferred $gold of 24, median $median ms, limit at most $most," \
		"ordinary busy $(counter bulk busy_now), stuck $(counter bulk stuck_now)," \
		"held $(counter bulk held_now)"
	check_prompt "$1: all preferred are served" test "$gold" = 24
	check_prompt "$1: the limit is, or is again, at most 8 times the workers" \
		wait_for 20 limit_is_sane
}

load_synq
inside_conf "inside auto"
eager $PORT
manage
load 100 $((STOPPED + 60))
pause_ms 999
pause_ms 999
pause_ms 999
served "before"

# --- it is stopped ---
kill -STOP "$serving"
since=$(ms) before=$(limit)
client "$TMP/patient" -n 20 -r 10 -s 10.1.6.1 -S 250 -i patient -w $((STOPPED * 1000 + 15000)) \
	$V4 $PORT
must_come 20 has "$TMP/patient" "^acked" 20
check "stopped: the preferred come in within 10 s" test $(($(ms) - since)) -le 10000
note "stopped: the limit is $(limit), and was $before; ordinary held $(counter bulk held_now), stuck $(counter bulk stuck_now)"
# Where its clients are too slow to overload it, all of them are let in, and worked for later.
check_prompt "stopped: a counter says why" test "$(counter bulk stuck)" -gt 0
while [ $(($(ms) - since)) -lt $((STOPPED * 1000)) ]; do
	pause_ms 500
done
kill -CONT "$serving"
must_come 30 has "$TMP/patient" ^done
check_prompt "stopped: the preferred that came meanwhile are served" \
	test "$(field "$TMP/patient" answered)" = 20
check_prompt "stopped: the limit comes back" wait_for 10 limit_is_sane
# Whom it let in meanwhile it still works for, though most of them have left.
pause_ms 999
served "stopped, and goes on"

# --- it is killed ---
stop "$serving"
check "killed: nothing of it is left" wait_for 15 sockets_are 0
is "killed: nobody is held" "$(counter gold held_now) $(counter bulk held_now)" "0 0"
check "killed: nobody is followed" wait_for 15 is_quiet
eager $PORT
manage
check "started again: the limit begins anew" limit_is_sane
pause_ms 999
served "started again"

# --- and once more, at once ---
for _ in 1 2 3; do
	kill -9 "$serving"
	wait_for 10 is_gone "$serving"
	eager $PORT
	pause_ms 700
done
pause_ms 999
pause_ms 999
served "restarted three times"
stop "$loading"
over "in the end"
adds_up "in the end"
adds_up "in the end, preferred" gold
check "in the end: the server has no more clients than are connected" \
	wait_for 15 counter_is bulk stuck_now 0
