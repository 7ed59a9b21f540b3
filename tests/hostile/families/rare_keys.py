"""Topology keys that one node each has. There are half as many nodes as keys: what costs something for every key and
every node grows sixteenfold."""
from cluster import Case, nodes, pod
from families.inter_pod_affinity import affinity, term

WAYS = ("evaluate", "simulate")  # for the codecs these are terms like any


def cases(scale):
    keys = [f"k{i}" for i in range(scale.object_bytes // 150)]
    all_nodes = nodes(len(keys) // 2)
    for i, key in enumerate(keys):
        all_nodes[i % len(all_nodes)]["metadata"]["labels"][key] = "v"

    def one(name, placed, *pending):
        return Case(f"{name}, a key for each node", all_nodes + [placed, *pending], ways=WAYS)

    terms = [term(key, {"app": "web"}) for key in keys]
    for kind in ("podAffinity", "podAntiAffinity"):
        for rule in ("preferred", "required"):
            yield one(f"placed {kind} {rule}", pod("placed", "n0", **affinity(kind, rule, terms)),
                      *(pod(f"p{i}") for i in range(8)))
            yield one(f"pending {kind} {rule}", pod("placed", "n0"), pod("p0", **affinity(kind, rule, terms)))
    for action in ("DoNotSchedule", "ScheduleAnyway"):
        yield one(action, pod("placed", "n0"), pod("p0", topologySpreadConstraints=[
            {"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": action,
             "labelSelector": {"matchLabels": {"app": "web"}}} for key in keys]))
