#!/usr/bin/env python3
"""What hostile objects cost, compared with plain objects of the same size.

    run.py --berth PROGRAM --codecs PROGRAM [--family F]... [--case REGEX] [--all]

Every case is run in each of the ways below, and so is its plain twin (cluster.py). A case fails when it takes more
than its budget: `times` the instructions of the twin, counted by valgrind with small objects, or
`memory_times` its memory, measured with objects as large as an API server accepts. --all prints every case,
not only those that fail.
"""
import argparse
import concurrent.futures
import hashlib
import os
import re
import sys
import tempfile
import threading
import time

import cluster
import families
import measure

SMALL = cluster.Scale(object_bytes=96 * 1024, nodes=150, pods=1600)
LARGE = cluster.Scale(nodes=300, pods=4000)


def ways(berth, codecs):
    """{name: command on a cluster's file}"""
    return {
        # Decisions in full, as they are compared with upstream's.
        "evaluate": lambda path, flags: [berth, "evaluate", "--cluster", path, *flags],
        # The scheduler itself: queue, hints, what is kept between pods.
        "simulate": lambda path, _: [berth, "simulate", "-f", path, "--until", "30s", "-o", "json"],
        # Every object through every codec and the embedded API server.
        "codecs": lambda path, _: [codecs, path],
    }


class Runner:
    """Runs clusters, each once: twins are shared."""

    def __init__(self, folder, commands):
        self.folder, self.commands = folder, commands
        self.lock, self.known = threading.Lock(), {}

    def cost(self, objects, way, flags, measured):
        text = cluster.cluster_text(objects)
        key = hashlib.sha256(f"{way} {flags} {measured.__name__} {text}".encode()).hexdigest()
        with self.lock:
            future = self.known.get(key)
            mine = future is None
            if mine:
                future = self.known[key] = concurrent.futures.Future()
        if mine:
            path = os.path.join(self.folder, key + ".json")
            try:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                future.set_result(measured(self.commands[way](path, flags)))
            except measure.Failed as error:
                future.set_exception(error)
            finally:
                os.unlink(path)
        return future.result()


def peak_bytes(command):
    return measure.peak(command)[0]


def judge(runner, name, way, small, large):
    """(name, way, ratio of instructions, ratio of memory, what is wrong)"""
    ratios, wrong = [], []
    for case, measured, limit, what in ((small, measure.instructions, small.times, "instructions"),
                                        (large, peak_bytes, large.memory_times, "memory")):
        try:
            cost = runner.cost(case.objects, way, case.flags, measured)
            plain = runner.cost(case.twin_objects(), way, case.flags, measured)
        except measure.Failed as error:
            ratios.append(None)
            wrong.append(f"{what}: {error}")
            continue
        ratios.append(cost / plain)
        if cost > limit * plain:
            wrong.append(f"{what}: {cost:,} is {cost / plain:.1f} times the twin's {plain:,}; {limit:g} times is the budget")
    return name, way, *ratios, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--berth", required=True)
    parser.add_argument("--codecs", required=True)
    parser.add_argument("--family", action="append")
    parser.add_argument("--case", default="", help="a regular expression")
    parser.add_argument("--way", action="append")
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    commands = ways(os.path.abspath(given.berth), os.path.abspath(given.codecs))
    chosen = given.way or list(commands)
    small = {(f, c.name): c for f, c in families.all_cases(SMALL, given.family) if re.search(given.case, c.name)}
    large = {(f, c.name): c for f, c in families.all_cases(LARGE, given.family) if (f, c.name) in small}
    started, failed, run = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory(prefix="berth-hostile-") as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        runner = Runner(folder, commands)
        tasks = [pool.submit(judge, runner, f"{family}: {name}", way, case, large[family, name])
                 for (family, name), case in small.items() for way in chosen if way in case.ways]
        for task in tasks:
            name, way, instructions, memory, wrong = task.result()
            run += 1
            if given.all or wrong:
                shown = "  ".join("   -  " if ratio is None else f"{ratio:6.2f}" for ratio in (instructions, memory))
                print(f"  {shown}  {way:8}  {name}", flush=True)
            for line in wrong:
                print(f"      {line}", flush=True)
            failed += bool(wrong)
    print(f"  {run} runs, {failed} over their budget, {time.monotonic() - started:.0f} s")
    return 1 if failed or not run else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
