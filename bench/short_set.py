#!/usr/bin/env python3
"""Runs the short set of `berth bench` and compares with bench/recorded.tsv.

    short_set.py --berth PATH [--filter REGEX] [--record]

Rates depend on the machine and on what else it does: nothing fails here (bench/instructions.py is the guard).
--record writes the file anew, and in it which machine it was.
"""
import json
import os
import subprocess
import sys

import recorded

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded.tsv")


def main():
    given = recorded.arguments("runs the short set of workloads")
    ran = subprocess.run([given.berth, "bench", "--label", "short", "--json", "--filter", given.filter],
                         stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode != 0:
        return ran.returncode
    known = recorded.read(FILE)
    rows, seen = [], {}
    for result in json.loads(ran.stdout)["results"]:
        name = result["name"]
        if "skipped" in result:
            rows.append([name, "", "", "", "", "", f"skipped: {result['skipped']}"])
            continue
        rate, attempt = result["pods_per_second"], result["attempt_seconds"]
        before = float(known[name]["pods_per_second"]) if name in known else None
        seen[name] = {"workload": name, "pods_per_second": round(rate),
                      "attempt_p50_us": f"{attempt['p50'] * 1e6:.1f}",
                      "attempt_p99_us": f"{attempt['p99'] * 1e6:.1f}",
                      "peak_mb": f"{result['peak_rss_bytes'] / 1e6:.1f}"}
        rows.append([name, f"{rate:,.0f}", f"{before:,.0f}" if before else "-",
                     f"{rate / before:.2f}" if before else "-",
                     f"{seen[name]['attempt_p50_us']} / {seen[name]['attempt_p99_us']}",
                     seen[name]["peak_mb"], ""])
    print(recorded.table(
        ["workload", "pods/s", "recorded", "ratio", "attempt p50 / p99, us", "peak MB", ""], rows))
    load = os.getloadavg()[0]
    print(f"  load {load:.1f} on {recorded.machine()}; recorded as bench/recorded.tsv says")
    if given.record:
        known = {name: row for name, row in known.items() if given.filter} | seen
        recorded.write(FILE, ["Rates seen (./dev bench); ./dev bench --record writes this file.",
                              f"Machine: {recorded.machine()}; load {load:.1f}"],
                       list(next(iter(seen.values()))), [known[name] for name in sorted(known)])
        print(f"  written to {os.path.relpath(FILE)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
