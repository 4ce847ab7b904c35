#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every SYN is judged by one whole configuration, however often it is replaced.  Two
# configurations, A and B, which have nothing in common but names and port, take turns
# while SYNs come in; rules behind PREROUTING know the mark that either gives a SYN, and
# rules for what leaves whether it was answered:
#
#              A                            B
#   G   one: 0xa1, never dropped     two: 0x30, never dropped
#   K   two: 0xa2, or dropped        one: 0x40, or dropped
#
# G are the lower halves of all /24, K the upper ones; the mark before the hook is 0xa0.
# A takes its mark from the low four bits and B from the next, so that any mixture of
# prefixes, classes and mask is another mark; one of prefixes and rates drops G.
#
# TRANSACTIONS=N: as many (300).
#
# Must fail if: a transaction were published in two steps, or a reader
# looked for the configuration twice.
#
# Needs two CPUs: a reader meets a commit.
#
# One kernel will do: what it tests does not depend on the kernel.

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 10

N=${TRANSACTIONS:-300}
g_sent=0 k_sent=0 g_a=0 g_b=0 k_a=0 k_b=0 wrong=0 g_answered=0	# see look()

# prefixes CLASS-OF-G CLASS-OF-K
prefixes() {
	local i
	for ((i = 0; i < 64; i++)); do
		echo "match add source 10.1.$i.0/24 class $1"
		echo "match add source 10.1.$i.128/25 class $2"
	done
	echo "match add source fd00:1::/32 class $1"
	echo "match add source fd00:1::80/121 class $2"
}

{
	cat <<-EOT
		mark mask 0x0f
		class add one priority 0 mark 1 max-wait none reserve 30%
		class add two priority 6 mark 2 max-wait none rate 1/second burst 1 min-share 10%
		listener add port $PORT
	EOT
	prefixes one two
} >"$TMP/a"
{
	cat <<-EOT
		mark mask 0xf0
		class add one priority 5 mark 4 max-wait none rate 2/second burst 2
		class add two priority 1 mark 3 max-wait none weight 7
		class add other priority 9 mark 5 default
		listener add port $PORT order fifo synack-retries 2
		listener add port 1 order weighted
	EOT
	prefixes two one
} >"$TMP/b"

rules() {
	local is_syn="tcp dport $PORT tcp flags & (syn | ack) == syn"
	cat <<-EOT
		table inet whole {
			counter g_sent { }
			counter k_sent { }
			counter g_a { }
			counter g_b { }
			counter k_a { }
			counter k_b { }
			counter wrong { }
			counter g_answered { }
			chain before {
				type filter hook prerouting priority raw - 10;
				$is_syn meta mark set 0xa0 jump arrived
			}
			chain arrived {
				ip saddr & 0.0.0.128 == 0.0.0.0 counter name g_sent return
				ip6 saddr & ::80 == :: counter name g_sent return
				counter name k_sent
			}
			chain answers {
				type filter hook output priority 0;
				tcp sport != $PORT accept
				tcp flags & (syn | ack) != (syn | ack) accept
				ip daddr & 0.0.0.128 == 0.0.0.0 counter name g_answered
				ip6 daddr & ::80 == :: counter name g_answered
			}
			chain after {
				type filter hook prerouting priority raw + 30;
				$is_syn jump judge
			}
			chain judge {
				ip saddr & 0.0.0.128 == 0.0.0.0 goto judge_g
				ip6 saddr & ::80 == :: goto judge_g
				meta mark 0xa2 counter name k_a return
				meta mark 0x40 counter name k_b return
				counter name wrong
			}
			chain judge_g {
				meta mark 0xa1 counter name g_a return
				meta mark 0x30 counter name g_b return
				counter name wrong
			}
		}
	EOT
}

# look: sets what the rules have counted, and synq
look() {
	local name text n
	text=$(srv nft list counters table inet whole)
	for name in g_sent k_sent g_a g_b k_a k_b wrong g_answered; do
		n=${text#*counter "$name" *packets }
		printf -v "$name" %d "${n%% *}"
	done
	text=$(told stats -j)
	seen=0 dropped=0
	for name in one two; do
		counter_in "$text" $name seen
		seen=$((seen + found))
		counter_in "$text" $name excess_dropped
		dropped=$((dropped + found))
	done
}

all_judged() {
	look
	[ $seen = $((g_sent + k_sent)) ]
}

# The n-th SYN is never the n-th of before, which may not be forgotten yet: numbers of
# sources that have no factor in common with that of the ports.
load() {
	background "$TMP/load4" "$PEER" segment -N "$CLI" -s 10.1.0.1 -S 16001 \
		-r 1000 -E "$TMP/end" $V4 $PORT
	background "$TMP/load6" "$PEER" segment -N "$CLI" -s fd00:1::1 -S 251 \
		-r 500 -E "$TMP/end" $V6 $PORT
}

flip() {
	# shellcheck disable=SC2016
	srv bash -c 'for ((i = 0; i < $1; i += 2)); do
		synq apply "$2/a" && synq apply "$2/b" || exit
	done' flip "$N" "$TMP"
}

load_synq
set_sysctl "$SRV" net.ipv4.tcp_fwmark_accept 1
apply <"$TMP/b"
server "$TMP/server" -a :: -m none $PORT
manage
rules | srv nft -f - || die "nft refuses the rules"
before=$(conf_counter generation)
load
check "$N transactions" flip
is "each is a generation" "$(($(conf_counter generation) - before))" \
	$(((N + 1) / 2 * 2))
touch "$TMP/end"
must_come 20 has "$TMP/load4" ^sent
must_come 20 has "$TMP/load6" ^sent
check "all SYNs are accounted for, each judged once" wait_for 20 all_judged
note "G: $g_sent came, $g_a met A, $g_b met B; K: $k_sent, $k_a, $k_b"
is "no SYN was judged by a mixture" "$wrong" 0
is "no SYN was dropped at another's rate" $((g_a + g_b)) "$g_sent"
check "nor at the listener" test "$g_answered" -ge "$g_sent"
check "those before it are counted" \
	test "$dropped" -ge $((k_sent - k_a - k_b))
check "many met A" test "$g_a" -ge $((N / 2))
check "many met B" test "$g_b" -ge $((N / 2))
check "many were dropped" test "$dropped" -ge $((N / 2))
