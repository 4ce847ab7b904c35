#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The owner of a managed IPv6 listener, without privileges, makes the kernel replace the
# socket's operations under synq, in every possible way, and listens again.  Accepted
# connections are woken, the module goes while a connection is open, the connection goes on
# without it, and synq serves the next listener.  $CASES, if set, selects the ways.
#
# Must fail if: a child kept a callback of ours because the gate, which removes them, had
# been replaced.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/owner_lib.sh"

CASES=${CASES:-no_route refused connected ipv6 addrform unspec other_port stays ulp smc
	smc_fallback sockmap}
AGAIN_TESTS=6 OTHER=8081 FRIEND=9000 MAPPED=::ffff:127.0.0.1
n=0
for name in $CASES; do
	n=$((n + AGAIN_TESTS))
	case $name in
	ulp) n=$((n + 1)) ;;
	stays) n=$((n - 1)) ;;
	esac
done
plan $n

# people: the owner; a client; and a friend on $FRIEND whom the owner can connect to
people() {
	[ -n "${owner_pid[owner]-}" ] || owner owner
	[ -n "${owner_pid[client]-}" ] || owner client "$CLI"
	[ -z "${owner_pid[friend]-}" ] || return 0
	owner friend
	does friend socket 0 tcp6
	does friend bind 0 :: $FRIEND
	does friend listen 0 8
}

# listens [KIND [fallback]]: a managed listener, socket 0 of the owner; SMC's synq leaves
# alone, but sees a SYN of
listens() {
	load_synq
	three_classes | apply
	people
	does owner socket 0 "${1:-tcp6}"
	does owner bind 0 :: $PORT
	[ -z "${2-}" ] || does owner set 0 6 23 5	# TCP_FASTOPEN
	does owner listen 0 64
	if [ "${1-}" = smc6 ]; then
		"$PEER" segment -N "$CLI" -s fd00:4::1 "$V6" $PORT >/dev/null
	else
		manage "$V6"
	fi
}

# dial TO PORT: a connection, socket 1 of the owner and 0 of the client
dial() {
	local from=10.1.0.1 kind=tcp4
	case $1 in *:*) from=fd00:1::1 kind=tcp6 ;; esac
	does client socket 0 $kind
	does client bind 0 $from 0
	ask client connect 0 "$1" "$2"
	[ "$answer" = 0 ] || note "cannot connect: $answer"
	ask owner accept 0 1
	[ "$answer" = "$2" ] && return
	note "accepted: $answer"
	return 1
}

hang_up() {
	ask owner close 1
	ask client close 0
}

# serves: a listener of synq's, from its first SYN to its end
serves() {
	local rc
	listens
	heard "$V6" && [ "$(counter gold promoted)" = 1 ]
	rc=$?
	does owner close 0
	unload_synq
	return $rc
}

# gated TO: one more connection passes synq's gate: sockets 2 and 1
gated() {
	local before from=10.1.0.1 kind=tcp4
	case $1 in *:*) from=fd00:1::1 kind=tcp6 ;; esac
	before=$(counter gold promoted)
	does client socket 1 $kind
	does client bind 1 $from 0
	ask client connect 1 "$1" $PORT
	ask owner accept 0 2
	ask owner close 2
	ask client close 1
	[ "$(counter gold promoted)" -gt "$before" ]
}

# again NAME [TO [PORT]]: the socket listens again; $AGAIN_TESTS tests
again() {
	check "$1: accepts" dial "${2:-$V6}" "${3:-$PORT}"
	check "$1: what it has accepted receives at once" "${how-woken}" owner 1 client 0 a
	if [ -n "${counted-}" ]; then
		wait_for 5 sockets_are 0 || note "it is still managed"
		is "$1: is left, and not counted for the other port" \
			"$(sockets) $(counter gold promoted)" "0 0"
	elif [ -n "${unmanaged-}" ]; then
		is "$1: is left alone" "$(sockets)" 0
	else
		check "$1: is managed anew" wait_for 5 gated "${2:-$V6}"
	fi
	does owner "${end-close}" 0
	sq flush
	unloads "$1: unloads"
	if [ -n "${owner_pid[owner]-}" ]; then
		check "$1: the connection goes on" "${how-woken}" owner 1 client 0 b
		hang_up
		[ -z "${end-}" ] || must_come 10 not_connected
	else
		skip "$1: the connection goes on" "it was closed to unload"
	fi
	check "$1: synq serves the next one" serves
}

# heard TO: a connection works
heard() {
	local rc
	dial "$1" $PORT && woken owner 1 client 0 e
	rc=$?
	hang_up
	return $rc
}

not_connected() {
	[ -z "$(srv ss -Htn state connected exclude time-wait sport = :$PORT)" ]
}

skip_case() {
	local i
	for ((i = 0; i < AGAIN_TESTS; i++)); do
		skip "$1" "$2"
	done
}

# --- cases: NAME_case ---

no_route_case() {
	listens
	does owner shutdown 0
	ask owner connect 0 ::ffff:203.0.113.1 $FRIEND
	[ "$answer" = ENETUNREACH ] || die "there is a way to nowhere: $answer"
	does owner disconnect 0
	does owner listen 0 64
	again "no route to a mapped address"
}

refused_case() {
	listens
	does owner shutdown 0
	ask owner connect 0 $MAPPED 9
	[ "$answer" = ECONNREFUSED ] || die "not refused: $answer"
	does owner disconnect 0
	does owner listen 0 64
	again "refused at a mapped address" $V4
}

connected_case() {
	listens
	does owner shutdown 0
	does owner connect 0 $MAPPED $FRIEND
	does owner disconnect 0
	does owner listen 0 64
	again "connected to a mapped address" $V4
}

ipv6_case() {
	listens
	does owner shutdown 0
	does owner connect 0 ::1 $FRIEND
	does owner disconnect 0
	does owner listen 0 64
	again "connected to an IPv6 address"
}

# The stock kernel (6.1, 6.12) writes to the memory of such a listener when what it has
# accepted goes, so it must not go first.
addrform_case() {
	local end=shutdown
	listens
	does owner shutdown 0
	does owner connect 0 $MAPPED $FRIEND
	does owner addrform 0
	does owner disconnect 0
	does owner listen 0 64
	again "IPV6_ADDRFORM" $V4
}

unspec_case() {
	listens
	does owner disconnect 0
	does owner listen 0 64
	again "AF_UNSPEC on the listener"
}

# Only a port that the kernel has chosen is given back by shutdown(2): let it choose
# ours.
other_port_case() {
	local counted=1 PORT=8085	# on which no connection is in TIME_WAIT
	set_sysctl "$SRV" net.ipv4.ip_local_port_range "$PORT $PORT"
	load_synq
	three_classes | apply
	people
	does owner socket 0 tcp6
	does owner listen 0 64
	manage "$V6"
	set_sysctl "$SRV" net.ipv4.ip_local_port_range "32768 60999"
	does owner shutdown 0
	does owner bind 0 :: $OTHER
	does owner listen 0 64
	again "another port" "$V6" $OTHER
}

# It does not listen again.  The module may wait for the end of such a socket, but not
# rmmod.
stays_case() {
	local name="connected, and stays so"
	# Others were connected to the friend, too.
	[ -z "${owner_pid[friend]-}" ] || leave friend
	listens
	does owner shutdown 0
	does owner connect 0 $MAPPED $FRIEND
	ask friend accept 0 1
	is "$name: connects" "$answer" $FRIEND
	check "$name: is woken" woken owner 0 friend 1 a
	sq flush
	background "$TMP/rmmod" rmmod synq
	wait_for 2 is_gone "$LAST" || note "rmmod does not come back"
	stop "$LAST"
	check "$name: goes on" woken owner 0 friend 1 b
	does owner close 0
	does friend close 1
	unloads "$name: unloads when it is closed"
	check "$name: synq serves the next one" serves
}

# SMC makes the socket one of its own, where the kernel still lets it.
ulp_case() {
	listens
	ask owner ulp 0 smc
	note "smc: $answer"
	does owner listen 0 64
	ask owner ulp 0 tls
	check "ULP: there is none for a listener but smc" [ "$answer" != 0 ]
	again "ULP"
}

# no_smc NAME: then its tests are skipped
no_smc() {
	! grep -q '^SMC' /proc/net/protocols || return
	skip_case "$1" "not in this kernel"
}

# What it accepts falls back to TCP, since the client is no SMC socket.
smc_case() {
	local unmanaged=1
	no_smc SMC && return
	listens smc6
	again SMC
}

# The listener itself has fallen back. Then the stock kernel wakes no process.
smc_fallback_case() {
	local unmanaged=1
	local how=comes
	no_smc "SMC that fell back" && return
	listens smc6 fallback
	again "SMC that fell back"
}

sockmap_case() {
	listens
	rm -f "$TMP/end"
	background "$TMP/bpf" "$PEER" bpf -E "$TMP/end" verdict \
		"${owner_pid[owner]}"
	must_come 10 has "$TMP/bpf" '^(attached|skip|tcp_peer)'
	if ! has "$TMP/bpf" ^attached; then
		skip_case sockmap "$(cat "$TMP/bpf")"
		does owner close 0
		unload_synq
		return
	fi
	does owner shutdown 0
	ask owner connect 0 $MAPPED 9
	does owner disconnect 0
	does owner listen 0 64
	touch "$TMP/end"
	must_come 10 is_gone "$LAST"
	# The map goes some time later. Until then it may eat what comes.
	wait_for 10 heard $V4
	again "sockmap, and refused at a mapped address" $V4
}

modprobe -a smc tls 2>/dev/null
for name in $CASES; do
	"${name}_case"
done
