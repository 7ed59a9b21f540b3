#!/usr/bin/env python3
"""Upstream's own end-to-end suite against `berth run` (../README.md).

    run.py [FOCUS] [--codec protobuf|json|both] [--short] [--there] [--jobs N] [--all]
           [--kubeconfig FILE] [--berth PATH] [--keep DIR] [--list]

Prints a line per spec and at the end `N passed, M failed, K skipped`.
"""
import argparse
import collections
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import tomllib

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.dirname(HERE))

from harness import servers  # noqa: E402
from harness.client import Client  # noqa: E402
from harness.process import Child, free_port, tail, wait_until  # noqa: E402

Spec = collections.namedtuple("Spec", "name group")
Outcome = collections.namedtuple("Outcome", "spec codec verdict seconds text")

CODECS = {"protobuf": [], "json": ["--kube-api-content-type=application/json"]}
# As many specs as one run of the test program gets: it takes seconds to start.
CHUNK = 8
NODES = 4


# -- which specs ----------------------------------------------------------------------------------


def name_of(report):
    return " ".join((report["ContainerHierarchyTexts"] or []) + [report["LeafNodeText"]])


def specs_of(report_file):
    """The reports of all specs in a file that ginkgo wrote."""
    with open(report_file) as f:
        suites = json.load(f)
    return [s for suite in suites for s in suite["SpecReports"] if s["LeafNodeType"] == "It"]


def all_specs(program, folder):
    """The names of all specs that the program has; those that belong together stand together."""
    report = os.path.join(folder, "all.json")
    command = [program, "--ginkgo.dry-run", f"--ginkgo.json-report={report}", "--provider=skeleton"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if not os.path.exists(report):
        sys.exit(f"{program} does not list its specs: {ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    return sorted({name_of(s) for s in specs_of(report)})


def choose(names, lists, options):
    """The specs to run, and how many are left out for which reason."""
    chosen, left_out = [], collections.Counter()
    for name in names:
        group = next((g for g, focus in lists["groups"].items() if re.search(focus, name)), None)
        if options.focus and not re.search(options.focus, name):
            continue
        if group is None and not options.all:
            continue
        if options.short and not any(s in name for s in lists["short"]["specs"]):
            continue
        why = next((l["why"] for l in lists["left_out"] for s in l["specs"] if re.search(s, name)), None)
        if why and not options.all:
            left_out[why] += 1
        else:
            chosen.append(Spec(name, group or "other"))
    return chosen, left_out


# -- clusters -------------------------------------------------------------------------------------


def node(name, zone):
    amounts = {"cpu": "8", "memory": "16Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    labels = {
        "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": zone,
    }  # fmt: skip
    return {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
        "status": {"capacity": amounts, "allocatable": amounts},
    }  # fmt: skip


def agents():
    """The suite waits a minute before each preemption spec unless every node has pods of these three names."""
    name = "kube-proxy-fluentd-elasticsearch-node-problem-detector"
    labels = {"agent": "all"}
    spec = {
        "priorityClassName": "system-node-critical", "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "agent", "image": "agent"}],
    }  # fmt: skip
    return {
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": "kube-system"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }  # fmt: skip


class BerthRun:
    """A cluster of a few nodes in one process."""

    def __init__(self, berth, folder):
        self.kubeconfig = os.path.join(folder, "kubeconfig")
        self.log = os.path.join(folder, "berth-run.log")
        address = f"127.0.0.1:{free_port()}"
        self._child = Child("berth run", [berth, "run", "--listen", address, "--write-kubeconfig", self.kubeconfig], self.log)
        api = Client(f"http://{address}")
        wait_until("the API server", lambda: api.find("namespaces", None, "kube-system"))
        for i in range(1, NODES + 1):
            api.create("nodes", node(f"node-{i}", f"zone-{i % 2 + 1}"))
        api.call("POST", "/apis/apps/v1/namespaces/kube-system/daemonsets", agents())

        def ready():
            pods = api.list("pods", "kube-system")
            return len(pods) == NODES and all(p["status"].get("phase") == "Running" for p in pods)

        wait_until("the nodes to be ready", ready)

    def running(self):
        return self._child.running()

    def stop(self):
        self._child.stop()


class GivenCluster:
    """One that somebody else has started."""

    log = os.devnull

    def __init__(self, kubeconfig):
        self.kubeconfig = kubeconfig

    def running(self):
        return True

    def stop(self):
        pass


class Lane:
    """Runs chunks of specs one after the other on a cluster of its own."""

    def __init__(self, number, options, program, folder):
        self._number, self._options, self._program = number, options, program
        self._folder = os.path.join(folder, f"lane-{number}")
        self._cluster, self._count = None, 0

    def run(self, chunks, report):
        try:
            while True:
                try:
                    codec, specs = chunks.get_nowait()
                except queue.Empty:
                    return
                for outcome in self._run_chunk(codec, specs):
                    report(outcome)
        finally:
            if self._cluster:
                self._cluster.stop()

    def _run_chunk(self, codec, specs):
        self._count += 1
        folder = os.path.join(self._folder, str(self._count))
        os.makedirs(folder, exist_ok=True)
        if self._cluster is None or not self._cluster.running():
            given = self._options.kubeconfig
            try:
                self._cluster = GivenCluster(given) if given else BerthRun(self._options.berth, folder)
            except AssertionError as error:
                why = f"{error}\n{tail(os.path.join(folder, 'berth-run.log'), 25)}"
                return [Outcome(spec, codec, "FAIL", 0, why) for spec in specs]
        report, log = os.path.join(folder, "report.json"), os.path.join(folder, "log")
        command = [
            self._program, f"--kubeconfig={self._cluster.kubeconfig}", "--provider=skeleton",
            f"--kubectl-path={servers.upstream_program('kubectl')}", "--allowed-not-ready-nodes=0",
            "--disable-log-dump", "--ginkgo.no-color", "--ginkgo.v", "--ginkgo.timeout=2h",
            f"--ginkgo.json-report={report}", *CODECS[codec],
        ]  # fmt: skip
        command += [f"--ginkgo.focus= {re.escape(s.name)}$" for s in specs]
        child = Child("e2e.test", command, log)
        while child.wait(5) is None:
            pass
        done = {name_of(s): s for s in specs_of(report)} if os.path.exists(report) else {}
        return [self._outcome(spec, codec, done.get(spec.name), log) for spec in specs]

    def _outcome(self, spec, codec, found, log):
        if found is None:
            return Outcome(spec, codec, "FAIL", 0, f"the test program did not come to it:\n{tail(log, 25)}")
        seconds = found.get("RunTime", 0) / 1e9
        failure = found.get("Failure") or {}
        where = failure.get("Location") or {}
        place = f"{os.path.basename(where.get('FileName', ''))}:{where.get('LineNumber', 0)}"
        if found["State"] == "passed":
            return Outcome(spec, codec, "ok", seconds, "")
        if found["State"] in ("skipped", "pending"):
            return Outcome(spec, codec, "skip", seconds, " ".join(failure.get("Message", "").split())[:200])
        text = failure.get("Message", "").strip()
        if not self._cluster.running():
            text += f"\nthe cluster has ended:\n{tail(self._cluster.log, 25)}"
        return Outcome(spec, codec, "FAIL", seconds, f"{text[:2000]}\n({found['State']}, {place}; {log})")


# -- the whole ------------------------------------------------------------------------------------


class Report:
    """Prints as specs end, and counts."""

    def __init__(self):
        self._lock = threading.Lock()
        self.outcomes = []

    def add(self, outcome):
        with self._lock:
            self.outcomes.append(outcome)
            print(f"{outcome.verdict:<4} {outcome.codec:<8} {outcome.seconds:6.1f} s  {outcome.spec.name}", flush=True)
            if outcome.text:
                print("     " + outcome.text.replace("\n", "\n     "), flush=True)

    def count(self, verdict, **where):
        return sum(
            o.verdict == verdict
            and where.get("codec", o.codec) == o.codec
            and where.get("group", o.spec.group) == o.spec.group
            for o in self.outcomes
        )

    def table(self):
        print(f"\n{'group':<12} {'codec':<9} passed failed skipped  seconds")
        for group, codec in sorted({(o.spec.group, o.codec) for o in self.outcomes}):
            counts = [self.count(v, group=group, codec=codec) for v in ("ok", "FAIL", "skip")]
            seconds = sum(o.seconds for o in self.outcomes if (o.spec.group, o.codec) == (group, codec))
            print(f"{group:<12} {codec:<9} {counts[0]:6} {counts[1]:6} {counts[2]:7} {seconds:8.0f}")


def run_all(specs, codecs, options, program, folder):
    chunks, report = queue.Queue(), Report()
    size = max(1, min(CHUNK, -(-len(specs) * len(codecs) // options.jobs)))
    for codec in codecs:
        for i in range(0, len(specs), size):
            chunks.put((codec, specs[i : i + size]))
    threads = []
    for number in range(min(options.jobs, chunks.qsize())):
        lane = Lane(number, options, program, folder)
        threads.append(threading.Thread(target=lane.run, args=(chunks, report.add), daemon=True))
        threads[-1].start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.5)  # short, so that signals are heard
    missing = len(specs) * len(codecs) - len(report.outcomes)
    return report, missing


def find_program(options):
    """The test program, built when it can be; None, and why, if not."""
    recipe = os.path.join(ROOT, "scripts", "upstream", "build.sh")
    if not options.there:
        print("looking for upstream's suite; building it takes minutes the first time", flush=True)
        ran = subprocess.run([recipe, "kubectl", "e2e.test"], stdout=subprocess.PIPE, text=True, check=False)
        said = ran.stdout.strip().splitlines()
        if ran.returncode != 0:
            sys.exit("could not build upstream's suite")
        if said and said[-1].startswith("skipped:"):
            return None, said[-1]
    program = servers.upstream_program("e2e.test")
    if program and servers.upstream_program("kubectl"):
        return program, ""
    return None, "skipped: upstream's suite is not built yet; ./dev e2e --upstream builds it"


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("focus", nargs="?", default="", help="only specs whose name matches")
    parser.add_argument("--codec", choices=(*CODECS, "both"), default="both", help="how the specs talk to the server")
    parser.add_argument("--short", action="store_true", help="only the short selection")
    parser.add_argument("--there", action="store_true", help="build nothing; skip what is not there")
    parser.add_argument("--jobs", type=int, default=2, help="clusters beside each other (default 2)")
    parser.add_argument("--all", action="store_true", help="also specs of no group and those left out")
    parser.add_argument("--kubeconfig", help="of a running cluster, instead of starting one")
    parser.add_argument("--berth", default=os.path.join(ROOT, "build", "release", "bin", "berth"))
    parser.add_argument("--keep", help="where logs go and stay; else a temporary folder")
    parser.add_argument("--list", action="store_true", help="names of the specs")
    options = parser.parse_args()
    options.berth = os.path.abspath(options.berth)
    if options.kubeconfig:
        options.kubeconfig, options.jobs = os.path.abspath(options.kubeconfig), 1
    return options


def main():
    options = parse()
    with open(os.path.join(HERE, "specs.toml"), "rb") as f:
        lists = tomllib.load(f)
    codecs = list(CODECS) if options.codec == "both" else [options.codec]
    program, why = find_program(options)
    if program is None:
        print(why)
        print(f"0 passed, 0 failed, {len(lists['short']['specs']) * len(codecs) if options.short else 1} skipped")
        return 0
    # Children go with us, see process.py.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(130))
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="berth-upstream-", dir=options.keep)
    specs, left_out = choose(all_specs(program, folder), lists, options)
    if options.list:
        print("\n".join(f"{s.group:<12} {s.name}" for s in specs))
        return 0
    if not specs:
        sys.exit("no spec matches")
    report, missing = run_all(specs, codecs, options, program, folder)
    report.table()
    for reason, count in left_out.most_common():
        print(f"left out {count:4}: {reason}")
    failed = report.count("FAIL") + missing
    if failed:
        print(f"logs are in {folder}")
    elif not options.keep:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{report.count('ok')} passed, {failed} failed, {report.count('skip')} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
