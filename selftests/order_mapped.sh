#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# As order_v4.sh, IPv4 clients at an IPv6 socket: the request is IPv4, the
# listener is not, and the child gets operations of a third kind.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/order_lib.sh"

to=$V4 listen='-a ::' sources='10.1.0. 10.2.0. 10.3.0.'
order_tests
