#!/usr/bin/env python3
"""Asks a running scheduler for everything that packaging/monitoring/ asks Prometheus for.

    check_monitoring_served.py PATH-OF-BERTH

`berth scheduler` is given work by a `berth apiserver`: pods that are bound, that preempt, that fit nowhere, that are
gated. Then each series that a query of the dashboard or of an alert names is in /metrics, with the labels that the
query matches, groups by or shows, and with a value that it matches. Only what is listed here may be missing. Run from
the top of the tree.
"""
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import check_monitoring
from check_monitoring import LABEL_LISTS, OF_TARGETS, selectors

# What a cluster in good order does not show with the default plugins.
NEEDS_MORE = {
    "berth_undecodable_objects_total": "an object that cannot be decoded",
    "rest_client_request_retries_total": "requests that are sent again",
    "scheduler_permit_wait_duration_seconds": "pods that a Permit plugin holds",
    "scheduler_pod_scheduled_after_flush_total": "a pod that no event woke",
    "scheduler_volume_scheduling_stage_error_total": "a volume that cannot be bound",
    "dynamic_resource_allocation_resourceclaim_creates_total": "extended resources that are devices",
    "scheduler_dra_bindingconditions_allocations_total": "devices with binding conditions",
    "scheduler_dra_bindingconditions_wait_duration_seconds": "devices with binding conditions",
}
NEEDS_FAILURES = {("result", "error")}  # of attempts and of calls
CLIENT = urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                     urllib.request.HTTPSHandler(context=ssl._create_unverified_context()))
faults = []


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, seconds, condition):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"in vain: {what}")
        time.sleep(0.05)


class Cluster:
    """An API server and a scheduler, as processes."""

    def __init__(self, folder):
        self._api, self._port = f"http://127.0.0.1:{free_port()}", free_port()
        self._folder = folder
        self._log = open(os.path.join(folder, "log"), "wb")
        self._started = []

    def start(self, berth):
        kubeconfig = os.path.join(self._folder, "kubeconfig")
        self._start(berth, "apiserver", "--listen", self._api.removeprefix("http://"), "--write-kubeconfig", kubeconfig, "--controllers=*")
        wait_for("an API server", 120, lambda: self.answers(f"{self._api}/readyz") and os.path.exists(kubeconfig))
        self._start(berth, "scheduler", "--kubeconfig", kubeconfig, "--bind-address=127.0.0.1", f"--secure-port={self._port}",
                    "--authorization-always-allow-paths=/metrics,/readyz")
        wait_for("a scheduler", 120, lambda: self.answers(f"https://127.0.0.1:{self._port}/readyz"))

    def _start(self, *command):
        self._started.append(subprocess.Popen(command, stdout=self._log, stderr=self._log))

    def stop(self):
        for process in reversed(self._started):
            process.terminate()
        for process in self._started:
            process.wait(30)
        self._log.close()

    @staticmethod
    def answers(url):
        try:
            with CLIENT.open(url, timeout=5) as answer:
                return answer.status == 200
        except (OSError, urllib.error.HTTPError):
            return False

    def call(self, method, path, body=None):
        request = urllib.request.Request(self._api + path, method=method, data=json.dumps(body).encode() if body else None,
                                         headers={"Content-Type": "application/json"})
        with CLIENT.open(request, timeout=30) as answer:
            return json.load(answer)

    def pod(self, name, cpu, **spec):
        self.call("POST", "/api/v1/namespaces/default/pods", {
            "metadata": {"name": name},
            "spec": {"containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": cpu}}}], **spec}})

    def bound(self):
        return {pod["metadata"]["name"] for pod in self.call("GET", "/api/v1/namespaces/default/pods")["items"]
                if pod["spec"].get("nodeName")}

    def metrics(self):
        with CLIENT.open(f"https://127.0.0.1:{self._port}/metrics", timeout=30) as answer:
            return answer.read().decode()


def give_work(cluster):
    for index in range(3):
        cluster.call("POST", "/api/v1/nodes", {"metadata": {"name": f"n{index}"}, "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "20"}}})
    for index in range(12):
        cluster.pod(f"p{index}", "1")
    wait_for("pods that are bound", 120, lambda: len(cluster.bound()) == 12)
    cluster.call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "urgent"}, "value": 1000})
    cluster.pod("large", "9")
    cluster.pod("gated", "1", schedulingGates=[{"name": "example.com/wait"}])
    cluster.pod("urgent", "2", priorityClassName="urgent")
    wait_for("a pod that preempts", 120, lambda: "urgent" in cluster.bound())


def samples(text):
    """{series: [its labels]}"""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, labels = re.match(r"(\w+)(?:\{(.*)\})? ", line).groups()
            found.setdefault(name, []).append(dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")))
    return found


def is_listed(name):
    return re.sub(r"_(bucket|sum|count)$", "", name) in NEEDS_MORE or name in NEEDS_MORE


def matches_of(matchers):
    """(label, operator, value) of each matcher that no variable of the dashboard and no target decides."""
    return [match for match in re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"', matchers)
            if match[0] not in OF_TARGETS and "$" not in match[2]]


def check_query(where, expression, shown, served):
    """`shown`: the labels that its legend or its texts speak of."""
    asked = [(name, matchers) for name, matchers in selectors(expression) if name != "up" and not is_listed(name)]
    for name, matchers in asked:
        if name not in served:
            faults.append(f"{where}: /metrics has no {name}")
            return
        for label, operator, value in matches_of(matchers):
            values = {labels[label] for labels in served[name] if label in labels}
            if not values:
                faults.append(f"{where}: {name} has no label {label}")
            elif operator == "=" and value not in values and (label, value) not in NEEDS_FAILURES:
                faults.append(f"{where}: no {name} has {label}=\"{value}\", only {sorted(values)}")
    if len(asked) < len([name for name, _ in selectors(expression) if name != "up"]):
        return
    grouped = {label for labels in re.findall(LABEL_LISTS, expression) for label in re.findall(r"\w+", labels)}
    known = {label for name, _ in asked for labels in served[name] for label in labels}
    for label in (shown | grouped) - OF_TARGETS - known:
        faults.append(f"{where}: nothing that it asks for has a label {label}")


def queries():
    """(where, expression, labels that its legend or its texts show)"""
    for name, fields in check_monitoring.alerts():
        texts = fields.get("summary", "") + fields.get("description", "")
        yield name, fields["expr"], set(re.findall(r"\$labels\.(\w+)", texts))
    dashboard = json.loads(check_monitoring.read("dashboard.json"))
    rows = [panel for panel in dashboard["panels"] if panel["type"] == "row"]
    for panel in dashboard["panels"] + [panel for row in rows for panel in row["panels"]]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"], set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))


def main():
    berth = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="berth-monitoring-") as folder:
        cluster = Cluster(folder)
        try:
            cluster.start(berth)
            give_work(cluster)
            served = samples(cluster.metrics())
        finally:
            cluster.stop()
    count = 0
    for where, expression, shown in queries():
        count += 1
        check_query(where, expression, shown, served)
    if count < 80:
        faults.append(f"only {count} queries found: this check is out of date")
    asked = {name for _, expression, _ in queries() for name, _ in selectors(expression)}
    for name in NEEDS_MORE:
        if not any(series.startswith(name) for series in asked):
            faults.append(f"{name} is listed here, and no query asks for it")
    print("\n".join(sorted(set(faults))))
    sys.exit(1 if faults else 0)


main()
