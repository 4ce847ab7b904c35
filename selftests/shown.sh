#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each command of synq that README, the man page and the documentation show works, and so does
# each configuration.  Files that they name are made first, and classes that they only refer to.
#
# Must fail if: what is shown were refused.
#
# One kernel will do: what it tests does not depend on the kernel.

. "${BASH_SOURCE[0]%/*}/lib.sh"

docs=()
for doc in "${SYNQ_DOCS:-$DIR/../Documentation}"/*.rst "${SYNQ_DOCS:-$DIR/..}/README.md" \
	"${SYNQ_DOCS:-$DIR/../tools/synq}/synq.8"; do
	[ ! -e "$doc" ] || docs+=("$doc")
done
[ ${#docs[@]} -gt 1 ] || skip_all "no documentation here"

# shown KIND: "FILE:LINE<tab>TEXT" of commands; or of configurations, with ; between lines
shown() {
	awk -v kind="$1" '
	function end() {
		if (block != "")
			print at "\t" block
		block = ""
	}
	FNR == 1 { end(); literal = 0; file = FILENAME; sub(/.*\//, "", file) }
	/^```/ || /^\.Bd -literal/ || /^\.Ed/ { literal = !literal }
	{ is_shown = literal || /^[ \t]/; sub(/^[ \t]+/, ""); sub(/^[#$] /, "") }
	!is_shown { end(); next }
	kind == "command" &&
	/^(printf .* \| )?synq (-batch|[a-z]+( |$))/ && !/^synq (is|configured|netlink) / {
		sub(/   *.*/, "")
		sub(/ && systemctl.*/, "")
		print file ":" FNR "\t" $0
	}
	kind == "conf" && /^(class|match|listener) +add |^set enforce |^mark mask / && !/\.$/ {
		if (block == "")
			at = file ":" FNR
		block = block $0 ";"
		next
	}
	{ end() }
	END { end() }' "${docs[@]}"
}

# complete CONF: with classes that it refers to, and their prefixes in files
complete() {
	echo "$1" | awk -v dir="$TMP" '
	{
		conf = conf $0 "\n"
		for (i = 1; i < NF; i++)
			if ($i == "class" && $(i + 1) != "add")
				wanted[$(i + 1)]
			else if ($i == "source-file")
				print "192.0.2." ++n > (dir "/" $(i + 1))
	}
	/^class add/ { there[$3] }
	END {
		priority = 9
		for (class in wanted)
			if (!(class in there))
				print "class add " class " priority " ++priority
		printf "%s", conf
	}'
}

# run COMMAND: in $SRV
run() {
	local command=${1//\/etc\/synq.conf/$TMP/synq.conf} status=0
	srv env addresses="192.0.2.77 192.0.2.78" timeout 15 bash -o pipefail -c "$command" \
		>"$TMP/out" 2>&1 </dev/null || status=$?
	case $command in
	"synq monitor"*) [ $status = 124 ] ;;	# it does not end
	"synq doctor"*) [ $status -le 2 ] ;;	# how bad it is
	"synq diff"*) [ $status -le 1 ] ;;	# whether there is one
	*) [ $status = 0 ] ;;
	esac || { cat "$TMP/out" && false; }
}

shown command >"$TMP/commands"
shown conf >"$TMP/confs"
plan $(($(wc -l <"$TMP/commands") + $(wc -l <"$TMP/confs") + 2))

load_synq
set_sysctl "$SRV" net.ipv4.tcp_fwmark_accept 1
check "there are commands" test "$(wc -l <"$TMP/commands")" -ge 10
check "there are configurations" test "$(wc -l <"$TMP/confs")" -ge 6
complete "mark mask 0x0f000000
class add gold priority 0
class add normal priority 3 default
class add banned priority 9
match add source 10.1.0.0/16 class gold
listener add port 80" >"$TMP/synq.conf"
sq apply "$TMP/synq.conf"
while IFS=$'\t' read -r at command; do
	check "$at: $command" run "$command"
done <"$TMP/commands"
cd "$TMP" || exit 1
while IFS=$'\t' read -r at conf; do
	complete "${conf//;/$'\n'}" >"$TMP/shown.conf"
	check "$at: a configuration" sq apply --check "$TMP/shown.conf"
done <"$TMP/confs"
