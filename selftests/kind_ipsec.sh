#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A listener that IPsec protects, in transport mode and by a tunnel: SYNs are judged once,
# by the inner header, and synq's answers in the listener's place leave protected, as the
# kernel's own SYN cookies do.  Where a policy demands IPsec, neither the stack nor synq
# answers a SYN in the clear.
#
# Must fail if: an answer left in the clear, or disclosed a listener that the policy hides,
# or a SYN were judged twice, as IPv4's would be if the ESP around it came in fragments.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
ip -n "$SRV" xfrm policy list >/dev/null 2>&1 || skip_all "no IPsec in this kernel"
ESP_TESTS=$((KIND_TESTS + COOKIE_TESTS + 6))
plan $((2 * (2 + 3 * 3) + 4 * ESP_TESTS + 2))

KEY=0x000102030405060708090a0b0c0d0e0f
N=8

# conf OPTION...: of the class bulk
conf() {
	sq flush
	apply <<-EOT
		class add bulk priority 6 max-wait none $@
		match add source 10.3.0.0/16 class bulk
		match add source 10.200.0.0/16 class bulk
		match add source fd00:3::/32 class bulk
		match add source fd00:f::/32 class bulk
		listener add port $PORT
	EOT
}

# --- in the clear ---
# ask: five SYNs from nobody; sets answers
ask() {
	"$PEER" segment -N "$CLI" -p $((next += 10)) -n 5 -w 300 -s "$from" "$to" \
		$PORT >"$TMP/sent"
	answers=$(sed -n 's/^answers //p' "$TMP/sent")
}

# One or two may be within the rate, and answered by the kernel.
is_answered() {
	ask
	[ "$answers" -ge 3 ]
}

# demand: IPsec, of them
demand() {
	ip -n "$SRV" xfrm policy add src "$nobody" dst "$to" dir in \
		tmpl proto esp mode transport || die "no policy"
}

waive() {
	ip -n "$SRV" xfrm policy flush
}

# hidden NAME OPTION...: of a class; three tests
hidden() {
	local name=$1 before
	shift
	conf "$@"
	manage "$to"
	check "$name, no policy: answered" wait_for 20 is_answered
	demand
	before=$(counter bulk seen)
	ask
	is "$name, in the clear: no answer" "$answers" 0
	is "$name, in the clear: nor judged" $(($(counter bulk seen) - before)) 0
	waive
}

# clear FAMILY
clear() {
	from=10.200.0.1 nobody=10.200.0.0/16 to=$V4
	[ "$1" = 4 ] || from=fd00:f::1 nobody=fd00:f::/32 to=$V6
	server "$TMP/server" -a :: -m none $PORT
	check "IPv$1, stock kernel, no policy: answered" wait_for 20 is_answered
	demand
	ask
	is "IPv$1, stock kernel, in the clear: no answer" "$answers" 0
	waive
	load_synq
	hidden "IPv$1, excess reset" rate 1/second burst 1 excess reset
	hidden "IPv$1, excess cookie" rate 1/second burst 1 excess cookie
	hidden "IPv$1, cookies always" cookies always
	stop "$LAST"
	unload_synq
}

# --- protected ---
# state MODE FROM TO SPI: a security association, as "ip -batch" reads it; signed, but
# not encrypted, so that no random numbers are wanted
state() {
	echo "xfrm state add src $2 dst $3 proto esp spi $4 mode $1" \
		"auth hmac(sha256) $KEY enc ecb(cipher_null) \"\""
}

# to_clients MODE FAMILY: one for each, as transport mode wants
to_clients() {
	local class host address spi=0x2000 format='10.%d.0.%d'
	[ "$2" = 4 ] || format='fd00:%x::%x'
	for class in 1 2 3 4; do
		for ((host = 1; host <= 10; host++)); do
			# shellcheck disable=SC2059
			printf -v address "$format" $class $host
			state "$1" "$server" "$address" $((spi += 1))
		done
	done
}

# policies MODE TO-SERVER TO-CLIENTS: which of both is "in" there, and which "out"
policies() {
	local there="proto esp mode $1" back="proto esp mode $1"
	if [ "$1" = tunnel ]; then
		there="src $client dst $server $there"
		back="src $server dst $client $back"
	fi
	echo "xfrm policy add src $clients dst $server dir $2 tmpl $there"
	echo "xfrm policy add src $server dst $clients dir $3 tmpl $back"
	# What is sent by a raw socket counts as from the host, whatever its header says.
	echo "xfrm policy add src $client dst $server dir $2 tmpl $there"
}

# protect MODE FAMILY: all between the server and clients of any address
protect() {
	local server=$V4 client=192.0.2.2 clients=10.0.0.0/8 any=0.0.0.0
	[ "$2" = 4 ] || server=$V6 client=2001:db8::2 clients=fd00::/16 any=::
	if [ "$1" = tunnel ]; then
		state tunnel $client "$server" 0x1001
		state tunnel "$server" $client 0x1002
	else
		state transport $any "$server" 0x1001
		to_clients transport "$2"
	fi >"$TMP/states"
	{ cat "$TMP/states"; policies "$1" in out; } | ip -n "$SRV" -batch - &&
		{ cat "$TMP/states"; policies "$1" out in; } |
			ip -n "$CLI" -batch - || die "no IPsec"
}

# in_the_clear: segments that came so and were refused for it, at both ends
in_the_clear() {
	local space
	for space in "$SRV" "$CLI"; do
		in_ns "$space" cat /proc/net/xfrm_stat
	done | awk '/^XfrmIn(NoPols|TmplMismatch)|^XfrmOut(NoStates|PolBlock)/ {
		n += $2
	} END { print n + 0 }'
}

# kernel_cookies NAME: what to compare with; one test
kernel_cookies() {
	set_sysctl "$SRV" net.ipv4.tcp_syncookies 2
	hold
	touch "$TMP/go"
	"$PEER" client -N "$CLI" -n 3 -c 3 -s "${sources##* }1" -w 20000 "$to" \
		$PORT >"$TMP/served"
	is "$1, stock kernel: served by its own cookies" \
		"$(field "$TMP/served" answered)" 3
	stop "$held"
	set_sysctl "$SRV" net.ipv4.tcp_syncookies 1
}

# resets NAME: a class whose excess is reset; two tests
resets() {
	load_synq
	conf rate 1/second burst 1 excess reset
	hold
	find_socket
	client "$TMP/reset" -n 10 -c 10 -s "${sources##* }1" -A -w 30000 "$to" \
		$PORT
	must_come 60 has "$TMP/reset" ^done
	refused=$(lines "$TMP/reset" 'failed .* Connection refused')
	within "$1: refused by resets" "$refused" 5 10
	is "$1: as many as were sent" "$(counter bulk excess_reset)" "$refused"
	stop "$held"
	unload_synq
}

# rated NAME: ten times the rate of a class; two tests.  Who has reached the listener is
# reset by the client's host, which knows nothing of it.
rated() {
	local before reached
	load_synq
	police
	hold
	find_socket
	before=$(mib TcpExt.EmbryonicRsts)
	ten_times -s "${sources##* }1" "$to"
	reached=$(($(mib TcpExt.EmbryonicRsts) - before))
	within "$1, ten times the rate: reach the listener" $reached 1 $most
	is "$1: as many as were admitted" $reached "$(counter bulk admitted)"
	stop "$held"
	unload_synq
}

# fragments NAME: SYNs so long that the ESP around them is sent in two; two tests
fragments() {
	local before whole
	load_synq
	three_classes | apply
	hold
	find_socket
	ip -n "$CLI" link set veth0 mtu 1460
	before=$(counter bulk seen)
	whole=$(mib Ip.ReasmOKs)
	"$PEER" segment -N "$CLI" -n 10 -d 1400 -s 10.3.0.1 "$to" $PORT >/dev/null
	check "$1, in fragments: judged" \
		wait_for 10 counter_from bulk seen $((before + 10))
	is "$1, in fragments: put together once, judged once" \
		"$(($(mib Ip.ReasmOKs) - whole)) $(($(counter bulk seen) - before))" \
		"10 10"
	stop "$held"
	unload_synq
}

# esp MODE FAMILY
esp() {
	local name="ESP $1, IPv$2"
	listen='-a 0.0.0.0' to=$V4 sources='10.1.0. 10.2.0. 10.3.0.'
	[ "$2" = 4 ] ||
		listen='-a :: -V' to=$V6 sources='fd00:1:: fd00:2:: fd00:3::'
	SRV=synq-s$1$2-$$ CLI=synq-c$1$2-$$
	new_pair "$SRV" "$CLI"
	protect "$1" "$2"
	kind "$name"
	kernel_cookies "$name"
	cookies "$name"
	rated "$name"
	resets "$name"
	[ "$1$2" != transport4 ] || fragments "$name"
	is "$name: nothing has come in the clear" "$(in_the_clear)" 0
}

has_esp() {
	new_ns "$SRV-esp"
	{ state transport 0.0.0.0 $V4 1; state transport :: $V6 2; } |
		ip -n "$SRV-esp" -batch - >"$TMP/esp" 2>&1
}

next=2000
clear 4
clear 6
if has_esp; then
	for mode in transport tunnel; do
		esp $mode 4
		esp $mode 6
	done
else
	sed 's/^/# /' "$TMP/esp"
	! strict || die "no ESP"
	for ((i = 0; i < 4 * ESP_TESTS + 2; i++)); do
		skip "ESP" "not in this kernel (INET_ESP, INET6_ESP, XFRM_STATISTICS)"
	done
fi
