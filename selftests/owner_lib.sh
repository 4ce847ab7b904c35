# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# Processes without privileges that do to their sockets what a script tells them, line
# by line (tcp_owner.c): owners of listening sockets, and clients.

declare -A tell_fd hear_fd owner_pid

# owner NAME [SPACE]: starts one.  Its FIFOs are hidden: who prints all files would wait
owner() {
	local in=$TMP/.$1.in out=$TMP/.$1.out to from
	[ -p "$in" ] || mkfifo "$in" "$out"
	exec {to}<>"$in" {from}<>"$out"
	tell_fd[$1]=$to hear_fd[$1]=$from
	background "$out" "$PEER" owner -N "${2:-$SRV}" "$in"
	owner_pid[$1]=$LAST
}

# leave NAME: it ends, and its sockets are closed
leave() {
	local to=${tell_fd[$1]} from=${hear_fd[$1]}
	stop "${owner_pid[$1]}"
	exec {to}>&- {from}<&-
	unset "owner_pid[$1]"
}

tell() {
	echo "${*:2}" >&"${tell_fd[$1]}"
}

# hear NAME [SECONDS]: sets answer
hear() {
	read -r -t "${2:-15}" -u "${hear_fd[$1]}" answer || answer="no answer"
}

# ask NAME COMMAND...: sets answer
ask() {
	tell "$@"
	hear "$1"
}

# does NAME COMMAND...: there is no point in going on if it cannot
does() {
	ask "$@"
	[ "$answer" = 0 ] || die "$*: $answer"
}

is_asleep() {
	local stat
	read -r stat <"/proc/$1/stat" && [[ $stat == *") S "* ]]
}

# received READER TEXT: what it was told to recv has come
received() {
	hear "$1"
	[ "$answer" = "got $2" ] && return
	note "$1 received $answer"
	return 1
}

# woken READER N SENDER M TEXT: READER sleeps in recv(2) when TEXT comes, and has it at
# once
woken() {
	local begun took
	tell "$1" recv "$2"
	# A process that is told something does not sleep before it has done it.
	wait_for 5 is_asleep "${owner_pid[$1]}"
	begun=$(ms)
	ask "$3" send "$4" "$5"
	[ "$answer" = 0 ] || note "$3 cannot send: $answer"
	received "$1" "$5" || return
	took=$(($(ms) - begun))
	[ $took -lt 2000 ] || note "$1 slept for $took ms"
	[ $took -lt 2000 ]
}

# comes: as woken, but TEXT is there before READER asks
comes() {
	ask "$3" send "$4" "$5"
	tell "$1" recv "$2"
	received "$1" "$5"
}

is_unloaded() {
	[ ! -d /sys/module/synq ]
}

try_to_unload() {
	until is_unloaded || rmmod synq; do
		pause_ms 50
	done
}

# unloads NAME: within two seconds; one test.  There is no point in going on if it
# does not either when all sockets are closed
unloads() {
	local name
	background "$TMP/rmmod" try_to_unload
	check "$1" wait_for 2 is_unloaded
	if is_unloaded; then
		stop "$LAST"
		return
	fi
	tail -n 1 "$TMP/rmmod" | sed 's/^/# /'
	for name in "${!owner_pid[@]}"; do
		leave "$name"
	done
	must_come 10 is_unloaded
}
