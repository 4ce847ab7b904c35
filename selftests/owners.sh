#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owners of sockets without privileges do whatever they may, in a random order: bind,
# listen, accept, shut down, connect (IPv4 mapped into IPv6, to nobody, to themselves),
# listen again, set every option, share sockets with others, close; reuseport groups with
# migration, MPTCP, SMC, Fast Open.  Meanwhile clients talk to them, sockets are destroyed,
# and synq is configured, flushed, switched off and on, unloaded and loaded, for
# $FUZZ_DURATION seconds (20).  In the end every accepted connection is readable, the
# accounts add up, the module goes, and comes again.
#
# SEED repeats the choices of a run, not what happens at once.  FUZZ_SKIP="NAME..." leaves
# steps out, see tcp_fuzz_step.c and tcp_fuzz_option.c for their names; "unload" as well.
#
# Must fail if: a socket kept something of the module's, a queue got another's
# connections, a wake-up were lost, or unloading waited for who does not come.
#
# Needs two CPUs: all of it at once.

. "${BASH_SOURCE[0]%/*}/lib.sh"
DURATION=${FUZZ_DURATION:-20}
SEED=${SEED:-$((RANDOM << 15 | RANDOM))}
STOCK=${FUZZ_STOCK:-3} LAST_SECONDS=3 BUSY=30 LIMIT=30 PATIENCE=${FUZZ_PATIENCE:-15}
CONFIGURED="8080 8081 8082 8083" PORTS=8080,8081,8082,8083,8090 NEW=8100
skips=" ${FUZZ_SKIP-} "
plan 14
chmod 755 "$TMP"	# the owners look for files there
echo "# SEED=$SEED FUZZ_DURATION=$DURATION${FUZZ_SKIP:+ FUZZ_SKIP=\"$FUZZ_SKIP\"}"
RANDOM=$SEED
for module in tls smc smc_diag mptcp_diag; do
	modprobe "$module" 2>/dev/null
done
set_sysctl "$SRV" net.ipv4.tcp_fastopen 3
set_sysctl "$CLI" net.ipv4.tcp_fastopen 3
# What is left of closed connections shall not take minutes to go.
set_sysctl "$SRV" net.ipv4.tcp_fin_timeout 3
set_sysctl "$SRV" net.ipv4.tcp_orphan_retries 1
set_sysctl "$SRV" net.ipv4.tcp_retries2 6
! has_sysctl net.ipv4.tcp_migrate_req || set_sysctl "$SRV" net.ipv4.tcp_migrate_req 1

# --- the processes ---

# In order, also when this fails: see IPV6_ADDRFORM in tcp_fuzz_step.c.
orderly_end() {
	local rc=$?
	if [ -s "$TMP/owners" ] && ! has "$TMP/owners" ^total; then
		touch "$TMP/settle" "$TMP/final" "$TMP/end"
		wait_for 30 has "$TMP/owners" ^total
	fi
	(exit $rc)
	finish
}
trap orderly_end EXIT

# fuzz ROLE OUT OPTION...
fuzz() {
	local role=$1 out=$2
	shift 2
	background "$TMP/$out" "$PEER" fuzz "$role" -r "$SEED" -p $PORTS \
		-T $((DURATION + STOCK + 180)) -w $((PATIENCE * 1000)) \
		-x "${FUZZ_SKIP// /,}" -S "$TMP/settle" -F "$TMP/final" \
		-E "$TMP/end" "$@"
	began+=("$LAST")
}

begin_all() {
	began=()
	rm -f "$TMP/settle" "$TMP/final" "$TMP/end" "$TMP/"{owners,far,near,destroy}
	fuzz owners owners -N "$SRV" -j 4
	must_come 30 has "$TMP/owners" ^owning
	fuzz clients far -N "$CLI" -j 1 -s 10.1.0.1 -s 10.2.0.1 -s 10.3.0.1 \
		-s 10.4.0.1 -s fd00:1::1 -s fd00:2::1 -s fd00:3::1 $V4 "$V6"
	fuzz clients near -N "$SRV" -j 2 127.0.0.1 ::1 $V4 "$V6"
	fuzz destroy destroy -N "$SRV"
}

has_settled() {
	has "$TMP/owners" ^settled && has "$TMP/destroy" ^total
}

have_answered() {
	has "$TMP/far" ^total && has "$TMP/near" ^total
}

# finish_all NAME: all that is connected is asked once more; one test
finish_all() {
	touch "$TMP/settle"
	must_come 60 has_settled
	touch "$TMP/final"
	must_come 60 have_answered
	touch "$TMP/end"
	must_come 90 has "$TMP/owners" ^total
	stop "${began[@]}"
	note "$1: answered in the end: $(final)"
	grep -h '^fault' "$TMP"/{owners,far,near,destroy} | head -n 20 | sed 's/^/# /'
	check "$1: nothing of another's, and no client left alone" no_faults
}

no_faults() {
	! grep -q '^fault' "$TMP"/{owners,far,near,destroy}
}

final() {
	sed -n 's/^step final answer ok=\([0-9]*\).*/\1/p' "$TMP/far" "$TMP/near" |
		awk '{ n += $1 } END { print n + 0 }'
}

# summary: what was done, each kind in a line
summary() {
	grep -hE '^(step|lacks|total) ' "$TMP"/{owners,far,near,destroy} |
		sed 's/^/# /'
}

# each_kind FILE: it did succeed, or was refused
each_kind() {
	! grep -hE '^(never|allowed) ' "$TMP/$1" | sed 's/^/# /' | grep .
}

# --- the administrator ---

declare -A done_ failed_

is_skipped() {
	[[ $skips == *" $1 "* ]]
}

# one_of WORD...: sets one.  A shell of its own would have numbers of its own.
one_of() {
	local i=$((RANDOM % $# + 1))
	one=${!i}
}

# conf: sets text
conf() {
	local port
	text="class add gold priority 0 reserve $((RANDOM % 40))%"
	one_of none 20ms 300ms
	text+="
class add silver priority 3 max-wait $one"
	one_of 20 1000 100000
	text+="
class add bulk priority 6 rate $one/second burst 20"
	one_of drop pass reset cookie
	text+=" excess $one
match add source 10.1.0.0/16 class gold
match add source 10.2.0.0/16 class silver
match add source 10.3.0.0/16 class bulk
match add source fd00:1::/32 class gold
match add source fd00:2::/32 class silver
match add source fd00:3::/32 class bulk"
	for port in $CONFIGURED; do
		[ $((RANDOM % 5)) != 0 ] || continue
		one_of strict weighted fifo
		text+="
listener add port $port order $one"
		one_of auto always never
		text+=" cookies $one"
		[ $((RANDOM % 4)) = 0 ] || text+=" app-order on app-cookies on"
		one_of off off auto auto 4
		text+=" inside $one"
		[ $((RANDOM % 3)) != 0 ] ||
			text+=" synack-retries $((RANDOM % 5 + 1))"
	done
}

# timed NAME COMMAND...: counted; it may fail, but not take long
timed() {
	local name=$1 rc=0
	shift
	timeout -k 1 $BUSY "$@" >"$TMP/admin.out" 2>&1 || rc=$?
	if [ $rc = 0 ]; then
		done_[$name]=$((${done_[$name]-0} + 1))
	else
		failed_[$name]=$((${failed_[$name]-0} + 1))
		[ $rc -lt 124 ] || admin_fault "$name: exit $rc within $BUSY s"
	fi
}

admin_fault() {
	note "fault: $*"
	admin_faults=$((admin_faults + 1))
}

is_unloaded() {
	[ ! -d /sys/module/synq ] && return
	! is_gone "$remover" || start_remover
	false
}

start_remover() {
	rmmod synq 2>/dev/null &
	remover=$!
	disown
}

# who_waits: what all that sleep uninterruptibly wait for
who_waits() {
	local task stat
	for task in /proc/[0-9]*/task/[0-9]*; do
		read -r stat <"$task/stat" && [[ $stat == *") D "* ]] || continue
		note "${stat%)*}) waits in:"
		sed 's/^/#   /' "$task/stack"
	done 2>/dev/null
}

# unload: within $LIMIT seconds, whatever owners hold
unload() {
	local since
	since=$(ms)
	start_remover
	if ! wait_for $LIMIT is_unloaded; then
		admin_fault "still loaded after $LIMIT s," \
			"use count $(cat /sys/module/synq/refcnt)"
		who_waits
		wait_for $((LIMIT * 6)) is_unloaded || die "and for ever"
	fi
	since=$(($(ms) - since))
	[ $since -le "$slowest" ] || slowest=$since
	done_[unload]=$((${done_[unload]-0} + 1))
}

apply_some() {
	conf
	echo "$text" >"$TMP/conf"
	timed apply synq apply "$TMP/conf"
}

# act NUMBER PORT ORDER: what the administrator may do
act() {
	case $1 in
	[0-6]) apply_some ;;
	7) timed listener-add synq listener add port "$2" app-order on \
		app-cookies on ;;
	8) timed listener-set synq listener set port "$2" order "$3" ;;
	9) timed listener-del synq listener del port "$2" ;;
	10) timed flush synq flush
	    apply_some ;;
	11 | 12) timed off synq off
		 pause_ms $((RANDOM % 100))
		 timed on synq on ;;
	1[3-6]) timed stats synq stats -j ;;
	17) timed show synq listener show ;;
	*)
		is_skipped unload && return
		unload || return
		pause_ms $((RANDOM % 100))
		load_synq
		done_[load]=$((${done_[load]-0} + 1))
		apply_some ;;
	esac
}

# administer SECONDS: first each once
administer() {
	local end=$(($(ms) + $1 * 1000)) said=0 number port
	for number in 9 7 8 10 11 13 17 18; do
		act $number 8080 strict
	done
	while [ "$(ms)" -lt $end ] && [ $admin_faults -lt 3 ]; do
		# shellcheck disable=SC2086 # words
		one_of $CONFIGURED
		port=$one
		one_of strict weighted fifo
		act $((RANDOM % 20)) "$port" "$one"
		pause_ms $((RANDOM % 150))
		[ $((++said % 50)) = 0 ] || continue
		note "administered $said times"
		no_faults || break
	done
	timed on synq on
	timed apply synq apply "$TMP/last"
	pass $LAST_SECONDS
}

# administered: all of it was done
administered() {
	local name missing=0
	for name in apply listener-add listener-set listener-del flush off on stats \
		show unload load; do
		echo "# step administrator $name ok=${done_[$name]-0} failed=${failed_[$name]-0}"
		[ "${done_[$name]-0}" = 0 ] && ! is_skipped "un${name#un}" || continue
		echo "# never $name"
		missing=1
	done
	[ $missing = 0 ]
}

# --- accounts ---

# accounts: "PORT CLASS ..." of those that do not add up
accounts() {
	told stats -j | tr -d ' \n' | tr '}' '\n' | awk '
		/"class":"[a-z]*","counters":/ {
			match($0, /"port":[0-9]*/)
			row = substr($0, RSTART + 7, RLENGTH - 7)
			match($0, /"class":"[a-z]*/)
			row = row " " substr($0, RSTART + 9, RLENGTH - 9)
			split("", v)
			sub(/.*"counters":[{]/, "")
			n = split($0, pair, ",")
			for (i = 1; i <= n; i++) {
				split(pair[i], part, ":")
				gsub(/"/, "", part[1])
				v[part[1]] = part[2]
			}
			done = v["admitted"] + v["excess_dropped"] + \
			       v["excess_passed"] + v["excess_reset"] + \
			       v["excess_cookie"] + v["excess_unanswered"] + \
			       v["queue_refused"] + v["wait_refused"] + \
			       v["cookie_sent"] + v["share_refused"]
			if (v["seen"] != done)
				print row, "seen", v["seen"], "not", done
			sum = v["accepted"] + v["closed"] + v["replaced"] + v["queued"]
			if (v["placed"] != sum)
				print row, "placed", v["placed"], "not", sum
			rows++
			seen += v["seen"]
			placed += v["placed"]
		}
		END {
			if (!rows || !seen || !placed)
				print "nothing was counted"
			print "# seen", seen + 0, "placed", placed + 0 >"/dev/stderr"
		}' 2>"$TMP/sums"
}

they_add_up() {
	[ -z "$(accounts)" ]
}

# pass SECONDS
pass() {
	local i
	for ((i = 0; i < $1; i++)); do
		pause_ms 999
	done
}

none_is_managed() {
	[ "$(conf_counter sockets)" = 0 ]
}

# --- stock kernel ---
begin_all
pass "$STOCK"
finish_all "stock kernel"

# --- synq ---
load_synq
conf
for port in $CONFIGURED; do
	last+="
listener add port $port app-order on app-cookies on"
done
echo "$(echo "$text" | grep -v ^listener)$last" >"$TMP/last"
synq apply "$TMP/last" || die "apply failed"
migrated=$(mib TcpExt.TCPMigrateReqSuccess) opened=$(mib TcpExt.TCPFastOpenPassive)
admin_faults=0 slowest=0 remover=$$
note "synq comes, $(cut -d ' ' -f 1 /proc/uptime) s after the start"
begin_all
administer "$DURATION"
check "the administrator did all that is allowed" administered
note "unloading took up to $slowest ms"
is "the administrator never had to wait" $admin_faults 0
finish_all "synq"
summary
migrated=$(($(mib TcpExt.TCPMigrateReqSuccess) - migrated))
opened=$(($(mib TcpExt.TCPFastOpenPassive) - opened))
note "$migrated requests migrated, $opened Fast Open connections"
check "owners: each kind of step succeeded, or was refused" each_kind owners
check "clients far away: likewise" each_kind far
check "clients near by: likewise" each_kind near
check "destroyer: likewise" each_kind destroy
check "requests migrated" test $migrated -gt 0
check "Fast Open connections came" test $opened -gt 0
if ! wait_for 20 they_add_up; then
	accounts | sed 's/^/# /'
	not_ok "the accounts add up"
else
	ok "the accounts add up"
fi
cat "$TMP/sums"

# --- and after it ---
check "no socket is managed" wait_for $LIMIT none_is_managed
check "the module goes" unload
load_synq
three_classes $NEW | apply
server "$TMP/server" -a :: -m epoll $NEW
"$PEER" client -N "$CLI" -n 20 -c 5 -s 10.1.0.1 -w 10000 $V4 $NEW >"$TMP/after"
is "and comes again, and serves" "$(field "$TMP/after" answered)" 20
stop "$LAST"
