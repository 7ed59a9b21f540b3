#!/usr/bin/env python3
"""Hostile clusters, judged by upstream's framework and by berth: decision, processor time, memory.

    upstream.py --berth PROGRAM --oracle PROGRAM [--family F]... [--case REGEX] [--nodes N] [--seconds N]

Fails where decisions differ, and where berth needs more processor time or memory than upstream's oracle does
(0.1 s and 100 MB more are let pass: the two programs start differently). Cases that upstream does not finish
within --seconds are run by berth alone.
"""
import argparse
import dataclasses
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "parity"))

import cluster  # noqa: E402
import compare  # noqa: E402
import families  # noqa: E402
import measure  # noqa: E402

SPARE_SECONDS, SPARE_BYTES = 0.1, 100 << 20


@dataclasses.dataclass
class Judged:
    seconds: float = 0
    memory: int = 0
    decisions: list = None
    failed: str = ""


def judged(command, seconds, folder):
    output = os.path.join(folder, "decisions.json")
    try:
        memory, spent = measure.peak(command, seconds, output)
        with open(output, "rb") as file:
            return Judged(spent, memory, compare.parse(file.read()))
    except (measure.Failed, ValueError, KeyError) as error:
        return Judged(failed=str(error))


def shown(one):
    return "-" if one.failed else f"{one.seconds:8.2f} s {one.memory >> 20:6} MB"


def judge(case, given, folder):
    """(theirs, ours, what is wrong)"""
    path = os.path.join(folder, "cluster.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(cluster.cluster_text(case.objects))
    ours = judged([given.berth, "evaluate", "--cluster", path, *case.flags], given.seconds, folder)
    theirs = judged([given.oracle, "-cluster", path, *case.flags], given.seconds, folder)
    if ours.failed:
        return theirs, ours, f"berth: {ours.failed}"
    if theirs.failed:
        return theirs, ours, ""
    difference, count = compare.first_difference(theirs.decisions, ours.decisions)
    if difference:
        return theirs, ours, f"{count} differences:\n{difference}"
    if ours.seconds > theirs.seconds + SPARE_SECONDS:
        return theirs, ours, "berth takes longer"
    if ours.memory > theirs.memory + SPARE_BYTES:
        return theirs, ours, "berth takes more memory"
    return theirs, ours, ""


def main():
    parser = argparse.ArgumentParser(prog="parity --hostile", description=__doc__.splitlines()[0])
    parser.add_argument("--berth", required=True, type=os.path.abspath, help=argparse.SUPPRESS)
    parser.add_argument("--oracle", required=True, type=os.path.abspath, help=argparse.SUPPRESS)
    parser.add_argument("--family", action="append")
    parser.add_argument("--case", default="", help="a regular expression")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--bytes", type=int, default=cluster.MAX_OBJECT - 4096, help="of one object")
    parser.add_argument("--seconds", type=int, default=60, help="for one case")
    given = parser.parse_args()
    run = failed = 0
    print(f"  {'upstream':>22}  {'berth':>22}")
    with tempfile.TemporaryDirectory(prefix="berth-hostile-") as folder:
        for family, case in families.all_cases(cluster.Scale(given.bytes, given.nodes, 8 * given.nodes), given.family):
            if not re.search(given.case, case.name):
                continue
            theirs, ours, wrong = judge(case, given, folder)
            run, failed = run + 1, failed + bool(wrong)
            print(f"  {shown(theirs):>22}  {shown(ours):>22}  {family}: {case.name}", flush=True)
            if theirs.failed:
                print(f"      upstream: {theirs.failed}", flush=True)
            if wrong:
                print(f"      {wrong}", flush=True)
    print(f"  {run} cases, {failed} where berth differs or takes more")
    return 1 if failed or not run else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
