#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# TCP-MD5 and TCP-AO, as BGP uses them: connections are ordered like any others.  synq
# cannot sign, so it answers no SYN at a listener that has a key, and no signed SYN; the
# kernel itself drops wrong signatures.  A peer that signs and is over its rate gets in
# later, and is not reset.
#
# Must fail if: a reset or a SYN cookie without a signature went out.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/kind_lib.sh"
plan $((2 * KIND_TESTS + 2 * 3 + 2 * (2 * 5 + 1) + 2 * 3 + 1))

# Options of a signing peer, with a wrong signature.
MD5=mss=1460,hex=1312$(printf '%032d' 0)
AO=mss=1460,hex=1d106464$(printf '%024d' 0)

# conf OPTION...: of the class of all who come
conf() {
	apply <<-EOT
		class add bulk priority 6 max-wait none $@
		match add source 10.200.0.0/16 class bulk
		match add source 10.3.0.0/16 class bulk
		match add source fd00:f::/32 class bulk
		listener add port $PORT
	EOT
}

# of FAMILY: who asks whom, and for whom a listener has a key
of() {
	ends=(-s 10.200.0.1 "$V4") any=0.0.0.0 peers=10.200.0.0/16
	[ "$1" = 4 ] || ends=(-s fd00:f::1 "$V6") any=:: peers=fd00:f::/32
}

# serve OPTION...
serve() {
	[ -z "${serving-}" ] || stop "$serving"
	server "$TMP/server" -a "$any" -m epoll "$@" $PORT
	serving=$LAST
}

# signed md5|ao: serve those who sign; false: the kernel cannot
signed() {
	listen="-a $any -K $1=$peers"
	there_is && serve -K "$1=$peers"
}

# ask OPTION...: ten SYNs at once; sets answers
ask() {
	"$PEER" segment -N "$CLI" -p $next -n 10 -w 150 "$@" "${ends[@]}" \
		$PORT >"$TMP/segment"
	next=$((next + 10))
	answers=$(sed -n 's/^answers //p' "$TMP/segment")
}

# silent NAME OPTION...: what is over the rate is not answered; one test.  What is
# within is the kernel's business: 6.1 knows nothing of TCP-AO.  What the kernel drops
# for its signature is not judged.
silent() {
	local name=$1 seen admitted unanswered
	shift
	seen=$(counter bulk seen)
	admitted=$(counter bulk admitted)
	unanswered=$(counter bulk excess_unanswered)
	ask "$@"
	admitted=$(($(counter bulk admitted) - admitted))
	unanswered=$(($(counter bulk excess_unanswered) - unanswered))
	seen=$(($(counter bulk seen) - seen))
	note "$seen judged, $unanswered not answered, $admitted admitted, $answers answers"
	check "$name" test "$answers" -le $admitted -a \
		$seen = $((admitted + unanswered))
}

# --- they are listeners like any others ---
for what in md5 ao; do
	listen="-a 0.0.0.0 -K $what=10.0.0.0/8" talk="-k $what=$V4"
	kind "TCP, $what"
done

# --- what the stock kernel answers ---
next=2000
for family in 4 6; do
	of $family
	serve
	ask
	check "IPv$family, stock kernel: a SYN without a signature is answered" \
		test "$answers" -ge 10
	name="IPv$family, stock kernel"
	if signed md5; then
		ask
		is "$name: a SYN that should be signed and is not, is not" "$answers" 0
		serve
		ask -o "$MD5"
		is "$name: nor one that is signed unasked" "$answers" 0
	else
		skip "$name: a SYN that should be signed and is not, is not" "$WHY_NOT"
		skip "$name: nor one that is signed unasked" "$WHY_NOT"
	fi
done

# --- and synq ---
load_synq
for excess in reset cookie; do
	conf rate 1/second burst 1 excess $excess
	for family in 4 6; do
		name="IPv$family, excess $excess"
		of $family
		serve
		before=$(counter bulk excess_$excess)
		ask
		check "$name: a SYN without a signature is answered" \
			counter_from bulk excess_$excess $((before + 1))
		silent "$name: a SYN signed by TCP-MD5 is not" -o "$MD5"
		silent "$name: nor by TCP-AO" -o "$AO"
		if signed md5; then
			silent "$name: nor at a listener with a key" -o "$MD5"
			silent "$name: nor one there without a signature"
		else
			skip "$name: nor at a listener with a key" "$WHY_NOT"
			skip "$name: nor one there without a signature" "$WHY_NOT"
		fi
	done
	of 4
	if signed ao; then
		silent "excess $excess: nor at a listener with a key for TCP-AO"
	else
		skip "excess $excess: nor at a listener with a key for TCP-AO" \
			"$WHY_NOT"
	fi
done

# --- signing peers get in ---
# come N: sets served, and reset, how many resets were sent meanwhile
come() {
	reset=$(mib Tcp.OutRsts)
	"$PEER" client -N "$CLI" -n "$1" -c "$1" -s 10.3.0.1 \
		-k "$what=$V4" -w 60000 "$V4" $PORT >"$TMP/c"
	served=$(field "$TMP/c" answered)
	reset=$(($(mib Tcp.OutRsts) - reset))
}

conf rate 1/second burst 1 excess reset
peers=10.3.0.0/16
for what in md5 ao; do
	if ! signed $what; then
		skip "$what: a SYN over the rate is not answered" "$WHY_NOT"
		skip "$what: nor reset" "$WHY_NOT"
		skip "$what: and gets in later" "$WHY_NOT"
		continue
	fi
	manage
	before=$(counter bulk excess_unanswered)
	come 3
	check "$what: a SYN over the rate is not answered" \
		counter_from bulk excess_unanswered $((before + 1))
	is "$what: nor reset" "$reset" 0
	is "$what: and gets in later" "$served" 3
done

conf cookies always
what=md5
if signed md5; then
	manage
	come 3
	is "cookies always: a signed SYN is left to the kernel" \
		"$served $(counter bulk cookie_sent)" "3 0"
else
	skip "cookies always: a signed SYN is left to the kernel" "$WHY_NOT"
fi
