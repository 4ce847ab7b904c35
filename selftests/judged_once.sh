#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each SYN is judged once, where it reaches its listener, by the state of that moment.
# Packets that arrive together pass the first hook in lists before any of them gets to the
# listener, and the first of a list may bring cookies on for the last; and a program
# (NFQUEUE) delays SYNs in between.
#
# Must fail if: an earlier hook took tokens, counted, or decided.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need nft tc
plan 22

# No list begins at the same place of each flood.
FLOODED=(8081 8082 8083 8084) WARM=60 EACH=120
OTHER=8090
SYSCTL=net/ipv4/tcp_syncookies

# seen PORT...: of the class bulk, by all of them
seen() {
	local stats sum=0 port
	stats=$(told stats -j)
	for port; do
		counter_in "$stats" bulk seen "$port"
		sum=$((sum + found))
	done
	echo $sum
}

# --- lists ---

# SYNs to these ports, however often they are judged
arrived() {
	srv nft list chain inet arrived pre |
		sed -n 's/.* counter packets \([0-9]*\) .*/\1/p'
}

arrived_are() {
	[ "$(arrived)" = "$1" ]
}

judged_are() {
	[ $(($(seen "${FLOODED[@]}") - managed)) = "$1" ]
}

# flood PORT...: netem lets nothing out until 300 ms after the first, and then all: not
# so many that veth has no place for them (256)
flood() {
	local port
	for port; do
		"$PEER" segment -N "$CLI" -n $EACH -p $((next += EACH)) \
			-s 10.200.1.1 -S $EACH $V4 "$port" >/dev/null
		sent=$((sent + EACH))
		must_come 30 arrived_are $sent
	done
}

# none_open: at any of these ports, so that there is room
none_open() {
	local stats port
	stats=$(told stats -j)
	for port in "${FLOODED[@]}"; do
		counter_in "$stats" bulk half_open "$port"
		[ "$found" = 0 ] || return
		counter_in "$stats" bulk flooded_now "$port"
		[ "$found" = 0 ] || return
		counter_in "$stats" bulk cookie_sent "$port"
		had[port]=$found
	done
}

# come_on: cookies, at each of these ports
come_on() {
	local stats port
	stats=$(told stats -j)
	for port in "${FLOODED[@]}"; do
		counter_in "$stats" bulk cookie_sent "$port"
		[ "$found" -gt "${had[port]}" ] || return
	done
}

load_synq
next=2000 sent=0 had=()
"$PEER" lists -N "$SRV" veth0 || die "no GRO"
"$PEER" lists -N "$CLI" veth0 || die "no GRO"
for port in "${FLOODED[@]}"; do
	server "$TMP/server.$port" -b 64 -m epoll "$port"
done
apply <<-EOT
	class add gold priority 0
	class add bulk priority 6 default max-wait none
	match add source 10.1.0.0/16 class gold
	$(printf 'listener add port %s synack-retries 1\n' "${FLOODED[@]}" $PORT $OTHER)
EOT
for port in "${FLOODED[@]}"; do
	manage $V4 "$port"
done
srv nft -f - <<-EOT || die "no nft"
	table inet arrived {
		chain pre {
			type filter hook prerouting priority -300
			tcp dport ${FLOODED[0]}-${FLOODED[-1]} tcp flags & (syn|ack) == syn counter
		}
	}
EOT
managed=$(seen "${FLOODED[@]}")
# These are reset, and nobody expects any more that handshakes complete, when that has
# gone on for a while: so as many are let in as fill the SYN queue.
lose_hope() {
	local port
	for port in "${FLOODED[@]}" "${FLOODED[@]}"; do
		"$PEER" segment -N "$CLI" -n $WARM -r 300 -p $((next += WARM)) \
			-s 10.3.0.1 -S $WARM $V4 "$port" >/dev/null
		sent=$((sent + WARM))
	done
	must_come 30 arrived_are $sent
	# A shorter pause could be a machine's that stands still.
	sleep 1.1
}

for round in 1 2; do
	lose_hope
	cli tc qdisc add dev veth0 root netem slot 300ms 300ms || die "no netem"
	must_come 120 none_open
	for _ in 1 2 3; do
		flood "${FLOODED[@]}"
		! wait_for 5 come_on || break
	done
	check "in lists, round $round: cookies come on at each listener" come_on
	wait_for 5 judged_are $sent
	is "in lists, round $round: each SYN is judged once" \
		$(($(seen "${FLOODED[@]}") - managed)) $sent
	cli tc qdisc del dev veth0 root
done
for port in "${FLOODED[@]}"; do
	PORT=$port adds_up "in lists, port $port"
done
stop "${pids[@]}"

# --- held up ---

# What passes here has passed the first place; REDIRECT, too.
hold_up() {
	srv nft -f - <<-EOT || die "no nft"
		table inet held {
			chain nat {
				type nat hook prerouting priority dstnat
				tcp dport $OTHER redirect to :$PORT
			}
			chain pre {
				type filter hook prerouting priority 0
				tcp dport $PORT tcp flags & (syn|ack) == syn queue num 0 bypass
			}
		}
	EOT
}

hold_up

# syns N PORT: of sources that reset what is answered
syns() {
	"$PEER" segment -N "$CLI" -n "$1" -p $((next += 100)) -s "$from" \
		"$to" "$2" >/dev/null
}

# hold N VALUE [MORE]: until N have come, then switches cookies, and until MORE have
hold() {
	background "$TMP/queue" "$PEER" queue -N "$SRV" "$1" /proc/sys/$SYSCTL \
		"$2" "${@:3}"
	must_come 10 has "$TMP/queue" ^ready
}

now_begins() {
	before=$(seen $PORT $OTHER)
	cookies=$(counter bulk cookie_sent)
}

# let_go: sets held, for how many ms at most, and judged and answered, how many
let_go() {
	must_come 20 has "$TMP/queue" '^let go'
	held=$(sed -n 's/^let go [0-9]* //p' "$TMP/queue")
	judged=$(($(seen $PORT $OTHER) - before))
	answered=$(($(counter bulk cookie_sent) - cookies))
}

# switched_off PORT: while ten are on their way; sets judged and answered
switched_off() {
	set_sysctl "$SRV" ${SYSCTL//\//.} 1
	now_begins
	hold 10 0
	syns 10 "$1"
	let_go
}

# switched_on PORT: while ten are on their way, and five more come
switched_on() {
	set_sysctl "$SRV" ${SYSCTL//\//.} 0
	now_begins
	hold 10 1 5
	syns 10 "$1"
	must_come 10 has "$TMP/queue" ^written
	syns 5 "$1"
	let_go
}

# soon COMMAND...: what is held for longer than half a second goes unjudged
soon() {
	local try
	for try in {1..20}; do
		"$@"
		[ "$held" -ge 300 ] || return 0
		note "held for $held ms, try $try"
	done
	die "this machine is too slow"
}

# both NAME PORT: four tests
both() {
	soon switched_off "$2"
	is "$1, no cookies any more: judged once" "$judged" 10
	is "$1, no cookies any more: none is sent" "$answered" 0
	soon switched_on "$2"
	is "$1, cookies from now on: judged once" "$judged" 15
	is "$1, cookies from now on: for all that come to the listener after that" \
		"$answered" 15
}

server "$TMP/server" -a :: -b 256 -m epoll $PORT
server "$TMP/other" -b 256 -m epoll $OTHER
sq class set bulk cookies always
sq class set gold cookies always
from=10.3.0.200 to=$V4
both "held up" $PORT
both "held up, from listener to listener" $OTHER
from=fd00:3::200 to=$V6
both "held up, IPv6" $PORT
srv nft delete table inet held

# --- dropped ---
from=10.3.0.200 to=$V4
set_sysctl "$SRV" ${SYSCTL//\//.} 1
srv nft -f - <<-EOT || die "no nft"
	table inet closed {
		chain in {
			type filter hook input priority 0
			tcp dport $PORT drop
		}
	}
EOT
before=$(seen $PORT)
syns 10 $PORT
is "dropped by the firewall before it is judged: not judged" \
	$(($(seen $PORT) - before)) 0
# As a client does.
sleep 1
srv nft delete table inet closed
sq class set bulk cookies never
from=10.1.0.200 syns 1 $PORT
next=$((next - 200))
# Held up, or it would be known that they were judged a moment ago.
hold_up
now_begins
hold 10 1
syns 10 $PORT
let_go
is "the same again, without cookies: judged once" "$judged" 10
