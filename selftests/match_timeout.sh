#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Matches that end: not before their time and soon after, in the kernel, without anybody's
# asking.  The rest of the configuration, its generation and what is counted stay.  -e
# gives a match more time; save has what is left.
#
# Must fail if: a match went too soon or stayed, another went with it, the class of a
# match that was renewed were lost, or the work outlived the namespace.
#
# One kernel will do: what it tests does not depend on the kernel.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 41

# class ADDRESS [PORT]: its class
class() {
	sq classify "$1" ${2:+port "$2"} | sed 's/.* -> \([a-z]*\) .*/\1/'
}

class_is() {
	[ "$(class "$1" "${3-}")" = "$2" ]
}

# matches [CLASS]: how many there are
matches() {
	sq match show "$@" | tail -n +2 | wc -l
}

matches_are() {
	[ "$(conf_counter matches)" = "$1" ]
}

# left ADDRESS/LENGTH: seconds
left() {
	sq save | sed -n "s,^match add source $1 .* timeout \([0-9]*\)s\$,\1,p"
}

is_back() {
	sq save | grep -q 'class add gold'
}

load_synq
three_classes | apply
server "$TMP/server" $PORT
server=$LAST
manage
sq save >"$TMP/before"
before=$(conf_counter generation)

# --- it ends ---
began=$(ms)
check "a match for 3 seconds" sq match add source 10.4.0.0/24 class gold timeout 3s
is "it counts" "$(class 10.4.0.1)" gold
within "save has what is left" "$(left 10.4.0.0/24)" 1 3
within "show, too" "$(sq match show -j 10.4.0.0/24 | grep -oE '"timeout": ?[0-9]+' | grep -o '[0-9]*$')" 1 3
is "and in a column" "$(sq match show gold | awk 'NR == 1 { print $3 } $1 == "10.4.0.0/24" { print $2 }')" \
	"$(printf 'LEFT\ngold')"
client "$TMP/c1" -n 1 -c 1 -s 10.4.0.1 -S 1 -w 3000 $V4 $PORT
wait_for 20 has "$TMP/c1" ^done
admitted=$(counter gold admitted)
is "a connection has the class" "$((admitted > 0))" 1
generation=$(conf_counter generation)
is "that was one change" "$generation" $((before + 1))
wait_for 20 class_is 10.4.0.1 default
took=$(($(ms) - began))
# Two seconds by the rules, the rest for a slow machine.
within "ms until it has gone" $took 3000 8000
is "it is not there any more" "$(left 10.4.0.0/24)" ""
sq save >"$TMP/after"
check "all else is as it was" cmp "$TMP/before" "$TMP/after"
is "it is no change of the configuration" "$(conf_counter generation)" "$generation"
is "nor of the counters" "$(counter gold admitted)" "$admitted"
is "nor of the sockets" "$(sockets)" 1
client "$TMP/c2" -n 1 -c 1 -s 10.4.0.1 -S 1 -w 3000 $V4 $PORT
wait_for 20 has "$TMP/c2" ^done
is "a connection has the class no more" "$(counter gold admitted)" "$admitted"

# --- and no other with it ---
sq match add source 10.4.1.0/24 class gold timeout 2s
sq match add source 10.4.2.0/24 class gold timeout 6s
began=$(ms)
must_come 20 class_is 10.4.1.1 default
class=$(class 10.4.2.1)
[ $(($(ms) - began)) -lt 5500 ] || class=gold	# too slow to tell
is "a later one is still there" "$class" gold
must_come 20 class_is 10.4.2.1 default

# --- more time ---
sq -batch <<-EOT
	match add source 10.5.0.1 class gold timeout 3s
	match add source 10.5.0.2 class gold timeout 3s
	match add source 10.5.0.3 class gold timeout 3s
	match add source 10.5.0.4 class gold timeout 1h
	match add source 10.5.0.5 class gold
	match add source 10.5.0.6 class gold timeout 3s
	match add source 10.5.0.0/24 class silver timeout 1h
EOT
check "one with a time is there" eval "! sq match add source 10.5.0.1 class gold timeout 1h 2>/dev/null"
check "-e gives it more" sq match add -e source 10.5.0.1 class gold timeout 1h
check "or all" sq match add -e source 10.5.0.2 class gold
check "set gives another class, too" sq match set source 10.5.0.3 class bulk timeout 1h
check "-e shortens, too" sq match add -e source 10.5.0.4 class gold timeout 3s
check "and limits what had no end" sq match add -e source 10.5.0.5 class gold timeout 3s
is "-e of another class" "$(sq match add -e source 10.5.0.1 class bulk timeout 1h 2>&1)" \
	'synq: "10.5.0.1/32": there is a match of another class for this prefix'
check "those that have ended have gone" wait_for 20 matches_are 10
is "the others have their classes" "$(for i in 1 2 3 4 5 6; do class 10.5.0.$i; done | tr '\n' ' ')" \
	"gold gold bulk silver silver silver "
within "what was renewed has an hour" "$(left 10.5.0.1/32)" 3580 3600
is "what was given all has none" "$(left 10.5.0.2/32)" ""

# --- diff, save, apply ---
sq save >"$TMP/saved"
sleep 2
check "time that passes is no difference" sq diff "$TMP/saved"
is "that a match ends is one" "$(sed '/10.5.0.1/s/ timeout.*//; /10.5.0.2/s/$/ timeout 60s/' "$TMP/saved" |
	sq diff - | sed 's/ timeout [0-9]*s/ timeout/' | LC_ALL=C sort)" \
	"$(printf '%s\n' '+match add source 10.5.0.1/32 class gold' \
	'+match add source 10.5.0.2/32 class gold timeout' \
	'-match add source 10.5.0.1/32 class gold timeout' '-match add source 10.5.0.2/32 class gold')"
check "what is saved can be applied" sq apply "$TMP/saved"
check "and is the same" sq diff "$TMP/saved"

# --- a destination goes with its last match ---
three_classes | apply
sq match add source 10.6.0.0/16 port $PORT-$((PORT + 9)) class gold timeout 2s
sq match add source 10.6.0.0/16 port 1-65535 class silver timeout 3s
sq match add source 10.6.0.0/16 to $V4 class bulk timeout 1h
is "by destination" "$(class 10.6.0.1 $PORT) $(class 10.6.0.1 1)" "gold silver"
check "they end" wait_for 20 matches_are 7
check "and their destinations: the ports may overlap now" \
	sq match add source ::/0 port $((PORT + 1))-$((PORT + 99)) class gold

# --- what is over is in no transaction's way ---
three_classes | apply
sq class add short priority 9
sq match add source 10.9.0.0/24 class short timeout 1s
pause_ms 999
pause_ms 999
pause_ms 300
check "its class can go at once" sq class del short

# --- a trial goes back to what has ended since ---
three_classes | apply
sq match add source 10.7.0.0/16 class gold timeout 2s
echo "listener add port 81" | sq apply --confirm 5s - 2>/dev/null
must_come 30 is_back
check "what has ended meanwhile goes" wait_for 20 matches_are 6

# --- many ---
sq match add source 10.8.0.0/16 class silver
awk 'BEGIN {
	for (i = 0; i < 100000; i++)
		printf "match add source 11.%d.%d.%d class gold timeout %ds\n",
		       i / 65536, i / 256 % 256, i % 256, 4 + i % 3
}' >"$TMP/many"
began=$(ms)
sq -batch "$TMP/many"
took=$(($(ms) - began))
within "ms for 100,000" $took 0 20000
check "they go" wait_for 60 matches_are 7
within "ms until they had" $(($(ms) - began - took)) 0 15000
is "and no other did" "$(matches) $(class 10.8.0.1)" "7 silver"

# --- one ends each second: what stays has an index all the same ---
for ((i = 0; i < 200; i++)); do
	echo "match add source 12.0.$i.0/24 class gold"
done >"$TMP/stay"
for ((i = 0; i < 10; i++)); do
	echo "match add source 12.1.$i.0/24 class gold timeout $((i + 2))s"
done >>"$TMP/stay"
sq -batch "$TMP/stay"
indexed() {
	[ "$(conf_counter indexed)" -gt 0 ]
}
must_come 10 indexed
found=0
for ((i = 0; i < 40; i++)); do
	! indexed || found=$((found + 1))
	pause_ms 150
done
within "of 40 looks found an index" $found 25 40

# --- the namespace goes, and the module ---
new_pair "$SRV-b" "$CLI-b"
{
	three_classes
	echo "match add source 10.9.0.0/16 class gold timeout 1s"
} >"$TMP/short"
SPACE=$SRV-b sq apply "$TMP/short"
del_ns "$SRV-b"
sq apply "$TMP/short"
stop "$server"
check "unloads while matches are to end" rmmod synq
sleep 2
