#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "-m synq" and "-j SYNQ" of iptables and ip6tables, legacy and nft.  Rules may exist
# before synq is configured, are saved unchanged, put connections into classes and match
# those that have one; they follow the configuration, but hold no part of it; where they
# make no sense they are refused.  Modules and namespaces go when the rules do.
#
# Must fail if: a rule cached its class, the target changed other bits or ran after synq's
# hook, or a rule held a reference that it must not hold.

# A shell in a namespace with rules would hold the module.
STAY=1
. "${BASH_SOURCE[0]%/*}/lib.sh"

PATH=$PATH:$DIR/../tools/iptables
need xtables-nft-multi xtables-legacy-multi libxt_synq.so libxt_SYNQ.so
XTABLES_LIBDIR=$(dirname "$(command -v libxt_synq.so)")
for dir in /usr/lib/*/xtables /usr/lib64/xtables /usr/lib/xtables; do
	XTABLES_LIBDIR+=:$dir
done
export XTABLES_LIBDIR

OTHER=$SRV-x
back='' v=''	# nft or legacy; nothing or 6

# conf MASK: a class by rule, one by rule and by match, one without a mark
conf() {
	echo "mark mask $1
class add gold priority 0 mark 1 max-wait none
class add bulk priority 6 mark 2 max-wait none
class add plain priority 9 max-wait none
match add source 10.2.0.0/16 class gold
match add source fd00:2::/32 class gold
listener add port $PORT"
}

# xt PROGRAM ARG...: of this back end and family, as in "xt tables-save"
xt() {
	local program=$1
	shift
	in_ns "${SPACE:-$SRV}" "xtables-$back-multi" "ip$v$program" "$@"
}

net() {
	[ -n "$v" ] && echo "fd00:$1::/32" || echo "10.$1.0.0/16"
}

# Other bits of the mark of the first are set, and those of another class.
rules() {
	local syn="-p tcp -m tcp --dport $PORT --tcp-flags FIN,SYN,RST,ACK SYN"
	local to="-p tcp -m tcp --dport $PORT"
	cat <<-EOT
		*raw
		-A PREROUTING -s $(net 1) $to -j MARK --set-xmark 0x2000015/0xffffffff
		-A PREROUTING -s $(net 1) $to -j SYNQ --class gold
		-A PREROUTING -s $(net 3) $to -j SYNQ --class bulk
		-A PREROUTING -s $(net 5) $to -j SYNQ --class bulk
		-A PREROUTING -s $(net 5) -m synq --class bulk -j SYNQ --class gold
		-A PREROUTING -s $(net 6) $to -j SYNQ --class nobody
		-A PREROUTING -s $(net 6) $to -j SYNQ --class plain
		COMMIT
		*filter
		-A INPUT $syn -m synq --class gold
		-A INPUT $syn -m synq --class bulk
		-A INPUT $syn -m synq ! --class gold
		-A INPUT $syn -m synq --class nobody
		-A INPUT $syn -m synq --class plain
		-A INPUT $syn -m mark --mark 0x1000015
		-A INPUT $syn -m mark --mark 0x2100015
		-A OUTPUT -p tcp -m tcp --sport $PORT -m synq --class gold
		COMMIT
	EOT
}

saved() {
	xt tables-save 2>/dev/null | grep -v '^[#:]'
}

# look: at the counters, for hits
look() {
	xt tables-save -c >"$TMP/counters" 2>/dev/null
}

# hits RULE: packets of the rule that ends so
hits() {
	local line rule="^\[([0-9]+):[0-9]+\] -A $1\$"
	while read -r line; do
		[[ ! $line =~ $rule ]] || echo "${BASH_REMATCH[1]}"
	done <"$TMP/counters"
}

zero() {
	xt tables -t filter -Z
}

# from NET N: connections from there
from() {
	local source=10.$1.0.1 to=$V4
	[ -z "$v" ] || source=fd00:$1::1 to=$V6
	"$PEER" client -N "$CLI" -s "$source" -n "$2" -A "$to" $PORT >>"$TMP/from" ||
		die "no connection from $source"
}

# found NAME RULE N: one test: so many SYNs, or some more that came twice
found() {
	within "$name: $1" "$(hits "$2")" "$3" $((10 * $3))
}

# refused NAME WHY ARG...: one test: WHY is said, if it is not empty: x_tables says it
# in the kernel's log only
refused() {
	local what=$1 why=$2
	shift 2
	if xt tables "$@" 2>"$TMP/err"; then
		note "taken: $*"
	elif ! grep -qF -e "$why" "$TMP/err"; then
		note "said: $(cat "$TMP/err")"
	else
		ok "$name: $what is refused"
		return
	fi
	not_ok "$name: $what is refused"
}

test_unconfigured() {
	local before
	rules >"$TMP/rules"
	check "$name: rules are restored before there is a class" \
		xt tables-restore "$TMP/rules"
	before=$(saved)
	is "$name: all of them name their classes" \
		"$(grep -c -e '--class' <<<"$before")" 12
	xt tables-save 2>/dev/null >"$TMP/saved"
	xt tables -t raw -F
	xt tables -t filter -F
	xt tables-restore "$TMP/saved"
	is "$name: restored are what was saved" "$(saved)" "$before"
	from 1 1
	look
	is "$name: unconfigured, nothing has a class" \
		"$(hits "INPUT .*-m synq --class gold")" 0
	found "and ! finds that" "INPUT .*-m synq ! --class gold" 1
}

test_configured() {
	zero
	from 1 2
	from 2 3
	from 3 2
	from 5 1
	from 6 1
	look
	found "gold by rule, by two rules, and by synq's match" \
		"INPUT .*-m synq --class gold" 6
	found "bulk by rule" "INPUT .*-m synq --class bulk" 2
	found "and the others" "INPUT .*-m synq ! --class gold" 3
	is "$name: no packet is in a class that does not exist" \
		"$(hits "INPUT .*-m synq --class nobody")" 0
	is "$name: nor known to be in one without a mark" \
		"$(hits "INPUT .*-m synq --class plain")" 0
	found "other bits are left" "INPUT .*--mark 0x1000015" 2
	within "$name: replies have the class of their connection" \
		"$(hits "OUTPUT .*-m synq --class gold")" 6 100000
}

test_changed() {
	sq off
	zero
	from 1 1
	look
	found "while synq is off, the rules go on" \
		"INPUT .*-m synq --class gold" 1
	sq on
	conf 0x00f00000 | apply
	zero
	from 1 1
	look
	found "another mask, at once: set" "INPUT .*--mark 0x2100015" 1
	found "another mask, at once: matched" "INPUT .*-m synq --class gold" 1
	conf 0x0f000000 | sed /bulk/d | apply
	zero
	from 3 1
	look
	is "$name: a removed class has no packets" \
		"$(hits "INPUT .*-m synq --class bulk")" 0
	sq flush
	from 1 1
	look
	is "$name: after flush nothing has a class" \
		"$(hits "INPUT .*-m synq --class gold")" 0
	found "and all gets through" "INPUT .*-m synq ! --class gold" 2
	conf 0x0f000000 | apply
}

test_refused() {
	local before
	before=$(saved)
	refused "another table" '' -t mangle -A PREROUTING -j SYNQ --class gold
	refused "another hook" '' -t raw -A OUTPUT -j SYNQ --class gold
	xt tables -t raw -N aside
	xt tables -t raw -A aside -j SYNQ --class gold
	refused "another hook, by way of a chain," '' -t raw -A OUTPUT -j aside
	xt tables -t raw -F aside
	xt tables -t raw -X aside
	refused "a target without a class" --class -t raw -A PREROUTING -j SYNQ
	refused "a match without a class" --class -A INPUT -m synq
	refused "a long name" '"abcdefghijklmnop": a class name has at most 15' \
		-A INPUT -m synq --class abcdefghijklmnop
	refused "a name that is none" '"9": a class name is' \
		-t raw -A PREROUTING -j SYNQ --class 9
	refused "! of a target" inverted \
		-t raw -A PREROUTING -j SYNQ ! --class gold
	is "$name: nothing was added" "$(saved)" "$before"
}

test_told() {
	xt tables -L -n >"$TMP/list" 2>/dev/null
	check "$name: listed" grep -q 'synq ! class gold' "$TMP/list"
	check "$name: help" has_help
	check "$name: deleted as added" \
		xt tables -t raw -D PREROUTING -s "$(net 5)" -m synq --class bulk \
		-j SYNQ --class gold
}

has_help() {
	xt tables -m synq -j SYNQ -h >"$TMP/help" 2>/dev/null
	grep -q 'synq match options' "$TMP/help" &&
		grep -q 'SYNQ target options' "$TMP/help"
}

# works: are there such tables in this kernel?
works() {
	xt tables -t raw -S && xt tables -t mangle -S && xt tables -t filter -S
} >/dev/null 2>&1

PER_FAMILY=32
test_family() {
	local i
	name="$back, IPv${v:-4}"
	if ! works; then
		for ((i = 0; i < PER_FAMILY; i++)); do
			skip "$name" "this kernel has no $back ip${v}tables"
		done
		return
	fi
	sq flush
	test_unconfigured
	conf 0x0f000000 | apply
	test_configured
	is "$name: synq has seen the same classes" \
		"$(counter gold seen) $(counter bulk seen)" "6 2"
	test_changed
	test_refused
	test_told
	check "$name: modules with rules stay" cannot_go xt_synq synq
	xt tables -t raw -F
	xt tables -t filter -F
}

# cannot_go MODULE...
cannot_go() {
	local module
	for module; do
		! rmmod "$module" 2>/dev/null || return
	done
}

xt_ko() {
	echo "${SYNQ_KO%/*}/xt_synq.ko"
}

load_xt() {
	if [ -n "${SYNQ_KO-}" ]; then
		insmod "$(xt_ko)" || die "cannot load $(xt_ko)"
	else
		modprobe xt_synq || skip_all "no module xt_synq"
	fi
}

unload_xt() {
	wait_for 60 rmmod xt_synq 2>/dev/null
}

has_no_alias() {
	if [ -n "${SYNQ_KO-}" ]; then
		! grep -qa 'alias=ip' "$(xt_ko)"
	else
		[ -z "$(modinfo -F alias xt_synq)" ]
	fi
}

# The library asks for the module, of the program that iptables is told to use.
autoloads() {
	cat >"$TMP/modprobe" <<-EOT
		#!/bin/sh
		[ "\$1" = xt_synq ] && [ -n "${SYNQ_KO-}" ] && exec insmod "$(xt_ko)"
		exec modprobe "\$@"
	EOT
	chmod +x "$TMP/modprobe"
	xt tables --modprobe="$TMP/modprobe" -t raw -A PREROUTING \
		-j SYNQ --class gold && [ -d /sys/module/xt_synq ]
}

test_autoload() {
	v=
	if ! works; then
		skip "$back: the library" "this kernel has no $back iptables"
		return
	fi
	check "$back: the library has the module loaded" autoloads
	xt tables -t raw -F
	unload_xt || die "xt_synq cannot be unloaded"
}

plan $((4 * PER_FAMILY + 6))
load_synq
load_xt
set_sysctl "$SRV" net.ipv4.tcp_fwmark_accept 1
server "$TMP/server" -a :: -m list -E "$TMP/end" -b 64 $PORT

check "there is no alias: no user namespace has it loaded" has_no_alias
for back in legacy nft; do
	for v in '' 6; do
		test_family
	done
done

check "synq stays while xt_synq is loaded" cannot_go synq
check "without rules, xt_synq goes" unload_xt
for back in legacy nft; do
	test_autoload
done

load_xt
new_ns "$OTHER"
for back in legacy nft; do
	for v in '' 6; do
		rules >"$TMP/rules"
		! SPACE=$OTHER works ||
			SPACE=$OTHER xt tables-restore "$TMP/rules"
	done
done
del_ns "$OTHER"
check "a namespace with rules goes, and its rules with it" unload_xt
