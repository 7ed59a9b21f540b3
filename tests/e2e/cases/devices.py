"""Devices: claims are allocated, reserved and written before the bind; no device twice, whatever happens.

There is no claim controller: where a claim is to be freed, the cases do it.
"""
import re
import threading

from harness.faulty_proxy import answer, answer_after_effect, call_then, hold, is_bind, is_request
from harness.registry import case

DRIVER = "gpu.example.com"
FINALIZER = "resource.kubernetes.io/delete-protection"


def device_class(w, name="gpu"):
    return w.api.create("deviceclasses", {"metadata": {"name": name}, "spec": {}})


def devices(w, node, count, generation=1):
    """A node's devices, published by their driver."""
    body = {
        "metadata": {"name": f"{node}-{generation}"},
        "spec": {
            "driver": DRIVER,
            "nodeName": node,
            "pool": {"name": node, "generation": generation, "resourceSliceCount": 1},
            "devices": [{"name": f"dev-{i}"} for i in range(count)],
        },
    }
    return w.api.create("resourceslices", body)


def claim(w, name, count=1, **metadata):
    request = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    body = {
        "metadata": {"name": name, **metadata},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": request}]}},
    }
    return w.api.create("resourceclaims", body, w.namespace)


def pod_with(w, name, claim_name, **more):
    return w.pod(name, resourceClaims=[{"name": "dev", "resourceClaimName": claim_name}], **more)


def get_claim(w, name):
    return w.api.get("resourceclaims", w.namespace, name)


def allocated(w, name):
    """The devices that the claim has: [(pool, device)]."""
    status = get_claim(w, name).get("status") or {}
    results = ((status.get("allocation") or {}).get("devices") or {}).get("results") or []
    return [(r["pool"], r["device"]) for r in results]


def reserved_for(w, name):
    status = get_claim(w, name).get("status") or {}
    return sorted(r["name"] for r in status.get("reservedFor") or [])


def free(w, name):
    """What the claim controller does when nobody uses a claim any more."""
    item = get_claim(w, name)
    item["status"] = {}
    item = w.api.update("resourceclaims", item, w.namespace, "status")
    item["metadata"]["finalizers"] = []
    return w.api.update("resourceclaims", item, w.namespace)


def devices_are_given_once(w):
    taken = {}
    for item in w.api.list("resourceclaims", w.namespace):
        for device in allocated(w, item["metadata"]["name"]):
            taken.setdefault(device, []).append(item["metadata"]["name"])
    twice = {device: claims for device, claims in taken.items() if len(claims) > 1}
    assert not twice, f"devices that were given twice: {twice}"
    return taken


def is_status_write(name):
    return is_request("PUT", f"/resourceclaims/{name}/status$")


def is_claim_write(name):
    return is_request("PUT", f"/resourceclaims/{name}$")


@case()
def a_claim_is_allocated_and_reserved(w):
    w.node("without")
    w.node("with")
    device_class(w)
    devices(w, "with", 2)
    made = claim(w, "mine", annotations={"example.com/mine": "kept"})
    w.start_scheduler()
    pod = pod_with(w, "train", "mine")
    assert w.bound("train") == ["with"]
    item = get_claim(w, "mine")
    assert FINALIZER in item["metadata"]["finalizers"], item
    assert item["metadata"]["annotations"] == {"example.com/mine": "kept"}, item
    assert item["spec"] == made["spec"], item
    consumer = {"resource": "pods", "name": "train", "uid": pod["metadata"]["uid"]}
    assert item["status"]["reservedFor"] == [consumer], item
    assert len(allocated(w, "mine")) == 1
    terms = item["status"]["allocation"]["nodeSelector"]["nodeSelectorTerms"]
    assert terms[0]["matchFields"][0]["values"] == ["with"], item
    assert item["status"]["allocation"].get("allocationTimestamp"), item


@case()
def two_pods_share_a_claim(w):
    w.nodes(2)
    device_class(w)
    devices(w, "node-1", 1)
    claim(w, "shared")
    w.start_scheduler()
    pod_with(w, "one", "shared")
    pod_with(w, "two", "shared")
    assert w.bound("one", "two") == ["node-1", "node-1"]
    assert reserved_for(w, "shared") == ["one", "two"]


@case()
def a_rule_taints_the_only_device(w):
    w.node("only")
    device_class(w)
    devices(w, "only", 1)
    taint = {"key": "example.com/broken", "effect": "NoSchedule"}
    rule = {"metadata": {"name": "broken"}, "spec": {"deviceSelector": {"driver": DRIVER}, "taint": taint}}
    w.api.create("devicetaintrules", rule)
    claim(w, "mine")
    w.start_scheduler()
    pod_with(w, "train", "mine")
    w.unschedulable("train")
    assert not allocated(w, "mine")
    w.api.delete("devicetaintrules", "broken")
    assert w.bound("train") == ["only"]
    assert allocated(w, "mine") == [("only", "dev-0")]


@case()
def a_device_that_is_free_again(w):
    w.node("only")
    device_class(w)
    devices(w, "only", 1)
    claim(w, "first")
    claim(w, "second")
    w.start_scheduler()
    pod_with(w, "one", "first")
    w.bound("one")
    pod_with(w, "two", "second")
    w.unschedulable("two", re.compile("cannot allocate all claims"))
    w.delete_pod("one", grace=0)
    free(w, "first")
    assert w.bound("two") == ["only"]
    devices_are_given_once(w)


@case()
def somebody_else_writes_the_claim(w):
    w.node("only")
    device_class(w)
    devices(w, "only", 1)
    claim(w, "mine")
    proxy = w.proxy()

    def write(request):
        w.edit(
            "resourceclaims",
            "mine",
            lambda item: item["metadata"].setdefault("labels", {}).update({"by": "another"}),
            w.namespace,
        )

    rules = [
        proxy.on(is_claim_write("mine"), call_then(write), times=1),
        proxy.on(is_status_write("mine"), call_then(write), times=1),
    ]
    w.start_scheduler(through=proxy)
    pod_with(w, "train", "mine")
    assert w.bound("train") == ["only"]
    assert all(rule.done == 1 for rule in rules), [rule.done for rule in rules]
    # Read again and written again: it took no second attempt.
    assert not w.events("train", "FailedScheduling")
    assert get_claim(w, "mine")["metadata"]["labels"] == {"by": "another"}
    assert reserved_for(w, "mine") == ["train"]
    w.bound_once(proxy, "train")


@case()
def a_status_that_cannot_be_written(w):
    w.node("only")
    device_class(w)
    devices(w, "only", 1)
    claim(w, "mine")
    proxy = w.proxy()
    text = "Internal error occurred: no luck today"
    proxy.on(is_status_write("mine"), answer(500, "InternalError", text), times=1)
    w.start_scheduler(through=proxy)
    pod_with(w, "train", "mine")
    w.event("train", "FailedScheduling", re.compile("add allocation and reservation to claim .*no luck today"))
    assert w.bound("train") == ["only"]
    assert reserved_for(w, "mine") == ["train"]


@case()
def a_status_that_was_written_after_all(w):
    w.node("only")
    device_class(w)
    devices(w, "only", 1)
    claim(w, "mine")
    proxy = w.proxy()
    act = answer_after_effect(504, "Timeout", "request did not complete within the allotted timeout")
    rule = proxy.on(is_status_write("mine"), act, times=1)
    w.start_scheduler(through=proxy)
    pod_with(w, "train", "mine")
    assert w.bound("train") == ["only"]
    assert rule.done == 1
    assert reserved_for(w, "mine") == ["train"]
    assert len(devices_are_given_once(w)) == 1


def killed_at(w, matches):
    """Kills the scheduler while a request is on its way that never arrives; a second one goes on."""
    w.node("only", cpu="1")
    device_class(w)
    devices(w, "only", 1)
    claim(w, "mine")
    proxy = w.proxy()
    go_on = threading.Event()
    w.at_end(go_on.set)
    held = proxy.on(matches, hold(go_on), times=1)
    first = w.start_scheduler("first", through=proxy)
    pod_with(w, "train", "mine", cpu="1")
    w.eventually("the request to be on its way", lambda: held.done == 1)
    first.kill()
    second = w.start_scheduler("second", through=proxy)
    assert w.bound("train") == ["only"]
    assert reserved_for(w, "mine") == ["train"]
    # The device is taken, and counted once.
    claim(w, "late")
    pod_with(w, "late", "late", cpu="0")
    w.unschedulable("late", re.compile("cannot allocate all claims"))
    w.delete_pod("train", grace=0)
    free(w, "mine")
    assert w.bound("late") == ["only"]
    devices_are_given_once(w)
    return second


@case()
def killed_between_reserve_and_the_first_write(w):
    killed_at(w, is_claim_write("mine"))


@case()
def killed_in_the_middle_of_the_writes(w):
    killed_at(w, is_status_write("mine"))


@case()
def killed_after_the_claim_was_written(w):
    killed_at(w, is_bind("train"))


@case(placement=False)
def killed_again_and_again(w):
    w.nodes(2, cpu="20")
    device_class(w)
    devices(w, "node-0", 4)
    devices(w, "node-1", 4)
    names = [f"pod-{i}" for i in range(8)]
    proxy = w.proxy()
    for name in names:
        claim(w, name)
        pod_with(w, name, name)
    for life, binds in enumerate((1, 2, 2)):
        before = len(proxy.binds(code=201))
        scheduler = w.start_scheduler(f"life-{life}", through=proxy, ready=False)
        w.eventually("some binds", lambda: len(proxy.binds(code=201)) >= min(before + binds, 8), 120)
        scheduler.kill()
    w.start_scheduler("last-life", through=proxy)
    w.bound(*names)
    assert len(devices_are_given_once(w)) == 8
    for name in names:
        assert reserved_for(w, name) == [name]


@case()
def the_claim_goes_while_it_binds(w):
    w.node("only")
    device_class(w)
    devices(w, "only", 1)
    claim(w, "mine")
    proxy = w.proxy()
    gone = threading.Event()

    def remove(request):
        if not gone.is_set():
            gone.set()
            w.api.delete("resourceclaims", "mine", w.namespace)

    proxy.on(is_claim_write("mine"), call_then(remove), times=1)
    w.start_scheduler(through=proxy)
    pod_with(w, "train", "mine")
    w.eventually("the claim to be gone", gone.is_set)
    w.event("train", "FailedScheduling", re.compile("not found"))
    assert w.unbound("train")
    claim(w, "mine")
    assert w.bound("train") == ["only"]
    assert reserved_for(w, "mine") == ["train"]


@case()
def the_slice_goes_and_comes_back(w):
    w.node("only")
    device_class(w)
    devices(w, "only", 1)
    claim(w, "mine")
    w.start_scheduler()
    w.api.delete("resourceslices", "only-1")
    pod_with(w, "train", "mine")
    w.unschedulable("train", re.compile("cannot allocate all claims"))
    devices(w, "only", 1, generation=2)
    assert w.bound("train") == ["only"]
