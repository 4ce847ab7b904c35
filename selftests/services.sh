#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Matches for some destinations only, addresses or ports: the most specific one that has a
# match for the source decides, then the matches for all.  "synq classify" agrees with how
# the SYN is counted, policed and given cookies, and with the accept queue.  If the
# destination is rewritten, the final one counts.
#
# Must fail if: a less specific service won, or the first one that has the destination,
# match or none; if packet and queue did not agree; if the original destination counted
# instead of the final one, or a SYN were judged twice or never; or if adding and removing
# other matches moved any client.
#
# One kernel will do: what it tests does not depend on the kernel.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need nft
plan 52

OTHER=8081 THIRD=8082
NET=198.51.100 NET6=2001:db8:5:
CLASSES=(local gold silver bulk rest default)

conf() {
	cat <<-EOT
		class add gold priority 0
		class add silver priority 3 max-wait none
		class add bulk priority 6 max-wait none ${1-}
		class add rest priority 9 max-wait none default
		match add source 10.1.0.0/16 class silver
		match add source 10.2.0.0/16 class silver
		match add source fd00:1::/32 class silver
		match add source fd00:2::/32 class silver
		match add source 10.1.2.0/24 port 8000-8999 class gold
		match add source 10.2.0.0/16 port 8000-8999 class gold
		match add source fd00:2::/32 port 8000-8999 class gold
		match add source 10.1.0.0/16 port $OTHER class bulk
		match add source fd00:1::/32 port $OTHER class bulk
		match add source 10.1.0.0/16 to $NET.0/24 class gold
		match add source 10.1.3.0/24 to $NET.2 class bulk
		match add source 10.1.4.0/24 to $NET.2 port $OTHER class bulk
		match add source fd00:1::/32 to $NET6:/48 class gold
		match add source fd00:1:1::/48 to ${NET6}:2 port $OTHER class bulk
		listener add port $PORT
		listener add port $OTHER
	EOT
}

expected() {
	cat <<-EOT
		10.1.0.1 $V4 $PORT silver
		10.1.0.1 $V4 $OTHER bulk
		10.1.2.1 $V4 $PORT gold
		10.1.2.1 $V4 $OTHER bulk
		10.2.0.1 $V4 $PORT gold
		10.2.0.1 $V4 $OTHER gold
		10.1.0.1 $NET.1 $PORT gold
		10.1.0.1 $NET.1 $OTHER gold
		10.1.3.1 $NET.1 $OTHER gold
		10.1.3.1 $NET.2 $PORT bulk
		10.1.3.1 $NET.2 $OTHER bulk
		10.1.4.1 $NET.2 $PORT gold
		10.1.4.1 $NET.2 $OTHER bulk
		10.2.0.1 $NET.2 $OTHER gold
		10.4.0.1 $NET.2 $OTHER rest
		fd00:1::1 $V6 $PORT silver
		fd00:1::1 $V6 $OTHER bulk
		fd00:2::1 $V6 $OTHER gold
		fd00:1::1 ${NET6}:1 $OTHER gold
		fd00:1:1::1 ${NET6}:2 $OTHER bulk
		fd00:1:1::1 ${NET6}:2 $PORT gold
		fd00:1::1 ${NET6}:2 $OTHER gold
		fd00:4::1 ${NET6}:2 $OTHER rest
	EOT
}

# ask: what synq classify says of each
ask() {
	local from to port class='"class": ?"([a-z]*)"'
	while read -r from to port _; do
		[[ $(told classify -j "$from" to "$to" port "$port") =~ $class ]]
		echo "$from $to $port ${BASH_REMATCH[1]}"
	done
}

# by_class NAME PORT...: sets now, the sums over the ports, in the order of CLASSES.  It is
# asked often: what was said is looked through once, and read from no pipe, of which bash
# reads byte by byte.
by_class() {
	local name=$1 part i class
	local whose='"port": ?([0-9]+), ?"class": ?"([a-z]+)"'
	local -A sum=()
	shift
	sq stats -j >"$TMP/stats"
	mapfile -d '{' part <"$TMP/stats"
	for i in "${!part[@]}"; do
		[[ ${part[i]} == *'"counters":'* && ${part[i]} =~ $whose ]] || continue
		[[ " $* " == *" ${BASH_REMATCH[1]} "* ]] || continue
		class=${BASH_REMATCH[2]}
		number "${part[i + 1]}" "\"$name\":"
		sum[$class]=$((${sum[$class]-0} + found))
	done
	now=()
	for class in "${CLASSES[@]}"; do
		now+=("${sum[$class]-0}")
	done
}

# moved NAME COMMAND...: which classes' counters it moves, one SYN or connection
moved() {
	local name=$1 was
	shift
	by_class "$name" $PORT $OTHER
	was=("${now[@]}")
	"$@" >/dev/null
	wait_for 10 has_moved
}

has_moved() {
	local i
	class=
	by_class "$name" $PORT $OTHER
	for i in "${!now[@]}"; do
		[ "${now[i]}" = "${was[i]}" ] || class+=${class:+ }${CLASSES[i]}
	done
	[ -n "$class" ]
}

# a SYN, or a connection, FROM TO PORT
syn() {
	"$PEER" segment -N "$CLI" -p $((next += 1)) -s "$1" "$2" "$3"
}

connection() {
	"$PEER" client -N "$CLI" -A -s "$1" -w 10000 "$2" "$3"
}

# each COUNTER COMMAND: what class each line of the standard input is of
each() {
	local from to port
	while read -r from to port _; do
		class=nobody
		moved "$1" "$2" "$from" "$to" "$port"
		echo "$from $to $port $class"
	done
}

same() {
	check "$1" cmp "$2" "$3"
	cmp -s "$2" "$3" || diff "$2" "$3" | sed 's/^/# /'
}

contains() {
	[[ $1 == *"$2"* ]]
}

next=1000
ip -n "$SRV" -batch - <<-EOT || die "no addresses"
	address add $NET.1/32 dev veth0
	address add $NET.2/32 dev veth0
	address add ${NET6}:1/128 dev veth0 nodad
	address add ${NET6}:2/128 dev veth0 nodad
EOT
ip -n "$CLI" route add $NET.0/24 via $V4
ip -n "$CLI" route add $NET6:/48 via $V6
server "$TMP/server" -a :: -m none $PORT
server "$TMP/other" -a :: -m none $OTHER
other=$LAST

load_synq
conf | apply
expected >"$TMP/expected"

# --- which class ---
ask <"$TMP/expected" >"$TMP/asked"
same "classify: the most specific service that has a match" \
	"$TMP/asked" "$TMP/expected"
manage $V4 $PORT
manage $V4 $OTHER
each seen syn <"$TMP/expected" >"$TMP/seen"
same "SYNs are counted likewise" "$TMP/seen" "$TMP/expected"
each placed connection <"$TMP/expected" >"$TMP/placed"
same "connections are placed likewise" "$TMP/placed" "$TMP/expected"
by_class promoted $PORT $OTHER
promoted="${now[*]}"
by_class placed $PORT $OTHER
is "and promoted" "$promoted" "${now[*]}"

is "classify says which match" \
	"$(sq classify 10.1.4.1 to $NET.2 port $OTHER)" \
	"10.1.4.1 to $NET.2 port $OTHER -> bulk (source 10.1.4.0/24 to $NET.2/32 port $OTHER)"
is "without a destination: the matches for all" "$(sq classify 10.1.4.1)" \
	"10.1.4.1 -> silver (source 10.1.0.0/16)"
is "without an address: those for ports, too" \
	"$(sq classify 10.1.2.1 port 8999)" \
	"10.1.2.1 port 8999 -> gold (source 10.1.2.0/24 port 8000-8999)"
is "without a port: those for addresses, too" \
	"$(sq classify 10.1.2.1 to $NET.9)" \
	"10.1.2.1 to $NET.9 -> gold (source 10.1.0.0/16 to $NET.0/24)"
answer=$(sq classify -j fd00:1:1::1 to ${NET6}:2 port $OTHER | tr -d ' \n')
check "and as JSON" contains "$answer" "\"service_to\":\"${NET6}:2\",\"service_to_length\":128,\"service_port\":$OTHER,\"service_port_last\":$OTHER"

# --- the language ---
sq save >"$TMP/save"
{ conf; echo "match add source 10.9.0.0/16 port 1-9 class rest"; } >"$TMP/more"
sq diff "$TMP/more" >"$TMP/diff"
is "diff" "$(cat "$TMP/diff")" \
	"+match add source 10.9.0.0/16 port 1-9 class rest"
sq flush
check "save and apply: accepted" sq apply "$TMP/save"
sq save >"$TMP/again"
same "save and apply: the same" "$TMP/again" "$TMP/save"
check "save and apply: no difference" sq diff "$TMP/save"
is "all are matches" "$(sq match show | sed 1d | wc -l)" 14
is "shown" "$(sq match show 10.1.4.0/24 | tr -s ' ')" "SOURCE TO PORT CLASS
10.1.4.0/24 $NET.2/32 $OTHER bulk"
number "$(told match show -j 10.1.2.0/24)" '"port_last":'
is "shown as JSON" "$found" 8999

# --- refused, and nothing changes ---
# refused NAME TEXT WORD...: a command; two tests
refused() {
	local name=$1 reason=$2
	shift 2
	sq "$@" 2>"$TMP/err"
	is "refused: $name" "$?" 1
	has "$TMP/err" "$reason" || note "$(cat "$TMP/err")"
	sq diff "$TMP/save" >"$TMP/diff"
	check "refused: $name: why, and nothing has changed" \
		eval "has '$TMP/err' '$reason' && test ! -s '$TMP/diff'"
}

refused "ports that cross" 'the ports partly overlap a match' \
	match add source 10.5.0.0/16 port 8500-9500 class gold
refused "a match there is" 'there is a match for this prefix' \
	match add source 10.1.4.0/24 to $NET.2 port $OTHER class gold
refused "no match there" 'there is no match for this prefix' \
	match del source 10.1.4.0/24 to $NET.2 port $PORT
refused "a class that is named" 'still used by' class del bulk
for ((i = 0; i < 57; i++)); do
	echo "match add source 10.6.0.0/16 to 203.0.113.$i class gold"
done | cat "$TMP/save" - >"$TMP/full"
check "64 destinations" sq apply "$TMP/full"
sq match add source ::/0 port 1 class gold 2>"$TMP/err"
check "and not one more" has "$TMP/err" 'matches have 64 different destinations'
sq match del source 10.6.0.0/16 to 203.0.113.7
check "unless one goes" sq match add source ::/0 port 1 class gold
sq apply "$TMP/save"

# --- rates ---
conf 'rate 1/second burst 1' | apply
for port in $PORT $OTHER; do
	"$PEER" segment -N "$CLI" -n 20 -p $((next += 100)) -s 10.1.0.9 $V4 "$port" \
		>/dev/null
done
within "over the rate of its class at one port" \
	"$(counter bulk excess_dropped $OTHER)" 15 19
is "but not at the other" "$(counter silver admitted)" 20
is "counted by service" "$(counter bulk by_service $OTHER) $(counter bulk by_prefix $OTHER)" "20 0"
is "and by prefix" "$(counter silver by_service) $(counter silver by_prefix)" "0 20"

# --- cookies: the class by the final ACK ---
{ conf; echo "listener set port $OTHER cookies always"; } | apply
before=$(mib TcpExt.SyncookiesRecv)
grep " $OTHER " "$TMP/expected" | tail -n 9 >"$TMP/list"
each placed connection <"$TMP/list" >"$TMP/placed"
same "by cookies: placed likewise" "$TMP/placed" "$TMP/list"
is "by cookies: they did" "$(by_cookie "$before" 9)" 9

# --- rewritten ---
srv nft -f - <<-EOT || die "no NAT"
	table inet synq_test {
		chain in {
			type nat hook prerouting priority dstnat
			ip daddr $V4 tcp dport { 80, $THIRD } redirect to :$OTHER
			ip6 daddr $V6 tcp dport 80 dnat ip6 to [$V6]:$OTHER
			ip daddr 203.0.113.1 tcp dport 81 dnat ip to $NET.2:$OTHER
			ip6 daddr 2001:db8:9::1 tcp dport 81 dnat ip6 to [${NET6}:2]:$OTHER
		}
	}
EOT
ip -n "$CLI" route add 203.0.113.0/24 via $V4
ip -n "$CLI" route add 2001:db8:9::/48 via $V6
rewritten() {
	cat <<-EOT
		10.1.0.1 $V4 80 bulk
		10.2.0.1 $V4 80 gold
		10.1.3.1 203.0.113.1 81 bulk
		10.2.0.1 203.0.113.1 81 gold
		fd00:1::1 $V6 80 bulk
		fd00:1::1 2001:db8:9::1 81 gold
		fd00:1:1::1 2001:db8:9::1 81 bulk
	EOT
}
{
	conf
	cat <<-EOT
		match add source 0.0.0.0/0 port 80-81 class rest
		match add source ::/0 port 80-81 class rest
		match add source 0.0.0.0/0 to 203.0.113.1 class rest
		match add source ::/0 to 2001:db8:9::1 class rest
		listener add port 80
		listener add port 81
	EOT
} >"$TMP/conf"
apply <"$TMP/conf"
rewritten >"$TMP/expected"
each seen syn <"$TMP/expected" >"$TMP/seen"
same "rewritten: counted by where it goes" "$TMP/seen" "$TMP/expected"
each placed connection <"$TMP/expected" >"$TMP/placed"
same "rewritten: placed likewise" "$TMP/placed" "$TMP/expected"

# judged: sets judged, all SYNs that were, whatever class and port
judged() {
	local i
	by_class seen 80 $PORT $OTHER $THIRD
	judged=0
	for i in "${now[@]}"; do
		judged=$((judged + i))
	done
}

server "$TMP/third" -a :: -m none $THIRD
for answered in $OTHER $THIRD 80; do
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 max-wait none excess reset rate 1000/second
		match add source 10.1.0.0/16 port $answered class bulk
		listener add port $PORT
		listener add port $OTHER
		listener add port $THIRD
		listener add port 80
	EOT
	bulk=$(counter bulk seen $OTHER)
	for port in 80 $OTHER $THIRD; do
		judged
		before=$judged
		"$PEER" segment -N "$CLI" -n 5 -p $((next += 100)) -s 10.1.0.8 \
			$V4 "$port" >/dev/null
		judged
		is "answered at $answered, sent to $port: judged once" \
			$((judged - before)) 5
	done
	is "answered at $answered: of the class that it has where it goes" \
		$(($(counter bulk seen $OTHER) - bulk)) \
		$((answered == OTHER ? 15 : 0))
done

# --- rewritten, and marked, by cookies ---
set_sysctl "$SRV" net.ipv4.tcp_fwmark_accept 1
{
	echo "mark mask 0x0f000000"
	sed "s/gold priority 0/& mark 1/; s/bulk priority 6/& mark 2/
		s/silver priority 3/& mark 3/; s/rest priority 9/& mark 4/" "$TMP/conf"
	echo "listener set port $OTHER cookies always"
} | apply
each placed connection <"$TMP/expected" >"$TMP/placed"
same "rewritten, by cookies, marked: placed likewise" \
	"$TMP/placed" "$TMP/expected"

# A socket listens where it was sent, and a rule sends it elsewhere all the same.
{
	cat <<-EOT
		mark mask 0x0f000000
		class add gold priority 0 mark 1
		class add bulk priority 6 max-wait none mark 2
		match add source 10.1.0.0/16 port $THIRD class gold
		match add source 10.1.0.0/16 port $OTHER class bulk
		listener add port $OTHER
		listener add port $THIRD
	EOT
} | apply
manage $V4 $OTHER
before=$(counter gold seen $OTHER)
each placed connection <<<"10.1.0.7 $V4 $THIRD" >"$TMP/placed"
is "from listener to listener, marked: it keeps its class" \
	"$(cat "$TMP/placed")" "10.1.0.7 $V4 $THIRD gold"
is "from listener to listener, marked: which its SYN had" \
	$(($(counter gold seen $OTHER) - before)) 1
srv nft flush ruleset

# --- others come and go under load ---
stop "$other"
server "$TMP/other" -a :: -m none $OTHER
sq flush
conf | apply
for ((i = 0; i < 40; i++)); do
	echo "10.1.0.$((4 * i))/30"
done >"$TMP/near"
background "$TMP/sent" "$PEER" segment -N "$CLI" -s 10.2.0.1 -S 60000 -r 2500 \
	-E "$TMP/end" $NET.2 $OTHER
must_come 10 counter_from gold seen 100 $OTHER
before=$(conf_counter generation)
for _ in {1..12}; do
	for to in "to $NET.2" "to $NET.0/24 port $OTHER" "port 9000-9999"; do
		# shellcheck disable=SC2086
		sq match add source-file "$TMP/near" $to class rest
	done
	for to in "port 9000-9999" "to $NET.2" "to $NET.0/24 port $OTHER"; do
		# shellcheck disable=SC2086
		sq match del source-file "$TMP/near" $to
	done
done
note "$(($(conf_counter generation) - before)) changes"
touch "$TMP/end"
must_come 20 has "$TMP/sent" ^sent
by_class seen $OTHER
is "under load, no client is in another class" \
	"${now[2]} ${now[3]} ${now[4]} ${now[5]}" "0 0 0 0"
check "under load, all were judged" test "${now[1]}" -gt 100
