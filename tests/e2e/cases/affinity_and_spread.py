"""Affinity to nodes and pods, and spreading over zones."""
from collections import Counter

from harness import objects
from harness.objects import node_affinity, pod_affinity, pod_term, spread
from harness.registry import case

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def zones(w, *names, per_zone=1, cpu="16"):
    for zone in names:
        for i in range(per_zone):
            w.node(f"{zone}-{i}", cpu=cpu, labels={ZONE: zone})


def zone_of(node):
    return node.rsplit("-", 1)[0]


@case()
def required_and_preferred_node_affinity(w):
    zones(w, "east", "west", "north")
    w.start_scheduler()
    affinity = node_affinity(ZONE, "east", "west")
    preference = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["west"]}]}
    affinity["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = [
        {"weight": 100, "preference": preference}
    ]
    w.pods(3, affinity=affinity)
    assert w.bound("pod-0", "pod-1", "pod-2") == ["west-0"] * 3


@case(placement=False)
def followers_go_where_their_leader_is(w):
    zones(w, "east", "west", per_zone=2)
    w.start_scheduler()
    w.pod("leader", labels={"app": "db"}, nodeSelector={ZONE: "west"})
    w.bound("leader")
    w.pods(6, prefix="follower-", affinity=pod_affinity({"app": "db"}, ZONE))
    nodes = w.bound(*(f"follower-{i}" for i in range(6)))
    assert {zone_of(n) for n in nodes} == {"west"}, nodes


@case()
def a_follower_waits_for_its_leader(w):
    zones(w, "east", "west")
    w.start_scheduler()
    w.pod("follower", affinity=pod_affinity({"app": "db"}, ZONE))
    w.unschedulable(
        "follower",
        "0/2 nodes are available: 2 node(s) didn't match pod affinity rules. preemption: "
        "0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    )
    w.pod("leader", labels={"app": "db"}, nodeSelector={ZONE: "east"})
    assert w.bound("leader", "follower") == ["east-0", "east-0"]


@case(placement=False)
def those_who_avoid_each_other_get_a_node_each(w):
    w.nodes(3)
    w.start_scheduler()
    labels = {"app": "web"}
    w.pods(3, labels=labels, affinity=pod_affinity(labels, HOST, anti=True))
    assert sorted(w.bound("pod-0", "pod-1", "pod-2")) == ["node-0", "node-1", "node-2"]
    w.pod("fourth", labels=labels, affinity=pod_affinity(labels, HOST, anti=True))
    w.unschedulable(
        "fourth",
        "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules. preemption: "
        "0/3 nodes are available: 3 No preemption victims found for incoming pod.",
    )
    w.delete_pod("pod-1")
    w.bound("fourth")


@case()
def those_who_are_there_can_refuse_others(w):
    w.node("only")
    w.start_scheduler()
    w.pod("loner", affinity=pod_affinity({"app": "noisy"}, HOST, anti=True))
    w.bound("loner")
    w.pod("noisy", labels={"app": "noisy"})
    w.unschedulable(
        "noisy",
        "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules. "
        "preemption: 0/1 nodes are available: "
        "1 No preemption victims found for incoming pod.",
    )
    w.delete_pod("loner")
    assert w.bound("noisy") == ["only"]


@case()
def preferred_affinity_draws(w):
    zones(w, "east", "west")
    w.start_scheduler()
    w.pod("magnet", labels={"app": "db"}, nodeSelector={ZONE: "east"})
    w.bound("magnet")
    term = {"weight": 100, "podAffinityTerm": pod_term({"app": "db"}, ZONE)}
    affinity = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    w.pods(2, affinity=affinity)
    assert w.bound("pod-0", "pod-1") == ["east-0", "east-0"]


@case(placement=False)
def zones_are_filled_evenly(w):
    zones(w, "east", "west", "north", per_zone=2)
    w.start_scheduler()
    labels = {"app": "web"}
    w.pods(9, labels=labels, topologySpreadConstraints=[spread(labels, ZONE)])
    nodes = w.bound(*(f"pod-{i}" for i in range(9)))
    assert Counter(map(zone_of, nodes)) == {"east": 3, "west": 3, "north": 3}, nodes


@case(placement=False)
def too_much_skew_is_refused(w):
    zones(w, "east", "west")
    w.api.patch("nodes", "west-0", {"spec": {"unschedulable": True}})
    w.start_scheduler()
    labels = {"app": "web"}
    w.pods(2, labels=labels, topologySpreadConstraints=[spread(labels, ZONE)])
    # East takes one; the other would make the difference two.
    w.eventually("one to be bound", lambda: sum(1 for i in (0, 1) if not w.unbound(f"pod-{i}")) == 1)
    waiting = "pod-0" if w.unbound("pod-0") else "pod-1"
    w.unschedulable(
        waiting,
        "0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, "
        "1 node(s) were unschedulable. preemption: 0/2 nodes are available: "
        "1 No preemption victims found for incoming pod, "
        "1 Preemption is not helpful for scheduling.",
    )

    def uncordon(node):
        node["spec"].pop("unschedulable", None)
        node["spec"]["taints"] = []

    w.edit("nodes", "west-0", uncordon)
    assert w.bound(waiting) == ["west-0"]


@case()
def soft_spreading_prefers_the_emptier_zone(w):
    zones(w, "east", "west")
    w.start_scheduler()
    labels = {"app": "web"}
    soft = [spread(labels, ZONE, when="ScheduleAnyway")]
    for i in range(3):
        w.pod(f"there-{i}", labels=labels, nodeSelector={ZONE: "east"})
    w.bound("there-0", "there-1", "there-2")
    w.pod("next", labels=labels, topologySpreadConstraints=soft)
    assert w.bound("next") == ["west-0"]


@case(placement=False)
def match_label_keys_count_one_revision(w):
    zones(w, "east", "west")
    w.start_scheduler()
    for revision in ("1", "2"):
        labels = {"app": "web", "revision": revision}
        constraint = spread({"app": "web"}, ZONE, matchLabelKeys=["revision"])
        w.pods(4, prefix=f"v{revision}-", labels=labels, topologySpreadConstraints=[constraint])
        nodes = w.bound(*(f"v{revision}-{i}" for i in range(4)))
        assert Counter(map(zone_of, nodes)) == {"east": 2, "west": 2}, nodes


@case(placement=False)
def pods_of_a_replica_set_spread_by_default(w):
    w.nodes(4, cpu="64")
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "pause"}]}}
    body = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web"},
        "spec": {"replicas": 4, "selector": {"matchLabels": labels}, "template": template},
    }
    # There are no controllers beside the server in this suite; the pods are made by hand.
    owner = w.api.create("replicasets", body, w.namespace)
    w.start_scheduler()
    reference = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "web",
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }
    for i in range(4):
        pod = objects.pod(f"web-{i}", cpu="100m", labels=labels)
        pod["metadata"]["ownerReferences"] = [reference]
        w.api.create("pods", pod, w.namespace)
        w.bound(f"web-{i}")
    nodes = w.bound(*(f"web-{i}" for i in range(4)))
    assert len(set(nodes)) == 4, nodes
