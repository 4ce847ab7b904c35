#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Several sockets on one port, each for another address: each has a queue of its
# own in class order, all are managed, and one that goes leaves the others alone.
#
# Must fail if: state were kept by port, or a socket was taken for another.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan 8

OTHER=192.0.2.11
ip -n "$SRV" address add $OTHER/24 dev veth0

# three stock|synq: servers that hold, the same list in the queue of each
three() {
	local i=0 spec
	rm -f "$TMP"/go*
	servers=()
	for spec in "$V4" $OTHER ::; do
		i=$((i + 1))
		server "$TMP/server$i" -a "$spec" -V -H "$TMP/go" $PORT
		servers+=("$LAST")
	done
	i=0
	for spec in "$V4" $OTHER "$V6"; do
		i=$((i + 1)) to=$spec
		[ "$1" = stock ] || find_all $i
		to_family "$TMP/list" >"$TMP/list$i"
		arrive "$TMP/list$i" "s$i-"
	done
}

find_all() {
	find_socket
	must_come 10 sockets_are "$1"
}

# to_family LIST: addresses of the kind that $to has
to_family() {
	case $to in
	*:*) sed -E 's/^10\.(.)\.0\./fd00:\1::/' "$1" ;;
	*) cat "$1" ;;
	esac
}

end_three() {
	touch "$TMP/go"
	must_come 10 has "$TMP/server1" ^accept 20
	must_come 10 has "$TMP/server2" ^accept 20
	must_come 10 has "$TMP/server3" ^accept 20
}

arrivals 20 3 >"$TMP/list"
three stock
end_three
stop "${servers[@]}"
seq 0 19 | sed 's/^/s2-/' >"$TMP/expected"
same "stock kernel: order of arrival" "$TMP/server2" "$TMP/expected"

load_synq
three_classes | apply
three synq
is "each is managed" "$(sockets)" 3
stop "${servers[2]}"
check "one goes" wait_for 10 sockets_are 2
once "three sockets" 60
touch "$TMP/go"
must_come 10 has "$TMP/server1" ^accept 20
must_come 10 has "$TMP/server2" ^accept 20
for i in 1 2; do
	by_class "$TMP/list" '' s$i- >"$TMP/expected"
	same "address $i: class, then arrival" "$TMP/server$i" "$TMP/expected"
done
stop "${servers[@]}"
clean_end "three sockets"
