#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Refused SYNs are remembered: a retransmitted one is counted as a retry, and "synq why
# ADDRESS" says why a client was refused: its rate, the queue, the wait; newest first, IPv4
# and IPv6; "would be" with enforce off.  A flood makes it a sample, and does not hide a
# client that goes on trying.
#
# Must fail if: all or none were retries, another connection's SYN were one, another
# source's refusals were shown, or a flood filled the memory at once.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 46

BACKLOG=32

# conf BULK [SET]: options, and a further line
conf() {
	apply <<-EOT
		class add gold priority 0
		class add bulk priority 6 $1
		match add source 10.3.0.0/16 class bulk
		match add source 10.200.0.0/16 class bulk
		match add source fd00:3::/32 class bulk
		listener add port $PORT
		${2-}
	EOT
}

status() {
	sq why "$@" >"$TMP/out" 2>"$TMP/err"
	echo $?
}

# refusals ADDRESS [REGEX]: how many are remembered, of these
refusals() {
	sq why -j "$1" | grep -oE '\{"age"[^}]*\}' | grep -cE "${2-}" || :
}

refusals_from() {
	[ "$(refusals "$1" "$2")" -ge "$3" ]
}

# ages ADDRESS: newest first, if they only grow
ages() {
	sq why -j "$1" | grep -oE '"age": *[0-9]+' | grep -oE '[0-9]+' >"$TMP/ages"
	[ -s "$TMP/ages" ] && sort -nc "$TMP/ages"
}

# clients ADDRESS N TO [OPTION...]: at once, from one address
clients() {
	client "$TMP/c.$1" -n "$2" -c "$2" -s "$1" -w 60000 "${@:4}" "$3" $PORT
	fillers+=("$LAST")
}

# segments OPTION...: of one address, each from a port of its own
segments() {
	"$PEER" segment -N "$CLI" -s 10.200.0.1 "$@" $V4 $PORT >"$TMP/sent"
	read -r _ _ took <"$TMP/sent"
}

fillers=()

# --- stock kernel: a SYN that is let in comes once ---
server "$TMP/server" -b 512 -m none -a :: $PORT
first=$LAST
clients 10.3.0.1 20 $V4 -A
must_come 10 has "$TMP/c.10.3.0.1" ^done
is "stock kernel: all get in" "$(field "$TMP/c.10.3.0.1" acked)" 20
is "without the module: status 2" "$(status 10.3.0.1)" 2
stop "${fillers[@]}" "$first"

load_synq
is "unconfigured: status 1" "$(status 10.3.0.1)" 1
is "and one line says so" "$(cat "$TMP/err")" \
	'synq: "10.3.0.1": nothing is configured'
is "no address: status 1" "$(status 10.3.0)" 1

# --- the rate, and clients that come again ---
conf "rate 10/second burst 5 max-wait none"
server "$TMP/server" -b 512 -m none -a :: $PORT
first=$LAST fillers=()
is "nothing was refused: status 0" "$(status 10.3.0.1)" 0
is "and that is what it says" "$(cat "$TMP/out")" \
	"10.3.0.1 -> bulk (source 10.3.0.0/16)
no refusal is remembered"
clients 10.3.0.1 20 $V4 -A
must_come 60 has "$TMP/c.10.3.0.1" ^done
is "all get in in the end" "$(field "$TMP/c.10.3.0.1" acked)" 20
refused=$(counter bulk excess_dropped)
check "some were refused before" test "$refused" -ge 10
is "what came again were retries" "$(counter bulk retries)" "$refused"
is "and each client tried once for the first time" \
	"$(counter bulk first_tries)" 20
is "each refusal is remembered" "$(refusals 10.3.0.1)" "$refused"
is "first tries as such" "$(refusals 10.3.0.1 '"retry": ?false')" \
	$((20 - $(counter bulk admitted) + $(counter bulk retries) -
	   $(refusals 10.3.0.1 '"retry": ?true')))
check "and retries" refusals_from 10.3.0.1 '"retry": ?true' 1
check "newest first" ages 10.3.0.1
is "another address has none" "$(refusals 10.3.0.2)" 0
status 10.3.0.1 >/dev/null
check "in words, with the rate" \
	has "$TMP/out" "^ *[0-9.m]+s +$PORT  bulk   (first|again)  excess-dropped: over rate 10/second$" "$refused"
is "and a heading and the class" "$(wc -l <"$TMP/out")" $((refused + 2))
clients fd00:3::1 8 $V6 -A
must_come 60 has "$TMP/c.fd00:3::1" ^done
refused=$(($(counter bulk excess_dropped) - refused))
is "IPv6: first tries" "$(counter bulk first_tries)" 28
is "IPv6: each refusal is remembered" "$(refusals fd00:3::1)" "$refused"
check "IPv6: there were some" test "$refused" -gt 0
stop "${fillers[@]}"

# --- the same SYN, and another ---
sq flush
# No token comes meanwhile, however slow the machine is.
conf "rate 1/hour burst 1 max-wait none"
segments -n 100
is "none came before" "$(counter bulk retries)" 0
before=$(counter bulk excess_dropped)
segments -n 100
is "all refused come again" "$(counter bulk retries)" "$before"
segments -n 100 -p 21000
is "other ports are other connections" "$(counter bulk retries)" "$before"
sq class set bulk rate none
segments -n 100 -p 21000
is "a SYN that is admitted at last was a retry, too" \
	$(($(counter bulk seen) - $(counter bulk retries))) 200
segments -n 100 -p 21000
is "and is not judged any more" "$(counter bulk seen)" \
	$((200 + $(counter bulk retries)))

# --- a flood ---
sq flush
conf "rate 1/second burst 1 max-wait none"
is "flush forgets" "$(refusals 10.200.0.1)" 0
"$PEER" segment -N "$CLI" -s 10.3.0.9 -n 5 $V4 $PORT >/dev/null
fillers=()
clients 10.3.0.1 8 $V4
segments -n 6000 -r 2000
within "a flood leaves a sample" "$(refusals 10.200.0.1)" \
	$((45 * took / 1000)) $((60 + 51 * took / 1000))
check "which does not hide what was before it" refusals_from 10.3.0.9 . 4
check "nor a client that goes on trying" \
	wait_for 10 refusals_from 10.3.0.1 '"retry": ?true' 1
segments -n 10000
segments -n 10000
check "all of it has bounds" test "$(refusals 10.200.0.1)" -le 512
stop "${fillers[@]}"

# --- enforce off; other sources, since the flood left half-open requests ---
sq flush
conf "rate 1/second burst 5 max-wait none enforce off"
segments -s 10.200.0.2 -n 50
refused=$(counter bulk would_refuse)
within "enforce off: would be refused" "$refused" 44 45
is "and is remembered as that" "$(refusals 10.200.0.2 '"enforce": ?false')" \
	"$refused"
status 10.200.0.2 >/dev/null
check "in words" has "$TMP/out" ' would be excess-dropped: over rate 1/second$' \
	"$refused"
# Without half-open requests all that comes is judged.
set_sysctl "$SRV" net.ipv4.tcp_syncookies 2
segments -s 10.200.0.3 -n 50
segments -s 10.200.0.3 -n 50
set_sysctl "$SRV" net.ipv4.tcp_syncookies 1
is "a SYN that was let through and comes again" "$(counter bulk seen)" 150
is "is no retry" "$(counter bulk retries)" 0
stop "$first"

# --- the queue ---
sq flush
conf "max-wait none cap 50%"
server "$TMP/server" -b $BACKLOG -H "$TMP/go" $PORT
held=$LAST fillers=()
manage
clients 10.3.0.1 60 $V4
must_come 10 counter_from bulk queue_refused 20
check "queue: is remembered" \
	refusals_from 10.3.0.1 '"reason": ?"queue_refused"' 20
status 10.3.0.1 >/dev/null
check "queue: in words, with cap and reserve" has "$TMP/out" \
	' queue-refused: no slot for its class; reserve of others 25%, cap 50%$' 20
sq class set bulk cap none
status 10.3.0.1 >/dev/null
check "queue: with what is set now" has "$TMP/out" \
	' queue-refused: no slot for its class; reserve of others 25%$' 20
stop "$held" "${fillers[@]}"

# --- the wait: a server that takes one in 50 ms ---
sq flush
conf "max-wait 200ms"
mkdir "$TMP/turns"
server "$TMP/server" -b 512 -H "$TMP/turns/go" -C 1 $PORT
held=$LAST fillers=()
manage
touch "$TMP/turns/go"
serve() {
	local n=0
	while read -r -t 0.05 -u "$never" || n=$((n + 1)); do
		: >"$TMP/turns/go.$n"
	done
}
serve &
pids+=($!) fillers+=($!)
disown $!
clients 10.3.0.1 60 $V4 -r 50
must_come 20 counter_from bulk wait_refused 5
check "wait: is remembered" \
	refusals_from 10.3.0.1 '"reason": ?"wait_refused"' 5
status 10.3.0.1 >/dev/null
check "wait: in words, with max-wait" has "$TMP/out" \
	' wait-refused: would wait longer than max-wait 200ms$' 5
check "wait: all are served in the end" \
	wait_for 60 has "$TMP/c.10.3.0.1" ^answered 60
is "wait: first tries and retries add up" \
	$(($(counter bulk first_tries) + $(counter bulk retries))) \
	"$(counter bulk seen)"
is "wait: as many first tries as clients" "$(counter bulk first_tries)" 60
stop "$held" "${fillers[@]}"

# --- nothing is left behind ---
sq flush
check "unloaded" rmmod synq
is "status 2 again" "$(status 10.3.0.1)" 2
