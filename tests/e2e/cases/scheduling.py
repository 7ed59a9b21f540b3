"""Pods that find a node."""
import os
from collections import Counter

from harness.objects import taint
from harness.registry import case
from harness.world import condition


@case()
def a_pod_is_bound_and_an_event_says_so(w):
    w.node("only")
    w.start_scheduler()
    w.pod("web")
    assert w.bound("web") == ["only"]
    found = condition(w.get_pod("web"), "PodScheduled")
    assert found["status"] == "True", found
    event = w.event("web", "Scheduled", f"Successfully assigned {w.namespace}/web to only")
    assert event["type"] == "Normal", event
    assert event["action"] == "Binding", event
    assert event["reportingController"] == "default-scheduler", event
    assert event["reportingInstance"].startswith("default-scheduler-"), event
    regarding = event["regarding"]
    assert regarding["kind"] == "Pod" and regarding["namespace"] == w.namespace, regarding
    assert regarding["uid"] == w.get_pod("web")["metadata"]["uid"], regarding
    assert event["metadata"]["name"].startswith("web."), event["metadata"]


@case(placement=False)
def pods_fill_the_nodes_and_not_more(w):
    w.nodes(3, cpu="10")
    w.start_scheduler()
    w.pods(30, cpu="1")
    nodes = w.bound(*(f"pod-{i}" for i in range(30)))
    assert Counter(nodes) == {"node-0": 10, "node-1": 10, "node-2": 10}, Counter(nodes)
    w.pod("one-too-many", cpu="1")
    w.unschedulable("one-too-many")


@case(placement=False)
def pods_that_were_there_before_the_scheduler_are_scheduled(w):
    w.nodes(2, cpu="4")
    w.pods(8, cpu="1")
    w.start_scheduler()
    nodes = w.bound(*(f"pod-{i}" for i in range(8)))
    assert Counter(nodes) == {"node-0": 4, "node-1": 4}, Counter(nodes)


@case()
def pods_bound_by_others_take_their_room(w):
    w.node("full", cpu="2")
    w.node("empty", cpu="2")
    w.pod("theirs", cpu="2")
    w.api.bind(w.namespace, "theirs", "full")
    w.start_scheduler()
    w.pod("ours", cpu="2")
    assert w.bound("ours") == ["empty"]
    w.pod("later", cpu="1")
    w.unschedulable("later")


@case()
def pods_of_another_scheduler_are_left_alone(w):
    w.node("only")
    w.start_scheduler()
    w.pod("theirs", schedulerName="somebody-else")
    w.pod("ours")
    w.bound("ours")
    assert w.unbound("theirs")
    assert condition(w.get_pod("theirs"), "PodScheduled") is None
    assert not w.events("theirs")


@case()
def a_node_selector_and_a_toleration_choose_the_node(w):
    w.node("plain")
    w.node("ssd", labels={"disk": "ssd"})
    w.node("guarded", labels={"disk": "tape"}, taints=[taint("team", "red")])
    w.start_scheduler()
    w.pod("fast", nodeSelector={"disk": "ssd"})
    tolerations = [{"key": "team", "operator": "Equal", "value": "red", "effect": "NoSchedule"}]
    w.pod("archive", nodeSelector={"disk": "tape"}, tolerations=tolerations)
    assert w.bound("fast", "archive") == ["ssd", "guarded"]


@case()
def the_emptier_node_is_preferred(w):
    w.node("busy", cpu="10")
    w.node("idle", cpu="10")
    w.pod("load", cpu="6")
    w.api.bind(w.namespace, "load", "busy")
    w.start_scheduler()
    for name in ("a", "b", "c"):
        w.pod(name, cpu="1")
        assert w.bound(name) == ["idle"]


@case()
def a_preferred_taint_is_avoided_when_there_is_a_choice(w):
    w.node("clean")
    w.node("spotted", taints=[taint("wear", "high", "PreferNoSchedule")])
    w.start_scheduler()
    w.pods(3)
    assert w.bound("pod-0", "pod-1", "pod-2") == ["clean"] * 3


@case()
def a_host_port_is_given_once_per_node(w):
    w.node("only")
    w.start_scheduler()
    port = [{"name": "c", "image": "pause", "ports": [{"containerPort": 80, "hostPort": 8080}]}]
    w.pod("first", containers=port)
    w.bound("first")
    w.pod("second", containers=port)
    w.unschedulable(
        "second",
        "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports. "
        "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    )


@case(placement=False)
def a_hundred_pods_in_one_go(w):
    w.nodes(10, cpu="16")
    scheduler = w.start_scheduler()
    w.pods(100)
    w.bound(*(f"pod-{i}" for i in range(100)))
    attempts = scheduler.metrics().value("scheduler_schedule_attempts_total", result="scheduled")
    assert attempts == 100, attempts


@case(needs=("berth",), compare=False)
def under_the_name_of_kube_scheduler(w):
    program = os.path.join(w.folder, "kube-scheduler")
    os.symlink(w.programs.berth, program)
    w.node("only")
    scheduler = w.start_scheduler(program=program)
    w.pod("web")
    assert w.bound("web") == ["only"]
    assert scheduler.child.command[1].startswith("--"), "no subcommand is needed under that name"
