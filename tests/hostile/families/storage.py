"""Volumes: claims of a pod, volumes of a claim, topologies of a class."""
from cluster import HOST, Case, fill, node, nodes, obj, pod


def claim_volume(i):
    return {"name": f"v{i}", "persistentVolumeClaim": {"claimName": f"c{i}"}}


def claim(i, storage_class="local", **spec):
    return obj("v1", "PersistentVolumeClaim", f"c{i}", "default", spec={
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": storage_class, **spec}, status={"phase": "Pending"})


def volume(i, node_terms, **spec):
    return obj("v1", "PersistentVolume", f"pv{i}", spec={
        "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "storageClassName": "local",
        "csi": {"driver": "csi.example.com", "volumeHandle": f"h{i}"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": node_terms}}, **spec}, status={"phase": "Available"})


def storage_class(**more):
    return obj("storage.k8s.io/v1", "StorageClass", "local", provisioner="kubernetes.io/no-provisioner",
               volumeBindingMode="WaitForFirstConsumer", **more)


def cases(scale):
    room = scale.object_bytes
    all_nodes = nodes(scale.nodes)
    many = fill(room, claim_volume)
    yield Case("a pod of claims that nobody has", all_nodes + [pod("p0", volumes=many)])
    # Upstream looks for a volume for each claim, on each node.
    few = many[:200]
    terms = [{"matchExpressions": [{"key": HOST, "operator": "In", "values": ["n0"]}]}]
    unfit = [storage_class()] + [claim(i) for i in range(len(few))] + \
        [volume(i, terms, capacity={"storage": "1Mi"}) for i in range(len(few))]
    yield Case("claims that no volume fits", all_nodes + unfit + [pod("p0", volumes=few)],
               twin=all_nodes + unfit + [pod("p0")])
    long_terms = fill(room, lambda i: {"matchExpressions": [{"key": HOST, "operator": "In", "values": [f"x{i}"]}]})
    yield Case("a volume of node terms that match nothing",
               all_nodes + [storage_class(), claim(0, volumeName="pv0"), volume(0, long_terms), pod("p0", volumes=[claim_volume(0)])])
    topologies = fill(room, lambda i: {"matchLabelExpressions": [{"key": HOST, "values": [f"x{i}"]}]})
    yield Case("a class of topologies that match nothing",
               all_nodes + [{**storage_class(allowedTopologies=topologies), "provisioner": "csi.example.com"},
                            claim(0), pod("p0", volumes=[claim_volume(0)])])
    yield Case("a pod of old disks",
               all_nodes + [pod("placed", "n0", volumes=fill(room, lambda i: {
                   "name": f"v{i}", "gcePersistentDisk": {"pdName": f"d{i}"}})),
                            pod("p0", volumes=fill(room, lambda i: {
                                "name": f"v{i}", "gcePersistentDisk": {"pdName": f"e{i}"}}))])
    yield Case("a pod of inline CSI volumes",
               all_nodes + [pod("p0", volumes=fill(room, lambda i: {"name": f"v{i}", "csi": {"driver": f"d{i}"}}))])
    yield Case("a pod of other volumes",
               all_nodes + [pod("p0", volumes=fill(room, lambda i: {"name": f"v{i}", "emptyDir": {}}))])
    drivers = fill(room, lambda i: {"name": f"d{i}", "nodeID": "n0", "allocatable": {"count": 3}})
    yield Case("a node of many CSI drivers",
               all_nodes + [obj("storage.k8s.io/v1", "CSINode", "n0", spec={"drivers": drivers}), pod("p0")])
