"""Topics that lie over a plain random cluster of casegen.py, each about fields that few objects have.

resized        pods that are being resized: what their status says about containers of every kind and about
               the pod as a whole, resizes that are infeasible or deferred
imagevolumes   volumes that are images, beside containers with the same images and others
namespaces     affinity to pods of namespaces that are selected by labels, with every operator; namespaces
               without labels, and some that nobody has heard of
capacity       claims that are bound or provisioned when the pod is placed, by how much storage is left
drivers        CSI drivers that pods cannot do without, and nodes that have them or not
"""

ZONE, REGION, HOST = "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/hostname"


def pods(gen):
    return [o for o in gen.items if o["kind"] == "Pod"]


def is_bound(pod):
    return "nodeName" in pod["spec"]


def plain_wishes(gen, pod, chance):
    """Drops most of what else a pending pod wants of its node: the business of other topics."""
    for key in ("nodeSelector", "affinity", "topologySpreadConstraints"):
        if not is_bound(pod) and gen.p(chance):
            pod["spec"].pop(key, None)


# --- resized -----------------------------------------------------------------------------------------
CPU = ["0", "1m", "50m", "100m", "250m", "0.3", "1", "1500m", "2", "3.5"]
MEMORY = ["1", "64Mi", "200Mi", "256Mi", "1Gi", "2G", "1e9", "3Gi"]


def amounts(gen, like=None):
    """Some resources; of `like` most of the names and some of the amounts."""
    R, made = gen.R, {}
    for name, values, chance in (("cpu", CPU, .85), ("memory", MEMORY, .85), ("ephemeral-storage", ["1Gi", "5G"], .08), ("hugepages-2Mi", ["2Mi", "64Mi"], .06),
                                 ("example.com/foo", ["1", "3"], .05)):
        if like is not None and name in like and gen.p(.92):
            made[name] = like[name] if gen.p(.4) else R.choice(values)
        elif gen.p(chance if like is None else chance * .2):
            made[name] = R.choice(values)
    return made


def status_fields(gen, into, like):
    """resources and allocatedResources of a status, either of which may be missing or empty."""
    R, what = gen.R, gen.R.random()
    if what < .75:
        into["resources"] = {"requests": amounts(gen, like)} if gen.p(.85) else {"limits": amounts(gen, like)} if gen.p(.5) else {}
    if what > .2:
        into["allocatedResources"] = amounts(gen, like)
        if not into["allocatedResources"]:
            del into["allocatedResources"]
    if "requests" in into.get("resources", {}) and not into["resources"]["requests"]:
        del into["resources"]["requests"]


def container_statuses(gen, containers):
    made = []
    for c in containers:
        entry = {"name": c["name"], "image": c["image"], "imageID": "", "ready": True, "restartCount": 0}
        if gen.p(.8):
            status_fields(gen, entry, c["resources"].get("requests", {}))
        if gen.p(.95):
            made.append(entry)
    return made


def resize(gen, pod):
    R, spec, status = gen.R, pod["spec"], pod["status"]
    if gen.p(.25):
        spec["initContainers"] = [{**gen.container(f"i{k}"), **({"restartPolicy": "Always"} if gen.p(.5) else {})} for k in range(R.randint(1, 3))]
    if gen.p(.15):
        spec["overhead"] = {"cpu": R.choice(["10m", "250m"]), "memory": "120Mi"}
    if gen.p(.3):
        spec["resources"] = {"requests": amounts(gen)}
    status["containerStatuses"] = container_statuses(gen, spec["containers"])
    if "initContainers" in spec:
        status["initContainerStatuses"] = container_statuses(gen, spec["initContainers"])
    if gen.p(.35):
        status_fields(gen, status, spec.get("resources", {}).get("requests") or spec["containers"][0]["resources"].get("requests", {}))
    if gen.p(.3):
        reason = R.choice(["Infeasible", "Infeasible", "Deferred"])
        status["conditions"] = [{"type": "PodResizePending", "status": R.choice(["True", "True", "False"]), "reason": reason}]
        if gen.p(.2):
            status["conditions"].insert(R.randint(0, 1), {"type": "PodResizeInProgress", "status": "True"})


def resized(gen):
    for pod in pods(gen):
        if gen.p(.6 if is_bound(pod) else .25):
            resize(gen, pod)
        plain_wishes(gen, pod, .5)


# --- imagevolumes ------------------------------------------------------------------------------------
IMAGES = [f"registry.example.com/img{k}:v1" for k in range(6)] + ["img3", "registry.example.com/img2", "models/large", "models/small:7", "nobody/has:it"]


def image_volumes(gen):
    R = gen.R
    for node in [o for o in gen.items if o["kind"] == "Node"]:
        images = [{"names": [name if ":" in name.rsplit("/", 1)[-1] else name + ":latest"], "sizeBytes": R.choice([5, 23, 24, 100, 250, 500, 1000, 3000, 9000]) * 1024 * 1024 + R.randint(0, 999)}
                  for name in IMAGES[:-1] if gen.p(.45)]
        if images:
            node["status"]["images"] = images
    for pod in pods(gen):
        if gen.p(.8):
            pod["spec"]["volumes"] = [{"name": f"v{k}", "image": {"reference": R.choice(IMAGES), "pullPolicy": "IfNotPresent"}} if gen.p(.85) else {"name": f"v{k}", "emptyDir": {}}
                                      for k in range(R.choice([1, 1, 2, 4]))]
        plain_wishes(gen, pod, .7)


# --- namespaces --------------------------------------------------------------------------------------
def namespace_selector(gen):
    R = gen.R
    expressions = [{"key": "team", "operator": "NotIn", "values": R.sample(["a", "b", "c"], R.randint(1, 2))}, {"key": "env", "operator": "DoesNotExist"},
                   {"key": "env", "operator": "NotIn", "values": [R.choice(["prod", "dev"])]}, {"key": "team", "operator": "In", "values": R.sample(["a", "b", "c"], 2)},
                   {"key": "env", "operator": "Exists"}, {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": R.sample(["default", "prod", "quiet"], 2)}]
    selector = {"matchExpressions": R.sample(expressions[:3] if gen.p(.5) else expressions, R.choice([1, 1, 2]))}
    return R.choice([selector] * 8 + [{}, {"matchLabels": {"team": "a"}}])


def term(gen):
    R = gen.R
    made = {"topologyKey": R.choice([ZONE, ZONE, HOST, REGION, "rack"]), "labelSelector": gen.selector()}
    if gen.p(.85):
        made["namespaceSelector"] = namespace_selector(gen)
    if gen.p(.25):
        made["namespaces"] = R.sample(["default", "prod", "quiet", "unheard-of"], R.randint(1, 2))
    return made


def namespaces(gen):
    R = gen.R
    gen.add("v1", "Namespace", "bare")
    gen.add("v1", "Namespace", "quiet", labels={"kubernetes.io/metadata.name": "quiet", "team": "c"})
    gen.add("v1", "Namespace", "empty", labels={"team": "b"})
    for pod in pods(gen):
        if gen.p(.45):
            pod["metadata"]["namespace"] = R.choice(["bare", "quiet", "quiet", "unheard-of"])
        plain_wishes(gen, pod, .8)
        if not gen.p(.25 if is_bound(pod) else .9):
            continue
        affinity = pod["spec"].setdefault("affinity", {})
        for kind in R.choice([["podAffinity"], ["podAntiAffinity"], ["podAffinity", "podAntiAffinity"]]):
            affinity[kind] = {}
            if gen.p(.5):
                affinity[kind]["requiredDuringSchedulingIgnoredDuringExecution"] = [term(gen) for _ in range(R.choice([1, 1, 2]))]
            if gen.p(.6):
                affinity[kind]["preferredDuringSchedulingIgnoredDuringExecution"] = [{"weight": R.randint(1, 100), "podAffinityTerm": term(gen)} for _ in range(R.randint(1, 2))]
            if not affinity[kind]:
                del affinity[kind]


# --- capacity and drivers ----------------------------------------------------------------------------
DRIVERS = ["fast.csi.example.com", "slow.csi.example.com", "shared.csi.example.com"]


def storage_class(gen, name, provisioner):
    gen.add("storage.k8s.io/v1", "StorageClass", name, provisioner=provisioner, volumeBindingMode="WaitForFirstConsumer")


def persistent_volume(gen, name, class_name, size, source, where=None):
    """Of equal volumes upstream takes any: no two should have one size."""
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain", "storageClassName": class_name, "volumeMode": "Filesystem", **source}
    if where:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [where]}]}}
    return gen.add("v1", "PersistentVolume", name, spec=spec, status={"phase": "Available"})


def volume_claim(gen, name, ns, class_name, size, volume=None):
    spec = {"accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem", "storageClassName": class_name, "resources": {"requests": {"storage": size}}}
    if not volume:
        return gen.add("v1", "PersistentVolumeClaim", name, ns, spec=spec, status={"phase": "Pending"})
    spec["volumeName"] = volume["metadata"]["name"]
    made = gen.add("v1", "PersistentVolumeClaim", name, ns, annotations={"pv.kubernetes.io/bind-completed": "yes"}, spec=spec, status={"phase": "Bound"})
    volume["spec"]["claimRef"] = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": ns, "name": name, "uid": made["metadata"]["uid"]}
    volume["status"]["phase"] = "Bound"
    return made


def use_claims(gen, pod, names):
    pod["spec"]["volumes"] = [{"name": f"v{k}", "persistentVolumeClaim": {"claimName": name}} for k, name in enumerate(names)]


def capacity(gen):
    R = gen.R
    reports = {"by-zone": DRIVERS[0], "everywhere": DRIVERS[1]}  # classes whose drivers tell how much there is
    for name, provisioner in (*reports.items(), ("untold", DRIVERS[2]), ("local", "kubernetes.io/no-provisioner"), ("small", "kubernetes.io/no-provisioner")):
        storage_class(gen, name, provisioner)
    for driver in DRIVERS:
        gen.add("storage.k8s.io/v1", "CSIDriver", driver, spec={"attachRequired": False, "storageCapacity": driver != DRIVERS[2]})
    # Of several objects for one node upstream takes any.
    for zone in ("z1", "z2", "z3"):
        # Upstream's score fails on an object without a capacity.
        body = {"capacity": R.choice(["9Gi", "20Gi", "33Gi", "100Gi", "1Ti"])}
        if gen.p(.2):
            body["maximumVolumeSize"] = R.choice(["5Gi", "50Gi"])
        if gen.p(.85):
            gen.add("storage.k8s.io/v1", "CSIStorageCapacity", f"zone-{zone}", "default", storageClassName="by-zone", nodeTopology={"matchLabels": {ZONE: zone}}, **body)
    gen.add("storage.k8s.io/v1", "CSIStorageCapacity", "everywhere", "default", storageClassName="everywhere", nodeTopology={}, capacity=R.choice(["15Gi", "200Gi"]))
    for i in range(40):
        where = R.choice([{"key": HOST, "operator": "In", "values": [f"node-{R.randrange(gen.nn):03d}"]}] * 3 + [{"key": ZONE, "operator": "In", "values": [R.choice(["z1", "z2", "z3"])]}])
        name = R.choice(["local", "local", "small", "by-zone"])
        source = {"csi": {"driver": DRIVERS[0], "volumeHandle": f"h-{i}"}} if name == "by-zone" else {"local": {"path": f"/mnt/{i}"}}
        persistent_volume(gen, f"pv-{i:02d}", name, f"{R.choice([1, 3, 5, 11, 40]) * 1024 * 1024 + i}Ki", source, where)
    for i, pod in enumerate(pods(gen)):
        plain_wishes(gen, pod, .8)
        if is_bound(pod) or not gen.p(.9):
            continue
        names = [f"claim-{i}-{k}" for k in range(R.choice([1, 1, 2, 2, 3]))]
        for name in names:
            volume_claim(gen, name, pod["metadata"]["namespace"], R.choice(["by-zone", "by-zone", "everywhere", "local", "local", "small", "untold"]), R.choice(["1Gi", "2Gi", "2500Mi", "4Gi", "10Gi", "1"]))
        use_claims(gen, pod, names)


def drivers(gen):
    R = gen.R
    wanted = R.choice(DRIVERS)  # of several that are missing upstream names any
    for driver in DRIVERS:
        storage_class(gen, driver.split(".")[0], driver)
        if gen.p(.9) or driver == wanted:
            gen.add("storage.k8s.io/v1", "CSIDriver", driver, spec={"attachRequired": True, **({"preventPodSchedulingIfMissing": driver == wanted} if driver == wanted or gen.p(.5) else {})})
    for i in range(gen.nn):
        if gen.p(.12):
            continue
        entries = []
        for driver in DRIVERS:
            if gen.p(.65):
                entries.append({"name": driver, "nodeID": f"n{i}", "topologyKeys": [ZONE], **({"allocatable": {"count": R.choice([1, 2, 3, 9])}} if gen.p(.6) else {})})
        gen.add("storage.k8s.io/v1", "CSINode", f"node-{i:03d}", spec={"drivers": entries})
    for i, pod in enumerate(pods(gen)):
        plain_wishes(gen, pod, .8)
        if not gen.p(.4 if is_bound(pod) else .9):
            continue
        names = [f"claim-{i}-{k}" for k in range(R.choice([1, 1, 2]))]
        for k, name in enumerate(names):
            driver, ns = R.choice(DRIVERS), pod["metadata"]["namespace"]
            volume = None
            if is_bound(pod) or gen.p(.6):
                volume = persistent_volume(gen, f"pv-{i}-{k}", driver.split(".")[0], f"{1024 * 1024 + gen.uid}Ki", {"csi": {"driver": driver, "volumeHandle": f"h-{i}-{k}"}})
            volume_claim(gen, name, ns, driver.split(".")[0], "1Gi", volume)
        use_claims(gen, pod, names)


TOPICS = {"resized": resized, "imagevolumes": image_volumes, "namespaces": namespaces, "capacity": capacity, "drivers": drivers}
