#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Network namespaces: one with a managed listener goes away within two seconds of
# its last process, queue and configuration and all; two know nothing of each
# other; one that is not configured has no hook.
#
# Must fail if: a record held a reference to its socket or namespace,
# state were shared between namespaces, or the hooks were registered at loading.
#
# Needs two CPUs: a namespace goes while others run in it.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 17

OTHER=$SRV-b OTHERCLI=$CLI-b
in_pair() {
	local SRV=$OTHER CLI=$OTHERCLI
	"$@"
}

peer_is_gone() {
	! ip -n "$1" link show veth0 >/dev/null 2>&1
}

# vanish NAME SERVER CLIENT: the other end of its veth goes with a namespace
vanish() {
	local began took
	began=$(ms)
	ip netns del "$2"
	if ! wait_for 10 peer_is_gone "$3"; then
		not_ok "$1: not gone after 10 s"
		return
	fi
	took=$(($(ms) - began))
	note "$1: $took ms"
	check "$1" test $took -le 2000
}

# fill: a server with connections in its queue
fill() {
	server "$TMP/server.$SRV" -m none -b 80 $PORT
	filled=("$LAST")
	[ "${1-}" != managed ] || manage
	client "$TMP/c.$SRV" -n 40 -c 10 -A -s 10.3.0.1 -S 40 -w 20000 \
		-K "$TMP/never-comes" $V4 $PORT
	filled+=("$LAST")
	must_come 10 has "$TMP/c.$SRV" ^acked 20
}

new_pair "$OTHER" "$OTHERCLI"
in_pair fill
stop "${filled[0]}"
vanish "stock kernel: a namespace with a listener is gone" \
	"$OTHER" "$OTHERCLI"
stop "${filled[@]}"
del_ns "$OTHERCLI"

load_synq
new_pair "$OTHER" "$OTHERCLI"

# --- hooks ---
# Linux 6.1 of Debian has no nfnetlink_hook: can a hook that is there be seen?
hooks_are_listed() {
	command -v nft >/dev/null || return
	srv nft "add table ip probe; add chain ip probe c \
		{ type filter hook prerouting priority 0; }" || return
	srv nft list hooks 2>/dev/null | grep -q probe
	local rc=$?
	srv nft delete table ip probe
	return $rc
}

if hooks_are_listed; then
	hooks() {
		in_ns "$1" nft list hooks 2>/dev/null | grep -c '\[synq\]'
	}
	is "unconfigured: no hook" "$(hooks "$SRV")" 0
	three_classes | apply
	is "configured: two hooks for each family" "$(hooks "$SRV")" 4
	is "in this namespace only" "$(hooks "$OTHER")" 0
	sq listener del port $PORT
	is "without a listener: no hook" "$(hooks "$SRV")" 0
	sq flush
	is "after flush: no hook" "$(hooks "$SRV")" 0
else
	for _ in 1 2 3 4 5; do
		skip "hooks" "nft cannot list hooks here"
	done
fi

# --- two namespaces ---
three_classes | apply
swapped() {
	three_classes | sed 's/gold priority 0/gold priority 9/'
}
swapped | in_pair apply
is "each has a configuration of its own" \
	"$(sq save | grep -c 'gold.*priority 0') $(in_pair sq save | grep -c 'gold.*priority 9')" \
	"1 1"
fill managed
mine=("${filled[@]}")
check "counted here" wait_for 10 counter_is bulk promoted 40
is "and not there" "$(in_pair counter bulk promoted)" 0
in_pair sq flush
is "flushed there" "$(in_pair sq save | grep -vc '^#')" 0
is "and not here" "$(counter bulk promoted)" 40
is "still managed here" "$(sockets)" 1

# --- the end of a namespace ---
swapped | in_pair apply
in_pair fill managed
is "managed there" "$(in_pair sockets)" 1
stop "${filled[0]}"
vanish "a namespace with a managed listener is gone" "$OTHER" "$OTHERCLI"
stop "${filled[@]}"
is "managed here" "$(sockets)" 1

# A socket that cannot be managed, as SMC's, is not kept either.
leave_alone() {
	swapped | apply
	server "$TMP/smc" -a 0.0.0.0 -S $PORT
	alone=$LAST
	"$PEER" segment -N "$CLI" -s 10.4.0.1 $V4 $PORT >/dev/null
	must_come 10 is_left_alone
}

is_left_alone() {
	[ "$(conf_counter foreign_owner)" -gt 0 ]
}

modprobe smc 2>/dev/null
if grep -q "^SMC " /proc/net/protocols; then
	OTHER=$OTHER-1 OTHERCLI=$OTHERCLI-1
	new_pair "$OTHER" "$OTHERCLI"
	in_pair leave_alone
	stop "$alone"
	vanish "a namespace with a listener that is left alone is gone" \
		"$OTHER" "$OTHERCLI"
else
	skip "a listener that is left alone" "this kernel has no SMC"
fi

# Unloading with two namespaces in use.
new_pair "$OTHER-2" "$OTHERCLI-2"
OTHER=$OTHER-2 OTHERCLI=$OTHERCLI-2
swapped | in_pair apply
in_pair fill managed
check "unloaded while two namespaces use it" rmmod synq
stop "${filled[@]}" "${mine[@]}"
