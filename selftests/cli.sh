#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The command synq and the kernel: what is saved can be applied and is the same
# again; exit statuses; what is refused, by the command or by the kernel, says why
# in one line and leaves the configuration as it was.
#
# Must fail if: an attribute were lost on its way into the kernel and
# back, or an error of the kernel were taken for success.

. "${BASH_SOURCE[0]%/*}/lib.sh"

status() {
	sq "$@" >"$TMP/out" 2>"$TMP/err"
	echo $?
}

# Every option, and where it has a range both ends of it.
full() {
	cat <<-EOT
		set enforce off
		mark mask 0xf0000
		class add gold priority 0 reserve 30% mark 1 weight 1000 max-wait none min-share 50%
		class add silver priority 3 rate 500/second source-rate 0.5/s mark 2 cap 100% max-wait 1ms weight 1
		class add normal priority 5 default rate 30/hour burst 7 excess pass max-wait 3600s
		class add bulk priority 6 rate 10/second burst 3 excess drop reserve 5% cap 1% enforce off
		class add last priority 15 max-wait 1500ms min-share 25% weight 2 enforce on cookies never
		match add source 10.1.0.0/16 class gold
		match add source 10.1.2.3/32 class bulk
		match add source 0.0.0.0/0 class silver
		match add source fd00:1::/32 class gold
		match add source ::/0 class silver
		match add source 2001:db8::7/128 class bulk
		listener add port 1 order fifo synack-retries 3
		listener add port $PORT enforce off
		listener add port 65535 app-order on order weighted app-cookies on cookies always inside auto
	EOT
}

# The same as "synq save" is to print it.
canonical() {
	cat <<-EOT
		set enforce off
		mark mask 0x000f0000
		class add gold priority 0 mark 0x1 weight 1000 reserve 30% max-wait none min-share 50%
		class add silver priority 3 mark 0x2 cap 100% max-wait 1ms rate 500/second source-rate 30/minute
		class add normal priority 5 default max-wait 3600s rate 30/hour burst 7 excess pass
		class add bulk priority 6 reserve 5% cap 1% rate 10/second burst 3 enforce off
		class add last priority 15 weight 2 max-wait 1500ms min-share 25% cookies never
		match add source 0.0.0.0/0 class silver
		match add source 10.1.0.0/16 class gold
		match add source 10.1.2.3/32 class bulk
		match add source ::/0 class silver
		match add source 2001:db8::7/128 class bulk
		match add source fd00:1::/32 class gold
		listener add port 1 order fifo synack-retries 3
		listener add port $PORT enforce off
		listener add port 65535 order weighted app-order on cookies always app-cookies on inside auto
	EOT
}

# Commands to be refused, after "full" has been applied.  What refuses is the command or
# the module, the same code everywhere: under emulation, where processes are dear, every
# fourth is tried, in User Mode Linux all are.
refusals() {
	local nth=1
	[ "${SYNQ_WAY-}" != qemu ] || nth=4
	awk -v n=$nth 'NR % n == 0' <<-'EOT'
		class add gold priority 7
		class add other priority 0
		class add other
		class add other priority 16
		class add other priority 9 reserve 76%
		class add other priority 9 reserve 50%
		class add other priority 9 mark 16
		class add other priority 9 mark 1
		class add other priority 9 burst 5
		class add other priority 9 default
		class add 9other priority 9
		class add averyveryverylongname priority 9
		class set other priority 9
		class set local priority 1
		class set default priority 1
		class set gold priority 3
		class set bulk rate 10000001/second
		class set bulk rate 0.001/second
		class set bulk rate 5/week
		class set bulk burst 0
		class set bulk excess rst
		class set bulk cap 0%
		class set bulk cap 101%
		class set bulk max-wait 0ms
		class set bulk max-wait 3601s
		class set bulk max-wait 300
		class set bulk weight 0
		class set bulk weight 1001
		class set bulk min-share 51%
		class set bulk min-share 1%
		class set bulk cookies sometimes
		class set bulk enforce maybe
		class set local enforce off
		class set bulk
		class del gold
		class del local
		class del other
		match add source 10.1.0.0/16 class bulk
		match add source 10.1.0.1/16 class bulk
		match add source 10.1.0.0/33 class bulk
		match add source fd00::/129 class bulk
		match add source 10.9.0.0/16 class other
		match set source 10.9.0.0/16 class gold
		match del source 10.9.0.0/16
		listener add port 8080
		listener add port 0
		listener add port 65536
		listener del port 8081
		listener set port 8081 order fifo
		listener set port 65535
		listener set port 65535 order random
		listener set port 65535 enforce 1
		listener set port 65535 app-order yes
		listener set port 65535 synack-retries 0
		listener set port 65535 cookies none none
		listener set port 65535 app-cookies 1
		listener set port 65535 inside none
		listener set port 65535 inside 70000
		listener add port 1 synack-retries none
		set enforce
		set enforce maybe
		mark mask 0x50000
		mark mask 0x10000
		nonsense
	EOT
}

# json ARG...: without blanks
json() {
	sq "$@" | tr -d ' \n'
}

plan $((41 + $(refusals | wc -l)))

is "without the module: status 2" "$(status save)" 2
is "without the module: one line says so" "$(wc -l <"$TMP/err")" 1
full >"$TMP/full"
set_sysctl "$SRV" net.ipv4.tcp_fwmark_accept 1
is "check needs no module" "$(status apply --check "$TMP/full")" 0

load_synq
is "apply: status 0" "$(status apply "$TMP/full")" 0
sq save >"$TMP/saved"
is "what is saved can be applied" "$(status apply "$TMP/saved")" 0
sq save >"$TMP/again"
check "and is the same again" cmp "$TMP/saved" "$TMP/again"
canonical >"$TMP/canonical"
check "and is what was given" cmp "$TMP/saved" "$TMP/canonical"
note "$(grep -vc '^#' "$TMP/saved") lines"
is "diff of the same: status 0" "$(status diff "$TMP/saved")" 0
sed '/port 65535/d' "$TMP/saved" >"$TMP/less"
is "diff of another: status 3" "$(status diff "$TMP/less")" 3

# Each class as it was given.
is "the kernel's classes, in order" \
	"$(sq class show -j | tr ',' '\n' | sed -n 's/.*"name": *"\([a-z]*\)".*/\1/p' | tr '\n' ' ')" \
	"local gold silver normal bulk last default "
check "the rate as it was given" grep -q 'silver.*rate 500/second' "$TMP/saved"
has_key() {
	is "$1" "$(json "${@:3}" | grep -cF -- "$2")" 1
}
has_key "a wait without limit" '"max_wait":null' class show -j gold
has_key "a rate per hour" '"rate":30,"rate_per":3600,' class show -j normal
has_key "a wait in milliseconds" '"max_wait":3600000' class show -j normal
has_key "a wait in force by default" '"max_wait_effective":300' class show -j bulk
has_key "a class that is watched" '"enforce":false' class show -j bulk
has_key "and one that is not" '"enforce":true' class show -j last
has_key "a listener and its order" \
	'{"port":65535,"order":"weighted","app_order":true,"cookies":"always","app_cookies":true,"enforce":true,' \
	listener show -j 65535
has_key "a listener that is watched" \
	"{\"port\":$PORT,\"order\":\"strict\",\"app_order\":false,\"cookies\":\"auto\",\"app_cookies\":false,\"enforce\":false," \
	listener show -j $PORT
has_key "all is watched" '{"enforce":false}' set show -j
has_key "which stats say, too" '"enforce":false,"sockets"' stats -j
is "no table is wider than 100" \
	"$(for object in class listener mark set; do sq $object show; done | grep -c '.\{101\}')" 0

before=$(conf_counter generation)
slurp "$TMP/saved"
saved=$content
while read -r line; do
	# shellcheck disable=SC2086
	sq $line >"$TMP/out" 2>"$TMP/err"
	got=$?
	mapfile -t err <"$TMP/err"
	sq save >"$TMP/after"
	slurp "$TMP/after"
	if [ $got = 1 ] && [ "$content" = "$saved" ] && [ ${#err[@]} = 1 ]; then
		ok "refused: $line"
	else
		note "status $got: ${err[*]}"
		not_ok "refused: $line"
	fi
done <<EOT
$(refusals)
EOT
is "what is refused is no generation" "$(conf_counter generation)" "$before"

# One change at a time, there and back.
sq class set silver cap none max-wait none weight 3
sq class set last min-share none weight 1 enforce off cookies none
sq listener set port 1 enforce off synack-retries none
sq listener set port 65535 order strict app-order off cookies auto app-cookies off inside off
sq set enforce on
sq save >"$TMP/after"
# only_in A B: lines of A that B does not have
only_in() {
	grep -vxFf "$2" "$1"
}
is "what was taken away is gone" "$(only_in "$TMP/after" "$TMP/saved")" \
	"class add silver priority 3 mark 0x2 weight 3 max-wait none rate 500/second source-rate 30/minute
class add last priority 15 max-wait 1500ms enforce off
listener add port 1 order fifo enforce off
listener add port 65535"
is "and nothing else" "$(only_in "$TMP/saved" "$TMP/after" | wc -l)" 5
has_key "nothing is watched" '{"enforce":true}' set show -j
is "diff prints it" "$(sq diff "$TMP/saved" | sort)" \
	"$({ only_in "$TMP/after" "$TMP/saved" | sed 's/^/-/'
		only_in "$TMP/saved" "$TMP/after" | sed 's/^/+/'; } | sort)"
is "apply: back again" "$(status apply "$TMP/saved")" 0
is "all of it" "$(sq save | cmp - "$TMP/saved" && echo same)" same

sq off
is "off: the configuration stays" "$(sq save | cmp - "$TMP/saved" && echo same)" \
	same
sq on
sq flush
is "flush: nothing is left" "$(sq save | grep -vc '^#')" 0
check "a change in between is one transaction" sq class add gold priority 0
sq flush

# "enforce off" before the first class is not forgotten.
sq set enforce off
is "enforce off alone is a configuration" "$(sq save)" "set enforce off"
sq class add gold priority 0
is "and stays when a class comes" "$(sq save | head -n 1)" "set enforce off"
sq class del gold
sq set enforce on
is "enforce on alone is none" "$(sq save | wc -l)" 0

# --- a file of prefixes: all of it is one change ---
awk 'BEGIN {
	for (i = 0; i < 3000; i++)
		printf "11.%d.%d.0/24\n", i / 250, i % 250
}' >"$TMP/prefixes"
{
	echo 10.1.0.0/16
	cat "$TMP/prefixes"
} >"$TMP/more"

# matches CLASS
matches() {
	sq match show -j | grep -c "\"class\": *\"$1\""
}

sq class add gold priority 0
sq class add bulk priority 3
before=$(conf_counter generation)
is "a file of prefixes" "$(status match add source-file "$TMP/prefixes" class gold)" 0
is "is one change" "$(conf_counter generation) $(matches gold)" "$((before + 1)) 3000"
is "with one of them there already, it is refused" \
	"$(status match add source-file "$TMP/more" class bulk)" 1
check "by its line" grep -q 'more:2: "11.0.0.0/24": ' "$TMP/err"
sq match set source-file "$TMP/prefixes" class bulk
is "set for all, and nothing else has changed" "$(matches gold) $(matches bulk)" "0 3000"
sq match del source-file "$TMP/prefixes"
is "del for all" "$(matches bulk)" 0
