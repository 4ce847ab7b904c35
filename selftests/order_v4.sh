#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# IPv4: the accept queue is in class order, in order of arrival inside a class.
# Must fail if: nothing were sorted, the key were wrong, tails were not
# voided when heads leave, a new configuration left old tags valid, or one class
# alone were moved.  See order_lib.sh.
#
# Needs two CPUs: arrivals and departures at once.

. "${BASH_SOURCE[0]%/*}/lib.sh"
. "${BASH_SOURCE[0]%/*}/order_lib.sh"

to=$V4 listen='-a 0.0.0.0' sources='10.1.0. 10.2.0. 10.3.0.'
order_tests
