"""What a process costs, and when pods are bound: the instruments of cluster.py."""
import http.client
import json
import os
import sys
import threading
import time
import urllib.parse

from harness.client import path_of

METADATA = "application/json;as={};g=meta.k8s.io;v=v1,application/json"
PATIENCE = 120  # seconds without a binding until a run counts as failed


def say(text):
    print(text, file=sys.stderr, flush=True)


class Failed(Exception):
    pass


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
