# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Completion of synq(8) for bash.  Names of classes and ports come from the
# kernel if it may be asked; without permission there are just none.

_synq_classes() {
	synq class show 2>/dev/null | awk 'NR > 1 && NF > 2 && $1 != "*" { print $1 }'
}

_synq_ports() {
	synq listener show 2>/dev/null | awk 'NR > 1 { print $1 }'
}

_synq_class_options='priority default mark weight reserve cap max-wait min-share
	rate burst source-rate source-burst source-len net-rate net-burst net-len excess cookies enforce'

# What may follow "class add gold priority 3", by the last word.
_synq_option() {
	local object=$1 verb=$2 last=$3

	case $object/$last in
	class/excess) echo 'drop pass reset cookie refuse' ;;
	class/cookies | listener/cookies) echo 'auto always never' ;;
	listener/inside) echo 'auto off' ;;
	class/enforce | listener/enforce | listener/requests | listener/app-*) echo 'on off' ;;
	class/max-wait) echo none ;;
	class/priority) echo {0..15} ;;
	class/rate | class/source-rate | class/net-rate | class/mark | class/cap | class/min-share | \
		listener/synack-retries)
		[ "$verb" = set ] && echo none ;;
	class/weight | class/reserve | class/burst | class/source-* | class/net-*) ;;
	match/class | class/del | class/set) _synq_classes ;;
	match/source | class/add) ;;
	listener/order) echo 'strict weighted fifo' ;;
	listener/port) [ "$verb" = add ] || _synq_ports ;;
	mark/mask | service/to | service/port) ;;
	service/*) echo to port forward ;;
	class/*) [ "$verb" = del ] || echo "$_synq_class_options" ;;
	match/source-file | match/to | match/timeout) ;;
	match/port) _synq_ports ;;
	match/*)
		[ "$verb" = set ] || printf '%s\n' -e
		echo source source-file to port
		[ "$verb" = del ] || echo class timeout
		[ "$verb" != add ] || echo prefer
		;;
	listener/*) [ "$verb" = del ] && echo port ||
		echo port order app-order synack-retries cookies app-cookies \
			inside requests enforce ;;
	mark/add | mark/set) echo mask ;;
	esac
}

_synq_words() {
	local command=$1 verb=$2 last=$3

	case $command/$verb in
	class/show | match/show) echo '-j'; _synq_classes ;;
	listener/show) echo '-j'; _synq_ports ;;
	mark/show | set/show | service/show) echo '-j' ;;
	class/ | match/ | listener/) echo 'add set del show' ;;
	service/) echo 'add del show' ;;
	set/) echo 'enforce show' ;;
	set/*) [ "$last" != enforce ] || echo 'on off' ;;
	mark/) echo 'mask add set del show' ;;
	class/* | match/* | listener/* | service/* | mark/*)
		_synq_option "$command" "$verb" "$last" ;;
	stats/*)
		case $last in
		class) _synq_classes ;;
		listener) _synq_ports ;;
		sources) echo '-j class top' ;;
		top) ;;
		*) echo '-j --prometheus sources class listener top' ;;
		esac ;;
	classify/ | why/) echo '-j' ;;
	classify/* | why/*)
		case $last in
		to | mark) ;;
		port) _synq_ports ;;
		*)
			echo 'to port'
			[ "$command" = why ] || echo mark
			;;
		esac ;;
	apply/*) echo '--check --confirm --print --strict' ;;
	monitor/*) echo '-j' ;;
	doctor/*) [[ $last = --watch || $last = --follow ]] || echo '-j --watch --follow' ;;
	top/*) echo '-d -n' ;;
	export/) echo nft ;;
	esac
}

_synq() {
	local current=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]}
	local command=${COMP_WORDS[1]} verb=''

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W 'apply -batch diff save class match
			listener service mark set classify why stats top doctor export confirm
			monitor on off flush help' \
			-- "$current")
		return
	fi
	[ "$COMP_CWORD" -gt 2 ] && verb=${COMP_WORDS[2]}
	mapfile -t COMPREPLY < <(compgen -W \
		"$(_synq_words "$command" "$verb" "$last")" -- "$current")
	case $command/$current in
	apply/-* | diff/-* | doctor/-*) ;;
	apply/* | diff/* | doctor/* | export/* | -batch/*)
		[ "$command/$verb" = export/ ] ||
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY \
			< <(compgen -f -- "$current") ;;
	esac
	[ "$command/$last" != match/source-file ] ||
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
}

complete -o filenames -F _synq synq
