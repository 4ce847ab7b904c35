#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# $HELD connections (1000) are held at once, at a backlog of 32768, and then: the server
# accepts again, while configurations change; their clients close, while it does; synq is
# switched off; the device that they came by goes; the network namespace goes; the module
# goes.  Nothing is lost where the server has answered, each is counted once, and nothing
# stays behind.
#
# Must fail if: releasing were slow for many, a list were walked with the lock
# for long, or two who take a connection out of it met.
#
# Needs two CPUs: those who take them out of it.

. "${BASH_SOURCE[0]%/*}/lib.sh"
N=${HELD:-1000}
NET=10.3.0.0/16 NOBODY=192.0.2.9
plan 22

many_conf() {
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 max-wait none
		match add source 10.1.0.0/16 class gold
		match add source 10.3.0.0/16 class bulk
		listener add port $PORT cookies never
	EOT
}

is_held_up() {
	[ "$(half_open)" -ge "$N" ]
}

# Most: some packets are lost at so many at once.
are_held() {
	counter_from bulk held $((N * 4 / 5))
}

# try_to_hold ADDRESS: their SYN-ACKs are lost until nearly all slots are kept for another
# class; false if that took so long that their time was up
try_to_hold() {
	rm -f "$TMP/go" "$TMP/end" "$TMP/stay"
	sq flush
	many_conf
	set_sysctl "$SRV" net.core.somaxconn 65535
	set_sysctl "$SRV" net.ipv4.tcp_max_syn_backlog 65536
	server "$TMP/server" -b 32768 -H "$TMP/go" -E "$TMP/end" -m epoll $PORT
	server=$LAST
	manage "$1"
	ip -n "$SRV" -batch - <<-EOT || die "no route"
		neighbour replace $NOBODY lladdr 02:00:00:00:00:09 dev veth0
		route add $NET via $NOBODY
	EOT
	# Not at once: a network device's backlog is short.
	client "$TMP/many" -n "$N" -r $((N < 4000 ? 2 * N : 8000)) -s 10.3.0.1 -S 250 -w 60000 -i m \
		-K "$TMP/stay" "$1" $PORT
	client=$LAST
	must_come 60 is_held_up
	sq class set gold reserve 75% min-share 40%
	ip -n "$SRV" route del $NET
	wait_for 10 are_held
}

# hold_many [ADDRESS]
hold_many() {
	local try
	for try in 1 2 3 4 5; do
		try_to_hold "${1:-$V4}" && break
		note "this machine is slow, try $try: $(counter bulk held) held"
		end_all
	done
	check "they are held" are_held
	note "$(counter bulk held) held"
}

make_room() {
	sq class set gold min-share 1%
}

none_held() {
	counter_is bulk held_now 0
}

answered() {
	has "$TMP/many" ^answered "$1"
}

# end_all: who is left
end_all() {
	stop "$server" "$client"
}

load_synq

# --- the server accepts, while configurations change ---
hold_many
since=$(ms)
make_room
touch "$TMP/go"
for i in 1 2 3 4 5; do
	sq class set bulk priority $((i % 2 + 6))
	sq class set gold priority $((i % 3))
done
check "all are served" wait_for 60 answered "$N"
note "within $(($(ms) - since)) ms"
# One that another CPU has promoted, by its next segment, is found to be gone.
within "all that were held were released" "$(counter bulk released)" \
	$(($(counter bulk held) - $(counter bulk hold_flushed) - 10)) \
	$(($(counter bulk held) - $(counter bulk hold_flushed)))
is "by a class once, or twice" "$(account bulk)" 0
is "none was dropped" "$(counter bulk hold_full)" 0
touch "$TMP/stay"
must_come 60 has "$TMP/many" ^done
is "nobody was reset" "$(field "$TMP/many" reset)" 0
end_all

# --- their clients close, while it accepts ---
hold_many
make_room
touch "$TMP/go"
stop "$client"
check "their clients go: nobody is held" wait_for 10 none_held
is "their clients go: the account adds up" "$(account bulk)" 0
end_all

# --- off ---
hold_many
sq off
is "off: nobody is held" "$(counter bulk held_now)" 0
is "off: the account adds up" "$(account bulk)" 0
touch "$TMP/go"
check "off: all are served" wait_for 60 answered "$N"
sq on
end_all

# --- the device goes ---
ip -n "$SRV" -batch - <<-EOT || die "no second veth"
	link add veth1 type veth peer name veth1 netns $CLI
	link set veth1 up
	address add 198.51.100.1/24 dev veth1
EOT
ip -n "$CLI" -batch - <<-EOT || die "no second veth"
	link set veth1 up
	address add 198.51.100.2/24 dev veth1
EOT
hold_many 198.51.100.1
since=$(ms)
ip -n "$SRV" link del veth1
within "the device goes, at once (ms)" $(($(ms) - since)) 0 2000
check "the device goes: nobody is held" wait_for 20 none_held
is "the device goes: the account adds up" "$(account bulk)" 0
end_all

# --- the namespace goes ---
OTHER=$SRV-b OTHERCLI=$CLI-b
in_pair() {
	local SRV=$OTHER CLI=$OTHERCLI
	"$@"
}

peer_is_gone() {
	! ip -n "$OTHERCLI" link show veth0 >/dev/null 2>&1
}

sq flush
new_pair "$OTHER" "$OTHERCLI"
in_pair hold_many
ip netns del "$OTHER"
stop "$server"
since=$(ms)
check "the namespace goes" wait_for 30 peer_is_gone
note "within $(($(ms) - since)) ms"
end_all

# --- the module goes ---
hold_many
since=$(ms)
unload_synq
within "the module goes (ms)" $(($(ms) - since)) 0 5000
touch "$TMP/go"
check "the module goes: all are served" wait_for 60 answered "$N"
end_all
load_synq
