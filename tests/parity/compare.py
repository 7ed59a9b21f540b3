#!/usr/bin/env python3
"""Compare two decision files (upstream's and ours) and print the first differences.

    compare.py EXPECTED ACTUAL [--max N]

Files may be gzipped. Exit 0 when equal, 1 when not, 2 when unreadable.

Absent and empty mean the same. Where upstream itself is not deterministic the files are made so that
they compare all the same: reasons of one verdict are sorted (upstream walks a map for scalar resources),
narrowed nodes and victims are sorted, ties among the best nodes go to the first name. The errors in a message
of preemption are compared in any order.
"""
import argparse
import gzip
import json
import re
import sys

import groups


def load(path):
    """The decisions of a file, or of standard input ("-")."""
    if path == "-":
        raw = sys.stdin.buffer.read()
    else:
        with open(path, "rb") as f:
            raw = f.read()
    return parse(raw)


def parse(raw):
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    answer = json.loads(raw)
    if "entities" in answer:
        return groups.as_decisions(answer)
    return answer["decisions"] or []


def differences(want, got, path=()):
    """(path, theirs, ours) for every leaf that differs."""
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted(set(want) | set(got)):
            yield from differences(want.get(key), got.get(key), path + (key,))
    elif want != got and not (path[-1:] == ("message",) and same_errors(want, got)):
        # an empty list or object means the same as an absent one
        if want or got or isinstance(want, (int, str)) or isinstance(got, (int, str)):
            yield path, want, got


def same_errors(want, got):
    """Whether two messages differ only in the order of preemption's errors.

    Upstream looks at the nodes in parallel, and lists the errors in the order in which they happened."""
    if not isinstance(want, str) or not isinstance(got, str):
        return False
    (want_head, want_list, want_tail), (got_head, got_list, got_tail) = split_errors(want), split_errors(got)
    return want_head == got_head and want_tail == got_tail and sorted(want_list) == sorted(got_list)


def split_errors(message):
    """What precedes the list of preemption's errors, the errors, and what follows; each names what was running."""
    found = re.fullmatch(r"(.*\bpreemption: \[)(running .*)(\].*?)", message, re.DOTALL)
    if not found:
        return message, [], ""
    return found[1], re.split(r", (?=running )", found[2]), found[3]


def all_differences(want, got):
    """(pod, path, theirs, ours) over all pods; of pods that are not the same, only that."""
    want, got = groups.without_known_differences(want, got)
    names, ours = [d["pod"] for d in want], [d.get("pod") for d in got]
    if names != ours:
        yield "", ("pods",), names, ours
        return
    for w, g in zip(want, got):
        for path, x, y in differences(w, g):
            yield w["pod"], path, x, y


# The fields whose first key is a node; in scores a plugin follows.
NODE_FIELDS = ("rejected", "scores", "totals")
# Causes before what follows from them.
ORDER = ["pods", "error", "order", "members", "condition", "victims", "preFilter", "narrowed", "rejected", "scores", "totals", "best", "chosen", "preempt", "message", "unschedulablePlugins", "pendingPlugins"]


def gravity(difference):
    field = difference[1][0]
    return ORDER.index(field) if field in ORDER else len(ORDER)


def describe(pod, path, theirs, ours, decisions=None):
    """A difference in a few lines: pod, field, node, plugin, theirs, ours."""
    field, rest = path[0], list(path[1:])
    lines = [f"pod     {pod}"] if pod else []
    if field in NODE_FIELDS and rest:
        lines.append(f"node    {rest.pop(0)}")
        if field == "scores" and rest:
            lines.append(f"plugin  {rest.pop(0)}")
        lines.append(f"field   {'/'.join([field] + rest)}")
    else:
        lines.append(f"field   {'/'.join(path)}")
    lines.append(f"theirs  {shown(theirs)}")
    lines.append(f"ours    {shown(ours)}")
    return "\n".join("  " + line for line in lines)


def shown(value, limit=400):
    if value is None:
        return "-"
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= limit else text[:limit] + " ..."


def first_difference(want, got):
    """What to look at first, described; None when equal. And how many differences there are."""
    found = list(all_differences(want, got))
    if not found:
        return None, 0
    pods = [d["pod"] for d in want]
    found.sort(key=lambda d: (pods.index(d[0]) if d[0] in pods else -1, gravity(d)))
    return describe(*found[0]), len(found)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("expected")
    ap.add_argument("actual")
    ap.add_argument("--max", type=int, default=10, help="differences to print")
    a = ap.parse_args()
    try:
        want, got = load(a.expected), load(a.actual)
    except (OSError, ValueError, KeyError) as e:
        print(f"compare: {e}", file=sys.stderr)
        return 2
    found = list(all_differences(want, got))
    for difference in found[: a.max]:
        print(describe(*difference), end="\n\n")
    if len(found) > a.max:
        print(f"... {len(found) - a.max} more")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
