"""Volumes: what the scheduler writes before it binds, how long it waits, and what can come between.

There is no volume controller: the cases play it, late, badly, or not at all.
"""
import re
import threading

from harness.faulty_proxy import call_then, hold, is_bind, is_request
from harness.registry import case

SELECTED = "volume.kubernetes.io/selected-node"


def storage_class(w, name="lazy", provisioner="disk.example.com", mode="WaitForFirstConsumer"):
    body = {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode}
    return w.api.create("storageclasses", body)


def claim(w, name="data", storage_class="lazy", **metadata):
    spec = {
        "storageClassName": storage_class,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    body = {"metadata": {"name": name, **metadata}, "spec": spec}
    return w.api.create("persistentvolumeclaims", body, w.namespace)


def volume(w, name, storage_class, node, claim_ref=None, **metadata):
    expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    spec = {
        "storageClassName": storage_class,
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "2Gi"},
        "mountOptions": ["noatime"],
        "hostPath": {"path": "/x"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}},
    }
    if claim_ref:
        spec["claimRef"] = claim_ref
    made = w.api.create("persistentvolumes", {"metadata": {"name": name, **metadata}, "spec": spec})
    made["status"] = {"phase": "Bound" if claim_ref else "Available"}
    return w.api.update("persistentvolumes", made, subresource="status")


def pod_with(w, name, claim_name="data", **more):
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": claim_name}}]
    return w.pod(name, volumes=volumes, **more)


def get_claim(w, name="data"):
    return w.api.get("persistentvolumeclaims", w.namespace, name)


def selected_node(w, name="data"):
    return (get_claim(w, name)["metadata"].get("annotations") or {}).get(SELECTED)


def await_selection(w, name="data"):
    return w.eventually(f"a node for claim {name}", lambda: selected_node(w, name))


def finish_binding(w, volume_name, name="data"):
    """What the controller does last: the claim says which volume is its own."""

    def change(item):
        item["spec"]["volumeName"] = volume_name
        annotations = item["metadata"].setdefault("annotations", {})
        annotations["pv.kubernetes.io/bind-completed"] = "yes"

    w.edit("persistentvolumeclaims", name, change, w.namespace)
    item = get_claim(w, name)
    item["status"] = {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
    w.api.update("persistentvolumeclaims", item, w.namespace, "status")


def provision(w, node, name="data"):
    """What a provisioner does for a claim with a selected node."""
    uid = get_claim(w, name)["metadata"]["uid"]
    reference = {
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "namespace": w.namespace,
        "name": name,
        "uid": uid,
    }
    made = volume(w, f"pvc-{uid}", "lazy", node, reference)
    finish_binding(w, made["metadata"]["name"], name)


def is_claim_write(name="data"):
    return is_request("PUT", f"/persistentvolumeclaims/{name}$")


def with_time_out(seconds):
    """A configuration in which volumes have this long."""
    args = {"name": "VolumeBinding", "args": {"bindTimeoutSeconds": seconds}}
    return {"profiles": [{"schedulerName": "default-scheduler", "pluginConfig": [args]}]}


@case()
def a_controller_that_binds_late(w):
    w.node("only", cpu="2")
    storage_class(w)
    claim(w, annotations={"example.com/mine": "kept"}, labels={"a": "b"})
    w.start_scheduler()
    pod_with(w, "db", cpu="1")
    assert await_selection(w) == "only"
    item = get_claim(w)
    assert item["metadata"]["annotations"]["example.com/mine"] == "kept", item
    assert item["metadata"]["labels"] == {"a": "b"}, item
    # It waits, and nobody else does; what it has reserved is taken.
    w.pod("other", cpu="1")
    assert w.bound("other") == ["only"]
    w.pod("third", cpu="1")
    w.unschedulable("third")
    assert w.unbound("db")
    provision(w, "only")
    assert w.bound("db") == ["only"]
    assert not w.events("db", "FailedScheduling")


@case()
def a_volume_that_is_there_is_chosen(w):
    w.node("left")
    w.node("right")
    storage_class(w, "local", "kubernetes.io/no-provisioner")
    volume(w, "disk", "local", "right", annotations={"example.com/mine": "kept"})
    w.at_end(lambda: w.api.delete("persistentvolumes", "disk"))
    claim(w, storage_class="local")
    w.start_scheduler()
    pod_with(w, "db")

    def chosen():
        return w.api.get("persistentvolumes", None, "disk")["spec"].get("claimRef")

    reference = w.eventually("the volume to be chosen", chosen)
    assert reference["name"] == "data" and reference["namespace"] == w.namespace, reference
    assert reference["uid"] == get_claim(w)["metadata"]["uid"], reference
    item = w.api.get("persistentvolumes", None, "disk")
    assert item["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"] == "yes", item
    assert item["metadata"]["annotations"]["example.com/mine"] == "kept", item
    assert item["spec"]["mountOptions"] == ["noatime"], item
    assert w.unbound("db")
    finish_binding(w, "disk")
    assert w.bound("db") == ["right"]


@case()
def a_controller_that_fails(w):
    w.node("only")
    storage_class(w)
    claim(w, annotations={"example.com/mine": "kept"})
    w.start_scheduler()
    pod_with(w, "db")
    await_selection(w)
    w.edit(
        "persistentvolumeclaims",
        "data",
        lambda item: item["metadata"]["annotations"].pop(SELECTED, None),
        w.namespace,
    )
    why = 'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data"'
    w.event("db", "FailedScheduling", why)
    # Decided anew.
    await_selection(w)
    provision(w, "only")
    assert w.bound("db") == ["only"]


@case()
def a_controller_that_never_answers(w):
    w.node("only", cpu="1")
    storage_class(w)
    claim(w)
    w.start_scheduler(config=with_time_out(2))
    pod_with(w, "db", cpu="1")
    why = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
    w.event("db", "FailedScheduling", why)
    # What was reserved is free again for others, until the next try.
    w.delete_pod("db")
    w.pod("other", cpu="1")
    assert w.bound("other") == ["only"]


@case()
def it_answers_after_all(w):
    w.node("only")
    storage_class(w)
    claim(w)
    w.start_scheduler(config=with_time_out(2))
    pod_with(w, "db")
    w.event("db", "FailedScheduling", re.compile("context deadline exceeded"))
    provision(w, "only")
    assert w.bound("db") == ["only"]


@case()
def killed_in_the_middle_of_pre_bind(w):
    w.node("only", cpu="1")
    storage_class(w)
    claim(w)
    first = w.start_scheduler("first")
    pod_with(w, "db", cpu="1")
    await_selection(w)
    first.kill()
    provision(w, "only")
    w.start_scheduler("second")
    assert w.bound("db") == ["only"]


@case()
def killed_and_the_node_is_still_selected(w):
    w.node("left")
    first = w.start_scheduler("first")
    storage_class(w)
    claim(w)
    pod_with(w, "db")
    assert await_selection(w) == "left"
    first.kill()
    # The provisioner may be at it: another node is no choice any more.
    w.node("right")
    w.start_scheduler("second")
    w.eventually("another try", lambda: w.history.events("db") and selected_node(w) == "left")
    provision(w, "left")
    assert w.bound("db") == ["left"]


@case()
def killed_before_the_claim_is_written(w):
    w.node("only", cpu="1")
    storage_class(w)
    claim(w)
    proxy = w.proxy()
    go_on = threading.Event()
    w.at_end(go_on.set)
    held = proxy.on(is_claim_write(), hold(go_on), times=1)
    first = w.start_scheduler("first", through=proxy)
    pod_with(w, "db", cpu="1")
    w.eventually("the write to be on its way", lambda: held.done == 1)
    first.kill()
    go_on.set()
    w.start_scheduler("second", through=proxy)
    await_selection(w)
    provision(w, "only")
    assert w.bound("db") == ["only"]
    w.bound_once(proxy, "db")


@case()
def killed_between_the_volume_and_the_bind(w):
    w.node("only", cpu="1")
    storage_class(w)
    claim(w)
    proxy = w.proxy()
    go_on = threading.Event()
    w.at_end(go_on.set)
    held = proxy.on(is_bind("db"), hold(go_on), times=1)
    first = w.start_scheduler("first", through=proxy)
    pod_with(w, "db", cpu="1")
    await_selection(w)
    provision(w, "only")
    w.eventually("the bind to be on its way", lambda: held.done == 1)
    first.kill()
    go_on.set()
    w.start_scheduler("second", through=proxy)
    assert w.bound("db") == ["only"]


@case()
def somebody_else_writes_the_claim(w):
    w.node("only")
    storage_class(w)
    claim(w)
    proxy = w.proxy()

    def write(request):
        w.edit(
            "persistentvolumeclaims",
            "data",
            lambda item: item["metadata"].setdefault("labels", {}).update({"by": "another"}),
            w.namespace,
        )

    proxy.on(is_claim_write(), call_then(write), times=1)
    w.start_scheduler(through=proxy)
    pod_with(w, "db")
    why = (
        'running PreBind plugin "VolumeBinding": Operation cannot be fulfilled on '
        'persistentvolumeclaims "data": the object has been modified; please apply your changes to the '
        "latest version and try again"
    )
    w.event("db", "FailedScheduling", why)
    await_selection(w)
    assert get_claim(w)["metadata"]["labels"] == {"by": "another"}
    provision(w, "only")
    assert w.bound("db") == ["only"]


@case()
def the_claim_goes_while_it_binds(w):
    w.node("only")
    storage_class(w)
    claim(w)
    w.start_scheduler()
    pod_with(w, "db")
    await_selection(w)
    w.api.delete("persistentvolumeclaims", "data", w.namespace)
    if (w.api.find("persistentvolumeclaims", w.namespace, "data") or {"metadata": {}})["metadata"].get(
        "finalizers"
    ):
        w.edit(
            "persistentvolumeclaims",
            "data",
            lambda item: item["metadata"].update({"finalizers": []}),
            w.namespace,
        )
    w.event("db", "FailedScheduling", re.compile("binding volumes: failed to check provisioning pvc: .*not found"))
    w.unschedulable("db", re.compile('persistentvolumeclaim "data" not found'))
    claim(w)
    await_selection(w)
    provision(w, "only")
    assert w.bound("db") == ["only"]
