"""The topic `taintrules`: DeviceTaintRules over a plain random cluster with devices.

Rules without a selector, for every device, by driver, pool and device, several for one device; effects NoSchedule,
NoExecute and None; claims that tolerate some of the taints, all of them or none.
"""

API = "resource.k8s.io/v1"
DRIVERS = ["gpu.example.com", "net.example.com"]
KEYS, EFFECTS = ["sick", "old", "upgrade"], ["NoSchedule", "NoSchedule", "NoExecute", "None"]


def add_slices(gen):
    for i in range(gen.nn):
        for driver in DRIVERS:
            if not gen.p(.4):
                continue
            devices = [{"name": f"dev-{k}"} for k in range(gen.R.randint(1, 3))]
            for device in devices:
                if gen.p(.1):
                    device["taints"] = [taint(gen)]
            pool = {"name": f"node-{i:03d}", "generation": 1, "resourceSliceCount": 1}
            spec = {"driver": driver, "nodeName": f"node-{i:03d}", "pool": pool, "devices": devices}
            gen.add(API, "ResourceSlice", f"{driver.split('.')[0]}-{i:03d}", spec=spec)


def taint(gen):
    out = {"key": gen.R.choice(KEYS), "effect": gen.R.choice(EFFECTS), "timeAdded": "2026-01-01T00:00:00Z"}
    if gen.p(.6):
        out["value"] = gen.R.choice(["yes", "no"])
    return out


def selector(gen):
    fields = {
        "driver": gen.R.choice(DRIVERS + ["other.example.com"]),
        "pool": f"node-{gen.R.randrange(gen.nn):03d}",
        "device": f"dev-{gen.R.randrange(3)}",
    }
    return {name: value for name, value in fields.items() if gen.p(.5)}


def add_rules(gen):
    for i in range(gen.R.choice([1, 4, 10, 25])):
        spec = {"taint": taint(gen)}
        if not gen.p(.15):
            chosen = selector(gen)
            # Not too often all devices of the cluster, or there is nothing left to decide.
            spec["deviceSelector"] = chosen if chosen or gen.p(.2) else {"device": "dev-1"}
        gen.add(API, "DeviceTaintRule", f"rule-{i:02d}", spec=spec)


def tolerations(gen):
    if gen.p(.5):
        return {}
    out = []
    for _ in range(gen.R.choice([1, 1, 2])):
        one = {"operator": "Exists"} if gen.p(.5) else {"operator": "Equal", "value": gen.R.choice(["yes", "no", ""])}
        if not gen.p(.15) or one["operator"] == "Equal":
            one["key"] = gen.R.choice(KEYS)
        if gen.p(.4):
            one["effect"] = gen.R.choice(["NoSchedule", "NoExecute"])
        out.append(one)
    return {"tolerations": out}


def add_claim(gen, pod, i):
    requests = []
    for k in range(gen.R.choice([1, 1, 2])):
        exactly = {"deviceClassName": gen.R.choice(["gpu", "net", "any"]), **tolerations(gen)}
        if gen.p(.2):
            exactly["allocationMode"] = "All"
        else:
            exactly.update(allocationMode="ExactCount", count=gen.R.choice([1, 1, 2]))
        requests.append({"name": f"r{k}", "exactly": exactly})
    namespace = pod["metadata"]["namespace"]
    gen.add(API, "ResourceClaim", f"claim-{i}", namespace, spec={"devices": {"requests": requests}}, status={})
    pod["spec"]["resourceClaims"] = [{"name": "devices", "resourceClaimName": f"claim-{i}"}]
    pod["spec"]["containers"][0]["resources"]["claims"] = [{"name": "devices"}]


def taint_rules(gen):
    for name in ("gpu", "net"):
        driver = f'device.driver == "{name}.example.com"'
        gen.add(API, "DeviceClass", name, spec={"selectors": [{"cel": {"expression": driver}}]})
    gen.add(API, "DeviceClass", "any", spec={})
    add_slices(gen)
    add_rules(gen)
    pending = [item for item in gen.items if item["kind"] == "Pod" and not item["spec"].get("nodeName")]
    for i, pod in enumerate(pending):
        if gen.p(.8):
            add_claim(gen, pod, i)
