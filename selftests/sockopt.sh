#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# setsockopt(SYNQ_SO_ORDER): an application chooses the order of its own listening
# socket where the administrator allows it, IPv4 or IPv6, and what is queued is
# sorted anew; the choice stays when the configuration is replaced; each error.  With
# the example of the documentation.
#
# Must fail if: the choice were not followed, were followed where it is
# not allowed, or were another socket's.

. "${BASH_SOURCE[0]%/*}/lib.sh"
EXAMPLE=$DIR/synq_order
need "$EXAMPLE"
plan 40
# Where the user "nobody" may run it.
unprivileged=''
chmod 755 "$TMP"
mkdir -m 755 "$TMP/bin"
cp "$EXAMPLE" "$TMP/bin/" || die "no example"
EXAMPLE=$TMP/bin/${EXAMPLE##*/}

# option CASE: what setting and getting gave
option() {
	sed -n "s/^$1 //p" "$TMP/option"
}

# options OPTION...: ask in every state
options() {
	srv "$PEER" option "$@" $PORT >"$TMP/option" || die "tcp_peer option"
}

# all_are NAME WANTED CASE...: one test
all_are() {
	local name=$1 wanted=$2 case bad=0
	shift 2
	for case; do
		[ "$(option "$case")" = "$wanted" ] && continue
		note "$case: $(option "$case")"
		bad=1
	done
	check "$name" [ $bad = 0 ]
}

# The kernel's answer, not ours.
mptcp_is_left_alone() {
	if [ "$(option mptcp)" = "none none" ]; then
		skip "MPTCP has no such option" "no MPTCP"
	else
		is "MPTCP has no such option" "$(option mptcp)" \
			"ENOPROTOOPT EOPNOTSUPP"
	fi
}

# in_server OUT COMMAND...: in the background, so that LAST is the command itself
in_server() {
	background "$1" "$PEER" in "$SRV" "${@:2}"
}

# example ORDER [PORT]: the example in $SRV; by nobody, if $unprivileged says so
example() {
	in_server "$TMP/example" ${unprivileged:+-u} "$EXAMPLE" "${2:-$PORT}" "$1"
	serving=$LAST
	must_come 10 is_listening "${2:-$PORT}"
	# It says what it has got before it accepts.
	wait_for 10 has "$TMP/example" '^(order|synq)' || :
}

is_stopped() {
	grep -q '^State:.*T' "/proc/$1/status"
}

is_listening() {
	[ -n "$(srv ss -Hltn "sport = :$1")" ]
}

# some FROM TO [PORT]: three connections, one after the other
some() {
	client "$TMP/c" -n 3 -c 1 -A -s "$1" -w 9000 "$2" "${3:-$PORT}"
	must_come 10 has "$TMP/c" '^done .*acked=3'
}

# round: bulk, then gold, both while the example is stopped, and which came first
round() {
	local before
	before=$(lines "$TMP/example" ^client)
	kill -STOP "$serving"
	must_come 10 is_stopped "$serving"
	some 10.3.0.1 $V4
	some 10.1.0.1 $V4
	kill -CONT "$serving"
	must_come 10 has "$TMP/example" ^client $((before + 6))
	tail -n 6 "$TMP/example" | sed 's/.*:10\.3\..*/b/; s/.*:10\.1\..*/g/' |
		tr -d '\n'
}

# conf OPTION...: of the listener
conf() {
	three_classes | sed "s/^\(\s*listener .*\)/\1 $*/" | apply
}

# --- stock kernel ---
options
all_are "stock kernel: there is no such option" "ENOPROTOOPT ENOPROTOOPT" \
	udp unbound bound fifo strict child
mptcp_is_left_alone
example fifo
is "stock kernel: order of arrival" "$(round)" bbbggg
is "the example says that synq is not there" \
	"$(head -n 1 "$TMP/example")" "synq does not serve this port"
stop "$serving"

load_synq
options
all_are "unconfigured: there is no such option" "ENOPROTOOPT ENOPROTOOPT" \
	udp unbound bound fifo strict child

three_classes 1 | apply
options
all_are "another port: there is no such option" "ENOPROTOOPT ENOPROTOOPT" \
	udp fifo strict

# --- not allowed ---
conf ""
options
all_are "not allowed: EPERM, and the order in force" "EPERM 0" fifo weighted strict
# Its memory may keep the kernel waiting for as long as the caller wants.
is "not allowed: no memory of the caller is read" "$(option nowhere)" EPERM
example fifo
is "the example says so" "$(head -n 1 "$TMP/example")" \
	"the administrator chooses (app-order off)"
manage
is "not allowed: by class" "$(round)" gggbbb
stop "$serving"

# --- allowed: every case ---
conf app-order on
for to in 0.0.0.0 ::; do
	options -a $to
	is "$to: fifo" "$(option fifo)" "0 1"
	is "$to: weighted" "$(option weighted)" "0 2"
	is "$to: strict" "$(option strict)" "0 0"
	all_are "$to: no such order" "EINVAL 2" above below
	is "$to: too short" "$(option short)" "EINVAL EINVAL"
	is "$to: no memory" "$(option nowhere)" EFAULT
	all_are "$to: does not listen" "ENOTCONN ENOTCONN" unbound bound child
	is "$to: not TCP" "$(option udp)" "ENOPROTOOPT ENOPROTOOPT"
done
options
mptcp_is_left_alone

# --- the example ---
example fifo
is "allowed: the example has fifo" "$(tail -n 1 "$TMP/example")" "order fifo"
is "and is managed by that" "$(sockets)" 1
is "allowed: order of arrival" "$(round)" bbbggg
conf app-order on enforce on
is "it stays when the configuration is replaced" "$(round)" bbbggg
sq listener set port $PORT app-order off
is "has no effect while it is not allowed" "$(round)" gggbbb
sq listener set port $PORT app-order on
is "and has again" "$(round)" bbbggg
sq listener del port $PORT
sq listener add port $PORT app-order on
manage
is "is forgotten with the listener" "$(round)" gggbbb
stop "$serving"
unprivileged=yes
example fifo
is "of an owner without privileges" "$(tail -n 1 "$TMP/example")" "order fifo"
is "of an owner without privileges: order of arrival" "$(round)" bbbggg
unprivileged=''
stop "$serving"
example strict
manage
is "and is the socket's own: another one has another" "$(round)" gggbbb
stop "$serving"

# --- what is queued is sorted anew ---
conf order fifo app-order on
in_server "$TMP/option" "$PEER" option -a :: -H "$TMP/go" -n 6 $PORT 0
must_come 10 has "$TMP/option" ^listening
manage
some fd00:3::1 $V6
some fd00:1::1 $V6
must_come 30 queue_is 6
touch "$TMP/go"
must_come 10 has "$TMP/option" ^accept 6
is "queued before: in the order chosen" \
	"$(sed -n 's/^accept fd00:\(.\):.*/\1/p' "$TMP/option" | tr -d '\n')" 111333

# --- unloaded while a choice is in force ---
example fifo
check "unloaded" rmmod synq
is "and the example goes on" "$(round)" bbbggg
stop "$serving"
