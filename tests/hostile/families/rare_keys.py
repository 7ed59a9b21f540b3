"""Topology keys that one node has: each another node, or all the same. There are half as many nodes as keys: what
costs something for every key and every node grows sixteenfold."""
from cluster import Case, nodes, pod
from families.inter_pod_affinity import affinity, term

WAYS = ("evaluate", "simulate")  # for the codecs these are terms like any
MEMORY_TIMES = 2.0  # a column for every key makes it 2.2 to 2.8


def cases(scale):
    keys = [f"k{i}" for i in range(scale.object_bytes // 150)]
    several = nodes(len(keys) // 2)
    for i, key in enumerate(keys):
        several[i % len(several)]["metadata"]["labels"][key] = "v"
    yield from cases_on(several, "a key for each node", keys)
    single = nodes(len(keys) // 2)
    single[0]["metadata"]["labels"].update((key, "v") for key in keys)
    yield from cases_on(single, "all keys on one node", keys)


def cases_on(all_nodes, where, keys):
    def one(name, placed, *pending):
        return Case(f"{name}, {where}", all_nodes + [placed, *pending], memory_times=MEMORY_TIMES, ways=WAYS)

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
