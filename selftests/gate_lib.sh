# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# Connections that have to wait at the gate, for gate.sh, gate_sysctl.sh,
# marks_gate.sh and hold_lib.sh.
#
# The test at the SYN lets so few through that hardly any has to wait.  So some clients
# ("late") are admitted while the queue is empty, and the server's answers to them, and to
# no others, are lost: the server stops expecting a quick ACK.  Then others ("bulk") fill
# the queue, and then the late ones complete.  Each step is waited for.
#
# Backlog 40: gold's reserve is 10, a quarter is 10.  SYNs are refused three slots before
# the gate shuts, so three of the late find room.  A quarter of the queue without an answer
# would be a flood: hence no cookies.

BACKLOG=40 RESERVE=10 LATE=10 BULK=50
TO=$V4 GOLD=10.1.0.1 FILLER=10.3.0.1
LATECOMER=10.3.9.1 LATE_NET=10.3.9.0/24 NOBODY=192.0.2.9

# From here on the same with IPv6.
by_ipv6() {
	TO=$V6 GOLD=fd00:1::1 FILLER=fd00:3::1
	LATECOMER=fd00:3:9::1 LATE_NET=fd00:3:9::/48 NOBODY=2001:db8::9
}

two_classes() {
	apply <<-EOT
		class add gold priority 0 reserve 25%
		class add bulk priority 6 max-wait none cookies never
		match add source 10.1.0.0/16 class gold
		match add source 10.3.0.0/16 class bulk
		listener add port $PORT
	EOT
}

# hold OPTION...: a server that does not accept yet.  It echoes, whenever the
# client's data comes: the SYN-ACK that is sent again may be faster.
hold() {
	rm -f "$TMP/go" "$TMP/end"
	server "$TMP/server" -b $BACKLOG -H "$TMP/go" -E "$TMP/end" -m epoll \
		"$@" "$PORT"
	held=$LAST
}

syn_retrans_from() {
	[ "$(mib TcpExt.TCPSynRetrans)" -ge "$1" ]
}

# The way to the late, by a neighbour that nobody is.
lose_late() {
	ip -n "$SRV" -batch - <<-EOT || die "no route"
		neighbour replace $NOBODY lladdr 02:00:00:00:00:09 dev veth0
		route add $LATE_NET via $NOBODY
	EOT
}

# is_filled N: so many SYNs of bulk were judged, and nobody's handshake is under way
# but those of the late; or the stock kernel has no slot left
is_filled() {
	if [ ! -d /sys/module/synq ]; then
		full_to $((BACKLOG + 1))
		return
	fi
	counter_from bulk seen "$1" && [ "$(half_open)" = $LATE ]
}

# overfill OPTION...: late and bulk clients
overfill() {
	local options=(-w 60000 "$@" "$TO" "${DIAL:-$PORT}") before seen=0
	before=$(mib TcpExt.TCPSynRetrans)
	[ ! -d /sys/module/synq ] || seen=$(counter bulk seen)
	lose_late
	client "$TMP/late" -n $LATE -c $LATE -s $LATECOMER -S $LATE -i l \
		"${options[@]}"
	fillers=("$LAST")
	must_come 30 syn_retrans_from $((before + LATE))
	fill "${options[@]}"
	must_come 30 is_filled $((seen + LATE + BULK))
	ip -n "$SRV" route del $LATE_NET
}

# fill OPTION...: more bulk clients than there are slots for anybody; few at a
# time, so that it is the queue that stops them
fill() {
	client "$TMP/bulk" -n $BULK -c 4 -p 50 -s $FILLER -S 200 -i b "$@"
	fillers+=("$LAST")
}

# gold OPTION...: get in while the server holds: what they send is acknowledged
gold() {
	"$PEER" client -N "$CLI" -n $RESERVE -c $RESERVE -s $GOLD -A \
		-w 20000 -i g "$@" "$TO" "$PORT" >"$TMP/gold"
}

full_to() {
	[ "$(queued)" -ge "$1" ]
}

# served NAME: the sum over late and bulk, when the server has accepted all
served() {
	must_come 60 has "$TMP/bulk" ^done
	must_come 60 has "$TMP/late" ^done
	grep -hE '^(reset|failed) ' "$TMP/bulk" "$TMP/late" |
		sed 's/^/# /' >&2
	awk '$1 == "connected" { n[$2] = 1 } $1 == "answered" { delete n[$2] }
		END { for (i in n) print "# connected, never answered: " i }' \
		"$TMP/bulk" "$TMP/late" >&2
	echo $(($(field "$TMP/bulk" "$1") + $(field "$TMP/late" "$1")))
}

# Each of the late has been promoted, or is held.
have_come() {
	local stats
	has "$TMP/late" ^connected $LATE || return
	stats=$(told stats -j)
	counter_in "$stats" bulk held_now
	[ "$found" -ge 1 ] && [ "$(half_open)" = "$found" ]
}

# all_held: sets WAITING, how many are
all_held() {
	must_come 30 have_come
	WAITING=$(counter bulk held)
	[ "$WAITING" -ge 5 ] || note "only $WAITING are held"
}

# went_on CLASS: those that were held and are not any more; on a slow machine after 6 s
went_on() {
	echo $(($(counter "$1" released) + $(counter "$1" hold_flushed)))
}
