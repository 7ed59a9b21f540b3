"""Many small objects instead of a large one."""
from cluster import Case, nodes, obj, pod


def cases(scale):
    all_nodes = nodes(scale.nodes)
    count = scale.pods // 4
    plain = [pod(f"placed{i}", f"n{i % scale.nodes}") for i in range(count)]

    def placed(make):
        return all_nodes + [make(i) for i in range(count)] + [pod("p0")]

    def one(name, make, **budget):
        return Case(name, placed(make), twin=all_nodes + plain + [pod("p0")], **budget)

    yield one("nodes that nobody has", lambda i: pod(f"placed{i}", f"ghost{i}"))
    yield one("a label key of its own for each pod", lambda i: pod(f"placed{i}", f"n{i % scale.nodes}", labels={f"k{i}": "v"}))
    yield one("a resource of its own for each pod",
              lambda i: pod(f"placed{i}", f"n{i % scale.nodes}", requests={f"example.com/r{i}": "1"}))
    yield one("a host port of its own for each pod", lambda i: pod(
        f"placed{i}", f"n{i % scale.nodes}", containers=[{"name": "c", "image": "a", "ports": [
            {"containerPort": 1, "hostPort": 1 + i % 60000}], "resources": {"requests": {"cpu": "10m"}}}]))
    yield one("a namespace of its own for each pod", lambda i: pod(f"placed{i}", f"n{i % scale.nodes}", namespace=f"s{i}"))
    yield one("anti-affinity of its own for each pod", lambda i: pod(
        f"placed{i}", f"n{i % scale.nodes}", affinity={"podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": f"a{i}"}}}]}}))
    held = [pod(f"held{i}", schedulingGates=[{"name": "held"}]) for i in range(count // 8)]
    nominated = [{**one_held, "status": {"nominatedNodeName": f"ghost{i}"}} for i, one_held in enumerate(held)]
    yield Case("nominations to nodes that nobody has", all_nodes + nominated + [pod("p0")], twin=all_nodes + held + [pod("p0")])
    budgets = [obj("policy/v1", "PodDisruptionBudget", f"b{i}", "default",
                   spec={"selector": {"matchLabels": {"app": f"none{i}"}}}, status={"disruptionsAllowed": 0})
               for i in range(count // 4)]
    yield Case("disruption budgets that cover no pod", all_nodes + plain + budgets + [pod("p0", priority=10, requests={"cpu": "63"})],
               flags=["--preempt"], ways=("evaluate", "simulate"), twin=all_nodes + plain + [pod("p0", priority=10, requests={"cpu": "63"})])
