"""`berth record`: whatever happens to the connections, the recording ends in the state that the server has.

Only berth has it, so upstream's scheduler is not asked.
"""
import json
import os
import random
import signal
import subprocess

from harness.process import Child
from harness.registry import case
from harness.servers import ADMIN_TOKEN

PODS, NODES = "/api/v1/pods", "/api/v1/nodes"


class Recorder:
    """`berth record` through a proxy, into a file of lines."""

    def __init__(self, w, proxy):
        self._w = w
        self.file = os.path.join(w.folder, "trace.jsonl")
        proxy.token = ADMIN_TOKEN
        config = w.kubeconfig("record", server=proxy.url, cluster={})
        command = [w.programs.berth, "record", "--kubeconfig", config, "-o", self.file]
        self.child = Child("berth record", command, os.path.join(w.folder, "record.log"))
        w.at_end(self.child.kill)
        w.eventually("the recording to begin", lambda: os.path.exists(self.file) and self.lines())

    def lines(self):
        """What is written so far; a last line may be half."""
        with open(self.file) as f:
            return [json.loads(line) for line in f.read().splitlines(keepends=True) if line.endswith("\n")]

    def state(self):
        """What the lines lead to: pods and nodes, as `shape` shows them."""
        state = {}
        for line in self.lines()[1:]:
            item = line.get("object")
            if item:
                key = (item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"])
            elif "kind" in line:
                key = (line["kind"], line.get("namespace", ""), line["name"])
            if line["type"] in ("LISTED", "ADDED", "MODIFIED"):
                state[key] = shape(item)
            elif line["type"] == "DELETED":
                del state[key]
            elif line["type"] == "TOUCHED":
                state[key] = {**state[key], "version": line["resourceVersion"]}
        return {key: item for key, item in state.items() if key[0] in ("Pod", "Node")}

    def has(self, kind, name):
        return any(key[0] == kind and key[2] == name for key in self.state())

    def stop(self):
        self.child.signal(signal.SIGINT)
        assert self.child.wait(30) == 0, self.child.text()
        assert self.lines()[-1]["type"] == "END", self.lines()[-1]


def shape(item):
    spec = item.get("spec") or {}
    return {
        "uid": item["metadata"]["uid"],
        "version": item["metadata"]["resourceVersion"],
        "labels": item["metadata"].get("labels") or {},
        "node": spec.get("nodeName", ""),
        "unschedulable": spec.get("unschedulable", False),
        "taints": sorted((t["key"], t["effect"]) for t in spec.get("taints") or []),
        "gates": [g["name"] for g in spec.get("schedulingGates") or []],
    }


def state_of_server(w):
    state = {}
    for kind, resource in (("Pod", "pods"), ("Node", "nodes")):
        for item in w.api.list(resource):
            state[(kind, item["metadata"].get("namespace", ""), item["metadata"]["name"])] = shape(item)
    return state


def catches_up(w, recorder):
    def same():
        mine, theirs = recorder.state(), state_of_server(w)
        assert mine == theirs, {
            key: (mine.get(key), theirs.get(key)) for key in mine.keys() | theirs.keys() if mine.get(key) != theirs.get(key)
        }
        return True

    w.eventually("the recording to be as the server", same, 120)


def simulate(w, recorder):
    command = [w.programs.berth, "simulate", "--trace", recorder.file, "-o", "json"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode in (0, 3), ran.stderr
    return json.loads(ran.stdout), ran.stdout


@case(needs=("berth",), compare=False)
def it_ends_in_the_state_of_the_server_however_often_it_is_cut_off(w):
    proxy = w.proxy()
    w.node("n-0")
    w.pod("early", nodeSelector={"kubernetes.io/hostname": "n-0"})
    w.start_scheduler()
    w.bound("early")
    recorder = Recorder(w, proxy)
    draw = random.Random(18)
    for turn in range(1, 7):
        w.node(f"n-{turn}")
        for i in range(5):
            w.pod(f"p-{turn}-{i}", cpu="300m", labels={"turn": str(turn)}, nodeSelector={"kubernetes.io/hostname": f"n-{turn}"})
        w.pod(f"gated-{turn}", schedulingGates=[{"name": "example.com/wait"}])
        if turn % 3 == 0:
            # Everything that happens here is found by new lists only.
            proxy.down()
        elif turn % 3 == 1:
            proxy.cut_in_frame(draw.choice((PODS, NODES)), tidy=draw.random() < 0.5)
        else:
            proxy.cut_watches()
        w.bound(*(f"p-{turn}-{i}" for i in range(5)))
        w.edit("nodes", f"n-{turn}", lambda n: n["metadata"]["labels"].update(zone=str(draw.random())[2:]))
        w.edit("pods", f"p-{turn}-0", lambda p: p["metadata"]["labels"].update(tier="front"), w.namespace)
        w.edit("pods", f"gated-{turn}", lambda p: p["spec"].update(schedulingGates=[]), w.namespace)
        # Nothing that is recorded, but a new version.
        w.api.patch("pods", f"p-{turn}-2", {"metadata": {"annotations": {"example.com/note": str(turn)}}}, w.namespace)
        w.delete_pod(f"p-{turn}-1")
        w.gone(f"p-{turn}-1")
        # As a StatefulSet does: the same name, another pod.
        w.pod(f"p-{turn}-1", nodeSelector={"kubernetes.io/hostname": f"n-{turn}"})
        w.api.patch("nodes", "n-0", {"spec": {"unschedulable": turn % 2 == 0}})
        if turn % 3 == 0:
            proxy.up()
        catches_up(w, recorder)
    w.api.delete("nodes", "n-6")
    w.delete_pod("p-3-2")
    w.bound(*(f"p-{turn}-1" for turn in range(1, 6)), *(f"gated-{turn}" for turn in range(1, 7)))
    catches_up(w, recorder)
    recorder.stop()
    assert recorder.state() == state_of_server(w)

    # Every pod with a node of its own goes there again, and twice in the same way.
    told, text = simulate(w, recorder)
    assert told["replay"]["sameNode"] >= 30, told["replay"]
    assert simulate(w, recorder)[1] == text


@case(needs=("berth",), compare=False)
def a_server_that_restarts_is_recorded_on(w):
    proxy = w.proxy()
    w.nodes(2)
    recorder = Recorder(w, proxy)
    w.pod("before")
    w.eventually("the pod to be recorded", lambda: recorder.has("Pod", "before"))
    w.server.restart(while_down=proxy.cut_watches)
    w.pod("after")
    w.api.delete("nodes", "node-1")
    catches_up(w, recorder)
    recorder.stop()
