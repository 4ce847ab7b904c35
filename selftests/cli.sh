#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The command synq and the kernel: what is saved can be applied and is the same
# again; exit statuses; what is refused, by the command or by the kernel, says why
# in one line and leaves the configuration as it was.
#
# Would miss its mark if: an attribute were lost on its way into the kernel and
# back, or an error of the kernel were taken for success.

. "${BASH_SOURCE[0]%/*}/lib.sh"

status() {
	sq "$@" >"$TMP/out" 2>"$TMP/err"
	echo $?
}

full() {
	cat <<-EOT
		mark mask 0xf0000
		class add gold priority 0 reserve 30% mark 1
		class add silver priority 3 rate 500/second mark 2
		class add normal priority 5 default rate 100/second burst 7 excess pass
		class add bulk priority 6 rate 10/second burst 3 excess drop reserve 5%
		match add source 10.1.0.0/16 class gold
		match add source 10.1.2.3/32 class bulk
		match add source 0.0.0.0/0 class silver
		match add source fd00:1::/32 class gold
		match add source ::/0 class silver
		match add source 2001:db8::7/128 class bulk
		listener add port 1
		listener add port $PORT
		listener add port 65535
	EOT
}

# Commands to be refused, after "full" has been applied.
refusals() {
	cat <<-'EOT'
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
		class set bulk burst 0
		class set bulk excess reset
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
		mark mask 0x50000
		mark mask 0x10000
		nonsense
	EOT
}

plan $((14 + $(refusals | wc -l)))

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
note "$(grep -vc '^#' "$TMP/saved") lines"
is "diff of the same: status 0" "$(status diff "$TMP/saved")" 0
sed '/port 65535/d' "$TMP/saved" >"$TMP/less"
is "diff of another: status 3" "$(status diff "$TMP/less")" 3

# Each class as it was given.
is "the kernel's classes, in order" \
	"$(sq class show -j | tr ',' '\n' | sed -n 's/.*"name": *"\([a-z]*\)".*/\1/p' | tr '\n' ' ')" \
	"local gold silver normal bulk default "
check "the rate as it was given" grep -q 'silver.*rate 500/second' "$TMP/saved"

before=$(conf_counter generation)
while read -r line; do
	# shellcheck disable=SC2086
	got=$(status $line)
	sq save >"$TMP/after"
	if [ "$got" = 1 ] && cmp -s "$TMP/saved" "$TMP/after" &&
	   [ "$(wc -l <"$TMP/err")" = 1 ]; then
		ok "refused: $line"
	else
		note "status $got: $(tr '\n' '|' <"$TMP/err")"
		not_ok "refused: $line"
	fi
done <<EOT
$(refusals)
EOT
is "what is refused is no generation" "$(conf_counter generation)" "$before"

sq off
is "off: the configuration stays" "$(sq save | cmp - "$TMP/saved" && echo same)" \
	same
sq on
sq flush
is "flush: nothing is left" "$(sq save | grep -vc '^#')" 0
check "a change in between is one transaction" sq class add gold priority 0
