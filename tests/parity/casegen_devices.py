"""The topic `devices`: devices of every kind, and claims in every state, over a plain random cluster.

Pools of one node, of a zone and of all nodes, in several slices, outdated, incomplete and invalid ones; devices that
share counters, that are shared, that have taints or have to be prepared; claims that are allocated, reserved, being
deleted, generated, missing; extended resources that are devices on some nodes and a device plugin's on others.
"""

API, ZONE = "resource.k8s.io/v1", "topology.kubernetes.io/zone"
GPU, NET, FAB, PART, SHARE = (f"{name}.example.com" for name in ("gpu", "net", "fab", "part", "share"))
LONG_AGO, NOT_YET = "2025-01-01T00:00:00Z", "2099-01-01T00:00:00Z"
GATES = ["DRAConsumableCapacity=false", "DRADeviceBindingConditions=false", "DRADeviceTaints=false,DRADeviceTaintRules=false", "DRAPartitionableDevices=false", "DRADeviceTaintRules=false", "DRAListTypeAttributes=true"]

SELECTORS = [
    'device.attributes["gpu.example.com"].model == "H100"', 'device.attributes["gpu.example.com"].index < 2', 'device.driver == "gpu.example.com"',
    'device.driver.startsWith("net") || device.driver.startsWith("gpu")', 'device.attributes["gpu.example.com"].?ecc.orValue(false)',
    'device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0', 'device.attributes["common.example.com"].?numa.orValue(0) == 1',
    '"model" in device.attributes["gpu.example.com"] && device.attributes["gpu.example.com"].model in ["A100", "H100"]', "device.allowMultipleAllocations", "true",
]


def at_node(name):
    return {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]}


def in_zones(*zones):
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": list(zones)}]}]}


def node_name(gen):
    return f"node-{gen.R.randrange(gen.nn):03d}"


# --- what there is -----------------------------------------------------------------------------------
def add_classes(gen):
    def add(name, **spec):
        gen.add(API, "DeviceClass", name, spec=spec)

    def of(expression):
        return [{"cel": {"expression": expression}}]

    add("gpu", selectors=of(f'device.driver == "{GPU}"'))
    add("big", selectors=of(f'device.driver == "{GPU}"') + of('device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("30Gi"))'))
    add("any", extendedResourceName="example.com/any")
    for driver in (NET, FAB, PART, SHARE):
        add(driver.split(".")[0], selectors=of(f'device.driver == "{driver}"'))
    add("accel", extendedResourceName="example.com/accel", selectors=of(f'device.driver == "{GPU}"'))
    add("slow", extendedResourceName="example.com/slow", selectors=of('device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "L4"'))
    add("own", selectors=of(f'device.driver == "{NET}"') + of("!device.allowMultipleAllocations"))
    add("shared", extendedResourceName="example.com/shared", selectors=of("device.allowMultipleAllocations"))
    add("odd", extendedResourceName="example.com/odd", selectors=of('device.attributes["gpu.example.com"].index >= 0'))  # fails for what is no GPU
    if gen.p(.3):
        add("broken", selectors=of("device.nothing"))


def taints(gen):
    effects = ["NoSchedule", "NoExecute", "None"]
    return {"taints": [{"key": gen.R.choice(["sick", "old"]), "value": "yes", "effect": gen.R.choice(effects), "timeAdded": LONG_AGO}]} if gen.p(.12) else {}


def gpu(gen, k):
    R = gen.R
    attributes = {"model": {"string": R.choice(["A100", "H100", "L4"])}, "index": {"int": k}, "common.example.com/numa": {"int": k % 2}}
    if gen.p(.6):
        attributes["ecc"] = {"bool": gen.p(.5)}
    if gen.p(.3):
        attributes["version"] = {"version": R.choice(["1.2.3", "2.0.0"])}
    return {"name": f"gpu-{k}", "attributes": attributes, "capacity": {"memory": {"value": R.choice(["24Gi", "40Gi", "80Gi"])}}, **taints(gen)}


def add_slice(gen, name, driver, pool, devices, generation=1, count=1, **where):
    spec = {"driver": driver, "pool": {"name": pool, "generation": generation, "resourceSliceCount": count}, **where}
    gen.add(API, "ResourceSlice", name, spec={**spec, **devices})


def add_gpus(gen, i):
    R, node = gen.R, f"node-{i:03d}"
    devices = [gpu(gen, k) for k in range(R.randint(1, 5))]
    state = R.random()
    if state < .7 or len(devices) < 2:
        add_slice(gen, f"gpu-{node}", GPU, node, {"devices": devices}, nodeName=node)
    elif state < .85:  # in two slices, of which the second may be missing
        half = len(devices) // 2
        add_slice(gen, f"gpu-{node}-b", GPU, node, {"devices": devices[:half]}, count=2, nodeName=node)
        if not gen.p(.2):
            add_slice(gen, f"gpu-{node}-a", GPU, node, {"devices": devices[half:]}, count=2, nodeName=node)
    elif state < .95:  # an older generation is still there
        add_slice(gen, f"gpu-{node}-old", GPU, node, {"devices": devices[:1]}, generation=1, nodeName=node)
        add_slice(gen, f"gpu-{node}-new", GPU, node, {"devices": devices[1:]}, generation=2, nodeName=node)
    else:  # a device by the same name twice
        add_slice(gen, f"gpu-{node}", GPU, node, {"devices": devices + devices[:1]}, nodeName=node)
    return devices


def add_partitions(gen, i):
    node = f"node-{i:03d}"
    add_slice(gen, f"part-{node}-counters", PART, node, {"sharedCounters": [{"name": "card", "counters": {"memory": {"value": "40Gi"}, "slots": {"value": "4"}}}]}, count=2, nodeName=node)
    devices = []
    for k, (memory, slots) in enumerate([("40Gi", "4"), ("20Gi", "2"), ("20Gi", "2"), ("10Gi", "1")]):
        devices.append({"name": f"part-{k}", "attributes": {"memory": {"string": memory}}, "consumesCounters": [{"counterSet": "card", "counters": {"memory": {"value": memory}, "slots": {"value": slots}}}]})
    add_slice(gen, f"part-{node}-devices", PART, node, {"devices": devices}, count=2, nodeName=node)


def add_shared(gen, i):
    node, R = f"node-{i:03d}", gen.R
    policy = R.choice([{}, {"requestPolicy": {"default": "2Gi", "validRange": {"min": "1Gi", "max": "8Gi", "step": "1Gi"}}},
                       {"requestPolicy": {"default": "1Gi", "validValues": ["1Gi", "4Gi", "8Gi"]}}])
    devices = [{"name": f"share-{k}", "allowMultipleAllocations": not gen.p(.2), "capacity": {"memory": {"value": "8Gi", **policy}}} for k in range(R.randint(1, 2))]
    add_slice(gen, f"share-{node}", SHARE, node, {"devices": devices}, nodeName=node)


def add_elsewhere(gen):
    """Devices that are not one node's."""
    R = gen.R
    add_slice(gen, "net", NET, "net", {"devices": [{"name": f"nic-{k}", "attributes": {"speed": {"int": 10 * (k + 1)}}} for k in range(R.randint(2, 5))]}, nodeSelector=in_zones("z1", "z2"))
    fabric = []
    for k in range(R.randint(1, 3)):
        device = {"name": f"fab-{k}", "attributes": {"index": {"int": k}}}
        if gen.p(.6):
            device.update(bindsToNode=gen.p(.5), bindingConditions=["Attached"], bindingFailureConditions=["Failed"])
        fabric.append(device)
    add_slice(gen, "fab", FAB, "fab", {"devices": fabric}, allNodes=True)
    if gen.p(.4):
        devices = [{"name": "here", "nodeName": node_name(gen)}, {"name": "zone", "nodeSelector": in_zones("z3")}, {"name": "all", "allNodes": True}]
        add_slice(gen, "net-own", NET, "own", {"devices": devices}, perDeviceNodeSelection=True)


def result(driver, pool, device, request="r", **more):
    return {"request": request, "driver": driver, "pool": pool, "device": device, **more}


def add_taken(gen, gpus, sharing):
    """Claims of pods that are not here."""
    for node, devices in gpus.items():
        for k, device in enumerate(devices):
            if gen.p(.2):
                admin = {"adminAccess": True} if gen.p(.15) else {}
                add_allocated(gen, f"used-{node}-{k}", "default", [result(GPU, node, device["name"], **admin)], at_node(node), ["elsewhere"])
    for node in sharing:
        if gen.p(.4):
            shares = [result(SHARE, node, "share-0", shareID=f"00000000-0000-4000-8000-{gen.uid:012d}", consumedCapacity={"memory": gen.R.choice(["1Gi", "4Gi", "7Gi"])})]
            add_allocated(gen, f"used-share-{node}", "default", shares, at_node(node), ["elsewhere"])


def add_allocated(gen, name, ns, results, selector, pods, requests=None, metadata=None, **more):
    allocation = {"devices": {"results": results}}
    if selector:
        allocation["nodeSelector"] = selector
    if "allocated_at" in more:
        allocation["allocationTimestamp"] = more.pop("allocated_at")
    status = {"allocation": allocation, **more}
    if pods:
        status["reservedFor"] = [{"resource": "pods", "name": p, "uid": p} for p in pods]
    claim = gen.add(API, "ResourceClaim", name, ns, spec={"devices": {"requests": requests or [exactly(gen, "r")]}}, status=status)
    claim["metadata"].update(metadata or {})


# --- what is asked for -------------------------------------------------------------------------------
def asked(gen):
    """What both kinds of request say."""
    R = gen.R
    missing = "missing" if gen.p(.04) else "broken" if gen.p(.06) else "any"
    body = {"deviceClassName": R.choice(["gpu", "gpu", "gpu", "big", "any", "net", "fab", "part", "share", missing])}
    if gen.p(.4):
        body["selectors"] = [{"cel": {"expression": R.choice(SELECTORS)}} for _ in range(R.choice([1, 1, 2]))]
    if gen.p(.12):
        body["allocationMode"] = "All"
    else:
        body["allocationMode"], body["count"] = "ExactCount", R.choice([1, 1, 1, 2, 3])
    if gen.p(.25):
        body["tolerations"] = [R.choice([{"key": "sick", "operator": "Exists"}, {"operator": "Exists", "effect": "NoSchedule"}, {"key": "old", "operator": "Equal", "value": "yes"}])]
    if body["deviceClassName"] in ("share", "any") and gen.p(.5):
        body["capacity"] = {"requests": {"memory": R.choice(["500Mi", "1Gi", "3Gi", "6Gi", "9Gi"])}}
    return body


def exactly(gen, name):
    body = asked(gen)
    if gen.p(.06):
        body["adminAccess"] = True
    return {"name": name, "exactly": body}


def request(gen, name):
    if not gen.p(.3):
        return exactly(gen, name)
    return {"name": name, "firstAvailable": [{"name": f"s{k}", **asked(gen)} for k in range(gen.R.choice([1, 2, 2, 3]))]}


def devices_spec(gen):
    R = gen.R
    names = [f"r{k}" for k in range(R.choice([1, 1, 1, 2, 3]))]
    spec = {"requests": [request(gen, name) for name in names]}
    if gen.p(.3):
        kind = R.choice(["matchAttribute", "matchAttribute", "distinctAttribute"])
        spec["constraints"] = [{"requests": R.choice([[], [names[0]]]), kind: R.choice(["gpu.example.com/model", "common.example.com/numa", "gpu.example.com/index"])}]
    return spec


def binding_state(gen):
    """(more of the result, more of the status) of a device that has to be prepared."""
    more = {"bindingConditions": ["Attached"], "bindingFailureConditions": ["Failed"]}
    status = {"allocated_at": gen.R.choice([LONG_AGO, NOT_YET])} if gen.p(.8) else {}
    if gen.p(.7):
        types = gen.R.choice([["Attached"], ["Failed"], ["Other"], ["Attached", "Failed"]])
        conditions = [{"type": t, "status": "True" if gen.p(.8) else "False", "reason": "R", "message": "m", "lastTransitionTime": LONG_AGO} for t in types]
        status["devices"] = [{"driver": FAB, "pool": "fab", "device": "fab-0", "conditions": conditions}]
    return more, status


def add_claim(gen, pod, name, metadata):
    R, ns, uid = gen.R, pod["metadata"]["namespace"], pod["metadata"]["uid"]
    state = R.random()
    if state < .68:
        claim = gen.add(API, "ResourceClaim", name, ns, spec={"devices": devices_spec(gen)}, status={})
        claim["metadata"].update(metadata)
        return
    pods = R.choice([[], [uid], ["other"], ["other", uid]])
    if state < .8:
        node = node_name(gen) if not gen.p(.15) else "gone"
        selector = R.choice([at_node(node), at_node(node), in_zones("z1"), None])
        name_of = R.choice(["r", "r0/s0", "r0/s1"])
        first = {"name": "r0", "firstAvailable": [{"name": f"s{k}", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1} for k in range(2)]}
        add_allocated(gen, name, ns, [result(GPU, node, f"gpu-{R.randrange(3)}", request=name_of)], selector, pods, [first] if "/" in name_of else None, metadata)
    elif state < .94:
        more, status = binding_state(gen)
        add_allocated(gen, name, ns, [result(FAB, "fab", "fab-0", **more)], None if gen.p(.6) else at_node(node_name(gen)), pods, None, metadata, **status)
    elif state < .97:
        add_allocated(gen, name, ns, [], None, pods, None, {**metadata, "deletionTimestamp": LONG_AGO, "finalizers": ["resource.kubernetes.io/delete-protection"]})
    # else: there is none


def use_claims(gen, pod, shared):
    R, spec = gen.R, pod["spec"]
    entries, statuses = [], []
    for k in range(R.choice([1, 1, 1, 2, 3])):
        name = f"{pod['metadata']['name']}-{k}"
        if shared and gen.p(.15):
            entries.append({"name": f"c{k}", "resourceClaimName": R.choice(shared)})
            continue
        owner = [{"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"], "controller": True}]
        if gen.p(.3):  # from a template
            entries.append({"name": f"c{k}", "resourceClaimTemplateName": "t"})
            made = R.random()
            if made < .1:
                continue
            if made < .15:
                statuses.append({"name": f"c{k}"})
                continue
            statuses.append({"name": f"c{k}", "resourceClaimName": name})
            add_claim(gen, pod, name, {"ownerReferences": owner} if made < .93 else {})
        else:
            entries.append({"name": f"c{k}", "resourceClaimName": name})
            add_claim(gen, pod, name, {})
            if pod["metadata"]["namespace"] == "default":
                shared.append(name)
    spec["resourceClaims"] = entries
    if statuses:
        pod.setdefault("status", {})["resourceClaimStatuses"] = statuses


RESOURCES = [
    "example.com/accel", "example.com/accel", "example.com/slow", "deviceclass.resource.kubernetes.io/gpu", "deviceclass.resource.kubernetes.io/net", "example.com/plugin",
    "example.com/any", "deviceclass.resource.kubernetes.io/any", "deviceclass.resource.kubernetes.io/own", "example.com/shared", "example.com/odd",
]


def use_resources(gen, pod):
    R, spec = gen.R, pod["spec"]

    def ask(container):
        resources = container.setdefault("resources", {})
        for name in R.sample(RESOURCES, R.choice([1, 1, 2])):
            amount = R.choice(["1", "1", "2", "0"])
            resources.setdefault("requests", {})[name] = amount
            resources.setdefault("limits", {})[name] = amount

    ask(spec["containers"][0])
    if gen.p(.25):
        spec["containers"].append({"name": "second", "image": "x"})
        ask(spec["containers"][-1])
    for k in range(R.choice([0, 0, 1, 2])):
        container = {"name": f"init-{k}", "image": "x"}
        if gen.p(.3):
            container["restartPolicy"] = "Always"
        ask(container)
        spec.setdefault("initContainers", []).append(container)
    if gen.p(.1):  # an earlier attempt has left its claim
        owner = [{"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"], "controller": True}]
        claim = gen.add(API, "ResourceClaim", pod["metadata"]["name"] + "-extended-resources-x", pod["metadata"]["namespace"], annotations={"resource.kubernetes.io/extended-resource-claim": "true"},
                        spec={"devices": {"requests": [exactly(gen, "container-0-request-0")]} if gen.p(.7) else {}}, status={})
        claim["metadata"]["ownerReferences"] = owner


def devices(gen):
    add_classes(gen)
    gpus, sharing = {}, []
    for i in range(gen.nn):
        if gen.p(.6):
            gpus[f"node-{i:03d}"] = add_gpus(gen, i)
        if gen.p(.2):
            add_partitions(gen, i)
        if gen.p(.3):
            add_shared(gen, i)
            sharing.append(f"node-{i:03d}")
    add_elsewhere(gen)
    add_taken(gen, gpus, sharing)
    for node in [o for o in gen.items if o["kind"] == "Node"]:
        for name in ("example.com/accel", "example.com/plugin"):
            if gen.p(.3):
                node["status"]["allocatable"][name] = node["status"]["capacity"][name] = gen.R.choice(["0", "1", "2"])
    shared = []
    for pod in [o for o in gen.items if o["kind"] == "Pod" and not o["spec"].get("nodeName")]:
        if gen.p(.6):
            use_claims(gen, pod, shared)
        if gen.p(.3):
            use_resources(gen, pod)
