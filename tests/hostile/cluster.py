"""The parts hostile clusters are made of: objects as an API server returns them, cases, and their plain twins.

A *case* is a cluster with objects that are as large or as numerous as an API server lets them be. Its *plain
twin* is the cluster of the same shape and of as many bytes that asks for nothing special: what a case costs
is compared with what its twin costs.
"""
import dataclasses
import json

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
MAX_OBJECT = 1536 * 1024  # bytes: the largest request that an API server (etcd behind it) accepts


@dataclasses.dataclass(frozen=True)
class Scale:
    """How large to make a cluster."""
    object_bytes: int = MAX_OBJECT  # one object, as JSON
    nodes: int = 5000
    pods: int = 40000  # where many small objects are the attack


@dataclasses.dataclass
class Case:
    name: str
    objects: list  # of dicts, in the order of the list
    # What it may cost, as a multiple of what its twin costs: about half as much again as it does. These are for
    # cases that cost what it costs to read and keep them: a twin's annotations are read, but not kept.
    times: float = 7.0
    memory_times: float = 3.0
    # How much more four times the size may cost, compared with the fourfold growth before: 4 is linear, 16 is
    # quadratic.
    growth: float = 5.0
    flags: list = dataclasses.field(default_factory=list)  # of `berth evaluate`
    twin: list = None  # objects of the twin; None: made by plain_twin()
    ways: tuple = ("evaluate", "simulate", "codecs")  # of run.py

    def twin_objects(self):
        if self.twin is None:
            self.twin = plain_twin(self.objects)
        return self.twin


def meta(kind, name, namespace=None, labels=None):
    made = {"name": name, "uid": f"{kind.lower()}-{name}", "resourceVersion": "1",
            "creationTimestamp": "2026-01-01T00:00:00Z"}
    if namespace:
        made["namespace"] = namespace
    if labels:
        made["labels"] = labels
    return made


def obj(api_version, kind, name, namespace=None, labels=None, **body):
    return {"apiVersion": api_version, "kind": kind, "metadata": meta(kind, name, namespace, labels), **body}


def node(name, labels=None, taints=None, allocatable=None, **status):
    spec = {"taints": taints} if taints else {}
    offers = {"cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "2000", **(allocatable or {})}
    return obj("v1", "Node", name, labels={HOST: name, **(labels or {})}, spec=spec,
               status={"capacity": offers, "allocatable": offers, **status})


def nodes(count, zones=8):
    return [node(f"n{i}", {ZONE: f"z{i % zones}"}) for i in range(count)]


def asking_for(resources):
    """As a container says it: an API server wants limits for what cannot be overcommitted."""
    limits = {name: amount for name, amount in resources.items() if "/" in name}
    return {"requests": resources, **({"limits": limits} if limits else {})}


def refused(one):
    """An object that today's API server refuses: one from before may be there still, and a dump may have it."""
    one["metadata"]["annotations"] = {"refused": "422"}
    return one


def container(name, image="app:1", **more):
    """With what an API server fills in."""
    return {"name": name, "image": image, "imagePullPolicy": "IfNotPresent",
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", **more}


def pod(name, node_name=None, labels=None, namespace="default", requests=None, containers=None, **spec):
    """A pod of one container that asks for a little, unless `containers` says otherwise."""
    asked = {"cpu": "10m", "memory": "16Mi", **(requests or {})}
    body = {"containers": containers or [container("c", resources=asking_for(asked))], **spec}
    status = {}
    if node_name:
        body["nodeName"] = node_name
        status = {"phase": "Running"}
    return obj("v1", "Pod", name, namespace, labels or {"app": "web"}, spec=body, status=status)


RAW = {}  # texts that stand for themselves, by the string that is put in their place


def raw_json(text):
    """A value that is written as `text`: json.dumps does not nest deep."""
    return RAW.setdefault(text, f"@raw{len(RAW)}@")


to_json = json.JSONEncoder(separators=(",", ":")).encode


def json_text(value):
    written = to_json(value)
    for text, key in RAW.items() if "@raw" in written else ():
        written = written.replace(f'"{key}"', text)
    return written


def size_of(value):
    return len(json_text(value))


def fill(limit, make):
    """[make(0), make(1), ...] as long as their JSON stays below `limit` bytes."""
    made, left, at_once = [], limit, 256
    while at_once:
        more = [make(i) for i in range(len(made), len(made) + at_once)]
        used = size_of(more) - 1  # a comma each
        if used > left:
            at_once //= 2
        else:
            made += more
            left -= used
    return made


def fill_map(limit, make):
    """{key: value} of make(i) -> (key, value), below `limit` bytes."""
    return dict(fill(limit, lambda i: list(make(i))))


def is_large(one):
    """Smaller objects are their own twins."""
    return size_of(one) > 2048


def is_plain_node(one):
    return one["kind"] == "Node" and size_of(one) < 512


def plain_twin(objects):
    """The same cluster, each large object replaced by a plain one of as many bytes."""
    return [plain_object(one) if is_large(one) else one for one in objects]


PLAIN_NOTE = 48  # bytes


def plain_object(one):
    """An object of the same kind, name, place and size whose bytes are short annotations."""
    kind, name = one["kind"], one["metadata"]["name"]
    if kind == "Pod":
        plain = pod(name, one["spec"].get("nodeName"), namespace=one["metadata"]["namespace"])
    elif kind == "Node":
        plain = node(name, {ZONE: "z0"})
    else:
        plain = {"apiVersion": one["apiVersion"], "kind": kind,
                 "metadata": meta(kind, name, one["metadata"].get("namespace"))}
    if kind == "StorageClass":
        plain["provisioner"] = one["provisioner"]
    notes = (size_of(one) - size_of(plain)) // PLAIN_NOTE
    plain["metadata"]["annotations"] = {f"note-{i:06}": "x" * (PLAIN_NOTE - 17) for i in range(notes)}
    return plain


def cluster_text(objects):
    return json_text({"apiVersion": "v1", "kind": "List", "items": objects})
