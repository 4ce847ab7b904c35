# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# Kinds of listeners, for kind_*.sh.  Whatever a listener is, and however it is
# accepted from: on the stock kernel order of arrival; with synq class, then
# arrival; each connection judged, admitted, promoted and placed once; no socket
# left when it is closed; and the module goes.
#
# A script says by $listen, $to, $dial, $talk and $sources what is special
# (order_lib.sh), by "prepare" what is to be done to a server that listens, by
# "meanwhile" what to one whose socket is managed, and calls "kind".

. "${BASH_SOURCE[0]%/*}/order_lib.sh"
. "${BASH_SOURCE[0]%/*}/flood_lib.sh"

KIND_TESTS=5 COOKIE_TESTS=2 OVERRUN_TESTS=2
N=20
listen='-a 0.0.0.0' to=$V4 dial=$PORT talk='' sources='10.1.0. 10.2.0. 10.3.0.'

prepare() {
	:
}

meanwhile() {
	:
}

# totals NAME...: sums over the classes of the clients
totals() {
	local stats class name n=0 sums=()
	stats=$(told stats -j)
	for name; do
		sums[n]=0
		# shellcheck disable=SC2086 # words
		for class in ${CLASSES:-gold silver bulk}; do
			counter_in "$stats" $class "$name"
			sums[n]=$((sums[n] + found))
		done
		n=$((n + 1))
	done
	echo "${sums[*]}"
}

totals_are() {
	[ "$(totals seen admitted promoted placed)" = "$1 $1 $1 $1" ]
}

conf_counter_is() {
	[ "$(conf_counter "$1")" = "$2" ]
}

# once NAME [N]: one test
once() {
	local n=${2:-$N}
	if ! wait_for 10 totals_are "$n"; then
		note "seen, admitted, promoted, placed:" \
			"$(totals seen admitted promoted placed), not $n"
		not_ok "$1: judged, admitted, promoted and placed once"
		return
	fi
	ok "$1: judged, admitted, promoted and placed once"
}

# clean_end NAME: the server is closed; two tests
clean_end() {
	check "$1: no socket is left" wait_for 10 conf_counter_is sockets 0
	check "$1: unloads" rmmod synq
}

# there_is: the server can be had on this kernel; else WHY_NOT
there_is() {
	# shellcheck disable=SC2086
	background "$TMP/probe" "$PEER" server -N "$SRV" $listen -m none "$@" 9999
	wait_for 10 has "$TMP/probe" '^(listening|skip|tcp_peer)'
	WHY_NOT=$(sed -n 's/^skip //p' "$TMP/probe")
	stop "$LAST"
	[ -z "$WHY_NOT" ]
}

# skip_kind NAME REASON
skip_kind() {
	local i
	for ((i = 0; i < KIND_TESTS; i++)); do
		skip "$1" "$2"
	done
}

# find_socket: have the server's socket managed, by a SYN like the clients'
find_socket() {
	local from=10.4.0.1
	case $to in *:*) from=fd00:4::1 ;; esac
	"$PEER" segment -N "$CLI" -s "$from" "$to" "$dial" >/dev/null &&
		must_come 10 sockets_are_some "$PORT"
}

# queue_up stock|synq: connections in the queue of a server that holds, then accepted
queue_up() {
	hold
	prepare
	[ "$1" = stock ] || find_socket
	meanwhile
	arrive "$TMP/list"
	release "$N"
}

by_arrival() {
	seq 0 $((${1:-$N} - 1)) | sed 's/^/c/' >"$TMP/expected"
}

# kind NAME: $KIND_TESTS tests
kind() {
	if ! there_is; then
		skip_kind "$1" "$WHY_NOT"
		return
	fi
	arrivals $N 7 >"$TMP/list"
	queue_up stock
	by_arrival
	same "$1, stock kernel: order of arrival" "$TMP/server" "$TMP/expected"
	load_synq
	three_classes | apply
	queue_up synq
	by_class "$TMP/list" >"$TMP/expected"
	same "$1: class, then arrival" "$TMP/server" "$TMP/expected"
	once "$1"
	clean_end "$1"
}

# cookies NAME: a class whose excess gets SYN cookies; $COOKIE_TESTS tests
cookies() {
	local bulk=${sources##* } n=10
	if ! there_is; then
		skip "$1: served by cookies" "$WHY_NOT"
		skip "$1: and counted" "$WHY_NOT"
		return
	fi
	load_synq
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 rate 1/second burst 1 excess cookie
		match add source 10.3.0.0/16 class bulk
		match add source fd00:3::/32 class bulk
		listener add port $PORT
	EOT
	hold
	touch "$TMP/go"
	find_socket
	# shellcheck disable=SC2086
	"$PEER" client -N "$CLI" -n $n -c $n -s "${bulk}1" -S $n -w 10000 \
		${talk-} "$to" "$dial" >"$TMP/served"
	is "$1: served by cookies" "$(field "$TMP/served" answered)" $n
	within "$1: and counted" "$(counter bulk excess_cookie)" $((n - 3)) $n
	stop "$held"
	unload_synq
}

# overrun NAME: ten times the rate of a class; $OVERRUN_TESTS tests
overrun() {
	local from=10.200.0.1
	case $to in *:*) from=fd00:f::1 ;; esac
	if ! there_is; then
		skip "$1: ten times the rate" "$WHY_NOT"
		skip "$1: and counted" "$WHY_NOT"
		return
	fi
	load_synq
	police
	hold
	find_socket
	limited "$1" -s $from "$to"
	stop "$held"
	unload_synq
}

# wakes_all NAME: with synq, a server that waits is woken by each of many; one test
wakes_all() {
	if ! there_is; then
		skip "$1: woken each time" "$WHY_NOT"
		return
	fi
	load_synq
	three_classes | apply
	hold
	touch "$TMP/go"
	find_socket
	"$PEER" client -N "$CLI" -n 100 -c 10 -s 10.1.0.1 -s 10.3.0.1 -S 50 \
		-w 10000 "$to" "$dial" >"$TMP/woken"
	is "$1: woken each time" "$(field "$TMP/woken" answered)" 100
	stop "$held"
	unload_synq
}
