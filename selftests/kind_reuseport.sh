#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# SO_REUSEPORT: each member of a group has a queue of its own, in class order.  When
# a member is closed, what it has queued is reset, as ever; or, with
# net.ipv4.tcp_migrate_req=1, goes to another member and takes its place there.
#
# Must fail if: a request kept the place it had in the other queue, or was
# lost on its way, or a member were not managed.
#
# Needs two CPUs: members are served and closed at once.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan 15

# members: two servers that hold, with all of the list in their queues
members() {
	local i
	rm -f "$TMP"/go*
	for i in 1 2; do
		server "$TMP/member$i" -R -H "$TMP/go$i" $PORT
		member[i]=$LAST
	done
	if [ "$1" != stock ]; then
		# Which member a SYN finds depends on its source.
		until sockets_are 2; do
			"$PEER" segment -N "$CLI" -s 10.4.0.1 -S 50 -n 50 \
				$V4 $PORT >/dev/null
		done
	fi
	arrive "$TMP/list"
	gone=$LAST
}

# queues: lengths, the shorter first
queues() {
	srv ss -Hltn "sport = :$PORT" | awk '{ print $2 }' | sort -n | tr '\n' ' '
}

all_queued() {
	[ "$(srv ss -Hltn "sport = :$PORT" | awk '{ n += $2 } END { print n }')" = "$1" ]
}

# in_class_order MEMBER: of what it accepted; the twin sorts its arrivals
in_class_order() {
	ids "$TMP/member$1" >"$TMP/got"
	by_class "$TMP/list" | grep -Fxf "$TMP/got" >"$TMP/want"
	cmp "$TMP/got" "$TMP/want"
}

# close_first: member 1, with its queue
close_first() {
	all_queued $N || die "not all are queued"
	stop "${member[1]}"
}

accepted() {
	[ "$(cat "$TMP"/member? | grep -c ^accept)" = "$1" ]
}

reset_or_accepted() {
	local n
	n=$(cat "$TMP"/member? "$TMP/client.c" |
		grep -cE '^(accept|reset|failed) ')
	[ "$n" = $N ]
}

arrivals $N 5 >"$TMP/list"

# --- stock kernel ---
set_sysctl "$SRV" net.ipv4.tcp_migrate_req 0
members stock
lengths=$(queues)
note "queues: $lengths"
check "stock kernel: both members have connections" \
	test "${lengths%% *}" -gt 0
touch "$TMP/go1" "$TMP/go2"
must_come 10 accepted $N
stop "${member[@]}"
members stock
close_first
touch "$TMP/go2"
check "stock kernel: what a closed member had is reset" \
	wait_for 10 reset_or_accepted
stop "${member[2]}" "$gone"
set_sysctl "$SRV" net.ipv4.tcp_migrate_req 1
members stock
close_first
check "stock kernel, migration: the other member has all" \
	wait_for 10 all_queued $N
touch "$TMP/go2"
must_come 10 accepted $N
stop "${member[2]}" "$gone"

# --- with synq ---
load_synq
three_classes | apply
set_sysctl "$SRV" net.ipv4.tcp_migrate_req 0
members synq
once "a group of two"
touch "$TMP/go1" "$TMP/go2"
must_come 10 accepted $N
check "member 1: class, then arrival" in_class_order 1
check "member 2: class, then arrival" in_class_order 2
stop "${member[@]}" "$gone"
check "no socket is left" wait_for 10 conf_counter_is sockets 0

members synq
close_first
check "one member is left" wait_for 10 sockets_are 1
touch "$TMP/go2"
check "what the closed member had is reset" wait_for 10 reset_or_accepted
check "the other's queue was left alone" in_class_order 2
stop "${member[2]}" "$gone"

set_sysctl "$SRV" net.ipv4.tcp_migrate_req 1
sq flush
three_classes | apply
members synq
before=$(mib TcpExt.TCPMigrateReqSuccess)
close_first
check "migration: the other member has all" wait_for 10 all_queued $N
moved=$(($(mib TcpExt.TCPMigrateReqSuccess) - before))
note "$moved came from the closed member"
# Some kernels do not tell the other member: the next connection does.
echo 10.3.0.99 >"$TMP/one"
arrive "$TMP/one" last
touch "$TMP/go2"
must_come 10 accepted $((N + 1))
# Inside a class its own and the other's are mixed: only the classes are compared.
ids "$TMP/member2" | sed "s/^last0$/c$N/" >"$TMP/got"
cat "$TMP/list" "$TMP/one" | class_of >"$TMP/classes"
awk 'FILENAME == ARGV[1] { class["c" FNR - 1] = $1; next } { print class[$1] }' \
	"$TMP/classes" "$TMP/got" >"$TMP/rank"
check "migration: class by class" \
	test "$(grep -c '[123]' "$TMP/rank") $(sort -nc "$TMP/rank" 2>&1)" = "$((N + 1)) "
check "migration: nothing twice" test "$(sort -u "$TMP/got" | wc -l)" = $((N + 1))
stop "${member[2]}" "$gone"
clean_end "a group of two"
