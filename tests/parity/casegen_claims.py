"""The topic `claims`: what claims ask for and cannot have, over a plain random cluster.

Amounts of shared devices by every kind of policy (steps, values, fractions, numbers beyond 64 bits), more devices than one
claim may have, constraints over many devices, expressions that fail or look at lists, counters in slices of other nodes, and
fields of features that are off.
"""

from casegen_devices import API, add_allocated, add_slice, at_node, in_zones, node_name, result

SHARE, PART, GPU, FAB = (f"{name}.example.com" for name in ("share", "part", "gpu", "fab"))

POLICIES = [
    None, None,
    {"default": "2Gi", "validRange": {"min": "1Gi", "max": "8Gi", "step": "1Gi"}},
    {"default": "1", "validRange": {"min": "1", "step": "1k"}},
    {"default": "500m", "validRange": {"min": "500m", "max": "4", "step": "250m"}},
    {"default": "1e3", "validRange": {"min": "0", "step": "1e3"}},
    {"default": "1Gi", "validRange": {"min": "1Gi"}},
    {"default": "1Gi", "validValues": ["1Gi", "4Gi", "8Gi"]},
]
AMOUNTS = ["1Gi", "1Gi", "3Gi", "1500", "1500Mi", "750m", "1200m", "600001u", "5Gi", "7Gi", "9Gi", "0", "10E", "9223372036854775807", "8E"]
# Devices differ in what they have; an expression without a guard fails for some of them.
EXPRESSIONS = [
    f'device.attributes["{GPU}"].ecc', f'device.attributes["{GPU}"].model == "H100"', f'device.attributes["{GPU}"].nothing == 1',
    f'has(device.attributes["{GPU}"].ecc) && device.attributes["{GPU}"].ecc', f'device.attributes["{GPU}"].?ecc.orValue(false)',
    f'device.attributes["{GPU}"].ports.exists(p, p == 2)', f'device.attributes["{GPU}"].?ports.orValue([]).includes(2)',
    f'device.attributes["{GPU}"].index.includes(1)', f'[1, 2].includes(device.attributes["{GPU}"].index)', f'device.attributes["{GPU}"].index / 0 == 1',
    f'device.attributes["{GPU}"].model', f'device.attributes["{GPU}"].index > "a"', f'device.attributes["{GPU}"].`model` == "L4"',
    f'device.attributes["{GPU}"].model.indexOf("", 9) == 4', 'duration(5) == duration("5s")', "lists.range(-1).size() == 0", "lists.range(2000000).size() > 0",
    f'.device.driver == "{GPU}" && [1].all(device, .device.driver == "{GPU}")', f'device.capacity["{GPU}"].?memory.hasValue()',
]


def add_classes(gen):
    def add(name, expression=None, **more):
        gen.add(API, "DeviceClass", name, spec={**more, **({"selectors": [{"cel": {"expression": expression}}]} if expression else {})})

    add("any")
    for driver in (SHARE, PART, GPU, FAB):
        add(driver.split(".")[0], f'device.driver == "{driver}"')
    add("ecc", f'device.driver == "{GPU}" && device.attributes["{GPU}"].ecc')
    add("deep", f'device.driver == "{GPU}" && device.attributes["{GPU}"].nothing.deeper')


def add_shared(gen, i):
    R, node, devices = gen.R, f"node-{i:03d}", []
    for k in range(R.choice([1, 1, 2, 3])):
        capacity = {"value": R.choice(["8Gi", "8Gi", "4Gi", "16", "5k"])}
        if gen.p(.03):
            capacity["value"] = "-1"
        policy = R.choice(POLICIES)
        if policy:
            capacity["requestPolicy"] = policy
        device = {"name": f"share-{k}", "allowMultipleAllocations": not gen.p(.2)}
        if not gen.p(.15):
            device["capacity"] = {"memory": capacity}
        devices.append(device)
    add_slice(gen, f"share-{node}", SHARE, node, {"devices": devices}, nodeName=node)
    if gen.p(.5):
        used = result(SHARE, node, "share-0", shareID=f"00000000-0000-4000-8000-{gen.uid:012d}")
        if gen.p(.7):
            used["consumedCapacity"] = {"memory": R.choice(["1Gi", "4Gi", "6Gi", "500m", "3"])}
        add_allocated(gen, f"used-share-{node}", "default", [used], at_node(node), ["elsewhere"])


def add_gpus(gen, i):
    R, node, devices = gen.R, f"node-{i:03d}", []
    for k in range(R.choice([1, 2, 4, 4, 6])):
        attributes = {"model": {"string": R.choice(["A100", "H100", "L4"])}, "index": {"int": k}, "rack": {"int": k % 3}}
        if gen.p(.8):
            attributes["ecc"] = {"bool": gen.p(.5)}
        if gen.p(.4):
            attributes["ports"] = {"ints": [1, 2, 3][: R.randint(1, 3)]}
        devices.append({"name": f"gpu-{k:02d}", "attributes": attributes, "capacity": {"memory": {"value": "40Gi"}} if gen.p(.5) else {}})
    add_slice(gen, f"gpu-{node}", GPU, node, {"devices": devices}, nodeName=node)


def add_parts(gen):
    """Counters here, devices that draw on them elsewhere."""
    R = gen.R
    where = [{"nodeName": node_name(gen)}, {"nodeSelector": in_zones("z1")}, {"allNodes": True}, {"nodeSelector": in_zones("z2", "z3")}]
    for pool in range(R.choice([1, 2, 3])):
        sets = [{"name": "card", "counters": {"slots": {"value": "4"}}}]
        if gen.p(.05):
            sets *= 2
        slices = R.choice([2, 3])
        count = slices + (1 if not gen.p(.08) else 2)
        add_slice(gen, f"part-{pool}-counters", PART, f"p{pool}", {"sharedCounters": sets}, count=count, **R.choice(where))
        for s in range(slices):
            devices = []
            for k in range(R.randint(1, 3)):
                consumes = {"counterSet": "card" if not gen.p(.01) else "none", "counters": {"slots": {"value": R.choice(["1", "2", "3"])}}}
                if gen.p(.03):
                    consumes["compatibilityGroups"] = ["a"]
                device = {"name": f"part-{s}-{k}", "consumesCounters": [consumes]}
                if gen.p(.3):
                    device.update(allowMultipleAllocations=True)
                devices.append(device)
            add_slice(gen, f"part-{pool}-{s}", PART, f"p{pool}", {"devices": devices}, count=count, **R.choice(where))
            if gen.p(.3):
                shared = {"shareID": f"00000000-0000-4000-8000-{gen.uid:012d}"} if devices[0].get("allowMultipleAllocations") else {}
                add_allocated(gen, f"used-part-{pool}-{s}", "default", [result(PART, f"p{pool}", devices[0]["name"], **shared)], None, ["elsewhere"])


def exactly(gen, name, class_name, **more):
    body = {"deviceClassName": class_name, "allocationMode": "ExactCount", "count": 1, **more}
    if body["allocationMode"] == "All":
        body.pop("count")
    return {"name": name, "exactly": body}


def amounts(gen):
    R, requests = gen.R, []
    for k in range(R.choice([1, 1, 2])):
        more = {}
        if not gen.p(.2):
            more["capacity"] = {"requests": {"memory" if not gen.p(.08) else "cores": R.choice(AMOUNTS)}}
        if gen.p(.3):
            more["allocationMode"] = "All"
        requests.append(exactly(gen, f"r{k}", R.choice(["share", "share", "share", "any"]), **more))
    return {"requests": requests}


def expressions(gen):
    R = gen.R
    more = {}
    if not gen.p(.2):
        more["selectors"] = [{"cel": {"expression": R.choice(EXPRESSIONS)}} for _ in range(R.choice([1, 1, 2]))]
    if gen.p(.15):
        more["allocationMode"] = "All"
    return {"requests": [exactly(gen, "r", R.choice(["gpu", "gpu", "gpu", "ecc", "deep", "any"]), **more)]}


def many(gen):
    """Near the limit of 32 devices."""
    R, requests = gen.R, []
    for k in range(R.choice([1, 2, 3])):
        if gen.p(.3):
            subrequests = [{"name": f"s{j}", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": R.choice([1, 12, 20, 33])} for j in range(2)]
            requests.append({"name": f"r{k}", "firstAvailable": subrequests})
        else:
            requests.append(exactly(gen, f"r{k}", "gpu", count=R.choice([1, 3, 10, 13, 20, 33, 9223372036854775807])))
    return {"requests": requests}


def constraints(gen):
    R = gen.R
    requests = [exactly(gen, f"r{k}", "gpu", count=R.choice([1, 2, 3])) for k in range(R.choice([1, 2]))]
    kind = R.choice(["distinctAttribute", "distinctAttribute", "matchAttribute"])
    return {"requests": requests, "constraints": [{"requests": R.choice([[], ["r0"]]), kind: f"{GPU}/{R.choice(['rack', 'rack', 'model', 'index', 'ports'])}"}]}


def parts(gen):
    R = gen.R
    more = {"allocationMode": "All"} if gen.p(.2) else {"count": R.choice([1, 1, 2, 3])}
    return {"requests": [exactly(gen, "r", R.choice(["part", "part", "part", "any"]), **more)]}


def off(gen):
    """Fields of features that are off by default."""
    derived = {"derivedAttributes": [{"name": "example.com/half", "expression": "1"}]}
    if gen.p(.5):
        return {"requests": [exactly(gen, "r", "gpu", **derived)]}
    sub = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}
    return {"requests": [{"name": "f", "firstAvailable": [{"name": "a", **sub}, {"name": "b", **sub, **derived}]}]}


def add_claim(gen, pod, name):
    R, ns = gen.R, pod["metadata"]["namespace"]
    if gen.p(.1):  # allocated for nodes that can leave something out
        skipped = {"skipNodeOperations": R.choice([["*"], ["NodePrepareResources"]])} if gen.p(.8) else {}
        add_allocated(gen, name, ns, [result(FAB, "fab", "fab-0", **skipped)], None if gen.p(.6) else in_zones("z1"), R.choice([[], ["other"]]), [exactly(gen, "r", "fab")])
        return
    kinds = [amounts] * 8 + [expressions] * 5 + [many] * 3 + [constraints] * 3 + [parts] * 4 + [off]
    gen.add(API, "ResourceClaim", name, ns, spec={"devices": R.choice(kinds)(gen)}, status={})


def claims(gen):
    add_classes(gen)
    for node in [o for o in gen.items if o["kind"] == "Node"]:
        if gen.p(.4):
            node["status"]["declaredFeatures"] = ["DRAOptionalNodeOperations"]
    for i in range(gen.nn):
        if gen.p(.5):
            add_shared(gen, i)
        if gen.p(.5):
            add_gpus(gen, i)
    add_parts(gen)
    for pod in [o for o in gen.items if o["kind"] == "Pod" and not o["spec"].get("nodeName")]:
        if gen.p(.1):
            continue
        if not gen.p(.2):  # devices alone decide
            pod["spec"] = {"containers": [{"name": "c", "image": "x"}], "schedulerName": "default-scheduler", "tolerations": [{"operator": "Exists"}]}
        names = [f"{pod['metadata']['name']}-{k}" for k in range(gen.R.choice([1, 1, 1, 2]))]
        for name in names:
            add_claim(gen, pod, name)
        pod["spec"]["resourceClaims"] = [{"name": f"c{k}", "resourceClaimName": name} for k, name in enumerate(names)]
