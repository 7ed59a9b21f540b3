#!/usr/bin/env python3
"""Device selectors, evaluated by upstream's evaluator and by ours, compared.

    cel_compare.py --eval PROGRAM --oracle PROGRAM [--seeds A..B] [--count N] [--show N]
    cel_compare.py --eval PROGRAM --cases FILE...          stored cases, without the oracle
    cel_compare.py --oracle PROGRAM --answer FILE          asks upstream again, writes its answers to FILE

PROGRAM of --eval is cel_eval. With seeds, N random selectors each (default 1000). Stored (gzip) are
expression, device and upstream's answer. Equal means: the same verdict; or both fail when compiling; or both fail when
evaluating, with the same words; and the same cost. Where Go's maps have no order, upstream answers
differently each time: it is then asked again, and ours passes if upstream gives it too.
"""
import argparse
import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile

import cel_gen

AGAIN = 12


def ask(command, cases):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(cases, f)
        f.flush()
        ran = subprocess.run([*command, f.name], capture_output=True, timeout=600)
    if ran.returncode != 0:
        raise SystemExit(f"{command[0]} ended with {ran.returncode}: {ran.stderr.decode(errors='replace')[-2000:]}")
    return json.loads(ran.stdout)


def what_differs(theirs, ours):
    """None if nothing does."""
    if ("compileError" in theirs) != ("compileError" in ours):
        return "compiles"
    if "compileError" in theirs:
        return None
    if theirs.get("matches") != ours.get("matches"):
        return "verdict"
    if theirs.get("error") != ours.get("error"):
        return "error"
    if theirs.get("cost", 0) != ours.get("cost", 0):
        return "cost"
    return None


def show(case, theirs, ours, what):
    print(f"  {what}: {case['expression']}")
    print(f"    device  {json.dumps(case['device'])}")
    for name, answer in (("theirs", theirs), ("ours", ours)):
        answer = {k: v for k, v in answer.items() if k != "maxCost"}
        print(f"    {name:7} {json.dumps(answer, ensure_ascii=False)}")


def compare(cases, theirs, ours, shown, again=None):
    """Counts by kind of difference; shows the first ones."""
    counts = collections.Counter()
    for i, (case, want, got) in enumerate(zip(cases, theirs, ours, strict=True)):
        what = what_differs(want, got)
        if what and again:
            for other in again(case):
                if not what_differs(other, got):
                    what = None
                    counts["drawn"] += 1
                    break
        if "compileError" in want:
            counts["do not compile"] += 1
            if want["compileError"] == got.get("compileError"):
                counts["same words"] += 1
        elif "error" in want:
            counts["fail"] += 1
        else:
            counts["decide"] += 1
        if what is None:
            continue
        counts["differ: " + what] += 1
        if shown > 0:
            shown -= 1
            show(case, want, got, what)
    return counts


def answer(path, oracle):
    """Asks about the stored expressions anew. What upstream answers in two ways is left out."""
    with gzip.open(path, "rt") as f:
        cases = [{"expression": c["expression"], "device": c["device"]} for c in json.load(f)]
    answers = [ask(oracle, cases) for _ in range(4)]
    lines = []
    for i, case in enumerate(cases):
        each = [{k: v for k, v in a[i].items() if k != "maxCost"} for a in answers]
        if all(a == each[0] for a in each):
            lines.append(json.dumps({**case, "answer": each[0]}, ensure_ascii=False, sort_keys=True))
    with open(path, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as f:
        f.write(("[\n" + ",\n".join(lines) + "\n]\n").encode())
    print(f"{len(lines)} of {len(cases)} cases have one answer")
    return 0


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--eval")
    ap.add_argument("--oracle")
    ap.add_argument("--cases", nargs="+", default=[])
    ap.add_argument("--answer", metavar="FILE")
    ap.add_argument("--seeds", default="1..3")
    ap.add_argument("--count", type=int, default=1000)
    ap.add_argument("--show", type=int, default=10)
    a = ap.parse_args()
    if a.answer:
        return answer(a.answer, [a.oracle, "-cel"])
    if not a.eval:
        ap.error("--eval is missing")
    ours = [os.path.abspath(a.eval)]
    total = collections.Counter()
    if a.cases:
        for path in a.cases:
            with gzip.open(path, "rt") as f:
                stored = json.load(f)
            cases = [{"expression": c["expression"], "device": c["device"]} for c in stored]
            total += compare(cases, [c["answer"] for c in stored], ask(ours, cases), a.show)
    else:
        if not a.oracle:
            ap.error("--oracle or --cases")
        theirs = [a.oracle, "-cel"]

        def again(case):
            return ask(theirs, [case] * AGAIN)

        first, last = (int(n) for n in a.seeds.split(".."))
        for seed in range(first, last + 1):
            cases = cel_gen.cases(seed, a.count)
            total += compare(cases, ask(theirs, cases), ask(ours, cases), a.show - sum(total[k] for k in total if k.startswith("differ")), again)
    differ = sum(n for k, n in total.items() if k.startswith("differ"))
    print(", ".join(f"{n} {k}" for k, n in sorted(total.items())))
    print(f"{'no' if not differ else differ} difference{'s' if differ != 1 else ''}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
