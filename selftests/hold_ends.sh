#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What ends the time for which connections are held, other than room: a configuration
# gives them a class that has room; tcp_abort_on_overflow is set, under which nobody shall
# wait; their listener listens anew, or closes and another one of its group gets them; the
# device that they came by goes; their network namespace does.
#
# Must fail if: who is held for a class stayed behind when it changed, a
# connection were lost or reset that the stock kernel keeps, or a segment kept a device or
# a namespace.
#
# Needs two CPUs: a namespace goes while others run in it.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/hold_lib.sh"
plan 22
load_synq
talks=()

more_migrated() {
	[ "$(mib TcpExt.TCPMigrateReqSuccess)" -ge "$1" ]
}

# --- another class ---
begin_held
sq match add source $LATE_NET class gold
check "another class: they are released" wait_for 5 counter_is gold released "$WAITING"
is "another class: bulk's account adds up" "$(account bulk)" 0
is "another class: gold's, too" "$(account gold) $(counter gold held_now)" "0 0"
touch "$TMP/go"
is "another class: all are served" "$(served answered)" $((LATE + BULK))
stop "$held"

# --- nobody shall wait ---
begin_held
set_sysctl "$SRV" net.ipv4.tcp_abort_on_overflow 1
check "tcp_abort_on_overflow: nobody is held" wait_for 5 counter_is bulk held_now 0
is "tcp_abort_on_overflow: there were slots for them" \
	"$(counter bulk hold_flushed)" "$WAITING"
touch "$TMP/go"
is "tcp_abort_on_overflow: all are served" "$(served answered)" $((LATE + BULK))
is "tcp_abort_on_overflow: nobody was reset" "$(served reset)" 0
set_sysctl "$SRV" net.ipv4.tcp_abort_on_overflow 0
stop "$held"

# --- the listener's second life ---
rm -f "$TMP/go.listen"
begin_held -Z -L $BACKLOG
touch "$TMP/go.listen"
must_come 10 has "$TMP/server" "^listening again"
check "it listens anew: nobody is held" wait_for 5 none_held
# Those whose handshake was not over may belong to its second life.
touch "$TMP/go"
must_come 60 has "$TMP/late" ^done
is "it listens anew: its clients of before are reset, or served" \
	$(($(field "$TMP/late" reset) + $(field "$TMP/late" answered))) $LATE
"$PEER" client -N "$CLI" -s 10.1.0.1 -w 20000 -A $V4 $PORT >"$TMP/one"
is "it listens anew: and it can be reached" "$(field "$TMP/one" acked)" 1
stop "$held" "${fillers[@]}"

# --- migration ---
if has_sysctl net.ipv4.tcp_migrate_req; then
	set_sysctl "$SRV" net.ipv4.tcp_migrate_req 1
	begin_held -R
	first=$held
	server "$TMP/second" -R -b $BACKLOG -H "$TMP/go" -E "$TMP/end" -m epoll $PORT
	before=$(mib TcpExt.TCPMigrateReqSuccess)
	stop "$first"
	check "migration: requests go to the other member" \
		wait_for 5 more_migrated $((before + WAITING))
	touch "$TMP/go"
	is "migration: all are served" "$(served answered)" $((LATE + BULK))
	is "migration: nobody was reset" "$(served reset)" 0
	is "migration: the account adds up" "$(account bulk)" 0
	stop "$LAST"
	set_sysctl "$SRV" net.ipv4.tcp_migrate_req 0
else
	for _ in 1 2 3 4; do
		skip "migration" "this kernel has none"
	done
fi

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
TO=198.51.100.1
begin_held
since=$(ms)
ip -n "$SRV" link del veth1
within "the device goes, at once (ms)" $(($(ms) - since)) 0 2000
touch "$TMP/go"
check "the device goes: nobody is held" wait_for 10 counter_is bulk held_now 0
is "the device goes: the account adds up" "$(account bulk)" 0
is "the device goes: nothing was released" "$(counter bulk released)" 0
stop "$held" "${fillers[@]}"
TO=$V4

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
in_pair begin_held
ip netns del "$OTHER"
stop "$held"
since=$(ms)
check "the namespace goes" wait_for 10 peer_is_gone
within "at once (ms)" $(($(ms) - since)) 0 2000
stop "${fillers[@]}"
check "unloads" unload_synq
load_synq
