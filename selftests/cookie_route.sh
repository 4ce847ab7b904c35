#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The final ACK of a SYN cookie comes with a route that the gate must release when it
# refuses: after many refusals, and when the interface has gone, there are no more routes
# than in a namespace that never had one.
#
# Must fail if: the gate returned without releasing the route.  (The kernel lets the
# device go all the same; only this count shows it.)

. "${BASH_SOURCE[0]%/*}/lib.sh"
plan 6

CLIENTS=200

# Routes in use: 4, of all namespaces; 6, of this one.  A leaked one stays counted
# when its interface has gone.  Hexadecimal.
routes4() {
	in_ns "$1" awk 'NR == 2 { print $1 }' /proc/net/stat/rt_cache
}

routes6() {
	in_ns "$1" awk '{ print $6 }' /proc/net/rt6_stats
}

has_routes6() {
	[ "$((0x$(routes6 "$SRV")))" -ge "$1" ]
}

# no_more N SPACE FAMILY: a few belong to whoever; a leak has dozens
no_more() {
	left=$(("0x$("routes$3" "$2")"))
	[ "$left" -le $(($1 + 4)) ]
}

# a_route_each FAMILY: or all leaked references were to the one route by which the
# clients are reached.  IPv4's metric keeps them from sharing a next hop; IPv6
# counts only routes that differ from the one in the table, as by their MTU.
a_route_each() {
	if [ "$1" = 6 ]; then
		"$PEER" segment -N $CLI -s fd00:3::1 -n $CLIENTS -S $CLIENTS \
			-B 1280 $V6 $PORT >/dev/null
		must_come 10 has_routes6 $CLIENTS
		return
	fi
	for ((client = 1; client <= CLIENTS; client++)); do
		echo "route add 10.3.0.$client/32 via 192.0.2.2 metric $client"
	done | ip -n "$SRV" -batch - || die "no routes"
}

# classes CLASS: that the clients have.  Gold may fill the queue, and comes by cookies;
# bulk may not.
classes() {
	apply <<-EOT
		class add gold priority 0 reserve 50% cookies always
		class add bulk priority 6 max-wait none
		match add source 10.3.0.0/16 class $1
		match add source fd00:3::/32 class $1
		listener add port $PORT
	EOT
}

# flood FAMILY: cookies to more clients than the queue takes, in a new pair.  They
# are gold when they ask and bulk when they come back, or all but a few would be
# refused at the SYN.
flood() {
	local to=$V4 from=10.3.0.1 listen=0.0.0.0
	[ "$1" = 4 ] || to=$V6 from=fd00:3::1 listen=::
	SRV=synq-s$round-$$ CLI=synq-c$round-$$
	new_pair $SRV $CLI
	a_route_each "$1"
	set_sysctl $SRV net.ipv4.tcp_syncookies 2
	[ -z "$loaded" ] || classes gold
	server "$TMP/server" -a $listen -b 32 -m none $PORT
	ends=("$LAST")
	[ -z "$loaded" ] || manage $to
	cli tc qdisc add dev veth0 root netem delay 1s || die "no netem"
	client "$TMP/bulk" -n $CLIENTS -c $CLIENTS -s $from -S $CLIENTS \
		-w 60000 $to $PORT
	ends+=("$LAST")
	if [ -n "$loaded" ]; then
		must_come 10 all_came
		classes bulk
	fi
}

# Let through to the kernel, or answered in its place.
all_came() {
	[ $(($(counter gold admitted) + $(counter gold cookie_sent))) \
		-ge $CLIENTS ]
}

# end FAMILY WANTED NAME
end() {
	stop "${ends[@]}"
	del_ns $CLI
	ip -n $SRV link del veth0 2>/dev/null
	if wait_for 15 no_more "$2" $SRV "$1"; then
		ok "$3"
	else
		note "$left routes, not $2"
		not_ok "$3"
	fi
	del_ns $SRV
}

need tc
fresh=$SRV-fresh
new_ns $fresh
for family in 4 6; do
	before=$(("0x$(routes$family $fresh)"))
	round=a$family loaded=''
	flood $family
	must_come 20 has "$TMP/bulk" ^connected 40
	end $family $before "stock kernel, IPv$family: no route is left"

	load_synq
	round=b$family loaded=1
	flood $family
	check "IPv$family: the gate refuses cookies" \
		wait_for 30 counter_from bulk cookie_refused 20
	note "$(counter bulk cookie_refused) refused"
	end $family $before "IPv$family: no route is left"
	unload_synq
done
