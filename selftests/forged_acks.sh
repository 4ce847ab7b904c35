#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Floods of forged final ACKs: for no connection and for half-open ones, with SYN cookies
# off, on, always, and sent by synq.  None makes a connection, the stack refuses and
# counts each, and preferred clients are served.
#
# Must fail if: an ACK were taken for that of a cookie or of a request, or marking an ACK
# or asking the gate for it kept other clients out.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/flood_lib.sh"
plan $((7 * 3 + 6))

# forged NAME FROM [OPTION...]: three tests
forged() {
	local name=$1 resets
	resets=$(mib Tcp.OutRsts)
	failed=$(mib TcpExt.SyncookiesFailed)
	under_flood "$@" -f A
	# Clients of our own that leave early may get some, too.
	within "$name: each is answered by a reset" \
		$(($(mib Tcp.OutRsts) - resets)) "$sent" \
		$((sent + 2 * PREFERRED))
	failed=$(($(mib TcpExt.SyncookiesFailed) - failed))
	is "$name: none is let in" "$(counter bulk promoted)" 0
}

# As many as forged() has found
each_failed() {
	within "each is counted as a wrong cookie" $failed "$sent" \
		$((sent + 2 * PREFERRED))
}

load_synq
server "$TMP/server" -a :: -m epoll $PORT
flood_conf
manage

set_sysctl "$SRV" net.ipv4.tcp_syncookies 0
forged "no cookies" 10.200.0.1 -S 1000
set_sysctl "$SRV" net.ipv4.tcp_syncookies 1
forged "cookies if the queue is full" 10.201.0.1 -S 1000 -d 100

# --- half open: the same addresses and ports ---
"$PEER" segment -N "$CLI" -n 500 -s 10.202.0.1 -p 3000 $V4 $PORT >/dev/null
is "half open" "$(half_open)" 500
forged "to half-open requests" 10.202.0.1 -p 3000
within "they are still half open" "$(half_open)" 450 500

# --- cookies ---
# While synq is off the kernel sends its own.
set_sysctl "$SRV" net.ipv4.tcp_syncookies 2
sq off
"$PEER" segment -N "$CLI" -n 5 -s 10.203.0.1 $V4 $PORT >/dev/null
sq on
forged "cookies always" 10.203.1.1 -S 1000
each_failed
set_sysctl "$SRV" net.ipv4.tcp_syncookies 1

flood_conf rate 1/second burst 1 excess cookie
"$PEER" segment -N "$CLI" -n 5 -s 10.204.0.1 $V4 $PORT >/dev/null
check "synq has sent cookies" counter_from bulk excess_cookie 3
forged "synq's cookies" 10.204.1.1 -S 1000
each_failed
forged "synq's cookies, IPv6" fd00:f::1 -S 1000
each_failed

# --- marks: the ACK of a cookie gets its class's ---
set_sysctl "$SRV" net.ipv4.tcp_fwmark_accept 1
marks='mark mask 0x0f000000'
flood_conf rate 1/second burst 1 excess cookie
forged "marked" 10.205.1.1 -S 1000
