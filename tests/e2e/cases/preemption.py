"""A more important pod takes the place of others."""
import re

from harness.objects import budget, priority_class
from harness.registry import case
from harness.world import condition


def classes(w):
    w.api.create("priorityclasses", priority_class("e2e-low", 10))
    w.api.create("priorityclasses", priority_class("e2e-middle", 100))
    w.api.create("priorityclasses", priority_class("e2e-high", 1000))
    w.api.create("priorityclasses", priority_class("e2e-polite", 1000, preemptionPolicy="Never"))


def settled(w, name, node, **more):
    """A pod that has its node already."""
    w.pod(name, **more)
    w.api.bind(w.namespace, name, node)


@case()
def a_victim_goes_and_the_preemptor_comes(w):
    classes(w)
    w.node("only", cpu="2")
    settled(w, "victim", "only", cpu="2", priorityClassName="e2e-low")
    w.start_scheduler()
    w.pod("important", cpu="2", priorityClassName="e2e-high")
    assert w.bound("important") == ["only"]
    w.gone("victim")
    seen = [condition(p, "DisruptionTarget") for _, p in w.history.events("victim")]
    told = [c for c in seen if c]
    assert told, "the victim never had the condition DisruptionTarget"
    assert told[-1]["status"] == "True", told[-1]
    assert told[-1]["reason"] == "PreemptionByScheduler", told[-1]
    wanted = "default-scheduler: preempting to accommodate a higher priority pod"
    assert told[-1]["message"] == wanted, told[-1]
    uid = w.get_pod("important")["metadata"]["uid"]
    event = w.event("victim", "Preempted", f"Preempted by pod {uid} on node only")
    assert event["type"] == "Normal" and event["action"] == "Preempting", event
    w.event(
        "important",
        "FailedScheduling",
        "0/1 nodes are available: 1 Insufficient cpu. preemption: "
        "found a potential placement for pod on node only, preempting 1 victims",
    )
    w.event("important", "Scheduled")


@case()
def the_nomination_stands_while_the_victim_takes_its_time(w):
    classes(w)
    w.node("only", cpu="2")
    settled(w, "victim", "only", cpu="2", grace=600, priorityClassName="e2e-low")
    scheduler = w.start_scheduler()
    w.pod("important", cpu="2", priorityClassName="e2e-high")
    w.eventually(
        "the nomination",
        lambda: w.get_pod("important")["status"].get("nominatedNodeName") == "only",
    )
    w.unschedulable("important", re.compile(r"^0/1 nodes are available: 1 Insufficient cpu\."))
    w.event("important", "FailedScheduling", re.compile("Insufficient cpu"))
    w.eventually(
        "the victim to be on its way",
        lambda: w.get_pod("victim")["metadata"].get("deletionTimestamp"),
    )
    # The room is promised: a pod that would fit once the victim is gone must not take it.
    w.pod("passer-by", cpu="2", priorityClassName="e2e-low")
    w.unschedulable("passer-by")
    w.delete_pod("victim", grace=0)
    assert w.bound("important") == ["only"]
    assert w.unbound("passer-by")
    assert not w.get_pod("important")["status"].get("nominatedNodeName")
    assert scheduler.metrics().value("scheduler_preemption_victims_count") == 1


@case()
def one_that_may_not_preempt_waits(w):
    classes(w)
    w.node("only", cpu="2")
    settled(w, "resident", "only", cpu="2", priorityClassName="e2e-low")
    w.start_scheduler()
    w.pod("polite", cpu="2", priorityClassName="e2e-polite")
    w.unschedulable(
        "polite",
        "0/1 nodes are available: 1 Insufficient cpu. preemption: "
        "not eligible due to preemptionPolicy=Never.",
    )
    assert not w.get_pod("resident")["metadata"].get("deletionTimestamp")


@case()
def equals_do_not_preempt_each_other(w):
    classes(w)
    w.node("only", cpu="2")
    settled(w, "resident", "only", cpu="2", priorityClassName="e2e-high")
    w.start_scheduler()
    w.pod("equal", cpu="2", priorityClassName="e2e-high")
    w.unschedulable("equal")
    assert not w.get_pod("resident")["metadata"].get("deletionTimestamp")
    assert not w.get_pod("equal")["status"].get("nominatedNodeName")


@case()
def the_least_important_victims_are_chosen(w):
    classes(w)
    for name, importance in (("a", "e2e-middle"), ("b", "e2e-low"), ("c", "e2e-middle")):
        w.node(name, cpu="2")
        settled(w, f"on-{name}", name, cpu="2", priorityClassName=importance)
    w.start_scheduler()
    w.pod("important", cpu="2", priorityClassName="e2e-high")
    assert w.bound("important") == ["b"]
    w.gone("on-b")
    for name in ("on-a", "on-c"):
        assert not w.get_pod(name)["metadata"].get("deletionTimestamp"), name


@case()
def no_more_victims_than_needed(w):
    classes(w)
    w.node("only", cpu="4")
    for i in range(4):
        settled(w, f"small-{i}", "only", cpu="1", priorityClassName="e2e-low")
    w.start_scheduler()
    w.pod("important", cpu="2", priorityClassName="e2e-high")
    w.bound("important")
    left = [p["metadata"]["name"] for p in w.api.list("pods", w.namespace)]
    assert len([n for n in left if n.startswith("small-")]) == 2, left


@case()
def a_budget_steers_the_choice(w):
    classes(w)
    guard = budget("guard", {"app": "guarded"}, minAvailable=1)
    made = w.api.create("poddisruptionbudgets", guard, w.namespace)
    status = {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    status["observedGeneration"] = made["metadata"].get("generation", 1)
    w.api.patch("poddisruptionbudgets", "guard", {"status": status}, w.namespace, "status")
    w.node("a", cpu="2")
    w.node("b", cpu="2")
    # By importance alone the guarded one would go.
    settled(w, "guarded", "a", cpu="2", labels={"app": "guarded"}, priorityClassName="e2e-low")
    settled(w, "unguarded", "b", cpu="2", priorityClassName="e2e-middle")
    w.start_scheduler()
    w.pod("important", cpu="2", priorityClassName="e2e-high")
    assert w.bound("important") == ["b"]
    assert not w.get_pod("guarded")["metadata"].get("deletionTimestamp")


@case()
def no_victims_where_none_would_help(w):
    classes(w)
    w.node("only", cpu="2")
    settled(w, "resident", "only", cpu="1", priorityClassName="e2e-low")
    w.start_scheduler()
    w.pod("huge", cpu="64", priorityClassName="e2e-high")
    w.unschedulable("huge", re.compile("1 Insufficient cpu"))
    w.pod("marker", cpu="1")
    w.bound("marker")
    assert not w.get_pod("resident")["metadata"].get("deletionTimestamp")
