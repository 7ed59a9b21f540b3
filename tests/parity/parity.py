#!/usr/bin/env python3
"""Differential test: random clusters, judged by upstream's framework and by berth, compared.

    parity.py --berth PROGRAM --oracle PROGRAM [--topic T]... [--seeds A..B] [--copies N] [--coverage] [--keep DIR]

Every seed of a topic is one cluster and one way of deciding (plain, in sequence, with preemption, under
one of configs/), so that a range of seeds goes round all of them. Prints the first difference of each
topic, and how to see it again. Exit 0 when nothing differs.

With --copies every pending pod is followed by equal ones, and each that finds a node stays there before the
next is judged: berth decides such pods from the class that it keeps of them, brought up to date from what
changed since the pod before.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import casegen
import casegen_devices
import compare
import coverage
import groups

HERE = os.path.dirname(os.path.abspath(__file__))
TOPICS = casegen.TOPICS
# What a configuration needs beside itself.
CONFIG_EXTRAS = {
    "preemption-args": ["--preempt"],
    "two-profiles": ["--profile", "packer"],
}
# How often upstream is asked again when its answer differs, for each copy of a pod: when all its answers are the
# same, and when they are not.
ASK_STABLE, ASK_VARYING = 8, 128
TIMED_OUT = "it did not end within five minutes"
COMPARISON_GATE = ["--feature-gates", "TaintTolerationComparisonOperators=true"]


def configs(topic):
    names = sorted(f[: -len(".yaml")] for f in os.listdir(f"{HERE}/configs"))
    if topic == "storage":
        return [n for n in names if n.startswith(("storage-", "volume-"))]
    if topic == "devices":
        return [n for n in names if n.startswith("device-") or n in ("few-plugins", "most-allocated", "two-profiles")]
    return [n for n in names if not n.startswith(("volume-", "device-")) and (n != "storage-shape" or topic in ("volumes", "capacity", "mixed"))]


def mode(topic, seed, copies=1):
    """(size of the cluster, flags) of a seed: by turns a configuration and a plain way."""
    size, flags = mode_of_single_pods(topic, seed)
    if copies > 1:
        size = {**size, "pending": max(2, (8 if "nodes" in size else 40) // copies), "copies": copies}
        if "--sequence" not in flags:
            flags = [*flags, "--sequence"]
    return size, flags


def mode_of_single_pods(topic, seed):
    if groups.is_topic(topic):
        return {}, groups.flags(topic, seed)
    size = {}
    names = configs(topic)
    turn = seed // 2
    if seed % 2 == 0:
        name = names[turn % len(names)]
        flags = ["--config", f"configs/{name}.yaml", *CONFIG_EXTRAS.get(name, [])]
    else:
        flags = [[], ["--sequence"], ["--preempt"], ["--sequence", "--preempt"]][turn % 4]
        if "--sequence" in flags:
            size["pending"] = 40
    if topic in ("preempt", "victims", "budgets") and "--preempt" not in flags:
        flags = [*flags, "--preempt"]
    if topic == "storage" and "--feature-gates" not in flags and turn % 5 == 0:
        flags = [*flags, "--feature-gates", "VolumeLimitScaling=false"]
    if topic == "devices" and "--feature-gates" not in flags and turn % 4 == 0:
        flags = [*flags, "--feature-gates", casegen_devices.GATES[turn // 4 % len(casegen_devices.GATES)]]
    if topic == "claims" and "--feature-gates" not in flags and turn % 2 == 0:
        flags = [*flags, "--feature-gates", "DRAFractionalCapacityRange=true" if turn % 4 == 0 else "DRAListTypeAttributes=true"]
    if topic == "features" and "--feature-gates" not in flags and turn % 3 != 2:
        flags = [*flags, *COMPARISON_GATE]
    if seed % 50 == 49:
        size = {"nodes": 150, "bound": 900, "pending": 8}
        # past 100 nodes upstream's preemption starts its search at random, unless told to look at all
        if "--preempt" in flags:
            flags = ["--config", "configs/preemption-args.yaml", "--preempt"]
    return size, flags


def only_preemption_differs(theirs, ours):
    """A pod's message names the node that preemption takes, and the number of victims."""
    preempting = [{d["pod"] for d in decisions if d.get("preempt", {}).get("node")} for decisions in (theirs, ours)]
    drawn = preempting[0] & preempting[1]
    return all(path[0] == "preempt" or path[0] == "message" and pod in drawn for pod, path, _, _ in compare.all_differences(theirs, ours))


class Runner:
    def __init__(self, berth, oracle, folder, copies=1):
        self.berth, self.oracle, self.folder, self.copies = berth, oracle, folder, copies

    def run(self, topic, seed):
        size, flags = mode(topic, seed, self.copies)
        cluster = casegen.generate(topic, seed, **size)
        path = os.path.join(self.folder, f"{topic}-{seed}.cluster.json")
        with open(path, "w") as f:
            json.dump(cluster, f, separators=(",", ":"))
        result = {"topic": topic, "seed": seed, "flags": flags, "path": path, "cluster": cluster}
        theirs = self.ask(path, flags)
        if isinstance(theirs, str):
            return {**result, "upstream_failed": theirs}
        result["decisions"] = theirs
        verified = ["--verify-increments"] if self.copies > 1 else []
        ours = self.call([self.berth, "evaluate", "--cluster", path, *verified, *flags], result)
        if isinstance(ours, str):
            return {**result, "different": f"  berth failed: {ours}"}
        what, count = compare.first_difference(theirs, ours)
        if what and self.drawn(topic, theirs, ours, path, flags):
            return {**result, "drawn": True}
        if what:
            result["different"] = what + (f"\n  and {count - 1} more" if count > 1 else "")
        return result

    def drawn(self, topic, theirs, ours, path, flags):
        """Whether upstream itself draws here, and says ours when it is asked again.

        Of nodes where preemption hurts equally in all six respects it takes whichever its map gives first;
        what a pod preempts changes nothing for the others, so each may have been said another time. In a
        sequence of pods with volumes a draw (of equal volumes, or of two that one claim of a pod was given)
        shows in what follows, and one of several free capacities in the scores: there the rest of the answer
        must as a whole be one of upstream's. The same holds where there are devices: on a busy machine the
        oracle may begin to judge before its cache of claims has heard of all of them.

        Some draws have many outcomes: as long as upstream contradicts itself, it is asked more often."""
        said = [theirs] if only_preemption_differs(theirs, ours) else []
        if not said and topic not in ("volumes", "storage", "capacity", "dra", "devices", "claims", "taintrules", "mixed"):
            return False
        varies = False
        for asked in range(ASK_VARYING * self.copies):
            if asked >= ASK_STABLE * self.copies and not varies:
                return False
            again = self.ask(path, flags)
            if isinstance(again, str):
                return False
            varies = varies or any(compare.all_differences(theirs, again))
            if only_preemption_differs(again, ours):
                said.append(again)
            if said and all(any(not list(compare.all_differences([s[i]], [d])) for s in said) for i, d in enumerate(ours)):
                return True
        return False

    def ask(self, path, flags):
        """Upstream's decisions. It is asked again when it fails: a draw may lead it into a panic."""
        for _ in range(1 + ASK_STABLE):
            said = self.call([self.oracle, "-cluster", path, *flags])
            if not isinstance(said, str) or said == TIMED_OUT:
                break
        return said

    def call(self, command, result=None):
        """The decisions, or what went wrong. `result` gets what berth says of classes."""
        try:
            ran = subprocess.run(command, capture_output=True, cwd=HERE, timeout=300)
        except subprocess.TimeoutExpired:
            return TIMED_OUT
        if ran.returncode != 0:
            lines = ran.stderr.decode(errors="replace").strip().splitlines()
            said = next((l for l in lines if "panic" in l or "oracle:" in l), lines[0] if lines else "nothing")
            return f"exit code {ran.returncode}: {said}"
        if result is not None:
            told = re.search(rb"(\d+) of (\d+) decisions were made from what is kept", ran.stderr)
            result["from_classes"] = int(told[1]) if told else 0
        try:
            return compare.parse(ran.stdout)
        except (ValueError, KeyError) as e:
            return f"unreadable answer: {e}"


def seed_range(text):
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)


def repeat(result, runner):
    flags = " ".join(result["flags"])
    size, _ = mode(result["topic"], result["seed"], runner.copies)
    size_flags = "".join(f" --{k} {v}" for k, v in size.items())
    return (
        f"  again   cd tests/parity && ./casegen.py {result['topic']} {result['seed']}{size_flags} > c.json\n"
        f"          {runner.oracle} -cluster c.json {flags}\n"
        f"          berth evaluate --cluster c.json {flags}"
    )


def run_topic(topic, seeds, pool, runner, seen, show):
    counts = {"run": 0, "different": 0, "upstream_failed": 0, "drawn": 0}
    decided = from_classes = 0
    started, shown = time.monotonic(), 0
    for result in pool.map(lambda seed: runner.run(topic, seed), seeds):
        counts["run"] += 1
        if "decisions" in result:
            seen.note(result["cluster"], result["flags"], result["decisions"], HERE)
            decided += len(result["decisions"])
            from_classes += result.get("from_classes", 0)
        if "upstream_failed" in result:
            counts["upstream_failed"] += 1
            if counts["upstream_failed"] == 1:
                print(f"{topic} seed {result['seed']}: upstream failed: {result['upstream_failed']}")
        elif "drawn" in result:
            counts["drawn"] += 1
        elif "different" in result:
            counts["different"] += 1
            if shown < show:
                shown += 1
                print(f"{topic} seed {result['seed']} differs:\n{result['different']}\n{repeat(result, runner)}", flush=True)
        if "different" not in result:
            os.unlink(result["path"])
    print(
        f"{topic:10} {counts['run']:6} seeds  {counts['different']:5} differ"
        + (f"  {counts['upstream_failed']:5} that upstream failed on" if counts["upstream_failed"] else "")
        + (f"  {counts['drawn']:5} where upstream draws" if counts["drawn"] else "")
        + (f"  {100 * from_classes // max(decided, 1):3} % of decisions from classes" if runner.copies > 1 else "")
        + f"  {time.monotonic() - started:7.0f} s",
        flush=True,
    )
    return counts


def main():
    ap = argparse.ArgumentParser(prog="parity", description=__doc__.splitlines()[0])
    ap.add_argument("--berth", required=True, help=argparse.SUPPRESS)
    ap.add_argument("--oracle", required=True, help=argparse.SUPPRESS)
    ap.add_argument("--topic", action="append", choices=casegen.TOPICS, metavar="T", help=", ".join(casegen.TOPICS))
    ap.add_argument("--seeds", type=seed_range, default=range(1, 101), metavar="A..B", help="default 1..100")
    ap.add_argument("--copies", type=int, default=1, metavar="N", help="of every pending pod, placed one after the other")
    ap.add_argument("--coverage", action="store_true", help="say what the clusters and decisions covered, and what not")
    ap.add_argument("--show", type=int, default=1, metavar="N", help="differences to show per topic")
    ap.add_argument("--keep", help="folder for the clusters that differ")
    ap.add_argument("--jobs", type=int, help=argparse.SUPPRESS)
    a = ap.parse_args()
    folder = a.keep or tempfile.mkdtemp(prefix="berth-parity-")
    os.makedirs(folder, exist_ok=True)
    runner = Runner(os.path.abspath(a.berth), os.path.abspath(a.oracle), os.path.abspath(folder), a.copies)
    seen = coverage.Coverage()
    different = 0
    # The oracle sleeps most of the time (it waits for evictions that may still come).
    with concurrent.futures.ThreadPoolExecutor(a.jobs or 3 * (os.cpu_count() or 2)) as pool:
        for topic in a.topic or TOPICS:
            different += run_topic(topic, a.seeds, pool, runner, seen, a.show)["different"]
    if a.coverage:
        print(seen.report(), end="")
    if different:
        print(f"the clusters that differ are in {folder}")
    else:
        try:
            os.rmdir(folder)
        except OSError:
            pass
    return 1 if different else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
