#!/usr/bin/env python3
"""`berth explain` checked by upstream's framework, on random clusters or on the stored ones.

    explain.py --berth PROGRAM --oracle PROGRAM [--topic T]... [--seeds A..B] [--show N] [--keep DIR]
    explain.py --berth PROGRAM --stored

First what every plugin has against every node: upstream is asked with one Filter plugin enabled at a time, berth by
`evaluate --all-rejections` and, if it has it, by `explain`. Then each of explain's suggestions: the changes are made
to the cluster, and upstream must find what is promised (suggestions.py). Exit 0 when nothing differs.
"""
import argparse
import concurrent.futures
import glob
import gzip
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time

import casegen
import compare
import json_patch
import objections
import parity
import suggestions

HERE = os.path.dirname(os.path.abspath(__file__))
AT_ONCE = 32  # variants of a cluster that one oracle judges
COUNTS = ("pods", "pairs", "suggestions", "variants")


def deciding_flags(flags, *left_out):
    return [flag for flag in flags if flag not in left_out]


def has_explain(berth):
    return b"unknown command" not in subprocess.run([berth, "explain"], capture_output=True, check=False).stderr


class Checker(parity.Runner):
    """Asks both sides about one cluster at a time."""

    def __init__(self, berth, oracle, folder):
        super().__init__(berth, oracle, folder)
        self.explains = has_explain(berth)

    def check(self, topic, seed):
        """What was counted and found for a topic and a seed."""
        size, flags = parity.mode(topic, seed)
        cluster = casegen.generate(topic, seed, **size)
        path = os.path.join(self.folder, f"{topic}-{seed}.cluster.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(cluster, f, separators=(",", ":"))
        result = dict.fromkeys(COUNTS, 0) | {"topic": topic, "seed": seed, "flags": flags, "path": path, "found": [], "again": 0}
        flags = deciding_flags(flags, "--preempt")
        self.compare_objections(cluster, path, flags, result, "evaluate")
        if self.explains:
            # It explains each pod in the cluster as it is.
            flags = deciding_flags(flags, "--sequence")
            explained = self.compare_objections(cluster, path, flags, result, "explain")
            self.check_suggestions(cluster, explained, flags, result)
        if not result["found"]:
            os.unlink(path)
        return result

    # ---- objections

    def compare_objections(self, cluster, path, flags, result, command):
        """Notes what differs in `result`; returns what `berth explain` said."""
        theirs = self.ask(path, [*flags, "-objections"])
        ours = self.explain(path, flags) if command == "explain" else self.call([self.berth, "evaluate", "--all-rejections", "--cluster", path, *flags])
        if isinstance(ours, str):
            result["found"].append(f"  berth {command} failed: {ours}")
        if isinstance(theirs, str):
            result["upstream_failed"] = theirs
        if isinstance(ours, str) or isinstance(theirs, str):
            return None
        different = differing_pods(cluster, theirs, ours, command)
        # On a busy machine the oracle may begin before its caches are full, and a sequence may go on from a draw.
        for _ in range(parity.ASK_STABLE if different else 0):
            result["again"] += 1
            again = self.ask(path, [*flags, "-objections"])
            still = {} if isinstance(again, str) else differing_pods(cluster, again, ours, command)
            different = {pod: found for pod, found in different.items() if pod in still}
            if not different:
                break
        result["pods"] += len(theirs)
        result["pairs"] += sum(len(plugins) for d in theirs for plugins in objections.of_upstream(d).values())
        for pod, found in different.items():
            result["found"].append(f"  of {command}\n{objections.describe(pod, found[0])}" + (f"\n  and {len(found) - 1} more of this pod" if found[1:] else ""))
        return ours

    def explain(self, path, flags):
        """`berth explain` of all pending pods, or what went wrong. It ends with 3 if a pod has no node."""
        command = [self.berth, "explain", "--all-pending", "--cluster", path, "-o", "json", *flags]
        try:
            ran = subprocess.run(command, capture_output=True, cwd=HERE, timeout=300, check=False)
        except subprocess.TimeoutExpired:
            return parity.TIMED_OUT
        if ran.returncode not in (0, 3):
            return f"exit code {ran.returncode}: {ran.stderr.decode(errors='replace').strip()}"
        try:
            return json.loads(ran.stdout)["pods"]
        except (ValueError, KeyError) as e:
            return f"unreadable answer: {e}"

    # ---- suggestions

    def check_suggestions(self, cluster, explained, flags, result):
        asked = {}
        for pod in explained or []:
            for i, suggestion in enumerate(pod.get("suggestions", [])):
                result["suggestions"] += 1
                try:
                    for v in suggestions.variants(cluster, pod["pod"], suggestion):
                        # The cluster as it is is asked about once.
                        asked[v.pod, v.preempts, v.what, None if v.what == suggestions.UNCHANGED else i] = suggestion, v
                except (suggestions.NotApplicable, json_patch.PatchError, KeyError) as e:
                    result["found"].append(self.described(pod["pod"], suggestion, f"cannot be carried out: {e}"))
        result["variants"] += len(asked)
        for preempts in (False, True):
            of_kind = [(s, v) for s, v in asked.values() if v.preempts == preempts]
            for first in range(0, len(of_kind), AT_ONCE):
                self.judge(of_kind[first : first + AT_ONCE], [*flags, *["--preempt"] * preempts], result)

    def judge(self, asked, flags, result):
        answers = self.answers([v for _, v in asked], flags)
        for (suggestion, variant), answer in zip(asked, answers):
            if answer is None:
                result["upstream_failed"] = "it did not survive a variant of the cluster"
                continue
            against = suggestions.wrong(variant, answer)
            for _ in range(parity.ASK_STABLE if against else 0):
                result["again"] += 1
                answer = self.answers([variant], flags)[0]
                if answer is not None and not suggestions.wrong(variant, answer):
                    against = None
                    break
            if against:
                result["found"].append(self.described(variant.pod, suggestion, f"{variant.what}: {against}"))

    def answers(self, variants, flags):
        """The oracle's decision about each variant, None where it ends without one."""
        lines = "\n".join(map(suggestions.question, variants)).encode()
        try:
            ran = subprocess.run([self.oracle, "-questions", *flags], input=lines, capture_output=True, cwd=HERE, timeout=600, check=False)
            answers = [json.loads(line) for line in ran.stdout.splitlines()]
        except (subprocess.TimeoutExpired, ValueError):
            answers = []
        if len(answers) == len(variants):
            return answers
        if len(variants) == 1:
            return [None]
        return [self.answers([variant], flags)[0] for variant in variants]

    @staticmethod
    def described(pod, suggestion, text):
        return f"  pod     {pod}\n  advice  {suggestion.get('code')}: {suggestion.get('summary')}\n  {text}"


def differing_pods(cluster, theirs, ours, command):
    """{pod: its differences}, of pods that have any."""
    nodes, different = objections.nodes_of(cluster), {}
    if [d["pod"] for d in theirs] != [d["pod"] for d in ours]:
        return {"(all)": [("-", "-", [d["pod"] for d in theirs], [d["pod"] for d in ours])]}
    for want, got in zip(theirs, ours):
        if command == "explain":
            said = objections.of_explanation(got)
        else:
            said = objections.of_decision(got, nodes)
        found = list(objections.differences(objections.of_upstream(want), said, errors_told=command == "explain"))
        if found:
            different[want["pod"]] = found
    return different


# ---- random clusters


def run_topic(topic, seeds, pool, checker, show):
    total, different, failed, again, shown = dict.fromkeys(COUNTS, 0), 0, 0, 0, 0
    started = time.monotonic()
    for result in pool.map(lambda seed: checker.check(topic, seed), seeds):
        for name in COUNTS:
            total[name] += result[name]
        again += result["again"] > 0 and not result["found"]
        failed += "upstream_failed" in result
        if not result["found"]:
            continue
        different += 1
        if shown < show:
            shown += 1
            flags = " ".join(deciding_flags(result["flags"], "--preempt"))
            print(f"{topic} seed {result['seed']} differs ({len(result['found'])}):\n" + "\n".join(result["found"][:show]))
            print(f"  again   {checker.oracle} -objections -cluster {result['path']} {flags}\n          (in tests/parity)", flush=True)
    print(
        f"{topic:10} {len(seeds):5} seeds {total['pods']:6} pods {total['pairs']:7} objections"
        + (f" {total['suggestions']:6} suggestions in {total['variants']} variants" if checker.explains else "")
        + f"  {different:4} differ"
        + (f"  {failed} that upstream failed on" if failed else "")
        + (f"  {again} equal when asked again" if again else "")
        + f"  {time.monotonic() - started:6.0f} s",
        flush=True,
    )
    return different


def check_random(a):
    folder = os.path.abspath(a.keep or tempfile.mkdtemp(prefix="berth-explain-"))
    os.makedirs(folder, exist_ok=True)
    checker = Checker(os.path.abspath(a.berth), os.path.abspath(a.oracle), folder)
    with concurrent.futures.ThreadPoolExecutor(a.jobs or 2 * (os.cpu_count() or 2)) as pool:
        different = sum(run_topic(topic, a.seeds, pool, checker, a.show) for topic in a.topic or casegen.TOPICS)
    if different:
        print(f"the clusters that differ are in {folder}")
    return 1 if different else 0


# ---- stored clusters


def check_stored(berth):
    """The cases of which upstream's objections are stored. Without the oracle, and in seconds."""
    failed = 0
    paths = sorted(glob.glob(f"{HERE}/cases/*.objections.json.gz"))
    for path in paths:
        name = path[: -len(".objections.json.gz")]
        with open(f"{name}.args", encoding="utf-8") as f:
            flags = deciding_flags(shlex.split(f.read()), "--preempt")
        with gzip.open(f"{name}.cluster.json.gz") as f:
            text = f.read()
        ran = subprocess.run([berth, "evaluate", "--all-rejections", "--cluster", "-", *flags], input=text, capture_output=True, cwd=HERE, timeout=120, check=False)
        if ran.returncode != 0:
            different = {"(all)": [("-", "-", None, ran.stderr.decode(errors="replace"))]}
        else:
            different = differing_pods(json.loads(text), compare.load(path), compare.parse(ran.stdout), "evaluate")
        failed += bool(different)
        for pod, found in list(different.items())[:1]:
            print(f"{os.path.basename(name)}: {len(different)} pods differ\n{objections.describe(pod, found[0])}")
    print(f"{len(paths) - failed} of {len(paths)} cases equal")
    return 1 if failed or not paths else 0


def main():
    ap = argparse.ArgumentParser(prog="parity --explain", description=__doc__.splitlines()[0])
    ap.add_argument("--berth", required=True, type=os.path.abspath, help=argparse.SUPPRESS)
    ap.add_argument("--oracle", type=os.path.abspath, help=argparse.SUPPRESS)
    ap.add_argument("--stored", action="store_true", help=argparse.SUPPRESS)
    ap.add_argument("--topic", action="append", choices=casegen.TOPICS, metavar="T", help=", ".join(casegen.TOPICS))
    ap.add_argument("--seeds", type=parity.seed_range, default=range(1, 21), metavar="A..B", help="default 1..20")
    ap.add_argument("--show", type=int, default=1, metavar="N", help="differing seeds to show per topic, and differences of each")
    ap.add_argument("--keep", help="folder for the clusters that differ")
    ap.add_argument("--jobs", type=int, help=argparse.SUPPRESS)
    a = ap.parse_args()
    if not a.stored and not a.oracle:
        ap.error("--oracle is needed")
    return check_stored(a.berth) if a.stored else check_random(a)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
