#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The owner of a listening socket, without privileges, holds its lock for as long as it
# likes: setsockopt(2) reads memory under it, from a file on FUSE or watched by
# userfaultfd.  No other process waits for it for more than two seconds, whether it
# configures, unloads or loads synq, creates or removes another network namespace, loads
# or unloads another module, or chooses the order of another socket.  The socket is one
# that synq has not met before when SYNs arrive for it, or one that is managed already.
#
# Must fail if: anything waited for the lock of a socket, and others for that.
#
# Needs two CPUs: one waits, the others work.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/owner_lib.sh"

WAYS='fuse uffd' STATES='new managed'
# Those that end the first state, or the second, come last.
WORKS='applies switches chooses goes_through_namespaces loads_others interrupts
	flushes reloads'
PER_STATE=9 OTHER=8081 NEIGHBOUR=$SRV-n
plan $((4 * PER_STATE + 1))

modprobe fuse 2>/dev/null
[ ! -e /dev/fuse ] || chmod 666 /dev/fuse	# as udev does
chmod 711 "$TMP"
: >"$TMP/memory"
chmod 644 "$TMP/memory"

conf() {
	{
		three_classes
		echo "listener add port $OTHER"
	} | sed 's/^listener .*/& app-order on/' >"$TMP/conf"
	sq apply "$TMP/conf"
}

syn() {
	"$PEER" segment -N "$CLI" -s 10.4.0.1 -n 3 $V4 $PORT >/dev/null
}

# Not each SYN need try.
comes_to_be_managed() {
	syn
	sockets_are 1
}

# holds: a listener whose lock is held, in $state
holds() {
	local file=()
	rm -f "$TMP/hold" "$TMP/end"
	[ "$way" != fuse ] || file=(-t "$TMP/memory")
	background "$TMP/holder" "$PEER" hold -N "$SRV" -m "$way" \
		-H "$TMP/hold" -E "$TMP/end" "${file[@]}" 0.0.0.0 $PORT
	holder=$LAST
	must_come 10 has "$TMP/holder" '^(listening|skip|tcp_peer)'
	has "$TMP/holder" ^listening || return
	[ -d /sys/module/synq ] || load_synq
	sq flush
	conf
	[ "$state" = new ] || must_come 10 comes_to_be_managed
	: >"$TMP/hold"
	must_come 10 has "$TMP/holder" ^holding
	syn
	# A worker may have to find the socket.
	pause_ms 200
}

still_holds() {
	[ -n "$holder" ] && ! has "$TMP/holder" '^let go'
}

# let_go: and all that waited for it have finished
let_go() {
	: >"$TMP/end"
	must_come 10 has "$TMP/holder" '^let go'
	[ -z "$step" ] || must_come 30 is_gone "$step"
	[ "$answer" != "no answer" ] || hear other
	ip netns del "$NEIGHBOUR" 2>/dev/null && wait_for 10 near_is_gone
}

leave_holder() {
	[ -z "$holder" ] || stop "$holder"
	holder=''
}

# takes COMMAND...: no more than two seconds, even while the lock is held
takes() {
	background "$TMP/step" "$@"
	step=$LAST
	wait_for $patience is_gone "$step" && return
	note "still busy after $patience s: $*"
	return 1
}

# A machine that is busy takes longer where nobody holds a lock, too.  Who waited for
# that would wait for 20 s.
find_patience() {
	local work since longest=0
	patience=8
	for work in neighbour neighbour_goes load_synq conf "rmmod synq"; do
		since=$(ms)
		# shellcheck disable=SC2086 # words
		takes $work || die "cannot do: $work"
		since=$(($(ms) - since))
		[ $since -le $longest ] || longest=$since
	done
	patience=$((longest * 3 / 1000))
	[ $patience -ge 2 ] || patience=2
	[ $patience -le 8 ] || patience=8
	note "one step takes up to $longest ms: no more than $patience s are allowed"
}

# --- works: each is done while the lock is held ---

applies() {
	takes conf && syn && takes conf
}

flushes() {
	takes sq flush && takes conf && syn && takes sq flush
}

switches() {
	takes sq off && syn && takes sq on
}

reloads() {
	takes rmmod synq && takes load_synq && takes conf && syn &&
		takes rmmod synq && takes load_synq
}

# neighbour: another network namespace
neighbour() {
	ip netns add "$NEIGHBOUR" &&
		ip link add near type veth peer name far netns "$NEIGHBOUR"
}

near_is_gone() {
	! ip link show near >/dev/null 2>&1
}

neighbour_goes() {
	ip netns del "$NEIGHBOUR"
	until near_is_gone; do
		pause_ms 50
	done
}

goes_through_namespaces() {
	takes neighbour && takes neighbour_goes && takes neighbour &&
		takes neighbour_goes
}

# While a namespace goes.
loads_others() {
	takes neighbour && ip netns del "$NEIGHBOUR" &&
		takes modprobe "$other" && takes rmmod "$other" &&
		takes neighbour && takes neighbour_goes
}

# A socket that is not managed yet is, then.
chooses() {
	does other socket 0 tcp4
	does other bind 0 0.0.0.0 $OTHER
	does other listen 0 8
	tell other set 0 0 1216 1
	hear other $patience
	[ "$answer" = 0 ] && return
	note "SYNQ_SO_ORDER: $answer"
	return 1
}

# Not ignoring the signal, as what runs in the background of a script does.
interrupted() {
	local signal=$1
	set -m
	background "$TMP/step" synq apply "$TMP/conf"
	set +m
	step=$LAST
	pause_ms 100
	kill "-$signal" "$step" 2>/dev/null
	wait_for $patience is_gone "$step" && return
	note "SIG$signal does not end it"
	return 1
}

interrupts() {
	interrupted INT && interrupted KILL
}

# --- all of them ---

# A module that has something in each network namespace.
find_other() {
	for other in ip_gre vrf ''; do
		[ -d "/sys/module/$other" ] || ! modprobe -n "$other" 2>/dev/null ||
			return 0
	done
}

name_of() {
	case $1 in
	applies) echo "synq apply" ;;
	flushes) echo "synq flush" ;;
	switches) echo "synq off, on" ;;
	reloads) echo "rmmod, insmod" ;;
	goes_through_namespaces) echo "another namespace comes and goes" ;;
	loads_others) echo "another module" ;;
	chooses) echo "order of another socket" ;;
	interrupts) echo "a signal ends synq apply" ;;
	esac
}

# work WORK: one test.  If it fails, what waits has to go before the next
work() {
	local failed=$n_failed
	if ! still_holds; then
		leave_holder
		holds
	fi
	check "$way, $state: $(name_of "$1")" "$1"
	[ "$n_failed" != "$failed" ] || return 0
	let_go
	leave_holder
}

run_state() {
	local work
	for work in $WORKS; do
		if [ "$work" = loads_others ] && [ -z "$other" ]; then
			skip "$way, $state: another module" "there is none here"
		else
			work "$work"
		fi
	done
	if [ -z "$holder" ]; then
		holds
	fi
	let_go
	conf
	wait_for 10 comes_to_be_managed
	is "$way, $state: sockets that are managed when the lock is let go" \
		"$found" 1
	leave_holder
}

find_other
find_patience
load_synq
conf
owner other
worked=0 holder='' step=''
for way in $WAYS; do
	state=new
	if ! holds; then
		for ((i = 0; i < 2 * PER_STATE; i++)); do
			skip "$way" "$(cat "$TMP/holder")"
		done
		leave_holder
		continue
	fi
	worked=$((worked + 1))
	for state in $STATES; do
		run_state
	done
done
if [ $worked = 0 ] && ! strict; then
	skip "the lock can be held" "neither FUSE nor userfaultfd"
else
	check "the lock can be held" [ $worked -gt 0 ]
fi
