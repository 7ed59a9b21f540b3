"""InterPodAffinity: as many terms, namespaces and requirements as fit into a pod."""
from cluster import HOST, ZONE, Case, fill, fill_map, nodes, obj, pod


def term(key, labels, **more):
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}, **more}


def affinity(kind, rule, terms):
    if rule == "preferred":
        terms = [{"weight": 1, "podAffinityTerm": one} for one in terms]
    return {"affinity": {kind: {rule + "DuringSchedulingIgnoredDuringExecution": terms}}}


def cases(scale):
    room = scale.object_bytes
    all_nodes = nodes(scale.nodes)
    pending = [pod(f"p{i}") for i in range(8)]

    def terms(make):
        return fill(room * 2 // 3, make)  # affinity() adds to each

    unknown_keys = terms(lambda i: term(f"k{i}", {"app": "web"}))
    unknown_labels = terms(lambda i: term(HOST, {"app": f"none{i}"}))
    for kind in ("podAffinity", "podAntiAffinity"):
        for rule in ("preferred", "required"):
            yield Case(f"placed {kind} {rule}, keys that no node has",
                       all_nodes + [pod("placed", "n0", **affinity(kind, rule, unknown_keys))] + pending)
            yield Case(f"pending {kind} {rule}, keys that no node has",
                       all_nodes + [pod("placed", "n0"), pod("p0", **affinity(kind, rule, unknown_keys))])
    # Counts are kept for each selector, up to 64 MB.
    yield Case("pending podAntiAffinity required, labels that no pod has",
               all_nodes + [pod("placed", "n0"), pod("p0", **affinity("podAntiAffinity", "required", unknown_labels))],
               memory_times=6.6)
    yield Case("pending podAffinity preferred, labels that no pod has",
               all_nodes + [pod("placed", "n0"), pod("p0", **affinity("podAffinity", "preferred", unknown_labels))],
               memory_times=6.6)
    yield Case("placed podAffinity preferred, one zone",
               all_nodes + [pod("placed", "n0", **affinity("podAffinity", "preferred", terms(
                   lambda i: term(ZONE, {"app": "web"}, namespaces=[f"s{i}"]))))] + pending)
    yield Case("namespaces that nobody has",
               all_nodes + [pod("p0", **affinity("podAntiAffinity", "required", [
                   term(HOST, {"app": "web"}, namespaces=fill(room, lambda i: f"space{i}"))]))])
    spaces = [obj("v1", "Namespace", f"s{i}", labels={"team": f"t{i}"}) for i in range(scale.nodes // 10)]
    yield Case("namespace selectors that match nothing",
               all_nodes + spaces + [pod("p0", **affinity("podAntiAffinity", "required", terms(
                   lambda i: {"topologyKey": HOST, "namespaceSelector": {"matchLabels": {"team": f"x{i}"}}})))])
    # Requirements are compiled, and sorted by key.
    yield Case("a selector of as many requirements as fit",
               all_nodes + [pod(f"placed{i}", f"n{i % scale.nodes}") for i in range(scale.nodes)] +
               [pod("p0", **affinity("podAntiAffinity", "required", [
                   term(HOST, fill_map(room, lambda i: (f"k{i}", "v")))]))], times=13.5, memory_times=4.7)
    yield Case("a selector of as many values as fit",
               all_nodes + [pod(f"placed{i}", f"n{i % scale.nodes}") for i in range(scale.nodes)] +
               [pod("p0", **affinity("podAntiAffinity", "required", [
                   {"topologyKey": HOST, "labelSelector": {"matchExpressions": [
                       {"key": "app", "operator": "In", "values": fill(room, lambda i: f"v{i}")}]}}]))], times=7.6)
