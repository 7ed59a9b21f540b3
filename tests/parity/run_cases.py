#!/usr/bin/env python3
"""Run `berth evaluate` on the stored cases and compare with what upstream decided.

    run_cases.py --berth PROGRAM [--topic T]... [--case NAME]... [--jobs N] [--show N]

Without --topic and --case: every case. Prints a line per topic, and of every case that differs the
difference to look at first. Exit 0 when all are equal.
"""
import argparse
import concurrent.futures
import glob
import gzip
import os
import shlex
import subprocess
import sys
import tempfile

import compare

HERE = os.path.dirname(os.path.abspath(__file__))


def case_names():
    return sorted(os.path.basename(p)[: -len(".args")] for p in glob.glob(f"{HERE}/cases/*.args"))


def run_case(berth, name):
    """(name, None) when equal, else (name, what is different)."""
    with open(f"{HERE}/cases/{name}.args") as f:
        arguments = shlex.split(f.read())
    with gzip.open(f"{HERE}/cases/{name}.cluster.json.gz", "rb") as f:
        cluster = f.read()
    want = compare.load(f"{HERE}/cases/{name}.expected.json.gz")
    command = [berth, "evaluate", "--cluster", "-", "--verify-increments", *arguments]
    try:
        ran = subprocess.run(command, input=cluster, capture_output=True, cwd=HERE, timeout=120)
    except subprocess.TimeoutExpired:
        return name, "  berth did not end within two minutes"
    if ran.returncode != 0:
        return name, f"  berth ended with {ran.returncode}: {ran.stderr.decode(errors='replace').strip()}"
    try:
        what, count = compare.first_difference(want, compare.parse(ran.stdout))
    except (ValueError, KeyError) as e:
        return name, f"  unreadable answer: {e}"
    if what is None:
        return name, None
    return name, what + (f"\n  and {count - 1} more" if count > 1 else "")


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--berth", required=True, help="the program")
    ap.add_argument("--topic", action="append", default=[])
    ap.add_argument("--case", action="append", default=[])
    ap.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    ap.add_argument("--show", type=int, default=1, help="differing cases to show per topic")
    a = ap.parse_args()
    names = [n for n in case_names() if (not a.topic and not a.case) or n.split("-")[0] in a.topic or n in a.case]
    if not names:
        print("no such case", file=sys.stderr)
        return 2
    berth = os.path.abspath(a.berth)
    topics = {}
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for name, what in pool.map(lambda n: run_case(berth, n), names):
            topics.setdefault(name.split("-")[0], []).append((name, what))
    failed = 0
    for topic, results in sorted(topics.items()):
        different = [(n, w) for n, w in results if w is not None]
        failed += len(different)
        print(f"{topic:10} {len(results) - len(different):3} of {len(results):3} cases equal")
        for name, what in different[: a.show]:
            print(f"  case    {name}\n{what}")
        rest = [n for n, _ in different[a.show :]]
        if rest:
            print(f"  also    {' '.join(rest)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
