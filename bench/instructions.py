#!/usr/bin/env python3
"""Instructions per pod, counted by valgrind's callgrind: a measure of speed that does not depend on how busy
the machine is. Compares with bench/instructions.tsv.

    instructions.py --berth PATH [--filter REGEX] [--record]

Runs the workloads that have the label `guard`; what is counted is their measured part (the function
berth::perf::WorkloadRun::run_measured and all that it calls). Exit code 1: one of them costs over 10 % more
than recorded, or could not be counted. --record writes the file anew.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import recorded

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.tsv")
COUNTED = "berth::perf::WorkloadRun::run_measured(std::function<bool ()> const&, berth::perf::Operation const&)"
MARGIN = 0.10


def workloads(berth, pattern):
    listed = subprocess.run([berth, "bench", "--list", "--label", "guard", "--filter", pattern],
                            capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        sys.exit(f"instructions: {listed.stderr.strip()}")
    return listed.stdout.split()


def count(berth, name, folder):
    """Instructions for each pod; an error is a string."""
    # The environment lies on the stack: the same one each time. Valgrind itself gives every run the same
    # addresses.
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/", "LC_ALL": "C"}
    ran = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", "--collect-atstart=no",
         f"--toggle-collect={COUNTED}",
         berth, "bench", "--in-process", "--json", "--filter", f"^{re.escape(name)}$"],
        capture_output=True, text=True, check=False, env=environment)
    collected = re.search(r"Collected : (\d+)", ran.stderr)
    if ran.returncode != 0 or not collected:
        return f"failed: {ran.stderr[-500:]}"
    result = json.loads(ran.stdout)["results"][0]
    if "skipped" in result:
        return f"skipped: {result['skipped']}"
    if int(collected[1]) == 0 or result["pods"] == 0:
        return "nothing was counted: no operation collects metrics, or the program has no symbols"
    return int(collected[1]) / result["pods"]


def main():
    given = recorded.arguments("counts instructions per pod")
    berth = os.path.abspath(given.berth)
    known = recorded.read(FILE)
    costs, rows, bad, better = {}, [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name in workloads(berth, given.filter):
            cost = count(berth, name, folder)
            before = float(known[name]["instructions_per_pod"]) if name in known else None
            if isinstance(cost, str):
                bad += 1
                rows.append([name, "", "", "", cost])
                continue
            costs[name] = cost
            ratio = cost / before if before else None
            word = ""
            if not given.record:
                if ratio is None:
                    bad += 1
                    word = "not recorded"
                elif ratio > 1 + MARGIN:
                    bad += 1
                    word = "COSTS MORE"
                elif ratio < 1 - MARGIN:
                    better += 1
                    word = "better"
            rows.append([name, f"{cost:,.0f}", f"{before:,.0f}" if before else "-",
                         f"{ratio:.3f}" if ratio else "-", word])
    print(recorded.table(["workload", "instructions/pod", "recorded", "ratio", ""], rows))
    if given.record and not bad:
        kept = {name: row for name, row in known.items() if given.filter and name not in costs}
        kept.update({name: {"workload": name, "instructions_per_pod": round(cost)}
                     for name, cost in costs.items()})
        recorded.write(FILE, ["Instructions per pod, counted by callgrind (./dev check instructions); "
                              "./dev bench --instructions --record writes this file."],
                       ["workload", "instructions_per_pod"], [kept[name] for name in sorted(kept)])
        print(f"  written to {os.path.relpath(FILE)}")
    if better:
        print("  better by more than 10 %: ./dev bench --instructions --record keeps it so")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
