#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Which class a client has: the longest prefix wins, nested ones included, IPv4
# and IPv6; the host itself is local, is never refused and comes first; the rest
# is the default's, and a prefix of length 0 takes what the default would have.
# What "synq classify" says is what the packet and the accept queue do.
#
# Must fail if: a shorter prefix won, the families were mixed up, local
# were refused or served last, or packet and queue did not agree.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 18

conf() {
	cat <<-EOT
		class add gold priority 0
		class add silver priority 3 max-wait none
		class add bulk priority 6 rate 1/second burst 1
		class add rest priority 9 max-wait none ${1-default}
		match add source 10.0.0.0/8 class rest
		match add source 10.1.0.0/16 class bulk
		match add source 10.1.2.0/24 class silver
		match add source 10.1.2.128/25 class bulk
		match add source 10.1.2.3/32 class gold
		match add source fd00::/16 class rest
		match add source fd00:1::/32 class silver
		match add source fd00:1:2::/48 class gold
		match add source fd00:1:2:3::/64 class silver
		match add source fd00:1:2:3::4/128 class bulk
		listener add port $PORT
	EOT
}

expected() {
	cat <<-EOT
		10.4.0.1 rest
		10.1.0.1 bulk
		10.1.2.1 silver
		10.1.2.127 silver
		10.1.2.128 bulk
		10.1.2.3 gold
		10.1.3.3 bulk
		192.0.2.2 rest
		fd00:2::1 rest
		fd00:1:3::1 silver
		fd00:1:2::1 gold
		fd00:1:2:3::1 silver
		fd00:1:2:3::4 bulk
		2001:db8::2 rest
	EOT
}

# ask: what synq classify says of each
ask() {
	local address class='"class": ?"([a-z]*)"'
	while read -r address _; do
		[[ $(told classify -j "$address") =~ $class ]]
		echo "$address ${BASH_REMATCH[1]}"
	done
}

# see: which class's counter each SYN moves
see() {
	local address to i was
	seen_by_class
	while read -r address _; do
		to=$V4
		case $address in *:*) to=$V6 ;; esac
		was=("${seen[@]}")
		"$PEER" segment -N "$CLI" -p $((RANDOM % 20000 + 1000)) \
			-s "$address" "$to" "$PORT" >/dev/null
		seen_by_class
		for i in "${!seen[@]}"; do
			[ "${seen[i]}" = "${was[i]}" ] ||
				address+=" ${ORDER[i]}"
		done
		echo "$address"
	done <"$1"
}

# seen_by_class: sets seen, in the order of ORDER
seen_by_class() {
	local stats class
	stats=$(told stats -j)
	seen=()
	for class in "${ORDER[@]}"; do
		counter_in "$stats" "$class" seen
		seen+=("$found")
	done
}

same() {
	check "$1" cmp "$2" "$3"
	cmp -s "$2" "$3" || diff "$2" "$3" | sed 's/^/# /'
}

ORDER=(local gold silver bulk rest default)

server "$TMP/server" -a :: -H "$TMP/go" $PORT

# --- stock kernel: there are no classes ---
load_synq
check "unconfigured: classify says so" test "$(sq classify 10.0.0.1; echo $?)" = 1
conf | apply

expected >"$TMP/expected"
ask <"$TMP/expected" >"$TMP/asked"
same "classify: the longest prefix" "$TMP/asked" "$TMP/expected"
see "$TMP/expected" >"$TMP/seen"
same "SYNs are counted by the longest prefix" "$TMP/seen" "$TMP/expected"

# Placed, in the queue, as seen at the SYN: one client of each class but bulk.
awk '$2 != "bulk" && $1 !~ /:/ { print $1 }' "$TMP/expected" >"$TMP/list"
manage
client "$TMP/c" -f "$TMP/list" -w 30000 $V4 $PORT
clients=$LAST
must_come 20 has "$TMP/c" ^acked "$(wc -l <"$TMP/list")"
is "the queue knows the same classes" \
	"$(counter gold placed) $(counter silver placed) $(counter rest placed)" \
	"1 2 2"

# --- the host itself ---
is "loopback is local" "$(echo 127.0.0.1 | ask)" "127.0.0.1 local"
is "IPv6 loopback is local" "$(echo ::1 | ask)" "::1 local"
is "an own address is local" "$(echo $V4 | ask)" "$V4 local"
is "an own IPv6 address is local" "$(echo $V6 | ask)" "$V6 local"
for to in 127.0.0.1 ::1 $V4 $V6; do
	background "$TMP/l.$to" "$PEER" client -N "$SRV" -i local -w 30000 \
		"$to" "$PORT"
	must_come 10 has "$TMP/l.$to" ^acked
done
is "the host itself is counted as local" "$(counter local seen)" 4
is "and placed as local" "$(counter local placed)" 4
is "and never refused" "$(counter local admitted)" 4
touch "$TMP/go"
must_come 20 has "$TMP/server" ^accept 9
is "and comes first" \
	"$(awk '/^accept/ { print $4 }' "$TMP/server" | head -n 4 | tr '\n' ' ')" \
	"local0 local0 local0 local0 "
stop "$clients"

# From outside no client is local, whatever its source address.
before=$(counter local seen)
set_sysctl "$SRV" net.ipv4.conf.all.accept_local 1
set_sysctl "$SRV" net.ipv4.conf.veth0.route_localnet 1
"$PEER" segment -N "$CLI" -s $V4 $V4 $PORT >/dev/null
is "from outside an own address is not local" "$(counter local seen)" "$before"

# What the host only passes on, over loopback, is its client's.
others=$(counter rest seen)
"$PEER" segment -N "$SRV" -s 172.16.0.1 $V4 $PORT >/dev/null
"$PEER" segment -N "$SRV" -s 2001:db8:9::1 $V6 $PORT >/dev/null
is "over loopback with another's address is not local" \
	"$(counter local seen) $(($(counter rest seen) - others))" "$before 2"

# --- a match for a local address; the built-in default; prefix length 0 ---
sq match add source 127.0.0.0/8 class silver
is "a match decides before local" "$(echo 127.0.0.1 | ask)" "127.0.0.1 silver"
conf '' | apply
is "without a default: the built-in one" "$(echo 192.0.2.2 | ask)" \
	"192.0.2.2 default"
sq match add source 0.0.0.0/0 class silver
is "length 0 takes the rest" "$(echo 192.0.2.2 | ask)" "192.0.2.2 silver"
is "but of its own family only" "$(echo 2001:db8::2 | ask)" \
	"2001:db8::2 default"
