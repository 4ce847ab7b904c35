# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2153,SC2154
#
# Servers that accept at once, with $WORKERS workers that need $SERVICE ms for a request, and
# what becomes of ordinary and of preferred clients, for inside_*.sh.

WORKERS=4 SERVICE=80
clients_are_prompt

# inside_conf WHAT [PORT...]
inside_conf() {
	local what=$1 port
	shift
	[ $# -gt 0 ] || set -- "$PORT"
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 default
		match add source 10.1.0.0/16 class gold
		match add source fd00:1::/32 class gold
		$(for port; do echo "listener add port $port $what"; done)
	EOT
}

# eager OPTION...: the server; sets serving
eager() {
	: >>"$TMP/server"
	background "$TMP/server" "$PEER" eager -N "$SRV" -j $WORKERS -t $SERVICE "$@"
	serving=$LAST
	wait_for 10 is_up "$TMP/server" || die "no server: $(cat "$TMP/server")"
}

# by V4|V6: where clients come from and go to from now on
by() {
	case $1 in
	V4) TO=$V4 GOLD=10.1.0.1 BULK=10.3.0.1 ;;
	V6) TO=$V6 GOLD=fd00:1::1 BULK=fd00:3::1 ;;
	esac
}
by V4

# load RATE SECONDS [PORT]: ordinary clients, who leave after 2 s; sets loading
load() {
	client "$TMP/load.$TO" -n $(($1 * $2)) -r "$1" -s "$BULK" -S 250 -w 2000 "$TO" "${3:-$PORT}"
	loading=$LAST
}

# limit [PORT]: as it is now
limit() {
	number "$(told listener show -j "${1:-$PORT}")" '"inside_limit":' && echo "$found"
}

# How close to the knee it is on a quiet machine is for bench/inside_sim.
limit_is_sane() {
	[ "$(limit "$1")" -le $((8 * WORKERS)) ]
}

# preferred N RATE [PORT]: these clients; sets gold and median of their answers (ms), and most,
# the highest limit meanwhile
preferred() {
	local now
	most=0
	client "$TMP/gold" -n "$1" -r "$2" -s "$GOLD" -S 250 -w 3000 "$TO" "${3:-$PORT}"
	until has "$TMP/gold" ^done || is_gone "$LAST"; do
		now=$(limit "${3:-$PORT}")
		[ "${now:-0}" -le "$most" ] || most=$now
		pause_ms 200
	done
	gold=$(field "$TMP/gold" answered)
	median=$(awk '$1 == "answered" { print $3 }' "$TMP/gold" | sort -n | median)
}

# median: of the sorted numbers on standard input
median() {
	awk '{ n[NR] = $1 } END { print NR ? n[int((NR + 1) / 2)] : 9999 }'
}

# answers CLASS [PORT]: all that were counted
answers() {
	local stats sum=0 bucket
	stats=$(told stats -j)
	for bucket in 1ms 4ms 16ms 64ms 256ms 1s 4s longer; do
		counter_in "$stats" "$1" answered_$bucket "$2"
		sum=$((sum + found))
	done
	echo $sum
}

# is_quiet [PORT]: nobody is held, nor busy
is_quiet() {
	local stats class name
	stats=$(told stats -j)
	for class in gold bulk; do
		for name in held_now busy_now; do
			counter_in "$stats" $class $name "$1"
			[ "${found:-0}" = 0 ] || return
		done
	done
}

# over NAME [PORT]: two tests
over() {
	check "$1: afterwards nobody is held or busy" wait_for 15 is_quiet "$2"
	is "$1: the accounts of who was held add up" "$(account gold "$2") $(account bulk "$2")" "0 0"
}
