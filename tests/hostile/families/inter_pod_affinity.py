"""InterPodAffinity: as many terms as fit into a pod."""
from cluster import HOST, Case, fill, nodes, pod


def term(key, labels):
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}}


def affinity(kind, rule, terms):
    return {"affinity": {kind: {rule + "DuringSchedulingIgnoredDuringExecution": terms}}}


def cases(scale):
    def preferred(make_key):
        return fill(scale.object_bytes, lambda i: {"weight": 1, "podAffinityTerm": term(make_key(i), {"app": "web"})})

    pending = [pod(f"p{i}") for i in range(8)]
    unknown = affinity("podAffinity", "preferred", preferred(lambda i: f"k{i}"))
    yield Case("a placed pod prefers keys that no node has",
               nodes(scale.nodes) + [pod("placed", "n0", **unknown)] + pending)
    yield Case("a pending pod prefers keys that no node has",
               nodes(scale.nodes) + [pod("placed", "n0"), pod("p0", **unknown)])
    yield Case("a placed pod repels by keys that no node has",
               nodes(scale.nodes) + [pod("placed", "n0", **affinity(
                   "podAntiAffinity", "required",
                   fill(scale.object_bytes, lambda i: term(f"k{i}", {"app": "web"}))))] + pending)
    yield Case("a pending pod requires hosts without any such pod",
               nodes(scale.nodes) + [pod("placed", "n0"), pod("p0", **affinity(
                   "podAntiAffinity", "required",
                   fill(scale.object_bytes, lambda i: term(HOST, {"app": f"none{i}"}))))])
