#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An accepted connection is an ordinary one: a blocking recv(2) and an
# edge-triggered epoll on it are woken at once by what comes later, also after
# the module is gone.  Plain IPv4, IPv6, IPv4 at an IPv6 socket, Fast Open, MPTCP.
#
# Must fail if: a child kept anything of the module's that it inherits from its
# listener (the reader sleeps for ever; after unloading, a jump into nowhere).
#
# Needs two CPUs: connections come while the module goes.

. "${BASH_SOURCE[0]%/*}/lib.sh"

RECV=8081 EPOLL=8082
KINDS='v4 v6 mapped fastopen mptcp'
plan 41

set_sysctl "$SRV" net.ipv4.tcp_fastopen 1543	# both ends, without a cookie
set_sysctl "$CLI" net.ipv4.tcp_fastopen 1543

conf() {
	three_classes $RECV
	echo "listener add port $EPOLL"
}

set_kind() {
	to=$V4 from=10.1.0.1 listen='-a 0.0.0.0' talk='' proof=''
	case $1 in
	v6) to=$V6 from=fd00:1::1 listen='-a :: -V' ;;
	mapped) listen='-a ::' ;;
	fastopen)
		listen='-a 0.0.0.0 -F 16' talk=-F
		proof=TcpExt.TCPFastOpenPassive ;;
	mptcp) listen='-a 0.0.0.0 -M' talk=-M proof=MPTcpExt.MPCapableACKRX ;;
	esac
}

can() {
	[ "$1" != mptcp ] || has_sysctl net.mptcp.enabled
}

# serve MODE PORT: a server; talk MODE PORT: a client with three connections to it
serve() {
	# shellcheck disable=SC2086
	server "$TMP/$1" -m "$1" $listen "$2"
	servers+=("$LAST")
}

talk() {
	# shellcheck disable=SC2086
	client "$TMP/c.$1" -n 3 -c 1 -s $from -w 8000 -g "$TMP/go" -G 2 \
		$talk "$to" "$2"
	clients+=("$LAST")
}

quick() {
	[ "${1:-9999}" -lt 2000 ]
}

# stage N MODE WHAT
stage() {
	must_come 20 has "$TMP/c.$2" "^stage $1"
	grep "^stage $1" "$TMP/c.$2" >"$TMP/stage"
	is "$kind, $2: $3" "$(field "$TMP/stage" answered)" 3
	check "$kind, $2: $3 at once" quick "$(field "$TMP/stage" slowest)"
}

# part KIND LOADED: with the module, or the baseline
part() {
	local mode
	kind=$1 servers=() clients=()
	rm -f "$TMP"/go*
	set_kind "$1"
	serve recv $RECV
	serve epoll $EPOLL
	if [ "$2" = 1 ]; then
		manage "$to" $RECV
		manage "$to" $EPOLL
	fi
	before=$([ -z "$proof" ] || mib "$proof")
	talk recv $RECV
	talk epoll $EPOLL
	for mode in recv epoll; do
		must_come 20 has "$TMP/c.$mode" ^answered 3
	done
	after=$([ -z "$proof" ] || mib "$proof")
	touch "$TMP/go.1"
	if [ "$2" = 1 ]; then
		for mode in recv epoll; do
			stage 1 $mode woken
		done
		unload_synq
		touch "$TMP/go.2"
		for mode in recv epoll; do
			stage 2 $mode "woken after unloading"
		done
	fi
	stop "${clients[@]}" "${servers[@]}"
}

# Plain readers wake without synq just so.
kind='stock kernel' servers=() clients=()
rm -f "$TMP"/go*
set_kind v4
serve recv $RECV
talk recv $RECV
must_come 20 has "$TMP/c.recv" ^answered 3
touch "$TMP/go.1"
must_come 20 has "$TMP/c.recv" '^stage 1 answered=3'
ok "stock kernel: woken"
stop "${clients[@]}" "${servers[@]}"

for kind in $KINDS; do
	if ! can "$kind"; then
		for _ in 1 2 3 4 5 6 7 8; do
			skip "$kind" "not in this kernel"
		done
		continue
	fi
	load_synq
	conf | apply
	part "$kind" 1
	[ -z "$proof" ] || [ "$((after - before))" -ge 6 ] ||
		die "these were no $kind connections: $before, $after"
done
