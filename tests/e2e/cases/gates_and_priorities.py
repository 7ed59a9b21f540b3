"""Scheduling gates, and who goes first."""
from harness.objects import priority_class
from harness.registry import case
from harness.world import condition


def ungate(pod, *names):
    gates = [g for g in pod["spec"]["schedulingGates"] if g["name"] not in names]
    pod["spec"]["schedulingGates"] = gates


@case()
def a_gated_pod_waits_without_a_word(w):
    w.node("only")
    scheduler = w.start_scheduler()
    w.pod("gated", schedulingGates=[{"name": "example.com/wait"}])
    w.pod("free")
    w.bound("free")
    w.eventually(
        "one gated pod",
        lambda: scheduler.metrics().value("scheduler_pending_pods", queue="gated") == 1,
    )
    assert w.unbound("gated")
    assert condition(w.get_pod("gated"), "PodScheduled")["reason"] == "SchedulingGated"
    assert not w.events("gated", "FailedScheduling")


@case()
def the_last_gate_opens_the_way(w):
    w.node("only")
    scheduler = w.start_scheduler()
    gates = [{"name": "example.com/first"}, {"name": "example.com/second"}]
    w.pod("gated", schedulingGates=gates)
    w.edit("pods", "gated", lambda p: ungate(p, "example.com/first"), w.namespace)
    w.pod("marker")
    w.bound("marker")
    assert w.unbound("gated")
    w.edit("pods", "gated", lambda p: ungate(p, "example.com/second"), w.namespace)
    assert w.bound("gated") == ["only"]
    w.eventually(
        "no gated pod",
        lambda: scheduler.metrics().value("scheduler_pending_pods", queue="gated") == 0,
    )


@case()
def a_gated_pod_takes_no_room(w):
    w.node("only", cpu="2")
    w.start_scheduler()
    w.pod("gated", cpu="2", schedulingGates=[{"name": "example.com/wait"}])
    w.pod("free", cpu="2")
    assert w.bound("free") == ["only"]


@case()
def the_more_important_pod_goes_first(w):
    w.api.create("priorityclasses", priority_class("e2e-low", 10))
    w.api.create("priorityclasses", priority_class("e2e-high", 1000, preemptionPolicy="Never"))
    w.node("only", cpu="2")
    # Both are there before the scheduler is, the unimportant one first.
    w.pod("low", cpu="2", priorityClassName="e2e-low")
    w.pod("high", cpu="2", priorityClassName="e2e-high")
    w.start_scheduler()
    assert w.bound("high") == ["only"]
    w.unschedulable("low")


@case()
def the_priority_comes_from_the_class(w):
    w.api.create("priorityclasses", priority_class("e2e-some", 4711, preemptionPolicy="Never"))
    w.node("only")
    w.start_scheduler()
    made = w.pod("web", priorityClassName="e2e-some")
    assert made["spec"]["priority"] == 4711, made["spec"]
    assert made["spec"]["preemptionPolicy"] == "Never", made["spec"]
    w.bound("web")


@case()
def pods_of_the_same_priority_go_in_order(w):
    w.node("only", cpu="1")
    w.pods(1, prefix="early-", cpu="1")
    # Creation times have seconds; the order of arrival decides among equal ones, so look at both ends.
    w.start_scheduler()
    assert w.bound("early-0") == ["only"]
    w.pod("late", cpu="1")
    w.unschedulable("late")
