"""Pods that fit nowhere: what they are told, and what brings them back."""
import re

from harness.objects import node_affinity, taint
from harness.registry import case

NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_HELPFUL = "Preemption is not helpful for scheduling"


def refusal(nodes, *reasons, preemption):
    """The message of the condition: `reasons` and `preemption` with their counts."""
    return (
        f"0/{nodes} nodes are available: {', '.join(reasons)}. "
        f"preemption: 0/{nodes} nodes are available: {', '.join(preemption)}."
    )


@case()
def without_nodes_it_says_so(w):
    w.start_scheduler()
    w.pod("web")
    message = "no nodes available to schedule pods"
    w.unschedulable("web", message)
    event = w.event("web", "FailedScheduling", message)
    assert event["type"] == "Warning" and event["action"] == "Scheduling", event
    assert event["reportingController"] == "default-scheduler", event


@case()
def each_reason_is_counted(w):
    w.node("small", cpu="1")
    w.node("other-small", cpu="1")
    w.node("guarded", cpu="8", taints=[taint("team", "red")])
    w.node("cordoned", cpu="8", unschedulable=True)
    w.start_scheduler()
    w.pod("big", cpu="6")
    text = refusal(
        4,
        "1 node(s) had untolerated taint(s)",
        "1 node(s) were unschedulable",
        "2 Insufficient cpu",
        # More than any of them has: no victim would help.
        preemption=[f"4 {NOT_HELPFUL}"],
    )
    w.unschedulable("big", text)
    w.event("big", "FailedScheduling", text)


@case()
def several_resources_of_one_node_are_all_named(w):
    w.node("small", cpu="1", memory="1Gi", pods="1")
    w.pod("resident")
    w.api.bind(w.namespace, "resident", "small")
    w.start_scheduler()
    w.pod("big", cpu="6", memory="6Gi")
    w.unschedulable(
        "big",
        refusal(
            1,
            "1 Insufficient cpu",
            "1 Insufficient memory",
            "1 Too many pods",
            preemption=[f"1 {NOT_HELPFUL}"],
        ),
    )


@case()
def node_affinity_that_matches_nothing(w):
    w.nodes(2)
    w.start_scheduler()
    w.pod("picky", affinity=node_affinity("disk", "ssd"))
    text = refusal(
        2,
        "2 node(s) didn't match Pod's node affinity/selector",
        preemption=[f"2 {NOT_HELPFUL}"],
    )
    w.unschedulable("picky", text)
    w.event("picky", "FailedScheduling", text)


@case()
def a_new_node_brings_it_back(w):
    w.node("small", cpu="1")
    w.start_scheduler()
    w.pod("big", cpu="3")
    w.unschedulable("big")
    w.node("large", cpu="4")
    assert w.bound("big") == ["large"]
    w.event("big", "Scheduled")


@case()
def a_deleted_pod_brings_it_back(w):
    w.node("only", cpu="2")
    w.start_scheduler()
    w.pod("first", cpu="2")
    w.bound("first")
    w.pod("second", cpu="2")
    w.unschedulable("second", refusal(1, "1 Insufficient cpu", preemption=[f"1 {NO_VICTIMS}"]))
    w.delete_pod("first")
    assert w.bound("second") == ["only"]


@case()
def a_finished_pod_brings_it_back(w):
    w.node("only", cpu="2")
    w.start_scheduler()
    w.pod("first", cpu="2", restartPolicy="Never")
    w.bound("first")
    w.pod("second", cpu="2")
    w.unschedulable("second")
    w.api.patch("pods", "first", {"status": {"phase": "Succeeded"}}, w.namespace, "status")
    assert w.bound("second") == ["only"]


@case()
def a_removed_taint_brings_it_back(w):
    w.node("guarded", taints=[taint("team", "red")])
    w.start_scheduler()
    w.pod("web")
    text = refusal(1, "1 node(s) had untolerated taint(s)", preemption=[f"1 {NOT_HELPFUL}"])
    w.unschedulable("web", text)
    w.edit("nodes", "guarded", lambda n: n["spec"].update(taints=[]))
    assert w.bound("web") == ["guarded"]


@case()
def an_uncordoned_node_brings_it_back(w):
    w.node("closed", unschedulable=True)
    w.start_scheduler()
    w.pod("web")
    w.unschedulable("web", re.compile(r"^0/1 nodes are available: 1 node\(s\) were unschedulable\."))

    def uncordon(node):
        node["spec"].pop("unschedulable", None)
        node["spec"]["taints"] = []

    w.edit("nodes", "closed", uncordon)
    assert w.bound("web") == ["closed"]


@case()
def a_new_label_of_a_node_brings_it_back(w):
    w.node("plain")
    w.start_scheduler()
    w.pod("picky", nodeSelector={"disk": "ssd"})
    w.unschedulable("picky")
    w.api.patch("nodes", "plain", {"metadata": {"labels": {"disk": "ssd"}}})
    assert w.bound("picky") == ["plain"]


@case()
def more_room_on_a_node_brings_it_back(w):
    w.node("growing", cpu="1")
    w.start_scheduler()
    w.pod("big", cpu="3")
    w.unschedulable("big")
    more = {"status": {"allocatable": {"cpu": "4"}, "capacity": {"cpu": "4"}}}
    w.api.patch("nodes", "growing", more, subresource="status")
    assert w.bound("big") == ["growing"]


@case()
def a_change_that_does_not_help_wakes_nobody(w):
    w.node("small", cpu="1")
    scheduler = w.start_scheduler()
    w.pod("big", cpu="3")
    w.unschedulable("big")
    w.api.patch("nodes", "small", {"metadata": {"labels": {"colour": "red"}}})
    w.pod("other")
    w.bound("other")

    def waits():
        return scheduler.metrics().value("scheduler_pending_pods", queue="unschedulable") == 1

    w.eventually("the pod to wait in the unschedulable queue", waits)
    attempts = scheduler.metrics().value("scheduler_schedule_attempts_total", result="unschedulable")
    assert attempts == 1, attempts


@case()
def a_changed_reason_changes_the_condition(w):
    w.start_scheduler()
    w.pod("big", cpu="3")
    w.unschedulable("big", "no nodes available to schedule pods")
    w.node("small", cpu="1")
    w.unschedulable("big", refusal(1, "1 Insufficient cpu", preemption=[f"1 {NOT_HELPFUL}"]))
    w.event("big", "FailedScheduling", re.compile("Insufficient cpu"))
