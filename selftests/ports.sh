#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Ranges of ports: 1,024 listeners, of which any is managed when a server listens there.
# They are printed as ranges again, and changed and removed by ranges.  Those that are not
# used take up no memory for counters.
#
# Must fail if: a port of a range were left out, a change of some of them hit others, or
# each of them had its counters before it is used.
#
# One kernel will do: what it tests does not depend on the kernel.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 24

saved() {
	sq save | grep ^listener
}

percpu() {
	awk '/^Percpu:/ { print $2 }' /proc/meminfo
}

load_synq
before=$(percpu)
{
	three_classes | grep -v ^listener
	echo "listener add port 7000-7999"
	echo "listener add port $PORT-$((PORT + 23)) order fifo"
} | apply
# All of them would need 7000 for each CPU.
within "kB of counters" $(($(percpu) - before)) -1024 1024
is "1,024 ports" "$(sq listener show | awk 'NR > 1' | wc -l)" 1024
is "saved as ranges" "$(saved)" "listener add port 7000-7999
listener add port $PORT-$((PORT + 23)) order fifo"
sq save >"$TMP/saved"
sq apply "$TMP/saved"
check "and the same again" sh -c "synq save | cmp - $TMP/saved"
is "diff of the same" "$(sq diff "$TMP/saved"; echo $?)" 0
check "one more is refused" eval "! sq listener add port 9000 2>$TMP/err"
is "by the limit" "$(cat "$TMP/err")" \
	'synq: "port 9000": too many listeners, the limit is 1024'

# --- managed: first, one of the middle, the last ---
for port in 7000 7512 $((PORT + 23)); do
	server "$TMP/server.$port" $port
	served=$LAST
	client "$TMP/client" -n 3 -s 10.1.0.1 $V4 $port
	check "port $port is served" wait_for 20 has "$TMP/server.$port" ^accept 3
	check "port $port: judged" test "$(sq stats -j listener $port |
		grep -o '"seen": *[1-9]' | wc -l)" = 1
	is "port $port: one socket" "$(sq listener show $port | awk 'NR == 2 { print $1, $NF }')" \
		"$port 1"
	stop "$served"
done

# --- changed by ranges that are not those that were added ---
before=$(conf_counter generation)
sq listener set port 7100-7199 order weighted
sq listener del port 7150-7160
is "each range is one change" "$(conf_counter generation)" $((before + 2))
is "saved" "$(saved)" "listener add port 7000-7099
listener add port 7100-7149 order weighted
listener add port 7161-7199 order weighted
listener add port 7200-7999
listener add port $PORT-$((PORT + 23)) order fifo"
is "diff has ranges" "$(sq diff "$TMP/saved")" "-listener add port 7100-7149 order weighted
+listener add port 7100-7149
+listener add port 7150-7160
-listener add port 7161-7199 order weighted
+listener add port 7161-7199"
is "shown" "$(sq listener show 7148-7162 | awk 'NR > 1 { print $1 }' | tr '\n' ' ')" \
	"7148 7149 7161 7162 "
sq save >"$TMP/saved"
before=$(conf_counter generation)
check "a range of which one is missing is refused" \
	eval "! sq listener del port 7140-7150 2>/dev/null"
check "a range of which one is there is refused" \
	eval "! sq listener add port 7155-7161 2>/dev/null"
sq match add source 10.9.0.0/16 port 9000 class gold 2>"$TMP/err"
is "a match for a port without a listener is remarked on" "$(cat "$TMP/err")" \
	"synq: note: matches port 9000 have no effect: no listener has that port"
sq match del source 10.9.0.0/16 port 9000
check "nothing else has changed" sh -c "synq save | cmp - $TMP/saved"
