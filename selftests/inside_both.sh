#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# One process listens on IPv4 and on IPv6, by a socket each, as most do, and more ordinary
# clients come by both than it can serve; by IPv6 later.  Each socket has "inside auto", and would
# get more of the same workers by a higher limit of its own.  They have one together, which stays
# what it should be, and the preferred are served at once by both.
#
# First none of those by IPv6 is answered, and some are held, while those by IPv4 all are, and none
# is held.
#
# In the end those by both always come again, and by IPv6 they are fewer than may be inside, so that
# none is held: they count all the same, and a limit that brings nothing does not stay.
#
# Must fail if: each had a limit of its own, or what one has told of its load were forgotten; if
# answers where nobody is held kept the limit as it is for others; or if what one has inside were
# forgotten as soon as it holds none.
#
# One kernel will do: it takes long.  The clock may leap.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/inside_lib.sh"
plan 13

# By so few answers it would not rise so far, but more slowly.
is_open() {
	[ "$(limit)" -ge 40 ]
}

load_synq
inside_conf "inside auto"
set_sysctl "$SRV" net.core.somaxconn 65535
set_sysctl "$SRV" net.ipv4.tcp_max_syn_backlog 65536
eager -6 -b 32768 -Q quiet $PORT
manage $V4
manage $V6

# --- one holds, and is not answered, the other is ---
client "$TMP/light" -n 36 -r 3 -s "$BULK" -S 250 -w 3000 $V4 $PORT
light=$LAST
must_come 5 has "$TMP/light" ^answered 2
by V6
client "$TMP/quiet" -i quiet -n 100 -r 100 -s "$BULK" -S 250 -w 8000 $V6 $PORT
quiet=$LAST
before=$(answers bulk)
check "beside: some are held" wait_for 2 counter_from bulk held_now 1
check_prompt "beside: answers where none is held do not keep the limit from opening" \
	wait_for 6 is_open
note "$(($(answers bulk) - before)) answered beside those who are held, limits $(limit)"
check "beside: but there were some" test $(($(answers bulk) - before)) -gt 3
stop "$light" "$quiet"
check "beside: afterwards nobody is held" wait_for 15 is_quiet

# Four workers answer 50 in a second.
by V4
load 60 60
v4=$loading
pause_ms 20000
by V6
load 60 40
v6=$loading
pause_ms 15000
for family in V4 V6; do
	by $family
	preferred 24 8
	note "$family: preferred $gold of 24, median $median ms, limits at most $most"
	check_prompt "$family: all preferred are served" test "$gold" = 24
	within_prompt "$family: at once" "$median" 0 $((8 * SERVICE))
	check "$family: the limits are at most twice the workers, together" \
		test "$most" -le $((2 * WORKERS))
done
stop "$v4" "$v6"
over "in the end"

# --- all clients get in by a limit that is tried, and always come again ---
stop "$serving"
wait_for 5 sockets_are 0
eager -6 -b 32768 $PORT
manage $V4
manage $V6
by V4
client "$TMP/again4" -n 100000 -c 14 -C -s "$BULK" -S 250 -w 3000 $V4 $PORT
v4=$LAST
by V6
client "$TMP/again6" -n 100000 -c 8 -C -s "$BULK" -S 250 -w 3000 $V6 $PORT
v6=$LAST
pause_ms 15000
note "of 14 and 8 clients that always come again: a limit of $(limit)"
check_prompt "a limit that brings nothing does not stay" test "$(limit)" -lt 16
stop "$v4" "$v6"
