#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# synq doctor: nothing stands in the way of a healthy network namespace; then one problem
# at a time is planted, has to be found, and is gone when it is taken away.  Without the
# module, with a configuration that is still a file, and with the module.
#
# Must fail if: a problem were overlooked, or found where it is not.
#
# One kernel will do: the command looks at the host, and the module has no part in that.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need nft ip
plan 75

# look [OPTION...]: sets codes, in order: what stands in the way, without notes, and without
# overflows, which stay in the counters
look() {
	local content any='"severity": "(remark|problem)", "code": "([a-z0-9_]*)"' code
	sq doctor -j "$@" >"$TMP/doctor"
	slurp "$TMP/doctor"
	codes=
	while [[ $content =~ $any ]]; do
		content=${content#*"${BASH_REMATCH[0]}"} code=${BASH_REMATCH[2]}
		[[ $code = overflows || " $codes" = *" $code "* ]] || insert "$code"
	done
}

# insert CODE: where it belongs
insert() {
	local code before=
	for code in $codes; do
		[[ $code < $1 ]] || break
		before+="$code "
	done
	codes="$before$1 ${codes#"$before"}"
}

# finds NAME CODES OPTION...: exactly these
finds() {
	local name=$1 wanted=$2
	shift 2
	look "$@"
	is "$name" "$codes" "${wanted:+$wanted }"
}

# planted NAME CODES OPTION...: one test; "healthy" follows when it is taken away
planted() {
	finds "$1 is found" "${@:2}"
}

healthy() {
	finds "nothing without it" "" --watch 100ms "$@"
}

# wrong_sysctl NAME VALUE RIGHT CODES
wrong_sysctl() {
	set_sysctl "$SRV" "$1" "$2"
	planted "$1=$2" "$4" --watch 100ms
	set_sysctl "$SRV" "$1" "$3"
	healthy
}

# with_nft NAME CODES RULES: found, and gone with the table
with_nft() {
	nft -f - <<<"table inet planted { $3; }" || die "no such rules: $3"
	planted "$1" "$2" --watch 100ms "$TMP/conf"
	nft delete table inet planted
}

status() {
	synq doctor --watch 100ms "$@" >"$TMP/out" 2>&1
	echo $?
}

server "$TMP/server" $PORT
served=$LAST
cat >"$TMP/conf" <<-EOT
	mark mask 0x3000
	class add gold priority 0 mark 1
	listener add port $PORT
EOT

# --- healthy ---
finds "nothing" ""
is "exit status" "$(status)" 0
check "it says so" grep -qx "nothing stands in synq's way" "$TMP/out"
check "names the server" grep -q "^ok       port $PORT (tcp_peer): no connection waits" "$TMP/out"
check "and that there is no module" grep -q 'synq is not loaded' "$TMP/out"
"$PEER" in "$SRV" -u "$(command -v synq)" doctor --watch 100ms >"$TMP/nobody" 2>&1
is "without privilege, too" $? 0
check "the server is seen" grep -q "^ok       port $PORT: no connection waits" "$TMP/nobody"

# --- sysctls ---
wrong_sysctl net.ipv4.tcp_abort_on_overflow 1 0 tcp_abort_on_overflow
is "remarks: exit status" "$(set_sysctl "$SRV" net.ipv4.tcp_timestamps 0; status)" 1
wrong_sysctl net.ipv4.tcp_timestamps 0 1 tcp_timestamps
wrong_sysctl net.ipv4.tcp_syncookies 2 1 tcp_syncookies
wrong_sysctl net.core.somaxconn 512 4096 somaxconn
set_sysctl "$SRV" net.ipv4.tcp_max_syn_backlog 128
healthy
wrong_sysctl net.ipv4.tcp_syncookies 0 1 "tcp_max_syn_backlog tcp_syncookies"
set_sysctl "$SRV" net.ipv4.tcp_max_syn_backlog 4096

# --- marks ---
planted "tcp_fwmark_accept=0 with a mask" tcp_fwmark_accept --watch 100ms "$TMP/conf"
is "problems: exit status" "$(status "$TMP/conf")" 2
set_sysctl "$SRV" net.ipv4.tcp_fwmark_accept 1
healthy "$TMP/conf"
with_nft "a rule that restores the mark" mark_restored \
	"chain p { type filter hook prerouting priority mangle; meta mark set ct mark; }"
check "with the line to change" grep -q 'ct mark != 0 meta mark set ct mark & 0xffffcfff' \
	"$TMP/doctor"
with_nft "a rule that sets it" mark_set \
	"chain p { type filter hook prerouting priority mangle; tcp dport $PORT meta mark set 7; }"
with_nft "a rule that tests it" mark_tested \
	"chain p { type filter hook input priority filter; meta mark 1 accept; }"
with_nft "that nothing is wrong with rules that spare it" "" \
	"chain p { type filter hook prerouting priority raw; meta mark set meta mark & 0xffffcfff | 0x1000;
		meta mark & 0x3000 == 0x1000 counter; meta mark & 0xff == 1 counter;
		meta l4proto udp meta mark set ct mark; }"
background "$TMP/follow" synq doctor --watch 100ms --follow 100ms "$TMP/conf"
following=$LAST
must_come 10 has "$TMP/follow" "nothing stands"
nft -f - <<<"table inet planted { chain p { type filter hook input priority filter; meta mark 1 accept; }; }"
check "a rule that comes later is told" wait_for 10 has "$TMP/follow" "^problem"
nft add rule inet planted p meta mark 2 drop
check "and the next one" wait_for 10 has "$TMP/follow" "^problem" 2
nft delete table inet planted
pause_ms 500
nft -f - <<<"table inet planted { chain p { type filter hook input priority filter; meta mark 2 drop; }; }"
check "and one that comes back" wait_for 10 has "$TMP/follow" "^problem" 3
nft delete table inet planted
pause_ms 500
is "each is told once" "$(grep -c ^problem "$TMP/follow")" 3
stop "$following"
# Nor does it keep what it opens for a look: the first has more than twenty.
looks_often() {
	ulimit -n 20
	exec synq doctor --watch 1ms --follow 1ms >/dev/null 2>"$TMP/err"
}
background "$TMP/out" looks_often
pause_ms 3000
check "it follows for long" test -d "/proc/$LAST"
is "and says nothing" "$(cat "$TMP/err")" ""
stop "$LAST"
is "standard input is read once" "$(status --follow 1s - <"$TMP/conf")" 3
ip rule add fwmark 0x1 table 100
planted "a routing rule" mark_routed --watch 100ms "$TMP/conf"
ip rule del fwmark 0x1 table 100
ip rule add not fwmark 0xca6c table 51820
healthy "$TMP/conf"
sed 's/0x3000/0x0000c000/' "$TMP/conf" >"$TMP/collides"
planted "wg-quick's mark in the mask" mark_routed --watch 100ms "$TMP/collides"
check "by its name" grep -q '(wg-quick)' "$TMP/doctor"
ip rule del not fwmark 0xca6c table 51820
if command -v iptables iptables-save >/dev/null && iptables -t mangle -N synq-test 2>/dev/null; then
	iptables -t mangle -A synq-test -j CONNMARK --restore-mark
	planted "iptables: CONNMARK --restore-mark" mark_restored --watch 100ms "$TMP/conf"
	iptables -t mangle -F synq-test
	iptables -t mangle -A synq-test -p tcp -m mark --mark 1 -j MARK --set-mark 3
	planted "iptables: MARK" "mark_set mark_tested" --watch 100ms "$TMP/conf"
	iptables -t mangle -F synq-test
	iptables -t mangle -A synq-test -j CONNMARK --restore-mark --mask 0xffffcfff
	healthy "$TMP/conf"
	iptables -t mangle -F synq-test
	iptables -t mangle -X synq-test
else
	for name in restore set spared; do
		skip "iptables: $name" "no iptables here"
	done
fi
healthy "$TMP/conf"

# --- ports ---
with_nft "DNAT elsewhere" sent_elsewhere \
	"chain p { type nat hook prerouting priority dstnat; tcp dport $PORT dnat ip to 172.17.0.2:80; }"
check "where to" grep -q 'goes to 172.17.0.2:80' "$TMP/doctor"
with_nft "a redirection" sent_elsewhere \
	"chain p { type nat hook prerouting priority dstnat; tcp dport $PORT redirect to :8081; }"
check "the port to configure" grep -q 'synq listener add port 8081' "$TMP/doctor"
echo "listener add port 7" | cat "$TMP/conf" - >"$TMP/nobody_listens"
planted "a port on which nothing listens" no_listener --watch 100ms "$TMP/nobody_listens"
if ip link add red type vrf table 100 2>/dev/null; then
	planted "a VRF that the server does not serve" vrf --watch 100ms "$TMP/conf"
	set_sysctl "$SRV" net.ipv4.tcp_l3mdev_accept 1
	healthy "$TMP/conf"
	set_sysctl "$SRV" net.ipv4.tcp_l3mdev_accept 0
	ip link del red
else
	skip "a VRF" "no VRF in this kernel"
	skip "a VRF that is served" "no VRF in this kernel"
fi

# --- queues ---
stop "$served"
server "$TMP/server" -m none -b 4 $PORT
served=$LAST
client "$TMP/client" -n 12 -c 12 -A -w 60000 -K "$TMP/end" -s 10.1.0.1 -S 12 $V4 $PORT
must_come 20 queue_is 5
planted "a full queue" "queue_full short_backlog" --watch 5s
check "and that it overflows" grep -q '"problem", "code": "overflows"' "$TMP/doctor"
touch "$TMP/end"
stop "$served" "$LAST"

server "$TMP/server" -m none -b 128 $PORT
served=$LAST
client "$TMP/client" -n 8 -c 8 -A -w 60000 -K "$TMP/end2" -s 10.1.0.1 -S 8 $V4 $PORT
must_come 20 queue_is 8
planted "a queue that stands" queue_waits --watch 500ms
stop "$served" "$LAST"

# --- servers that accept at once ---
touch "$TMP/stop"
background "$TMP/server" "$PEER" eager -N "$SRV" -k -j 1 -S "$TMP/stop" $PORT
served=$LAST
must_come 10 is_up "$TMP/server"
client "$TMP/client" -n 40 -c 40 -A -w 60000 -K "$TMP/end3" -s 10.1.0.1 -S 40 $V4 $PORT
must_come 20 has "$TMP/client" '^acked' 40
planted "a server that queues inside itself" accepts_at_once
check "with the command that helps" grep -q "synq listener add port $PORT inside auto" \
	"$TMP/doctor"
stop "$LAST"
finds "not when they have gone" "" --watch 100ms

# --- who is in front ---
client "$TMP/client" -n 24 -c 24 -q -A -w 60000 -K "$TMP/end4" -s 10.1.0.1 -S 24 $V4 $PORT
must_come 20 has "$TMP/client" '^connected' 24
finds "clients are no balancer" "" --watch 100ms "$TMP/conf"
stop "$LAST"
client "$TMP/client" -n 24 -c 24 -q -A -w 60000 -K "$TMP/end4" -s 10.1.0.1 -S 2 $V4 $PORT
must_come 20 has "$TMP/client" '^connected' 24
planted "a balancer" few_sources --watch 100ms "$TMP/conf"
stop "$LAST"
background "$TMP/client" "$PEER" client -N "$SRV" -n 24 -c 24 -q -A -w 60000 \
	-K "$TMP/end4" 127.0.0.1 $PORT
must_come 20 has "$TMP/client" '^connected' 24
planted "a proxy of this host" local_proxy --watch 100ms "$TMP/conf"
check "by its name" grep -q 'from this host, by tcp_peer' "$TMP/doctor"
stop "$LAST" "$served"

# --- health checks: in time, whatever it takes to start one ---
# probes SECONDS: one every so many, seven of them
probes() {
	local due
	due=$(($(ms) + 1000))
	for _ in 1 2 3 4 5 6 7; do
		while [ "$(ms)" -lt $due ]; do
			pause_ms 20
		done
		cli "$PEER" client -n 1 -s 10.1.0.9 -w 500 $V4 $PORT
		due=$((due + $1 * 1000))
	done
}

# watch_probes: what stands in the way.  A machine that stalls has more chances, with
# intervals for which its stalls are less.
watch_probes() {
	local every
	for every in 1 2 4; do
		background "$TMP/probe" probes $every
		look --watch $((7 * every + 1))s
		stop "$LAST"
		[ "$codes" = "$1" ] && break
	done
}

background "$TMP/server" "$PEER" eager -N "$SRV" -k $PORT
served=$LAST
must_come 10 is_up "$TMP/server"
watch_probes 'health_check '
is "a health check is found" "$codes" 'health_check '
check "with the match" grep -q "synq match add source 10.1.0.9 port $PORT class FIRST" \
	"$TMP/doctor"

# --- conntrack, whose limit is the machine's ---
limit() {
	nsenter --net=/proc/1/ns/net sh -c "echo $1 >/proc/sys/net/netfilter/nf_conntrack_max"
}
nft -f - <<<"table inet planted { chain p { type filter hook input priority filter; ct state new counter; }; }"
client "$TMP/client" -n 20 -c 20 -s 10.1.0.1 -S 20 $V4 $PORT
must_come 20 has "$TMP/client" '^done'
slurp /proc/sys/net/netfilter/nf_conntrack_max
before=${content%$'\n'}
slurp /proc/sys/net/netfilter/nf_conntrack_count
if limit $((content + 1)) 2>/dev/null; then
	planted "a full conntrack table" conntrack --watch 100ms
	limit "$before"
else
	skip "conntrack" "its limit cannot be set"
fi
nft delete table inet planted

# --- with the module ---
background "$TMP/client" "$PEER" client -N "$CLI" -n 1 -q -A -w 60000 -K "$TMP/end5" \
	-s 10.1.0.1 $V4 $PORT
kept=$LAST
must_come 20 has "$TMP/client" '^connected' 1
load_synq
finds "loaded, not configured" "" --watch 100ms
sq apply "$TMP/conf"
generation=$(conf_counter generation)
planted "a listener that has seen no SYN" none_seen --watch 100ms
sq stats >"$TMP/stats" 2>"$TMP/err"
is "stats: remarked on" "$(cat "$TMP/err")" \
	"synq: note: port $PORT: listening, 1 connection, none seen (synq doctor)"
cli "$PEER" client -n 1 -s 10.1.0.1 -w 5000 $V4 $PORT >"$TMP/out"
finds "none when it has seen one" "" --watch 100ms
sq stats >/dev/null 2>"$TMP/err"
is "stats: nothing" "$(cat "$TMP/err")" ""
is "nothing has been changed" "$(conf_counter generation)" "$generation"
watch_probes 'health_check '
is "a health check is found with the module, too" "$codes" 'health_check '
check "with the first class" grep -q "port $PORT class gold" "$TMP/doctor"
sq match add source 10.1.0.9 class gold
watch_probes ''
is "nothing if it is in the first class" "$codes" ""
sq off
planted "off" off --watch 100ms
sq on
stop "$kept"
background "$TMP/follow" synq doctor --watch 100ms --follow 100ms
following=$LAST
must_come 10 has "$TMP/follow" "port $PORT"
sq off
check "what comes later is told with the module, too" wait_for 30 has "$TMP/follow" "synq is off"
sq on
# As long as a look takes on a slow machine.
pause_ms 6000
unload_synq
check "and that it goes" wait_for 30 has "$TMP/follow" "not loaded any more" 1
load_synq
sq apply "$TMP/conf"
sq off
check "and what there is when it is back" wait_for 30 has "$TMP/follow" "synq is off" 2
stop "$following"
unload_synq
