#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two listeners, one of them with three sockets: a reuseport group of two and one for IPv6.
# The counters of a listener are the sum over its sockets, those of a class the sum over
# its listeners.  Placed connections have been accepted, are queued, or were closed with
# their socket, also if that was shut down and listens again.
#
# Must fail if: a socket were not counted, or counted at another listener, or what a closed
# socket had were lost, or counted for another or as accepted.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan 13

OTHER=8081

# managed: each of the sockets, by a SYN
managed() {
	"$PEER" segment -N "$CLI" -s 10.4.0.1 -S 50 -n 50 $V4 $PORT
	"$PEER" segment -N "$CLI" -s fd00:4::1 "$V6" $PORT
	"$PEER" segment -N "$CLI" -s 10.4.0.1 $V4 $OTHER
	sockets_are 3 && sockets_are 1 $OTHER
} >/dev/null

# rows NAME...: "PORT CLASS VALUE..." of the clients' classes
rows() {
	sq stats -j | tr -d ' \n' | tr '}' '\n' | awk -v want="$*" '
		/"class":"(gold|silver|bulk)","counters":/ {
			match($0, /"port":[0-9]*/)
			row = substr($0, RSTART + 7, RLENGTH - 7)
			match($0, /"class":"[a-z]*/)
			row = row " " substr($0, RSTART + 9, RLENGTH - 9)
			sub(/.*"counters":[{]/, "")
			n = split($0, pair, ",")
			for (i = 1; i <= n; i++) {
				split(pair[i], part, ":")
				gsub(/"/, "", part[1])
				value[part[1]] = part[2]
			}
			n = split(want, name, " ")
			for (i = 1; i <= n; i++)
				row = row " " value[name[i]]
			print row
		}' | sort
}

# by_listener: the addresses of clients, after "PORT " each, as rows would have them
by_listener() {
	awk '
		BEGIN {
			split("gold silver bulk", class, " ")
			for (i = 1; i <= 3; i++)
				n[8080 " " class[i]] = n[8081 " " class[i]] = 0
		}
		{
			sub(/^fd00:/, "10.", $2)
			n[$1 " " class[substr($2, 4, 1)]]++
		}
		END { for (i in n) print i, n[i] }' | sort
}

# accepted_by: what the servers say
accepted_by() {
	{
		awk '$1 == "accept" { print 8080, $2 }' "$TMP"/server[123]
		awk '$1 == "accept" { print 8081, $2 }' "$TMP/server4"
	} | by_listener
}

# length PORT: connections in its queues
length() {
	srv ss -Hltn "sport = :$1" | awk '{ n += $2 } END { print n + 0 }'
}

nothing_queued() {
	[ "$(length $PORT) $(length $OTHER)" = "0 0" ]
}

# queued_at PORT: the same, of all classes, as synq has it
queued_at() {
	rows queued | awk -v port="$1" '$1 == port { n += $3 } END { print n + 0 }'
}

# totals_add_up: the rows "all" of the tables are the sums of those above them
totals_add_up() {
	sq stats | awk '
		NF < 3 || $1 == "sockets" { next }
		$1 == "LISTENER" { delete sum; next }
		$1 ~ /^[0-9]+$/ { for (i = 3; i <= NF; i++) sum[$2 "," i] += $i }
		$1 == "all" {
			all++
			for (i = 3; i <= NF; i++) {
				some += $i
				if ($i != sum[$2 "," i])
					print "# column", i, $0
				bad += $i != sum[$2 "," i]
			}
		}
		END { exit !all || !some || bad }'
}

# accounts_close: of each listener and class
accounts_close() {
	rows placed accepted queued closed replaced | awk '
		{ bad += $3 != $4 + $5 + $6 + $7; n++ }
		END { exit bad || n != 6 }'
}

load_synq
{ three_classes; echo "listener add port $OTHER"; } | apply
server "$TMP/server1" -R -H "$TMP/go1" $PORT
first=$LAST
server "$TMP/server2" -R -H "$TMP/go" $PORT
server "$TMP/server3" -a :: -V -H "$TMP/go" $PORT
server "$TMP/server4" -H "$TMP/go" $OTHER
must_come 10 managed

arrivals 40 3 >"$TMP/list1"
arrive "$TMP/list1" a
arrivals 25 4 >"$TMP/list3"
dial=$OTHER
arrive "$TMP/list3" c
sources='fd00:1:: fd00:2:: fd00:3::' dial=$PORT to=$V6
arrivals 15 5 >"$TMP/list2"
arrive "$TMP/list2" b
{
	sed 's/^/8080 /' "$TMP/list1" "$TMP/list2"
	sed 's/^/8081 /' "$TMP/list3"
} | by_listener >"$TMP/wanted"

for name in seen placed queued; do
	rows $name >"$TMP/got"
	check "$name, by listener and class" cmp "$TMP/got" "$TMP/wanted"
done
is "queued: the lengths of all queues" "$(queued_at $PORT) $(queued_at $OTHER)" \
	"$(length $PORT) $(length $OTHER)"
check "of all listeners: the sums" totals_add_up

# One member goes, with what it has queued.
before=$(length $PORT)
stop "$first"
must_come 10 sockets_are 2
after=$(length $PORT)
is "closed: what the member had" "$(totals closed) $(queued_at $PORT)" \
	"$((before - after)) $after"

# The others accept all they have.
touch "$TMP/go"
must_come 10 nothing_queued
accepted_by >"$TMP/wanted"
rows accepted >"$TMP/got"
check "accepted: what the servers say" cmp "$TMP/got" "$TMP/wanted"
check "every account closes" accounts_close
check "of all listeners: the sums, in the end" totals_add_up

# --- a socket that is shut down and listens again: its clients are reset ---
stop "${pids[@]}"
unload_synq
load_synq
three_classes | sed 's/^class add gold .*/& cap 10%/' | apply
server "$TMP/server5" -b 40 -m none -H "$TMP/shut" -L 40,40 -Z $PORT
manage

# some_come ID: four of gold, which is all it may have
some_come() {
	client "$TMP/client.$1" -n 4 -c 4 -A -s 10.1.0.1 -i "$1" -w 60000 $V4 $PORT
	must_come 30 has "$TMP/client.$1" "^all acked"
}

# became: of gold
became() {
	rows placed accepted queued closed | sed -n 's/.* gold //p'
}

# Nothing looks in between: the next clients find it listening again.
some_come d
is "four are queued" "$(became)" "4 0 4 0"
touch "$TMP/shut.listen"
must_come 10 has "$TMP/server5" "^listening again"
is "shut down: they are closed" "$(became)" "4 0 0 4"
some_come e
is "and give way to others" "$(became)" "8 0 4 4"
touch "$TMP/shut.listen2"
must_come 10 has "$TMP/server5" "^listening again" 2
some_come f
is "not known to be shut down before others come" "$(became)" "12 0 4 8"
