#!/usr/bin/env python3
"""What a scheduler costs against a real API server, berth's beside upstream's (README.md).

    cluster.py [--nodes N] [--pods N] [--bound N] [--scheduler PATH]... [--skip-pods] [--skip-start]
               [--skip-bare] [--pods-first] [--json]

First N pods onto N nodes, with a fresh server for each scheduler and one for a bare client that only
binds; then a start beside many bound pods, one server for all. Uses the end-to-end suite's harness.
"""
import argparse
import functools
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))

import cluster_burst  # noqa: E402
from harness import objects, servers  # noqa: E402
from harness.client import path_of  # noqa: E402
from harness.process import tail  # noqa: E402
from harness.schedulers import Scheduler  # noqa: E402

PROGRAMS = ("etcd", "kube-apiserver", "kube-scheduler", "load")
METADATA = "application/json;as={};g=meta.k8s.io;v=v1,application/json"
# For both alike: what holds them back shall be the server, not the limit on their own requests.
FLAGS = ("--kube-api-qps=5000", "--kube-api-burst=5000", "-v=0")
PODS_PER_NODE = 110  # what a node of `load` takes
PATIENCE = 120  # seconds without a binding until a run counts as failed


def say(text):
    print(text, file=sys.stderr, flush=True)


class Failed(Exception):
    pass


# ---------------------------------------------------------------------------------------------
# What is measured.


class Usage:
    """CPU time and memory of a process, as the kernel counts them."""

    _TICK = os.sysconf("SC_CLK_TCK")

    def __init__(self, pid):
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rpartition(")")[2].split()
        self.user, self.system = (int(fields[i]) / self._TICK for i in (11, 12))
        with open(f"/proc/{pid}/status") as f:
            status = dict(line.rstrip("\n").split(":", 1) for line in f)
        self.peak_mib = int(status["VmHWM"].split()[0]) / 1024
        self.mib = int(status["VmRSS"].split()[0]) / 1024

    @property
    def cpu(self):
        return self.user + self.system


def settle(pid, limit=60):
    """Waits until the process does hardly anything any more (1 % of a core); what it used by then."""
    deadline = time.monotonic() + limit
    last = Usage(pid)
    while time.monotonic() < deadline:
        time.sleep(1)
        now = Usage(pid)
        if now.cpu - last.cpu <= 0.011:
            return now
        last = now
    return last


class Bindings:
    """A watch that sees each pod once: when it has a node. The times are when we read of it."""

    def __init__(self, client, only=None):
        self._client = client
        self._lock = threading.Condition()
        self.count, self.first, self.last = 0, None, None
        self._failed = None
        self._selector = "spec.nodeName!=" + (f",metadata.name={only}" if only else "")
        headers = {"Accept": METADATA.format("PartialObjectMetadataList")}
        query = {"fieldSelector": self._selector, "limit": 1}
        code, _, body = client.exchange("GET", path_of("pods"), headers=headers, query=query)
        if code != 200:
            raise Failed(f"listing pods: {code} {body.decode(errors='replace')}")
        self._version = json.loads(body)["metadata"]["resourceVersion"]
        answer = self._open()
        threading.Thread(target=self._follow, args=(answer,), daemon=True).start()

    def wait(self, count, still_runs=lambda: True):
        """Until so many pods are bound."""
        moved = time.monotonic()
        with self._lock:
            seen = self.count
            while self.count < count:
                self._lock.wait(1)
                if self.count != seen:
                    seen, moved = self.count, time.monotonic()
                elif self._failed:
                    raise Failed(f"the watch of the pods ended: {self._failed}")
                elif not still_runs():
                    raise Failed(f"the scheduler ended with {seen} of {count} pods bound")
                elif time.monotonic() - moved > PATIENCE:
                    raise Failed(f"no binding for {PATIENCE} s, {seen} of {count} pods bound")

    def _open(self):
        query = {"watch": "true", "fieldSelector": self._selector, "resourceVersion": self._version}
        path = f"{path_of('pods')}?{urllib.parse.urlencode(query)}"
        headers = self._client.headers({"Accept": METADATA.format("PartialObjectMetadata")})
        connection = self._client.connect(timeout=None)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        if answer.status != 200:
            raise OSError(f"watching pods: {answer.status}")
        return answer

    def _follow(self, answer):
        """Reads; a server short of time cuts watches, so goes on from where it was."""
        try:
            while True:
                while line := answer.readline():
                    self._take(json.loads(line), time.monotonic())
                answer = self._open()
        except (OSError, ValueError, http.client.HTTPException) as error:
            with self._lock:
                self._failed = str(error) or repr(error)
                self._lock.notify_all()

    def _take(self, event, now):
        if event["type"] == "ERROR":
            raise OSError(event["object"].get("message", ""))
        self._version = event["object"]["metadata"]["resourceVersion"]
        if event["type"] != "ADDED":
            return
        with self._lock:
            self.count += 1
            self.first = self.first or now
            self.last = now
            self._lock.notify_all()


def count_of(client, resource, selector=None):
    """How many there are, without having them sent."""
    query = {"limit": 1, **({"fieldSelector": selector} if selector else {})}
    headers = {"Accept": METADATA.format("PartialObjectMetadataList")}
    code, _, body = client.exchange("GET", path_of(resource), headers=headers, query=query)
    listed = json.loads(body)
    if code != 200:
        raise Failed(f"listing {resource}: {code} {listed.get('message', '')}")
    items = listed.get("items") or []
    # The server does not tell how many remain when there is a selector.
    if listed["metadata"].get("continue") and "remainingItemCount" not in listed["metadata"]:
        return len(client.list(resource, fieldSelector=selector))
    return len(items) + listed["metadata"].get("remainingItemCount", 0)


# ---------------------------------------------------------------------------------------------
# What is run.


class Bench:
    def __init__(self, options, binaries, folder):
        self._options, self._binaries, self._folder = options, binaries, folder
        self._count = 0

    def pods(self, program):
        """Many pods onto empty nodes; the figures of that scheduler."""
        with self._server() as running:
            self._load(running, "-nodes", self._options.nodes)
            watch = Bindings(running.client)
            if self._options.pods_first:
                made = self._load(running, "-pods", self._options.pods)
            scheduler = self._start(running, program)
            scheduler.wait_ready(180)
            pid = scheduler.child.pid
            before = Usage(pid) if self._options.pods_first else settle(pid)
            if not self._options.pods_first:
                made = self._load(running, "-pods", self._options.pods)
            watch.wait(self._options.pods, scheduler.child.running)
            at_last = Usage(pid)
            # Events come after the bindings, and are part of the price.
            after = settle(pid)
            left = count_of(running.client, "pods", "spec.nodeName=")
            if left:
                raise Failed(f"{left} pods have no node")
            metrics = scheduler.metrics()
            figures = {
                "pods_per_second": _rate(watch),
                "created_per_second": self._options.pods / made,
                "cpu_ms_per_pod": _per_pod(after.cpu - before.cpu, watch),
                "cpu_user_ms_per_pod": _per_pod(after.user - before.user, watch),
                "cpu_system_ms_per_pod": _per_pod(after.system - before.system, watch),
                "cpu_ms_per_pod_at_last_binding": _per_pod(at_last.cpu - before.cpu, watch),
                "peak_mib": after.peak_mib,
                "before_mib": before.mib,
                "algorithm_ms": _average_ms(metrics, "scheduler_scheduling_algorithm_duration_seconds"),
                "events": count_of(running.client, "newevents"),
                "attempts_failed": _failed_attempts(metrics),
            }
            scheduler.stop()
            return figures

    def bare(self):
        """Bindings and nothing else, from a client that knows the node before."""
        with self._server() as running:
            self._load(running, "-nodes", self._options.nodes)
            self._load(running, "-pods", self._options.pods)
            names = [p["metadata"]["name"] for p in running.client.list("pods", "default")]
            watch = Bindings(running.client)
            make = functools.partial(cluster_burst.binding, pods=names, nodes=self._options.nodes)
            cluster_burst.post_all(running.burst(servers.SCHEDULER_TOKEN), len(names), make)
            watch.wait(len(names))
            return {"pods_per_second": _rate(watch)}

    def starts(self, programs):
        """Each scheduler in turn, from nothing to its first binding beside many bound pods."""
        nodes, bound = self._options.nodes, self._options.bound
        with self._server() as running:
            self._load(running, "-nodes", nodes)
            say(f"  {bound:,} bound pods ...")
            start = time.monotonic()
            make = functools.partial(cluster_burst.bound_pod, nodes=nodes)
            cluster_burst.post_all(running.burst(servers.ADMIN_TOKEN), bound, make)
            say(f"  {bound:,} bound pods in {time.monotonic() - start:.1f} s")
            time.sleep(min(10, bound / 10000))  # the server comes to rest
            for name, program in programs:
                say(f"{name}: start beside {bound:,} bound pods")
                yield name, attempt(self._start_once, running, program)

    def _start_once(self, running, program):
        self._count += 1
        name = f"first-{self._count}"
        watch = Bindings(running.client, only=name)
        running.client.create("pods", objects.pod(name, memory="500Mi"), "default")
        start = time.monotonic()
        scheduler = self._start(running, program)
        try:
            watch.wait(1, scheduler.child.running)
            used = Usage(scheduler.child.pid)
        finally:
            scheduler.stop()
        return {"seconds": watch.first - start, "cpu_seconds": used.cpu, "peak_mib": used.peak_mib}

    def _server(self):
        self._count += 1
        folder = os.path.join(self._folder, f"server-{self._count}")
        os.makedirs(folder)
        return Running(folder, self._binaries)

    def _start(self, running, program):
        name = f"scheduler-{self._count}"
        scheduler = Scheduler(program, name, running.folder, running.kubeconfig(), flags=FLAGS)
        running.schedulers.append(scheduler)
        return scheduler

    def _load(self, running, what, count):
        """Has `load` make nodes or pods; how many seconds that took."""
        program = servers.upstream_program("load")
        command = [program, "-kubeconfig", running.kubeconfig(servers.ADMIN_TOKEN), what, str(count)]
        start = time.monotonic()
        ran = subprocess.run(command, capture_output=True, text=True)
        seconds = time.monotonic() - start
        # It prints one line, and one for each object that the server refused.
        lines = ran.stdout.strip().splitlines()
        if ran.returncode != 0 or len(lines) != 1:
            raise Failed(f"load {what} {count}: " + "\n".join(lines[:3] + ran.stderr.splitlines()[:3]))
        say(f"  {count:,} {what[1:]} in {seconds:.1f} s")
        return seconds


class Running:
    """A real API server while it runs, and the schedulers started at it."""

    def __init__(self, folder, binaries):
        self.folder = folder
        self.schedulers = []
        self._server = servers.RealServer(folder, binaries)

    def __enter__(self):
        try:
            self._server.start()
        except BaseException:
            self._server.stop()
            raise
        self.client = self._server.client()
        return self

    def __exit__(self, kind, error, trace):
        if kind is Failed or kind is AssertionError:
            for scheduler in self.schedulers:
                say(f"--- {scheduler.child.log}\n{tail(scheduler.child.log, 10)}")
        for scheduler in self.schedulers:
            scheduler.stop()
        self._server.stop()
        # Hundreds of megabytes that nobody needs while the next one runs.
        shutil.rmtree(os.path.join(self.folder, "etcd"), ignore_errors=True)

    def kubeconfig(self, token=servers.SCHEDULER_TOKEN):
        path = os.path.join(self.folder, f"{token}.kubeconfig")
        server = self._server
        return servers.write_kubeconfig(path, server.url, server.user(token), server.cluster())

    def burst(self, token):
        return cluster_burst.Server("127.0.0.1", self._server.port, token, self._server.ca)


def _rate(watch):
    return (watch.count - 1) / (watch.last - watch.first) if watch.count > 1 else None


def _per_pod(seconds, watch):
    return 1000 * seconds / watch.count


def _average_ms(metrics, family):
    count = metrics.value(family + "_count")
    return 1000 * metrics.value(family + "_sum") / count if count else None


def _failed_attempts(metrics):
    every = metrics.value("scheduler_schedule_attempts_total") or 0
    return int(every - (metrics.value("scheduler_schedule_attempts_total", result="scheduled") or 0))


def attempt(function, *arguments):
    """What it returns; or, when it fails, why."""
    try:
        return function(*arguments)
    except (Failed, AssertionError, OSError, RuntimeError) as error:
        say(f"  failed: {error}")
        return {"failed": str(error)}


# ---------------------------------------------------------------------------------------------
# What is shown.

POD_ROWS = (
    ("pods_per_second", "pods per second, first to last binding", "{:,.0f}"),
    ("created_per_second", "pods created per second", "{:,.0f}"),
    ("cpu_ms_per_pod", "scheduler's CPU per pod, ms", "{:.3f}"),
    ("cpu_user_ms_per_pod", "  in the program", "{:.3f}"),
    ("cpu_system_ms_per_pod", "  in the kernel", "{:.3f}"),
    ("algorithm_ms", "scheduling algorithm, average, ms", "{:.3f}"),
    ("peak_mib", "peak memory, MiB", "{:,.0f}"),
    ("before_mib", "memory before the first pod, MiB", "{:,.0f}"),
    ("events", "events written", "{:,}"),
    ("attempts_failed", "attempts that failed", "{:,}"),
)
START_ROWS = (
    ("seconds", "process start to first binding, s", "{:.2f}"),
    ("cpu_seconds", "scheduler's CPU until then, s", "{:.2f}"),
    ("peak_mib", "peak memory until then, MiB", "{:,.0f}"),
)


def table(title, rows, results):
    """Figures by name of scheduler, in Markdown, which is readable as it is."""
    names = list(results)
    lines = [[title] + names]
    for key, label, form in rows:
        cells = [results[n].get(key) for n in names]
        if any(c is not None for c in cells):
            lines.append([label] + ["" if c is None else form.format(c) for c in cells])
    if any("failed" in r for r in results.values()):
        lines.append(["failed"] + [results[n].get("failed", "").split("\n")[0][:60] for n in names])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    lines.insert(1, ["-" * widths[0]] + ["-" * (w - 1) + ":" for w in widths[1:]])
    return "\n".join(
        "| " + " | ".join([line[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(line[1:], widths[1:])]) + " |"
        for line in lines
    )


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
    parser.add_argument("--nodes", type=int, default=5000, metavar="N")
    parser.add_argument("--pods", type=int, default=5000, metavar="N", help="to be scheduled")
    parser.add_argument("--bound", type=int, default=150000, metavar="N", help="pods there at a start")
    parser.add_argument(
        "--scheduler", action="append", metavar="PATH",
        help="what to measure, may be given again; default: berth and upstream's",
    )  # fmt: skip
    parser.add_argument("--berth", default=os.path.join(ROOT, "build", "release", "bin", "berth"))
    parser.add_argument("--skip-pods", action="store_true", help="only the start")
    parser.add_argument("--skip-start", action="store_true", help="only the pods")
    parser.add_argument("--skip-bare", action="store_true", help="no bare client for comparison")
    parser.add_argument(
        "--pods-first", action="store_true",
        help="make all pods before the scheduler starts; its CPU then has the start in it",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of tables")
    options = parser.parse_args()
    if min(options.nodes, options.pods, options.bound) < 1:
        parser.error("--nodes, --pods and --bound take numbers above 0")
    most = max(0 if options.skip_pods else options.pods, 0 if options.skip_start else options.bound)
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
