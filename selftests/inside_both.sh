#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# One process listens on IPv4 and on IPv6, by a socket each, as most do, and more ordinary
# clients come by both than it can serve; by IPv6 later.  Each socket has "inside auto", and would
# get more of the same workers by a higher limit of its own.  They have one together, which stays
# what it should be, and the preferred are served at once by both.
#
# Must fail if: each had a limit of its own, or what one has told of its load were forgotten.
#
# One kernel will do: it takes long.  The clock may leap.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/inside_lib.sh"
plan 8

load_synq
inside_conf "inside auto"
set_sysctl "$SRV" net.core.somaxconn 65535
set_sysctl "$SRV" net.ipv4.tcp_max_syn_backlog 65536
eager -6 -b 32768 $PORT
manage $V4
manage $V6

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
