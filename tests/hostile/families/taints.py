"""Taints and tolerations, and what else a node says: images, labels, ports."""
from cluster import Case, fill, fill_map, node, nodes, pod


def cases(scale):
    room = scale.object_bytes
    all_nodes = nodes(scale.nodes)
    tolerations = fill(room, lambda i: {"key": f"k{i}", "operator": "Exists", "effect": "NoSchedule"})
    yield Case("tolerations of taints that no node has", all_nodes + [pod("p0", tolerations=tolerations)])
    soft = fill(room, lambda i: {"key": f"k{i}", "operator": "Exists", "effect": "PreferNoSchedule"})
    yield Case("tolerations of soft taints that no node has", all_nodes + [pod("p0", tolerations=soft)])
    for effect in ("NoSchedule", "PreferNoSchedule"):
        taints = fill(room, lambda i, effect=effect: {"key": f"k{i}", "effect": effect})
        half = len(taints) // 2
        yield Case(f"a node of many taints, {effect}",
                   [node("tainted", taints=taints)] + all_nodes + [pod("p0")])
        yield Case(f"a node of many taints and a pod that tolerates the other half, {effect}",
                   [node("tainted", taints=taints[:half])] + all_nodes +
                   [pod("p0", tolerations=[{"key": t["key"], "operator": "Exists", "effect": effect}
                                           for t in reversed(taints[half:])])])
    yield Case("a node of many labels", [node("labelled", fill_map(room, lambda i: (f"k{i}", "v")))] + all_nodes + [pod("p0")])
    yield Case("a pod of many labels", all_nodes + [pod("p0", labels=fill_map(room, lambda i: (f"k{i}", "v")))])
    yield Case("a placed pod of many labels",
               all_nodes + [pod("placed", "n0", labels=fill_map(room, lambda i: (f"k{i}", "v"))), pod("p0")])
