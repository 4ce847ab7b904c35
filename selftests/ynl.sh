#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The netlink ABI by an independent client: the kernel's own YNL, driven by the spec, dumps
# classes and listeners, adds, dumps and deletes services of other hosts.  And what needs
# two sockets at once: a transaction without commit changes nothing, one that began from an
# older generation is refused (ESTALE), a socket has one transaction (EBUSY), an edit
# without one is refused (ENOENT), a failed one cannot be committed (ECANCELED).
#
# Must fail if: an edit were visible before its commit, a draft outlived its socket, or a
# second writer overwrote the first's work.
#
# SYNQ_YNL: tools/net/ynl of a kernel source; SYNQ_SPEC: synq.yaml, if it is not at its
# place in the repository.

. "${BASH_SOURCE[0]%/*}/lib.sh"
need python3
SYNQ_SPEC=${SYNQ_SPEC:-$DIR/../Documentation/netlink/specs/synq.yaml}
for SYNQ_YNL in ${SYNQ_YNL-} "$DIR/../../ynl" "$DIR/../../../../net/ynl"; do
	[ ! -e "$SYNQ_YNL/lib/ynl.py" ] || break
	[ ! -e "$SYNQ_YNL/pyynl/lib/ynl.py" ] || break
done
if [ ! -e "$SYNQ_SPEC" ] || [ ! -e "$SYNQ_YNL/lib" ] &&
   [ ! -e "$SYNQ_YNL/pyynl" ]; then
	skip_all "SYNQ_YNL and SYNQ_SPEC do not say where the client and the spec are"
fi
python3 -c 'import yaml' 2>/dev/null || skip_all "python3 has no yaml"
plan 113

load_synq
three_classes | sed "s, max-wait none,," | apply
server "$TMP/server" -m none $PORT
manage
export SYNQ_YNL SYNQ_SPEC PORT
srv python3 - >"$TMP/ynl" 2>&1 <<'EOT' || note "$(tail -n 3 "$TMP/ynl")"
import errno, os, sys

ynl = os.environ["SYNQ_YNL"]
sys.path[:0] = [ynl, os.path.join(ynl, "pyynl")]
try:
    from lib import YnlFamily, NlError
except ImportError:
    from pyynl.lib import YnlFamily, NlError

spec = os.environ["SYNQ_SPEC"]
port = int(os.environ["PORT"])


def open_family():
    try:
        return YnlFamily(spec, schema="")
    except TypeError:
        return YnlFamily(spec)


def check(name, true):
    print("pass" if true else "fail", name)


def error_of(call, *args):
    try:
        call(*args)
    except NlError as e:
        return -e.error if e.error < 0 else e.error
    return 0


one, two = open_family(), open_family()


def generation(y=one):
    return y.do("conf-get", {})["generation"]


names = [c["name"] for c in one.dump("class-get", {})]
check("classes, in order", names == ["local", "gold", "silver", "bulk", "default"])
classes = {c["name"]: c for c in one.dump("class-get", {})}
check("attributes of a class", classes["gold"]["reserve-effective"] == 25 and
      classes["gold"]["matches"] == 2 and classes["default"]["default"] == 1)
check("waits in force", [classes[n]["max-wait-effective"] for n in names] ==
      [0xffffffff, 0xffffffff, 300, 300, 300])
check("what was not given is absent", not {"cap", "max-wait", "min-share"} &
      set(classes["gold"]))
check("but for weight and enforce", classes["gold"]["weight"] == 1 and
      classes["gold"]["enforce"] == 1)
conf = one.do("conf-get", {})
check("six matches are too few for an index", conf["matches"] == 6 and
      conf["indexed"] == 0 and conf["index-failed"] == 0)
check("listeners", one.dump("listener-get", {}) ==
      [{"port": port, "order": "strict", "enforce": 1, "app-order": 0, "sockets": 1,
        "app-cookies": 0}])
check("matches", len(one.dump("match-get", {})) == 6)
stats = {(s["port"], s["class"]): s["counters"] for s in one.dump("stats-get", {})}
counters = stats[(port, "default")]
check("counters", counters["seen"] == 1)
check("they add up", all(c["seen"] == c["admitted"] + c["excess-dropped"] +
      c["excess-passed"] + c["excess-reset"] + c["excess-cookie"] +
      c["excess-unanswered"] + c["queue-refused"] + c["wait-refused"] +
      c["cookie-sent"] + c["share-refused"]
      for c in stats.values()))
check("all of them", {"retries", "wait-refused", "accepted", "shared", "would-refuse",
                      "would-hold", "would-move"} <= set(counters))

# Each value at both ends of its range comes back as it was given; one beyond is
# refused, and the draft with it.
def given(op, key, values, dump):
    one.do("conf-begin", {})
    one.do(op, {**key, **values})
    one.do("conf-commit", {"changes": 1})
    found = [o for o in one.dump(dump, {}) if key.items() <= o.items()]
    return len(found) == 1 and values.items() <= found[0].items()


def refused(op, values):
    one.do("conf-begin", {})
    error = error_of(one.do, op, values)
    one.do("conf-abort", {})
    return error in (errno.EINVAL, errno.ERANGE)


bulk = {"name": "bulk"}
for values in ({"cap": 100, "max-wait": 3600000, "weight": 1000, "min-share": 50, "enforce": 0},
               {"cap": 1, "max-wait": 1, "weight": 1, "min-share": 1, "enforce": 1},
               {"max-wait": 0xffffffff},
               {"source-rate": 1000000, "source-burst": 1000000, "source-len-v4": 32,
                "source-len-v6": 128},
               {"source-rate": 1, "source-burst": 1, "source-len-v4": 1,
                "source-len-v6": 1}):
    check(f"class {values}", given("class-set", bulk, values, "class-get"))
check("rates per hour and per minute", given(
    "class-set", bulk, {"rate": 30, "rate-per": 3600, "source-rate": 3, "source-rate-per": 60},
    "class-get"))
check("rates per day", given(
    "class-set", bulk, {"rate": 1, "rate-per": 86400, "burst": 24000, "source-rate": 2,
                        "source-rate-per": 86400, "source-burst": 48000}, "class-get"))
one.do("conf-begin", {})
one.do("class-set", {**bulk, "burst": 24001})
check("a burst that takes more than 24,000 days", error_of(one.do, "conf-commit", {}) == errno.EINVAL)
one.do("conf-begin", {})
one.do("class-set", {**bulk, "rate": 5})
one.do("conf-commit", {})
now = [c for c in one.dump("class-get", {}) if c["name"] == "bulk"][0]
check("a rate without a period is one per second", (now["rate"], now["rate-per"]) == (5, 1))
check("no source is remembered", one.dump("source-get", {}) == [])
one.do("conf-begin", {})
one.do("class-set", {**bulk, "cap": 0, "min-share": 0, "source-rate": 0})
one.do("conf-commit", {})
now = [c for c in one.dump("class-get", {}) if c["name"] == "bulk"][0]
check("source-rate 0 takes what belongs to it along",
      not {"source-rate", "source-burst", "source-len-v4", "source-len-v6"} & set(now) and
      now["source-burst-effective"] == 0)
check("0 takes cap and min-share away", "cap" not in now and "min-share" not in now)
for values in ({"cap": 101}, {"max-wait": 0}, {"max-wait": 3600001},
               {"max-wait": 0xfffffffe}, {"weight": 0}, {"weight": 1001},
               {"min-share": 51}, {"enforce": 2}, {"max-wait-effective": 1},
               {"source-rate": 1000001}, {"source-burst": 0}, {"source-burst": 1000001},
               {"rate": 5, "rate-per": 0}, {"rate": 5, "rate-per": 3601},
               {"rate": 5, "rate-per": 2}, {"rate-per": 60}, {"source-rate-per": 60},
               {"source-len-v4": 0}, {"source-len-v4": 33}, {"source-len-v6": 0},
               {"source-len-v6": 129}):
    check(f"refused: {values}", refused("class-set", {**bulk, **values}))
for order in "fifo", "weighted", "strict":
    check(f"order {order}", given("listener-set", {"port": port},
                                  {"order": order, "enforce": 0}, "listener-get"))
for app in 1, 0:
    check(f"app-order {app}", given("listener-set", {"port": port},
                                    {"app-order": app}, "listener-get"))
for retries in 127, 1:
    check(f"synack-retries {retries}", given("listener-set", {"port": port},
                                             {"synack-retries": retries}, "listener-get"))
for cookies in "never", "always", "auto":
    check(f"cookies {cookies}", given("listener-set", {"port": port},
                                      {"cookies": cookies, "app-cookies": 1},
                                      "listener-get") and
          given("class-set", bulk, {"cookies": cookies}, "class-get"))
check("refused: cookies 4", refused("listener-set", {"port": port, "cookies": 4}) and
      refused("class-set", {**bulk, "cookies": 4}))
check("refused: synack-retries 128",
      refused("listener-set", {"port": port, "synack-retries": 128}))
check("refused: app-order 2", refused("listener-set", {"port": port, "app-order": 2}))
check("refused: order 3", refused("listener-set", {"port": port, "order": 3}))
one.do("conf-begin", {})
check("no such listener", error_of(one.do, "listener-set", {"port": 1}) == errno.ENOENT)
one.do("conf-abort", {})
one.do("conf-begin", {})
one.do("class-set", {**bulk, "min-share": 50})
one.do("class-set", {"name": "gold", "min-share": 26})
check("shares of 76 %", error_of(one.do, "conf-commit", {}) == errno.EINVAL)
for values in {"source-burst": 5}, {"source-len-v4": 24}, {"source-len-v6": 56}:
    one.do("conf-begin", {})
    one.do("class-set", {**bulk, **values})
    check(f"{values} without source-rate", error_of(one.do, "conf-commit", {}) == errno.EINVAL)
one.do("conf-begin", {})
one.do("conf-set", {"enforce": 0})
one.do("conf-commit", {})
check("enforce off", two.do("conf-get", {})["enforce"] == 0)
one.do("conf-begin", {})
one.do("conf-set", {"mark-mask": 0})
one.do("conf-commit", {})
check("and an edit beside it leaves it", two.do("conf-get", {})["enforce"] == 0)
one.do("conf-begin", {})
one.do("conf-set", {"enforce": 1})
one.do("conf-commit", {})

v4, v6 = bytes([192, 0, 2, 0]), bytes([0x20, 1, 0xd, 0xb8] + 12 * [0])
for where, text in (
        ({"to-length": 24}, "a length without an address"),
        ({"port-last": 80}, "a last port without a first"),
        ({"port": 0}, "port 0"),
        ({"port": 81, "port-last": 80}, "ports in the wrong order"),
        ({"to": v4, "to-length": 33}, "an address that is too short"),
        ({"to": v4, "to-length": 22}, "host bits"),
        ({"to": v4[:3], "to-length": 8}, "an address of 3 bytes"),
        ({"to": v6, "to-length": 32}, "another family")):
    check(f"a destination refused: {text}", refused(
        "match-add", {"source": v4, "length": 24, "class": "gold", **where}))
scoped = {"source": v4, "length": 24, "class": "gold", "to": v4, "port": 443}
unclassed = {n: v for n, v in scoped.items() if n != "class"}
one.do("conf-begin", {})
one.do("match-add", {**scoped, "exist": True})
check("exist: there is one of this class", error_of(
    one.do, "match-add", {**scoped, "exist": True}) == 0)
check("exist: of another class", error_of(
    one.do, "match-add", {**scoped, "class": "bulk", "exist": True}) == errno.EEXIST)
one.do("conf-abort", {})
one.do("conf-begin", {})
check("exist: there is none", error_of(
    one.do, "match-del", {**unclassed, "exist": True}) == 0)
check("no exist: there is none", error_of(one.do, "match-del", unclassed) == errno.ENOENT)
one.do("conf-abort", {})
one.do("conf-begin", {})
one.do("match-add", scoped)
one.do("match-add", {**scoped, "port-last": 450})
check("the same destination, written otherwise", error_of(
    one.do, "match-add", {**scoped, "to-length": 32, "port-last": 443}) == errno.EEXIST)
one.do("conf-abort", {})
one.do("conf-begin", {})
one.do("match-add", scoped)
one.do("conf-commit", {})
check("a destination, whole", [
    (m["to-length"], m["port"], m["port-last"])
    for m in one.dump("match-get", {}) if "port" in m] == [(32, 443, 443)])
check("destinations are counted", one.do("conf-get", {})["services"] == 1)
answer = one.do("classify", {"source": v4, "to": v4, "port": 443})
check("and named in answers", answer["class"] == "gold" and
      answer["service-to-length"] == 32 and answer["service-port"] == 443)
one.do("conf-begin", {})
one.do("match-del", {n: v for n, v in scoped.items() if n != "class"})
one.do("conf-commit", {})
check("and go with their last match", one.do("conf-get", {})["services"] == 0)

def error_in_draft(op, values):
    one.do("conf-begin", {})
    error = error_of(one.do, op, values)
    one.do("conf-abort", {})
    return error


web = {"port": 443, "forward": True}
net = {"to": v4, "to-length": 24, "port": 80, "port-last": 90, "forward": True}
host6 = {"to": v6, "port": 65535, "forward": True}
check("no service of another host", one.dump("service-get", {}) == [] and
      one.do("conf-get", {})["forwards"] == 0)
for values, text in (
        ({"forward": True}, "no port"),
        ({"port": 443}, "nothing is to be done with it"),
        ({**web, "port": 0}, "port 0"),
        ({**web, "port-last": 442}, "ports in the wrong order"),
        ({**web, "to-length": 24}, "a length without an address"),
        ({**net, "to-length": 33}, "an address that is too short"),
        ({**net, "to-length": 22}, "host bits"),
        ({**net, "to": v4[:3], "to-length": 8}, "an address of 3 bytes"),
        ({**host6, "to-length": 129}, "129 bits")):
    check(f"a service refused: {text}", refused("service-add", values))
one.do("conf-begin", {})
for values in web, net, host6:
    one.do("service-add", values)
check("the same service, written otherwise", error_of(
    one.do, "service-add", {**web, "port-last": 443}) == errno.EEXIST)
one.do("conf-abort", {})
check("nothing of a draft that is dropped", one.dump("service-get", {}) == [])
one.do("conf-begin", {})
for values in web, net, host6:
    one.do("service-add", values)
one.do("conf-commit", {"changes": 3})
services = two.dump("service-get", {})
check("services, the most specific first", [
    (s.get("to-length"), s["port"], s["port-last"]) for s in services] ==
      [(128, 65535, 65535), (24, 80, 90), (None, 443, 443)])
check("their addresses, and what is done with them", [
    s.get("to") for s in services] in
      (["2001:db8::", "192.0.2.0", None], [v6, v4, None]) and
      all(s["forward"] for s in services))
check("they are counted", one.do("conf-get", {})["forwards"] == 3)
check("stats of all of them together", {
    s["class"] for s in one.dump("stats-get", {}) if s["port"] == 0} == set(names))
check("a service that is not there", error_in_draft(
    "service-del", {"port": 442}) == errno.ENOENT)
check("nor by other addresses", error_in_draft(
    "service-del", {"to": v4, "port": 443}) == errno.ENOENT)
one.do("conf-begin", {})
for port_of_many in range(1, 62):
    one.do("service-add", {"port": port_of_many, "forward": True})
check("a 65th", error_of(one.do, "service-add", {"port": 1000, "forward": True}) ==
      errno.ENOSPC)
one.do("conf-abort", {})
one.do("conf-begin", {})
one.do("service-del", {"to": v4, "to-length": 24, "port": 80, "port-last": 90})
one.do("conf-commit", {"changes": 1})
check("one less", [s["port"] for s in one.dump("service-get", {})] == [65535, 443])
one.do("conf-begin", {})
one.do("service-del", {"to": v6, "to-length": 128, "port": 65535, "port-last": 65535})
one.do("service-del", {"port": 443})
one.do("conf-commit", {"changes": 2})
check("none, nor their stats", one.dump("service-get", {}) == [] and
      one.do("conf-get", {})["forwards"] == 0 and
      not [s for s in one.dump("stats-get", {}) if s["port"] == 0])

before = generation()
one.do("conf-begin", {})
one.do("class-add", {"name": "draft", "priority": 9})
check("a draft is not seen", "draft" not in
      [c["name"] for c in two.dump("class-get", {})])
check("nor counted", generation(two) == before)
check("one transaction for a socket", error_of(one.do, "conf-begin", {}) == errno.EBUSY)
check("an edit without a transaction", error_of(
    two.do, "class-add", {"name": "none", "priority": 8}) == errno.ENOENT)

# Another socket commits first.
two.do("conf-begin", {})
two.do("class-add", {"name": "second", "priority": 10})
two.do("conf-commit", {"changes": 1})
check("the second writer is refused",
      error_of(one.do, "conf-commit", {"changes": 1}) == errno.ESTALE)
names = [c["name"] for c in one.dump("class-get", {})]
check("and the first's work stands", "second" in names and "draft" not in names)
check("an old generation cannot begin", error_of(
    one.do, "conf-begin", {"generation": before}) == errno.ESTALE)

before = generation()
one.do("conf-begin", {})
error_of(one.do, "class-add", {"name": "gold", "priority": 12})
check("a spoiled transaction", error_of(one.do, "conf-commit", {}) == errno.ECANCELED)
one.do("conf-begin", {})
one.do("class-add", {"name": "lost", "priority": 12})
check("a lost edit", error_of(one.do, "conf-commit", {"changes": 2}) == errno.ECANCELED)
three = open_family()
three.do("conf-begin", {})
three.do("class-add", {"name": "closed", "priority": 12})
three.sock.close()
check("nothing of these is left", generation() == before and
      [c["name"] for c in one.dump("class-get", {})] == names)
EOT
grep -vE '^(pass|fail) ' "$TMP/ynl" | sed 's/^/# /'
while read -r result name; do
	case $result in
	pass) ok "$name" ;;
	fail) not_ok "$name" ;;
	esac
done <"$TMP/ynl"
