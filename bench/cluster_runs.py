"""Servers, schedulers and pods that cluster.py measures: N pods onto N nodes, as they are made and all at
once; a bare client that only binds; a start, and the beginning of a leader, beside many bound pods.
"""
import functools
import os
import re
import shutil
import subprocess
import time

import cluster_burst
from cluster_measure import Bindings, Failed, Usage, count_of, say, settle
from harness import objects, servers
from harness.process import tail, wait_until
from harness.schedulers import QUICK_ELECTION, Scheduler

# For both alike: what holds them back shall be the server, not the limit on their own requests.
FLAGS = ("--kube-api-qps=5000", "--kube-api-burst=5000", "-v=0")


class Bench:
    def __init__(self, options, binaries, folder):
        self._options, self._binaries, self._folder = options, binaries, folder
        self._count = 0

    def pods(self, program):
        """Many pods onto empty nodes, twice; the figures of that scheduler."""
        with self._server() as running:
            self._load(running, "-nodes", self._options.nodes)
            figures = self._as_they_come(running, program)
            if not self._options.skip_backlog:
                figures.update(self._all_at_once(running, program))
            return figures

    def _as_they_come(self, running, program):
        """The scheduler is there, idle, when the pods come. Making them and binding them compete for the
        same server and the same cores: the rate says how well it keeps up, the CPU what it costs."""
        watch = Bindings(running.client)
        scheduler = self._start(running, program)
        scheduler.wait_ready(180)
        pid = scheduler.child.pid
        before = settle(pid)
        begun = time.monotonic()
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
            "pods_per_second": watch.count / (watch.last - begun),
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

    def _all_at_once(self, running, program):
        """As many pods again, all there before the scheduler starts, so that nobody but it keeps the server
        busy: the rate is that of binding alone."""
        watch = Bindings(running.client)
        self._load(running, "-pods", self._options.pods)
        self._count += 1
        scheduler = self._start(running, program)
        watch.wait(self._options.pods, scheduler.child.running)
        figures = {"backlog_per_second": _rate(watch), "backlog_peak_mib": Usage(scheduler.child.pid).peak_mib}
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
            return {"backlog_per_second": _rate(watch)}

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
                figures = attempt(self._start_once, running, program)
                if "failed" not in figures:
                    say(f"{name}: leading begins beside {bound:,} bound pods")
                    figures.update(attempt(self._take_over, running, program))
                yield name, figures

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

    def _take_over(self, running, program):
        """One that stands by and has seen everything, from when it gains the lease of a leader that was killed
        to its first binding."""
        self._count += 1
        leader = self._start(running, program, "leader", QUICK_ELECTION)
        wait_until("the lease to be taken", lambda: _gained_lease_at(leader), 60)
        standby = self._start(running, program, "standby", QUICK_ELECTION)
        pid = standby.child.pid
        try:
            standby.wait_ready(180)
            before = settle(pid)
            leader.kill()
            name = f"first-{self._count}"
            watch = Bindings(running.client, only=name)
            running.client.create("pods", objects.pod(name, memory="500Mi"), "default")
            watch.wait(1, standby.child.running)
            used = Usage(pid)
        finally:
            leader.kill()
            standby.stop()
        bound_at = watch.first + time.time() - time.monotonic()
        return {
            "lead_seconds": bound_at - _gained_lease_at(standby),
            "lead_cpu_seconds": used.cpu - before.cpu,
            "lead_before_mib": before.peak_mib,
            "lead_peak_mib": used.peak_mib,
        }

    def _server(self):
        self._count += 1
        folder = os.path.join(self._folder, f"server-{self._count}")
        os.makedirs(folder)
        return Running(folder, self._binaries)

    def _start(self, running, program, role="scheduler", flags=()):
        name = f"{role}-{self._count}"
        scheduler = Scheduler(program, name, running.folder, running.kubeconfig(), flags=(*FLAGS, *flags))
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


def _gained_lease_at(scheduler):
    """When it says that it did, in seconds since the epoch; None: it has not yet."""
    said = re.search(r"^I(\d{4} [\d:]+)(\.\d+) .*successfully acquired lease", scheduler.log(), re.I | re.M)
    if not said:
        return None
    at = time.strptime(f"{time.localtime().tm_year}{said[1]}", "%Y%m%d %H:%M:%S")
    return time.mktime(at) + float(said[2])


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
