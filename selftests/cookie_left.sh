#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Clients reconnect from a port whose last connection is in TIME_WAIT here, while their
# class has had its share of the SYN queue and a flood goes on: they connect at their first
# try, as with the stock kernel.  SYNs from other ports get a cookie.  Under "cookies
# never" no SYN does, and these clients are refused like any others.
#
# Must fail if: they were refused at each try, like SYNs that cannot have a cookie while
# the queue is full.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 7

N=20 BACKLOG=40	# which all N find room in, however slow the server is

left_are() {
	[ "$(srv ss -Htn state time-wait "sport = :$PORT" | wc -l)" -ge "$1" ]
}

# connect MS PORT: N clients, from ports that follow each other, who do not try again
# within a second
connect() {
	"$PEER" client -N "$CLI" -q -n $N -c $N -s 10.3.0.1 -P "$2" -w "$1" \
		$V4 $PORT >"$TMP/c"
	note "from port $2: $(grep ^done "$TMP/c")"
}

full() {
	[ "$(half_open)" -ge $((BACKLOG - 2)) ]
}

load_synq
apply <<-EOT
	class add bulk priority 6 default max-wait none
	listener add port $PORT
EOT
server "$TMP/server" -b $BACKLOG -r 0 $PORT
connect 20000 6000
is "all connect" "$(field "$TMP/c" connected)" $N
# Where the client was not faster, on another CPU.
must_come 30 left_are $((N / 2))
background "$TMP/flood" "$PEER" segment -N "$CLI" -n 200000 -r 300 -p 5000 \
	-s 10.200.0.1 -S 10000 $V4 $PORT
flood=$LAST
must_come 30 counter_from bulk flooded_now 1
# No more of it than a quarter has full state.
must_come 30 counter_from bulk half_open $((BACKLOG / 4))
before=$(mib TcpExt.SyncookiesRecv)
connect 800 6000
is "again from the same ports: all connect" "$(field "$TMP/c" connected)" $N
# Where the kernel tells its listener what they follow; 6.1 forgets it on the way.
note "$(($(mib TcpExt.SyncookiesRecv) - before)) by cookies"
is "none was refused for its class's share" "$(counter bulk share_refused)" 0
is "the flood went on" "$(counter bulk flooded_now)" 1
connect 20000 7000
within "from other ports: by cookies" \
	$(($(mib TcpExt.SyncookiesRecv) - before)) $((N / 2)) $((2 * N))
must_come 30 left_are $N
sq class set bulk cookies never || die "no policy"
before=$(counter bulk share_refused)
must_come 30 counter_from bulk share_refused $((before + 10))
connect 800 6000
within "without cookies: refused like any other" "$(field "$TMP/c" connected)" \
	0 $((N - 1))
must_come 30 full
sq class set bulk cookies auto || die "no policy"
connect 800 7000
is "the queue is full: from ports that are left all connect" \
	"$(field "$TMP/c" connected)" $N
stop "$flood"
