#!/usr/bin/env python3
"""What hostile objects cost, compared with plain objects of the same size.

    run.py --runs PROGRAM [--family F]... [--case REGEX] [--way W]... [--all]

Every case is run in each of the ways below, and so is its plain twin (cluster.py). A case fails when

  * it takes more than `times` the instructions of its twin, both of them small;
  * the instructions grow faster than its size: four times the size may cost `growth` times as much more;
  * it takes more than `memory_times` the memory of its twin, both of them large.

Instructions are counted by valgrind and do not depend on how busy the machine is. --all prints every case, not
only those that fail.
"""
import argparse
import collections
import collections.abc
import concurrent.futures
import dataclasses
import hashlib
import os
import queue
import re
import sys
import tempfile
import threading
import time

import cluster
import families
import measure

WARM_UP = cluster.Scale(1024, nodes=4, pods=4)
SECONDS = 120  # for one run

# Growth is no concern where it is less than this part of what a small case costs in all: that is within what
# differs from run to run, since hashes have other keys.
NOTICED = 0.03
# The codecs make a tree of an object, in which a value takes a hundred bytes whatever it says; an annotation is
# one value of some length.
CODECS_MEMORY_TIMES = 6.8


@dataclasses.dataclass(frozen=True)
class Way:
    """To run a cluster: a command on its file, and how large clusters are."""
    command: collections.abc.Callable
    # The largest whose instructions are counted: what is quadratic shows best in large ones, and where every byte
    # costs more they have to be smaller.
    small: cluster.Scale
    # Whose memory is measured.
    large: cluster.Scale = cluster.Scale(cluster.MAX_OBJECT // 2, nodes=100, pods=2000)

    def scales(self):
        """`large`, `small`, and the two sizes before that."""
        quarter = shrunk(self.small, 4)
        return self.large, self.small, quarter, shrunk(quarter, 4)


def shrunk(scale, times):
    return dataclasses.replace(scale, object_bytes=scale.object_bytes // times, pods=scale.pods // times)


WAYS = {
    # Decisions in full, as they are compared with upstream's.
    "evaluate": Way(lambda path, flags: ["evaluate", "--cluster", path, *flags],
                    cluster.Scale(64 * 1024, nodes=32, pods=512)),
    # The scheduler itself: queue, hints, what is kept between pods.
    "simulate": Way(lambda path, _: ["simulate", "-f", path, "--until", "30s", "-o", "json"],
                    cluster.Scale(64 * 1024, nodes=32, pods=512)),
    # Every object through every codec and the embedded API server.
    "codecs": Way(lambda path, _: ["codecs", path],
                  cluster.Scale(8 * 1024, nodes=32, pods=32), shrunk(Way.large, 4)),
}


class Runner:
    """Runs clusters, each once: twins are shared."""

    def __init__(self, folder, program, parallel):
        self.folder = folder
        self.lock, self.known, self.texts = threading.Lock(), {}, {}
        self.idle = {counted: queue.SimpleQueue() for counted in (False, True)}
        self.open = [measure.Runs(program, folder, counted, SECONDS)
                     for counted in self.idle for _ in range(parallel)]
        for runs in self.open:
            self.idle[runs.counted].put(runs)
        with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
            list(pool.map(self.prepare, [runs for runs in self.open if runs.counted]))

    def prepare(self, runs):
        """Every way through the code once, so that it is translated once for all."""
        path = os.path.join(self.folder, f"warm-up-{id(runs)}.json")
        for i, (_, case) in enumerate(families.all_cases(WARM_UP)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(cluster.cluster_text(case.objects))
            for name, way in WAYS.items():
                # What `evaluate` does with objects `simulate` does as well.
                if name in case.ways and (name != "evaluate" or i == 0):
                    runs.warm_up(way.command(path, case.flags))
        runs.begin()

    def text_of(self, objects, without_nodes):
        with self.lock:
            known = self.texts.get((id(objects), without_nodes))
        if known:
            return known[1]
        chosen = objects
        if without_nodes:  # plain ones are only in the way in the codecs
            chosen = [one for one in objects if not cluster.is_plain_node(one)]
        text = cluster.cluster_text(chosen)
        with self.lock:
            while len(self.texts) > 64:
                self.texts.pop(next(iter(self.texts)))
            self.texts[id(objects), without_nodes] = objects, text  # held, so that the id is theirs
        return text

    def cost(self, objects, way, flags, counted):
        text = self.text_of(objects, way == "codecs")
        key = hashlib.sha256(f"{way} {flags} {counted} {text}".encode()).hexdigest()
        with self.lock:
            future = self.known.get(key)
            mine = future is None
            if mine:
                future = self.known[key] = concurrent.futures.Future()
        if mine:
            path = os.path.join(self.folder, key + ".json")
            runs = self.idle[counted].get()
            try:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                future.set_result(runs.run(WAYS[way].command(path, flags)))
            except measure.Failed as error:
                future.set_exception(error)
            finally:
                self.idle[counted].put(runs)
                os.unlink(path)
        return future.result()

    def close(self):
        for runs in self.open:
            runs.close()


@dataclasses.dataclass
class Verdict:
    way: str
    times: float = None
    growth: float = None
    memory_times: float = None
    wrong: list = dataclasses.field(default_factory=list)


def judge_instructions(runner, verdict, cases):
    """`cases`: the same at three sizes, the largest first."""
    small = cases[0]
    costs = [runner.cost(case.objects, verdict.way, case.flags, True).instructions for case in reversed(cases)]
    plain = runner.cost(small.twin_objects(), verdict.way, small.flags, True).instructions
    verdict.times = costs[2] / plain
    if verdict.times > small.times:
        verdict.wrong.append(f"{costs[2]:,} instructions are {verdict.times:.2f} times the twin's {plain:,}; "
                             f"{small.times:g} times is the budget")
    before, after = costs[1] - costs[0], costs[2] - costs[1]
    spare = NOTICED * costs[2]
    if after < spare or before <= 0:
        return
    verdict.growth = after / before
    if after > small.growth * before + spare:
        verdict.wrong.append(f"{costs[0]:,}, {costs[1]:,}, {costs[2]:,} instructions as the size grows fourfold: "
                             f"{verdict.growth:.1f} times as much more; {small.growth:g} is the budget")


def judge_memory(runner, verdict, large):
    cost = runner.cost(large.objects, verdict.way, large.flags, False).memory
    plain = runner.cost(large.twin_objects(), verdict.way, large.flags, False).memory
    verdict.memory_times = cost / plain
    limit = large.memory_times if verdict.way != "codecs" else max(large.memory_times, CODECS_MEMORY_TIMES)
    if verdict.memory_times > limit:
        verdict.wrong.append(f"{cost >> 20} MB are {verdict.memory_times:.2f} times the twin's {plain >> 20} MB; "
                             f"{limit:g} times is the budget")


def judge(runner, way, large, smaller):
    verdict = Verdict(way)
    for judged, cases in ((judge_instructions, smaller), (judge_memory, large)):
        try:
            judged(runner, verdict, cases)
        except measure.Failed as error:
            verdict.wrong.append(str(error))
    return verdict


def show(name, verdict):
    ratios = (verdict.times, verdict.growth, verdict.memory_times)
    print("  " + "".join("       -" if ratio is None else f"{ratio:8.2f}" for ratio in ratios) +
          f"  {verdict.way:8}  {name}", flush=True)
    for line in verdict.wrong:
        print(f"      {line}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", required=True, type=os.path.abspath)
    parser.add_argument("--family", action="append")
    parser.add_argument("--case", default="", help="a regular expression")
    parser.add_argument("--way", action="append", choices=list(WAYS))
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    parallel = os.cpu_count() or 2
    scales = {scale for way in given.way or WAYS for scale in WAYS[way].scales()}
    started, failed, run = time.monotonic(), 0, 0
    print(f"  {'instructions':>14}{'growth':>8}{'memory':>8}" if given.all else "", flush=True)
    with tempfile.TemporaryDirectory(prefix="berth-hostile-") as folder, \
            concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        runner = Runner(folder, given.runs, parallel)
        open_tasks = collections.deque()

        def settle(most):
            nonlocal run, failed
            while len(open_tasks) > most:
                name, task = open_tasks.popleft()
                verdict = task.result()
                run, failed = run + 1, failed + bool(verdict.wrong)
                if given.all or verdict.wrong:
                    show(name, verdict)

        for of_scales in zip(*(families.all_cases(scale, given.family) for scale in scales)):
            family, name = of_scales[0][0], of_scales[0][1].name
            if not re.search(given.case, name):
                continue
            cases = dict(zip(scales, (case for _, case in of_scales)))
            for way in given.way or WAYS:
                large, *smaller = (cases[scale] for scale in WAYS[way].scales())
                if way in large.ways:
                    open_tasks.append((f"{family}: {name}", pool.submit(judge, runner, way, large, smaller)))
            settle(4 * parallel)  # cases take memory: not all at once
        settle(0)
        runner.close()
    print(f"  {run} runs, {failed} over their budget, {time.monotonic() - started:.0f} s")
    return 1 if failed or not run else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
