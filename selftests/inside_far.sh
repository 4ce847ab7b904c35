#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Clients from far away, at a server that accepts at once and has a limit inside.  Those who
# complete their handshakes have to be held, of whom there may be half of the backlog.  So no more
# are let in than can be held when they come; and so many that the server never runs out of them.
# Where hardly any has to be held nobody is refused, also if others come from near.
#
# Must fail if: final ACKs were dropped since too many had been let in; if the server was idle
# meanwhile; or if those were refused who have room.
#
# The clock may leap.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/inside_lib.sh"
need tc nft
plan 17

DELAY=400	# ms there and back

# far BACKLOG CONF NETEM...: a server far from its clients; with MIXED, those of 10.3.1.0/24 only
far() {
	local backlog=$1 conf=$2 at=root
	shift 2
	sq flush
	inside_conf "$conf"
	# What is not said would stay as it was.
	cli tc qdisc del dev veth0 root 2>/dev/null
	if [ "$MIXED" ]; then
		cli tc qdisc add dev veth0 root handle 1: prio \
			priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 || die "no prio"
		at="parent 1:3"
	fi
	# shellcheck disable=SC2086
	cli tc qdisc add dev veth0 $at netem delay ${DELAY}ms limit 10000 "$@" || die "no netem"
	eager -b "$backlog" $PORT
	manage
}

# more COUNTER BEFORE: so many more of bulk
more() {
	echo $(($(counter bulk "$1") - $2))
}

refused() {
	echo $(($(counter bulk queue_refused) + $(counter bulk wait_refused)))
}

# too_long: those of bulk that were held for longer than a second
too_long() {
	echo $(($(counter bulk held_4s) + $(counter bulk held_longer) + $(counter bulk hold_flushed)))
}

load_synq

# --- a fast server, whose clients come some at a time: a few are held, for a moment ---
WORKERS=4 SERVICE=5
far 128 "inside 4" slot 100ms 100ms
# Some have a cookie at first, cannot be held, and try again when it is not a good moment, either.
client "$TMP/light" -n 1000 -r 160 -s 10.3.0.1 -S 250 -w 60000 $V4 $PORT
# How fast it is is known then.
must_come 20 counter_from bulk accepted 200
refused=$(refused) held=$(counter bulk held)
must_come 70 has "$TMP/light" ^done
refused=$(($(refused) - refused))
note "light load: $(more held "$held") held, $refused refused"
check "light load: some have to wait" test "$(more held "$held")" -ge 20
within_prompt "light load: hardly anybody is refused" $refused 0 20
is "light load: all are answered" "$(field "$TMP/light" answered)" 1000
stop "$serving"

# --- half of them from near ---
WORKERS=2 SERVICE=16
MIXED=1 far 40 "inside 2" slot 200ms 200ms
cli nft -f - <<-EOT || die "no nft"
	table ip synq_test {
		chain out {
			type route hook output priority mangle
			ip saddr 10.3.1.0/24 meta priority set 1:3
		}
	}
EOT
client "$TMP/light" -n 400 -r 40 -s 10.3.1.1 -S 1 -w 20000 $V4 $PORT
client "$TMP/near" -n 400 -r 40 -s 10.3.0.1 -S 1 -w 20000 $V4 $PORT
must_come 20 counter_from bulk accepted 100
refused=$(refused) held=$(counter bulk held)
must_come 30 has "$TMP/light" ^done
must_come 30 has "$TMP/near" ^done
refused=$(($(refused) - refused))
note "near and far: $(more held "$held") held, $refused refused"
check "near and far: some have to wait" test "$(more held "$held")" -ge 20
within_prompt "near and far: hardly anybody is refused" $refused 0 20
stop "$serving"

# --- a crowd on its way, while some from near are held for a moment ---
WORKERS=4 SERVICE=43 DELAY=800
MIXED=1 far 128 "inside 6"
client "$TMP/light" -n 160 -r 40 -s 10.3.1.1 -S 250 -w 20000 $V4 $PORT
must_come 30 has "$TMP/light" ^done
hold_full=$(counter bulk hold_full) held=$(counter bulk held)
client "$TMP/crowd" -n 120 -c 120 -s 10.3.1.1 -S 250 -w 60000 $V4 $PORT
pause_ms 300
client "$TMP/near" -n 9 -c 9 -s 10.3.0.1 -S 1 -w 20000 $V4 $PORT
must_come 5 has "$TMP/near" ^done
check "a crowd on its way: some have to wait" test "$(more held "$held")" -gt 0
pause_ms 2000
note "a crowd on its way: $(more hold_full "$hold_full") final ACKs dropped"
within "a crowd on its way: those who are let in can be held" "$(more hold_full "$hold_full")" 0 20
must_come 60 has "$TMP/crowd" ^done
is "a crowd on its way: all are answered" "$(field "$TMP/crowd" answered)" 120
cli nft delete table ip synq_test
stop "$serving"

# --- four times as many as it can serve, 93 in a second ---
WORKERS=4 SERVICE=43 DELAY=200
far 128 "inside 6"
sq class set bulk max-wait none
client "$TMP/load" -n 7000 -r 372 -s 10.3.0.1 -S 250 -w 5000 $V4 $PORT
must_come 20 counter_from bulk accepted 150
before=$(answers bulk) since=$(ms) hold_full=$(counter bulk hold_full)
pause_ms 8000
rate=$((1000 * ($(answers bulk) - before) / ($(ms) - since)))
note "4x: $rate answers a second of 93, $(more hold_full "$hold_full") final ACKs dropped"
within_prompt "4x: the server always has something to do" $rate 85 100
within "4x: those who come can be held" "$(more hold_full "$hold_full")" 0 20
stop "$LAST"
must_come 30 is_quiet

# --- a crowd, while some are held ---
client "$TMP/load" -n 1800 -r 150 -s 10.3.0.1 -S 250 -w 3000 $V4 $PORT
loading=$LAST
pause_ms 4000
hold_full=$(counter bulk hold_full)
client "$TMP/crowd" -n 120 -c 120 -s 10.3.1.1 -S 250 -w 60000 $V4 $PORT
pause_ms 3000
note "a crowd: $(more hold_full "$hold_full") final ACKs dropped"
within "a crowd: those who are let in can be held" "$(more hold_full "$hold_full")" 0 20
must_come 60 has "$TMP/crowd" ^done
is "a crowd: all are answered" "$(field "$TMP/crowd" answered)" 120
stop "$loading" "$serving"

# --- first come, first served: what is kept for the first class is kept where they are held ---
far 128 "inside 6 order fifo"
sq class set bulk max-wait none
client "$TMP/load" -n 3000 -r 372 -s 10.3.0.1 -S 250 -w 5000 $V4 $PORT
loading=$LAST
must_come 20 counter_from bulk queue_refused 100
hold_full=$(counter bulk hold_full)
client "$TMP/gold" -n 40 -r 8 -c 8 -s 10.1.0.1 -S 250 -w 20000 $V4 $PORT
must_come 30 has "$TMP/gold" ^done
note "a reserve: $(counter gold held) held, $(refused) of the others refused," \
	"$(more hold_full "$hold_full") final ACKs dropped"
is "a reserve: nobody who has one is refused" \
	"$(($(counter gold queue_refused) + $(counter gold wait_refused)))" 0
is "a reserve: all are answered" "$(field "$TMP/gold" answered)" 40
within "a reserve: the others leave it free" "$(more hold_full "$hold_full")" 0 20
stop "$loading" "$serving"

# --- what the first class leaves, 20 in a second, is what the others wait for ---
WORKERS=8 SERVICE=80 DELAY=400
far 128 "inside 24"
sq class set bulk max-wait 600ms
client "$TMP/gold" -n 1600 -r 80 -s 10.1.0.1 -S 250 -w 20000 $V4 $PORT
preferring=$LAST
client "$TMP/load" -n 1600 -r 80 -s 10.3.0.1 -S 250 -w 20000 $V4 $PORT
pause_ms 6000
before=$(too_long) served=$(answers bulk)
pause_ms 6000
before=$(($(too_long) - before)) served=$(($(answers bulk) - served))
note "what is left: $served were served, $before were held for longer than a second"
within_prompt "what is left: it is used" $served 100 150
within_prompt "what is left: nobody is held for much longer than he may be" $before 0 40
stop "$preferring" "$LAST" "$serving"
