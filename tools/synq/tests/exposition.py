#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""exposition.py METRICS [JSON]: is METRICS, what "synq stats --prometheus" prints, in
Prometheus's text format, are its names by convention, and do its values equal those
of JSON, what "synq stats -j" prints?  Prints what is wrong, a line each."""

import json
import re
import sys

UNITS = ("_seconds", "_bytes", "_connections", "_requests", "_sockets", "_matches")
BARE = {"synq_up", "synq_bypassed", "synq_enforced", "synq_generation",
        "synq_class_position", "synq_listener_enforced"}
SAMPLE = re.compile(r'([a-z][a-z0-9_]*)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'([a-z]+)="([^"\\\n]*)"(?:,|$)')
TIMES = ["1ms", "4ms", "16ms", "64ms", "256ms", "1s", "4s", "longer"]
BOUNDS = [0.001, 0.004, 0.016, 0.064, 0.256, 1, 4, float("inf")]

wrong = []


def parse(text):
    """Of each family its type, and the samples: (name, labels) to value."""
    types, samples, helps, family = {}, {}, set(), None
    if not text.endswith("\n"):
        wrong.append("no newline at the end")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family, words = line.split(" ", 3)[2:]
            if family in helps:
                wrong.append(f"a second HELP of {family}")
            if not words.endswith("."):
                wrong.append(f"HELP of {family} is no sentence")
            helps.add(family)
            continue
        if line.startswith("# TYPE "):
            name, kind = line.split(" ")[2:]
            if name != family or name in types:
                wrong.append(f"TYPE of {name} is not behind its HELP")
            types[name] = kind
            continue
        match = SAMPLE.fullmatch(line)
        if not match:
            wrong.append(f"not understood: {line}")
            continue
        name, labels, value = match.groups()
        base = name
        if types.get(family) == "histogram":
            base = re.sub("_(bucket|count)$", "", name)
        if base != family or family not in types:
            wrong.append(f"{name} is not below its HELP and TYPE")
        pairs = LABEL.findall(labels or "")
        if ",".join(f'{n}="{v}"' for n, v in pairs) != (labels or ""):
            wrong.append(f"labels not understood: {line}")
        if not re.fullmatch("[0-9]+", value):
            wrong.append(f"not a whole number: {line}")
            continue
        key = (name, tuple(sorted(pairs)))
        if key in samples:
            wrong.append(f"twice: {line}")
        samples[key] = int(value)
    for name in helps - set(types):
        wrong.append(f"{name} has no TYPE")
    return types, samples


def conventions(types, samples):
    for name, kind in types.items():
        if not name.startswith("synq_"):
            wrong.append(f"{name} has another prefix")
        if kind not in ("counter", "gauge", "histogram"):
            wrong.append(f"{name} is a {kind}")
        if (kind == "counter") != name.endswith("_total"):
            wrong.append(f"{name} is a {kind}")
        if kind == "histogram" and not name.endswith("_seconds"):
            wrong.append(f"{name} has no unit")
        if kind == "gauge" and name not in BARE and not name.endswith(UNITS):
            wrong.append(f"{name} has no unit")
        if re.search("milli|micro|_ms|_kb", name):
            wrong.append(f"{name} is not in a base unit")
    for name, labels in samples:
        if not set(dict(labels)) <= {"listener", "class", "reason", "le"}:
            wrong.append(f"{name} has the labels {labels}")


def histograms(types, samples):
    rows = {}
    for (name, labels), value in samples.items():
        family = name.removesuffix("_bucket")
        if types.get(family) != "histogram" or family == name:
            continue
        rest = tuple(pair for pair in labels if pair[0] != "le")
        rows.setdefault((family, rest), []).append((float(dict(labels)["le"]), value))
    for (family, rest), buckets in rows.items():
        if [bound for bound, _ in buckets] != BOUNDS:
            wrong.append(f"{family} {rest}: bounds of {buckets}")
        values = [value for _, value in buckets]
        if values != sorted(values):
            wrong.append(f"{family} {rest} is not cumulative: {values}")
        if samples.get((family + "_count", rest)) != values[-1]:
            wrong.append(f"{family} {rest}: count is not {values[-1]}")
    for family, kind in types.items():
        if kind == "histogram" and not any(name == family for name, _ in rows):
            wrong.append(f"{family} has no samples")


# Where a counter of "synq stats -j" is, and with which reason.
PLACES = {
    "seen": "synq_syns_total", "retries": "synq_syns_retried_total",
    "admitted": "synq_syns_admitted_total",
    "excess_dropped": ("synq_syns_refused_total", "excess_dropped"),
    "excess_reset": ("synq_syns_refused_total", "excess_reset"),
    "excess_unanswered": ("synq_syns_refused_total", "excess_unanswered"),
    "queue_refused": ("synq_syns_refused_total", "queue"),
    "wait_refused": ("synq_syns_refused_total", "wait"),
    "share_refused": ("synq_syns_refused_total", "share"),
    "excess_cookie": ("synq_syn_cookies_sent_total", "excess"),
    "cookie_sent": ("synq_syn_cookies_sent_total", "share"),
    "excess_passed": "synq_syns_excess_passed_total",
    "source_exceeded": "synq_syns_source_exceeded_total",
    "source_untracked": "synq_syns_source_untracked_total",
    "would_refuse": "synq_syns_would_refuse_total",
    "hold_full": ("synq_final_acks_refused_total", "hold_full"),
    "cookie_refused": ("synq_final_acks_refused_total", "cookie"),
    "fastopen_declined": "synq_fastopen_declined_total",
    "flooded": "synq_floods_total", "flooded_now": "synq_flooded_sockets",
    "half_open": "synq_half_open_requests",
    "held_now": "synq_held_connections", "queued": "synq_queued_connections",
    "busy_now": "synq_busy_connections", "stuck_now": "synq_stuck_connections",
    "quiet_now": "synq_quiet_connections",
    "unanswered": "synq_requests_unanswered_total",
    "stuck": "synq_requests_stuck_total",
    "request_held_now": "synq_held_requests",
    "net_exceeded": "synq_syns_net_exceeded_total",
    "by_mark": "synq_syns_by_mark_total",
    "by_service": "synq_syns_by_service_total",
    "by_prefix": "synq_syns_by_prefix_total",
}
for name in "held released overdue flushed".split():
    PLACES[f"request_{name}"] = f"synq_requests_{name}_total"
for name in ("promoted held released hold_gone hold_flushed gate_bypassed would_hold "
             "placed moved would_move shared accepted closed replaced "
             "not_followed").split():
    PLACES[name] = f"synq_connections_{name}_total"
TIMED = {"waited": "synq_queue_wait_seconds", "held": "synq_hold_seconds",
         "answered": "synq_answer_seconds"}
NET = {
    "generation": "synq_generation", "bypass": "synq_bypassed",
    "enforce": "synq_enforced", "sockets": "synq_managed_sockets",
    "matches": "synq_matches", "indexed": "synq_indexed_matches",
    "fragments": "synq_fragments_total",
    "no_listener": "synq_syns_without_listener_total",
    "attach_failed": ("synq_sockets_not_managed_total", "attach_failed"),
    "attach_busy": ("synq_sockets_not_managed_total", "attach_busy"),
    "foreign_owner": ("synq_sockets_not_managed_total", "foreign_owner"),
    "malformed": "synq_malformed_segments_total",
    "index_failed": "synq_index_failures_total",
    "confirm_left": "synq_trial_left_seconds",
}


def equal(samples, stats):
    samples = dict(samples)

    def take(place, value, what, **labels):
        name, reason = place if isinstance(place, tuple) else (place, None)
        if reason:
            labels["reason"] = reason
        got = samples.pop((name, tuple(sorted(labels.items()))), None)
        if got != value:
            wrong.append(f"{what} is {value}, {name} {labels} is {got}")

    stats["conf"].setdefault("confirm_left", 0)
    for key, value in stats["conf"].items():
        take(NET[key], int(value), key)
    take("synq_up", 1, "up")
    rows = stats["stats"]
    used = {row["port"] for row in rows if any(row["counters"].values())}
    used |= {int(dict(labels)["listener"]) for (name, labels), value in samples.items()
             if name == "synq_listener_sockets" and value}
    for row in rows:
        if row["port"] not in used:
            continue
        labels = {"listener": str(row["port"] or "forward"), "class": row["class"]}
        counters = dict(row["counters"])
        if counters.pop("by_default") + sum(counters[f"by_{by}"] for by in (
                "mark", "service", "prefix")) != counters["seen"]:
            wrong.append(f"by default of {labels}")
        if counters.pop("first_tries") + counters["retries"] != counters["seen"]:
            wrong.append(f"first tries of {labels}")
        for key, family in TIMED.items():
            sum_ = 0
            for time, bound in zip(TIMES, "0.001 0.004 0.016 0.064 0.256 1 4 +Inf".split()):
                sum_ += counters.pop(f"{key}_{time}")
                take(family + "_bucket", sum_, f"{key}_{time}", le=bound, **labels)
            take(family + "_count", sum_, key, **labels)
        for key, value in counters.items():
            take(PLACES[key], value, key, **labels)
    rest = {name for name, _ in samples} - {
        "synq_class_position", "synq_listener_sockets", "synq_listener_enforced",
        "synq_inside_limit_connections"}
    for name in sorted(rest):
        wrong.append(f"{name} has a sample that is no counter of synq stats -j")


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        types, samples = parse(file.read())
    conventions(types, samples)
    histograms(types, samples)
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="ascii") as file:
            equal(samples, json.load(file))
    for line in wrong:
        print(line)
    sys.exit(1 if wrong or not samples else 0)


main()
