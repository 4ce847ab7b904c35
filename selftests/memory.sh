#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The memory of a table of prefixes, index included, is charged to the memory control
# group of the process that made it, though a worker makes the index.  It comes back when
# the prefixes are removed, on flush, and with the network namespace.  Near the limit of
# the group there is no index, which is counted, matches whose time is over stay, and no
# process is killed; lookups give the same result.  No group is left behind.
#
# Must fail if: the index were not charged, a worker that rolls back a trial charged the
# wrong group, a worker triggered the OOM killer, or a reference to a group leaked.

. "${BASH_SOURCE[0]%/*}/lib.sh"

N=80000			# prefixes, each of two nodes of 32 bytes at most
PREFIXES=$((N * 64 * 9 / 10))
INDEX=$((262144 * 8))	# bytes: twice N, the next power of two, 8 bytes each
SLACK=$((INDEX / 2))	# what else comes and goes, and what is not counted exactly

groups=$TMP/groups
group=$groups/$TEST
make_group() {
	mkdir "$groups" && mount -t cgroup2 none "$groups" &&
		echo +memory >"$groups/cgroup.subtree_control" &&
		mkdir "$group" && [ -e "$group/memory.max" ]
}
if ! make_group 2>/dev/null; then
	umount "$groups" 2>/dev/null
	skip_all "no memory control group"
fi
plan 26

# in_group ARG...: the command in $SRV or $SPACE, by somebody of the group
in_group() {
	# shellcheck disable=SC2016
	sh -c 'echo 0 >"$1/cgroup.procs" && shift && exec "$@"' sh "$group" \
		"$PEER" in "${SPACE:-$SRV}" "$(type -P synq)" "$@"
}

# Bytes charged to the group.
charged() {
	echo "$(<"$group/memory.current")"
}

charged_from() {
	[ "$(charged)" -ge "$1" ]
}

charged_below() {
	[ "$(charged)" -lt "$1" ]
}

# comes NAME FROM and goes NAME BELOW: one test
comes() {
	check "$1" wait_for 20 charged_from "$2"
	note "$(charged) bytes, from $2"
}

goes() {
	check "$1" wait_for 20 charged_below "$2"
	note "$(charged) bytes, below $2"
}

indexed() {
	[ "$(conf_counter indexed)" = "$1" ]
}

# event NAME: how often it came in the group
event() {
	local name n
	while read -r name n; do
		[ "$name" != "$1" ] || echo "$n"
	done <"$group/memory.events"
}

looked_up() {
	local address
	for address in 11.0.0.1 11.0.7.28 12.56.127.255 12.56.128.0 13.0.0.1 10.2.3.4; do
		sq classify "$address"
	done
	sq classify 14.0.99.1 port 443
	sq classify 14.0.100.1 port 443
}

load_synq
awk -v n=$N 'BEGIN {
	for (i = 0; i < n; i++)
		printf "%d.%d.%d.0/24\n", 11 + i / 65536, i / 256 % 256, i % 256
}' >"$TMP/list"
for ((i = 0; i < 100; i++)); do
	echo "14.0.$i.0/24"
done >"$TMP/scoped"
{
	three_classes
	echo "match add source-file $TMP/list class gold"
	echo "match add source-file $TMP/scoped port 443 class silver"
} >"$TMP/conf"
ALL=$((N + 3 + 100))	# with those of IPv4 that the classes have anyway
is "before, nothing" "$(charged)" 0

# --- which group is charged ---
in_group apply "$TMP/conf" || die "apply failed"
check "they get an index" wait_for 60 indexed $ALL
comes "prefixes and index are charged" $((PREFIXES + INDEX))
looked_up >"$TMP/with"
both=$(charged)
sq class set bulk cap 90%
check "another process makes a change: a new index" wait_for 60 indexed $ALL
goes "which is not charged to the group" $((both - INDEX + SLACK))
comes "the prefixes are still" $PREFIXES
one=$(charged)
in_group class set bulk cap 80%
must_come 60 indexed $ALL
comes "the index of a change is" $((one + INDEX - SLACK))
sq class set bulk cap 90%
must_come 60 indexed $ALL
goes "and is no more" $((one + SLACK))
# What was in force before is again, by a worker; its index is another one.
sed '/^match add source-file/d' "$TMP/conf" >"$TMP/few"
in_group apply --confirm 1s "$TMP/few" || die "apply failed"
must_come 60 indexed $ALL
comes "so is that of what a trial goes back to" $((one + INDEX - SLACK))
is "it went back" "$(sq match show | grep -c /)" $((N + 6 + 100))

# --- the limit ---
# The limit comes between a change and its index, or else once again.
without_memory() {
	local failed now
	failed=$(conf_counter index_failed)
	for ((n = 0; n < 20; n++)); do
		sq class set bulk cap 90%
		must_come 20 charged_below $((one + SLACK))
		in_group class set bulk cap 80%
		now=$(charged)
		echo $((now + INDEX / 8)) >"$group/memory.max"
		wait_for 60 made_or_not "$failed"
		[ "$(conf_counter index_failed)" = "$failed" ] || return 0
		echo max >"$group/memory.max"
	done
	return 1
}

made_or_not() {
	indexed $ALL || [ "$(conf_counter index_failed)" != "$1" ]
}

check "no memory for an index: counted" without_memory
check "there is none, but of the small table" wait_for 20 indexed 100
looked_up >"$TMP/without"
check "lookups are the same" cmp "$TMP/with" "$TMP/without"
check "the limit was met" test "$(event max)" -gt 0
is "no process was to be killed" "$(event oom) $(event oom_kill)" "0 0"
echo max >"$group/memory.max"
in_group class set bulk cap 90%
check "the next change tries again" wait_for 60 indexed $ALL

# --- matches that end ---
# Each is in another chunk of the table, so that to take them out takes memory.
for ((i = 0; i < 4000; i++)); do
	echo "$((11 + i / 4096)).$((i / 16 % 256)).$((i % 16 * 16)).5"
done >"$TMP/ending"
matches() {
	conf_counter matches
}
is_all() {
	[ "$(matches)" = "$1" ]
}
all=$(matches)
in_group match add source-file "$TMP/ending" class bulk timeout 8s || die "no match"
is "matches that end" "$(matches)" $((all + 4000))
# By then what was in force before has been freed, and there is an index.
sleep 4
charged >"$group/memory.max"
wait_for 9 is_all "$all"
is "no memory to take them out: they stay" "$(matches)" $((all + 4000))
is "no process is killed for them" "$(event oom) $(event oom_kill)" "0 0"
echo max >"$group/memory.max"
check "with memory, they go" wait_for 60 is_all "$all"

# --- it comes back ---
{
	cat "$TMP/list"
	printf '10.%d.0.0/16\n' 1 2 3
} >"$TMP/all"
in_group match del source-file "$TMP/all"
goes "all prefixes taken out: it comes back" $((PREFIXES / 2))
in_group apply "$TMP/conf" || die "apply failed"
comes "and goes again" $PREFIXES
sq flush
goes "flushed: it comes back" $((PREFIXES / 2))
SPACE=synq-x-$$
new_ns $SPACE
in_group apply "$TMP/conf" || die "apply failed"
comes "another network namespace" $PREFIXES
del_ns $SPACE
goes "it goes: it comes back" $((PREFIXES / 2))

# A group that is referred to stays, invisible.
dying() {
	local name n
	while read -r name n; do
		[ "$name" != nr_dying_descendants ] || echo "$n"
	done <"$groups/cgroup.stat"
}

none_dying() {
	echo 3 >/proc/sys/vm/drop_caches
	[ "$(dying)" = 0 ]
}

rmdir "$group"
check "nothing holds the group" wait_for 60 none_dying
umount "$groups"
