"""Names of resources and quantities."""
from cluster import Case, asking_for, container, fill, fill_map, node, nodes, pod


def cases(scale):
    room = scale.object_bytes
    all_nodes = nodes(scale.nodes)
    names = fill_map(room // 2, lambda i: (f"example.com/r{i}", "1"))
    # Each name is a reason of its own, on each node: a full answer would be gigabytes, upstream's, too.
    yield Case("a pending pod names resources that no node has", all_nodes + [pod("p0", requests=names)], times=16.5,
               memory_times=7.3, ways=("simulate", "codecs"))
    # Each name is a resource with an entry of its own.
    yield Case("a placed pod names resources that no node has",
               all_nodes + [pod("placed", "n0", requests=names)] + [pod(f"p{i}") for i in range(8)],
               times=8, memory_times=4.3)
    yield Case("the same names in another order",
               all_nodes + [pod("placed", "n0", requests=names),
                            pod("other", "n1", requests=dict(reversed(names.items()))), pod("p0")], times=8.2, memory_times=3.4)
    yield Case("a node offers resources that nobody asks for",
               [node("rich", allocatable=fill_map(room // 2, lambda i: (f"example.com/r{i}", "1")))] + all_nodes + [pod("p0")])
    yield Case("each container asks for a resource of its own",
               all_nodes + [pod("p0", containers=fill(room, lambda i: container(
                   f"c{i}", resources=asking_for({f"example.com/r{10 ** 6 - i}": "1"}))))], times=10, memory_times=3.6, ways=("simulate", "codecs"))
    yield Case("each init container asks for a resource of its own",
               all_nodes + [pod("p0", initContainers=fill(room, lambda i: container(
                   f"c{i}", resources=asking_for({f"example.com/r{10 ** 6 - i}": "1"}))))], times=10, memory_times=3.6, ways=("simulate", "codecs"))

    def quantity(name, text, **budget):
        return Case(name, all_nodes + [pod("placed", "n0", requests={"ephemeral-storage": text}),
                                       pod("p0", requests={"ephemeral-storage": text})], **budget)

    yield quantity("as many digits as fit", "9" * room)
    yield quantity("as many decimals as fit", "0." + "3" * room)
    yield quantity("as many decimals of a binary amount as fit", "0." + "3" * room + "Ki")
    yield quantity("a large exponent", "1e10001")
    yield quantity("the largest exponent", "1e2147483647")
    sums = fill(room, lambda i: container(f"c{i}", resources={"requests": {
        "ephemeral-storage": "1e1000000" if i % 2 else "1n"}}))
    yield Case("sums of amounts far apart", all_nodes + [pod("p0", containers=sums)])
    half = [container("c", resources={"requests": {"ephemeral-storage": "7" * (room // 2)}})]
    half += fill(room // 2, lambda i: container(f"c{i}", resources={"requests": {"ephemeral-storage": "1n"}}))
    yield Case("a long amount and many short ones", all_nodes + [pod("p0", containers=half)])
