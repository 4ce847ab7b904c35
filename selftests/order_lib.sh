# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# The order of an accept queue, for order_v4.sh, order_v6.sh, order_mapped.sh and
# kind_lib.sh, which say by $to where to connect, by $sources what a client of class
# 1, 2 or 3 has for an address, by $listen where the server listens; by $talk how the
# clients talk and by $dial to which port, if that is another one.
#
# The server holds; clients arrive one after the other, each only when the one
# before is in the queue, so that the arrival is exact; the order of accept(2) is
# compared with that of a slow obvious twin: sort by class, stable.

# arrivals N SEED: a list of addresses, classes mixed; class 0 is gold
arrivals() {
	awk -v n="$1" -v seed="$2" -v sources="$sources" 'BEGIN {
		split(sources, prefix, " ")
		srand(seed)
		for (i = 0; i < n; i++)
			print prefix[1 + int(3 * rand())] 1 + i % 250
	}'
}

# class_of: addresses to their place in the order gold, silver, bulk
class_of() {
	awk -v sources="$sources" -v order="${1:-1 2 3}" '
		BEGIN { n = split(sources, prefix, " "); split(order, rank, " ") }
		{
			for (i = 1; i <= n; i++)
				if (index($0, prefix[i]) == 1)
					print rank[i]
		}'
}

# by_class LIST [RANKS]: ids in the order of class, then of arrival
by_class() {
	class_of "${2-}" <"$1" | awk -v id="${3-c}" '
		{ place[NR - 1] = $1 }
		END {
			for (c = 1; c <= 3; c++)
				for (i = 0; i < NR; i++)
					if (place[i] == c)
						print id i
		}'
}

not() {
	! "$@"
}

ids() {
	awk '$1 == "accept" { print $4 }' "$1"
}

# same NAME OUT EXPECTED: the order of accept(2)
same() {
	ids "$2" >"$TMP/ids"
	if ! cmp -s "$TMP/ids" "$3"; then
		note "accepted: $(head -n 40 "$TMP/ids" | tr '\n' ' ')"
		note "expected: $(head -n 40 "$3" | tr '\n' ' ')"
		not_ok "$1"
		return
	fi
	ok "$1"
}

# hold OPTION...: a server that accepts when there is $TMP/go
hold() {
	rm -f "$TMP"/go*
	# shellcheck disable=SC2086
	server "$TMP/server" $listen -H "$TMP/go" "$@" $PORT
	held=$LAST
}

# arrive LIST [ID]: in the queue when it returns
arrive() {
	# shellcheck disable=SC2086
	client "$TMP/client.${2-c}" -w 50000 -i "${2-c}" -f "$1" ${talk-} \
		"$to" "${dial-$PORT}"
	must_come 30 has "$TMP/client.${2-c}" '^all acked'
}

# release N: accept all
release() {
	touch "$TMP/go"
	must_come 30 has "$TMP/server" ^accept "$1"
	stop "$held"
}

swapped() {
	three_classes | sed 's/gold priority 0/gold priority 9/'
}

# sum_of NAME: over the classes
sum_of() {
	local class stats sum=0
	stats=$(told stats -j)
	for class in gold silver bulk default local; do
		counter_in "$stats" $class "$1"
		sum=$((sum + found))
	done
	echo $sum
}

sum_is() {
	[ "$(sum_of "$1")" = "$2" ]
}

# Arrivals while accept(2) takes heads away: what remembers the last request of
# a class must forget it in time.  Chunks of 11 leave; 30 come in between.
interleaved() {
	local i
	hold -C 11
	manage "$to"
	for i in 1 2 3 4; do
		arrivals 30 "$i" >"$TMP/list$i"
		arrive "$TMP/list$i" "r$i-"
		if [ "$i" = 1 ]; then touch "$TMP/go"
		else touch "$TMP/go.$((i - 1))"; fi
		must_come 30 has "$TMP/server" ^accept $((11 * i))
	done
	touch "$TMP"/go.{4,5,6,7,8,9,10,11}
	must_come 30 has "$TMP/server" ^accept 120
	stop "$held"
	for i in 1 2 3 4; do
		class_of <"$TMP/list$i" |
			awk -v r="$i" '{ print $1, "r" r "-" NR - 1 }'
		echo accept
	done | awk '
		# the twin: insert before the first of a later class, take the head
		function take(k) {
			while (k-- && n) {
				print id[1]
				for (j = 1; j < n; j++) {
					id[j] = id[j + 1]
					class[j] = class[j + 1]
				}
				n--
			}
		}
		$1 == "accept" { take(11); next }
		{
			for (j = n; j && class[j] > $1; j--) {
				id[j + 1] = id[j]
				class[j + 1] = class[j]
			}
			id[j + 1] = $2
			class[j + 1] = $1
			n++
		}
		END { take(n) }' >"$TMP/expected"
	same "exact while heads leave in between" "$TMP/server" "$TMP/expected"
}

order_tests() {
	plan 10

	arrivals 60 1 >"$TMP/list"
	hold
	arrive "$TMP/list"
	release 60
	seq 0 59 | sed 's/^/c/' >"$TMP/expected"
	same "stock kernel: order of arrival" "$TMP/server" "$TMP/expected"

	load_synq
	three_classes | apply
	hold
	manage "$to"
	arrive "$TMP/list"
	release 60
	by_class "$TMP/list" >"$TMP/expected"
	same "class, then arrival" "$TMP/server" "$TMP/expected"
	is "every connection was placed" "$(sum_of placed)" 60
	check "some were moved" test "$(sum_of moved)" -gt 10
	sq flush

	# More than one run places (256), queued before anything is configured.
	arrivals 600 2 >"$TMP/list"
	hold
	arrive "$TMP/list"
	three_classes | apply
	manage "$to"
	check "what was queued before is placed" wait_for 20 sum_is placed 600
	release 600
	by_class "$TMP/list" >"$TMP/expected"
	same "600 queued before: class, then arrival" \
		"$TMP/server" "$TMP/expected"

	# Another configuration: gold is last.  It counts for the queued, too.
	hold
	manage "$to"
	arrivals 300 3 >"$TMP/list"
	arrive "$TMP/list"
	swapped | apply
	arrivals 30 4 >"$TMP/later"
	arrive "$TMP/later" d
	release 330
	cat "$TMP/list" "$TMP/later" >"$TMP/both"
	by_class "$TMP/both" "3 1 2" | awk '{
		n = substr($1, 2) + 0
		print n < 300 ? $1 : "d" n - 300
	}' >"$TMP/expected"
	same "a new configuration orders the queued anew" \
		"$TMP/server" "$TMP/expected"

	three_classes | apply
	interleaved

	# Fresh counters: another port.
	sq flush
	three_classes | apply
	hold
	manage "$to"
	sed "s/.*/${sources##* }1/" "$TMP/later" >"$TMP/list"
	arrive "$TMP/list"
	release 30
	seq 0 29 | sed 's/^/c/' >"$TMP/expected"
	same "one class: order of arrival" "$TMP/server" "$TMP/expected"
	is "one class: nothing was moved" "$(sum_of moved)" 0
}

# --- disciplines ---

# ordered ORDER [SED]: three classes, changed by SED
ordered() {
	three_classes | sed -E -e "s/^listener .*/& order $1/" -e "${2-}"
}

# events LIST [ID]: what the twins read: "arrive CLASS ID" for each
events() {
	class_of <"$1" | awk -v id="${2-c}" '{ print "arrive", $1, id NR - 1 }'
}

# twin ORDER OPTION...: reads events, prints what is accepted; see tcp_twin.c
twin() {
	"$PEER" twin "$@"
}

# classes_of OUT: of the accepted, by address, in the order of accept(2)
classes_of() {
	awk '$1 == "accept" { print $2 }' "$1" | class_of
}

# proportion OUT N WINDOW SLACK WEIGHT...: of the first N accepted each class has
# its part within 1 % of N, and of each WINDOW within SLACK
proportion() {
	classes_of "$1" | awk -v n="$2" -v window="$3" -v slack="$4" \
			-v weights="${*:5}" '
		BEGIN { k = split(weights, w, " ") }
		BEGIN { for (c = 1; c <= k; c++) sum += w[c] }
		NR <= n {
			class[NR] = $1
			all[$1]++
			here[$1]++
			if (NR > window)
				here[class[NR - window]]--
			for (c = 1; NR >= window && c <= k; c++) {
				off = here[c] - window * w[c] / sum
				if (off < 0) off = -off
				if (off > worst) worst = off
			}
		}
		END {
			for (c = 1; c <= k; c++) {
				printf "%s%d", (c > 1 ? " : " : "# "), all[c]
				off = all[c] - n * w[c] / sum
				if (off > n / 100 || -off > n / 100)
					bad = 1
			}
			printf " of %d; in %d off by %.1f at most\n", n, window, worst
			exit bad || worst > slack || NR < n
		}'
}

# run_rounds N GOLD: N times: the server takes as many as hold -C says, then as
# many of gold come
run_rounds() {
	local i
	for ((i = 1; i <= $1; i++)); do
		if [ "$i" = 1 ]; then touch "$TMP/go"; else touch "$TMP/go.$((i - 1))"; fi
		must_come 30 has "$TMP/server" ^accept $((i * chunk))
		for ((j = 1; j <= $2; j++)); do
			echo "${sources%% *}$j"
		done >"$TMP/list.$i"
		arrive "$TMP/list.$i" "r$i-"
	done
}

# rounds_of N GOLD: the same as events
rounds_of() {
	local i
	for ((i = 1; i <= $1; i++)); do
		echo "accept $chunk"
		events "$TMP/list.$i" "r$i-"
	done
}
