"""NodeAffinity: terms, requirements and values, those that match nothing and those that do not parse."""
from cluster import Case, fill, fill_map, nodes, pod, refused

RULE = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def expression(key, operator, *values):
    made = {"key": key, "operator": operator}
    if values:
        made["values"] = list(values)
    return made


def required(terms):
    return {"affinity": {"nodeAffinity": {RULE: {"nodeSelectorTerms": terms}}}}


def preferred(terms):
    return {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": one} for one in terms]}}}


def cases(scale):
    room = scale.object_bytes
    all_nodes = nodes(scale.nodes)

    def one(name, spec, **budget):
        return Case(name, all_nodes + [pod("p0", **spec)], **budget)

    def terms(make, share=1):
        return fill(room // share, make)

    yield one("required terms on keys that no node has",
              required(terms(lambda i: {"matchExpressions": [expression(f"k{i}", "Exists")]})))
    yield Case("required terms that do not parse", all_nodes + [refused(pod("p0", **required(
        terms(lambda i: {"matchExpressions": [expression(f"k{i}", "Exists", "v")]}))))])
    yield one("required terms by field",
              required(terms(lambda i: {"matchFields": [expression("metadata.name", "In", f"x{i}")]})))
    yield one("required values that no node has",
              required([{"matchExpressions": [expression("kubernetes.io/hostname", "In", *terms(lambda i: f"v{i}"))]}]), times=8)  # sorted
    yield one("required numbers of many digits",
              required(terms(lambda i: {"matchExpressions": [expression("n", "Gt", "0" * 50 + str(i))]})))
    yield one("requirements of one term",
              required([{"matchExpressions": terms(lambda i: expression(f"k{i}", "DoesNotExist"))}]))
    yield one("preferred terms on keys that no node has",
              preferred(terms(lambda i: {"matchExpressions": [expression(f"k{i}", "Exists")]}, 2)))
    # The attempt fails, and is made again until the simulation ends.
    yield one("preferred terms that do not parse",
              preferred(terms(lambda i: {"matchExpressions": [expression(f"k{i}", "Gt", "x")]}, 2)), times=17.5)
    yield one("a node selector of as many labels as fit",
              {"nodeSelector": fill_map(room, lambda i: (f"k{i}", "v"))}, times=8.2)  # sorted
