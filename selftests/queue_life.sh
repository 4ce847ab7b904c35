#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An accept queue is emptied without accept(2), and filled again: its socket is shut down,
# or destroyed by the administrator, and listens again; queued connections come back from
# another member of its reuseport group, to which they had migrated.  Meanwhile requests of
# another listener reuse the memory.  Each port accepts all that was sent to it and nothing
# else, and what arrives then is in order.  $TRIES (5) times each.
#
# Must fail if: a request of the queue's earlier life were remembered, or recognised by what
# is written in it.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/order_lib.sh"
. "${BASH_SOURCE[0]%/*}/owner_lib.sh"
need taskset
plan 8

TRIES=${TRIES:-5} OTHER=8081
to=$V4
set_sysctl "$SRV" net.ipv4.tcp_migrate_req 1
# Memory that a CPU has freed is the first that it takes again.
taskset -p 1 $$ >/dev/null

owner owner

# --- steps of a life; members of the group are sockets 0 and 1, the other listener is 2 ---

# member N [PORT]: the owner's socket N listens
member() {
	does owner socket "$1" tcp4
	does owner set "$1" 1 15 1	# SO_REUSEPORT
	does owner bind "$1" 0.0.0.0 "${2:-$PORT}"
	does owner listen "$1" 64
}

# come ID ADDRESS...: queued, in this order, when it returns
come() {
	printf '%s\n' "${@:2}" >"$TMP/list.$1"
	arrive "$TMP/list.$1" "$1"
	clients+=("$1" "$LAST")
}

# What takes the free memory: if synq put it into the wrong queue, it would lead there.
others_come() {
	dial=$OTHER come x 10.3.0.1 10.1.0.1 10.1.0.2
}

late_come() {
	come y 10.3.1.1 10.1.1.1 10.3.1.2 10.1.1.2
}

destroy() {
	ask owner cookie "$1"
	"$PEER" destroy -N "$SRV" $PORT "$answer" || die "not destroyed"
}

# accept_all: adds to mine and others what either port has accepted, and a slash
accept_all() {
	ask owner serve 0
	mine+="$answer / "
	ask owner serve 2
	others+="$answer / "
}

# conf [PORT]: another one, too
conf() {
	{
		three_classes
		[ -z "${1-}" ] || echo "listener add port $1"
	} | sed 's/^listener .*/& app-order on/' | apply
}

# reload [PORT]: and the kernel finds all as it was
reload() {
	unload_synq
	load_synq
	conf "$@"
}

# managed N: socket N and no other, by SYNQ_SO_ORDER
managed() {
	does owner set "$1" 0 1216 0
}

begin_life() {
	clients=() mine='' others=''
	member 2 $OTHER
	member 0
	managed 0
	come b 10.3.2.1 10.3.2.2 10.3.2.3
}

# --- lives ---

away_and_back() {
	begin_life
	member 1
	does owner shutdown 0
	does owner listen 0 64
	others_come
	does owner shutdown 1
	late_come
	accept_all
}

away_and_back_managed() {
	begin_life
	member 1
	managed 1
	does owner shutdown 0
	does owner listen 0 64
	others_come
	does owner shutdown 1
	late_come
	accept_all
}

away_and_back_destroyed() {
	begin_life
	member 1
	destroy 0
	does owner listen 0 64
	others_come
	does owner shutdown 1
	accept_all
	# As it is it would pass on that it was shut down.
	does owner disconnect 0
	does owner listen 0 64
	late_come
	accept_all
}

away_and_back_off() {
	begin_life
	member 1
	managed 1
	sq off
	does owner shutdown 0
	does owner listen 0 64
	others_come
	does owner shutdown 1
	sq on
	late_come
	accept_all
}

# The new module may count as the old one did, whose marks are in the queues still.
away_and_back_reloaded() {
	reload
	begin_life
	member 1
	managed 1
	does owner shutdown 0
	does owner listen 0 64
	does owner steer 0 1
	come c 10.3.3.1 10.3.3.2 10.3.3.3
	reload $OTHER
	managed 2
	managed 0
	ask owner serve 0
	mine="$answer / "
	others_come
	does owner shutdown 1
	late_come
	accept_all
}

again() {
	begin_life
	does owner shutdown 0
	does owner listen 0 64
	others_come
	late_come
	accept_all
}

again_destroyed() {
	begin_life
	destroy 0
	does owner disconnect 0
	does owner listen 0 64
	others_come
	late_come
	accept_all
}

# --- what came of it ---

# all_of PORT ID N: as accepted
all_of() {
	local i
	for ((i = 0; i < $3; i++)); do
		echo "$1/$2$i"
	done
}

# only WORDS: the accepted are those of standard input, whatever their order
only() {
	local got
	read -ra got <<<"${1// \/ / }"
	[ "$(printf '%s\n' "${got[@]}" | sort)" = "$(sort)" ]
}

# in_order: of those that came last gold before bulk, and each class as it came; no gold
# behind bulk that was accepted at the same time
in_order() {
	local word ys='' bulk=''
	for word in $mine; do
		case $word in
		/) bulk='' ;;
		*/y1 | */y3) ys+=${word#*/} out_of_order+=$bulk ;;
		*/y*) ys+=${word#*/} bulk=x ;;
		*/b*) bulk=x ;;
		esac
	done
	[ "$ys" = y1y3y0y2 ] && [ -z "$out_of_order" ]
}

# own_answers: each client has heard what it has said, once
own_answers() {
	local i id n
	for ((i = 0; i < ${#clients[@]}; i += 2)); do
		id=${clients[i]}
		[ "$id" != b ] || [ -z "$lost" ] || continue
		wait_for 5 has "$TMP/client.$id" ^done || return
		n=$(wc -l <"$TMP/list.$id")
		[ "$(awk '$1 == "answered" && $2 == $4' "$TMP/client.$id" |
			wc -l)" = "$n" ] || return
	done
}

end_life() {
	local i
	for ((i = 0; i < ${#clients[@]}; i += 2)); do
		stop "${clients[i + 1]}"
	done
	for i in 0 1 2; do
		does owner close $i
	done
	must_come 10 sockets_are 0
}

# lives NAME LIFE [LOST]: one test; LOST, if what was queued first is reset
lives() {
	local try bad=0 out_of_order lost=${3-} ids
	for ((try = 1; try <= TRIES; try++)); do
		out_of_order=''
		"$2"
		ids=$(
			[ -n "$lost" ] || all_of $PORT b 3
			[ "$2" != away_and_back_reloaded ] || all_of $PORT c 3
			all_of $PORT y 4
		)
		if ! { only "$mine" <<<"$ids" && in_order && own_answers &&
		       only "$others" <<<"$(all_of $OTHER x 3)"; }; then
			bad=$((bad + 1))
			note "$1, try $try: $PORT: $mine"
			note "$1, try $try: $OTHER: $others"
		fi
		end_life
	done
	is "$1: to each port what was sent there, in order" $bad 0
}

load_synq
conf
lives "shut down, listens again" again lost
lives "destroyed, listens again" again_destroyed lost
lives "away and back" away_and_back
lives "away and back, the other managed" away_and_back_managed
lives "away and back, destroyed" away_and_back_destroyed
lives "away and back, off meanwhile" away_and_back_off
lives "away and back, reloaded meanwhile" away_and_back_reloaded
leave owner
unloads "unloads"
