"""Several profiles in one scheduler."""
from harness.objects import node_affinity, taint
from harness.registry import case

PACKED = {
    "schedulerName": "packer",
    "pluginConfig": [
        {
            "name": "NodeResourcesFit",
            "args": {
                "scoringStrategy": {
                    "type": "MostAllocated",
                    "resources": [{"name": "cpu", "weight": 1}],
                }
            },
        }
    ],
    "plugins": {
        "score": {
            "disabled": [{"name": "NodeResourcesBalancedAllocation"}, {"name": "PodTopologySpread"}]
        }
    },
}


def two_loads(w):
    w.node("busy", cpu="10")
    w.node("idle", cpu="10")
    w.pod("load", cpu="6")
    w.api.bind(w.namespace, "load", "busy")


@case()
def each_pod_is_judged_by_its_profile(w):
    two_loads(w)
    w.start_scheduler(config={"profiles": [{"schedulerName": "default-scheduler"}, PACKED]})
    w.pod("spreads", cpu="1")
    w.pod("packs", cpu="1", schedulerName="packer")
    assert w.bound("spreads", "packs") == ["idle", "busy"]
    assert w.event("spreads", "Scheduled")["reportingController"] == "default-scheduler"
    event = w.event("packs", "Scheduled")
    assert event["reportingController"] == "packer", event
    assert event["reportingInstance"].startswith("packer-"), event


@case()
def only_the_named_profiles_are_served(w):
    two_loads(w)
    w.start_scheduler(config={"profiles": [PACKED]})
    w.pod("default")
    w.pod("packs", cpu="1", schedulerName="packer")
    assert w.bound("packs") == ["busy"]
    assert w.unbound("default")
    assert not w.events("default")


@case()
def a_filter_can_be_turned_off(w):
    w.node("guarded", taints=[taint("team", "red")])
    careless = {
        "schedulerName": "careless",
        "plugins": {"multiPoint": {"disabled": [{"name": "TaintToleration"}]}},
    }
    w.start_scheduler(config={"profiles": [{"schedulerName": "default-scheduler"}, careless]})
    w.pod("careful")
    w.pod("careless", schedulerName="careless")
    assert w.bound("careless") == ["guarded"]
    w.unschedulable("careful")
    event = w.event("careful", "FailedScheduling")
    assert event["reportingController"] == "default-scheduler", event


@case()
def affinity_that_a_profile_adds(w):
    w.node("plain")
    w.node("fast", labels={"disk": "ssd"})
    added = node_affinity("disk", "ssd")["nodeAffinity"]
    profile = {
        "schedulerName": "default-scheduler",
        "pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": added}}],
    }
    w.start_scheduler(config={"profiles": [profile]})
    w.pods(3)
    assert w.bound("pod-0", "pod-1", "pod-2") == ["fast"] * 3
    w.pod("torn", nodeSelector={"kubernetes.io/hostname": "plain"})
    w.unschedulable(
        "torn",
        "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
        "1 node(s) didn't match scheduler-enforced node affinity. "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    )


@case()
def metrics_are_told_apart_by_profile(w):
    two_loads(w)
    scheduler = w.start_scheduler(config={"profiles": [{"schedulerName": "default-scheduler"}, PACKED]})
    w.pod("one", cpu="1")
    w.pod("two", cpu="1", schedulerName="packer")
    w.pod("three", cpu="1", schedulerName="packer")
    w.bound("one", "two", "three")

    def counted():
        metrics = scheduler.metrics()
        name = "scheduler_schedule_attempts_total"
        return [metrics.value(name, result="scheduled", profile=p) for p in ("default-scheduler", "packer")]

    w.eventually("one and two attempts", lambda: counted() == [1, 2])


@case()
def json_instead_of_protobuf(w):
    w.node("only")
    w.start_scheduler(config={"clientConnection": {"contentType": "application/json"}})
    w.pod("web")
    assert w.bound("web") == ["only"]
    w.event("web", "Scheduled")
    w.pod("big", cpu="64")
    w.unschedulable("big")
