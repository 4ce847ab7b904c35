# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the scripts share.  A script sources this, says "plan N", and for each
# behaviour first shows what the stock kernel does, then what synq does.
#
#   $CLI  ---------------------------- veth ----------------------------  $SRV
#   192.0.2.2, 2001:db8::2                          192.0.2.1, 2001:db8::1
#   any of 10.0.0.0/13 and fd00::/29 is its own     routes 10.0.0.0/8 and
#   (gold 10.1/16, silver 10.2/16, bulk 10.3/16;    fd00::/16 to the client
#   likewise fd00:1::/32 ...); sources outside
#   are nobody's, and what is sent to them is lost
#
# The shell itself goes into $SRV: what is asked there most often it reads out of
# /proc, without a process. A script that wants to stay where it was started says
# STAY=1 before.
#
# In its head a script may say where "make check" runs it: "One kernel will do", "Needs two CPUs",
# "The clock may leap" (scripts/check; scripts/vm --help says what leaps).
#
# Environment: SYNQ_KO, the module (else modprobe); CI=true or SYNQ_STRICT=1, a
# missing tool is a failure and not a skip; FAIL_FAST=1, the first failure ends the
# script.

export LC_ALL=C

V4=192.0.2.1
export V6=2001:db8::1
PORT=8080
DIR=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
HERE=${SYNQ_HERE-}	# the network namespace that this shell has gone into
TMP=${SYNQ_TMP:-$(mktemp -d)}
unset SYNQ_HERE SYNQ_TMP
export SYNQ_TEST=$$	# by which its processes are known
TEST=${0##*/}
TEST=${TEST%.sh}
SRV=synq-s-$$ CLI=synq-c-$$
PEER=$DIR/tcp_peer

n_planned=0 n_done=0 n_failed=0 n_skipped=0
pids=() spaces=() client_options=()
[ -n "$HERE" ] || mkfifo "$TMP/.never"
exec {never}<>"$TMP/.never"	# never readable

# --- KTAP ---

plan() {
	n_planned=$(($1 + 1))	# and the kernel log
	echo "TAP version 13"
	echo "1..$n_planned"
}

ok() {
	echo "ok $((++n_done)) $*"
}

not_ok() {
	echo "not ok $((++n_done)) $*"
	n_failed=$((n_failed + 1))
	[ -z "${FAIL_FAST-}" ] || exit 1
}

note() {
	echo "# $*"
}

skip() {
	echo "ok $((++n_done)) $1 # SKIP $2"
	n_skipped=$((n_skipped + 1))
}

# check NAME COMMAND...: one test
check() {
	local name=$1
	shift
	if "$@"; then
		ok "$name"
	else
		note "false: $*"
		not_ok "$name"
	fi
}

# check_prompt NAME COMMAND...: one test, of what is so only where clients and servers react
# within some milliseconds.  A kernel with all sanitizers, emulated, does not let them.
check_prompt() {
	if [ "${KSFT_MACHINE_SLOW-}" = yes ]; then
		skip "$1" "slow machine"
	else
		check "$@"
	fi
}

# is NAME GOT WANTED: one test
is() {
	[ "$2" = "$3" ] || note "got '$2', not '$3'"
	check "$1" [ "$2" = "$3" ]
}

# within NAME GOT FROM TO: one test
within() {
	note "$1: $2 (from $3 to $4)"
	check "$1" test "${2:--1}" -ge "$3" -a "${2:--1}" -le "$4"
}

# within_prompt NAME GOT FROM TO: one test, as check_prompt
within_prompt() {
	note "$1: $2 (from $3 to $4)"
	check_prompt "$1" test "${2:--1}" -ge "$3" -a "${2:--1}" -le "$4"
}

# die REASON: the script cannot go on
die() {
	echo "Bail out! $*"
	n_failed=$((n_failed + 1)) n_done=$((n_done + 1))
	exit 1
}

strict() {
	[ "${CI-}" = true ] || [ "${SYNQ_STRICT-}" = 1 ]
}

# skip_all REASON
skip_all() {
	echo "TAP version 13"
	echo "1..0 # SKIP $*"
	trap - EXIT
	cleanup
	exit 4
}

# need TOOL...: without it a person sees a skip, CI a failure
need() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null && continue
		! strict || die "$tool is missing"
		skip_all "$tool is missing"
	done
}

# --- end ---

cleanup() {
	local pid
	for pid in "${pids[@]}"; do
		kill -9 "$pid" && wait "$pid"
	done
	[ ${#spaces[@]} = 0 ] || printf 'netns del %s\n' "${spaces[@]}" |
		ip -force -batch -
	# The rules of a namespace go some time after it.
	[ ! -d /sys/module/xt_synq ] || wait_for 10 rmmod xt_synq
	[ ! -d /sys/module/synq ] || rmmod synq
	rm -rf "$TMP"
} 2>/dev/null

log_is_clean() {
	local bad='BUG:|WARNING:|KASAN|UBSAN|Oops|Call Trace|RIP:|Kernel panic'
	bad+='|general protection|possible (circular|recursive|irq)'
	bad+='|inconsistent .*lock state|suspicious RCU|detected stall'
	bad+='|unregister_netdevice: waiting|leaked reference|ref_tracker: '
	! dmesg | sed -n "/selftest $TEST $$ /,\$p" | grep -E "$bad"
}

# nothing_left: true if no process of this script runs any more; else sets left, their numbers.
# Such a one would take the time of all scripts that come later.
nothing_left() {
	local dir environment
	left=()
	for dir in /proc/[0-9]*; do
		environment=()
		{ mapfile -d '' -t environment <"$dir/environ"; } 2>/dev/null
		[[ " ${environment[*]} " != *" SYNQ_TEST=$$ "* || $dir = "/proc/$$" ]] ||
			left+=("${dir#/proc/}")
	done
	[ ${#left[@]} = 0 ]
}

finish() {
	local rc=$? left pid
	trap - EXIT
	cleanup
	if ! wait_for 2 nothing_left; then
		for pid in "${left[@]}"; do
			note "left behind: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
			kill -9 "$pid"
		done 2>/dev/null
		rc=1
	fi
	if [ $rc = 0 ]; then
		check "the kernel log is clean" log_is_clean
		if [ "$n_done" != "$n_planned" ]; then
			note "$n_planned tests planned, $n_done run"
			rc=1
		fi
	elif ! log_is_clean; then
		note "the kernel log is not clean"
	fi
	[ $n_failed = 0 ] || rc=1
	note "$((n_done - n_failed - n_skipped)) passed, $n_failed failed," \
		"$n_skipped skipped"
	exit $rc
}

trap finish EXIT
trap 'exit 1' INT TERM

# --- waiting ---

# pause_ms N: without a process
pause_ms() {
	local n=$((1000 + $1 % 1000))
	read -r -t "$(($1 / 1000)).${n#1}" -u "$never" || :
}

# wait_for SECONDS COMMAND...: until it is true; false if it never was
wait_for() {
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000)) pause=20
	shift
	until "$@"; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || return 1
		pause_ms "$pause"
		pause=$((pause < 200 ? pause * 3 / 2 : pause))
	done
}

# must_come SECONDS COMMAND...: there is no point in going on without it; a slow machine has
# four times as long
must_come() {
	local slower=1
	[ "${KSFT_MACHINE_SLOW-}" != yes ] || slower=4
	wait_for $(($1 * slower)) "${@:2}" && return
	note "the last lines of both ends:"
	tail -n 3 "$TMP"/* 2>/dev/null | sed 's/^/# /'
	die "did not come in $1 s: ${*:2}"
}

ms() {
	local now=$EPOCHREALTIME
	echo $((${now/./} / 1000))
}

# Starting a process is dear where tests run (UML, emulation): what is asked often
# is answered by the shell itself.

touch() {
	local file
	for file; do
		: >>"$file"
	done
}

# slurp FILE: sets content
slurp() {
	# shellcheck disable=SC2034
	IFS= read -r -d '' content <"$1" || :
}

# lines FILE REGEX: how many
lines() {
	local text
	mapfile text <"$1"
	count "$2" ${#text[@]}
	echo $found
}

# has FILE REGEX [N]: there are (at least N) such lines
has() {
	local text
	{ mapfile text <"$1"; } 2>/dev/null || return
	[ ${#text[@]} -ge "${3:-1}" ] || return
	count "$2" "${3:-1}"
	[ $found -ge "${3:-1}" ]
}

# count REGEX MOST: sets found, the lines of text that match.  What they begin with bash
# leaves out of all of them at once; else from the end, where what a test waits for is,
# and not beyond MOST.
count() {
	local i
	found=0
	if [[ $1 =~ ^\^[a-z\ ]+$ ]]; then
		local IFS='' unlike
		set -f
		# shellcheck disable=SC2206 # words
		unlike=(${text[@]/#"${1#^}"*/})
		set +f
		found=$((${#text[@]} - ${#unlike[@]}))
		return
	fi
	for ((i = ${#text[@]} - 1; i >= 0; i--)); do
		[[ ${text[i]%$'\n'} =~ $1 ]] || continue
		[ $((++found)) -lt "$2" ] || break
	done
}

# field FILE NAME: of the last line with NAME=VALUE
field() {
	local text i
	mapfile -t text <"$1"
	for ((i = ${#text[@]} - 1; i >= 0; i--)); do
		[[ ${text[i]} =~ (^|[^[:alnum:]_])$2=([^ ]*) ]] || continue
		echo "${BASH_REMATCH[2]}"
		return
	done
}

# --- network namespaces ---

# in_ns NAME COMMAND...
in_ns() {
	if [ "$1" = "$HERE" ]; then
		command "${@:2}"
	else
		"$PEER" in "$@"
	fi
}

srv() {
	in_ns "$SRV" "$@"
}

cli() {
	in_ns "$CLI" "$@"
}

# set_sysctl SPACE NAME VALUE
set_sysctl() {
	if [ "$1" = "$HERE" ]; then
		echo "$3" >"/proc/sys/${2//.//}"
	else
		"$PEER" in "$1" -w "/proc/sys/${2//.//}" "$3"
	fi || die "$2 cannot be set to $3"
}

has_sysctl() {
	srv test -e "/proc/sys/${1//.//}"
}

new_ns() {
	ip netns add "$1" || die "no network namespaces"
	spaces+=("$1")
	ip -n "$1" link set lo up
}

# del_ns NAME: now, and not at the end
del_ns() {
	local space rest=()
	ip netns del "$1"
	for space in "${spaces[@]}"; do
		[ "$space" = "$1" ] || rest+=("$space")
	done
	spaces=("${rest[@]}")
}

# new_pair SERVER CLIENT: two namespaces as drawn above
new_pair() {
	local s=$1 c=$2
	ip -batch - <<-EOT || die "no network namespaces"
		netns add $s
		netns add $c
	EOT
	spaces+=("$s" "$c")
	# Neighbours are given: a test may lose all packets of one direction.
	ip -n "$s" -batch - <<-EOT || die "no veth"
		link set lo up
		link add veth0 address 02:00:00:00:00:01 type veth \
			peer name veth0 address 02:00:00:00:00:02 netns $c
		link set veth0 up
		address add 192.0.2.1/24 dev veth0
		address add 2001:db8::1/64 dev veth0 nodad
		neighbour add 192.0.2.2 lladdr 02:00:00:00:00:02 dev veth0
		neighbour add 2001:db8::2 lladdr 02:00:00:00:00:02 dev veth0
		route add 10.0.0.0/8 via 192.0.2.2
		route add fd00::/16 via 2001:db8::2
	EOT
	ip -n "$c" -batch - <<-EOT
		link set lo up
		link set veth0 up
		address add 192.0.2.2/24 dev veth0
		address add 2001:db8::2/64 dev veth0 nodad
		neighbour add 192.0.2.1 lladdr 02:00:00:00:00:01 dev veth0
		neighbour add 2001:db8::1 lladdr 02:00:00:00:00:01 dev veth0
		route add local 10.0.0.0/13 dev lo
		route add local fd00::/29 dev lo
	EOT
	"$PEER" in "$s" -w /proc/sys/net/ipv4/tcp_max_syn_backlog 4096 \
		-w /proc/sys/net/core/somaxconn 4096
	set_sysctl "$c" net.ipv4.tcp_tw_reuse 1
}

# mib NAME [SPACE]: a counter of /proc/net/{netstat,snmp}, as TcpExt.ListenDrops
mib() {
	local space=${2:-$SRV} file=snmp text i
	case $1 in *Ext.*) file=netstat ;; esac
	if [ "$space" = "$HERE" ]; then
		mapfile -t text </proc/net/$file
	else
		mapfile -t text <<<"$(exec "$PEER" in "$space" cat /proc/net/$file)"
	fi
	for ((i = 0; i < ${#text[@]}; i += 2)); do
		[[ "${text[i]} " == "${1%.*}:"*" ${1#*.} "* ]] || continue
		mib_value " ${1#*.} " "${text[i]} " "${text[i + 1]}"
		return
	done
}

# mib6 NAME: a counter of /proc/net/snmp6
mib6() {
	srv awk -v name="$1" '$1 == name { print $2 }' /proc/net/snmp6
}

# by_cookie BEFORE N: of N connections, since SyncookiesRecv was BEFORE.  The last ACK and
# the segment behind it may both prove one.
by_cookie() {
	local n=$(($(mib TcpExt.SyncookiesRecv) - $1))
	echo $((n < $2 ? n : $2))
}

# mib_value NAME NAMES VALUES: as many words are before it as before its name
mib_value() {
	local names values
	# shellcheck disable=SC2206 # words
	names=(${2%%"$1"*}) values=($3)
	echo "${values[${#names[@]}]}"
}

# --- both ends ---

# background OUT COMMAND...: LAST is its process, OUT its output
background() {
	local out=$1
	shift
	: >"$out"	# nobody shall read what was there before
	"$@" >"$out" 2>&1 &
	LAST=$!
	pids+=("$LAST")
	disown "$LAST"
}

# server OUT OPTION... : tcp_peer server in $SRV; returns when it listens
server() {
	local out=$1
	shift
	background "$out" "$PEER" server -N "$SRV" "$@"
	wait_for 10 has "$out" '^(listening|skip|tcp_peer)'
	is_up "$out" || die "no server: $(cat "$out")"
}

is_up() {
	has "$1" '^listening'
}

# client OUT OPTION...: tcp_peer client in $CLI, in the background
client() {
	local out=$1
	shift
	background "$out" "$PEER" client -N "$CLI" "${client_options[@]}" "$@"
}

# From now on clients on a slow machine say something together with the end of the handshake,
# and not some time after it.
clients_are_prompt() {
	[ "${KSFT_MACHINE_SLOW-}" != yes ] || client_options=(-D)
}

# stop PID...: end what was started by background
stop() {
	local pid
	for pid; do
		kill -9 "$pid" && wait_for 10 is_gone "$pid"
	done 2>/dev/null
	:
}

# Its command line goes before its sockets do.
is_gone() {
	local stat
	{ ! read -r stat <"/proc/$1/stat" || [[ $stat == *") "[ZX]" "* ]]; } 2>/dev/null
}

# queued [PORT]: connections in the accept queue; the first listener's.  The
# listeners come first, of 150 bytes each.
queued() {
	local port file text line
	printf -v port ':%04X' "${1:-$PORT}"
	line="$port [0-9A-F]+:[0-9A-F]+ 0A [0-9A-F]+:([0-9A-F]+)"
	for file in tcp tcp6; do
		if [ "$SRV" = "$HERE" ]; then
			IFS= read -r -N 4000 text </proc/net/$file
		else
			text=$(exec "$PEER" in "$SRV" head -c 4000 /proc/net/$file)
		fi
		[[ $text =~ $line ]] || continue
		echo $((16#${BASH_REMATCH[1]}))
		return
	done
}

queue_is() {
	[ "$(queued "${2:-$PORT}")" = "$1" ]
}

# half_open [PORT]: connections whose handshake is under way
half_open() {
	local port n sum=0
	printf -v port ':%04X' "${1:-$PORT}"
	for n in $(srv grep -hcE "$port [0-9A-F]+:[0-9A-F]+ 03 " \
		   /proc/net/tcp /proc/net/tcp6); do
		sum=$((sum + n))
	done
	echo $sum
}

# --- synq ---

load_synq() {
	if [ -n "${SYNQ_KO-}" ]; then
		insmod "$SYNQ_KO" || die "cannot load $SYNQ_KO"
	else
		modprobe synq || skip_all "no module synq"
	fi
}

unload_synq() {
	rmmod synq || die "cannot unload synq"
}

# sq ARG...: the command in $SRV
sq() {
	in_ns "${SPACE:-$SRV}" synq "$@"
}

# apply: the configuration on standard input
apply() {
	sq apply - || die "apply failed"
}

# three_classes [PORT]: the configuration that most scripts use; any wait will do,
# since most servers here hold
three_classes() {
	echo "class add gold priority 0 max-wait none
class add silver priority 3 max-wait none
class add bulk priority 6 max-wait none
match add source 10.1.0.0/16 class gold
match add source 10.2.0.0/16 class silver
match add source 10.3.0.0/16 class bulk
match add source fd00:1::/32 class gold
match add source fd00:2::/32 class silver
match add source fd00:3::/32 class bulk
listener add port ${1:-$PORT}"
}

# number JSON REGEX: sets found, what follows; REGEX has no blank
number() {
	local at=${2//:/: ?}
	at="${at//,/, ?}([0-9]+)"
	[[ $1 =~ $at ]] && found=${BASH_REMATCH[1]}
}

# counter_in STATS CLASS NAME [PORT]: sets found
counter_in() {
	found=
	number "$1" "\"port\":${4:-$PORT},\"class\":\"$2\",\"counters\":\{[^}]*\"$3\":"
}

# told ARG...: as sq, for $(told ...): the shell that asks ends with it
told() {
	[ "${SPACE:-$SRV}" != "$HERE" ] || exec synq "$@"
	exec "$PEER" in "${SPACE:-$SRV}" synq "$@"
}

# counter CLASS NAME [PORT]
counter() {
	counter_in "$(told stats -j)" "$@" && echo "$found"
}

# adds_up NAME [CLASS]: one test: each SYN of a class, bulk, is counted once
adds_up() {
	local stats sum=0 name class=${2-bulk}
	stats=$(told stats -j)
	for name in admitted excess_dropped excess_passed excess_reset \
		excess_cookie excess_unanswered queue_refused wait_refused \
		cookie_sent share_refused; do
		counter_in "$stats" "$class" $name
		sum=$((sum + found))
	done
	counter_in "$stats" "$class" seen
	is "$1: seen adds up" "$found" $sum
}

# account CLASS [PORT]: 0 if each that was held is there once
account() {
	local stats held sum=0 name
	stats=$(told stats -j)
	counter_in "$stats" "$1" held "$2"
	held=$found
	for name in released hold_gone hold_flushed held_now; do
		counter_in "$stats" "$1" $name "$2"
		sum=$((sum + found))
	done
	echo $((held - sum))
}

counter_is() {
	counter_in "$(told stats -j)" "$1" "$2" "${4:-$PORT}"
	[ "$found" = "$3" ]
}

counter_from() {
	counter_in "$(told stats -j)" "$1" "$2" "${4:-$PORT}"
	[ "${found:--1}" -ge "$3" ]
}

# conf_counter NAME: of the namespace
conf_counter() {
	number "$(told stats -j)" "^\{\"conf\":\{[^}]*\"$1\":" && echo "$found"
}

# sockets [PORT]: listening sockets managed now
sockets() {
	number "$(told listener show -j "${1:-$PORT}")" '"sockets":' && echo "$found"
}

sockets_are() {
	found=
	number "$(told listener show -j "${2:-$PORT}")" '"sockets":'
	[ "$found" = "$1" ]
}

# manage [ADDRESS [PORT]]: sockets are managed from their first SYN on.  Send one
# from an address of the client's that has no socket there: it is reset at once
# and leaves nothing but "seen" and "admitted" of the class default.
manage() {
	local to=${1:-$V4} port=${2:-$PORT} from=10.4.0.1
	case $to in *:*) from=fd00:4::1 ;; esac
	"$PEER" segment -N "$CLI" -s $from "$to" "$port" >/dev/null &&
		must_come 10 sockets_are_some "$port"
}

sockets_are_some() {
	found=0
	number "$(told listener show -j "$1")" '"sockets":'
	[ "$found" -gt 0 ]
}

# --- begin ---

begin() {
	if [ -n "$HERE" ]; then
		spaces=("$SRV" "$CLI")
		return
	fi
	need ip ss awk sed grep insmod rmmod dmesg
	[ -x "$PEER" ] || die "tcp_peer is missing: make -C selftests"
	[ $EUID = 0 ] || skip_all "not root"
	if [ -x "$DIR/../tools/synq/synq" ]; then
		PATH=$PATH:$(cd "$DIR/../tools/synq" && pwd)
	fi
	need synq
	[ ! -d /sys/module/xt_synq ] || rmmod xt_synq
	if [ -d /sys/module/synq ] && ! rmmod synq; then
		! strict || die "synq is in use and cannot be unloaded"
		skip_all "synq is in use and cannot be unloaded"
	fi
	echo "selftest $TEST $$ begins" >/dev/kmsg
	new_pair "$SRV" "$CLI"
	[ -n "${STAY-}" ] || SYNQ_HERE=$SRV SYNQ_TMP=$TMP \
		exec "$PEER" in "$SRV" "$BASH" "$0" "$@"
}

begin "$@"
