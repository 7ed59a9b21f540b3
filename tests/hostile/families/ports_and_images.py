"""Host ports, images, containers."""
from cluster import Case, container, fill, node, nodes, pod


def cases(scale):
    room = scale.object_bytes
    all_nodes = nodes(scale.nodes)

    def ports(first, address=""):
        return fill(room, lambda i: {"containerPort": 1, "hostPort": first + i % 60000, "hostIP": f"{address}{i % 250}",
                                      "protocol": "TCP"})

    def with_ports(name, node_name, made):
        return pod(name, node_name, containers=[container("c", ports=made)])

    yield Case("a pending pod of many ports", all_nodes + [with_ports("p0", None, ports(1, "10.0.0."))])
    yield Case("a placed pod of many ports",
               all_nodes + [with_ports("placed", "n0", ports(1, "10.0.0."))] + [pod(f"p{i}") for i in range(8)])
    yield Case("a placed and a pending pod of many ports",
               all_nodes + [with_ports("placed", "n0", ports(1, "10.0.0.")), with_ports("p0", None, ports(1, "10.0.1."))])
    # A node has as many images as its kubelet says.
    images = fill(room, lambda i: {"names": [f"registry/app{i}:v1"], "sizeBytes": 1 << 28})
    yield Case("a node of many images", [node("full", images=images)] + all_nodes + [pod("p0")])
    names = fill(room, lambda i: f"registry/app{i}:v1")
    yield Case("an image of many names", [node("full", images=[{"names": names, "sizeBytes": 1}])] + all_nodes + [pod("p0")])
    # The embedded API server merges containers by name, and fills in what they do not say.
    yield Case("a pod of many containers",
               all_nodes + [pod("p0", containers=fill(room, lambda i: container(
                   f"c{i}", f"app:{i}", resources={"requests": {"cpu": "1m"}})))])
    yield Case("a pod of many init containers",
               all_nodes + [pod("p0", initContainers=fill(room, lambda i: container(
                   f"c{i}", f"app:{i}", restartPolicy="Always", resources={"requests": {"cpu": "1m"}})))])
