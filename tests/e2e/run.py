#!/usr/bin/env python3
"""The end-to-end suite: real processes, real sockets (README.md).

    run.py --server embedded|real [--scheduler PATH] [--berth PATH] [--filter REGEX] [--jobs N]
    run.py --server real --compare

Prints a line per case and at the end `N passed, M failed, K skipped`.
"""
import argparse
import collections
import importlib
import os
import pkgutil
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)

from harness import certificates, compare, registry, servers  # noqa: E402
from harness.process import tail  # noqa: E402
from harness.world import World  # noqa: E402

Programs = collections.namedtuple("Programs", "scheduler berth upstream kubectl")


def load_cases():
    package = importlib.import_module("cases")
    for module in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"cases.{module}")
    return registry.CASES


class Outcome:
    def __init__(self, case, verdict, seconds=0.0, text="", observed=None):
        self.case, self.verdict, self.seconds = case, verdict, seconds
        self.text, self.observed = text, observed


class Lane:
    """Runs cases one after the other, on servers of its own."""

    def __init__(self, number, kind, programs, binaries, folder, observing):
        self._number, self._kind, self._programs, self._binaries = number, kind, programs, binaries
        self._folder, self._observing = folder, observing
        self._server = None
        self._count = 0

    def run(self, cases, report):
        try:
            while True:
                try:
                    case = cases.get_nowait()
                except queue.Empty:
                    return
                report(self._one(case))
        finally:
            if self._server:
                self._server.stop()

    def _one(self, case):
        why = self._cannot(case)
        if why:
            return Outcome(case, "skip", text=why)
        start = time.monotonic()
        self._count += 1
        folder = os.path.join(self._folder, f"{case.name}")
        os.makedirs(folder, exist_ok=True)
        world = None
        verdict, text, observed = "ok", "", None
        try:
            server = self._server_for(folder)
            world = World(server, f"case-{self._number}-{self._count}", folder, self._programs)
            case.function(world)
            world.check_invariants()
            if self._observing and case.compare:
                observed = compare.observe(world, case)
        except registry.Skip as skip:
            verdict, text = "skip", str(skip)
        except Exception:
            verdict, text = "FAIL", traceback.format_exc() + self._logs(folder)
        finally:
            self._tidy(world)
        if verdict != "FAIL":
            shutil.rmtree(folder, ignore_errors=True)
        return Outcome(case, verdict, time.monotonic() - start, text, observed)

    def _cannot(self, case):
        if self._kind not in case.servers:
            return f"not on the {self._kind} server"
        have = {
            "berth": self._programs.berth,
            "upstream": self._programs.upstream,
            "kubectl": self._programs.kubectl,
            "openssl": certificates.available(),
        }
        missing = [n for n in case.needs if not have[n]]
        return "no " + ", no ".join(missing) if missing else ""

    def _server_for(self, folder):
        if self._kind == "embedded":
            self._server = servers.EmbeddedServer(folder, self._programs.berth)
            self._server.start()
        elif self._server is None:
            base = os.path.join(self._folder, f"server-{self._number}")
            os.makedirs(base, exist_ok=True)
            self._server = servers.RealServer(base, self._binaries)
            self._server.start()
        return self._server

    def _tidy(self, world):
        try:
            if world:
                world.close()
            if self._server and self._server.shared:
                self._server.clean()
                return
        except Exception:
            traceback.print_exc()
        # Not one's own any more, or broken: the next case starts another.
        if self._server:
            self._server.stop()
            self._server = None

    def _logs(self, folder):
        text = ""
        paths = sorted(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".log"))
        if self._server:
            paths += [p for p in self._server.logs if p not in paths]
        for path in paths:
            text += f"\n--- {path}\n{tail(path, 25)}\n"
        return text


class Report:
    """Prints as cases end, and counts."""

    def __init__(self, width):
        self._width, self._lock = width, threading.Lock()
        self.outcomes = []

    def add(self, outcome):
        with self._lock:
            self.outcomes.append(outcome)
            line = f"{outcome.verdict:<4} {outcome.case.name:<{self._width}} {outcome.seconds:6.1f} s"
            if outcome.verdict == "skip":
                line = f"skip {outcome.case.name:<{self._width}} {outcome.text}"
            print(line, flush=True)
            if outcome.verdict == "FAIL":
                print(outcome.text, flush=True)

    def count(self, verdict):
        return sum(1 for o in self.outcomes if o.verdict == verdict)


def run_all(cases, options, programs, binaries, folder, observing=False):
    report = Report(max(len(c.name) for c in cases))
    waiting = queue.Queue()
    for case in cases:
        waiting.put(case)
    threads = []
    for number in range(min(options.jobs, len(cases))):
        lane = Lane(number, options.server, programs, binaries, folder, observing)
        thread = threading.Thread(target=lane.run, args=(waiting, report.add), daemon=True)
        thread.start()
        threads.append(thread)
    for thread in threads:
        while thread.is_alive():
            thread.join(0.5)  # short, so that signals are heard
    return report


def compare_all(cases, options, programs, binaries, folder):
    """Runs all with upstream's scheduler and with berth's, and prints what differs."""
    reports = []
    for name, program in (("upstream", programs.upstream), ("berth", programs.berth)):
        print(f"== {name}: {program}", flush=True)
        mine = programs._replace(scheduler=program)
        place = os.path.join(folder, name)
        os.makedirs(place, exist_ok=True)
        reports.append(run_all(cases, options, mine, binaries, place, observing=True))
    print("== differences")
    theirs, ours = ({o.case.name: o for o in r.outcomes} for r in reports)
    same = differ = 0
    seen = set()
    for case in cases:
        a, b = theirs.get(case.name), ours.get(case.name)
        if not a or not b or a.observed is None or b.observed is None:
            continue
        lines = compare.differences(a.observed, b.observed)
        same, differ = (same, differ + 1) if lines else (same + 1, differ)
        # A family of metrics is there or not, whatever the case: said once.
        fresh = [l for l in lines if not l.startswith("metric") or l not in seen]
        seen.update(lines)
        for line in fresh:
            print(f"{case.name}: {line}")
    print(f"{same} cases without a difference, {differ} with")
    counts = [sum(r.count(v) for r in reports) for v in ("ok", "FAIL", "skip")]
    return (counts[0], counts[1] + (1 if differ else 0), counts[2])


def find_binaries(options):
    """Where etcd and kube-apiserver are; built when they can be. None, and why, if not."""
    if options.server != "real":
        return None, ""
    found = servers.real_binaries()
    if found:
        return found, ""
    recipe = os.path.join(ROOT, "scripts", "upstream", "build.sh")
    print("building the real API server; the first time this takes minutes", flush=True)
    ran = subprocess.run([recipe], stdout=subprocess.PIPE, text=True)
    said = ran.stdout.strip().splitlines()
    if ran.returncode != 0:
        sys.exit("could not build the real API server")
    if said and said[-1].startswith("skipped:"):
        return None, said[-1]
    return servers.real_binaries(), "no real API server"


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server", choices=("embedded", "real"), default="embedded")
    parser.add_argument("--scheduler", help="a kube-scheduler to run instead of berth's")
    parser.add_argument("--berth", default=os.path.join(ROOT, "build", "release", "bin", "berth"))
    parser.add_argument("--filter", default="", help="only the cases whose name matches")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--compare", action="store_true", help="upstream and berth, and what differs")
    parser.add_argument("--keep", help="where logs go and stay; else a temporary folder")
    parser.add_argument("--list", action="store_true", help="names of the cases")
    return parser.parse_args()


def main():
    options = parse()
    cases = [c for c in load_cases() if re.search(options.filter, c.name)]
    if options.list:
        print("\n".join(c.name for c in cases))
        return 0
    if not cases:
        sys.exit(f"no case matches {options.filter!r}")
    binaries, why = find_binaries(options)
    if options.server == "real" and not binaries:
        print(why)
        print(f"0 passed, 0 failed, {len(cases)} skipped")
        return 0
    berth = os.path.abspath(options.berth) if os.access(options.berth, os.X_OK) else None
    scheduler = os.path.abspath(options.scheduler) if options.scheduler else berth
    if scheduler is None or not os.access(scheduler, os.X_OK):
        sys.exit(f"there is no scheduler {options.scheduler or options.berth}")
    upstream = servers.upstream_program("kube-scheduler")
    programs = Programs(scheduler, berth, upstream, servers.upstream_program("kubectl"))

    def stop(*_):
        # Children go with us, see process.py.
        os._exit(130)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="berth-e2e-", dir=options.keep)
    if options.compare:
        if not upstream or not berth:
            sys.exit("--compare needs upstream's kube-scheduler and berth")
        passed, failed, skipped = compare_all(cases, options, programs, binaries, folder)
    else:
        report = run_all(cases, options, programs, binaries, folder)
        passed, failed, skipped = (report.count(v) for v in ("ok", "FAIL", "skip"))
    if failed == 0 and not options.keep:
        shutil.rmtree(folder, ignore_errors=True)
    elif failed:
        print(f"logs are in {folder}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
