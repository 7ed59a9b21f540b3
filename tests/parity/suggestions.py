"""Whether the suggestions of `berth explain` help, asked of upstream: the changes are made to the cluster by code
that shares nothing with berth, and every variant of the cluster is judged by the oracle.

A suggestion must let its pod fit on all its nodes (or, if it has victims, preempt on one of them). Without any one of
its changes, and with one unit more of an amount that it lowers, the pod must not find a place.
"""
import copy
import dataclasses
import fractions
import json
import re

import json_patch

SUFFIXES = {"n": "1e-9", "u": "1e-6", "m": "1e-3", "": "1", "k": "1e3", "M": "1e6", "G": "1e9", "T": "1e12", "P": "1e15", "E": "1e18"}
SUFFIXES |= {f"{letter}i": str(1024**power) for power, letter in enumerate("KMGTPE", 1)}

UNCHANGED = "without any change"


class NotApplicable(ValueError):
    """The changes do not fit to the objects of the dump."""


@dataclasses.dataclass
class Variant:
    pod: str
    nodes: list
    preempts: bool  # it needs a preemption, not only a node
    helps: bool  # what upstream must say
    what: str
    cluster: dict


# ---- changes


def apply_changes(cluster, changes):
    """The cluster with the changes made in order. Objects that nothing changes are shared."""
    items = list(cluster["items"])
    for change in changes:
        if change["op"] == "create":
            if any(identity(item) == identity(change["object"]) for item in items):
                raise NotApplicable(f"create: {identity(change['object'])} is there")
            items.append(change["object"])
            continue
        position = position_of(items, change)
        if change["op"] == "delete":
            del items[position]
        elif change["op"] == "patch":
            items[position] = json_patch.apply(items[position], change["patch"])
        else:
            raise NotApplicable(f"there is no change {change['op']!r}")
    return {**cluster, "items": items}


def identity(item):
    metadata = item["metadata"]
    return item["kind"], metadata.get("namespace", ""), metadata["name"]


def position_of(items, change):
    wanted = change["kind"], change.get("namespace", ""), change["name"]
    for i, item in enumerate(items):
        if identity(item) == wanted:
            return i
    raise NotApplicable(f"there is no {' '.join(wanted)}")


# ---- amounts


def amount(text):
    """A quantity's value; None if it is none."""
    found = re.fullmatch(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|(\D*))", str(text))
    if isinstance(text, bool) or not found or (found[3] or "") not in SUFFIXES:
        return None
    return fractions.Fraction(found[1] + (found[2] or "")) * fractions.Fraction(SUFFIXES[found[3] or ""])


def requests_in(value, path=()):
    """(path, amount) of all that is in a map "requests"."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return
    for key, inside in value.items():
        if path[-1:] != ("requests",):
            yield from requests_in(inside, (*path, key))
        elif not isinstance(inside, (dict, list)) and amount(inside) is not None:
            yield (*path, key), amount(inside)


def one_more(resource, value):
    """The quantity that is one base unit above."""
    if resource == "cpu":
        return f"{-(-value * 1000 // 1) + 1}m"
    return str(-(-value // 1) + 1)


def lowered(before, after):
    """(path, amount) of the requests of an object that are smaller than they were, or gone."""
    now = dict(requests_in(after))
    for path, value in requests_in(before):
        if now.get(path, 0) < value:
            yield path, now.get(path, fractions.Fraction(0))


def with_more(item, path, value):
    item = inside = copy.deepcopy(item)
    for key in path[:-1]:
        inside = inside[key] if isinstance(inside, list) else inside.setdefault(key, {})
    inside[path[-1]] = one_more(path[-1], value)
    return item


# ---- variants


def variants(cluster, pod, suggestion):
    """What to ask about one suggestion. Raises NotApplicable or PatchError if it cannot be carried out."""
    changes = suggestion["changes"]
    if not changes or not suggestion["nodes"]:
        raise NotApplicable("it has no changes, or no nodes")

    def variant(helps, what, changed):
        return Variant(pod, suggestion["nodes"], bool(suggestion.get("victims")), helps, what, changed)

    changed = apply_changes(cluster, changes)
    yield variant(True, "as suggested", changed)
    for i in range(len(changes)):
        what = f"without change {i + 1}" if len(changes) > 1 else UNCHANGED
        yield variant(False, what, apply_changes(cluster, changes[:i] + changes[i + 1 :]))
    before = {identity(item): item for item in cluster["items"]}
    for i, item in enumerate(changed["items"]):
        old = before.get(identity(item))
        if old is None or old is item:
            continue
        for path, value in lowered(old, item):
            items = [*changed["items"][:i], with_more(item, path, value), *changed["items"][i + 1 :]]
            more = f"with {one_more(path[-1], value)} of {path[-1]} in /{'/'.join(map(str, path[:-1]))} of {' '.join(identity(item))}"
            yield variant(False, more, {**changed, "items": items})


def wrong(variant, decision):
    """What upstream says against a variant; None if it agrees."""
    fits, preempted = set(decision.get("totals", {})), decision.get("preempt", {}).get("node")
    if not variant.helps:
        if fits:
            return f"it fits all the same, on {' '.join(sorted(fits))}"
        return f"it preempts all the same, on {preempted}" if variant.preempts and preempted else None
    if decision.get("error"):
        return f"a plugin of upstream's fails: {decision['error']}"
    if variant.preempts:
        if fits or preempted in variant.nodes:
            return None
        return f"preemption gives {preempted or 'nothing'}, not {' '.join(variant.nodes)}: {decision.get('message')}"
    missing = sorted(set(variant.nodes) - fits)
    return f"it does not fit on {' '.join(missing)}: {json.dumps({n: decision.get('rejected', {}).get(n) for n in missing[:3]})}" if missing else None


def question(variant):
    """A line for the oracle's -questions."""
    return json.dumps({"pod": variant.pod, "cluster": variant.cluster}, separators=(",", ":"))
