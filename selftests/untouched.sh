#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What no listener names is not touched, whatever the matches say: another port of the
# same host (ssh), forwarded SYNs, other segments, and a configured port on which nothing
# listens behave as ever.
#
# Must fail if: the policer or the gate looked at more than the configured ports of this
# host, or refused where nothing listens.

. "${BASH_SOURCE[0]%/*}/lib.sh"
SSH=22
plan 14

# All clients are in a class that admits almost nothing.
conf() {
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 rate 1/second burst 1
		match add source 0.0.0.0/0 class bulk
		match add source ::/0 class bulk
		match add source 10.1.0.0/16 class gold
		listener add port $PORT
	EOT
}

sum_seen() {
	local n sum=0
	for n in $(sq stats -j | tr -d ' \n' | tr '{' '\n' |
		   sed -n 's/^"seen":\([0-9]*\).*/\1/p'); do
		sum=$((sum + n))
	done
	echo $sum
}

# many NAME TO PORT FROM: forty at once all get in, in order
many() {
	"$PEER" client -N "$CLI" -n 40 -c 40 -A -w 30000 -s "$4" -S 40 \
		"$2" "$3" >"$TMP/many"
	is "$1" "$(field "$TMP/many" acked)" 40
}

server "$TMP/ssh" -a :: -m none -b 512 $SSH
many "stock kernel: ssh" $V4 $SSH 10.3.0.1

load_synq
conf
server "$TMP/http" -a :: -m none $PORT
manage
before=$(sum_seen)
many "ssh over IPv4" $V4 $SSH 10.3.0.1
many "ssh over IPv6" $V6 $SSH fd00:3::1
is "no SYN to another port is judged" "$(sum_seen)" "$before"
is "no socket of another port is managed" "$(conf_counter sockets)" 1

# Another port's queue is in order of arrival.
server "$TMP/list" -H "$TMP/go" 8443
client "$TMP/c" -n 20 -w 20000 -s 10.3.0.1 -s 10.1.0.1 $V4 8443
must_come 10 has "$TMP/c" ^acked 20
touch "$TMP/go"
must_come 10 has "$TMP/list" ^accept 20
is "another port's order is that of arrival" \
	"$(awk '/^accept/ { print $4 }' "$TMP/list" | tr '\n' ' ')" \
	"$(seq 0 19 | sed 's/^/c/' | tr '\n' ' ')"

# --- forwarded ---
behind=$SRV-b
new_ns "$behind"
ip -n "$SRV" link add veth1 type veth peer name veth1 netns "$behind"
ip -n "$SRV" -batch - <<-EOT
	link set veth1 up
	address add 198.51.100.1/24 dev veth1
EOT
ip -n "$behind" -batch - <<-EOT
	link set veth1 up
	address add 198.51.100.2/24 dev veth1
	route add default via 198.51.100.1
EOT
ip -n "$CLI" route add 198.51.100.0/24 via $V4
set_sysctl "$SRV" net.ipv4.ip_forward 1
background "$TMP/behind" "$PEER" server -N "$behind" -m none $PORT
must_come 10 is_up "$TMP/behind"
many "forwarded to the same port of another host" 198.51.100.2 $PORT 10.3.0.1
is "no forwarded SYN is judged" "$(sum_seen)" "$before"

# --- no SYNs ---
for flags in A R FA SA SR SF PA ''; do
	"$PEER" segment -N "$CLI" -s 10.200.0.1 -f "$flags" $V4 $PORT >/dev/null
done
is "what is no SYN is not judged" "$(sum_seen)" "$before"

# --- a configured port where nothing listens ---
sq listener add port 8090
before_none=$(conf_counter no_listener)
"$PEER" client -N "$CLI" -n 5 -c 5 -w 3000 -s 10.3.0.1 $V4 8090 >"$TMP/none"
is "no listener: refused by the kernel at once" "$(lines "$TMP/none" refused)" 5
is "no listener: counted" \
	$(($(conf_counter no_listener) - before_none)) 5

# --- no address of this host ---
"$PEER" segment -N "$CLI" -s 10.3.0.1 192.0.2.77 $PORT >/dev/null
is "SYNs to other hosts are not judged" "$(sum_seen)" "$before"

# --- and the class is what it says, at the listener ---
"$PEER" client -N "$CLI" -n 40 -c 40 -A -w 900 -s 10.3.0.1 -S 40 $V4 $PORT \
	>"$TMP/many"
within "the same clients at the listener" "$(field "$TMP/many" acked)" 0 3
many "gold at the listener" $V4 $PORT 10.1.0.1
