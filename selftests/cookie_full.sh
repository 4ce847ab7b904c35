#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Connections of SYN cookies whose final ACK, and three full segments behind it, find a
# full accept queue; as one packet (as GRO makes of them), and as several.  What becomes of
# them is what the stock kernel makes of them, or better: with several segments it resets
# them, since only the first proves the cookie; with one they are served in the end.
#
# Must fail if: a segment of such a connection were held, or one behind it reached a
# listener that does not know it.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need tc dd
plan 8
BACKLOG=39 HELD=30 FULL=40 LATE=20 BYTES=4344

# talk: one client; prints what became of it
talk() {
	local line
	echo ready
	# All at once: the queue shall be full only when their final ACKs come.
	until [ -e "$TMP/begin" ]; do
		read -r -t 0.1 line <>"$TMP/never"
	done
	exec 3<>/dev/tcp/$V4/$PORT || return
	dd if="$TMP/text" bs=$BYTES status=none >&3	# at once
	if read -r -n 1 -t 30 line <&3; then
		echo served
	else
		echo reset
	fi
}
export -f talk
export V4 BYTES TMP
printf '%*s' $BYTES x >"$TMP/text"

# fate NAME: sets served and reset
fate() {
	local i
	rm -f "$TMP/go" "$TMP/begin" "$TMP/fate".*
	[ -p "$TMP/never" ] || mkfifo "$TMP/never"
	server "$TMP/server" -b $BACKLOG -H "$TMP/go" -m epoll $PORT
	[ ! -d /sys/module/synq ] || manage
	client "$TMP/full" -n $HELD -c $HELD -s 10.1.1.1 -S 100 -w 60000 $V4 $PORT
	must_come 20 queue_is $HELD
	before=$(mib TcpExt.SyncookiesSent)
	cli tc qdisc add dev veth0 root netem delay 800ms || die "no netem"
	for ((i = 0; i < LATE; i++)); do
		PORT=$PORT background "$TMP/fate.$i" "$PEER" in "$CLI" "$BASH" -c talk
	done
	must_come 30 all_wait
	touch "$TMP/begin"
	must_come 20 all_cookies
	must_come 20 queue_is $FULL
	# Their segments have come, whether or not they found a slot.
	sleep 2
	touch "$TMP/go"
	must_come 60 all_told
	served=$(cat "$TMP"/fate.* | grep -c ^served)
	reset=$((LATE - served))
	note "$1: served $served, reset $reset"
	cli tc qdisc del dev veth0 root
	stop "${pids[@]}"
	pids=()
	PORT=$((PORT + 1))
}

all_cookies() {
	[ ! -d /sys/module/synq ] || { counter_from gold cookie_sent $((LATE + HELD)) && return; }
	[ "$(mib TcpExt.SyncookiesSent)" -ge $((before + LATE)) ]
}

all_wait() {
	[ "$(cat "$TMP"/fate.* | grep -c ^ready)" = $LATE ]
}

all_told() {
	[ "$(cat "$TMP"/fate.* | grep -cE '^(served|reset)')" = $LATE ]
}

# in_packets N: of so many segments
in_packets() {
	ip -n "$CLI" link set veth0 gso_max_segs "$1" || die "no gso_max_segs"
	set_sysctl "$CLI" net.ipv4.tcp_min_tso_segs "$1"
	# A probe is a segment of its own.
	set_sysctl "$CLI" net.ipv4.tcp_early_retrans 0
}

set_sysctl "$SRV" net.ipv4.tcp_syncookies 2
in_packets 3
fate "stock, one packet"
one=$reset
is "stock, one packet: nobody is reset" $one 0
in_packets 1
fate "stock, several packets"
several=$reset
check "stock, several packets: some are reset" test $several -gt 0
set_sysctl "$SRV" net.ipv4.tcp_syncookies 1

load_synq
apply <<-EOT
	class add gold priority 0
	match add source 0.0.0.0/0 class gold
	class add rest priority 6 default
	listener add port $PORT cookies always
	listener add port $((PORT + 1)) cookies always
EOT
in_packets 3
fate "one packet"
within "one packet: as many are reset" $reset 0 $one
is "one packet: all are served" "$served" $LATE
check "and some found it full" test "$(counter gold cookie_refused $((PORT - 1)))" -gt 0
in_packets 1
fate "several packets"
within "several packets: no more are reset" $reset 0 $several
check "and some found it full" test "$(counter gold cookie_refused $((PORT - 1)))" -gt 0
is "nobody was held" "$(counter gold held $((PORT - 1)))" 0
