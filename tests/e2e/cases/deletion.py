"""Pods deleted at every station of their way."""
import re
import threading

from harness.faulty_proxy import answer, hold, is_bind
from harness.objects import priority_class
from harness.registry import case


def storage(w):
    """A claim that nobody will ever provide for: its pod waits before binding."""
    w.api.create(
        "storageclasses",
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "e2e-late"},
            "provisioner": "example.com/nobody",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
    )
    w.api.create(
        "persistentvolumeclaims",
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "e2e-late",
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
        w.namespace,
    )
    return [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]


def nothing_pending(w, scheduler):
    def empty():
        metrics = scheduler.metrics()
        queues = ("active", "backoff", "unschedulable", "gated")
        return all(metrics.value("scheduler_pending_pods", queue=q) == 0 for q in queues)

    w.eventually("empty queues", empty)


@case()
def while_it_waits_for_room(w):
    w.node("small", cpu="1")
    scheduler = w.start_scheduler()
    w.pod("big", cpu="3")
    w.unschedulable("big")
    w.delete_pod("big")
    w.gone("big")
    nothing_pending(w, scheduler)
    w.node("large", cpu="4")
    w.pod("next", cpu="4")
    assert w.bound("next") == ["large"]
    assert scheduler.child.running()


@case()
def while_it_is_gated(w):
    w.node("only")
    scheduler = w.start_scheduler()
    w.pod("gated", schedulingGates=[{"name": "example.com/wait"}])
    w.eventually(
        "one gated pod",
        lambda: scheduler.metrics().value("scheduler_pending_pods", queue="gated") == 1,
    )
    w.delete_pod("gated")
    w.gone("gated")
    nothing_pending(w, scheduler)


@case()
def while_it_waits_for_its_volume(w):
    w.node("only", cpu="2")
    volumes = storage(w)
    w.start_scheduler()
    w.pod("waiting", cpu="2", volumes=volumes)

    def chosen():
        claim = w.api.get("persistentvolumeclaims", w.namespace, "data")
        notes = claim["metadata"].get("annotations") or {}
        return notes.get("volume.kubernetes.io/selected-node") == "only"

    w.eventually("the claim to know its node", chosen)
    assert w.unbound("waiting")
    # It holds its room meanwhile, and gives it back when it goes.
    w.pod("next", cpu="2")
    w.unschedulable("next")
    w.delete_pod("waiting")
    w.gone("waiting")
    assert w.bound("next") == ["only"]
    w.event("waiting", "FailedScheduling", re.compile("pod does not exist any more"))


@case()
def while_it_waits_for_its_victim_to_go(w):
    w.api.create("priorityclasses", priority_class("e2e-high", 1000))
    w.node("only", cpu="2")
    w.pod("victim", cpu="2", grace=600)
    w.api.bind(w.namespace, "victim", "only")
    w.start_scheduler()
    w.pod("important", cpu="2", priorityClassName="e2e-high")
    w.eventually(
        "the nomination",
        lambda: w.get_pod("important")["status"].get("nominatedNodeName") == "only",
    )
    w.pod("next", cpu="2")
    w.unschedulable("next")
    w.delete_pod("important")
    w.gone("important")
    # What was promised is free for others now.
    w.delete_pod("victim", grace=0)
    assert w.bound("next") == ["only"]


@case()
def while_it_waits_for_another_try(w):
    w.node("only", cpu="2")
    proxy = w.proxy()
    text = "Internal error occurred: no luck today"
    rule = proxy.on(is_bind("unlucky"), answer(500, "InternalError", text))
    scheduler = w.start_scheduler(through=proxy)
    w.pod("unlucky", cpu="2")
    w.unschedulable("unlucky", reason="SchedulerError")
    w.delete_pod("unlucky")
    w.gone("unlucky")
    nothing_pending(w, scheduler)
    tries = rule.done
    w.pod("next", cpu="2")
    assert w.bound("next") == ["only"]
    assert rule.done == tries, "a pod that is gone was bound again"


@case()
def while_it_is_being_bound(w):
    w.node("only", cpu="2")
    proxy = w.proxy()
    go_on = threading.Event()
    w.at_end(go_on.set)
    held = proxy.on(is_bind("short"), hold(go_on), times=1)
    scheduler = w.start_scheduler(through=proxy)
    w.pod("short", cpu="2")
    w.eventually("the bind to be on its way", lambda: held.done == 1)
    w.delete_pod("short")
    w.gone("short")
    go_on.set()
    w.eventually("the refusal", lambda: proxy.binds("short", 404))
    w.pod("next", cpu="2")
    assert w.bound("next") == ["only"]
    nothing_pending(w, scheduler)


@case()
def and_made_again_under_the_same_name(w):
    w.node("only", cpu="2")
    proxy = w.proxy()
    go_on = threading.Event()
    w.at_end(go_on.set)
    held = proxy.on(is_bind("twin"), hold(go_on), times=1)
    w.start_scheduler(through=proxy)
    first = w.pod("twin", cpu="2")["metadata"]["uid"]
    w.eventually("the bind to be on its way", lambda: held.done == 1)
    w.delete_pod("twin")
    w.gone("twin")
    second = w.pod("twin", cpu="1")["metadata"]["uid"]
    go_on.set()
    # The held bind was for the first; the server refuses it by its uid.
    w.eventually("the refusal", lambda: proxy.binds("twin", 409))
    assert w.bound("twin") == ["only"]
    assert w.get_pod("twin")["metadata"]["uid"] == second != first
    w.bound_once(proxy, "twin")


@case()
def a_bound_pod_gives_its_room_back(w):
    w.node("only", cpu="2")
    w.start_scheduler()
    for i in range(4):
        w.pod(f"pod-{i}", cpu="2")
        assert w.bound(f"pod-{i}") == ["only"]
        w.delete_pod(f"pod-{i}")
        w.gone(f"pod-{i}")


@case()
def a_node_that_goes_takes_nobody_with_it(w):
    w.node("leaving", cpu="4")
    scheduler = w.start_scheduler()
    w.pod("resident", cpu="1")
    w.bound("resident")
    w.api.delete("nodes", "leaving")
    # Nodes and pods are two watches: the pod must not arrive first.
    handled = "scheduler_event_handling_duration_seconds_count"
    w.eventually("the node to be gone", lambda: scheduler.metrics().value(handled, event="NodeDelete"))
    w.pod("web", cpu="1")
    w.unschedulable("web", "no nodes available to schedule pods")
    w.node("coming", cpu="4")
    assert w.bound("web") == ["coming"]
    assert scheduler.child.running()
