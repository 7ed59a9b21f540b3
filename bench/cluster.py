#!/usr/bin/env python3
"""What a scheduler costs against a real API server, berth's beside upstream's (README.md).

    cluster.py [--quick] [--nodes N] [--pods N] [--bound N] [--scheduler PATH]... [--skip-pods]
               [--skip-backlog] [--skip-bare] [--skip-start] [--json]

First N pods onto N nodes, with a fresh server for each scheduler and one for a bare client that only
binds; then a start, and a standby that begins to lead, beside many bound pods, one server for all. Uses
the end-to-end suite's harness.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))

from cluster_measure import say  # noqa: E402
from cluster_runs import Bench, attempt  # noqa: E402
from cluster_tables import POD_ROWS, START_ROWS, table  # noqa: E402
from harness import servers  # noqa: E402

PROGRAMS = ("etcd", "kube-apiserver", "kube-scheduler", "load")
PODS_PER_NODE = 110  # what a node of `load` takes
FULL = {"nodes": 5000, "pods": 5000, "bound": 150000}
QUICK = {"nodes": 500, "pods": 1000, "bound": 5000}


def schedulers_of(options):
    """[(name, path)]; the names are distinct."""
    paths = options.scheduler or [options.berth, servers.upstream_program("kube-scheduler")]
    named = []
    for path in paths:
        if not path or not os.access(path, os.X_OK):
            sys.exit(f"there is no scheduler {path}")
        name = os.path.basename(path)
        same = sum(1 for n, _ in named if n.split(" ")[0] == name)
        named.append((f"{name} ({same + 1})" if same else name, os.path.abspath(path)))
    return named


def find_binaries():
    """Where the real programs are; builds them where there is Go."""
    if not all(servers.upstream_program(p) for p in PROGRAMS):
        say("building the real components; the first time this takes minutes")
        recipe = os.path.join(ROOT, "scripts", "upstream", "build.sh")
        ran = subprocess.run([recipe, *PROGRAMS], stdout=subprocess.PIPE, text=True)
        if ran.returncode != 0:
            sys.exit("could not build the real components")
        if "skipped:" in ran.stdout:
            print(ran.stdout.strip().splitlines()[-1])
            return None
    return servers.real_binaries()


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a look, with far fewer of everything")
    parser.add_argument("--nodes", type=int, metavar="N", help="default 5000")
    parser.add_argument("--pods", type=int, metavar="N", help="to be scheduled; default 5000")
    parser.add_argument("--bound", type=int, metavar="N", help="pods there at a start; default 150000")
    parser.add_argument(
        "--scheduler", action="append", metavar="PATH",
        help="what to measure, may be given again; default: berth and upstream's",
    )  # fmt: skip
    parser.add_argument("--berth", default=os.path.join(ROOT, "build", "release", "bin", "berth"))
    parser.add_argument("--skip-pods", action="store_true", help="only the start")
    parser.add_argument("--skip-start", action="store_true", help="only the pods")
    parser.add_argument("--skip-backlog", action="store_true", help="no pods that are all there before")
    parser.add_argument("--skip-bare", action="store_true", help="no bare client for comparison")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of tables")
    options = parser.parse_args()
    for name, size in (QUICK if options.quick else FULL).items():
        if getattr(options, name) is None:
            setattr(options, name, size)
    if min(options.nodes, options.pods, options.bound) < 1:
        parser.error("--nodes, --pods and --bound take numbers above 0")
    scheduled = 0 if options.skip_pods else options.pods * (1 if options.skip_backlog else 2)
    most = max(scheduled, 0 if options.skip_start else options.bound)
    if most >= options.nodes * PODS_PER_NODE:
        parser.error(f"a node takes {PODS_PER_NODE} pods; more nodes are needed for so many")
    return options


def main():
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    binaries = find_binaries()
    if not binaries:
        return 0
    programs = schedulers_of(options)
    load = os.getloadavg()[0]
    if load > 1:
        say(f"the machine is busy (load {load:.1f}): the figures will say little")
    folder = tempfile.mkdtemp(prefix="berth-cluster-")
    bench = Bench(options, binaries, folder)
    pods, starts = {}, {}
    if not options.skip_pods:
        for name, program in programs:
            say(f"{name}: {options.pods:,} pods onto {options.nodes:,} nodes")
            pods[name] = attempt(bench.pods, program)
        if not options.skip_bare:
            say("a bare client's bindings")
            pods["bare client"] = attempt(bench.bare)
    if not options.skip_start:
        say("the server for the starts")
        starts = attempt(lambda: dict(bench.starts(programs)))
        if "failed" in starts:
            starts = {"server": starts}
    if options.json:
        sizes = {"nodes": options.nodes, "pods": options.pods, "bound": options.bound}
        machine = {"cores": os.cpu_count(), "load_before": load}
        print(json.dumps({**sizes, **machine, "scheduling": pods, "start": starts}, indent=1))
    if pods and not options.json:
        print(table(f"{options.pods:,} pods onto {options.nodes:,} nodes", POD_ROWS, pods))
    if starts and not options.json:
        title = f"start beside {options.nodes:,} nodes, {options.bound:,} bound pods"
        print(("\n" if pods else "") + table(title, START_ROWS, starts))
    failed = any("failed" in r for r in (*pods.values(), *starts.values()))
    if failed:
        say(f"logs are in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
