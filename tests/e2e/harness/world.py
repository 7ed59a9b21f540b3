"""What a case works with: a server, an empty cluster, a namespace, and schedulers to start."""
import os
import re
import time

from . import objects
from .client import ApiError, History
from .extender import Extender
from .faulty_proxy import FaultyProxy
from .process import wait_until
from .registry import Skip
from .schedulers import Scheduler, SchedulerEnded
from .servers import SCHEDULER_TOKEN, write_kubeconfig


class World:
    """Handed to each case. Everything started through it ends with the case."""

    # Nodes that a case fills beyond their room by its own hand.
    may_overflow = ()

    def __init__(self, server, namespace, folder, programs):
        self.server, self.namespace, self.folder, self.programs = server, namespace, folder, programs
        self.api = server.client()
        self.schedulers, self.extenders, self._proxies, self._endings = [], [], [], []
        self.api.create("namespaces", {"metadata": {"name": namespace}})
        self.history = History(self.api, "pods", namespace)

    # -- programs -----------------------------------------------------------------------------

    def kubeconfig(self, name="scheduler", server=None, user=None, cluster=None):
        path = os.path.join(self.folder, f"{name}.kubeconfig")
        return write_kubeconfig(
            path,
            server or self.server.url,
            self.server.user() if user is None else user,
            self.server.cluster() if cluster is None else cluster,
        )

    def start_scheduler(self, name=None, through=None, config=None, flags=(), kubeconfig=None,
                        program=None, ready=True, env=None):  # fmt: skip
        """Starts the scheduler under test; `through` is a proxy to go by."""
        name = name or f"scheduler-{len(self.schedulers)}"
        if kubeconfig is None:
            kubeconfig = self.kubeconfig(
                name,
                server=through.url if through else None,
                cluster={} if through else None,
            )
        program = program or self.programs.scheduler
        for attempt in range(3):
            scheduler = Scheduler(program, name, self.folder, kubeconfig, config, flags, env)
            self.schedulers.append(scheduler)
            if not ready:
                return scheduler
            try:
                return scheduler.wait_ready()
            except SchedulerEnded:
                # Somebody else on this machine took the port in the meantime.
                if attempt == 2 or "address already in use" not in scheduler.log():
                    raise
        raise AssertionError("not reached")

    def proxy(self, **options):
        proxy = FaultyProxy(self.server, token=SCHEDULER_TOKEN, **options)
        self._proxies.append(proxy)
        return proxy

    def extender(self, **answers):
        """A webhook for the scheduler's configuration (extender.py)."""
        extender = Extender(**answers)
        self.extenders.append(extender)
        return extender

    def at_end(self, function):
        self._endings.append(function)

    def close(self):
        for function in reversed(self._endings):
            function()
        for scheduler in self.schedulers:
            scheduler.child.kill()
        for helper in self._proxies + self.extenders:
            helper.close()
        self.history.stop()
        self.api.close()

    # -- objects ------------------------------------------------------------------------------

    def node(self, name, **more):
        """Creates a node, ready and without a taint that the server adds by itself."""
        wanted = objects.node(name, **more)
        made = self.api.create("nodes", wanted)
        if (made["spec"].get("taints") or []) != (wanted["spec"].get("taints") or []):
            if not wanted["spec"].get("unschedulable"):
                made["spec"]["taints"] = wanted["spec"].get("taints") or []
                made = self.api.update("nodes", made)
        return made

    def nodes(self, count, prefix="node-", **more):
        return [self.node(f"{prefix}{i}", **more) for i in range(count)]

    def pod(self, name, **more):
        return self.api.create("pods", objects.pod(name, **more), self.namespace)

    def pods(self, count, prefix="pod-", **more):
        return [self.pod(f"{prefix}{i}", **more) for i in range(count)]

    def get_pod(self, name):
        return self.api.get("pods", self.namespace, name)

    def delete_pod(self, name, grace=None):
        return self.api.delete("pods", name, self.namespace, grace)

    def gone(self, name, seconds=60):
        wait_until(
            f"{name} to be gone",
            lambda: self.api.find("pods", self.namespace, name) is None,
            seconds,
        )

    def edit(self, resource, name, change, namespace=None):
        """Reads, changes, writes; again when somebody else was quicker."""
        for _ in range(20):
            item = self.api.get(resource, namespace, name)
            change(item)
            try:
                return self.api.update(resource, item, namespace)
            except ApiError as error:
                if error.code != 409:
                    raise
        raise AssertionError(f"{resource} {name} changes all the time")

    # -- waiting ------------------------------------------------------------------------------

    def eventually(self, what, check, seconds=60):
        return wait_until(what, check, seconds)

    def always(self, what, check, seconds=1.5):
        """Holds for as long: for what must not happen, which no condition can announce."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not check():
                raise AssertionError(f"no longer so: {what}")
            time.sleep(0.05)

    def bound(self, *names, seconds=60):
        """Waits until all of them have a node; their nodes in that order."""
        found = {}

        def all_bound():
            items = {p["metadata"]["name"]: p for p in self.api.list("pods", self.namespace)}
            for name in names:
                found[name] = (items.get(name) or {"spec": {}})["spec"].get("nodeName", "")
            return all(found.values())

        try:
            self.eventually(f"{', '.join(names[:8])} to be bound", all_bound, seconds)
        except AssertionError as error:
            waiting = [n for n in names if not found.get(n)]
            why = [condition(self.api.find("pods", self.namespace, n), "PodScheduled") for n in waiting[:3]]
            raise AssertionError(f"{error}; without a node: {waiting[:8]}, {why}") from None
        return [found[name] for name in names]

    def bound_once(self, proxy, *names):
        """Each of them got its node by exactly one request through the proxy."""
        for name in names:
            # The answer passes the proxy a little later than it takes effect.
            self.eventually(f"the answer to the bind of {name}", lambda: proxy.binds(name, 201))
            seen = [e.code for e in proxy.binds(name)]
            assert seen.count(201) == 1, f"the binds of {name} were answered with {seen}"

    def unbound(self, name):
        return not self.get_pod(name)["spec"].get("nodeName")

    def unschedulable(self, name, message=None, reason="Unschedulable", seconds=60):
        """Waits for the condition PodScheduled=False, with that message; the condition."""
        seen = {}

        def refused():
            found = condition(self.api.find("pods", self.namespace, name), "PodScheduled") or {}
            seen.update(found)
            if found.get("status") != "False" or found.get("reason") != reason:
                return None
            return found if message is None or _matches(message, found.get("message", "")) else None

        try:
            return self.eventually(f"{name} to be {reason}", refused, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; the condition is {seen}, wanted {message!r}") from None

    def events(self, name=None, reason=None):
        """The events about a pod (or all of the namespace), as events.k8s.io/v1."""
        found = self.api.list("newevents", self.namespace)
        return [
            e
            for e in found
            if (name is None or e.get("regarding", {}).get("name") == name)
            and (reason is None or e.get("reason") == reason)
        ]

    def event(self, name, reason, note=None, seconds=60):
        """Waits for an event about the pod."""

        def seen():
            found = self.events(name, reason)
            return [e for e in found if note is None or _matches(note, e.get("note", ""))]

        try:
            return self.eventually(f"an event {reason} about {name}", seen, seconds)[0]
        except AssertionError as error:
            have = [(e.get("reason"), e.get("note")) for e in self.events(name)]
            raise AssertionError(f"{error}; there are {have}, wanted {note!r}") from None

    # -- what must hold after every case ---------------------------------------------------------

    def check_invariants(self):
        """No pod has ever had two nodes, and no node carries more than it has."""
        nodes_of = {}
        for kind, item in self.history.events():
            node = item["spec"].get("nodeName")
            if node and kind != "DELETED":
                nodes_of.setdefault(item["metadata"]["uid"], set()).add(node)
        twice = {uid: nodes for uid, nodes in nodes_of.items() if len(nodes) > 1}
        assert not twice, f"pods that had two nodes: {twice}"
        room = {
            n["metadata"]["name"]: _milli(n["status"].get("allocatable", {}).get("cpu", "0"))
            for n in self.api.list("nodes")
        }
        used = dict.fromkeys(room, 0)
        for item in self.api.list("pods"):
            node = item["spec"].get("nodeName")
            if node in used and item.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
                used[node] += sum(
                    _milli(c.get("resources", {}).get("requests", {}).get("cpu", "0"))
                    for c in item["spec"]["containers"]
                )
        over = {n: (used[n], room[n]) for n in room if used[n] > room[n] and n not in self.may_overflow}
        assert not over, f"nodes with more than they can carry (mCPU, used and there): {over}"
        for scheduler in self.schedulers:
            log = scheduler.log()
            for trace in ("panic:", "SIGSEGV", "AddressSanitizer", "terminate called", "runtime error:"):
                assert trace not in log, f"{scheduler.name} logged {trace!r}"

    def skip(self, why):
        raise Skip(why)


def condition(pod, kind):
    for found in ((pod or {}).get("status") or {}).get("conditions") or []:
        if found["type"] == kind:
            return found
    return None


def _matches(wanted, text):
    if isinstance(wanted, re.Pattern):
        return wanted.search(text) is not None
    return text == wanted


def _milli(quantity):
    return int(quantity[:-1]) if quantity.endswith("m") else int(float(quantity) * 1000)
