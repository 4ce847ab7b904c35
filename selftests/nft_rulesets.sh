#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every ruleset of nft/: it loads; it is the same with the variables that "synq export nft"
# prints; its listing loads and lists the same again; and traffic of both families shows
# that it does what it says.  With the nft of this machine and with that of SYNQ_NFT,
# another release's.
#
# Must fail if: a variable differed from the module's value for the class, a rule ran on
# the wrong side of synq's hook, a rule caught other packets than TCP, or nft misread a
# file.

. "${BASH_SOURCE[0]%/*}/lib.sh"

PATH=$PATH:$DIR/../nft
PORT=80		# as in the rulesets
BEFORE='class-by-mark class-by-map class-by-country class-by-conntrack
class-by-interface'
AFTER='count-by-class log-by-class accept-by-class'
RIVALS='limit-others limit-sources'
# shellcheck disable=SC2046,SC2086
need nft $(printf '%s.nft ' $BEFORE $AFTER $RIVALS)
FILES=$(command -v class-by-mark.nft)
FILES=${FILES%/*}
nft=nft
port=20000
TABLE_TESTS=3 TRAFFIC_TESTS=41 VRF_TESTS=4

conf() {
	cat "$FILES/synq.conf" - <<-'EOT'
		match add source 10.1.0.0/16 class gold
		match add source 10.3.0.0/16 class bulk
		match add source fd00:1::/32 class gold
		match add source fd00:3::/32 class bulk
	EOT
}

# --- rulesets ---

rules() {
	srv "$nft" -f -
}

nobody_rules() {
	srv "$nft" flush ruleset
}

# load NAME [SED]: as an operator edits it; nothing else is loaded then
load() {
	{ echo flush ruleset && sed -e "${2-}" "$FILES/$1.nft"; } | rules || die "$nft: $1 does not load"
}

# listed FILE: without what traffic changes
listed() {
	srv "$nft" -s list ruleset >"$TMP/$1"
}

# no_ports: datagrams that came for no socket
no_ports() {
	echo $(($(mib Udp.NoPorts) + $(mib6 Udp6NoPorts)))
}

# spared NAME: one test: what is not TCP is none of its business
spared() {
	local before
	before=$(no_ports)
	# shellcheck disable=SC2016
	cli "$BASH" -c 'for i in {1..20}; do
		for to; do echo >"/dev/udp/$to/80"; done
	done' bash "$V4" "$V6"
	is "$name: $1 lets pass what is not TCP" $(($(no_ports) - before)) 40
}

# tables NAME: $TABLE_TESTS tests
tables() {
	load "$1"
	listed plain
	spared "$1"
	{
		echo flush ruleset
		cat "$TMP/defines"
		sed '/^define synq_/d' "$FILES/$1.nft"
	} | rules ||
		die "$nft: $1 does not load with the exported variables"
	listed exported
	check "$name: $1 is the same with the exported variables" \
		cmp "$TMP/plain" "$TMP/exported"
	{ echo flush ruleset && cat "$TMP/plain"; } | rules || die "$nft: what is listed of $1 does not load"
	listed again
	check "$name: $1 is the same when it was listed and loaded" \
		cmp "$TMP/plain" "$TMP/again"
}

# odd_names: one test: whatever a class may be called
odd_names() {
	{
		echo flush ruleset
		sq export nft - <<-'EOT'
			mark mask 0x00000f00
			class add A-b_9 priority 0 mark 1
			class add meta priority 1 mark 2
			class add fifteen-letters priority 2 mark 15
			listener add port 80
			listener add port 443
		EOT
		cat <<-'EOT'
			table inet odd {
				chain c {
					type filter hook prerouting priority raw;
					tcp dport $synq_ports meta mark set meta mark & $synq_others | $synq_class_A-b_9
					meta mark & $synq_mask == { $synq_class_A-b_9, $synq_class_meta, $synq_class_fifteen-letters } counter
				}
			}
		EOT
	} | rules
	is "$name: class names of all kinds are variables" \
		"$(srv "$nft" list ruleset | grep 0x00000100 |
			grep 0x00000200 | grep -c '0x00000f00.*0x00000f00')" 1
}

# --- traffic ---

# seen: sets counts, of gold, bulk, default
seen() {
	local stats class
	stats=$(told stats -j)
	counts=()
	for class in gold bulk default; do
		counter_in "$stats" $class seen
		counts+=("${found:-0}")
	done
}

seen_another() {
	seen
	[ "${counts[*]}" != "${before[*]}" ]
}

# send SOURCE [N]: SYNs, of which none has come before
send() {
	local n=${2-1} target=${to-$V4}
	case $1 in *:*) target=${to6-$V6} ;; esac
	"$PEER" segment -N "$CLI" -s "$1" -n "$n" -p "$port" "$target" $PORT \
		>/dev/null || die "cannot send from $1"
	last=$port
	port=$((port + n))
}

# comes_as NAME CLASS SOURCE: one test
comes_as() {
	local class i=0 got=nobody before=()
	seen
	before=("${counts[@]}")
	send "$3"
	wait_for 10 seen_another
	for class in gold bulk default; do
		[ "${counts[i]}" = "${before[i]}" ] || got=$class
		i=$((i + 1))
	done
	is "$name: $1" "$got" "$2"
}

# served SOURCE: a whole connection
served() {
	local target=$V4
	case $1 in *:*) target=$V6 ;; esac
	[ "$("$PEER" client -N "$CLI" -s "$1" -w 20000 "$target" $PORT |
		awk '/^done/ { for (i = 1; i <= NF; i++)
			if (sub("answered=", "", $i)) print $i }')" = 1 ]
}

by_map() {
	load class-by-map
	rules <<-'EOT'
		add element inet synq_map classes4 { 10.5.0.0/16 : goto gold, 10.6.0.0-10.6.3.255 : goto bulk }
		add element inet synq_map classes6 { fd00:5::/32 : goto gold, fd00:6::/32 : goto bulk }
	EOT
	comes_as "map: gold" gold 10.5.0.1
	comes_as "map: bulk" bulk 10.6.3.7
	comes_as "map: a source that is not in it" default 10.6.4.1
	comes_as "map: gold, IPv6" gold fd00:5::1
	comes_as "map: bulk, IPv6" bulk fd00:6::1
	comes_as "map: a source that is not in it, IPv6" default fd00:7::1
	comes_as "map: synq's own match" gold 10.1.0.1
}

by_set() {
	load class-by-mark
	rules <<-'EOT'
		add element inet synq_classes gold4 { 10.5.0.0/16 }
		add element inet synq_classes bulk6 { fd00:1::/32 }
	EOT
	comes_as "set: gold" gold 10.5.0.1
	comes_as "set: before synq's own match, IPv6" bulk fd00:1::1
}

# As the tools write them: a file for each country and family.
by_country() {
	cat >"$TMP/AT.ipv4" <<-'EOT'
		define AT.ipv4 = {
		10.5.0.0/24,
		10.5.1.7/32,
		10.5.2.0/23
		}
	EOT
	cat >"$TMP/AT.ipv6" <<-'EOT'
		define AT.ipv6 = {
		fd00:5::/33,
		fd00:5:8000::/48
		}
	EOT
	load class-by-country "s,^define \(AT.ipv[46]\) =.*,include \"$TMP/\1\","
	comes_as "country: a prefix" gold 10.5.3.1
	comes_as "country: an address" gold 10.5.1.7
	comes_as "country: another country" default 10.5.1.8
	comes_as "country: IPv6" gold fd00:5:8000::1
	comes_as "country: another country, IPv6" default fd00:5:8001::1
}

by_conntrack() {
	load class-by-conntrack
	comes_as "conntrack: a new client" default 10.5.0.1
	comes_as "conntrack: nor when a SYN had come" default 10.5.0.1
	check "$name: conntrack: a connection" served 10.5.0.1
	comes_as "conntrack: a client that was served" gold 10.5.0.1
	comes_as "conntrack: and no other" default 10.5.0.2
	comes_as "conntrack: a new client, IPv6" default fd00:5::1
	check "$name: conntrack: a connection, IPv6" served fd00:5::1
	comes_as "conntrack: a client that was served, IPv6" gold fd00:5::1
}

by_interface() {
	local to=$V4 to6=$V6
	load class-by-interface
	comes_as "interface: another" default 10.5.0.1
	to=198.18.0.1 to6=2001:db8:1::1
	if [ -n "$tunnel" ]; then
		comes_as "tunnel: through it" gold 198.18.0.2
		comes_as "tunnel: through it, IPv6" gold 2001:db8:1::2
	else
		skip "$name: tunnel: through it" "no GRE in this kernel"
		skip "$name: tunnel: through it, IPv6" "no GRE in this kernel"
	fi
	load class-by-interface s/eth1/veth0/
	to=$V4 to6=$V6
	comes_as "interface: through it" gold 10.5.0.1
	comes_as "interface: through it, IPv6" gold fd00:5::1
}

# packets_are COUNTER TABLE N: of a named counter
packets_are() {
	[ "$(srv "$nft" list counter inet "$2" "$1" |
		sed -n 's/.*packets \([0-9]*\).*/\1/p')" = "$3" ]
}

# dropped: by the rules that count what they drop
dropped() {
	srv "$nft" list ruleset | awk '/counter packets .* drop/ {
		for (i = 2; i < NF; i++)
			if ($i == "packets" && $(i - 1) == "counter")
				n += $(i + 1)
	} END { print n + 0 }'
}

# have_come N: SYNs since "begun" was set, seen by synq or dropped before it
have_come() {
	seen
	[ $((counts[0] + counts[1] + counts[2] + $(dropped) - begun)) = "$1" ]
}

begin_count() {
	seen
	begun=$((counts[0] + counts[1] + counts[2]))
}

counting() {
	load count-by-class
	send 10.1.0.1
	send 10.3.0.1 2
	send fd00:1::1 3
	send fd00:3::1 4
	send 10.5.0.1 5
	check "$name: count: gold" wait_for 10 packets_are gold synq_counters 4
	check "$name: count: bulk" wait_for 10 packets_are bulk synq_counters 6
	check "$name: count: the others" \
		wait_for 10 packets_are other synq_counters 5
}

# is_logged PORT: a SYN from there
is_logged() {
	dmesg >"$TMP/dmesg"
	has "$TMP/dmesg" "synq bulk: .* SPT=$1 DPT=$PORT "
}

# log_all 0|1: off for all namespaces but the first, which says so
log_all() {
	nsenter --net=/proc/1/ns/net sh -c "echo $1 >$LOG_ALL" 2>/dev/null
}

LOG_ALL=/proc/sys/net/netfilter/nf_log_all_netns
logging() {
	local gold4
	load log-by-class
	if ! log_all 1; then
		skip "$name: log: bulk" "no $LOG_ALL"
		skip "$name: log: bulk, IPv6" "no $LOG_ALL"
		skip "$name: log: not gold" "no $LOG_ALL"
		return
	fi
	send 10.1.0.1
	gold4=$last
	send 10.3.0.1
	check "$name: log: bulk" wait_for 10 is_logged "$last"
	send fd00:3::1
	check "$name: log: bulk, IPv6" wait_for 10 is_logged "$last"
	is "$name: log: not gold" "$(is_logged "$gold4" && echo logged)" ""
	log_all 0
}

accepting() {
	load accept-by-class
	check "$name: accept: gold" served 10.1.0.1
	check "$name: accept: bulk, IPv6" served fd00:3::1
	check "$name: accept: none of them was refused" \
		packets_are refused synq_firewall 0
	send 10.5.0.1
	send fd00:5::1
	check "$name: accept: a client without a class is refused" \
		wait_for 10 packets_are refused synq_firewall 2
}

# The rivals, which need no synq: it counts what they let through.
limiting() {
	local example='s,203.0.113.0/24,10.1.0.0/16,;s,2001:db8:cafe::/48,fd00:1::/32,'
	load limit-others "$example;s,80/second,1/minute,"
	begin_count
	send 10.1.0.1 40
	send fd00:1::1 40
	must_come 10 have_come 80
	is "$name: limit: the preferred pass" "$(dropped)" 0
	send 10.4.0.1 20
	send fd00:4::1 20
	must_come 10 have_come 120
	within "$name: limit: the others share one bucket" "$(dropped)" 30 35
	load limit-sources "$example;s,10/second,1/minute,"
	begin_count
	send 10.4.0.1 20
	send fd00:4::1 20
	must_come 10 have_come 40
	within "$name: limit: sources have one each" "$(dropped)" 20 24
}

traffic() {
	nobody_rules
	comes_as "no ruleset: only matches give a class" default 10.5.0.1
	by_set
	by_map
	by_country
	by_conntrack
	by_interface
	counting
	logging
	accepting
	limiting
}

# through_vrf NAME: $VRF_TESTS tests
through_vrf() {
	load class-by-interface
	comes_as "VRF: another" default 10.5.0.1
	load class-by-interface s/vrf1/vrf0/
	comes_as "VRF: through it" gold 10.5.0.1
	comes_as "VRF: through it, IPv6" gold fd00:5::1
	load class-by-interface s/eth1/veth0/
	comes_as "VRF: by one of its interfaces" gold 10.5.0.1
}

# A tunnel between both ends, if there can be one.
make_tunnel() {
	local end
	tunnel=
	ip -n "$SRV" link add tun1 type gre local 192.0.2.1 remote 192.0.2.2 \
		2>/dev/null || return
	ip -n "$CLI" link add tun1 type gre local 192.0.2.2 remote 192.0.2.1 ||
		die "no tunnel"
	for end in "$SRV 1" "$CLI 2"; do
		ip -n "${end% *}" -batch - <<-EOT || die "no tunnel"
			link set tun1 up
			address add 198.18.0.${end#* }/24 dev tun1
			address add 2001:db8:1::${end#* }/64 dev tun1 nodad
		EOT
	done
	tunnel=tun1
}

make_vrf() {
	ip -n "$SRV" link add vrf0 type vrf table 100 2>/dev/null || return
	ip -n "$SRV" -batch - <<-EOT || die "no VRF"
		link set vrf0 up
		link set veth0 master vrf0
		address replace 192.0.2.1/24 dev veth0
		address replace 2001:db8::1/64 dev veth0 nodad
		neighbour replace 192.0.2.2 lladdr 02:00:00:00:00:02 dev veth0
		neighbour replace 2001:db8::2 lladdr 02:00:00:00:00:02 dev veth0
		route replace 10.0.0.0/8 via 192.0.2.2 vrf vrf0
		route replace fd00::/16 via 2001:db8::2 vrf vrf0
	EOT
}

# each COMMAND...: with each nft
each() {
	for nft in "${nfts[@]}"; do
		name=$("$nft" --version | awk '{ print $2 }')
		"$@"
	done
}

all_tables() {
	local file
	for file in $BEFORE $AFTER $RIVALS; do
		tables "$file"
	done
	odd_names
}

no_vrf() {
	local i
	for ((i = 0; i < VRF_TESTS; i++)); do
		skip "$name: VRF" "no VRF in this kernel"
	done
}

nfts=(nft ${SYNQ_NFT:+"$SYNQ_NFT"})
# Under emulation processes are dear: one of them on 6.1, the other on what is newer.
# User Mode Linux has both.
if [ "${SYNQ_WAY-}" = qemu ]; then
	case $(</proc/sys/kernel/osrelease) in
	6.1.*) nfts=(nft) ;;
	*) nfts=("${nfts[-1]}") ;;
	esac
fi
plan $((3 + ${#nfts[@]} * (10 * TABLE_TESTS + 1 + TRAFFIC_TESTS + VRF_TESTS)))

sq export nft "$FILES/synq.conf" >"$TMP/defines"
is "export: of a file, without the module" "$(grep -c '^define' "$TMP/defines")" 5
load_synq
set_sysctl "$SRV" net.ipv4.tcp_fwmark_accept 1
conf | apply
sq export nft >"$TMP/running"
check "export: the same of what is in force" cmp "$TMP/running" "$TMP/defines"
is "export: what the rulesets begin with" \
	"$(sed -n '/^define synq_/p' "$FILES"/*.nft | sort -u)" \
	"$(sed -n '/^define/p' "$TMP/defines" | sort -u)"

each all_tables
make_tunnel
server "$TMP/server" -a :: -m list $PORT
each traffic
stop "$LAST"
if make_vrf; then
	server "$TMP/server" -a :: -m list -I vrf0 $PORT
	each through_vrf
else
	each no_vrf
fi
