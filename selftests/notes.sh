#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Remarks on what surrounds a configuration: "apply" names sysctls that stand in its way,
# "stats" a listener with connections that saw no SYN, and a source-rate that one source
# has nearly all traffic of.  One line each; the rest is as without.
#
# Must fail if: a remark were missing, came without its reason, or apply refused for it.
#
# One kernel will do: the command says it.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 17

# noted NAME REMARK...: applied, with these remarks and no other
noted() {
	local name=$1
	shift
	check "$name: applied" sq apply "$TMP/conf" 2>"$TMP/err"
	is "$name" "$(cat "$TMP/err")" "$(printf 'synq: note: %s\n' "$@")"
}

server "$TMP/server" -b 600 $PORT
cat >"$TMP/conf" <<-EOT
	class add gold priority 0
	class add normal priority 3 source-rate 5/second
	match add source 10.0.0.0/8 class normal
	listener add port $PORT
EOT
load_synq

check "nothing to remark on: applied" sq apply "$TMP/conf" 2>"$TMP/err"
is "nothing to remark on" "$(cat "$TMP/err")" ""
set_sysctl "$SRV" net.ipv4.tcp_abort_on_overflow 1
noted "tcp_abort_on_overflow" \
	"net.ipv4.tcp_abort_on_overflow=1: clients that find a full queue are reset, and synq holds none"
set_sysctl "$SRV" net.ipv4.tcp_abort_on_overflow 0
set_sysctl "$SRV" net.ipv4.tcp_timestamps 0
noted "tcp_timestamps" \
	"net.ipv4.tcp_timestamps=0: connections of SYN cookies lose window scaling and SACK"
set_sysctl "$SRV" net.ipv4.tcp_timestamps 1
set_sysctl "$SRV" net.core.somaxconn 512
noted "somaxconn" \
	"net.core.somaxconn=512 is below the backlog of port $PORT, 600, which a restart would cut"
set_sysctl "$SRV" net.core.somaxconn 600
noted "somaxconn that has cut it" "net.core.somaxconn=600 cuts the backlog of port $PORT"
set_sysctl "$SRV" net.core.somaxconn 4096
set_sysctl "$SRV" net.ipv4.tcp_max_syn_backlog 256
set_sysctl "$SRV" net.ipv4.tcp_syncookies 0
noted "tcp_max_syn_backlog without cookies" \
	"net.ipv4.tcp_max_syn_backlog=256 limits the SYN queue of port $PORT, whose backlog is 600"
set_sysctl "$SRV" net.ipv4.tcp_syncookies 1
set_sysctl "$SRV" net.ipv4.tcp_max_syn_backlog 4096

# --- a source that is no client ---
"$PEER" segment -N "$CLI" -s 10.200.0.2 -S 50 -n 50 $V4 $PORT >/dev/null
"$PEER" segment -N "$CLI" -s 10.200.0.1 -n 400 $V4 $PORT >/dev/null
must_come 20 counter_from normal seen 450
sq stats >"$TMP/stats" 2>"$TMP/err"
is "too few SYNs to say" "$(cat "$TMP/err")" ""
"$PEER" segment -N "$CLI" -s 10.200.0.1 -p 20000 -n 1000 -r 1000 $V4 $PORT >/dev/null
# A SYN of a half-open request is not judged again.
must_come 20 counter_from normal seen 1400
sq stats >"$TMP/stats" 2>"$TMP/err"
check "one source has nearly all of a source-rate" grep -qxE "synq: note: class normal: \
10\.200\.0\.1/32 sent [0-9]+ of [0-9]+ SYNs: a proxy, which source-rate limits" "$TMP/err"
is "once" "$(wc -l <"$TMP/err")" 1
sq stats -j >/dev/null 2>"$TMP/err"
is "not with -j" "$(cat "$TMP/err")" ""
"$PEER" segment -N "$CLI" -s 10.201.0.1 -S 200 -n 400 -r 1000 $V4 $PORT >/dev/null
must_come 20 counter_from normal seen 1750
sq stats >/dev/null 2>"$TMP/err"
is "others have a part, too" "$(cat "$TMP/err")" ""
unload_synq
