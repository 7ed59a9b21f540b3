"""What a case left behind, and how two schedulers differ in it."""
import json
import re

from .extender import normalized
from .process import wait_until
from .world import condition

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ADDRESS = re.compile(r"127\.0\.0\.1:\d+")
# Families of the Go runtime and of libraries that say nothing about scheduling.
_NOISE = re.compile(r"^(go_|aggregator_|apiserver_|rest_client_(exec_plugin|transport)_)")


def observe(world, case):
    """Placements, conditions, nominations, events and metric families of the case's namespace."""
    pods = world.api.list("pods", world.namespace)
    _await_events(world, pods)
    observed = {"conditions": {}, "nominations": {}, "events": set(), "metric families": {}}
    if case.placement:
        observed["placement"] = {
            p["metadata"]["name"]: p["spec"].get("nodeName", "") for p in pods
        }
    for pod in pods:
        name, found = pod["metadata"]["name"], condition(pod, "PodScheduled") or {}
        observed["conditions"][name] = tuple(
            _without_names(found.get(k, "")) for k in ("status", "reason", "message")
        )
        observed["nominations"][name] = pod["status"].get("nominatedNodeName", "")
    for event in world.events():
        regarding = event.get("regarding", {})
        # Where a pod goes is compared by itself.
        note = _without_names(event.get("note", ""))
        if event.get("reason") == "Scheduled":
            note = re.sub(r" to \S+$", " to NODE", note)
        observed["events"].add(
            (
                regarding.get("kind", ""), regarding.get("name", ""), event.get("type", ""),
                event.get("reason", ""), event.get("action", ""), note,
                event.get("reportingController", ""),
            )  # fmt: skip
        )
    observed["asked of extenders"] = {
        json.dumps([number, verb, _in_order(normalized(args))], sort_keys=True)
        for number, extender in enumerate(world.extenders)
        for verb, args in extender.requests()
    }
    for scheduler in world.schedulers:
        if scheduler.child.running():
            try:
                types = scheduler.metrics().types
            except (OSError, RuntimeError):
                continue
            observed["metric families"] = {n: t for n, t in types.items() if not _NOISE.match(n)}
            break
    names = {world.namespace: "NAMESPACE"}
    names.update({extender.url: f"EXTENDER-{i}" for i, extender in enumerate(world.extenders)})
    return _renamed(observed, names)


def _without_names(text):
    return _ADDRESS.sub("ADDRESS", _UID.sub("UID", text))


def _in_order(args):
    """Nodes are asked about in any order."""
    if isinstance(args.get("NodeNames"), list):
        args["NodeNames"].sort()
    if isinstance(args.get("Nodes"), dict):
        args["Nodes"]["items"].sort(key=lambda n: n["metadata"]["name"])
    return args


def differences(theirs, ours):
    """Lines that tell the differences between two observations."""
    lines = []
    for topic in sorted(set(theirs) | set(ours)):
        a, b = theirs.get(topic), ours.get(topic)
        if a == b or a is None or b is None:
            continue
        if isinstance(a, set):
            lines += [f"{topic}: only upstream: {e}" for e in sorted(a - b)]
            lines += [f"{topic}: only berth: {e}" for e in sorted(b - a)]
            continue
        for key in sorted(set(a) | set(b)):
            if a.get(key) != b.get(key):
                lines.append(f"{topic}: {key}: upstream {a.get(key)!r}, berth {b.get(key)!r}")
    return lines


def _await_events(world, pods):
    """Events come later than what they tell; a pod whose event is lost does not hold us up for long."""
    names = {p["metadata"]["name"] for p in pods if p["spec"].get("nodeName")}

    def there():
        told = {e["regarding"]["name"] for e in world.events(reason="Scheduled")}
        return names <= told

    try:
        wait_until("events", there, 3)
    except AssertionError:
        pass


def _renamed(value, names):
    """Without what is called otherwise in each run."""
    if isinstance(value, str):
        for name, stand_in in names.items():
            value = value.replace(name, stand_in)
        return value
    if isinstance(value, dict):
        return {k: _renamed(v, names) for k, v in value.items()}
    if isinstance(value, (set, tuple)):
        return type(value)(_renamed(v, names) for v in value)
    return value
